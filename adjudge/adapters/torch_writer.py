"""
Writing a program as a torch.fx graph: one call per application, as a user's trace would have it.

    "operator"  operator.add(x, y), torch.exp(x), as torch.fx traces x + y and torch.exp(x)
    "method"    operator.add(x, y), x.exp()
    "torch"     torch.add(x, y), torch.exp(x)
    "aten"      torch.ops.aten.add.Tensor(x, y), as torch.compile and torch.fx.experimental.proxy_tensor.make_fx have it

A scalar is a tensor without axes. A constant is written in its place, or, where PyTorch wants a tensor, as a buffer of the module.
Calls of graphs are inlined first. What is no tensor then, functions as values and loops, is refused with its node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.fx

from adjudge.adapters.torch_calls import WRITINGS
from adjudge.adapters.torch_tensors import agree, tensor_of_type, tensor_of_value, type_of_tensor
from semantics.errors import AdjudgeError, Malformed
from semantics.infer import infer
from semantics.ir import Apply, Constant, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.scope import evaluation_order, scopes
from transforms import inline, tuples
from transforms.known_dtypes import with_known_dtypes

FUEL = 20_000
ROUNDS = 4  # of inlining, each of which may uncover functions in tuples


class Writer:
    """The graph as far as it is written. `here` and `types` are the application at hand and the types of all nodes."""

    def __init__(self, program: Program, style: str, types: Mapping[NodeId, Any]) -> None:
        self.program, self.style, self.types = program, style, types
        self.graph, self.root = torch.fx.Graph(), torch.nn.Module()
        self.values: dict[NodeId, Any] = {}
        self.here: NodeId = -1

    def __call__(self, target: Any, *arguments: Any, **options: Any) -> torch.fx.Node:
        """A call of a function of PyTorch, or of the method of that name, run at once on tensors without data."""
        if self.style == "method" and is_method(target):
            name = target.__name__
            return self.made(self.graph.call_method(name, arguments, options), lambda x, *a, **o: getattr(x, name)(*a, **o))
        return self.made(self.graph.call_function(target, arguments, options), target)

    def method(self, name: str, x: Any, *arguments: Any) -> torch.fx.Node:
        """A call of a method of a tensor."""
        return self.made(self.graph.call_method(name, (x, *arguments)), lambda x, *a: getattr(x, name)(*a))

    def made(self, node: torch.fx.Node, target: Callable[..., Any]) -> torch.fx.Node:
        """The node, with its tensor without data; refused where PyTorch refuses to run it."""
        bare = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
        try:
            with torch.device("meta"), torch.no_grad():
                node.meta["val"] = target(*bare[0], **bare[1])
        except (RuntimeError, TypeError, IndexError, ValueError) as error:
            self.graph.erase_node(node)
            raise self.refuse(f"PyTorch refuses it: {str(error).splitlines()[0]}") from None
        return node

    def tensor(self, value: Any) -> torch.fx.Node:
        """An operand that must be a tensor: a constant becomes a buffer."""
        if isinstance(value, torch.fx.Node):
            return value
        try:
            data = tensor_of_value(value)
        except AdjudgeError as error:
            raise self.refuse(error.what) from None
        name = f"constant_{sum(1 for _ in self.root.buffers())}"
        self.root.register_buffer(name, data)
        node = self.graph.get_attr(name)
        node.meta["val"] = data.to("meta")
        return node

    def type(self, place: int) -> Any:
        """The type of an operand of the application at hand."""
        operand = self.program.inputs(self.here)[place + 1]
        if operand not in self.types:
            raise self.refuse("it is never run, so its type is not known")
        return self.types[operand]

    def refuse(self, what: str) -> Malformed:
        """The refusal of the application at hand."""
        node = self.program.nodes[self.here]
        return Malformed(
            f"this cannot be written as a torch.fx graph: {what}",
            rule="torch",
            node=self.program.describe(self.here),
            location=getattr(node, "location", None),
            remedy="tensors, numbers and the rows that torch has; no functions as values, no loops",
        )

    def write(self, entry: int) -> torch.fx.GraphModule:
        """The graph module of the entry."""
        for node in self.program.graphs[entry].parameters:
            found = self.program.nodes[node]
            assert isinstance(found, Parameter)
            placed = self.graph.placeholder(found.name or f"x{node}")
            placed.meta["val"] = tensor_of_type(found.type)
            self.values[node] = placed
        for node, live in applications(self.program, entry):
            try:
                self.application(node)
            except AdjudgeError:
                if live:
                    raise  # what is dead may be left out
        self.graph.output(self.result(self.value(self.program.graphs[entry].output)))
        return torch.fx.GraphModule(self.root, self.graph)

    def application(self, node: NodeId) -> None:
        self.here = node
        callee = self.program.callee(node)
        if not isinstance(callee, Primitive):
            raise self.refuse("it calls a function that is a value, or that calls itself")
        if callee.name not in WRITINGS:
            raise self.refuse(f"torch has no {callee.name} like ours")
        arguments = [self.value(n) for n in self.program.inputs(node)[1:]]
        found = WRITINGS[callee.name](self, *arguments)
        type = self.types.get(node)
        if isinstance(found, torch.fx.Node) and type is not None and not agree(type, found.meta["val"]):
            raise self.refuse(f"PyTorch makes a {type_of_tensor(found.meta['val'])} of it, the reference a {type}")
        self.values[node] = found

    def value(self, node: NodeId) -> Any:
        """What stands for a node: a node of torch.fx, a tuple of those, or a Python value."""
        found = self.program.nodes[node]
        if isinstance(found, Constant):
            if isinstance(found.value, (GraphRef, Primitive)):
                raise self.refuse("a function is a value in it")
            return found.value
        if node not in self.values:
            raise self.refuse("an operand of it cannot be written")
        return self.values[node]

    def result(self, value: Any) -> Any:
        """What is returned: numbers become tensors; None stays."""
        if isinstance(value, tuple):
            return tuple(self.result(v) for v in value)  # as deep as the type
        return value if value is None else self.tensor(value)


def is_method(target: Any) -> bool:
    """Whether a function of PyTorch is a method of tensors too, with its operands in the same order."""
    name = getattr(target, "__name__", "")
    return name != "where" and getattr(torch, name, None) is target and hasattr(torch.Tensor, name)


def applications(program: Program, graph: int) -> Iterator[tuple[NodeId, bool]]:
    """The applications of a graph, operands first, and whether they are needed: those that are, then dead ones."""
    needed = [n for n in evaluation_order(program, graph) if isinstance(program.nodes[n], Apply)]
    yield from ((n, True) for n in needed)
    seen = set(needed)
    for root in sorted(n for n in program.owned.get(graph, ()) if n not in seen):
        todo = [(root, False)]
        while todo:
            node, ready = todo.pop()
            if ready:
                yield node, False
            elif node not in seen and program.owner(node) == graph and isinstance(program.nodes[node], Apply):
                seen.add(node)
                todo += [(node, True), *((n, False) for n in program.inputs(node))]


def write_program(program: Program, style: str) -> torch.fx.GraphModule:
    """The graph module of a program in one of the STYLES."""
    for _ in range(ROUNDS):
        if len(scopes(program).free) == 1:
            break
        program = tuples.SYSTEM.run(inline.SYSTEM.run(program, fuel=FUEL), fuel=FUEL)
    program = with_known_dtypes(program)
    found = infer(program)
    module = Writer(program, "operator" if style == "aten" else style, found.types[found.entry]).write(program.entry)
    return in_aten(module) if style == "aten" else module


def in_aten(module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The module in the operations of ATen, as PyTorch itself traces it."""
    from torch.fx.experimental.proxy_tensor import make_fx

    vals = [n.meta["val"] for n in module.graph.nodes if n.op == "placeholder"]
    try:
        traced = make_fx(module)(*(torch.ones(v.shape, dtype=v.dtype) for v in vals))
    except RuntimeError as error:
        raise Malformed(f"PyTorch cannot trace the graph: {error}", rule="torch", remedy='style="operator"') from None
    return with_types(traced, vals)


def with_types(module: torch.fx.GraphModule, vals: Sequence[torch.Tensor]) -> torch.fx.GraphModule:
    """The module with tensors without data at its placeholders."""
    placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
    if len(placeholders) != len(vals):
        raise Malformed(
            f"the module has {len(placeholders)} inputs, {len(vals)} are given", rule="torch", remedy="one example for each input"
        )
    for node, val in zip(placeholders, vals, strict=True):
        node.meta["val"] = val
    return module
