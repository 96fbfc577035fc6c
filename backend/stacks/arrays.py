"""
Arrays in cells of stacks: their elements lie one after the other behind the cells, in the same memory.

    pushed    the elements are copied to `heap`, which grows by as many words; the cell has where they begin, and sizes
    read      a view of this memory, of these sizes: nothing is copied, and nothing writes there again

Sizes that the type of the cell knows are not written. Booleans lie eight to a word. When the elements do not fit, the status is
FULL_ARRAYS, and the host gives more.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from backend.arrays.values import Held, Sizes, uncompiled
from backend.lowering.shape import Fn, Items, Sum
from semantics.ir import NodeId
from semantics.type_language import INTEGER, ArrayType

HEAP = "heap"
MASKED = "the array whose mask is next"
MEMORY_OF = {"f64": "reals", "i64": "integers", "bool": "integers"}
VIEW = re.compile(r"\s*(a\d+_) = (?:_reshape\()?(?:reals|integers)\[.*⟦")
"""A line that makes a view of an array in a cell."""
HELPER_OF = {"f64": "_keep", "i64": "_keep", "bool": "_keep_flags"}

SOURCES = {
    "_keep": """
def _keep(a, memory, begin):
    count = a.size
    end = begin + count
    if end <= memory.size:
        flat = _reshape(a, (count,))
        for i in _each(count):
            memory[begin + i] = flat[i]
    return end
""",
    "_keep_flags": """
def _keep_flags(a, memory, begin):
    count = a.size
    end = begin + (count + 7) // 8
    if end <= memory.size:
        flat = _reshape(a, (count,))
        flags = memory[begin:end].view(_bool)
        for i in _each(count):
            flags[i] = flat[i]
    return end
""",
}
"""Each answers with where the next array begins, beyond the end of memory if this one was not written."""


def holds_arrays(cells: Any) -> bool:
    """Whether a cell of some site has an array."""
    todo = [t for types in cells.values() for t in types]
    while todo:
        match todo.pop():
            case ArrayType():
                return True
            case found:
                todo += [*getattr(found, "items", ()), *getattr(found, "members", ()), *getattr(found, "captured", ())]
    return False


def save_array(emit: Any, site: NodeId, cell: str, place: str, array: str, type: ArrayType) -> None:
    """The elements, and the sizes that `type` does not know, written for a cell; dropped if nothing reads them."""
    emit.in_cells |= {(site, place, k) for k, n in enumerate(emit.shapes.get(array, ())) if emit.same(n) in emit.cut}
    memory, helper = _memory(type), HELPER_OF[type.dtype]
    emit.helpers.add(helper)
    if not array.isidentifier():
        name = emit.variable(type)
        emit.line(f"{name} = {array}")
        array = name
    emit.line(f"(integers[⟦{site}:{cell}:{place}⟧], {HEAP}) = ({HEAP}, {helper}({array}, {memory}, {HEAP}))")
    for k, n in enumerate(type.dims):
        if n is None:
            emit.line(f"integers[⟦{site}:{cell}:{place}_{k}⟧] = {array}.shape[{k}]")


def load_array(emit: Any, site: NodeId, cell: str, place: str, type: ArrayType, views: dict[str, Sizes]) -> str:
    """A variable with a view of the elements, dropped if nothing reads it; `views` has the sizes. A mask has those of its array."""
    memory, name = _memory(type), emit.variable(type)
    sizes: list[str] = [*views.pop(MASKED, ())] if type.dtype == "bool" else []
    for k, n in enumerate(type.dims if not sizes else ()):
        if n is None:
            sizes.append(emit.variable(INTEGER))
            emit.line(f"{sizes[-1]} = int(integers[⟦{site}:{cell}:{place}_{k}⟧])")
            emit.cut |= {sizes[-1]} if (site, place, k) in emit.in_cells else set()
        else:
            sizes.append(str(n))
    begin, count = f"integers[⟦{site}:{cell}:{place}⟧]", " * ".join(sizes)
    if type.dtype == "bool":
        view = f"{memory}[{begin}:{begin} + ({count} + 7) // 8].view(_bool)[:{count}]"
    else:
        view = f"{memory}[{begin}:{begin} + {count}]"
    emit.line(f"{name} = {view}" if len(sizes) == 1 else f"{name} = _reshape({view}, ({', '.join(sizes)}))")
    views[name] = tuple(sizes)
    if type.holes:
        views[MASKED] = views[name]
    return name


def sizes_in(value: Any) -> dict[str, Sizes]:
    """The sizes of the arrays of a value, by their texts."""
    match value:
        case Held(_, name, sizes):
            return {name: sizes}
        case Items(parts) | Fn(_, parts) | Sum(_, _, parts):
            return {name: sizes for part in parts for name, sizes in sizes_in(part).items()}
        case _:
            return {}


def with_sizes(value: Any, views: dict[str, Sizes]) -> Any:
    """The value with other texts for the sizes of its arrays."""
    match value:
        case Held(_, name) if name in views:
            return replace(value, sizes=views[name])
        case Items(parts):
            return replace(value, items=tuple(with_sizes(p, views) for p in parts))
        case Fn(function, parts):
            return Fn(function, tuple(with_sizes(p, views) for p in parts))
        case Sum(type, tests, options):
            return Sum(type, tests, tuple(with_sizes(o, views) for o in options))
        case _:
            return value


def _memory(type: ArrayType) -> str:
    if type.dtype not in MEMORY_OF or not type.dims:
        raise uncompiled(f"a value of type {type} on a stack")
    return MEMORY_OF[type.dtype]
