"""
The same program in the hands of the libraries that are installed: JAX, PyTorch and autograd for the gradient, NumPy for the value.

They run the family's own text with their functions for those of NumPy, and their own gradient or Jacobian where it asks for `grad`
or `jacobian`; JAX runs the family's `jax` where the text, unrolled, would compile for minutes. A library that cannot is named with
the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.arrays_by_hand import ArrayFamily

OWN_NAMES = {"max": "amax", "expand_dims": "unsqueeze", "copy": "clone", "concatenate": "cat"}
SAME_NAMES = ("log", "exp", "sum", "log1p", "tanh", "where", "sqrt", "sin", "cos", "zeros_like", "zeros", "stack")


def value_by_numpy(family: ArrayFamily) -> Callable[..., Any]:
    """The value, computed by CPython and NumPy."""
    return defined(family.text, "f", np)


def gradients(family: ArrayFamily, given: tuple[Any, ...]) -> dict[str, Callable[..., Any] | str]:
    """The gradient by each library that is installed, as a function of NumPy's arrays; what it needs of them, it makes before."""
    found: dict[str, Callable[..., Any] | str] = {}
    for name, module, make in (("JAX", "jax", _jax), ("torch", "torch", _torch), ("autograd", "autograd", _autograd)):
        if name in family.without:
            found[name] = family.without[name]
        elif find_spec(module):
            found[name] = make(family, given)
    return found


def _jax(family: ArrayFamily, given: tuple[Any, ...]) -> Callable[..., Any]:
    import jax

    jax.config.update("jax_enable_x64", True)
    if family.is_jacobian and family.jax is not None:
        gradient = jax.jacrev(lambda *x: family.jax(jax, *x))
    elif family.derivative:
        gradient = defined(family.text, family.derivative, jax.numpy, jax.grad)
    elif family.jax is not None:
        gradient = jax.grad(lambda *x: family.jax(jax, *x), family.wrt)
    else:
        gradient = jax.grad(defined(family.text, "f", jax.numpy), family.wrt)
    counts = tuple(i for i, a in enumerate(given) if isinstance(a, int))
    compiled = jax.jit(gradient, static_argnums=counts)
    placed = tuple(a if isinstance(a, int) else jax.numpy.asarray(a) for a in given)
    return lambda *_: jax.block_until_ready(compiled(*placed))


def _torch(family: ArrayFamily, given: tuple[Any, ...]) -> Callable[..., Any]:
    import torch

    torch.set_num_threads(1)
    wrt = family.wrt if isinstance(family.wrt, tuple) else (family.wrt,)
    placed = [
        a if isinstance(a, int) else torch.tensor(a, dtype=torch.float64, requires_grad=i in wrt) for i, a in enumerate(given)
    ]

    def gradient_of(f: Callable[..., Any], wrt: tuple[int, ...]) -> Callable[..., Any]:
        return lambda *x: torch.autograd.grad(f(*x), [x[i] for i in wrt], materialize_grads=True)

    names = {name: getattr(torch, name) for name in SAME_NAMES} | {name: getattr(torch, own) for name, own in OWN_NAMES.items()}
    library = SimpleNamespace(**names)
    if family.derivative:
        gradient = defined(family.text, family.derivative, library, gradient_of, torch.func.jacrev)
    else:
        gradient = gradient_of(defined(family.text, "f", library), wrt)
    return lambda *_: gradient(*placed)


def _autograd(family: ArrayFamily, given: tuple[Any, ...]) -> Callable[..., Any]:
    import autograd
    import autograd.numpy

    if family.derivative:
        return defined(family.text, family.derivative, autograd.numpy, autograd.grad, autograd.jacobian)
    gradient: Callable[..., Any] = autograd.grad(defined(family.text, "f", autograd.numpy), family.wrt)
    return gradient


def defined(
    text: str,
    name: str,
    library: Any,
    grad: Callable[..., Any] | None = None,
    jacobian: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A function of the text as CPython reads it: `np` is a library, `grad` its own with positions, `jacobian` its own."""
    names: dict[str, Any] = {"np": library, "grad": lambda f, wrt: grad(f, wrt) if grad else None, "jacobian": jacobian}
    lines = (line for line in text.splitlines() if not line.startswith(("import", "from")))
    exec("\n".join(lines), names)  # a text of this package
    function: Callable[..., Any] = names[name]
    return function
