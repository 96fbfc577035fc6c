"""
Reaching definitions: code whose names are assigned more than once, made SSA (Cytron et al., 1991, section 5).

The adjoint is written as if the gradient of x were a mutable variable, ∇x ← ∇x + ∂x; so are alphas, which the forward code assigns
and the adjoint reads. Which assignment reaches a use is for this file to say: a φ node stands wherever two of them meet (in the
dominance frontiers), and what none reaches is ZERO ("inserting zeros and φ nodes into the adjoint where necessary", Zygote,
section 3.1). The arms of φ nodes are read at the end of the blocks they come from.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace

from immutables import Map, MapMutation

from semantics.ssa.dominance import Dominators, dominators, reverse_postorder
from semantics.ssa.form import OUTSIDE, Block, Function, Label, Literal, Name, Operand, Phi, operands_of
from semantics.tangents import ZERO
from transforms.ssa.rewriting import fresh_names, names_in, put_in_instruction, put_in_jump, with_arms

NOTHING = Literal(ZERO)
Arriving = dict[Label, tuple[Label, ...]]
Reached = Map[str, Operand]  # by the name of a variable, what has reached it


def single_assignment(function: Function) -> Function:
    """The same function in SSA form, with new names %1, %2, …; blocks that cannot be reached are gone."""
    order = reverse_postorder(function)
    tree = dominators(function)
    reached = {OUTSIDE, *order}
    arriving = {label: tuple(p for p in function.predecessors[label] if p in reached) for label in order}
    return _renamed(function, order, tree, arriving, _places(function, arriving, _frontiers(tree, arriving)))


def _frontiers(tree: Dominators, arriving: Arriving) -> dict[Label, set[Label]]:
    """Of each block those that it does not dominate, though it does a predecessor: there its definitions meet others."""
    found: dict[Label, set[Label]] = {}
    for label, sources in arriving.items():
        for source in sources if len(sources) > 1 else ():
            while source != tree.immediate[label]:
                found.setdefault(source, set()).add(label)
                source = tree.immediate[source]
    return found


def _places(function: Function, arriving: Arriving, frontiers: dict[Label, set[Label]]) -> dict[Label, list[str]]:
    """By block, the variables that need a φ node there: those that are read after it before they are written."""
    read = _read_first(function, arriving)
    assigned: dict[str, list[Label]] = {}
    for label in arriving:
        for name in _assigned(function.by_label[label]):
            if name in read:
                assigned.setdefault(name, []).append(label)
    places: dict[Label, list[str]] = {}
    for name, todo in assigned.items():
        if any(label in frontiers for label in todo):
            live = _live(read[name], frozenset(todo), arriving)
            met: set[Label] = set()
            while todo:
                for label in sorted(live.intersection(frontiers.get(todo.pop(), ())) - met):
                    met.add(label)
                    todo.append(label)
                    places.setdefault(label, []).append(name)
    return places


def _live(read: Iterable[Label], assigned: Container[Label], arriving: Arriving) -> set[Label]:
    """The blocks to which a variable must come: that read it first, or do not assign it and lead to such a block."""
    live, todo = set(read), list(read)
    while todo:
        for source in arriving.get(todo.pop(), ()):
            if source not in live and source not in assigned:
                live.add(source)
                todo.append(source)
    return live


def _assigned(block: Block) -> Iterable[str]:
    yield from (phi.target for phi in block.phis)
    for instruction in block.instructions:
        yield from instruction.targets


def _read_first(function: Function, arriving: Arriving) -> dict[str, set[Label]]:
    """By name, the blocks that read it before they write it; an arm of a φ node is read at the end of the block it comes from."""
    found: dict[str, set[Label]] = {}
    own: dict[Label, set[str]] = {}
    for label in arriving:
        block = function.by_label[label]
        written = own[label] = {phi.target for phi in block.phis}
        for instruction in block.instructions:
            _note(found, label, written, instruction.operands)
            written.update(instruction.targets)
        _note(found, label, written, operands_of(block.jump))
    for label, sources in arriving.items():
        for phi in function.by_label[label].phis:
            for source, arm in phi.arms:
                if source in sources:
                    _note(found, source, own.get(source, ()), (arm,))
    return found


def _note(found: dict[str, set[Label]], label: Label, written: Container[str], operands: Iterable[Operand]) -> None:
    """Notes that a block reads these, of what it has not written."""
    for name in names_in(operands):
        if name not in written:
            found.setdefault(name, set()).add(label)


def _renamed(
    function: Function, order: tuple[Label, ...], tree: Dominators, arriving: Arriving, places: dict[Label, list[str]]
) -> Function:
    """Every assignment gets a name of its own. What reaches the start of a block is what leaves its immediate dominator."""
    fresh = fresh_names(function)
    leaving: dict[Label, Reached] = {OUTSIDE: Map({p.name: Name(p.name) for p in function.parameters})}
    blocks: dict[Label, Block] = {}
    for label in order:
        block = function.by_label[label]
        own = {phi.target for phi in block.phis}
        placed = (Phi(name, tuple((p, Name(name)) for p in arriving[label])) for name in places.get(label, ()) if name not in own)
        phis = (*block.phis, *placed)
        targets = {phi.target: next(fresh) for phi in phis}
        now = leaving[tree.immediate[label]].mutate()
        for name, new in targets.items():
            now[name] = Name(new)
        reading, instructions = _reading(now), []
        for instruction in block.instructions:
            made = {t: next(fresh) for t in instruction.targets if t != "_"}
            instructions.append(put_in_instruction(instruction, reading, made.__getitem__))
            for t, n in made.items():
                now[t] = Name(n)
        phis = tuple(with_arms(phi, phi.arms, targets[phi.target]) for phi in phis)
        blocks[label] = Block(label, phis, tuple(instructions), put_in_jump(block.jump, reading))
        leaving[label] = now.finish()
    whole = (replace(b, phis=tuple(_arms(phi, leaving, arriving[b.label]) for phi in b.phis)) for b in blocks.values())
    return replace(function, blocks=tuple(whole))


def _arms(phi: Phi, leaving: dict[Label, Reached], sources: tuple[Label, ...]) -> Phi:
    arms = dict(phi.arms)
    return with_arms(phi, [(p, _reading(leaving[p])(arms[p])) for p in sources])


def _reading(reached: Reached | MapMutation[str, Operand]) -> Callable[[Operand], Operand]:
    """An operand as it stands where this has been reached."""

    def put(operand: Operand) -> Operand:
        return reached.get(operand.text, NOTHING) if isinstance(operand, Name) else operand

    return put
