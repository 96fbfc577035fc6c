"""
The programs that a rule is put into: each makes one real t of s(x) = Σ w p(x), and knows its own derivative t'(s).

They have fan-out, closures that capture x through calls, a branch, s as an argument, results that are dropped, loops of 0, 1 and 3
turns, and a recursion that is no loop. One more takes the gradient of s inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from checkers.array_audit.programs import Placed
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.text import read

LOOP = """
  %s = @u({xs})
  %r = @loop({turns}, %s)
  return %r
@loop(%n, %acc):
  %c = gt(%n, 0)
  %k = switch(%c, @more, @done)
  %v = %k()
  return %v
@more():
  %m = sub(%n, 1)
  %a = sin(%acc)
  %b = mul(%a, 0.5)
  %y = @u({xs})
  %z = add(%b, %y)
  %v2 = @loop(%m, %z)
  return %v2
@done():
  return %acc
"""


@dataclass(frozen=True, slots=True)
class Template:
    """The body of @t, in which @u is s, and what it computes: the derivative of its value by s."""

    text: str
    slope: Callable[[float], float]


def _looped(turns: int) -> Callable[[float], float]:
    """The derivative of acc ← sin(acc)/2 + s, from acc = s."""

    def slope(s: float) -> float:
        acc, d = s, 1.0
        for _ in range(turns):
            acc, d = 0.5 * math.sin(acc) + s, 0.5 * math.cos(acc) * d + 1.0
        return d

    return slope


TEMPLATES: dict[str, Template] = {
    "fan-out": Template(
        "  %a = @u({xs})\n  %b = mul(%a, %a)\n  %c = sin(%b)\n  %d = add(%c, %a)\n  return %d\n",
        lambda s: 2 * s * math.cos(s * s) + 1,
    ),
    "captures": Template(
        """  %r = @middle(0.5)
  return %r
@middle(%z):
  %h = @leaf()
  %q = mul(%h, %z)
  return %q
@leaf():
  %v = @u({xs})
  %p = mul(%v, %v)
  return %p
""",
        lambda s: s,
    ),
    "branch": Template(
        """  %a = @u({xs})
  %c = gt(%a, 0.0)
  %k = switch(%c, @yes, @no)
  %r = %k()
  return %r
@yes():
  %v = @u({xs})
  %p = sin(%v)
  return %p
@no():
  %v2 = @u({xs})
  %p2 = mul(%v2, %a)
  return %p2
""",
        lambda s: math.cos(s) if s > 0 else 2 * s,
    ),
    "higher order": Template(
        """  %a = @twice(@u)
  return %a
@twice(%f):
  %p = %f({xs})
  %q = %f({xs})
  %r = mul(%p, %q)
  return %r
""",
        lambda s: 2 * s,
    ),
    "dropped result": Template(
        "  %a = @u({xs})\n  %b = @u({xs})\n  %c = sin(%b)\n  %p = make_tuple(%a, %c)\n  %r = getitem(%p, 1)\n  return %r\n",
        math.cos,
    ),
    "recursion": Template(
        """  %r = @fall(2)
  return %r
@fall(%n):
  %c = gt(%n, 0)
  %k = switch(%c, @deeper, @bottom)
  %v = %k()
  return %v
@deeper():
  %m = sub(%n, 1)
  %a = @fall(%m)
  %b = sin(%a)
  %y = @u({xs})
  %z = mul(%b, %y)
  return %z
@bottom():
  %v2 = @u({xs})
  return %v2
""",
        lambda s: _fallen(s, 2),
    ),
    "no turns": Template(LOOP.replace("{turns}", "0"), _looped(0)),
    "one turn": Template(LOOP.replace("{turns}", "1"), _looped(1)),
    "three turns": Template(LOOP.replace("{turns}", "3"), _looped(3)),
}


def _fallen(s: float, turns: int) -> float:
    """The derivative of r ← s sin(r), from r = s."""
    r, d = s, 1.0
    for _ in range(turns):
        r, d = s * math.sin(r), math.sin(r) + s * math.cos(r) * d
    return d


NESTED = """  %g = grad(@u, {position})
  %d = %g({xs})
  %r = inner(%d, %c)
  return %r
"""


def template(at: Placed, text: str, extra: str = "") -> Program:
    """@t(x…, w): the text, with @u(x…) = inner(subject(x…), w) + 0, a real even where nothing flows."""
    xs, own = (", ".join(f"%{p}{k}" for k in range(len(at.arguments))) for p in ("x", "y"))
    body = text.replace("{xs}", xs)
    head = f"program @t\n@t({', '.join(p for p in (xs, '%w', extra) if p)}):\n"
    s = f"@u({own}):\n  %value = subject({own})\n  %weighed = inner(%value, %w)\n  %real = add(%weighed, 0.0)\n  return %real\n"
    edit = Edit(read(f"{head}{body}{s}", {**TABLE, "subject": at.row}))
    edit.arrays = True
    return edit.program
