"""
The first-order forms of programs, remembered: what `backend.lowering.lower` makes is found again by the text of the program and its
types.

Whether there is one is known without loading what lowers, which a first call does not wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backend import classes, store
from backend.lowering.expansion import HOPELESS, first_that_fits
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.ir import Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import ArrayType, Scalar


@dataclass(frozen=True)
class Lowered:
    """
    The generated source; the scalar types that `kernel` takes (before memory, fuel and one) and gives (before fuel and status).

    stacks   whether it has stacks, and so takes memory for them
    widths   how many scalars a cell takes, of each stack whose cells have some
    heap     whether cells have arrays, whose elements are in the memory behind the cells
    alone    the source for one processor: the same numbers with fewer loops and less memory
    fast     whether its sums may be in any order
    ahead    whether lists are arrays in it, so that the machine has to say what its traps are
    summing  whether sums that begin with an integer are taken to have a turn (`backend.lowering.starts`)
    """

    source: str
    arguments: tuple[Scalar, ...]
    results: tuple[Scalar, ...]
    argument_types: tuple[Any, ...]
    result_type: Any
    stacks: bool = False
    widths: tuple[int, ...] = ()
    heap: bool = False
    alone: str = ""
    fast: bool = False
    ahead: bool = False
    summing: bool = False

    @property
    def width(self) -> int:
        """The scalars that a cell of each stack takes together."""
        return sum(self.widths)

    @cached_property
    def blocked(self) -> tuple[str, tuple[int, ...]]:
        """
        The source for one processor with results as rows of one block (`backend.arrays.one_block`), and which those are. Not where
        there are stacks: of such code there is another form, and it is called in the same way.
        """
        from backend.arrays.one_block import in_one_block

        return in_one_block(self.alone, len(self.results)) if self.arrays and not self.stacks else (self.alone, ())

    @property
    def given(self) -> tuple[Any, ...]:
        """The types of what an entry gives before the status: the results that are no rows, and the block of those that are."""
        _, rows = self.blocked
        kinds: tuple[Any, ...] = self.results
        block = tuple(ArrayType(kinds[k].dtype, (None, *kinds[k].dims)) for k in rows[:1])
        return (*(kind for k, kind in enumerate(kinds) if k not in rows), *block)

    @property
    def arrays(self) -> bool:
        """Whether there are arrays in it."""
        return "_empty(" in self.source or any(isinstance(t, ArrayType) for t in (*self.arguments, *self.results))


def lowered(
    program: Program,
    argument_types: Sequence[Any] | None = None,
    *,
    mode: str = "J",
    optimize: bool = True,
    linked: bool = False,
    fast: bool = False,
    nothing: bool = False,
) -> Lowered:
    """
    The first-order form of a program, its derivatives expanded (`backend.lowering.expansion`), optimized before where the optimizer
    is there; as it is where that cannot be lowered. With `nothing`, it knows sums of nothing. Remembered by the program's text.
    """

    seedless = False

    def expanded(program: Program) -> Lowered:
        from backend.lowering.lower import lower
        from backend.lowering.seeds import has_seeds

        nonlocal seedless
        if optimize and (better := optimized(declared(program, argument_types))) is not None:
            seedless = has_seeds(program) and not has_seeds(better)
            try:
                return lower(better, argument_types, linked=linked, fast=fast)
            except AdjudgeError as error:
                if error.rule in HOPELESS:
                    raise
                return lower(program, argument_types, linked=linked, fast=fast)
        return lower(program, argument_types, linked=linked, fast=fast)

    def made() -> Lowered:
        from backend.lists.gathering import gathered
        from backend.lists.promotion import promoted
        from backend.lowering.absent import without_absent
        from backend.lowering.subset import refuse_memory

        without = promoted(without_absent(program, argument_types))
        refuse_memory(without, argument_types)
        arrays = gathered(without, argument_types)
        try:
            return fitting(without, arrays)
        except AdjudgeError as refusal:
            if refusal.rule in HOPELESS or (more := gathered(without, argument_types, known=True)).canonical == arrays.canonical:
                raise
            with suppress(AdjudgeError):
                return fitting(without, more)
            raise

    def fitting(without: Program, arrays: Program) -> Lowered:
        from backend.lowering.seeds import refuse_whole_numbers
        from backend.lowering.starts import with_reals

        begun = arrays if nothing else with_reals(arrays, argument_types)
        found = first_that_fits(begun, mode, expanded, argument_types)
        if seedless:
            refuse_whole_numbers(begun, argument_types)
        return replace(found, ahead=arrays is not without, summing=begun is not arrays)

    if (key := key_of(program, argument_types, mode, optimize, linked, fast, nothing)) is None:
        return made()
    found = store.remembered(key, lambda: _typed(made(), classes.of_none))
    classed = classes.known(program, argument_types)
    return _typed(found, lambda type: classes.of_classes(type, classed)) if classed else found


def _typed(code: Lowered, of: Callable[[Any], Any]) -> Lowered:
    """The code with another form of its types."""
    return replace(code, argument_types=tuple(map(of, code.argument_types)), result_type=of(code.result_type))


def is_lowered(program: Program, argument_types: Sequence[Any] | None, mode: str = "J") -> bool:
    """Whether `lowered` need only remember."""
    key = key_of(program, argument_types, mode, True, False)
    return key is not None and store.is_remembered(key)


def key_of(
    program: Program,
    argument_types: Sequence[Any] | None,
    mode: str,
    optimize: bool,
    linked: bool,
    fast: bool = False,
    nothing: bool = False,
) -> str | None:
    """Everything that decides what is lowered; None for a program with a primitive of the user's, which no text tells."""
    if any(isinstance(p, Primitive) and TABLE.get(p.name) is not p for p in program.interned):
        return None
    types = ", ".join(map(str, argument_types)) if argument_types is not None else "declared"
    return f"{program.canonical} {types} {mode} {optimize} {linked} {fast}{' nothing' * nothing}"


def declared(program: Program, argument_types: Sequence[Any] | None) -> Program:
    """The program whose entry declares these types where it declares none: the optimizer may rely on them."""
    parameters = program.graphs[program.entry].parameters
    if argument_types is None or len(argument_types) != len(parameters):
        return program
    nodes = program.nodes
    for node, type in zip(parameters, argument_types, strict=True):
        found = nodes[node]
        if isinstance(found, Parameter) and found.type is None:
            nodes = nodes.set(node, replace(found, type=type))
    return replace(program, nodes=nodes)


def optimized(program: Program) -> Program | None:
    """The optimizer's result; None if there is no optimizer, or it gives up."""
    try:
        from transforms.pipeline import optimize

        return optimize(program)
    except (ImportError, OutOfFuel):
        return None
