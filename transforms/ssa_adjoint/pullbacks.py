"""
The pullbacks of primitives as SSA functions: ◀p(a…, x, ∇x), made from the backpropagator column, of those arguments that it reads.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from semantics.errors import Malformed
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.ssa.form import Instruction, Literal, Module, Name
from semantics.tangents import ZERO
from transforms.adjoint_primitives import arity_of, pullback_of
from transforms.remembering import remembered
from transforms.ssa.from_graph import first_order, to_ssa
from transforms.ssa.rewriting import names_in, operands_in

MAKE_TUPLE = TABLE["make_tuple"]


def whole(instruction: Instruction) -> int | None:
    """The n of x ** n, n an integer written out, as in `adjoint_primitives.whole_power`."""
    if instruction.callee is not TABLE["pow"] or len(instruction.operands) != 2:
        return None
    n = instruction.operands[1]
    return n.value if isinstance(n, Literal) and type(n.value) is int else None


@cache
def rule(primitive: Primitive, arity: int, n: int | None, arrays: bool) -> Program:
    """The backpropagator of a primitive for so many arguments; of `pow` for a whole exponent n, if there is one."""
    return pullback_of(primitive, arity_of(primitive, arity), arrays, n)


@cache
def _silent(primitive: Primitive, arity: int, n: int | None) -> frozenset[int]:
    """The arguments to which the backpropagator sends ZERO, as it is written."""
    program = rule(primitive, arity, n, False)
    output = program.graphs[program.entry].output
    if program.callee(output) is not MAKE_TUPLE:
        return frozenset()
    return frozenset(i for i, part in enumerate(program.inputs(output)[1:]) if program.constant(part) is ZERO)


def transmits(instruction: Instruction) -> tuple[int, ...]:
    """The operands to which a gradient can flow: names, unless the primitive has none for them."""
    names = [i for i, operand in enumerate(instruction.operands) if isinstance(operand, Name)]
    if not isinstance(instruction.callee, Primitive):
        return tuple(names)
    silent = _silent(instruction.callee, len(instruction.operands), whole(instruction))
    return tuple(i for i in names if i not in silent)


@cache
def pullback_function(primitive: Primitive, arity: int, n: int | None, arrays: bool) -> tuple[Module, tuple[int, ...]]:
    """
    The pullback ◀p as SSA code, and which of the a…, x that the backpropagator closes over it reads: no other is a parameter of it.

    Malformed where the backpropagator is not of first order.
    """
    if TABLE.get(primitive.name) is not primitive:
        return _pullback_function(primitive, arity, n, arrays)
    key = f"the pullback of {primitive.name} {arity} {n} {arrays}"
    return remembered(key, lambda: _pullback_function(primitive, arity, n, arrays))


def _pullback_function(primitive: Primitive, arity: int, n: int | None, arrays: bool) -> tuple[Module, tuple[int, ...]]:
    try:
        module = to_ssa(first_order(rule(primitive, arity, n, arrays)))
    except Malformed as error:
        what = f"the backpropagator of {primitive.name} is not of first order"
        raise Malformed(what, rule="ssa adjoint", node=primitive.name, remedy="the mode J takes closures") from error
    main = module.main
    read_there = {name for block in main.blocks for name in names_in(operands_in(block))}
    *closed_over, gradient = main.parameters
    kept = tuple(i for i, p in enumerate(closed_over) if p.name in read_there)
    parameters = (*(closed_over[i] for i in kept), gradient)
    functions = (replace(f, parameters=parameters) if f is main else f for f in module.functions)
    return Module(tuple(functions), module.entry), kept
