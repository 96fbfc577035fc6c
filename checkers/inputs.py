"""
Scalar inputs for judges: an edge pool, a seeded sampler of mixed scale, and Hypothesis strategies over the same numbers.

The edge pool of a function is drawn from four places: a fixed list where doubles and elementary functions change their
behaviour, the constants of its row's domain and kinks, the constants of its source, and the doubles next to all of these.
For several arguments the pool holds ties (x, x), (x, -x) as well, since kinks of `max` and friends lie there.
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Any

from hypothesis import strategies as st

from semantics.conditions import Condition
from semantics.errors import AdjudgeError
from semantics.ir import Constant, Program

Point = tuple[float, ...]

ORDINARY = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0)
"""Where identities hold by accident and where signs turn."""

SATURATING = (20.0, -20.0, 30.0, -30.0, 40.0, -40.0, 89.0, -89.0, 711.0, -711.0, 746.0, -746.0)
"""Beyond these, in turn: tanh, sigmoid and expm1 round to their limits; exp leaves float32, doubles, and the subnormals."""

SMALL = (2.0**-10, 2.0**-27, 2.0**-53)
"""Where 1 + x*x and 1 + x round to 1."""

EXTREME = (5e-324, 2.0**-1022, 1e-200, 1e100, 1e200, 1.7976931348623157e308)
"""Subnormal, least normal, and where squares and cubes leave the doubles."""

MODERATE = 64
"""Inputs within 2^-64 and 2^64, and zero, are moderate: no correct rule has a reason to leave the doubles there."""


def moderate(xs: Iterable[float]) -> bool:
    """Whether every argument is zero or of a magnitude from 2^-64 to 2^64."""
    return all(x == 0 or 2.0**-MODERATE <= abs(x) <= 2.0**MODERATE for x in xs)


def neighbours(x: float) -> tuple[float, ...]:
    """The doubles next to x, below and above."""
    return math.nextafter(x, -math.inf), math.nextafter(x, math.inf)


def condition_numbers(conditions: Iterable[Condition]) -> tuple[float, ...]:
    """The numbers written in conditions, with their signs: the boundary of a domain and the places of kinks."""
    found: list[float] = []
    for condition in conditions:
        for part in ast.walk(ast.parse(condition.text, mode="eval")):
            if isinstance(part, ast.Constant) and isinstance(part.value, (int, float)):
                found += [float(part.value), -float(part.value)]
    return tuple(dict.fromkeys(found))


def program_numbers(program: Program | None) -> tuple[float, ...]:
    """The finite numbers among a program's constants: thresholds and branch points are likely to be there."""
    if program is None:
        return ()
    return _numbers(node.value for node in program.nodes.values() if isinstance(node, Constant))


def code_numbers(function: Callable[..., Any] | None) -> tuple[float, ...]:
    """The finite numbers among the constants of a Python function and of the functions nested in it."""
    found: list[Any] = []
    todo = [getattr(function, "__code__", None)]
    while todo:
        code = todo.pop()
        for value in getattr(code, "co_consts", ()):
            if hasattr(value, "co_consts"):
                todo.append(value)
            else:
                found.append(value)
    return _numbers(found)


def _numbers(values: Iterable[Any]) -> tuple[float, ...]:
    reals = (float(v) for v in values if type(v) in (int, float) and abs(v) < 2**1023)
    return tuple(dict.fromkeys(x for x in reals if math.isfinite(x)))


def edge_numbers(extra: Sequence[float] = ()) -> tuple[float, ...]:
    """The edge pool of one argument: `extra` with signs and neighbours, then the fixed list. No number occurs twice."""
    near = [n for x in extra for n in (x, -x, *neighbours(x))]
    signed = [s * x for x in (*SMALL, *EXTREME) for s in (1.0, -1.0)]
    return tuple({(x, math.copysign(1.0, x)): x for x in (*near, *ORDINARY, *SATURATING, *signed)}.values())


def edge_points(arity: int, extra: Sequence[float] = (), *, seed: int = 0, most: int = 90) -> tuple[Point, ...]:
    """
    At most `most` points of the edge pool of `arity` arguments.

    One argument: the pool itself. Several: combinations of a few ordinary numbers (ties among them), ties over the pool, one
    argument from the pool with the others at 0 or 1, and combinations of the pool; the last two drawn with `seed`.
    """
    pool = edge_numbers(extra)
    if arity == 1:
        return tuple((x,) for x in pool[:most])
    few = (*dict.fromkeys(extra[:2]), 0.0, 1.0, -1.0, 2.0)
    points: list[Point] = [(x,) * arity for x in (1.0, 0.0, *extra[:2], 2.0, -1.0)]
    points += islice(product(few[:3] if arity > 2 else few, repeat=arity), most // 3)
    points += [(x,) * arity for x in pool[: most // 6]]
    source = random.Random(seed)
    alone = [(i, x, base) for i in range(arity) for x in (*SATURATING, *EXTREME, *extra) for base in (0.0, 1.0)]
    for i, x, base in source.sample(alone, min(len(alone), most // 3)):
        points.append(tuple(x if j == i else base for j in range(arity)))
    while len(points) < most:
        points.append(tuple(source.choice(pool) for _ in range(arity)))
    return tuple({tuple((x, math.copysign(1.0, x)) for x in p): p for p in points}.values())[:most]


def random_number(source: random.Random) -> float:
    """A double of mixed scale: mostly a few units, sometimes within 2^±20, rarely up to 2^±60; negative half the time."""
    spread = source.choice((0, 2, 2, 2, 5, 5, 20, 60))
    size = source.random() * 2.0 ** source.uniform(-spread, min(spread, 8) if source.random() < 0.7 else spread)
    return math.copysign(size, source.random() - 0.5)


def random_points(arity: int, count: int, *, seed: int = 0) -> Iterator[Point]:
    """`count` points of random numbers, the same for the same seed."""
    source = random.Random(seed)
    for _ in range(count):
        yield tuple(random_number(source) for _ in range(arity))


def around(point: Point, source: random.Random) -> Point:
    """A point near `point`: every coordinate moved by a random part of itself, from a few ulp to a fifth."""
    return tuple(x + (abs(x) or 1.0) * 2.0 ** -source.uniform(2.3, 50) * source.choice((1.0, -1.0)) for x in point)


def random_cotangent(source: random.Random) -> float:
    """A cotangent of random sign and scale 2^±20."""
    return math.copysign(source.uniform(1, 2) * 2.0 ** source.randint(-20, 20), source.random() - 0.5)


COTANGENTS = (1.0, -1.0, 2.0, 0.5, -3.0, 2.0**-20, 2.0**20, -(2.0**-20), -(2.0**20))
"""Cotangents that tell a linear rule from one that clips, squares, or looks at the sign of its cotangent."""


def numbers(extra: Sequence[float] = ()) -> st.SearchStrategy[float]:
    """Finite doubles: the edge pool or any scale. Shrinks towards the simple ones."""
    ordinary = st.floats(-8, 8)
    return st.one_of(ordinary, st.sampled_from(edge_numbers(extra)), st.floats(allow_nan=False, allow_infinity=False))


def points(arity: int, extra: Sequence[float] = ()) -> st.SearchStrategy[Point]:
    """Points of `arity` such doubles; equal coordinates are as likely as not, so that ties occur."""
    one = numbers(extra)
    return st.one_of(st.tuples(*[one] * arity), one.map(lambda x: (x,) * arity))


def cotangents() -> st.SearchStrategy[float]:
    """Finite cotangents of any sign and scale 2^±20, and zero."""
    scaled = st.builds(lambda m, e: m * 2.0**e, st.floats(-2, 2), st.integers(-20, 20))
    return st.one_of(st.sampled_from((0.0, *COTANGENTS)), scaled)


def satisfying(candidates: Iterable[Point], holds: Callable[[Point], bool]) -> tuple[Point, ...]:
    """The candidates where `holds` is true; one where it raises one of the five errors or an arithmetic error is left out."""
    kept = []
    for point in candidates:
        try:
            if holds(point):
                kept.append(point)
        except (AdjudgeError, ArithmeticError, ValueError):
            continue
    return tuple(kept)
