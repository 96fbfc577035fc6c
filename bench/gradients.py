"""
Compiled gradients against gradients written by hand for Numba, the forward pass, and other libraries, all in one run.

A comparison is one program at one number of turns. The forward pass, and by hand "in a loop", are called from other compiled code,
without what CPython costs; all else as a user calls it, from Python. The first gradient, which includes compiling, and for the
first program importing Numba and starting LLVM, is apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import array_gradients
from bench.by_hand import FAMILIES, Family
from bench.comparison import Comparison
from bench.measure import Row, named, seconds
from semantics.type_language import INTEGER, REAL
from transforms.gradient_programs import calling
from transforms.parse import parse_text

REPEATS = 7
CALLS = 2000
LARGE = 100  # turns from which a library that runs in Python is called fewer times


def rows(only: str = "") -> Iterator[Row]:
    """Every row of this table, or those of the programs whose name has a text in it."""
    for comparison in comparisons(only):
        yield from comparison.rows()


def comparisons(only: str = "") -> Iterator[Comparison]:
    """The programs, of numbers and then of arrays, measured with an empty cache."""
    from backend import store

    kept = store.folder
    with TemporaryDirectory() as empty:
        store.folder = cache(lambda: Path(empty))
        try:
            for name, family in named(FAMILIES, only).items():
                yield from compared(name, family)
            yield from array_gradients.comparisons(only)
        finally:
            store.folder = kept


def compared(name: str, family: Family) -> Iterator[Comparison]:
    """One program: the first gradient, then at each number of turns all that it is compared with."""
    from numba import njit

    from backend import compile as compile_for

    types = (*(REAL for _ in family.arguments), *((INTEGER,) if family.turns else ()))
    program = parse_text(family.text, "f")
    some = (*family.arguments, *family.turns[:1])
    made: list[Any] = []

    def first() -> None:
        made.append(compile_for(calling(program, "grad", 0, types), types, "cpu", mode="J"))
        made[0](*some)

    took = seconds(first, 1)
    hand = njit(error_model="numpy")(family.hand)
    by_hand = seconds(lambda: hand(*some), 1)
    ours, forward = made[0], compile_for(program, types, "cpu")
    refuse_another_derivative(name, made[0](*some), hand(*some))
    forward(*some)
    every: list[tuple[int, ...]] = [(n,) for n in family.turns]
    for turns in every or [()]:
        given = (*family.arguments, *turns)
        calls = CALLS if turns < (LARGE,) else CALLS // 20
        inside = in_a_loop(machine_code(ours), (*given, *ours.memory.passed), calls)
        mine = each(ours.quick, given, calls)
        others: dict[str, tuple[float, float] | str] = {
            "by hand, in a loop": (inside, in_a_loop(hand, given, calls)),
            "by hand": (mine, each(hand, given, calls)),
            "forward pass": (inside, in_a_loop(machine_code(forward), (*given, *forward.memory.passed), calls)),
            "interpreted forward": (mine, each(_with_functions(family.text, math), given, max(1, calls // 20))),
        }
        for library, gradient in libraries(family, turns).items():
            gradient(*family.arguments)
            others[library] = mine, each(gradient, family.arguments, 20 if turns < (LARGE,) else 2)
        yield Comparison(f"{name}{', ' * bool(turns)}{''.join(map(str, turns))}", "A", "", (took, by_hand), others)


def refuse_another_derivative(name: str, ours: float, by_hand: float) -> None:
    """A mistake shows in the first digits, rounding in the last: half of them tell which it is."""
    if abs(ours - by_hand) > 2.0**-26 * max(abs(ours), abs(by_hand)):
        raise ValueError(f"{name}: the derivative is {ours}, by hand {by_hand}")


def each(function: Any, arguments: tuple[Any, ...], calls: int) -> float:
    """The time of one call from Python."""
    function(*arguments)
    return seconds(lambda: [function(*arguments) for _ in range(calls)], REPEATS) / calls


def machine_code(compiled: Any) -> Any:
    """Generated code as other code that Numba compiles calls it: its value without the status."""
    from numba import njit

    from backend.cpu.kept import dispatcher

    entry = dispatcher(compiled.code)
    return njit(error_model="numpy")(lambda *given: entry(*given)[0])


def in_a_loop(function: Any, arguments: tuple[Any, ...], calls: int) -> float:
    """The time of one call from compiled code. The first argument is another one at each call, so that none can be left out."""
    from numba import njit

    @njit
    def loop(count: int, arguments: Any) -> Any:
        total, x = 0.0, arguments[0]
        for _ in range(count):
            total += function(x, *arguments[1:])
            x = x * 1.0000001
        return total

    loop(1, arguments)
    return seconds(lambda: loop(calls, arguments), REPEATS) / calls


def libraries(family: Family, turns: tuple[int, ...]) -> dict[str, Callable[..., Any]]:
    """The gradient by each library that is installed, as a function of the arguments but for the turns."""
    found: dict[str, Callable[..., Any]] = {}
    if find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        compiled = jax.jit(jax.grad(lambda *x: family.jax(jax, *x, *turns)))
        found["JAX"] = lambda *x: compiled(*x).block_until_ready()
    if find_spec("torch"):
        found["torch"] = _torch(family, turns)
    if find_spec("autograd"):
        import autograd
        import autograd.numpy

        value = _with_functions(family.text, autograd.numpy)
        found["autograd"] = autograd.grad(lambda *x: value(*x, *turns))
    return found


def _torch(family: Family, turns: tuple[int, ...]) -> Callable[..., Any]:
    import torch

    torch.set_num_threads(1)
    value = _with_functions(family.text, torch)

    def gradient(*arguments: float) -> Any:
        x = [torch.tensor(a, dtype=torch.float64, requires_grad=i == 0) for i, a in enumerate(arguments)]
        value(*x, *turns).backward()
        return x[0].grad

    return gradient


def _with_functions(text: str, library: Any) -> Callable[..., Any]:
    """The program as CPython reads it, `math` being a library's functions where what they are given is not a number of Python."""
    from types import SimpleNamespace

    def either(name: str) -> Callable[..., Any]:
        return lambda x: getattr(math if type(x) is float else library, name)(x)

    names: dict[str, Any] = {"math": SimpleNamespace(**{n: either(n) for n in ("sin", "cos", "exp", "log", "log1p", "tanh")})}
    exec(text.replace("import math\n", ""), names)  # a text of this package
    function: Callable[..., Any] = names["f"]
    return function
