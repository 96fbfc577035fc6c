"""
What the host does for the machine: primitives that have no opcode, arguments that an opcode does not take, and errors.

The meaning of the reference is called on the values themselves. So a primitive needs no opcode to run, an integer that outgrows
64 bits goes on as what it is, and an error is the reference's own, with its place.
"""

from __future__ import annotations

from typing import Any

from backend.machine import array_rows, deferred
from backend.machine.heap import Heap
from backend.machine.layout import CALL, FP, PC, RETURN, RETURN_FP, RETURN_PC, STEPS, TAIL
from semantics.columns.meaning import MEANING
from semantics.errors import AdjudgeError, IllTyped, wrong_count
from semantics.ir import NodeId
from semantics.primitives.row import Primitive, misapplied
from semantics.primitives.table import TABLE
from semantics.values import Closure
from transforms.unboxed import boxed


def serve(heap: Heap) -> None:
    """
    Executes the current instruction, which the machine could not, and goes on to the next.

    Instead it writes out the operands that are not, if the row wants them so. One of the five errors if the program ends here.
    `heap.Full` if there is no room for the result: then nothing has happened yet.
    """
    I, words = heap.integers, heap.code.words
    pc, fp = I[PC], I[FP]
    op, out, n = words[pc : pc + 3]
    operands = [place + fp if place >= 0 else -place for place in words[pc + 3 : pc + 3 + n]]
    if op in (CALL, TAIL):
        function, *operands = operands
        row = heap.value(function)
        if not isinstance(row, Primitive):
            raise _not_entered(heap, row, n - 1)
    else:
        row = heap.code.rows[op]
    if TABLE.get(row.name) is not row or not array_rows.served(heap, row.name, operands, fp + out):
        if deferred.written_out(heap, operands):
            return  # the machine has what it needs now
        heap.write(fp + out, applied(heap, row, [boxed(heap.value(x)) for x in operands]))
    I[PC] = pc + 3 + n
    I[STEPS] += 1


def applied(heap: Heap, primitive: Primitive, arguments: list[Any]) -> Any:
    """The reference's value of a primitive, or its error with the place of this instruction."""
    cell = MEANING[primitive]
    try:
        return cell(*arguments)
    except AdjudgeError as error:
        raise located(heap, error) from None
    except (TypeError, MemoryError) as error:
        raise located(heap, misapplied(primitive, len(arguments), error)) from None


def _not_entered(heap: Heap, function: Any, given: int) -> AdjudgeError:
    """Why a call could not be made: of what is no function, or with another number of arguments."""
    if not isinstance(function, Closure):
        error = IllTyped(f"{function!r} is not a function", rule="call", remedy="is a name bound to a value here?")
        return located(heap, error)
    graph = heap.code.program.graphs[function.graph]
    return located(heap, wrong_count(graph.name, len(graph.parameters), given, graph.location))


def located(heap: Heap, error: AdjudgeError) -> AdjudgeError:
    """The error with its node and line, if it does not know them: the innermost line that is the user's."""
    if error.node:
        return error
    program, nodes = heap.code.program, waiting(heap)
    places = [getattr(program.nodes[node], "location", None) for node in nodes]
    error.node = program.describe(nodes[0])
    theirs = next((place for place in places if place is not None and not place.is_ours), places[0])
    error.location = error.location or theirs
    return error


def waiting(heap: Heap) -> list[NodeId]:
    """The node that is being computed, and those for which the frames below wait, from the innermost."""
    I, code = heap.integers, heap.code
    nodes, fp = [code.nodes[I[PC]]], I[FP]
    while I[fp + RETURN_FP] != 0:
        nodes.append(code.nodes[code.after[I[fp + RETURN_PC]]])
        fp = I[fp + RETURN_FP]
    return nodes


def place(heap: Heap) -> str:
    """The node that is computed next, or the end of its graph."""
    I, code = heap.integers, heap.code
    node = code.nodes[I[PC]]
    if code.words[I[PC]] != RETURN:
        return code.program.describe(node)
    return f"the end of @{code.program.graphs[code.graph_of(I[PC])].name}"
