"""
The text of a program, and its reader: `read(str(p)) == p`.

    program @f                      the entry

    @f(%x: f64, %y):                a graph: its parameters, with types where they are declared
      %a = pow(%x, 3)               an application of a primitive,
      %b = @g(%a)                   of a graph,
      %c = %h(%b, -1.5)             or of a value
      return %c

Constants stand where they are used: numbers, True, False, None, "text", ZERO, unbound(x), primitives by name, graphs as @name; and
made of others (1.0, 2), f64[2, 2](1.0, 2.0, 3.0, 4.0), slice(0, None, 2), ..., label(dataclass Point: x, y),
record(label(list), 1, 2).
A graph that names a node of another is nested in it. Nodes are printed in the order of need; one that nothing needs follows,
marked `; dead`, in a graph that can be reached. What follows `;` is a comment. `canonical` is the same text with names
replaced by positions and dead parts left out: two programs are equal when their canonical texts are.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping
from typing import Any

from semantics.arrays import Array
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.reader import read
from semantics.scope import Scopes, order_of_need, scopes, scopes_from
from semantics.structured import Label, Record, Slice
from semantics.values import Unbound

__all__ = ["canonical", "describe", "graph_names", "literal", "names", "operand", "read", "show"]


def layout(program: Program) -> tuple[Scopes, tuple[GraphId, ...]]:
    """The scopes of all graphs, and the graphs in print order: from the entry in order of discovery, then the unreachable."""
    live = scopes(program)
    dead = [g for g in sorted(program.graphs) if g not in live.free]
    return (scopes_from(program, [program.entry, *dead]) if dead else live), (*live.free, *dead)


def order(program: Program, graph: GraphId, found: Scopes) -> tuple[NodeId, ...]:
    """The applications that `graph` owns and needs, in the order of need."""
    nodes = order_of_need(program, graph, found.free)
    return tuple(n for n in nodes if isinstance(a := program.nodes[n], Apply) and a.graph == graph)


def names(program: Program) -> dict[NodeId, str]:
    """The printed name of every parameter and application: `%hint`, `%hint.2` where taken, its number without a hint. Cached."""
    cached: dict[NodeId, str] | None = program.__dict__.get("_names")
    if cached is None:
        cached = program.__dict__["_names"] = _names(program)
    return cached


def _names(program: Program) -> dict[NodeId, str]:
    found, graphs = layout(program)
    result: dict[NodeId, str] = {}
    used: dict[str, int] = {}
    for graph in graphs:
        for node in (*program.graphs[graph].parameters, *order(program, graph, found)):
            _name(program, node, result, used)
    for node in sorted(program.nodes):
        if node not in result and not isinstance(program.nodes[node], Constant):
            _name(program, node, result, used)
    return result


def _name(program: Program, node: NodeId, result: dict[NodeId, str], used: dict[str, int]) -> None:
    hint = getattr(program.nodes[node], "name", "") or str(node)
    result[node] = "%" + _unique(hint, used)


def _unique(hint: str, used: dict[str, int]) -> str:
    """The hint, or the hint with the next free number."""
    hint = re.sub(r"[^\w∇▶◀▷↑◇đ§'.*]", "_", hint)
    candidate = hint
    while candidate in used:
        used[hint] = used.get(hint, 1) + 1
        candidate = f"{hint}.{used[hint]}"
    used[candidate] = 1
    return candidate


def graph_names(program: Program) -> dict[GraphId, str]:
    """The printed name of every graph: `@name`, `@name.2` where taken. Cached."""
    cached: dict[GraphId, str] | None = program.__dict__.get("_graph_names")
    if cached is None:
        used: dict[str, int] = {}
        cached = {g: "@" + _unique(program.graphs[g].name or "graph", used) for g in layout(program)[1]}
        program.__dict__["_graph_names"] = cached
    return cached


def literal(value: Any, graphs: Mapping[GraphId, str]) -> str:
    """A constant as text."""
    match value:
        case GraphRef(graph):
            return graphs.get(graph, f"@{graph}")
        case Primitive():
            return value.name
        case str():
            return json.dumps(value)
        case float() if math.isfinite(value):
            return repr(value)
        case Unbound(name):
            return f"unbound({name})"
        case tuple():
            return f"({', '.join(literal(v, graphs) for v in value)}{',' * (len(value) == 1)})"
        case Array(dtype, shape, items):
            return f"{dtype}[{', '.join(map(str, shape))}]({', '.join(literal(v, graphs) for v in items)})"
        case Slice(start, stop, step):
            return f"slice({start}, {stop}, {step})"
        case Label():
            return _label(value)
        case Record(label, items):
            return f"record({', '.join([_label(label), *(literal(v, graphs) for v in items)])})"
        case _:
            return repr(value)


def _label(label: Label) -> str:
    """`label(dataclass Point: x, y)`; a name that is no plain word stands in quotes."""
    named = [f if _WORD.fullmatch(f) else json.dumps(f) for f in (label.name, *label.fields)]
    fields = f": {', '.join(named[1:])}" if label.fields else ""
    return f"label({label.kind}{f' {named[0]}' if label.name else ''}{fields})"


_WORD = re.compile(r"[A-Za-z_]\w*")


LONGEST = 100  # characters of one value in a message


def cut(text: str, longest: int = LONGEST) -> str:
    """A text, or its beginning where it is longer."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def operand(
    program: Program, node: NodeId, nodes: Mapping[NodeId, str], graphs: Mapping[GraphId, str], longest: int = sys.maxsize
) -> str:
    """A node as an operand: its name, or its value if it is a constant."""
    found = program.nodes[node]
    if not isinstance(found, Constant):
        return nodes[node]
    value = found.value
    if isinstance(value, Array) and len(value.items) > longest:
        value = Array(value.dtype, value.shape, value.items[:longest])
    return cut(literal(value, graphs), longest)


def equation(
    program: Program, node: NodeId, nodes: Mapping[NodeId, str], graphs: Mapping[GraphId, str], longest: int = sys.maxsize
) -> str:
    """An application as `%name = function(arguments)`."""
    function, *arguments = (operand(program, n, nodes, graphs, longest) for n in program.inputs(node))
    return f"{nodes[node]} = {function}({', '.join(arguments)})"


def describe(program: Program, node: NodeId) -> str:
    """A node for messages: an application as equation, the name of a parameter, the value of a constant; long values are cut."""
    if isinstance(program.nodes[node], Apply):
        return equation(program, node, names(program), graph_names(program), LONGEST)
    return operand(program, node, names(program), graph_names(program), LONGEST)


def header(program: Program, graph: GraphId, nodes: Mapping[NodeId, str], graphs: Mapping[GraphId, str]) -> str:
    """`@f(%x: f64, %y):`"""
    parameters = []
    for node in program.graphs[graph].parameters:
        found = program.nodes[node]
        assert isinstance(found, Parameter)
        parameters.append(nodes[node] + (f": {found.type}" if found.type is not None else ""))
    return f"{graphs[graph]}({', '.join(parameters)}):"


def show(program: Program) -> str:
    """The whole text, dead parts included and marked."""
    found, graphs = layout(program)
    nodes, graph_name = names(program), graph_names(program)
    live = scopes(program).free
    dead: dict[GraphId, list[NodeId]] = {}
    needed = {n for g in graphs for n in order(program, g, found)}
    for node in sorted(program.nodes):
        application = program.nodes[node]
        if isinstance(application, Apply) and node not in needed:
            dead.setdefault(application.graph, []).append(node)
    lines = [f"program {graph_name[program.entry]}"]
    for graph in graphs:
        mark = "  ; dead" if graph in live else ""
        lines += ["", header(program, graph, nodes, graph_name) + ("" if graph in live else "  ; unreachable")]
        lines += [f"  {equation(program, n, nodes, graph_name)}" for n in order(program, graph, found)]
        lines += [f"  {equation(program, n, nodes, graph_name)}{mark}" for n in dead.get(graph, ())]
        lines.append(f"  return {operand(program, program.graphs[graph].output, nodes, graph_name)}")
    return "\n".join(lines)


def canonical(program: Program) -> str:
    """The text of what the entry reaches, with names replaced by positions."""
    found = scopes(program)
    nodes: dict[NodeId, str] = {}
    graph_name = {g: f"@{i}" for i, g in enumerate(found.free)}
    orders = {graph: order(program, graph, found) for graph in found.free}
    for graph in found.free:
        for node in (*program.graphs[graph].parameters, *orders[graph]):
            nodes[node] = f"%{len(nodes)}"
    lines = []
    for graph in found.free:
        lines.append(header(program, graph, nodes, graph_name))
        lines += [equation(program, n, nodes, graph_name) for n in orders[graph]]
        lines.append(f"return {operand(program, program.graphs[graph].output, nodes, graph_name)}")
    return "\n".join(lines)
