"""
Two columns: "numba", the generated source of every primitive, and "ulp", how far a GPU may be from the reference.

A numba cell takes the scalar types of its arguments and answers with a Template. The names in it are bound to each target's
own functions when the code is loaded, so one text serves plain Python, the CPU and the GPU. Structural primitives have no text: the
lowering computes them on the structure of values (`backend.lowering.structure`).

The bounds are the documented maximal errors of CUDA's double functions plus that of the C library, in ulp of the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backend.arrays.table import CELLS as LOOPS
from backend.lowering.structure import STRUCTURAL
from backend.status import DIVISION, OVERFLOW, SIZES, ZERO_POWER
from semantics.errors import IllTyped
from semantics.primitives.row import Column, Hole
from semantics.primitives.table import ELEMENTARY, MACROS, TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL
from semantics.type_lattice import Literal, erase

MAX, MIN = (1 << 63) - 1, -(1 << 63)


@dataclass(frozen=True, slots=True)
class Template:
    """
    text     the expression, with {0}, {1} for the arguments, each a name or a literal
    type     the type of the result
    checks   (condition, status): tested in order before the expression
    helpers  the helpers that it calls; with `fallible`, it yields (value, status)
    real     whether integer arguments are converted to reals first
    """

    text: str
    type: Any
    checks: tuple[tuple[str, int], ...] = ()
    helpers: tuple[str, ...] = ()
    fallible: bool = False
    real: bool = False


Cell = Callable[..., Template]


def _integers(types: tuple[Any, ...]) -> bool:
    return all(erase(t) == INTEGER for t in types)


def _arithmetic(real: Template, integer: Template) -> Cell:
    def cell(*types: Any) -> Template:
        return integer if _integers(types) else real

    return cell


def _real(text: str, *helpers: str) -> Template:
    return Template(text, REAL, helpers=helpers, real=True)


def _function(name: str, arity: int = 1) -> Cell:
    """One call of an elementary function, arguments read as reals."""
    text = f"_{name}({', '.join('{' + str(i) + '}' for i in range(arity))})"

    def cell(*types: Any) -> Template:
        return _real(text)

    return cell


def _pow(a: Any, b: Any) -> Template:
    """
    The hidden argument `one` is 1.0 and unknown to the compiler, which would otherwise turn a known exponent into a product.

    An integer to an integer that is not known is taken for an integer (`backend.stacks.cell_types`); where it is none, as for a
    negative exponent, the machine runs the sample.
    """
    if not _integers((a, b)):
        return _real("_pow({0} * one, {1} * one)")
    if isinstance(b, Literal) and b.value >= 0:
        return Template("_pow_ii_({0}, {1})", INTEGER, helpers=("_pow_ii_",), fallible=True)
    if isinstance(b, Literal):
        return Template("_pow(float({0}) * one, float({1}) * one)", REAL, (("{0} == 0", ZERO_POWER),))
    return Template("_pow_ii_({0}, {1})", INTEGER, (("{1} < 0", SIZES),), helpers=("_pow_ii_",), fallible=True)


def _chosen(op: str) -> Cell:
    """min and max: the second argument if it is strictly better, else the first, NaN included."""

    def cell(*types: Any) -> Template:
        kinds = {erase(t) for t in types}
        if len(kinds) > 1:
            raise IllTyped("min and max of an integer and a real yield either", rule="backend", remedy="convert both to reals")
        return Template(f"({{1}} if {{1}} {op} {{0}} else {{0}})", kinds.pop())

    return cell


def _extreme(op: str) -> Cell:
    """NumPy's minimum and maximum: as `_chosen`, but of an integer and a real the real, and NaN where either argument is."""
    text = f"({{1}} if {{1}} {op} {{0}} or {{1}} != {{1}} else {{0}})"
    return _arithmetic(_real(text), Template(text, INTEGER))


_MIXED = {
    "<": ("(_order({0}, {1}) == -1)", "(_order({1}, {0}) == 1)"),
    "<=": ("(_order({0}, {1}) <= 0)", "(_order({1}, {0}) == 1 or _order({1}, {0}) == 0)"),
    ">": ("(_order({0}, {1}) == 1)", "(_order({1}, {0}) == -1)"),
    ">=": ("(_order({0}, {1}) == 1 or _order({0}, {1}) == 0)", "(_order({1}, {0}) <= 0)"),
    "==": ("(_order({0}, {1}) == 0)", "(_order({1}, {0}) == 0)"),
    "!=": ("(_order({0}, {1}) != 0)", "(_order({1}, {0}) != 0)"),
}


def _comparison(op: str) -> Cell:
    """Comparison; of an integer and a real exactly, as CPython does it, without rounding the integer."""

    def cell(a: Any, b: Any) -> Template:
        if erase(a) == erase(b):
            return Template(f"({{0}} {op} {{1}})", BOOLEAN)
        return Template(_MIXED[op][erase(a) == REAL], BOOLEAN, helpers=("_order",))

    return cell


def _abs(a: Any) -> Template:
    if erase(a) == REAL:
        return Template("abs({0})", REAL)
    return Template("({0} if {0} >= 0 else -{0})", INTEGER, (("{0} == _MIN", OVERFLOW),))


def _to_boolean(a: Any) -> Template:
    zero = {REAL: "({0} != 0.0)", INTEGER: "({0} != 0)", BOOLEAN: "{0}"}
    return Template(zero[erase(a)], BOOLEAN)


def _whole(real: str, *helpers: str) -> Cell:
    def cell(a: Any) -> Template:
        if erase(a) == INTEGER:
            return Template("{0}", INTEGER)
        return Template(f"_whole_({real})", INTEGER, helpers=("_whole_", *helpers), fallible=True)

    return cell


def _fixed(template: Template) -> Cell:
    def cell(*types: Any) -> Template:
        return template

    return cell


_BY_ZERO = ("{1} == 0", DIVISION)

ON_STRUCTURE = Hole("structural: computed on the structure of values, before any code exists")
IN_LOOPS = Hole("written as loops over elements: backend.arrays")
NO_MEMORY = Hole("memory is not compiled yet")
NOT_COMPILED = (NO_MEMORY,)

CELLS: dict[str, Cell | Hole] = {
    **dict.fromkeys(TABLE, NO_MEMORY),
    **dict.fromkeys(LOOPS, IN_LOOPS),
    **dict.fromkeys(STRUCTURAL, ON_STRUCTURE),
    **{p.name: _function(p.name, len(p.signature)) for p in ELEMENTARY},
    **{p.name: Hole("it works on functions; expand it with nested_grad first") for p in MACROS},
    "add": _arithmetic(
        _real("{0} + {1}"),
        Template("{0} + {1}", INTEGER, (("({1} > 0 and {0} > _MAX - {1}) or ({1} < 0 and {0} < _MIN - {1})", OVERFLOW),)),
    ),
    "sub": _arithmetic(
        _real("{0} - {1}"),
        Template("{0} - {1}", INTEGER, (("({1} < 0 and {0} > _MAX + {1}) or ({1} > 0 and {0} < _MIN + {1})", OVERFLOW),)),
    ),
    "mul": _arithmetic(
        _real("_mul({0}, {1})"),
        Template("{0} * {1}", INTEGER, (("_mul_overflows({0}, {1})", OVERFLOW),), ("_mul_overflows",)),
    ),
    "div": _arithmetic(_real("_div({0}, {1})"), Template("_div_ii({0}, {1})", REAL, (_BY_ZERO,), ("_div_ii",))),
    "floordiv": _arithmetic(
        _real("_floordiv_ff({0}, {1})", "_floordiv_ff"),
        Template("{0} // {1}", INTEGER, (_BY_ZERO, ("{0} == _MIN and {1} == -1", OVERFLOW))),
    ),
    "mod": _arithmetic(
        _real("_mod_ff({0}, {1})", "_mod_ff"),
        Template("(0 if {1} == -1 else {0} % {1})", INTEGER, (_BY_ZERO,)),
    ),
    "pow": _pow,
    "neg": _arithmetic(_real("-{0}"), Template("-{0}", INTEGER, (("{0} == _MIN", OVERFLOW),))),
    "abs": _abs,
    "min": _chosen("<"),
    "max": _chosen(">"),
    "minimum": _extreme("<"),
    "maximum": _extreme(">"),
    "logaddexp": _fixed(_real("_logaddexp({0}, {1})", "_logaddexp")),
    "single": _fixed(_real("_single({0})", "_single")),
    "sign": _arithmetic(_real("_sign({0})", "_sign"), Template("(1 if {0} > 0 else -1 if {0} < 0 else 0)", INTEGER)),
    "to_real": _fixed(_real("{0}")),
    "apart": lambda a: Template("{0}", a),
    "to_boolean": _to_boolean,
    "to_integer": _whole("_trunc({0})", "_trunc"),
    "floor": _whole("_floor({0})"),
    "ceil": _whole("-_floor(-{0})"),
    "lt": _comparison("<"),
    "le": _comparison("<="),
    "gt": _comparison(">"),
    "ge": _comparison(">="),
    "eq": _comparison("=="),
    "ne": _comparison("!="),
    "not_": _fixed(Template("(not {0})", BOOLEAN)),
    "and_": _fixed(Template("({0} and {1})", BOOLEAN)),
    "or_": _fixed(Template("({0} or {1})", BOOLEAN)),
    "range_length": _fixed(Template("_range_({0}, {1}, {2})", INTEGER, helpers=("_range_",), fallible=True)),
    "seed": _fixed(Template("1.0", REAL)),
}

NUMBA = Column("numba", CELLS)

_EXACT = Hole("correctly rounded or exact on every target: no error to bound")
_CANCELS = Hole("its last addition may cancel, so no number of ulp of the result bounds it; the running error does")
_BOUNDS: dict[str, float] = {
    "exp": 2, "expm1": 2, "log": 2, "log1p": 2, "log2": 2, "log10": 3, "cbrt": 2, "sin": 3, "cos": 3, "tan": 3, "pow": 3,
    "asin": 3, "acos": 3, "atan": 3, "atan2": 3, "sinh": 3, "cosh": 3, "tanh": 4, "asinh": 4, "acosh": 4, "atanh": 4,
    "hypot": 3, "erf": 3, "erfc": 6,
}  # fmt: skip


def _bound(ulps: float) -> Callable[[], float]:
    def cell() -> float:
        return ulps

    return cell


ULP = Column(
    "ulp",
    {
        **dict.fromkeys(CELLS, _EXACT),
        **{name: cell for name, cell in CELLS.items() if cell in NOT_COMPILED},
        **{name: _bound(u) for name, u in _BOUNDS.items()},
        "logaddexp": _CANCELS,
    },
)
