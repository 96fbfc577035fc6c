"""
Forward mode: dual numbers as a reading of the denotation, over any carrier (doubles, fractions, balls, dual numbers again).

    ⟦p⟧(x + ẋε, …) = ⟦p⟧(x, …) + Σ ∂ᵢp · ẋᵢ ε

An oracle for J: it shares with it neither a rule nor the order of accumulation. A number without tangent is not wrapped, so
comparisons look at primals only, and nothing flows where no path is. Every nesting has a level of its own, so perturbations
cannot be confused (T17).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkers.columns.leaves import Coordinate, Path, at_path, coordinates, is_discrete, map_leaves, path_of
from checkers.columns.partials import body, has_structure, partials, wanted
from semantics.columns.arrays import Elements, array_cell
from semantics.columns.elementwise import elementwise
from semantics.columns.structure import wrong
from semantics.denotation import FLOATS, Reading, denote
from semantics.ir import Program
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.tangents import ZERO, gadd
from semantics.values import Closure


@dataclass(frozen=True, slots=True, eq=False)
class Dual:
    """primal + tangent·ε of one level. The operators are what the algebra of sensitivities needs (`gadd`)."""

    primal: Any
    tangent: Any
    level: int

    def __add__(self, other: Any) -> Any:
        if other is ZERO:
            return self
        if isinstance(other, Dual) and other.level > self.level:
            return other.__radd__(self)
        primal, tangent = _split(other, self.level)
        return Dual(self.primal + primal, gadd(self.tangent, tangent), self.level)

    def __radd__(self, other: Any) -> Any:
        return self if other is ZERO else Dual(other + self.primal, self.tangent, self.level)

    def __neg__(self) -> Dual:
        return Dual(-self.primal, -self.tangent, self.level)


def _split(value: Any, level: int) -> tuple[Any, Any]:
    """Primal and tangent of a number; ZERO for the tangent of one that is not dual at this level."""
    if isinstance(value, Dual) and value.level == level:
        return value.primal, value.tangent
    return value, ZERO


@dataclass(frozen=True, slots=True)
class DualColumn(Column):
    """The column "dual" over the carrier `inner`; cells are made when they are first asked for, users' ones too."""

    inner: Reading = FLOATS
    level: int = 1
    tangents: Column = field(default_factory=lambda: partials(FLOATS))
    made: dict[Any, Callable[..., Any] | Hole] = field(default_factory=dict)

    def find(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        """The cell of a primitive: its inner cell on primals, its partials on tangents."""
        if primitive not in self.made:
            self.made[primitive] = self._make(primitive)
        return self.made[primitive]

    def _make(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        program = body(primitive, self.tangents)
        if program is not None:
            return lambda *arguments: denote(program, arguments, Reading(self, self.inner.lift, self.inner.truth))
        if (on_arrays := array_cell(primitive, Elements(self.scalar, self.inner.truth))) is not None:
            return on_arrays
        if primitive.name in ELEMENTWISE and TABLE[primitive.name] is primitive:
            return elementwise(primitive, self.scalar(primitive), Elements(self.scalar, self.inner.truth))
        return self._scalar(primitive)

    def scalar(self, primitive: Primitive) -> Any:
        """The cell on numbers alone; one that refuses where the carrier has none."""
        key = ("scalar", primitive)
        if key not in self.made:
            self.made[key] = self._scalar(primitive)
        cell = self.made[key]
        return Column("dual", {primitive.name: cell})[primitive] if isinstance(cell, Hole) else cell

    def _scalar(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        value = self.inner.column.find(primitive)
        if isinstance(value, Hole) or (has_structure(primitive) and primitive.name != "seed"):
            return value
        cell: Callable[..., Any] = value
        level, add, multiply = self.level, self.inner.column[TABLE["add"]], self.inner.column[TABLE["mul"]]

        def dual(*arguments: Any) -> Any:
            pairs = [_split(a, level) for a in arguments]
            primals = [p for p, _ in pairs]
            out = cell(*primals)
            active = [t is not ZERO for _, t in pairs]
            if not any(active) or is_discrete(out) or primitive.name == "seed":
                return out
            slopes = wanted(self.tangents[primitive], active, (*primals, out), self.inner)
            tangent: Any = ZERO
            for slope, (_, t) in zip(slopes, pairs, strict=True):
                if slope is not ZERO and t is not ZERO:
                    tangent = add(tangent, multiply(slope, t))
            return out if tangent is ZERO else Dual(out, tangent, level)

        return dual


def duals(carrier: Reading = FLOATS) -> Reading:
    """The reading by dual numbers over `carrier`, at a level above its own."""
    inner = carrier.column
    level = inner.level + 1 if isinstance(inner, DualColumn) else 1
    return Reading(DualColumn("dual", {}, carrier, level, partials(carrier)), carrier.lift, carrier.truth)


def _level(reading: Reading) -> int:
    assert isinstance(reading.column, DualColumn)
    return reading.column.level


def lifted(carrier: Reading, value: Any) -> Any:
    """Every leaf of a value as the carrier has it."""
    return map_leaves(lambda _, leaf: carrier.lift(leaf), value)


def _primal(value: Any, level: int) -> Any:
    return map_leaves(lambda _, leaf: _split(leaf, level)[0], value)


def _tangent(value: Any, level: int) -> Any:
    return map_leaves(lambda _, leaf: _split(leaf, level)[1], value, closures=False)


def _dense(carrier: Reading, tangent: Any, value: Any) -> Any:
    """The tangent with zeros where nothing flows, unit where nothing could."""
    return carrier.column[TABLE["instantiate"]](tangent, value)


def jvp(program: Program, primals: Sequence[Any], tangents: Sequence[Any], carrier: Reading = FLOATS) -> tuple[Any, Any]:
    """
    The value of `program` and its derivative in the direction `tangents`, which have the structure of `primals`.

    The tangent of an integer, a boolean or unit is None or ZERO. The tangent of a resulting closure is the tuple of those of
    its captured values.
    """
    reading = duals(carrier)
    level = _level(reading)

    def pair(path: Path, leaf: Any) -> Any:
        primal, tangent = carrier.lift(leaf), at_path(tuple(tangents), path)
        if tangent is None or tangent is ZERO:
            return primal
        if is_discrete(leaf):
            raise wrong("jvp", "the tangent of a real", leaf, "give None for an integer or a boolean")
        return Dual(primal, carrier.lift(tangent), level)

    result = denote(program, map_leaves(pair, tuple(primals)), reading)
    value = _primal(result, level)
    return value, _dense(carrier, _tangent(result, level), value)


def derivative(program: Program, primals: Sequence[Any], wrt: Coordinate = 0, carrier: Reading = FLOATS) -> Any:
    """The partial derivative of the value (of any structure) to the real at the coordinate `wrt`."""
    path = path_of(primals, wrt)
    one = carrier.lift(1.0)
    return jvp(program, primals, map_leaves(lambda at, _: one if at == path else ZERO, tuple(primals)), carrier)[1]


def gradient(program: Program, primals: Sequence[Any], carrier: Reading = FLOATS) -> tuple[Any, ...]:
    """The derivatives to every real of `primals`, in their structure; None at integers and booleans."""
    known = set(coordinates(primals))
    result: tuple[Any, ...] = map_leaves(
        lambda path, _: derivative(program, primals, path, carrier) if path in known else None, tuple(primals)
    )
    return result


def second_derivative(
    program: Program, primals: Sequence[Any], i: Coordinate = 0, j: Coordinate = 0, carrier: Reading = FLOATS
) -> Any:
    """∂²/∂xᵢ∂xⱼ of a real result, by dual numbers over dual numbers."""
    outer_path, inner_path = path_of(primals, i), path_of(primals, j)

    def unit(at: Path) -> Any:
        return map_leaves(lambda path, _: 1.0 if path == at else None, tuple(primals))

    return second_along(program, primals, unit(inner_path), unit(outer_path), carrier)


def second_along(program: Program, primals: Sequence[Any], v: Sequence[Any], u: Sequence[Any], carrier: Reading = FLOATS) -> Any:
    """The derivative along u of the derivative along v of a real result; directions have the structure of the arguments."""
    inner = duals(carrier)
    outer = duals(inner)

    def seeded(path: Path, leaf: Any) -> Any:
        value = carrier.lift(leaf)
        for direction, reading in ((v, inner), (u, outer)):
            tangent = at_path(tuple(direction), path)
            if tangent is not None and tangent is not ZERO:
                value = Dual(value, carrier.lift(tangent), _level(reading))
        return value

    result = denote(program, map_leaves(seeded, tuple(primals)), outer)
    if is_discrete(result) or isinstance(result, (tuple, Closure)):
        raise wrong("second_derivative", "a program whose result is a real", result)
    first = _split(result, _level(outer))[1]
    second = _split(first, _level(inner))[1]
    return carrier.lift(0.0) if second is ZERO else second
