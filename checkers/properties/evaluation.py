"""What a program means: that every evaluator agrees on it, that types are kept, that what is not reached does not matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkers.generators.mutation import unreachable_mutants
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Vacuous, Verdict
from semantics.denotation import denote
from semantics.errors import AdjudgeError, Crash, IllTyped, Malformed, OutOfFuel, Trap
from semantics.ir import Program
from semantics.machine import Machine, run
from semantics.tangents import Zero, dense
from semantics.type_language import FunctionType, Scalar, TupleType, type_of
from semantics.values import Closure, Unbound, same

Evaluator = Callable[[Program, Sequence[Any]], Any]


def named(arguments: Sequence[Any]) -> dict[str, Any]:
    """The arguments as a counterexample lists them."""
    return {f"argument {i}": x for i, x in enumerate(arguments)}


def determinism(program: Program, arguments: Sequence[Any], fuel: int = 100_000) -> Verdict:
    """T1: in every state on the way at most one rule is enabled, none in the last; and two runs are the same run."""
    machine, claim = Machine(program), "T1 determinism"
    try:
        state, steps = machine.initial(arguments), 0
        while found := machine.enabled(state):
            if len(found) > 1:
                return Refuted(Counterexample(named(arguments), [s.rule for s in found], "one rule"), claim=claim)
            state, steps = found[0].after, steps + 1
            if steps > fuel:
                return OutOfScope(f"it does not end within {fuel} steps", claim)
    except (Trap, IllTyped) as error:
        return OutOfScope(f"it traps: {error.what}", claim)
    except Crash as crash:
        return Refuted(Counterexample(named(arguments), crash.what, "one rule"), claim=claim)
    again = Machine(program).run(arguments)
    if again.steps != steps or not same(again.value, machine.value(state)):
        return Refuted(Counterexample(named(arguments), again.value, machine.value(state)), claim=claim)
    return Passed(steps, "steps with one rule enabled", claim)


def progress(program: Program, arguments: Sequence[Any], infer: Callable[..., Any] | None = None) -> Verdict:
    """T2: a program that has a type steps to a value or traps; it is never stuck and never ill-typed."""
    return _typed(program, arguments, infer, "T2 progress", lambda value, result: None)


def preservation(program: Program, arguments: Sequence[Any], infer: Callable[..., Any] | None = None) -> Verdict:
    """T3: the value of a program that has a type has that type."""
    return _typed(program, arguments, infer, "T3 preservation", _inhabits)


def _typed(
    program: Program,
    arguments: Sequence[Any],
    infer: Callable[..., Any] | None,
    claim: str,
    check: Callable[[Any, Any], str | None],
) -> Verdict:
    from semantics import infer as inference

    judge = infer or inference.infer
    try:
        result = judge(program, [type_of(a) for a in arguments]).result
    except (IllTyped, Malformed, OutOfFuel) as error:
        return OutOfScope(f"it has no type: {error.what}", claim)
    try:
        value = Machine(program).run(arguments).value
    except Trap as trap:
        return Passed(1, f"it traps: {trap.what}", claim)
    except (Crash, IllTyped) as error:
        return Refuted(Counterexample(named(arguments), str(error), f"a value of type {result}, or a trap"), claim=claim)
    problem = check(value, result)
    if problem is not None:
        return Refuted(Counterexample(named(arguments), f"{value!r}: {problem}", str(result)), claim=claim)
    return Passed(1, f"a value of type {result}", claim)


def _inhabits(value: Any, result: Any) -> str | None:
    """None if the inferred type has the value, else the value's own type."""
    return None if inhabits(value, result) else f"of type {type_of(value)}"


def inhabits(value: Any, t: Any) -> bool:
    """Whether a value has an inferred type: a scalar, a literal, a tuple, a function or a union of those."""
    from semantics.columns.types import Literal, members  # type: ignore[attr-defined]

    return any(
        _is(value, m.type if isinstance(m, Literal) else m) and (not isinstance(m, Literal) or value == m.value) for m in members(t)
    )


def _is(value: Any, t: Any) -> bool:
    match t:
        case TupleType(items):
            parts = dense(value)
            return isinstance(parts, tuple) and len(parts) == len(items) and all(map(inhabits, parts, items))
        case FunctionType(function, captured) if isinstance(value, Closure):
            return value.graph == function and len(value.captured) == len(captured) and all(map(inhabits, value.captured, captured))
        case FunctionType(function):
            return value is function
        case Scalar(name):
            known = (
                ("f64", float),
                ("bool", bool),
                ("i64", int),
                ("zero", Zero),
                ("unbound", Unbound),
                ("text", str),
                ("unit", type(None)),
            )
            return type(value) is dict(known)[name]
        case _:
            return False


def adequacy(program: Program, arguments: Sequence[Any], other: Evaluator = denote, name: str = "denotation") -> Verdict:
    """T5: the machine and another evaluator give the same bits, or fail with the same kind of error."""
    claim = f"T5 adequacy: machine = {name}"
    left, right = _outcome(_machine, program, arguments), _outcome(other, program, arguments)
    if isinstance(left, AdjudgeError) and isinstance(right, AdjudgeError):
        if type(left) is type(right) and left.what == right.what:
            return Passed(1, f"both: {type(left).__name__}", claim)
    elif not isinstance(left, AdjudgeError) and not isinstance(right, AdjudgeError) and same(left, right):
        return Passed(1, "the same bits", claim)
    return Refuted(Counterexample(named(arguments), left, right), claim=claim)


def _machine(program: Program, arguments: Sequence[Any]) -> Any:
    return run(program, *arguments)


def _outcome(evaluator: Evaluator, program: Program, arguments: Sequence[Any]) -> Any:
    try:
        return evaluator(program, arguments)
    except AdjudgeError as error:
        return error


def simulation(program: Program, python: Callable[..., Any], arguments: Sequence[Any]) -> Verdict:
    """
    T24: the program that the parser made of a Python function gives the bits that CPython gives.

    Where CPython raises an arithmetic error the reference is total or traps, and the claim is out of scope; where CPython says
    that a name is unbound, the program must trap.
    """
    claim = "T24 simulation: parse against CPython"
    try:
        wanted = python(*arguments)
    except (ArithmeticError, ValueError) as error:
        return OutOfScope(f"CPython raises {error!r}", claim)
    except UnboundLocalError as error:
        found = _outcome(_machine, program, arguments)
        if isinstance(found, Trap):
            return Passed(1, "both refuse the unbound name", claim)
        return Refuted(Counterexample(named(arguments), found, repr(error)), claim=claim)
    if isinstance(wanted, complex):
        return OutOfScope("CPython goes on with a complex number", claim)
    found = _outcome(_machine, program, arguments)
    if isinstance(found, AdjudgeError) or not same(found, wanted):
        return Refuted(Counterexample(named(arguments), found, wanted), claim=claim)
    return Passed(1, "the same bits as CPython", claim)


def unreachable_branches(program: Program, arguments: Sequence[Any], derive: Callable[[Program], Program] | None = None) -> Verdict:
    """T25: editing a branch that the run does not take changes neither the value nor, with `derive`, the gradient, in any bit."""
    claim = "T25 unreachable branches"
    try:
        value = run(program, *arguments)
        gradient = run(derive(program), *arguments) if derive else None
        count = 0
        for what, mutant in unreachable_mutants(program, arguments):
            count += 1
            if not same(found := run(mutant, *arguments), value):
                return Refuted(Counterexample(named(arguments), found, value, note=what), claim=claim)
            if derive and not same(found := run(derive(mutant), *arguments), gradient):
                return Refuted(Counterexample(named(arguments), found, gradient, note=f"gradient; {what}"), claim=claim)
    except Trap as trap:
        return OutOfScope(f"it traps: {trap.what}", claim)
    return Passed(count, "mutants", claim) if count else Vacuous("every branch is taken", claim)
