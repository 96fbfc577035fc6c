"""
Making a subject: from a row, or from a forward function and a pullback. The pool of points is drawn here, once.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from checkers.inputs import Point, around, code_numbers, condition_numbers, edge_points, program_numbers, random_points
from checkers.primitive_audit.given import is_finite, nowhere, objection, two_functions
from checkers.primitive_audit.other_numbers import on_balls, on_other_numbers
from checkers.primitive_audit.programs import ball_function, in_balls, machine_call
from checkers.primitive_audit.pullback_form import rule_of, spreads
from checkers.primitive_audit.reference import Balls, Best, Numeric
from checkers.primitive_audit.subject import Judged, Subject
from semantics.columns.meaning import MEANING
from semantics.errors import AdjudgeError, IllTyped, Malformed
from semantics.ir import Apply, Program
from semantics.primitives.row import Hole, Primitive
from semantics.tangents import ZERO
from transforms.backpropagators import backpropagator
from transforms.python_rows import (
    ARITHMETIC_ERRORS,
    is_opaque,
    location_of,
    opaque_backpropagator,
    parameters_of,
    program_of,
    quietly,
    real,
    row_of,
)

EDGES = 90
BLACK_BOX_EXAMPLES = 80
"""A slope by differences of doubles costs some fifty times one in balls."""
FEW_ARGUMENTS = 4
Tuple = tuple[Any, ...]


def row_in(subject: Any) -> Primitive:
    """The row that is meant: a primitive, or an object that carries one. IllTyped for anything else."""
    found = getattr(subject, "row", subject)
    if not isinstance(found, Primitive):
        raise IllTyped(
            f"{subject!r} is not a primitive", rule="check", remedy="decorate the function with @primitive, or use check_vjp"
        )
    return found


def of_row(row: Primitive, *, seed: int, examples: int) -> Subject:
    """The subject of a primitive of the table or of a user's. IllTyped if it is not a function of reals with a backpropagator."""
    if row.result not in ("real", "number") or not set(row.signature) <= {"real", "number"}:
        raise IllTyped(
            f"{row.name} is not a function of reals", rule="check", remedy="only primitives from reals to a real are judged yet"
        )
    rule = backpropagator(row)
    source = row.columns.get("source", {})
    forward = MEANING[row]
    opaque = is_opaque(rule)
    program = row.columns.get("program")
    written = source.get("backpropagator")
    if opaque and written is not None:
        pull = spread(written)
    elif written is not None:
        pull = python_first(written, rule)
    else:
        pull = machine_rule(rule)
    subject = Subject(
        row.name,
        row.parameters,
        lambda *xs: real(row.name, forward(*xs)),
        pull,
        references(row, forward, source.get("forward")),
        row,
        rule=None if opaque else rule,
        program=program if isinstance(program, Program) else None,
        forward_source=source.get("forward"),
        pull_source=written,
        operations=operations(None if opaque else rule),
        seed=seed,
    )
    if opaque and written is not None:
        hole = program_of(written)
        reason = hole.reason if isinstance(hole, Hole) else "it is opaque"
        subject.lost.append(f"second order and proof are lost: the backpropagator is a black box ({reason})")
    if isinstance(program, Hole):
        subject.lost.append(f"{without_program(subject)}: the function is a black box ({program.reason})")
    numbers = (*condition_numbers((*row.domain, *row.kinks)), *program_numbers(subject.program), *program_numbers(subject.rule))
    numbers += (*code_numbers(source.get("forward")), *code_numbers(written))
    subject.points = tuple(pool(subject, numbers, (), examples))
    return subject


def of_functions(
    forward: Callable[..., Any], pullback: Callable[..., Any], samples: Sequence[Tuple], *, seed: int, examples: int
) -> Subject:
    """The subject of two Python functions; samples say where they are meant to be used."""
    points = checked_samples(samples)
    arity = len(points[0])
    two_functions(forward, pullback, arity)
    name = getattr(forward, "__name__", "forward").replace("<lambda>", "forward")
    parameters = names_of(forward, arity)
    cells: dict[str, Any] = {"meaning": total(name, forward, arity)}
    row = Primitive(name, parameters, ("real",) * arity, "real", columns=cells, location=location_of(forward))
    program = program_of(forward)
    if isinstance(program, Program):
        cells["program"] = program
        cells["ball"] = lambda *xs: in_balls(program, xs)
    meaning = cells["meaning"]
    if not any(is_finite(meaning, p) for p in points):
        raise nowhere(name, len(points), objection(forward, points[0]), "a sample at which it has one, a real number")
    spread_out = spreads(pullback, parameters, points, lambda xs: meaning(*xs))
    rule, why = rule_of(pullback, spread_out, parameters)

    def positional(*a: Any) -> Any:
        return pullback(*a) if spread_out else pullback(tuple(a[:arity]), a[arity], a[arity + 1])

    cells["backpropagator"] = rule or opaque_backpropagator(name, positional, parameters)
    pull = spread(positional)
    subject = Subject(
        name,
        parameters,
        meaning,
        python_first(positional, rule) if rule is not None else pull,
        references(row, meaning, as_positional(forward, arity)),
        row,
        rule=rule,
        program=program if isinstance(program, Program) else None,
        forward_source=forward,
        pull_source=pullback,
        spread_arguments=spread_out,
        operations=operations(rule),
        seed=seed,
    )
    if isinstance(program, Hole):
        subject.lost.append(f"{without_program(subject)}: the function is a black box ({program.reason})")
    if rule is None:
        subject.lost.append(f"second order and proof are lost: the backpropagator is a black box ({why})")
    numbers = (*program_numbers(subject.program), *program_numbers(rule), *code_numbers(forward), *code_numbers(pullback))
    subject.points = tuple(pool(subject, numbers, points, examples))
    return subject


# parts


def checked_samples(samples: Sequence[Tuple]) -> tuple[Point, ...]:
    """The samples as tuples of doubles, all of one length. IllTyped or Malformed with what to do otherwise."""
    if not isinstance(samples, (list, tuple)) or not samples:
        raise Malformed(
            "samples is empty or no list", rule="check_vjp", remedy="a list of argument tuples: [(1.0, 2.0), (0.5, -1.0)]"
        )
    points = []
    for sample in samples:
        if isinstance(sample, np.ndarray) or (
            isinstance(sample, tuple) and any(isinstance(v, np.ndarray) and v.ndim for v in sample)
        ):
            raise IllTyped(
                "samples are tuples of reals, not arrays",
                rule="check_vjp",
                remedy="pass scalars; judge an array rule entry by entry",
            )
        if isinstance(sample, (int, float)) and not isinstance(sample, bool):
            sample = (sample,)
        if not isinstance(sample, (tuple, list)) or not sample:
            raise Malformed(
                f"the sample {sample!r} is not a tuple of arguments", rule="check_vjp", remedy="write (1.0,) for one argument"
            )
        points.append(tuple(real("a sample", v) for v in sample))
    if len({len(p) for p in points}) != 1:
        raise Malformed(
            "the samples differ in length", rule="check_vjp", remedy="one number per argument of forward, in every sample"
        )
    return tuple(points)


def names_of(function: Callable[..., Any], arity: int) -> tuple[str, ...]:
    """The parameter names of the forward function, or x0, x1, … where they are not plain."""
    try:
        found = parameters_of(function)
    except AdjudgeError:
        found = ()
    return found if len(found) == arity else tuple(f"x{i}" for i in range(arity))


def total(name: str, function: Callable[..., Any], arity: int) -> Callable[..., float]:
    """The forward function as a meaning."""
    row, cells = row_of(as_positional(function, arity), name if name.isidentifier() else "forward")
    assert row.columns is cells
    meaning: Callable[..., float] = cells["meaning"]
    return meaning


def as_positional(function: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """The function itself if its parameters are plain, else a wrapper of `arity` parameters."""
    try:
        if len(parameters_of(function)) == arity:
            return function
    except AdjudgeError:
        pass
    names = ", ".join(f"x{i}" for i in range(arity))
    wrapped: Callable[..., Any] = eval(f"lambda {names}: function({names})", {"function": function})
    return wrapped


def spread(rule: Callable[..., Any]) -> Callable[[Point, float, float], Any]:
    """A rule of (x…, y, d) as one of (xs, y, d)."""
    return lambda xs, y, d: quietly("the backpropagator", rule, *xs, y, d)


def python_first(rule: Callable[..., Any], program: Program) -> Callable[[Point, float, float], Any]:
    """The Python rule; where Python raises an arithmetic error, the same rule on the machine, whose reals are total."""
    machine = machine_rule(program)

    def pull(xs: Point, y: float, d: float) -> Any:
        try:
            return quietly("the backpropagator", rule, *xs, y, d)
        except ARITHMETIC_ERRORS:
            return machine(xs, y, d)

    return pull


def machine_rule(program: Program) -> Callable[[Point, float, float], Any]:
    """A rule run on the machine; ZERO, which means that nothing depends on the argument, is 0.0 at the boundary."""
    machine = machine_call(program)

    def pull(xs: Point, y: float, d: float) -> Any:
        found = machine(*xs, y, d)
        return tuple(0.0 if v is ZERO else v for v in found) if isinstance(found, tuple) else found

    return pull


def references(row: Primitive, forward: Callable[..., Any], source: Callable[..., Any] | None = None) -> Best:
    """
    The strongest references there are, ending with differences of doubles.

    Balls if the function can be read in them; else balls if its Python `source` runs on them, and then other numbers too.
    """
    ball = ball_function(row)
    numeric = Numeric(forward)
    if ball is not None:
        return Best((Balls(ball), numeric))
    balls = None if source is None else on_balls(source, len(row.parameters))
    return Best((numeric,) if balls is None or source is None else (balls, *on_other_numbers(source), numeric))


def without_program(subject: Subject) -> str:
    """What is lost of a function whose program cannot be read."""
    return "rigorous enclosures and proof are lost" if subject.reference.balls is None else "proof is lost"


def operations(rule: Program | None) -> int:
    """How many roundings a rule may make: its applications, doubled for library functions; 64 for a black box or one with loops."""
    if rule is None or len(rule.graphs) > 1:
        return 64
    return max(16, 2 * sum(isinstance(n, Apply) for n in rule.nodes.values()))


def pool(subject: Subject, numbers: Sequence[float], samples: Sequence[Point], examples: int) -> Iterator[Judged]:
    """
    The points: samples, points around them and random ones (together about `examples`, less the edges), and the edge pool.

    Only points in the domain where the function is finite; each once, signed zeros told apart. With samples given, a random point
    keeps their order of magnitude half of the time. A point has as many entries as the function has arguments, so that beyond
    FEW_ARGUMENTS there are fewer points.
    """
    source = random.Random(subject.seed)
    many = max(FEW_ARGUMENTS, subject.arity)
    examples, least = examples * FEW_ARGUMENTS // many, max(8, 30 * FEW_ARGUMENTS // many)
    if subject.reference.balls is None:
        examples = min(examples, BLACK_BOX_EXAMPLES // subject.arity)
    edges = edge_points(
        subject.arity, numbers, seed=subject.seed, most=min(EDGES * subject.arity, max(min(24, least), examples // 2))
    )
    near = [around(source.choice(samples), source) for _ in range(examples // 4)] if samples else []
    far = random_points(subject.arity, max(least, examples - len(edges) - len(near)), seed=subject.seed)
    seen: set[Any] = set()
    for origin, points in (("sample", (*samples, *near)), ("random", far), ("edge", edges)):
        yield from _kept(subject, points, origin, seen)


def _kept(subject: Subject, points: Iterable[Point], origin: str, seen: set[Any]) -> Iterator[Judged]:
    for xs in points:
        key = tuple((x, math.copysign(1.0, x)) for x in xs)
        if key in seen:
            continue
        seen.add(key)
        y = subject.value(xs)
        if math.isfinite(y) and subject.row.in_domain(*xs):
            yield Judged(xs, y, origin)
