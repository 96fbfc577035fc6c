"""
Memory for programs: the operations on a linear token, and boxes and stacks made of them. `examples/memory.py` shows each.

    from adjudge.memory import alloc, load, memory, store
"""

from transforms.boxes import (
    alloc,
    box,
    get,
    get_pullback,
    is_empty,
    lea,
    load,
    memory,
    pop,
    push,
    put,
    put_pullback,
    stack,
    store,
)

__all__ = [
    "alloc",
    "box",
    "get",
    "get_pullback",
    "is_empty",
    "lea",
    "load",
    "memory",
    "pop",
    "push",
    "put",
    "put_pullback",
    "stack",
    "store",
]
