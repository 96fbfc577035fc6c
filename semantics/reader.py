"""The reader of the text that `semantics.text` prints. Two passes over the lines: names are declared, then connected."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from semantics.arrays import DTYPES, Array, size_of
from semantics.collector import at_rest
from semantics.edit import Edit, empty
from semantics.errors import Location, Malformed
from semantics.ir import Apply, GraphId, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.structured import ELLIPSIS, Label, Record, Slice
from semantics.tangents import ZERO
from semantics.type_language import parse_type
from semantics.values import Unbound

_TOKEN = re.compile(
    r"""\s*(?:(?P<node>%[\w∇▶◀▷↑◇đ§'.*]+)|(?P<graph>@[\w∇▶◀↑◇đ§'.*]+)|(?P<text>"(?:[^"\\]|\\.)*")
    |(?P<number>-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|inf|nan)(?![\w.]))|(?P<word>[A-Za-z_][\w']*)|(?P<mark>\.\.\.|[(),=:\[\]|?]))""",
    re.VERBOSE,
)
MADE = frozenset({"label", "record", "slice", *DTYPES})
_WORDS: dict[str, Any] = {"True": True, "False": False, "None": None, "ZERO": ZERO}


class Line:
    """The tokens of one line, with a place to point at."""

    token = _TOKEN

    def __init__(self, text: str, number: int, file: str) -> None:
        self.text, self.number, self.file, self.at = text, number, file, 0
        self.tokens: list[tuple[str, str, int]] = []
        body = self.body(text).rstrip()
        position = 0
        while position < len(body):
            match = self.token.match(body, position)
            if match is None:
                raise self.error(f"cannot read {body[position:].strip()!r}", position)
            kind = match.lastgroup or ""
            self.tokens.append((kind, match.group(kind), match.start(kind)))
            position = match.end()

    @staticmethod
    def body(text: str) -> str:
        """The line up to a `;` that is not inside a string."""
        match = re.match(r'(?:[^;"]|"(?:[^"\\]|\\.)*")*', text)
        return match.group() if match else text

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


@at_rest()
def read(text: str, primitives: Mapping[str, Primitive] = TABLE, file: str = "<text>") -> Program:
    """The program that `text` prints. Malformed with line and caret if it is not one."""
    lines = [Line(raw, i, file) for i, raw in enumerate(text.splitlines(), 1)]
    lines = [line for line in lines if line.tokens]
    if not lines:
        raise Malformed("the text of a program is empty", remedy="begin with `program @name`")
    first, *rest = lines
    first.take("word", "program")
    entry = first.take("graph")
    first.done()
    return Reader(primitives).program(first, entry, rest)


class Reader:
    """Two passes: the first declares every name, the second connects them."""

    def __init__(self, primitives: Mapping[str, Primitive]) -> None:
        self.primitives = primitives
        self.edit = Edit(empty())
        self.graphs: dict[str, GraphId] = {}
        self.nodes: dict[str, NodeId] = {}

    def program(self, first: Line, entry: str, lines: list[Line]) -> Program:
        todo: list[tuple[Line, GraphId, str, NodeId | None]] = []
        current: GraphId | None = None
        for line in lines:
            kind, word = line.peek()
            if kind == "graph":
                current = self.declare_graph(line)
            elif current is None:
                raise line.error("an equation outside a graph", remedy="begin a graph with `@name(%x):`")
            elif kind == "word" and word == "return":
                line.take("word")
                todo.append((line, current, "", None))
            else:
                name = line.take("node")
                line.take("mark", "=")
                node = self.edit.reserve()
                self.declare(line, self.nodes, name, node)
                todo.append((line, current, _hint(name), node))
        for line, graph, name, target in todo:
            if target is None:
                self.edit.output(graph, self.operand(line))
            else:
                self.edit.fill(target, Apply(graph, self.inputs(line), name))
            line.done()
        missing = set(self.graphs.values()) - {graph for _, graph, _, node in todo if node is None}
        if missing:
            name = next(n for n, g in self.graphs.items() if g in missing)
            raise first.error(f"graph {name} returns nothing", remedy="end it with `return …`")
        if entry not in self.graphs:
            raise first.error(f"the entry {entry} is not defined", remedy=f"one of {', '.join(self.graphs)}")
        self.edit.set_entry(self.graphs[entry])
        return self.edit.program

    def declare(self, line: Line, table: dict[str, int], name: str, key: int) -> None:
        if name in table:
            raise line.error(f"{name} is defined twice", 0)
        table[name] = key

    def declare_graph(self, line: Line) -> GraphId:
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

    def type(self, line: Line) -> Any:
        """A type ends at the comma or parenthesis that closes the parameter."""
        text, depth = "", 0
        while line.peek()[0] in ("word", "mark", "number", "text") and (depth or line.peek()[1] not in (",", ")")):
            kind, token = line.peek()
            line.take(kind)
            depth += (token in "[(") - (token in "])")
            text += f" {token}" if kind in ("word", "text") else token
        return parse_type(text)

    def inputs(self, line: Line) -> tuple[NodeId, ...]:
        inputs = [self.operand(line)]
        line.take("mark", "(")
        while line.peek() != ("mark", ")"):
            inputs.append(self.operand(line))
            if line.peek() != ("mark", ")"):
                line.take("mark", ",")
        line.take("mark", ")")
        return tuple(inputs)

    def operand(self, line: Line) -> NodeId:
        kind, text = line.peek()
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
        return self.edit.constant(self.value(line))

    def value(self, line: Line) -> Any:
        """A constant that is no graph."""
        kind, text = line.peek()
        if kind == "word":
            return self.word(line)
        if (kind, text) == ("mark", "("):
            return self.values(line)
        if (kind, text) == ("mark", "..."):
            line.take("mark")
            return ELLIPSIS
        if kind == "text":
            line.take("text")
            return json.loads(text)
        if kind != "number":
            raise line.error(f"expected an operand, found {text}")
        line.take("number")
        return float(text) if re.search(r"[.enf]", text) else int(text)

    def values(self, line: Line) -> tuple[Any, ...]:
        """Constants in parentheses."""
        found: list[Any] = []
        line.take("mark", "(")
        while line.peek() != ("mark", ")"):
            found.append(self.value(line))
            if line.peek() != ("mark", ")"):
                line.take("mark", ",")
        line.take("mark", ")")
        return tuple(found)

    def made(self, line: Line, word: str) -> Any:
        """A label, a record, a slice or an array, after its first word."""
        if word == "label":
            return self.label(line)
        if word in DTYPES:
            shape: list[int] = []
            line.take("mark", "[")
            while line.peek() != ("mark", "]"):
                size = line.take("number")
                if not size.isdecimal():
                    raise line.error(f"{size} is no size of an array")
                shape.append(int(size))
                if line.peek() != ("mark", "]"):
                    line.take("mark", ",")
            line.take("mark", "]")
            elements = self.values(line)
            if len(elements) != size_of(shape):
                raise line.error(f"an array of shape {tuple(shape)} has {size_of(shape)} elements, not {len(elements)}")
            return Array(word, tuple(shape), elements)
        parts = self.values(line)
        if word == "slice" and len(parts) == 3 and all(p is None or type(p) is int for p in parts):
            return Slice(*parts)
        if word == "record" and parts and isinstance(parts[0], Label):
            return Record(parts[0], parts[1:])
        raise line.error(f"this is no {word}", remedy="slice(start, stop, step) or record(label(…), item, …)")

    def label(self, line: Line) -> Label:
        """(kind name: field, …)"""

        def name() -> str:
            return json.loads(line.take("text")) if line.peek()[0] == "text" else line.take("word")

        line.take("mark", "(")
        kind, title, fields = line.take("word"), "", []
        if line.peek()[0] in ("word", "text"):
            title = name()
        if line.peek() == ("mark", ":"):
            line.take("mark")
            fields.append(name())
        while line.peek() == ("mark", ","):
            line.take("mark")
            fields.append(name())
        line.take("mark", ")")
        return Label(kind, title, tuple(fields))

    def word(self, line: Line) -> Any:
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
        if word in MADE:
            return self.made(line, word)
        if word not in self.primitives:
            line.at -= 1
            raise line.error(f"{word} is not a primitive", remedy="see `adjudge about --primitives`")
        return self.primitives[word]


def _hint(name: str) -> str:
    """The name without its sigil and number, as a hint for printing."""
    hint = re.sub(r"\.\d+$", "", name[1:])
    return "" if hint.isdigit() else hint
