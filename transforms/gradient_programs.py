"""
Whole programs around J: the gradient of a program as a program (2018, figure 1, `main`).

The new entry has the parameters of the old one and calls a macro on it. Parameters without a declared type are taken for
reals, since that is what one differentiates by; declare another type (`n: int`) where that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import GraphId, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from transforms import macros
from transforms.clone import link
from transforms.flows import is_function
from transforms.nested_grad import argument_of, expand
from transforms.system import RewriteSystem

Wrt = int | str | tuple[int | str, ...]


def calling(
    program: Program,
    macro: str | None = None,
    wrt: Wrt = 0,
    types: Sequence[Any] | None = None,
    functions: Mapping[int, Program] | None = None,
) -> Program:
    """
    The program whose entry calls macro(@f, wrt) on its parameters, f being the entry of `program`; not expanded yet.

    macro      one of the macros, or None to call f itself
    types      of the parameters; by default the declared ones, and where none is declared f64; or none, where the program
               speaks of arrays, or takes the parameter apart, or calls it
    functions  arguments that are known functions: they are linked in, and are no parameters of the new entry
    """
    edit, functions = Edit(program), functions or {}
    f = edit.reference(program.entry)
    named = f"{macro}_{program.graphs[program.entry].name}" if macro else program.graphs[program.entry].name
    entry = edit.graph(named, program.graphs[program.entry].location)
    arguments: list[NodeId] = []
    for index, node in enumerate(program.graphs[program.entry].parameters):
        old = program.nodes[node]
        assert isinstance(old, Parameter)
        if index in functions:
            arguments.append(edit.reference(link(edit, functions[index])))
        else:
            type = types[index] if types is not None else _declared(program, node)
            arguments.append(edit.parameter(entry, old.name, type, old.location))
    edit.output(entry, _call_macro(edit, entry, macro, f, wrt, arguments))
    edit.set_entry(entry)
    return edit.program


def _declared(program: Program, parameter: NodeId) -> Any:
    """The declared type; without one f64, unless the program speaks of arrays, or takes the parameter apart, or calls it."""
    found = program.nodes[parameter]
    assert isinstance(found, Parameter)
    if found.type is not None or program.arrays:
        return found.type
    parted = any(use.index == 1 and program.callee(use.user) in macros.TAKE_APART for use in program.users(parameter))
    return None if parted or is_function(program, parameter) else REAL


def _call_macro(edit: Edit, entry: GraphId, macro: str | None, f: NodeId, wrt: Wrt, arguments: list[NodeId]) -> NodeId:
    """The application of one macro to one function: some take positions, some directions, some the arguments themselves."""
    pack = TABLE["make_tuple"]
    if macro is None:
        return edit.apply(entry, f, *arguments)
    if macro == "vjp":
        return edit.call(entry, TABLE[macro], f, *arguments)
    if macro in ("jvp", "hvp"):
        directions = [edit.parameter(entry, f"v_{i}") for i in range(len(arguments))]
        if macro == "jvp":
            return edit.call(entry, TABLE[macro], f, edit.call(entry, pack, *arguments), edit.call(entry, pack, *directions))
        return edit.apply(entry, edit.call(entry, TABLE[macro], f), *arguments, *directions)
    which = edit.call(entry, pack, *(edit.constant(w) for w in wrt)) if isinstance(wrt, tuple) else edit.constant(wrt)
    return edit.apply(entry, edit.call(entry, TABLE[macro], f, which), *arguments)


def differentiated(program: Program, wrt: Wrt = 0, macro: str = "grad", types: Sequence[Any] | None = None) -> Program:
    """`calling` a macro, with no function among the arguments."""
    return calling(program, macro, wrt, types)


def gradient_program(program: Program, wrt: Wrt = 0, types: Sequence[Any] | None = None, mode: str = "J") -> Program:
    """The gradient of `program` with respect to `wrt`, expanded by a reverse mode (`transforms.modes`)."""
    return expand(differentiated(program, wrt, "grad", types), mode)


def value_and_grad_program(program: Program, wrt: Wrt = 0, types: Sequence[Any] | None = None, mode: str = "J") -> Program:
    """The value and the gradient of `program`, as a pair, expanded by a reverse mode."""
    return expand(differentiated(program, wrt, "value_and_grad", types), mode)


_DEFINITIONS = RewriteSystem("macros", macros.RULES, argument="each step removes a macro")


def before_j(program: Program, wrt: Wrt = 0) -> tuple[Program, NodeId]:
    """The gradient of `program` with its macro expanded, and the application J(@f) there: what a reverse mode begins with."""
    return _applied_to_entry(program, differentiated(program, wrt), TABLE["J"])


def before_jvp(program: Program) -> tuple[Program, NodeId]:
    """The value of `program` and its tangent, and the application jvp(@f) there: what forward mode begins with."""
    return _applied_to_entry(program, differentiated(program, macro="jvp"), TABLE["jvp"])


def _applied_to_entry(program: Program, macro: Program, operator: Primitive) -> tuple[Program, NodeId]:
    opened = _DEFINITIONS.run(macro)
    for node in sorted(opened.nodes):
        x = argument_of(opened, node, operator)
        if x is not None and opened.constant(x) == GraphRef(program.entry):
            return opened, node
    raise Malformed("there is nothing to differentiate", rule=operator.name)
