"""
Integers as words: two's complement of a width, where an operation whose result does not fit traps, as compiled code has it.

A rewrite of integers is safe in words if at every input at which the left side does not trap the right side does not either,
and has the same value. Both are read as bit-vectors (`Words`); that a result fits is asked in bit-vectors twice as wide, so that
the question is plain SMT-LIB. A counterexample is run on Python's integers, with a test after each operation, before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import z3

from checkers.smt.inquiry import WORDS, Inquiry, Judgment
from checkers.smt.sides import BUG, Kind, claimed, gave_up, inputs_of
from checkers.smt.solver import RLIMIT, SAT, UNSAT
from checkers.smt.terms import bound_to
from checkers.verdict import Counterexample, Proved, Refuted, Unknown, Vacuous, Verdict
from semantics.columns.arrays import with_arrays
from semantics.columns.kinds import wrong
from semantics.columns.meaning import CELLS as NUMBERS
from semantics.columns.meaning import MEANING
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.conditions import Condition
from semantics.denotation import Reading, denote
from semantics.errors import AdjudgeError, Trap
from semantics.ir import Program
from semantics.primitives.row import Column, Hole
from semantics.values import same

MOST_POWER = 8
UNGUARDED = 16  # up to this width a question runs in this process


class Words:
    """One reading at a width; `needs` are the conditions under which nothing trapped."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.needs: list[Any] = []
        self.reading = Reading(Column("z3_words", with_arrays(bound_to(self, CELLS), self.truth)), truth=self.truth)

    def truth(self, condition: Any) -> Any:
        if z3.is_expr(condition):
            raise Trap("a branch on words is not read", rule="z3_words")
        return condition

    def word(self, name: str, x: Any) -> Any:
        """x as a word. Trap if it does not fit."""
        if z3.is_bv(x):
            return x
        if type(x) is not int:
            raise wrong(name, "integers", x)
        if not -(1 << self.width - 1) <= x < 1 << self.width - 1:
            raise Trap(f"{x} does not fit into {self.width} bits", rule=name)
        return z3.BitVecVal(x, self.width)

    def fit(self, wide: Any) -> Any:
        """The word that a wider one is; that it fits is noted."""
        word = z3.Extract(self.width - 1, 0, wide)
        self.needs.append(z3.SignExt(wide.size() - self.width, word) == wide)
        return word

    def twice(self, x: Any) -> Any:
        return z3.SignExt(self.width, x)


def _wide(name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
    """An operation in words twice as wide, in which + - * cannot overflow, and then made to fit."""

    def cell(run: Words, *arguments: Any) -> Any:
        return run.fit(operation(*(run.twice(run.word(name, x)) for x in arguments)))

    return cell


def floordiv(run: Words, a: Any, b: Any) -> Any:
    """The quotient rounded down; there is none by 0, and the least number by -1 does not fit."""
    x, y = (run.twice(run.word("floordiv", v)) for v in (a, b))
    run.needs.append(y != 0)
    down = z3.And(z3.SRem(x, y) != 0, (x < 0) != (y < 0))
    return run.fit(x / y - z3.If(down, z3.BitVecVal(1, 2 * run.width), z3.BitVecVal(0, 2 * run.width)))


def mod(run: Words, a: Any, b: Any) -> Any:
    """The remainder with the sign of the divisor."""
    x, y = (run.word("mod", v) for v in (a, b))
    run.needs.append(y != 0)
    return x % y


def power(run: Words, a: Any, b: Any) -> Any:
    """A small known power, as a product from left to right."""
    if type(b) is not int or not 0 <= b <= MOST_POWER:
        raise wrong("pow", f"a literal exponent of at most {MOST_POWER}", b)
    result = z3.BitVecVal(1, run.width)
    for _ in range(b):
        result = CELLS["mul"](run, result, a)  # type: ignore[operator]
    return result


def absolute(run: Words, a: Any) -> Any:
    x = run.twice(run.word("abs", a))
    return run.fit(z3.If(x < 0, -x, x))


def _compare(name: str, operation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Words compare with words, booleans with booleans."""

    def cell(run: Words, a: Any, b: Any) -> Any:
        if all(isinstance(x, bool) or z3.is_bool(x) for x in (a, b)) and name in ("eq", "ne"):
            return operation(*(z3.BoolVal(x) if isinstance(x, bool) else x for x in (a, b)))
        return operation(run.word(name, a), run.word(name, b))

    return cell


def where(run: Words, c: Any, a: Any, b: Any) -> Any:
    if isinstance(c, bool):
        return a if c else b
    if not z3.is_bool(c):
        raise wrong("where", "a condition", c)
    return z3.If(c, *(z3.BoolVal(x) if isinstance(x, bool) else x if z3.is_bool(x) else run.word("where", x) for x in (a, b)))


def _choice(name: str, second: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def cell(run: Words, a: Any, b: Any) -> Any:
        x, y = run.word(name, a), run.word(name, b)
        return z3.If(second(x, y), y, x)

    return cell


def not_(_: Words, a: Any) -> Any:
    if isinstance(a, bool):
        return not a
    if not z3.is_bool(a):
        raise wrong("not", "a condition", a)
    return z3.Not(a)


def _itself(name: str) -> Callable[..., Any]:
    return lambda run, a: run.word(name, a)


def _structural(cell: Callable[..., Any]) -> Callable[..., Any]:
    return lambda _, *arguments: cell(*arguments)


NOT_READ = Hole("it is not arithmetic on words")
CELLS: dict[str, Callable[..., Any] | Hole] = {
    **dict.fromkeys(NUMBERS, NOT_READ),
    **{name: _structural(cell) for name, cell in STRUCTURE.items()},
    "add": _wide("add", lambda a, b: a + b),
    "sub": _wide("sub", lambda a, b: a - b),
    "mul": _wide("mul", lambda a, b: a * b),
    "neg": _wide("neg", lambda a: -a),
    "floordiv": floordiv,
    "mod": mod,
    "pow": power,
    "abs": absolute,
    "where": where,
    "not_": not_,
    **{name: _choice(name, lambda x, y: y < x) for name in ("min", "minimum")},
    **{name: _choice(name, lambda x, y: y > x) for name in ("max", "maximum")},
    **{name: _itself(name) for name in ("to_integer", "floor", "ceil")},
    "lt": _compare("lt", lambda a, b: a < b),
    "le": _compare("le", lambda a, b: a <= b),
    "gt": _compare("gt", lambda a, b: a > b),
    "ge": _compare("ge", lambda a, b: a >= b),
    "eq": _compare("eq", lambda a, b: a == b),
    "ne": _compare("ne", lambda a, b: a != b),
}


@cache
def checked(width: int) -> Reading:
    """The reference meaning, where an integer that does not fit traps."""

    def cell(function: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
        if isinstance(function, Hole):
            return function

        def tested(*arguments: Any) -> Any:
            value = function(*arguments)
            if type(value) is int and not -(1 << width - 1) <= value < 1 << width - 1:
                raise Trap(f"{value} does not fit into {width} bits", rule="overflow")
            return value

        return tested

    return Reading(Column(MEANING.name, with_arrays({name: cell(function) for name, function in NUMBERS.items()})))


def judge_in_words(
    a: Program,
    b: Program,
    width: int,
    condition: Condition | None = None,
    *,
    kinds: Sequence[Kind],
    rlimit: int = RLIMIT,
    name: str = "",
) -> Judgment:
    """Whether `b` may stand for `a` in words of a width: it traps nowhere else, and has the same value where neither traps."""
    name = name or f"equal in {width} bits"
    inquiry = Inquiry(rlimit, guarded=width > UNGUARDED, first="bitwuzla" if width > UNGUARDED else "")
    try:
        verdict = _verdict(a, b, width, condition, kinds, inquiry)
    except AdjudgeError as error:
        verdict = gave_up(error)
    return inquiry.judged(name, " and ".join(sorted({x.solver for x in inquiry.answers})) or "none", claimed(verdict, name))


def _verdict(a: Program, b: Program, width: int, condition: Condition | None, kinds: Sequence[Kind], inquiry: Inquiry) -> Verdict:
    inputs = inputs_of(a, kinds, lambda kind, n: z3.Bool(n) if kind == "boolean" else z3.BitVec(n, width))
    named = dict(zip(inputs.names, inputs.values, strict=True))
    assumed = [] if condition is None else condition.conjuncts(named)
    left, right = Words(width), Words(width)
    wanted = denote(a, inputs.values, left.reading)
    assumed = [*assumed, *left.needs]
    if (status := inquiry.ask(assumed or [z3.BoolVal(True)], pure=False, logic=WORDS).status) != SAT:
        return Vacuous("the left side traps everywhere") if status == UNSAT else Unknown("no input was found at which it applies")
    found = denote(b, inputs.values, right.reading)
    differs = _differ(right, wanted, found)
    answer = inquiry.ask([*assumed, z3.Or(differs, *(z3.Not(need) for need in right.needs))], pure=False, logic=WORDS)
    if answer.status == UNSAT:
        return Proved(f"{' and '.join(sorted({x.solver for x in inquiry.answers}))} in {width} bits")
    if answer.status != SAT:
        return Unknown(answer.reason)
    default = {str(v): (False if k == "boolean" else 0) for v, k in zip(inputs.variables, inputs.flat, strict=True)}
    point = [answer.model.get(v, value) for v, value in default.items()]
    return _replayed(a, b, width, inputs, point)


def _differ(run: Words, wanted: Any, found: Any) -> Any:
    """Whether two values, words or conditions, are different."""
    if any(isinstance(x, bool) or z3.is_bool(x) for x in (wanted, found)):
        x, y = (z3.BoolVal(v) if isinstance(v, bool) else v for v in (wanted, found))
        return x != y if z3.is_bool(x) and z3.is_bool(y) else z3.BoolVal(True)
    return run.word("the left side", wanted) != run.word("the right side", found)


def _replayed(a: Program, b: Program, width: int, inputs: Any, point: Sequence[Any]) -> Verdict:
    """Refuted if Python's integers, tested after each operation, tell the sides apart."""
    outcomes: list[Any] = []
    for program in (a, b):
        try:
            outcomes.append(denote(program, inputs.rebuild(point), checked(width)))
        except AdjudgeError as error:
            outcomes.append(error)
    wanted, found = outcomes
    if isinstance(wanted, Exception) or (not isinstance(found, Exception) and same(wanted, found)):
        return Unknown(BUG)
    shown = str(found) if isinstance(found, Exception) else found
    return Refuted(Counterexample(inputs.named(point), shown, wanted, note=f"in words of {width} bits"))
