"""
The language, program by program: the value is CPython's, the first and second derivatives are those of independent oracles.

Values: equal in bits, or, where NumPy adds in another order or has its own exp, both within one enclosure. The enclosure is
computed with 40 bits, so every operation widens it by 2^-40, 8192 times what a correctly rounded operation errs. That covers any
order of a sum of n <= 64 terms: the largest term enters one partial sum or leaves it, so Σ|partial sums| >= max|x| / 2 >= Σ|x| / 2n
and 2^-40 Σ|x| / 2n >= (n - 1) 2^-53 Σ|x|, the error of any order; and functions that are wrong by up to 4096 ulp.

Derivatives: on fractions if the program is rational, else on enclosures of 400 bits, without tolerance. First: J against forward
mode, trace reversal and differences in ball arithmetic. Second: J of J, contracted with a fixed direction, against forward mode
over J and against dual numbers over dual numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from claims import examples
from flint import arb
from language import CASES, Case

from adjudge.values import to_value
from checkers import ball_differences, forward_mode, trace_reversal
from checkers.columns.ball import balls
from checkers.columns.leaves import coordinates, is_discrete, map_leaves
from checkers.properties.agreement import Point, differ, point
from semantics.denotation import denote
from semantics.ir import Program
from semantics.machine import run
from semantics.structured import Record
from semantics.values import flatten, same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand

CASE = pytest.mark.parametrize("case", CASES, ids=str)
LOOSE_BITS = 40
MOST_COORDINATES = 4


def differentiable(case: Case) -> tuple[int, ...]:
    """The positions of the arguments that hold reals."""
    return tuple(dict.fromkeys(path[0] for path in coordinates(case.values())))


@functools.cache
def expanded(case: Case) -> Program:
    return expand(case.program())


@functools.cache
def gradient_of(case: Case) -> Program:
    """The gradient with respect to all arguments that hold reals, as a tuple."""
    return gradient_program(expanded(case), differentiable(case), case.types())


@CASE
def test_the_value_is_that_of_cpython(case: Case) -> None:
    found, wanted = run(expanded(case), *case.values()), to_value(case.python())
    if not same(found, wanted):
        with ball_differences.precision(LOOSE_BITS):
            loose = denote(expanded(case), lifted(balls(LOOSE_BITS), case.values()), balls(LOOSE_BITS))
            assert encloses(loose, found), "the reference is outside of its own enclosure"
            assert encloses(loose, wanted), f"CPython: {wanted}, here: {found}"


def lifted(reading: Any, values: Sequence[Any]) -> tuple[Any, ...]:
    result: tuple[Any, ...] = map_leaves(lambda _, leaf: reading.lift(leaf), tuple(values))
    return result


def structure(value: Any) -> list[Any]:
    """Shapes, lengths, labels and dtypes, in order."""
    return [token for token in flatten(value) if token[0] != "atom"]


def encloses(balls_: Any, value: Any) -> bool:
    """Whether every real of `value` lies in the ball at its place, and all else, its structure included, is equal."""
    if structure(balls_) != structure(value):
        return False
    inside: list[bool] = []

    def compare(path: Any, leaf: Any) -> None:
        other = functools.reduce(lambda v, i: v.items[i] if isinstance(v, Record) else v[i], path, (value,))
        inside.append(leaf == other if is_discrete(leaf) else bool(leaf.contains(arb(other))))

    map_leaves(compare, (balls_,))
    return all(inside)


def chosen(paths: Sequence[Any]) -> list[Any]:
    """A few coordinates, spread over all of them; all of them in the deep profile."""
    if examples() > 1000 or len(paths) <= MOST_COORDINATES:
        return list(paths)
    return [paths[round(k * (len(paths) - 1) / (MOST_COORDINATES - 1))] for k in range(MOST_COORDINATES)]


@CASE
def test_the_first_derivative_is_that_of_forward_mode_and_of_trace_reversal(case: Case) -> None:
    at = point(expanded(case), case.values())
    found = at.value(gradient_of(case))
    wanted = trace_reversal.gradient(expanded(case), at.arguments, at.reading)
    assert differ(found, tuple(wanted[i] for i in differentiable(case))) is None
    for path in chosen(coordinates(case.values())):
        derivative = forward_mode.derivative(expanded(case), at.arguments, path, at.reading)
        assert differ(entry(found, case, path), derivative) is None, path


def entry(gradient: tuple[Any, ...], case: Case, path: Any) -> Any:
    """The entry of a gradient at a coordinate of the arguments."""
    return follow(gradient[differentiable(case).index(path[0])], path[1:])


def follow(value: Any, path: Any) -> Any:
    return functools.reduce(lambda v, i: v.items[i] if isinstance(v, Record) else v[i], path, value)


@CASE
def test_ball_differences_enclose_the_first_derivative(case: Case) -> None:
    paths = chosen(coordinates(case.values()))[-2:]
    for path in paths:
        verdict = ball_differences.agrees(
            expanded(case), gradient_of(case), case.values(), path, lambda g, path=path: entry(g, case, path)
        )
        assert type(verdict).__name__ in ("Passed", "OutOfScope"), verdict


def direction(case: Case) -> tuple[Any, ...]:
    """A fixed direction: 1, -1/2, 1/3, … over the reals, in the structure of the arguments."""
    count = iter(range(1, 10**6))

    def leaf(_: Any, value: Any) -> Any:
        if is_discrete(value):
            return None
        k = next(count)
        return float(np.float64((-1.0) ** (k + 1)) / 2.0 ** (k % 5))

    return tuple(map_leaves(leaf, case.values()))


@CASE
def test_the_second_derivative_is_that_of_forward_over_reverse_and_of_nested_dual_numbers(case: Case) -> None:
    """The Hessian-vector product, reverse over reverse."""
    at = point(expanded(case), case.values())
    which = differentiable(case)
    product = second_of(case)
    wanted = along(case, at)
    v = tuple(d for i, d in enumerate(direction(case)) if i in which)
    found = at.value(product, *v)
    assert differ(found, wanted) is None
    paths = chosen(coordinates(case.values()))[:2]
    for i in paths:
        total: Any = at.reading.lift(0.0)
        for j in coordinates(case.values()):
            slope = forward_mode.second_derivative(expanded(case), at.arguments, i, j, at.reading)
            total = total + slope * at.reading.lift(follow(direction(case), j))
        assert differ(entry(found, case, i), total) is None, i


@functools.cache
def second_of(case: Case) -> Program:
    """(x…, v…) ↦ the gradient of Σ vᵢ · gradᵢ(x…), all by J."""
    from semantics.edit import Edit
    from semantics.primitives.table import TABLE

    which = differentiable(case)
    edit = Edit(gradient_of(case))
    inner = edit.reference(edit.program.entry)
    graph = edit.graph("directional")
    types = case.types()
    xs = [edit.parameter(graph, f"x{i}", t) for i, t in enumerate(types)]
    vs = [edit.parameter(graph, f"v{i}", types[i]) for i in which]
    gradient = edit.apply(graph, inner, *xs)
    parts = [edit.call(graph, TABLE["getitem"], gradient, edit.constant(k)) for k in range(len(vs))]
    terms = [edit.call(graph, TABLE["inner"], part, v) for part, v in zip(parts, vs, strict=True)]
    total = functools.reduce(lambda a, b: edit.call(graph, TABLE["add"], a, b), terms)
    edit.output(graph, total)
    edit.set_entry(graph)
    return gradient_program(edit.program, which, (*types, *(types[i] for i in which)))


def along(case: Case, at: Point) -> Any:
    """The derivative of the gradient in the fixed direction, by forward mode over J."""
    d = map_leaves(lambda _, leaf: None if leaf is None else at.reading.lift(leaf), direction(case))
    return forward_mode.jvp(gradient_of(case), at.arguments, d, at.reading)[1]


def test_there_are_at_least_150_programs() -> None:
    assert len({(c.file, c.name) for c in CASES}) >= 150
