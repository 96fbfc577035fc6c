"""
All wrong backpropagators and all right ones, counted in one place: on reals and on arrays, shipped and invented.

    LINES    the lines of the list of shipped bugs, `ZOO.md`: its first section, whose last line is the handling of cotangents
    WRONG    what must be found, each by one of the checks named and as the kind it is      RIGHT    what must not be blamed

A rule is judged by the checks that may find it, so that a count of all takes minutes. The tests of each collection judge more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from adjudge.primitives import primitive
from checkers.array_audit import NAMES
from checkers.primitive_audit import check, check_vjp
from checkers.verdict import Report
from mutants import array_rules, controls, primitives, scalar_controls, scalar_zoo, zoo_rules
from mutants.array_rules import Bug, Control
from mutants.primitives import Case

LINES = (
    *zoo_rules.ZOO,
    "pytorch#95180, pytorch#1712",
    "Zygote#1597",
)
"""The last two, of second order and of tangents, are judged in tests/test_check_array_zoo.py."""

COTANGENTS = (
    "d * |d|",
    "clip(d, -1, 1)",
    "relu(d)",
    "a bias of 1e-7",
    "one-hot only",
    "a mutated cotangent",
    "a mutated residual",
    "stale state",
)
"""The habits of the last line."""

ENTRYWISE = ("structure", "zero", "algebra", "jacobian", "edges", "kinks")
SLOW = ("composition", "optimizer", "vacuity")
POINTS, CASES = 100, 24


@dataclass(frozen=True)
class Wrong:
    """A wrong rule, what judges it, the checks of which one must find it (if none is named, any), and the kind it is found as."""

    name: str
    report: Callable[[], Report]
    claims: frozenset[str]
    kind: str = "fault"

    def is_found(self) -> bool:
        """Whether it is found as what it is."""
        return any(f.kind == self.kind and (not self.claims or f.claim in self.claims) for f in self.report().findings)


@dataclass(frozen=True)
class Right:
    """A right rule, and what judges it."""

    name: str
    report: Callable[[], Report]

    def is_blamed(self) -> bool:
        """Whether a fault is reported."""
        return any(f.kind == "fault" for f in self.report().findings)


def of_control(control: Control, rule: Any, names: tuple[str, ...], examples: int | None = None) -> Report:
    """A rule of arrays, judged by these checks where its control is used."""
    skip = tuple(n for n in NAMES if n not in names)
    return check_vjp(
        control.forward, rule, control.samples, fixed=control.fixed, domain=control.domain, skip=skip, examples=examples
    )


def of_reals(forward: Any, rule: Any) -> Report:
    """A rule of reals, judged as a primitive."""
    made = primitive(forward, name="suspect")
    made.backpropagator(rule)
    return check(made, examples=POINTS, skip=SLOW)


def of_case(case: Case) -> Report:
    """The same of one that has a domain or kinks."""
    return check(case.made(), examples=POINTS, skip=SLOW)


def on_arrays(bugs: tuple[Bug, ...], collection: str) -> Iterator[Wrong]:
    """Wrong rules of arrays."""
    for bug in bugs:
        report = partial(of_control, bug.control, bug.wrong, bug.caught_by)
        yield Wrong(f"{collection}: {bug.name}", report, frozenset(bug.caught_by), bug.kind)


WRONG: tuple[Wrong, ...] = (
    *(Wrong(f"reals: {c}", partial(of_case, c), frozenset()) for c in primitives.MUTANTS),
    *(Wrong(f"reals, zoo: {n}", partial(of_reals, f, r), frozenset(cs), k) for n, (f, r, cs, k) in scalar_zoo.ZOO.items()),
    *on_arrays(array_rules.BUGS, "arrays"),
    *(wrong for line, bugs in zoo_rules.ZOO.items() for wrong in on_arrays(bugs, line)),
    *on_arrays(zoo_rules.OTHERS, "arrays, others"),
)
RIGHT: tuple[Right, ...] = (
    *(Right(f"reals: {c}", partial(of_case, c)) for c in primitives.CONTROLS),
    *(
        Right(f"reals, hard: {n}", partial(of_reals, f, r))
        for n, (f, r, _) in scalar_controls.CONTROLS.items()
        if n not in ("atan2", "expm1")
    ),
    *(
        Right(f"{collection}: {c}", partial(of_control, c, c.right, ENTRYWISE, CASES))
        for collection, of in (
            ("arrays", array_rules.CONTROLS.values()),
            ("arrays, hard", controls.CONTROLS),
            ("arrays, twins", zoo_rules.TWINS),
        )
        for c in of
    ),
)
