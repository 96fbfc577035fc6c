"""
A rule about arrays at known shapes: its instances, each two programs whose parameters are arrays of known size.

Sizes with names run over 0 to a bound, and over some larger ones; arrays of any rank over small shapes, pairs that broadcast
among them; what the pattern leaves free (an axis, a permutation, a shape, an index) over everything that the shapes at hand admit.
An instance is one whose left side can run. They come smallest first, so that the first to fail is the smallest.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations, product
from types import MappingProxyType
from typing import Any, Literal

from semantics.arrays import Array, broadcast_positions, broadcast_shapes, size_of
from semantics.conditions import Condition
from semantics.errors import AdjudgeError
from semantics.infer import infer
from semantics.ir import Program
from semantics.type_language import SCALARS, ArrayType
from semantics.type_lattice import NEVER
from transforms.patterns.metavariables import ATTRIBUTES, Arrays, array_type
from transforms.patterns.rule import PatternRule

Shape = tuple[int, ...]
MOST_SHAPES = 100
MOST_INSTANCES = 160
LARGE = 5
ANONYMOUS = "_"
SAMPLED = ("shape", "index", "i64")  # attributes of which only some values are tried


@dataclass(frozen=True, slots=True)
class Elementwise(Condition):
    """A side condition on arrays: it holds if it does for the elements at every index. `known` has sizes and attributes."""

    known: Mapping[str, Any] = field(default_factory=dict)

    def conjuncts(self, values: Mapping[str, Any], number: Any = lambda c: c) -> list[Any]:
        """One conjunct per comparison and index, over the shape that the arrays of the comparison broadcast to."""
        result: list[Any] = []
        everything = {**self.known, **values}
        for part in self.parts():
            names = [n.id for n in ast.walk(part) if isinstance(n, ast.Name) and n.id in everything]
            arrays = {n: everything[n] for n in names if isinstance(everything[n], Array)}
            shape = broadcast_shapes([a.shape for a in arrays.values()], "condition") if arrays else ()
            places = {n: broadcast_positions(a.shape, shape) for n, a in arrays.items()}
            one = Condition(ast.unparse(part))
            for k in range(size_of(shape)):
                at = {n: a.items[places[n][k]] for n, a in arrays.items()}
                result += one.conjuncts({**everything, **at}, number)
        return result


@dataclass(frozen=True, slots=True)
class Instance:
    """The rule at one choice of types and attributes. To the judge it is a rule like any other."""

    name: str
    left: Program
    right: Program
    condition: Condition | None
    domain: str
    variables: Mapping[str, Any]
    attributes: Mapping[str, Any]
    sizes: Mapping[str, int]

    @property
    def weight(self) -> int:
        """The number of numbers among the arguments."""
        return sum(size_of([n or 0 for n in t.dims]) if isinstance(t, ArrayType) else 1 for t in self.variables.values())

    def within(self, bound: int) -> bool:
        """Whether no size is larger."""
        return all(n <= bound for t in self.variables.values() if isinstance(t, ArrayType) for n in t.dims if n is not None)


@dataclass(frozen=True, slots=True)
class Instances:
    """
    The instances of a rule, smallest first.

    bound     all shapes up to this size are among them; None if they are a choice
    complete  whether, at these shapes, no attribute was left out
    """

    found: tuple[Instance, ...]
    bound: int | None
    complete: bool

    def scope(self, chosen: Sequence[Instance]) -> str:
        """What some of the instances cover, in words."""
        for bound in range(self.bound if self.bound is not None and self.complete else -1, 0, -1):
            if {id(i) for i in self.found if i.within(bound)} <= {id(i) for i in chosen}:
                return f"all shapes up to {bound}"
        count = len(chosen)
        return f"{count} choice{'s' * (count != 1)} of shapes and attributes"


def instances_of(rule: PatternRule) -> Instances:
    """The instances of a rule at small shapes. The condition decides which, as far as sizes and attributes settle it."""
    declared = {name: array_type(text) for name, text in rule.variables.items()}
    shapes, bound = _shapes({n: a for n, a in declared.items() if a is not None})
    candidates = [(s, sizes, a) for s, sizes in shapes for a in _attributes(rule, list(s.values()))]
    chosen = _spread(candidates, 8 * MOST_INSTANCES)
    found: list[Instance] = []
    for shape_of, sizes, attributes in chosen:
        instance = _instance(rule, declared, shape_of, sizes, attributes)
        if instance is not None:
            found.append(instance)
    kept = _spread(found, MOST_INSTANCES)
    sampled = any(rule.variables[n] in SAMPLED for n in rule.literals)
    complete = len(chosen) == len(candidates) and len(kept) == len(found) and not sampled
    return Instances(tuple(sorted(kept, key=lambda i: i.weight)), bound, complete)


def _spread(items: Sequence[Any], most: int) -> list[Any]:
    """All items if there are few; else the first third of `most`, and the rest evenly spread."""
    if len(items) <= most:
        return list(items)
    first, rest = items[: most // 3], items[most // 3 :]
    count = most - len(first)
    return [*first, *(rest[k * len(rest) // count] for k in range(count))]


def _instance(
    rule: PatternRule,
    declared: Mapping[str, Arrays | None],
    shape_of: Mapping[str, Shape],
    sizes: Mapping[str, int],
    attributes: Mapping[str, Any],
) -> Instance | None:
    """The instance, or None where the condition excludes it or the left side cannot run."""
    settled = {**sizes, **attributes}
    condition = _condition(rule.condition, settled)
    if condition is False:
        return None
    types = {n: ArrayType(a.dtype, shape_of[n]) for n, a in declared.items() if a is not None}
    left, right = rule.instance(types, attributes, sizes)
    try:
        if infer(left).result == NEVER:
            return None
    except AdjudgeError:
        return None
    variables = {n: types.get(n, SCALARS.get(t, t)) for n, t in rule.variables.items() if n not in attributes}
    return Instance(rule.name, left, right, condition, rule.domain, MappingProxyType(variables), attributes, sizes)


def _condition(condition: Condition | None, settled: Mapping[str, Any]) -> Condition | Literal[False] | None:
    """What is left of a condition once sizes and attributes are known: nothing (None), a condition, or False."""
    open_: list[str] = []
    for part in condition.parts() if condition is not None else ():
        names = {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
        if not names <= set(settled) | {"abs", "floor"}:
            open_.append(ast.unparse(part))
            continue
        try:
            if not Condition(ast.unparse(part)).holds(settled):
                return False
        except TypeError:  # None and tuples are not compared with numbers
            return False
    return Elementwise(" and ".join(open_), settled) if open_ else None


# shapes


def _shapes(declared: Mapping[str, Arrays]) -> tuple[list[tuple[dict[str, Shape], dict[str, int]]], int | None]:
    """The shapes of all arrays, each with the sizes by name, smallest first; and up to which size they are all there are."""
    names = list(dict.fromkeys(d for a in declared.values() for d in a.dims or () if isinstance(d, str)))
    places = [f"{ANONYMOUS}{n}.{k}" for n, a in declared.items() for k, d in enumerate(a.dims or ()) if d is None]
    free = [n for n, a in declared.items() if a.dims is None]
    known = [*names, *places]
    bound = next(b for b in (3, 2, 1, 0) if (b + 1) ** len(known) <= MOST_SHAPES or b == 0)
    sizes = [dict(zip(known, c, strict=True)) for c in product(range(bound + 1), repeat=len(known))]
    usual = dict(zip(known, (2, 3, 4, 1, 2, 3), strict=False))
    if known:
        sizes += [usual, *({**usual, n: LARGE} for n in known)]
    rank, most = ((3, 2), (2, 2), (1, 2))[min(len(free), 3) - 1] if free else (0, 0)
    choice = [s for r in range(1, rank + 1) for s in product(range(most + 1), repeat=r)]
    choice += [(LARGE,), (3, 1), (2, 3, 2)] if free else []
    any_rank = list(product(choice, repeat=len(free)))
    of_each = sizes if not free or len(sizes) < 5 else sizes[-3:]
    combined = [(dict(zip(free, c, strict=True)), s) for c in any_rank for s in of_each]
    found = [({n: _dims(n, a, any_, s) for n, a in declared.items()}, {n: s[n] for n in names}) for any_, s in combined]
    found.sort(key=lambda f: (sum(size_of(s) for s in f[0].values()), sum(map(len, f[0].values())), str(f)))
    return found, bound if known and not free else None


def _dims(name: str, arrays: Arrays, any_rank: Mapping[str, Shape], sizes: Mapping[str, int]) -> Shape:
    if arrays.dims is None:
        return any_rank[name]
    return tuple(d if isinstance(d, int) else sizes[d or f"{ANONYMOUS}{name}.{k}"] for k, d in enumerate(arrays.dims))


# attributes


def _attributes(rule: PatternRule, shapes: Sequence[Shape]) -> Iterator[dict[str, Any]]:
    """Every choice of the literals that the pattern leaves free; reals stay parameters."""
    varied = [n for n in rule.literals if rule.variables[n] in (*ATTRIBUTES, "i64", "bool")]
    pools = [tuple(dict.fromkeys(map(_hashed, _values(rule.variables[n], shapes)))) for n in varied]
    for choice in product(*pools):
        yield {n: value for n, (_, value) in zip(varied, choice, strict=True)}


def _hashed(value: Any) -> tuple[str, Any]:
    """1, True and 1.0 are different attributes."""
    return type(value).__name__, value


def _values(kind: str, shapes: Sequence[Shape]) -> Iterable[Any]:
    """The attributes of one kind that arrays of these shapes admit, and some that only a rank above does."""
    rank = max(map(len, shapes), default=1)
    match kind:
        case "axis":
            axes = range(-rank, rank)
            several = (p for r in range(min(rank, 2) + 1) for p in permutations(range(rank), r))
            return (None, *sorted(axes, key=lambda a: (abs(a), -a)), *several, *((tuple(range(rank)),) if rank > 2 else ()))
        case "permutation":
            return (None, *(p for r in sorted({len(s) for s in shapes}) for p in permutations(range(min(r, 3)))))
        case "shape":
            wider = (s for shape in shapes for s in (shape, (2, *shape), tuple(2 if n == 1 else n for n in shape)))
            return (*(s for shape in shapes for s in _reshapes(size_of(shape))), *wider)
        case "index":
            largest = max((n for s in shapes for n in s), default=2)
            return (*range(max(largest, 2)), *range(-max(largest, 2), 0), *product(range(2), repeat=2))
        case "bool":
            return (False, True)
        case _:
            return (0, 1, -1, 2, -2, 3)


def _reshapes(count: int) -> list[Any]:
    """Shapes of `count` elements with up to three axes, one size of which may be left open."""
    divisors = [d for d in range(1, count + 1) if count % d == 0] or [0, 1, 2]
    pairs = [(a, b) for a, b in product(divisors, repeat=2) if a * b == count]
    triples = [t for t in combinations((*divisors, *divisors), 3) if math.prod(t) == count][:2]
    return [count, (count,), -1, *pairs, *triples, *((-1, b) for _, b in pairs[:1] if count)]
