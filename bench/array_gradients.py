"""
Compiled gradients of programs over arrays against gradients by hand and other libraries, in one run, from Python.

Ours give the bits of the reference: a sum goes from the left. By hand, products are those of BLAS, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.arrays_by_hand import ARRAY_FAMILIES, ArrayFamily
from bench.measure import Row, seconds
from transforms.gradient_programs import calling
from transforms.parse import parse_text

REPEATS = 5
WHOLE = 0.2  # seconds that one measurement takes, about


def rows() -> Iterator[Row]:
    """Every row of arrays."""
    for name, family in ARRAY_FAMILIES.items():
        yield from family_rows(name, family)


def family_rows(name: str, family: ArrayFamily) -> Iterator[Row]:
    """One program: the first gradient, then at each size all that it is compared with."""
    from numba import njit

    hand = njit(error_model="numpy")(family.hand)
    for label, sizes in family.sizes.items():
        given = family.given(*sizes)
        made: list[Any] = []
        took = seconds(lambda given=given, made=made: made.append(compiled(family, given)), 1)  # type: ignore[misc]
        ours, forward = made[0]
        yield Row(f"{name}, {label}, first gradient", f"{took:.3f} s", f"by hand {seconds(lambda: hand(*given), 1):.3f} s", "")  # noqa: B023
        _refuse_another_derivative(name, ours(*given), hand(*given))
        mine = one_call(ours, given)
        others = {"by hand": hand, "forward pass": forward, **libraries(family, given)}
        for other, function in others.items():
            its = one_call(function, given)
            yield Row(f"{name}, {label}", f"{1e6 * mine:.3g} µs", f"{other} {1e6 * its:.3g} µs", f"{mine / its:.3g}")


def compiled(family: ArrayFamily, given: tuple[Any, ...]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Our gradient, called once, and the forward pass, as functions of NumPy's arrays."""
    from backend import compile as compile_for
    from backend import general
    from semantics.type_language import REAL, ArrayType

    program = parse_text(family.text, "f")
    types = tuple(general(ArrayType("f64", a.shape)) if isinstance(a, np.ndarray) else REAL for a in given)
    gradient = compile_for(calling(program, "grad", family.wrt, types), types, "cpu").quick
    assert gradient is not None, "arrays and numbers go in as they are"
    gradient(*given)
    return gradient, compile_for(calling(program, None, 0, types), types, "cpu").quick  # type: ignore[return-value]


def one_call(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    """The time of one call, from Python."""
    function(*given)
    calls = max(1, int(WHOLE / REPEATS / max(seconds(lambda: function(*given), 1), 1e-6)))
    return seconds(lambda: [function(*given) for _ in range(calls)], REPEATS) / calls


def _refuse_another_derivative(name: str, ours: Any, by_hand: Any) -> None:
    """A mistake shows in the first digits, rounding in the last: half of them tell which it is."""
    pairs = zip(ours, by_hand, strict=True) if isinstance(ours, tuple) else [(ours, by_hand)]
    for mine, theirs in pairs:
        if np.max(np.abs(mine - theirs)) > 2.0**-26 * np.max(np.abs(theirs)):
            raise ValueError(f"{name}: the derivative is another than by hand")


def libraries(family: ArrayFamily, given: tuple[Any, ...]) -> dict[str, Callable[..., Any]]:
    """The gradient by each library that is installed, as a function of NumPy's arrays; what it needs of them, it makes before."""
    found: dict[str, Callable[..., Any]] = {}
    if find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        gradient = jax.jit(jax.grad(_with(family.text, jax.numpy), family.wrt))
        placed = tuple(map(jax.numpy.asarray, given))
        found["JAX"] = lambda *_: jax.block_until_ready(gradient(*placed))
    if find_spec("torch"):
        found["torch"] = _torch(family, given)
    if find_spec("autograd"):
        import autograd
        import autograd.numpy

        found["autograd"] = autograd.grad(_with(family.text, autograd.numpy), family.wrt)
    return found


def _torch(family: ArrayFamily, given: tuple[Any, ...]) -> Callable[..., Any]:
    import torch

    torch.set_num_threads(1)
    names = ("log", "exp", "sum", "log1p", "tanh")
    value = _with(
        family.text, SimpleNamespace(max=torch.amax, expand_dims=torch.unsqueeze, **{n: getattr(torch, n) for n in names})
    )
    wrt = family.wrt if isinstance(family.wrt, tuple) else (family.wrt,)
    placed = [torch.tensor(a, dtype=torch.float64, requires_grad=i in wrt) for i, a in enumerate(given)]
    by = [placed[i] for i in wrt]

    def gradient(*_: Any) -> Any:
        return torch.autograd.grad(value(*placed), by)

    return gradient


def _with(text: str, library: Any) -> Callable[..., Any]:
    """The program as CPython reads it, `np` being a library."""
    names: dict[str, Any] = {"np": library}
    exec(text.replace("import numpy as np\n", ""), names)  # a text of this package
    function: Callable[..., Any] = names["f"]
    return function
