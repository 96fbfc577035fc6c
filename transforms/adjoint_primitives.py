"""
J of a primitive: a graph ▶p with ▶p(x…) = (p(x…), ◀p), where ◀p(∇) = ((), dx…) closes over the arguments and the result.

Element 0 is the sensitivity of p itself, which as a function without free variables has none: the empty tuple. The
backpropagator from the column is linked in and called, so what is differentiated is exactly what the column says.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.errors import IllTyped
from semantics.ir import GraphId
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.text import read
from transforms.backpropagators import backpropagator
from transforms.backpropagators.structure import tuple_pullback
from transforms.clone import link


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


def adjoint_primitive(edit: Edit, primitive: Primitive, arity: int) -> GraphId:
    """Adds ▶p for `arity` arguments to the program of `edit`, and answers with it."""
    forward = edit.graph(f"▶{primitive.name}", primitive.location)
    names = primitive.parameters if len(primitive.parameters) == arity else tuple(f"x{i}" for i in range(arity))
    arguments = [edit.parameter(forward, name) for name in names]
    out = edit.call(forward, primitive, *arguments, name="out")
    backward = edit.graph(f"◀{primitive.name}", primitive.location)
    sensitivity = edit.parameter(backward, "∇out")
    rule = edit.reference(
        link(edit, read(tuple_pullback(arity)) if primitive is TABLE["make_tuple"] else backpropagator(primitive))
    )
    contributions = edit.apply(backward, rule, *arguments, out, sensitivity, name="∇")
    own = edit.call(backward, TABLE["make_tuple"])
    parts = [edit.call(backward, TABLE["getitem"], contributions, edit.constant(i)) for i in range(arity)]
    edit.output(backward, edit.call(backward, TABLE["make_tuple"], own, *parts))
    edit.output(forward, edit.call(forward, TABLE["make_tuple"], out, edit.reference(backward)))
    return forward
