"""
Two programs of tuples, records and arrays as two programs of scalars and arrays: each takes the leaves and puts them together.

    f(p: Point[x: f64, y: f64], t: tuple[f64, f64])   ⟹   @leaves(p_x, p_y, t_0, t_1) = f(Point(p_x, p_y), (t_0, t_1))

Every method of `proofs.validation` reads the leaves; none needs to know what they were parts of.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import GraphId, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.type_language import ArrayType, RecordType, Scalar, TupleType

NUMBERS = ("f64", "i64", "bool")


def declared(program: Program) -> tuple[Any, ...]:
    """The declared types of the parameters, None where there is none: then it is a real."""
    found = (program.nodes[n] for n in program.graphs[program.entry].parameters)
    return tuple(p.type if isinstance(p, Parameter) else None for p in found)


def of_leaves(program: Program, types: Sequence[Any]) -> Program:
    """
    The program whose parameters are the leaves of `types`; itself if it has these already.

    Malformed for a type whose number of leaves is not known: a size that is left open, a tuple of any length, a function.
    """
    if tuple(types) == declared(program) and not any(isinstance(t, (TupleType, RecordType)) for t in types):
        for node, type in zip(program.graphs[program.entry].parameters, types, strict=True):
            _checked(_name(program, node), type)
        return program
    edit = Edit(program)
    old, entry = program.graphs[program.entry], edit.graph("leaves", program.graphs[program.entry].location)
    arguments = [_built(edit, entry, _name(program, n), t) for n, t in zip(old.parameters, types, strict=True)]
    edit.output(entry, edit.apply(entry, edit.reference(program.entry), *arguments))
    edit.set_entry(entry)
    return edit.program


def _name(program: Program, node: NodeId) -> str:
    return getattr(program.nodes[node], "name", "") or f"x{node}"


def _built(edit: Edit, entry: GraphId, name: str, type: Any) -> NodeId:
    """The argument of a type, made of new parameters. Recursion is bounded by the nesting of types."""
    match type:
        case TupleType(items):
            parts = [_built(edit, entry, f"{name}_{i}", t) for i, t in enumerate(items)]
            return edit.call(entry, TABLE["make_tuple"], *parts)
        case RecordType(label, items):
            names = label.fields or tuple(map(str, range(len(items))))
            parts = [_built(edit, entry, f"{name}_{f}", t) for f, t in zip(names, items, strict=True)]
            return edit.call(entry, TABLE["make_record"], edit.constant(label), *parts)
    _checked(name, type)
    return edit.parameter(entry, name, type)


def _checked(name: str, type: Any) -> None:
    """Malformed unless the type is that of a leaf."""
    match type:
        case None:
            return
        case Scalar(found) if found in NUMBERS:
            return
        case ArrayType(_, dims) if None not in dims:
            return
    remedy = "say every size, f64[3]: what is compared is made of a known number of reals"
    raise Malformed(f"{name} is of type {type}, which has no known number of parts", rule="same", remedy=remedy)
