"""Which of the turns of nested loops the threads of a block share, on a GPU."""

from __future__ import annotations

from collections.abc import Iterable


def shares(axes: list[int], free: Iterable[int] | None) -> list[str]:
    """
    What each loop of a nest over these axes goes through, the outermost first. That one begins with a barrier, so that the loops
    see what was written before them; an element is the same thread's in every loop of a nest.

        _each, or _rows and _columns   the outermost axis is free: its turns are shared, and those of the last that is
        _all, and _own                 it is not: every thread takes every turn, but shares those of the last axis that is free
        _alone                         one thread takes all turns: also where each axis that is free has one turn, and no loop
    """
    names = ["range"] * len(axes)
    free = free if free is None else tuple(free)
    if free is None or (free and not set(free) & set(axes)):
        names[0] = "_alone"
        return names
    match [at for at, axis in enumerate(axes) if axis in free]:
        case []:
            names[0] = "_all"
        case [0]:
            names[0] = "_each"
        case [0, *_, last]:
            names[0], names[last] = "_rows", "_columns"
        case [*_, last]:
            names[0], names[last] = "_all", "_own"
    return names
