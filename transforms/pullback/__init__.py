"""
Local pullbacks (MimIrADe, sections 2.2 to 3.4), and the sharing that makes a reversed program of them.

    state             the state of the transform, and what its rules share
    rules             one rule per construct
    tuples, arrays    structure-preserving pullbacks of tuples, records, and arrays made of known elements
    sharing           factor and unfold: all pullbacks of a graph as one reversed program, in time linear in its size
"""

from __future__ import annotations

from semantics.derivation import Derivation, Step
from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import GraphRef, NodeId, Program
from transforms.pullback.accumulation import accumulated
from transforms.pullback.pointers import with_cells
from transforms.pullback.rules import PURE, SYSTEM
from transforms.pullback.sharing import SYSTEM as SHARING
from transforms.pullback.sharing import begin as begin_sharing
from transforms.pullback.state import J, PullbackState, begin

__all__ = ["PURE", "SHARING", "SYSTEM", "applied", "augmented", "begin", "begin_sharing", "derivation", "expand_j"]


STRATEGIES = ("structured", "in_memory", "applied", "accumulated")


def expand_j(program: Program, place: NodeId, shared: bool = True, pointers: str = "structured") -> Program:
    """
    The program with a reference to ▶f for J(@f) at `place`: by the pure rules, or with the pullbacks of each graph shared.

    pointers   what is done with memory (section 3.3.1): "structured" keeps the pullback of what a cell holds in the transform,
               where that is known; "in_memory" keeps it in a second cell; "applied" has no rule for pointers; "accumulated" is
               the second strategy, a shadow memory, on all of f
    """
    if pointers not in STRATEGIES:
        raise Malformed(
            f"no strategy for pointers is called {pointers!r}", rule="pullback", remedy=f"one of {', '.join(STRATEGIES)}"
        )
    if pointers == "accumulated":
        return accumulated(program, place)
    start = begin(program, place)
    state = PURE.run(start if pointers == "applied" else with_cells(start, pointers == "in_memory"))
    return SHARING.run(begin_sharing(state)) if shared else state.program


def applied(program: Program) -> PullbackState:
    """The state in which J is about to be applied to the entry f of `program`, by a new entry that returns J(@f)."""
    edit = Edit(program)
    graph = edit.graph("J")
    place = edit.call(graph, J, edit.reference(program.entry))
    edit.output(graph, place)
    edit.set_entry(graph)
    return begin(edit.program, place)


def augmented(program: Program, shared: bool = False) -> Program:
    """The program f^a of section 2.2: f^a(x…) = (f(x…), f*), f the entry of `program`."""
    start = applied(program)
    return _entered(expand_j(start.program, start.place, shared))


def _entered(program: Program) -> Program:
    """The program whose entry is the graph that the entry of `program` returns."""
    edit, outer = Edit(program), program.entry
    inner = program.constant(program.graphs[outer].output)
    assert isinstance(inner, GraphRef), "J of a graph is a graph"
    edit.set_entry(inner.graph)
    edit.remove_graph(outer)
    return edit.program


def derivation(program: Program, shared: bool = False) -> Derivation[Program]:
    """The recorded way from f to f^a, one local rule at a time; with `shared`, on to the reversed program."""
    pure = PURE.derive(applied(program))
    steps = [Step(s.rule, s.place, s.before.program, s.after.program) for s in pure.steps]
    if shared:
        reversing = SHARING.derive(begin_sharing(pure.result))
        steps += (Step(s.rule, s.place, s.before.program, s.after.program) for s in reversing.steps)
    entered = Step("enter", "f^a", steps[-1].after, _entered(steps[-1].after))
    return Derivation("sharing" if shared else "pullback", program, (*steps, entered), str)
