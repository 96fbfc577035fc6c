"""
The form in which code is inverted: what the inverted control-flow graph needs in order to be as well-behaved as the graph is.

    one return          "CFG reversal requires there to be a single return node" (Zygote, section 3.1)
    one target          y, t ← @f(x)  ⟹  u ← @f(x), y ← getitem(u, 0), t ← getitem(u, 1); of a return likewise
    one latch           a loop has one block that jumps back to its header, and that does nothing else
    one exit            of a loop that is left in several places the exits meet in one block, which records what happened and jumps
                        back or out: so the inverted loop has one entrance, and its adjoint can be inverted again
    two predecessors    at most: so that a boolean records where control came from

Where exits are moved, code that is not needed is dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from semantics.errors import Malformed
from semantics.primitives.table import TABLE
from semantics.ssa.dominance import Loops, loops
from semantics.ssa.form import Block, Branch, Function, Goto, Instruction, Label, Literal, Name, Phi, Return
from transforms.ssa.rewriting import arrive, decided, free_label, lead
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.tidy import pairs, reachable
from transforms.ssa.zeros import of_turn, without_zeros, zeroed

GETITEM, MAKE_TUPLE, EQ = TABLE["getitem"], TABLE["make_tuple"], TABLE["eq"]


def normal(function: Function) -> Function:
    """The same function in the form above; Malformed where it has none."""
    function = reachable(function)
    function = replace(function, blocks=tuple(_one_target(block) for block in function.blocks))
    returns = [b.label for b in function.blocks if isinstance(b.jump, Return)]
    if len(returns) != 1:
        what = "never returns" if not returns else f"returns in {len(returns)} blocks"
        remedy = "merge them into one" if returns else "a function that ends"
        raise Malformed(f"@{function.name} {what}", rule="one return", location=function.location, remedy=remedy)
    while scattered := _scattered(function):
        code = _Code(function)
        for header, body in scattered:
            code.meet_at_exit(header, body)
        function = without_zeros(single_assignment(code.function))
    code = _Code(function)
    for header, loop in loops(function).by_header.items():
        if loop.irreducible:
            raise Malformed(f"the loop of @{function.name} at #{header} is entered in several places", rule="irreducible")
        if len(loop.latches) > 1 or not isinstance(code.blocks[loop.latches[0]].jump, Goto):
            code.join(header, loop.latches)
    return pairs(code.function)


def _one_target(block: Block) -> Block:
    instructions: list[Instruction] = []
    for k, instruction in enumerate(block.instructions):
        whole, parts = instruction, instruction.targets
        if len(parts) != 1:
            whole = replace(instruction, targets=(f"tuple {block.label}.{k}",))
        instructions.append(whole)
        if whole is not instruction:
            instructions += (
                Instruction((part,), GETITEM, (Name(whole.targets[0]), Literal(i)), instruction.location)
                for i, part in enumerate(parts)
                if part != "_"
            )
    jump = block.jump
    if isinstance(jump, Return) and len(jump.operands) != 1:
        instructions.append(Instruction(("result",), MAKE_TUPLE, jump.operands))
        jump = Return((Name("result"),))
    return replace(block, instructions=tuple(instructions), jump=jump)


def exits(body: Iterable[Label], function: Function) -> Iterator[tuple[Label, Label]]:
    """The edges that leave a loop."""
    for label in sorted(body):
        yield from ((label, to) for to in function.by_label[label].successors if to not in body)


def _scattered(function: Function) -> list[tuple[Label, frozenset[Label]]]:
    """The loops that are left in several places and that hold no other such loop."""
    found: Loops = loops(function)
    many: list[tuple[Label, frozenset[Label]]] = []
    done: set[Label] = set()
    for header in reversed(tuple(found.by_header)):
        body = found.body(header)
        if not done & body and len(list(exits(body, function))) > 1:
            many.append((header, body))
            done |= body
    return many


class _Code:
    """A function as it is changed; `function` is where it stands."""

    def __init__(self, function: Function) -> None:
        self.start, self.blocks, self.next = function, dict(function.by_label), free_label(function)

    @property
    def function(self) -> Function:
        return replace(self.start, blocks=tuple(self.blocks.values()))

    def new(self, phis: tuple[Phi, ...], jump: Goto) -> Label:
        """A new block."""
        label, self.next = self.next, self.next + 1
        self.blocks[label] = Block(label, phis, (), jump)
        return label

    def redirect(self, sources: Iterable[Label], old: Label, new: Label) -> None:
        """What jumped from these blocks to `old` jumps to `new`."""
        for source in sources:
            self.blocks[source] = replace(self.blocks[source], jump=decided(lead(self.blocks[source].jump, {old: new})))

    def join(self, label: Label, sources: Iterable[Label]) -> Label:
        """#p, #q → #b  ⟹  #p, #q → a new block → #b, with the φ nodes of #b for #p and #q in it"""
        sources = tuple(sources)
        block, new = self.blocks[label], self.next
        here, there = [], []
        for phi in block.phis:
            name = f"{phi.target} {new}"
            here.append(Phi(name, tuple((p, phi.arm(p)) for p in sources)))
            there.append(replace(phi, arms=(*((p, a) for p, a in phi.arms if p not in sources), (new, Name(name)))))
        self.new(tuple(here), Goto(label))
        self.redirect(sources, label, new)
        self.blocks[label] = replace(self.blocks[label], phis=tuple(there))
        return new

    def meet_at_exit(self, header: Label, body: frozenset[Label]) -> None:
        """Blocks #p, #q leave a loop, for #a and #b  ⟹  both and the latch go to a block that goes back, to #a or to #b"""
        ways = list(exits(body, self.function))
        latch = self.join(header, [p for p in self.function.predecessors[header] if p in body])
        which = Name(f"exit {header}")
        below = [self.new((), Goto(to)) for _, to in ways]
        for i, (ours, (_, to)) in enumerate(zip(below[:-1], ways, strict=False), 1):
            self.blocks[ours] = self.asking(ours, which, i, to, below[i])
        meeting = self.new(
            (Phi(which.text, tuple((p, Literal(i)) for i, p in enumerate([latch, *(p for p, _ in ways)]))),), Goto(0)
        )
        asked = self.asking(meeting, which, 0, header, below[0])
        self.blocks[meeting] = replace(asked, phis=self.blocks[meeting].phis)
        self.forget(header, body)
        for old, new, to in [(latch, meeting, header), *((p, ours, to) for ours, (p, to) in zip(below, ways, strict=True))]:
            self.redirect([old], to, meeting)
            self.blocks[to] = replace(self.blocks[to], phis=arrive(self.blocks[to].phis, {old: new}))

    def forget(self, header: Label, body: frozenset[Label]) -> None:
        """x ← ZERO at the header, for what a turn assigns: a way out that does not assign it has not that of the turn before."""
        nothing = zeroed(of_turn(self.blocks, header, body))
        self.blocks[header] = replace(self.blocks[header], instructions=(*nothing, *self.blocks[header].instructions))

    def asking(self, label: Label, which: Name, i: int, then: Label, otherwise: Label) -> Block:
        """#label: goto #then if which = i else #otherwise"""
        condition = f"{which.text} is {i}"
        return Block(label, (), (Instruction((condition,), EQ, (which, Literal(i))),), Branch(Name(condition), then, otherwise))
