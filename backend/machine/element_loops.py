"""
Loops over the elements of arrays, in the language of generated code. An array is a place among the words and a stride per axis;
answers are 0, or 1 where the reference must say what is wrong.

`source()` has one function `value_1(op, x)` for all elementwise rows with one operand, and `row_2` with a loop for each with two,
from the texts of the column "numba"; the loops call them. Sums and products go from the left in row-major order, as the meaning
says: so results are the reference's bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from backend import prelude, toolchain
from backend.columns import NUMBA
from backend.machine import place_loops
from backend.machine.kernels import Made
from backend.machine.layout import ZERO_BITS
from backend.machine.place_loops import place
from backend.machine.source import addressed, plain, tree
from backend.machine.structural import Doubles, Words
from semantics.errors import AdjudgeError
from semantics.primitives.row import Hole
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.type_language import REAL

value_1: Any
row_2: Any


def map_1(F: Doubles, op: int, x: int, out: int, n: int) -> int:
    """The op of each of n elements."""
    for k in range(n):
        F[out + k] = value_1(op, F[x + k])
    return 0


def map_2(F: Doubles, op: int, x: int, y: int, out: int, shape: Words, xs: Words, ys: Words) -> int:
    """
    The op of the elements at x and y, whose strides are 0 along axes where they are repeated; at least one axis.

    Rows along the last axis follow each other along the second last: only where the first of them lies is found by division.
    """
    last, second = len(shape) - 1, len(shape) - 2
    side = shape[second] if last > 0 else 1
    for start in range(0, rows(shape), max(side, 1)):
        a, b, rest = x, y, start // side
        for axis in range(second - 1, -1, -1):
            at = rest % shape[axis]
            rest = rest // shape[axis]
            a += at * xs[axis]
            b += at * ys[axis]
        for k in range(side):
            u, v = a + k * xs[second], b + k * ys[second]
            row_2(F, op, u, v, out + (start + k) * shape[last], shape[last], xs[last], ys[last])
    return 0


def rows(shape: Words) -> int:
    """How many rows there are along the last axis."""
    count = 1
    for axis in range(len(shape) - 1):
        count *= shape[axis]
    return count


def move(I: Words, x: int, out: int, n: int, shape: Words, strides: Words) -> int:
    """n elements at x, in the order of a shape and its strides; at least one axis. Rows follow each other as in `map_2`."""
    last, second = len(shape) - 1, len(shape) - 2
    side = shape[second] if last > 0 else 1
    for start in range(0, rows(shape) if n > 0 else 0, max(side, 1)):
        a, rest = x, start // side
        for axis in range(second - 1, -1, -1):
            a += (rest % shape[axis]) * strides[axis]
            rest = rest // shape[axis]
        for j in range(side):
            at, to = a + j * strides[second], out + (start + j) * shape[last]
            for k in range(shape[last]):
                I[to + k] = I[at + k * strides[last]]
    return 0


def total(F: Doubles, x: int, out: int, n: int, kept: Words, kept_strides: Words, m: int, gone: Words, gone_strides: Words) -> int:
    """For each of n places along the kept axes, the sum of m elements from the left."""
    step = gone_strides[0] if len(gone) == 1 else 0
    for k in range(n):
        base = x + place(kept, kept_strides, k)
        found = 0.0
        for j in range(m):
            item = F[base + (j * step if len(gone) == 1 else place(gone, gone_strides, j))]
            found = item if j == 0 else found + item
        F[out + k] = found
    return 0


def total_of_products(
    F: Doubles, x: int, y: int, out: int, kept: Words, xs: Words, ys: Words, gone: Words, us: Words, vs: Words
) -> int:
    """For each place along the kept axes, the sum from the left of the products of elements at x and y; there are some."""
    end, last = len(kept) - 1, len(gone) - 1
    width, s, t = gone[last], us[last], vs[last]
    for k in range(rows(kept)):
        a, b = x + place(kept, xs, k * kept[end]), y + place(kept, ys, k * kept[end])
        for q in range(kept[end]):
            found = _mul(F[a], F[b])
            for i in range(1, width):
                found = found + _mul(F[a + i * s], F[b + i * t])
            for j in range(1, rows(gone)):
                c, d = a + place(gone, us, j * width), b + place(gone, vs, j * width)
                for i in range(width):
                    found = found + _mul(F[c + i * s], F[d + i * t])
            F[out + k * kept[end] + q] = found
            a += xs[end]
            b += ys[end]
    return 0


def totals_of_products(
    F: Doubles,
    x: int,
    y: int,
    out: int,
    before: Words,
    xs: Words,
    ys: Words,
    gone: Words,
    us: Words,
    vs: Words,
    behind: Words,
    ss: Words,
    ts: Words,
) -> int:
    """The same where the last of the kept axes lie behind those that go: many sums side by side, each still from the left."""
    last, second = len(behind) - 1, len(behind) - 2
    width, side = behind[last], behind[second] if last > 0 else 1
    lines, end = rows(behind), len(gone) - 1
    for k in range(rows(before) * before[len(before) - 1]):
        a, b, to = x + place(before, xs, k), y + place(before, ys, k), out + k * lines * width
        for j in range(rows(gone) * gone[end]):
            c = a + (place(gone, us, j) if end > 0 else j * us[0])
            d = b + (place(gone, vs, j) if end > 0 else j * vs[0])
            for r in range(0, lines, side):
                u = c + (place(behind, ss, r * width) if r > 0 else 0)
                v = d + (place(behind, ts, r * width) if r > 0 else 0)
                for q in range(side):
                    add_row(F, j, u, v, to + (r + q) * width, width, ss[last], ts[last])
                    u += ss[second] if last > 0 else 0
                    v += ts[second] if last > 0 else 0
    return 0


def add_row(F: Doubles, j: int, a: int, b: int, to: int, n: int, s: int, t: int) -> int:
    """The j-th products of n sums that lie side by side."""
    if j == 0:
        for i in range(n):
            F[to + i] = _mul(F[a + i * s], F[b + i * t])
    else:
        for i in range(n):
            F[to + i] = F[to + i] + _mul(F[a + i * s], F[b + i * t])
    return 0


def product(F: Doubles, x: int, y: int, out: int, rows: int, inner: int, columns: int) -> int:
    """The matrix product of rows × inner and inner × columns, each sum from the left."""
    for i in range(rows):
        to = out + i * columns
        for j in range(columns):
            F[to + j] = 0.0
        for k in range(inner):
            a = F[x + i * inner + k]
            for j in range(columns):
                term = _mul(a, F[y + k * columns + j])
                F[to + j] = term if k == 0 else F[to + j] + term
    return 0


_mul: Any
LOOPS = (map_1, map_2, move, total, total_of_products, totals_of_products, product, *place_loops.LOOPS)


def texts(operands: int) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The elementwise rows with so many operands: name, expression of reals, and the helpers that it calls."""
    absent = [f"{name}(" for names in toolchain.ABSENT.values() for name in names]
    for name in sorted(ELEMENTWISE):
        row = TABLE[name]
        if isinstance(NUMBA.find(row), Hole) or len(row.signature) != operands or row.result not in ("real", "number"):
            continue
        try:
            template = NUMBA[row](*(REAL,) * operands)
        except AdjudgeError:
            continue
        whole = template.type == REAL and not template.checks and not template.fallible
        if whole and not any(function in template.text for function in absent):
            yield name, template.text.format("x", "y"), template.helpers


def numbers(operands: int) -> dict[str, int]:
    """The number of each of these rows."""
    return {name: k for k, (name, _, _) in enumerate(texts(operands))}


def source() -> str:
    """The text of all loops."""
    used = {h for k in (1, 2) for _, _, helpers in texts(k) for h in helpers}
    parts = prelude.closure(used)
    ones = [f"return {text}" for _, text, _ in texts(1)]
    parts.append(f"def value_1(op, x):\n{tree(0, ones, '    ')}".replace("* one", ""))
    twos = [
        f"for k in range(n):\n    x, y = F[a + k * s], F[b + k * t]\n    F[to + k] = {text}\nreturn 0" for _, text, _ in texts(2)
    ]
    parts.append(f"def row_2(F, op, a, b, to, n, s, t):\n{tree(0, twos, '    ')}".replace("* one", ""))
    parts += [plain(rows), plain(place), plain(add_row)]
    head = f"ZERO_BITS = {ZERO_BITS}"
    return "\n\n".join([head, *(f"@_part\n{part}" for part in parts), *(f"@_device\n{plain(loop)}" for loop in LOOPS)]) + "\n"


def made() -> Made:
    """What `kernels` remembers of all this."""
    named = {loop.__name__: loop.__code__.co_varnames[:2] for loop in LOOPS}
    buffers = {name: sum(first in "IF" for first in takes) for name, takes in named.items()}
    return Made(addressed(source(), LOOPS), buffers, (numbers(1), numbers(2)))
