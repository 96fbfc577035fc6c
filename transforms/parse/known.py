"""
What is known of a node when parsing: the elements of a display, the keys of a dictionary, whether it is a sequence.
"""

from __future__ import annotations

from semantics.ir import Constant, GraphRef, NodeId
from semantics.primitives.array_rows import ARRAYS
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Label, Record
from transforms.parse.cursor import Cursor

ALLOC, GETITEM, LOAD, OF_LENGTH = (TABLE[name] for name in ("alloc", "getitem", "load", "of_length"))
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


def is_sequence(c: Cursor, node: NodeId) -> bool:
    """
    Whether the text shows a value to be a tuple or a list: a display, a comprehension, one that was made longer, or the content of
    a cell that began as one. A function that is called `list` or `tuple` is taken for the builtin.
    """
    while True:
        inputs = c.edit.program.inputs(node)
        callee = c.constant_value(inputs[0]) if inputs else c.constant_value(node)
        match callee:
            case tuple() | Record(label=Label(kind="list")):
                return not inputs
            case GraphRef(graph):
                return bool(inputs) and c.edit.graphs[graph].name in ("list", "tuple")
        if callee is LOAD and (content := _begun_with(c, inputs[2])) is not None:
            node = content
            continue
        if callee is TABLE["make_record"]:
            return bool(c.constant_value(inputs[1]) == LIST)
        return callee in (TABLE["make_tuple"], TABLE["concat"], TABLE["append"])


def _begun_with(c: Cursor, pointer: NodeId) -> NodeId | None:
    """What the cell of a pointer had at first, where it was made in this function."""
    inputs = c.edit.program.inputs(pointer)
    while inputs and c.constant_value(inputs[0]) in (GETITEM, OF_LENGTH):
        inputs = c.edit.program.inputs(inputs[1])
    return inputs[2] if inputs and c.constant_value(inputs[0]) is ALLOC else None


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
