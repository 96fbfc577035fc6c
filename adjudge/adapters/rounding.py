"""
What a compiled program may compute: a ball around every real, wide enough for all roundings that its operations may make.

A reading of the denotation by balls in which every operation widens its result, so that the result of every implementation that
keeps to the bounds lies inside, whatever it did inside before: a fused multiply-add leaves out a rounding, and is covered.

    x ∘ y        |z| u, u the unit of f64, and |z| 2⁻²⁴ more where the result is stored as f32
    f x          2 U |z| u, U the larger of what the column "ulp" says and what JAX documents of XLA, u of the coarsest dtype
    x / c        3 |z| u: XLA multiplies by the reciprocal of a constant
    xⁿ           γ(n + 1) |z|: products in any order, and a division for negative n
    Σ x, Σ x y   γ(n) Σ |x|: in any order        γ(n) = n u / (1 - n u)        (Higham 2002, sections 3.1, 4.2)

and the smallest normal number each time, since results and operands below it may be flushed to 0. Where a result may overflow, or a
comparison depends on what is left open, the run is Undecided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from backend.columns import ULP
from checkers.columns.ball import balls
from checkers.columns.leaves import map_leaves
from checkers.columns.undecided import Undecided
from semantics.arrays import Array, single
from semantics.columns.arrays import ARRAY_CELLS, with_arrays
from semantics.columns.arrays.einstein import explicit
from semantics.denotation import Reading, denote
from semantics.ir import Apply, Constant, Parameter, Program
from semantics.primitives.row import Column, Hole
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.shapes import letter_sizes
from semantics.type_language import ArrayType

BITS = 240
CORRECT = ("add", "sub", "mul")

# the largest error of XLA on x86-64 and on NVIDIA GPUs in f32 and in f64, in ulp, where JAX documents it: docs.jax.dev, "Numerical
# accuracy", reviewed 2026-09-18; measured there on all f32 and on samples of f64. exp2 is read as a power of 2.
DOCUMENTED = {
    "acos": (1.5, 1.5), "acosh": (4.5, 3.5), "asin": (2.0, 2.5), "asinh": (3.5, 2.5), "atan": (5.5, 3.5), "atan2": (3.0, 1.5),
    "atanh": (3.5, 3.5), "cbrt": (1.5, 1.5), "cos": (2.0, 1.5), "cosh": (25.0, 496.0), "erf": (7.0, 2.5), "erfc": (66.5, 350.0),
    "exp": (2.0, 2.0), "exp2": (69.0, 719.0), "expm1": (6.5, 4.5), "log": (1.5, 1.5), "log1p": (3.0, 2.0), "log2": (2.5, 1.5),
    "log10": (3.0, 2.5), "sin": (1.5, 2.5), "sinh": (25.0, 496.0), "sqrt": (1.0, 0.5), "tan": (3.5, 2.5), "tanh": (5.5, 7.0),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: its unit roundoff, its smallest normal and its largest number."""

    name: str
    unit: float
    smallest: float
    largest: float

    @property
    def digits(self) -> int:
        """The bits of its significand."""
        return round(-math.log2(self.unit))


F64 = Format("f64", 2.0**-53, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023)
F32 = Format("f32", 2.0**-24, 2.0**-126, (2 - 2.0**-23) * 2.0**127)


@contextmanager
def precise() -> Iterator[None]:
    """Balls at the precision of this reading."""
    before, ctx.prec = ctx.prec, BITS
    try:
        yield
    finally:
        ctx.prec = before


class Rounding:
    """The widening of results for programs whose coarsest floats have a format."""

    def __init__(self, coarsest: Format) -> None:
        self.coarsest = coarsest
        self.exact: dict[str, Callable[..., Any]] = {
            name: cell for name, cell in balls(BITS).column.cells.items() if not isinstance(cell, Hole)
        }

    def widen(self, z: Any, units: float, format: Format, name: str) -> Any:
        """z with every rounding of `units` times the unit roundoff, relative to it, and the smallest normal number."""
        if not isinstance(z, arb):
            return z
        return self.widened(z, z.abs_upper() * arb(units * format.unit), format, name)

    def widened(self, z: arb, radius: arb, format: Format, name: str) -> arb:
        """z ± (radius + the smallest normal number); Undecided if that may overflow."""
        found = z + arb(0, (radius + arb(format.smallest)).upper())
        if not found.abs_upper() <= arb(format.largest):
            raise Undecided(f"{name} may overflow in {format.name}", rule=name, remedy="smaller inputs")
        return found

    def gamma(self, n: int) -> float:
        """γ(n), for sums and products of n roundings, in units; Undecided where it says nothing."""
        if n * self.coarsest.unit >= 0.5:
            raise Undecided(f"{n} roundings in {self.coarsest.name} leave no digit", rule="sum", remedy="fewer terms")
        return n / (1 - n * self.coarsest.unit)

    def ulps(self, name: str) -> float:
        """How far a function may be off, in ulp; 0 for what is exact."""
        bound = ULP.find(TABLE[name]) if name in TABLE else Hole("no row")
        documented = DOCUMENTED.get(name, (0.0, 0.0))[self.coarsest is F64]
        return max(documented, 0.0 if isinstance(bound, Hole) else float(bound()))

    def cell(self, name: str) -> Callable[..., Any]:
        """The scalar cell, widened."""
        exact, ulps = self.exact[name], self.ulps(name)
        if name in CORRECT:
            return lambda *arguments: self.widen(exact(*arguments), 1, F64, name)
        return (lambda *arguments: self.widen(exact(*arguments), 2 * ulps, self.coarsest, name)) if ulps else exact

    def div(self, x: Any, y: Any) -> Any:
        """The quotient: a product with the reciprocal, if the divisor is a constant."""
        return self.widen(self.exact["div"](x, y), 3, self.coarsest, "div")

    def power(self, x: Any, n: Any) -> Any:
        """The power: products in any order, if the exponent is whole; of 2, as inexact as `exp2`."""
        units = self.gamma(abs(n) + 1) if type(n) is int else 0.0
        ulps = self.ulps("exp2") if isinstance(x, arb) and x == 2 and isinstance(n, arb) else self.ulps("pow")
        return self.widen(self.exact["pow"](x, n), max(units, 2 * ulps), self.coarsest, "pow")

    def mod(self, x: Any, y: Any) -> Any:
        """The rest of a division: exact in floats of one sign"""
        found = self.exact["mod"](x, y)
        alike = isinstance(found, arb) and (x >= 0) == (y > 0) and (x > 0 or x < 0 or x == 0)
        return found if alike else self.widen(found, 1, F64, "mod")

    def single(self, x: Any) -> Any:
        """x rounded to f32, unless it is a number of f32"""
        found = self.exact["single"](x)
        if isinstance(found, arb) and found.is_exact() and (found == 0 or abs(found) >= arb(F32.smallest)):
            near = float(found.mid())
            if arb(near) == found and single(near) == near:
                return found
        return self.widen(found, 1, F32, "single")

    def to_real(self, x: Any) -> Any:
        """An integer as a real: exact up to 2^53"""
        found = self.exact["to_real"](x)
        return self.widen(found, 1, F64, "to_real") if type(x) is int and abs(x) >= 2**53 else found

    def summed(self, value: Any, sizes: Any, n: int, name: str) -> Any:
        """Sums of n terms in any order, from the exact sums and the sums of absolute values."""
        units = self.gamma(n)

        def one(z: Any, size: Any) -> Any:
            return self.widened(
                z, size.abs_upper() * arb(units * self.coarsest.unit) + n * arb(self.coarsest.smallest), self.coarsest, name
            )

        if isinstance(value, Array):
            items = tuple(one(z, s) if isinstance(z, arb) else z for z, s in zip(value.items, sizes.items, strict=True))
            return value.with_items(items)
        return one(value, sizes) if isinstance(value, arb) else value

    def reduce_sum(self, x: Any, axis: Any, keepdims: Any) -> Any:
        """Σ x over some axes"""
        value = self.exact["reduce_sum"](x, axis, keepdims)
        sizes = self.exact["reduce_sum"](magnitudes(x), axis, keepdims)
        return self.summed(value, sizes, _ratio(x, value), "reduce_sum")

    def cumsum(self, x: Any, axis: Any) -> Any:
        """Every sum of a beginning"""
        return self.summed(self.exact["cumsum"](x, axis), self.exact["cumsum"](magnitudes(x), axis), len(x.items), "cumsum")

    def einsum(self, subscripts: Any, *operands: Any) -> Any:
        """Σ x y over the letters that the output lacks"""
        value = self.exact["einsum"](subscripts, *operands)
        shapes = [getattr(x, "shape", ()) for x in operands]
        found = explicit(subscripts, shapes)
        lengths = letter_sizes(shapes, found.inputs)
        n = math.prod(lengths[c] or 1 for c in lengths if c not in found.output)
        return self.summed(value, self.exact["einsum"](subscripts, *map(magnitudes, operands)), n + len(operands), "einsum")

    def scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        """x with v added, in any order"""
        n = len(getattr(v, "items", (v,)))
        sizes = self.exact["scatter_add"](magnitudes(x), i, magnitudes(v))
        return self.summed(self.exact["scatter_add"](x, i, v), sizes, n, "scatter_add")

    def product(self, name: str) -> Callable[..., Any]:
        """reduce_prod or cumprod, in any order: no part of the product may overflow, or be flushed."""

        def cell(x: Any, *attributes: Any) -> Any:
            value = self.exact[name](x, *attributes)
            sizes = [s for s in getattr(magnitudes(x), "items", ()) if isinstance(s, arb)]
            high = math.prod([s.max(arb(1)) for s in sizes], start=arb(1))
            low = math.prod([s.min(arb(1)) for s in sizes], start=arb(1))
            if sizes and not (high <= arb(self.coarsest.largest) and (low >= arb(self.coarsest.smallest) or low == 0)):
                raise Undecided(f"a part of {name} may overflow or be flushed", rule=name, remedy="inputs near 1")
            units = self.gamma(max(1, len(sizes)))
            return map_leaves(lambda _, z: self.widen(z, units, self.coarsest, name), value)

        return cell

    def lift(self, value: Any) -> Any:
        """A constant: the real that it stands for; below the normal numbers, it may be read as 0."""
        found = balls(BITS).lift(value)
        if isinstance(found, arb) and found != 0 and abs(found) < arb(self.coarsest.smallest):
            return found.union(arb(0))
        return found

    def undisturbed(self) -> dict[str, Callable[..., Any]]:
        """Cells of functions that are continuous where their branches meet: the value of a ball that reaches there is known."""

        def at_reals(name: str, function: Callable[..., arb]) -> Callable[..., Any]:
            return lambda *xs: function(*xs) if all(isinstance(x, arb) for x in xs) else self.exact[name](*xs)

        return {
            "abs": at_reals("abs", abs),
            "maximum": at_reals("maximum", arb.max),
            "minimum": at_reals("minimum", arb.min),
            "copysign": at_reals("copysign", lambda x, y: arb(0) if x == 0 else self.exact["copysign"](x, y)),
        }

    @property
    def reading(self) -> Reading:
        """The reading of programs."""
        scalars = {name: cell for name, cell in self.exact.items() if name not in ARRAY_CELLS}
        widened = {name: self.cell(name) for name in scalars if name in ELEMENTWISE}
        own = {
            "div": self.div,
            "pow": self.power,
            "mod": self.mod,
            "single": self.single,
            "to_real": self.to_real,
            **self.undisturbed(),
        }
        sums = {"reduce_sum": self.reduce_sum, "cumsum": self.cumsum, "einsum": self.einsum, "scatter_add": self.scatter_add}
        products = {name: self.product(name) for name in ("reduce_prod", "cumprod")}
        cells: dict[str, Any] = with_arrays({**scalars, **widened, **own})  # type: ignore[dict-item]
        cells |= {**sums, **products}
        return Reading(Column("rounded balls", cells), self.lift)


def magnitudes(x: Any) -> Any:
    """|x| of every element."""
    return map_leaves(lambda _, z: abs(z) if isinstance(z, arb) else z, x)


def _ratio(x: Any, value: Any) -> int:
    """How many elements of x go into one of the result."""
    return len(getattr(x, "items", (x,))) // max(1, len(getattr(value, "items", (value,))))


def format_of(program: Program) -> Format:
    """The coarsest format of floats that a program speaks of."""
    for node in program.nodes.values():
        match node:
            case Parameter(type=ArrayType(dtype="f32")) | Constant(Array(dtype="f32")) | Constant("f32"):
                return F32
            case Apply() | Parameter() | Constant():
                continue
    return F64


def enclosure(program: Program, point: Sequence[Any]) -> Any:
    """
    Balls that hold whatever a compiled program may compute at `point`, by the bounds above.

    Undecided where a branch or an overflow hangs on what they leave open; Trap where the program has no value over the reals.
    """
    rounding = Rounding(format_of(program))
    with precise():
        return denote(program, [map_leaves(lambda _, x: rounding.lift(x), x) for x in point], rounding.reading)


def exact(program: Program, point: Sequence[Any], written: frozenset[float] | None = None) -> Any:
    """
    The value over the reals at `point`, as balls.

    written   the constants that a person wrote, if others stand for reals that were rounded to them: those may be off by 2 ulp
    """
    reading, format = balls(BITS), format_of(program)
    lift = reading.lift if written is None else _rounded_unless(written, format)
    cells = {**reading.column.cells, "copysign": Rounding(format).reading.column.cells["copysign"]}
    with precise():
        lifted = [map_leaves(lambda _, x: reading.lift(x), x) for x in point]
        return denote(program, lifted, Reading(Column("ball", cells), lift))


def _rounded_unless(written: frozenset[float], format: Format) -> Callable[[Any], Any]:
    """How a constant is read that may have been rounded."""
    reading = balls(BITS)

    def lift(value: Any) -> Any:
        found = reading.lift(value)
        if type(value) is not float or value in written or not math.isfinite(value):
            return found
        return found + arb(0, abs(value) * 4 * format.unit)

    return lambda value: map_leaves(lambda _, x: lift(x), value)


def floats_in(*programs: Program) -> frozenset[float]:
    """The floats written in programs."""
    found: set[float] = set()
    for program in programs:
        for node in program.nodes.values():
            if isinstance(node, Constant):
                map_leaves(lambda _, x: found.add(x) if type(x) is float else None, node.value)
    return frozenset(found)
