"""
What functions are passed, but nothing reads, is passed no more.

    @for(k, x):   … @while(x, w)                 @for(k):   … @while(w)
    @while(x, w): … @while(w, w[:-1])     ⟹     @while(w): … @while(w[:-1])
                  … @for(k + 1, x)                           … @for(k + 1)

The front end passes every variable of a loop on, also one that each turn assigns before it reads it, as the list that `pop` takes
from. Such a variable would keep a list under two names. `transforms.dce` sees it in one loop; here it is followed through all.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import GraphRef, NodeId, Program, Use
from transforms.failures import drops_failure
from transforms.surgery import only_called


def without_unread(program: Program) -> Program:
    """The program without such parameters; itself if it has none, or an argument that goes with one may fail."""
    unread = _unread(program)
    if not unread:
        return program
    edit, calls = Edit(program), list[NodeId]()
    graphs = {g: found.parameters for g, found in program.graphs.items() if not unread.isdisjoint(found.parameters)}
    for graph, parameters in graphs.items():
        for use in only_called(program, graph) or ():
            function, *inputs = program.inputs(use.user)
            kept = (n for n, parameter in zip(inputs, parameters, strict=True) if parameter not in unread)
            edit.set_inputs(use.user, (function, *kept))
            calls.append(use.user)
    for graph, parameters in graphs.items():
        edit.set_parameters(graph, tuple(p for p in parameters if p not in unread))
    after = edit.program
    return program if any(drops_failure(program, after, call) for call in calls) else after


def _unread(program: Program) -> set[NodeId]:
    """The parameters of graphs that are only called which go nowhere but to one another."""
    called = [g for g in program.graphs if g != program.entry and only_called(program, g) is not None]
    unread = {p for g in called for p in program.graphs[g].parameters}
    sources: dict[NodeId, list[NodeId]] = {}
    todo: list[NodeId] = []
    for node in unread:
        onward = [_passed(program, use) for use in program.users(node)]
        if program.returns.get(node) or any(p not in unread for p in onward):
            todo.append(node)
        for p in onward:
            if p is not None:
                sources.setdefault(p, []).append(node)
    while todo:
        node = todo.pop()
        if node in unread:
            unread.remove(node)
            todo += sources.get(node, ())
    return unread


def _passed(program: Program, use: Use) -> NodeId | None:
    """The parameter that a use passes a node to."""
    callee = program.callee(use.user)
    if use.index == 0 or not isinstance(callee, GraphRef):
        return None
    parameters = program.graphs[callee.graph].parameters
    return parameters[use.index - 1] if use.index <= len(parameters) else None
