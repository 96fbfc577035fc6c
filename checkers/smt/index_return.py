"""
The way back through rows that move elements, at symbolic sizes: `places`, `returned` and `gathered`, as `semantics` has them.
"""

from __future__ import annotations

from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import Form, NotReachedError
from checkers.smt.index_movement import Piece, Places, guarded, reshape, shape_of
from checkers.smt.index_places import Index, plus
from checkers.smt.index_values import Indexed, Run, SizeOf, as_array
from semantics.arrays import FLOATING


def places(x: Any) -> Any:
    """x with every element its own place; a tuple of arrays is numbered through."""
    if isinstance(x, tuple):
        if any(isinstance(p, tuple) for p in x):
            raise NotReachedError("tuples within tuples")
        return tuple(_numbered(p, k) for k, p in enumerate(x))
    return _numbered(x, 0)


def _numbered(x: Any, leaf: int) -> Places:
    return Places(shape_of(x), lambda at: (Piece(at, leaf=leaf),))


def returned(run: Run, d: Any, p: Any, x: Any) -> Any:
    """The sensitivity of x to which every element of d has gone back, those of one place added up."""
    given = as_array(d)
    if not isinstance(p, Places):
        raise NotReachedError("places that are not moved about")
    if given.shape != p.shape:
        given = reshape(run, given, tuple(SizeOf(n) if not isinstance(n, int) else n for n in p.shape))
    parts = tuple(_arrived(run, given, p, a, leaf) for leaf, a in enumerate(x if isinstance(x, tuple) else (x,)))
    return parts if isinstance(x, tuple) else parts[0]


def _arrived(run: Run, d: Indexed, p: Places, x: Any, leaf: int) -> Any:
    a = as_array(x)
    if a.dtype not in FLOATING:
        raise NotReachedError("a sensitivity of what is no real")

    def at(indices: tuple[Index, ...]) -> Form:
        names = tuple(run.name() for _ in p.shape)
        total = []
        for found in p.at(names):
            if found.leaf == leaf:
                form = d.at(names)
                for here, there in zip(found.indices, indices, strict=True):
                    form = forms.multiply(form, forms.holds("eq", plus(here, there, -1)))
                total.append(guarded(form, found))
        result = forms.add(*total)
        for name, n in zip(names, p.shape, strict=True):
            result = forms.summed(result, name, n)
        return result

    return Indexed(a.dtype, a.shape, at) if a.shape else at(())


def gathered(v: Any, p: Any, x: Any) -> Any:
    """The elements of v, a sensitivity of x, at the places p."""
    if not isinstance(p, Places):
        raise NotReachedError("places that are not moved about")
    parts = [as_array(a) for a in (v if isinstance(v, tuple) else (v,))]
    return Indexed("f64", p.shape, lambda at: forms.add(*(guarded(parts[f.leaf].at(f.indices), f) for f in p.at(at))))
