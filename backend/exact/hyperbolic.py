"""
The hyperbolic tangent and cosine of the C library without a call, as instructions of LLVM; see `backend.exact.exponential`.

glibc has them from Sun's fdlibm. Both rest on e^u − 1, for u = k ln 2 + x with x at most half of ln 2:

    h = x / 2 · x      e^x − 1 = x + h − x e₀, nearly      e₀ = h (q − t) / (6 − x t)      t = 3 − q x / 2      q a polynomial in h

Of c, what x lost by rounding, e = x (e₀ − c) − c − h, and d = x − e. Then e^u − 1 is d where k is 0, and else

    −1               d / 2 − 1 / 2                    from 20 to 56    2^k ((x − (e + 2^-k)) + 1)
    from 2 to 19     2^k ((1 − 2^-k) + d)             others           2^k (1 + d) − 1

    |tanh x| = 1 − 2 / (E + 2), E = e^(2|x|) − 1, from 1 on     −E / (E + 2), E = e^(−2|x|) − 1, below 1      1 from 22 on
    cosh x   = 1 + E² / 2 (1 + E), E = e^|x| − 1, below half of ln 2     e^|x| / 2 + 1/2 / e^|x|, below 22     e^|x| / 2, from 22 on

and, where e^|x| overflows, e^(|x|/2) / 2 · e^(|x|/2). Which products are rounded before they are added to, the trial finds out. All
that is left to choose is computed, and each lane of a vector has its own; a number by itself takes one way (`backend.exact.alone`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.exact.exponential import exponential
from backend.exact.instructions import Instructions

HIGH, LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")  # together ln 2
PER_HALVING = 1.44269504088896338700  # 1 / ln 2
Q1, Q2, Q3 = -3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05
Q4, Q5 = 4.00821782732936239552e-06, -2.01099218183624371326e-07
HALF = float.fromhex("0x1.62e43p-2")  # half of ln 2, rounded up to the digits that are looked at
ONE_FROM, LARGE = 22.0, float.fromhex("0x1.62e42p+9")
MOST = float.fromhex("0x1.633ce8fb9f87dp+9")  # from here on cosh is infinite


def tangent(builder: Any, x: Any, fused: bool) -> Any:
    """tanh x of a double, or of each of a vector of doubles, written into a function."""
    into = Instructions(builder, x.type, fused)
    select, test, number = builder.select, builder.fcmp_ordered, into.number
    size = into.call("fabs", x)
    size = select(test(">", size, number(ONE_FROM)), number(ONE_FROM), size)
    large, twice = test(">=", size, number(1.0)), builder.fmul(size, number(2.0))
    e = less_one(into, select(large, twice, builder.fneg(twice)))
    part = builder.fdiv(select(large, number(2.0), builder.fneg(e)), builder.fadd(e, number(2.0)))
    return into.call("copysign", select(large, builder.fsub(number(1.0), part), part), x)


def cosine(builder: Any, x: Any, fused: bool) -> Any:
    """cosh x of a double, or of each of a vector of doubles, written into a function."""
    into = Instructions(builder, x.type, fused)
    add, mul, div, select = builder.fadd, builder.fmul, builder.fdiv, builder.select
    test, number = builder.fcmp_ordered, into.number
    size, half = into.call("fabs", x), number(0.5)
    huge, small = test(">=", size, number(LARGE)), test("<", size, number(HALF))
    power = exponential(builder, select(huge, mul(half, size), size), fused)
    halved = mul(half, power)
    over = select(huge, mul(halved, power), halved)
    e = less_one(into, select(small, size, number(0.0)))
    w = add(number(1.0), e)
    near = add(number(1.0), div(mul(e, e), add(w, w)))
    usual = add(halved, div(half, power))
    found = select(small, near, select(test(">=", size, number(ONE_FROM)), over, usual))
    return select(test(">", size, number(MOST)), number(float("inf")), found)


def less_one(into: Instructions, u: Any) -> Any:
    """e^u − 1, for u from -2 to 44; k is not 1."""
    builder, number = into.builder, into.number
    add, sub, mul, select, one = builder.fadd, builder.fsub, builder.fmul, builder.select, number(1.0)
    test, minus = builder.fcmp_ordered, builder.fneg
    near = test("<", into.call("fabs", u), number(HALF))
    k = select(near, number(0.0), halvings(into, u))
    x, c = reduced(into, u, k)
    h, e = series(into, x)
    whole = unscaled(into, x, h, e)
    e = corrected(into, x, c, h, e)
    d = sub(x, e)
    scale, inverse = into.power_of_two(k), into.power_of_two(minus(k))
    middle = mul(add(sub(one, inverse), d), scale)
    upper = mul(add(sub(x, add(e, inverse)), one), scale)
    other = sub(mul(add(one, d), scale), one)
    halved = sub(mul(number(0.5), d), number(0.5))
    found = select(test("<", k, number(20.0)), middle, upper)
    found = select(test(">", k, number(56.0)), other, found)
    below = select(test("==", k, number(-1.0)), halved, other)
    return select(near, whole, select(test("<", k, number(0.0)), below, found))


def halvings(into: Instructions, u: Any) -> Any:
    """k, of u that is not near 0."""
    return into.call("trunc", into.plus_product(into.call("copysign", into.number(0.5), u), into.number(PER_HALVING), u))


def reduced(into: Instructions, u: Any, k: Any) -> tuple[Any, Any]:
    """x and c, of u and k."""
    sub, mul = into.builder.fsub, into.builder.fmul
    high, low = sub(u, mul(k, into.number(HIGH))), mul(k, into.number(LOW))
    x = sub(high, low)
    return x, sub(sub(high, x), low)


def series(into: Instructions, x: Any) -> tuple[Any, Any]:
    """h and e₀, of x."""
    builder, number, plus_product = into.builder, into.number, into.plus_product
    sub, mul = builder.fsub, builder.fmul
    half = mul(number(0.5), x)
    h = mul(x, half)
    square = mul(h, h)
    q1, q2, q3, q4, q5 = map(number, (Q1, Q2, Q3, Q4, Q5))
    q = plus_product(plus_product(number(1.0), h, q1), square, plus_product(q2, h, q3))
    q = plus_product(q, mul(square, square), plus_product(q4, h, q5))
    t = plus_product(number(3.0), builder.fneg(q), half)
    return h, mul(h, builder.fdiv(sub(q, t), plus_product(number(6.0), builder.fneg(x), t)))


def unscaled(into: Instructions, x: Any, h: Any, e: Any) -> Any:
    """e^x − 1, where k is 0."""
    return into.builder.fsub(x, into.plus_product(into.builder.fneg(h), x, e))


def corrected(into: Instructions, x: Any, c: Any, h: Any, e: Any) -> Any:
    """e, of e₀."""
    sub, minus = into.builder.fsub, into.builder.fneg
    return sub(into.plus_product(minus(c), x, sub(e, c)), h)


FUNCTIONS: dict[str, Callable[[Any, Any, bool], Any]] = {"exp": exponential, "tanh": tangent, "cosh": cosine}
