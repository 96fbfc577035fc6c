"""
Triggers in one line each: the identities that optimizers know, true over the reals, true in some arithmetic, or true nowhere.

Powers by a constant, sums and products in another order, functions and their inverses, divisions that become products, choices
that could be one, and whole numbers with their floors. `FORMULAS` are of reals x, y, z, `WHOLE` of integers n, m.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from checkers.optimizer_audit.trigger_shapes import Trigger
from transforms.parse import parse_text


def _each(text: str) -> tuple[str, ...]:
    """The formulas of a text, which stand between semicolons."""
    return tuple(" ".join(part.split()) for part in text.split(";"))


POWERS = _each("""
    x ** 0.5; x ** -0.5; x ** 3; x ** 3.0; x ** -2; x ** 1.5; (x ** 2) ** 0.5; x ** y * x ** z; (x ** y) ** z
""")
ORDER = _each("""
    (x + y) + z; x + (y + z); (x * y) * z; x * (y * z); x + 0.1 + 0.2; 0.1 * (x * 0.2); x + y + x + y; x * y + x * z;
    x * z + y * z; x * (y + z); x / z + y / z; (x + y) / z; x * x - y * y; (x + y) * (x - y); (x + y) - x;
    x - (y - z); x - (x - y); -(x - y); -(x + y); -x * -y; x * -y; -x / y; x + -y; x - -y; -x + y
""")
QUOTIENTS = _each("""
    x * 0.5; x / 4.0; x / 3.0; x / 10.0; 1.0 / (1.0 / x); x * (1.0 / y); 1.0 / (x / y); x / y / z; x / (y / z);
    x / y * z; x * y / x; x / (x * y); x // 1.0; x % 1.0; (x // y) * y + x % y; x % y % y
""")
INVERSES = _each("""
    math.sqrt(x * x); math.sqrt(x) * math.sqrt(x); math.sqrt(x) * math.sqrt(y); math.sqrt(x * y); x / math.sqrt(x);
    1.0 / math.sqrt(x); math.sqrt(x * x + y * y); math.hypot(x, y); math.exp(x) * math.exp(y); math.exp(x + y);
    math.exp(x) / math.exp(y); math.exp(x) - 1.0; math.expm1(x); math.log(1.0 + x); math.log1p(x); math.log(x * y);
    math.log(x) + math.log(y); math.log(x / y); math.log(x ** y); math.exp(y * math.log(x));
    math.log(1.0 + math.exp(x)); 1.0 / (1.0 + math.exp(-x)); math.exp(x) ** 2; math.log2(x);
    math.sin(x) ** 2 + math.cos(x) ** 2; math.sin(x) / math.cos(x); math.tan(x); math.sin(-x); math.cos(-x);
    math.asin(math.sin(x)); math.sin(math.asin(x)); math.tan(math.atan(x)); math.atan2(y, x); math.atan2(x, 1.0);
    math.tanh(-x); (math.exp(x) - math.exp(-x)) / 2.0; math.erf(x) + math.erfc(x); math.copysign(abs(x), x);
    abs(x) * abs(y); abs(x * y); abs(-x); abs(x) / x
""")
CHOICES = _each("""
    max(x, max(y, z)); max(max(x, y), z); max(x, min(x, y)); min(max(x, 0.0), 1.0); -max(-x, -y);
    max(x, 0.0) + min(x, 0.0); max(x, -x); max(x * z, y * z); x if x < y else y; y if x >= y else x;
    x if not x < y else y; x if x == y else y; x if x < y else x; x + 1.0 if x < y else x + 1.0;
    0.0 if x == 0.0 else x * y; x if x == x else 0.0; 1.0 if x < y else 0.0; x if x < y and y < z else z;
    x if x < y or x > y else y; x if (x < y) == (x < y) else y; x if x - y == 0.0 else y
""")
FORMULAS = (*POWERS, *ORDER, *QUOTIENTS, *INVERSES, *CHOICES)
WHOLE = _each("""
    n // 2; n % 8; n * 2 // 2; n * m // m; -n // m; -(n // m); -n % m; n // m // 2; n // 2 // 3; n // -1; n % -3;
    (n + m) // 2; n - m + m; n ** 2; n * n - m * m; (n + m) * 2; n // m * m; n % m % m; n / 2; n / 1; n * 0.5;
    n if n < m else m; max(n, m) - min(n, m); abs(n) * abs(m); n if n <= m - 1 else m; n + m if n == m else 2 * n
""")


@cache
def formulas() -> tuple[Trigger, ...]:
    """Every formula as a function of the variables in it."""
    return tuple(_written())


def _written() -> Iterator[Trigger]:
    for names, type, texts in (("xyz", "float", FORMULAS), ("nm", "int", WHOLE)):
        for text in texts:
            parameters = ", ".join(f"{name}: {type}" for name in names if re.search(rf"\b{name}\b", text))
            yield Trigger(text, parse_text(f"import math\n\n\ndef f({parameters}):\n    return {text}\n", "f"))
