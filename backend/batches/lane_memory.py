"""
Where lanes are read and written: columns, of which neighbours are taken at once, rows, of which each gives one number, and
stacks, where each number has the room of all lanes. An address stands for a column, since an array would be counted as one that is
held for every call.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

from backend.batches.lanes import BOOLEANS, INTEGERS, LANES, NUMBER, REALS, Lanes, part, spread

BYTES = 8


@intrinsic
def address(context, array):  # type: ignore[no-untyped-def]
    """Where the elements of an array begin."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        (array,) = arguments
        return builder.ptrtoint(context.make_array(signature.args[0])(context, builder, array).data, ir.IntType(64))

    return types.int64(array), generate


def _taking(kind: Lanes) -> Any:
    @intrinsic
    def taken(context, at):  # type: ignore[no-untyped-def]
        """The reals from an address on."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return _load(builder, arguments[0], kind.vector)

        return kind(types.int64), generate

    return taken


def _putting(kind: Lanes) -> Any:
    @intrinsic
    def put(context, at, value):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            at, value = arguments
            value = context.cast(builder, value, signature.args[1], kind)
            bytes_ = ir.VectorType(ir.IntType(8), kind.width)
            _store(builder, builder.zext(value, bytes_) if kind.of == BOOLEANS else value, at)
            return context.get_dummy_value()

        return types.void(types.int64, value), generate

    return put


def _taking_apart(kind: Lanes) -> Any:
    @intrinsic
    def taken(context, at, step):  # type: ignore[no-untyped-def]
        """The reals at an address, and so many bytes behind each."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            result = ir.Constant(kind.vector, ir.Undefined)
            for k, place in enumerate(_apart(builder, kind, *arguments)):
                value = builder.load(builder.inttoptr(place, kind.vector.element.as_pointer()), align=BYTES)
                result = builder.insert_element(result, value, NUMBER(k))
            return result

        return kind(types.int64, types.int64), generate

    return taken


def _putting_apart(kind: Lanes) -> Any:
    @intrinsic
    def put(context, at, value, step):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            at, value, step = arguments
            value = context.cast(builder, value, signature.args[1], kind)
            stored = ir.IntType(8) if kind.of == BOOLEANS else kind.vector.element
            for k, place in enumerate(_apart(builder, kind, at, step)):
                one = builder.extract_element(value, NUMBER(k))
                one = builder.zext(one, stored) if kind.of == BOOLEANS else one
                builder.store(one, builder.inttoptr(place, stored.as_pointer()), align=1 if kind.of == BOOLEANS else BYTES)
            return context.get_dummy_value()

        return types.void(types.int64, value, types.int64), generate

    return put


def _apart(builder: Any, kind: Lanes, at: Any, step: Any) -> list[Any]:
    """The address of the number of each lane."""
    return [builder.add(at, builder.mul(step, ir.Constant(at.type, k))) for k in range(kind.width)]


@intrinsic
def real(context, at):  # type: ignore[no-untyped-def]
    """The real at an address."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.load(builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()), align=BYTES)

    return types.float64(types.int64), generate


def _load(builder: Any, address: Any, vector: Any) -> Any:
    return builder.load(builder.inttoptr(address, vector.as_pointer()), align=1 if vector.element == ir.IntType(8) else BYTES)


def _store(builder: Any, value: Any, address: Any) -> None:
    align = 1 if value.type.element == ir.IntType(8) else BYTES
    builder.store(value, builder.inttoptr(address, value.type.as_pointer()), align=align)


# stacks


class LaneMemory(types.Type):
    """The type of memory of which every place has the room of lanes."""

    def __init__(self, kind: Lanes) -> None:
        super().__init__(name=f"memory of {kind.name}")
        self.kind = kind


@register_model(LaneMemory)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, type: LaneMemory) -> None:
        super().__init__(manager, type, ir.IntType(64))


def _memory_of(kind: Lanes) -> Any:
    @intrinsic
    def memory(context, at):  # type: ignore[no-untyped-def]
        return LaneMemory(kind)(types.int64), lambda context, builder, signature, arguments: arguments[0]

    return memory


CALLED = {
    width: {
        "address": address,
        "real": real,
        "taken": _taking(kinds[REALS]),
        "taken_apart": _taking_apart(kinds[REALS]),
        "put_f64": _putting(kinds[REALS]),
        "put_i64": _putting(kinds[INTEGERS]),
        "put_bool": _putting(kinds[BOOLEANS]),
        "put_f64_apart": _putting_apart(kinds[REALS]),
        "put_i64_apart": _putting_apart(kinds[INTEGERS]),
        "put_bool_apart": _putting_apart(kinds[BOOLEANS]),
        "lane_reals": _memory_of(kinds[REALS]),
        "lane_integers": _memory_of(kinds[INTEGERS]),
    }
    for width, kinds in LANES.items()
}
"""What a kernel of so many lanes calls, by name."""


@infer_global(operator.getitem)
class _Read(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(args[0].kind, args[0], _index(args[1])) if isinstance(args[0], LaneMemory) else None


@infer_global(operator.setitem)
class _Written(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.none, args[0], _index(args[1]), args[2]) if isinstance(args[0], LaneMemory) else None


def _index(type: Any) -> Any:
    return type if isinstance(type, Lanes) and type.of == INTEGERS else types.int64


def _place(context: Any, builder: Any, memory: Any, index: Any, vector: Any) -> Any:
    """The address of a place. Where an index is lanes, which another stack had, all have to be equal."""
    if isinstance(index.type, ir.VectorType):
        (lanes, index) = index, builder.extract_element(index, NUMBER(0))
        unlike = builder.bitcast(builder.icmp_signed("!=", lanes, spread(builder, index, lanes.type)), ir.IntType(lanes.type.count))
        part(context, builder, builder.icmp_unsigned("!=", unlike, ir.Constant(unlike.type, 0)))
    return builder.add(memory, builder.mul(index, ir.Constant(ir.IntType(64), BYTES * vector.count)))


@lower_builtin(operator.getitem, LaneMemory, types.Integer)
@lower_builtin(operator.getitem, LaneMemory, Lanes)
def _read(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    vector = signature.args[0].kind.vector
    return _load(builder, _place(context, builder, *arguments, vector), vector)  # type: ignore[call-arg]


@lower_builtin(operator.setitem, LaneMemory, types.Integer, types.Any)
@lower_builtin(operator.setitem, LaneMemory, Lanes, types.Any)
def _write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    memory, index, value = arguments
    kind, given = signature.args[0].kind, signature.args[2]
    if isinstance(given, Lanes) and given.of == BOOLEANS:
        value = builder.zext(value, kind.vector)
    elif given is not kind:
        value = context.cast(builder, value, given, kind)
    _store(builder, value, _place(context, builder, memory, index, kind.vector))
    return context.get_dummy_value()
