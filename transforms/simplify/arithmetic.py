"""
Algebra that keeps every bit, and algebra that keeps the real number only. Rules are data (`transforms.patterns.rule`).

EXACT_RULES hold in IEEE-754 with signed zeros, infinities and one NaN, or on integers; FAST_RULES hold over the reals where their
side condition does, may move a result by rounding errors or hide a NaN, and are applied only when asked for.

What is not here is as telling: x + 0.0 loses the sign of -0.0, 0.0 - x that of 0.0, x * 0.0 the NaN of infinity, -(x - y) the
sign of an exact difference, and x ** 2 is one correctly rounded product only if the library's pow is.
"""

from __future__ import annotations

from transforms.patterns.rule import PatternRule, pattern_rule

_ANY_NUMBER = (
    "x: any | x * 1 -> x",
    "x: any | 1 * x -> x",
    "x: any | x * -1 -> -x",
    "x: any | -1 * x -> -x",
    "x: any | -(-x) -> x",
    "x: any | abs(-x) -> abs(x)",
    "x: any | abs(abs(x)) -> abs(x)",
    "x: number | x - 0 -> x",
    "x: number | x ** 1 -> x",
    "x: number | min(x, x) -> x",
    "x: number | max(x, x) -> x",
    "x: number | x < x -> False",
    "x: number | x > x -> False",
)

_REALS = (
    "x * 1.0 -> x",
    "1.0 * x -> x",
    "x * -1.0 -> -x",
    "-1.0 * x -> -x",
    "x / 1 -> x",
    "x / 1.0 -> x",
    "x / -1 -> -x",
    "x / -1.0 -> -x",
    "x / 2 -> x * 0.5",
    "x / 2.0 -> x * 0.5",
    "x / 4.0 -> x * 0.25",
    "x / 0.5 -> x * 2.0",
    "x + -0.0 -> x",
    "-0.0 + x -> x",
    "x - 0.0 -> x",
    "-0.0 - x -> -x",
    "x - -y -> x + y",
    "x + -y -> x - y",
    "-x + y -> y - x",
    "-x * -y -> x * y",
    "-x / -y -> x / y",
    "x ** 1.0 -> x",
    "x ** 0 -> 1.0",
    "x ** 0.0 -> 1.0",
    "1.0 ** x -> 1.0",
    "-x < -y -> y < x",
    "-x <= -y -> y <= x",
    "-x > -y -> y > x",
    "-x >= -y -> y >= x",
    "copysign(x, x) -> x",
    "float(x) -> x",
)

_INTEGERS = (
    "x: i64 | x + 0 -> x",
    "x: i64 | 0 + x -> x",
    "x: i64 | 0 - x -> -x",
    "x: i64 | x - x -> 0",
    "x: i64 | x * 0 -> 0",
    "x: i64 | 0 * x -> 0",
    "x: i64 | x ** 0 -> 1",
    "x: i64 | x // 1 -> x",
    "x: i64 | x % 1 -> 0",
    "x: i64, y: i64 | x - -y -> x + y",
    "x: i64, y: i64 | x + -y -> x - y",
    "x: i64, y: i64 | -x + y -> y - x",
    "x: i64, y: i64 | -x * -y -> x * y",
    "x: i64 | x == x -> True",
    "x: i64 | x != x -> False",
    "x: i64 | x <= x -> True",
    "x: i64 | x >= x -> True",
    "x: i64, y: i64 | not (x < y) -> x >= y",
    "x: i64, y: i64 | not (x <= y) -> x > y",
    "x: i64, y: i64 | not (x > y) -> x <= y",
    "x: i64, y: i64 | not (x >= y) -> x < y",
    "x: i64 | int(x) -> x",
    "x: i64 | floor(x) -> x",
    "x: i64 | ceil(x) -> x",
)

_BOOLEANS = (
    "b: any | not (not b) -> b",
    "b: bool | bool(b) -> b",
    "x: any, y: any | not (x == y) -> x != y",
    "x: any, y: any | not (x != y) -> x == y",
    "b: any, x: any | where(b, x, x) -> x",
    "b: any | where(b, True, False) -> b",
    "b: any | where(b, False, True) -> not b",
)

EXACT_RULES: tuple[PatternRule, ...] = tuple(pattern_rule(text) for text in (*_ANY_NUMBER, *_REALS, *_INTEGERS, *_BOOLEANS))

# Each rule with its side condition.
_FAST = (
    ("x + 0.0 -> x", ""),
    ("0.0 + x -> x", ""),
    ("x + 0 -> x", ""),
    ("0 + x -> x", ""),
    ("0.0 - x -> -x", ""),
    ("0 - x -> -x", ""),
    ("x * 0.0 -> 0.0", ""),
    ("0.0 * x -> 0.0", ""),
    ("x * 0 -> 0.0", ""),
    ("0 * x -> 0.0", ""),
    ("0.0 / x -> 0.0", "x != 0"),
    ("x - x -> 0.0", ""),
    ("x / x -> 1.0", "x != 0"),
    ("-(x - y) -> y - x", ""),
    ("x + y - y -> x", ""),
    ("x - y + y -> x", ""),
    ("x * y / y -> x", "y != 0"),
    ("x / y * y -> x", "y != 0"),
    ("1.0 / (1.0 / x) -> x", "x != 0"),
    ("x * (1.0 / y) -> x / y", "y != 0"),
    ("1.0 / x * y -> y / x", "x != 0"),
    ("x ** 2 -> x * x", ""),
    ("x ** 2.0 -> x * x", ""),
    ("x ** 0.5 -> sqrt(x)", "x >= 0"),
    ("x ** -1 -> 1.0 / x", "x != 0"),
    ("x ** -1.0 -> 1.0 / x", "x != 0"),
    ("log(exp(x)) -> x", ""),
    ("exp(log(x)) -> x", "x > 0"),
    ("sqrt(x * x) -> abs(x)", ""),
    ("sqrt(x) * sqrt(x) -> x", "x >= 0"),
    ("abs(x) * abs(x) -> x * x", ""),
    ("cos(-x) -> cos(x)", ""),
    ("cosh(-x) -> cosh(x)", ""),
    ("sin(x) * sin(x) + cos(x) * cos(x) -> 1.0", ""),
    ("cos(x) * cos(x) + sin(x) * sin(x) -> 1.0", ""),
    ("x + #a + #b -> x + (#a + #b)", ""),
    ("x - #a - #b -> x - (#a + #b)", ""),
    ("x * #a * #b -> x * (#a * #b)", ""),
    ("#a * x * #b -> x * (#a * #b)", ""),
    ("#a * (x * #b) -> x * (#a * #b)", ""),
    ("x / #a / #b -> x / (#a * #b)", "a != 0 and b != 0"),
)

FAST_RULES: tuple[PatternRule, ...] = tuple(pattern_rule(text, when=when or None, domain="REAL") for text, when in _FAST)
