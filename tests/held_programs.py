"""
Functions whose arrays are held in tuples, lists and closures, and by frames that wait, while more is made of them: what tests of
the machine's memory share. The same array may be held several times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from semantics.arrays import size_of
from semantics.columns.types import apply_type
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.shapes import known
from semantics.structured import LIST
from semantics.type_language import ArrayType, type_of
from semantics.type_lattice import NEVER, of_constant

LARGEST = 60
"""Elements of an array that a step may make: steps that repeat would make any number of them."""

SHAPES = ((2, 3), (3,), (2, 1), (1, 3), (2, 2, 3), (4, 3))
HOW: dict[str, tuple[Any, ...]] = {
    "reshape": ((3, 2), (-1,), (1, -1), (-1, 3), (-1, 1)),
    "broadcast_to": SHAPES,
    "expand_dims": (0, 1, -1),
    "reduce_sum": (None, 0, 1, (0, 1), -1, ()),
    "spread": (None, 0, 1, (0, 1)),
    "getitem": (0, 1, -1),
    "inject": (0, 1, -1),
    "put": (0, 1, -1),
}
"""What a row is told besides its operands."""

Step = tuple[str, int, int, int]
MAKE = ("mul", "mul", "mul", "mul", "reshape", "broadcast_to", "spread", "reduce_sum", "sum_to", "sum_to", "expand_dims")
READ = ("add", "neg", "sin", "matmul", "gadd", "gadd", "instantiate", "shape", "getitem", "inject", "put", "where")
HOLD = ("make_tuple", "make_tuple", "make_record", "called", "called", "part", "part")
BACK = st.sampled_from((0, 0, 0, 1, 1, 2, 3, 5, 8))
STEPS = st.lists(st.tuples(st.sampled_from(MAKE + READ + HOLD), BACK, BACK, st.integers(0, 30)), min_size=5, max_size=14)
"""What a step makes, two values that it makes it of, counted from the last, and what else there is to choose."""


class Held:
    """A function that is being made: its values, and their types as far as they are known."""

    def __init__(self, operands: Sequence[Any]) -> None:
        self.edit = Edit(empty())
        self.graph = self.edit.graph("f")
        self.found = [self.edit.parameter(self.graph, f"x{k}") for k in range(len(operands))]
        self.types = [type_of(x) for x in operands]

    def step(self, name: str, a: int, b: int, c: int) -> None:
        """One more value, if it is no error and not large."""
        x, y, z = (len(self.found) - 1 - k % len(self.found) for k in (a, b, c))
        how = HOW[name][c % len(HOW[name])] if name in HOW else None
        if name == "called":
            self.called(x, y, z)
        elif name == "part":
            self.make("getitem", [x], c % 2)
        elif name == "make_record":
            self.make(name, [x, y][: 1 + c % 2], first=LIST)
        elif name in ("reshape", "broadcast_to", "expand_dims", "getitem"):
            self.make(name, [x], how)
        elif name == "reduce_sum":
            self.make(name, [x], how, c % 4 == 0)
        elif name == "spread":
            if self.make("reduce_sum", [x], how, c % 3 == 0):
                self.make(name, [-1, x], how, c % 3 == 0)
        elif name in ("inject", "put"):
            self.placed(name, x, how)
        elif name == "where":
            self.chosen(x, y, z)
        else:
            self.make(name, [x, y][: len(TABLE[name].signature)] if "*" not in TABLE[name].parameters else [x, y])

    def make(self, name: str, at: Sequence[int], *constants: Any, first: Any = None) -> bool:
        """Whether there is a row of some values, and of constants behind or before them."""
        ahead = () if first is None else (first,)
        types = [*map(of_constant, ahead), *(self.types[k] for k in at), *map(of_constant, constants)]
        nodes = [*map(self.edit.constant, ahead), *(self.found[k] for k in at), *map(self.edit.constant, constants)]
        return self.keep(name, types, nodes)

    def placed(self, name: str, x: int, index: int) -> None:
        """A part of a value: its sensitivity, or put at another place."""
        if self.make("getitem", [x], index):
            types = [self.types[x], of_constant(index if name == "inject" else 0), self.types[-1]]
            self.keep(name, types, [self.found[x], self.edit.constant(index if name == "inject" else 0), self.found[-1]])

    def chosen(self, x: int, y: int, z: int) -> None:
        """What is larger, by elements, if it is no error."""
        asked = type_made("lt", self.types[x], self.types[y])
        if asked is not NEVER:
            node = self.edit.call(self.graph, TABLE["lt"], self.found[x], self.found[y])
            self.keep("where", [asked, self.types[y], self.types[z]], [node, self.found[y], self.found[z]])

    def called(self, x: int, y: int, z: int) -> None:
        """x times y, and that times z, in a function that has captured x and z, while this one waits; three times."""
        inner = type_made("mul", self.types[x], self.types[y])
        made = type_made("mul", inner, self.types[z])
        if made is NEVER or is_large(inner) or is_large(made):
            return
        graph = self.edit.graph("g")
        given = self.edit.parameter(graph, "y")
        product = self.edit.call(graph, TABLE["mul"], self.found[x], given)
        again = self.edit.call(graph, TABLE["mul"], product, self.found[z])
        self.edit.output(graph, self.edit.call(graph, TABLE["make_tuple"], product, again, product))
        function = self.edit.reference(graph)
        for k in (0, 1, 2):
            node = self.edit.apply(self.graph, function, self.found[y])
            self.found.append(self.edit.call(self.graph, TABLE["getitem"], node, self.edit.constant(k)))
            self.types.append((inner, made, inner)[k])

    def keep(self, name: str, types: Sequence[Any], nodes: Sequence[Any]) -> bool:
        """Whether there is one value more: the row's, if it is no error and not large."""
        made = type_made(name, *types)
        if made is NEVER or is_large(made):
            return False
        self.found.append(self.edit.call(self.graph, TABLE[name], *nodes))
        self.types.append(made)
        return True


def type_made(name: str, *operands: Any) -> Any:
    """The type of a row of operands of these types; NEVER where it fails."""
    try:
        return apply_type(TABLE[name], operands)
    except AdjudgeError:
        return NEVER


def is_large(type: Any, most: int = LARGEST) -> bool:
    """Whether it is an array of more than so many elements."""
    return isinstance(type, ArrayType) and None not in type.dims and size_of(known(type.dims)) > most


def held(steps: Sequence[Step], operands: Sequence[Any]) -> Program:
    """A function of these operands: each step makes a value of those before, and all of them are the result."""
    made = Held(operands)
    for step in steps:
        made.step(*step)
    made.edit.output(made.graph, made.edit.call(made.graph, TABLE["make_tuple"], *made.found[len(operands) :]))
    return made.edit.program
