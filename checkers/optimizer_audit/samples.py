"""
Where two programs are compared: edge pools of doubles, integers and booleans, drawn by the types of variables, and the shrinker.

A pool holds what rewrites forget: both zeros, subnormals, the largest double, infinities, NaN, odd and negative integers, ties
between variables, and the constants of the programs themselves with their neighbours.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from checkers.inputs import random_number
from semantics.arrays import FLOATING, Array, single, size_of
from semantics.ir import Constant, Parameter, Program
from semantics.tangents import ZERO
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, TupleType
from semantics.values import atom

Point = tuple[Any, ...]

FEW = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, math.inf, -math.inf, math.nan)
REALS = (
    *FEW,
    0.5,
    -0.5,
    -2.0,
    3.0,
    0.1,
    1.5,
    5e-324,
    -5e-324,
    2.0**-1022,
    2.0**-53,
    1e-160,
    1e160,
    -1e160,
    1e16,
    4503599627370497.0,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    20.0,
    -40.0,
    711.0,
    -746.0,
)
INTEGERS = (0, 1, -1, 2, -2, 3, -3, 5, -5, 7, -7, 12, 2**53 + 1, -(2**64))
FINITE = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -0.75)
WHOLE = (0, 1, -1, 2, -3, 5)

SIMPLE: tuple[Any, ...] = (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -0.0, -2.0, -3.0, 10.0, 1e300, 5e-324, math.inf, -math.inf, math.nan)
SIMPLE_INTEGERS = (0, 1, 2, 3, -1, -2, -3, 5, 7)


def types_of(program: Program) -> tuple[Any, ...]:
    """The declared types of the parameters of the entry; None where none is declared."""
    found = (program.nodes[n] for n in program.graphs[program.entry].parameters)
    return tuple(p.type for p in found if isinstance(p, Parameter))


def names_of(program: Program) -> tuple[str, ...]:
    """The names of the parameters of the entry, x0, x1… where they have none."""
    found = [program.nodes[n] for n in program.graphs[program.entry].parameters]
    return tuple(p.name or f"x{i}" for i, p in enumerate(found) if isinstance(p, Parameter))


def numbers_in(*programs: Program) -> tuple[float, ...]:
    """The reals written in the programs."""
    values = (n.value for p in programs for n in p.nodes.values() if isinstance(n, Constant))
    found = (float(v) for v in values if type(v) in (int, float) and abs(v) < 2**1023)
    return tuple(dict.fromkeys(x for x in found if math.isfinite(x)))


def pool(type: Any, extra: Sequence[float], *, finite: bool = False, short: bool = False) -> tuple[Any, ...]:
    """The values of one type that are tried; `short` for products of several variables."""
    match type:
        case t if t == BOOLEAN:
            return (True, False)
        case t if t == INTEGER:
            whole = [int(x) for x in extra if x == int(x)]
            chosen: Iterable[Any] = WHOLE if finite or short else INTEGERS
            return _distinct([*chosen, *whole[:3], *(-n for n in whole[:3])])
        case TupleType(items):
            return tuple(product(*(pool(i, extra, finite=finite, short=True)[:3] for i in items)))
        case ArrayType():
            return _arrays(type, extra, finite)
        case "any":
            return _distinct([*pool("number", extra, finite=finite, short=short), True, False, ZERO])
        case "number":
            return _distinct([*pool(None, extra, finite=finite, short=short), *WHOLE])
        case _:
            near = [n for x in extra[:4] for n in (x, -x, math.nextafter(x, -math.inf), math.nextafter(x, math.inf))]
            if finite:
                return _distinct([*FINITE, *extra[:4], *(-x for x in extra[:4])])
            return _distinct([*FEW, *extra[:2]]) if short else _distinct([*REALS, *near])


def element_type(type: ArrayType) -> Any:
    """The type of the elements of an array."""
    return REAL if type.dtype in FLOATING else {"i64": INTEGER, "bool": BOOLEAN}[type.dtype]


def _arrays(type: ArrayType, extra: Sequence[float], finite: bool) -> tuple[Array, ...]:
    """Arrays of a known shape: elements all alike, all different, and one that is special among ordinary ones."""
    count = size_of([n or 0 for n in type.dims])
    values = pool(element_type(type), extra, finite=finite, short=True)
    mixed = [tuple(values[(start + k) % len(values)] for k in range(count)) for start in range(0, len(values), 3)]
    plain = _plain_items(type, 0, count)
    one = [(v, *plain[1:]) for v in values] if count else []
    found = [plain, *mixed, *one, *((v,) * count for v in values)]
    return _distinct(_array(type, items) for items in found)


def _plain_items(type: ArrayType, start: int, count: int) -> tuple[Any, ...]:
    """Ordinary elements, no two neighbours alike, for arrays of up to a few elements all different."""
    ordinary = {"i64": (3, 2, 5, -1, 4), "bool": (True, False)}.get(type.dtype, (0.75, -1.25, 2.5, -0.5, 1.5, 3.0, -2.0))
    return tuple(ordinary[(start + k) % len(ordinary)] for k in range(count))


def _array(type: ArrayType, items: Sequence[Any]) -> Array:
    """An array of a type; what does not fit the dtype is rounded, or is reduced to 64 bits."""
    if type.dtype == "f32":
        items = [single(x) for x in items]
    if type.dtype == "i64":
        items = [(x + 2**63) % 2**64 - 2**63 for x in items]
    return Array(type.dtype, tuple(n or 0 for n in type.dims), tuple(items))


def _distinct(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple({atom(v): v for v in values}.values())


def edge_samples(
    types: Sequence[Any], extra: Sequence[float] = (), *, seed: int = 0, most: int = 400, finite: bool = False
) -> tuple[Point, ...]:
    """
    At most `most` points over the pools of `types`, the same for the same seed: the product of short pools as far as it goes,
    ties and opposites over the long pools, combinations of the long pools, and numbers of mixed scale.
    """
    if not types:
        return ((),)
    pools = [pool(t, extra, finite=finite) for t in types]
    if len(types) == 1:
        found: list[Point] = [(v,) for v in pools[0]]
    else:
        short = [pool(t, extra, finite=finite, short=True) for t in types]
        width = max(2, int((most // 2) ** (1 / len(types))))
        found = list(product(*(s[:width] for s in short)))
        found += [tuple(v if any(atom(v) == atom(w) for w in p) else p[0] for p in pools) for v in pools[0][: most // 8]]
        found += [(v, *(-v if type(v) in (int, float) else v for _ in types[1:])) for v in pools[0][:12] if len(set(types)) == 1]
    source = random.Random(seed)
    for _ in range(max(12, most - len(found)) if len(types) > 1 else 24):
        scaled = source.random() < 0.5
        found.append(tuple(_random(source, t) if scaled else source.choice(p) for t, p in zip(types, pools, strict=True)))
    return tuple({tuple(atom(v) for v in p): p for p in found}.values())[:most]


def star_points(types: Sequence[Any], *, finite: bool = False) -> tuple[Point, ...]:
    """An ordinary point, the same with one coordinate at a time made special, and a tie."""
    base: Point = tuple(_ordinary(t, i) for i, t in enumerate(types))
    found = [base]
    for i, type in enumerate(types):
        pooled = pool(type, (), finite=finite, short=True)
        special = [v for v in pooled if atom(v) != atom(base[i])]
        found += [(*base[:i], v, *base[i + 1 :]) for v in special]
    if len(set(types)) == 1 and len(types) > 1:
        found.append((base[0],) * len(types))
    return tuple(found)


def _ordinary(type: Any, i: int) -> Any:
    match type:
        case t if t == BOOLEAN:
            return True
        case t if t == INTEGER:
            return (3, 2, 5)[i % 3]
        case TupleType(items):
            return tuple(_ordinary(t, i + k) for k, t in enumerate(items))
        case ArrayType(_, dims):
            return _array(type, _plain_items(type, i, size_of([n or 0 for n in dims])))
        case _:
            return (0.75, -1.25, 2.5)[i % 3]


def _random(source: random.Random, type: Any) -> Any:
    match type:
        case t if t == BOOLEAN:
            return source.random() < 0.5
        case t if t == INTEGER:
            return source.randint(-40, 40)
        case TupleType(items):
            return tuple(_random(source, i) for i in items)
        case ArrayType(_, dims):
            return _array(type, [_random(source, element_type(type)) for _ in range(size_of([n or 0 for n in dims]))])
        case "any" if source.random() < 0.2:
            return source.choice((True, False, ZERO))
        case "number" | "any" if source.random() < 0.3:
            return source.randint(-40, 40)
        case _:
            return random_number(source)


def simpler(value: Any) -> Iterator[Any]:
    """Values of the same type that are easier to read, simplest first; none for what is as simple as can be."""
    candidates: tuple[Any, ...] = ()
    if type(value) is float:
        candidates = SIMPLE
        if math.isfinite(value) and abs(value) < 2**53:
            candidates = (*SIMPLE, float(round(value)), round(value, 1), round(value, 3))
    elif type(value) is int:
        candidates = (*SIMPLE_INTEGERS, value // 2)
    elif type(value) is bool:
        candidates = (False,)
    elif isinstance(value, Array):
        items = value.items
        alike = [(c,) * len(items) for c in dict.fromkeys(simpler(items[0]))] if items else []
        parts = ((*items[:i], s, *items[i + 1 :]) for i, v in enumerate(items) for s in simpler(v))
        rounded = single if value.dtype == "f32" else lambda v: v
        candidates = tuple(value.with_items(tuple(map(rounded, c))) for c in (*alike, *parts))
        yield from (c for c in candidates if atom(c) != atom(value) and _simplicity(c) < _simplicity(value))
        return
    elif isinstance(value, tuple):
        candidates = tuple((*value[:i], s, *value[i + 1 :]) for i, v in enumerate(value) for s in simpler(v))
    for candidate in candidates:
        if atom(candidate) == atom(value):
            return
        yield candidate


def _simplicity(value: Array) -> tuple[int, int]:
    """How far the elements of an array are from the front of the lists of simple values, and how many of them differ."""
    ranks = [next((i for i, s in enumerate((*SIMPLE, *SIMPLE_INTEGERS)) if atom(s) == atom(v)), 99) for v in value.items]
    return sum(ranks), len({atom(v) for v in value.items})


def shrink(point: Point, fails: Callable[[Point], bool]) -> Point:
    """A point where `fails` is still true and no coordinate can be made simpler by itself."""
    changed, rounds = True, 0
    while changed and rounds < 8:
        changed, rounds = False, rounds + 1
        for i, value in enumerate(point):
            for candidate in simpler(value):
                smaller = (*point[:i], candidate, *point[i + 1 :])
                if fails(smaller):
                    point, changed = smaller, True
                    break
    return point
