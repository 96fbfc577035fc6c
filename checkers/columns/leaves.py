"""
Structured values leaf by leaf: tuples, sparse tuples and captured values, walked with an explicit stack.

A *coordinate* is the path of one real inside a list of arguments: `2` is argument 2, `(2, 0)` element 0 of argument 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from immutables import Map

from semantics.arrays import Array
from semantics.errors import IllTyped
from semantics.memory import Cells, Memory, Pointer, ordered
from semantics.primitives.row import Primitive
from semantics.structured import Ellipsis_, Label, Record, Slice
from semantics.tangents import ZERO, Sparse, SparseArray, Zero, dense
from semantics.values import Closure, Unbound

Path = tuple[int, ...]
Coordinate = int | Path


def is_discrete(value: Any) -> bool:
    """Whether a leaf carries no derivative, whatever the carrier: unit, booleans, integers, text, primitives, ZERO."""
    return value is None or isinstance(value, (bool, int, str, Primitive, Unbound, Zero, Slice, Label, Ellipsis_, Pointer))


def map_leaves(function: Callable[[Path, Any], Any], value: Any, closures: bool = True) -> Any:
    """
    The same structure with `function(path, leaf)` for every leaf, left to right. Sparse tuples become plain ones.

    With `closures` a closure stays a closure with its captured values mapped; without, it becomes the tuple of them,
    which is the structure of its tangent.
    """
    built: list[Any] = []
    todo: list[tuple[Path, Any, int]] = [((), value, -1)]
    while todo:
        path, item, gather = todo.pop()
        if gather >= 0:
            parts = tuple(built[len(built) - gather :])
            del built[len(built) - gather :]
            built.append(_again(item, parts, closures))
            continue
        match item:
            case Closure(_, captured):
                parts = captured
            case Sparse():
                parts = tuple(item[i] for i in range(item.size))
            case SparseArray():
                item = dense(item)
                parts = item.items
            case Array(_, _, items) | Record(_, items):
                parts = items
            case Memory() | Cells():
                parts = tuple(content for _, content in ordered(item))
            case tuple():
                parts = item
            case _:
                built.append(function(path, item))
                continue
        todo.append((path, item, len(parts)))
        todo.extend(((*path, i), parts[i], -1) for i in reversed(range(len(parts))))
    return built[0]


def _again(item: Any, parts: tuple[Any, ...], closures: bool) -> Any:
    """The structure of `item` with other parts."""
    match item:
        case Closure() if closures:
            return Closure(item.graph, parts, item.name)
        case Array():
            return Array(item.dtype, item.shape, parts)
        case Record():
            return Record(item.label, parts)
        case Memory() | Cells():
            cells = Map(zip((address for address, _ in ordered(item)), parts, strict=True))
            return Memory(item.home, item.next, cells) if isinstance(item, Memory) else Cells(cells)
        case _:
            return parts


def coordinates(arguments: Sequence[Any]) -> tuple[Path, ...]:
    """The paths of all reals in the arguments, left to right."""
    found: list[Path] = []

    def note(path: Path, leaf: Any) -> None:
        if not is_discrete(leaf):
            found.append(path)

    map_leaves(note, tuple(arguments))
    return tuple(found)


def path_of(arguments: Sequence[Any], coordinate: Coordinate) -> Path:
    """The coordinate as a path; IllTyped unless there is a real at its end."""
    path = (coordinate,) if isinstance(coordinate, int) else tuple(coordinate)
    known = coordinates(arguments)
    if path not in known:
        raise IllTyped(
            f"there is no real at {coordinate} among the arguments",
            rule="coordinate",
            remedy="one of " + (", ".join(str(p if len(p) > 1 else p[0]) for p in known) or "none: no argument is real"),
        )
    return path


def at_path(value: Any, path: Path) -> Any:
    """The part of a structured value, or of a sparse sensitivity of it, at the end of a path."""
    for index in path:
        if value is ZERO:
            return ZERO
        value = value.items[index] if isinstance(value, Record) else value[index]
    return value
