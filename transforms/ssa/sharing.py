"""What the arithmetic of a block reads several times of what the block was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from semantics.primitives.row import Primitive
from semantics.ssa.form import Block, Instruction
from transforms.elementwise_pullback import is_elementwise


def shared(block: Block, flows: Callable[[Instruction], Iterable[int]]) -> tuple[str, ...]:
    """
    The names that elementwise primitives of a block read more than once, and that the block was given; `flows` says of an
    instruction to which of its operands a gradient flows.

    An index is none of them: what it reads of an array is added to its place, where a sum of two such would be an array of its own.
    """
    made = {name for instruction in block.instructions for name in instruction.targets}
    reading = (i for i in block.instructions if is_arithmetic(i) and i.targets != ("_",))
    read = Counter(i.operands[k].text for i in reading for k in flows(i))  # type: ignore[union-attr]
    return tuple(name for name, count in read.items() if count > 1 and name not in made)


def is_arithmetic(instruction: Instruction) -> bool:
    """Whether it applies an elementwise primitive."""
    return isinstance(instruction.callee, Primitive) and is_elementwise(instruction.callee)
