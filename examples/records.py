"""
A fold over a tree of records, and a record with methods and an operator. The sensitivity of a record is a record.

`adjudge run examples/records.py:fold 'Branch(Leaf(2.0), Branch(Leaf(3.0), Leaf(5.0), 0.5), 1.5)' --grad tree`
"""

import math
from dataclasses import dataclass
from typing import NamedTuple


class Leaf(NamedTuple):
    value: float


class Branch(NamedTuple):
    left: Leaf
    right: Leaf
    weight: float


def fold(tree):
    """The weights multiply what is below them."""
    if isinstance(tree, Leaf):
        return tree.value
    return tree.weight * (fold(tree.left) + math.sin(fold(tree.right)))


@dataclass(frozen=True)
class Vector:
    x: float
    y: float = 0.0

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def length(self):
        return math.hypot(self.x, self.y)


def walk(steps):
    """How far one is from the start after a list of steps."""
    here = Vector(0.0)
    for step in steps:
        here = here + step
    return here.length()
