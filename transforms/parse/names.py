"""
What a global name stands for. Two resolvers with one interface: `LiveNames` looks into a live function's globals and cells,
`TextNames` (see `text_names`) into the text of a module, of which it runs nothing.

    Literal      a number, a boolean or None
    Row          a primitive of the table, or a user's
    Operation    a function of `math` or a builtin that expands to primitives (see `library`)
    Known        a function with source, parsed when it is first used
    Expression   a module-level assignment, read as its right-hand side at each use
    Group        a live tuple, list, dictionary with names as keys, NamedTuple or dataclass
    Class        a NamedTuple or a dataclass (see `classes`)
    Derived      a live derivative: grad(f, wrt) and its kind, made outside the program
    Module       a module, whose attributes are looked up in turn
    Refused      a name that cannot be followed: what it is, and what to do instead
"""

from __future__ import annotations

import ast
import builtins
import difflib
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from semantics.arrays import Array
from semantics.errors import Location
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.structured import Label
from semantics.tangents import ZERO
from transforms.parse.source import Function, Source, find_function

MACRO_NAMES = frozenset(p.name for p in MACROS)


@dataclass(frozen=True, slots=True)
class Literal:
    value: Any


@dataclass(frozen=True, slots=True)
class Row:
    primitive: Primitive


@dataclass(frozen=True, slots=True, eq=False)
class Operation:
    """
    A library function that is not one primitive. `build(cursor, arguments, at)` emits it and answers with a node.

    value   the primitive that stands for it where it is passed as a value, if one does
    """

    name: str
    least: int
    most: int | None
    build: Callable[..., Any]
    value: Primitive | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A function with source. `key` tells it from others; `defaults` are by position of the parameter."""

    key: Any
    name: str
    open: Callable[[], tuple[Source, Function]]
    names: NameTable
    defaults: Mapping[int, Found]


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    source: Source
    expression: ast.expr
    names: NameTable


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    values: tuple[Any, ...]
    label: Label | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """
    A NamedTuple or a dataclass. `key` tells it from others; `defaults` are by position of the field.

    kinds       what its other members are: "method", "property", "staticmethod", "classmethod" or "constant"
    member      what the member of a name stands for
    positional  how many fields may be given by position; frozen says that they cannot be assigned
    """

    key: Any
    label: Label
    defaults: Mapping[int, Found]
    kinds: Mapping[str, str]
    member: Callable[[str], Found]
    positional: int
    frozen: bool = True
    location: Location | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    macro: str
    function: Found
    wrt: Any


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    name: str
    member: Callable[[str], Found | None]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    what: str
    remedy: str


Found = Literal | Row | Operation | Known | Expression | Group | Class | Derived | Module | Refused


class NameTable(Protocol):
    """Resolves global names. `find` answers None for a name that nothing defines; `all` lists the names it could find."""

    def find(self, name: str) -> Found | None: ...

    def all(self) -> list[str]: ...

    def __hash__(self) -> int: ...


def suggestion(name: str, known: list[str], otherwise: str = "") -> str:
    """What to try for an unknown name: the nearest known ones; where none is near, `otherwise`, or to define it."""
    close = difflib.get_close_matches(name, sorted(set(known)), 3, 0.6)
    return f"did you mean {' or '.join(close)}?" if close else otherwise or f"define {name}, or pass it as an argument"


def found_builtin(name: str) -> Found | None:
    """A builtin function by its name, refused if the language has no meaning for it."""
    from transforms.parse.library import BUILTINS, REFUSED_BUILTINS

    if name in BUILTINS:
        return BUILTINS[name]
    if hasattr(builtins, name):
        return Refused(
            f"the builtin {name} is not in the language", REFUSED_BUILTINS.get(name, "write it with arithmetic and loops")
        )
    return None


def found_value(value: Any) -> Found:
    """What a live object stands for. No attribute of it is called."""
    from transforms.higher_order import logsumexp
    from transforms.parse.classes import live_class, live_instance
    from transforms.parse.library import ADJUDGE, BY_IDENTITY, MATH
    from transforms.parse.numpy_names import LINALG, LOGSUMEXP, NUMPY, SCIPY_LOGSUMEXP, by_identity, of_numpy

    if isinstance(value, bool) or value is None or value is ZERO:
        return Literal(value)
    if isinstance(value, Array):
        return Literal(value)
    if type(value).__module__ == "numpy" and (array := of_numpy(value)) is not None:
        return Literal(array)
    if isinstance(value, (int, float)):
        return Literal(int(value) if isinstance(value, int) else float(value))
    if isinstance(value, Primitive):
        return Row(value)
    if isinstance(value, Group):
        return value
    if (record := live_instance(value)) is not None:
        return record
    if isinstance(value, type) and (found := live_class(value)) is not None:
        return found
    if isinstance(value, types.ModuleType):
        if value.__name__ == "math":
            return MATH
        if value.__name__ in ("numpy", "numpy.linalg"):
            return NUMPY if value.__name__ == "numpy" else LINALG
        if value.__name__ == "adjudge":
            return Module("adjudge", lambda name: ADJUDGE.member(name) or _member(value, name), tuple(vars(value)))
        return Module(value.__name__, lambda name: _member(value, name), tuple(vars(value)))
    if (operation := BY_IDENTITY.get(id(value)) or by_identity().get(id(value))) is not None:
        return operation
    row = _attribute(value, "row")
    if isinstance(row, Primitive):
        return Row(row)
    if isinstance(value, types.FunctionType):
        if value is logsumexp:
            return LOGSUMEXP
        if value.__name__ == "logsumexp" and str(value.__module__).startswith("scipy."):
            return SCIPY_LOGSUMEXP
        if str(value.__module__).split(".")[0] == "adjudge" and value.__name__ in MACRO_NAMES:
            return Row(TABLE[value.__name__])
        return outside(value) or known_function(value)
    macro = _attribute(value, "macro")
    if isinstance(macro, str) and macro in ("grad", "value_and_grad", "jacobian", "hessian", "hvp"):
        return Derived(macro, found_value(_attribute(value, "f")), None if macro == "hvp" else _attribute(value, "wrt"))
    what = f"the class {value.__name__}" if isinstance(value, type) else f"a value of the Python type {type(value).__name__}"
    return outside(value) or Refused(f"{what} is not in the language", _remedy_for(value))


def outside(value: Any) -> Refused | None:
    """Why programs do not call a function that adjudge exports for Python, or what `aj.compile` or `aj.vmap` made; else None."""
    name = _attribute(value, "__name__")
    if isinstance(maker := _attribute(value, "made_by"), str) and maker.startswith("aj."):
        return Refused(
            f"{name} is made by {maker}, and is called from Python alone",
            f"{maker} comes last: give the function that {name} was made of",
        )
    exported = vars(sys.modules.get("adjudge", types)).get(name) is value
    if exported and isinstance(value, types.FunctionType) and value.__module__.startswith("adjudge."):
        from transforms.parse.library import for_python

        return for_python(value.__name__)
    return None


def _attribute(value: Any, name: str) -> Any:
    """An attribute of any object whatever, or None if asking for it fails."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def _remedy_for(value: Any) -> str:
    match value:
        case str():
            return "strings only name arguments: grad(f, 'x')"
        case type() if value.__module__ in ("functools", "operator"):
            return "write a def or a lambda"
        case type():
            return "derive it from NamedTuple, or decorate it with @dataclass(frozen=True)"
        case types.BuiltinFunctionType() | types.MethodType():
            return "write it in Python, or declare it with adjudge.primitive"
        case _:
            return "numbers, tuples and functions are; pass it as one of those"


def _member(module: types.ModuleType, name: str) -> Found | None:
    return found_value(vars(module)[name]) if name in vars(module) else None


def known_function(function: types.FunctionType) -> Known:
    """A live function, opened when it is parsed."""
    count = function.__code__.co_argcount
    names = function.__code__.co_varnames[: count + function.__code__.co_kwonlyargcount]
    defaults = dict(enumerate(function.__defaults__ or (), count - len(function.__defaults__ or ())))
    defaults |= {names.index(n): v for n, v in (function.__kwdefaults__ or {}).items()}
    found = {i: found_value(v) for i, v in defaults.items()}
    return Known(function, function.__name__.strip("<>"), lambda: find_function(function), LiveNames(function), found)


@dataclass(frozen=True, slots=True, eq=False)
class LiveNames:
    """The names that a live function sees: its cells, its globals, the builtins."""

    function: types.FunctionType

    def find(self, name: str) -> Found | None:
        free = self.function.__code__.co_freevars
        if name in free:
            cell = (self.function.__closure__ or ())[free.index(name)]
            try:
                return found_value(cell.cell_contents)
            except ValueError:
                return Refused(f"the enclosing function has not assigned {name} yet", f"assign {name} before this function is used")
        if name in self.function.__globals__:
            return found_value(self.function.__globals__[name])
        return found_builtin(name)

    def all(self) -> list[str]:
        return [*self.function.__code__.co_freevars, *self.function.__globals__, *dir(builtins)]
