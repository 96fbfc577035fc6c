"""
`docs/optimizer.md`: every rule and pass of our optimizer under our own judge. `adjudge audit --shipped --write docs/optimizer.md`
writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from checkers.optimizer_audit.shipped import EXACT, FAST, PASS, SENSITIVITY, STRUCTURE, Row, row, shipped

HEAD = """# The optimizer, judged

Every rule and every pass that we ship, with the verdict of `adjudge audit`. This page is written by
`adjudge audit --shipped --write docs/optimizer.md` and checked by `tests/test_optimizer_page.py`.
[Audit an optimizer](audit-an-optimizer.md) shows how to judge your own.

- *proved*: for all inputs. Over the reals, the integers or the booleans by z3 or because both sides are one term; in IEEE-754
  by z3, bit for bit, *to f64* in doubles and all narrower formats.
- *exact*: a rule about integers or booleans, which have no rounding; proved over them, it holds on the machine.
- *tested*: at points, the edges of the formats, kinks and ties among them. Nothing is claimed about other inputs.
- *differs at*: the smallest input found at which the two sides are not equal.
- *ends*: of a rule, *proved* if a simplification order has its left side above its right side; then it ends, used alone, on every
  program. Of a pass: *by its measure*, which decreases with every step; *argued* in writing; or *tested*.
- *overlaps*: whether the critical pairs of the rule with the others of its system join. Where they do not, the result depends
  on which rule is tried first; every result is right.
- *steps*: of the recorded steps on the programs tried, how many are each proved for all inputs. The others are tested.
- *nothing to try*: no program tried is changed, or no rule overlaps. What nothing uses is no part of a program.
- —: no question for this rule, or none that its primitives let the solver answer.

"""

SECTIONS: dict[str, tuple[str, str]] = {
    PASS: (
        "Passes",
        "Judged on programs built to contain what passes get wrong, and on programs that runs of the optimizer met. "
        "*Twice is once*: a second run changes nothing. *Any order*: the steps in another order lead to the same program.",
    ),
    EXACT: (
        "Rules that keep every bit",
        "The rules of `simplify`. They hold in IEEE-754 with signed zeros, infinities and one NaN, or on integers and booleans. "
        "`#a` stands for a literal.",
    ),
    SENSITIVITY: (
        "Rules about sensitivities",
        "Further rules of `simplify`. ZERO is the sensitivity of what does not matter; it is neutral for sums, absorbs "
        "products, and is not 0.0.",
    ),
    FAST: (
        "Rules over the reals: only under `fast`",
        "Off unless asked for: `fast` and `optimize_fast` have them. Each is proved or tested over the reals, under its side "
        "condition; in IEEE-754 most move a result, hide a NaN, or lose the sign of a zero.",
    ),
    STRUCTURE: (
        "Rules on the structure of programs",
        "Each rule alone as a pass, on the same programs and on programs in which runs of the optimizer on gradients used it.",
    ),
}


def rows(watcher: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the page, one after another; `watcher` is told what is judged next."""
    for one in shipped():
        watcher(str(one))
        yield row(one)


def page(found: Sequence[Row]) -> str:
    """The page of these rows."""
    parts = [HEAD, *_overview(found)]
    for section, (title, about) in SECTIONS.items():
        parts.append(f"\n## {title}\n\n{about}\n\n")
        of_section = [r for r in found if r.section == section]
        if of_section:
            parts.append(_table(list(of_section[0].cells), [list(r.cells.values()) for r in of_section]))
    return "".join(parts)


def _overview(found: Sequence[Row]) -> Iterator[str]:
    """How many rules have which verdicts."""
    table = []
    for section in (EXACT, SENSITIVITY, FAST):
        of_section = [r.cells for r in found if r.section == section]
        real = Counter(_kind(c["over the reals"]) for c in of_section)
        ieee = Counter(_kind(c["in IEEE-754"]) for c in of_section)
        found_in_ieee = (ieee["proved to f64"], ieee["exact"], ieee["proved"], ieee["tested"], ieee["differs"])
        counts = (real["proved"], real["tested"], *found_in_ieee)
        table.append([SECTIONS[section][0], str(len(of_section)), *map(str, counts)])
    over_reals = ("proved over the reals", "tested over the reals")
    in_ieee = ("proved to f64", "exact", "proved to a narrower format", "tested in f64", "differ in f64")
    yield _table(("rules", "count", *over_reals, *in_ieee), table)


def _kind(cell: str) -> str:
    return cell if cell == "proved to f64" else cell.split(maxsplit=1)[0]


def _table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    return head + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
