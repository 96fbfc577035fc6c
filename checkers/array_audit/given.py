"""
What an author gives for a black box: samples, and which arguments are attributes. Read strictly, and copied.

    [(x, w), (x2, w2)]     tuples of arguments: arrays of float64, float32, int64 or bool; floats, integers, flags, None, text
    [x, x2]                arrays, or floats, where there is one argument

Floats, and arrays of them, are differentiated, but for arguments that are named in `fixed`; tuples and lists hold more of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments, leaves
from checkers.array_audit.signature import DTYPES
from semantics.errors import IllTyped, Malformed

RULE = "check_vjp"
ATTRIBUTES = (int, str, slice, type(None), type(Ellipsis), np.integer, np.bool_, type, np.dtype)
FORM = "a list of argument tuples: [(np.ones(3), 2.0), (np.zeros((2, 3)), 1.0)]"


def read_samples(samples: Any, fixed: frozenset[int] = frozenset()) -> tuple[Arguments, ...]:
    """The samples as tuples of arguments, all of one length. Malformed or IllTyped, with what to do, otherwise."""
    if isinstance(samples, np.ndarray):
        raise Malformed("samples is one array", rule=RULE, remedy="put it in a list: [x]; for two arguments [(x, y)]")
    if not isinstance(samples, (list, tuple)) or not samples:
        raise Malformed("samples is empty, or no list", rule=RULE, remedy=FORM)
    found = [sample if isinstance(sample, tuple) else (sample,) for sample in samples]
    if any(isinstance(sample, list) for sample in samples):
        raise Malformed("a sample is a list", rule=RULE, remedy=f"a sample is a tuple of arguments, or one array: {FORM}")
    if len({len(sample) for sample in found}) != 1 or not found[0]:
        raise Malformed("the samples differ in length", rule=RULE, remedy="one value for each argument of forward, in every sample")
    read = tuple(tuple(_checked(a, k, i, fixed) for i, a in enumerate(sample)) for k, sample in enumerate(found))
    if not any(leaves(sample, fixed) for sample in read):
        raise IllTyped(
            "no argument of a sample is a float or an array of floats",
            rule=RULE,
            remedy="write 2.0 for 2 and x.astype(np.float64) for arrays: whole numbers are attributes",
        )
    return read


def _checked(value: Any, sample: int, position: int, fixed: frozenset[int]) -> Any:
    """A copy of one argument; IllTyped if the judge cannot read it."""
    where = f"argument {position} of sample {sample}"
    if isinstance(value, (tuple, list)):
        return type(value)(_checked(item, sample, position, fixed) for item in value) if type(value) in (tuple, list) else value
    if isinstance(value, np.ndarray):
        if type(value) is np.ndarray and value.dtype in DTYPES:
            return np.array(value)
        if position in fixed:
            return value
        what = f"an array of {value.dtype}" if type(value) is np.ndarray else f"a {type(value).__name__}"
        raise IllTyped(
            f"{where} is {what}", rule=RULE, remedy="x = np.asarray(x, dtype=np.float64); float32, int64 and bool do too"
        )
    if isinstance(value, np.floating) and not isinstance(value, (np.float64, np.float32)):
        raise IllTyped(f"{where} is a {type(value).__name__}", rule=RULE, remedy="convert it: float(x)")
    if position in fixed or isinstance(value, (float, np.float32, *ATTRIBUTES)):
        return value
    remedy = f"an array, a float, or an attribute such as an axis; say fixed=({position},) if it is another constant"
    raise IllTyped(f"{where} is of type {type(value).__name__}", rule=RULE, remedy=remedy)


def read_fixed(fixed: Any, parameters: Sequence[str]) -> frozenset[int]:
    """The positions that are named, by number or by name. Malformed for one that is not there."""
    named = [fixed] if isinstance(fixed, (int, str)) and not isinstance(fixed, bool) else fixed
    if not isinstance(named, Iterable):
        raise Malformed(f"fixed is {fixed!r}", rule=RULE, remedy="positions or names of arguments: fixed=(1,)")
    found = set()
    for one in named:
        place = parameters.index(one) if one in parameters else one
        if type(place) is not int or not -len(parameters) <= place < len(parameters):
            remedy = f"one of 0 to {len(parameters) - 1}, or of {', '.join(parameters)}"
            raise Malformed(f"fixed names {one!r}, which is no argument", rule=RULE, remedy=remedy)
        found.add(place % len(parameters))
    return frozenset(found)
