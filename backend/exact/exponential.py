"""
The exponential of the C library without a call: the same operations in the same order, as instructions of LLVM.

Since 2.28 glibc computes e^x as Arm's optimized routines do, and so does musl:

    k  the integer nearest to 128 x / ln 2, by adding 1.5 · 2^52         r = x − k ln 2 / 128, so that |r| ≤ ln 2 / 256
    2^(k/128) = s (1 + t)    s a double, t less than its last digit      e^r = 1 + r + r² (c2 + r c3) + r⁴ (c4 + r c5), nearly
    e^x = s + s (t + r + r² (c2 + r c3) + r⁴ (c4 + r c5))

All that is left open is which products are rounded before they are added to: none where the compiler of the library had an
instruction for both (`fused`), and all where it had none. `backend.exact.trial` finds out by the bits.

Two ranges need more. Near overflow s itself is infinite before e^x is, so half of s is kept, and the result is doubled. Below -512,
where e^x may be subnormal, 2^1022 e^x is computed; where that is less than 1, it is rounded to as many digits as the result has by
adding 1 and what its own rounding lost. Here s times the sum serves twice, and is rounded whether there is such an instruction or
not. This is a branch, which a loop that is vectorised takes on all lanes, and a single number seldom.

The tables are 2^(i/128), i < 128, as s and t: by square roots of integers, exact to 2^-160. The c's are those of the library.
"""

from __future__ import annotations

import struct
from functools import cache
from math import isqrt
from typing import Any

from llvmlite import ir

from backend.exact.instructions import DOUBLE, EXPONENT, WHOLE, WORD, Instructions

STEPS, DIGITS = 128, 160
PER_STEP = float.fromhex("0x1.71547652b82fep+7")  # 128 / ln 2
HIGH, LOW = float.fromhex("-0x1.62e42fefa0000p-8"), float.fromhex("-0x1.cf79abc9e3b3ap-47")  # together -ln 2 / 128
C2, C3 = float.fromhex("0x1.ffffffffffdbdp-2"), float.fromhex("0x1.555555555543cp-3")
C4, C5 = float.fromhex("0x1.55555cf172b91p-5"), float.fromhex("0x1.1111167a4d017p-7")
LEAST, MOST, SMALL = -746.0, 710.0, -512.0  # beyond the first two the result is 0 or infinite
RAISED = 1023 << EXPONENT  # from half of s to 2^1022 s


@cache
def table() -> tuple[int, ...]:
    """For each i < 128 the bits of t, and those of s / 2 less what the steps of k, shifted into the exponent, add to them."""
    found: list[int] = []
    for i in range(STEPS):
        power = 1 << (i + STEPS * DIGITS)
        for _ in range(7):
            power = isqrt(power)  # at last 2^(i/128), DIGITS bits after the point
        s = power / (1 << DIGITS)
        numerator, denominator = s.as_integer_ratio()
        nearest = (numerator << DIGITS) // denominator  # exact: s has 52 bits after the point
        found += [_bits((power - nearest) / nearest), _bits(s / 2.0) - (i << EXPONENT) // STEPS]
    return tuple(found)


def _bits(x: float) -> int:
    (word,) = struct.unpack("<q", struct.pack("<d", x))
    return int(word)


def exponential(builder: Any, x: Any, fused: bool) -> Any:
    """e^x of a double, or of each of a vector of doubles, written into a function."""
    into = Instructions(builder, x.type, fused)
    real, number, word, plus_product = into.real, into.number, into.word, into.plus_product
    add, sub, mul, select = builder.fadd, builder.fsub, builder.fmul, builder.select
    x = select(builder.fcmp_ordered("<", x, number(LEAST)), number(LEAST), x)
    x = select(builder.fcmp_ordered(">", x, number(MOST)), number(MOST), x)
    shifted = plus_product(number(WHOLE), number(PER_STEP), x)
    steps, k = builder.bitcast(shifted, into.words), sub(shifted, number(WHOLE))
    r = plus_product(plus_product(x, k, number(HIGH)), k, number(LOW))
    t, base = _entries(builder, builder.shl(builder.and_(steps, word(STEPS - 1)), word(1)), real)
    square = mul(r, r)
    low, high = plus_product(number(C2), r, number(C3)), plus_product(number(C4), r, number(C5))
    rest = plus_product(plus_product(add(t, r), square, low), mul(square, square), high)
    half = builder.add(base, builder.shl(steps, word(EXPONENT - 7)))
    s = builder.bitcast(half, real)
    usual = mul(plus_product(s, s, rest), number(2.0))
    start, is_small = builder.block, builder.fcmp_ordered("<=", x, number(SMALL))
    with builder.if_then(into.anywhere(is_small), likely=False):
        s = builder.bitcast(builder.add(half, word(RAISED)), real)
        product = mul(s, rest)
        y, one = add(s, product), number(1.0)
        lost, whole = add(sub(s, y), product), add(one, y)
        rounded = sub(add(whole, add(add(sub(one, whole), y), lost)), one)
        small = mul(select(builder.fcmp_ordered("<", y, one), rounded, y), number(2.0**-1022))
        small = small if real == DOUBLE else select(is_small, small, usual)
        inside = builder.block
    found = builder.phi(real)
    found.add_incoming(usual, start)
    found.add_incoming(small, inside)
    return found


def _entries(builder: Any, at: Any, real: Any) -> tuple[Any, Any]:
    """t and the bits of s / 2, without its exponent, from the table of the module, at even places in it."""
    if real == DOUBLE:
        return _entry(builder, at)
    t, base = ir.Constant(real, ir.Undefined), ir.Constant(at.type, ir.Undefined)
    for lane in map(ir.IntType(32), range(real.count)):
        one, other = _entry(builder, builder.extract_element(at, lane))
        t, base = builder.insert_element(t, one, lane), builder.insert_element(base, other, lane)
    return t, base


def _entry(builder: Any, at: Any) -> tuple[Any, Any]:
    values = table()
    of = ir.ArrayType(WORD, len(values))
    held = builder.module.globals.get("adjudge.exp")
    if held is None:
        held = ir.GlobalVariable(builder.module, of, "adjudge.exp")
        held.global_constant, held.linkage, held.initializer = True, "internal", ir.Constant(of, values)
    t, base = (builder.load(builder.gep(held, [WORD(0), k], inbounds=True)) for k in (at, builder.or_(at, WORD(1))))
    return builder.bitcast(t, DOUBLE), base
