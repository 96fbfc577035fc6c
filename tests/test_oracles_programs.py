"""The programs on which the derivative oracles are compared: one per way in which control, data and functions can flow."""

from __future__ import annotations

from typing import Any

import pytest

from semantics.ir import Program
from semantics.text import read
from semantics.wellformed import check

POLYNOMIAL = """program @f

@f(%x, %y):
  %a = mul(%x, %x)
  %b = mul(%a, %y)
  %c = sub(%b, %x)
  return %c
"""

ALIASED = """program @f

@f(%x):
  %r = @g(%x, %x)
  return %r

@g(%a, %b):
  %p = mul(%a, %b)
  %q = add(%p, %a)
  return %q
"""

BRANCH = """program @f

@f(%x, %y):
  %c = lt(%x, %y)
  %t = switch(%c, @less, @more)
  %r = %t()
  return %r

@less():
  %a = mul(%x, %x)
  return %a

@more():
  %b = div(%y, %x)
  return %b
"""

LOOP = """program @f

@f(%x, %n):
  %r = @loop(0, 1.0)
  return %r

@loop(%i, %acc):
  %c = lt(%i, %n)
  %t = switch(%c, @body, @done)
  %l = %t()
  return %l

@body():
  %a = mul(%acc, %x)
  %s = add(%a, 0.5)
  %j = add(%i, 1)
  %m = @loop(%j, %s)
  return %m

@done():
  return %acc
"""

WHILE = """program @f

@f(%x):
  %r = @loop(%x)
  return %r

@loop(%v):
  %c = gt(%v, 1.0)
  %t = switch(%c, @shrink, @done)
  %l = %t()
  return %l

@shrink():
  %w = mul(%v, 0.3)
  %m = @loop(%w)
  return %m

@done():
  return %v
"""

RECURSION = """program @power

@power(%x, %n):
  %c = eq(%n, 0)
  %t = switch(%c, @base, @step)
  %r = %t()
  return %r

@base():
  return 1.0

@step():
  %m = sub(%n, 1)
  %p = @power(%x, %m)
  %q = mul(%p, %x)
  return %q
"""

TREE = """program @f

@f(%x, %d):
  %c = le(%d, 0)
  %t = switch(%c, @leaf, @node)
  %r = %t()
  return %r

@leaf():
  %l = mul(%x, 1.5)
  return %l

@node():
  %e = sub(%d, 1)
  %y = add(%x, 1.0)
  %a = @f(%x, %e)
  %b = @f(%y, %e)
  %p = mul(%a, %b)
  return %p
"""

CAPTURED = """program @f

@f(%x, %y):
  %a = mul(%x, %y)
  %r = @apply(@inner, %y)
  return %r

@inner(%z):
  %b = mul(%z, %a)
  %c = add(%b, %x)
  return %c

@apply(%g, %v):
  %once = %g(%v)
  %twice = %g(%once)
  return %twice
"""

CAPTURED_THROUGH_CALL = """program @f

@f(%x):
  %a = mul(%x, 3.0)
  %r = @outer(2.0)
  return %r

@uses_a(%v):
  %u = mul(%v, %a)
  return %u

@outer(%w):
  %s = @uses_a(%w)
  %t = mul(%s, %x)
  return %t
"""

RETURNED_CLOSURE = """program @f

@f(%x, %y):
  %g = @make(%x)
  %h = @make(%y)
  %a = %g(%y)
  %b = %h(%a)
  return %b

@make(%k):
  return @scaled

@scaled(%v):
  %s = mul(%k, %v)
  %t = add(%s, %k)
  return %t
"""

TUPLES = """program @f

@f(%p, %y):
  %x = getitem(%p, 0)
  %q = getitem(%p, -1)
  %z = getitem(%q, 1)
  %t = make_tuple(%x, %y)
  %u = make_tuple(%t, %z, %x)
  %v = getitem(%u, 0)
  %w = getitem(%v, 1)
  %s = getitem(%u, 2)
  %m = mul(%w, %s)
  %n = mul(%m, %z)
  return %n
"""

CURRIED = """program @f

@f(%x, %y, %z):
  %r = @g(%x)
  return %r

@g(%a):
  %h = @h(%y)
  return %h

@h(%b):
  %ab = mul(%a, %b)
  %abz = mul(%ab, %z)
  %s = add(%abz, %y)
  return %s
"""

DEAD = """program @f

@f(%x, %y):
  %c = lt(%x, 0.0)
  %t = switch(%c, @other, @same)
  %r = %t()
  return %r

@other():
  return 7.0

@same():
  %s = mul(%x, 2.0)
  return %s
"""

MIN_MAX = """program @f

@f(%x, %y):
  %a = max(%x, %y)
  %b = min(%x, 2.5)
  %c = abs(%b)
  %m = mul(%a, %c)
  return %m
"""

INTEGERS = """program @f

@f(%x, %n):
  %k = mul(%n, 3)
  %l = add(%k, 1)
  %a = mul(%l, %x)
  %b = pow(%x, %n)
  %c = add(%a, %b)
  return %c
"""

NEWTON = """program @f

@f(%x):
  %r = @loop(0, %x)
  return %r

@loop(%i, %g):
  %c = lt(%i, 4)
  %t = switch(%c, @improve, @done)
  %l = %t()
  return %l

@improve():
  %q = div(%x, %g)
  %s = add(%g, %q)
  %h = mul(%s, 0.5)
  %j = add(%i, 1)
  %m = @loop(%j, %h)
  return %m

@done():
  return %g
"""

WAVES = """program @f

@f(%x, %y):
  %a = sin(%x)
  %b = exp(%y)
  %c = mul(%a, %b)
  %d = atan2(%c, %x)
  %e = tanh(%d)
  %h = hypot(%e, %y)
  return %h
"""

LOGISTIC = """program @f

@f(%x):
  %r = @loop(3, @step, %x)
  return %r

@step(%v):
  %o = sub(1.0, %v)
  %p = mul(%v, %o)
  %q = mul(%x, %p)
  %s = log1p(%q)
  return %s

@loop(%n, %g, %u):
  %c = gt(%n, 0)
  %t = switch(%c, @again, @done)
  %l = %t()
  return %l

@again():
  %w = %g(%u)
  %m = sub(%n, 1)
  %k = @loop(%m, %g, %w)
  return %k

@done():
  return %u
"""

ROOTS = """program @f

@f(%x, %y):
  %a = sqrt(%x)
  %b = cbrt(%y)
  %c = pow(%a, %b)
  %d = log(%c)
  %e = mul(%d, %y)
  return %e
"""

MODULO = """program @f

@f(%x, %y):
  %a = mod(%x, %y)
  %b = floordiv(%x, %y)
  %k = floor(%x)
  %c = mul(%a, %b)
  %d = mul(%c, %k)
  return %d
"""

# name -> (text, whether it is rational, points)
PROGRAMS: dict[str, tuple[str, bool, tuple[tuple[Any, ...], ...]]] = {
    "polynomial": (POLYNOMIAL, True, ((1.5, -2.25), (0.0, 3.0), (-0.0, 0.0))),
    "aliased": (ALIASED, True, ((1.25,), (0.0,))),
    "branch": (BRANCH, True, ((1.0, 2.0), (2.0, 1.0), (-3.0, -4.5))),
    "loop": (LOOP, True, ((1.25, 6), (0.5, 1), (-1.5, 2))),
    "zero trips": (LOOP, True, ((1.25, 0), (0.0, -3))),
    "while": (WHILE, True, ((0.5,), (20.0,), (3.5,))),
    "recursion": (RECURSION, True, ((1.75, 5), (0.0, 1), (2.0, 0))),
    "tree": (TREE, True, ((0.5, 3), (1.25, 0))),
    "captured": (CAPTURED, True, ((1.5, 0.75), (0.0, 2.0))),
    "captured through a call": (CAPTURED_THROUGH_CALL, True, ((1.5,), (-0.25,))),
    "returned closure": (RETURNED_CLOSURE, True, ((1.5, -0.5),)),
    "tuples": (TUPLES, True, (((2.0, (1.0, -3.0)), 4.0), ((2.0, 9, (1.0, 0.5)), 4.0))),
    "curried": (CURRIED, True, ((1.5, 2.0, -0.5),)),
    "an argument that nothing depends on": (DEAD, True, ((1.5, 2.0), (-1.5, 2.0))),
    "min, max and abs": (MIN_MAX, True, ((1.5, -2.0), (-4.0, 3.0), (7.0, 1.0))),
    "integers": (INTEGERS, True, ((1.5, 2), (0.5, 0), (2.0, -2))),
    "newton": (NEWTON, True, ((2.0,), (0.7,))),
    "modulo": (MODULO, True, ((7.25, 2.0), (-7.25, 2.0), (5.5, -1.75))),
    "waves": (WAVES, False, ((0.5, -1.25), (2.0, 0.5))),
    "logistic": (LOGISTIC, False, ((0.5,), (0.75,))),
    "roots": (ROOTS, False, ((2.0, 3.0), (0.25, 1.5))),
}


def program(name: str) -> Program:
    """The program called `name`."""
    return read(PROGRAMS[name][0])


CASES = [pytest.param(name, point, id=f"{name} at {point}") for name, (_, _, points) in PROGRAMS.items() for point in points]
RATIONAL = [case for case in CASES if PROGRAMS[str(case.values[0])][1]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_is_well_formed_and_reads_back(name: str) -> None:
    check(program(name))
    assert read(str(program(name))) == program(name)
