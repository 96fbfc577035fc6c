"""
The column "modular": reals are residues modulo the prime 2^61 - 1, and what is not rational is a random oracle.

A rational program is a polynomial identity away from another: two that agree at random residues are equal, but for a chance of
degree / p (Schwartz and Zippel). exp, sin and their kind become arbitrary functions, the same wherever they are asked. A field of
residues has no order; comparisons read the one of the representatives, which is total and answers alike every time. The
`Oracle` counts how often it was asked: where it never was, a difference is a difference of rational functions.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from semantics.arrays import Array
from semantics.columns.arrays import with_arrays
from semantics.columns.meaning import MEANING
from semantics.columns.structure import CELLS as STRUCTURE
from semantics.columns.structure import instantiate, wrong
from semantics.denotation import Reading
from semantics.errors import Trap
from semantics.primitives.row import Column, Hole
from semantics.primitives.table import ELEMENTARY, MACROS, TABLE
from semantics.tangents import ZERO

P = 2**61 - 1


@dataclass(frozen=True, slots=True)
class Residue:
    """A residue, and a bound on the degrees of the numerator and the denominator that it is the value of; 0 for constants."""

    value: int
    degree: int = field(default=1, compare=False)

    def __add__(self, other: Any) -> Any:
        if other is ZERO:
            return self
        return Residue((self.value + other.value) % P, self.degree + other.degree)

    def __neg__(self) -> Residue:
        return Residue(-self.value % P, self.degree)

    def __mul__(self, other: Residue) -> Residue:
        return Residue(self.value * other.value % P, self.degree + other.degree)

    def inverse(self) -> Residue:
        """1 / self; Trap at 0."""
        if self.value == 0:
            raise Trap("division by zero modulo p", rule="div", remedy="another random point")
        return Residue(pow(self.value, -1, P), self.degree)


@dataclass(slots=True)
class Oracle:
    """A random function for every name, from a seed. `asked` counts the questions that no rational function answers."""

    seed: int = 0
    asked: int = 0

    def __call__(self, name: str, *arguments: Residue) -> Residue:
        self.asked += 1
        text = f"{self.seed} {name} {' '.join(str(a.value) for a in arguments)}"
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        return Residue(int.from_bytes(digest, "big") % P, 1 + sum(a.degree for a in arguments))

    def less(self, a: Residue, b: Residue) -> bool:
        """The order of the representatives."""
        self.asked += 1
        return a.value < b.value

    def negative(self, a: Residue) -> bool:
        """Whether a is in the upper half: then -a is not, unless both are 0."""
        self.asked += 1
        return a.value > P // 2


def lift(value: Any) -> Any:
    """A constant: a double is the residue of the fraction it stands for."""
    if type(value) is float:
        if not math.isfinite(value):
            raise Trap(f"{value} is no residue", rule="modular")
        return residue(Fraction(value))
    if isinstance(value, Array):
        return value.with_items(map(lift, value.items))
    return value


def residue(value: Fraction | int) -> Residue:
    """A constant rational modulo p."""
    exact = Fraction(value)
    return Residue(exact.numerator * pow(exact.denominator, -1, P) % P, 0)


def _real(name: str, x: Any) -> Residue:
    if isinstance(x, Residue):
        return x
    if x is ZERO:
        return Residue(0, 0)
    if type(x) is int:
        return Residue(x % P, 0)
    raise wrong(name, "numbers", x)


def _both(
    name: str, on_integers: Callable[[Any, Any], Any], on_residues: Callable[[Residue, Residue], Any]
) -> Callable[[Any, Any], Any]:
    """Integers stay integers; anything else is read as residues."""

    def cell(a: Any, b: Any) -> Any:
        return on_integers(a, b) if type(a) is int and type(b) is int else on_residues(_real(name, a), _real(name, b))

    return cell


def _power(oracle: Oracle, x: Any, y: Any) -> Any:
    if type(x) is int and type(y) is int and y >= 0:
        return MEANING.cells["pow"](x, y)  # type: ignore[operator]
    base = _real("pow", x)
    if isinstance(y, Residue) and y.degree == 0 and min(y.value, P - y.value) < 1 << 20:
        y = y.value if y.value < P // 2 else y.value - P
    if not isinstance(y, int):
        return oracle("pow", base, _real("pow", y))
    result = Residue(pow(base.value, abs(y), P), base.degree * abs(y))
    return result if y >= 0 else result.inverse()


def _whole(name: str) -> Callable[[Any], Any]:
    def cell(x: Any) -> Any:
        if type(x) is int:
            return x
        raise Trap("a residue has no integer part", rule=name, remedy="this check is for programs without rounding")

    return cell


def _comparison(oracle: Oracle, name: str) -> Callable[[Any, Any], bool]:
    decide: dict[str, Callable[[Residue, Residue], bool]] = {
        "lt": oracle.less,
        "gt": lambda a, b: oracle.less(b, a),
        "le": lambda a, b: not oracle.less(b, a),
        "ge": lambda a, b: not oracle.less(a, b),
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
    }

    def cell(a: Any, b: Any) -> bool:
        if isinstance(a, (bool, int)) and isinstance(b, (bool, int)):
            return MEANING.cells[name](a, b)  # type: ignore[operator]
        return decide[name](_real(name, a), _real(name, b))

    return cell


def _where(c: Any, a: Any, b: Any) -> Any:
    if not isinstance(c, bool):
        raise wrong("where", "a boolean", c)
    chosen = a if c else b
    return chosen if a is ZERO or b is ZERO else _one_kind("where", chosen, a, b)


def _one_kind(name: str, chosen: Any, a: Any, b: Any) -> Any:
    """What was chosen of a and b; a residue if either is one."""
    return _real(name, chosen) if isinstance(a, Residue) or isinstance(b, Residue) else chosen


def _truth(x: Any) -> Any:
    if isinstance(x, Array) and len(x.items) == 1:
        x = x.items[0]
    return x.value != 0 if isinstance(x, Residue) else MEANING.cells["to_boolean"](x)  # type: ignore[operator]


def cells(oracle: Oracle) -> dict[str, Callable[..., Any] | Hole]:
    """The cells over one oracle."""

    def asked(name: str) -> Callable[..., Any]:
        return lambda *arguments: oracle(name, *(_real(name, a) for a in arguments))

    def magnitude(x: Any) -> Any:
        return abs(x) if type(x) is int else -r if oracle.negative(r := _real("abs", x)) else r

    def sign(x: Any) -> Any:
        if type(x) is int:
            return MEANING.cells["sign"](x)  # type: ignore[operator]
        r = _real("sign", x)
        return Residue(0, 0) if r.value == 0 else residue(-1 if oracle.negative(r) else 1)

    def quotient(a: Any, b: Any) -> Any:
        return ZERO if a is ZERO else _real("div", a) * _real("div", b).inverse()

    turns = _both("floordiv", MEANING[TABLE["floordiv"]], lambda a, b: oracle("floordiv", a, b))
    return {
        **STRUCTURE,
        **{p.name: asked(p.name) for p in ELEMENTARY},
        **{p.name: Hole("a function on functions, expanded before a program runs") for p in MACROS},
        **{name: _comparison(oracle, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
        "add": lambda a, b: b if a is ZERO else a if b is ZERO else _both("add", lambda x, y: x + y, lambda x, y: x + y)(a, b),
        "sub": lambda a, b: a if b is ZERO else _both("sub", lambda x, y: x - y, lambda x, y: x + -y)(a, b),
        "mul": lambda a, b: ZERO if a is ZERO or b is ZERO else _both("mul", lambda x, y: x * y, lambda x, y: x * y)(a, b),
        "div": quotient,
        "floordiv": turns,
        "mod": _both("mod", MEANING[TABLE["mod"]], lambda a, b: a + -(b * turns(a, b))),
        "pow": lambda x, y: _power(oracle, x, y),
        "neg": lambda a: a if a is ZERO else -a,
        "abs": magnitude,
        "min": lambda a, b: b if lesser(oracle, b, a) else a,
        "max": lambda a, b: b if lesser(oracle, a, b) else a,
        "minimum": lambda a, b: _one_kind("minimum", b if lesser(oracle, b, a) else a, a, b),
        "maximum": lambda a, b: _one_kind("maximum", b if lesser(oracle, a, b) else a, a, b),
        "where": _where,
        "single": lambda a: _real("single", a),
        "and_": MEANING.cells["and_"],
        "or_": MEANING.cells["or_"],
        "sign": sign,
        "copysign": lambda a, b: _real("copysign", magnitude(_real("copysign", a))) * sign(b),
        "to_real": lambda a: _real("float", a),
        "to_integer": _whole("int"),
        "to_boolean": _truth,
        "floor": _whole("floor"),
        "ceil": _whole("ceil"),
        "not_": MEANING.cells["not_"],
        "instantiate": lambda d, x: instantiate(d, x, lambda _: Residue(0, 0)),
        "seed": lambda out: Residue(1, 0),
    }


def lesser(oracle: Oracle, a: Any, b: Any) -> bool:
    """a < b: among integers as they are, else by representatives."""
    return bool(a < b) if type(a) is int and type(b) is int else oracle.less(_real("min", a), _real("min", b))


def modular(oracle: Oracle) -> Reading:
    """The reading over one oracle; two programs are compared under one and the same."""
    return Reading(Column("modular", with_arrays(cells(oracle))), lift)


MODULAR = modular(Oracle()).column
