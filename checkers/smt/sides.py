"""
What both kinds of equality share: the inputs of two programs, their values side by side, points to try, and giving up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import z3

from checkers.smt.smtlib import variable_name
from checkers.smt.terms import is_integer, is_number, real
from checkers.verdict import OutOfScope, Unknown, Verdict
from semantics.arrays import FLOATING, Array, size_of
from semantics.conditions import Condition
from semantics.errors import AdjudgeError, Trap
from semantics.ir import Parameter, Program
from semantics.structured import Record
from semantics.tangents import ZERO, Sparse, SparseArray, dense
from semantics.type_language import ArrayType

BUG = "encoder or solver bug: a counterexample does not survive execution"


def parameter_names(program: Program) -> tuple[str, ...]:
    """The names of the entry's parameters, made unlike each other."""
    names: list[str] = []
    for i, node in enumerate(program.graphs[program.entry].parameters):
        found = program.nodes[node]
        name = found.name if isinstance(found, Parameter) and found.name else f"x{i}"
        names.append(name if name not in names else f"{name}_{i}")
    return tuple(names)


Kind = str | ArrayType


def kinds_of(program: Program) -> tuple[Kind, ...]:
    """The kind of every parameter as declared; a parameter without a type is a real."""
    kinds: dict[str, Kind] = {"i64": "integer", "bool": "boolean", "f64": "real"}
    types = [getattr(program.nodes[n], "type", None) for n in program.graphs[program.entry].parameters]
    return tuple(t if isinstance(t, ArrayType) else kinds.get(str(t), "real") for t in types)


def as_condition(condition: Condition | str | None) -> Condition | None:
    """A side condition given as a Condition, as text, or not at all."""
    return Condition(condition) if isinstance(condition, str) and condition.strip() else (condition or None)  # type: ignore[return-value]


PAIR = 2


@dataclass(frozen=True)
class Inputs:
    """
    The symbolic inputs of a program: `values`, one per parameter, and the flat `variables` they are made of, with their kinds.

    Kinds are "real", "integer", "boolean", the type of an array of known shape, and for the algebra of sensitivities "zero" (ZERO
    itself) and "pair" (of reals).
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    values: tuple[Any, ...]
    variables: tuple[Any, ...]
    flat: tuple[str, ...]

    def rebuild(self, point: Sequence[Any]) -> list[Any]:
        """The arguments that the values of the variables stand for."""
        rest = iter(point)
        return [_assembled(kind, tuple(next(rest) for _ in range(_count(kind)))) for kind in self.kinds]

    def named(self, point: Sequence[Any]) -> dict[str, Any]:
        """The arguments by parameter name."""
        return dict(zip(self.names, self.rebuild(point), strict=True))


def _count(kind: Kind) -> int:
    """How many variables an input is made of; Trap for an array whose shape is not known."""
    if not isinstance(kind, ArrayType):
        return {"zero": 0, "pair": PAIR}.get(kind, 1)
    sizes = [n for n in kind.dims if n is not None]
    if len(sizes) < len(kind.dims):
        raise Trap(f"a parameter of type {kind} has no known shape", rule="smt", remedy="declare every size")
    return size_of(sizes)


def _base(kind: Kind) -> str:
    """The kind of the variables that an input is made of."""
    if isinstance(kind, ArrayType):
        return "real" if kind.dtype in FLOATING else {"i64": "integer", "bool": "boolean"}[kind.dtype]
    return "real" if kind == "pair" else kind


def _assembled(kind: Kind, parts: tuple[Any, ...]) -> Any:
    """The input that is made of these."""
    if isinstance(kind, ArrayType):
        return Array(kind.dtype, tuple(n for n in kind.dims if n is not None), parts)
    return {"zero": ZERO, "pair": parts}.get(kind, parts[0] if parts else ZERO)


def inputs_of(program: Program, kinds: Sequence[Kind], make: Callable[[str, str], Any]) -> Inputs:
    """The inputs of `program`; `make(kind, name)` makes a variable."""
    names = parameter_names(program)
    values: list[Any] = []
    variables: list[Any] = []
    flat: list[str] = []
    for name, kind in zip(names, kinds, strict=True):
        count, base, numbered = _count(kind), _base(kind), kind == "pair" or isinstance(kind, ArrayType)
        made = [make(base, variable_name(name) + (f"_{i}" if numbered else "")) for i in range(count)]
        values.append(_assembled(kind, tuple(made)))
        variables.extend(made)
        flat.extend([base] * count)
    return Inputs(names, tuple(kinds), tuple(values), tuple(variables), tuple(flat))


# leaves: two values of a reading, side by side

PARTED = (Array, Record)


@dataclass(frozen=True)
class Mismatch:
    """Two values that differ in structure or type, so at every input."""

    why: str


def leaves(a: Any, b: Any) -> Iterable[tuple[Any, Any] | Mismatch]:
    """The pairs of scalars of two values of one structure, or where the structures part. ZERO stands for zeros."""
    todo = [(a, b)]
    while todo:
        x, y = (dense(v) if isinstance(v, (Sparse, SparseArray)) else v for v in todo.pop())
        if x is ZERO and y is ZERO:
            continue
        shapes = [(v.dtype, v.shape) if isinstance(v, Array) else (v.label, len(v.items)) for v in (x, y) if isinstance(v, PARTED)]
        if len(shapes) == 2 and shapes[0] != shapes[1]:
            yield Mismatch(f"one is {_sort(x)}, the other {_sort(y)}")
            continue
        if shapes and (len(shapes) == 2 or x is ZERO or y is ZERO):
            x, y = (v.items if isinstance(v, PARTED) else v for v in (x, y))
        if isinstance(x, tuple) and isinstance(y, tuple) and len(x) == len(y):
            todo.extend(zip(x, y, strict=True))
        elif (x is ZERO and isinstance(y, tuple)) or (y is ZERO and isinstance(x, tuple)):
            todo.extend((part, ZERO) for value in (x, y) if isinstance(value, tuple) for part in value)
        else:
            yield _scalars(x, y)


def _scalars(x: Any, y: Any) -> tuple[Any, Any] | Mismatch:
    if x is None and y is None:
        return True, True
    sorts = _sort(x), _sort(y)
    if "nothing" in sorts or sorts[0] == sorts[1]:
        return x, y
    return Mismatch(f"one is {sorts[0]}, the other {sorts[1]}")


def _sort(x: Any) -> str:
    if x is ZERO:
        return "nothing"
    if isinstance(x, bool) or z3.is_bool(x):
        return "a boolean"
    if z3.is_fp(x) or isinstance(x, Fraction):
        return "a real"
    if is_number(x):
        return "an integer" if is_integer(x) else "a real"
    if isinstance(x, Array):
        return f"an array of {x.dtype}, shape {x.shape}"
    return f"{x!r}"


def differ(x: Any, y: Any) -> Any:
    """The condition that two scalars differ, as a z3 term or a Python boolean. Floats differ bit for bit."""
    x, y = (real(0) if v is ZERO else v for v in (x, y))
    if not z3.is_expr(x) and not z3.is_expr(y):
        return x != y
    return z3.Not(x == y)


def spread(pools: Sequence[Sequence[Any]], most: int) -> Iterable[tuple[Any, ...]]:
    """All combinations if there are few, else `most` of them, evenly spread."""
    total = math.prod(len(p) for p in pools)
    if total <= most:
        yield from itertools.product(*pools)
        return
    step = total // most | 1
    for k in range(most):
        index, point = (k * step) % total, []
        for pool in pools:
            index, digit = divmod(index, len(pool))
            point.append(pool[digit])
        yield tuple(point)


def gave_up(error: AdjudgeError) -> Verdict:
    """A program that this reading has no cell for is out of scope; a budget that ran out is unknown."""
    return Unknown(error.what) if type(error).__name__ in ("OutOfFuel", "Crash") else OutOfScope(error.what)


def claimed(verdict: Verdict, claim: str) -> Verdict:
    """The verdict with its claim named."""
    return replace(verdict, claim=claim)
