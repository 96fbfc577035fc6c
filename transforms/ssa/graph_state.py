"""
The state of the translation into SSA form: which code is made, and what comes next. The rules are in `from_graph`.

Until a function is closed, names and labels are made of the identifiers of nodes and graphs, so that no rule has to look for one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from immutables import Map

from semantics.ir import Apply, Constant, GraphId, NodeId, Program
from semantics.scope import free_variables
from semantics.ssa.form import Block, Branch, Function, FunctionRef, Goto, Instruction, Jump, Label, Literal, Name, Operand, Phi
from transforms.agenda import AtWork, linked
from transforms.ssa.regions import Choice, RegionId, Regions

RESULT = "%result"


class Item(NamedTuple):
    """What is done next: a kind, the graph it is done for, and the node if there is one."""

    kind: str
    graph: GraphId
    node: NodeId = -1


@dataclass(frozen=True)
class SsaState(AtWork[Item]):
    """
    The translation at work on one function.

    names      printed names of graphs
    fresh      the next label that no block has; the blocks of graphs and of joins are numbered by their identifiers
    here       graph to the block in which its code goes on, once that is no longer the first
    phis       block to the names of its φ nodes          arms   φ node to its arms, as a linked list
    code       block to its instructions, as a linked list     jumps  block to its jump
    functions  those that are done
    """

    program: Program
    found: Regions
    names: dict[GraphId, str]
    pairwise: bool
    fresh: Label
    here: Map[GraphId, Label] = Map()
    phis: Map[Label, tuple[str, ...]] = Map()
    arms: Map[str, Any] = Map()
    code: Map[Label, Any] = Map()
    jumps: Map[Label, Jump] = Map()
    functions: tuple[Function, ...] = ()

    @property
    def at(self) -> Label:
        """The block in which the code of the current graph goes on."""
        return self.here.get(self.item.graph, first_block(self.item.graph))

    @property
    def region(self) -> RegionId:
        """The region of the current graph."""
        return self.found.region[self.item.graph]

    def application(self, kind: str) -> Apply | None:
        """The application of the current item, if it is of that kind."""
        return self.program.apply(self.item.node) if self.item.kind == kind else None

    def operand(self, node: NodeId) -> Operand:
        """A node as an operand."""
        found = self.program.nodes[node]
        return Literal(found.value) if isinstance(found, Constant) else Name(name_of(node))

    def operands(self, nodes: tuple[NodeId, ...]) -> tuple[Operand, ...]:
        return tuple(self.operand(node) for node in nodes)

    # parts of the rules

    def adding(self, label: Label, instruction: Instruction) -> SsaState:
        """One more instruction in a block."""
        return replace(self, code=self.code.set(label, (instruction, self.code.get(label))))

    def going(self, label: Label, target: Label, operands: tuple[Operand, ...]) -> SsaState:
        """The arms by which `operands` arrive from block `label` at block `target`; the jump itself is the caller's."""
        arms = self.arms
        for name, operand in zip(self.phis.get(target, ()), operands, strict=True):
            arms = arms.set(name, ((label, operand), arms.get(name)))
        return replace(self, arms=arms)

    def returning(self, label: Label, region: RegionId, operand: Operand) -> SsaState:
        """Block `label` ends the region with this result: where the function returns, or at the join of a diamond."""
        target = return_block(region) if region in self.program.graphs else first_block(region)
        state = self.going(label, target, (operand,))
        return replace(state, jumps=state.jumps.set(label, Goto(target)))

    def calling(self, target: GraphId, arguments: tuple[Operand, ...], name: str, location: Any) -> Instruction:
        """A call of a function, with what it captures first."""
        captured = self.operands(free_variables(self.program, target))
        return Instruction((name,), FunctionRef(self.names[target]), (*captured, *arguments), location)

    def entering(self, region: RegionId, side: GraphId, application: Apply) -> tuple[SsaState, Label]:
        """The block to which a branch goes for one side: that of the graph, or a new one that calls it and ends the region."""
        arguments = self.operands(application.arguments)
        if self.found.region[side] == region:
            return self.going(self.at, first_block(side), arguments), first_block(side)
        label = self.fresh
        call = self.calling(side, arguments, f"%call{label}", application.location)
        state = replace(self, fresh=label + 1).adding(label, call)
        return state.returning(label, region, Name(call.targets[0])), label

    def branching(self, region: RegionId, application: Apply) -> SsaState:
        """The current block ends with a branch into `region`."""
        choice = self.found.called[self.item.node]
        assert isinstance(choice, Choice)
        state, then = self.entering(region, choice.then, application)
        otherwise = then
        if choice.otherwise != choice.then:
            state, otherwise = state.entering(region, choice.otherwise, application)
        return replace(state, jumps=state.jumps.set(self.at, Branch(self.operand(choice.condition), then, otherwise)))


def name_of(node: NodeId) -> str:
    """The name of a node until names are numbered."""
    return f"%n{node}"


def first_block(identifier: int) -> Label:
    """The label of the first block of a graph, or of the join of a diamond, until blocks are numbered. No block is called #0."""
    return identifier + 1


def return_block(function: GraphId) -> Label:
    """The label of the block in which a function returns, until blocks are numbered."""
    return -function - 1


def block_of(state: SsaState, label: Label, jump: Jump) -> Block:
    """A block as far as it is made."""
    phis = tuple(Phi(name, tuple(reversed(linked(state.arms.get(name))))) for name in state.phis.get(label, ()))
    return Block(label, phis, tuple(reversed(linked(state.code.get(label)))), jump)
