"""
Classes of records: NamedTuples and dataclasses, live or in the text of a module. `Class` says what a program needs to know of one.

A class of this kind is data with functions beside it: its methods are functions whose first argument is the record. What would
give construction, indexing or attributes another meaning is refused, and so is inheritance.
"""

from __future__ import annotations

import ast
import dataclasses
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from semantics.structured import LIST, Label, Record
from transforms.parse.names import Class, Found, Group, Literal, LiveNames, NameTable, Refused, found_value, known_function
from transforms.parse.special import OPERATORS
from transforms.parse.text_names import TextNames

READ_AS_METHODS = frozenset({"__call__", *(name for pair in OPERATORS.values() for name in pair)})
WITHOUT_EFFECT = frozenset(
    {
        *("__doc__", "__module__", "__qualname__", "__annotations__", "__repr__", "__str__", "__hash__", "__slots__", "__dict__"),
        *("__weakref__", "__match_args__", "__orig_bases__", "__static_attributes__", "__firstlineno__", "__getnewargs__"),
        *("__dataclass_fields__", "__dataclass_params__", "__getstate__", "__setstate__", "__reduce__", "__parameters__"),
        *("__replace__", "__slotnames__", "__final__", "_abc_impl"),  # the last three by copyreg, typing.final and abc
    }
)
OURS = frozenset({"semantics", "transforms", "backend", "checkers", "proofs", "adjudge"})
GENERATED = frozenset({"_fields", "_field_defaults", "_make", "_replace", "_asdict", "__new__"})
KINDS: tuple[tuple[type, str], ...] = (
    *((types.FunctionType, "method"), (property, "property"), (staticmethod, "staticmethod"), (classmethod, "classmethod")),
)


def is_record_class(value: Any) -> bool:
    """Whether a live object is a NamedTuple or a dataclass, and none of those that programs and their values are made of."""
    if not isinstance(value, type) or str(value.__module__).partition(".")[0] in OURS:
        return False
    return (issubclass(value, tuple) and "_fields" in vars(value)) or "__dataclass_fields__" in vars(value)


def label_of(cls: type) -> Label:
    """The label of a live NamedTuple or dataclass."""
    if issubclass(cls, tuple):
        return Label("namedtuple", cls.__name__, tuple(getattr(cls, "_fields", ())), cls)
    return Label("dataclass", cls.__name__, tuple(f.name for f in dataclasses.fields(cls)), cls)  # type: ignore[arg-type]


def live_instance(value: Any) -> Found | None:
    """A live tuple, list, dictionary or record as a Group of its parts; None for other objects."""
    if isinstance(value, tuple) and not is_record_class(type(value)):
        return Group(tuple(value))
    if type(value) is list:
        return Group(tuple(value), LIST)
    if type(value) is dict and all(type(key) is str for key in value):
        return Group(tuple(value.values()), Label("dict", "", tuple(value)))
    if is_record_class(type(value)):
        cls: Any = type(value)
        found = live_class(cls)
        if not isinstance(found, Class):
            return found
        return Group(tuple(getattr(value, name) for name in found.label.fields), found.label)
    return None


@lru_cache(maxsize=1024)
def live_class(cls: Any) -> Found | None:
    """A live NamedTuple or dataclass; Refused with the reason if it is more than that, None if it is neither."""
    if not is_record_class(cls):
        return None
    label = label_of(cls)
    if cls.__bases__ not in ((tuple,), (object,)):
        base = cls.__bases__[0].__name__
        return _refused(
            cls.__name__, f"inherits from {base}", "put the fields of both into one class, or one record into the other"
        )
    positional = len(label.fields)
    if label.kind == "dataclass":
        if (why := _odd_dataclass(cls)) is not None:
            return why
        found = dataclasses.fields(cls)
        defaults = {i: default for i, f in enumerate(found) if (default := _default(cls, f)) is not None}
        order = [f.name for f in found if not f.kw_only]
        if order != list(label.fields[: len(order)]):
            return _refused(cls.__name__, "has keyword-only fields before others", "give them last")
        positional = len(order)
    else:
        given = cls._field_defaults
        defaults = {label.fields.index(name): found_value(v) for name, v in given.items()}
    kinds: dict[str, str] = {}
    for name, value in vars(cls).items():
        if name in label.fields or name in GENERATED or _is_generated(name, value) or name in WITHOUT_EFFECT:
            continue
        if (why := refused_member(cls.__name__, name)) is not None:
            return why
        kinds[name] = next((kind for type_, kind in KINDS if type(value) is type_), "constant")

    def member(name: str) -> Found:
        raw = vars(cls)[name]
        raw = raw.fget if isinstance(raw, property) else getattr(raw, "__func__", raw) if kinds[name] != "constant" else raw
        return known_function(raw) if isinstance(raw, types.FunctionType) else found_value(raw)

    frozen = label.kind == "namedtuple" or cls.__dataclass_params__.frozen
    return Class(cls, label, defaults, kinds, member, positional, frozen)


def _refused(name: str, what: str, remedy: str) -> Refused:
    return Refused(f"the class {name} {what}, which is not in the language", remedy)


def refused_member(cls: str, name: str) -> Refused | None:
    """Why a member of a class would change what records are; None for one that does not."""
    if name in READ_AS_METHODS or not name.startswith("__"):
        return None
    if not name.endswith("__"):
        return _refused(cls, f"has the private name {name}", f"call it {name.lstrip('_')}")
    if name in ("__init__", "__post_init__", "__new__"):
        return _refused(cls, f"defines {name}", "build the record in a function of its own")
    return _refused(cls, f"defines {name}", f"call the method by another name: {name.strip('_')}_of")


def _is_generated(name: str, value: Any) -> bool:
    """Whether a member was written by `dataclass`, `NamedTuple` or `abc`, and says nothing; not by the author of the class."""
    if name == "__abstractmethods__":
        return not value
    code = getattr(value, "__code__", None)
    written = name.startswith("__") and code is not None and code.co_filename.startswith("<string")
    return written or isinstance(value, types.MemberDescriptorType)


def _odd_dataclass(cls: type) -> Refused | None:
    """What of a dataclass has no meaning here."""
    for found in dataclasses.fields(cls):
        if not found.init:
            return _refused(cls.__name__, f"has the field {found.name} with init=False", "compute it in a property")
    if not cls.__dataclass_params__.init:  # type: ignore[attr-defined]
        return _refused(cls.__name__, "has init=False", "let dataclass write __init__")
    return None


def _default(cls: type, found: Any) -> Found | None:
    if found.default is not dataclasses.MISSING:
        return found_value(found.default)
    if found.default_factory is dataclasses.MISSING:
        return None
    return Refused(f"the default of {found.name} is made by a function", f"pass {found.name}=… to {cls.__name__}")


def constant_value(found: Found) -> tuple[bool, Any]:
    """Whether what a name stands for is data without functions, and the data as a value of the language."""
    match found:
        case Literal(value):
            return True, value
        case Group(values, label):
            parts = [(True, v) if isinstance(v, str) else constant_value(found_value(v)) for v in values]
            items = tuple(value for _, value in parts)
            return all(known for known, _ in parts), items if label is None else Record(label, items)
    return False, None


def constant_structure(names: TextNames, expression: ast.expr) -> Group | None:
    """A tuple or list display, or the construction of a record, of constants; None for other expressions."""
    match expression:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            label = LIST if isinstance(expression, ast.List) else None
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if isinstance(cls := names.find(name), Class):
            label = cls.label
            if len(parts) != len(label.fields):
                return None
        case _:
            return None
    found = [names.constant(part) for part in parts]
    if not all(isinstance(f, (Literal, Group)) for f in found):
        return None
    return Group(tuple(f.value if isinstance(f, Literal) else f for f in found), label)


# classes in the text of a module


@lru_cache(maxsize=1024)
def class_of_text(names: TextNames, node: ast.ClassDef) -> Found:
    """The class that a text defines; Refused with the reason if it is neither a NamedTuple nor a dataclass, or more than that."""
    kind = _kind(names, node)
    if isinstance(kind, Refused):
        return kind
    fields: list[str] = []
    defaults: dict[int, Found] = {}
    kinds: dict[str, str] = {}
    held: dict[str, ast.stmt] = {}
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                continue
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value) if not _is_class_variable(annotation):
                if value is not None:
                    defaults[len(fields)] = names.constant(value)
                fields.append(name)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()) | ast.Assign(targets=[ast.Name(id=name)]):
                kinds[name], held[name] = "constant", statement
            case ast.FunctionDef(name=name, decorator_list=decorators):
                if (found := _method_kind(decorators)) is None:
                    return _refused(node.name, f"has a decorator on {name}", "property, staticmethod or classmethod, or none")
                kinds[name], held[name] = found, statement
            case _:
                return _refused(node.name, f"has a {type(statement).__name__} in its body", "fields, methods and constants alone")
    kinds = {name: found for name, found in kinds.items() if name not in WITHOUT_EFFECT}
    for name in (*fields, *kinds):
        if (why := refused_member(node.name, name)) is not None:
            return why

    def member(name: str) -> Found:
        match held[name]:
            case ast.FunctionDef() as function:
                return names.known(name, function)
            case ast.AnnAssign(value=ast.expr() as value) | ast.Assign(value=value):
                return names.constant(value)
        raise AssertionError(name)

    label = Label(kind, node.name, tuple(fields))
    frozen = kind == "namedtuple" or _is_frozen(node.decorator_list[0])
    return Class((names.source, node), label, defaults, kinds, member, len(fields), frozen, names.source.location(node))


def _kind(names: TextNames, node: ast.ClassDef) -> str | Refused:
    """ "namedtuple" or "dataclass"."""
    bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    decorators = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    shown = [ast.unparse(d).rpartition(".")[2] for d in decorators]
    if bases == ["NamedTuple"] and not shown and not node.keywords:
        return "namedtuple"
    if not bases and shown == ["dataclass"] and not node.keywords:
        options = node.decorator_list[0].keywords if isinstance(node.decorator_list[0], ast.Call) else []
        odd = [k.arg for k in options if k.arg not in ("frozen", "eq", "order", "slots", "repr", "unsafe_hash", "match_args")]
        if odd:
            return _refused(node.name, f"is a dataclass with {odd[0]}", "frozen, eq, order, slots and repr are read")
        return "dataclass"
    if bases and bases != ["NamedTuple"]:
        return _refused(
            node.name, f"inherits from {bases[0]}", "put the fields of both into one class, or one record into the other"
        )
    remedy = "derive it from NamedTuple, or decorate it with @dataclass(frozen=True)"
    return _refused(node.name, "is neither a NamedTuple nor a dataclass", remedy)


def _is_frozen(decorator: ast.expr) -> bool:
    options = decorator.keywords if isinstance(decorator, ast.Call) else []
    return any(k.arg == "frozen" and isinstance(k.value, ast.Constant) and bool(k.value.value) for k in options)


def _is_class_variable(annotation: ast.expr) -> bool:
    return ast.unparse(annotation).rpartition("[")[0].rpartition(".")[2] == "ClassVar" or ast.unparse(annotation) == "ClassVar"


def _method_kind(decorators: list[ast.expr]) -> str | None:
    match decorators:
        case []:
            return "method"
        case [ast.Name(id="property" | "staticmethod" | "classmethod" as kind)]:
            return kind
    return None


# the classes that a program can name


@lru_cache(maxsize=1024)
def classes_of(names: NameTable) -> tuple[Class, ...]:
    """The NamedTuples and dataclasses that a function can name: of a live one, those in its annotations too."""
    found: list[Found | None] = []
    match names:
        case LiveNames(function):
            cells = [c.cell_contents for c in function.__closure__ or () if _is_filled(c)]
            values = [*cells, *function.__globals__.values(), *function.__annotations__.values()]
            types_ = [v if isinstance(v, type) else type(v) for v in values]
            found = [live_class(t) for t in dict.fromkeys(t for t in types_ if is_record_class(t))]
        case TextNames(_, bound, extra):
            here = [name for name, statements in bound.items() if isinstance(statements[-1], ast.ClassDef)]
            found = [names.find(name) for name in here]
            found += [live_class(v) for v in extra.values() if is_record_class(v)]
    return tuple(f for f in found if isinstance(f, Class))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def members_of(cls: Class) -> Mapping[str, str]:
    """Everything that stands behind a dot of a record of the class, and what it is."""
    return {**dict.fromkeys(cls.label.fields, "field"), **cls.kinds}
