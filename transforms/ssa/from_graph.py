"""
From the graph IR to SSA form, for first-order programs: "SSA is functional programming" (Appel, 1998), read from right to left.

    a graph that is called                            a function; the values it captures become its first parameters
    a graph reached by tail calls from one region     a block; its parameters become φ nodes, what it captures dominates it
    a tail call of a block                            goto, with an arm for each φ node
    switch(c, @t, @e)(…) at the output                a branch
    switch(c, @t, @e)(…) elsewhere                    a branch, the blocks of both sides, and a join whose φ node is the result

Every return of a function leads to one block with a φ node for the result: "multiple returns can easily be merged into one"
(Zygote, section 3.1). Code comes in the order of evaluation of the graph machine, so that a program that traps traps where it did.
What the machine never evaluates is not translated. Memory is a value: a token is passed like any other, and what `load` gives does
not depend on whether a store has gone on from its token.

Which graph is a block of what is found by `regions`; a function is given its last form by `tidy`.
"""

from __future__ import annotations

from dataclasses import replace

from immutables import Map

from semantics.errors import IllTyped, Malformed
from semantics.ir import GraphId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.scope import free_variables
from semantics.ssa import form
from semantics.ssa.form import OUTSIDE, Function, Goto, Instruction, Label, Module, Name, Return
from semantics.ssa.text import Names, called, show_function
from semantics.text import graph_names
from transforms.agenda import in_turn, rule_of
from transforms.agenda_system import AgendaRule, AgendaSystem, agenda_rule
from transforms.ssa.exact_passes import EXACT
from transforms.ssa.graph_state import RESULT, Item, SsaState, block_of, first_block, name_of, return_block
from transforms.ssa.regions import Choice, regions
from transforms.ssa.rewriting import with_operands
from transforms.ssa.tidy import tidy


def begin(program: Program, root: GraphId | None = None, *, pairwise: bool = True) -> SsaState:
    """The state in which nothing is translated. Malformed unless what `root`, or the entry, reaches is of first order."""
    if root is not None and root != program.entry:
        program = replace(program, entry=root)
    found = regions(program)
    items: list[Item] = []
    for function in found.functions:
        items.append(Item("function", function))
        for graph in found.functions[function]:
            output = program.graphs[graph].output
            jumps = found.jumps(program, graph)
            items += [Item("node", graph, n) for n in found.own(program, graph) if not (jumps and n == output)]
            items.append(Item("jump" if jumps else "return", graph, output))
        items.append(Item("tidy", function))
    names = {graph: name.removeprefix("@") for graph, name in graph_names(program).items()}
    return SsaState(program, found, names, pairwise, program.next_id + 1, agenda=in_turn(items))


@rule_of("function")
def open_function(state: SsaState) -> SsaState:
    """@g(x…), called, with free variables v…  ⟹  function g(v…; x…); every graph @h(y…) of it is a block with φ nodes for y…"""
    root = state.item.graph
    phis: Map[Label, tuple[str, ...]] = Map({return_block(root): (RESULT,)})
    for graph in state.found.functions[root]:
        phis = phis.set(first_block(graph), tuple(name_of(n) for n in state.program.graphs[graph].parameters))
    opened = replace(state, here=Map(), phis=phis, arms=Map(), code=Map(), jumps=Map({return_block(root): Return((Name(RESULT),))}))
    names = tuple(Name(p.name) for p in parameters(state.program, root)[len(free_variables(state.program, root)) :])
    return opened.going(OUTSIDE, first_block(root), names).then()


@agenda_rule
def instruction(state: SsaState) -> SsaState | None:
    """n = p(a…)  ⟹  %n ← p(a…)"""
    application = state.application("node")
    callee = state.program.constant(application.function) if application is not None else None
    if application is None or not isinstance(callee, Primitive):
        return None
    made = Instruction((name_of(state.item.node),), callee, state.operands(application.arguments), application.location)
    return state.adding(state.at, made).then()


@agenda_rule
def call(state: SsaState) -> SsaState | None:
    """n = @g(a…), g with free variables v…  ⟹  %n ← @g(v…, a…)        where g is a function"""
    application = state.application("node")
    target = state.found.called.get(state.item.node)
    if application is None or not isinstance(target, int):
        return None
    arguments = state.operands(application.arguments)
    made = state.calling(target, arguments, name_of(state.item.node), application.location)
    return state.adding(state.at, made).then()


@agenda_rule
def diamond(state: SsaState) -> SsaState | None:
    """n = switch(c, @t, @e)(a…)  ⟹  goto #t if c, else #e; both lead to #n, where %n ← φ(…) and the code goes on"""
    _, graph, node = state.item
    application = state.application("node")
    if application is None or not isinstance(state.found.called.get(node), Choice):
        return None
    join = first_block(node)
    opened = replace(state, phis=state.phis.set(join, (name_of(node),)))
    return opened.branching(node, application).then(here=state.here.set(graph, join))


@agenda_rule
def tail_call(state: SsaState) -> SsaState | None:
    """at the output: @g(a…)  ⟹  goto #g, where a… arrive at its φ nodes        where g is a block of this region"""
    application = state.application("jump")
    target = state.found.called.get(state.item.node)
    if application is None or not isinstance(target, int):
        return None
    label = first_block(target)
    gone = state.going(state.at, label, state.operands(application.arguments))
    return gone.then(jumps=gone.jumps.set(state.at, Goto(label)))


@agenda_rule
def branch(state: SsaState) -> SsaState | None:
    """at the output: switch(c, @t, @e)(a…)  ⟹  goto #t if c, else #e, where a… arrive at their φ nodes"""
    application = state.application("jump")
    if application is None or not isinstance(state.found.called.get(state.item.node), Choice):
        return None
    return state.branching(state.region, application).then()


@rule_of("return")
def give_back(state: SsaState) -> SsaState:
    """at the output: n  ⟹  goto where the region ends, where n arrives as its result"""
    return state.returning(state.at, state.region, state.operand(state.item.node)).then()


@rule_of("tidy")
def close_function(state: SsaState) -> SsaState:
    """the blocks of g  ⟹  function g, without needless φ nodes and blocks, with one return, blocks and names numbered"""
    root = state.item.graph
    return state.then(functions=(*state.functions, tidy(_raw(state, root), pairwise=state.pairwise)))


RULES: tuple[AgendaRule[SsaState], ...] = (
    open_function,
    instruction,
    call,
    diamond,
    tail_call,
    branch,
    give_back,
    close_function,
)


def parameters(program: Program, graph: GraphId) -> tuple[form.Parameter, ...]:
    """The parameters of the function that a graph becomes, the captured ones first, named apart."""
    taken: set[str] = set()
    found: list[form.Parameter] = []
    free = free_variables(program, graph)
    for node in (*free, *program.graphs[graph].parameters):
        value = program.nodes[node]
        hint = getattr(value, "name", "") or ("v" if node in free else "x")
        name, count = hint, 1
        while name in taken:
            count += 1
            name = f"{hint}.{count}"
        taken.add(name)
        found.append(form.Parameter(name, value.type if isinstance(value, Parameter) else None))
    return tuple(found)


def _raw(state: SsaState, root: GraphId) -> Function:
    """The function as the rules have left it; captured values go by the names of the parameters that bring them."""
    captured = free_variables(state.program, root)
    given = parameters(state.program, root)
    blocks = [block_of(state, label, jump) for label, jump in state.jumps.items() if label != first_block(root)]
    entry = block_of(state, first_block(root), state.jumps[first_block(root)])
    location = state.program.graphs[root].location
    function = Function(state.names[root], given, (entry, *blocks), len(captured), location)
    brought = {name_of(node): Name(parameter.name) for node, parameter in zip(captured, given, strict=False)}
    return with_operands(function, lambda o: brought.get(o.text, o) if isinstance(o, Name) else o) if brought else function


def _result(state: SsaState) -> Module:
    """The module: the entry, and what it calls in the end."""
    entry = state.names[state.program.entry]
    by_name = {function.name: function for function in state.functions}
    live = {entry}
    todo = [entry]
    while todo:
        for name in called(by_name[todo.pop()]):
            if name not in live:
                live.add(name)
                todo.append(name)
    return Module(tuple(function for function in state.functions if function.name in live), entry)


def _shown(state: SsaState) -> str:
    """The functions that are done, and the blocks of the one at work, whose names are not yet numbered."""
    printer = Names({}, {}, {})
    lines = [show_function(function) for function in state.functions]
    if not state.ended:
        for label in dict.fromkeys((*state.phis, *state.code, *state.jumps)):
            block = block_of(state, label, state.jumps.get(label, Return(())))
            jump = printer.jump(block, None) if label in state.jumps else "…"
            phis = map(printer.definition, block.phis)
            lines.append("\n    ".join((f"block #{label}:", *phis, *map(printer.definition, block.instructions), jump)))
    return "\n\n".join(lines)


def _at(state: SsaState) -> str:
    if state.ended:
        return "the end"
    kind, graph, node = state.item
    return f"{kind} {state.program.describe(node) if node in state.program.nodes else '@' + state.names[graph]}"


SYSTEM: AgendaSystem[SsaState, Module] = AgendaSystem(
    name="ssa",
    rules=RULES,
    ended=lambda state: state.ended,
    at=_at,
    shown=_shown,
    result=_result,
    doc="the graph IR to SSA form, for programs of first order",
    argument="every rule takes one item off a finite agenda",
    output="SSA",
)


def to_ssa(program: Program, root: GraphId | None = None, *, pairwise: bool = True) -> Module:
    """
    The module that computes what the graph `root` computes, or else the entry. With `pairwise` at most two blocks lead to a block.

    Malformed unless the program is of first order.
    """
    return SYSTEM.run(begin(program, root, pairwise=pairwise))


def first_order(program: Program) -> Program:
    """
    The program itself if it is of first order, and else the optimized one, whose known functions are called where they were passed,
    stored or returned. `to_ssa` says whether that was enough.
    """
    try:
        regions(program)
    except (Malformed, IllTyped):
        return EXACT.run(program)
    return program
