"""
What the modes are asked: one program, one point, the arguments to differentiate by, first or second order.

At first order a mode answers with the value and the gradient. At second order it is applied to its own output: the answer is the
second derivative if one real is asked for, the Hessian if several are, and for arrays, records and tuples the product of the
Hessian with a fixed direction: 1, -1/2, 1/4, -1/8, 1/16, -1, … over their reals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from checkers.columns.leaves import Path, at_path, coordinates, is_discrete, map_leaves
from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Parameter, Program
from semantics.machine import FUEL
from semantics.primitives.table import TABLE
from semantics.type_language import REAL, type_of
from transforms.gradient_programs import Wrt, differentiated
from transforms.nested_grad import expand


@dataclass(frozen=True)
class Question:
    """
    program    as it was parsed: macros inside are expanded by each mode in its own way
    arguments  values of the language
    wrt        positions; `several` says that the answer is to be a tuple, one part for each
    """

    program: Program
    arguments: tuple[Any, ...]
    wrt: tuple[int, ...]
    several: bool = False
    order: int = 1
    fuel: int = FUEL

    @cached_property
    def expanded(self) -> Program:
        """The program without macros, for the value and for the oracles."""
        return expand(self.program)

    @cached_property
    def types(self) -> tuple[Any, ...]:
        return tuple(type_of(a) for a in self.arguments)

    @property
    def asked(self) -> Wrt:
        """`wrt` as the macros want it."""
        return self.wrt if self.several else self.wrt[0]

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The coordinates of the reals that are differentiated by."""
        return tuple(p for p in coordinates(self.arguments) if p[0] in self.wrt)

    @property
    def by_products(self) -> bool:
        """Whether second order is asked for along a direction, because an argument is more than one real."""
        return self.order == 2 and any(self.types[i] != REAL for i in self.wrt)

    @property
    def asks_for(self) -> str:
        """What the column of derivatives holds."""
        if self.order == 1:
            return "gradient"
        if self.by_products:
            return "Hessian × direction"
        return "Hessian" if self.several else "second derivative"

    @cached_property
    def direction(self) -> tuple[Any, ...]:
        """The fixed direction, in the structure of the arguments; None where they are not differentiated by."""
        number = {path: (-1.0) ** k / 2.0 ** (k % 5) for k, path in enumerate(self.paths)}
        return tuple(map_leaves(lambda path, _: number.get(path), self.arguments))

    def derivative(self, mode: str) -> Program:
        """The program that answers, made by a reverse mode; its arguments are `inputs`. Malformed where the mode does not reach."""
        return expand(self._unexpanded(), mode)

    def _unexpanded(self) -> Program:
        if self.order == 1:
            return differentiated(self.program, self.asked, "value_and_grad", self.types)
        if not self.by_products:
            return differentiated(self.program, self.asked, "hessian", self.types)
        along = self.directional()
        return differentiated(along, self.asked, "grad", (*self.types, *(self.types[i] for i in self.wrt)))

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The arguments, and at second order the direction if there is one."""
        return (*self.arguments, *(self.direction[i] for i in self.wrt)) if self.by_products else self.arguments

    def directional(self) -> Program:
        """(x…, v…) ↦ Σ vᵢ · gradᵢ(x…), with the macro unexpanded."""
        edit = Edit(differentiated(self.program, self.wrt, "grad", self.types))
        graph, gradient = edit.graph("directional"), edit.reference(edit.program.entry)
        xs = [edit.parameter(graph, f"x{i}", t) for i, t in enumerate(self.types)]
        vs = [edit.parameter(graph, f"v{i}", self.types[i]) for i in self.wrt]
        parts = edit.apply(graph, gradient, *xs)
        terms = [
            edit.call(graph, TABLE["inner"], edit.call(graph, TABLE["getitem"], parts, edit.constant(k)), v)
            for k, v in enumerate(vs)
        ]
        edit.output(graph, reduce(lambda a, b: edit.call(graph, TABLE["add"], a, b), terms))
        edit.set_entry(graph)
        return edit.program

    def gathered(self, found: dict[Path, Any]) -> Any:
        """Numbers by coordinate in the structure of what is asked for; None where an argument is discrete."""
        whole = map_leaves(lambda path, _: found.get(path), self.arguments)
        return tuple(whole[i] for i in self.wrt) if self.several else whole[self.wrt[0]]

    def taken(self, gradient: Sequence[Any]) -> Any:
        """Of a gradient by all arguments the parts that are asked for."""
        return tuple(gradient[i] for i in self.wrt) if self.several else gradient[self.wrt[0]]

    def of_order(self, order: int) -> Question:
        return replace(self, order=order)


def question(program: Program, arguments: Sequence[Any], wrt: Wrt | None = None, order: int = 1, fuel: int = FUEL) -> Question:
    """
    The question about `program` at `arguments`. By default `wrt` are all arguments that hold reals.

    Malformed if there is nothing to differentiate by.
    """
    names = [_name(program, i) for i in range(len(program.graphs[program.entry].parameters))]
    if len(arguments) != len(names):
        raise Malformed(f"the program takes {len(names)} arguments ({', '.join(names)}), {len(arguments)} given", rule="agree")
    real = tuple(dict.fromkeys(path[0] for path in coordinates(arguments)))
    if wrt is None:
        wrt = real if len(real) != 1 else real[0]
    parts = wrt if isinstance(wrt, tuple) else (wrt,)
    positions = tuple(_position(part, names) for part in parts)
    if not positions or any(p not in real for p in positions):
        raise Malformed(
            "no real is differentiated by"
            if not positions
            else f"{names[next(p for p in positions if p not in real)]} holds no real",
            rule="agree",
            remedy="give an argument such as 2.0, or choose another with --wrt",
        )
    return Question(program, tuple(arguments), positions, isinstance(wrt, tuple), order, fuel)


def _name(program: Program, index: int) -> str:
    node = program.nodes[program.graphs[program.entry].parameters[index]]
    assert isinstance(node, Parameter)
    return node.name or f"argument {index}"


def _position(part: int | str, names: Sequence[str]) -> int:
    if isinstance(part, str) and part in names:
        return names.index(part)
    if isinstance(part, int) and -len(names) <= part < len(names):
        return part % len(names)
    raise Malformed(
        f"wrt is {part!r}, but the arguments are {', '.join(names) or 'none'}", rule="agree", remedy="a position or a name"
    )


def unit(asked: Question, path: Path) -> tuple[Any, ...]:
    """The direction along one coordinate, in the structure of the arguments that are differentiated by."""
    return tuple(map_leaves(lambda at, leaf: None if is_discrete(leaf) else 1.0 if at == path else 0.0, asked.arguments))


def along_asked(asked: Question, direction: Sequence[Any]) -> tuple[Any, ...]:
    """Of a direction in all arguments the parts that `directional` takes."""
    return tuple(at_path(tuple(direction), (i,)) for i in asked.wrt)
