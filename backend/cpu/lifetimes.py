"""
Which variables live where a block begins, as Numba has it, with rows of booleans in the place of sets of names.

Numba finds it out after every pass, some four times for a function, and asks at each block which of all names may have been given a
value before. For a function of many blocks that is most of the time that it takes: sets of thousands of names are joined at each
edge. Joining two rows takes a byte for each name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import analysis


@contextmanager
def as_rows() -> Iterator[None]:
    """Inside, Numba finds the living variables this way. Numba holds its lock."""
    before = analysis.compute_live_map
    analysis.compute_live_map = living
    try:
        yield
    finally:
        analysis.compute_live_map = before


def living(
    graph: Any, blocks: Mapping[int, Any], used: Mapping[int, set[str]], defined: Mapping[int, set[str]]
) -> dict[int, set[str]]:
    """
    The names that are needed from the beginning of each block on, and may have been used or defined before it: what
    `numba.core.analysis.compute_live_map` gives, of the same arguments.
    """
    names = sorted(set().union(*used.values(), *defined.values()))
    place, row = {name: n for n, name in enumerate(names)}, {block: n for n, block in enumerate(blocks)}
    uses, definitions = _rows(used, row, place), _rows(defined, row, place)
    edges = [(row[block], row[next]) for block in graph.topo_order() for next, _ in graph.successors(block)]

    reached = uses | definitions
    while _joined(reached, ((next, reached[n]) for n, next in edges)):
        pass
    live, passed = uses.copy(), reached & ~definitions
    while _joined(live, ((n, live[next] & passed[n]) for n, next in reversed(edges))):
        pass
    return {block: {names[n] for n in np.flatnonzero(live[row[block]])} for block in blocks}


def _rows(names: Mapping[int, set[str]], row: Mapping[int, int], place: Mapping[str, int]) -> npt.NDArray[np.bool_]:
    """A row for each block, in which its names are marked."""
    rows = np.zeros((len(row), len(place)), np.bool_)
    for block, found in names.items():
        rows[row[block], [place[name] for name in found]] = True
    return rows


def _joined(rows: npt.NDArray[np.bool_], found: Iterable[tuple[int, npt.NDArray[np.bool_]]]) -> bool:
    """Whether there are more marks once what was found has been joined to the rows."""
    before = np.count_nonzero(rows)
    for into, marks in found:
        rows[into] |= marks
    return bool(np.count_nonzero(rows) > before)
