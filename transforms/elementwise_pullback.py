"""
Backpropagators of elementwise primitives on arrays, made from those on numbers.

    switch(c, @t, @f)()   ⟹   where(c, t, f)          both thunks inlined: on an array, each element takes its own side
    d                     ⟹   sum_to(d, x)            what broadcasting repeated is added up again, in the dtype of x

The first is if-conversion; the rules call nothing and loop nowhere, so both sides can be evaluated. Where one side has no value
on the other's ground, `backpropagators/broadcast.py` holds a rule that does. The result is the scalar rule at every element
(a property), and on scalars it is the scalar rule.
"""

from __future__ import annotations

from functools import cache

from semantics.edit import Edit
from semantics.errors import Crash
from semantics.ir import Apply, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.scope import order_of_need, scopes
from transforms.backpropagators import HERE, NAMES, backpropagator
from transforms.remembering import remembered

SWITCH, WHERE, SUM_TO, GETITEM, MAKE_TUPLE = (TABLE[n] for n in ("switch", "where", "sum_to", "getitem", "make_tuple"))


def is_elementwise(primitive: Primitive) -> bool:
    """Whether a primitive of the table reads arrays element by element."""
    return primitive.name in ELEMENTWISE and TABLE.get(primitive.name) is primitive


@cache
def broadcast_pullback(name: str) -> Program:
    """The backpropagator on arrays of the elementwise primitive `name`: (x…, out, dout) -> (dx, …)."""
    return remembered(f"the backpropagator of {name} on arrays", lambda: summed(by_element(name), len(TABLE[name].signature)))


@cache
def by_element(name: str) -> Program:
    """The same before anything is added up: each part is what every element of `dout` sends to the one that it came from."""
    from transforms.parse import functions_in, parse_file

    file, rule = HERE / "broadcast.py", f"{name}_pullback"
    scalar = parse_file(file, rule, NAMES) if rule in functions_in(file) else backpropagator(TABLE[name])
    return if_converted(scalar)


def if_converted(program: Program) -> Program:
    """The program with every choice between two thunks made a `where` of their values."""
    from transforms import dce, inline

    while (found := _choice(program)) is not None:
        node, condition, then, other = found
        application = program.nodes[node]
        assert isinstance(application, Apply)
        edit = Edit(program)
        values = [edit.apply(application.graph, thunk) for thunk in (then, other)]
        edit.replace(node, edit.call(application.graph, WHERE, condition, *values))
        program = inline.SYSTEM.run(edit.program)
    return dce.SYSTEM.run(program)


def _choice(program: Program) -> tuple[NodeId, NodeId, NodeId, NodeId] | None:
    """An application switch(c, @t, @f)() of the entry: itself, c, @t and @f."""
    for node in order_of_need(program, program.entry, scopes(program).free):
        application = program.apply(node)
        if application is None or len(application.inputs) != 1 or program.callee(application.inputs[0]) is not SWITCH:
            continue
        _, condition, then, other = program.inputs(application.inputs[0])
        if all(isinstance(program.constant(n), GraphRef) for n in (then, other)):
            return node, condition, then, other
    return None


def summed(program: Program, arity: int) -> Program:
    """The rule with each of its parts summed to the shape of the argument whose sensitivity it is."""
    graph = program.graphs[program.entry]
    if len(graph.parameters) != arity + 2:
        raise Crash(f"a backpropagator takes {arity} arguments, out and dout", rule="summed")
    edit = Edit(program)
    parts = [edit.call(program.entry, GETITEM, graph.output, edit.constant(i)) for i in range(arity)]
    sums = [edit.call(program.entry, SUM_TO, part, x) for part, x in zip(parts, graph.parameters, strict=False)]
    edit.output(program.entry, edit.call(program.entry, MAKE_TUPLE, *sums))
    return edit.program
