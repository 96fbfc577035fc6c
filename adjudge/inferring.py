"""`infer`: the type and shape of every node of a program, before it runs (2018, section 3, "Strongly typed")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from adjudge.functions import Derivative, _name, bind, parse
from adjudge.values import is_function, to_value
from semantics.array_evidence import holds_arrays
from semantics.errors import Location
from semantics.infer import Inference, Signature
from semantics.ir import Apply, NodeId, Parameter, Program
from semantics.narrowing import infer as infer_program
from semantics.type_language import parse_type, type_of
from transforms.gradient_programs import calling
from transforms.nested_grad import expand


@dataclass(frozen=True, slots=True)
class Typed:
    """One application with its type: the graph, the node as printed, the type, and the place in the source."""

    graph: str
    node: str
    type: str
    location: Location | None

    def __str__(self) -> str:
        place = f"   {self.location}  {self.location.text.strip()}" if self.location is not None else ""
        return f"  {self.node:<44} : {self.type}{place}".rstrip()


@dataclass(frozen=True)
class Inferred:
    """What inference knows of a program called with arguments of certain types. Printing it shows every node."""

    program: Program
    inference: Inference

    @property
    def result(self) -> Any:
        """The type of the program's value."""
        return self.inference.result

    def signatures(self) -> Iterator[Signature]:
        """Every graph that a call reaches with the types it is given, the entry first."""
        reached, todo = {self.inference.entry}, [self.inference.entry]
        for signature in todo:
            yield signature
            for targets in self.inference.calls[signature].values():
                found = [s for s in targets if s not in reached]
                reached.update(found)
                todo.extend(found)

    def nodes(self, signature: Signature) -> Iterator[Typed]:
        """The applications of one graph in the order of evaluation, with their types under the signature."""
        graph = self.program.graphs[signature.graph]
        for node, type in self.inference.types[signature].items():
            found = self.program.nodes[node]
            if isinstance(found, Apply) and found.graph == signature.graph:
                yield Typed(graph.name, self.program.describe(node), self.shown(type), found.location)

    def shown(self, type: Any) -> str:
        """The type as text, graphs by their names."""
        return re.sub(r"@(\d+)", lambda found: f"@{self.program.graphs[int(found[1])].name}", str(type))

    def heading(self, signature: Signature) -> str:
        """@name(parameter: type, …) -> type"""
        graph, types = self.program.graphs[signature.graph], self.inference.types[signature]
        given = ", ".join(f"{self._parameter(n)}: {self.shown(types[n])}" for n in graph.parameters)
        return f"@{graph.name}({given}) -> {self.shown(self.inference.results[signature])}"

    def _parameter(self, node: NodeId) -> str:
        found = self.program.nodes[node]
        return f"%{found.name}" if isinstance(found, Parameter) and found.name else f"%{node}"

    def __str__(self) -> str:
        blocks = ("\n".join((self.heading(s), *map(str, self.nodes(s)))) for s in self.signatures())
        return "\n\n".join(blocks)

    def rows(self) -> list[dict[str, Any]]:
        """The same as data, for JSON."""
        return [
            {"graph": t.graph, "node": t.node, "type": t.type, "place": None if t.location is None else str(t.location)}
            for s in self.signatures()
            for t in self.nodes(s)
        ]


def infer(f: Any, *arguments: Any, **named: Any) -> Inferred:
    """
    The types of all nodes of f called with these arguments; a string is a type, such as "f64[2, ?]", instead of a value.

    IllTyped where some run would apply something to values of the wrong kind, or where shapes cannot fit: with the node, the
    types of its arguments, and the calls that lead to it.
    """
    macro, wrt, function = (f.macro, f.wrt, f.f) if isinstance(f, Derivative) else (None, 0, f)
    positional = list(arguments) if macro == "hvp" else bind(f, arguments, named)
    functions = {i: parse(a) for i, a in enumerate(positional) if is_function(a)}
    types = [None if i in functions else _type(a, f, i) for i, a in enumerate(positional)]
    count = len(types) // 2 if macro == "hvp" else None
    program = parse(function)
    if macro is not None or functions or (not program.arrays and any(map(holds_arrays, types))):
        program = calling(program, macro, wrt, types[:count], functions)
    expanded = expand(program)
    return Inferred(expanded, infer_program(expanded, [t for t in types if t is not None]))


def _type(argument: Any, f: Any, index: int) -> Any:
    """The type that a string spells, or that a value has."""
    return parse_type(argument) if isinstance(argument, str) else type_of(to_value(argument, _name(f, index)))
