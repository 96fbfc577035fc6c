"""Sound rules, none of which may be refuted: exact in binary arithmetic, under a condition or not; real, whole and Boolean."""

from __future__ import annotations

from mutants.rewrites import Rule

# bit for bit in f16, f32 and f64
EXACT = (
    "x * 1.0 -> x",
    "x / 1.0 -> x",
    "x * -1.0 -> -x",
    "x + -0.0 -> x",
    "x - 0.0 -> x",
    "-0.0 - x -> -x",
    "-(-x) -> x",
    "x - y -> x + -y",
    "x + y -> y + x",
    "abs(-x) -> abs(x)",
    "x * y -> y * x",
    "-x * y -> -(x * y)",
    "-x * -y -> x * y",
    "-x / y -> -(x / y)",
    "x * 2.0 -> x + x",
    "x * 3.0 -> x + x + x",
    "x * 4.0 -> (x + x) + (x + x)",
    "x / 2.0 -> x * 0.5",
    "x / 4.0 -> x * 0.25",
    "x * 2.0 * 3.0 -> x * 6.0",
    "x / 2.0 / 2.0 -> x / 4.0",
    "abs(x * y) -> abs(x) * abs(y)",
    "x * x * x -> x * (x * x)",
    "x < y -> y > x",
    "x < y -> x - y < 0.0",
)

# bit for bit where the condition holds
CONDITIONAL = (
    ("x - x -> 0.0", "x - x == 0"),
    ("x / x -> 1.0", "x - x == 0 and x != 0"),
    ("x - y == 0.0 -> x == y", "x - x == 0 and y - y == 0"),
    ("-(x - y) -> y - x", "x != y"),
    ("x + 0.0 -> x", "x > 0"),
    ("x * 0.0 -> 0.0", "x - x == 0 and x > 0"),
    ("x == x -> True", "x == x"),
    ("not (x < y) -> x >= y", "x == x and y == y"),
)

REAL = (
    ("x + 0.0 -> x", None),
    ("x * 0.0 -> 0.0", None),
    ("0.0 - x -> -x", None),
    ("x + y - y -> x", None),
    ("(x + y) + z -> x + (y + z)", None),
    ("x * (y + z) -> x * y + x * z", None),
    ("x * y / y -> x", "y != 0"),
    ("x / y -> x * (1.0 / y)", None),
    ("1.0 / (1.0 / x) -> x", None),
    ("x / x -> 1.0", "x != 0"),
    ("sqrt(x * x) -> abs(x)", None),
    ("sqrt(x) * sqrt(x) -> x", None),
    ("log(exp(x)) -> x", None),
    ("exp(log(x)) -> x", None),
    ("exp(x) * exp(y) -> exp(x + y)", None),
    ("log(x * y) -> log(x) + log(y)", "x > 0 and y > 0"),
    ("sin(x) * sin(x) + cos(x) * cos(x) -> 1.0", None),
    ("(x + y) * (x - y) -> x * x - y * y", None),
    ("max(x, y) -> (x + y + abs(x - y)) / 2.0", None),
    ("min(#c * x, 0.0) -> #c * min(x, 0.0)", "c > 0"),
    ("x ** 2.0 -> x * x", None),
    ("tanh(-x) -> -tanh(x)", None),
)

WHOLE = (
    ("x: i64 | x - x -> 0", None),
    ("x: i64 | x * 0 -> 0", None),
    ("x: i64, y: i64, z: i64 | x * (y + z) -> x * y + x * z", None),
    ("x: i64, y: i64, z: i64 | (x + y) + z -> x + (y + z)", None),
    ("x: i64, y: i64 | not (x < y) -> x >= y", None),
    ("x: i64, y: i64, z: i64 | x // y // z -> x // (y * z)", "z > 0"),
    ("x: i64, y: i64 | x % y % y -> x % y", None),
    ("x: i64, y: i64 | x // y * y + x % y -> x", None),
    ("a: bool | not (not a) -> a", None),
    ("a: bool, x: any, y: any | where(not a, x, y) -> where(a, y, x)", None),
    ("a: bool, x: f64, y: f64, z: f64 | where(a, x, y) + z -> where(a, x + z, y + z)", None),
    ("a: bool, b: bool | not and_(a, b) -> or_(not a, not b)", None),
)

CONTROLS: tuple[Rule, ...] = (
    *(Rule(text, "BITS") for text in EXACT),
    *(Rule(text, "BITS", when=when) for text, when in CONDITIONAL),
    *(Rule(text, "REAL", when=when) for text, when in REAL),
    *(Rule(text, "BITS", when=when) for text, when in WHOLE),
)
