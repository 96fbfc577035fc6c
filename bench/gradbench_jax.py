"""
The functions of GradBench by JAX: the same text, with `jax.numpy` for `np` and JAX's derivatives for ours.

`jax.jit` compiles them for sizes and integers that are known, so loops are unrolled. What JAX does not read, it says: a branch on
a number, or an assignment to an element.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from types import FunctionType
from typing import Any

import numpy as np

from adjudge.functions import Derivative
from bench.gradbench_programs.function import Function, once


def by_jax(function: Function, arguments: tuple[Any, ...]) -> Callable[[], Any] | str:
    """The function at these arguments, compiled; or why JAX, where it is installed, does not run it. "" where it is not."""
    if not find_spec("jax"):
        return ""
    import jax

    jax.config.update("jax_enable_x64", True)
    if function.call is not once:
        return "it is called in a way of its own"
    fixed = tuple(k for k, a in enumerate(arguments) if isinstance(a, int))
    compiled = jax.jit(_program(function.program), static_argnums=fixed)
    placed = [jax.numpy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        jax.block_until_ready(compiled(*placed))
    except TypeError as error:  # what JAX raises where a text asks for more than it traces
        return str(error).partition(".")[0].partition("\n")[0]
    return lambda: jax.block_until_ready(compiled(*placed))


def _program(program: Any) -> Callable[..., Any]:
    """The function, or its derivative, as JAX takes it."""
    import jax

    if isinstance(program, Derivative):
        taken: Callable[..., Any] = {"grad": jax.grad, "jacobian": jax.jacrev}[program.macro](_program(program.f), program.wrt)
        return taken

    def along(f: Any) -> Callable[[Any, Any], Any]:
        return lambda x, v: jax.jvp(jax.grad(f), (x,), (v,))[1]

    of_jax = {"np": jax.numpy, "math": jax.numpy, "grad": jax.grad, "hvp": along, "vjp": jax.vjp}
    names = vars(sys.modules[program.__module__]) | of_jax
    own = {n: f for n, f in names.items() if isinstance(f, FunctionType) and f.__module__ == program.__module__}
    names |= {n: FunctionType(f.__code__, names, n, f.__defaults__) for n, f in own.items()}
    found: Callable[..., Any] = names[program.__name__]
    return found
