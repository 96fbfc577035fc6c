"""Arrays made from values: nested tuples and lists, numbers, ranges; and the constants of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend.arrays.attributes import as_operand, dtype_of, is_unit, is_zero, not_negative, result_type, sizes_of, text_of
from backend.arrays.elementwise import as_element
from backend.arrays.values import ARRAYS, MADE, Held, Sizes, numbered, uncompiled
from backend.lowering.shape import ZERO_VALUE, Items, Nothing, Reg, literal, options, typed
from backend.status import SIZES
from semantics.arrays import Array
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL


def as_array(emit: Any, value: Any, dtype: Any) -> Any:
    """np.array(value, dtype): every leaf is written where it stands."""
    type = result_type("as_array", value, dtype)
    if not isinstance(value, Items):
        return astype(emit, as_operand(emit, value), dtype) if not is_unit(dtype) else as_operand(emit, value)
    leaves = list(_leaves(value))
    inner: list[Any] = [as_operand(emit, leaf) for _, leaf in leaves if isinstance(leaf, ARRAYS)]
    rank = len(type.dims) - (len(inner[0].sizes) if inner else 0)
    if leaves and any(len(at) != rank for at, _ in leaves):
        raise uncompiled("rows of different depth")
    sizes = [str(n) for n in type.dims]
    for k in range(rank, len(sizes)):
        sizes[k] = inner[0].sizes[k - rank]
        for part in inner[1:]:
            sizes[k] = emit.equal(sizes[k], part.sizes[k - rank])
    if (first := _first(leaves)) is not None and type.dtype == "i64":
        return numbered(tuple(sizes), first)
    array = emit.new(type.dtype, tuple(sizes), mask="_" * type.holes)
    with emit.over((), None):
        for at, leaf in leaves:
            if not isinstance(leaf, ARRAYS):
                emit.write(array, at, cast(emit, leaf, type.dtype))
    for at, leaf in leaves:
        if isinstance(leaf, ARRAYS):
            part = as_operand(emit, leaf)
            emit.prepared(part, part.sizes)
            with emit.each(part.sizes) as own:
                emit.write(array, at + own, cast(emit, emit.element(part, own), type.dtype))
    return array


def _leaves(value: Any) -> list[tuple[Sizes, Any]]:
    """Every number and every array, with its place. Recursion is bounded by the nesting of the type."""
    if not isinstance(value, Items):
        return [((), value)]
    return [((str(k), *at), leaf) for k, part in enumerate(value.items) for at, leaf in _leaves(part)]


def _first(leaves: list[tuple[Sizes, Any]]) -> str | None:
    """The first of integers that are known and count up by one."""
    numbers = [leaf.value for _, leaf in leaves if isinstance(leaf, Reg) and type(leaf.value) is int]
    if len(numbers) < max(1, len(leaves)) or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return str(numbers[0])


def cast(emit: Any, found: Any, dtype: str) -> Any:
    """An element as one of another dtype: reals are truncated to integers, anything but 0 is True; of no sensitivity, 0."""
    if dtype in ("bool", "i64") and not isinstance(found, Reg):
        if len(options(found)) > 1:
            raise uncompiled(f"a sensitivity as an array of {dtype}")
        return literal(0 if dtype == "i64" else False)
    if isinstance(found, Reg) and found.type == REAL and dtype == "bool":
        return emit.primitive(TABLE["ne"], [found, Reg("0.0", REAL)])
    if isinstance(found, Reg) and found.type == REAL and dtype == "i64":
        return emit.primitive(TABLE["to_integer"], [found])
    return as_element(emit, found, dtype)


def astype(emit: Any, x: Any, dtype: Any) -> Any:
    """x.astype(dtype)"""
    if is_zero(x):
        return ZERO_VALUE
    x, target = as_operand(emit, x), text_of(dtype)
    if x.dtype == target:
        return x
    holes = x.type.holes and target in ("f64", "f32")
    return emit.formula(target, x.sizes, lambda emit, at: cast(emit, emit.at(x, at), target), (x,), holes=holes)


def full(emit: Any, shape: Any, value: Any, dtype: Any) -> Any:
    """np.full(shape, value, dtype)"""
    if is_zero(value):
        return ZERO_VALUE
    target = dtype_of(typed(value)) if is_unit(dtype) else text_of(dtype)
    item = emit.primitive(TABLE["getitem"], [value, Items(())]) if isinstance(value, ARRAYS) else value
    found = emit.settled(cast(emit, item, target))
    return emit.formula(target, not_negative(emit, sizes_of(shape)), lambda emit, at: found, cheap=True)


def arange(emit: Any, start: Any, stop: Any, step: Any) -> Any:
    """np.arange(start, stop, step) of integers."""
    if any(x.type != INTEGER for x in (start, stop, step)):
        raise uncompiled("a range of reals")
    if step.value is None or step.value == 0:
        emit.trap(f"{step.text} == 0", SIZES)
    if step.value == 1 and start.value == 0:
        known = str(max(0, stop.value)) if stop.value is not None else f"max({stop.text}, 0)"
        (size,) = not_negative(emit, (known,))
        return emit.formula("i64", (size,), lambda emit, at: Reg(at[0], INTEGER), cheap=True)
    (size,) = not_negative(emit, (emit.primitive(TABLE["range_length"], [start, stop, step]).text,))
    return emit.formula("i64", (size,), lambda emit, at: Reg(f"({start.text} + {at[0]} * {step.text})", INTEGER), cheap=True)


def linspace(emit: Any, start: Any, stop: Any, num: Any) -> Any:
    """np.linspace(start, stop, num): start + k·step, and stop itself at the end."""
    (size,) = not_negative(emit, sizes_of(num))
    first, last = (as_element(emit, x, "f64") for x in (start, stop))
    if not isinstance(first, Reg) or not isinstance(last, Reg):
        raise uncompiled("a range of ZERO")
    steps = emit.integer(f"max({size} - 1, 1)").text
    step = emit.primitive(TABLE["div"], [emit.primitive(TABLE["sub"], [last, first]), Reg(f"float({steps})", REAL)])

    def element(emit: Any, at: Sizes) -> Any:
        share = emit.primitive(TABLE["mul"], [Reg(f"float({at[0]})", REAL), step])
        found = emit.primitive(TABLE["add"], [first, share])
        test = Reg(f"({at[0]} > 0 and {at[0]} == {size} - 1)", BOOLEAN)
        return emit.primitive(TABLE["where"], [test, last, found])

    return emit.formula("f64", (size,), element)


def eye(emit: Any, n: Any, m: Any, k: Any) -> Any:
    """np.eye(n, m, k): 1.0 on diagonal k."""
    sizes = not_negative(emit, (*sizes_of(n), *sizes_of(m)))
    return emit.formula("f64", sizes, lambda emit, at: Reg(f"(1.0 if {at[1]} - {at[0]} == {k.text} else 0.0)", REAL), cheap=True)


def constant(emit: Any, array: Array) -> Any:
    """An array that the program has, written before the function: read only, so it is copied where another may have it."""
    sizes = tuple(map(str, array.shape))
    items = ", ".join(literal(x).text for x in array.items)
    made = f"_constant([{items}], {MADE[array.dtype]}).reshape(({', '.join(sizes)}{',' * (len(sizes) == 1)}))"
    held = Held(array.dtype, emit.module_name(made), sizes)
    return emit.formula(array.dtype, sizes, lambda emit, at: emit.element(held, at), cheap=True)


def dtype(emit: Any, x: Any) -> Any:
    """The name, which is known."""
    return Nothing(result_type("dtype", x))


CELLS: dict[str, Callable[..., Any]] = {
    "as_array": as_array,
    "astype": astype,
    "full": full,
    "arange": arange,
    "linspace": linspace,
    "eye": eye,
    "dtype": dtype,
}
