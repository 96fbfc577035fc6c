"""
Whether a program speaks of arrays: what shows it is asked of each constant and each declared type that enters (`Program.arrays`).
"""

from __future__ import annotations

from typing import Any

from semantics.arrays import Array
from semantics.primitives.array_rows import EVIDENCE
from semantics.primitives.row import Primitive
from semantics.structured import Record
from semantics.type_language import ArrayType


def speaks_of_arrays(value: Any) -> bool:
    """Whether a constant is a primitive of arrays, an array, or holds one."""
    todo = [value]
    while todo:
        match todo.pop():
            case Primitive(name=name, signature=kinds, result=kind):
                if name in EVIDENCE or "array" in (*kinds, kind):
                    return True
            case Array():
                return True
            case tuple() as items:
                todo.extend(items)
            case Record(_, items):
                todo.extend(items)
    return False


def holds_arrays(type: Any) -> bool:
    """Whether values of a declared type hold arrays."""
    todo = [type]
    while todo:
        top = todo.pop()
        if isinstance(top, ArrayType):
            return True
        todo.extend(getattr(top, "items", ()))
        todo.extend(getattr(top, "captured", ()))
    return False
