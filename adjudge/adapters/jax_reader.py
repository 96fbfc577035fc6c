"""
From a jaxpr to a program: one graph for each jaxpr inside, one rule for each primitive.

The jaxprs inside wait in a list while the outer one is read, so nothing recurses on what the user wrote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjudge.adapters import jax_arrays, jax_control, jax_elementwise
from adjudge.adapters.jax_elementwise import Rule
from adjudge.adapters.jax_site import Site, refuse, type_of_aval, value_of
from semantics.edit import Edit, empty
from semantics.errors import Malformed
from semantics.ir import GraphId, NodeId, Program
from semantics.primitives.table import TABLE

RULES: Mapping[str, Rule] = {**jax_elementwise.RULES, **jax_arrays.RULES, **jax_control.RULES}


class Reader:
    """The program that is being made of a jaxpr and the jaxprs in it."""

    def __init__(self) -> None:
        self.edit = Edit(empty())
        self._graphs: dict[int, GraphId] = {}
        self._todo: list[tuple[Any, Sequence[Any], GraphId]] = []
        self._kept: list[Any] = []  # what is known by its identity must live

    def read(self, closed: Any, names: Sequence[str]) -> GraphId:
        """The graph of the outermost jaxpr, after everything in it has been read."""
        entry = self.graph_of(closed, "f", names)
        while self._todo:
            jaxpr, constants, graph = self._todo.pop()
            self._body(jaxpr, constants, graph)
        return entry

    def graph_of(self, jaxpr: Any, name: str = "", names: Sequence[str] = ()) -> GraphId:
        """The graph of a jaxpr, closed or without constants; made when first asked for, filled later."""
        if id(jaxpr) in self._graphs:
            return self._graphs[id(jaxpr)]
        bare, constants = getattr(jaxpr, "jaxpr", jaxpr), getattr(jaxpr, "consts", ())
        graph = self.edit.graph(name or _name(bare))
        for k, variable in enumerate(bare.invars):
            self.edit.parameter(graph, names[k] if k < len(names) else "", type_of_aval(variable.aval))
        self._graphs[id(jaxpr)] = graph
        self._kept.append(jaxpr)
        self._todo.append((bare, constants, graph))
        return graph

    def _body(self, jaxpr: Any, constants: Sequence[Any], graph: GraphId) -> None:
        environment: dict[Any, NodeId] = dict(zip(jaxpr.invars, self.edit.graphs[graph].parameters, strict=True))
        for variable, value in zip(jaxpr.constvars, constants, strict=True):
            environment[variable] = self.edit.constant(value_of(value))

        def node(atom: Any) -> NodeId:
            return self.edit.constant(value_of(_literal(atom))) if hasattr(atom, "val") else environment[atom]

        for equation in jaxpr.eqns:
            rule = RULES.get(equation.primitive.name)
            if rule is None:
                raise refuse(equation, "a primitive that is not read")
            if equation.effects:
                raise refuse(equation, f"with the effect {next(iter(equation.effects))}", "take the effect out")
            site = Site(self.edit, graph, equation, tuple(map(node, equation.invars)), self.graph_of)
            made = rule(site)
            results = made if isinstance(made, list) else [made]
            environment.update(zip(equation.outvars, results, strict=True))
        outputs = [node(v) for v in jaxpr.outvars]
        result = outputs[0] if len(outputs) == 1 else self.edit.call(graph, TABLE["make_tuple"], *outputs)
        self.edit.output(graph, result)


def _literal(atom: Any) -> Any:
    """The value of a literal in the dtype that its abstract value says."""
    import numpy as np

    return np.asarray(atom.val, dtype=atom.aval.dtype)


def _name(jaxpr: Any) -> str:
    """The name of the function that a jaxpr was traced from."""
    found = getattr(getattr(jaxpr, "debug_info", None), "func_name", "") or ""
    name = "".join(c for c in found.split()[0] if c.isalnum() or c == "_") if found else ""
    return name if name.isidentifier() else "jaxpr"


def argument_names(closed: Any) -> list[str]:
    """The names of the arguments, as far as the jaxpr knows them and they can be names of parameters."""
    found = getattr(closed.jaxpr.debug_info, "arg_names", None) or ()
    names = [n if isinstance(n, str) and n.isidentifier() else f"x{k}" for k, n in enumerate(found)]
    return (
        names if len(set(names)) == len(names) == len(closed.jaxpr.invars) else [f"x{k}" for k in range(len(closed.jaxpr.invars))]
    )


def read_jaxpr(closed: Any) -> Program:
    """
    The program that a ClosedJaxpr is: its parameters those of the jaxpr, its result a tuple if the jaxpr has not exactly one.

    Malformed, with the name and the line, at a primitive or a dtype that is not read.
    """
    if not (hasattr(closed, "jaxpr") and hasattr(closed, "consts")):
        raise Malformed(f"{type(closed).__name__} is no ClosedJaxpr", rule="jaxpr", remedy="make one: jax.make_jaxpr(f)(x)")
    reader = Reader()
    reader.edit.set_entry(reader.read(closed, argument_names(closed)))
    return reader.edit.program
