"""
T20, the cheap gradient: steps(J f) ≤ c · steps(f) + d with one c for every family of programs, and live values likewise.

A *family* is a program text with a hole for its size. The slope between two sizes is what c must bound; d pays for what does
not grow. Live values are what can be reached from a state: environments of all frames, closures and tuples, each shared object
counted once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkers.verdict import Counterexample, Passed, Refuted, Verdict
from semantics.ir import Program
from semantics.machine import Machine, State
from semantics.tangents import Sparse
from semantics.values import Closure
from transforms.gradient_programs import gradient_program

STEPS_FACTOR = 24.0  # a multiplication, one step, has 22 in its gradient before any optimization; all else has fewer
LIVE_FACTOR = 4.0  # values kept for one step of the program; a multiplication keeps 2.8


def steps(program: Program, arguments: Sequence[Any]) -> int:
    """How many steps the machine takes."""
    return Machine(program).run(arguments).steps


def peak_of_live_values(program: Program, arguments: Sequence[Any], every: int = 8) -> int:
    """The most values that are reachable in any state of the run; looked at every so many steps, and at the end."""
    machine = Machine(program)
    state, peak, count = machine.initial(arguments), 0, 0
    while True:
        if count % every == 0:
            peak = max(peak, live_values(state))
        after = machine.step(state)
        if after is None:
            return max(peak, live_values(state))
        state, count = after, count + 1


def live_values(state: State) -> int:
    """The values reachable from a state that its remaining tasks can still use, shared ones counted once."""
    seen: set[int] = set()
    todo: list[Any] = []
    frame: Any = state
    while frame is not None:
        needed = {n for t in frame.code.tasks[frame.position :] for n in (t.function, *t.arguments, t.node)} | {frame.code.output}
        todo.extend(v for n, v in frame.environment.items() if n in needed and n not in frame.code.constants)
        frame = frame.continuation
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, tuple):
            todo.extend(value)
        elif isinstance(value, Closure):
            todo.extend(value.captured)
        elif isinstance(value, Sparse):
            todo.extend(value.entries.values())
    return len(seen)


def slope(
    family: Callable[[int], Program],
    arguments: Sequence[Any],
    sizes: tuple[int, int],
    measure: Callable[[Program, Sequence[Any]], int] = steps,
    gradient: Callable[[Program], Program] = gradient_program,
) -> float:
    """The growth of the gradient's cost over the growth of the program's, between two sizes."""
    small, large = (family(n) for n in sizes)
    grown = measure(gradient(large), arguments) - measure(gradient(small), arguments)
    return grown / max(1, measure(large, arguments) - measure(small, arguments))


def cheap_gradient(
    family: Callable[[int], Program],
    arguments: Sequence[Any],
    sizes: tuple[int, int] = (10, 40),
    factor: float = STEPS_FACTOR,
    gradient: Callable[[Program], Program] = gradient_program,
) -> Verdict:
    """T20: the steps of the gradient grow at most `factor` times as fast as those of the program."""
    found = slope(family, arguments, sizes, steps, gradient)
    claim = "T20 cheap gradient: steps"
    if found > factor:
        return Refuted(Counterexample({"sizes": sizes}, found, f"at most {factor}"), claim=claim)
    return Passed(1, f"{found:.2f} steps of the gradient for one of the program", claim)


def cheap_memory(
    family: Callable[[int], Program],
    arguments: Sequence[Any],
    sizes: tuple[int, int] = (5, 15),
    factor: float = LIVE_FACTOR,
    gradient: Callable[[Program], Program] = gradient_program,
) -> Verdict:
    """T20 for live values: reverse mode must remember the run; it keeps at most `factor` values for every step of the program."""
    small, large = (family(n) for n in sizes)
    grown = peak_of_live_values(gradient(large), arguments) - peak_of_live_values(gradient(small), arguments)
    found = grown / max(1, steps(large, arguments) - steps(small, arguments))
    claim = "T20 cheap gradient: live values"
    if found > factor:
        return Refuted(Counterexample({"sizes": sizes}, found, f"at most {factor}"), claim=claim)
    return Passed(1, f"{found:.2f} live values of the gradient for one step of the program", claim)
