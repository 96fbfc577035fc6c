"""
What is known of a node when parsing: the elements of a display, the keys of a dictionary.
"""

from __future__ import annotations

from semantics.ir import Constant, NodeId
from semantics.primitives.array_rows import ARRAYS
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Label
from transforms.parse.cursor import Cursor

SEQUENCES = frozenset({TABLE["make_tuple"], TABLE["concat"], TABLE["append"], *ARRAYS})


def elements_of(c: Cursor, node: NodeId) -> tuple[NodeId, ...] | None:
    """The elements of a tuple or list that was made in this function; None if they are not known."""
    inputs = c.edit.program.inputs(node)
    callee = c.constant_value(inputs[0]) if inputs else None
    if callee is TABLE["make_tuple"]:
        return inputs[1:]
    if callee is TABLE["make_record"] and c.constant_value(inputs[1]) == LIST:
        return inputs[2:]
    return None


def may_be_dictionary(c: Cursor, node: NodeId) -> bool:
    """Whether a value may be one: it is no constant, and what made it in this function can make dictionaries."""
    inputs = c.edit.program.inputs(node)
    callee = c.constant_value(inputs[0]) if inputs else None
    if isinstance(c.edit.nodes[node], Constant) or callee in SEQUENCES:
        return False
    return callee is not TABLE["make_record"] or c.constant_value(inputs[1]) != LIST


def keys_of(c: Cursor, node: NodeId) -> tuple[str, ...] | None:
    """The keys of a dictionary that was made in this function; None if it is none, or its keys are not known."""
    added: list[str] = []
    while inputs := c.edit.program.inputs(node):
        callee = c.constant_value(inputs[0])
        if callee is TABLE["with_field"] and isinstance(name := c.constant_value(inputs[2]), str):
            added.append(name)
            node = inputs[1]
            continue
        label = c.constant_value(inputs[1]) if callee is TABLE["make_record"] else None
        if isinstance(label, Label) and label.kind == "dict":
            return tuple(dict.fromkeys((*label.fields, *reversed(added))))
        return None
    return None
