"""
From SSA form to the graph IR: "SSA is functional programming" (Appel, 1998).

    a function                      a graph; values that a closure captured are parameters like all others
    a block with φ nodes t…         a graph with parameters t…, nested in the graphs of the blocks that dominate it, of which it
                                    captures what it uses
    goto                            a tail call; its arguments are the arms of the φ nodes for this block
    goto #t if c, else #e           switch(c, @t, @e)(); a side with φ nodes is called by a graph of its own, for this edge
    t, … ← f(a…)                    the application, and a `getitem` for each target

Code of a block runs in order and whether it is used or not; nodes of a graph in the order of need, if needed. Where the two orders
differ, all values of the block become arguments of one call, in the order of the code (the rule `in_order`): so the graph traps
where the code does. Every φ node that is made of this has one arm, and is gone when the graph is translated back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from immutables import Map

from semantics.edit import Edit, empty
from semantics.errors import Malformed
from semantics.ir import GraphId, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes_from
from semantics.ssa.form import (
    OUTSIDE,
    Block,
    Branch,
    Function,
    FunctionRef,
    Goto,
    Instruction,
    Label,
    Literal,
    Module,
    Name,
    Operand,
    Return,
)
from semantics.ssa.text import describe
from semantics.ssa.wellformed import check
from transforms.agenda import AtWork, in_turn, rule_of
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.clone import copy_graphs
from transforms.ssa import joins
from transforms.ssa.need import in_order_of_need
from transforms.ssa.tidy import in_order as blocks_in_order

SWITCH, GETITEM, MAKE_TUPLE = TABLE["switch"], TABLE["getitem"], TABLE["make_tuple"]


class Item(NamedTuple):
    """What is done next: a kind, the function, its block, and the number of the instruction."""

    kind: str
    function: str
    label: Label = OUTSIDE
    number: int = -1


@dataclass(frozen=True)
class GraphState(AtWork[Item]):
    """
    The translation at work.

    functions  function to its graph
    blocks     (function, label) to the graph of the block
    here       (function, label) to the graph in which its code goes on, once that is another one
    nodes      (function, name) to its node
    """

    module: Module
    program: Program
    functions: Map[str, GraphId] = Map()
    blocks: Map[tuple[str, Label], GraphId] = Map()
    here: Map[tuple[str, Label], GraphId] = Map()
    nodes: Map[tuple[str, str], NodeId] = Map()

    @property
    def function(self) -> Function:
        """The function of the current item."""
        return self.module[self.item.function]

    @property
    def block(self) -> Block:
        """The block of the current item."""
        return self.function.by_label[self.item.label]

    @property
    def at(self) -> GraphId:
        """The graph in which the code of the current block goes on."""
        key = (self.item.function, self.item.label)
        return self.here.get(key, self.blocks[key])

    def done(self, edit: Edit, **changes: Any) -> GraphState:
        """The state after the current item."""
        return self.then(program=edit.program, **changes)

    def node(self, edit: Edit, operand: Operand) -> NodeId:
        """The node of an operand."""
        match operand:
            case Literal(value):
                return edit.constant(value)
            case Name(text):
                return self.nodes[self.item.function, text]
            case _:
                raise Malformed(f"α{operand.text} is no value: an alpha is notation of listings", rule="graph")

    def called(self, edit: Edit, instruction: Instruction) -> NodeId:
        """The node of what an instruction calls."""
        match instruction.callee:
            case Primitive():
                return edit.constant(instruction.callee)
            case FunctionRef(name):
                return edit.reference(self.functions[name])
            case _:
                raise Malformed(
                    "J and alphas are notation, which a graph does not have",
                    rule="graph",
                    node=describe(instruction),
                    location=instruction.location,
                    remedy="resolve them first (`transforms.ssa_adjoint`)",
                )

    def call_of(self, edit: Edit, owner: GraphId, target: Label, source: Label) -> NodeId:
        """In the graph `owner`, the call of block `target` by block `source`."""
        arms = [self.node(edit, phi.arm(source)) for phi in self.function.by_label[target].phis]
        return edit.apply(owner, edit.reference(self.blocks[self.item.function, target]), *arms)

    def side(self, edit: Edit, target: Label) -> NodeId:
        """The graph that the current block's branch calls to go on to `target`: that of the block, or one for this edge."""
        name, source = self.item.function, self.item.label
        if not self.function.by_label[target].phis:
            return edit.reference(self.blocks[name, target])
        edge = edit.graph(f"{name}.edge_{source}_{target}")
        edit.output(edge, self.call_of(edit, edge, target, source))
        return edit.reference(edge)


def begin(module: Module) -> GraphState:
    """The state in which nothing is translated. Malformed unless the module is well formed."""
    check(module)
    functions = sorted(module.functions, key=lambda f: f.name != module.entry)
    items = [Item("signature", function.name) for function in functions]
    for function in functions:
        order = blocks_in_order(function)
        inside = in_order_of_need(function)
        items += [Item("block", function.name, label) for label in order]
        items.append(Item("enter", function.name, function.entry))
        for label in order:
            items += [Item("instruction", function.name, label, i) for i in range(len(function.by_label[label].instructions))]
            if label not in inside:
                items.append(Item("in_order", function.name, label))
            items.append(Item("jump", function.name, label))
    return GraphState(module, empty(), agenda=in_turn(items))


@rule_of("signature")
def signature(state: GraphState) -> GraphState:
    """function f(v…; x…)  ⟹  @f(v…, x…)"""
    name = state.item.function
    edit = Edit(state.program)
    graph = edit.graph(name, state.function.location)
    nodes = state.nodes
    for parameter in state.function.parameters:
        nodes = nodes.set((name, parameter.name), edit.parameter(graph, _hint(parameter.name), parameter.type))
    return state.done(edit, functions=state.functions.set(name, graph), nodes=nodes)


@rule_of("block")
def block(state: GraphState) -> GraphState:
    """block #k: t ← φ(…) …  ⟹  @f.block_k(t…); the entry, if nothing leads back to it, is @f itself"""
    _, name, label, _ = state.item
    edit = Edit(state.program)
    if state.function.predecessors[label] == (OUTSIDE,) and not state.block.phis:
        return state.done(edit, blocks=state.blocks.set((name, label), state.functions[name]))
    graph = edit.graph(f"{name}.block_{label}")
    found = edit.parameters([Parameter(graph, _hint(phi.target), None, phi.location) for phi in state.block.phis])
    nodes = state.nodes.update({(name, phi.target): node for phi, node in zip(state.block.phis, found, strict=True)})
    return state.done(edit, blocks=state.blocks.set((name, label), graph), nodes=nodes)


@rule_of("enter")
def enter(state: GraphState) -> GraphState:
    """@f(x…), whose entry #k is a block of its own  ⟹  in @f: @f.block_k(a…), the arms for #0"""
    _, name, label, _ = state.item
    edit = Edit(state.program)
    if state.blocks[name, label] != state.functions[name]:
        edit.output(state.functions[name], state.call_of(edit, state.functions[name], label, OUTSIDE))
    return state.done(edit)


@rule_of("instruction")
def instruction(state: GraphState) -> GraphState:
    """t ← f(a…)  ⟹  t = f(a…);    t, u, … ← f(a…)  ⟹  n = f(a…), t = n[0], u = n[1], …"""
    _, name, _, number = state.item
    edit = Edit(state.program)
    found = state.block.instructions[number]
    operands = [state.node(edit, operand) for operand in found.operands]
    whole = edit.apply(state.at, state.called(edit, found), *operands, name=_hint(found.targets[0]), location=found.location)
    if len(found.targets) == 1:
        return state.done(edit, nodes=state.nodes.set((name, found.targets[0]), whole))
    nodes = state.nodes
    for position, target in enumerate(found.targets):
        if target != "_":
            part = edit.call(state.at, GETITEM, whole, edit.constant(position), name=_hint(target), location=found.location)
            nodes = nodes.set((name, target), part)
    return state.done(edit, nodes=nodes)


@rule_of("in_order")
def in_order(state: GraphState) -> GraphState:
    """t ← … u ← … jump  ⟹  @f.block_k.rest(t, u, …), where @f.block_k.rest(t, u, …) does the jump"""
    _, name, label, _ = state.item
    edit = Edit(state.program)
    rest = edit.graph(f"{name}.block_{label}.rest")
    values = sorted(edit.owned[state.at])
    edit.output(state.at, edit.apply(state.at, edit.reference(rest), *values))
    found = edit.parameters([Parameter(rest, getattr(edit.nodes[value], "name", "")) for value in values])
    passed = dict(zip(values, found, strict=True))
    targets = [t for i in state.block.instructions for t in i.targets if t != "_"]
    nodes = state.nodes.update({(name, t): passed[state.nodes[name, t]] for t in targets})
    return state.done(edit, nodes=nodes, here=state.here.set((name, label), rest))


@agenda_rule
def goto(state: GraphState) -> GraphState | None:
    """goto #t  ⟹  at the output: @f.block_t(a…), the arms for this block"""
    if state.item.kind != "jump" or not isinstance(state.block.jump, Goto):
        return None
    edit = Edit(state.program)
    edit.output(state.at, state.call_of(edit, state.at, state.block.jump.target, state.item.label))
    return state.done(edit)


@agenda_rule
def branch(state: GraphState) -> GraphState | None:
    """goto #t if c, else #e  ⟹  at the output: switch(c, @t, @e)()"""
    if state.item.kind != "jump" or not isinstance(state.block.jump, Branch):
        return None
    edit = Edit(state.program)
    condition, then, otherwise = state.block.jump.condition, state.block.jump.then, state.block.jump.otherwise
    taken = state.side(edit, then)
    other = taken if then == otherwise else state.side(edit, otherwise)
    chosen = edit.call(state.at, SWITCH, state.node(edit, condition), taken, other)
    edit.output(state.at, edit.apply(state.at, chosen))
    return state.done(edit)


@agenda_rule
def give_back(state: GraphState) -> GraphState | None:
    """return a  ⟹  the output is a;    return a, b, …  ⟹  the output is make_tuple(a, b, …)"""
    if state.item.kind != "jump" or not isinstance(state.block.jump, Return):
        return None
    edit = Edit(state.program)
    values = [state.node(edit, operand) for operand in state.block.jump.operands]
    edit.output(state.at, values[0] if len(values) == 1 else edit.call(state.at, MAKE_TUPLE, *values))
    return state.done(edit)


RULES: tuple[AgendaRule[GraphState], ...] = (signature, block, enter, instruction, in_order, goto, branch, give_back)


def _at(state: GraphState) -> str:
    if state.ended:
        return "the end"
    kind, name, label, number = state.item
    if number >= 0:
        return f"{describe(state.block.instructions[number])} in block #{label} of {name}"
    return f"{kind} of block #{label} of {name}" if label else f"{kind} of {name}"


def _shown(state: GraphState) -> str:
    """The graphs so far; before there is an entry, none."""
    return str(state.program) if state.program.entry in state.program.graphs else ""


SYSTEM: AgendaSystem[GraphState, Program] = AgendaSystem(
    name="graph",
    rules=RULES,
    ended=lambda state: state.ended,
    at=_at,
    shown=_shown,
    result=lambda state: state.program,
    doc="SSA form to the graph IR",
    argument="every rule takes one item off a finite agenda",
    input="SSA",
    kind=lambda state: state.item.kind,
)


def to_graph(module: Module) -> Program:
    """The program that computes what the module computes. Malformed unless the module is well formed."""
    return SYSTEM.run(begin(module))


def graft(edit: Edit, module: Module) -> dict[str, GraphId]:
    """Copies the functions of a module into the program of `edit`, ways joined (`joins`), and answers with their graphs by name."""
    program = joins.SYSTEM.run(to_graph(module))
    graphs = {program.graphs[graph].name: graph for graph in program.graphs if program.graphs[graph].name in module.by_name}
    found = scopes_from(program, graphs.values())
    copied = copy_graphs(edit, program, found.free, found=found).graphs
    return {name: copied[graph] for name, graph in graphs.items()}


def _hint(name: str) -> str:
    """The name to print a node by: none for a number."""
    return "" if name.startswith("%") or name == "_" else name
