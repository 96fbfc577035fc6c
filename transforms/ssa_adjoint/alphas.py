"""
Alphas resolved: from a listing to a module that runs, in which ▶f(x…) = (y, tape) and ◀f(tape, ∇y) = (∇x…).

"Alpha nodes refer to the value in the corresponding primal iteration. Given the reversed block order the right semantics can be
achieved by storing values on a stack … for example, the values could be re-computed (checkpointing), and mixed approaches are able
to make time-space tradeoffs" (Zygote, section 3.1). A policy says which:

    stack      at the end of every turn of a loop, all that the pullbacks of the turn close over is pushed, as one tuple
    mixed      only what the loop carries is pushed, and the adjoint runs the turn again
    recompute  nothing is pushed: a tape is the arguments, and the adjoint runs all again, a loop up to the turn it reverses

What is needed of the last, partial turn is a value like those outside loops. That a loop was entered from outside is not stored:
then its stack is empty. An alpha is a variable of the adjoint, α x, and what is run again assigns it by the instructions of the
primal; `reach` finds which assignment is meant, and then the stacks are written (`transforms.ssa_adjoint.stacks`).
"""

from __future__ import annotations

from dataclasses import replace

from semantics.errors import Malformed
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.ssa.form import Adjoined, Alpha, Block, FunctionRef, Goto, Instruction, Literal, Module, Name, Operand, Phi, Return
from semantics.ssa.text import show_function
from transforms.agenda import in_turn, rule_of
from transforms.agenda_system import AgendaRule, AgendaSystem
from transforms.ssa.layout import laid_out
from transforms.ssa.rewriting import put_in_jump, renamed
from transforms.ssa.single_assignment import single_assignment
from transforms.ssa.to_graph import to_graph
from transforms.ssa.zeros import of_turn, without_zeros, zeroed
from transforms.ssa_adjoint import rerun
from transforms.ssa_adjoint.listing import listing
from transforms.ssa_adjoint.pullbacks import pullback_function, whole
from transforms.ssa_adjoint.resolution import Item, Resolution, by_label, functions, on_the_way, rest, stack, top, with_tape
from transforms.ssa_adjoint.stacks import empty, held, lower, make
from transforms.ssa_adjoint.turns import alpha, alphas_read, as_alpha, turns

GETITEM, MAKE_TUPLE = TABLE["getitem"], TABLE["make_tuple"]
POLICIES = ("stack", "recompute", "mixed")


@rule_of("primal")
def primal_call(state: Resolution) -> Resolution:
    """in ▶f: x, B ← J(p, a…)  ⟹  x ← p(a…);   x, B ← J(@g, a…)  ⟹  x, B ← @▶g(a…): the pullback of @g is its tape"""
    blocks = (replace(b, instructions=tuple(map(_called, b.instructions))) for b in state.primal.blocks)
    return state.then(forward=by_label(blocks))


def _called(instruction: Instruction) -> Instruction:
    match instruction.callee:
        case Adjoined(FunctionRef(name)):
            return replace(instruction, callee=FunctionRef(f"▶{name}"))
        case FunctionRef(name):
            return replace(instruction, targets=(*instruction.targets, "_"), callee=FunctionRef(f"▶{name}"))
        case Adjoined(Primitive() as primitive):
            return replace(instruction, targets=instruction.targets[:1], callee=primitive)
        case _:
            return instruction


@rule_of("pullback")
def pullback_call(state: Resolution) -> Resolution:
    """in ◀f: ∂a, … ← αB(∇)  ⟹  ∂a, … ← @◀p(αa, …, αx, ∇), of what ◀p reads; of a function g: @◀g(αB, ∇)"""
    made = {i.targets[1]: i for b in state.primal.blocks for i in b.instructions if isinstance(i.callee, Adjoined)}
    blocks = []
    for block in state.adjoint.blocks:
        instructions: list[Instruction] = []
        for instruction in block.instructions:
            new = [instruction]
            if isinstance(instruction.callee, Alpha):
                state, new = _pulled_back(state, instruction, made[instruction.callee.text])
            instructions += new
        jump = put_in_jump(block.jump, lambda o: Name(alpha(o.text)) if isinstance(o, Alpha) else o)
        if isinstance(jump, Return) and len(jump.operands) == 1:
            instructions.append(Instruction(("gradients",), MAKE_TUPLE, jump.operands))
            jump = Return((Name("gradients"),))
        blocks.append(replace(block, instructions=tuple(instructions), jump=jump))
    return state.then(backward=by_label(blocks), fresh=1 + max(block.label for block in blocks))


def _pulled_back(state: Resolution, call: Instruction, made: Instruction) -> tuple[Resolution, list[Instruction]]:
    """One application of a pullback. A tuple of one is taken apart by hand."""
    x, back = made.targets
    assert isinstance(made.callee, Adjoined)
    closed_over: tuple[Operand, ...] = (as_alpha(Name(back)),)
    if isinstance(made.callee.callee, FunctionRef):
        name = f"◀{made.callee.callee.name}"
    else:
        state, (name, kept) = _pullback_of(state, made.callee.callee, made)
        closed_over = tuple(as_alpha((*made.operands, Name(x))[i]) for i in kept)
    new = replace(call, callee=FunctionRef(name), operands=(*closed_over, *call.operands))
    if len(call.targets) != 1:
        return state, [new]
    whole_tuple = f"tuple {call.targets[0]}"
    return state, [replace(new, targets=(whole_tuple,)), Instruction(call.targets, GETITEM, (Name(whole_tuple), Literal(0)))]


def _pullback_of(state: Resolution, primitive: Primitive, made: Instruction) -> tuple[Resolution, tuple[str, tuple[int, ...]]]:
    """◀p of the module, made when it is first met."""
    n = whole(replace(made, callee=primitive))
    key = primitive.name, id(primitive), len(made.operands), n
    if key not in state.pullbacks:
        module, kept = pullback_function(primitive, len(made.operands), n, state.arrays)
        taken = {f.name for f in (*state.listing.functions, *state.done)}
        name = f"◀{primitive.name}" + ("" if n is None else f".{n}")
        while name in taken:
            name += "'"
        state = replace(state, done=(*state.done, *renamed(module, name)), pullbacks=state.pullbacks.set(key, (name, kept)))
    return state, state.pullbacks[key]


@rule_of("push")
def push_turn(state: Resolution) -> Resolution:
    """in ▶f, in a loop: s ← φ(#outside → empty, #latch → s);  at the latch: s ← push(s, …), what the policy keeps of a turn"""
    turn, s = state.turn, stack(state.turn.header)
    header, latch = state.forward[turn.header], state.forward[turn.latch]
    counted = Phi(s, ((turn.outside, empty(turn.header)), (turn.latch, Name(s))))
    phis = (counted, *(phi for phi in header.phis if phi.target != turn.record))
    header = replace(header, phis=phis, instructions=(*_forgotten(state), *header.instructions))
    kept = _kept_of_turn(state)
    latch = replace(latch, instructions=(*latch.instructions, make("push", turn.header, (s,), Name(s), *map(Name, kept))))
    forward = state.forward.update({header.label: header, latch.label: latch})
    return state.then(forward=forward, kept=state.kept.set(turn.header, kept))


def _kept_of_turn(state: Resolution) -> tuple[str, ...]:
    """What is pushed at the end of a turn, if it is read."""
    if state.policy != "stack":
        return state.turn.carried if state.policy == "mixed" else ()
    read = alphas_read(state.backward[label] for label in sorted(state.turn.back))
    return (*read, *map(stack, state.turn.inner))


def _forgotten(state: Resolution) -> tuple[Instruction, ...]:
    """x ← ZERO, at the header, for all that a turn assigns: nothing but what the loop carries goes from turn to turn."""
    turn = state.turn
    return zeroed((*of_turn(state.primal.by_label, turn.header, turn.body), *map(stack, turn.inner)))


@rule_of("pop, stack")
def pop_turn(state: Resolution) -> Resolution:
    """in ◀f: goto ◀#latch if α%r  ⟹  goto ◀#latch if more of s;  on the way there: αa, … ← top of s, s ← rest of s"""
    return on_the_way(state, lambda to: [Block(state.fresh, (), (top(state), rest(state)), Goto(to))])


@rule_of("tape, stack", "tape, mixed")
def tape(state: Resolution) -> Resolution:
    """▶f returns (y, tape);  ◀f begins with αa, … ← tape, where a, … is all that it reads of ▶f"""
    return with_tape(state, alphas_read(block for _, block in sorted(state.backward.items())))


@rule_of("reach")
def reach(state: Resolution) -> Resolution:
    """a name that is assigned more than once is read  ⟹  what reaches it: an assignment, a φ node where two meet, or ZERO"""
    forward, backward = (without_zeros(single_assignment(f)) for f in functions(state))
    return state.then(forward=by_label(forward.blocks), backward=by_label(backward.blocks))


@rule_of("stacks")
def write_stacks(state: Resolution) -> Resolution:
    """a stack or tape of which only a, … are read  ⟹  tuples of a, …;   a stack of which nothing is  ⟹  a counter"""
    forward, backward = functions(state)
    holds = held(backward)
    written = (laid_out(without_zeros(lower(f, holds))) for f in (forward, backward))
    return state.then(done=(*state.done, *written))


_FIRST = (primal_call, pullback_call, push_turn, pop_turn, tape, reach, write_stacks)
RULES: tuple[AgendaRule[Resolution], ...] = (*_FIRST, *rerun.RULES)


def begin(module: Module, policy: str = "stack", arrays: bool = False) -> Resolution:
    """The state in which no alpha of a listing is resolved yet."""
    items: list[Item] = []
    for primal, adjoint in zip(module.functions[::2], module.functions[1::2], strict=True):
        name, loops = primal.name.removeprefix("▶"), turns(primal, adjoint)
        items += Item("primal", name), Item("pullback", name)
        items += (Item(kind, name, turn) for kind in ("push", f"pop, {policy}") for turn in loops)
        items += (Item(kind, name) for kind in (f"tape, {policy}", "reach", "stacks"))
    return Resolution(module, policy, arrays, agenda=in_turn(items))


def _shown(state: Resolution) -> str:
    now = () if state.ended or not state.backward else functions(state)
    return "\n\n".join(map(show_function, (*state.done, *now)))


SYSTEM: AgendaSystem[Resolution, Module] = AgendaSystem(
    name="alphas",
    rules=RULES,
    ended=lambda state: state.ended,
    at=lambda state: "the end" if state.ended else f"{state.item.kind} @{state.item.function}",
    shown=_shown,
    result=lambda state: Module(state.done, state.listing.entry),
    doc="the alphas of a listing resolved, by stacks or by running code again",
    argument="every rule takes one item off a finite agenda",
    input="SSA",
    output="SSA",
    kind=lambda state: state.item.kind,
)


def adjoint(module: Module, policy: str = "stack", arrays: bool | None = None) -> Module:
    """
    ▶f(x…) = (y, tape) and ◀f(tape, ∇y) = (∇x…) for all functions f of a module; the entry is ▶main.

    arrays  whether operands of arithmetic may be arrays, if that is known; else it is whether the module speaks of arrays
    """
    if policy not in POLICIES:
        raise Malformed(f"no policy is called {policy}", rule="ssa adjoint", remedy=f"one of {', '.join(POLICIES)}")
    arrays = to_graph(module).arrays if arrays is None else arrays
    return SYSTEM.run(begin(listing(module), policy, arrays))
