"""
Programs that make optimizers act: every operation with every treacherous constant, and shapes that passes get wrong.

    algebra      x op c, c op x, x op x and f(g(x)), for reals and integers
    shapes       zero-trip loops, aliases, dead code, unread parameters, captures through calls, both zeros side by side, branches
                 that do not run, traps on paths not taken, functions as values, recursion
    generated    random well-formed graphs, the same for the same seed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from checkers.optimizer_audit.trigger_shapes import STRUCTURED, Trigger, shapes
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Parameter, Program
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER, REAL

BINARY = ("add", "sub", "mul", "div", "min", "max", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "copysign", "gadd")
UNARY = ("neg", "abs", "exp", "log", "sqrt", "sign", "floor", "to_real")
REALS: tuple[Any, ...] = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, float("inf"), float("nan"), 0, 1, 2, -1)
INTEGERS: tuple[Any, ...] = (0, 1, -1, 2, -3, 0.0, 1.0)


def _formula(types: tuple[Any, ...], build: Any) -> Program:
    edit = Edit(empty())
    graph = edit.graph("f")
    parameters = [edit.parameter(graph, n, t) for n, t in zip("xyz", types, strict=False)]
    edit.output(graph, build(edit, graph, parameters))
    return edit.program


def _binary(name: str, first: Any, second: Any, type: Any) -> Program:
    """name(first, second), where the string "x" or "y" is a parameter and anything else a constant."""

    def build(edit: Edit, graph: int, parameters: list[int]) -> int:
        operands = [parameters["xy".index(v)] if isinstance(v, str) else edit.constant(v) for v in (first, second)]
        return edit.call(graph, TABLE[name], *operands)

    return _formula((type, type) if "y" in (first, second) else (type,), build)


def _nested(outer: str, inner: str) -> Program:
    return _formula((REAL,), lambda e, g, p: e.call(g, TABLE[outer], e.call(g, TABLE[inner], p[0])))


def _chain(outer: str, inner: str, c1: Any, c2: Any, type: Any) -> Program:
    """outer(inner(x, c1), c2)"""
    return _formula((type,), lambda e, g, p: e.call(g, TABLE[outer], e.call(g, TABLE[inner], p[0], e.constant(c1)), e.constant(c2)))


def _undo(outer: str, inner: str) -> Program:
    """outer(inner(x, y), y)"""
    return _formula((REAL, REAL), lambda e, g, p: e.call(g, TABLE[outer], e.call(g, TABLE[inner], p[0], p[1]), p[1]))


def _constants(name: str, a: Any, b: Any) -> Program:
    return _formula(
        (REAL,), lambda e, g, p: e.call(g, TABLE["make_tuple"], e.call(g, TABLE[name], e.constant(a), e.constant(b)), p[0])
    )


def algebra() -> Iterator[Trigger]:
    """One operation or two, with the constants at which identities hold or break."""
    for name in BINARY:
        yield Trigger(f"{name}(x, x)", _binary(name, "x", "x", REAL))
        yield Trigger(f"{name}(x, y)", _binary(name, "x", "y", REAL))
        yield Trigger(f"{name}(i, i)", _binary(name, "x", "x", INTEGER))
        for c in REALS:
            yield Trigger(f"{name}(x, {c!r})", _binary(name, "x", c, REAL))
            yield Trigger(f"{name}({c!r}, x)", _binary(name, c, "x", REAL))
        for c in INTEGERS:
            yield Trigger(f"{name}(i, {c!r})", _binary(name, "x", c, INTEGER))
            yield Trigger(f"{name}({c!r}, i)", _binary(name, c, "x", INTEGER))
    for outer in UNARY:
        for inner in UNARY:
            yield Trigger(f"{outer}({inner}(x))", _nested(outer, inner))
    for outer, inner in (
        ("floordiv", "floordiv"),
        ("mod", "mod"),
        ("mod", "mul"),
        ("floordiv", "mul"),
        ("mul", "mul"),
        ("add", "add"),
    ):
        for c1, c2 in ((2, 3), (2, -3), (-2, 3), (-2, -2), (3, 3)):
            yield Trigger(f"{outer}({inner}(i, {c1}), {c2})", _chain(outer, inner, c1, c2, INTEGER))
            yield Trigger(f"{outer}({inner}(x, {c1}.0), {c2}.0)", _chain(outer, inner, float(c1), float(c2), REAL))
    for outer in ("min", "max", "lt", "ge"):
        for c in (2.0, -2.0):
            yield Trigger(f"{outer}({c} * x, 0.0)", _chain(outer, "mul", c, 0.0, REAL))
    for outer, inner in (
        ("div", "mul"),
        ("mul", "div"),
        ("sub", "add"),
        ("add", "sub"),
        ("mod", "mod"),
        ("max", "min"),
        ("min", "max"),
    ):
        yield Trigger(f"{outer}({inner}(x, y), y)", _undo(outer, inner))
    for name in ("div", "floordiv", "mod", "add", "sub", "mul", "min", "max", "pow"):
        for a, b in (
            (1.0, -0.0),
            (0.0, 0.0),
            (float("nan"), 0.0),
            (float("inf"), 0.0),
            (-7, 2),
            (7, -2),
            (0.0, -0.0),
            (-0.0, 0.0),
            (0.1, 0.2),
            (5, 0),
        ):
            yield Trigger(f"{name}({a!r}, {b!r})", _constants(name, a, b))


def called_twice(program: Program) -> Program:
    """g(x…) = 2 f(x…) + f(x…): calls to inline, common expressions to find, closures to specialise. For real-valued programs."""
    edit = Edit(program)
    f = program.graphs[program.entry]
    entry = edit.graph("g")
    old = [program.nodes[n] for n in f.parameters]
    arguments = [edit.parameter(entry, p.name, p.type) for p in old if isinstance(p, Parameter)]
    once, again = (edit.apply(entry, edit.reference(program.entry), *arguments) for _ in range(2))
    doubled = edit.call(entry, TABLE["mul"], once, edit.constant(2.0))
    edit.output(entry, edit.call(entry, TABLE["add"], doubled, again))
    edit.set_entry(entry)
    return edit.program


def own_triggers(rules: Iterable[Any]) -> Iterator[Program]:
    """The left sides of the rules that are patterns, with real and with integer variables."""
    from transforms.patterns.rule import pattern_rule

    for rule in rules:
        text, _, condition = rule.law.partition("   when ")
        try:
            left = pattern_rule(text, when=condition or None).left
        except AdjudgeError:
            continue
        for type in (REAL, INTEGER):
            yield typed(left, type)


def typed(program: Program, type: Any = REAL) -> Program:
    """The program with parameters of this type where none is declared."""
    edit = Edit(program)
    for node in program.graphs[program.entry].parameters:
        old = edit.nodes[node]
        if isinstance(old, Parameter) and old.type is None:
            edit.nodes = edit.nodes.set(node, Parameter(old.graph, old.name, type, old.location))
    return edit.program


@cache
def triggers() -> tuple[Trigger, ...]:
    """All of them, shapes first."""
    plain = tuple(shapes())
    twice = tuple(Trigger(f"{t.name}, twice", called_twice(t.program)) for t in plain if t.name not in STRUCTURED)
    return (*plain, *twice, *algebra())


@cache
def generated(seed: int, count: int) -> tuple[Program, ...]:
    """Random well-formed graphs of two reals, the same for the same seed."""
    from checkers.generators import graphs

    found: list[Program] = []

    @seeded(seed)
    @settings(max_examples=count, database=None, deadline=None, phases=(Phase.generate,), suppress_health_check=list(HealthCheck))
    @given(graphs(size=6))
    def collect(program: Program) -> None:
        found.append(program)

    collect()
    return (*found, *(called_twice(p) for p in found[::3]))
