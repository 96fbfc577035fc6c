"""
The type of every primitive: from the types of its arguments to the type of its result (2018, section 3, "Strongly typed").

A rule sees no union: `distribute` applies it to every combination of members and joins the results. Arguments that make the
primitive trap give `never`, since a trap is the program's own doing; arguments of a wrong kind are IllTyped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from semantics.errors import IllTyped
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import MACROS, ROWS
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, FunctionType, TupleType
from semantics.type_lattice import NEVER, UNBOUND, ZERO_TYPE, Literal, Union, distribute, erase, join, members


def apply_type(primitive: Primitive, arguments: Sequence[Any]) -> Any:
    """The type of `primitive` applied to arguments of these types. IllTyped if no run could give them to it."""
    cell = TYPES.find(primitive)
    if isinstance(cell, Hole):
        if primitive.name in TYPES.cells:
            raise IllTyped(f"{primitive.name} has no type: {cell.reason}", rule="type")
        cell = from_signature(primitive)
    if any(t == NEVER for t in arguments):
        return NEVER
    if primitive.parameters != ("*",) and len(arguments) != len(primitive.signature):
        wanted = len(primitive.signature)
        raise IllTyped(f"{primitive.name} takes {wanted} argument{'s' * (wanted != 1)}, {len(arguments)} given", rule="primitive")
    return cell(*arguments) if cell in WHOLE else distribute(cell, arguments)


def wrong(name: str, wanted: str, found: Any, remedy: str = "") -> IllTyped:
    """The error for an argument of the wrong type."""
    return IllTyped(f"{name} wants {wanted}, found {erase(found)}", rule=name, remedy=remedy)


# signatures

_ACCEPTS = {
    "real": (REAL, INTEGER, ZERO_TYPE),
    "number": (REAL, INTEGER, ZERO_TYPE),
    "integer": (INTEGER,),
    "boolean": (BOOLEAN,),
}
_RESULTS = {"real": REAL, "integer": INTEGER, "boolean": BOOLEAN}


def from_signature(primitive: Primitive) -> Callable[..., Any]:
    """The rule that the kinds of a row's signature state; a zero is read as the real 0."""

    def cell(*arguments: Any) -> Any:
        for kind, found in zip(primitive.signature, arguments, strict=False):
            if kind in _ACCEPTS and erase(found) not in _ACCEPTS[kind]:
                remedy = "convert it explicitly: int(b)" if erase(found) == BOOLEAN else ""
                raise wrong(primitive.name, "numbers" if kind in ("real", "number") else f"{kind} arguments", found, remedy)
            if kind == "tuple" and not isinstance(found, TupleType):
                raise wrong(primitive.name, "a tuple", found)
        if primitive.result in _RESULTS:
            return _RESULTS[primitive.result]
        if primitive.result != "number":
            raise IllTyped(
                f"the type of {primitive.name} cannot be told from its signature",
                rule="type",
                remedy='give the primitive a "type" column: a function from argument types to the result type',
            )
        numbers = [erase(t) for kind, t in zip(primitive.signature, arguments, strict=False) if kind == "number"]
        return INTEGER if all(t == INTEGER for t in numbers) else REAL

    return cell


def _numbers(name: str, *arguments: Any) -> list[Any]:
    for t in arguments:
        if erase(t) not in _ACCEPTS["number"]:
            remedy = "convert it explicitly: int(b)" if erase(t) == BOOLEAN else ""
            raise wrong(name, "numbers", t, remedy)
    return [erase(t) for t in arguments]


def _sum(name: str, a: Any, b: Any) -> Any:
    """Addition and subtraction: a zero is neutral."""
    a, b = _numbers(name, a, b)
    if ZERO_TYPE in (a, b):
        return b if a == ZERO_TYPE else a
    return a if a == b else REAL


def _mul(a: Any, b: Any) -> Any:
    a, b = _numbers("mul", a, b)
    if ZERO_TYPE in (a, b):
        return ZERO_TYPE
    return a if a == b else REAL


def _div(a: Any, b: Any) -> Any:
    return ZERO_TYPE if _numbers("div", a, b)[0] == ZERO_TYPE else REAL


def _pow(a: Any, b: Any) -> Any:
    """An integer to a natural power is an integer, to a negative one a real; an unknown integer exponent leaves both open."""
    exponent = b
    a, b = _numbers("pow", a, b)
    if (a, b) != (INTEGER, INTEGER):
        return REAL
    if isinstance(exponent, Literal):
        return INTEGER if exponent.value >= 0 else REAL
    return join(INTEGER, REAL)


def _neg(a: Any) -> Any:
    if isinstance(a, Literal) and a.type == INTEGER:
        return Literal(INTEGER, -a.value)
    return _numbers("neg", a)[0]


def _same_or_real(name: str, *arguments: Any) -> Any:
    """abs, min, max: one of the arguments itself, not converted; a zero is the real 0."""
    result: Any = NEVER
    for t in _numbers(name, *arguments):
        result = join(result, REAL if t == ZERO_TYPE else t)
    return result


def _equality(name: str, a: Any, b: Any) -> Any:
    if erase(a) != BOOLEAN or erase(b) != BOOLEAN:
        _numbers(name, a, b)
    return BOOLEAN


def _truth(a: Any) -> Any:
    if isinstance(a, TupleType) or erase(a) in (REAL, INTEGER, BOOLEAN):
        return BOOLEAN
    raise wrong("bool", "a number, a boolean or a tuple", a)


def _whole_number(name: str, a: Any) -> Any:
    _numbers(name, a)
    return INTEGER


# structure


def _switch(condition: Any, consequent: Any, alternative: Any) -> Any:
    result: Any = NEVER
    for t in members(condition):
        if t == UNBOUND:
            continue
        if erase(t) != BOOLEAN:
            raise wrong("switch", "a boolean", t, "write the comparison out: `if x != 0:`")
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
    if not isinstance(t, TupleType):
        raise wrong("getitem", "a tuple", t)
    if erase(i) != INTEGER:
        raise wrong("getitem", "an integer index", i)
    if isinstance(i, Literal):
        return t.items[i.value] if -len(t.items) <= i.value < len(t.items) else NEVER
    result: Any = NEVER
    for item in t.items:
        result = join(result, item)
    return result


def _length(t: Any) -> Any:
    if not isinstance(t, TupleType):
        raise wrong("length", "a tuple", t)
    return Literal(INTEGER, len(t.items))


def _of_length(t: Any, n: Any) -> Any:
    if not isinstance(t, TupleType):
        raise wrong("unpacking", "a tuple", t)
    return NEVER if isinstance(n, Literal) and n.value != len(t.items) else t


def _gadd(a: Any, b: Any) -> Any:
    if ZERO_TYPE in (a, b):
        return b if a == ZERO_TYPE else a
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        if len(a.items) != len(b.items):
            raise wrong("gadd", f"tuples of one length, {len(a.items)}", b)
        return TupleType(tuple(distribute(_gadd, pair) for pair in zip(a.items, b.items, strict=True)))
    if isinstance(a, TupleType) or isinstance(b, TupleType):
        raise wrong(
            "gadd", f"two sensitivities of one value, one of them {erase(a)}", b, "a backpropagator returned another structure"
        )
    return _sum("gadd", a, b)


def _inject(t: Any, i: Any, d: Any) -> Any:
    if ZERO_TYPE in (t, d):
        return ZERO_TYPE
    if not isinstance(t, TupleType):
        raise wrong("inject", "a tuple", t)
    if erase(i) != INTEGER:
        raise wrong("inject", "an integer index", i)
    size = len(t.items)
    if isinstance(i, Literal) and size:
        return TupleType(tuple(d if k == i.value % size else ZERO_TYPE for k in range(size)))
    return TupleType((join(d, ZERO_TYPE),) * size)


def _instantiate(d: Any, x: Any) -> Any:
    parts = x.items if isinstance(x, TupleType) else x.captured if isinstance(x, FunctionType) else None
    if parts is not None and not (isinstance(x, FunctionType) and isinstance(x.function, Primitive)):
        return TupleType(
            tuple(
                distribute(_instantiate, (distribute(_getitem, (d, Literal(INTEGER, k))), part)) if part != UNBOUND else UNIT
                for k, part in enumerate(parts)
            )
        )
    if x == REAL:
        return REAL if d == ZERO_TYPE else d
    return UNIT


def _seed(out: Any) -> Any:
    if out != REAL:
        raise wrong("grad", "a function whose result is a real", out, "differentiate a real output; use vjp for any other")
    return REAL


def _identity_on_data(x: Any) -> Any:
    todo = [x]
    while todo:
        match todo.pop():
            case TupleType(items) | Union(items):
                todo.extend(items)
            case FunctionType():
                raise wrong(
                    "J", "data, or a function known where it is differentiated", x, "name the function where grad is applied"
                )
    return x


def _named(rule: Callable[..., Any], name: str) -> Callable[..., Any]:
    def cell(*arguments: Any) -> Any:
        return rule(name, *arguments)

    return cell


WHOLE: frozenset[Callable[..., Any]] = frozenset({_switch, _make_tuple, _identity_on_data})

CELLS: dict[str, Callable[..., Any] | Hole] = {
    **{p.name: from_signature(p) for p in ROWS},
    **{p.name: Hole("it works on functions; expand it with nested_grad first") for p in MACROS},
    "add": _named(_sum, "add"),
    "sub": _named(_sum, "sub"),
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "neg": _neg,
    **{name: _named(_same_or_real, name) for name in ("abs", "min", "max")},
    **{name: _named(_equality, name) for name in ("eq", "ne")},
    "to_boolean": _truth,
    **{name: _named(_whole_number, name) for name in ("to_integer", "floor", "ceil")},
    "switch": _switch,
    "make_tuple": _make_tuple,
    "getitem": _getitem,
    "length": _length,
    "of_length": _of_length,
    "gadd": _gadd,
    "inject": _inject,
    "instantiate": _instantiate,
    "seed": _seed,
    "J": _identity_on_data,
}

TYPES = Column("type", CELLS)
