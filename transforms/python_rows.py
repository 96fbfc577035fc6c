"""
Rows from Python functions: how a user's function, and its backpropagator, become cells of a primitive.

    meaning          the function itself, checked and total: reals in, a real out; on arrays, see `array_rows`, `array_cotangents`
    program          the function read by our parser, if it is in the language; else a hole that says why not
    backpropagator   the rule read by our parser, so that J applies to it again; else a program that calls it as an opaque
                     primitive, which J cannot enter: first order only
    type             from the signature, or from the program
    source           the Python functions, for messages and stand-alone scripts

Cells are made when first asked for, since a function may name helpers that are defined after it.
"""

from __future__ import annotations

import inspect
import math
import types
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from semantics.array_signatures import COLUMN, ArraySignature, read
from semantics.arrays import Array
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError, IllTyped, Location, Malformed, Trap, takes
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Hole, Primitive
from semantics.tangents import ZERO, SparseArray
from transforms.array_cotangents import ON_ARRAYS, conforming, pulled_back, rule_type
from transforms.array_rows import on_arrays, type_rule

ARITHMETIC_ERRORS = (OverflowError, ValueError, ZeroDivisionError)
POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Cells(Mapping[str, Any]):
    """The columns of a user's primitive. `makers` are called once, when their cell is first read; `set_once` adds a cell."""

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def set_once(self, name: str, maker: Callable[[], Any], owner: str) -> None:
        """Adds the cell `name`. Malformed if the author has given it before: a rule is not replaced behind a program's back."""
        if name in self._makers and not getattr(self._makers[name], "derived", False):
            raise Malformed(f"{owner} already has a {name}", rule=name, remedy="define a primitive of another name")
        self._makers[name] = maker
        self._made.pop(name, None)


def derived(maker: Callable[[], Any]) -> Callable[[], Any]:
    """Marks a maker whose cell we derive, and which its author may therefore replace."""
    maker.derived = True  # type: ignore[attr-defined]
    return maker


def location_of(function: Callable[..., Any]) -> Location | None:
    """Where a Python function was written, if that is known."""
    code = getattr(function, "__code__", None)
    return Location(code.co_filename, code.co_firstlineno) if code is not None else None


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters. Malformed unless all are plain positional ones without defaults."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise Malformed(f"the parameters of {function!r} are unknown", remedy="wrap it: def f(x): return g(x)") from None
    for p in found:
        if p.kind not in POSITIONAL or p.default is not p.empty:
            raise Malformed(
                f"the parameter {p} of a primitive is not a plain positional one",
                rule="primitive",
                location=location_of(function),
                remedy="write `def f(x, y):` and bind the rest outside",
            )
    if not found:
        raise Malformed("a primitive takes at least one argument", rule="primitive", location=location_of(function))
    return tuple(p.name for p in found)


def of_library(function: Callable[..., Any]) -> Program:
    """A function of `math` as a program that calls it."""
    from transforms.parse import parse_text

    name, module = getattr(function, "__name__", ""), getattr(function, "__module__", "")
    if module != "math" or getattr(math, name, None) is not function:
        raise Malformed(f"{function!r} is no Python function", rule="source", remedy="wrap it: lambda x: f(x)")
    parameters = ", ".join(parameters_of(function))
    return parse_text(f"import math\ndef {name}_({parameters}):\n    return math.{name}({parameters})\n", f"{name}_")


def program_of(function: Callable[..., Any]) -> Program | Hole:
    """The function read by our parser, or a hole with the parser's objection."""
    from transforms.parse import parse

    try:
        return parse(function) if isinstance(function, types.FunctionType) else of_library(function)
    except AdjudgeError as error:
        at = f" ({error.location})" if error.location else ""
        return Hole(f"its Python is outside the language: {error.what}{at}")


def real(name: str, value: Any) -> float:
    """A value as a double: Python's and NumPy's reals and integers, 0-dimensional arrays. IllTyped for anything else."""
    if type(value) is float:
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating, np.ndarray)):
        raise IllTyped(f"{name} wants reals, found {value!r}", rule=name, remedy="pass a float, or an array of floats")
    if isinstance(value, np.ndarray) and value.ndim:
        remedy = 'where reals come in, a real comes out; otherwise say so: signature="f64 -> f64[3]"'
        raise IllTyped(f"{name} met an array of shape {value.shape}", rule=name, remedy=remedy)
    try:
        return float(value)
    except OverflowError:
        raise Trap(f"{name} met an integer too large for a real", rule=name) from None


def quietly(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """function(*arguments) without NumPy's warnings. Arithmetic errors pass; anything else is a Trap that names the function."""
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except (AdjudgeError, *ARITHMETIC_ERRORS):
        raise
    except Exception as error:
        raise Trap(
            f"{name} raised {type(error).__name__}: {error}", rule=name, location=location_of(function), remedy="call it by itself"
        ) from error


def meaning_of(
    name: str,
    function: Callable[..., Any],
    parameters: tuple[str, ...],
    signature: ArraySignature | None,
    program: Callable[[], Program | Hole],
) -> Callable[..., Any]:
    """
    The function as a meaning: values in, a value out; where only reals come in, total.

    Where Python raises an arithmetic error, the value is what the same program gives on the machine, whose reals are total; NaN if
    the function is outside the language, and a Trap if it was called on arrays.
    """
    arity, location = len(parameters), location_of(function)

    def cell(*arguments: Any) -> Any:
        if len(arguments) != arity:
            raise IllTyped(takes(name, arity, len(arguments)), rule="primitive")
        arrays = any(isinstance(a, (Array, SparseArray)) for a in arguments)
        whole = arrays or (signature is not None and not signature.on_reals)
        xs = arguments if whole else tuple(0.0 if a is ZERO else real(name, a) for a in arguments)
        try:
            if whole:
                return on_arrays(name, partial(quietly, name, function), signature, parameters, xs, location)
            value = quietly(name, function, *xs)
        except ARITHMETIC_ERRORS as error:
            if whole and isinstance(program(), Hole):
                raise trapped(name, error, location) from None
            value = total(program(), xs)
            if whole:
                return value
        return math.nan if isinstance(value, complex) else real(name, value)

    cell.__name__ = name
    cell.__doc__ = f"{name}, as its author wrote it"
    return cell


def trapped(name: str, error: Exception, location: Location | None) -> Trap:
    """The error for a Python function that raised."""
    return Trap(f"{name} raised {type(error).__name__}: {error}", rule=name, location=location, remedy="call it by itself")


def total(program: Program | Hole, xs: tuple[Any, ...]) -> Any:
    """The value of the program on the machine, or NaN without a program."""
    return math.nan if isinstance(program, Hole) else run(program, *xs)


def cotangents_of(name: str, function: Callable[..., Any], arity: int, scalar: bool = True) -> Callable[..., tuple[Any, ...]]:
    """
    A rule outside the language as a meaning: (x…, out, dout) to a tuple of cotangents. ZERO in, ZERO out, without calling it.

    scalar  without arrays among them, all arguments are reals
    """
    location = location_of(function)

    def cell(*arguments: Any) -> tuple[Any, ...]:
        *xs, out, dout = arguments
        if dout is ZERO:
            return (ZERO,) * arity
        if scalar and not any(isinstance(a, (Array, SparseArray)) for a in arguments):
            xs, out, dout = [0.0 if x is ZERO else real(name, x) for x in xs], real(name, out), real(name, dout)
        try:
            return pulled_back(name, partial(quietly, name, function), xs, out, dout, location)
        except ARITHMETIC_ERRORS as error:
            raise trapped(name, error, location) from None

    return cell


def opaque_backpropagator(
    name: str, function: Callable[..., Any], parameters: tuple[str, ...], signature: ArraySignature | None = None
) -> Program:
    """A program (x…, out, dout) that hands everything to `function`, as the opaque primitive <name>_backpropagator."""
    arity = len(parameters)
    inner = Primitive(
        f"{name}_backpropagator",
        (*parameters, "out", "dout"),
        ("real" if signature is None else "any",) * (arity + 2),
        "tuple",
        columns={
            "meaning": cotangents_of(f"{name}_backpropagator", function, arity, signature is None),
            "type": rule_type,
            "backpropagator": Hole("it is Python outside the language, so only first derivatives exist"),
        },
        location=location_of(function),
    )
    edit = Edit(empty())
    graph = edit.graph(f"{name}_backpropagator")
    arguments = [edit.parameter(graph, p) for p in (*parameters, "out", "dout")]
    edit.output(graph, edit.call(graph, inner, *arguments))
    return edit.program


def backpropagator_of(
    name: str, function: Callable[..., Any], parameters: tuple[str, ...], signature: ArraySignature | None = None
) -> Program:
    """The rule as a program: parsed if it is in the language, opaque otherwise."""
    found = program_of(function)
    if isinstance(found, Hole):
        return opaque_backpropagator(name, function, parameters, signature)
    entry = found.graphs[found.entry]
    if len(entry.parameters) != len(parameters) + 2:
        wanted = ", ".join((*parameters, "out", "dout"))
        raise Malformed(
            f"the backpropagator of {name} takes {len(entry.parameters)} arguments",
            rule="backpropagator",
            location=location_of(function),
            remedy=f"write it as `def _({wanted}):`",
        )
    return found


def held(rule: Program, primitive: Primitive, function: Callable[..., Any]) -> Program:
    """The rule as J uses it among arrays: each cotangent held against its argument, which an opaque one does itself."""
    return rule if is_opaque(rule) else conforming(rule, primitive.name, primitive.parameters, location_of(function))


def is_opaque(program: Program) -> bool:
    """Whether a backpropagator is one that J cannot enter."""
    return any(isinstance(v, Primitive) and v.name.endswith("_backpropagator") for v in constants(program))


def constants(program: Program) -> Iterator[Any]:
    """The values of the constants of a program."""
    return (node.value for node in program.nodes.values() if hasattr(node, "value"))


def row_of(
    function: Callable[..., Any],
    name: str,
    *,
    domain: str = "",
    kinks: str = "",
    signature: str = "",
    extra: Mapping[str, Callable[[Cells], Any]] | None = None,
) -> tuple[Primitive, Cells]:
    """The row of a Python function, and the cells to which its backpropagator is added later."""
    from semantics.primitives.row import row

    parameters = parameters_of(function)
    stated = read(signature) if signature else None
    kinds = [spec.kind for spec in stated.arguments] if stated is not None else ["real"] * len(parameters)
    if len(kinds) != len(parameters):
        raise IllTyped(
            f"the signature {signature!r} does not fit {name}({', '.join(parameters)})",
            rule="primitive",
            remedy="one type for each parameter: f64[m, n] i64 -> f64[m]",
        )
    result = "real" if stated is None else stated.results[0].kind if len(stated.results) == 1 else "tuple"
    plain = row(name, " ".join(parameters), f"{' '.join(kinds)} -> {result}", domain=domain, kinks=kinks)
    cells = Cells({"source": lambda: {"forward": function}, "program": derived(lambda: program_of(function))})
    cells.set_once("meaning", lambda: meaning_of(name, function, parameters, stated, lambda: cells["program"]), name)
    cells.set_once("type", lambda: type_rule(name, stated, parameters, lambda: cells["program"]), name)
    if stated is not None and not stated.on_reals:
        cells.set_once(COLUMN, lambda: str(stated), name)
    for column, maker in (extra or {}).items():
        cells.set_once(column, derived(partial(maker, cells)), name)
    row_found = Primitive(
        name, plain.parameters, plain.signature, result, plain.domain, plain.kinks, columns=cells, location=location_of(function)
    )
    for condition in (*row_found.domain, *row_found.kinks):
        condition.conjuncts(dict.fromkeys(row_found.parameters, 0.5))
    return row_found, cells


def register_backpropagator(cells: Cells, primitive: Primitive, function: Callable[..., Any]) -> None:
    """Makes `function` the backpropagator of the primitive, once."""
    wanted = (*primitive.parameters, "out", "dout")
    if len(parameters_of(function)) != len(wanted):
        raise Malformed(
            f"a backpropagator of {primitive.name} takes {len(wanted)} arguments, this one {len(parameters_of(function))}",
            rule="backpropagator",
            location=location_of(function),
            remedy=f"write it as `def _({', '.join(wanted)}):`",
        )
    forward = cells["source"]["forward"]
    stated = read(cells[COLUMN]) if COLUMN in cells else None
    maker = partial(backpropagator_of, primitive.name, function, primitive.parameters, stated)
    cells.set_once("backpropagator", maker, primitive.name)
    cells.set_once(ON_ARRAYS, lambda: held(cells["backpropagator"], primitive, function), primitive.name)
    cells._makers["source"] = lambda: {"forward": forward, "backpropagator": function}
    cells._made.pop("source", None)
