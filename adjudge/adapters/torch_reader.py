"""
Reading a torch.fx graph: an interpretation of it whose values are nodes of our IR.

Beside its node, a value carries a tensor without data (device "meta"), on which PyTorch itself runs each operation: its shapes,
dtypes and views are PyTorch's. Where our types differ in the end, as in promotion of integers to reals, the graph is refused.

Writing in place rebinds what a value stands for, and is seen through every view of the same memory. A graph that writes to its
inputs computes a pair: its result, and what the inputs it wrote to hold in the end.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.fx

from adjudge.adapters.torch_movement import VIEWS
from adjudge.adapters.torch_rows import READINGS, cast
from adjudge.adapters.torch_tensors import DTYPE, Tensor, agree, tensor_of_type, type_of_tensor, value_of_tensor
from semantics.edit import Edit, empty
from semantics.errors import Location, Malformed
from semantics.infer import infer
from semantics.ir import Apply, Constant, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.structured import ELLIPSIS, Slice

# rows whose result is an array even without axes, where PyTorch's is as good as a number
WITHOUT_AXES = frozenset({"full", "reshape", "transpose", "squeeze", "broadcast_to", "astype", "take", "expand_dims"})
# how a call may be made that changes nothing of what it computes
LAYOUT = frozenset(
    {"device", "layout", "pin_memory", "memory_format", "_stacklevel", "requires_grad", "non_blocking", "copy", "implicit", "out"}
)
IN_PLACE = {f"i{name}": name for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_")}


class Reader(torch.fx.Interpreter):
    """An interpretation of one graph module, whose nodes go into one graph of ours. `written` has the inputs that it writes to."""

    def __init__(self, module: torch.fx.GraphModule, edit: Edit, graph: int) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.edit, self.graph_id = edit, graph
        self.current: torch.fx.Node | None = None
        self.met: list[tuple[NodeId, torch.Tensor, torch.fx.Node]] = []
        self.written: dict[str, Tensor] = {}

    def run_node(self, n: torch.fx.Node) -> Any:
        self.current = n
        found = super().run_node(n)
        if isinstance(found, Tensor) and n.op != "placeholder":
            self.met.append((found.node, found.val, n))
        return found

    # the builder that rules are given

    def __call__(self, row: str, *arguments: Any) -> Tensor:
        """A call of a row."""
        assert self.current is not None
        nodes = [self.operand(a) for a in arguments]
        return Tensor(self.edit.call(self.graph_id, TABLE[row], *nodes, location=location_of(self.current)))

    def copied(self, x: Tensor) -> Tensor:
        """The same value, in memory of its own."""
        return Tensor(self.node_of(x))

    def number(self, data: torch.Tensor) -> Tensor:
        """A constant."""
        return Tensor(self.edit.constant(value_of_tensor(data)))

    def operand(self, value: Any) -> NodeId:
        """The node of an argument: of a tensor its own, of a Python value a constant."""
        if isinstance(value, Tensor):
            return self.node_of(value)
        if isinstance(value, (tuple, list)):
            if any(isinstance(v, (Tensor, tuple, list)) for v in value):
                return self("make_tuple", *value).node
            return self.edit.constant(tuple(self.constant(v) for v in value))
        return self.edit.constant(self.constant(value))

    def constant(self, value: Any) -> Any:
        """A Python value as a constant of the language."""
        match value:
            case None | bool() | int() | float() | str():
                return value
            case slice():
                return Slice(*(self.constant(p) for p in (value.start, value.stop, value.step)))
            case _ if value is ...:
                return ELLIPSIS
            case _ if value in (torch.strided, torch.contiguous_format):
                return None
        raise self.refuse(f"the argument {value!r} has no meaning here", "numbers, axes, shapes, slices and dtypes")

    # memory

    def node_of(self, tensor: Tensor) -> NodeId:
        """The node of what a tensor holds now: a view is read again once the memory it looks at has been written."""
        viewed, *views = tensor.chain()
        for view in views:
            assert view.view is not None
            if view.seen != viewed.node:
                view.node, view.seen = view.view[1](viewed).node, viewed.node
            viewed = view
        return viewed.node

    def write(self, tensor: Tensor, node: NodeId) -> Tensor:
        """Puts what `node` computes into the memory of `tensor`, through all views between it and its owner."""
        self.node_of(tensor)
        owner, *views = tensor.chain()
        if owner.of == "the module":
            raise self.refuse("it writes to a constant of the module", "write to a copy: x.clone()")
        tensor.node = node
        for view in reversed(views):
            assert view.view is not None
            base, _, back = view.view
            base.node = back(Tensor(base.node, base.val), Tensor(view.node, view.val)).node
            view.seen = base.node
        if owner.of:
            self.written[owner.of] = owner
        return tensor

    # the constructs of torch.fx

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        return next(self.args_iter)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        found = self.fetch_attr(target)
        if not isinstance(found, torch.Tensor):
            return found
        return Tensor(self.edit.constant(value_of_tensor(found)), found.detach().to("meta"), "the module")

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.operation(name_of(target), target, args, kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        return self.operation(target, lambda x, *a, **k: getattr(x, target)(*a, **k), args, kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A module inside is read in its place, down to functions."""
        inside = self.fetch_attr(target)
        if not isinstance(inside, torch.fx.GraphModule):
            inside = torch.fx.GraphModule(inside, Unfolding().trace(inside))
        reader = Reader(inside, self.edit, self.graph_id)
        found = reader.run(*args, **kwargs)
        self.met += reader.met
        self.written |= reader.written
        return found

    def operation(self, name: str, target: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """One operation: on tensors without data by PyTorch, on nodes by its rule."""
        tensors = [a for a in flat((args, kwargs)) if isinstance(a, Tensor)]
        with torch.device("meta"), torch.no_grad():
            val = target(*bare(args), **{k: v for k, v in bare(kwargs).items() if k not in ("device", "out")})
        if not tensors and not isinstance(val, torch.Tensor):
            return val
        given = {k: v for k, v in kwargs.items() if k not in LAYOUT and not (k == "dtype" and v is None)}
        if kwargs.get("out") is not None:
            raise self.refuse("it writes to `out`", "use the result")
        if (written := self.in_place(name, args, given)) is not None:
            return written
        rule = READINGS.get(name)
        if rule is None:
            raise self.refuse(f"{name} is no row of the table", "write it with operations that are, or leave the program out")
        found = self.applied(rule, args, given)
        if not isinstance(found, Tensor):
            return found
        same = next((t for t in tensors if t.val is val), None)
        if same is not None:
            return same
        if not val.shape and val.dtype != torch.float32 and self.row_of(found) in WITHOUT_AXES:
            found = self("getitem", found, ())
        found.val = val
        if tensors and (viewed := tensors[0]).val.untyped_storage()._cdata == val.untyped_storage()._cdata:
            found.view, found.seen = self.view(name, rule, viewed, args[1:], given), self.node_of(viewed)
        return found

    def row_of(self, tensor: Tensor) -> str:
        """The name of the row whose call computes a tensor; nothing for what is no call."""
        found = self.edit.nodes[tensor.node]
        function = self.edit.nodes[found.function] if isinstance(found, Apply) else None
        return getattr(function.value, "name", "") if isinstance(function, Constant) else ""

    def applied(self, rule: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a rule makes of a call; refused if the call has arguments that the rule has not."""
        try:
            bound = inspect.signature(rule).bind(self, *args, **kwargs)
        except TypeError as error:
            raise self.refuse(f"it is called in a way that is not known: {error}", "fewer arguments") from None
        return rule(*bound.args, **bound.kwargs)

    def view(self, name: str, rule: Callable[..., Any], viewed: Tensor, args: Any, kwargs: Any) -> Any:
        """How a view is read again, and written through."""

        def look(base: Tensor) -> Tensor:
            return self.applied(rule, (Tensor(base.node, base.val), *args), kwargs)

        def back(base: Tensor, seen: Tensor) -> Tensor:
            if name not in VIEWS:
                raise self.refuse(f"it writes through a view made by {name}", "write to a copy: x.clone()")
            return VIEWS[name](self, base, seen, *args, **kwargs)

        return viewed, look, back

    def in_place(self, name: str, args: Any, kwargs: Any) -> Tensor | None:
        """The tensor that an operation in place writes to, after it has; None for other operations."""
        if not args or not isinstance(args[0], Tensor):
            return None
        x = args[0]
        if name == "setitem":
            return self.write(x, self("put", x, args[1], args[2]).node)
        if name == "copy_":
            return self.write(x, self.fitted(args[1], x))
        if name in ("zero_", "fill_"):
            return self.write(x, self.fitted(args[1] if name == "fill_" else 0, x))
        plain = IN_PLACE.get(name) or (name[:-1] if name.endswith("_") and name not in READINGS else "")
        if plain not in READINGS:
            return None
        return self.write(x, self.applied(READINGS[plain], args, kwargs).node)

    def fitted(self, value: Any, x: Tensor) -> NodeId:
        """A value in the shape and dtype of x."""
        if not isinstance(value, Tensor):
            return self("full", tuple(x.shape), value, DTYPE[x.dtype]).node
        made = cast(self, value, x.dtype)
        return self.node_of(made) if value.shape == x.shape else self("broadcast_to", made, tuple(x.shape)).node

    def output(self, target: Any, args: Any, kwargs: Any) -> NodeId:
        result = args[0]
        if self.written:
            result = (result, *self.written.values())
        return result

    def refuse(self, what: str, remedy: str) -> Malformed:
        """The refusal of the operation at hand."""
        assert self.current is not None
        node = self.current.format_node() or str(self.current)
        return Malformed(
            f"the torch.fx graph has {self.current}: {what}",
            rule="torch",
            node=node,
            location=location_of(self.current),
            remedy=remedy,
        )


class Unfolding(torch.fx.Tracer):
    """Traces modules of torch.nn too, down to the functions that they call."""

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        return False


def name_of(target: Any) -> str:
    """The name of an operation, whichever way it is called."""
    if isinstance(target, torch._ops.OpOverload):
        name = target._schema.name.rpartition("::")[2]
    else:
        name = getattr(target, "__name__", str(target))
    return name.removeprefix("linalg_")


def flat(value: Any) -> list[Any]:
    """What is in nested arguments."""
    found: list[Any] = []
    torch.fx.node.map_aggregate(value, found.append)
    return found


def bare(value: Any) -> Any:
    """Arguments with tensors without data in the place of values."""
    return torch.fx.node.map_aggregate(value, lambda a: a.val if isinstance(a, Tensor) else a)


def location_of(node: torch.fx.Node) -> Location | None:
    """The line of source that a node was traced from, if torch.fx has kept it."""
    found = re.findall(r'File "(.+)", line (\d+)', node.stack_trace or "")
    return Location(found[-1][0], int(found[-1][1])) if found else None


def read_module(module: torch.fx.GraphModule, types: Sequence[Any]) -> Program:
    """The program of a graph module whose placeholders have these types. What PyTorch raises on it is let through."""
    edit = Edit(empty())
    graph = edit.graph("f")
    targets = [str(n.target) for n in module.graph.nodes if n.op == "placeholder"]
    inputs = [Tensor(edit.parameter(graph, n, t), tensor_of_type(t), n) for n, t in zip(targets, types, strict=True)]
    reader = Reader(module, edit, graph)
    result = reader.run(*inputs)
    edit.output(graph, reader.operand(result))
    program = edit.program
    found = infer(program)
    for node, val, at in reader.met:
        type = found.types[found.entry].get(node)
        if type is not None and not agree(type, val):
            reader.current = at
            raise reader.refuse(
                f"PyTorch makes a {type_of_tensor(val)} of it, the reference a {type}", "make the dtypes of the operands alike"
            )
    return program
