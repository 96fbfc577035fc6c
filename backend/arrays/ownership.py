"""
Which names are the only ones of their memory, and which nothing reads again: two analyses of a function, over one tree of its
statements.

A name is *live* where a path leads to a read of what its array holds, before the name is assigned again; `a.shape` reads nothing,
and what takes the array is no read unless it is live itself. A name is *sole* where no other live name has the same memory, and the
caller has not: what `_empty` makes is, and an assignment hands it on, if the old name is not live after it; one that has no array
yet is sole. A view makes two names of one memory, so neither is. A path that leaves a note of where it leads goes nowhere else
(`backend.arrays.notes`).

Sets of names are the bits of integers. Names that never stand for an array that the function has made are none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from backend.arrays import notes
from backend.arrays.effects import arrays_in
from backend.arrays.handed import MAKERS, made, pairs, sources_of
from backend.arrays.notes import Noted, alike
from backend.arrays.walking import walk

NOWHERE = -1  # every name: what holds where no path leads


@dataclass(eq=False)
class Step:
    """
    A statement without jumps.

    reads    the names of which it reads elements      moves    for each name that it assigns, the names of which it takes one; a
    makes    the names it assigns, with new memory               name that is none of ours is None; these are no reads by themselves
    assigns  all names that it assigns                 shared   the names that are views of something, or have views, after it
    note     the note that it leaves
    """

    statement: ast.stmt
    reads: int = 0
    assigns: int = 0
    makes: int = 0
    shared: int = 0
    moves: list[tuple[int, list[int | None]]] = field(default_factory=list)
    after: int = 0
    before: int = 0
    note: int | None = None


@dataclass(eq=False)
class Loop:
    """
    A loop, and whether it may end before a turn.

    entered   the names that are sole where it is entered       repeated   the same from its turns
    live      those that are live where a turn begins           assigned   those that something is assigned to before it
    """

    statement: ast.While | ast.For
    reads: int
    body: list[Node]
    ends: bool
    entered: int = 0
    repeated: int = NOWHERE
    live: int = 0
    assigned: int = 0


@dataclass(eq=False)
class Branch:
    """Two ways on; `note` is the one that it asks for, and whether it asks that it be this one."""

    reads: int
    body: list[Node]
    orelse: list[Node]
    note: tuple[int, bool] | None = None


@dataclass(eq=False)
class Jump:
    kind: type
    reads: int


Node = Step | Loop | Branch | Jump


class Ownership:
    """
    The analyses of a function.

    makers   the names, each with a call that makes an array of its kind      number   their bits
    groups   for each one of those that may have been the same array          first    those that are sole at first
    steps    by the ids of their statements
    copied   for statements by their ids, what they move that is copied before, so that it is sole
    """

    def __init__(self, function: ast.FunctionDef, copies: Mapping[int, tuple[str, str]]) -> None:
        """`copies` are the loops that do nothing but copy: for each by its id, the new array and the old."""
        self.copies = copies
        self.makers, self.groups = made(function, copies)
        self.number = {name: k for k, name in enumerate(sorted(self.makers))}
        self.steps: dict[int, Step] = {}
        self.copied: Mapping[int, int] = {}
        self.loops: list[Loop] = []
        self.own: Mapping[Loop, int] = {}
        self.tree = self._nodes(function.body)
        self._live(self.tree, alike(0), (alike(0), alike(0)))
        self._assigned(self.tree, 0)
        self.first = (1 << len(self.number)) - 1 - sum(map(self.bit, {a.arg for a in function.args.args}))

    def bit(self, name: str) -> int:
        return 1 << self.number[name] if name in self.number else 0

    def related(self, name: str) -> int:
        """The names that may stand for an array that a name has stood for, or a copy of it."""
        group = self.groups.get(name)
        return sum(self.bit(other) for other, its in self.groups.items() if its == group)

    def sole(self, own: Mapping[Loop, int]) -> None:
        """Finds the names that are sole before every step, where those of `own` are made so before the loops."""
        self.own = own
        for step in self.steps.values():
            step.before = NOWHERE
        for loop in self.loops:
            loop.entered = loop.repeated = NOWHERE
        self._sole(self.tree, alike(self.first), ([], []))

    # the tree

    def _nodes(self, block: list[ast.stmt]) -> list[Node]:
        return [self._node(s) for s in block]

    def _node(self, statement: ast.stmt) -> Node:
        match statement:
            case ast.While(test, body) | ast.For(iter=test, body=body) if not self._is_plain(statement):
                ends = isinstance(statement, ast.For) or not (isinstance(test, ast.Constant) and test.value)
                loop = Loop(statement, self._reads(test), self._nodes(body), ends)
                self.loops.append(loop)
                return loop
            case ast.If(test, body, orelse) if not self._is_plain(statement):
                return Branch(self._reads(test), self._nodes(body), self._nodes(orelse), notes.read(test))
            case ast.Return() | ast.Break() | ast.Continue():
                return Jump(type(statement), self._reads(statement))
            case _:
                is_assignment = isinstance(statement, ast.Assign)
                step = Step(statement, 0 if is_assignment else self._reads(statement), note=notes.left(statement))
                if isinstance(statement, ast.Assign):
                    self._assignment(step, statement)
                self.steps[id(statement)] = step
                return step

    def _is_plain(self, statement: ast.stmt) -> bool:
        """Whether a compound statement assigns none of the names, and does not jump."""
        return not any(
            isinstance(n, ast.Return | ast.Break | ast.Continue | ast.While)
            or (isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in self.number)
            for n in walk(statement)
        )

    def _reads(self, node: ast.AST) -> int:
        found, todo = 0, [node]
        while todo:
            match node := todo.pop():
                case ast.Attribute(ast.Name(), "shape") | ast.Name(ctx=ast.Store()):
                    pass
                case ast.Name(name):
                    found |= self.bit(name)
                case _:
                    todo += ast.iter_child_nodes(node)
        return found

    def _assignment(self, step: Step, statement: ast.Assign) -> None:
        for target, value in pairs(statement):
            if not (isinstance(target, ast.Name) and isinstance(value, ast.Name)):
                step.reads |= self._reads(target) | self._reads(value)
            if isinstance(target, ast.Tuple):
                stored = {n.id for n in walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                step.assigns |= sum(map(self.bit, stored))
                step.shared |= self._viewed(value)
            if not isinstance(target, ast.Name):
                continue
            bit = self.bit(target.id)
            step.assigns |= bit
            if (sources := sources_of(value)) is not None:
                step.moves.append((bit, [self.bit(s) or None for s in sources]))
            elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in MAKERS:
                step.makes |= bit
            else:
                step.shared |= bit | self._viewed(value)

    def _viewed(self, value: ast.expr) -> int:
        """The names of which a value may be a view."""
        return sum(map(self.bit, {*arrays_in(value)}))

    # what is live

    def _live(self, block: list[Node], after: Noted, jumps: tuple[Noted, Noted]) -> Noted:
        """The names that are live before a block; `jumps` are those where a break and a continue lead."""
        for node in reversed(block):
            after = self._live_before(node, after, jumps)
        return after

    def _live_before(self, node: Node, after: Noted, jumps: tuple[Noted, Noted]) -> Noted:
        match node:
            case Step():
                if node.note is not None:
                    after = alike(notes.of(after, node.note))
                node.after = notes.any_of(after)
                return {note: node.reads | self._moved(node, bits) | (bits & ~node.assigns) for note, bits in after.items()}
            case Branch(reads, body, orelse, asks):
                first, second = self._live(body, after, jumps), self._live(orelse, after, jumps)
                if asks is None:
                    return notes.either(alike(reads), notes.either(first, second))
                there, elsewhere = (first, second) if asks[1] else (second, first)
                return elsewhere | {asks[0]: notes.of(there, asks[0])}
            case Jump(kind, reads):
                return alike(reads) if kind is ast.Return else jumps[kind is ast.Continue]
            case Loop(_, reads, body, ends):
                head, found = NOWHERE, reads | (notes.any_of(after) if ends else 0)
                while head != found:
                    head = found
                    found |= notes.any_of(self._live(body, alike(head), (after, alike(head))))
                node.live = head
                return alike(head)

    def _moved(self, step: Step, after: int) -> int:
        """What a step moves to names that are live after it, or are none of ours."""
        return sum({s for target, sources in step.moves for s in sources if s and (not target or target & after)})

    def _assigned(self, block: list[Node], before: int) -> int:
        """The names that are assigned for certain where a block ends, if it does."""
        for node in block:
            match node:
                case Step():
                    before |= node.assigns
                case Branch(_, body, orelse):
                    before = self._assigned(body, before) & self._assigned(orelse, before)
                case Loop(_, _, body):
                    node.assigned = before
                    self._assigned(body, before)
                case Jump():
                    return NOWHERE
        return before

    # what is sole

    def _sole(self, block: list[Node], state: Noted, jumps: tuple[list[Noted], list[Noted]]) -> Noted:
        """The names that are sole after a block."""
        for node in block:
            if notes.all_of(state) == NOWHERE:
                return state
            state = self._sole_after(node, state, jumps)
        return state

    def _sole_after(self, node: Node, state: Noted, jumps: tuple[list[Noted], list[Noted]]) -> Noted:
        match node:
            case Step():
                own = notes.all_of(state)
                node.before &= own
                own = self._step(node, own)
                return alike(own) if node.note is None else alike(NOWHERE) | {node.note: own}
            case Branch(_, body, orelse, asks):
                ways = (state, state)
                if asks is not None:
                    there, elsewhere = alike(NOWHERE) | {asks[0]: notes.of(state, asks[0])}, state | {asks[0]: NOWHERE}
                    ways = (there, elsewhere) if asks[1] else (elsewhere, there)
                return notes.both(self._sole(body, ways[0], jumps), self._sole(orelse, ways[1], jumps))
            case Jump(kind):
                if kind is not ast.Return:
                    jumps[kind is ast.Continue].append(state)
                return alike(NOWHERE)
            case Loop(_, _, body, ends):
                node.entered &= notes.all_of(state)
                head, found = NOWHERE, notes.all_of(state) | self.own.get(node, 0)
                while head != found:
                    head, out = found, ([], [])  # type: ignore[var-annotated]
                    turned = notes.all_of(self._sole(body, alike(head), out))
                    for other in out[1]:
                        turned &= notes.all_of(other)
                    found, node.repeated = head & turned, turned
                left = alike(head if ends else NOWHERE)
                for other in out[0]:
                    left = notes.both(left, other)
                return left

    def _step(self, step: Step, state: int) -> int:
        if id(step.statement) in self.copies:
            return state | self.bit(self.copies[id(step.statement)][0])
        taken = [s for _, sources in step.moves for s in sources if s is not None]
        state |= self.copied.get(id(step.statement), 0)
        sole, shared = step.makes, step.shared
        for target, sources in step.moves:
            kept = step.shared | (step.after & ~step.assigns)
            own = all(s is not None and s & state & ~kept and taken.count(s) == 1 for s in sources)
            if own:
                sole |= target
            else:
                shared |= target
                for s in sources:
                    shared |= s or 0
        return (state & ~shared & ~step.assigns) | sole
