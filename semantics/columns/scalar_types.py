"""
The types of mathematics on numbers: the part of the column "type" that a row's signature states, and what it does not state.

    +, -, *, //, %     integers give integers, anything else a real; a zero is neutral for sums and absorbs products
    abs, min, max      one of the arguments, not converted
    NumPy's            maximum, minimum and where give one of the arguments in the type in which all meet
    known numbers      what they make is known too: sizes and indices are computed before running
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.columns.kinds import JOINS, NO_BITS
from semantics.columns.meaning import MEANING
from semantics.columns.record_types import wrong
from semantics.errors import IllTyped, Trap
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL, RecordType, SequenceType, TupleType
from semantics.type_lattice import NEVER, TEXT, ZERO_TYPE, Literal, erase, join

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
                wanted = "numbers" if kind in ("real", "number") else f"{kind} arguments"
                raise wrong(primitive.name, wanted, found, _remedy(found, kind))
            if kind == "tuple" and not isinstance(found, (TupleType, SequenceType)):
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


def _remedy(found: Any, kind: str = "number", name: str = "") -> str:
    """What makes a number of what is none, or a boolean of a number; of `+`, what joins sequences."""
    if kind == "boolean" and erase(found) in _ACCEPTS["number"]:
        return NO_BITS
    if erase(found) == BOOLEAN:
        return "convert it explicitly: int(b)"
    is_sequence = isinstance(found, (TupleType, RecordType, SequenceType))
    if is_sequence and name == "add":
        return JOINS
    return "np.array(t) makes an array of a tuple or a list of numbers" if is_sequence else ""


def _numbers(name: str, *arguments: Any) -> list[Any]:
    for t in arguments:
        if erase(t) not in _ACCEPTS["number"]:
            raise wrong(name, "numbers", t, _remedy(t, name=name))
    return [erase(t) for t in arguments]


def sum_of_numbers(name: str, a: Any, b: Any) -> Any:
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
    """abs, min and max: one of the arguments itself, not converted; a zero is the real 0."""
    result: Any = NEVER
    for t in _numbers(name, *arguments):
        result = join(result, REAL if t == ZERO_TYPE else t)
    return result


def _extreme(name: str, a: Any, b: Any) -> Any:
    """NumPy's maximum and minimum: the type in which both meet; a zero is the real 0."""
    a, b = (REAL if t == ZERO_TYPE else t for t in _numbers(name, a, b))
    return a if a == b else REAL


def _where(c: Any, a: Any, b: Any) -> Any:
    """The type in which both meet; a zero meets none."""
    if erase(c) != BOOLEAN:
        raise wrong("where", "a boolean", c, "compare first: np.where(x > 0, …)")
    _numbers("where", *(t for t in (a, b) if erase(t) != BOOLEAN))
    met = {erase(a), erase(b)}
    if len(met) > 1 and met <= {REAL, INTEGER, BOOLEAN}:
        return REAL if REAL in met else INTEGER
    return join(a, b)


def _equality(name: str, a: Any, b: Any) -> Any:
    if isinstance(a, Literal) and isinstance(b, Literal) and a.type == b.type == TEXT:
        return Literal(BOOLEAN, (a.value == b.value) is (name == "eq"))
    if erase(a) != BOOLEAN or erase(b) != BOOLEAN:
        _numbers(name, a, b)
    return BOOLEAN


def _whole_number(name: str, a: Any) -> Any:
    _numbers(name, a)
    return INTEGER


def _named(rule: Callable[..., Any], name: str) -> Callable[..., Any]:
    def cell(*arguments: Any) -> Any:
        return rule(name, *arguments)

    return cell


CELLS: dict[str, Callable[..., Any]] = {
    "add": _named(sum_of_numbers, "add"),
    "sub": _named(sum_of_numbers, "sub"),
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "neg": _neg,
    **{name: _named(_same_or_real, name) for name in ("abs", "min", "max")},
    **{name: _named(_extreme, name) for name in ("minimum", "maximum")},
    "where": _where,
    **{name: _named(_equality, name) for name in ("eq", "ne")},
    **{name: _named(_whole_number, name) for name in ("to_integer", "floor", "ceil")},
}

FOLDED = frozenset("add sub mul floordiv mod neg abs min max lt le gt ge eq ne not_ and_ or_ range_length".split())  # noqa: SIM905
LARGEST = 1 << 63


def folding(name: str, rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule, and where all arguments are known integers and booleans, what the primitive makes of them: sizes are computed."""

    def cell(*arguments: Any) -> Any:
        found = rule(*arguments)
        if all(isinstance(t, Literal) and t.type in (INTEGER, BOOLEAN) for t in arguments) and erase(found) in (INTEGER, BOOLEAN):
            try:
                value = MEANING[TABLE[name]](*(t.value for t in arguments))
            except Trap:
                return NEVER
            return Literal(erase(found), value) if abs(value) < LARGEST else found
        return found

    return cell
