"""Programs for the tests of inference and of the backend: the shapes of control flow and data that lowering must get right."""

from __future__ import annotations

from typing import Any

PROGRAMS: dict[str, str] = {
    "straight": """program @f
@f(%x: f64, %y: f64):
  %a = mul(%x, %y)
  %b = add(%a, 1.5)
  %c = div(%b, %y)
  %d = sub(%c, %x)
  return %d
""",
    "elementary": """program @f
@f(%x: f64, %y: f64):
  %a = exp(%x)
  %b = sin(%a)
  %c = pow(%b, 2.0)
  %d = pow(2.0, %y)
  %e = tanh(%d)
  %g = atan2(%e, %c)
  %h = log(%g)
  %i = cbrt(%h)
  return %i
""",
    "remainders": """program @f
@f(%x: f64, %y: f64):
  %a = floordiv(%x, %y)
  %b = mod(%x, %y)
  %c = min(%a, %b)
  %d = max(%x, %b)
  %e = sign(%x)
  %g = make_tuple(%a, %b, %c, %d, %e)
  return %g
""",
    "nested_ifs": """program @f
@f(%x: f64, %y: f64):
  %c = lt(%x, %y)
  %t = switch(%c, @less, @more)
  %r = %t()
  %s = mul(%r, 3.0)
  return %s
@less():
  %c2 = lt(%x, 0.0)
  %t2 = switch(%c2, @negative, @positive)
  %r2 = %t2()
  return %r2
@negative():
  %n = neg(%x)
  return %n
@positive():
  %p = add(%x, %y)
  return %p
@more():
  return %y
""",
    "merge": """program @f
@f(%x: f64, %n: i64):
  %c = lt(%x, 0.0)
  %t = switch(%c, @a, @b)
  %r = %t()
  return %r
@a():
  %a1 = mul(%x, %x)
  %a2 = @after(%a1)
  return %a2
@b():
  %c3 = lt(%x, 10.0)
  %t3 = switch(%c3, @b1, @b2)
  %r3 = %t3()
  return %r3
@b1():
  %b3 = @after(%x)
  return %b3
@b2():
  %b4 = add(%x, 1.0)
  %b5 = @end(%b4)
  return %b5
@after(%v):
  %w = add(%v, %n)
  %w2 = @end(%w)
  return %w2
@end(%u):
  %u2 = mul(%u, 0.1)
  return %u2
""",
    "loop": """program @f
@f(%x: f64, %n: i64):
  %r = @loop(0, %x)
  %s = mul(%r, %r)
  return %s
@loop(%i, %a):
  %c = lt(%i, %n)
  %t = switch(%c, @body, @done)
  %q = %t()
  return %q
@body():
  %i2 = add(%i, 1)
  %a2 = mul(%a, 0.9)
  %a3 = add(%a2, %x)
  %b = @loop(%i2, %a3)
  return %b
@done():
  return %a
""",
    "swap": """program @f
@f(%x: f64, %n: i64):
  %r = @loop(%n, %x, 1.0, 2.0)
  return %r
@loop(%i, %a, %b, %d):
  %c = gt(%i, 0)
  %t = switch(%c, @body, @done)
  %q = %t()
  return %q
@body():
  %i2 = sub(%i, 1)
  %p = @loop(%i2, %b, %d, %a)
  return %p
@done():
  %u = make_tuple(%a, %b, %d)
  return %u
""",
    "nested_loops": """program @f
@f(%x: f64, %n: i64):
  %r = @outer(0, %x)
  return %r
@outer(%i, %a):
  %c = lt(%i, %n)
  %t = switch(%c, @obody, @odone)
  %q = %t()
  return %q
@obody():
  %z = @inner(0, %a)
  return %z
@inner(%j, %b):
  %c2 = lt(%j, %i)
  %t2 = switch(%c2, @ibody, @idone)
  %q2 = %t2()
  return %q2
@ibody():
  %j2 = add(%j, 1)
  %b2 = add(%b, 0.25)
  %b3 = mul(%b2, 0.75)
  %w = @inner(%j2, %b3)
  return %w
@idone():
  %i2 = add(%i, 1)
  %v = @outer(%i2, %b)
  return %v
@odone():
  return %a
""",
    "break": """program @f
@f(%x: f64, %n: i64):
  %r = @loop(0, %x)
  %s = add(%r, 1.0)
  return %s
@loop(%i, %a):
  %c = lt(%i, %n)
  %t = switch(%c, @body, @done)
  %q = %t()
  return %q
@body():
  %a2 = mul(%a, 2.0)
  %c2 = gt(%a2, 100.0)
  %t2 = switch(%c2, @stop, @next)
  %q2 = %t2()
  return %q2
@stop():
  %y = @finish(%a2)
  return %y
@next():
  %c4 = lt(%a2, 0.5)
  %t4 = switch(%c4, @bump, @plain)
  %q4 = %t4()
  return %q4
@bump():
  %i3 = add(%i, 2)
  %z3 = @loop(%i3, %a2)
  return %z3
@plain():
  %i2 = add(%i, 1)
  %z = @loop(%i2, %a2)
  return %z
@done():
  %d = @finish(%a)
  return %d
@finish(%v):
  %e = neg(%v)
  return %e
""",
    "early_return_from_inner": """program @f
@f(%x: f64, %n: i64):
  %r = @outer(0, %x)
  %s = mul(%r, 0.5)
  return %s
@outer(%i, %a):
  %c = lt(%i, %n)
  %t = switch(%c, @obody, @odone)
  %q = %t()
  return %q
@obody():
  %z = @inner(0, %a)
  return %z
@inner(%j, %b):
  %c2 = lt(%j, 3)
  %t2 = switch(%c2, @ibody, @idone)
  %q2 = %t2()
  return %q2
@ibody():
  %b2 = add(%b, 1.0)
  %c3 = gt(%b2, 20.0)
  %t3 = switch(%c3, @escape, @again)
  %q3 = %t3()
  return %q3
@escape():
  return %b2
@again():
  %c5 = gt(%b2, 12.0)
  %t5 = switch(%c5, @skip, @more)
  %q5 = %t5()
  return %q5
@skip():
  %i3 = add(%i, 1)
  %v3 = @outer(%i3, %b2)
  return %v3
@more():
  %j2 = add(%j, 1)
  %w = @inner(%j2, %b2)
  return %w
@idone():
  %i2 = add(%i, 1)
  %b4 = mul(%b, 1.25)
  %v = @outer(%i2, %b4)
  return %v
@odone():
  return %a
""",
    "called_twice": """program @f
@f(%x: f64, %n: i64):
  %a = @norm(%x, 1.0)
  %b = @norm(%a, %x)
  %c = @norm(%n, %b)
  %d = add(%a, %c)
  return %d
@norm(%u, %v):
  %s = add(%u, %v)
  %c1 = lt(%s, 0.0)
  %t = switch(%c1, @minus, @plus)
  %r = %t()
  return %r
@minus():
  %m = neg(%s)
  return %m
@plus():
  return %s
""",
    "closures": """program @f
@f(%x: f64, %n: i64):
  %c = gt(%n, 0)
  %g = switch(%c, @add_x, @times)
  %a = @twice(%g, 3.0)
  %h = switch(%c, @times, @add_x)
  %b = @twice(%h, %a)
  return %b
@add_x(%p):
  %q = add(%p, %x)
  return %q
@times(%r):
  %s = mul(%r, %n)
  return %s
@twice(%k, %v):
  %v1 = %k(%v)
  %v2 = %k(%v1)
  return %v2
""",
    "function_state": """program @f
@f(%x: f64, %n: i64):
  %r = @loop(%n, @first, %x)
  return %r
@loop(%i, %k, %a):
  %c = gt(%i, 0)
  %t = switch(%c, @body, @done)
  %q = %t()
  return %q
@body():
  %a2 = %k(%a)
  %i2 = sub(%i, 1)
  %c2 = lt(%a2, 5.0)
  %k2 = switch(%c2, @first, @second)
  %z = @loop(%i2, %k2, %a2)
  return %z
@done():
  return %a
@first(%u):
  %u2 = add(%u, 1.5)
  return %u2
@second(%w):
  %w2 = mul(%w, 0.5)
  %w3 = sub(%w2, %x)
  return %w3
""",
    "tuples": """program @f
@f(%p: tuple[f64, i64], %n: i64):
  %x = getitem(%p, 0)
  %m = getitem(%p, -1)
  %q = make_tuple(%x, 2.5, %x)
  %k = mod(%n, 3)
  %e = getitem(%q, %k)
  %r = make_tuple(%e, %q, %m)
  return %r
""",
    "integers": """program @f
@f(%m: i64, %n: i64):
  %a = add(%m, %n)
  %b = mul(%m, %n)
  %c = floordiv(%m, %n)
  %d = mod(%m, %n)
  %e = sub(%m, %n)
  %g = div(%m, %n)
  %h = pow(%n, 3)
  %i = abs(%m)
  %j = make_tuple(%a, %b, %c, %d, %e, %g, %h, %i)
  return %j
""",
    "conversions": """program @f
@f(%x: f64, %n: i64):
  %a = floor(%x)
  %b = ceil(%x)
  %c = to_integer(%x)
  %d = lt(%n, %x)
  %e = ge(%x, %n)
  %g = eq(%n, %x)
  %h = to_boolean(%x)
  %i = to_real(%n)
  %j = make_tuple(%a, %b, %c, %d, %e, %g, %h, %i)
  return %j
""",
    "zeros": """program @f
@f(%x: f64, %n: i64):
  %c = gt(%n, 0)
  %t = switch(%c, @some, @none)
  %d = %t()
  %e = gadd(%d, %x)
  %g = mul(%d, inf)
  %h = instantiate(%g, %x)
  %q = make_tuple(%x, %x, %x)
  %i = inject(%q, 1, %d)
  %j = instantiate(%i, %q)
  %k = make_tuple(%e, %h, %j)
  return %k
@some():
  return %x
@none():
  return ZERO
""",
    "ladder": """program @f
@f(%x: f64, %n: i64):
  %c = eq(%n, 0)
  %t = switch(%c, @zero, @one)
  %r = %t()
  return %r
@zero():
  %r0 = @even(%n, %x)
  return %r0
@one():
  %r1 = @even(%n, 1.0)
  return %r1
@even(%i, %a):
  %c1 = le(%i, 0)
  %t1 = switch(%c1, @stop, @go)
  %q1 = %t1()
  return %q1
@go():
  %i2 = sub(%i, 1)
  %a2 = add(%a, 0.1)
  %q2 = @odd(%i2, %a2)
  return %q2
@odd(%j, %b):
  %j2 = sub(%j, 1)
  %b2 = mul(%b, 1.1)
  %q3 = @even(%j2, %b2)
  return %q3
@stop():
  return %a
""",
    "two_entries": """program @f
@f(%x: f64, %n: i64):
  %c = lt(%x, 1.0)
  %t = switch(%c, @below, @above)
  %r = %t()
  return %r
@below():
  %r0 = @even(%n, %x)
  return %r0
@above():
  %r1 = @odd(%n, %x, 0.5)
  return %r1
@even(%i, %a):
  %c1 = le(%i, 0)
  %t1 = switch(%c1, @stop, @go)
  %q1 = %t1()
  return %q1
@go():
  %i2 = sub(%i, 1)
  %a2 = add(%a, 0.1)
  %q2 = @odd(%i2, %a2, %a)
  return %q2
@stop():
  return %a
@odd(%j, %b, %d):
  %c2 = le(%j, 0)
  %t2 = switch(%c2, @end, @on)
  %q3 = %t2()
  return %q3
@on():
  %j2 = sub(%j, 1)
  %b2 = mul(%b, %d)
  %q4 = @even(%j2, %b2)
  return %q4
@end():
  return %d
""",
}

REALS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.7, 12.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"), 9007199254740993.0]
COUNTS = [0, 1, 2, 3, 4, 7, -1]
PAIRS = [(1.5, 2), (-0.0, -9)]
WHOLE = [0, 1, -1, 2, -7, 3, (1 << 62), -(1 << 63), (1 << 63) - 1, (1 << 53) + 1, -3037000500, 2097152]


def samples(name: str) -> list[tuple[Any, ...]]:
    """Arguments for one of the programs: special values, and small and extreme integers."""
    types = {"integers": (WHOLE, WHOLE), "conversions": ([*REALS, 2.5, -2.5, 9.3e18], WHOLE), "tuples": (PAIRS, COUNTS)}
    default = (REALS, REALS) if name in ("straight", "elementary", "remainders", "nested_ifs") else (REALS, COUNTS)
    left, right = types.get(name, default)
    return [(a, b) for a in left for b in right]
