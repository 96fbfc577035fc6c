"""
The Python classes of records, which types of a program name: a NamedTuple or a dataclass.

    known(program, types) -> {label: class}     of_classes(type, known) -> type     of_none(type) -> type

Two classes of one name with the same fields have equal labels, so what is remembered by the text of a program is remembered without
classes, and gets those of the program at hand; a class need not even be one that another process could find again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semantics.ir import Constant, Parameter, Program
from semantics.structured import Label
from semantics.type_language import RecordType, TupleType
from semantics.type_lattice import Union, labels

Classes = Mapping[Label, Any]


def known(program: Program, types: Sequence[Any] | None) -> dict[Label, Any]:
    """The class of each label that the program, its declared types or these types of arguments have; the arguments' own first."""
    declared = [node.type for node in program.nodes.values() if isinstance(node, Parameter) and node.type is not None]
    found: dict[Label, Any] = {}
    for node in program.nodes.values():
        if isinstance(node, Constant) and isinstance(node.value, Label):
            found[node.value] = node.value.python
    for type in (*declared, *(types or ())):
        found.update((label, label.python) for label in labels(type))
    return {label: of for label, of in found.items() if of is not None}


def of_classes(type: Any, known: Classes) -> Any:
    """The type, whose records are of these classes and no others."""
    match type:
        case RecordType(label, items):
            return RecordType(replace(label, python=known.get(label)), tuple(of_classes(item, known) for item in items))
        case TupleType(items):
            return TupleType(tuple(of_classes(item, known) for item in items))
        case Union(members):
            return Union(tuple(of_classes(member, known) for member in members))
        case _:
            return type


def of_none(type: Any) -> Any:
    """The type, whose records are of no class."""
    return of_classes(type, {})
