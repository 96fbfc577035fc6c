"""
The primitive table: one row per primitive; those of arrays are listed in `array_rows`, those of memory in `memory_rows`.

Integers are mathematical, reals are IEEE doubles and total: 1/0 is inf, log(-1) is NaN. What CPython refuses on integers
(division by zero) traps. `domain` and `kinks` speak of the function over the reals; `pow` with an integer exponent is also
defined, and smooth, for a negative base, and for base 0 when the exponent is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from semantics.primitives.array_rows import ARRAYS
from semantics.primitives.memory_rows import MEMORY
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
    row("sign", "x", "number -> number", kinks="x == 0"),
    row("maximum", "x y", "number number -> number", kinks="x == y"),
    row("minimum", "x y", "number number -> number", kinks="x == y"),
    row("where", "c x y", "boolean number number -> number"),
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
    row("logaddexp", "x y", "real real -> real"),
)

CONVERSIONS = (
    row("to_real", "x", "number -> real"),
    row("single", "x", "real -> real"),
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
    row("and_", "x y", "boolean boolean -> boolean"),
    row("or_", "x y", "boolean boolean -> boolean"),
)

STRUCTURE = (
    row("switch", "condition consequent alternative", "boolean any any -> any"),
    row("make_tuple", "*", "any -> tuple"),
    row("getitem", "t i", "tuple integer -> any"),
    row("length", "t", "tuple -> integer"),
    row("of_length", "t n", "tuple integer -> tuple"),
    row("make_slice", "start stop step", "any any any -> any"),
    row("make_record", "label *", "any any -> any"),
    row("field", "r name", "any any -> any"),
    row("field_index", "r name", "any any -> integer"),
    row("has_field", "r name", "any any -> boolean"),
    row("with_field", "r name v", "any any any -> any"),
    row("cleared", "d i", "any integer -> any"),
    row("keys_of", "d", "any -> tuple"),
    row("values_of", "d", "any -> tuple"),
    row("iterated", "t", "any -> any"),
    row("place_in", "t i", "any any -> any"),
    row("of_class", "x label", "any any -> any"),
    row("unlabelled", "d", "any -> any"),
    row("concat", "s t", "any any -> any"),
    row("append", "s x", "any any -> any"),
    row("is_instance", "x kinds", "any any -> boolean"),
    row("fail", "message", "any -> any"),
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

ROWS = (*ARITHMETIC, *ELEMENTARY, *CONVERSIONS, *COMPARISONS, *STRUCTURE, *ARRAYS, *MEMORY, *MACROS)

# read element by element on arrays, with broadcasting
ELEMENTWISE = frozenset(p.name for p in (*ARITHMETIC, *ELEMENTARY, *CONVERSIONS, *COMPARISONS)) - {"to_boolean"}

TABLE: Mapping[str, Primitive] = MappingProxyType({p.name: p for p in ROWS})
