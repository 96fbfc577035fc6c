"""
torch.fx: graph modules as programs and back, and passes over graph modules as passes that can be judged.

    from_graph_module(module, inputs)     the program that a graph module computes
    to_graph_module(program, style)       the graph module of a program
    torch_fx_pass(function)               a pass over graph modules, for `adjudge.audit`

The reference judges; PyTorch is asked for shapes, dtypes and views only, on tensors without data. It is imported when one of
these is called. Without it, Malformed names the extra to install.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from semantics.errors import AdjudgeError, IllTyped, Malformed
from semantics.ir import Parameter, Program

STYLES = ("operator", "method", "torch", "aten")
SPELLINGS = STYLES[:3]
MADE = "_graph_module"  # where a program remembers the graph module that a pass made of it


def from_graph_module(module: Any, inputs: Sequence[Any] | None = None) -> Program:
    """
    The program that a graph module computes: f64 and f32, integers of 64 bits, booleans.

    inputs  an example tensor for each placeholder; if not given, their `meta["val"]` or `meta["tensor_meta"]`

    A graph that writes to its inputs computes a tuple: its result, then the inputs it wrote to. Malformed, with the node, for what
    is no row of our table; IllTyped for what PyTorch refuses to run.
    """
    _torch()
    from adjudge.adapters.torch_reader import read_module
    from adjudge.adapters.torch_tensors import type_of_tensor

    placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
    given = [n.meta.get("val", n.meta.get("tensor_meta")) for n in placeholders] if inputs is None else list(inputs)
    if len(given) != len(placeholders):
        raise _refuse(f"the module has {len(placeholders)} inputs, {len(given)} are given", "one example for each input")
    for node, example in zip(placeholders, given, strict=True):
        if not (hasattr(example, "dtype") and hasattr(example, "shape")):
            raise _refuse(f"the shape of the input {node.target} is not known", "from_graph_module(module, [torch.ones(2, 3)])")
    try:
        return read_module(module, [type_of_tensor(t) for t in given])
    except AdjudgeError:
        raise
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        raise IllTyped(f"PyTorch refuses the graph: {str(error).splitlines()[0]}", rule="torch") from None


def to_graph_module(program: Program, style: str = "operator") -> Any:
    """
    The graph module of a program whose calls can be inlined, with tensors without data in `meta["val"]`.

    style  of its calls: "operator" for operator.add(x, y) and torch.exp(x), "method" for operator.add(x, y) and x.exp(),
           "torch" for torch.add(x, y) and torch.exp(x), "aten" for torch.ops.aten.add.Tensor(x, y)

    Malformed, with the node, for what torch.fx cannot say.
    """
    _torch()
    from adjudge.adapters.torch_writer import write_program

    if style not in STYLES:
        raise _refuse(f"no graph module is written in the style {style!r}", f"one of {', '.join(STYLES)}")
    return write_program(program, style)


@dataclass(frozen=True)
class TorchPass:
    """
    A pass over graph modules as one over programs: a program is written as a graph module, the pass runs, the result is read.

    A pass that looks for torch.add does not see operator.add. So a program is written in each of the `styles` in turn, until the
    pass changes it. What the pass has made is judged again as the graph module that it was.

    modules  its examples, each with the graph module it came from; unlike what we write, that may write in place
    """

    name: str
    function: Callable[[Any], Any]
    domain: str
    styles: tuple[str, ...]
    modules: tuple[tuple[Program, Any], ...]

    @property
    def examples(self) -> tuple[Program, ...]:
        """The programs that it is judged on before others."""
        return tuple(program for program, _ in self.modules)

    def run(self, program: Program) -> Any:
        """
        What the pass makes of the program; the program itself if nothing.

        What is no graph module is handed on as it is, and what PyTorch raises on the result passes through: both are faults.
        """
        for module in self.written(program):
            found = self.step(program, module)
            if found is not program:
                return found
        return program

    def written(self, program: Program) -> Iterator[Any]:
        """The graph modules that compute the program, each to be changed at will."""
        if (made := program.__dict__.get(MADE)) is not None:
            yield copy.deepcopy(made)
            return
        yield from (copy.deepcopy(module) for example, module in self.modules if example is program)
        met = set()
        for style in self.styles:
            module = to_graph_module(program, style)
            calls = tuple((n.op, str(n.target)) for n in module.graph.nodes)
            if calls not in met:  # styles differ in what they call; where they do not, once is enough
                yield module
            met.add(calls)

    def step(self, program: Program, module: Any) -> Any:
        """One run of the pass, on a module that computes the program."""
        from adjudge.adapters.torch_reader import read_module

        types = types_of(program)
        before = read_module(module, types)
        names = inputs_of(module)
        found = changed(module, self.function(module))
        if not hasattr(found, "graph"):
            return found
        found.graph.lint()
        after = read_module(found, types_of_inputs(found, names, types))
        if after == before:
            return program
        after.__dict__[MADE] = found
        return after


def inputs_of(module: Any) -> list[str]:
    """The names of the placeholders."""
    return [n.name for n in module.graph.nodes if n.op == "placeholder"]


def types_of_inputs(module: Any, names: Sequence[str], types: Sequence[Any]) -> list[Any]:
    """The types of the placeholders of what a pass made, by name if it took some away."""
    left = inputs_of(module)
    if len(left) == len(types):
        return list(types)
    named = dict(zip(names, types, strict=True))
    if added := [n for n in left if n not in named]:
        raise ValueError(f"the pass added the inputs {', '.join(added)}")
    return [named[n] for n in left]


def types_of(program: Program) -> list[Any]:
    """The declared types of the parameters of the entry."""
    parameters = (program.nodes[n] for n in program.graphs[program.entry].parameters)
    return [p.type for p in parameters if isinstance(p, Parameter)]


def changed(module: Any, answer: Any) -> Any:
    """The graph module that a pass made: what it returned, in a PassResult too, or the module that it changed in place."""
    answer = getattr(answer, "graph_module", answer)
    if answer is None:
        module.recompile()
        return module
    torch = _torch()
    return torch.fx.GraphModule(module, answer) if isinstance(answer, torch.fx.Graph) else answer


def torch_fx_pass(
    function: Callable[[Any], Any],
    *,
    domain: str = "BITS",
    style: str | None = None,
    functional: bool = False,
    name: str = "",
    examples: Sequence[tuple[Any, Sequence[Any]]] = (),
) -> TorchPass:
    """
    A pass over torch.fx graph modules, to be judged: `aj.audit(aj.torch_fx_pass(p))`.

    function    takes a GraphModule and returns one, or a PassResult, or None after changing it in place
    domain      the equality it claims: "BITS" bit for bit, "REAL" over the reals
    style       of the graphs it is given, as in `to_graph_module`; if not given, each but "aten" until one is changed
    functional  whether it asks for graphs that write nothing in place; then ours do not, as after functionalization
    name        what reports call it
    examples    graph modules, or functions to trace, each with its example inputs, to judge it on before ours
    """
    _torch()
    if not callable(function):
        raise _refuse(f"{function!r} is no pass", "a function from GraphModule to GraphModule")
    if style not in (None, *STYLES):
        raise _refuse(f"no graph module is written in the style {style!r}", f"one of {', '.join(STYLES)}")
    modules = (*(known(given, inputs, style) for given, inputs in examples), *our_examples(style, functional))
    called = name or getattr(function, "__name__", type(function).__name__)
    return TorchPass(called, function, domain, (style,) if style else SPELLINGS, modules)


def known(given: Any, inputs: Sequence[Any], style: str | None) -> tuple[Program, Any]:
    """The program of a graph module, or of a function to trace, and the module; in ATen if that is the style."""
    torch = _torch()
    from adjudge.adapters.torch_writer import in_aten, with_types

    vals = [torch.empty_like(t, device="meta") for t in inputs]
    module = with_types(given if hasattr(given, "graph") else torch.fx.symbolic_trace(given), vals)
    return from_graph_module(module), in_aten(module) if style == "aten" else module


@cache
def our_examples(style: str | None, functional: bool) -> tuple[tuple[Program, Any], ...]:
    """Our examples, those that write in place only if the pass may be given them."""
    from adjudge.adapters.torch_examples import EXAMPLES, WRITING

    return tuple(known(f, inputs, style) for f, inputs in (*EXAMPLES, *(() if functional else WRITING)))


def _torch() -> Any:
    try:
        import torch
        import torch.fx
    except ImportError:
        raise _refuse("PyTorch is not installed", "pip install 'adjudge[torch]'") from None
    return torch


def _refuse(what: str, remedy: str) -> Malformed:
    return Malformed(what, rule="torch", remedy=remedy)
