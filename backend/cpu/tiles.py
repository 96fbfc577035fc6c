"""
Tiles of a product of matrices, for the CPU: some sums at once, each in a lane of a register, and from the left, until it is whole.

    tile     TALL rows of a result by WIDE columns
    strip    LONG elements of a vector times a matrix

Each element of the matrices that is read serves a row or a column of the tile, and nothing is written before all is read: so no
sum waits for memory, and whether arrays overlap need not be asked. Where less is left than a tile takes, it takes elements that
another has too, or one of them several times: they come out the same. In a module of its own, since Numba's cache finds functions
again by import.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

LANES = 8
VECTORS = 2 if binding.get_host_cpu_features().get("avx512f") else 1
TALL, WIDE, LONG = 4 * VECTORS, VECTORS * LANES, 4 * LANES
"""What the registers hold: 32 of eight doubles, or 16 of four."""
INDEX, PART, VECTOR = ir.IntType(64), ir.IntType(32), ir.VectorType(ir.DoubleType(), LANES)
Address = Callable[..., Any]


def addresses(context: Any, builder: Any, type: Any, value: Any) -> tuple[Address, list[Any]]:
    """The addresses of an array's elements, by their indices, and its sizes."""
    array = make_array(type)(context, builder, value)
    sizes = cgutils.unpack_tuple(builder, array.shape, type.ndim)
    return lambda *at: cgutils.get_item_pointer(context, builder, type, array, at), sizes


def smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed(">", a, b), a, b)


def _within(builder: Any, first: Any, count: int, stop: Any) -> list[Any]:
    """As many numbers from the first on; the last that there are, if there are fewer; the very last several times."""
    first = smaller(builder, first, _larger(builder, builder.sub(stop, INDEX(count)), INDEX(0)))
    return [smaller(builder, builder.add(first, INDEX(n)), builder.sub(stop, INDEX(1))) for n in range(count)]


def _read(builder: Any, at: Address, row: tuple[Any, ...], columns: list[Any]) -> Any:
    """The elements of a row in these columns: neighbours, of which the first is given, or each by itself."""
    if len(columns) == 1:
        return builder.load(builder.bitcast(at(*row, columns[0]), VECTOR.as_pointer()), align=8)
    found = ir.Constant(VECTOR, ir.Undefined)
    for lane, column in enumerate(columns):
        found = builder.insert_element(found, builder.load(at(*row, column)), PART(lane))
    return found


def _write(builder: Any, at: Address, row: tuple[Any, ...], columns: list[Any], value: Any) -> None:
    """The elements of a row in these columns, written."""
    if len(columns) == 1:
        builder.store(value, builder.bitcast(at(*row, columns[0]), VECTOR.as_pointer()), align=8)
        return
    for lane, column in enumerate(columns):
        builder.store(builder.extract_element(value, PART(lane)), at(*row, column))


def spread(builder: Any, number: Any, vector: Any = VECTOR) -> Any:
    """A number in all lanes."""
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), number, PART(0))
    lanes = ir.Constant(ir.VectorType(PART, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), lanes)


def repeated(builder: Any, count: Any, vectors: list[Any], step: Callable[[Any, list[Any]], list[Any]]) -> list[Any]:
    """The vectors after so many steps: the k-th makes the next ones of k and those before."""
    before, loop, after = builder.block, builder.append_basic_block("steps"), builder.append_basic_block("stepped")
    builder.cbranch(builder.icmp_signed(">", count, INDEX(0)), loop, after)
    builder.position_at_end(loop)
    k, *here = [builder.phi(of) for of in (INDEX, *(v.type for v in vectors))]
    another, *next = [builder.add(k, INDEX(1)), *step(k, here)]
    last = builder.block
    builder.cbranch(builder.icmp_signed("<", another, count), loop, after)
    builder.position_at_end(after)
    found = [builder.phi(v.type) for v in vectors]
    for phi, first, later in zip([k, *here], [INDEX(0), *vectors], [another, *next], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(later, last)
    for phi, first, later in zip(found, vectors, next, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(later, last)
    return found


def longer(builder: Any, total: Any, x: Any, y: Any, flags: tuple[str, ...] = ()) -> Any:
    """A sum and the product that comes next in it."""
    return builder.fadd(total, builder.fmul(x, y, flags=flags), flags=flags)


def _in_vectors(builder: Any, first: Any, count: int, columns: Any, together: bool) -> list[list[Any]]:
    """The columns of each of so many vectors: of neighbours, the first alone."""
    if not together:
        lanes = _within(builder, first, count * LANES, columns)
        return [lanes[n : n + LANES] for n in range(0, count * LANES, LANES)]
    last = builder.sub(columns, INDEX(LANES))
    return [[smaller(builder, builder.add(first, INDEX(n * LANES)), last)] for n in range(count)]


def _generate(context: Any, builder: Any, types: Any, values: Any, height: int, width: int, flags: tuple[str, ...]) -> None:
    """The tile of c = a b that begins at a place; of a vector a, at one of its columns."""
    arrays = [addresses(context, builder, *of) for of in zip(types[:3], values[:3], strict=True)]
    (at_a, _), (at_b, (inner, _)), (at_c, (*count, columns)) = arrays
    *row, column = values[3:]
    rows = [(i,) for i in _within(builder, row[0], height, count[0])] if row else [()]

    def tile(width: int, together: bool) -> None:
        vectors = _in_vectors(builder, column, width, columns, together)

        def step(k: Any, totals: list[Any]) -> list[Any]:
            ours = [_read(builder, at_b, (k,), v) for v in vectors]
            theirs = [spread(builder, builder.load(at_a(*i, k))) for i in rows]
            terms = ((x, y) for x in theirs for y in ours)
            return [longer(builder, total, x, y, flags) for total, (x, y) in zip(totals, terms, strict=True)]

        found = iter(repeated(builder, inner, [ir.Constant(VECTOR, [-0.0] * LANES)] * (len(rows) * width), step))
        for i in rows:
            for v in vectors:
                _write(builder, at_c, i, v, next(found))

    if types[1].layout != "C" or types[2].layout != "C":
        tile(width, together=False)
        return
    with builder.if_else(builder.icmp_signed("<", columns, INDEX(LANES))) as (few, enough):
        with few:
            tile(1, together=False)
        with enough:
            tile(width, together=True)


def _tile(flags: tuple[str, ...]) -> Any:
    @intrinsic
    def tile(context, a, b, c, i, j):  # type: ignore[no-untyped-def]
        """TALL rows and WIDE columns of c = a b, from row i and column j on."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            _generate(context, builder, signature.args, arguments, TALL, VECTORS, flags)
            return context.get_dummy_value()

        return types.void(a, b, c, types.int64, types.int64), generate

    return tile


def _strip(flags: tuple[str, ...]) -> Any:
    @intrinsic
    def strip(context, a, b, c, j):  # type: ignore[no-untyped-def]
        """LONG elements of the vector c = a b, from j on."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            _generate(context, builder, signature.args, arguments, 1, LONG // LANES, flags)
            return context.get_dummy_value()

        return types.void(a, b, c, types.int64), generate

    return strip


tile, strip = _tile(()), _strip(())
any_tile, any_strip = _tile(("contract",)), _strip(("contract",))
