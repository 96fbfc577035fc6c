"""
When a theorem speaks of reals, it is judged on reals: on fractions if the program is rational, else on rigorous enclosures.

Two fractions agree when they are equal, two enclosures when they overlap: both contain the true value if the theorem holds, so
an empty intersection refutes it, and no tolerance is needed. At 400 bits a wrong value has some 2^-300 of room to hide in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from checkers.ball_differences import precision
from checkers.columns.ball import BITS, balls
from checkers.columns.leaves import map_leaves
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.arrays import Array
from semantics.columns.exact import EXACT
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import IllTyped, Trap
from semantics.ir import Constant, NodeId, Program
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.structured import Record
from semantics.tangents import ZERO, Sparse, SparseArray, dense
from semantics.values import Closure

POW = TABLE["pow"]
STRUCTURED = (tuple, Sparse, Closure, Array, SparseArray, Record)
SHARP = 40  # enclosures must agree on so many bits to say anything


@dataclass(frozen=True, slots=True)
class Point:
    """A reading of reals, and the arguments as it has them."""

    reading: Reading
    arguments: tuple[Any, ...]

    def value(self, program: Program, *more: Any) -> Any:
        """The value of `program` at the point, extended by further arguments (doubles, or values of the reading)."""
        return denote(program, (*self.arguments, *lifted(self.reading, more)), self.reading)


def lifted(reading: Reading, values: Sequence[Any]) -> tuple[Any, ...]:
    """Every leaf of the values as the reading has it."""
    result: tuple[Any, ...] = map_leaves(lambda _, leaf: reading.lift(leaf), tuple(values))
    return result


def is_rational(program: Program) -> bool:
    """
    Whether the exact column has a cell for every primitive that is named, and for every one that its gradient applies.

    The gradient of x ** y takes the logarithm of x, unless y is an integer written out.
    """
    used = {node.value for node in program.nodes.values() if isinstance(node, Constant)}
    if any(isinstance(p, Primitive) and isinstance(EXACT.find(p), Hole) and p not in MACROS for p in used):
        return False
    power = program.interned.get(POW)
    return power is None or all(use.index == 0 and _is_whole(program, use.user) for use in program.users(power))


def _is_whole(program: Program, power: NodeId) -> bool:
    """Whether the exponent of a power is an integer written out."""
    inputs = program.inputs(power)
    return len(inputs) == 3 and type(program.constant(inputs[2])) is int


def point(program: Program, arguments: Sequence[Any]) -> Point:
    """The point in the sharpest reading that can run `program`: fractions or balls of 400 bits."""
    reading = FRACTIONS if is_rational(program) else balls(BITS)
    return Point(reading, lifted(reading, arguments))


def differ(found: Any, wanted: Any) -> str | None:
    """What tells two values apart as reals, or None. ZERO, zero and unit agree where nothing flows."""
    todo = [(found, wanted)]
    while todo:
        a, b = todo.pop()
        if isinstance(a, STRUCTURED) or isinstance(b, STRUCTURED):
            if _label(a) != _label(b) and None not in (_label(a), _label(b)):
                return f"structure: {a!r} and {b!r}"
            left, right = _parts(a, b), _parts(b, a)
            if left is None or right is None or len(left) != len(right):
                return f"structure: {a!r} and {b!r}"
            todo.extend(zip(left, right, strict=True))
        elif (verdict := _differ(a, b)) is not None:
            return verdict
    return None


def _label(value: Any) -> Any:
    """What tells arrays of different shapes, and records of different classes, apart; None for what has neither."""
    if isinstance(value, (Array, SparseArray)):
        return value.dtype, value.shape
    return value.label if isinstance(value, Record) else None


def _parts(value: Any, other: Any) -> tuple[Any, ...] | None:
    if isinstance(value, (Sparse, SparseArray)):
        value = dense(value)
    if isinstance(value, (Array, Record)):
        return value.items
    if isinstance(value, Closure):
        return value.captured
    if value is ZERO or value is None:
        return (value,) * len(_parts(other, value) or ())
    return value if isinstance(value, tuple) else None


def _differ(a: Any, b: Any) -> str | None:
    a, b = (0 if x is ZERO or x is None else x for x in (a, b))
    with precision(2 * BITS):
        if isinstance(a, arb) or isinstance(b, arb):
            if not arb(a).overlaps(arb(b)):
                return f"{a} and {b}"
            if not (_sharp(arb(a)) and _sharp(arb(b))):
                raise Wide(f"the enclosures {a} and {b} are too wide to tell")
            return None
    return None if a == b else f"{a} and {b}"


def _sharp(x: arb) -> bool:
    """Whether the enclosure is narrow, relative to its size or absolutely."""
    return bool(x.rad() < arb(2) ** -SHARP * (1 + abs(x.mid())))


class Wide(Exception):
    """Two enclosures that overlap because they are wide."""


def judged(
    claim: str,
    arguments: Sequence[Any],
    found: Callable[[], Any],
    wanted: Callable[[], Any],
    *,
    equal: Callable[[Any, Any], str | None] = differ,
    what: str = "",
) -> Verdict:
    """
    Whether what is found agrees with what is wanted.

    Where the *wanted* value does not exist (a trap, a boundary, a primitive without a cell) the claim is out of scope; where it
    exists and the found one does not, the claim is refuted.
    """
    inputs = {f"argument {i}": x for i, x in enumerate(arguments)}
    try:
        right = wanted()
    except (Trap, IllTyped) as error:
        return OutOfScope(f"no reference value: {error.what}", claim)
    try:
        left = found()
    except (Trap, IllTyped) as error:
        return _failed(claim, inputs, error, right)
    try:
        difference = equal(left, right)
    except Wide as wide:
        return Unknown(str(wide), claim)
    if difference is not None:
        return Refuted(Counterexample(inputs, shown(left), shown(right), note=difference), claim=claim)
    return Passed(1, what or "equal", claim)


def _failed(claim: str, inputs: dict[str, Any], error: Trap | IllTyped, right: Any) -> Verdict:
    """A derivative may be undecided by balls where its value is decided; a trap on exact values is a failure."""
    from checkers.columns.undecided import Undecided

    if isinstance(error, Undecided):
        return Unknown(f"not decided by enclosures: {error.what}", claim)
    return Refuted(Counterexample(inputs, str(error), shown(right)), claim=claim)


def shown(value: Any) -> Any:
    """A value as a counterexample shows it: enclosures by their midpoint, sparse sensitivities as tuples."""

    def leaf(_: Any, x: Any) -> Any:
        return float(x.mid()) if isinstance(x, arb) else x

    return map_leaves(leaf, value, closures=False)
