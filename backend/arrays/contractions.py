"""
Einstein sums, and the products that are such: einsum, tensordot, stacks of matrices; and the adjoint of a diagonal.

Products go from the left, sums from the left in the order of the letters, as they first appear
(`semantics.columns.arrays.einstein`). What is a product of matrices by its letters is left to the loops for these.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

from backend.arrays.attributes import as_operand, is_zero, known, result_type, text_of
from backend.arrays.elementwise import as_element
from backend.arrays.neutral import NEUTRAL
from backend.arrays.products import matmul as product
from backend.arrays.reductions import begun
from backend.arrays.values import ELEMENTS, ONE, Sizes
from backend.lowering.conversion import convert
from backend.lowering.shape import ZERO_VALUE, Items, Nothing, make
from semantics.arrays import Array, promoted
from semantics.columns.arrays.algebra import paired
from semantics.columns.arrays.einstein import Subscripts, explicit
from semantics.errors import IllTyped
from semantics.primitives.table import TABLE
from semantics.type_lattice import TEXT, ZERO_TYPE, Literal, join


def einsum(emit: Any, subscripts: Any, *operands: Any) -> Any:
    """np.einsum(subscripts, *operands)"""
    if any(isinstance(x, Nothing) for x in operands):
        return ZERO_VALUE
    arrays = [as_operand(emit, x) for x in operands]
    return contracted(emit, arrays, explicit(text_of(subscripts), [x.type.dims for x in arrays]))


def tensordot(emit: Any, a: Any, b: Any, axes: Any) -> Any:
    """np.tensordot(a, b, axes)"""
    a, b = as_operand(emit, a), as_operand(emit, b)
    found = _paired(a, b, axes)
    for i, c in enumerate(found.inputs[0]):
        if c in found.inputs[1]:
            emit.equal(a.sizes[i], b.sizes[found.inputs[1].index(c)])
    return contracted(emit, [a, b], found)


def _paired(a: Any, b: Any, axes: Any) -> Subscripts:
    """The subscripts of a tensordot: of arrays of as many axes, since the sizes have no say in them."""
    left, right = (Array("f64", (1,) * len(x.sizes), ()) for x in (a, b))
    return paired(left, right, _value(axes))


def _value(axes: Any) -> Any:
    """Integers, and tuples of them, that are known."""
    return tuple(map(_value, axes.items)) if isinstance(axes, Items) else known(axes, "an axis")


def matmul(emit: Any, a: Any, b: Any) -> Any:
    """a @ b: of vectors and matrices of f64 by loops of their own, of stacks of matrices as an Einstein sum."""
    a, b = as_operand(emit, a), as_operand(emit, b)
    if _is_plain(a) and _is_plain(b):
        return product(emit, a, b)
    if not a.sizes or not b.sizes:
        raise IllTyped("matmul of a scalar", rule="lower", remedy="write * for the product with a number")
    letters = string.ascii_letters
    stack = max(len(a.sizes), len(b.sizes)) - 2
    own = letters[: max(0, stack)]
    left = own[len(own) - max(0, len(a.sizes) - 2) :] + ("Xk" if len(a.sizes) > 1 else "k")
    right = own[len(own) - max(0, len(b.sizes) - 2) :] + ("kY" if len(b.sizes) > 1 else "k")
    output = own + "X" * (len(a.sizes) > 1) + "Y" * (len(b.sizes) > 1)
    emit.equal(a.sizes[-1], b.sizes[-2] if len(b.sizes) > 1 else b.sizes[-1])
    return contracted(emit, [a, b], Subscripts((left, right), output))


def _is_plain(x: Any) -> bool:
    return x.dtype == "f64" and not x.type.holes and len(x.sizes) in (1, 2)


def dot(emit: Any, a: Any, b: Any) -> Any:
    """np.dot(a, b): of a number, the product; else the sum over the last axis of a and the last but one of b."""
    a, b = as_operand(emit, a), as_operand(emit, b)
    if not a.sizes or not b.sizes:
        return emit.primitive(TABLE["mul"], [a, b])
    if len(a.sizes) <= 2 and len(b.sizes) <= 2:
        return matmul(emit, a, b)
    own, other = string.ascii_letters[: len(a.sizes)], string.ascii_letters[len(a.sizes) :][: len(b.sizes)]
    k = max(0, len(b.sizes) - 2)
    other = other[:k] + own[-1] + other[k + 1 :]
    return contracted(emit, [a, b], Subscripts((own, other), (own + other).replace(own[-1], "")))


def contracted(emit: Any, arrays: Sequence[Any], subscripts: Subscripts) -> Any:
    """The sum over the letters that the output lacks, of the products of the operands."""
    if (found := _matrices(emit, arrays, subscripts)) is not None:
        return found
    dtype = promoted([a.dtype for a in arrays], "einsum")
    holes = any(a.type.holes for a in arrays)
    sizes = _letters(emit, arrays, subscripts)
    gone = [c for c in sizes if c not in subscripts.output]
    of = join(ELEMENTS[dtype], ZERO_TYPE) if holes else ELEMENTS[dtype]
    empty = emit.perhaps_empty(tuple(sizes[c] for c in gone))
    arrays = [emit.held(a) for a in arrays]

    def term(at: dict[str, str]) -> Any:
        found: Any = None
        for a, own in zip(arrays, subscripts.inputs, strict=True):
            item = emit.element(a, tuple("0" if n == ONE else at[c] for c, n in zip(own, a.sizes, strict=True)))
            item = as_element(emit, item, dtype)
            found = item if found is None else as_element(emit, emit.primitive(TABLE["mul"], [found, item]), dtype)
        return found

    def total(outer: Sizes) -> Any:
        result = make(of, emit.variable)
        begin = begun("0" if dtype == "i64" else "-0.0", empty, dtype, holes)
        emit.move((result,), (convert(begin, of),))
        with emit.over(tuple(sizes[c] for c in gone), ()) as inner:
            found = term(dict(zip((*subscripts.output, *gone), (*outer, *inner), strict=True)))
            found = emit.primitive(TABLE["gadd" if holes else "add"], [result, found])
            emit.move((result,), (convert(as_element(emit, found, dtype), of),))
        return result

    if not subscripts.output and dtype != "f32":
        return total(())
    array = emit.new(dtype, tuple(sizes[c] for c in subscripts.output), mask="_" * holes)
    with emit.each(array.sizes) as outer:
        emit.write(array, outer, total(outer))
    return array


def _matrices(emit: Any, arrays: Sequence[Any], subscripts: Subscripts) -> Any:
    """The product of two matrices, if it is one by the letters: the sums are the same."""
    if len(arrays) != 2 or not all(map(_is_plain, arrays)) or any(ONE in a.sizes for a in arrays):
        return None
    (a, b), output = subscripts.inputs, subscripts.output
    inner = a[-1]
    if b[:1] != inner or len(set(a + b)) != len(a + b) - 1 or output != a[:-1] + b[1:]:
        return None
    return product(emit, *arrays)


def _letters(emit: Any, arrays: Sequence[Any], subscripts: Subscripts) -> dict[str, str]:
    """The size of each letter, in the order in which they first appear, after tests that it has one only, but for ones."""
    sizes: dict[str, str] = {}
    for a, own in zip(arrays, subscripts.inputs, strict=True):
        here: dict[str, str] = {}
        for c, n in zip(own, a.sizes, strict=True):
            here[c] = emit.equal(here[c], n) if c in here else n
        for c, n in here.items():
            known = sizes.get(c, ONE)
            sizes[c] = n if known == ONE else known if n == ONE else emit.equal(known, n)
    return sizes


def unsum(emit: Any, subscripts: Any, d: Any, x: Any) -> Any:
    """The adjoint of an einsum of one operand: d put on the diagonals, and repeated along the letters that it lacks."""
    if any(is_zero(v) for v in (subscripts, d, x)):
        return ZERO_VALUE
    d, x = as_operand(emit, d), as_operand(emit, x)
    own, _, letters = text_of(subscripts).partition("->")
    sizes: dict[str, str] = {}
    for c, n in (*zip(own, x.sizes, strict=True), *zip(letters, d.sizes, strict=True)):
        sizes[c] = n if sizes.get(c, ONE) == ONE else emit.equal(sizes[c], n) if n != ONE else sizes[c]
    array = emit.new(d.dtype, tuple(sizes[c] for c in own), NEUTRAL, "False")
    emit.prepared(d, d.sizes)
    with emit.each(tuple(sizes.values())) as every:
        at = dict(zip(sizes, every, strict=True))
        item = emit.element(d, tuple("0" if n == ONE else at[c] for c, n in zip(letters, d.sizes, strict=True)))
        emit.write(array, tuple(at[c] for c in own), item)
    return array


def einsum_adjoint(emit: Any, subscripts: Any, k: Any, operands: Any) -> Any:
    """The subscripts, which are known."""
    found = result_type("einsum_adjoint", subscripts, k, operands)
    return make(found, lambda _: "") if found != ZERO_TYPE else ZERO_VALUE


def tensordot_subscripts(emit: Any, a: Any, b: Any, axes: Any) -> Any:
    """The subscripts, which are known."""
    return Nothing(Literal(TEXT, str(_paired(as_operand(emit, a), as_operand(emit, b), axes))))


CELLS: dict[str, Callable[..., Any]] = {
    "einsum": einsum,
    "tensordot": tensordot,
    "matmul": matmul,
    "dot": dot,
    "unsum": unsum,
    "einsum_adjoint": einsum_adjoint,
    "tensordot_subscripts": tensordot_subscripts,
}
