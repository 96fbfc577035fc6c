"""
Hypothesis strategies over applications and cotangents, which shrink to few elements and simple numbers.

    arguments("f64[m, n] f64[n, k] -> f64[m, k]")     whatever fits a signature
    arguments([(x, w), …])                             samples: their sizes vary together, their attributes are swept
    cotangents(value)                                  in the structure, shapes and dtypes of a value

Shapes: sizes from none to 3, up to two axes in front of those that are open, which broadcast. Reals: the edge pool or any scale,
ties as likely as not. Arrays come in every layout.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from checkers.array_audit.attributes import swept
from checkers.array_audit.case import Arguments, flat, leaves, unflat
from checkers.array_audit.layouts import LAYOUTS, laid_out, plain
from checkers.array_audit.shapes import groups, of_one_structure, resized
from checkers.array_audit.signature import NUMPY, Shape, leading, names, read_signature, shaped
from checkers.array_audit.signature_shapes import ATTRIBUTES
from checkers.inputs import cotangents as numbers_of_cotangents
from checkers.inputs import numbers
from semantics.array_signatures import ArraySignature, Spec
from semantics.errors import Malformed

LARGEST = 3


def arguments(
    kind: str | ArraySignature | Sequence[Arguments],
    *,
    parameters: Sequence[str] = (),
    fixed: frozenset[int] = frozenset(),
    extra: Sequence[float] = (),
) -> st.SearchStrategy[Arguments]:
    """
    Applications that fit a signature, or are like samples; `extra` are numbers to try, such as thresholds.

    Where the function has no value, or is not meant to be tried, the caller finds out: `assume(trial.case(xs) is not None)`.
    """
    if isinstance(kind, (str, ArraySignature)):
        found = _of_signature(read_signature(kind) if isinstance(kind, str) else kind, extra)
    elif kind and all(isinstance(sample, tuple) for sample in kind):
        names = tuple(parameters) or tuple(f"x{i}" for i in range(max(map(len, kind))))
        found = _of_samples(tuple(kind), names, fixed, extra)
    else:
        raise Malformed(f"{kind!r} is neither a signature nor samples", remedy="a text, or a list of tuples of arguments")
    layout = st.sampled_from((plain, *LAYOUTS.values()))
    return st.builds(laid_out, found, layout)


def cotangents(value: Any) -> st.SearchStrategy[Any]:
    """Cotangents of a value: any sign and scale 2^±20, one element only, zeros, one element infinite."""
    parts = [leaf for _, leaf in leaves((value,))]
    size = sum(map(np.size, parts))
    one = numbers_of_cotangents()
    dense = st.lists(one, min_size=size, max_size=size)
    found = st.one_of(dense, st.just([0.0] * size))
    if size:
        alone = st.builds(lambda k, d: [d if i == k else 0.0 for i in range(size)], st.integers(0, size - 1), one)
        infinite = st.builds(
            lambda ds, k, d: [*ds[:k], d, *ds[k + 1 :]], dense, st.integers(0, size - 1), st.sampled_from((np.inf, -np.inf))
        )
        found = st.one_of(alone, dense, st.just([0.0] * size), infinite)
    return found.map(lambda ds: unflat((value,), np.array(ds, dtype=np.float64))[0])


@st.composite
def _of_signature(draw: st.DrawFn, signature: ArraySignature, extra: Sequence[float]) -> Arguments:
    sizes = {name: draw(st.integers(0, LARGEST), label=name) for name in names(signature)}
    fronts: tuple[Shape, ...] = ()
    open_ = leading(signature)
    if len(open_) == 1:
        fronts = (draw(npst.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=LARGEST)),)
    elif open_:
        broadcast = npst.mutually_broadcastable_shapes(num_shapes=len(open_), min_dims=0, max_dims=2, min_side=0, max_side=LARGEST)
        fronts = draw(broadcast).input_shapes
    shapes = shaped(signature, sizes, dict(zip(open_, fronts, strict=True)))
    return tuple(draw(_drawn(p, s, extra)) for p, s in zip(signature.arguments, shapes, strict=True))


def _drawn(spec: Spec, shape: Shape | None, extra: Sequence[float]) -> st.SearchStrategy[Any]:
    if spec.dtype == "any":
        return st.sampled_from(ATTRIBUTES)
    elements = _elements(spec.dtype, extra)
    return elements if shape is None else npst.arrays(NUMPY[spec.dtype], shape, elements=elements)


def _elements(dtype: str, extra: Sequence[float]) -> st.SearchStrategy[Any]:
    if dtype == "f32":
        return st.floats(width=32, allow_nan=False, allow_infinity=False)
    return {"f64": numbers(extra), "i64": st.integers(-2, LARGEST), "bool": st.booleans()}[dtype]


@st.composite
def _of_samples(
    draw: st.DrawFn, samples: tuple[Arguments, ...], parameters: Sequence[str], fixed: frozenset[int], extra: Sequence[float]
) -> Arguments:
    alike = draw(st.sampled_from(list(of_one_structure(samples))))
    base = draw(st.sampled_from(alike))
    base = draw(st.sampled_from([base, *(changed for _, changed in swept([base], parameters))]))
    sizes = {axis: n for group in groups(alike) for n in [draw(st.integers(0, LARGEST))] for axis in group}
    if draw(st.booleans()):
        base = resized(base, sizes, random.Random(0), fixed)
    own = flat([leaf for _, leaf in leaves(base, fixed)])
    scaled = st.floats(-2, 2).map(lambda c: own * c)
    fresh = st.lists(numbers(extra), min_size=own.size, max_size=own.size).map(np.array)
    tied = numbers(extra).map(lambda x: np.full(own.size, x))
    with np.errstate(all="ignore"):
        return unflat(base, draw(st.one_of(st.just(own), scaled, fresh, tied)).astype(np.float64), fixed)
