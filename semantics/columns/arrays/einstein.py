"""
Einstein sums: `einsum`, the subscripts of its adjoints, and `unsum`, the adjoint of an einsum of one operand.

    einsum("ij,jk->ik", a, b)[i, k] = Σ_j a[i, j] · b[j, k]

A letter that an operand repeats is a diagonal; one that the output lacks is summed over. An axis of size 1 is repeated to the size
that its letter has elsewhere. `...` stands for any number of axes, aligned at the last. Products go from the left, sums from the
left in the order of the letters, as they first appear.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from semantics.arrays import Array, of_rank_zero, positions, promoted, strides_of
from semantics.columns.arrays.elements import Elements, absorbs, as_array, looked_at
from semantics.columns.kinds import wrong
from semantics.errors import IllTyped, Trap
from semantics.shapes import letter_sizes
from semantics.tangents import ZERO

ELLIPSIS = "..."


class Subscripts(NamedTuple):
    """The letters of every operand's axes, and those of the result."""

    inputs: tuple[str, ...]
    output: str

    def __str__(self) -> str:
        return f"{','.join(self.inputs)}->{self.output}"


def met(e: Elements, name: str, *operands: Any) -> tuple[str, list[Array]]:
    """The operands as arrays of the dtype in which they meet. IllTyped for booleans only, whose sums would be no numbers."""
    arrays = [looked_at(name, x) for x in operands]
    dtype = promoted([a.dtype for a in arrays], name)
    if dtype == "bool":
        raise IllTyped(f"{name} of booleans only", rule=name, remedy="convert one: x.astype(int)")
    return dtype, [
        a if a.dtype == dtype else Array(dtype, a.shape, tuple(e.coerce(x, dtype, name) for x in a.items)) for a in arrays
    ]


def sum_of(e: Elements, items: list[Any], dtype: str) -> Any:
    """The sum from the left; ZERO if every item is."""
    return ZERO if items and all(x is ZERO for x in items) else e.total(items, dtype)


def contract(e: Elements, dtype: str, arrays: Sequence[Array], subscripts: Subscripts) -> Array:
    """The Einstein sum over the letters that the output lacks."""
    sizes = {letter: n for letter, n in letter_sizes([a.shape for a in arrays], subscripts.inputs).items() if n is not None}
    gone = [letter for letter in sizes if letter not in subscripts.output]
    outer, inner = tuple(sizes[c] for c in subscripts.output), tuple(sizes[c] for c in gone)
    bases = [positions(outer, _strides(a, own, subscripts.output)) for a, own in zip(arrays, subscripts.inputs, strict=True)]
    steps = [positions(inner, _strides(a, own, gone)) for a, own in zip(arrays, subscripts.inputs, strict=True)]
    operands = [a.items for a in arrays]
    items: list[Any] = []
    for base in zip(*bases, strict=True):
        terms = []
        for step in zip(*steps, strict=True):
            term = operands[0][base[0] + step[0]]
            for own, b, s in zip(operands[1:], base[1:], step[1:], strict=True):
                term = e.rounded(e.mul(term, own[b + s]), dtype)
            terms.append(term)
        items.append(sum_of(e, terms, dtype))
    return Array(dtype, outer, tuple(items))


def _strides(array: Array, own: str, letters: Sequence[str]) -> list[int]:
    """How far one step of each letter goes in an operand: along a diagonal on several axes, nowhere where the axis has size 1."""
    strides = [0 if n == 1 else s for n, s in zip(array.shape, strides_of(array.shape), strict=True)]
    return [sum(s for c, s in zip(own, strides, strict=True) if c == letter) for letter in letters]


def explicit(text: Any, shapes: Sequence[Sequence[Any]]) -> Subscripts:
    """The subscripts written out: with `->`, and a letter for each axis that `...` stands for. Trap where NumPy refuses them."""
    if not isinstance(text, str):
        raise wrong("einsum", "subscripts", text, 'a string: np.einsum("ij,jk->ik", a, b)')
    left, arrow, right = text.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(shapes):
        raise _refused(text, f"speaks of {len(inputs)} operands, {len(shapes)} are given")
    letters = (left + right).replace(ELLIPSIS, "").replace(",", "")
    if not all(c in string.ascii_letters for c in letters):
        raise _refused(text, "holds something else than letters, `,`, `...` and `->`")
    ranks = [len(s) - len(own.replace(ELLIPSIS, "")) for own, s in zip(inputs, shapes, strict=True)]
    for own, rank in zip(inputs, ranks, strict=True):
        if rank < 0 or (rank > 0 and ELLIPSIS not in own):
            raise _refused(text, f"{own!r} does not fit an array of {rank + len(own.replace(ELLIPSIS, ''))} axes")
    most = max((r for r, own in zip(ranks, inputs, strict=True) if ELLIPSIS in own), default=0)
    free = [c for c in string.ascii_letters if c not in letters]
    if most > len(free):
        raise _refused(text, "has more axes than there are letters")
    dots = "".join(free[:most])
    written = tuple(own.replace(ELLIPSIS, dots[most - r :] if r else "") for own, r in zip(inputs, ranks, strict=True))
    if not arrow:
        right = ELLIPSIS + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    if most and ELLIPSIS not in right:
        raise _refused(text, "drops the axes of `...`; NumPy wants `...` in the output")
    output = right.replace(ELLIPSIS, dots)
    if len(set(output)) < len(output) or not set(output) <= set("".join(written)):
        raise _refused(text, "has an output whose letters are repeated, or in no operand")
    return Subscripts(written, output)


def _refused(text: str, why: str) -> Trap:
    return Trap(f"einsum: {text!r} {why}", rule="einsum", remedy='subscripts as in "ij,jk->ik", a letter for each axis')


def einsum(e: Elements, subscripts: Any, *operands: Any) -> Any:
    """np.einsum(subscripts, *operands)"""
    dtype, arrays = met(e, "einsum", *operands)
    return of_rank_zero(contract(e, dtype, arrays, explicit(subscripts, [a.shape for a in arrays])))


def einsum_adjoint(e: Elements, subscripts: Any, k: Any, operands: Any) -> Any:
    """
    How the sensitivity d of einsum(subscripts, *operands) reaches operand k: the subscripts s, t with

        unsum(t, einsum(s, d, the other operands), operand k)

    s keeps the letters of operand k that the output or another operand has; t puts them back on its axes. ZERO where an operand is
    one: nothing flows then.
    """
    if any(x is ZERO for x in operands):
        return ZERO
    whole = explicit(subscripts, [as_array("einsum", x).shape for x in operands])
    others = (whole.output, *(own for i, own in enumerate(whole.inputs) if i != k))
    own = whole.inputs[k]
    kept = "".join(c for c in dict.fromkeys(own) if c in "".join(others))
    return str(Subscripts(others, kept)), str(Subscripts((own,), kept))


def unsum(e: Elements, subscripts: Any, d: Any, x: Any) -> Array:
    """
    The adjoint of y = einsum("ii->i", x) and its kind: d put on the diagonals, and repeated along the letters that y lacks.

    Elsewhere ZERO. The shape is x's, axes of size 1 repeated to the size of their letter in d.
    """
    given, target = as_array("unsum", d), as_array("unsum", x)
    own, _, letters = str(subscripts).partition("->")
    sizes: dict[str, int] = {}
    for letter, n in (*zip(own, target.shape, strict=True), *zip(letters, given.shape, strict=True)):
        sizes[letter] = n if sizes.get(letter, 1) == 1 else sizes[letter]
    shape = tuple(sizes[c] for c in own)
    result = Array(given.dtype, shape, (ZERO,) * len(positions(shape, strides_of(shape))))
    every = tuple(sizes.values())
    items: list[Any] = list(result.items)
    places = positions(every, _strides(result, own, list(sizes)))
    for place, source in zip(places, positions(every, _strides(given, letters, list(sizes))), strict=True):
        items[place] = given.items[source]
    return result.with_items(items)


CELLS: dict[str, Callable[..., Any]] = {cell.__name__: absorbs(cell) for cell in (einsum, einsum_adjoint, unsum)}
