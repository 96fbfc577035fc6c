"""
Shapes that passes get wrong, as text: zero-trip loops, aliases, dead code, unread parameters, captures through calls, both zeros
side by side, branches that do not run, traps on paths not taken, functions as values, recursion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from semantics.ir import Program
from semantics.text import read


@dataclass(frozen=True)
class Trigger:
    """A program by name."""

    name: str
    program: Program


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
    "a choice between values": """
        @f(%x: f64, %y: f64):
          %c = lt(%x, %y)
          %a = switch(%c, %x, %x)
          %b = switch(%c, %y, %x)
          %r = sub(%a, %b)
          return %r""",
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
