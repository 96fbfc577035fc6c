"""
Two tables of the papers beside ours, as ratios: seconds of another machine say nothing here.

Zygote (2018), Table 2: five gradients, over the forward pass, and PyTorch's over them. The paper does not say the sizes; ours are
in the rows. MimIrADe (2025), Table 3: the derivative of a power before and after the optimizer, by hand with closures, by hand
without them ("PE"), and as b a^(b-1) ("FE"); each over the one without closures. Before the optimizer, our closures run on the
virtual machine; optimized means compiled. Its other comparison, on ADBench, is a figure without numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from bench import array_gradients, gradients
from bench.by_hand import FAMILIES, power
from bench.comparison import Comparison
from bench.measure import Row

# forward pass, Zygote, PyTorch, in microseconds
TABLE_2 = {
    "sincos": (0.0159, 0.0207, 69.9),
    "loop": (4.17, 29.5, 17_500.0),
    "logsumexp": (0.96, 1.26, 219.0),
    "logistic regression": (4.67, 17.6, 142.0),
    "2-layer MNIST MLP": (27.7, 207.0, 369.0),
}

# milliseconds of MimIR's own column
TABLE_3 = {"before the optimizer": 360, "optimized": 144, "by hand, with closures": 145, "by hand": 155, "as b a^(b-1)": 17}
TURNS = 10_000


def rows() -> Iterator[Row]:
    """Both tables."""
    yield from zygote()
    yield from mimirade()


def zygote() -> Iterator[Row]:
    """Table 2: what the gradient costs over the value, and what PyTorch costs over the gradient."""
    for name, ours in five().items():
        forward, gradient, torch = TABLE_2[name]
        if (mine := ours.ratio("forward pass")) is not None:
            yield _beside(f"{name} ({ours.label}), gradient over forward", mine, "Zygote's", gradient / forward)
        if (its := ours.ratio("torch")) is not None:
            yield _beside(f"{name}, PyTorch over gradient", 1.0 / its, "Zygote's", torch / gradient)


def five() -> dict[str, Comparison]:
    """The five programs, each at one size."""
    loop = replace(FAMILIES["pow"], turns=(1000,))
    (sincos,), (power,) = gradients.compared("sincos", FAMILIES["sincos"]), gradients.compared("pow", loop)
    found = {"sincos": sincos, "loop": power}
    arrays = {"logsumexp": "logsumexp of an array", "logistic regression": "logistic regression on arrays"}
    for name, family in (arrays | {"2-layer MNIST MLP": "MLP 784-32-10"}).items():
        of = array_gradients.FAMILIES[family]
        label, sizes = list(of.sizes.items())[-1]
        found[name] = array_gradients.compared(f"{family}, {label}", of, of.given(*sizes))
    return found


def mimirade() -> Iterator[Row]:
    """Table 3: the ways to the derivative of a power, each over the one by hand without closures."""
    functions = ways()
    results = {way: function(1.001, TURNS) for way, function in functions.items()}
    for way, result in results.items():
        gradients.refuse_another_derivative(way, result, results["by hand"])
    seconds = {way: array_gradients.in_turn(f, functions["by hand"], (1.001, TURNS))[0] for way, f in functions.items()}
    for way, mine in seconds.items():
        ratio = mine / seconds["by hand"]
        if way not in TABLE_3:
            yield Row(f"pow, {TURNS} turns, {way}", f"{ratio:.3g}", "not in the paper", "")
        elif way != "by hand":
            yield _beside(f"pow, {TURNS} turns, {way}", ratio, "MimIR's", TABLE_3[way] / TABLE_3["by hand"])


def ways() -> dict[str, Callable[..., Any]]:
    """Functions of x and n. The first two are J's program, which makes a closure at every turn."""
    from numba import njit

    from backend import Machined
    from backend import compile as compile_for
    from semantics.type_language import INTEGER, REAL
    from transforms.gradient_programs import calling
    from transforms.nested_grad import expand
    from transforms.parse import parse_text
    from transforms.pipeline import optimize

    types = (REAL, INTEGER)
    asked = calling(parse_text(FAMILIES["pow"].text, "f"), "grad", 0, types)
    return {
        "before the optimizer": Machined(expand(asked, "J")),
        "optimized, but on the machine": Machined(optimize(expand(asked, "J"))),
        "optimized": compile_for(asked, types, "cpu"),
        "by hand, with closures": with_closures,
        "by hand": njit(error_model="numpy")(power),
        "as b a^(b-1)": njit(error_model="numpy")(lambda x, n: n * x ** (n - 1)),
    }


def with_closures(x: float, n: int) -> float:
    """The derivative in CPython: every turn makes the closure that goes back over it, and hands out the one before."""

    def turn(r: float, before: Any) -> Any:
        return lambda dr, dx: (before, dr * x, dx + dr * r)

    r, back = 1.0, None
    for _ in range(n):
        r, back = r * x, turn(r, back)
    dr, dx = 1.0, 0.0
    while back is not None:
        back, dr, dx = back(dr, dx)
    return dx


def _beside(what: str, mine: float, whose: str, theirs: float) -> Row:
    return Row(what, f"{mine:.3g}", f"{whose} {theirs:.3g}", f"{mine / theirs:.3g}")
