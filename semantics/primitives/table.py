"""
The primitive table: one row per primitive of the scalar language.

Integers are mathematical, reals are IEEE doubles and total: 1/0 is inf, log(-1) is NaN. What CPython refuses on integers
(division by zero) traps. `domain` and `kinks` speak of the function over the reals; `pow` with an integer exponent is also
defined, and smooth, for a negative base, and for base 0 when the exponent is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from semantics.primitives.row import Primitive, row

ARITHMETIC = (
    row("add", "x y", "number number -> number"),
    row("sub", "x y", "number number -> number"),
    row("mul", "x y", "number number -> number"),
    row("div", "x y", "number number -> real", domain="y != 0"),
    row("floordiv", "x y", "number number -> number", domain="y != 0", kinks="x / y == floor(x / y)"),
    row("mod", "x y", "number number -> number", domain="y != 0", kinks="x / y == floor(x / y)"),
    row("pow", "x y", "number number -> number", domain="x >= 0", kinks="x == 0"),
    row("neg", "x", "number -> number"),
    row("abs", "x", "number -> number", kinks="x == 0"),
    row("min", "x y", "number number -> number", kinks="x == y"),
    row("max", "x y", "number number -> number", kinks="x == y"),
    row("sign", "x", "real -> real", kinks="x == 0"),
)

ELEMENTARY = (
    row("exp", "x", "real -> real"),
    row("expm1", "x", "real -> real"),
    row("log", "x", "real -> real", domain="x > 0"),
    row("log1p", "x", "real -> real", domain="x > -1"),
    row("log2", "x", "real -> real", domain="x > 0"),
    row("log10", "x", "real -> real", domain="x > 0"),
    row("sqrt", "x", "real -> real", domain="x >= 0", kinks="x == 0"),
    row("cbrt", "x", "real -> real", kinks="x == 0"),
    row("sin", "x", "real -> real"),
    row("cos", "x", "real -> real"),
    row("tan", "x", "real -> real"),
    row("asin", "x", "real -> real", domain="-1 <= x <= 1", kinks="x == 1; x == -1"),
    row("acos", "x", "real -> real", domain="-1 <= x <= 1", kinks="x == 1; x == -1"),
    row("atan", "x", "real -> real"),
    row("atan2", "y x", "real real -> real", domain="x*x + y*y > 0", kinks="y == 0 and x < 0"),
    row("sinh", "x", "real -> real"),
    row("cosh", "x", "real -> real"),
    row("tanh", "x", "real -> real"),
    row("asinh", "x", "real -> real"),
    row("acosh", "x", "real -> real", domain="x >= 1", kinks="x == 1"),
    row("atanh", "x", "real -> real", domain="-1 < x < 1"),
    row("hypot", "x y", "real real -> real", kinks="x == 0 and y == 0"),
    row("copysign", "x y", "real real -> real", kinks="x == 0; y == 0"),
    row("erf", "x", "real -> real"),
    row("erfc", "x", "real -> real"),
)

CONVERSIONS = (
    row("to_real", "x", "number -> real"),
    row("to_integer", "x", "number -> integer", kinks="x == floor(x) and x != 0"),
    row("to_boolean", "x", "any -> boolean"),
    row("floor", "x", "number -> integer", kinks="x == floor(x)"),
    row("ceil", "x", "number -> integer", kinks="x == floor(x)"),
)

COMPARISONS = (
    row("lt", "x y", "number number -> boolean", kinks="x == y"),
    row("le", "x y", "number number -> boolean", kinks="x == y"),
    row("gt", "x y", "number number -> boolean", kinks="x == y"),
    row("ge", "x y", "number number -> boolean", kinks="x == y"),
    row("eq", "x y", "any any -> boolean", kinks="x == y"),
    row("ne", "x y", "any any -> boolean", kinks="x == y"),
    row("not_", "x", "boolean -> boolean"),
)

STRUCTURE = (
    row("switch", "condition consequent alternative", "boolean any any -> any"),
    row("make_tuple", "*", "any -> tuple"),
    row("getitem", "t i", "tuple integer -> any"),
    row("length", "t", "tuple -> integer"),
    row("of_length", "t n", "tuple integer -> tuple"),
    row("range_length", "start stop step", "integer integer integer -> integer"),
    row("gadd", "a b", "any any -> any"),
    row("inject", "t i d", "any integer any -> any"),
    row("instantiate", "d x", "any any -> any"),
    row("seed", "out", "real -> real"),
    row("J", "x", "any -> any"),
)

# Functions on functions: nested_grad expands them before anything runs.
MACROS = (
    row("grad", "f wrt", "any any -> any"),
    row("value_and_grad", "f wrt", "any any -> any"),
    row("vjp", "f *", "any any -> tuple"),
    row("jvp", "f primals tangents", "any tuple tuple -> tuple"),
    row("jacobian", "f wrt", "any any -> any"),
    row("hessian", "f wrt", "any any -> any"),
    row("hvp", "f", "any -> any"),
)

ROWS = (*ARITHMETIC, *ELEMENTARY, *CONVERSIONS, *COMPARISONS, *STRUCTURE, *MACROS)

TABLE: Mapping[str, Primitive] = MappingProxyType({p.name: p for p in ROWS})
