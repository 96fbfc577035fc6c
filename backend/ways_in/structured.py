"""
The way into compiled code for arguments and results that have parts: tuples, lists, dictionaries, records.

    structured(types, result, way, otherwise) -> function        is_structured(types, result)

Compiled code takes and gives the parts themselves, and `way(otherwise)` is the way in for those (`backend.ways_in.entrance`).
Around it goes a function of Python's, written for the types: it looks whether each argument has the structure that its type says,
takes it apart, and puts the results together; of a result that may be of several types, such as an integer or a real, the code says
which it is. What is not of the structure, and whatever the way does not take, goes to
`otherwise`, as it came. The long way makes each array one of the language, and back, which takes a tenth of a millisecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import count
from typing import Any

from backend.boundary import PYTHON
from semantics.structured import Label
from semantics.type_language import UNIT, ArrayType, RecordType, TupleType
from semantics.type_lattice import Union, labels

Function = Callable[..., Any]
PARTS = 256
"""Of an argument or a result; with more, looking at each costs as much as the long way."""
DEEP = 20
"""How deep types may be nested: expressions of Python's may be, too, but not much deeper."""


class Elsewhere(Exception):
    """Caught here: the parts do not go in."""


def is_structured(types: Sequence[Any], result: Any) -> bool:
    """Whether all arguments can be taken apart, and the result be put together."""
    return all(_parts(type) <= PARTS for type in (*types, result))


def _parts(type: Any, deep: int = 0) -> int:
    """How many parts there are; more than PARTS where some cannot be made, or be found."""
    match type:
        case _ if type in PYTHON or isinstance(type, ArrayType) or type == UNIT:
            return 1
        case RecordType(Label(python=None) as label, _) if label.kind not in ("list", "dict"):
            return PARTS + 1
        case TupleType(items) | RecordType(_, items) | Union(items) if deep < DEEP:
            return 1 + sum(_parts(item, deep + 1) for item in items)
        case _:
            return PARTS + 1


def structured(
    types: Sequence[Any], result: Any, way: Callable[[Function], Function | None], otherwise: Function
) -> Function | None:
    """The function of the arguments; None where there is no way for their parts."""
    if (flat := way(_elsewhere)) is None:
        return None
    of = tuple(label.python for type in (*types, result) for label in labels(type))  # equal types may differ in them
    classes, make = _written(tuple(types), result, of)
    built: Function = make(classes, flat, otherwise, Elsewhere)
    return built


def _elsewhere(*_: Any) -> Any:
    raise Elsewhere


@cache
def _written(types: tuple[Any, ...], result: Any, classes: tuple[Any, ...]) -> tuple[tuple[Any, ...], Function]:
    """The classes, and the text, loaded, which takes a part of a millisecond."""
    names: dict[Any, str] = {}
    for of in classes:
        if of is not None:
            names.setdefault(of, f"C{len(names)}")
    bound: dict[str, Any] = {}
    exec(_text(types, result, names), bound)
    return tuple(names), bound["make"]


def _text(types: Sequence[Any], result: Any, classes: dict[Any, str]) -> str:
    fresh = (f"x{k}" for k in count())
    given = [next(fresh) for _ in types]
    leaves: list[str] = []
    taken = [line for name, type in zip(given, types, strict=True) for line in _apart(name, type, fresh, classes, leaves)]
    arguments = ", ".join(given)
    numbers = count()
    whole = _together(result, numbers, classes)
    single = next(numbers) == 1
    return "\n".join(
        [
            "def make(classes, flat, otherwise, Elsewhere):",
            *([f"    ({', '.join(classes.values())},) = classes"] if classes else []),
            f"    def call({arguments}):",
            *(f"        {line}".replace("OTHERWISE", f"return otherwise({arguments})") for line in taken),
            "        try:",
            f"            v = flat({', '.join(leaves)})",
            "        except Elsewhere:",
            f"            return otherwise({arguments})",
            f"        return {whole.replace('v[0]', 'v') if single else whole}",
            "    return call",
        ]
    )


def _apart(name: str, type: Any, fresh: Iterator[str], classes: dict[Any, str], leaves: list[str]) -> Iterator[str]:
    """What looks at an argument and gives its parts names; those that the code takes are added to `leaves`."""
    if type == UNIT:
        yield f"if {name} is not None: OTHERWISE"
        return
    if not isinstance(type, (TupleType, RecordType)):
        leaves.append(name)
        return
    parts = [next(fresh) for _ in type.items]
    yield f"if {_differs(name, type, classes)}: OTHERWISE"
    yield from _named(name, type, parts)
    for part, item in zip(parts, type.items, strict=True):
        yield from _apart(part, item, fresh, classes, leaves)


def _differs(name: str, type: Any, classes: dict[Any, str]) -> str:
    """Whether a value has not the structure, as an expression."""
    match type:
        case TupleType(items):
            return f"type({name}) is not tuple or len({name}) != {len(items)}"
        case RecordType(Label("list"), items):
            return f"type({name}) is not list or len({name}) != {len(items)}"
        case RecordType(Label("dict", "", keys), _):
            return f"type({name}) is not dict or (*{name},) != {keys!r}"
        case _:
            return f"type({name}) is not {classes[type.label.python]}"


def _named(name: str, type: Any, parts: Sequence[str]) -> Iterator[str]:
    """The parts of a value that has the structure, each under its name."""
    if isinstance(type, RecordType) and type.label.kind not in ("list", "dict"):
        yield from (f"{part} = {name}.{field}" for part, field in zip(parts, type.label.fields, strict=True))
    elif parts:
        values = f"{name}.values()" if isinstance(type, RecordType) and type.label.kind == "dict" else name
        yield f"({', '.join(parts)},) = {values}"


def _together(type: Any, numbers: Iterator[int], classes: dict[Any, str]) -> str:
    """A value of the type, as an expression of what the code gives, `v[0]` and so on."""
    if type == UNIT:
        return "None"
    if isinstance(type, Union):
        which = f"v[{next(numbers)}]"
        *options, last = (_together(member, numbers, classes) for member in type.members)
        return f"({''.join(f'{option} if {which} == {k} else ' for k, option in enumerate(options))}{last})"
    if not isinstance(type, (TupleType, RecordType)):
        return f"v[{next(numbers)}]"
    items = [_together(item, numbers, classes) for item in type.items]
    if isinstance(type, TupleType):
        return f"({''.join(item + ', ' for item in items)})"
    match type.label.kind:
        case "list":
            return f"[{', '.join(items)}]"
        case "dict":
            return "{" + ", ".join(f"{key!r}: {item}" for key, item in zip(type.label.fields, items, strict=True)) + "}"
        case _:
            named = (f"{field}={item}" for field, item in zip(type.label.fields, items, strict=True))
            return f"{classes[type.label.python]}({', '.join(named)})"
