"""
The adjoint identity executed at small sizes: what refutes a wrong rule, and shows that the hypotheses of a proof can be met.

Each cotangent is compared with the exact derivative by dual numbers, over the rationals where the row has values there and else on
rigorous enclosures: two that do not overlap are different numbers. What the machine makes of the rule on doubles is shown.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from flint import arb

from checkers import forward_mode
from checkers.columns.ball import BALLS
from checkers.verdict import Counterexample
from proofs.arrays.instances import Example, concrete, names_of_sizes
from semantics.arrays import FLOATING, Array
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Ellipsis_, Slice
from semantics.tangents import ZERO, Sparse, SparseArray, dense
from semantics.text import read

SIZES: tuple[dict[str, int], ...] = ({}, {"n": 3, "m": 2})
"""Sizes by name where they are not the usual ones."""
USUAL = {"n": 2, "m": 3, "k": 2, "l": 2, "a": 2, "b": 2}


def applied(row: Primitive, arity: int) -> Program:
    """The program that applies a row."""
    names = ", ".join(f"%x{k}" for k in range(arity))
    return read(f"program @f\n@f({names}):\n  %r = {row.name}({names})\n  return %r", {**TABLE, row.name: row})


def placed(example: Example, sizes: dict[str, int], seed: int) -> tuple[Any, ...]:
    """Arguments at given sizes, their reals short fractions, all of them different."""
    source = random.Random(seed)
    pool = [Fraction(k, 8) for k in range(-40, 41) if k % 8]
    source.shuffle(pool)
    numbers = iter([*pool, *(Fraction(k, 3) for k in range(200, 400))])
    return tuple(concrete(a, sizes, numbers) for a in example)


def reals(value: Any) -> list[Any]:
    """The reals in a value, in order; attributes have none."""
    if isinstance(value, tuple):
        return [x for part in value for x in reals(part)]
    if isinstance(value, Array):
        return list(value.items) if value.dtype in FLOATING else []
    return [value] if isinstance(value, (float, Fraction)) else []


def parts(found: Any, like: Any, entries: Callable[[Any], list[Any]] = reals) -> list[Any]:
    """The reals of a sensitivity of `like`, in order: 0 where nothing flowed."""
    if isinstance(found, (Sparse, SparseArray)):
        found = dense(found)
    if isinstance(like, tuple):
        inside = [ZERO] * len(like) if found is ZERO else [found[k] for k in range(len(like))] if like else []
        return [x for f, v in zip(inside, like, strict=True) for x in parts(f, v, entries)]
    count = len(entries(like))
    if found is ZERO or count == 0:
        return [0] * count
    items = list(found.items) if isinstance(found, Array) else [found]
    if len(items) != count or (isinstance(like, Array) and isinstance(found, Array) and found.shape != like.shape):
        raise ValueError(f"a cotangent of {len(items)} numbers for an argument of {count}")
    return [0 if x is ZERO else x for x in items]


def direction(arguments: Sequence[Any], j: int, reading: Reading) -> tuple[Any, ...]:
    """The tangent that moves the real number j alone."""
    return moving(arguments, (float(k == j) for k in itertools.count()), reading)


def moving(arguments: Sequence[Any], rates: Iterator[float], reading: Reading) -> tuple[Any, ...]:
    """The tangent that moves every real at the next of the rates; ZERO of what has no reals."""

    def tangent(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(tangent(v) for v in value) if reals(value) else ZERO
        if isinstance(value, Array) and value.dtype in FLOATING:
            return value.with_items(reading.lift(next(rates)) for _ in value.items)
        return reading.lift(next(rates)) if reals(value) else ZERO

    return tuple(tangent(a) for a in arguments)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The value with a function of each of its reals; attributes stay."""
    if isinstance(value, tuple):
        return tuple(mapped(function, v) for v in value)
    if isinstance(value, Array):
        return value.with_items(map(function, value.items)) if value.dtype in FLOATING else value
    attribute = value is None or value is ZERO or isinstance(value, (bool, int, str, Slice, Ellipsis_))
    return value if attribute else function(value)


ENCLOSURES = Reading(BALLS.column, lambda x: arb.pi() if x == math.pi else BALLS.lift(x), BALLS.truth)
"""Balls, where the double that stands for π in a rule is π."""


def lifted(value: Any, reading: Reading) -> Any:
    return mapped(lambda x: reading.lift(float(x)), value)


def difference(row: Primitive, rule: Program, arguments: Sequence[Any]) -> Counterexample | None:
    """Where the rule is not the adjoint of the derivative at these arguments; None if nothing is seen."""
    return exactly_or_enclosed(partial(_difference, row, rule, arguments))


def exactly_or_enclosed(find: Callable[[Reading], Counterexample | None]) -> Counterexample | None:
    """What is found with fractions, or with enclosures where fractions cannot follow."""
    try:
        return find(FRACTIONS)
    except (AdjudgeError, TypeError, ValueError, ArithmeticError):
        return find(ENCLOSURES)


def _difference(row: Primitive, rule: Program, arguments: Sequence[Any], reading: Reading) -> Counterexample | None:
    program = applied(row, len(arguments))
    point = [lifted(a, reading) for a in arguments]
    value = denote(program, point, reading)
    exactly = lifted_like(value)
    w = [Fraction(2 * (k % 7) - 5, 2) for k in range(exactly)]
    seeds = iter(w)
    dout = mapped(lambda x: reading.lift(float(next(seeds))), value)
    found = [x for d, a in zip(denote(rule, [*point, value, dout], reading), arguments, strict=True) for x in parts(d, a)]
    for j, cotangent in enumerate(found):
        _, tangent = forward_mode.jvp(program, point, direction(arguments, j, reading), reading)
        moved = list(flattened(tangent, value))
        wanted: Any = 0
        for a, b in zip(w, moved, strict=True):
            wanted = wanted + reading.lift(float(a)) * b if b is not ZERO else wanted
        if apart(cotangent, wanted):
            shown = {f"x{k}": doubles(a) for k, a in enumerate(arguments)}
            on_machine = _on_machine(row, rule, list(shown.values()), w)
            cause = f"cotangent {j} of {row.name} is not that of the derivative"
            return Counterexample(shown, on_machine[j] if on_machine else cotangent, wanted, cause=cause)
    return None


def lifted_like(value: Any) -> int:
    """How many reals a value of some reading has."""
    return len(list(flattened(value, value)))


def flattened(value: Any, like: Any) -> Iterator[Any]:
    """The leaves of a tangent in the order of a value."""
    if isinstance(value, (Sparse, SparseArray)):
        value = dense(value)
    if isinstance(like, tuple):
        for k, part in enumerate(like):
            yield from flattened(ZERO if value is ZERO else value[k], part)
    elif isinstance(like, Array):
        yield from [ZERO] * len(like.items) if value is ZERO else value.items
    elif not isinstance(like, (bool, int)):
        yield value


def doubles(value: Any) -> Any:
    """The same value on doubles."""
    return mapped(float, value)


def _on_machine(row: Primitive, rule: Program, arguments: list[Any], w: Sequence[Fraction]) -> list[Any]:
    """What the machine makes of the rule on doubles; nothing if it refuses."""
    seeds = iter(w)
    try:
        out = run(applied(row, len(arguments)), *arguments)
        dout = mapped(lambda _: float(next(seeds)), out)
        back = run(rule, *arguments, out, dout)
        return [x for d, a in zip(back, arguments, strict=True) for x in parts(d, a)]
    except (AdjudgeError, ValueError):
        return []


def apart(a: Any, b: Any) -> bool:
    """Whether two numbers are certainly different: enclosures that do not overlap."""
    if isinstance(a, (int, Fraction)) and isinstance(b, (int, Fraction)):
        return a != b
    difference = a - b
    return bool(difference > 0) or bool(difference < 0)


Difference = Callable[[Primitive, Program, Sequence[Any]], Counterexample | None]


def refutation(
    row: Primitive, examples: Sequence[Example], rule: Program, differ: Difference = difference
) -> Counterexample | None:
    """The first small instance at which the rule is wrong; a rule that has no value there is wrong too."""
    taken = len(rule.graphs[rule.entry].parameters) - 2
    for example in examples:
        for other in SIZES if len(example) == taken else ():
            sizes = {name: (USUAL | other).get(name, 2) for name in names_of_sizes(example)}
            arguments = inside(row, placed(example, sizes, len(sizes)))
            if arguments is None:
                continue
            try:
                found = differ(row, rule, arguments)
            except (AdjudgeError, TypeError, ValueError, ArithmeticError) as error:
                shown = {f"x{k}": doubles(a) for k, a in enumerate(arguments)}
                return Counterexample(shown, str(getattr(error, "what", error)), "a cotangent of the shape of its argument")
            if found is not None:
                return found
    return None


DOMAINS: tuple[Callable[[Any], Any], ...] = (lambda x: x, lambda x: abs(x) / 8, lambda x: abs(x) + 1)
"""All numbers, those between 0 and 1, those above 1: most rows have a value on one of these."""


def inside(row: Primitive, arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments, brought to where the row has a value over the reals; None if it has none on any of the domains."""
    for domain in DOMAINS:
        found = mapped(lambda x, to=domain: to(x) if isinstance(x, Fraction) else x, tuple(arguments))  # type: ignore[misc]
        if defined(row, found):
            return tuple(found)
    return None


def defined(row: Primitive, arguments: Sequence[Any]) -> bool:
    """Whether the row itself has a value over the reals."""
    for reading in (FRACTIONS, ENCLOSURES):
        try:
            denote(applied(row, len(arguments)), [lifted(a, reading) for a in arguments], reading)
        except (AdjudgeError, TypeError, ValueError, ArithmeticError):
            continue
        return True
    return False
