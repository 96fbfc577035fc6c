"""`adjudge check`, `audit` and `prove`: the judgments, printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from adjudge.adapters.frameworks import recognised
from adjudge.cli.common import DONE, Arguments, Json, Seed, console, import_file, say, say_json, split, worst
from adjudge.cli.jit import jit_report
from adjudge.cli.reports import STYLE, print_overview, print_report, progress
from adjudge.judged import Checked, is_primitive, primitives_in, rewriting_in
from checkers.verdict import ORDER, Proved, Refuted, Report, Unknown, summary
from semantics.errors import Malformed
from semantics.primitives import TABLE, Primitive
from transforms.pattern import DOMAINS, PatternRule

RULES = "primitives (@adjudge.primitive) or rules of JAX, PyTorch or autograd"
Skip = Annotated[list[str] | None, typer.Option(help="A check not to make, by name; may be repeated.")]


def check(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FILE[:NAME] | PRIMITIVE",
            help="A Python file, imported and so run: all primitives and all rules of JAX, PyTorch and autograd that it defines, "
            "or one name. Or a row of our table, `exp`.",
        ),
    ],
    seed: Seed = 0,
    skip: Skip = None,
    examples: Annotated[int | None, typer.Option(metavar="N", min=1, help="About how many inputs to try.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="PAGE", help="Write a page of HTML too, complete in one file.")] = None,
    as_json: Json = False,
) -> None:
    """
    Judge backpropagators: of primitives (@adjudge.primitive), of jax.custom_vjp and jax.custom_jvp, of torch.autograd.Function, of
    autograd.extend.primitive.

    On which inputs, a table in the file may say; without it, small arrays are tried. It also names functions that are no rules,
    to be judged by the rules of their framework:

    ADJUDGE = {"blend": {"samples": [(x, y)], "fixed": (1,), "domain": lambda x, y: y > 0, "framework": "jax"}}
    """
    from adjudge.judging import check as judge

    if html is not None and not html.absolute().parent.is_dir():
        raise Malformed(f"there is no folder {html.parent}", remedy="name a file in a folder that is there")
    asked: dict[str, Any] = {"seed": seed, "skip": skip or ()} | ({} if examples is None else {"examples": examples})
    subjects = {target: Checked(TABLE[target])} if target in TABLE else _found(target, primitives_in, RULES)
    _judge_all(subjects, lambda s: judge(s.value, **asked, **s.options), as_json, html, f"adjudge check {target}")


def audit(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[:NAME] | RULE | PASS",
            help="A Python file, imported and so run: all rules and passes it defines, or one name. "
            "Or a rule as text, 'x * 2.0 -> x + x'. Or a pass of ours, `cse`.",
        ),
    ] = None,
    arguments: Arguments = None,
    domain: Annotated[
        str | None, typer.Option(metavar="|".join(DOMAINS), help="The equality to judge by, in place of the declared one.")
    ] = None,
    claims: Annotated[str, typer.Option(metavar="gradient", help="Judge a function that makes of a program its gradient.")] = "",
    seed: Seed = 0,
    skip: Skip = None,
    shipped: Annotated[bool, typer.Option("--shipped", help="Judge every rule and pass of our optimizer.")] = False,
    write: Annotated[Path | None, typer.Option(metavar="PAGE", help="With --shipped: where to write the page.")] = None,
    jax_jit: Annotated[bool, typer.Option("--jax-jit", help="Judge jax.jit of FILE:NAME, on inputs like ARGS.")] = False,
    by_grad: Annotated[bool, typer.Option("--grad", help="With --jax-jit: judge jax.jit of jax.grad of it.")] = False,
    as_json: Json = False,
) -> None:
    """
    Judge rewrite rules and passes.

    Several rules of one file are also judged together. Each report says what was proved, what was tried at points, what is
    refuted, by which smallest input, and what was not judged.
    """
    from adjudge.judging import audit as judge
    from adjudge.judging import equality
    from checkers.optimizer_audit.checks import known

    equality(domain), known(skip or ())
    if jax_jit or by_grad or arguments:
        jit_report(target, arguments, jax_jit, by_grad, seed, as_json)
        return
    if shipped or write is not None:
        _shipped(target, write, shipped, as_json)
        return
    if target is None:
        raise Malformed(
            "there is nothing to judge", remedy="adjudge audit FILE[:NAME], a rule such as 'x * 2.0 -> x + x', or --shipped"
        )
    _judge_all(_rewriting(target), lambda s: judge(s, seed=seed, skip=skip or (), domain=domain, claims=claims), as_json)


def _shipped(target: str | None, write: Path | None, shipped: bool, as_json: bool) -> None:
    """The page about our own optimizer."""
    from checkers.optimizer_audit.page import page, rows

    if target is not None or not shipped:
        remedy = "adjudge audit --shipped --write docs/optimizer.md"
        raise Malformed("--shipped judges what we ship and takes no target; --write goes with it", remedy=remedy)
    if write is not None and not write.parent.is_dir():
        raise Malformed(f"there is no folder {write.parent}", remedy="name a file in a folder that is there")
    with progress() as bar:
        task = bar.add_task("judging", total=None)
        found = list(rows(lambda name: bar.update(task, description=f"judging {name}")))
    text = page(found)
    if write is not None:
        write.write_text(text)
        say(f"{write}: {len(found)} rules and passes")
    elif as_json:
        say_json([row.as_dict() for row in found])
    else:
        say(text)
    raise typer.Exit(1 if any(row.fault for row in found) else DONE)


def _rewriting(target: str) -> dict[str, Any]:
    """What a target of `audit` names."""
    from transforms.pipeline import PASSES

    if "->" in target:
        return {target: target}
    if target in PASSES and not Path(target).exists():
        return {target: target}
    if not Path(target).suffix and ":" not in target and not Path(target).exists():
        remedy = f"a file FILE[:NAME], a rule 'left -> right', or one of our passes: {', '.join(PASSES)}"
        raise Malformed(f"{target} is no file, no rule and no pass", remedy=remedy)
    return _found(target, lambda module: rewriting_in(module, split(target)[0].name), "rules (adjudge.rule) or passes")


def _found(target: str, found_in: Callable[[Any], dict[str, Any]], what: str) -> dict[str, Any]:
    """What the file has to judge, or the one named. A named function counts as a pass."""
    path, name = split(target)
    module = import_file(path)
    found = found_in(module)
    if not name:
        if not found:
            remedy = "name functions, and whose they are, in a table ADJUDGE" if found_in is primitives_in else ""
            raise Malformed(f"{path} defines no {what}", remedy=remedy or f"name a function on programs: {path}:NAME")
        return found
    value = getattr(module, name, None)
    if name in found:
        return {name: found[name]}
    if found_in is primitives_in and recognised(value):
        return {name: Checked(value)}
    listed = isinstance(value, (list, tuple)) and value
    if found_in is not primitives_in and not isinstance(value, type) and (listed or callable(value)):
        return {name: value}
    if value is not None:
        raise Malformed(f"{name} of {path} is a {type(value).__name__}: none of the {what}", remedy=_known(found))
    raise Malformed(f"{path} defines no {name} to judge", remedy=_known(found))


def _known(found: dict[str, Any]) -> str:
    names = [name for name in found if name.isidentifier()]
    return f"one of {', '.join(names)}" if names else "the file has none"


def _judge_all(
    subjects: dict[str, Any], judge: Callable[[Any], Report], as_json: bool, html: Path | None = None, title: str = ""
) -> None:
    from checkers.optimizer_audit.journal import watched

    reports: list[Report] = []
    with progress() as bar:
        task = bar.add_task("judging", total=None)
        for i, (name, subject) in enumerate(subjects.items(), 1):
            where = f"judging {name}" + (f" ({i} of {len(subjects)})" if len(subjects) > 1 else "")
            bar.update(task, description=where)
            with watched(lambda check, where=where: bar.update(task, description=f"{where}: {check}")):
                reports.append(judge(subject))
    if html is not None:
        from adjudge.html import write

        write(reports, html, title=title)
    if as_json:
        say_json([json.loads(r.to_json()) for r in reports])
    else:
        for report in reports:
            print_report(report)
        if len(reports) > 1:
            print_overview(reports)
    raise typer.Exit(worst([r.exit_code for r in reports]))


def prove(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME | FILE:NAME]...", help="Primitives or shipped rules; all if none.")
    ] = None,
    trusted: Annotated[bool, typer.Option("--trusted", help="Print the axioms that proofs rest on.")] = False,
    as_json: Json = False,
) -> None:
    """Discharge proof obligations and print them with their times."""
    from proofs import TRUSTED, discharge, obligations

    if trusted:
        rows = [{"name": a.name, "statement": a.statement, "source": a.source} for a in TRUSTED]
        say_json(rows) if as_json else _axioms(rows)
        return
    wanted = [o for o in obligations() if not names or any(n in (o.subject, o.name) for n in names)]
    subjects = [n for n in names or [] if not any(n in (o.subject, o.name) for o in wanted)]
    results: list[Any] = []
    with progress() as bar:
        task = bar.add_task("proving", total=len(wanted))
        for obligation in wanted:
            bar.update(task, description=f"proving {obligation.name}")
            results.append(discharge(obligation))
            bar.advance(task)
    verdicts = [r.verdict for r in results]
    for subject in subjects:
        verdicts += _prove_object(subject, results)
    if as_json:
        say_json([{"name": r.name, "method": r.method, "verdict": summary(r.verdict), "seconds": r.seconds} for r in results])
    else:
        _table(results, verdicts)
    refuted = any(isinstance(v, Refuted) for v in verdicts)
    decided = any(isinstance(v, (Proved, Refuted)) for v in verdicts)
    raise typer.Exit(1 if refuted else DONE if decided else 3)


def _prove_object(subject: str, results: list[Any]) -> list[Any]:
    """The verdicts on a primitive or rule that a file defines."""
    from adjudge.judging import prove as discharge

    verdicts: list[Any] = []
    for name, found in _found(subject, _provable, "primitives or rules").items():
        proved = discharge(found)
        verdicts += proved
        for verdict in proved:
            say(f"{name}: {verdict.claim}: {summary(verdict)}")
    return verdicts


def _provable(module: Any) -> dict[str, Any]:
    """The primitives and rules that a file defines."""
    return {k: v for k, v in vars(module).items() if is_primitive(v) or isinstance(v, (PatternRule, Primitive))}


def _axioms(rows: list[dict[str, str]]) -> None:
    table = Table("axiom", "statement", "source", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row["name"], row["statement"].replace("[", "\\["), row["source"].replace("[", "\\["))
    console.print(table)


def _table(results: list[Any], verdicts: list[Any]) -> None:
    table = Table("obligation", "method", "verdict", "ms", box=None, pad_edge=False)
    for r in results:
        kind = type(r.verdict).__name__
        table.add_row(
            r.name, r.method, f"[{STYLE[kind]}]{summary(r.verdict).replace('[', chr(92) + '[')}[/]", f"{1000 * r.seconds:.1f}"
        )
    console.print(table)
    counts = {kind.__name__: sum(isinstance(v, kind) for v in verdicts) for kind in ORDER}
    say(", ".join(f"{n} {kind}" for kind, n in counts.items()))
    for verdict in verdicts:
        if isinstance(verdict, Unknown):
            say(f"unknown: {verdict.claim}: {verdict.reason}")
