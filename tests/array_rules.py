"""
The judge of array backpropagators, and one table of arguments at which each row is judged (`array_examples`).

A row p at arguments x is the program f(x) = p(x), its attributes parameters too. J of it, and J of that, are compared with dual
numbers and with dual numbers over dual numbers, for a cotangent w of the result and a direction v of the arguments:

    first order     the cotangent of x is Σ w ∂p/∂x, entry by entry; it has the shape and dtype of x
    second order    the pullback of (x, w) ↦ cotangents, at v, is (Σ w ∂(∂p·v)/∂x, ∂p·v)

Rational rows are compared in fractions, by equality; the others in balls of 400 bits, which must overlap and be narrower than
2^-200. A ZERO inside a cotangent must count as a 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any

from flint import arb

from checkers import forward_mode
from checkers.array_audit.programs import pulled
from checkers.array_audit.row_samples_arguments import Example, is_data, shown
from checkers.columns.leaves import at_path, coordinates, is_discrete, map_leaves
from checkers.forward_mode import Dual, duals
from semantics.arrays import FLOATING, Array
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO, dense

WIDEST = arb(2) ** -200
Agrees = Callable[[Any, Any], bool]


@cache
def applied(name: str, arity: int) -> Program:
    """f(x…) = name(x…), in a program that speaks of arrays."""
    edit = Edit(empty())
    edit.arrays = True
    graph = edit.graph(f"the_{name}")
    edit.output(graph, edit.call(graph, TABLE[name], *(edit.parameter(graph, f"x{i}") for i in range(arity))))
    edit.set_entry(graph)
    return edit.program


@cache
def pullback_of(name: str, arity: int, order: int = 1) -> Program:
    """`pulled` of a row, applied once or twice."""
    return pulled(applied(name, arity) if order == 1 else pullback_of(name, arity, order - 1))


@dataclass(frozen=True)
class Judged:
    """What was compared, and what was wrong."""

    compared: int
    wrong: tuple[str, ...]


def judge(name: str, example: Example) -> Judged:
    """First and second order of the row at the example."""
    carrier = example.carrier
    arity = len(example.arguments)
    f, backward = applied(name, arity), pullback_of(name, arity)
    point = tuple(forward_mode.lifted(carrier, a) for a in example.arguments)
    weights = _like(denote(f, point, carrier), carrier, 1)
    try:
        cotangents = denote(backward, [*point, weights], carrier)
    except AdjudgeError as error:
        return Judged(0, (f"the rule fails: {error.what}",))
    agrees = partial(_agrees, carrier=carrier, constant=example.constant)
    wrong = [*_structure(point, cotangents), *_first(f, point, weights, cotangents, carrier, agrees)]
    wrong += _holes(backward, point, weights, carrier, agrees)
    if not wrong:
        directions = tuple(_like(x, carrier, 2) if is_data(a) else ZERO for a, x in zip(example.arguments, point, strict=True))
        found = denote(pullback_of(name, arity, 2), [*point, weights, directions], carrier)
        wrong = _second(f, point, weights, directions, found, carrier, agrees)
    return Judged(len(coordinates(point)), tuple(wrong))


def _like(value: Any, carrier: Reading, seed: int) -> Any:
    """A cotangent of `value`: small odd fractions, none where there is no real. No two parts have the same."""
    count = 0

    def leaf(_: Any, x: Any) -> Any:
        nonlocal count
        count += 1
        return None if is_discrete(x) else carrier.lift(((-1) ** count) * (2.0 * ((5 * count + 3 * seed) % 11) + 1) / 4)

    return None if isinstance(value, Array) and value.dtype not in FLOATING else map_leaves(leaf, value)


def _structure(point: tuple[Any, ...], cotangents: Any) -> list[str]:
    """Every cotangent has the structure, shapes and dtypes of its argument."""
    wrong: list[str] = []
    todo = list(zip(point, cotangents, strict=True))
    while todo:
        x, d = todo.pop()
        if not coordinates((x,)) and not (isinstance(x, Array) and x.dtype in FLOATING):
            if coordinates((d,)):
                wrong.append(f"the cotangent of the attribute {x!r} is {d!r}")
        elif isinstance(x, tuple):
            if not isinstance(d, tuple) or len(d) != len(x):
                wrong.append(f"the cotangent of a tuple of {len(x)} is {d!r}")
            else:
                todo += list(zip(x, d, strict=True))
        elif isinstance(x, Array):
            if not isinstance(d, Array) or (d.dtype, d.shape) != (x.dtype, x.shape) or any(i is ZERO for i in d.items):
                wrong.append(f"the cotangent of {shown(x)} is {d!r}")
        elif isinstance(d, (Array, tuple)) or is_discrete(d):
            wrong.append(f"the cotangent of a real is {d!r}")
    return wrong


def _agrees(found: Any, wanted: Any, carrier: Reading, constant: float) -> bool:
    """Equal, or two enclosures of one real. A rounded constant is a factor of the whole derivative."""
    zero = carrier.lift(0.0)
    found, wanted = (zero if v is ZERO else v for v in (found, wanted))
    if carrier is FRACTIONS:
        return type(found) is Fraction and bool(found == wanted)
    if constant:
        return bool(found.overlaps(wanted * arb(1, constant)))
    return bool(found.overlaps(wanted)) and bool(found.rad() < WIDEST) and bool(wanted.rad() < WIDEST)


def _weighed(weights: Any, tangent: Any, carrier: Reading, part: Callable[[Any], Any] = lambda t: t) -> Any:
    """Σ w·t over the reals of two values of one structure."""
    total: Any = ZERO
    add, mul = carrier.column[TABLE["add"]], carrier.column[TABLE["mul"]]
    for path in coordinates((weights,)):
        own = part(at_path((tangent,), path))
        if own is not ZERO and own is not None:
            total = add(total, mul(at_path((weights,), path), own))
    return carrier.lift(0.0) if total is ZERO else total


def _first(f: Program, point: Any, weights: Any, cotangents: Any, carrier: Reading, agrees: Agrees) -> list[str]:
    wrong = []
    for path in coordinates(point):
        wanted = _weighed(weights, forward_mode.derivative(f, point, path, carrier), carrier)
        found = at_path(cotangents, path)
        if not agrees(found, wanted):
            wrong.append(f"first order, entry {path}: {found} but {wanted}")
    return wrong


def _holes(backward: Program, point: Any, weights: Any, carrier: Reading, agrees: Agrees) -> list[str]:
    """Every second real of the cotangent ZERO gives what zeros give; ZERO itself gives zeros."""

    def with_holes(hole: Any) -> Any:
        return map_leaves(lambda path, w: hole if w is not None and sum(path) % 2 == 0 else w, weights)

    holes, zeros = (denote(backward, [*point, with_holes(z)], carrier) for z in (ZERO, carrier.lift(0.0)))
    wrong = [
        f"a cotangent with ZEROs in it, entry {path}: {at_path(holes, path)} but {at_path(zeros, path)}"
        for path in coordinates(point)
        if not agrees(at_path(holes, path), at_path(zeros, path))
    ]
    nothing = denote(backward, [*point, ZERO], carrier)
    if any(not agrees(at_path(nothing, path), ZERO) for path in coordinates(point)):
        wrong.append("the cotangent of ZERO is not zero")
    return wrong


def _second(f: Program, point: Any, weights: Any, directions: Any, found: Any, carrier: Reading, agrees: Agrees) -> list[str]:
    wrong = []
    moved = forward_mode.jvp(f, point, directions, carrier)[1]
    for path in coordinates((weights,)):
        if not agrees(at_path((found[-1],), path), at_path((moved,), path)):
            wrong.append(f"second order, cotangent entry {path}: {at_path((found[-1],), path)} but {at_path((moved,), path)}")
    inner = duals(carrier)
    level = inner.column.level  # type: ignore[attr-defined]
    for path in coordinates(point):
        seeded = map_leaves(lambda at, x: Dual(x, carrier.lift(1.0), level) if at == path else x, point)  # noqa: B023
        tangent = forward_mode.jvp(f, seeded, directions, inner)[1]
        wanted = _weighed(
            weights, dense(tangent), carrier, lambda t: t.tangent if isinstance(t, Dual) and t.level == level else ZERO
        )
        if not agrees(at_path(found, path), wanted):
            wrong.append(f"second order, entry {path}: {at_path(found, path)} but {wanted}")
    return wrong


@cache
def has_rule(name: str) -> bool:
    """Whether the row has a backpropagator: one for all, or one for each number of arguments."""
    from transforms.backpropagators import find

    return isinstance(find(TABLE[name]), Program) or "*" in TABLE[name].parameters
