"""
Differences in ball arithmetic (T12): a rigorous enclosure of a derivative, with no tolerance.

By the mean value theorem D = (f(x + h) - f(x - h)) / 2h is f'(ξ) for some ξ in the box [x - h, x + h], if f is differentiable
there. That it is, is checked first: f is run on the box as a whole in the *smooth* reading, which decides every guard for all
reals of the box or raises `Undecided`. A derivative program g, run on the same box, encloses g(ξ) for all ξ in it. So if g is
f', the two enclosures overlap; if they do not, g is wrong. No false alarm is possible, and with h = 2^-120 a wrong g has no room
to hide: both enclosures are some 2^-100 wide.

Steps are relative to coordinates below 1, so that the box stays on one side of 0; precision is doubled until
the quotient is sharp.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flint import arb, ctx

from checkers.columns.ball import BITS, balls
from checkers.columns.ball_decisions import interval, lift
from checkers.columns.leaves import Coordinate, Path, coordinates, map_leaves, path_of
from checkers.columns.undecided import Undecided
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.columns.structure import wrong
from semantics.denotation import denote
from semantics.errors import Trap
from semantics.ir import Program
from semantics.tangents import dense

STEP = -120
MOST_BITS = 3200
SHARP_BITS = 40
Select = Callable[[Any], Any]


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Ball arithmetic at `bits` bits inside the block."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def _whole(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class _Box:
    """The reals of the arguments as exact balls, and a step for each coordinate that varies."""

    primals: tuple[Any, ...]
    steps: dict[Path, arb]

    def corner(self, signs: dict[Path, int]) -> Any:
        """The arguments moved by whole steps."""
        return map_leaves(lambda path, leaf: leaf + signs[path] * self.steps[path] if path in signs else leaf, self.primals)

    def all(self) -> Any:
        """The arguments as intervals: everything between the corners."""
        return map_leaves(lambda path, leaf: interval(leaf, self.steps[path]) if path in self.steps else leaf, self.primals)


def _box(primals: Sequence[Any], paths: Sequence[Path]) -> _Box:
    """Steps of 2^STEP times the power of two of the coordinate, or of 1 where that is 0 or beyond 1."""
    steps: dict[Path, arb] = {}

    def note(path: Path, leaf: Any) -> Any:
        if path in paths:
            exponent = min(0, math.frexp(leaf)[1]) if isinstance(leaf, float) and leaf != 0.0 else 0
            steps[path] = _power_of_two(STEP + exponent)
        return lift(leaf)

    return _Box(map_leaves(note, tuple(primals)), steps)


def _power_of_two(exponent: int) -> arb:
    """2^exponent, exactly."""
    return arb(1 << exponent) if exponent >= 0 else arb(1) / arb(1 << -exponent)


def _scalar(program: Program, arguments: Any, bits: int, smooth: bool, select: Select = _whole) -> arb:
    """The selected real of the value at `arguments`."""
    value = dense(select(denote(program, arguments, balls(bits, smooth))))
    if type(value) is int:
        return arb(value)
    if not isinstance(value, arb):
        raise wrong("ball_differences", "a real", value, "select one real of the result")
    return value


def enclosure(program: Program, primals: Sequence[Any], bits: int = BITS) -> Any:
    """The value of `program` at `primals`, doubles taken exactly, with every real enclosed in a ball."""
    with precision(bits):
        return denote(program, map_leaves(lambda _, leaf: lift(leaf), tuple(primals)), balls(bits))


def _quotient(program: Program, box: _Box, paths: tuple[Path, ...], bits: int, select: Select) -> arb:
    """The difference quotient of first order for one path, of second order for two."""

    def at(**signs: int) -> arb:
        moved: dict[Path, int] = {}
        for path, sign in zip(paths, signs.values(), strict=False):
            moved[path] = moved.get(path, 0) + sign
        return _scalar(program, box.corner(moved), bits, False, select)

    h = box.steps[paths[0]]
    if len(paths) == 1:
        return (at(i=1) - at(i=-1)) / (2 * h)
    if paths[0] == paths[1]:
        return (at(i=1, j=0) - 2 * at(i=0, j=0) + at(i=-1, j=0)) / (h * h)
    return (at(i=1, j=1) - at(i=1, j=-1) - at(i=-1, j=1) + at(i=-1, j=-1)) / (4 * h * box.steps[paths[1]])


def _sharp(x: arb, floor: int) -> bool:
    """Whether a ball says something: its radius is small against its midpoint, or below 2^floor."""
    return bool(x.is_finite() and (x.is_exact() or x.rel_accuracy_bits() >= SHARP_BITS or x.rad() < _power_of_two(floor)))


def _enclose(program: Program, primals: Sequence[Any], paths: tuple[Path, ...], bits: int, select: Select) -> tuple[arb, _Box, int]:
    """A sharp quotient, the box it is of, and the precision it took. Undecided if the program is not smooth on the box."""
    while True:
        with precision(bits):
            box = _box(primals, paths)
            try:
                _scalar(program, box.all(), bits, True, select)
                found = _quotient(program, box, paths, bits, select)
            except Undecided:
                if 2 * bits > MOST_BITS:
                    raise
                found = arb.nan()
            if _sharp(found, 2 * STEP + SHARP_BITS) or 2 * bits > MOST_BITS:
                return found, box, bits
        bits *= 2


def difference(program: Program, primals: Sequence[Any], i: Coordinate = 0, *, select: Select = _whole, bits: int = BITS) -> arb:
    """
    An enclosure of ∂f/∂xᵢ at some point of the box. `select` takes a real out of the result.

    Undecided if a guard, a kink or an edge of a domain passes through the box; Trap if f is not defined there.
    """
    return _enclose(program, primals, (path_of(primals, i),), bits, select)[0]


def second_difference(
    program: Program,
    primals: Sequence[Any],
    i: Coordinate = 0,
    j: Coordinate | None = None,
    *,
    select: Select = _whole,
    bits: int = 2 * BITS,
) -> arb:
    """An enclosure of ∂²f/∂xᵢ∂xⱼ at some point of the box; j is i if it is not given."""
    paths = (path_of(primals, i), path_of(primals, i if j is None else j))
    return _enclose(program, primals, paths, bits, select)[0]


def gradient(program: Program, primals: Sequence[Any], *, bits: int = BITS) -> tuple[Any, ...]:
    """Enclosures of all partial derivatives in the structure of `primals`; None at integers and booleans."""
    known = set(coordinates(primals))
    result: tuple[Any, ...] = map_leaves(
        lambda path, _: difference(program, primals, path, bits=bits) if path in known else None, tuple(primals)
    )
    return result


def agrees(
    program: Program,
    derivative_program: Program,
    primals: Sequence[Any],
    i: Coordinate = 0,
    select: Select = _whole,
    *,
    j: Coordinate | None = None,
    of: Select = _whole,
    bits: int = BITS,
) -> Verdict:
    """
    Whether `select` of the value of `derivative_program` is the derivative to coordinate i (and j) of `of` the value of `program`.

    Passed       the enclosures overlap, and are sharp enough to mean something
    Refuted      they do not, or the derivative program is undefined where the program is smooth
    OutOfScope   the point lies on a guard boundary or outside the domain
    Unknown      the enclosures are too wide to tell
    """
    paths = (path_of(primals, i),) if j is None else (path_of(primals, i), path_of(primals, j))
    claim = f"ball differences, order {len(paths)}, coordinate {', '.join(str(p if len(p) > 1 else p[0]) for p in paths)}"
    try:
        wanted, box, bits = _enclose(program, primals, paths, bits * len(paths), of)
    except Undecided as boundary:
        return OutOfScope(f"boundary: {boundary.what}", claim)
    except Trap as outside:
        return OutOfScope(f"outside the domain: {outside.what}", claim)
    inputs = {f"argument {k}": p for k, p in enumerate(primals)}
    with precision(bits):
        try:
            found = _scalar(derivative_program, box.all(), bits, False, select)
        except Trap as trap:
            if isinstance(trap, Undecided) and not _fails_at_the_point(derivative_program, box, bits, select):
                return Unknown(f"the derivative cannot be enclosed: {trap.what}", claim)
            return Refuted(Counterexample(inputs, trap.what, _shown(wanted), "undefined where the program is smooth"), claim=claim)
        if not found.overlaps(wanted):
            note = f"enclosures do not overlap: {_shown(found)} and {_shown(wanted)}"
            return Refuted(Counterexample(inputs, _near(found), _near(wanted), _cause(found, wanted), note=note), claim=claim)
        if not (_sharp(found, STEP + SHARP_BITS) and _sharp(wanted, STEP + SHARP_BITS)):
            return Unknown(f"the enclosures are too wide to tell: {_shown(found)} and {_shown(wanted)}", claim)
    return Passed(1, "overlap of rigorous enclosures", claim)


def _fails_at_the_point(program: Program, box: _Box, bits: int, select: Select) -> bool:
    """Whether a program that could not be run on the box traps at its center, where nothing is uncertain."""
    try:
        _scalar(program, box.primals, bits, False, select)
    except Undecided:
        return False
    except Trap:
        return True
    return False


def _near(x: arb) -> float:
    return float(x.mid())


def _shown(x: arb) -> str:
    return str(x.str(20))


def _cause(found: arb, wanted: arb) -> str:
    """A guess from the ratio of the two."""
    if found.overlaps(-wanted):
        return "the sign"
    if wanted.contains(0):
        return "a derivative where there is none"
    if found.contains(0):
        return "a missing derivative"
    ratio = found / wanted
    return f"a constant factor {_near(ratio):.6g}, if it is the same elsewhere"


def float_error(value: float, enclosed: arb) -> float:
    """
    How far a double is from the real enclosed, in ulp of that real: an upper bound; 0.5 is correctly rounded.

    Infinite for NaN, and for an infinity unless the real itself is beyond the doubles. Below the normal doubles an ulp is 2^-1074.
    """
    if math.isnan(value):
        return math.inf
    with precision(2 * BITS):
        reference = float(enclosed.mid())
        if math.isinf(value) or math.isinf(reference):
            return 0.0 if value == reference else math.inf
        ulps = abs(enclosed - arb(value)).abs_upper() / lift(math.ulp(reference))
        return float(ulps.abs_upper())


def digits_lost(value: float, enclosed: arb) -> float:
    """The bits lost beyond correct rounding: log2 of the error in half ulps, at least 0."""
    return max(0.0, math.log2(max(2.0 * float_error(value, enclosed), 1.0)))
