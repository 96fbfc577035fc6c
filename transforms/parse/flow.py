"""
Where the names of a function come from and where they are needed: scopes, liveness, and what is assigned later.

Statements are structured, so each has a summary (`Flow`) made from those of its parts, without iteration to a fixpoint:

    uses       the variables that some path reads before it assigns them
    assigned   the variables that some path assigns, in the order of the text
    falls, breaks, continues    for each way out, the variables that every path to it assigns; None where no path leads there

A variable v is live before s iff v is in s.uses, or live at a way out of s that some path reaches without assigning v.
The parameters of a join point are the variables assigned before it that are live there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from immutables import Map

from transforms.parse.nodes import Immediate
from transforms.parse.shape import Names, Shape, bindings_of, heads, reads_of, shape_of, targets_of, walruses_of
from transforms.parse.source import Function, Source, name_of

Ways = tuple[Names, Names, Names]
Later = Map[str, None]  # a set that shares what it can with those of the statements after: every function keeps one
LaterWays = tuple[Later, Later, Later]
Loop = ast.For | ast.While
NONE: Names = frozenset()
NOWHERE: Later = Map()


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """The summary of a statement or a block."""

    uses: Names = NONE
    assigned: tuple[str, ...] = ()
    falls: Names | None = NONE
    breaks: Names | None = None
    continues: Names | None = None

    def live_before(self, fall: Names, stop: Names, turn: Names) -> Names:
        """The variables live before, from those live after, at the loop's end and at its next turn."""
        live = self.uses
        for there, kills in ((fall, self.falls), (stop, self.breaks), (turn, self.continues)):
            if kills is not None:
                live |= there - kills
        return live

    def later_before(self, fall: Later, stop: Later, turn: Later) -> Later:
        """The variables that may be assigned from here on."""
        later = NOWHERE
        for there, kills in ((fall, self.falls), (stop, self.breaks), (turn, self.continues)):
            if kills is not None:
                large, small = (later, there) if len(later) > len(there) else (there, later)
                later = large.update(dict.fromkeys(small)) if small else large
        return later.update(dict.fromkeys(fresh)) if (fresh := [n for n in self.assigned if n not in later]) else later


def meet(*paths: Names | None) -> Names | None:
    """What all paths assign; a path that is None is none."""
    met: Names | None = None
    for kills in paths:
        met = kills if met is None else met if kills is None else met & kills
    return met


def sequence(flows: Iterable[Flow]) -> Flow:
    """The summary of statements one after the other; what cannot be reached does not count."""
    uses: set[str] = set()
    assigned: dict[str, None] = {}
    kills: set[str] = set()
    breaks: Names | None = None
    continues: Names | None = None
    for flow in flows:
        uses |= flow.uses - kills
        assigned.update(dict.fromkeys(flow.assigned))
        if flow.breaks is not None:
            breaks = meet(breaks, flow.breaks | kills)
        if flow.continues is not None:
            continues = meet(continues, flow.continues | kills)
        if flow.falls is None:
            return Flow(frozenset(uses), tuple(assigned), None, breaks, continues)
        kills |= flow.falls
    return Flow(frozenset(uses), tuple(assigned), frozenset(kills), breaks, continues)


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """
    What is known of a function from its text alone.

    local       its parameters and the names it assigns; free are the other names it reads, nested functions included
    single      the local names bound exactly once, by a def or `name = lambda …`: they stand for that function everywhere
    constant    for each function defined here, the names it reads that stand for such a function
    later       for each function defined here, the variables that may be assigned after it is created; straight leaves out
                those that only the next turn of a loop assigns
    loops       for each function defined here, the loops of this function around it
    """

    source: Source
    node: Function
    name: str
    parent: Scope | None
    local: Names
    free: Names
    single: Mapping[str, Function]
    constant: Mapping[Function, Names]
    flows: Mapping[ast.stmt, Flow]
    live_after: dict[ast.stmt, Names] = field(default_factory=dict)
    live_header: dict[ast.stmt, Names] = field(default_factory=dict)
    later: dict[Function, Later] = field(default_factory=dict)
    straight: dict[Function, Later] = field(default_factory=dict)
    loops: dict[Function, tuple[Loop, ...]] = field(default_factory=dict)
    children: dict[Function, Scope] = field(default_factory=dict)

    @property
    def immediate(self) -> bool:
        """Whether the function is called where it is made, and only there."""
        return isinstance(self.node, Immediate)

    def block(self, statements: Iterable[ast.stmt]) -> Flow:
        """The summary of a block of this function."""
        return sequence(self.flows[s] for s in statements)

    def body_of(self, loop: Loop) -> Flow:
        """The summary of one turn: for a `for`, the assignment of its target comes first."""
        body = self.block(loop.body)
        return sequence((_assignment(loop.target) if isinstance(loop, ast.For) else _bindings([loop.test]), body))

    def owner(self, name: str) -> Scope | None:
        """The innermost scope, from this one outwards, that `name` is local to; None for a global name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.local:
            scope = scope.parent
        return scope


def analyse(source: Source, root: Function) -> Scope:
    """The scope of `root`, and below it in `children` those of all functions defined in it. Iterates, never recurs."""
    ordered: list[tuple[Function, Function | None]] = []
    shapes: dict[Function, Shape] = {}
    todo: list[tuple[Function, Function | None]] = [(root, None)]
    while todo:
        node, parent = todo.pop()
        ordered.append((node, parent))
        shapes[node] = shape = shape_of(node)
        todo.extend((child, node) for child in reversed(shape.blocks_of_functions))
    free: dict[Function, Names] = {}
    for node, _ in reversed(ordered):
        shape = shapes[node]
        inside = frozenset().union(*(free[c] for c in shape.blocks_of_functions))
        free[node] = (shape.loads | inside) - shape.local
    scopes: dict[Function, Scope] = {}
    for node, parent in ordered:
        scopes[node] = _scope(source, node, shapes[node], free, scopes[parent] if parent is not None else None)
        if parent is not None:
            scopes[parent].children[node] = scopes[node]
    return scopes[root]


# the flow of one function


def _scope(source: Source, node: Function, shape: Shape, free: dict[Function, Names], parent: Scope | None) -> Scope:
    constant = {f: frozenset(n for n in free[f] if _stands(shape, n, block)) for f, block in shape.blocks_of_functions.items()}
    flows: dict[ast.stmt, Flow] = {}
    reads: dict[ast.stmt, Names] = {}
    for statement in reversed(shape.statements):
        uses: set[str] = set()
        for expression in heads(statement):
            uses |= reads_of(expression)[0]
        for function in shape.functions_in[statement]:
            uses |= free[function] - constant[function]
        reads[statement] = frozenset(uses)
        flow = _flow(statement, reads[statement], flows)
        flows[statement] = flow if (first := _bindings(heads(statement))) is NOTHING else sequence((first, flow))
    scope = Scope(source, node, name_of(node), parent, shape.local, free[node], shape.single, constant, flows)
    if isinstance(node, ast.Lambda):
        for table in (scope.later, scope.straight):
            table.update(dict.fromkeys(shape.blocks_of_functions, NOWHERE))
    else:
        _look_ahead(scope, shape, node.body, reads)
    return scope


def _stands(shape: Shape, name: str, block: int) -> bool:
    """Whether `name`, read by a function defined in `block`, stands for one function: its def encloses that block."""
    if name not in shape.single:
        return False
    home = shape.blocks_of_functions[shape.single[name]]
    while block not in (home, 0):
        block = shape.enclosing[block]
    return block == home


NOTHING = Flow()


def _bindings(expressions: Iterable[ast.expr]) -> Flow:
    """What `:=` assigns in these expressions. It may stand where it is not reached, so no path is sure to assign it."""
    names = tuple(dict.fromkeys(name for e in expressions for name, _ in walruses_of(e)))
    return Flow(assigned=names) if names else NOTHING


def _assignment(target: ast.expr) -> Flow:
    names = tuple(dict.fromkeys(targets_of(target)))
    return Flow(assigned=names, falls=frozenset(names))


def _flow(statement: ast.stmt, uses: Names, flows: Mapping[ast.stmt, Flow]) -> Flow:
    """The summary of a statement from those of the statements inside it."""

    def block(statements: list[ast.stmt]) -> Flow:
        return sequence(flows[s] for s in statements)

    match statement:
        case ast.Return() | ast.Raise():
            return Flow(uses, falls=None)
        case ast.Break():
            return Flow(falls=None, breaks=NONE)
        case ast.Continue():
            return Flow(falls=None, continues=NONE)
        case ast.AnnAssign(value=None):
            return Flow(uses)
        case ast.If(body=body, orelse=orelse):
            a, b = block(body), block(orelse)
            assigned = tuple(dict.fromkeys((*a.assigned, *b.assigned)))
            exits = (meet(a.falls, b.falls), meet(a.breaks, b.breaks), meet(a.continues, b.continues))
            return Flow(uses | a.uses | b.uses, assigned, *exits)
        case ast.While(body=body, orelse=orelse):
            turn, other = block(body), block(orelse)
            if is_forever(statement):
                return Flow(uses | turn.uses, turn.assigned, turn.breaks)
            assigned = tuple(dict.fromkeys((*turn.assigned, *other.assigned)))
            return Flow(uses | turn.uses | other.uses, assigned, meet(other.falls, turn.breaks), other.breaks, other.continues)
        case ast.For(target=target, body=body, orelse=orelse):
            turn, other = sequence((_assignment(target), block(body))), block(orelse)
            assigned = tuple(dict.fromkeys((*turn.assigned, *other.assigned)))
            return Flow(uses | turn.uses | other.uses, assigned, meet(other.falls, turn.breaks), other.breaks, other.continues)
        case _:
            names = tuple(dict.fromkeys(n for n, _ in bindings_of(statement)))
            return Flow(uses, names, frozenset(names))


def is_forever(statement: ast.While) -> bool:
    """`while True:` and the like, which only break and return can leave."""
    return isinstance(statement.test, ast.Constant) and bool(statement.test.value)


def _look_ahead(scope: Scope, shape: Shape, body: list[ast.stmt], reads: Mapping[ast.stmt, Names]) -> None:
    """Fills the tables of `scope` that look ahead, from the end of each block to its beginning, outer blocks first."""
    dead: Ways = (NONE, NONE, NONE)
    nowhere: LaterWays = (NOWHERE, NOWHERE, NOWHERE)
    todo: list[tuple[list[ast.stmt], Ways, LaterWays, LaterWays, tuple[Loop, ...]]] = [(body, dead, nowhere, nowhere, ())]
    while todo:
        statements, live, later, straight, loops = todo.pop()
        for statement in reversed(statements):
            flow = scope.flows[statement]
            before, ahead, onward = flow.live_before(*live), flow.later_before(*later), flow.later_before(*straight)
            around = (*loops, statement) if isinstance(statement, ast.While) else loops
            for function in shape.functions_in[statement]:
                scope.later[function], scope.straight[function], scope.loops[function] = ahead, onward, around
            match statement:
                case ast.If(body=inner, orelse=orelse):
                    scope.live_after[statement] = live[0]
                    todo += [(inner, live, later, straight, loops), (orelse, live, later, straight, loops)]
                case ast.While(body=inner, orelse=orelse) | ast.For(body=inner, orelse=orelse):
                    turn, other = scope.body_of(statement), scope.block(orelse)
                    header = turn.uses | ((live[0] - turn.breaks) if turn.breaks is not None else NONE)
                    header |= reads[statement] if isinstance(statement, ast.While) else NONE
                    if not (isinstance(statement, ast.While) and is_forever(statement)):
                        header |= other.live_before(*live)
                    scope.live_after[statement], scope.live_header[statement] = live[0], header
                    leaving = other.later_before(*straight)
                    again = ((header, live[0], header), (ahead, later[0], ahead), (leaving, straight[0], leaving))
                    todo.append((inner, *again, (*loops, statement)))
                    todo.append((orelse, live, later, straight, loops))
                case _:
                    scope.live_after[statement] = live[0]
            live, later, straight = (before, *live[1:]), (ahead, *later[1:]), (onward, *straight[1:])
