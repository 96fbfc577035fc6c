"""
The type of every primitive: from the types of its arguments to the type of its result (2018, section 3, "Strongly typed").

A rule sees no union: `distribute` applies it to every combination of members and joins the results. Arguments that make the
primitive trap give `never`, since a trap is the program's own doing, or raise Trap where arrays do not fit together; arguments
of a wrong kind are IllTyped.

Rows that put the sensitivity of a value together with that value, or with another sensitivity of it, see combinations of members
that no run has, where control flow chose between values: a sensitivity has the structure of its value. Those contribute nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from semantics.columns import array_types, memory_types, record_types, scalar_types
from semantics.columns.array_types import indexed, sensitivities
from semantics.columns.record_types import wrong
from semantics.columns.scalar_types import from_signature
from semantics.errors import IllTyped, Trap, takes
from semantics.memory_types import CellsType, MemoryType
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, MACROS, ROWS, TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, ArrayType, FunctionType, RecordType, SequenceType, TupleType
from semantics.type_lattice import NEVER, UNBOUND, ZERO_TYPE, Literal, cells_type, distribute, erase, held, join, members, parts


def apply_type(primitive: Primitive, arguments: Sequence[Any]) -> Any:
    """
    The type of `primitive` applied to arguments of these types.

    IllTyped if no run could give them to it; Trap if arrays among them have shapes with which every run traps.
    """
    cell = TYPES.find(primitive)
    if isinstance(cell, Hole):
        if primitive.name in TYPES.cells:
            raise IllTyped(f"{primitive.name} has no type: {cell.reason}", rule="type")
        cell = from_signature(primitive)
    if any(t == NEVER for t in arguments):
        return NEVER
    wanted = len(primitive.signature)
    if len(arguments) < wanted - 1 if primitive.parameters[-1:] == ("*",) else len(arguments) != wanted:
        raise IllTyped(takes(primitive.name, wanted, len(arguments)), rule="primitive")
    if cell in WHOLE:
        return cell(*arguments)
    return distribute(cell, arguments, (IllTyped, Trap) if primitive.name in CONJUGATE else (Trap,))


CONJUGATE = frozenset({"gadd", "inject", "instantiate", "sum_to", "like", "spread", "returned", "gathered"})


def _truth(a: Any) -> Any:
    if isinstance(a, Literal) and a.type == BOOLEAN:
        return a
    if isinstance(a, ArrayType):
        return indexed.truth(a)
    if isinstance(a, (TupleType, RecordType, SequenceType)) or erase(a) in (REAL, INTEGER, BOOLEAN):
        return BOOLEAN
    raise wrong("bool", "a number, a boolean or a tuple", a)


# structure


def _switch(condition: Any, consequent: Any, alternative: Any) -> Any:
    result: Any = NEVER
    for t in members(condition):
        if t == UNBOUND:
            continue
        if erase(t) != BOOLEAN:
            remedy = "np.all(x) or np.any(x)" if isinstance(t, ArrayType) else "write the comparison out: `if x != 0:`"
            raise wrong("switch", "a boolean", t, remedy)
        if not isinstance(t, Literal) or t.value:
            result = join(result, consequent)
        if not isinstance(t, Literal) or not t.value:
            result = join(result, alternative)
    return result


def _make_tuple(*items: Any) -> Any:
    return TupleType(items)


def _getitem(t: Any, i: Any) -> Any:
    if t == ZERO_TYPE:
        return ZERO_TYPE
    return indexed.getitem(t, i) if isinstance(t, ArrayType) else record_types.getitem(t, i)


def _put(t: Any, i: Any, v: Any) -> Any:
    if t == ZERO_TYPE and v == ZERO_TYPE:
        return ZERO_TYPE
    return indexed.put(t, i, v) if isinstance(t, ArrayType) else record_types.put(t, i, v)


def _length(t: Any) -> Any:
    if isinstance(t, ArrayType):
        return indexed.length(t)
    if isinstance(t, (RecordType, SequenceType)):
        return record_types.length(t)
    if not isinstance(t, TupleType):
        raise wrong("length", "a tuple", t)
    return Literal(INTEGER, len(t.items))


def _of_length(t: Any, n: Any) -> Any:
    if isinstance(t, ArrayType):
        return indexed.of_length(t, n)
    if isinstance(t, (RecordType, SequenceType)):
        return record_types.of_length(t, n)
    if not isinstance(t, TupleType):
        raise wrong("unpacking", "a tuple", t)
    return NEVER if isinstance(n, Literal) and n.value != len(t.items) else t


def _fail(message: Any) -> Any:
    return NEVER


def _gadd(a: Any, b: Any) -> Any:
    if ZERO_TYPE in (a, b):
        return b if a == ZERO_TYPE else a
    if isinstance(a, ArrayType) or isinstance(b, ArrayType):
        return sensitivities.gadd(a, b)
    a, b = (TupleType(t.items) if isinstance(t, RecordType) else t for t in (a, b))
    if isinstance(a, CellsType) and isinstance(b, CellsType):
        return memory_types.gadd(a, b, lambda *pair: distribute(_gadd, pair, (IllTyped, Trap)))
    if isinstance(a, SequenceType) or isinstance(b, SequenceType):
        return _gadd_sequences(a, b)
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        if len(a.items) != len(b.items):
            raise wrong("gadd", f"tuples of one length, {len(a.items)}", b)
        return TupleType(tuple(distribute(_gadd, pair, (IllTyped, Trap)) for pair in zip(a.items, b.items, strict=True)))
    if isinstance(a, TupleType) or isinstance(b, TupleType):
        raise wrong(
            "gadd", f"two sensitivities of one value, one of them {erase(a)}", b, "a backpropagator returned another structure"
        )
    return scalar_types.sum_of_numbers("gadd", a, b)


def _gadd_sequences(a: Any, b: Any) -> Any:
    """One of the two has an unknown length, so it has that of the other."""
    x, y = record_types.any_item(a), record_types.any_item(b)
    if x is None or y is None:
        raise wrong("gadd", f"two sensitivities of one value, one of them {erase(a)}", b)
    known = next((t for t in (a, b) if isinstance(t, TupleType)), None)
    if known is None:
        return SequenceType(None, distribute(_gadd, (x, y), (IllTyped, Trap)))
    other = y if known is a else x
    return TupleType(tuple(distribute(_gadd, (item, other), (IllTyped, Trap)) for item in known.items))


def _inject(t: Any, i: Any, d: Any) -> Any:
    if ZERO_TYPE in (t, d):
        return ZERO_TYPE
    return indexed.inject(t, i, d) if isinstance(t, ArrayType) else record_types.inject(t, i, d)


def _instantiate(d: Any, x: Any) -> Any:
    if isinstance(x, SequenceType):
        given = ZERO_TYPE if d == ZERO_TYPE else record_types.any_item(d)
        if given is None:
            raise wrong("instantiate", f"the sensitivity of {x}", d)
        return SequenceType(x.label, distribute(_instantiate, (given, x.item)))
    if isinstance(x, (MemoryType, CellsType)):
        return _instantiate_cells(d, x)
    found = x.captured if isinstance(x, FunctionType) else record_types.items_of(x)
    if found is not None and not (isinstance(x, FunctionType) and isinstance(x.function, Primitive)):
        given = TupleType(d.items) if isinstance(d, RecordType) else d
        items = tuple(
            distribute(_instantiate, (distribute(_getitem, (given, Literal(INTEGER, k))), part)) if part != UNBOUND else UNIT
            for k, part in enumerate(found)
        )
        return RecordType(x.label, items) if isinstance(x, RecordType) else TupleType(items)
    if isinstance(x, ArrayType):
        return sensitivities.instantiate(d, x)
    if isinstance(d, ArrayType):
        raise wrong("instantiate", "the sensitivity of a scalar, which was broadcast and not added up", d)
    if x == REAL:
        return REAL if d == ZERO_TYPE else d
    return UNIT


def _instantiate_cells(d: Any, x: MemoryType | CellsType) -> Any:
    """The sensitivity of every cell that the memory has."""
    if d != ZERO_TYPE and not isinstance(d, CellsType):
        raise wrong("instantiate", "the sensitivity of a memory", d)
    given = d if isinstance(d, CellsType) else CellsType(())
    items = [distribute(_instantiate, (held(given, k), part)) for k, part in enumerate(x.items)]
    if x.rest is None:
        return cells_type(items)
    rest = held(given, max(len(given.items), len(items)))
    for extra in given.items[len(items) :]:
        rest = join(rest, extra)
    return cells_type(items, distribute(_instantiate, (rest, x.rest)))


def _seed(out: Any) -> Any:
    if out != REAL and not sensitivities.is_seed(out):
        raise wrong(
            "grad", "a function whose result is a real", out, "make it one number, as np.sum does; or ask for vjp, jvp or jacobian"
        )
    return REAL


def _identity_on_data(x: Any) -> Any:
    todo = [x]
    while todo:
        top = todo.pop()
        if isinstance(top, FunctionType):
            raise wrong("J", "data, or a function known where it is differentiated", x, "name the function where grad is applied")
        todo.extend(parts(top))
    return x


WHOLE: frozenset[Callable[..., Any]] = frozenset({_switch, _make_tuple, _identity_on_data, record_types.make_record})

SCALAR: dict[str, Callable[..., Any] | Hole] = {
    **{p.name: from_signature(p) for p in ROWS},
    **{p.name: Hole("it works on functions; expand it with nested_grad first") for p in MACROS},
    **memory_types.CELLS,
    **memory_types.memory_rules(_getitem, _put, _inject),
    **scalar_types.CELLS,
    "to_boolean": _truth,
    "switch": _switch,
    "make_tuple": _make_tuple,
    "getitem": _getitem,
    "length": _length,
    "of_length": _of_length,
    "concat": record_types.concat,
    "append": record_types.append,
    **record_types.CELLS,
    **array_types.ARRAY_RULES,
    "put": _put,
    "fail": _fail,
    "gadd": _gadd,
    "inject": _inject,
    "instantiate": _instantiate,
    "seed": _seed,
    "J": _identity_on_data,
}


def _completed(name: str, cell: Callable[..., Any] | Hole) -> Callable[..., Any] | Hole:
    """Known numbers are computed with, and elementwise mathematics reads arrays too."""
    if isinstance(cell, Hole):
        return cell
    whole = scalar_types.folding(name, cell) if name in scalar_types.FOLDED else cell
    return array_types.elementwise(TABLE[name], whole) if name in ELEMENTWISE else whole


CELLS = {name: _completed(name, cell) for name, cell in SCALAR.items()}

TYPES = Column("type", CELLS)
