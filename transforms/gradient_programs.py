"""
Whole programs around J: the gradient of a program as a program (2018, figure 1, `main`).

The new entry has the parameters of the old one and calls a macro on it. Parameters without a declared type are taken for
reals, since that is what one differentiates by; declare another type (`n: int`) where that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import GraphRef, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from transforms import grad, macros
from transforms.nested_grad import argument_of_j, expand
from transforms.system import RewriteSystem

Wrt = int | str | tuple[int | str, ...]


def differentiated(program: Program, wrt: Wrt = 0, macro: str = "grad", types: Sequence[Any] | None = None) -> Program:
    """
    The program whose entry is macro(@f, wrt)(x…), f being the entry of `program`; not expanded yet.

    types  of the parameters of the new entry; by default the declared ones, and f64 where none is declared
    """
    edit = Edit(program)
    f = edit.reference(program.entry)
    entry = edit.graph(f"{macro}_{program.graphs[program.entry].name}", program.graphs[program.entry].location)
    parameters: list[NodeId] = []
    for index, node in enumerate(program.graphs[program.entry].parameters):
        old = program.nodes[node]
        assert isinstance(old, Parameter)
        type = types[index] if types is not None else (old.type if old.type is not None else REAL)
        parameters.append(edit.parameter(entry, old.name, type, old.location))
    if macro == "hvp":
        parameters += [edit.parameter(entry, f"v_{i}", REAL) for i in range(len(parameters))]
    if macro in ("vjp", "jvp"):
        raise Malformed(f"{macro} is not a function of the arguments alone", remedy=f"write a program that calls {macro}")
    which = (
        edit.call(entry, TABLE["make_tuple"], *(edit.constant(w) for w in wrt)) if isinstance(wrt, tuple) else edit.constant(wrt)
    )
    inner = edit.call(entry, TABLE[macro], f, *(() if macro == "hvp" else (which,)))
    edit.output(entry, edit.apply(entry, inner, *parameters))
    edit.set_entry(entry)
    return edit.program


def gradient_program(program: Program, wrt: Wrt = 0, types: Sequence[Any] | None = None) -> Program:
    """The gradient of `program` with respect to `wrt`, expanded."""
    return expand(differentiated(program, wrt, "grad", types))


def value_and_grad_program(program: Program, wrt: Wrt = 0, types: Sequence[Any] | None = None) -> Program:
    """The value and the gradient of `program`, as a pair, expanded."""
    return expand(differentiated(program, wrt, "value_and_grad", types))


_DEFINITIONS = RewriteSystem("macros", macros.RULES, argument="each step removes a macro")


def before_j(program: Program, wrt: Wrt = 0) -> grad.GradState:
    """The gradient of `program` at the point where J is about to begin: the state that `adjudge step --transform grad` walks from."""
    opened = _DEFINITIONS.run(differentiated(program, wrt))
    for node in sorted(opened.nodes):
        x = argument_of_j(opened, node)
        if x is not None and opened.constant(x) == GraphRef(program.entry):
            return grad.begin(opened, node)
    raise Malformed("there is nothing to differentiate", rule="J")
