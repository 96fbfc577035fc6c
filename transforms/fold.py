"""
Constant folding: a primitive applied to constants is what its meaning says.

The meaning is asked, never restated: the column that the machine runs computes the constant, so folding cannot disagree with
it. What traps is left to trap at run time, if it is ever needed. Only scalars become constants: a folded tuple would hide its
elements from the other passes.
"""

from __future__ import annotations

from typing import Any

from semantics.columns.meaning import MEANING
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Apply, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from transforms.failures import failed
from transforms.surgery import arguments_of, become, plain, scalar
from transforms.system import RewriteSystem, rewrite, rewrite_of

SWITCH = TABLE["switch"]
UNFOLDED = frozenset((*MACROS, TABLE["make_tuple"], TABLE["inject"], SWITCH))
LARGEST = 4096


@rewrite
def fold_constants(program: Program, place: int) -> Program | None:
    """p(c…)  ⟹  ⟦p⟧(c…), if it does not trap and is a scalar"""
    primitive = program.callee(place) if place in program.nodes else None
    if not isinstance(primitive, Primitive) or primitive in UNFOLDED:
        return None
    arguments = program.inputs(place)[1:]
    if not all(plain(program, n) for n in arguments):
        return None
    found, value = meaning(primitive, tuple(program.constant(n) for n in arguments))
    if not found:
        return None
    edit = Edit(program)
    return become(edit, place, edit.constant(value))


def meaning(primitive: Primitive, arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """Whether there is a scalar value, and the value. A user's own cell may fail in its own way: then nothing is folded."""
    try:
        value = MEANING[primitive](*arguments)
    except AdjudgeError:
        return False, None
    except Exception:
        if TABLE.get(primitive.name) is primitive and len(arguments) == len(primitive.signature):
            raise
        return False, None
    small = type(value) is not int or value.bit_length() <= LARGEST
    return scalar(value) and small, value


@rewrite_of("switch")
def known_switch(program: Program, place: int) -> Program | None:
    """switch(True, a, b)  ⟹  a        switch(False, a, b)  ⟹  b"""
    found = arguments_of(program, place, SWITCH)
    condition = program.constant(found[0]) if found is not None else None
    if found is None or not isinstance(condition, bool):
        return None
    return become(Edit(program), place, found[1] if condition else found[2])


RULES = (fold_constants, known_switch, failed)


def measure(program: Program) -> tuple[int, ...]:
    """The number of applications."""
    return (sum(isinstance(n, Apply) for n in program.nodes.values()),)


SYSTEM = RewriteSystem(name="fold", rules=RULES, doc="primitives of constants, by their meaning", measure=measure)
