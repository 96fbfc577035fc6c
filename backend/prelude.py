"""
Helpers of generated code, in the language of generated code: plain Python that a JIT can type, integers of 64 bits.

Each is included where it is used. Those named with a trailing `_` answer with (value, status). Free names are bound when
the code is loaded: `_div`, `_mul`, `_floor`, `_fmod`, `_copysign`, `_pow`, `_exp`, `_log1p`, `_f32`, `_MAX`, `_MIN`, `_inf`,
`_nan`.

Integer operations test before they compute: in 64 bits an overflow is undefined, and a test after it would be removed.
Float `//` and `%` follow CPython's algorithm step by step; a compiler's own contain products that it may contract.
"""

from __future__ import annotations

from backend.arrays.products import USES as PRODUCTS_USE
from backend.arrays.table import SOURCES
from backend.fast.products import SOURCES as FAST_PRODUCTS
from backend.fast.products import USES as FAST_PRODUCTS_USE
from backend.stacks.arrays import SOURCES as KEEPING

_BIG = 1 << 53

HELPERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "_mul_overflows": (
        """
def _mul_overflows(a, b):
    if a == 0 or b == 0 or a == 1 or b == 1:
        return False
    if a == -1:
        return b == _MIN
    if b == -1:
        return a == _MIN
    if a == _MIN or b == _MIN:
        return True
    p = a if a > 0 else -a
    q = b if b > 0 else -b
    if (a > 0) == (b > 0):
        return p > _MAX // q
    limit = _MAX // q
    if _MAX - limit * q == q - 1:
        limit = limit + 1
    return p > limit
""",
        (),
    ),
    "_pow_ii_": (
        """
def _pow_ii_(a, b):
    if b == 0 or a == 1:
        return 1, 0
    if a == 0:
        return 0, 0
    if a == -1:
        return (1 if b % 2 == 0 else -1), 0
    result = 1
    while b > 0:
        if b % 2 == 1:
            if _mul_overflows(result, a):
                return 0, 1
            result = result * a
        b = b // 2
        if b > 0:
            if _mul_overflows(a, a):
                return 0, 1
            a = a * a
    return result, 0
""",
        ("_mul_overflows",),
    ),
    "_div_ii": (
        f"""
def _div_ii(a, b):
    if -{_BIG} <= a <= {_BIG} and -{_BIG} <= b <= {_BIG}:
        return _div(float(a), float(b))
    if b == _MIN:
        return _div(float(a), float(b))
    scale = 1.0
    if a == _MIN:
        a = -(1 << 62)
        scale = 2.0
    if a == 0:
        return _div(0.0, float(b))
    p = a if a > 0 else -a
    q = b if b > 0 else -b
    whole = p // q
    rest = p - whole * q
    while whole < (1 << 54):
        if rest >= q - rest:
            rest = rest - (q - rest)
            whole = 2 * whole + 1
        else:
            rest = 2 * rest
            whole = 2 * whole
        scale = scale * 0.5
    if rest != 0:
        whole = whole | 1
    size = float(whole) * scale
    return size if (a > 0) == (b > 0) else -size
""",
        (),
    ),
    "_mod_ff": (
        """
def _mod_ff(x, y):
    if y == 0.0:
        return _nan
    r = _fmod(x, y)
    if r != 0.0:
        if (y < 0.0) != (r < 0.0):
            r = r + y
        return r
    return _copysign(0.0, y)
""",
        (),
    ),
    "_floordiv_ff": (
        """
def _floordiv_ff(x, y):
    if y == 0.0:
        return _div(x, y)
    r = _fmod(x, y)
    d = _div(x - r, y)
    if r != 0.0:
        if (y < 0.0) != (r < 0.0):
            d = d - 1.0
    if d == 0.0:
        return _copysign(0.0, _div(x, y))
    f = _floor(d)
    if d - f > 0.5:
        f = f + 1.0
    return f
""",
        (),
    ),
    "_sign": (
        """
def _sign(x):
    if x != 0.0 and x == x:
        return _copysign(1.0, x)
    return x + 0.0
""",
        (),
    ),
    "_single": (
        """
def _single(x):
    return _f32(x) * 1.0
""",
        (),
    ),
    "_logaddexp": (
        """
def _logaddexp(x, y):
    if x == y and x - x != 0.0:
        return x
    larger = y if y > x or y != y else x
    return larger + _log1p(_exp(-abs(x - y)))
""",
        (),
    ),
    "_whole_": (
        """
def _whole_(x):
    if not (x - x == 0.0):
        return 0, 3
    if not (x >= -9223372036854775808.0 and x < 9223372036854775808.0):
        return 0, 1
    return int(x), 0
""",
        (),
    ),
    "_trunc": (
        """
def _trunc(x):
    return _floor(x) if x >= 0.0 else -_floor(-x)
""",
        (),
    ),
    "_range_": (
        """
def _range_(start, stop, step):
    if step == 0:
        return 0, 7
    if step == _MIN:
        return 0, 1
    low = start if step > 0 else stop
    high = stop if step > 0 else start
    if high <= low:
        return 0, 0
    if low < 0 and high > _MAX + low:
        return 0, 1
    width = step if step > 0 else -step
    return (high - low - 1) // width + 1, 0
""",
        (),
    ),
    "_order": (
        f"""
def _order(a, x):
    if x != x:
        return 2
    if -{_BIG} <= a <= {_BIG}:
        y = float(a)
        return -1 if y < x else (1 if y > x else 0)
    if x >= 9223372036854775808.0:
        return -1
    if x < -9223372036854775808.0:
        return 1
    f = _floor(x)
    b = int(f)
    if a < b:
        return -1
    if a > b:
        return 1
    return -1 if f < x else 0
""",
        (),
    ),
}


USES = PRODUCTS_USE | FAST_PRODUCTS_USE
HELPERS |= {name: (text, USES.get(name, ())) for name, text in (SOURCES | KEEPING | FAST_PRODUCTS).items()}


def closure(names: set[str]) -> list[str]:
    """The sources of `names` and all they use, each after what it uses."""
    ordered: list[str] = []
    todo = [(n, False) for n in sorted(names, reverse=True)]
    while todo:
        name, ready = todo.pop()
        if name in ordered:
            continue
        if ready:
            ordered.append(name)
        else:
            todo.append((name, True))
            todo += [(n, False) for n in HELPERS[name][1]]
    return [HELPERS[n][0].strip("\n") for n in ordered]
