"""
`docs/proofs.md`: every primitive and every rule with what is proved of it. `adjudge prove --page docs/proofs.md` writes it.

A row has a cell for each kind of judgment, the verdict in a word; what is not plainly proved is said in full below its table. A row
of the table of primitives without an obligation would be listed as such: there are no silent holes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from checkers.verdict import ORDER, OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from proofs.families import FAMILIES
from proofs.foundations import users
from proofs.kinds import ARRAY, NONE, SCALAR, STRUCTURE, constant, kind_of
from proofs.run import Outcome
from proofs.trusted import TRUSTED
from semantics.primitives.row import Primitive
from semantics.primitives.table import ROWS

HEAD = """# What is proved

Every claim about our primitives, our rewrite rules and the transform, with the verdict of the prover. This page is written by
`adjudge prove --page docs/proofs.md` and checked by `tests/test_proofs_page.py`.

- *proved*: for all inputs of its scope, over the reals unless another domain is said; where the scope is narrower, it is said.
- *passed*: executed on inputs, not proved. *refuted*: false, with a counterexample. *unknown*: not decided within the budget.
- *out of scope*: no question, for the reason that is given. *differs in f64*: a rule that claims the reals only is not exact, and
  the input that shows it is given. —: not asked.
- *wrong variants*: variants of the backpropagator, made mechanically, that the prover refuted by execution, as it must.
- *resources* are z3's own count of its steps (`rlimit`), which repeats from run to run; 0 where no solver was asked. *Time* is a
  class: instant (below 0.1 s), short (below 1 s), or the next power of ten, on one core.
- *axioms*: what the proof rests on, beside the normal form, the solvers and the reading of programs as terms.

"""
WORDS: Mapping[type, str] = {
    Proved: "proved",
    Passed: "passed",
    Refuted: "**refuted**",
    Unknown: "unknown",
    Vacuous: "vacuous",
    OutOfScope: "out of scope",
}
SUBJECTS = {
    SCALAR: "Scalar primitives",
    ARRAY: "Array primitives",
    STRUCTURE: "Primitives of structure, sensitivities and memory",
    NONE: "Primitives through which nothing flows",
}
RULES, REST = "Rewrite rules", "The transform, lemmas, and other claims"
FIRST = ("first order", "all shapes", "bounded")
SECOND = ("second order", "second order, all shapes", "second order, bounded")
"""The judgments that count as first order, of a scalar or an array primitive, and as second order; the last are up to a bound."""
EVERYWHERE = ("everywhere in its domain",)
NO = "—"


def differentiable(primitive: Primitive) -> bool:
    """Whether there is a derivative, and it is not 0 everywhere."""
    return kind_of(primitive) != NONE and not constant(primitive)


def page(outcomes: Sequence[Outcome]) -> str:
    """The page of a run."""
    return "".join([HEAD, *_overview(outcomes), *_axioms(outcomes), *_sections(outcomes)])


# in short


def _overview(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield "## In short\n\n"
    heads = ["claims", *(WORDS[k].strip("*") for k in ORDER), "all"]
    lines = []
    for family in FAMILIES:
        found = [o.judgment.verdict for o in outcomes if o.family == family.name]
        if found:
            counts = Counter(map(type, found))
            lines.append([family.title, *(str(counts[k]) for k in ORDER), str(len(found))])
    yield table(heads, lines)
    yield "\n"
    for order, columns in (("first", FIRST), ("second", SECOND)):
        yield shares(outcomes, order, columns)


def shares(outcomes: Sequence[Outcome], order: str, columns: Sequence[str]) -> str:
    """Of the rows with a derivative, how many are proved at an order; those proved up to a bound only are counted apart."""
    for_all, bounded = (set[str]().union(*(proved_in(outcomes, c) for c in some)) for some in (columns[:-1], columns[-1:]))
    rows = {which: {p.name for p in ROWS if kind_of(p) == which and differentiable(p)} for which in (SCALAR, ARRAY, STRUCTURE)}
    parts = []
    for which, names in (*((f"{kind} rows", own) for kind, own in rows.items()), ("of all", set[str]().union(*rows.values()))):
        proved, only = names & (for_all | bounded), names & (bounded - for_all)
        share = f"{len(proved)} of {len(names)} {which}".replace(f"{len(names)} of all", f"all {len(names)}")
        part = f"{share} ({100 * len(proved) // max(1, len(names))} %)"
        parts.append(part + (f", {len(only)} of them up to a bound only" if only else ""))
    return f"At {order} order, of the primitives with a derivative, proved are {'; '.join(parts)}.\n\n"


def proved_in(outcomes: Iterable[Outcome], column: str) -> set[str]:
    """The subjects that are proved in a column."""
    families = {f.name for f in FAMILIES if f.column == column}
    return {o.obligation.subject for o in outcomes if o.family in families and isinstance(o.judgment.verdict, Proved)}


def _axioms(outcomes: Sequence[Outcome]) -> Iterator[str]:
    used = users((o.obligation.name, o.axioms) for o in outcomes)
    yield f"## The trusted base\n\n{len(TRUSTED)} axioms, each executed on numbers by the tests, and no others.\n\n"
    rows = [[f"`{a.name}`", a.statement, a.source, ", ".join(a.domain), str(len(used[a.name]))] for a in TRUSTED]
    yield table(["axiom", "statement", "source", "executed at", "claims that rest on it"], rows)


# tables


def _sections(outcomes: Sequence[Outcome]) -> Iterator[str]:
    by_subject: dict[str, list[Outcome]] = {}
    for o in outcomes:
        by_subject.setdefault(o.obligation.subject, []).append(o)
    for which, title in SUBJECTS.items():
        rows = [p for p in ROWS if kind_of(p) == which]
        asked = {p.name: by_subject.pop(p.name) for p in rows if p.name in by_subject}
        yield f"\n## {title}\n\n"
        yield from _table_of(asked)
        if left := [p.name for p in rows if p.name not in asked]:
            yield f"\nWithout an obligation: {code(left)}. Tests judge them.\n"
    ruled = {family.name for family in FAMILIES if "rule" in family.title}
    rules = {s: found for s, found in by_subject.items() if all(o.family in ruled for o in found)}
    yield f"\n## {RULES}\n\n"
    yield from _table_of(rules)
    yield f"\n## {REST}\n\n"
    rest = {o.obligation.name: [o] for s, found in by_subject.items() if s not in rules for o in found}
    yield from _table_of(rest)


def _table_of(subjects: Mapping[str, Sequence[Outcome]]) -> Iterator[str]:
    """One line per subject, then in full what is not plainly proved."""
    columns = [c for c in dict.fromkeys(f.column for f in FAMILIES) if any(_cell(found, c) != NO for found in subjects.values())]
    heads = ["", *columns, "resources", "axioms", "time"]
    yield table(heads, [line(s, found, columns) for s, found in subjects.items()])
    notes = [note for s, found in subjects.items() for note in remarks(s, found)]
    if notes:
        yield "\n" + "".join(f"- {note}\n" for note in notes)


def line(subject: str, found: Sequence[Outcome], columns: Sequence[str]) -> list[str]:
    """The cells of a subject."""
    cells = [_cell(found, column) for column in columns]
    axioms = dict.fromkeys(a for o in found for a in o.axioms)
    seconds = sum(o.judgment.seconds for o in found)
    return [
        f"`{subject}`",
        *cells,
        str(sum(o.judgment.rlimit for o in found)),
        ", ".join(axioms) or NO,
        duration(seconds),
    ]


def _cell(found: Iterable[Outcome], column: str) -> str:
    families = {f.name for f in FAMILIES if f.column == column}
    return ", ".join(dict.fromkeys(word(o.judgment.verdict) for o in found if o.family in families)) or NO


def word(verdict: Verdict) -> str:
    """A verdict in a word; of bit-exactness, with the format."""
    if isinstance(verdict, Proved) and (scope := re.fullmatch("(?:bit-exact|safe) (to|in) (.+)", verdict.by)):
        return f"proved {scope[1]} {scope[2]}"
    if isinstance(verdict, Proved) and verdict.by.endswith("refuted, each by an executed counterexample"):
        return " ".join(verdict.by.split()[:2]).rstrip(",")
    if isinstance(verdict, OutOfScope) and (
        there := re.match("it claims the reals only; in ([a-z0-9]+) the sides differ", verdict.why)
    ):
        return f"differs in {there[1]}"
    return WORDS[type(verdict)]


def remarks(subject: str, found: Iterable[Outcome]) -> Iterator[str]:
    """What a word does not say: the scope of a proof that is narrower than its domain, the reason of whatever is no proof."""
    from checkers.verdict import summary

    for o in found:
        verdict, column = o.judgment.verdict, next(f.column for f in FAMILIES if f.name == o.family)
        match verdict:
            case Proved(by):
                _, semicolon, scope = by.partition("; ")
                if semicolon and scope not in EVERYWHERE:
                    yield f"`{subject}`, {column}: proved {scope}"
            case _:
                yield f"`{subject}`, {column}: {' '.join(summary(verdict).split())}"


def duration(seconds: float) -> str:
    """The class of a time."""
    return next((name for limit, name in ((0.1, "instant"), (1, "short"), (10, "10 s"), (100, "100 s")) if seconds < limit), "long")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in lines)


def code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
