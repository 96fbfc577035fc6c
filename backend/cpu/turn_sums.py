"""
Sums of products for turns that go side by side, whose number is the last axis of arrays: what two loops would add, in vectors.

    add_row      c[s] + Σ a[k] b[k, s]      for every turn s
    add_outer    c[i, j] + Σ p[i, s] q[j, s], a sum over the turns

Each sum is in order, begins with what c has, and is in a register until it is whole. Eight by eight elements of q are turned there,
so that neighbours of c have a lane each. Where an array lies in another is said by a tuple of indices; of a and b, None stands for
the k. In a module of its own, since Numba's cache finds functions again by import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from backend.cpu.tiles import INDEX, LANES, PART, VECTOR, VECTORS, addresses, longer, repeated, smaller, spread
from backend.toolchain import BARE

LONG = 4 * VECTORS * LANES  # turns of a row at once
INTP = types.intp
SCALAR = ir.VectorType(ir.DoubleType(), 1)


def _within(context: Any, builder: Any, types: tuple[Any, Any], values: tuple[Any, Any]) -> Callable[..., Any]:
    """The address of an element of a part of an array: of its indices, those that are given stand for None, and behind the last."""
    at, _ = addresses(context, builder, types[0], values[0])
    prefix = cgutils.unpack_tuple(builder, values[1], len(types[1])) if len(types[1]) else []

    def address(*more: Any) -> Any:
        rest = iter(more)
        given = [next(rest) if _is_none(of) else context.cast(builder, i, of, INTP) for i, of in zip(prefix, types[1], strict=True)]
        return at(*given, *rest)

    return address


def _real(context: Any, builder: Any, array: Any, at: Any) -> Any:
    """The element at an address, as a real."""
    return context.cast(builder, context.unpack_value(builder, array.dtype, at), array.dtype, types.float64)


def _is_none(of: Any) -> bool:
    return isinstance(of, types.NoneType)


def _row_of(vectors: int, vector: Any) -> Any:
    @intrinsic
    def row(context, inner, first, a, ia, b, ib, ic, c):  # type: ignore[no-untyped-def]
        """As many vectors of turns, from the first on."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            inner, first = arguments[:2]
            of = signature.args
            at_a = _within(context, builder, of[2:4], arguments[2:4])
            at_b = _within(context, builder, of[4:6], arguments[4:6])
            at_c = _within(context, builder, (of[7], of[6]), (arguments[7], arguments[6]))
            places = [builder.add(first, INDEX(n * vector.count)) for n in range(vectors)]

            def pointer(address: Any) -> Any:
                return builder.bitcast(address, vector.as_pointer())

            def step(k: Any, totals: list[Any]) -> list[Any]:
                x = spread(builder, _real(context, builder, of[2], at_a(k)), vector)
                return [
                    longer(builder, total, x, builder.load(pointer(at_b(k, place)), align=8))
                    for total, place in zip(totals, places, strict=True)
                ]

            totals = [builder.load(pointer(at_c(place)), align=8) for place in places]
            for place, total in zip(places, repeated(builder, inner, totals, step), strict=True):
                builder.store(total, pointer(at_c(place)), align=8)
            return context.get_dummy_value()

        if any((array.layout, array.dtype) != ("C", types.float64) for array in (b, c)):
            return None
        return types.void(types.int64, types.int64, a, ia, b, ib, ic, c), generate

    return row


_many, _eight, _one = _row_of(LONG // LANES, VECTOR), _row_of(1, VECTOR), _row_of(1, SCALAR)


@njit(**BARE)
def add_row(inner, count, a, ia, b, ib, ic, c):  # type: ignore[no-untyped-def]
    """c[s] + Σ a[k] b[k, s] in place of c[s], for so many k and turns."""
    s = 0
    while s + LONG <= count:
        _many(inner, s, a, ia, b, ib, ic, c)
        s += LONG
    while s + LANES <= count:
        _eight(inner, s, a, ia, b, ib, ic, c)
        s += LANES
    while s < count:
        _one(inner, s, a, ia, b, ib, ic, c)
        s += 1


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """Eight vectors of eight, the k-th of the k-th elements."""
    half = LANES // 2
    while half:
        found = list(rows)
        for n in range(LANES):
            if not n & half:
                low = [k if not k & half else LANES + k - half for k in range(LANES)]
                high = [k + half if not k & half else LANES + k for k in range(LANES)]
                for to, chosen in ((n, low), (n + half, high)):
                    mask = ir.Constant(ir.VectorType(PART, LANES), chosen)
                    found[to] = builder.shuffle_vector(rows[n], rows[n + half], mask)
        rows, half = found, half // 2
    return rows


def _outer_of(height: int) -> Any:
    @intrinsic
    def outer(context, rows, columns, count, i, j, p, ip, q, iq, ic, c):  # type: ignore[no-untyped-def]
        """As many rows of c from i on, if there are, and eight columns from j on."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            rows, columns, count, i, j = arguments[:5]
            of = signature.args
            at_p = _within(context, builder, of[5:7], arguments[5:7])
            at_q = _within(context, builder, of[7:9], arguments[7:9])
            at_c = _within(context, builder, (of[10], of[9]), (arguments[10], arguments[9]))
            ours = [smaller(builder, builder.add(i, INDEX(n)), builder.sub(rows, INDEX(1))) for n in range(height)]
            theirs = [smaller(builder, builder.add(j, INDEX(n)), builder.sub(columns, INDEX(1))) for n in range(LANES)]

            def step(s: Any, totals: list[Any], column: Any) -> list[Any]:
                """One turn."""
                return [
                    longer(builder, total, spread(builder, builder.load(at_p(row, s))), column)
                    for row, total in zip(ours, totals, strict=True)
                ]

            def eight(k: Any, totals: list[Any]) -> list[Any]:
                """Eight turns."""
                s = builder.mul(k, INDEX(LANES))
                loads = [builder.load(builder.bitcast(at_q(row, s), VECTOR.as_pointer()), align=8) for row in theirs]
                for n, column in enumerate(_turned(builder, loads)):
                    totals = step(builder.add(s, INDEX(n)), totals, column)
                return totals

            whole = builder.sdiv(count, INDEX(LANES))
            done = builder.mul(whole, INDEX(LANES))

            def one(k: Any, totals: list[Any]) -> list[Any]:
                s = builder.add(done, k)
                column = ir.Constant(VECTOR, ir.Undefined)
                for lane, row in enumerate(theirs):
                    column = builder.insert_element(column, builder.load(at_q(row, s)), PART(lane))
                return step(s, totals, column)

            mask = _first(builder, builder.sub(columns, j))
            places = [builder.bitcast(at_c(row, j), VECTOR.as_pointer()) for row in ours]
            totals = [_masked(builder, "load", place, mask) for place in places]
            totals = repeated(builder, whole, totals, eight)
            totals = repeated(builder, builder.sub(count, done), totals, one)
            for place, total in zip(places, totals, strict=True):
                _masked(builder, "store", place, mask, total)
            return context.get_dummy_value()

        if any((array.layout, array.dtype) != ("C", types.float64) for array in (p, q, c)):
            return None
        return types.void(*[types.int64] * 5, p, ip, q, iq, ic, c), generate

    return outer


def _first(builder: Any, count: Any) -> Any:
    """The first lanes, so many."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(64), LANES), [*range(LANES)])
    return builder.icmp_signed("<", lanes, spread(builder, count, lanes.type))


def _masked(builder: Any, what: str, place: Any, mask: Any, value: Any = None) -> Any:
    """Lanes of a vector in memory, read or written."""
    name, align = f"llvm.masked.{what}.v{LANES}f64.p0", PART(8)
    loads = what == "load"
    given = [place, align, mask, ir.Constant(VECTOR, [0.0] * LANES)] if loads else [value, place, align, mask]
    type = ir.FunctionType(VECTOR if loads else ir.VoidType(), [g.type for g in given])
    module = builder.module
    return builder.call(module.globals.get(name) or ir.Function(module, type, name), given)


LEAST, LESS, MOST = (4, 8, 12) if VECTORS > 1 else (4, 4, 4)
"""The rows of a tile, as few as will do: what the registers hold, beside eight vectors that are turned."""
_least, _less, _most = _outer_of(LEAST), _outer_of(LESS), _outer_of(MOST)


@njit(**BARE)
def add_outer(rows, columns, count, p, ip, q, iq, ic, c):  # type: ignore[no-untyped-def]
    """c[i, j] + Σ p[i, s] q[j, s] in place of c[i, j], for so many rows, columns and turns."""
    for i in range(0, rows, MOST):
        for j in range(0, columns, LANES):
            if rows - i <= LEAST:
                _least(rows, columns, count, i, j, p, ip, q, iq, ic, c)
            elif rows - i <= LESS:
                _less(rows, columns, count, i, j, p, ip, q, iq, ic, c)
            else:
                _most(rows, columns, count, i, j, p, ip, q, iq, ic, c)
