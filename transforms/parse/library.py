"""
`math`, the builtins and the names of adjudge, as the language reads them.

Most are one primitive. The others are operations: small expansions into primitives, each bit-equal to CPython's function
wherever that returns a value (where it raises, the primitives' total meaning holds).
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms import boxes, higher_order
from transforms.parse.cursor import Cursor
from transforms.parse.names import MACRO_NAMES, Found, Literal, Module, Operation, Refused, Row, found_value, known_function
from transforms.parse.numpy_names import LINALG, LOGSUMEXP, NUMPY, SCIPY, SPECIAL


def _direct(name: str, primitive: str, arity: int = 1) -> Operation:
    """A function that is one primitive of fixed arity."""
    return Operation(name, arity, arity, lambda c, args, at: c.apply(primitive, *args, at=at), TABLE[primitive])


def _fold(name: str) -> Operation:
    """min and max: from the left, as CPython compares."""

    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        result = args[0]
        for argument in args[1:]:
            result = c.apply(name, result, argument, at=at)
        return result

    return Operation(name, 1, None, build, TABLE[name])


def _log(c: Cursor, args: list[int], at: ast.AST) -> int:
    """log(x, b) is log(x) / log(b), as in CPython."""
    logarithms = [c.apply("log", a, at=at) for a in args]
    return logarithms[0] if len(args) == 1 else c.apply("div", *logarithms, at=at)


def _real(c: Cursor, argument: int, at: ast.AST) -> int:
    return c.apply("to_real", argument, at=at)


def _fabs(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("abs", _real(c, args[0], at), at=at)


def _pow(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("pow", _real(c, args[0], at), _real(c, args[1], at), at=at)


def _isnan(c: Cursor, args: list[int], at: ast.AST) -> int:
    x = _real(c, args[0], at)
    return c.apply("ne", x, x, at=at)


def _isfinite(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("lt", _fabs(c, args, at), c.constant(math.inf), at=at)


def _isinf(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("eq", _fabs(c, args, at), c.constant(math.inf), at=at)


def _scaled(factor: float) -> Callable[[Cursor, list[int], ast.AST], int]:
    return lambda c, args, at: c.apply("mul", _real(c, args[0], at), c.constant(factor), at=at)


def _divmod(c: Cursor, args: list[int], at: ast.AST) -> int:
    return c.apply("make_tuple", c.apply("floordiv", *args, at=at), c.apply("mod", *args, at=at), at=at)


def _float(c: Cursor, args: list[int], at: ast.AST) -> int:
    """float(x), and float("inf"), whose argument may be the text of a number."""
    text = c.constant_value(args[0])
    if not isinstance(text, str):
        return _real(c, args[0], at)
    try:
        return c.constant(float(text))
    except ValueError:
        raise c.refuse(at, f"float cannot read {text!r}", "write the number itself, or math.inf, math.nan") from None


def _consumed(name: str) -> Operation:
    """An iterator, which stands only where it is consumed: `iterate` and `consumers` read it there."""

    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        what = f"{name} makes an iterator, which is no value here"
        raise c.refuse(at, what, f"go over it where it stands, or make a tuple of it: tuple({name}(…))")

    return Operation(name, 0, None, build)


def _consuming(name: str, usage: str) -> Operation:
    """A function of a sequence, which `desugar` makes a loop where it is called with the arguments that it takes."""

    def build(c: Cursor, args: list[int], at: ast.AST) -> int:
        raise c.refuse(at, f"{name} is called here in a way that the language does not have", usage)

    return Operation(name, 0, None, build)


_UNARY = (
    *("exp", "expm1", "log1p", "log2", "log10", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh"),
    *("tanh", "asinh", "acosh", "atanh", "erf", "erfc", "floor", "ceil"),
)
_MATH: dict[str, Found] = {
    **{name: _direct(name, name) for name in _UNARY},
    **{name: _direct(name, name, 2) for name in ("atan2", "hypot", "copysign")},
    "trunc": _direct("trunc", "to_integer"),
    "log": Operation("log", 1, 2, _log, TABLE["log"]),
    "fabs": Operation("fabs", 1, 1, _fabs),
    "pow": Operation("pow", 2, 2, _pow),
    "isnan": Operation("isnan", 1, 1, _isnan),
    "isinf": Operation("isinf", 1, 1, _isinf),
    "isfinite": Operation("isfinite", 1, 1, _isfinite),
    "degrees": Operation("degrees", 1, 1, _scaled(180.0 / math.pi)),
    "radians": Operation("radians", 1, 1, _scaled(math.pi / 180.0)),
    **{name: Literal(getattr(math, name)) for name in ("pi", "e", "tau", "inf", "nan")},
}
REFUSED_MATH = {
    "exp2": "2.0 ** x",
    "fmod": "x % y, which takes the sign of y",
    "remainder": "x - y * round, or x % y",
    "fsum": "a loop that adds",
    "prod": "a loop that multiplies",
    "dist": "math.hypot of the differences",
}


def _math_member(name: str) -> Found | None:
    if name in _MATH:
        return _MATH[name]
    if hasattr(math, name):
        return Refused(f"math.{name} is not in the language", f"write {REFUSED_MATH.get(name, 'it with the functions that are')}")
    return None


MATH = Module("math", _math_member, tuple(_MATH))

BUILTINS: dict[str, Found] = {
    "abs": _direct("abs", "abs"),
    "min": _fold("min"),
    "max": _fold("max"),
    "float": Operation("float", 1, 1, _float, TABLE["to_real"]),
    "int": _direct("int", "to_integer"),
    "bool": _direct("bool", "to_boolean"),
    "len": _direct("len", "length"),
    "pow": _direct("pow", "pow", 2),
    "divmod": Operation("divmod", 2, 2, _divmod),
    **{name: _consumed(name) for name in ("range", "zip", "enumerate", "reversed", "map", "filter")},
    "sum": _consuming("sum", "sum(t) or sum(t, start)"),
    **{name: _consuming(name, f"{name}(t), t a sequence") for name in ("any", "all", "tuple", "list")},
    "isinstance": _consuming("isinstance", "isinstance(x, float), or a tuple of float, int, bool, tuple, list"),
}
REFUSED_BUILTINS = {
    "dict": 'd.copy(); of parts, {"w": w, "b": b}',
    "print": "leave it out; use `adjudge step` to watch a run",
    "round": "math.floor(x + 0.5), which rounds halves up",
    "sorted": "np.sort(np.array(xs)); of two, min and max",
    "str": "compute with numbers; print outside of programs",
}


HIGHER_ORDER = ("array_map", "array_reduce", "scan")


def _adjudge_member(name: str) -> Found | None:
    if name in MACRO_NAMES:
        return Row(TABLE[name])
    if name in HIGHER_ORDER:
        return found_value(getattr(higher_order, name))
    if name in ("logsumexp", "memory"):
        return LOGSUMEXP if name == "logsumexp" else _STATIC["adjudge.memory"]
    return for_python(name)


def for_python(name: str) -> Refused:
    """What a name of adjudge is to a program, if it is none of those that programs may use."""
    known = ", ".join(sorted({*MACRO_NAMES, *HIGHER_ORDER, "logsumexp"}))
    return Refused(f"adjudge.{name} is not for use inside programs", f"one of {known}")


def _memory_member(name: str) -> Found | None:
    return found_value(getattr(boxes, name)) if name in (*boxes.OPERATIONS, *boxes.FUNCTIONS) else None


ADJUDGE = Module(
    "adjudge",
    lambda name: Row(TABLE[name]) if name in MACRO_NAMES else LOGSUMEXP if name == "logsumexp" else None,
    tuple(sorted(MACRO_NAMES)),
)
_STATIC = {
    "math": MATH,
    "numpy": NUMPY,
    "numpy.linalg": LINALG,
    "adjudge": Module("adjudge", _adjudge_member, tuple(sorted(MACRO_NAMES))),
    "adjudge.memory": Module("adjudge.memory", _memory_member, (*boxes.OPERATIONS, *boxes.FUNCTIONS)),
}


class Update(Operation):
    """`dataclasses.replace`, whose keywords are names of fields."""


def _no_value(c: Cursor, args: list[int], at: ast.AST) -> int:
    raise c.refuse(at, "replace takes fields by name, so it is no value", "wrap it in a lambda: lambda r: replace(r, x=1.0)")


REPLACE = Update("replace", 1, 1, _no_value)
_NOT_IN_FUNCTIONS = Refused("classes are made at the top of a module", "define the class there")
_STATIC["dataclasses"] = Module("dataclasses", lambda name: REPLACE if name == "replace" else _NOT_IN_FUNCTIONS, ("replace",))

_reduce: Any = higher_order.reduce
REDUCE = known_function(_reduce)


def _functools_member(name: str) -> Found:
    return REDUCE if name == "reduce" else Refused(f"functools.{name} is not in the language", "write a def or a lambda")


_STATIC["scipy"], _STATIC["scipy.special"] = SCIPY, SPECIAL
_STATIC["functools"] = Module("functools", _functools_member, ("reduce",))

BY_IDENTITY: dict[int, Found] = {
    id(functools.reduce): REDUCE,
    id(dataclasses.replace): REPLACE,
    **{id(getattr(math, n)): found for n, found in _MATH.items() if isinstance(found, Operation) and hasattr(math, n)},
    **{id(getattr(builtins, n)): found for n, found in BUILTINS.items()},
}


def imported(statement: ast.Import | ast.ImportFrom, name: str) -> Found | None:
    """What an import at the top of a module binds `name` to."""
    for alias in statement.names:
        if (alias.asname or alias.name.split(".")[0]) != name:
            continue
        home = statement.module if isinstance(statement, ast.ImportFrom) else alias.name if alias.asname else name
        module = _STATIC.get(home or "")
        if module is None:
            return Refused(
                f"{name} is imported from {home}, which is not read when parsing a text",
                "import only math and adjudge, or import this module and parse the live function",
            )
        if isinstance(statement, ast.Import):
            return module
        return module.member(alias.name) or Refused(f"{home} has no {alias.name}", f"one of {', '.join(module.members)}")
    return None


def starred(statement: ast.stmt, name: str) -> Found | None:
    """What `from … import *` binds `name` to, if the module is one that is known; of another, whatever is no builtin may come."""
    if not isinstance(statement, ast.ImportFrom):
        return None
    module = _STATIC.get(statement.module or "")
    if module is not None:
        return None if name.startswith("_") or isinstance(found := module.member(name), Refused) else found
    if name in BUILTINS:
        return None
    return Refused(f"{name} may come from {statement.module}, which is not read when parsing a text", "import names one by one")


def is_macro(value: Any) -> bool:
    """Whether a constant is grad or one of its kind."""
    return isinstance(value, Primitive) and TABLE.get(value.name) is value and value.name in MACRO_NAMES
