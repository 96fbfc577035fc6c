"""Programs that differ only where a run does not go: the metamorphic relation of Le et al. (2014) for compilers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, Program
from semantics.machine import Machine
from semantics.primitives.table import TABLE
from semantics.scope import scopes


def entered(program: Program, arguments: Sequence[Any], fuel: int = 1_000_000) -> frozenset[GraphId]:
    """The graphs that the run at these arguments enters."""
    machine = Machine(program)
    state = machine.initial(arguments)
    seen = {state.code.graph}
    for _ in range(fuel):
        after = machine.step(state)
        if after is None:
            break
        state = after
        seen.add(state.code.graph)
    return frozenset(seen)


def unreachable_mutants(program: Program, arguments: Sequence[Any]) -> Iterator[tuple[str, Program]]:
    """For every graph that the run does not enter: what was changed, and the program with it changed."""
    seen = entered(program, arguments)
    for graph in sorted(g for g in scopes(program).free if g not in seen):
        name = program.graphs[graph].name
        edit = Edit(program)
        edit.output(graph, edit.constant(17.0))
        yield f"@{name} returns 17.0", edit.program
        edit = Edit(program)
        infinite = edit.call(graph, TABLE["div"], edit.constant(1.0), edit.constant(0.0))
        edit.output(graph, edit.call(graph, TABLE["mul"], infinite, edit.constant(0.0)))
        yield f"@{name} returns NaN", edit.program
        for node in sorted(n for n, a in program.nodes.items() if isinstance(a, Apply) and a.graph == graph):
            if program.callee(node) is TABLE["sin"]:
                edit = Edit(program)
                edit.set_inputs(node, (edit.constant(TABLE["exp"]), *program.inputs(node)[1:]))
                yield f"sin becomes exp in @{name}", edit.program
