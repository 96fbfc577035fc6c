"""
Other shapes for a function of which there are samples only.

An axis of an argument is a size. Sizes that are equal in every sample are taken to be one size, as are m in x (m, n) and y (m,);
they vary together: 1, none, 2, 5, and all different. A size that is 1 in every sample stays 1, since a function that broadcasts
there means something else by another size. The number of axes is never changed. Whether the function takes the new
shapes, whoever calls it finds out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from checkers.array_audit.case import Arguments, Path, leaves, replaced
from checkers.array_audit.signature_shapes import ALL_DIFFERENT, MOST
from checkers.inputs import random_number

VARIED = 12
"""So many sizes are varied; a function of more has most of them in common with one of these."""
Axis: TypeAlias = tuple[Path, int]
Group: TypeAlias = tuple[Axis, ...]


def arrays_in(arguments: Arguments) -> tuple[tuple[Path, Any], ...]:
    """All arrays, of whatever dtype, with their paths."""
    found: list[tuple[Path, Any]] = []
    todo: list[tuple[Path, Any]] = [((i,), value) for i, value in enumerate(arguments)]
    todo.reverse()
    while todo:
        path, value = todo.pop()
        if isinstance(value, (tuple, list)):
            todo.extend(((*path, i), item) for i, item in reversed(list(enumerate(value))))
        elif isinstance(value, np.ndarray):
            found.append((path, value))
    return tuple(found)


def structure(arguments: Arguments) -> tuple[tuple[Path, int], ...]:
    """Where the arrays are and how many axes they have."""
    return tuple((path, array.ndim) for path, array in arrays_in(arguments))


def groups(samples: Sequence[Arguments]) -> tuple[Group, ...]:
    """The sizes of samples of one structure: the axes of each, in order. Those that are always 1 are none."""
    found: dict[tuple[int, ...], list[Axis]] = {}
    columns = [dict(arrays_in(sample)) for sample in samples]
    for path, array in arrays_in(samples[0]):
        for axis in range(array.ndim):
            found.setdefault(tuple(c[path].shape[axis] for c in columns), []).append((path, axis))
    return tuple(tuple(axes) for sizes, axes in found.items() if set(sizes) != {1})


def of_one_structure(samples: Sequence[Arguments]) -> Iterator[tuple[Arguments, ...]]:
    """The samples, those of one structure together."""
    classes: dict[Any, list[Arguments]] = {}
    for sample in samples:
        classes.setdefault(structure(sample), []).append(sample)
    yield from map(tuple, classes.values())


def resized(
    arguments: Arguments, sizes: Mapping[Axis, int], source: random.Random, fixed: frozenset[int] = frozenset()
) -> Arguments:
    """
    The arguments with other sizes: elements in front are kept, and what is new repeats them, a little off if they are reals that
    vary. Of an array without elements, the new ones are random.
    """
    new: dict[Path, Any] = {}
    for path, array in arrays_in(arguments):
        shape = tuple(sizes.get((path, axis), n) for axis, n in enumerate(array.shape))
        if shape == array.shape:
            continue
        if array.size == 0 and array.dtype.kind == "f":
            new[path] = np.array([random_number(source) for _ in range(int(np.prod(shape)))], array.dtype).reshape(shape)
            continue
        found = array if array.size else np.zeros([max(n, 1) for n in array.shape], array.dtype)
        for axis, n in enumerate(shape):
            found = np.take(found, np.arange(n) % found.shape[axis], axis)
        if array.dtype.kind == "f" and found.size > array.size and path[0] not in fixed:
            noise = [1 + 2.0 ** -source.uniform(2, 5) * source.choice((1, -1)) for _ in range(found.size)]
            found = (found * np.array(noise).reshape(shape)).astype(array.dtype)
        new[path] = found
    return replaced(arguments, new)


def reals(arguments: Arguments) -> int:
    """How many reals the arguments hold."""
    return sum(np.size(leaf) for _, leaf in leaves(arguments))


def varied(
    samples: Sequence[Arguments],
    parameters: Sequence[str],
    *,
    fixed: frozenset[int] = frozenset(),
    seed: int = 0,
    most: int = MOST,
) -> Iterator[tuple[str, Arguments]]:
    """
    Samples with their sizes changed, and what was changed: for each structure, first with all sizes different, then each size in
    turn 1, none, 2 and 5, then all of them 1, and all 2: square, where that is allowed. At most `most` reals, or ALL_DIFFERENT
    where all sizes differ.
    """
    source = random.Random(seed)
    for alike in of_one_structure(samples):
        sizes = groups(alike)
        for order, note, limit in _orders(sizes, parameters, most):
            new = {axis: n for group, n in zip(sizes, order, strict=True) for axis in group}
            found = resized(alike[0], new, source, fixed)
            if reals(found) <= limit:
                yield note, found


def _orders(sizes: Sequence[Group], parameters: Sequence[str], most: int) -> Iterator[tuple[Sequence[int], str, int]]:
    """A number for each size, what is special about them, and how many reals there may be then."""
    count = len(sizes)
    if count > 1:
        yield range(2, count + 2), "all sizes different", ALL_DIFFERENT
        yield range(count + 1, 1, -1), "all sizes different", ALL_DIFFERENT
    for k, group in enumerate(sizes[:VARIED]):
        for n in (1, 0, 2, 5):
            others = (m for m in (2, 3, 4, 5, 6, 7, *range(8, count + 8)) if m != n)
            yield [n if j == k else next(others) for j in range(count)], f"{described(group, parameters)} of size {n}", most
    if count > 1:
        yield [1] * count, "all sizes 1", most
        yield [2] * count, "all sizes 2", most


def described(group: Group, parameters: Sequence[str]) -> str:
    """The axes of one size: `x axis 0, y axis 1`."""
    return ", ".join(f"{parameters[path[0]]}{''.join(f'[{i}]' for i in path[1:])} axis {axis}" for path, axis in group)
