"""
Joins of the graph IR: a branch whose two ways meet again gives back the value that they differ in.

`to_graph` makes tail calls of all jumps, so what follows an `if` is called from both of its ways. Inlined there it would stand
twice, and every further `if` would double it again. Here it is called once, with the value of the conditional: what a program
that never was SSA says by `switch(c, @t, @e)()` in the middle of a graph. Values are data, as they are in programs of first order;
where they are functions, `transforms.branches.sink` wants the opposite.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, Program
from transforms.branches import conditional
from transforms.surgery import application, called_graph
from transforms.system import RewriteSystem, rewrite


@rewrite
def join(program: Program, place: int) -> Program | None:
    """
    n = switch(c, @t, @e)(), used nowhere else; t returns @j(…, a, …) and e returns @j(…, b, …), which differ in one argument
      ⟹  n = @j(…, m, …), m = switch(c, @t, @e)(), where t returns a and e returns b
    """
    found = conditional(program, place)
    if found is None or (owner := program.owner(place)) is None:
        return None
    ways = (found.consequent, found.alternative)
    calls = [call for graph in ways if (call := _tail_call(program, graph)) is not None]
    if len(calls) != 2:
        return None
    one, other = calls[0].inputs, calls[1].inputs
    differing = [i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    if len(one) != len(other) or len(differing) != 1 or differing == [0]:
        return None
    (index,) = differing
    edit = Edit(program)
    for graph, inputs in zip(ways, (one, other), strict=True):
        tail = program.graphs[graph].output
        edit.output(graph, inputs[index])
        edit.remove(tail)
    value = edit.apply(owner, found.switch)
    edit.set_inputs(place, (*one[:index], value, *one[index + 1 :]))
    return edit.program


def _tail_call(program: Program, graph: GraphId) -> Apply | None:
    """What `graph` returns, if it is the call of a known graph that it makes itself and uses nowhere else."""
    output = program.graphs[graph].output
    found = application(program, output)
    if found is None or found.graph != graph or called_graph(program, output) is None or program.users(output):
        return None
    return found


RULES = (join,)

SYSTEM = RewriteSystem(
    name="joins",
    rules=RULES,
    doc="what follows a branch is called once, with the value that its ways differ in",
    argument="each step leaves one call of a known graph fewer",
)
