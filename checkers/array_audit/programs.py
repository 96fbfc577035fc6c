"""
What is on trial inside programs: a primitive, the arguments of a case as values of the language, and vectors over the coordinates
of the case in the structure of those values.

A row is applied as it is, its attributes arguments like others. Two functions of NumPy are made a primitive of the leaves of one
case, which calls them, so that J calls the backpropagator that is judged; or, where J is to enter the rule and our parser reads it,
a row.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from flint import ctx

from checkers import forward_mode
from checkers.array_audit import machine_arrays
from checkers.array_audit.case import Case, Vector, leaves
from checkers.array_audit.machine_arrays import inside
from checkers.array_audit.opinion import entries
from checkers.array_audit.trial import Trial
from checkers.columns.ball import balls
from checkers.columns.leaves import is_discrete, map_leaves
from checkers.inputs import moderate
from semantics.arrays import FLOATING, Array
from semantics.denotation import FLOATS, FRACTIONS, Reading, denote
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import Record
from semantics.tangents import ZERO, SparseArray, dense
from transforms.array_cotangents import ON_ARRAYS, conforming
from transforms.array_rows import entering, leaving
from transforms.nested_grad import expand
from transforms.python_rows import opaque_backpropagator

MOST = 36
"""Coordinates and outputs together of the cases that are put into programs, which the reference machine runs."""


ORIGINS = ("sample", "random", "shape", "attribute")
NO_REALS = "its value has no reals, or nothing varies"


@dataclass(frozen=True, eq=False)
class Placed:
    """
    row        the primitive as programs call it      arguments  its arguments at the case, as values of the language
    varying    the positions that are differentiated  opaque     whether J cannot enter its backpropagator
    """

    row: Primitive
    arguments: tuple[Any, ...]
    varying: tuple[int, ...]
    opaque: bool


def placed(trial: Trial, case: Case, entered: bool = False) -> Placed:
    """What is on trial at a case, as programs have it; `entered` where the programs themselves are read, not called."""
    own = None if trial.silent else trial.row
    if own is None and not entered:
        return _black_box(trial, case)
    varying = sorted({path[0] for path, _ in leaves(case.arguments, case.fixed)})
    row = own or trial.once(None, lambda: _readable(trial), "row")
    return Placed(row, tuple(map(inside, case.arguments)), tuple(varying), trial.rule is None)


def _readable(trial: Trial) -> Primitive:
    """Two functions as a row, with what our parser reads of them."""
    rule, program = trial.rule, trial.program

    def meaning(*arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            return leaving(trial.name, trial.forward(*map(entering, arguments)), None)

    columns: dict[str, Any] = {"meaning": meaning}
    if rule is not None:
        rule = held(rule, trial.parameters, trial.fixed) if trial.fixed else rule
        columns |= {"backpropagator": rule, ON_ARRAYS: conforming(rule, trial.name, trial.parameters, None)}
    if program is not None:
        columns |= {
            "program": program,
            "ball": lambda *arguments: denote(program, arguments, balls(ctx.prec)),
            "exact": lambda *arguments: denote(program, arguments, FRACTIONS),
        }
    name = trial.name if trial.name.isidentifier() else "function"
    return Primitive(name, trial.parameters, ("array",) * len(trial.parameters), "array", columns=columns)


def held(rule: Program, parameters: Sequence[str], fixed: frozenset[int]) -> Program:
    """The rule with ZERO for the cotangents of arguments that are held fixed, whatever it answers: None, as often as not."""
    edit = Edit(rule)
    graph = edit.graph("held")
    given = [edit.parameter(graph, p) for p in (*parameters, "out", "dout")]
    found = edit.apply(graph, edit.reference(rule.entry), *given)
    parts = [
        edit.constant(ZERO) if i in fixed else edit.call(graph, TABLE["getitem"], found, edit.constant(i))
        for i in range(len(parameters))
    ]
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], *parts))
    edit.set_entry(graph)
    return edit.program


def _black_box(trial: Trial, case: Case) -> Placed:
    """The functions of the trial as a primitive of the leaves of a case."""
    found = [leaf for _, leaf in leaves(case.arguments, case.fixed)]
    names = tuple(f"x{k}" for k in range(len(found)))

    def arguments_at(parts: Sequence[Any]) -> tuple[Any, ...]:
        elements = [np.asarray(entering(part), dtype=np.float64).ravel() for part in parts]
        return case.at(np.concatenate(elements) if elements else np.zeros(0))

    def meaning(*parts: Any) -> Any:
        with np.errstate(all="ignore"):
            outputs = [np.asarray(leaf)[()] for _, leaf in leaves((trial.forward(*arguments_at(parts)),))]
        values = tuple(leaving(trial.name, leaf, None) for leaf in outputs)
        return values[0] if len(values) == 1 else values

    def pull(*given: Any) -> tuple[Any, ...]:
        *parts, _, dout = given
        arguments, seeds = arguments_at(parts), dout if isinstance(dout, tuple) else (dout,)
        cotangent = np.concatenate([np.asarray(d, dtype=np.float64).ravel() for d in seeds])
        with np.errstate(all="ignore"):
            here = case.with_value(arguments, trial.forward(*arguments))
            answer = trial.pulled_anew(here, trial.seeded(here, cotangent))
        if answer.cotangents is None:
            raise ArithmeticError(answer.raised or answer.why)
        ends = np.cumsum([np.size(leaf) for leaf in found])[:-1]
        return tuple(d.reshape(np.shape(leaf)) for d, leaf in zip(np.split(answer.cotangents, ends), found, strict=True))

    columns: dict[str, Any] = {"meaning": meaning, "backpropagator": opaque_backpropagator(trial.name, pull, names)}
    name = trial.name if trial.name.isidentifier() else "black_box"
    row = Primitive(name, names, ("array",) * len(names), "array", columns=columns)
    return Placed(row, tuple(map(inside, found)), tuple(range(len(names))), True)


# vectors in the structure of values


def reals_of(value: Any, like: Any) -> list[Any]:
    """The reals of a sensitivity in order, by the structure of what it is the sensitivity of; ZERO where nothing flows."""
    found: list[Any] = []
    todo = [(value, like)]
    while todo:
        d, x = todo.pop()
        if isinstance(x, (tuple, Record)):
            parts = x if isinstance(x, tuple) else x.items
            todo.extend(reversed([(_part(d, k), part) for k, part in enumerate(parts)]))
        elif isinstance(x, Array):
            if x.dtype in FLOATING:
                whole = dense(d) if isinstance(d, SparseArray) else d
                blank = whole is ZERO or whole is None
                found.extend((ZERO,) * len(x.items) if blank else whole.items if isinstance(whole, Array) else (whole,))
        elif not is_discrete(x):
            found.append(d.items[0] if isinstance(d, Array) else ZERO if d is None else d)
    return found


def _part(d: Any, k: int) -> Any:
    if d is ZERO or d is None:
        return ZERO
    return (d.items if isinstance(d, Record) else d)[k]


def with_reals(like: Any, reals: Vector, carrier: Reading = FLOATS) -> Any:
    """A sensitivity of `like` with these reals, in order; unit where it has none."""
    left = iter(reals.tolist())

    def leaf(_: Any, x: Any) -> Any:
        return None if is_discrete(x) else carrier.lift(next(left))

    def part(x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(map(part, x))
        if isinstance(x, Array) and x.dtype not in FLOATING:
            return None
        return map_leaves(leaf, x)

    return part(like)


def directions(at: Placed, vector: Vector, carrier: Reading = FLOATS) -> tuple[Any, ...]:
    """A vector over the coordinates as one sensitivity for each argument; ZERO for attributes."""
    found, start = [], 0
    for i, x in enumerate(at.arguments):
        if i not in at.varying:
            found.append(ZERO)
            continue
        size = len(reals_of(ZERO, x))
        found.append(with_reals(x, vector[start : start + size], carrier))
        start += size
    return tuple(found)


def coordinates_of(at: Placed, cotangents: Sequence[Any]) -> list[Any]:
    """The reals of one cotangent for each argument, in the order of the coordinates of the case."""
    return [r for i in at.varying for r in reals_of(cotangents[i], at.arguments[i])]


def lifted(at: Placed, carrier: Reading) -> tuple[Any, ...]:
    """The arguments as a carrier has them."""
    return tuple(forward_mode.lifted(carrier, x) for x in at.arguments)


# programs


applied = cache(machine_arrays.applied)


@cache
def pullback(row: Primitive, arity: int, order: int = 1) -> Program:
    """(x…, w) -> the cotangents of x by J; of order 2, (x…, w, v…) -> those of (x…, w)."""
    return pulled(applied(row, arity) if order == 1 else pullback(row, arity, order - 1))


def pulled(program: Program) -> Program:
    """(x…, w) -> the cotangents of x by J, through the macro `vjp`."""
    edit = Edit(program)
    entry = edit.graph("pulled")
    xs = [edit.parameter(entry, f"x{i}") for i in range(len(program.graphs[program.entry].parameters))]
    pair = edit.call(entry, TABLE["vjp"], edit.reference(program.entry), *xs)
    edit.output(entry, edit.apply(entry, edit.call(entry, TABLE["getitem"], pair, edit.constant(1)), edit.parameter(entry, "w")))
    edit.set_entry(entry)
    return expand(edit.program)


# cases


def ordinary(trial: Trial, most: int, keep: Callable[[Case], bool] = lambda case: True) -> list[Case]:
    """A few small cases of ordinary size, smooth in every coordinate, where every entry of the rule's Jacobian is right."""
    found: list[Case] = []
    for case in trial.cases:
        if len(found) >= most:
            break
        if case.origin in ORIGINS and keep(case) and is_ordinary(trial, case):
            found.append(case)
    return found


def is_ordinary(trial: Trial, case: Case) -> bool:
    """Whether a case is small, of ordinary size, smooth in every coordinate, and every entry of the rule's Jacobian is right."""
    if min(case.size, case.outputs) == 0 or case.size + case.outputs > MOST:
        return False
    reals = np.abs(np.concatenate([case.coordinates, Case((case.value,), None).coordinates]))
    arguments = reals[: case.size][reals[: case.size] > 0]
    return moderate(tuple(reals)) and bool((arguments >= 2.0**-20).all()) and bool(entries(trial, case).right.all())


def never_real(trial: Trial) -> bool:
    """Whether there is nothing to differentiate in any case."""
    return not any(case.size and case.outputs for case in trial.cases)


def signs(size: int, source: random.Random) -> Vector:
    """A vector of random powers of two of both signs, no entry 0: everything takes part, and products are exact."""
    return np.array([source.choice((1.0, -1.0)) * 2.0 ** source.randint(-1, 1) for _ in range(size)])
