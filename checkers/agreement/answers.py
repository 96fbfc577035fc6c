"""
What the modes answer, each in doubles on the machine and exactly on the denotation.

    J, ssa, …, pullback   the reverse modes of `transforms.modes`: a program, which is run, measured and optimized
    forward               dual numbers; at second order dual numbers over dual numbers
    trace                 reversal of the recorded trace; at second order of the gradient by J, which it thus takes on trust

An oracle is a reading of the denotation: it makes no program and takes no machine steps. Both look at every real by itself, and
are not asked where there are more than MOST of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from checkers import forward_mode, trace_reversal
from checkers.agreement.meters import applications, metered
from checkers.agreement.question import Question, along_asked, unit
from checkers.ball_differences import precision
from checkers.columns.ball import BITS, balls
from checkers.properties.agreement import is_rational, lifted
from semantics.collector import at_rest
from semantics.columns.meaning import seed
from semantics.denotation import FLOATS, FRACTIONS, Reading, denote
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.ir import Program
from semantics.machine import Machine
from transforms.modes import MODES
from transforms.nested_grad import expand
from transforms.pipeline import optimize

MOST = 64
LARGEST = 20_000  # applications; a larger program is not optimized
FORWARD, TRACE = "forward", "trace"
ORACLES = {FORWARD: "forward mode, dual numbers", TRACE: "reversal of the trace"}


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What one mode said.

    value, derivative  in doubles; the value at first order only
    exact              the derivative in the equality domain of the question
    nodes              applications before and after optimization
    error, stage       why it said nothing ("refused": no program was made), or nothing in doubles ("run"), or exactly ("exact")
    """

    mode: str
    title: str
    value: Any = None
    derivative: Any = None
    exact: Any = None
    steps: int | None = None
    live: int | None = None
    nodes: tuple[int, int | None] | None = None
    error: AdjudgeError | None = None
    stage: str = ""
    seconds: float = 0.0

    @property
    def is_oracle(self) -> bool:
        return self.mode in ORACLES

    @property
    def answered(self) -> bool:
        """Whether there is an exact derivative to compare."""
        return self.error is None


def title_of(mode: str) -> str:
    """What a mode is, in words."""
    return ORACLES[mode] if mode in ORACLES else MODES[mode].title


@dataclass(frozen=True)
class Answers:
    """All answers to one question. `reading` is its equality domain; `value` is that of the program itself, on the machine."""

    question: Question
    reading: Reading
    value: Any
    answers: tuple[Answer, ...]

    @property
    def domain(self) -> str:
        """The equality domain in words."""
        if self.reading is FRACTIONS:
            return "EXACT: derivatives are fractions and are equal"
        return f"EXACT: derivatives are enclosures of {BITS} bits, which intersect and are narrow"

    def by(self, mode: str) -> Answer:
        return next(a for a in self.answers if a.mode == mode)


@at_rest()
def answers(question: Question, modes: tuple[str, ...], *, counted: bool = True) -> Answers:
    """
    What the modes say, in their order. Raised: the error of the program itself, and IllTyped if its value is not a real.

    counted  also in doubles, with steps, live values and nodes; without, what is compared and no more
    """
    value = Machine(question.expanded).run(question.arguments, question.fuel).value
    seed(value)
    made = {mode: _made(question, mode) for mode in modes if mode not in ORACLES}
    programs = [found for found, _ in made.values() if isinstance(found, Program)]
    rational = all(is_rational(p) for p in (question.expanded, *programs))
    reading = FRACTIONS if rational else balls(BITS)
    found = []
    for mode in modes:
        begin = time.perf_counter()
        given, building = made.get(mode, (None, 0.0))
        answer = (
            _of_oracle(question, mode, reading, counted) if given is None else _of_mode(question, mode, given, reading, counted)
        )
        found.append(replace(answer, seconds=time.perf_counter() - begin + building))
    return Answers(question, reading, value, tuple(found))


def _made(question: Question, mode: str) -> tuple[Program | AdjudgeError, float]:
    begin = time.perf_counter()
    try:
        found: Program | AdjudgeError = question.derivative(mode)
    except AdjudgeError as error:
        found = error
    return found, time.perf_counter() - begin


def _of_mode(question: Question, mode: str, made: Program | AdjudgeError, reading: Reading, counted: bool) -> Answer:
    answer = Answer(mode, title_of(mode))
    if isinstance(made, AdjudgeError):
        return replace(answer, error=made, stage="refused")
    try:
        answer = _counts(answer, question, made) if counted else _in_doubles(answer, question, made)
    except AdjudgeError as error:
        return replace(answer, error=error, stage="run")
    return _exactly(answer, lambda: _second_part(question, denoted(made, question, reading)))


def _in_doubles(answer: Answer, question: Question, made: Program) -> Answer:
    """With the value in doubles, which is compared in bits, and with the gradient that comes with it."""
    if question.order == 2:
        return answer
    value, derivative = Machine(made).run(question.inputs, question.fuel).value
    return replace(answer, value=value, derivative=derivative)


def _counts(answer: Answer, question: Question, made: Program) -> Answer:
    """With everything in doubles, and with what it costs."""
    run = metered(made, question.inputs, question.fuel)
    value, derivative = run.value if question.order == 1 else (None, run.value)
    nodes = applications(made), _optimized(made)
    return replace(answer, value=value, derivative=derivative, steps=run.steps, live=run.live, nodes=nodes)


def _second_part(question: Question, value: Any) -> Any:
    """The derivative in the result of a program that answers."""
    return value[1] if question.order == 1 else value


def denoted(program: Program, question: Question, reading: Reading, *more: Any) -> Any:
    """The value of a program at the inputs of the question, exactly."""
    with precision(BITS):
        return denote(program, (*lifted(reading, question.inputs), *more), reading, question.fuel)


def _optimized(program: Program) -> int | None:
    """The applications that are left after optimization; None for a program too large to wait for."""
    return applications(optimize(program)) if applications(program) <= LARGEST else None


def _of_oracle(question: Question, mode: str, reading: Reading, counted: bool) -> Answer:
    answer = Answer(mode, title_of(mode))
    ask = _ASK[mode, question.order]
    asked = len(question.paths) if mode == FORWARD or question.order == 2 else 0
    if asked ** (1 if question.by_products or question.order == 1 else 2) > MOST:
        error = OutOfFuel(
            f"{asked} reals are too many to look at one by one", rule=mode, remedy=f"choose at most {MOST} with --wrt"
        )
        return replace(answer, error=error, stage="refused")
    try:
        value = denote(question.expanded, question.arguments, FLOATS, question.fuel) if question.order == 1 else None
        answer = replace(answer, value=value, derivative=ask(question, FLOATS) if counted else None)
    except AdjudgeError as error:
        return replace(answer, error=error, stage="run")
    return _exactly(answer, lambda: ask(question, reading))


def _exactly(answer: Answer, ask: Callable[[], Any]) -> Answer:
    try:
        with precision(BITS):
            return replace(answer, exact=ask())
    except AdjudgeError as error:
        return replace(answer, error=error, stage="exact")


# what the oracles are asked


def _forward_gradient(question: Question, reading: Reading) -> Any:
    primals = lifted(reading, question.arguments)
    found = {p: forward_mode.derivative(question.expanded, primals, p, reading) for p in question.paths}
    return question.gathered(found)


def _reversed_gradient(question: Question, reading: Reading) -> Any:
    primals = lifted(reading, question.arguments)
    return question.taken(trace_reversal.gradient(question.expanded, primals, reading))


def _forward_over_forward(question: Question, reading: Reading) -> Any:
    primals = lifted(reading, question.arguments)

    def row(direction: tuple[Any, ...]) -> Any:
        """The derivatives of the derivative along a direction."""
        along = {
            p: forward_mode.second_along(question.expanded, primals, direction, unit(question, p), reading) for p in question.paths
        }
        return question.gathered(along)

    return _rows(question, row)


def _reversed_over_j(question: Question, reading: Reading) -> Any:
    program = expand(question.directional())

    def row(direction: tuple[Any, ...]) -> Any:
        primals = lifted(reading, (*question.arguments, *along_asked(question, direction)))
        return question.taken(trace_reversal.gradient(program, primals, reading))

    return _rows(question, row)


def _rows(question: Question, row: Callable[[tuple[Any, ...]], Any]) -> Any:
    """The product with the fixed direction, or the Hessian, row by row: its products with the units."""
    if question.by_products:
        return row(question.direction)
    rows = [row(unit(question, path)) for path in ((i,) for i in question.wrt)]
    return tuple(rows) if question.several else rows[0]


Ask = Callable[[Question, Reading], Any]
_ASK: Mapping[tuple[str, int], Ask] = {
    (FORWARD, 1): _forward_gradient,
    (TRACE, 1): _reversed_gradient,
    (FORWARD, 2): _forward_over_forward,
    (TRACE, 2): _reversed_over_j,
}
__all__ = ["FORWARD", "ORACLES", "TRACE", "Answer", "Answers", "answers", "denoted", "title_of"]
