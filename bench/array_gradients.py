"""
Compiled gradients of programs over arrays against gradients by hand and other libraries, in one run, from Python.

Ours give the bits of the reference: a sum goes from the left. By hand, products are those of BLAS, as in PyTorch. Generated code is
tier A; what it refuses runs on the virtual machine, tier B, and the row of the first gradient says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench import by_index, libraries, lists, nests, recurrent, reprojection
from bench.arrays_by_hand import ARRAY_FAMILIES, ArrayFamily
from bench.comparison import Comparison
from bench.measure import named, seconds, seconds_a_call
from semantics.errors import AdjudgeError
from semantics.ir import Program
from transforms.gradient_programs import calling
from transforms.parse import parse_text

FAMILIES = {
    **ARRAY_FAMILIES,
    **reprojection.FAMILIES,
    **recurrent.FAMILIES,
    **by_index.FAMILIES,
    **nests.FAMILIES,
    **lists.FAMILIES,
}
REPEATS = 5
WHOLE = 0.2  # seconds that one measurement takes, about


@dataclass(frozen=True, slots=True)
class Ours:
    """Our function of NumPy's arrays, the tier that it runs on, and why that is not A."""

    call: Callable[..., Any]
    tier: str
    refusal: str = ""


def comparisons(only: str = "") -> Iterator[Comparison]:
    """Every program at each of its sizes, or those that have a text in their name."""
    sized = {f"{name}, {label}": (family, sizes) for name, family in FAMILIES.items() for label, sizes in family.sizes.items()}
    for label, (family, sizes) in named(sized, only).items():
        yield compared(label, family, family.given(*sizes))


def compared(label: str, family: ArrayFamily, given: tuple[Any, ...]) -> Comparison:
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
    refuse_another_derivative(label, derivative, made[-1])
    functions = {
        "by hand": hand,
        "forward pass": value(family, given).call,
        "interpreted forward": libraries.value_by_numpy(family),
        **libraries.gradients(family, given),
    }
    others = {other: f if isinstance(f, str) else in_turn(ours.call, f, given) for other, f in functions.items()}
    return Comparison(label, ours.tier, ours.refusal, (took, by_hand), others)


def gradient(family: ArrayFamily, given: tuple[Any, ...]) -> Ours:
    """Our gradient; of a family with a derivative of its own, that."""
    if family.sample:
        return batched(family.sample, family.derivative, given)
    types = types_of(given)
    if family.derivative:
        return ours(calling(parse_text(family.text, family.derivative), None, 0, types), types)
    return ours(calling(parse_text(family.text, "f"), "grad", family.wrt, types), types)


def value(family: ArrayFamily, given: tuple[Any, ...]) -> Ours:
    """Our forward pass."""
    if family.sample:
        return batched(family.sample, "f", given)
    types = types_of(given)
    return ours(calling(parse_text(family.text, "f"), None, 0, types), types)


def batched(text: str, name: str, given: tuple[Any, ...]) -> Ours:
    """A function of one sample at all samples: a loop over samples around generated code."""
    import adjudge as aj
    from semantics.type_language import REAL, ArrayType

    program = parse_text(text, name)
    types = tuple(ArrayType("f64", (None,) * (a.ndim - 1)) if a.ndim > 1 else REAL for a in given)
    return replace(ours(calling(program, None, 0, types), types), call=aj.vmap(program))


def ours(program: Program, types: tuple[Any, ...]) -> Ours:
    """The program on the better tier, as a user has it."""
    import adjudge as aj
    from adjudge.values import to_python, to_value
    from backend import compile as compile_for

    try:
        compiled = compile_for(program, types, "cpu")
    except AdjudgeError as refusal:
        return Ours(aj.compile(program), "B", refusal.what)

    def at_length(*given: Any) -> Any:
        """Where stacks need more memory, the host goes on."""
        return to_python(compiled(*map(to_value, given)), None)

    quick = compiled.way_in(at_length)
    assert quick is not None, "arrays and numbers go in as they are"
    return Ours(quick, "A")


def types_of(given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The types of the arguments, reals and integers and arrays of them, of any size."""
    from backend import general
    from semantics.type_language import INTEGER, REAL, ArrayType

    scalar, dtypes = {float: REAL, int: INTEGER}, {"f": "f64", "i": "i64"}
    return tuple(general(ArrayType(dtypes[a.dtype.kind], a.shape)) if isinstance(a, np.ndarray) else scalar[type(a)] for a in given)


def in_turn(mine: Callable[..., Any], its: Callable[..., Any], given: tuple[Any, ...]) -> tuple[float, float]:
    """The time of one call of each, from Python: the least of several runs, in turn, since what else runs comes and goes."""
    calls = [max(1, int(WHOLE / REPEATS / max(once(f, given), 1e-6))) for f in (mine, its)]
    best = [math.inf, math.inf]
    for _ in range(REPEATS):
        for k, f in enumerate((mine, its)):
            best[k] = min(best[k], seconds_a_call(f, given, calls[k], 1))
    return best[0], best[1]


def once(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    """The time of the second call, or of one of the next, if that makes a way in."""
    function(*given)
    return min(seconds(lambda: function(*given), 1) for _ in range(3))


def refuse_another_derivative(name: str, ours: Any, by_hand: Any) -> None:
    """A mistake shows in the first digits, rounding in the last: half of them tell which it is."""
    mine = ours if isinstance(ours, tuple) else (ours,)
    theirs = by_hand if isinstance(by_hand, tuple) else np.reshape(by_hand, (len(mine), -1))
    for a, b in zip(map(np.asarray, mine), map(np.asarray, theirs), strict=True):
        if a.size != b.size or not np.max(np.abs(a.ravel() - b.ravel())) <= 2.0**-26 * np.max(np.abs(b)):
            raise ValueError(f"{name}: the derivative is another than by hand")
