"""
The functions of GradBench at one size each, called from Python: the derivative against the primal, both compiled, against JAX,
where that is installed, and against a derivative by hand, where there is one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from bench.array_gradients import refuse_another_derivative
from bench.gradbench import prepared
from bench.gradbench_by_hand import BY_HAND
from bench.gradbench_jax import by_jax
from bench.gradbench_programs import functions
from bench.gradbench_programs.function import Function
from bench.measure import Row, named, seconds, seconds_a_call
from semantics.errors import OutOfFuel

SIZES = {"lse": 1000, "llsq": 32, "gmm": 100, "kmeans": 100, "ode": 100, "det": 4, "lstm": 16, "ba": 100, "ht": 4}
ENDS = {"saddle": (1, [8.246324826140356e-06] * 4), "particle": (0, 0.2071918746486116)}
"""The start of the two descents, and where the suite says that they end."""

WHOLE = 0.2
"""Seconds that one measurement takes, about."""


def rows(only: str = "") -> Iterator[Row]:
    """
    A row for each module, with one for what JAX says where it does not run it, and one for each variant of the descents; or those
    of the modules whose name has a text in it.
    """
    for module, size in named(SIZES, only).items():
        primal, derivative = functions(module)
        theirs = of_jax(module, derivative, size)
        value, slope = (measured(module, name, size)[:2] for name in (primal, derivative))
        yield row(f"{module}, size {size}", value, slope, theirs, of_hand(module, derivative, size))
        if isinstance(theirs, str) and theirs:
            yield Row("", f"not by JAX: {theirs}", "", "")
    for module, (size, end) in named(ENDS, only).items():
        for variant in functions(module):
            try:
                first, took, found = measured(module, variant, size)
            except OutOfFuel as error:
                yield Row(f"{module} {variant}", "out of fuel", error.what, "")
                continue
            _refuse_another_end(f"{module} {variant}", found, end)
            yield Row(f"{module} {variant}", f"{1e3 * took:.3g} ms", f"first call {first:.3g} s", "")


def row(
    what: str, primal: tuple[float, float], derivative: tuple[float, float], theirs: float | str, hand: float | None = None
) -> Row:
    """The derivative against the primal, and against theirs and that by hand, if there are times; the time of our first calls."""
    (first, mine), (later, its) = primal, derivative
    others = {"JAX": None if isinstance(theirs, str) else theirs, "by hand": hand}
    over = [f"{its / mine:.3g}", *(f"{name} {its / other:.2g}" for name, other in others.items() if other is not None)]
    return Row(
        f"{what}, first {first:.2g} and {later:.2g} s", f"{1e6 * its:.3g} µs", f"primal {1e6 * mine:.3g} µs", ", ".join(over)
    )


def of_hand(module: str, name: str, size: int) -> float | None:
    """The CPU time of a call of the derivative by hand, compiled by Numba; None where there is none. ValueError if it is wrong."""
    if module not in BY_HAND:
        return None
    from numba import njit

    function: Function = functions(module)[name]
    arguments = function.read(import_module(f"bench.gradbench_programs.{module}").sample(size))
    hand = njit(error_model="numpy")(BY_HAND[module])
    refuse_another_derivative(module, (function.call(function.compile(function.program), *arguments),), (hand(*arguments),))
    return seconds_a_call(hand, arguments, calls_within(lambda: hand(*arguments)))


def of_jax(module: str, name: str, size: int) -> float | str:
    """The CPU time of one call by JAX; or why there is none, "" where JAX is not."""
    function: Function = functions(module)[name]
    call = by_jax(function, function.read(import_module(f"bench.gradbench_programs.{module}").sample(size)))
    return call if isinstance(call, str) else seconds_a_call(call, (), calls_within(call))


def calls_within(call: Callable[[], Any]) -> int:
    """How many calls one run of a measurement makes."""
    return max(1, int(WHOLE / max(seconds(call, 1), 1e-6) / 3))


def measured(module: str, name: str, size: int) -> tuple[float, float, Any]:
    """The CPU time of the first calls, in which code is made, that of one call later, and the output."""
    function: Function = functions(module)[name]
    arguments = function.read(import_module(f"bench.gradbench_programs.{module}").sample(size))
    began = time.process_time()
    call: Callable[[], Any] = prepared(function, arguments, function.compile(function.program))
    first = time.process_time() - began
    return first, seconds_a_call(call, (), calls_within(call)), function.write(call())


def _refuse_another_end(what: str, ours: Any, end: Any) -> None:
    """A descent ends when a step is 1e-5 long, so two that differ in rounding alone end within two such steps of each other."""
    pairs = zip(ours, end, strict=True) if isinstance(ours, list) else [(ours, end)]
    if any(abs(a - b) > 2e-5 for a, b in pairs):
        raise ValueError(f"{what} ends at {ours}, the suite says {end}")
