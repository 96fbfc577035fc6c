"""
Frames: what is left to do after a call, as a tuple of its kind, the frames below it, and what is live then.

FRAME, which makes one, is `make_tuple` by another identity, so that frames are told from the tuples of a program. A field that
frames of one kind do not have is ABSENT there, and nothing reads it. RESULT is the result of a call, where that is gone on from;
where another function returned, it is ZERO.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.ssa.form import Instruction, Label, Literal, Name, Operand
from semantics.values import Unbound

RESULT = Primitive("result", ("x",), ("any",), "any", columns={"meaning": lambda x: x, "type": lambda x: x})
FRAME = replace(TABLE["make_tuple"])
GETITEM = TABLE["getitem"]
ABSENT = Literal(Unbound("a field of frames of another kind"))
FRAMES = "the frames"
LAST = Name(FRAMES)
FIRST = 2  # of the fields, the first that is a live value


class Frames:
    """
    The frames of one loop.

    kinds   for each kind, the block that goes on from there
    slots   for each name that is live in some of them, its field
    """

    def __init__(self) -> None:
        self.kinds: list[Label] = []
        self.slots: dict[str, int] = {}

    def kind(self, label: Label) -> int:
        """A new kind, which goes on at a block."""
        self.kinds.append(label)
        return len(self.kinds) - 1

    def push(self, kind: int, live: Mapping[str, Operand], below: Operand = LAST) -> Instruction:
        """frames ← (kind, below, live…); to be written when all slots are known"""
        held = {self.slots[name]: operand for name, operand in live.items()}
        fields = (held.get(FIRST + k, ABSENT) for k in range(len(self.slots)))
        return Instruction((FRAMES,), FRAME, (Literal(kind), below, *fields))

    def pop(self, names: Iterable[str]) -> tuple[Instruction, ...]:
        """names ← their fields of the last frame; frames ← those below it"""
        slots = {name: self.slots.setdefault(name, FIRST + len(self.slots)) for name in names}
        fields = (Instruction((name,), GETITEM, (Name(FRAMES), Literal(k))) for name, k in slots.items())
        return *fields, Instruction((FRAMES,), GETITEM, (Name(FRAMES), Literal(1)))
