"""
Compiled gradients of programs over arrays against gradients by hand and other libraries, in one run, from Python.

Ours give the bits of the reference: a sum goes from the left. By hand, products are those of BLAS, as in PyTorch. Generated code is
tier A; what it refuses runs on the virtual machine, tier B, and the row of the first gradient says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import by_index, libraries, recurrent, reprojection
from bench.arrays_by_hand import ARRAY_FAMILIES, ArrayFamily
from bench.measure import Row, seconds
from semantics.errors import AdjudgeError
from semantics.ir import Program
from transforms.gradient_programs import calling
from transforms.parse import parse_text

FAMILIES = {**ARRAY_FAMILIES, **reprojection.FAMILIES, **recurrent.FAMILIES, **by_index.FAMILIES}
REPEATS = 5
WHOLE = 0.2  # seconds that one measurement takes, about


@dataclass(frozen=True, slots=True)
class Ours:
    """Our function of NumPy's arrays, the tier that it runs on, and why that is not A."""

    call: Callable[..., Any]
    tier: str
    refusal: str = ""


def rows() -> Iterator[Row]:
    """Every row of arrays."""
    for name, family in FAMILIES.items():
        for label, sizes in family.sizes.items():
            yield from size_rows(f"{name}, {label}", family, family.given(*sizes))


def size_rows(label: str, family: ArrayFamily, given: tuple[Any, ...]) -> Iterator[Row]:
    """One program at one size: the first gradient, then all that it is compared with."""
    from numba import njit

    hand = njit(error_model="numpy")(family.hand)
    made: list[Any] = []

    def first() -> None:
        made.append(gradient(family, given))
        made.append(made[0].call(*given))

    took = seconds(first, 1)
    ours, derivative = made
    by_hand = seconds(lambda: made.append(hand(*given)), 1)
    yield Row(f"{label}, first gradient, tier {ours.tier}", f"{took:.3f} s", f"by hand {by_hand:.3f} s", ours.refusal)
    refuse_another_derivative(label, derivative, made[-1])
    mine = one_call(ours.call, given)
    others = {
        "by hand": hand,
        "forward pass": value(family, given).call,
        "NumPy forward": libraries.value_by_numpy(family),
        **libraries.gradients(family, given),
    }
    for other, function in others.items():
        if isinstance(function, str):
            yield Row(label, f"{1e6 * mine:.3g} µs", f"{other} cannot: {function}", "")
        else:
            its = one_call(function, given)
            yield Row(label, f"{1e6 * mine:.3g} µs", f"{other} {1e6 * its:.3g} µs", f"{mine / its:.3g}")


def gradient(family: ArrayFamily, given: tuple[Any, ...]) -> Ours:
    """Our gradient; of a family with a derivative of its own, that."""
    types = types_of(given)
    if family.derivative:
        return ours(calling(parse_text(family.text, family.derivative), None, 0, types), types)
    return ours(calling(parse_text(family.text, "f"), "grad", family.wrt, types), types)


def value(family: ArrayFamily, given: tuple[Any, ...]) -> Ours:
    """Our forward pass."""
    types = types_of(given)
    return ours(calling(parse_text(family.text, "f"), None, 0, types), types)


def ours(program: Program, types: tuple[Any, ...]) -> Ours:
    """The program on the better tier, as a user has it."""
    import adjudge as aj
    from backend import compile as compile_for

    try:
        quick = compile_for(program, types, "cpu").quick
    except AdjudgeError as refusal:
        return Ours(aj.compile(program), "B", refusal.what)
    assert quick is not None, "arrays and numbers go in as they are"
    return Ours(quick, "A")


def types_of(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types of the arguments, of arrays of any size."""
    from backend import general
    from semantics.type_language import INTEGER, REAL, ArrayType

    scalar = {float: REAL, int: INTEGER}
    return tuple(general(ArrayType("f64", a.shape)) if isinstance(a, np.ndarray) else scalar[type(a)] for a in given)


def one_call(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    """The time of one call, from Python."""
    function(*given)
    calls = max(1, int(WHOLE / REPEATS / max(seconds(lambda: function(*given), 1), 1e-6)))
    return seconds(lambda: [function(*given) for _ in range(calls)], REPEATS) / calls


def refuse_another_derivative(name: str, ours: Any, by_hand: Any) -> None:
    """A mistake shows in the first digits, rounding in the last: half of them tell which it is."""
    mine = ours if isinstance(ours, tuple) else (ours,)
    theirs = by_hand if isinstance(by_hand, tuple) else np.reshape(by_hand, (len(mine), -1))
    for a, b in zip(map(np.asarray, mine), map(np.asarray, theirs), strict=True):
        if a.size != b.size or not np.max(np.abs(a.ravel() - b.ravel())) <= 2.0**-26 * np.max(np.abs(b)):
            raise ValueError(f"{name}: the derivative is another than by hand")
