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
that is left to choose is computed, and each lane of a vector has its own; a number by itself is sooner done by the library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from backend.exact.exponential import DOUBLE, EXPONENT, WHOLE, WORD, exponential, number, sum_with_product

HIGH, LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")  # together ln 2
PER_HALVING = 1.44269504088896338700  # 1 / ln 2
Q1, Q2, Q3 = -3.33333333333331316428e-02, 1.58730158725481460165e-03, -7.93650757867487942473e-05
Q4, Q5 = 4.00821782732936239552e-06, -2.01099218183624371326e-07
HALF = float.fromhex("0x1.62e43p-2")  # half of ln 2, rounded up to the digits that are looked at
ONE_FROM, LARGE = 22.0, float.fromhex("0x1.62e42p+9")
MOST = float.fromhex("0x1.633ce8fb9f87dp+9")  # from here on cosh is infinite


def tangent(builder: Any, x: Any, fused: bool) -> Any:
    """tanh x of a double, written into a function. Nothing is fused."""
    size = _call(builder, "fabs", x)
    size = _least(builder, size, ONE_FROM)
    large = builder.fcmp_ordered(">=", size, number(1.0))
    twice = builder.fmul(size, number(2.0))
    e = less_one(builder, builder.select(large, twice, builder.fneg(twice)), fused)
    part = builder.fdiv(builder.select(large, number(2.0), builder.fneg(e)), builder.fadd(e, number(2.0)))
    found = builder.select(large, builder.fsub(number(1.0), part), part)
    return _call(builder, "copysign", found, x)


def cosine(builder: Any, x: Any, fused: bool) -> Any:
    """cosh x of a double, written into a function. Nothing but the exponential is fused."""
    add, mul, div, select = builder.fadd, builder.fmul, builder.fdiv, builder.select
    size = _call(builder, "fabs", x)
    half, huge = number(0.5), builder.fcmp_ordered(">=", size, number(LARGE))
    power = exponential(builder, select(huge, mul(half, size), size), fused)
    halved = mul(half, power)
    usual = add(halved, div(half, power))
    over = select(huge, mul(halved, power), halved)
    small = builder.fcmp_ordered("<", size, number(HALF))
    e = less_one(builder, select(small, size, number(0.0)), fused)
    w = add(number(1.0), e)
    near = add(number(1.0), div(mul(e, e), add(w, w)))
    found = select(small, near, select(builder.fcmp_ordered(">=", size, number(ONE_FROM)), over, usual))
    return select(builder.fcmp_ordered(">", size, number(MOST)), number(float("inf")), found)


def less_one(builder: Any, u: Any, fused: bool) -> Any:
    """e^u − 1, for u from -2 to 44; k is not 1."""
    add, sub, mul, select, one = builder.fadd, builder.fsub, builder.fmul, builder.select, number(1.0)
    test, plus_product = builder.fcmp_ordered, sum_with_product(builder, fused)
    near = test("<", _call(builder, "fabs", u), number(HALF))
    k = _call(builder, "trunc", plus_product(_call(builder, "copysign", number(0.5), u), number(PER_HALVING), u))
    k = select(near, number(0.0), k)
    high, low = sub(u, mul(k, number(HIGH))), mul(k, number(LOW))
    x = sub(high, low)
    c = sub(sub(high, x), low)
    half = mul(number(0.5), x)
    h = mul(x, half)
    square = mul(h, h)
    q1, q2, q3, q4, q5 = map(number, (Q1, Q2, Q3, Q4, Q5))
    q = plus_product(plus_product(one, h, q1), square, plus_product(q2, h, q3))
    q = plus_product(q, mul(square, square), plus_product(q4, h, q5))
    minus = builder.fneg(x)
    t = plus_product(number(3.0), builder.fneg(q), half)
    e = mul(h, builder.fdiv(sub(q, t), plus_product(number(6.0), minus, t)))
    whole = sub(x, plus_product(builder.fneg(h), x, e))
    e = sub(plus_product(builder.fneg(c), x, sub(e, c)), h)
    d = sub(x, e)
    scale, inverse = _power(builder, k), _power(builder, builder.fneg(k))
    middle = mul(add(sub(one, inverse), d), scale)
    upper = mul(add(sub(x, add(e, inverse)), one), scale)
    other = sub(mul(add(one, d), scale), one)
    halved = sub(mul(number(0.5), d), number(0.5))
    found = select(test("<", k, number(20.0)), middle, upper)
    found = select(test(">", k, number(56.0)), other, found)
    below = select(test("==", k, number(-1.0)), halved, other)
    return select(near, whole, select(test("<", k, number(0.0)), below, found))


def _power(builder: Any, k: Any) -> Any:
    """2^k, of a whole number."""
    bits = builder.bitcast(builder.fadd(k, number(WHOLE + 1023.0)), WORD)
    return builder.bitcast(builder.shl(bits, WORD(EXPONENT)), DOUBLE)


def _least(builder: Any, x: Any, most: float) -> Any:
    return builder.select(builder.fcmp_ordered(">", x, number(most)), number(most), x)


def _call(builder: Any, name: str, *arguments: Any) -> Any:
    """A function that LLVM has instructions for."""
    type = ir.FunctionType(DOUBLE, [DOUBLE] * len(arguments))
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [DOUBLE], type), arguments)


FUNCTIONS: dict[str, Callable[[Any, Any, bool], Any]] = {"exp": exponential, "tanh": tangent, "cosh": cosine}
