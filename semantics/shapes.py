"""
The shapes of results, from the shapes of operands. A size may be None: not known before running.

The cells of array rows and their type rules call these functions, so a shape is computed the same way before and while a program
runs. A mismatch that is certain traps; one that unknown sizes leave open does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from semantics.arrays import Shape, broadcast_shapes, normal_axes, normal_axis, shown
from semantics.errors import Trap

Size = int | None
Dims = tuple[Size, ...]


def known(dims: Dims) -> Shape:
    """Sizes of which all are known, as they are where a program runs."""
    assert None not in dims
    return cast("Shape", dims)


def count(shape: Sequence[Size]) -> Size:
    """The number of elements; 0 if any size is, else None if any size is unknown."""
    result: Size = 1
    for n in shape:
        if n is None or result is None:
            result = 0 if n == 0 or result == 0 else None
        else:
            result = result * n
    return result


def meet(sizes: Iterable[Size]) -> Size:
    """The size that all sizes are if no trap occurs: a known one if there is one. None where two known ones differ."""
    certain = {n for n in sizes if n is not None}
    return certain.pop() if len(certain) == 1 else None


def clash(sizes: Iterable[Size]) -> bool:
    """Whether two of the sizes are certain to differ."""
    return len({n for n in sizes if n is not None}) > 1


def reshaped(shape: Sequence[Size], wanted: Sequence[Size]) -> Dims:
    """The shape `wanted`, its -1 filled in; Trap if the number of elements differs."""
    total, rest = count(shape), count([n for n in wanted if n != -1])
    filled = list(wanted)
    if filled.count(-1) == 1:
        if total is None or rest is None:
            filled[filled.index(-1)] = None
        elif rest and total % rest == 0:
            filled[filled.index(-1)] = total // rest
    if any(n is not None and n < 0 for n in filled) or clash((total, count(filled))):
        raise Trap(
            f"reshape: {'?' if total is None else total} elements, shape {shown(shape)}, do not fill the shape {shown(wanted)}",
            rule="reshape",
            remedy="keep the number of elements",
        )
    return tuple(filled)


def transposed(shape: Sequence[Size], axes: object) -> tuple[Dims, tuple[int, ...]]:
    """The shape and the order of axes: reversed for None."""
    rank = len(shape)
    order = tuple(reversed(range(rank))) if axes is None else normal_axes(axes, rank, "transpose")
    if len(order) != rank:
        raise Trap(f"transpose: {axes} does not name all {rank} axes", rule="transpose", remedy="a permutation of all axes")
    return tuple(shape[a] for a in order), order


def broadcast_to(shape: Dims, wanted: Dims) -> Dims:
    """`wanted`; Trap unless an array of `shape` can be repeated to it."""
    met = broadcast_shapes((shape, wanted), "broadcast_to")
    if len(met) != len(wanted) or any(clash(pair) for pair in zip(met, wanted, strict=True)):
        raise Trap(
            f"the shape {shown(shape)} does not broadcast to {shown(wanted)}",
            rule="broadcast_to",
            remedy="sizes that are equal or 1",
        )
    return wanted


def with_axes(shape: Sequence[Size], axis: object, name: str) -> Dims:
    """The shape with a 1 at each of the named places of the result."""
    named = axis if isinstance(axis, tuple) else (axis,)
    rank = len(shape) + len(named)
    axes = normal_axes(named, rank, name)
    rest = iter(shape)
    return tuple(1 if a in axes else next(rest) for a in range(rank))


def without_axes(shape: Sequence[Size], axes: Sequence[int]) -> Dims:
    """The shape without the named axes."""
    return tuple(n for a, n in enumerate(shape) if a not in axes)


def squeezed(shape: Sequence[Size], axis: object) -> Dims:
    """The shape without the named axes, which have size 1. For None all sizes must be known."""
    axes = tuple(a for a, n in enumerate(shape) if n == 1) if axis is None else normal_axes(axis, len(shape), "squeeze")
    if any(shape[a] not in (1, None) for a in axes):
        raise Trap(
            f"squeeze: an axis of {shown(shape)} named by {axis} has not size 1", rule="squeeze", remedy="name axes of size 1"
        )
    return without_axes(shape, axes)


def reduced(shape: Sequence[Size], axis: object, keepdims: bool, name: str) -> Dims:
    """The shape without the named axes, or with 1 in their place."""
    axes = normal_axes(axis, len(shape), name)
    if keepdims:
        return tuple(1 if a in axes else n for a, n in enumerate(shape))
    return without_axes(shape, axes)


def grouped(shape: Sequence[Size], axis: object) -> Dims:
    """The shape without the named axes, and last as many as they hold."""
    axes = normal_axes(axis, len(shape), "grouped")
    return (*without_axes(shape, axes), count([shape[a] for a in axes]))


def concatenated(shapes: Sequence[Dims], axis: int) -> Dims:
    """The shape of arrays one behind the other along an axis; Trap if they differ elsewhere."""
    rank = len(shapes[0])
    if rank == 0:
        raise Trap("concatenate of arrays without axes", rule="concatenate", remedy="np.stack")
    along = normal_axis(axis, rank, "concatenate")
    if any(len(s) != rank for s in shapes) or any(a != along and clash(s[a] for s in shapes) for a in range(rank)):
        found = ", ".join(map(shown, shapes))
        raise Trap(
            f"concatenate: the shapes {found} differ off axis {along}", rule="concatenate", remedy="equal sizes off that axis"
        )
    lengths = [s[along] for s in shapes]
    total = sum(n for n in lengths if n is not None) if None not in lengths else None
    return tuple(total if a == along else meet(s[a] for s in shapes) for a in range(rank))


def fits(found: Sequence[Size], shape: Sequence[Size]) -> bool:
    """Whether an array can be written into a part of `shape`: it broadcasts to it; leading axes of size 1 fall away."""
    while len(found) > len(shape) and found[0] in (1, None):
        found = found[1:]
    return len(found) <= len(shape) and all(
        a in (1, None) or b is None or a == b for a, b in zip(reversed(found), reversed(shape), strict=False)
    )


def matrix_product(a: Dims, b: Dims) -> Dims:
    """The shape of a @ b; Trap where the columns of a are not as many as the rows of b."""
    if not a or not b:
        raise Trap("matmul of a scalar", rule="matmul", remedy="write a * b")
    left = a if len(a) > 1 else (1, *a)
    right = b if len(b) > 1 else (*b, 1)
    if clash((left[-1], right[-2])):
        raise Trap(
            f"matmul: the shapes {shown(a)} and {shown(b)} do not match, {left[-1]} columns against {right[-2]} rows",
            rule="matmul",
            remedy="transpose one, or reshape",
        )
    return (*broadcast_shapes((left[:-2], right[:-2]), "matmul"), *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))


def spread_over(shape: Dims, target: Dims, axes: Sequence[int], keepdims: bool) -> Dims:
    """`target`; Trap unless `shape` is what a reduction of it over `axes` leaves."""
    left = tuple(1 if a in axes else n for a, n in enumerate(target)) if keepdims and shape else without_axes(target, axes)
    if len(shape) != len(left) or any(map(clash, zip(shape, left, strict=True))):
        raise Trap(f"spread: {shown(shape)} is not {shown(target)} without {tuple(axes)}", rule="spread", remedy="the same axis")
    return target


def summed_to(shape: Dims, target: Dims) -> Dims:
    """
    `target`; Trap unless `shape` is one to which it can be broadcast, or that with fewer leading axes of length 1.

    An array is written into a place that lacks its leading axes of length 1; so it is of their sensitivities.
    """
    if any(a not in (1, None) for a in target[: max(0, len(target) - len(shape))]) or any(
        a not in (1, None) and clash((a, n)) for a, n in zip(reversed(target), reversed(shape), strict=False)
    ):
        raise Trap(
            f"sum_to: {shown(target)} does not broadcast to {shown(shape)}", rule="sum_to", remedy="a sensitivity of the result"
        )
    return target


def repeated_to(shape: Dims, target: Dims) -> Dims:
    """`target`; Trap unless `shape`, without leading axes of length 1 that `target` lacks, can be broadcast to it."""
    extra = len(shape) - len(target)
    return broadcast_to(shape[extra:] if extra > 0 and all(n in (1, None) for n in shape[:extra]) else shape, target)


def letter_sizes(shapes: Sequence[Dims], names: Sequence[Sequence[str]]) -> dict[str, Size]:
    """
    The size of each letter of an Einstein sum, in the order in which they first appear.

    Trap where two sizes of a letter differ: always within one operand, and between two if neither is 1.
    """
    sizes: dict[str, Size] = {}
    for shape, own in zip(shapes, names, strict=True):
        here: dict[str, Size] = {}
        for letter, n in zip(own, shape, strict=True):
            if clash((here.setdefault(letter, n), n)):
                raise _two_sizes(letter, here[letter], n)
            here[letter] = meet((here[letter], n))
        for letter, n in here.items():
            found = sizes.get(letter, 1)
            if 1 not in (found, n) and clash((found, n)):
                raise _two_sizes(letter, found, n)
            sizes[letter] = n if found == 1 else found if n in (1, None) else n
    return sizes


def _two_sizes(letter: str, a: Size, b: Size) -> Trap:
    return Trap(f"einsum: the letter {letter} stands for axes of {a} and {b}", rule="einsum", remedy="equal sizes for one letter")
