"""
Construction with normalizers (MimIrADe, section 4.3): a program is made anew, node by node, through a constructor that simplifies.

    fold, simplify, tuples     what they would make of an application is made instead of it
    hash-consing               an application that was made before, in the same graph or in one around it, is not made again
    dead code                  what the entry does not need is not made

Graphs are made outermost first, and the applications of each in the order of need, so all that an application takes has been made
before it. The program is made in place: what lies behind the front is normal, what lies before it is as it was, and every state
is a whole program of the same value. Rules that look only at what an application takes leave nothing to do after one round. Rules
that ask for kinds look at callers too, which may become known later, so rounds follow until one changes nothing: the result is a
fixpoint of all rules. A round takes time linear in the program.

Hash-consing outwards is sound under the side conditions of `cse.merge_outwards`. That the graph around needs the node is read off
when that graph is finished, from its own applications alone: nothing that happens in the graphs nested in it can change those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from immutables import Map

from semantics.derivation import Derivation, Step
from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.scope import evaluation_order, scopes
from transforms import cse, dce, fold, simplify, tuples
from transforms.agenda import in_turn
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.failures import keeping
from transforms.places import describe_place
from transforms.surgery import become, discard, needed_in
from transforms.system import FUEL, Rewrite, RewriteSystem

NORMALIZERS = tuple(keeping(system) for system in (fold.SYSTEM, simplify.SYSTEM, tuples.SYSTEM))


def _by_head(system: RewriteSystem) -> dict[Primitive | None, tuple[Rewrite, ...]]:
    """The rules of a system by the primitive that they match; under None those that must be tried everywhere."""
    heads = {head for rule in system.rules for head in rule.heads}
    general = tuple(rule for rule in system.rules if not rule.heads)
    return {None: general} | {h: tuple(r for r in system.rules if not r.heads or h in r.heads) for h in heads}


RULES_BY_HEAD = {system.name: _by_head(system) for system in NORMALIZERS}


class Item(NamedTuple):
    """What comes next: a kind, and the place that it is about."""

    kind: str
    place: int = -1


@dataclass(frozen=True)
class Front:
    """
    A program being made.

    agenda   the items to do, as a linked list (head, rest) or None
    made     graph and inputs to the application that was made of them
    needed   for every finished graph, what its own applications need
    changed  whether this round has changed anything
    """

    program: Program
    agenda: Any
    made: Map[tuple[GraphId, tuple[NodeId, ...]], NodeId] = Map()
    needed: Map[GraphId, frozenset[NodeId]] = Map()
    changed: bool = False

    @property
    def item(self) -> Item:
        return self.agenda[0]  # type: ignore[no-any-return]

    def then(self, *items: Item, **changes: Any) -> Front:
        """The state after the current item, with `items` to do first."""
        return replace(self, agenda=in_turn(items, self.agenda[1]), **changes)

    @cached_property
    def decided(self) -> tuple[str, Program]:
        """What the constructor does with the application at hand: the name of what decides, and the program afterwards."""
        for system in NORMALIZERS:
            if (after := _normalized(system.name, self.program, self.item.place)) is not None:
                return system.name, after
        if (earlier := _made_before(self)) is not None:
            return "cse", become(Edit(self.program), self.item.place, earlier)
        return "made", self.program


def _normalized(system: str, program: Program, place: int) -> Program | None:
    rules, callee = RULES_BY_HEAD[system], program.callee(place)
    candidates = rules.get(callee, rules[None]) if isinstance(callee, Primitive) else rules[None]
    return next((after for rule in candidates if (after := rule.function(program, place)) is not None), None)


def _made_before(state: Front) -> NodeId | None:
    """The application, made before, that has the inputs of the one at hand and a value wherever that is asked for."""
    program = state.program
    found = program.nodes[state.item.place]
    assert isinstance(found, Apply)
    if len(found.inputs) == 1 and program.callee(state.item.place) is cse.MAKE_TUPLE:
        return None
    if (same := _standing(state, found.graph, found)) is not None:
        return same
    if any(isinstance(program.constant(n), GraphRef) for n in found.inputs):
        return None
    around = {program.owner(n) for n in found.inputs} - {None, found.graph}
    nodes = [m for g in around if g is not None and (m := _standing(state, g, found)) in state.needed.get(g, ())]
    return min((m for m in nodes if m is not None), default=None)


def _standing(state: Front, graph: GraphId, found: Apply) -> NodeId | None:
    """What was made of these inputs in `graph`, if it is still there and has them still."""
    node = state.made.get((graph, found.inputs))
    return node if node in state.program.nodes and state.program.inputs(node) == found.inputs else None  # type: ignore[arg-type]


def begin(program: Program) -> Front:
    """The state in which nothing has been made."""
    return Front(program, (Item("round"), None))


@agenda_rule
def swept(state: Front) -> Front | None:
    """a round begins: what the entry does not need  ⟹  nothing; graphs come outermost first, applications as they are needed"""
    if state.item.kind != "round":
        return None
    program = _without_dead(state.program)
    found = scopes(program)
    levels = found.levels(program)
    graphs = sorted(found.free, key=lambda g: (found.depth(program, g) if levels is None else levels[g], g))
    items: list[Item] = []
    for graph in graphs:
        own = program.owned.get(graph, ())
        items += [Item("make", n) for n in evaluation_order(program, graph) if n in own]
        items.append(Item("finish", graph))
    return state.then(*items, Item("settle"), program=program, made=Map(), needed=Map(), changed=False)


def _without_dead(program: Program) -> Program:
    """The program without the applications, graphs and constants that the entry does not need."""
    needed = scopes(program).needed
    dead = [g for g in program.graphs if g not in needed]
    alive = {n for nodes in needed.values() for n in nodes}
    nodes = [n for n, a in program.nodes.items() if isinstance(a, Apply) and n not in alive and a.graph in needed]
    constants = [n for n, c in program.nodes.items() if isinstance(c, Constant) and n not in alive]
    if not dead and not nodes and not constants:
        return program
    edit = Edit(program)
    discard(edit, program, sorted(nodes), sorted(dead))
    for node in (*constants, edit.constant(None)):
        if node in edit.nodes and not edit.uses.get(node) and not edit.returns.get(node):
            edit.remove(node)
    return edit.program


@agenda_rule
def folded(state: Front) -> Front | None:
    """n = p(c…)  ⟹  what `fold` says, and the applications in it are made in turn"""
    return _remade(state, "fold")


@agenda_rule
def simplified(state: Front) -> Front | None:
    """n = f(a…)  ⟹  what `simplify` says, and the applications in it are made in turn"""
    return _remade(state, "simplify")


@agenda_rule
def taken_apart(state: Front) -> Front | None:
    """n = f(a…)  ⟹  what `tuples` says, and the applications in it are made in turn"""
    return _remade(state, "tuples")


def _remade(state: Front, system: str) -> Front | None:
    """The state after a rule of `system`: the applications that it added, and the place if it is still there, come next."""
    if state.item.kind != "make" or state.decided[0] != system:
        return None
    after = state.decided[1]
    added = range(state.program.next_id, after.next_id)
    again = [n for n in (*added, state.item.place) if isinstance(after.nodes.get(n), Apply)]
    return state.then(*(Item("make", n) for n in again), program=after, changed=True)


@agenda_rule
def shared(state: Front) -> Front | None:
    """n = f(a…), and m = f(a…) was made, in the same graph or, needed, in one around it  ⟹  m"""
    if state.item.kind != "make" or state.decided[0] != "cse":
        return None
    return state.then(program=state.decided[1], changed=True)


@agenda_rule
def made(state: Front) -> Front | None:
    """n = f(a…), and nothing more is known of it  ⟹  n is made"""
    if state.item.kind != "make" or state.decided[0] != "made":
        return None
    found = state.program.nodes[state.item.place]
    assert isinstance(found, Apply)
    return state.then(made=state.made.set((found.graph, found.inputs), state.item.place))


@agenda_rule
def finished(state: Front) -> Front | None:
    """@g has been made  ⟹  what its own applications need is known"""
    kind, graph = state.item
    if kind != "finish":
        return None
    return state.then(needed=state.needed.set(graph, needed_in(state.program, (graph,))[graph]))


@agenda_rule
def settled(state: Front) -> Front | None:
    """all has been made  ⟹  the end if nothing has changed; else another round"""
    if state.item.kind != "settle":
        return None
    return state.then(Item("round")) if state.changed else state.then()


RULES: tuple[AgendaRule[Front], ...] = (swept, folded, simplified, taken_apart, shared, made, finished, settled)

SYSTEM: AgendaSystem[Front, Program] = AgendaSystem(
    name="normalize",
    rules=RULES,
    ended=lambda state: state.agenda is None,
    at=lambda state: state.item.kind if state.item.place < 0 else describe_place(state.program, state.item.place),
    shown=lambda state: str(state.program),
    result=lambda state: state.program,
    doc="construction with normalizers: fold, simplify, tuples and hash-consing, one application after the other",
    argument="a round has a finite agenda; rules that add to it, and rounds after the first, lower the measure of their pass",
)


@dataclass(frozen=True)
class Construction:
    """`normalize` as a pass, from programs to programs; its recorded steps are those that change the program."""

    name: str = SYSTEM.name
    doc: str = SYSTEM.doc
    domain: str = SYSTEM.domain
    rules: tuple[AgendaRule[Front], ...] = RULES

    def run(self, state: Program, *, fuel: int = FUEL) -> Program:
        """The normal program."""
        return SYSTEM.run(begin(state), fuel=fuel)

    def derive(self, state: Program) -> Derivation[Program]:
        """The run with the steps that change the program."""
        steps = SYSTEM.derive(begin(state)).steps
        changing = (
            Step(s.rule, s.place, s.before.program, s.after.program) for s in steps if s.before.program is not s.after.program
        )
        return Derivation(self.name, state, tuple(changing), str)

    def record(self, state: Program) -> Derivation[Program]:
        """As `derive`."""
        return self.derive(state)

    @property
    def joint(self) -> RewriteSystem:
        """The same rules tried at every place: final where the construction ends."""
        rules = tuple(rule for system in (*NORMALIZERS, cse.SYSTEM) for rule in system.rules)
        return RewriteSystem(self.name, (*rules, dce.dead_node, dce.dead_graphs), self.doc, argument=SYSTEM.argument)


PASS = Construction()
