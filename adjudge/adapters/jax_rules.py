"""
Rules of JAX as functions of NumPy: a `jax.custom_vjp`, a `jax.custom_jvp`, or any function that JAX differentiates.

The forward function of a custom rule is the function that was decorated, never the forward pass of the rule, which `rule_value`
has. 64-bit types are enabled while JAX runs, and only then. The reference reads the jaxpr of the forward function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.adapters.foreign import Foreign, answers, name_of, parameters_of, reals, signature
from adjudge.adapters.jaxprs import from_jaxpr, with_jax
from checkers.array_audit.case import Arguments, Case, Path, leaves, replaced
from semantics.errors import Malformed
from semantics.ir import Program

MISSING = {"fwd": "defvjp(fwd, bwd)", "jvp": "defjvp(jvp)"}


def foreign(x: Any, fixed: frozenset[int] = frozenset()) -> Foreign:
    """The rule of JAX that an object is. Malformed if it is a custom function whose rule was never defined."""
    with_jax()
    custom = hasattr(x, "fun") and hasattr(x, "nondiff_argnums")
    primal = x.fun if custom else x
    name = name_of(primal, "function")
    for part, remedy in MISSING.items():
        if custom and hasattr(x, part) and getattr(x, part) is None:
            raise Malformed(f"{name} has no rule yet", rule="jax", remedy=f"call {name}.{remedy} before it is judged")
    fixed |= frozenset(getattr(x, "nondiff_argnums", ()) if custom else ())
    pass_of = linearized if custom else Kept(linearized)
    return Foreign(
        name,
        "jax",
        lambda *xs: valued(primal, xs, fixed),
        lambda xs, y, dy: pulled(x, xs, dy, fixed, 1, pass_of)[0],
        parameters_of(primal),
        fixed,
        rule_value=(lambda xs: from_jax(linearized(x, xs, fixed)[0])) if custom else None,
        twice=lambda xs, dy: pulled(x, xs, dy, fixed, 2),
        second_pull=lambda xs, dy, k: second(x, xs, dy, k, fixed),
        traced=lambda case: traced(primal, case),
        rule_traced=lambda case: rule_traced(x, case),
    )


def as_jax(arguments: Arguments, fixed: frozenset[int]) -> Arguments:
    """The arguments with arrays of JAX in the place of NumPy's, but for those that are fixed."""
    jax = with_jax()

    def one(value: Any) -> Any:
        return jax.numpy.array(value) if isinstance(value, (np.ndarray, np.generic)) and not isinstance(value, float) else value

    return tuple(a if i in fixed else jax.tree.map(one, a) for i, a in enumerate(arguments))


def from_jax(value: Any) -> Any:
    """A result of JAX as NumPy has it: an array, or a tuple of all arrays in it."""
    parts = with_jax().tree.leaves(value)
    return np.array(parts[0]) if len(parts) == 1 else tuple(np.array(p) for p in parts)


def of_leaves(function: Callable[..., Any], arguments: Arguments, fixed: frozenset[int]) -> tuple[Callable[..., Any], list[Any]]:
    """The function of the leaves alone, and the leaves, as JAX has them."""
    paths = [path for path, _ in leaves(arguments, fixed)]
    inside = as_jax(arguments, fixed)

    def plain(*values: Any) -> Any:
        return function(*replaced(inside, dict(zip(paths, values, strict=True))))

    return plain, [at(inside, path) for path in paths]


def at(value: Any, path: Path) -> Any:
    """What is at a path."""
    for i in path:
        value = value[i]
    return value


def valued(function: Callable[..., Any], arguments: Arguments, fixed: frozenset[int]) -> Any:
    """The value of a function, in NumPy."""
    with with_jax().enable_x64(True):
        return from_jax(function(*as_jax(arguments, fixed)))


def linearized(function: Callable[..., Any], arguments: Arguments, fixed: frozenset[int]) -> tuple[Any, Callable[[Any], Any]]:
    """The value that JAX computes under differentiation, and the pullback."""
    jax = with_jax()
    with jax.enable_x64(True):
        plain, values = of_leaves(function, arguments, fixed)
        value, back = jax.vjp(plain, *values)
    return value, back


def seed(value: Any, cotangents: Sequence[Any]) -> Any:
    """Cotangents of the real results in the structure of all results; of an integer, the nothing that JAX wants."""
    jax = with_jax()
    parts, structure = jax.tree.flatten(value)
    rest = iter(cotangents)

    def one(part: Any) -> Any:
        if not jax.numpy.issubdtype(part.dtype, jax.numpy.floating):
            return np.zeros(part.shape, jax.dtypes.float0)
        return jax.numpy.asarray(next(rest), dtype=part.dtype)

    return jax.tree.unflatten(structure, [one(p) for p in parts])


@dataclass(slots=True)
class Kept:
    """
    The forward pass of the last arguments, made once for all cotangents that are asked there: JAX differentiates functions that
    are pure. The rules of custom functions, which anybody may have written, are asked anew each time.
    """

    make: Callable[..., Any]
    _last: tuple[Any, Any] = (None, None)

    def __call__(self, function: Callable[..., Any], arguments: Arguments, fixed: frozenset[int]) -> Any:
        values = tuple((type(leaf), np.asarray(leaf).tobytes()) for _, leaf in leaves(arguments, fixed))
        key = (signature(Case(arguments, None, fixed=fixed)), values)
        if self._last[0] != key:
            self._last = (key, self.make(function, arguments, fixed))
        return self._last[1]


def pulled(
    function: Callable[..., Any],
    arguments: Arguments,
    cotangent: Any,
    fixed: frozenset[int],
    times: int,
    forward: Callable[..., Any] = linearized,
) -> Any:
    """What the pullback of one forward pass answers, asked so many times."""
    with with_jax().enable_x64(True):
        value, back = forward(function, arguments, fixed)
        given = seed(value, reals((cotangent,)))
        return tuple(answers(arguments, fixed, [np.array(c) for c in back(given)]) for _ in range(times))


def second(function: Callable[..., Any], arguments: Arguments, cotangent: Any, k: int, fixed: frozenset[int]) -> Any:
    """The derivatives of coordinate k of the pullback, by each argument."""
    jax = with_jax()
    with jax.enable_x64(True):
        plain, values = of_leaves(function, arguments, fixed)

        def coordinate(*at: Any) -> Any:
            value, back = jax.vjp(plain, *at)
            return jax.numpy.concatenate([jax.numpy.ravel(c) for c in back(seed(value, reals((cotangent,))))])[k]

        _, back = jax.vjp(coordinate, *values)
        return answers(arguments, fixed, [np.array(c) for c in back(np.float64(1.0))])


def traced(function: Callable[..., Any], case: Case) -> Program:
    """The jaxpr of the function of the leaves, read as a program of ours; its results are the reals among those of the function."""
    jax = with_jax()
    with jax.enable_x64(True):
        plain, values = of_leaves(function, case.arguments, case.fixed)

        def floats(*at: Any) -> Any:
            found = jax.tree.leaves(plain(*at))
            return tuple(v for v in found if jax.numpy.issubdtype(v.dtype, jax.numpy.floating))

        return from_jaxpr(jax.make_jaxpr(floats)(*values))


def rule_traced(function: Callable[..., Any], case: Case) -> Program:
    """The jaxpr of the pullback, of the leaves and the cotangents of the real results, read as a program of ours."""
    jax = with_jax()
    with jax.enable_x64(True):
        plain, values = of_leaves(function, case.arguments, case.fixed)

        def rule(*given: Any) -> Any:
            value, back = jax.vjp(plain, *given[: len(values)])
            return back(seed(value, given[len(values) :]))

        return from_jaxpr(jax.make_jaxpr(rule)(*values, *reals((case.value,))))
