"""
Every small program: what a random strategy misses by chance cannot hide here.

A program of size n is n operations on one real parameter, each using what came before. An operation is unary or binary
arithmetic, a test `if a == 0 then b else c`, or a call of a closure that captures. Every operation is needed by the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from semantics.edit import Edit, empty
from semantics.ir import Apply, GraphId, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.type_language import REAL

UNARY = ("neg", "sin")
BINARY = ("add", "mul", "div")
CONSTANTS = (0.0, 2.0)

Operation = tuple[str, tuple[int, ...]]


def exhaustive(size: int, *, least: int = 0) -> Iterator[Program]:
    """Every program of `least` to `size` operations, smallest first. There are 3, 69 and 4623 of size 0, 1 and 2."""
    for count in range(least, size + 1):
        for operations in _sequences(count):
            yield build(operations)


def operations_on(count: int) -> Iterator[Operation]:
    """Every operation on `count` reals: its name and which of them it uses."""
    for name in UNARY:
        for a in range(count):
            yield name, (a,)
    for name in (*BINARY, "capture"):
        yield from ((name, pair) for pair in product(range(count), repeat=2))
    for triple in product(range(count), repeat=3):
        yield "if_zero", triple


def _sequences(count: int) -> Iterator[tuple[Operation, ...]]:
    """All sequences in which every operation but the last is used by a later one. Without operations: x and the constants."""
    first = 1 + len(CONSTANTS)
    if count == 0:
        yield from (((("", (i,))),) for i in range(first))
        return
    todo: list[tuple[Operation, ...]] = [()]
    while todo:
        done = todo.pop()
        if len(done) == count:
            used = {i for _, inputs in done for i in inputs}
            if all(first + k in used for k in range(count - 1)):
                yield done
            continue
        todo.extend((*done, operation) for operation in operations_on(first + len(done)))


def build(operations: tuple[Operation, ...]) -> Program:
    """The program of a sequence of operations."""
    edit = Edit(empty())
    f = edit.graph("f")
    reals = [edit.parameter(f, "x", REAL), *(edit.constant(c) for c in CONSTANTS)]
    for name, inputs in operations:
        reals.append(_node(edit, f, name, tuple(reals[i] for i in inputs)))
    edit.output(f, reals[-1])
    return edit.program


def _node(edit: Edit, f: GraphId, name: str, inputs: tuple[NodeId, ...]) -> NodeId:
    if name == "":
        return inputs[0]
    if name == "if_zero":
        test, consequent, alternative = inputs
        thunks = []
        for label, value in (("then", consequent), ("else", alternative)):
            thunk = edit.graph(label)
            edit.output(thunk, value)
            thunks.append(edit.reference(thunk))
        condition = edit.call(f, TABLE["eq"], test, edit.constant(0.0))
        return edit.apply(f, edit.call(f, TABLE["switch"], condition, *thunks))
    if name == "capture":
        g = edit.graph("g")
        y = edit.parameter(g, "y")
        edit.output(g, edit.call(g, TABLE["mul"], y, inputs[1]))
        return edit.apply(f, edit.reference(g), inputs[0])
    return edit.call(f, TABLE[name], *inputs)


def is_conditional(program: Program) -> bool:
    """Whether the program has a test."""
    return any(isinstance(n, Apply) and program.constant(n.inputs[0]) is TABLE["switch"] for n in program.nodes.values())
