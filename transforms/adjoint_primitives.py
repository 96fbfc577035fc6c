"""
J of a primitive: a graph ▶p with ▶p(x…) = (p(x…), ◀p), where ◀p(∇) = ((), dx…) closes over the arguments and the result.

Element 0 is the sensitivity of p itself, which as a function without free variables has none: the empty tuple. The
backpropagator from the column is linked in and called, so what is differentiated is exactly what the column says.
"""

from __future__ import annotations

from functools import cache

from semantics.edit import Edit
from semantics.errors import IllTyped
from semantics.ir import Apply, GraphId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.text import read
from transforms.array_cotangents import ON_ARRAYS
from transforms.backpropagators import backpropagator
from transforms.backpropagators.einsums import einsum_pullback
from transforms.backpropagators.structure import record_pullback, tuple_pullback, whole_power_pullback
from transforms.clone import link
from transforms.elementwise_pullback import broadcast_pullback, is_elementwise


def arity_of(primitive: Primitive, used_with: int | None) -> int:
    """How many arguments ▶p takes: what the signature says, or for a variadic primitive how many it is applied to."""
    if "*" not in primitive.parameters:
        return len(primitive.signature)
    if used_with is None:
        raise IllTyped(
            f"{primitive.name} takes any number of arguments and cannot be differentiated as a value",
            rule="J",
            node=primitive.name,
            remedy="wrap it in a lambda with as many parameters as you need",
        )
    return used_with


VARIADIC = {"make_tuple": tuple_pullback, "make_record": record_pullback, "einsum": einsum_pullback}
"""Rows whose backpropagator depends on how many arguments there are."""


_read = cache(read)
"""The program of a text, which several functions of one program want."""


def pullback_of(primitive: Primitive, arity: int, arrays: bool, whole: int | None = None) -> Program:
    """The backpropagator for so many arguments, where there may be `arrays`; with `whole`, that of `pow` at this exponent."""
    if whole is not None:
        return _read(whole_power_pullback(whole, arrays))
    if TABLE.get(primitive.name) is primitive and primitive.name in VARIADIC:
        return _read(VARIADIC[primitive.name](arity))
    return rule_on_arrays(primitive) if arrays else backpropagator(primitive)


def rule_on_arrays(primitive: Primitive) -> Program:
    """Of elementwise primitives the rule that adds up; of a user's the one that holds every cotangent against its argument."""
    if is_elementwise(primitive):
        return broadcast_pullback(primitive.name)
    return primitive.columns.get(ON_ARRAYS) or backpropagator(primitive)


def whole_power(program: Program, application: Apply) -> int | None:
    """The n of an application x ** n, n an integer written out: then nothing flows to n, and no logarithm is taken."""
    named = program.constant(application.inputs[0]) is TABLE["pow"] and len(application.inputs) == 3
    n = program.constant(application.inputs[2]) if named else None
    return n if type(n) is int else None


def adjoint_primitive(edit: Edit, primitive: Primitive, arity: int, whole: int | None = None) -> GraphId:
    """
    Adds ▶p for `arity` arguments to the program of `edit`, and answers with it.

    With `whole`, it is that of `pow` at this exponent, which stands written out in it, so that the next J sees it too.
    """
    forward = edit.graph(f"▶{primitive.name}", primitive.location)
    names = primitive.parameters if len(primitive.parameters) == arity else tuple(f"x{i}" for i in range(arity))
    arguments = [edit.parameter(forward, name) for name in names]
    operands = arguments if whole is None else [arguments[0], edit.constant(whole)]
    out = edit.call(forward, primitive, *operands, name="out")
    backward = edit.graph(f"◀{primitive.name}", primitive.location)
    sensitivity = edit.parameter(backward, "∇out")
    rule = edit.reference(link(edit, pullback_of(primitive, arity, edit.arrays, whole)))
    contributions = edit.apply(backward, rule, *arguments, out, sensitivity, name="∇")
    own = edit.call(backward, TABLE["make_tuple"])
    parts = [edit.call(backward, TABLE["getitem"], contributions, edit.constant(i)) for i in range(arity)]
    edit.output(backward, edit.call(backward, TABLE["make_tuple"], own, *parts))
    edit.output(forward, edit.call(forward, TABLE["make_tuple"], out, edit.reference(backward)))
    return forward
