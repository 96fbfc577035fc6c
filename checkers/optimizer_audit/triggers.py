"""
Programs that make optimizers act: every operation with every treacherous constant, and shapes that passes get wrong.

    algebra      x op c, c op x, x op x and f(g(x)), for reals and integers
    shapes       zero-trip loops, aliases, dead code, unread parameters, captures through calls, both zeros side by side, branches
                 that do not run, traps on paths not taken, functions as values, recursion
    generated    random well-formed graphs, the same for the same seed
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Parameter, Program
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.type_language import INTEGER, REAL

BINARY = ("add", "sub", "mul", "div", "min", "max", "floordiv", "mod", "pow", "lt", "le", "eq", "ne", "copysign", "gadd")
UNARY = ("neg", "abs", "exp", "log", "sqrt", "sign", "floor", "to_real")
REALS: tuple[Any, ...] = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, float("inf"), float("nan"), 0, 1, 2, -1)
INTEGERS: tuple[Any, ...] = (0, 1, -1, 2, -3, 0.0, 1.0)


@dataclass(frozen=True)
class Trigger:
    """A program by name."""

    name: str
    program: Program


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


SHAPES: dict[str, str] = {
    "zeros side by side": """
        @f(%x: f64):
          %a = div(%x, 0.0)
          %b = div(%x, -0.0)
          %r = make_tuple(%a, %b)
          return %r""",
    "one and one": """
        @f(%x: f64):
          %a = div(1, 2)
          %b = div(1.0, 2.0)
          %c = add(%x, 1)
          %d = add(%x, 1.0)
          %e = mul(2, 3)
          %g = mul(2.0, 3.0)
          %r = make_tuple(%a, %b, %c, %d, %e, %g)
          return %r""",
    "aliases": """
        @f(%x: f64):
          %r = @g(%x, %x)
          return %r

        @g(%a: f64, %b: f64):
          %s = mul(%a, %b)
          %r = sub(%s, %b)
          return %r""",
    "same operands, other operations": """
        @f(%x: f64, %y: f64):
          %a = add(%x, %y)
          %b = sub(%x, %y)
          %c = mul(%x, %y)
          %d = div(%x, %y)
          %e = sub(%y, %x)
          %p = mul(%a, %b)
          %q = sub(%c, %d)
          %s = mul(%e, 3.0)
          %t = add(%p, %q)
          %r = add(%t, %s)
          return %r""",
    "order of arguments": """
        @f(%x: f64, %y: f64):
          %r = @g(%y, %x)
          return %r

        @g(%a: f64, %b: f64):
          %r = sub(%a, %b)
          return %r""",
    "unread parameter": """
        @f(%x: f64, %y: f64):
          %t = mul(%y, 2.0)
          %a = @g(%t, %x)
          %b = @g(%x, %y)
          %r = sub(%a, %b)
          return %r

        @g(%a: f64, %b: f64):
          %r = mul(%b, %b)
          return %r""",
    "same expression in two functions": """
        @f(%x: f64, %y: f64):
          %a = mul(%x, %y)
          %g1 = @g(%y)
          %r = sub(%a, %g1)
          return %r

        @g(%z: f64):
          %b = mul(%z, %z)
          %c = mul(%z, %z)
          %r = add(%b, %c)
          return %r""",
    "branches": """
        @f(%x: f64, %y: f64):
          %c = lt(%x, %y)
          %t = switch(%c, @then, @else)
          %r = %t()
          return %r

        @then():
          %a = mul(%x, 3.0)
          return %a

        @else():
          %b = sub(%y, %x)
          return %b""",
    "constant condition": """
        @f(%x: f64):
          %c = lt(2.0, 1.0)
          %t = switch(%c, @then, @else)
          %r = %t()
          return %r

        @then():
          %a = exp(%x)
          return %a

        @else():
          %b = sin(%x)
          return %b""",
    "values through a switch": """
        @f(%x: f64, %y: f64):
          %c = ge(%x, 0.0)
          %s = switch(%c, %x, %y)
          %d = div(%s, %y)
          %n = not_(%c)
          %e = switch(%n, 0.0, %d)
          %r = add(%e, %d)
          return %r""",
    "a trap that does not run": """
        @f(%n: i64, %x: f64):
          %c = eq(%n, 0)
          %t = switch(%c, @zero, @other)
          %r = %t()
          return %r

        @zero():
          return %x

        @other():
          %q = floordiv(7, %n)
          %s = mod(%q, %n)
          %v = to_real(%s)
          %a = add(%v, %x)
          return %a""",
    "loop": """
        @f(%x: f64, %n: i64):
          %r = @loop(0, %x)
          return %r

        @loop(%i, %v):
          %c = lt(%i, %n)
          %t = switch(%c, @body, @done)
          %r = %t()
          return %r

        @body():
          %w = mul(%v, 0.5)
          %u = add(%w, %x)
          %j = add(%i, 1)
          %r = @loop(%j, %u)
          return %r

        @done():
          return %v""",
    "invariant that divides, zero trips": """
        @f(%x: f64, %n: i64):
          %r = @loop(0, %x)
          return %r

        @loop(%i, %v):
          %c = lt(%i, %n)
          %t = switch(%c, @body, @done)
          %r = %t()
          return %r

        @body():
          %q = floordiv(12, %n)
          %j = add(%i, %q)
          %k = add(%j, 1)
          %w = neg(%v)
          %r = @loop(%k, %w)
          return %r

        @done():
          return %v""",
    "swap in a loop": """
        @f(%x: f64, %y: f64):
          %r = @loop(0, %x, %y)
          return %r

        @loop(%i, %a, %b):
          %c = lt(%i, 3)
          %t = switch(%c, @body, @done)
          %r = %t()
          return %r

        @body():
          %j = add(%i, 1)
          %s = mul(%b, 0.5)
          %r = @loop(%j, %s, %a)
          return %r

        @done():
          %d = sub(%a, %b)
          return %d""",
    "captured through a call": """
        @f(%x: f64, %y: f64):
          %a = mul(%x, %y)
          %r = @outer(%y)
          %s = sub(%r, %a)
          return %s

        @inner(%z: f64):
          %r = mul(%z, %a)
          return %r

        @outer(%w: f64):
          %u = @inner(%w)
          %v = @inner(%u)
          return %v""",
    "capture of a parameter": """
        @f(%x: f64, %y: f64):
          %g1 = @maker(%x)
          %g2 = @maker(%y)
          %a = %g1(%y)
          %b = %g2(2.0)
          %r = sub(%a, %b)
          return %r

        @maker(%k: f64):
          return @made

        @made(%z: f64):
          %s = mul(%z, %k)
          %r = add(%s, %k)
          return %r""",
    "functions in a tuple": """
        @f(%x: f64):
          %t = make_tuple(@g, @h)
          %a = getitem(%t, 0)
          %b = getitem(%t, -1)
          %u = %a(%x)
          %v = %b(%u)
          return %v

        @g(%y: f64):
          %r = sub(%y, 1.5)
          return %r

        @h(%y: f64):
          %r = mul(%y, %x)
          return %r""",
    "tuples": """
        @f(%x: f64, %y: f64):
          %p = make_tuple(%x, %y)
          %q = make_tuple(%p, %x)
          %i = getitem(%q, 0)
          %a = getitem(%i, 1)
          %b = getitem(%i, -2)
          %c = getitem(%q, -1)
          %s = sub(%a, %b)
          %r = div(%s, %c)
          return %r""",
    "recursion": """
        @f(%x: f64, %n: i64):
          %m = mod(%n, 5)
          %r = @power(%x, %m)
          return %r

        @power(%b: f64, %k: i64):
          %c = le(%k, 0)
          %t = switch(%c, @one, @more)
          %r = %t()
          return %r

        @one():
          return 1.0

        @more():
          %j = sub(%k, 1)
          %p = @power(%b, %j)
          %r = mul(%b, %p)
          return %r""",
    "unreachable cubic": """
        @f(%x: f64):
          %c = lt(%x, %x)
          %t = switch(%c, @never, @always)
          %r = %t()
          return %r

        @never():
          %q = pow(%x, 3)
          return %q

        @always():
          %a = abs(%x)
          %s = sqrt(%a)
          return %s""",
    "dead": """
        @f(%x: f64):
          %a = mul(%x, 2.0)
          %d = exp(%a)
          %e = @g(%d)
          return %a

        @g(%y: f64):
          return %y""",
}


def apart(text: str) -> str:
    """The text with every name defined once: a graph that defines a name an earlier graph has defined gets one of its own."""
    taken: set[str] = set()
    blocks: list[str] = []
    for number, block in enumerate(re.split(r"(?m)^\s*(?=@\w+\()", text)):
        own = set(re.findall(r"%(\w+)(?=:| =)", block))
        for name in own & taken:
            block = re.sub(rf"%{name}\b", f"%{name}_{number}", block)
        taken |= own
        blocks.append(block)
    return "\n".join(blocks)


STRUCTURED = ("zeros side by side", "one and one")


def shapes() -> Iterator[Trigger]:
    """The programs of SHAPES."""
    for name, text in SHAPES.items():
        yield Trigger(name, read("program @f\n" + apart(text)))


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
    from transforms.pattern import pattern_rule

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
