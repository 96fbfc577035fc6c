"""
η-conversion (MimIrADe, section 4.3): a function that only passes its arguments on is what it passes them to, and a tuple of the
elements of a tuple is that tuple.

    λx…. f(x…)              ⟹  f      f a known function (`branches.eta`), or a captured value that is known to be one
    (t[0], …, t[n-1])       ⟹  t      t known to be a tuple of n (`transforms.origins`)

Strictness is no obstacle: making a closure evaluates what it captures, so where λx. f(x) is a value, f has been evaluated; and a
tuple whose first element is needed is needed itself. What must be known is that f is a function at all, since λx. f(x) is one
whatever f is; that f belongs to another graph than the λ, since otherwise it depends on x; and that neither J nor a macro takes
the λ, since those want a function that is known. A function without parameters is left: it delays what it calls.
"""

from __future__ import annotations

from functools import partial

from semantics.edit import Edit
from semantics.ir import NodeId, Program
from semantics.primitives.table import MACROS, TABLE
from transforms import branches, tuples
from transforms.origins import all_origins, has_length, is_function
from transforms.surgery import application, arguments_of, become, index_of
from transforms.system import RewriteSystem, rewrite, rewrite_of

GETITEM = TABLE["getitem"]
OPENED = frozenset((*MACROS, TABLE["J"]))  # they want a function that is known


@rewrite
def eta_captured(program: Program, place: int) -> Program | None:
    """@g(x…) = f(x…), f a value of an enclosing graph that is known to be a function  ⟹  f, wherever @g is used"""
    graph = program.graphs.get(place)
    output = application(program, graph.output) if graph is not None else None
    reference = program.reference(place) if graph is not None else None
    if graph is None or output is None or reference is None or not graph.parameters:
        return None
    if output.graph != place or output.arguments != graph.parameters or program.owner(output.function) in (None, place):
        return None
    if not _is_value(program, reference) or not all_origins(program, output.function, is_function):
        return None
    edit = Edit(program)
    edit.replace(reference, output.function)
    return edit.program


def _is_value(program: Program, reference: NodeId) -> bool:
    """Whether a graph is used as a value somewhere, and nowhere by what must know it."""
    uses = program.users(reference)
    if any(use.index and program.callee(use.user) in OPENED for use in uses):
        return False
    return bool(program.returns.get(reference)) or any(use.index for use in uses)


@rewrite_of("make_tuple")
def tuple_of_elements(program: Program, place: int) -> Program | None:
    """(t[0], …, t[n-1])  ⟹  t, where every value of t is known to be a tuple of n"""
    found = arguments_of(program, place, tuples.MAKE_TUPLE) if place in program.nodes else None
    first = arguments_of(program, found[0], GETITEM) if found else None
    if not found or first is None:
        return None
    for index, item in enumerate(found):
        part = arguments_of(program, item, GETITEM)
        if part is None or part[0] != first[0] or index_of(program, part[1]) != index:
            return None
    if not all_origins(program, first[0], partial(has_length, length=len(found))):
        return None
    return become(Edit(program), place, first[0])


RULES = (branches.eta, eta_captured, tuple_of_elements)


SYSTEM = RewriteSystem(
    name="eta",
    rules=RULES,
    doc="functions and tuples that only pass on are what they pass on",
    argument=(
        "tuple_of_elements removes a tuple, and no rule makes one; the others replace a function that passes on by what it passes "
        "to, and a chain of such functions is finite: one that passes on to itself is left"
    ),
)
