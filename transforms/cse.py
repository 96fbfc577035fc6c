"""
Common subexpressions: equal applications are evaluated once.

The language is pure, so two applications of one function to the same inputs have one value, calls included. Inside one graph
they merge outright. An application in a nested graph merges with an equal one that an enclosing graph *needs*: evaluation is
strict in what is needed, so whenever the nested graph runs, the enclosing one has computed the value or will not return one
anyway; capturing it costs nothing and cannot diverge or trap where the program did not. An application that the enclosing
graph does not need, or that stands in the other branch of a conditional, is never merged with.

Constants are interned, -0.0 apart from 0.0 and 1 apart from 1.0, so "the same inputs" is equality of identifiers. Empty tuples,
of which J makes many, cost nothing and are left alone.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from transforms.surgery import application, become
from transforms.system import RewriteSystem, rewrite

MAKE_TUPLE = TABLE["make_tuple"]


def twins(program: Program, place: NodeId, found: Apply) -> list[NodeId]:
    """The other applications with the same inputs, found through the input that has the fewest uses."""
    index, rarest = min(enumerate(found.inputs), key=lambda item: len(program.users(item[1])))
    return [
        u.user for u in program.users(rarest) if u.index == index and u.user != place and program.inputs(u.user) == found.inputs
    ]


@rewrite
def merge(program: Program, place: int) -> Program | None:
    """in g: n = f(a…) and m = f(a…)  ⟹  n alone, in place of both"""
    found = application(program, place)
    if found is None or (len(found.inputs) == 1 and program.callee(place) is MAKE_TUPLE):
        return None
    same = [m for m in twins(program, place, found) if program.owner(m) == found.graph]
    if not same:
        return None
    edit = Edit(program)
    for twin in sorted((place, *same))[1:]:
        become(edit, twin, min(place, *same))
    return edit.program


@rewrite
def merge_outwards(program: Program, place: int) -> Program | None:
    """in g: m = f(a…), needed; in h, nested in g: n = f(a…)  ⟹  m, captured, in place of n"""
    found = application(program, place)
    if found is None or any(isinstance(program.constant(n), GraphRef) for n in found.inputs):
        return None
    owners = {program.owner(n) for n in found.inputs} - {None, found.graph}
    for twin in sorted(twins(program, place, found)) if owners else ():
        outer = program.owner(twin)
        if outer in owners and _captures(program, found, outer) and _needed(program, twin, outer):
            return become(Edit(program), place, twin)
    return None


def _captures(program: Program, found: Apply, outer: GraphId | None) -> bool:
    """Whether the graph of `found` is nested in `outer`, by what it is known to capture."""
    free = scopes(program).free.get(found.graph, ())
    return any(n in free and program.owner(n) == outer for n in found.inputs)


def _needed(program: Program, node: NodeId, graph: GraphId | None) -> bool:
    return graph is not None and node in scopes(program).needed.get(graph, frozenset())


RULES = (merge, merge_outwards)


def measure(program: Program) -> tuple[int, ...]:
    """The number of applications."""
    return (sum(isinstance(n, Apply) for n in program.nodes.values()),)


SYSTEM = RewriteSystem(name="cse", rules=RULES, doc="equal applications are evaluated once", measure=measure)
