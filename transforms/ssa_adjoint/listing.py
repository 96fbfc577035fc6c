"""
The adjoint of SSA code as Zygote lists it (section 3.1): primal and adjoint, with alphas.

"Unrolling the adjoint must be equivalent to constructing the adjoint for an unrolled primal. Thus, all basic blocks must be run in
reverse order; there is an (iteration of an) adjoint block for each primal one." So ◀f has the inverted control-flow graph of f,
and goes where the dummy φ nodes of ▶f recorded that control came from.

    ∇x  the gradient of x, a variable that the adjoint adds to     ∂x  one contribution to it     α%7  the pullback %7 of the primal
    Σx  what the block that is being reversed contributes to ∇x, where that is added up first

Every rule takes one item off the agenda. `adjoint_phi`, `adjoint_application`, `fan_out` and `invert_jump` write code that assigns
gradients again and again; `reach` makes it SSA, with zeros and φ nodes where necessary; `adjoin` wraps in J what ◀f turned out to
call.

What a turn of a loop uses twice gets ∇x + (∂x + ∂x'), not (∇x + ∂x) + ∂x', since the additions to ∇x wait for one another, turn
after turn: one addition a turn is half as long as two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from immutables import Map

from semantics.primitives.table import TABLE
from semantics.ssa import form
from semantics.ssa.form import OUTSIDE, Adjoined, Alpha, Block, Function, Instruction, Label, Literal, Module, Name, Phi, Return
from semantics.ssa.text import show_function
from transforms.agenda import AtWork, in_turn, linked, rule_of
from transforms.agenda_system import AgendaRule, AgendaSystem
from transforms.ssa.layout import laid_out, numbered_with_names
from transforms.ssa.normal import normal
from transforms.ssa.rewriting import free_label, operands_in, put_in_block
from transforms.ssa.sharing import is_arithmetic, shared
from transforms.ssa.single_assignment import NOTHING, single_assignment
from transforms.ssa.zeros import without_zeros
from transforms.ssa_adjoint.pullbacks import transmits

GADD = TABLE["gadd"]
SEED = "∇y"
# variables of the adjoint: ∇x, Σx, part i of ∇x; and by the name and the label of the primal, its pullbacks and records
gradient, subtotal, part = "∇ {}".format, "Σ {}".format, "∂ {} {}".format
pullback, record = "B {}".format, "entered {}".format


class Item(NamedTuple):
    """What is done next: a kind, the function, its block, and the index of an instruction."""

    kind: str
    function: str
    block: Label = OUTSIDE
    position: int = -1


@dataclass(frozen=True)
class Inversion(AtWork[Item]):
    """
    The inversion at work.

    primal  the functions, in the form that is inverted     entry  the name of the main one
    shared  by function and block, the names whose contributions from it are added up first
    code    by function and block, what its adjoint holds so far: φ nodes, instructions and the jump, the latest first, linked
    done    the functions of the listing that are finished
    """

    primal: Map[str, Function]
    entry: str
    shared: Map[tuple[str, Label], tuple[str, ...]] = Map()
    code: Map[tuple[str, Label], Any] = Map()
    done: tuple[Function, ...] = ()

    @property
    def function(self) -> Function:
        return self.primal[self.item.function]

    @property
    def block(self) -> Block:
        return self.function.by_label[self.item.block]

    @property
    def instruction(self) -> Instruction:
        return self.block.instructions[self.item.position]

    def writing(self, *parts: Phi | Instruction | form.Jump) -> Inversion:
        """The state after the current item, which writes these into the adjoint of its block."""
        key = self.item.function, self.item.block
        code = self.code.get(key)
        for part in parts:
            code = (part, code)
        return self.then(code=self.code.set(key, code))


def add(name: str, contribution: str, total: Callable[[str], str] = gradient) -> Instruction:
    """∇x ← gadd(∇x, ∂x), or of another total of x"""
    return Instruction((total(name),), GADD, (Name(total(name)), Name(contribution)))


def reset(name: str, total: Callable[[str], str] = gradient) -> Instruction:
    """∇x ← ZERO, or of another total of x"""
    return Instruction((total(name),), GADD, (NOTHING, NOTHING))


@rule_of("phi")
def adjoint_phi(state: Inversion) -> Inversion:
    """in #s, after #b: x ← φ(#b → a, …)  ⟹  in ◀#b: ∂ ← φ(◀#s → ∇x, … → ZERO), ∇x ← ZERO, ∇a ← gadd(∇a, ∂); all ∂ at once"""
    after = (state.function.entry,) if state.item.block == OUTSIDE else state.block.successors
    phis, resets, sums = [], [], []
    for s in after:
        for phi in state.function.by_label[s].phis:
            arm = phi.arm(state.item.block)
            if isinstance(arm, Name):
                arms = tuple((t, Name(gradient(phi.target)) if s == t else NOTHING) for t in after)
                phis.append(Phi(part(phi.target, 0), arms))
                sums.append(add(arm.text, part(phi.target, 0)))
            resets.append(reset(phi.target))
    return state.writing(*phis, *resets, *sums)


@rule_of("seed")
def seed(state: Inversion) -> Inversion:
    """return x  ⟹  ∇x ← gadd(∇x, ∇y), where ∇y is what ◀f is given"""
    assert isinstance(state.block.jump, Return)
    [result] = state.block.jump.operands
    return state.writing(*([add(result.text, SEED)] if isinstance(result, Name) else []))


@rule_of("application")
def adjoint_application(state: Inversion) -> Inversion:
    """x ← p(a, …)  ⟹  ∂a, … ← αB(∇x), where B is the pullback of p there, and then ∇x ← ZERO; to a constant nothing flows"""
    [x] = state.instruction.targets
    flows = transmits(state.instruction) if x != "_" else ()
    parts = tuple(part(x, i) if i in flows else "_" for i in range(len(state.instruction.operands)))
    call = Instruction(parts, Alpha(pullback(x)), (Name(gradient(x)),), state.instruction.location)
    return state.writing(*([call] if flows else []), *([reset(x)] if x != "_" else []))


@rule_of("fan out")
def fan_out(state: Inversion) -> Inversion:
    """a is an operand of x ← p(a, …)  ⟹  ∇a ← gadd(∇a, ∂a); if #b shares a, and p is elementwise, Σa ← gadd(Σa, ∂a)"""
    [x] = state.instruction.targets
    sums = state.shared[state.item.function, state.item.block] if is_arithmetic(state.instruction) else ()
    read = ((i, state.instruction.operands[i]) for i in (transmits(state.instruction) if x != "_" else ()))
    return state.writing(*(add(a.text, part(x, i), subtotal if a.text in sums else gradient) for i, a in read))  # type: ignore[union-attr]


@rule_of("jump")
def invert_jump(state: Inversion) -> Inversion:
    """
    #b is entered from #p or #q  ⟹  ◀#b ends with goto ◀#q if α%r else ◀#p, where %r records it; ◀#0 returns the gradients
    #b shares a  ⟹  before that, ∇a ← gadd(∇a, Σa), Σa ← ZERO
    """
    function, label = state.function, state.item.block
    if label == OUTSIDE:
        return state.writing(Return(tuple(Name(gradient(p.name)) for p in function.parameters)))
    first, *others = (p or free_label(function) for p in function.predecessors[label])
    jump = form.Branch(Alpha(record(label)), others[0], first) if others else form.Goto(first)
    sums = state.shared[function.name, label]
    return state.writing(*(add(a, subtotal(a)) for a in sums), *(reset(a, subtotal) for a in sums), jump)


def written(state: Inversion) -> Function:
    """◀f as far as it is written. It may assign a name more than once."""
    function, out, blocks = state.function, free_label(state.function), []
    [start] = (block.label for block in function.blocks if isinstance(block.jump, Return))
    for label in dict.fromkeys((start, *function.by_label, OUTSIDE)):
        parts = linked(state.code.get((function.name, label)))[::-1]
        jump = parts.pop() if parts and not isinstance(parts[-1], (Phi, Instruction)) else Return(())
        phis = tuple(p for p in parts if isinstance(p, Phi))
        blocks.append(Block(label or out, phis, tuple(parts[len(phis) :]), jump))
    return Function(f"◀{function.name}", (form.Parameter(SEED),), tuple(blocks), 0, function.location)


@rule_of("reach")
def reach(state: Inversion) -> Inversion:
    """∇x is read in ◀f  ⟹  what reaches it: an assignment, a φ node where two meet, or ZERO"""
    adjoint = laid_out(without_zeros(single_assignment(written(state))))
    return state.then(done=(*state.done, adjoint))


@rule_of("adjoin")
def adjoin(state: Inversion) -> Inversion:
    """
    ◀f calls αB, the pullback of x ← p(a, …)  ⟹  in ▶f: x, B ← J(p, a, …)
    ◀f asks α%r how #b was entered  ⟹  in ▶f: %r ← φ(#p → False, #q → True)
    """
    *done, adjoint = state.done
    asked = {a.text for block in adjoint.blocks for a in operands_in(block) if isinstance(a, Alpha)}
    blocks = tuple(_adjoined(block, state.function, asked) for block in state.function.blocks)
    primal, names = numbered_with_names(replace(state.function, name=f"▶{state.function.name}", blocks=blocks))
    as_numbered: dict[form.Operand, form.Operand] = {Alpha(old): Alpha(new) for old, new in names.items()}
    adjoint = replace(adjoint, blocks=tuple(put_in_block(b, lambda o: as_numbered.get(o, o)) for b in adjoint.blocks))
    return state.then(done=(*done, primal, adjoint))


def _adjoined(block: Block, function: Function, asked: set[str]) -> Block:
    sources = zip(function.predecessors[block.label], (False, True), strict=False)
    recorded = Phi(record(block.label), tuple((p, Literal(then)) for p, then in sources))
    phis = (recorded, *block.phis) if recorded.target in asked else block.phis
    instructions = []
    for instruction in block.instructions:
        [x] = instruction.targets
        if pullback(x) in asked:
            assert not isinstance(instruction.callee, (Alpha, Adjoined))
            instruction = replace(instruction, targets=(x, pullback(x)), callee=Adjoined(instruction.callee))
        instructions.append(instruction)
    return replace(block, phis=phis, instructions=tuple(instructions))


RULES: tuple[AgendaRule[Inversion], ...] = (adjoint_phi, seed, adjoint_application, fan_out, invert_jump, reach, adjoin)


def begin(module: Module) -> Inversion:
    """The state in which nothing is inverted yet."""
    primal = Map({f.name: normal(f) for f in module.functions})
    sums = Map(((f.name, b.label), shared(b, transmits)) for f in primal.values() for b in f.blocks)
    return Inversion(primal, module.entry, sums, agenda=in_turn(item for f in module.functions for item in _items(primal[f.name])))


def _items(function: Function) -> Iterator[Item]:
    for block in reversed(function.blocks):
        yield Item("phi", function.name, block.label)
        if isinstance(block.jump, Return):
            yield Item("seed", function.name, block.label)
        for index in reversed(range(len(block.instructions))):
            yield Item("application", function.name, block.label, index)
            yield Item("fan out", function.name, block.label, index)
        yield Item("jump", function.name, block.label)
    yield from (Item(kind, function.name) for kind in ("phi", "jump", "reach", "adjoin"))


SYSTEM: AgendaSystem[Inversion, Module] = AgendaSystem(
    name="ssa_adjoint",
    rules=RULES,
    ended=lambda state: state.ended,
    at=lambda state: "the end" if state.ended else " ".join(map(str, state.item)),
    shown=lambda state: "\n\n".join(map(show_function, (*state.done, *([] if state.ended else [written(state)])))),
    result=lambda state: Module(state.done, f"▶{state.entry}"),
    doc="the adjoint of SSA code, as Zygote lists it: every block inverted, one instruction at a time",
    argument="every rule takes one item off a finite agenda",
    input="SSA",
    output="SSA",
    kind=lambda state: state.item.kind,
)


def listing(module: Module, function: str | None = None) -> Module:
    """▶f and ◀f, with alphas: of every function f of the module, or of the one that is named."""
    if function is not None:
        module = Module((module[function],), function)
    return SYSTEM.run(begin(module))
