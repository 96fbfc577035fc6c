"""
`docs/primitives.md`: every primitive of our table under our own judge. `adjudge check --shipped --write docs/primitives.md`
writes it.

    reals       judged as a function of reals, on its domain and the edge pool
    arrays      judged as a function of arrays, on shapes, attributes, layouts
    structure   judged in programs and their gradients, since it computes no real (`structural_programs.py`)

What is proved of a rule, `adjudge prove` says; large arrays, whose size depends on the time there is, `adjudge check NAME`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from adjudge import structural_programs
from checkers.array_audit.row_samples import array_examples
from checkers.optimizer_audit.shipped import Row
from checkers.primitive_audit import check, reads_arrays
from checkers.verdict import Passed, Refuted, Report, Verdict
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE

REALS, ARRAYS, STRUCTURE = "reals", "arrays", "structure"
LEFT_OUT = ("proof", "large arrays")
NONE = "—"

HEAD = """# The primitives, judged

Every primitive of the table, with the verdict of the judge of backpropagators. This page is written by
`adjudge check --shipped --write docs/primitives.md` and checked by `tests/test_primitive_table.py`. `adjudge check NAME` prints
the whole report on one, with what every check cost and why some were not made; `adjudge prove NAME` what is proved of it.

- *passed*: how many checks found nothing wrong.
- *first order*: what the entries of the Jacobian were compared with; — where they have nothing to be compared, since no real of the
  result depends on a real.
- *second order*: *right* where second derivatives are. Of reals: all, in both mixed orders, in balls. Of arrays: along dense
  directions, symmetric, and the same by reverse over reverse as by forward over reverse.
- *findings*: the check, and the input: conventions, which are what is answered where there is no derivative. A fault would be told
  here too, and digits lost that the condition of the problem does not forbid.
- *not judged*: checks that found nothing to judge: no kink in the domain, one argument that cannot be given twice, a rule that is a
  program and cannot write.

"""

SECTIONS: dict[str, tuple[str, str]] = {
    REALS: ("Functions of reals", "Judged on the domain, at kinks and on the edge pool; those that take arrays, on arrays too."),
    ARRAYS: (
        "Functions of arrays",
        "Judged on shapes (empty, 0-d, non-square, broadcast), layouts, axes and other attributes. "
        "Those without a real result must answer no sensitivity.",
    ),
    STRUCTURE: (
        "Structure",
        "These move values, and compute no real. Each is judged in programs in which, or in whose gradients, it occurs: all first "
        "and second derivatives against differences in ball arithmetic.",
    ),
}


def section(primitive: Primitive) -> str:
    """How a primitive is judged."""
    if not reads_arrays(primitive):
        return REALS
    return ARRAYS if array_examples(primitive.name) else STRUCTURE


def shipped() -> Iterator[Primitive]:
    """Every primitive, section by section."""
    for wanted in SECTIONS:
        yield from (p for p in TABLE.values() if section(p) == wanted)


def row(primitive: Primitive) -> Row:
    """The row on a primitive. Its fault is any finding but a convention: a digit lost that could be kept counts too."""
    where = section(primitive)
    if where == STRUCTURE:
        return _in_programs(primitive.name)
    report = check(primitive, skip=LEFT_OUT)
    fault = next((f"{f.claim}: {f.counterexample.place}" for f in report.findings if f.kind != "convention"), "")
    return Row(where, primitive.name, _of_report(primitive.name, report), fault)


def _of_report(name: str, report: Report) -> dict[str, str]:
    passed = [v for v in report.verdicts if isinstance(v, Passed)]
    missing = [e.check for e in report.ledger if e.skipped and e.check not in LEFT_OUT and e.check != "black box"]
    return {
        "primitive": f"`{name}`",
        "passed": str(len(passed)),
        "first order": _said(report, "jacobian").removeprefix("entries, against "),
        "second order": "right" if _said(report, "second order") != NONE else NONE,
        "findings": "; ".join(dict.fromkeys(map(_finding, report.findings))) or NONE,
        "not judged": ", ".join(missing) or NONE,
    }


def _said(report: Report, claim: str) -> str:
    """What a check passed on, or —."""
    return next((_plain(v.what) for v in report.verdicts if v.claim == claim and isinstance(v, Passed)), NONE)


def _finding(finding: Refuted) -> str:
    """The finding in a few words: the check that saw it, and where."""
    place = re.sub(r" \(-?0x[^)]*\)|, dout = [^,]*| of shape \(\d+,\)$", "", finding.counterexample.place)
    return f"{finding.claim} {_plain(place)}"


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _in_programs(name: str) -> Row:
    used = structural_programs.using(name)
    wrong = [v for program in used for v in structural_programs.verdicts(program) if not isinstance(v, Passed)]
    fault = _fault(wrong) if wrong else "" if used else "no program has it"
    return Row(STRUCTURE, name, {"primitive": f"`{name}`", "programs": ", ".join(used) or NONE, "passed": _count(used)}, fault)


def _count(used: Sequence[str]) -> str:
    found = [v for program in used for v in structural_programs.verdicts(program)]
    return f"{sum(isinstance(v, Passed) for v in found)} of {len(found)} derivatives"


def _fault(wrong: Sequence[Verdict]) -> str:
    return "; ".join(f"{v.claim}: {type(v).__name__}" for v in wrong)


def rows(watcher: Callable[[str], None]) -> Iterator[Row]:
    """The rows of the page, one after another; `watcher` is told what is judged next."""
    for primitive in shipped():
        watcher(primitive.name)
        yield row(primitive)


def page(found: Sequence[Row]) -> str:
    """The page of these rows."""
    counts = Counter(r.section for r in found)
    faults = sum(bool(r.fault) for r in found)
    said = ", ".join(f"{counts[s]} of {title.lower()}" for s, (title, _) in SECTIONS.items() if counts[s])
    parts = [HEAD, f"{len(found)} primitives: {said}; {faults or 'no'} fault{'s' * (faults > 1)}.\n"]
    for name, (title, about) in SECTIONS.items():
        lines = [r for r in found if r.section == name]
        if lines:
            parts.append(f"\n## {title}\n\n{about}\n\n| {' | '.join(lines[0].cells)} |\n|{'---|' * len(lines[0].cells)}\n")
            parts += [f"{line}\n" for line in lines]
    return "".join(parts)
