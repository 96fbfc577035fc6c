"""
The judgment on a transform that claims to be the gradient: any function from programs to programs.

Its result takes the parameters of the program, and gives the derivative by the first of them, alone or as a tuple of one, or the
tuple of the derivatives by all that are real. It is compared with forward mode and with the reversal of the recorded trace, which
share no rule with any reverse mode, in fractions or enclosures, and applied to its own output. At kinks nothing is asked: they are
a matter of convention. What fails is shrunk, and the constructs that are left in the program are what is to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkers import forward_mode, trace_reversal
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.outcomes import Runner, Value, on_a_kink
from checkers.optimizer_audit.pass_values import signature
from checkers.optimizer_audit.reduction import reduce
from checkers.optimizer_audit.rule_gradients import reals_of
from checkers.optimizer_audit.samples import Point, names_of, star_points, types_of
from checkers.optimizer_audit.subjects import Broken, Pass, as_pass
from checkers.optimizer_audit.trigger_shapes import STRUCTURED, shapes
from checkers.optimizer_audit.trigger_sources import declared, sourced
from checkers.optimizer_audit.triggers import called_twice, generated
from checkers.properties import agreement
from checkers.verdict import Counterexample, Passed, Refuted, Report, Unknown, Vacuous, Verdict
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Apply, GraphRef, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.type_language import REAL
from semantics.wellformed import problems
from transforms.nested_grad import expand
from transforms.parse import parse_text

GENERATED, POINTS = 16, 4
NESTED = (  # derivatives inside: perturbations must be kept apart
    "from adjudge import grad\n\ndef f(x):\n    return x * grad(lambda y: x + y)(1.0)\n",
    "from adjudge import grad\n\ndef f(x, z):\n    return x * grad(lambda y: x * y * y + z)(3.0)\n",
)
Oracle = Callable[[agreement.Point, Program], tuple[Any, ...]]
ORACLES: dict[str, Oracle] = {
    "forward mode": lambda at, program: forward_mode.gradient(program, at.arguments, at.reading),
    "trace reversal": lambda at, program: trace_reversal.gradient(program, at.arguments, at.reading),
}


@dataclass
class Claimed:
    """The programs, each with the points at which it has a real value and lies on no kink, and what was made of it."""

    subject: Pass
    cases: list[tuple[Program, list[Point]]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    results: dict[int, tuple[Program, Program | Broken]] = field(default_factory=dict)

    def made(self, program: Program) -> Program | Broken:
        """What the transform makes of the program, asked once."""
        if id(program) not in self.results:
            self.results[id(program)] = (program, self.subject(program))
        return self.results[id(program)][1]

    def add(self, program: Program) -> None:
        types = types_of(program)
        if not types or types[0] != REAL:
            return
        plain = expand(program)
        smooth = [p for p in star_points(types, finite=True) if _is_real(plain, p)]
        if smooth:
            self.cases.append((program, smooth[:: max(1, len(smooth) // POINTS)][:POINTS]))


def audit_gradient(transform: Any, seed: int, examples: Sequence[Program], skip: frozenset[str]) -> Report:
    """The report on a transform that claims to be the gradient."""
    subject = as_pass(transform, "REAL")
    journal, claimed = Journal(f"gradient {subject.name}", skip), Claimed(subject)
    plain = [t for t in shapes() if t.name not in STRUCTURED]
    for program in (*examples, *(t.program for t in (*plain, *sourced())), *(called_twice(t.program) for t in plain)):
        claimed.add(program)
    for program in (*(declared(parse_text(text, "f")) for text in NESTED), *generated(seed, GENERATED)):
        claimed.add(program)
    journal.check("gives a program", lambda: [_gives(claimed)])
    for name in ORACLES:
        journal.check(name, lambda name=name: [_agrees(claimed, name)])  # type: ignore[misc]
    journal.check("second order", lambda: [_second_order(claimed)])
    journal.check("repeatable", lambda: [_repeatable(claimed)])
    if claimed.refused:
        journal.not_judged(f"{len(claimed.refused)} programs", f"the transform refused them, first with {claimed.refused[0]}")
    journal.details["programs"] = len(claimed.cases)
    return journal.report(seed)


def _is_real(program: Program, point: Point) -> bool:
    """Whether the program has a real value at the point, and lies on no kink there."""
    found = Runner(program)(point)
    return isinstance(found, Value) and type(found.value) is float and not on_a_kink(program, point)


def _gives(claimed: Claimed) -> Verdict:
    claim = "every program is given a program in its parameters"
    for program, _ in claimed.cases:
        made = claimed.made(program)
        if isinstance(made, Broken) and made.refused:
            claimed.refused.append(made.why)
        elif (why := _unfit(program, made)) is not None:
            small = reduce(program, lambda p: _unfit(p, claimed.subject(p)) is not None, most=60)
            return _refuted(small, (), why, "a program in the same parameters", claim)
    fit = len(claimed.cases) - len(claimed.refused)
    return Passed(fit, "programs", claim) if fit else Unknown("the transform refused every program", claim)


def _unfit(program: Program, made: Program | Broken) -> str | None:
    """What is wrong with a result, before it is run."""
    if isinstance(made, Broken):
        return None if made.refused else made.why
    if (problem := next(iter(problems(made)), None)) is not None:
        return f"{problem[0]}: {problem[1]}"
    return None if len(signature(program)) == len(signature(made)) else f"it takes {len(signature(made))} arguments"


def _agrees(claimed: Claimed, name: str) -> Verdict:
    claim, tried = f"the gradient of {name}", 0
    for program, points in claimed.cases:
        for point in points:
            verdict = _compared(claimed.made, program, point, ORACLES[name])
            tried += isinstance(verdict, Passed)
            if isinstance(verdict, Refuted):
                return _shrunk(claimed.subject, program, point, name, claim)
    return Passed(tried, "points of programs, in fractions or enclosures", claim) if tried else Vacuous("nothing to compare", claim)


def _compared(subject: Callable[[Program], Program | Broken], program: Program, point: Point, oracle: Oracle) -> Verdict:
    """The claimed gradient at a point against an oracle."""
    made = subject(program)
    if isinstance(made, Broken):
        return Unknown(made.why)
    try:
        plain = expand(program)
        at = agreement.point(plain, point)
        wanted = oracle(at, plain)
    except AdjudgeError as error:
        return Unknown(error.what)
    reals = reals_of(types_of(program))
    result: list[int] = []  # how many derivatives are given

    def found() -> Any:
        value = at.value(made)
        several = value if isinstance(value, tuple) else (value,)
        result.append(len(several))
        return tuple(several[i] for i in reals) if len(several) == len(point) else several

    def kept() -> Any:
        return tuple(wanted[i] for i in (reals[:1] if result == [1] else reals))

    return agreement.judged("", point, found, lambda: None, equal=lambda a, _: agreement.differ(a, kept()))


def _shrunk(subject: Pass, program: Program, point: Point, name: str, claim: str) -> Verdict:
    def fails(p: Program) -> bool:
        if signature(p) != signature(program) or not _is_real(p, point):
            return False
        return isinstance(_compared(subject, p, point, ORACLES[name]), Refuted)

    small = reduce(program, fails)
    verdict = _compared(subject, small, point, ORACLES[name])
    assert isinstance(verdict, Refuted)
    plain = expand(small)
    at = agreement.point(plain, point)
    wanted = agreement.shown(tuple(ORACLES[name](at, plain)[i] for i in reals_of(types_of(small))))
    return _refuted(small, point, verdict.counterexample.found, wanted, claim)


def _refuted(program: Program, point: Point, found: Any, wanted: Any, claim: str) -> Refuted:
    inputs: dict[str, Any] = dict(zip(names_of(program), point, strict=False)) or {"program": str(program)}
    note = f"the smallest program found:\n{program}"
    return Refuted(
        Counterexample(inputs, found, wanted, f"what is left of the program: {constructs(program)}", note=note), "fault", claim
    )


def constructs(program: Program) -> str:
    """The primitives that a program applies, and what else it is made of: calls, closures, recursion."""
    found = scopes(program)
    names: dict[str, None] = {}
    for graph, needed in found.needed.items():
        for node in sorted(needed):
            callee = program.callee(node)
            if program.owner(node) != graph or not isinstance(program.nodes[node], Apply):
                continue
            match callee:
                case Primitive(name=name):
                    names[name] = None
                case GraphRef(target):
                    names["a recursive call" if graph == target else "a call"] = None
                case _:
                    names["a call of a computed function"] = None
    if any(found.free.values()):
        names["captured variables"] = None
    if any(len(program.users(x)) > 1 for x in program.graphs[program.entry].parameters):
        names["a variable used twice"] = None
    return ", ".join(names) or "a parameter alone"


def first_of(program: Program) -> Program:
    """x… ↦ f(x…)[0]"""
    edit = Edit(program)
    old = program.graphs[program.entry]
    edit.output(program.entry, edit.call(program.entry, TABLE["getitem"], old.output, edit.constant(0)))
    return edit.program


def _second_order(claimed: Claimed) -> Verdict:
    """The transform of its own output against dual numbers over dual numbers; by the first parameter, twice."""
    claim, tried = "second order: the transform of its own output", 0
    for program, points in claimed.cases:
        once = claimed.made(program)
        if isinstance(once, Broken) or _unfit(program, once) is not None:
            continue
        if not isinstance(value := Runner(once)(points[0]), Value):
            continue
        if isinstance(value.value, tuple):
            once = first_of(once)
        twice = claimed.subject(once)
        if isinstance(twice, Broken):
            if not twice.refused:
                return _refuted(program, (), twice.why, "a program", claim)
            continue
        if isinstance(value.value, tuple):
            twice = first_of(twice)
        for point in points[:2]:
            verdict = _twice_compared(expand(program), twice, point)
            tried += isinstance(verdict, Passed)
            if isinstance(verdict, Refuted):
                return _refuted(program, point, verdict.counterexample.found, verdict.counterexample.wanted, claim)
    return Passed(tried, "points of programs", claim) if tried else Vacuous("its results are no numbers, or were refused", claim)


def _twice_compared(program: Program, twice: Program, point: Point) -> Verdict:
    """The second derivative by the first parameter."""
    at = agreement.point(program, point)
    return agreement.judged(
        "",
        point,
        lambda: at.value(twice),
        lambda: forward_mode.second_derivative(program, at.arguments, 0, 0, at.reading),
    )


def _repeatable(claimed: Claimed) -> Verdict:
    """Asked again, after other programs, the transform gives the same: it keeps no state, and no program by its identity."""
    claim, tried = "the same program gives the same gradient", 0
    first = [(p, claimed.made(p)) for p, _ in claimed.cases]
    for program, made in first:
        if isinstance(made, Program):
            again = claimed.subject(program)
            tried += 1
            if again != made:
                return _refuted(program, (), str(again), str(made), claim)
    return Passed(tried, "programs", claim) if tried else Vacuous("no gradient was given", claim)
