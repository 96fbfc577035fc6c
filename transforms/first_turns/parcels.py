"""
What one way alone has, kept as one tuple: a parcel.

Where ways of ▶f meet, what only some of them have computed is ZERO on the others, each for itself: an adjoint that has taken the
same way asks for each whether it is there. It need not ask:

    #j: x ← φ(#p → a, #q → ZERO), y ← φ(#p → b, #q → ZERO)       … make_tuple(…, x, …, y, …)        ⟹
    #p: t ← make_tuple(a, b)     #j: z ← φ(#p → t, #q → ())      … make_tuple(…, z, …, ZERO, …)

and ◀f takes z apart in the blocks that are only come to where ▶f came by #p. What is read elsewhere stays as it is. What nothing
reads any more is not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from semantics.ssa.form import Function, Instruction, Label, Literal, Name, Operand, Phi
from transforms.first_turns.sources import GETITEM, MAKE_TUPLE
from transforms.first_turns.ways import Ways
from transforms.ssa.rewriting import names_in, operands_in
from transforms.ssa.single_assignment import NOTHING, single_assignment
from transforms.ssa.zeros import is_zero, without_zeros

EMPTY = Literal(())


@dataclass(frozen=True)
class Parcel:
    """
    made    the tuple of ▶f in which it goes, in the place of the first of `places`
    join    the block in which its ways meet          absent  those on which it is empty
    """

    name: str
    made: str
    join: Label
    absent: frozenset[Label]
    places: tuple[int, ...]


def parcelled(forward: Function, backward: Function) -> tuple[Function, Function]:
    """▶f and ◀f with parcels."""
    ways = Ways(forward, backward)
    found = tuple(_parcels(ways))
    after = _without_unread(_wrapped(forward, ways, found), ways), _unwrapped(ways, found)
    first, second = (without_zeros(single_assignment(f)) for f in after)
    return first, second


def _parcels(ways: Ways) -> Iterator[Parcel]:
    """What goes together: what is ZERO on the same ways, in one tuple, and is read only where it is known to be there."""
    read, elsewhere = _reads(ways.function), ways.sources.read_elsewhere()
    fit: dict[tuple[str, Label, frozenset[Label]], dict[int, bool]] = {}
    for name in ways.sources.backward:
        if (found := ways.joined(name)) is None:
            continue
        place, ((x, join), phi) = ways.sources.place(name), found
        assert place is not None, "it is a part of a tuple"
        absent = frozenset(p for p, arm in phi.arms if is_zero(arm))
        if absent and place[1] not in elsewhere:
            here = all(not ways.at(label).get((x, join), absent) & absent for label in read.get(name, ()))
            places = fit.setdefault((place[1], join, absent), {})
            places[place[2]] = places.get(place[2], True) and here
    for k, ((made, join, absent), places) in enumerate(fit.items()):
        if chosen := tuple(sorted(i for i, here in places.items() if here)):
            yield Parcel(f"parcel {k}", made, join, absent, chosen)


def _reads(function: Function) -> dict[str, set[Label]]:
    """The blocks in which a name is read; an arm of a φ node is read where it comes from."""
    found: dict[str, set[Label]] = {}
    for block in function.blocks:
        for phi in block.phis:
            for label, arm in phi.arms:
                for name in names_in((arm,)):
                    found.setdefault(name, set()).add(label)
        for name in names_in(operands_in(replace(block, phis=()))):
            found.setdefault(name, set()).add(block.label)
    return found


def _wrapped(forward: Function, ways: Ways, parcels: Iterable[Parcel]) -> Function:
    """▶f, which makes parcels."""
    blocks = dict(forward.by_label)
    inside: dict[str, dict[int, Operand]] = {}
    for parcel in parcels:
        items = ways.sources.items(parcel.made)
        phis = [ways.joins[name][0] for i in parcel.places for name in names_in((items[i],))]
        arms: list[tuple[Label, Operand]] = []
        for source, _ in phis[0].arms:
            if source in parcel.absent:
                arms.append((source, EMPTY))
                continue
            name = f"{parcel.name} from {source}"
            made = Instruction((name,), MAKE_TUPLE, tuple(phi.arm(source) for phi in phis))
            blocks[source] = replace(blocks[source], instructions=(*blocks[source].instructions, made))
            arms.append((source, Name(name)))
        blocks[parcel.join] = replace(blocks[parcel.join], phis=(*blocks[parcel.join].phis, Phi(parcel.name, tuple(arms))))
        inside.setdefault(parcel.made, {}).update(dict.fromkeys(parcel.places, NOTHING) | {parcel.places[0]: Name(parcel.name)})

    def put(instruction: Instruction) -> Instruction:
        new = inside.get(instruction.targets[0], {})
        return replace(instruction, operands=tuple(new.get(i, o) for i, o in enumerate(instruction.operands)))

    whole = (replace(b, instructions=tuple(map(put, b.instructions))) for b in blocks.values())
    return replace(forward, blocks=tuple(whole))


def _without_unread(forward: Function, ways: Ways) -> Function:
    """▶f with ZERO in the places of tuples that ◀f does not read."""
    sources = ways.sources
    read = {place[1:] for name in sources.backward if (place := sources.place(name)) is not None}
    whole = sources.read_elsewhere()
    seen = {made for made, _ in read}

    def put(instruction: Instruction) -> Instruction:
        made = instruction.targets[0]
        if made not in seen - whole:
            return instruction
        items = (o if (made, i) in read else NOTHING for i, o in enumerate(instruction.operands))
        return replace(instruction, operands=tuple(items))

    blocks = (replace(b, instructions=tuple(map(put, b.instructions))) for b in forward.blocks)
    return replace(forward, blocks=tuple(blocks))


def _unwrapped(ways: Ways, parcels: Iterable[Parcel]) -> Function:
    """◀f, which takes parcels apart where it reads what is in them. Names are assigned more than once."""
    inside = {(p.made, i): (p.places[0], k) for p in parcels for k, i in enumerate(p.places)}
    parts: dict[str, tuple[str, int, int]] = {}
    for name in ways.sources.backward:
        if (place := ways.sources.place(name)) is not None and place[1:] in inside:
            parts[name] = place[0], *inside[place[1:]]
    read = _reads(ways.function)
    blocks = []
    for block in ways.function.blocks:
        here = [(name, *parts[name]) for name in parts if block.label in read.get(name, ())]
        whole = {(x, first): f"parcel of {x} {first}" for _, x, first, _ in here}
        instructions = [Instruction((name,), GETITEM, (Name(x), Literal(first))) for (x, first), name in whole.items()]
        instructions += [Instruction((name,), GETITEM, (Name(whole[x, first]), Literal(k))) for name, x, first, k in here]
        rest = (i for i in block.instructions if not parts.keys() & set(i.targets))
        blocks.append(replace(block, instructions=(*instructions, *rest)))
    return replace(ways.function, blocks=tuple(blocks))
