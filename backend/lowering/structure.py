"""
The structural primitives, computed on the structure of values while code is generated.

Building and taking apart tuples, choosing between closures and adding sensitivities of known structure costs nothing or a
few scalar operations; ZERO is never a number at run time, so strong zeros stay strong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from backend.lowering.conversion import select
from backend.lowering.records import CELLS as RECORDS
from backend.lowering.records import part, place_in, selected
from backend.lowering.shape import ZERO_VALUE, Emitter, Fn, Items, Nothing, Reg, literal, typed
from backend.status import INDEX, RAISED
from semantics.columns.types import apply_type
from semantics.errors import IllTyped
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT
from semantics.type_lattice import ZERO_TYPE, Literal, erase


def switch(emit: Emitter, condition: Any, consequent: Any, alternative: Any) -> Any:
    """A choice, decided now if the condition is known."""
    if condition.value is not None:
        return consequent if condition.value else alternative
    return select(condition.text, *emit.alike(consequent, alternative))


def where(emit: Emitter, condition: Any, x: Any, y: Any) -> Any:
    """One of two values that are both there already: a switch, of numbers of one type."""
    return switch(emit, condition, *_met(emit, x, y))


def _met(emit: Emitter, x: Any, y: Any) -> tuple[Any, Any]:
    """Two numbers or booleans in the type in which both meet; anything else as it is."""
    if not (isinstance(x, Reg) and isinstance(y, Reg)) or erase(x.type) == erase(y.type):
        return x, y
    wanted = REAL if REAL in (erase(x.type), erase(y.type)) else INTEGER
    return _as_number(x, wanted), _as_number(y, wanted)


def _as_number(x: Reg, wanted: Any) -> Reg:
    """A boolean or an integer as an integer or a real."""
    if erase(x.type) == wanted:
        return x
    whole = f"int({x.text})" if erase(x.type) == BOOLEAN else x.text  # Numba's float takes no boolean
    return Reg(whole if wanted == INTEGER else f"float({whole})", wanted)


def decided(primitive: Primitive, arguments: Sequence[Any]) -> Reg | None:
    """A result that is known: of known arguments what inference knows, and that a number of elements equals itself."""
    if not any(isinstance(a, Reg) and a.value is None for a in arguments):
        found = apply_type(primitive, [typed(a) for a in arguments])
        return literal(found.value) if isinstance(found, Literal) else None
    match arguments:
        case [Reg(a, kind, None), Reg(b, _, None)] if primitive is TABLE["eq"] and a == b and kind == INTEGER:
            return literal(True)
    return None


def make_tuple(emit: Emitter, *items: Any) -> Any:
    """The tuple itself: no code."""
    return Items(items)


def getitem(emit: Emitter, t: Any, i: Any) -> Any:
    """An element, or the part that a slice selects; of an index known only when it runs, a choice, after a test of the bounds."""
    if isinstance(t, Nothing):
        return ZERO_VALUE
    i = place_in(emit, t, i)
    if not isinstance(i, Reg):
        return None if i is None else part(t, i)
    size = len(t.items)
    if i.value is not None:
        if -size <= i.value < size:
            return t.items[i.value]
        emit.trap("True", INDEX)
        return None
    emit.trap(f"{i.text} < {-size} or {i.text} >= {size}", INDEX)
    found = None
    for k, item in enumerate(t.items):
        found = item if found is None else select(f"({i.text} == {k} or {i.text} == {k - size})", item, found)
    return found


def length(emit: Emitter, t: Any) -> Any:
    """Known now."""
    return literal(len(t.items))


def of_length(emit: Emitter, t: Any, n: Any) -> Any:
    """t itself; of another length it traps."""
    if n.value is None:
        emit.trap(f"{n.text} != {len(t.items)}", INDEX)
    elif n.value != len(t.items):
        emit.trap("True", INDEX)
        return None
    return t


def fail(emit: Emitter, message: Any) -> Any:
    """Always a trap. The message is not carried: the status says that something was raised."""
    emit.trap("True", RAISED)


def gadd(emit: Emitter, a: Any, b: Any) -> Any:
    """Element by element, without a label; a zero is neutral."""
    if isinstance(a, Nothing) or isinstance(b, Nothing):
        return b if isinstance(a, Nothing) else a
    if isinstance(a, Items):
        return Items(tuple(emit.primitive(TABLE["gadd"], [x, y]) for x, y in zip(a.items, b.items, strict=True)))
    return emit.primitive(TABLE["add"], [a, b])


def inject(emit: Emitter, t: Any, i: Any, d: Any) -> Any:
    """A tuple as long as t, of zeros but for one element, or for those of a slice."""
    if any(isinstance(x, Nothing) and x.type == ZERO_TYPE for x in (t, d)):
        return ZERO_VALUE
    size = len(t.items)
    i = place_in(emit, t, i)
    if i is None:
        return None
    if not isinstance(i, Reg):
        chosen = selected(i, size)
        return Items(tuple(d.items[chosen.index(k)] if k in chosen else ZERO_VALUE for k in range(size)))
    if i.value is not None and size:
        return Items(tuple(d if k == i.value % size else ZERO_VALUE for k in range(size)))
    return Items(tuple(select(f"({i.text} == {k} or {i.text} == {k - size})", d, ZERO_VALUE) for k in range(size)))


def instantiate(emit: Emitter, d: Any, x: Any) -> Any:
    """The sensitivity as a plain value of x's structure, with its labels."""
    parts = x.items if isinstance(x, Items) else x.captured if isinstance(x, Fn) and not isinstance(x.function, Primitive) else None
    if parts is not None:
        items = []
        given = Items(d.items) if isinstance(d, Items) else d
        for k, primal in enumerate(parts):
            inside = emit.primitive(TABLE["getitem"], [given, literal(k)])
            items.append(emit.primitive(TABLE["instantiate"], [inside, primal]))
        return Items(tuple(items), x.label if isinstance(x, Items) else None)
    if isinstance(x, Reg) and x.type == REAL:
        return Reg("0.0", REAL) if isinstance(d, Nothing) else d
    return Nothing(UNIT)


def identity(emit: Emitter, x: Any) -> Any:
    """J of data is the data."""
    return x


def to_boolean(emit: Emitter, x: Any) -> Any:
    """The truth of a tuple, a list or a dictionary is known now; other records have none."""
    if x.label is not None and x.label.kind not in ("list", "dict"):
        raise IllTyped(f"bool wants a number, a boolean or a tuple, found {typed(x)}", rule="bool")
    return literal(bool(x.items))


STRUCTURAL: dict[str, Callable[..., Any]] = {
    **RECORDS,
    "switch": switch,
    "where": where,
    "make_tuple": make_tuple,
    "getitem": getitem,
    "length": length,
    "of_length": of_length,
    "fail": fail,
    "gadd": gadd,
    "inject": inject,
    "instantiate": instantiate,
    "J": identity,
}
WHOLE = frozenset({"make_tuple", "make_record", "J"})


def with_zero(name: str, arguments: list[Any]) -> Any:
    """Arithmetic on the symbolic zero, where its result is known now; None where the zero is read as the real 0."""
    zero = [isinstance(a, Nothing) for a in arguments]
    match name:
        case "add":
            return arguments[1] if zero[0] else arguments[0]
        case "sub":
            return arguments[0] if zero[1] else None
        case "mul":
            return ZERO_VALUE
        case "div" if zero[0]:
            return ZERO_VALUE
        case "neg":
            return ZERO_VALUE
        case _:
            return None
