"""
The rule of what is linear is its adjoint, for all sizes.

    linear     L(v) = p(x + v) - p(x) is the same for every x: it is additive in v, and made of sums of products
    adjoint    <L(v), w> = <v, p*(w)> for all v and w

Both sides are read as sums of products with bound indices (`checkers.smt.index_form`) and are equal as data. Sizes are symbols, at
least 1: those that are equal in the example stay equal, 1 stays 1. What has no such form is not reached, and nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_cells import cells
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_places import Dim, Index
from checkers.smt.index_values import Indexed, Run, array, as_array, number
from semantics.arrays import FLOATING, Array
from semantics.columns.meaning import MEANING
from semantics.denotation import Reading, denote
from semantics.ir import Program
from semantics.primitives.row import Column
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO

INTEGERS = ("eq", "ne", "lt", "le", "gt", "ge", "min", "max", "add", "sub", "mul", "neg")
"""What is computed with numbers of axes."""


def adjoint(program: Program, rule: Program, arguments: Sequence[Any], i: int) -> str:
    """
    The kinds of the arguments, if p is linear in argument i and the rule its adjoint there, for all sizes. NotReachedError if not.
    """
    given = [_symbolic(x, f"x{k}") for k, x in enumerate(arguments)]
    v = _symbolic(arguments[i], "v")
    if not any(isinstance(n, str) for x in given if isinstance(x, Indexed) for n in x.shape):
        raise NotReachedError("no size varies")
    there = _symbolic(arguments[i], "u")
    here, along = _moved(program, given, i, v)
    if not _equal(along, _moved(program, [*given[:i], there, *given[i + 1 :]], i, v)[1]):
        raise NotReachedError("it is not seen to be linear")
    out = as_array(here)
    w = array("w", out.dtype, out.shape) if isinstance(here, Indexed) else number("w")
    pulled = _at(rule, [*given, here, w])
    if not isinstance(pulled, tuple) or len(pulled) != len(given):
        raise NotReachedError("what the rule returns is not written out")
    found = pulled[i]
    if as_array(found).shape != as_array(v).shape:
        raise NotReachedError("the cotangent is not seen to have the shape of its argument")
    if _inner(along, w) != _inner(found, v):
        raise NotReachedError("the normal forms differ, which proves nothing")
    return ", ".join(_kind(x) for x in given)


def _moved(program: Program, given: Sequence[Any], i: int, v: Any) -> tuple[Any, Any]:
    """p(x) and p(x + v) - p(x), which is linear in v if it is the same at every x: it is additive then, and a polynomial."""
    here, there = (_at(program, [*given[:i], x, *given[i + 1 :]]) for x in (given[i], _plus(given[i], v, 1)))
    return here, _plus(there, here, -1)


def _symbolic(x: Any, name: str) -> Any:
    """An argument for all sizes: sizes that are equal in the example stay equal; 1 stays 1."""
    if isinstance(x, Array):
        if x.dtype not in FLOATING or 0 in x.shape:
            raise NotReachedError("an array of integers, or one that is empty")
        return array(name, x.dtype, tuple(n if n == 1 else f"n{n}" for n in x.shape))
    return number(name) if isinstance(x, float) else x


def _kind(x: Any) -> str:
    if isinstance(x, Indexed):
        return f"{x.dtype}[{', '.join(map(str, x.shape))}]"
    return "f64" if isinstance(x, Form) else repr(x)


def _at(program: Program, arguments: Sequence[Any]) -> Any:
    """The value of a program on forms, which must be defined everywhere, for sizes of at least 1."""
    run = Run()
    known = cells(run)
    known |= {name: _on_integers(name, known[name]) for name in INTEGERS}
    known |= {"sum_to": lambda d, x: _sum_to(known, d, x), "spread": lambda *a: _spread(known, *a)}
    known |= {"like": lambda v, x: _like(known, v, x), "array_size": _size, "switch": MEANING[TABLE["switch"]]}
    value = denote(program, arguments, Reading(Column("index", known), _lift))
    if not all(need.what == "nonzero" and all(map(_of_sizes, need.arguments)) for need in run.needs):
        raise NotReachedError("it is not defined everywhere")
    return value


def _of_sizes(form: Form) -> bool:
    """Whether a form is a product of sizes and of a number that is not 0."""
    return len(form.terms) == 1 and not form.terms[0][0].bound and all(f.kind == "size" for f in form.terms[0][0].factors)


def _on_integers(name: str, cell: Callable[..., Any]) -> Callable[..., Any]:
    """The cell, and on plain integers, such as numbers of axes, what the primitive means."""
    meaning = MEANING[TABLE[name]]
    return lambda *arguments: meaning(*arguments) if all(type(a) is int for a in arguments) else cell(*arguments)


def _lift(value: Any) -> Any:
    if isinstance(value, Array):
        raise NotReachedError("an array that is written out")
    return forms.constant(Fraction(value)) if type(value) is float else value


def _plus(a: Any, b: Any, by: int) -> Any:
    """a + by·b."""
    if isinstance(a, Form) and isinstance(b, Form):
        return forms.add(a, forms.scaled(b, by))
    a, b = as_array(a), as_array(b)
    if a.shape != b.shape:
        raise NotReachedError("it is not seen to be linear")
    return Indexed(a.dtype, a.shape, lambda at: forms.add(a.at(at), forms.scaled(b.at(at), by)))


def _indices(shape: Sequence[Dim]) -> tuple[Index, ...]:
    return tuple(0 if n == 1 else f"r{k}" for k, n in enumerate(shape))


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are one form at every index."""
    a, b = as_array(a), as_array(b)
    indices = _indices(a.shape)
    return a.shape == b.shape and a.at(indices) == b.at(indices)


def _inner(a: Any, b: Any) -> Form:
    """Σ a b over all indices."""
    if a is ZERO or b is ZERO:
        return forms.constant(0)
    a, b = as_array(a), as_array(b)
    if a.shape != b.shape:
        raise NotReachedError("an inner product of two shapes")
    indices = _indices(a.shape)
    found = forms.multiply(a.at(indices), b.at(indices))
    for index, n in zip(indices, a.shape, strict=True):
        found = forms.summed(found, index, n) if isinstance(index, str) else found
    return found


def _sum_to(known: Mapping[str, Callable[..., Any]], d: Any, x: Any) -> Any:
    """The axes that broadcasting made are added up: those in front, and those that have size 1 in x."""
    if d is ZERO or x is ZERO:
        return ZERO
    whole, wanted = as_array(d), as_array(x).shape
    extra = len(whole.shape) - len(wanted)
    if extra < 0:
        raise NotReachedError("a cotangent with fewer axes than its argument")
    summed = known["reduce_sum"]
    if extra:
        whole = as_array(summed(whole, tuple(range(extra)), False))
    narrow = tuple(k for k, (n, m) in enumerate(zip(whole.shape, wanted, strict=True)) if n != m)
    if any(wanted[k] != 1 for k in narrow):
        raise NotReachedError("a cotangent of another shape")
    return as_array(summed(whole, narrow, True)) if narrow else whole


def _spread(known: Mapping[str, Callable[..., Any]], d: Any, x: Any, axis: Any, keepdims: Any) -> Any:
    """The adjoint of a sum along axes: repeated where these were."""
    if d is ZERO:
        return ZERO
    shape = as_array(x).shape
    axes = tuple(range(len(shape))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    whole = as_array(d)
    if axes and not keepdims:
        whole = known["expand_dims"](whole, tuple(a % len(shape) for a in axes))
    return known["broadcast_to"](whole, known["shape"](x))


def _like(known: Mapping[str, Callable[..., Any]], v: Any, x: Any) -> Any:
    """v repeated to the shape of x."""
    return known["broadcast_to"](v, known["shape"](x)) if v is not ZERO and isinstance(x, Indexed) else v


def _size(x: Any) -> Form:
    """The number of elements: the product of the sizes."""
    found = forms.constant(1)
    for n in as_array(x).shape:
        found = forms.multiply(found, forms.size(n))
    return found
