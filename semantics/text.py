"""
The text of a program, and its reader: `read(str(p)) == p`.

    program @f                      the entry

    @f(%x: f64, %y):                a graph: its parameters, with types where they are declared
      %a = pow(%x, 3)               an application of a primitive,
      %b = @g(%a)                   of a graph,
      %c = %h(%b, -1.5)             or of a value
      return %c

Constants stand where they are used: numbers, True, False, None, "text", ZERO, unbound(x), primitives by name, graphs as @name.
A graph that names a node of another is nested in it. Nodes are printed in the order of need; one that nothing needs follows,
marked `; dead`, in a graph that can be reached. What follows `;` is a comment. `canonical` is the same text with names replaced by positions and dead parts
left out: two programs are equal when their canonical texts are.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from semantics.edit import Edit, empty
from semantics.errors import Location, Malformed
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import Scopes, order_of_need, scopes, scopes_from
from semantics.tangents import ZERO
from semantics.type_language import parse_type
from semantics.values import Unbound

# printing


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
    hint = re.sub(r"[^\w∇▶◀↑◇đ§'.]", "_", hint)
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
        case _:
            return repr(value)


def operand(program: Program, node: NodeId, nodes: Mapping[NodeId, str], graphs: Mapping[GraphId, str]) -> str:
    """A node as an operand: its name, or its value if it is a constant."""
    found = program.nodes[node]
    return literal(found.value, graphs) if isinstance(found, Constant) else nodes[node]


def equation(program: Program, node: NodeId, nodes: Mapping[NodeId, str], graphs: Mapping[GraphId, str]) -> str:
    """An application as `%name = function(arguments)`."""
    function, *arguments = (operand(program, n, nodes, graphs) for n in program.inputs(node))
    return f"{nodes[node]} = {function}({', '.join(arguments)})"


def describe(program: Program, node: NodeId) -> str:
    """A node for messages: the equation of an application, the name of a parameter, the value of a constant."""
    if isinstance(program.nodes[node], Apply):
        return equation(program, node, names(program), graph_names(program))
    return operand(program, node, names(program), graph_names(program))


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
    for graph in found.free:
        for node in (*program.graphs[graph].parameters, *order(program, graph, found)):
            nodes[node] = f"%{len(nodes)}"
    lines = []
    for graph in found.free:
        lines.append(header(program, graph, nodes, graph_name))
        lines += [equation(program, n, nodes, graph_name) for n in order(program, graph, found)]
        lines.append(f"return {operand(program, program.graphs[graph].output, nodes, graph_name)}")
    return "\n".join(lines)


# reading

_TOKEN = re.compile(
    r"""\s*(?:(?P<node>%[\w∇▶◀↑◇đ§'.]+)|(?P<graph>@[\w∇▶◀↑◇đ§'.]+)|(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<number>-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|inf|nan)(?![\w.]))|(?P<word>[A-Za-z_]\w*)|(?P<mark>[(),=:\[\]]))""",
    re.VERBOSE,
)
_WORDS: dict[str, Any] = {"True": True, "False": False, "None": None, "ZERO": ZERO}


class _Line:
    """The tokens of one line, with a place to point at."""

    def __init__(self, text: str, number: int, file: str) -> None:
        self.text, self.number, self.file, self.at = text, number, file, 0
        self.tokens: list[tuple[str, str, int]] = []
        body = _without_comment(text).rstrip()
        position = 0
        while position < len(body):
            match = _TOKEN.match(body, position)
            if match is None:
                raise self.error(f"cannot read {body[position:].strip()!r}", position)
            kind = match.lastgroup or ""
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()

    def error(self, what: str, column: int | None = None, remedy: str = "") -> Malformed:
        if column is None:
            column = self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text)
        return Malformed(what, location=Location(self.file, self.number, column, self.text), remedy=remedy)

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at][:2] if self.at < len(self.tokens) else ("end", "the end of the line")

    def take(self, kind: str, value: str | None = None) -> str:
        found, text = self.peek()
        if found != kind or (value is not None and text != value):
            raise self.error(f"expected {value or 'a ' + kind}, found {text}")
        self.at += 1
        return text

    def done(self) -> None:
        if self.at < len(self.tokens):
            raise self.error(f"unexpected {self.peek()[1]}")


def _without_comment(text: str) -> str:
    """The line up to a `;` that is not inside a string."""
    match = re.match(r'(?:[^;"]|"(?:[^"\\]|\\.)*")*', text)
    return match.group() if match else text


def read(text: str, primitives: Mapping[str, Primitive] = TABLE, file: str = "<text>") -> Program:
    """The program that `text` prints. Malformed with line and caret if it is not one."""
    lines = [_Line(raw, i, file) for i, raw in enumerate(text.splitlines(), 1)]
    lines = [line for line in lines if line.tokens]
    if not lines:
        raise Malformed("the text of a program is empty", remedy="begin with `program @name`")
    first, *rest = lines
    first.take("word", "program")
    entry = first.take("graph")
    first.done()
    return _Reader(primitives).program(first, entry, rest)


class _Reader:
    """Two passes: the first declares every name, the second connects them."""

    def __init__(self, primitives: Mapping[str, Primitive]) -> None:
        self.primitives = primitives
        self.edit = Edit(empty())
        self.graphs: dict[str, GraphId] = {}
        self.nodes: dict[str, NodeId] = {}

    def program(self, first: _Line, entry: str, lines: list[_Line]) -> Program:
        placeholder = self.edit.constant(None)
        todo: list[tuple[_Line, GraphId, NodeId | None]] = []
        current: GraphId | None = None
        for line in lines:
            kind, word = line.peek()
            if kind == "graph":
                current = self.declare_graph(line)
            elif current is None:
                raise line.error("an equation outside a graph", remedy="begin a graph with `@name(%x):`")
            elif kind == "word" and word == "return":
                line.take("word")
                todo.append((line, current, None))
            else:
                name = line.take("node")
                line.take("mark", "=")
                node = self.edit.apply(current, placeholder, name=_hint(name))
                self.declare(line, self.nodes, name, node)
                todo.append((line, current, node))
        target: NodeId | None
        for line, graph, target in todo:
            if target is None:
                self.edit.output(graph, self.operand(line))
            else:
                self.edit.set_inputs(target, self.inputs(line))
            line.done()
        missing = set(self.graphs.values()) - {graph for _, graph, node in todo if node is None}
        if missing:
            name = next(n for n, g in self.graphs.items() if g in missing)
            raise first.error(f"graph {name} returns nothing", remedy="end it with `return …`")
        if entry not in self.graphs:
            raise first.error(f"the entry {entry} is not defined", remedy=f"one of {', '.join(self.graphs)}")
        self.edit.set_entry(self.graphs[entry])
        return self.edit.program

    def declare(self, line: _Line, table: dict[str, int], name: str, key: int) -> None:
        if name in table:
            raise line.error(f"{name} is defined twice", 0)
        table[name] = key

    def declare_graph(self, line: _Line) -> GraphId:
        name = line.take("graph")
        graph = self.edit.graph(_hint(name), Location(line.file, line.number))
        self.declare(line, self.graphs, name, graph)
        line.take("mark", "(")
        while line.peek() != ("mark", ")"):
            parameter, type = line.take("node"), None
            if line.peek() == ("mark", ":"):
                line.take("mark")
                type = self.type(line)
            self.declare(line, self.nodes, parameter, self.edit.parameter(graph, _hint(parameter), type))
            if line.peek() != ("mark", ")"):
                line.take("mark", ",")
        line.take("mark", ")")
        line.take("mark", ":")
        line.done()
        return graph

    def type(self, line: _Line) -> Any:
        """A type ends at the comma or parenthesis that closes the parameter."""
        text, depth = "", 0
        while line.peek()[0] in ("word", "mark") and (depth or line.peek()[1] not in (",", ")")):
            token = line.take(line.peek()[0])
            depth += (token == "[") - (token == "]")
            text += token
        return parse_type(text)

    def inputs(self, line: _Line) -> tuple[NodeId, ...]:
        inputs = [self.operand(line)]
        line.take("mark", "(")
        while line.peek() != ("mark", ")"):
            inputs.append(self.operand(line))
            if line.peek() != ("mark", ")"):
                line.take("mark", ",")
        line.take("mark", ")")
        return tuple(inputs)

    def operand(self, line: _Line) -> NodeId:
        kind, text = line.peek()
        readers: dict[str, Callable[[], Any]] = {
            "number": lambda: float(text) if re.search(r"[.enf]", text) else int(text),
            "text": lambda: json.loads(text),
        }
        if kind == "node":
            if text not in self.nodes:
                raise line.error(f"{text} is not defined", remedy="every node needs one equation")
            line.take("node")
            return self.nodes[text]
        if kind == "graph":
            if text not in self.graphs:
                raise line.error(f"graph {text} is not defined")
            line.take("graph")
            return self.edit.reference(self.graphs[text])
        if kind == "word":
            return self.edit.constant(self.word(line))
        if kind not in readers:
            raise line.error(f"expected an operand, found {text}")
        line.take(kind)
        return self.edit.constant(readers[kind]())

    def word(self, line: _Line) -> Any:
        word = line.take("word")
        if word in _WORDS:
            return _WORDS[word]
        if word in ("inf", "nan"):
            return float(word)
        if word == "unbound":
            line.take("mark", "(")
            name = line.take("word")
            line.take("mark", ")")
            return Unbound(name)
        if word not in self.primitives:
            line.at -= 1
            raise line.error(f"{word} is not a primitive", remedy="see `adjudge about --primitives`")
        return self.primitives[word]


def _hint(name: str) -> str:
    """The name without its sigil and number, as a hint for printing."""
    hint = re.sub(r"\.\d+$", "", name[1:])
    return "" if hint.isdigit() else hint
