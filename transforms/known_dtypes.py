"""
Dtypes that the types of parameters settle: for writers of programs in which a dtype is no value.

    dtype(x)  ⟹  "f64"        where the type of x is known; and what is chosen by it
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.type_lattice import Literal
from transforms import dce, fold
from transforms.known_types import known_type

DTYPE = TABLE["dtype"]


def with_known_dtypes(program: Program) -> Program:
    """The program with every dtype that is known in its place, and without what is then never chosen."""
    asked = [node for node in sorted(program.nodes) if program.callee(node) is DTYPE]
    known = {node: found.value for node in asked if isinstance(found := known_type(program, node), Literal)}
    if not known:
        return program
    edit = Edit(program)
    for node, name in known.items():
        edit.replace(node, edit.constant(name))
    return dce.SYSTEM.run(fold.SYSTEM.run(edit.program))
