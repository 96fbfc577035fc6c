"""
The cells of the column "index": what primitives make of arrays of symbolic shapes (`checkers.smt.index_values`).

Only what is true for every size is said; anything else is not reached. What an elementwise function needs in order to be defined
is noted with the shape over which it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_form import Dim, Factor, Form, Index, NotReachedError
from checkers.smt.index_values import Indexed, Run, SizeOf, View, as_array, as_floating, as_form, common_shape, entry_of, sizes_of
from semantics.arrays import FLOATING, normal_axes, normal_axis
from semantics.columns.structure import getitem, make_tuple
from semantics.primitives.table import ELEMENTWISE, TABLE

DISCRETE = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "not_", "and_", "or_"})


def _elementwise(run: Run, name: str) -> Callable[..., Any]:
    primitive = TABLE[name]

    def cell(*operands: Any) -> Any:
        if all(isinstance(x, (int, SizeOf)) for x in operands):
            raise NotReachedError(f"{name} of integers")
        exponent = operands[1] if name == "pow" and type(operands[1]) is int and 0 <= operands[1] <= 8 else None
        numbers = [as_array(x) if name in (*DISCRETE, "where") else as_floating(x) for x in operands]
        shape = common_shape([x.shape for x in numbers])
        run.moves_only = False

        def at(indices: tuple[Index, ...]) -> Form:
            arguments = [entry_of(x, indices) for x in numbers]
            if exponent is not None:
                return _product(arguments[0], exponent)
            return FORMS[name](*arguments) if name in FORMS else forms.call(name, *arguments)

        dtypes = {x.dtype for x, given in zip(numbers, operands, strict=True) if isinstance(given, Indexed)} or {"f64"}
        if name == "where":
            dtypes = {x.dtype for x in numbers[1:]}
        dtype = "bool" if name in DISCRETE else "f64" if "f64" in dtypes else min(dtypes)
        if primitive.domain and exponent is None:
            indices = tuple(run.name() for _ in shape)
            arguments = [entry_of(x, indices) for x in numbers]
            run.need("nonzero" if name == "div" else name, arguments[1:] if name == "div" else arguments, indices, shape)
        return Indexed(dtype, shape, at) if shape else at(())

    return cell


def _product(form: Form, count: int) -> Form:
    result = forms.constant(1)
    for _ in range(count):
        result = forms.multiply(result, form)
    return result


def _chosen(condition: Form, a: Form, b: Form) -> Form:
    return a if a == b else forms.call("where", condition, a, b)


FORMS: dict[str, Callable[..., Form]] = {
    "add": forms.add,
    "sub": lambda a, b: forms.add(a, forms.scaled(b, -1)),
    "neg": lambda a: forms.scaled(a, -1),
    "mul": forms.multiply,
    "div": lambda a, b: forms.multiply(a, forms.inverse(b)),
    "where": _chosen,
}


# shapes


def _shape(x: Any) -> Any:
    if isinstance(x, View):
        return x.shape
    return tuple(n if isinstance(n, int) else SizeOf(n) for n in as_array(x).shape)


def _transpose(x: Any, axes: Any) -> Indexed:
    a = as_array(x)
    rank = len(a.shape)
    if axes is not None and not isinstance(axes, tuple):
        raise NotReachedError("axes that are no tuple")
    order = tuple(reversed(range(rank))) if axes is None else tuple(normal_axis(i, rank, "transpose") for i in axes)
    if sorted(order) != list(range(rank)):
        raise NotReachedError("axes that are no permutation")
    return Indexed(a.dtype, tuple(a.shape[i] for i in order), lambda at: a.at(tuple(at[order.index(i)] for i in range(rank))))


def _swap_last(x: Any) -> Indexed:
    rank = len(as_array(x).shape)
    return _transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def _expand_dims(x: Any, axis: Any) -> Indexed:
    a = as_array(x)
    rank = len(a.shape) + (len(axis) if isinstance(axis, tuple) else 1)
    new = normal_axes(axis, rank, "expand_dims")
    sizes = iter(a.shape)
    shape = tuple(1 if i in new else next(sizes) for i in range(rank))
    return Indexed(a.dtype, shape, lambda at: a.at(tuple(i for k, i in enumerate(at) if k not in new)))


def _squeeze(x: Any, axis: Any) -> Indexed:
    a = as_array(x)
    gone = normal_axes(axis, len(a.shape), "squeeze")
    if axis is None or any(a.shape[k] != 1 for k in gone):
        raise NotReachedError("which sizes are 1 is not known")

    def at(indices: tuple[Index, ...]) -> Form:
        rest = iter(indices)
        return a.at(tuple(0 if k in gone else next(rest) for k in range(len(a.shape))))

    return Indexed(a.dtype, tuple(n for k, n in enumerate(a.shape) if k not in gone), at)


def _full(run: Run, shape: Any, value: Any, dtype: Any) -> Indexed:
    run.moves_only = False  # what is written may be a zero of either sign
    if dtype not in (None, *FLOATING) or isinstance(value, (int, SizeOf)):
        raise NotReachedError("an array of integers")
    filled = as_form(value)
    return Indexed(dtype or "f64", sizes_of(shape), lambda _: filled)


def _broadcast_to(x: Any, shape: Any) -> Indexed:
    a, to = as_array(x), sizes_of(shape)
    if len(to) < len(a.shape) or common_shape([a.shape, to]) != to:
        raise NotReachedError("a shape that is not known to fit")
    return Indexed(a.dtype, to, lambda at: entry_of(a, at))


def _eye(run: Run, n: Any, m: Any, k: Any) -> Indexed:
    run.moves_only = False
    (rows,), (columns,) = sizes_of(n), sizes_of(n if m is None else m)
    if rows != columns or k != 0:
        raise NotReachedError("an identity that is not square")
    return Indexed("f64", (rows, rows), lambda at: _delta(at, rows))


def _delta(at: tuple[Index, ...], dim: Dim) -> Form:
    return forms.constant(1) if at[0] == at[1] else forms.single(Factor("delta", str(dim), tuple(sorted(at, key=str))))


def _reshape(x: Any, shape: Any) -> Any:
    if isinstance(x, View):
        return View(x.dtype, x.base, shape)
    a = as_array(x)
    if sizes_of(shape) == a.shape:
        return a
    raise NotReachedError("reshape of an array of known axes")


# sums


def _sum(run: Run, x: Any, axis: Any, keepdims: Any) -> Indexed:
    a = as_floating(x)
    gone = normal_axes(axis, len(a.shape), "sum")
    run.moves_only = False

    def at(indices: tuple[Index, ...]) -> Form:
        rest = iter(indices)
        names = [run.name() if k in gone else "" for k in range(len(a.shape))]
        inner: list[Index] = []
        for k, name in enumerate(names):
            if k in gone:
                inner.append(name)
                if keepdims:
                    next(rest)
            else:
                inner.append(next(rest))
        form = a.at(tuple(inner))
        for k in gone:
            form = forms.summed(form, names[k], a.shape[k])
        return form

    shape = tuple(1 if k in gone else n for k, n in enumerate(a.shape) if keepdims or k not in gone)
    return Indexed(a.dtype, shape, at)


def _mean(run: Run, x: Any, axis: Any, keepdims: Any) -> Indexed:
    a = as_floating(x)
    count = forms.constant(1)
    for k in normal_axes(axis, len(a.shape), "mean"):
        count = forms.multiply(count, forms.size(a.shape[k]))
    summed, inverse = _sum(run, a, axis, keepdims), forms.inverse(count)
    run.need("nonzero", [count], tuple(run.name() for _ in summed.shape), summed.shape)
    return Indexed(a.dtype, summed.shape, lambda at: forms.multiply(summed.at(at), inverse))


def _contract(run: Run, a: Indexed, b: Indexed, letters: tuple[str, str, str]) -> Indexed:
    """An einsum of two operands whose subscripts are given; equal letters are axes of the same size."""
    sizes: dict[str, Dim] = {}
    for x, subscripts in ((a, letters[0]), (b, letters[1])):
        for letter, n in zip(subscripts, x.shape, strict=True):
            if sizes.setdefault(letter, n) != n:
                raise NotReachedError(f"the sizes {sizes[letter]} and {n} are not known to be the same")
    gone = [letter for letter in sizes if letter not in letters[2]]
    run.moves_only = False

    def at(indices: tuple[Index, ...]) -> Form:
        names: dict[str, Index] = dict(zip(letters[2], indices, strict=True)) | {letter: run.name() for letter in gone}
        form = forms.multiply(a.at(tuple(names[c] for c in letters[0])), b.at(tuple(names[c] for c in letters[1])))
        for letter in gone:
            form = forms.summed(form, str(names[letter]), sizes[letter])
        return form

    return Indexed("f64" if "f64" in (a.dtype, b.dtype) else a.dtype, tuple(sizes[c] for c in letters[2]), at)


PRODUCTS = {(1, 1): ("i", "i", ""), (2, 1): ("ij", "j", "i"), (1, 2): ("i", "ij", "j"), (2, 2): ("ij", "jk", "ik")}


def _matmul(run: Run, x: Any, y: Any) -> Indexed:
    a, b = as_floating(x), as_floating(y)
    letters = PRODUCTS.get((len(a.shape), len(b.shape)))
    if letters is None:
        raise NotReachedError("a product of arrays of these ranks")
    return _contract(run, a, b, letters)


def _einsum(run: Run, subscripts: Any, *operands: Any) -> Indexed:
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    known = arrow and left.replace(",", "").isalpha() and all(len(set(p)) == len(p) for p in (*parts, right))
    known = (
        known and set(right) <= set(left) and all(len(p) == len(as_array(x).shape) for p, x in zip(parts, operands, strict=False))
    )
    if not known or len(parts) != len(operands) or len(operands) > 2:
        raise NotReachedError(f"the subscripts {subscripts!r}")
    a = as_floating(operands[0])
    one = Indexed(a.dtype, (), lambda _: forms.constant(1))
    b = as_floating(operands[1]) if len(operands) == 2 else one
    return _contract(run, a, b, (parts[0], parts[1] if len(parts) == 2 else "", right))


def _outer(run: Run, x: Any, y: Any) -> Indexed:
    a, b = as_floating(x), as_floating(y)
    if (len(a.shape), len(b.shape)) != (1, 1):
        raise NotReachedError("an outer product of arrays that are no vectors")
    return _contract(run, a, b, ("i", "j", "ij"))


def _trace(run: Run, x: Any) -> Indexed:
    a = as_floating(x)
    if len(a.shape) != 2 or a.shape[0] != a.shape[1]:
        raise NotReachedError("the trace of what is not known to be square")
    run.moves_only = False

    def at(_: tuple[Index, ...]) -> Form:
        name = run.name()
        return forms.summed(a.at((name, name)), name, a.shape[0])

    return Indexed(a.dtype, (), at)


def _getitem(t: Any, i: Any) -> Any:
    if not isinstance(t, tuple) or type(i) is not int:
        raise NotReachedError("an element of an array")
    return getitem(t, i)


def cells(run: Run) -> dict[str, Callable[..., Any]]:
    def noting(cell: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: cell(run, *arguments)

    found: dict[str, Callable[..., Any]] = {name: _elementwise(run, name) for name in ELEMENTWISE}
    found |= {"reduce_sum": noting(_sum), "mean": noting(_mean), "matmul": noting(_matmul), "dot": noting(_matmul)}
    found |= {"einsum": noting(_einsum), "outer": noting(_outer), "trace": noting(_trace)}
    return found | {
        "shape": _shape,
        "ndim": lambda x: len(as_array(x).shape),
        "transpose": _transpose,
        "swap_last": _swap_last,
        "expand_dims": _expand_dims,
        "squeeze": _squeeze,
        "full": noting(_full),
        "broadcast_to": _broadcast_to,
        "eye": noting(_eye),
        "reshape": _reshape,
        "make_tuple": make_tuple,
        "getitem": _getitem,
    }
