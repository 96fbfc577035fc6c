"""
The cells of the column "index": what primitives make of arrays of symbolic shapes (`checkers.smt.index_values`).

Only what is true for every size is said; anything else is not reached. What an elementwise function needs in order to be defined
is noted with the shape over which it is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkers.smt import index_along as along
from checkers.smt import index_form as forms
from checkers.smt import index_movement as movement
from checkers.smt import index_selection as selection
from checkers.smt.index_factors import Factor, Form, NotReachedError
from checkers.smt.index_places import Dim, Index, plus
from checkers.smt.index_values import Indexed, Run, SizeOf, View, as_array, as_floating, as_form, common_shape, entry_of, sizes_of
from semantics.arrays import FLOATING, Array, normal_axes, normal_axis
from semantics.columns.arrays.algebra import paired
from semantics.columns.arrays.einstein import explicit
from semantics.columns.structure import getitem, make_tuple
from semantics.errors import AdjudgeError
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


def _full(run: Run, shape: Any, value: Any, dtype: Any) -> Indexed:
    run.moves_only = False  # what is written may be a zero of either sign
    if dtype not in (None, *FLOATING) or isinstance(value, (int, SizeOf)):
        raise NotReachedError("an array of integers")
    filled = as_form(value)
    return Indexed(dtype or "f64", sizes_of(shape), lambda _: filled)


def _eye(run: Run, n: Any, m: Any, k: Any) -> Indexed:
    run.moves_only = False
    (rows,), (columns,) = sizes_of(n), sizes_of(n if m is None else m)
    if rows != columns or k != 0:
        raise NotReachedError("an identity that is not square")
    return Indexed("f64", (rows, rows), lambda at: _delta(at, rows))


def _view(run: Run, x: Any, shape: Any) -> Any:
    return View(x.dtype, x.base, shape) if isinstance(x, View) else movement.reshape(run, x, shape)


def _delta(at: tuple[Index, ...], dim: Dim) -> Form:
    return forms.constant(1) if at[0] == at[1] else forms.single(Factor("delta", str(dim), tuple(sorted(at, key=str))))


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


def _matmul(run: Run, x: Any, y: Any) -> Any:
    """The product of matrices; leading axes are stacks of them, and broadcast; a vector lacks an axis."""
    a, b = as_floating(x), as_floating(y)
    ranks = len(a.shape), len(b.shape)
    if ranks in PRODUCTS:
        return _contract(run, a, b, PRODUCTS[ranks])
    if 0 in ranks:
        raise NotReachedError("a product of arrays without axes")
    stacked = "defghlmnop"[: max(*ranks, 2) - 2]
    left = "j" if ranks[0] == 1 else stacked[len(stacked) - ranks[0] + 2 :] + "ij"
    right = "j" if ranks[1] == 1 else stacked[len(stacked) - ranks[1] + 2 :] + "jk"
    output = stacked + ("" if ranks[0] == 1 else "i") + ("" if ranks[1] == 1 else "k")
    if a.shape[-1] != b.shape[-2 if ranks[1] > 1 else -1]:
        raise NotReachedError("sizes that are not known to be the same")
    return contracted(run, [a, b], [left, right], output)


def _dot(run: Run, x: Any, y: Any) -> Any:
    ranks = len(as_array(x).shape), len(as_array(y).shape)
    if 0 in ranks:
        letters = "abcdefgh"
        return contracted(run, [as_floating(x), as_floating(y)], [letters[:n] for n in ranks], letters[: max(ranks)])
    if max(ranks) <= 2:
        return _matmul(run, x, y)
    return _tensordot(run, x, y, ((-1,), (-2 if ranks[1] > 1 else -1,)))


def _einsum(run: Run, subscripts: Any, *operands: Any) -> Any:
    """Σ over the letters that the result lacks; a repeated letter is a diagonal, an axis of size 1 is repeated."""
    arrays = [as_floating(x) for x in operands]
    if not isinstance(subscripts, str):
        raise NotReachedError("subscripts that are not written out")
    try:
        whole = explicit(subscripts, [a.shape for a in arrays])
    except AdjudgeError as error:
        raise NotReachedError(error.what) from None
    return contracted(run, arrays, whole.inputs, whole.output)


def contracted(run: Run, arrays: Sequence[Indexed], inputs: Sequence[str], output: str) -> Any:
    """An Einstein sum with its subscripts written out."""
    sizes: dict[str, Dim] = {}
    for a, subscripts in zip(arrays, inputs, strict=True):
        for letter, n in zip(subscripts, a.shape, strict=True):
            known = sizes.get(letter, 1)
            if known != 1 and n not in (1, known):
                raise NotReachedError(f"the sizes {known} and {n} are not known to be the same")
            sizes[letter] = n if known == 1 else known
    gone = [letter for letter in sizes if letter not in output]
    run.moves_only = False

    def at(indices: tuple[Index, ...]) -> Form:
        names: dict[str, Index] = dict(zip(output, indices, strict=True)) | {letter: run.name() for letter in gone}
        form = forms.constant(1)
        for a, subscripts in zip(arrays, inputs, strict=True):
            own = tuple(0 if n == 1 else names[c] for c, n in zip(subscripts, a.shape, strict=True))
            form = forms.multiply(form, a.at(own))
        for letter in gone:
            form = forms.summed(form, str(names[letter]), sizes[letter])
        return form

    shape = tuple(sizes[c] for c in output)
    dtype = "f64" if any(a.dtype == "f64" for a in arrays) else arrays[0].dtype
    return Indexed(dtype, shape, at)


def _tensordot(run: Run, x: Any, y: Any, axes: Any) -> Any:
    return _einsum(run, tensordot_subscripts(x, y, axes), x, y)


def tensordot_subscripts(x: Any, y: Any, axes: Any) -> str:
    """The subscripts with which einsum is this tensordot; of the operands the ranks and sizes are asked only."""
    a, b = as_array(x), as_array(y)
    return str(paired(Array(a.dtype, a.shape, ()), Array(b.dtype, b.shape, ()), axes))  # type: ignore[arg-type]  # sizes are names


def _outer(run: Run, x: Any, y: Any) -> Indexed:
    a, b = (x if len(as_array(x).shape) == 1 else movement.reshape(run, x, (-1,)) for x in (x, y))
    return _contract(run, as_floating(a), as_floating(b), ("i", "j", "ij"))


def _trace(run: Run, x: Any) -> Indexed:
    a = as_floating(x)
    if len(a.shape) < 2 or a.shape[0] != a.shape[1]:
        raise NotReachedError("the trace of what is not known to be square")
    run.moves_only = False

    def at(rest: tuple[Index, ...]) -> Form:
        name = run.name()
        return forms.summed(a.at((name, name, *rest)), name, a.shape[0])

    return Indexed(a.dtype, a.shape[2:], at)


def _cumsum(run: Run, x: Any, axis: Any) -> Indexed:
    """Σj [j ≤ i] x[j]"""
    a = as_floating(x if axis is not None else movement.reshape(run, x, (-1,)))
    k = normal_axis(0 if axis is None else axis, len(a.shape), "cumsum")
    run.moves_only = False

    def at(indices: tuple[Index, ...]) -> Form:
        name = run.name()
        form = forms.multiply(a.at((*indices[:k], name, *indices[k + 1 :])), forms.holds("ge", plus(indices[k], name, -1)))
        return forms.summed(form, name, a.shape[k])

    return Indexed(a.dtype, a.shape, at)


def _getitem(t: Any, i: Any) -> Any:
    if isinstance(t, tuple):
        if type(i) is not int:
            raise NotReachedError("an element of a tuple at an index that is not written out")
        return getitem(t, i)
    return selection.getitem(t, i)


def cells(run: Run) -> dict[str, Callable[..., Any]]:
    def noting(cell: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: cell(run, *arguments)

    found: dict[str, Callable[..., Any]] = {name: _elementwise(run, name) for name in ELEMENTWISE}
    found |= {name: noting(cell) for name, cell in OF_RUN.items()}
    return found | {
        "shape": _shape,
        "ndim": lambda x: len(as_array(x).shape),
        "make_tuple": make_tuple,
        "getitem": _getitem,
        "tensordot_subscripts": tensordot_subscripts,
        **MOVES,
    }


OF_RUN: dict[str, Callable[..., Any]] = {
    "reduce_sum": _sum,
    "mean": _mean,
    "matmul": _matmul,
    "dot": _dot,
    "einsum": _einsum,
    "tensordot": _tensordot,
    "outer": _outer,
    "trace": _trace,
    "cumsum": _cumsum,
    "full": _full,
    "eye": _eye,
    "reshape": _view,
    "roll": along.roll,
    "concatenate": along.concatenate,
    "stack": along.stack,
    "put": selection.put,
    "scatter_add": selection.scatter_add,
    "take": selection.take,
}
MOVES: dict[str, Callable[..., Any]] = {
    "transpose": movement.transpose,
    "swap_last": movement.swap_last,
    "expand_dims": movement.expand_dims,
    "squeeze": movement.squeeze,
    "broadcast_to": movement.broadcast_to,
    "flip": along.flip,
    "diag": along.diag,
    "tril": along.triangle(1),
    "triu": along.triangle(-1),
}
