"""
The partial derivatives of a primitive, first and second, as terms. None comes from a rule.

A primitive is read by its z3 column, or by its forward program. Where it is algebraic and has a slope in `proofs.slopes`, the
first partial derivatives are those slopes at h = 0, and the second ones slopes of the first ones (`slope_of`); every slope equation
is proved. All else goes by the differential algebra of `proofs.calculus`.

A `Setting` is one piece of one case: what is assumed there, the value, and its first partial derivatives.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any

import z3

from checkers.smt.enclosures import holds
from checkers.smt.inquiry import Inquiry
from checkers.smt.paths import Run as Straight
from checkers.smt.paths import explore
from checkers.smt.real import Z3_REAL, reading
from checkers.smt.real_equality import POOL
from checkers.smt.sides import spread
from checkers.smt.solver import SAT, UNSAT
from checkers.smt.terms import real
from checkers.verdict import Proved, Unknown, Vacuous, Verdict
from proofs.calculus import NotDifferentiable, boundaries, derivative, divisors, pieces
from proofs.cases import Case, cases
from proofs.obligation import identity
from proofs.slopes import h, slope_of
from semantics.errors import IllTyped
from semantics.ir import Program
from semantics.primitives.row import Hole, Primitive

MOST_POINTS = 120
SMALL_POINTS = (*POOL, Fraction(1, 4), Fraction(-1, 3), Fraction(4, 3))
SMALL_STEP = Fraction(1, 1024)
REAL = partial(reading, pi=True)


@dataclass(frozen=True)
class Setting:
    """
    case, out  the primitive's arguments there, and its value as a term
    assumed    where this piece is, inside the domain and off the kinks
    first      ∂p/∂x of each argument that moves, by its index
    """

    case: Case
    out: Any
    assumed: list[Any]
    first: dict[int, Any]


def definition(primitive: Primitive) -> Program | None:
    """The forward program of a primitive that no z3 column reads, else None. IllTyped if its forward function is a black box."""
    if not isinstance(Z3_REAL.find(primitive), Hole):
        return None
    program = primitive.columns.get("program")
    if isinstance(program, Program):
        return program
    why = f": {program.reason}" if isinstance(program, Hole) else ""
    remedy = f"write it in the language, or say what it is over the reals: @{primitive.name}.z3"
    raise IllTyped(f"the proofs cannot look into {primitive.name}{why}", rule="prove", remedy=remedy)


def with_rule(primitive: Primitive, rule: Program) -> Primitive:
    """The primitive with `rule` for its backpropagator, and read over the reals by its definition where it has no z3 column."""
    cells: dict[str, Any] = {"backpropagator": rule}
    if (program := definition(primitive)) is not None:
        cells["z3_real"] = lambda *arguments: joined(program, arguments)[0]
    return replace(primitive, columns=ChainMap(cells, primitive.columns))  # type: ignore[arg-type]


def joined(program: Program, arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
    """The value of a loop-free program as one term, its paths joined by their conditions, and what it needs to be defined."""
    out, needs = None, []
    for path in reversed(explore(program, list(arguments), REAL)):
        taken = z3.And(True, True, *path.conditions)
        if path.trap is not None:
            needs.append(z3.Not(taken))
            continue
        needs += [z3.Implies(taken, e.condition) for e in path.events if e.kind == "need"]
        out = path.value if out is None else z3.If(taken, path.value, out)
    return out, needs


def points_of(case: Case) -> list[dict[str, Any]]:
    """Rational points for the arguments of a case."""
    names = [str(x) for x in case.arguments if z3.is_expr(x)]
    return [dict(zip(names, p, strict=True)) for p in spread([SMALL_POINTS] * len(names), MOST_POINTS)]


class Derivation:
    """
    The settings of one primitive, and their second derivatives.

    methods          how derivatives were found, for the verdict
    partial          the formula of a derivative is not defined in all of the domain
    off_boundaries   a boundary between pieces was left out that is no kink
    """

    def __init__(self, primitive: Primitive, inquiry: Inquiry) -> None:
        self.primitive, self.inquiry = primitive, inquiry
        self.program = definition(primitive)
        self.known: list[Setting | Verdict] = []
        self.coming = chain.from_iterable(map(self.of_case, cases(primitive)))
        self.methods: set[str] = set()
        self.partial = self.off_boundaries = False

    def value(self, arguments: Sequence[Any]) -> tuple[Any, list[Any]]:
        """p(arguments) as a term, and what it needs in order to be defined."""
        if self.program is not None:
            return joined(self.program, arguments)
        course = Straight()
        return REAL(course).column[self.primitive](*arguments), [e.condition for e in course.events]

    def settings(self) -> Iterator[Setting | Verdict]:
        """The settings of all cases, in order; each is found once, when it is first asked for."""
        yield from self.known
        while (found := next(self.coming, None)) is not None:
            self.known.append(found)
            yield found

    def of_case(self, case: Case) -> Iterator[Setting | Verdict]:
        """The pieces of a case on which something lies; or why the case cannot be judged."""
        out, needs = self.value(case.arguments)
        if any(self.inquiry.ask([*case.assumed, z3.Not(need)]).status != UNSAT for need in needs):
            self.partial = True
        assumed = [*case.assumed, *needs]
        if assumed and not self.inhabited(case, assumed):
            status = self.inquiry.ask(assumed).status
            if status != SAT:
                nowhere = Vacuous("no point lies in the domain and off the kinks")
                yield nowhere if status == UNSAT else Unknown("no point was found in the domain and off the kinks")
                return
        whole = case.slopes is not None or not z3.is_real(out)
        off = [] if whole else boundaries(out)
        if off and self.inquiry.ask([*assumed, z3.Or(False, *map(z3.Not, off))]).status != UNSAT:
            self.off_boundaries = True
        for where, piece in [((), out)] if whole else pieces(out):
            here = [*assumed, *off, *where]
            if len(here) > len(assumed) and not self.inhabited(case, here):
                status = self.inquiry.ask(here).status
                if status == UNSAT:
                    continue
                if status != SAT:
                    yield Unknown("no point was found in one of the pieces")
                    return
            yield self.setting(case, piece, here)

    def inhabited(self, case: Case, assumed: list[Any]) -> bool:
        """Whether one of the points lies there."""
        return any(holds(assumed, p) for p in points_of(case))

    def setting(self, case: Case, out: Any, assumed: list[Any]) -> Setting | Verdict:
        """One piece with its first partial derivatives, each shown."""
        first: dict[int, Any] = {}
        for index in case.moving:
            found = self.first(case, index, out, assumed)
            if isinstance(found, Unknown):
                return found
            first[index] = found
            self.note_divisors(found, assumed)
        return Setting(case, out, assumed, first)

    def note_divisors(self, term: Any, assumed: list[Any]) -> None:
        """Notes that a formula is undefined somewhere in the domain, if it may be."""
        if not self.partial and any(self.inquiry.ask([*assumed, d == 0]).status != UNSAT for d in reversed(divisors(term))):
            self.partial = True

    def first(self, case: Case, index: int, out: Any, assumed: list[Any]) -> Any:
        """∂p/∂x_index as a term, or Unknown. A slope witness is proved to be one."""
        if z3.is_int(out):
            self.methods.add("pieces")
            return real(0)
        if case.slopes is None:
            return self.by_algebra(out, case.arguments[index])
        slope = case.slopes[index]
        moved = tuple(x + h if i == index else x for i, x in enumerate(case.arguments))
        after, needs = self.value(moved)
        near = [*assumed, *needs, *slope.near(case.arguments, h)]
        wrong = self.slope(case, after, out, slope.witness(case.arguments, h), near, index)
        return slope.witness(case.arguments, real(0)) if wrong is None else wrong

    def second(self, setting: Setting, i: int, j: int) -> Any:
        """∂²p/∂x_j∂x_i as a term, or Unknown: from the slopes of the first derivative if that came from slopes."""
        first, x = setting.first[i], setting.case.arguments[j]
        if setting.case.slopes is None:
            return self.by_algebra(first, x)
        after = z3.substitute(first, (x, x + h))
        try:
            witness, near = slope_of(first, x)
        except NotDifferentiable as error:
            return Unknown(str(error))
        wrong = self.slope(setting.case, after, first, witness, [*setting.assumed, *near], j)
        return z3.substitute(witness, (h, real(0))) if wrong is None else wrong

    def by_algebra(self, term: Any, x: Any) -> Any:
        """The derivative of a term by differential algebra, or Unknown."""
        self.methods.add("differential algebra")
        try:
            return derivative(term, x)
        except NotDifferentiable as error:
            return Unknown(str(error))

    def slope(self, case: Case, after: Any, before: Any, witness: Any, near: list[Any], index: int) -> Unknown | None:
        """None if after - before = h·witness is proved near a point where its hypotheses can be met."""
        met = any(holds(near, {**p, "h": SMALL_STEP}) for p in points_of(case))
        if near and not met and self.inquiry.ask(near).status != SAT:
            return Unknown(f"the hypotheses of the slope of argument {index} were not shown satisfiable")
        verdict, _ = identity(self.inquiry, after - before, h * witness, near)
        if not isinstance(verdict, Proved):
            return Unknown(f"the slope of argument {index} was not shown: {verdict}")
        self.methods.add("slopes")
        return None
