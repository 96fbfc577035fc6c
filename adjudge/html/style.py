"""
How the page looks: system fonts, one column, light or dark as the reader's system is, narrow or wide, on paper too.

Colours are Okabe and Ito's blue and vermilion with their tints, which readers of every kind of colour vision tell apart; text has a
contrast of at least 4.5 to 1. The script only adds what needs one: buttons that copy, and open folds before printing.
"""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fff; --sheet: #f6f7f9; --ink: #1b1f24; --soft: #59636e; --rule: #d9dee4; --hair: #e9ecf0;
  --found: #c24a00; --wanted: #0068a8; --band: #56b4e9; --good: #1a6b45; --bad: #b3261e; --warn: #8a5a00; --note: #5b4a9c;
  --good-tint: #e3f3ea; --bad-tint: #fbe6e4; --warn-tint: #fbf0d9; --note-tint: #ece8fa; --dull-tint: #eceff2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --sheet: #1c2026; --ink: #e6e9ed; --soft: #9aa4b0; --rule: #363d46; --hair: #272d35;
    --found: #ff9557; --wanted: #6cbcf5; --band: #2f7fb5; --good: #7fd6a6; --bad: #ff9a90; --warn: #f0c36a; --note: #bfb1ff;
    --good-tint: #17322a; --bad-tint: #3d1f1e; --warn-tint: #382d17; --note-tint: #2a2547; --dull-tint: #262c34;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body {
  margin: 0 auto; padding: 2.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 68rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; overflow-wrap: break-word;
}
code, pre, .exact { font-family: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code, .exact { font-size: .9em; }
h1, h2, h3 { line-height: 1.25; font-weight: 650; text-wrap: balance; }
h1 { font-size: clamp(1.5rem, 1.1rem + 1.8vw, 2.1rem); letter-spacing: -.015em; margin: .2rem 0 .6rem; }
h2 { font-size: 1.3rem; margin: 0; letter-spacing: -.01em; }
h3 { font-size: 1.02rem; margin: 0 0 .5rem; }
a { color: inherit; text-decoration-color: var(--soft); text-underline-offset: .18em; }
a:focus-visible, button:focus-visible, summary:focus-visible { outline: 2px solid var(--wanted); outline-offset: 2px; }
.brand { color: var(--soft); font-size: .82rem; letter-spacing: .06em; margin: 0; }
.outcome { font-size: 1.12rem; margin: 0 0 1rem; }
.aside, .about { color: var(--soft); font-size: .9rem; }
.about { display: flex; flex-wrap: wrap; gap: .1rem 1.4rem; margin: 0; padding: 0; list-style: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
caption { text-align: left; color: var(--soft); font-size: .86rem; padding-bottom: .35rem; }
th, td { text-align: left; vertical-align: top; padding: .38rem .9rem .38rem 0;
  font-weight: 400; border-bottom: 1px solid var(--hair); }
thead th { color: var(--soft); font-size: .82rem; border-bottom-color: var(--rule); white-space: nowrap; }
tbody th { font-weight: 550; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding-left: .3rem; }
td.number.none { color: var(--soft); opacity: .75; }
tr > :last-child { padding-right: .2rem; }
.overview { margin-top: 1.8rem; }
.badge {
  display: inline-block; padding: .06rem .55rem .1rem; border-radius: 1rem; font-size: .82rem; font-weight: 550;
  white-space: nowrap; color: var(--soft); background: var(--dull-tint);
}
.badge.good { color: var(--good); background: var(--good-tint); } .badge.bad { color: var(--bad); background: var(--bad-tint); }
.badge.warn { color: var(--warn); background: var(--warn-tint); } .badge.note { color: var(--note); background: var(--note-tint); }
section.subject { margin-top: 2.1rem; padding-top: 1.2rem; border-top: 1px solid var(--rule); }
section.subject > header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem .8rem; }
section.subject > header + p { margin: .35rem 0 .2rem; }
article { margin: 1.1rem 0; padding: 1rem 1.2rem 1.1rem; background: var(--sheet); border-radius: .6rem;
  border-left: 4px solid var(--rule); }
article.bad { border-left-color: var(--bad); } article.warn { border-left-color: var(--warn); }
article.note { border-left-color: var(--note); }
article h3 .badge { margin-right: .45rem; }
article .cause { margin: 0 0 .7rem; font-size: 1.02rem; }
article .body { display: grid; grid-template-columns: minmax(0, 1fr); gap: .9rem 2rem; align-items: start; }
@media (min-width: 60rem) { article .body:has(figure) { grid-template-columns: minmax(17rem, 1fr) minmax(0, 34rem); } }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .22rem 1rem; margin: 0; font-size: .93rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
dd small { color: var(--soft); font-size: .86em; }
dd.found { color: var(--found); font-weight: 600; } dd.wanted { color: var(--wanted); font-weight: 600; }
dd.found small, dd.wanted small { font-weight: 400; }
pre { margin: .3rem 0; padding: .75rem .9rem; overflow-x: auto; background: var(--paper); border: 1px solid var(--hair);
  border-radius: .4rem; font-size: .82rem; line-height: 1.5; tab-size: 4; }
dd pre { margin-top: 0; color: var(--ink); font-weight: 400; }
details { margin-top: .6rem; } details > :not(summary) { margin-top: .5rem; }
summary { cursor: pointer; color: var(--soft); font-size: .92rem; width: fit-content; }
summary:hover { color: var(--ink); }
.code { position: relative; }
button.copy { position: absolute; top: .45rem; right: .45rem; font: inherit; font-size: .78rem; padding: .12rem .6rem;
  cursor: pointer; color: var(--ink); background: var(--sheet); border: 1px solid var(--rule); border-radius: .35rem; }
figure { margin: 0; max-width: 40rem; }
figure > svg { display: block; width: 100%; height: auto; background: var(--paper); border: 1px solid var(--hair);
  border-radius: .4rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 28rem), 1fr)); gap: 1.2rem; }
figcaption { color: var(--soft); font-size: .86rem; margin-top: .4rem; }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; color: var(--ink); }
.key { display: inline-flex; align-items: center; gap: .4rem; } .swatch { width: 24px; height: 12px; flex: none; }
svg text { fill: var(--soft); font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  font-variant-numeric: tabular-nums; }
svg text.name { fill: var(--ink); }
svg .grid { stroke: var(--hair); } svg .zero, svg .tick { stroke: var(--rule); }
svg .band { fill: var(--band); opacity: .35; } svg polyline { fill: none; }
svg .wanted { stroke: var(--band); stroke-width: 6; stroke-linecap: round; stroke-linejoin: round; opacity: .6; }
svg .found { stroke: var(--found); stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }
svg .gap { fill: var(--bad); opacity: .22; } svg .at { stroke: var(--soft); stroke-dasharray: 2 3; }
svg .mark-wanted { fill: var(--wanted); } svg .mark-found { fill: var(--paper); stroke: var(--found); stroke-width: 2.2; }
svg .arrow { fill: var(--found); } svg .stem { stroke: var(--band); opacity: .35; } svg .dot { fill: var(--wanted); }
svg .cross { stroke: var(--found); stroke-width: 1.8; fill: none; } svg .level { stroke: var(--soft); stroke-dasharray: 5 3; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
@media (max-width: 36rem) {
  body { padding-top: 1.4rem; } article { padding: .8rem .85rem .9rem; }
  dl { column-gap: .7rem; } th, td { padding-right: .6rem; }
  table.checks, table.checks caption, table.checks tbody, table.checks tr { display: block; } table.checks thead { display: none; }
  table.checks tr { padding: .45rem 0; border-bottom: 1px solid var(--hair); }
  table.checks th, table.checks td { display: inline; border: 0; padding: 0 .35rem 0 0; }
  table.checks td.number:not(:empty)::after { content: " ms"; color: var(--soft); }
  .code pre { padding-top: 2.3rem; }
  table.checks td.what { display: block; color: var(--soft); font-size: .88rem; }
  figure > svg text { font-size: 16px; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } article, figure, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; } button.copy { display: none; } pre { white-space: pre-wrap; } article { border: 1px solid #bbb; }
}
"""

SCRIPT = """
for (const code of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button'; button.className = 'copy'; button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.onclick = async () => {
    const pre = code.querySelector('pre');
    try { await navigator.clipboard.writeText(pre.textContent); button.textContent = 'Copied'; }
    catch { getSelection().selectAllChildren(pre); button.textContent = 'Selected'; }
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  };
  code.append(button);
}
addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(d => { d.open = true; }));
"""
