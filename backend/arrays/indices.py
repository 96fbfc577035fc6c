"""
Indices: which element of an array each element of a selection is; `semantics.indexing`, in generated code.

An index is an integer, a slice, None, `...`, an array of integers or of booleans, or a tuple of those. Integers are tested before
anything is read: arrays of them in a loop of its own, which writes down where they point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backend.arrays.attributes import ALL, as_operand, is_unit
from backend.arrays.creation import as_array
from backend.arrays.values import ARRAYS, ONE, Held, Sizes, aligned, less, uncompiled
from backend.lowering.shape import Cut, Items, Nothing, Reg
from backend.status import SIZES
from semantics.errors import IllTyped
from semantics.type_language import INTEGER, UNIT
from semantics.type_lattice import ELLIPSIS_TYPE

FEW = 4
"""So many elements may an array be taken to have whose slices leave out few, or take few: the machine runs a sample with less."""


@dataclass(frozen=True, slots=True)
class Selection:
    """
    The sizes of what an index selects; for the indices of an element, those in the array.

    element   whether it is one element, a number
    distinct  whether no element is selected twice
    """

    sizes: Sizes
    source: Callable[[Any, Sizes], Sizes]
    element: bool
    distinct: bool


def selection(emit: Any, sizes: Sizes, index: Any) -> Selection:
    """What an index selects from an array of these sizes."""
    given = index.items if isinstance(index, Items) and index.label is None else (index,)
    element = len(given) == len(sizes) and all(isinstance(p, Reg) and p.type == INTEGER for p in given)
    kept: list[tuple[str, Callable[[str], str] | None]] = []  # size of each axis that stays, and its index in the array
    gathered: list[Any] = []
    order: list[Any] = []  # for each axis of the array, what says its index: a number of `kept`, or an array or a text
    front, between, separated, axis = -1, False, False, 0
    for part in _expanded(emit, sizes, [_part(emit, p) for p in given]):
        if is_unit(part):
            kept.append((ONE, None))
        elif isinstance(part, Nothing):
            between = True
        elif isinstance(part, Cut):
            order.append(len(kept))
            kept.append(_steps(emit, part, sizes[axis]))
            axis += 1
        else:
            if front < 0:
                front, between = len(kept), False
            elif between or front != len(kept):
                separated = True
            order.append(_inside(emit, part, sizes[axis]))
            gathered.append(order[-1])
            axis += 1
    arrays = [p for p in gathered if isinstance(p, Held) and p.sizes]
    common = emit.common(*(p.sizes for p in arrays)) if arrays else ()
    front = 0 if separated or not arrays else front
    widths = [n for n, _ in kept]

    def source(emit: Any, at: Sizes) -> Sizes:
        own, shared = (*at[:front], *at[front + len(common) :]), at[front : front + len(common)]

        def one(part: Any) -> str:
            if isinstance(part, int):
                step = kept[part][1]
                assert step is not None, "a new axis is none of the array"
                return step(own[part])
            if isinstance(part, Held):
                return str(emit.element(part, aligned(shared, part.sizes)).text)
            return str(part)

        return tuple(map(one, order))

    return Selection((*widths[:front], *common, *widths[front:]), source, element, not arrays)


def _part(emit: Any, part: Any) -> Any:
    """A part of an index, a list as the array that it is."""
    match part:
        case Items(_, label) if label is not None and label.kind == "list":
            return as_operand(emit, as_array(emit, part, Nothing(UNIT)))
        case Reg(_, type) if type == INTEGER:
            return part
        case Cut():
            return part
        case Nothing(type) if type in (UNIT, ELLIPSIS_TYPE):
            return part
        case _ if isinstance(part, ARRAYS) and part.type.dtype in ("i64", "bool"):
            return as_operand(emit, part)
        case _:
            raise uncompiled("an index that is neither integers, slices nor arrays of integers or booleans")


def _axes_of(part: Any) -> int:
    """How many axes of the array a part is about."""
    if isinstance(part, Nothing):
        return 0
    return len(part.sizes) if isinstance(part, ARRAYS) and part.dtype == "bool" else 1


def _expanded(emit: Any, sizes: Sizes, given: list[Any]) -> list[Any]:
    """One part for each axis and each new axis; a `...` that stands for no axis stays."""
    missing = len(sizes) - sum(map(_axes_of, given))
    if missing < 0:
        raise IllTyped(f"more indices than {len(sizes)} axes", rule="lower")
    dots = [k for k, p in enumerate(given) if isinstance(p, Nothing) and not is_unit(p)]
    at = dots[0] if dots else len(given)
    if missing or not dots:
        given[at : at + 1] = [ALL] * missing
    parts: list[Any] = []
    axis = 0
    for part in given:
        width = _axes_of(part)
        is_mask = isinstance(part, ARRAYS) and part.dtype == "bool"
        parts.extend(_nonzero(emit, part, sizes[axis : axis + width]) if is_mask else [part])
        axis += width
    return parts


def _nonzero(emit: Any, mask: Any, covered: Sizes) -> list[Held]:
    """For each axis of a mask, where it is True: counted first."""
    for a, b in zip(mask.sizes, covered, strict=True):
        emit.equal(a, b)
    mask = emit.held(mask)
    count = emit.variable(INTEGER)
    emit.line(f"{count} = 0")
    with emit.over(mask.sizes, ()) as at:
        emit.line(f"if {emit.element(mask, at).text}:")
        emit.code.append([f"{count} = {count} + 1"])
    found = [emit.new("i64", (count,)) for _ in mask.sizes]
    place = emit.variable(INTEGER)
    emit.line(f"{place} = 0")
    with emit.over(mask.sizes, None) as at:
        emit.line(f"if {emit.element(mask, at).text}:")
        emit.code.append([*(f"{a.name}[{place}] = {k}" for a, k in zip(found, at, strict=True)), f"{place} = {place} + 1"])
    return found


def _inside(emit: Any, part: Any, n: str) -> Any:
    """Integers counted from the front, after a test that all are inside."""
    if isinstance(part, Reg) and part.value is not None:
        k = part.value
        if not (n.isdigit() and -int(n) <= k < int(n)):
            emit.trap(f"{n} <= {k}" if k >= 0 else f"{n} < {-k}", SIZES)
        return str(k) if k >= 0 else str(int(n) + k) if n.isdigit() else f"({n} - {-k})"
    if isinstance(part, Reg):
        emit.trap(f"{part.text} < -{n} or {part.text} >= {n}", SIZES)
        return emit.integer(f"{part.text} + {n} if {part.text} < 0 else {part.text}").text
    emit.prepared(part, part.sizes)
    array = emit.new("i64", part.sizes)
    with emit.each(part.sizes) as at:
        k = emit.integer(emit.element(part, at).text).text
        emit.trap(f"{k} < -{n} or {k} >= {n}", SIZES)
        emit.write(array, at, Reg(f"({k} + {n} if {k} < 0 else {k})", INTEGER))
    return array


def _steps(emit: Any, cut: Cut, n: str) -> tuple[str, Callable[[str], str]]:
    """How many places a slice selects from n, and which is the k-th."""
    start, stop, step = (None if is_unit(p) else p for p in cut.items)
    if all(p is None or p.value is not None for p in (start, stop, step)):
        parts = tuple(None if p is None else p.value for p in (start, stop, step))
        if n.isdigit():
            found = range(int(n))[slice(*parts)]
            return str(len(found)), _line(str(found.start), found.step)
        if parts in ((None, None, None), (0, None, None), (None, None, 1), (0, None, 1)):
            return n, _line("0", 1)
        if parts == (None, None, -1):
            return n, _line(f"({n} - 1)", -1)
        if parts[2] in (None, 1) and (few := _few(parts[0] or 0, parts[1])) is not None:
            needed, (from_end, begin), (to_end, end) = few
            if needed:
                emit.at_least(n, needed)
            if from_end == to_end:
                size = str(max(0, begin - end if to_end else end - begin))
            else:
                size = less(n, begin + end)
            return size, _line(less(n, begin) if from_end else str(begin), 1)
    if start and stop and (step is None or step.value == 1) and emit.above.get(stop.text) == start.text:
        emit.trap(f"{start.text} < 0 or {stop.text} - {start.text} != 1", SIZES)  # which has the known size 1, and broadcasts
        return ONE, _line(_inside(emit, start, n), 1)
    by = 1 if step is None else step.text if step.value is None else step.value
    down = f"{by} < 0"
    if isinstance(by, int):
        first, last = ("0", n) if by > 0 else (f"{n} - 1", "-1")
    else:
        first, last = f"({n} - 1 if {down} else 0)", f"(-1 if {down} else {n})"
    emit.helpers.update(("_bound", "_steps"))
    begin = emit.integer(first if start is None else f"_bound({start.text}, {n}, {by})").text
    end = emit.integer(last if stop is None else f"_bound({stop.text}, {n}, {by})").text
    size = emit.integer(f"_steps({begin}, {end}, {by})").text
    emit.cut.add(size)
    return size, _line(begin, by)


def _few(start: int, stop: int | None) -> tuple[int, tuple[bool, int], tuple[bool, int]] | None:
    """
    How many elements there must be for a slice to begin and to end where it says, and both places: whether it is counted from the
    end, and how many. None if those are more than FEW and it selects not just one, or it begins nearer to the end than it ends.

    They are tested, so that what is selected has a known size, and broadcasts if that is 1; of fewer, the machine runs the sample.
    """
    begin, end = (start < 0, abs(start)), (stop is None or stop < 0, abs(stop or 0))
    if begin[0] and not end[0]:
        return None
    needed = max(begin[1], end[1]) if begin[0] == end[0] else begin[1] + end[1]
    single = begin[0] == end[0] and (begin[1] - end[1] if begin[0] else end[1] - begin[1]) == 1
    return (needed, begin, end) if needed <= FEW or single else None


def _line(start: str, by: Any) -> Callable[[str], str]:
    """The k-th place. A sum is in parentheses, since k of another slice, or whatever is computed from an index, may be one."""

    def place(k: str) -> str:
        step = k if by == 1 else "0" if k == "0" else f"{k} * {by}"
        return step if start == "0" else start if step == "0" else f"({start} + {step})"

    return place


SOURCES = {
    "_bound": """
def _bound(i, n, step):
    if i < 0:
        if i < -n:
            return -1 if step < 0 else 0
        return i + n
    if i >= n:
        return n - 1 if step < 0 else n
    return i
""",
    "_steps": """
def _steps(start, stop, step):
    if step > 0:
        return (stop - start - 1) // step + 1 if start < stop else 0
    return (start - stop - 1) // -max(step, -_MAX) + 1 if stop < start else 0
""",
}
