"""
Sensitivities of arrays that are ZERO but where an index points, and their sums with others.

    gadd(a, inject(t, i, d))        b = a.copy(); b[i] = b[i] + d

Only the elements that the index selects are gone over. That the copy is none where nothing reads `a` again, `in_place` sees; so the
adjoint of a loop that reads x[i] in turn i costs the same in every turn. Where d may be ZERO, so may be the value: which of the two
it is stays a choice, so that it costs nothing before it is added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from backend.arrays import elementwise
from backend.arrays.attributes import as_operand
from backend.arrays.elementwise import as_element
from backend.arrays.indices import Selection, selection
from backend.arrays.neutral import NEUTRAL
from backend.arrays.values import ARRAYS, ONE, Held, Injected
from backend.lowering.shape import ZERO_VALUE, Items, Reg, Sum, typed
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER
from semantics.type_lattice import ZERO_TYPE


def each_selected(emit: Any, array: Held, chosen: Selection, v: Any, do: Callable[..., None]) -> None:
    """Does something to every element that is selected, and the element of v for it, in order."""
    if isinstance(v, ARRAYS):
        v = emit.held(v) if v.type.holes else v
        emit.prepared(v, chosen.sizes)
    with emit.over(chosen.sizes, range(len(chosen.sizes)) if chosen.distinct and chosen.sizes else None) as at:
        do(array, chosen.source(emit, at), as_element(emit, emit.at(v, at), array.dtype))


def written(emit: Any, d: Injected) -> Held:
    """The array in memory."""
    array: Held = emit.new(d.of, d.sizes, NEUTRAL, "False")
    with emit.under(f"if {d.test}:" if d.test else ""):
        for chosen, source in d.parts:
            each_selected(emit, array, chosen, source, emit.write)
    return array


def gadd(emit: Any, a: Any, b: Any) -> Any:
    """The sum of sensitivities: of all elements, unless one is injected; of two that have no element in common, both."""
    if isinstance(a, Injected) and isinstance(b, Injected) and a.test == b.test and _is_alike(a, b) and _apart(emit, a, b):
        for m, n in zip(a.sizes, b.sizes, strict=True):
            emit.equal(m, n)
        return replace(a, parts=(*a.parts, *b.parts))
    for whole, d in ((a, b), (b, a)):
        if isinstance(d, Injected) and isinstance(whole, ARRAYS) and _is_alike(whole, d):
            return added(emit, as_operand(emit, whole), d, first=d is a)
    return elementwise.gadd(emit, a, b)


def _is_alike(a: Any, d: Injected) -> bool:
    """Whether no axis of one is repeated to give the sum."""
    return len(a.sizes) == len(d.sizes) and all((m == ONE) == (n == ONE) for m, n in zip(a.sizes, d.sizes, strict=True))


def _apart(emit: Any, a: Injected, b: Injected) -> bool:
    """Whether each part of one has another number as an index than each part of the other."""

    def numbers(chosen: Selection) -> tuple[str, ...]:
        return chosen.source(emit, ("",) * len(chosen.sizes))

    pairs = [(numbers(one), numbers(other)) for one, _ in a.parts for other, _ in b.parts]
    return all(any(m != n and m.isdigit() and n.isdigit() for m, n in zip(*pair, strict=True)) for pair in pairs)


def added(emit: Any, a: Any, d: Injected, *, first: bool) -> Held:
    """a + d in an array of its own; d + a, if that is `first`."""
    for m, n in zip(a.sizes, d.sizes, strict=True):
        emit.equal(m, n)

    def add(array: Held, indices: Any, found: Any, write: Callable[..., None]) -> None:
        there = emit.element(array, indices)
        total = emit.primitive(TABLE["gadd"], [found, there] if first else [there, found])
        write(array, indices, as_element(emit, total, array.dtype))

    array: Held = emit.fresh(a)
    for chosen, source in d.parts:
        each_selected(emit, array, chosen, source, partial(add, write=emit.write if chosen.sizes else emit.write_sum))
    return array


def perhaps(emit: Any, t: Any, index: Any, d: Any) -> Sum | None:
    """
    The sensitivity of an array, or of what may be ZERO, into which a number or an array is injected that may be ZERO: an array that
    has nothing but that, not made as long as it is only added, or ZERO where one of these is. None where there is more to choose.
    """
    of, part = _sole(t, lambda o: isinstance(o, ARRAYS)), _sole(d, lambda o: isinstance(o, (Reg, *ARRAYS)))
    if of is None or part is None:
        return None
    (whether, array), (test, option) = of, part
    both = " and ".join(filter(None, (whether, test)))
    type = emit.result_type(TABLE["inject"], [typed(t), typed(index), typed(d)])
    members = getattr(type, "members", ())
    if not both or len(members) != 2 or ZERO_TYPE not in members:
        return None
    if isinstance(option, ARRAYS):
        found = None if whether else _part(emit, array, test, index, option)
    elif whether:
        found = _where(emit, array, whether, index, option)
    else:
        found = emit.primitive(TABLE["inject"], [array, index, option])
    if found is None:
        return None
    parts = {True: (f"not ({both})", ZERO_VALUE), False: (both, found)}
    chosen = [parts[m == ZERO_TYPE] for m in members]
    return Sum(type, tuple(t for t, _ in chosen), tuple(o for _, o in chosen))


def _part(emit: Any, array: Any, test: str, index: Any, d: Any) -> Injected | None:
    """What is injected where the test holds, and is an array only then; the index is asked for anyway, as when it was read."""
    chosen = selection(emit, array.sizes, index)
    if not chosen.distinct or len(d.sizes) != len(chosen.sizes):
        return None
    with emit.under(f"if {test}:"):
        for a, b in zip(d.sizes, chosen.sizes, strict=True):
            emit.equal(b, a)
    return Injected(array.dtype, array.sizes, ((chosen, d),), test)


def _sole(value: Any, fits: Callable[[Any], bool]) -> tuple[str, Any] | None:
    """The test for the one option of a value that is not ZERO, "" where there is no other, and that, if it fits."""
    live = [("", value)]
    if isinstance(value, Sum):
        tested = [(t, o) for t, o in zip(value.tests, value.options, strict=True) if t != "False" and o != ZERO_VALUE]
        live = [("" if t == "True" else t, o) for t, o in tested]
    return live[0] if len(live) == 1 and fits(live[0][1]) else None


def _where(emit: Any, array: Any, test: str, index: Any, d: Reg) -> Injected | None:
    """What is injected into one element of an array that is there if the test holds; its index is asked for only then."""
    parts = index.items if isinstance(index, Items) and index.label is None else (index,)
    if array.dtype == "f32" or len(parts) != len(array.sizes) or not all(isinstance(p, Reg) and p.type == INTEGER for p in parts):
        return None
    at = tuple(emit.variable(INTEGER) for _ in parts)
    for name in at:
        emit.line(f"{name} = 0")
    with emit.under(f"if {test}:"):
        for name, found in zip(at, selection(emit, array.sizes, index).source(emit, ()), strict=True):
            emit.line(f"{name} = {found}")
    return Injected(array.dtype, array.sizes, ((Selection((), lambda emit, own: at, True, True), d),))
