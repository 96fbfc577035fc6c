"""
Lowering: a typed program to first-order code, as one Python source that every target reads.

Each signature of a graph is a block. A tail call is a jump, its arguments moved in parallel; a call in any other place opens a
region, inlined where it is the only one, else a function of its own. Loops and merges become `while` and `if`
(`backend.lowering.flow`); every jump is the last thing its path does, so a jump that does not continue the innermost loop is a note
in `_go` of where it leads, read where the paths meet.

Captured values are arguments like others, so a closure needs no memory; other recursion is made a loop first (`backend.recursion`).
What is refused, with its reason: recursion that gives functions, closures without end, and functions or zeros at the boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from backend.arrays.carried import with_carried_sizes
from backend.arrays.tightening import tightened
from backend.lowering.copies import goes_further, has_left, is_crowded
from backend.lowering.emit import text_of, without
from backend.lowering.entry_values import without_copies
from backend.lowering.expansion import ENDLESS, LONG, RECURSION, SEQUENCE
from backend.lowering.first_order import Lowered
from backend.lowering.regions import IRREDUCIBLE, Regions
from backend.lowering.shape import DEFAULTS, default, make, scalars
from backend.lowering.straight import Emission, unnamed
from backend.lowering.strips import in_strips
from backend.lowering.subset import mentioned, reached, refuse_uncompiled
from backend.prelude import closure
from backend.recursion.cells import MEETING
from backend.recursion.families import families, made_apart
from backend.recursion.program import without_recursion
from backend.stacks.arrays import HEAP
from backend.stacks.cell_types import RANK, StackInference, joined, without_zero
from backend.stacks.cells import Sites
from backend.stacks.layout import ROOMS, laid_out
from backend.stacks.sensitivities import with_tuples
from backend.stacks.sites import Flows, holders_of, sites_of
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel
from semantics.infer import Inference, Signature, entry_types
from semantics.ir import Program
from semantics.type_language import UNIT, ArrayType, FunctionType, RecordType, Scalar, TupleType
from semantics.type_lattice import NEVER, UNBOUND, Union, erase
from transforms.directed import components

CROWD = 160
"""Signatures of graphs, beyond which there is one for each graph if there can be."""
VARIETY = 480
"""Signatures of a crowd that cannot be fewer, beyond which no code is made: it would be compiled for minutes."""


def lower(program: Program, argument_types: Sequence[Any] | None = None, *, linked: bool = False, fast: bool = False) -> Lowered:
    """
    The source of `program` at these argument types, with sums over arrays in any order if `fast`.

    Malformed or IllTyped with the reason where there is none.
    """
    try:
        return _lower(program, argument_types, linked, fast)
    except (IllTyped, Malformed) as refusal:
        tuples = with_tuples(program)  # a call may stand between the parts of a sum, which the loops then keep apart
        program = made_apart(tuples)
        if refusal.rule not in (ENDLESS, RECURSION, SEQUENCE) and (refusal.rule == LONG or program is tuples):
            raise
        if (looped := without_recursion(program, sums=not linked, levels=not linked)) is None:
            raise
    try:
        return _lower(looped, argument_types, linked, fast)
    except (IllTyped, Malformed):
        looped = without_recursion(program, sums=not linked)
        assert looped is not None, "there is a recursion, or no code would be asked for"
        return _lower(looped, argument_types, linked, fast)


def _lower(program: Program, argument_types: Sequence[Any] | None, linked: bool, fast: bool) -> Lowered:
    """The same, of a program whose recursions are loops."""
    program = with_tuples(without_copies(program))
    flows = Flows(program)
    below = sites_of(program, flows)
    stacks = below, holders_of(program, flows, below), families(program, flows, below, linked)
    try:
        return _lowered(program, argument_types, stacks, linked, literals=False, fast=fast, ranked=True)
    except (IllTyped, Malformed, OutOfFuel) as error:
        if error.rule in (RECURSION, LONG):
            raise
        has_open_ranks = error.rule == RANK
    try:
        return _lowered(program, argument_types, stacks, linked, literals=True, fast=fast)
    except (IllTyped, Malformed, OutOfFuel) as error:
        if has_open_ranks:
            with suppress(IllTyped, Malformed, OutOfFuel):
                return _lowered(program, argument_types, stacks, linked, literals=False, fast=fast)
        refuse_uncompiled(program, mentioned(program))
        if isinstance(error, OutOfFuel):
            raise Malformed(f"not closure-free after optimization: {error.what}", rule=ENDLESS, remedy=error.remedy) from None
        if not isinstance(error, IllTyped):
            raise
        try:
            return _lowered(program, argument_types, stacks, linked, literals=True, fast=fast, partial=True)
        except (IllTyped, Malformed, OutOfFuel) as other:
            raise other if other.rule == RECURSION else error from None


def _lowered(
    program: Program,
    types: Sequence[Any] | None,
    stacks: Any,
    linked: bool,
    *,
    literals: bool,
    fast: bool,
    partial: bool = False,
    ranked: bool = False,
) -> Lowered:
    """
    The same, whether or not known integers and booleans travel through calls, whether the code may give up where there is None or
    ZERO in place of a value, and whether the rank of every array must be known: else there is code for each.

    What may be ZERO at first and not in later turns has code of its own. Where that would be too much code, or would enter a loop
    at two places, the program is inferred again without it. Such a loop gets a head if there still is one. Where it makes several
    loops more, or one that goes on in its middle, both are written, and it is looked which of them goes over ranges
    (`backend.lowering.copies`).
    """
    below, _, cells = stacks
    inferrer = StackInference(program, literals, *stacks, partial=partial, ranked=ranked)
    inference = inferrer.run(entry_types(program, types))
    refuse_uncompiled(program, reached(inference))

    def written(inferrer: StackInference, inference: Inference, *, heads: bool) -> Lowered:
        return _Lowering(program, inference, Sites(below, inferrer.cells, linked, cells), fast, heads=heads).run()

    def joined() -> Lowered:
        again = StackInference(program, literals, *stacks, inference, partial=partial)  # type: ignore[arg-type, misc]
        return written(again, again.run(entry_types(program, types)), heads=True)

    if len(inference.types) > CROWD:
        with suppress(IllTyped, Malformed, OutOfFuel):
            return joined()
        if len(inference.types) > VARIETY:
            what = f"{len(inference.types)} types of {len(program.graphs)} graphs, and no fewer would do"
            raise Malformed(what, rule=LONG, remedy="run it on the reference machine, or leave it to the virtual machine")
    try:
        found = written(inferrer, inference, heads=False)
    except Malformed as error:
        if error.rule != IRREDUCIBLE:
            raise
        return joined()
    if is_crowded(program, inference) and has_left(found.alone, around=True):
        with suppress(IllTyped, Malformed, OutOfFuel):
            if goes_further((fewer := joined()).alone, found.alone):
                return fewer
    return found


class _Lowering(Regions):
    """The judgments before any code, and the functions around the regions."""

    def run(self) -> Lowered:
        entry, result = self.inference.entry, self.inference.result
        if result == NEVER:
            raise IllTyped("no run of the program returns", rule="lower", remedy="every path traps or loops for ever")
        result = _given_out(result)
        for type in (*entry.arguments, result):
            _at_boundary(type)
        self.recursion()
        parts = [self.function(entry, "kernel")]
        while self.waiting:
            signature = self.waiting.pop()
            parts.append(self.function(signature, self.functions[signature]))
        parts.reverse()
        parts[-1] = with_carried_sizes(parts[-1], "\n".join(parts[:-1]))
        parts, widths = laid_out(parts, self.sites.arenas)
        helpers = [f"@_device\n{text}" for text in closure(self.helpers)]
        before = [*(f"{name} = {text}" for text, name in self.constants.items()), *helpers]
        arguments = tuple(r.type for t in entry.arguments for r in scalars(make(t, unnamed)))
        shared = any(isinstance(t, ArrayType) for t in arguments) or any("_empty(" in part or "_full(" in part for part in parts)
        single = [without(part, lambda line: line.strip() == MEETING) for part in parts]
        tight = [text for part in map(tightened, single) for text in (in_strips(part) if shared else [part])]
        source, alone = _together(before, parts if shared else single), _together(before, tight)
        results = tuple(r.type for r in scalars(make(result, unnamed)))
        types, heap = tuple(map(erase, entry.arguments)), HEAP in self.counters()
        return Lowered(source, arguments, results, types, result, bool(self.sites.arenas), widths, heap, alone, self.fast)

    def recursion(self) -> None:
        """Malformed if a call that is not in tail position can lead back to its caller. Also counts the places of such calls."""
        calls = self.inference.calls
        component = components({s: [t for at in calls[s].values() for t in at] for s in calls})
        for caller, at in calls.items():
            for node, callees in at.items():
                if node == self.tail(caller):
                    continue
                for callee in callees:
                    self.uses[callee] = self.uses.get(callee, 0) + 1
                    if component[callee] == component[caller]:
                        raise Malformed(
                            f"general recursion: @{self.program.graphs[caller.graph].name} calls itself through "
                            f"@{self.program.graphs[callee.graph].name}, and not as the last thing that it does",
                            rule=RECURSION,
                            node=self.program.describe(node),
                            location=getattr(self.program.nodes[node], "location", None),
                            remedy="write it as a loop with an accumulator, or run it on the reference machine",
                        )

    def function(self, signature: Signature, name: str) -> str:
        """The text of one function."""
        inside = name != "kernel"
        self.state = ("fuel", *self.counters())
        self.left = self.state if inside else ("fuel",)
        rooms = (ROOMS,) if self.sites.arenas else ()
        self.code = body = [
            *rooms,
            "_go = 0",
            *(f"{counter} = {first}" for counter, first in self.counters().items() if not inside),
        ]
        result = self.inference.results[signature]
        self.result = result = result if inside else _given_out(result)
        parameters: list[str] = []

        def parameter(type: Scalar) -> str:
            parameters.append(f"a{len(parameters)}")
            return parameters[-1]

        captured = tuple(make(t, parameter) for t in signature.captured)
        arguments = tuple(make(t, parameter) for t in signature.arguments)
        self.returns = () if result == NEVER else _some(result, [r for a in (*captured, *arguments) for r in scalars(a)])
        _trampoline(self.region(signature, captured, arguments, None, 0))
        text = text_of(body)
        if "_go ==" not in text and "_go !=" not in text:
            text = without(text, lambda line: line.strip().startswith("_go ="))
        hidden = [*self.state, *self.hidden] if inside else [*self.hidden[:-1], "fuel", "one"]
        return f"def {name}({', '.join([*parameters, *hidden])}):\n{text}"


def _together(before: Sequence[str], functions: Sequence[str]) -> str:
    return "\n\n\n".join([*before, *(f"@_device\n{text}" for text in functions)]) + "\n"


def _some(result: Any, parameters: list[Any]) -> tuple[str, ...]:
    """Some results of a type: of arrays, parameters that have theirs, since these are there already."""
    arrays = {(r.type.dtype, len(r.type.dims)): r.text for r in parameters if isinstance(r.type, ArrayType)}

    def text(r: Any) -> str:
        return arrays.get((r.type.dtype, len(r.type.dims)), r.text) if isinstance(r.type, ArrayType) else str(r.text)

    named = scalars(make(result, unnamed))
    return tuple(text(replace(some, type=of.type)) for some, of in zip(scalars(default(result)), named, strict=True))


def _given_out(type: Any) -> Any:
    """
    The type of a result: no run gives ZERO where another value is possible; it stands for a path that was not taken. A run that
    gives a variable which it has not assigned ends there, and is the machine's.
    """
    match type:
        case TupleType(parts) | RecordType(_, parts):
            return replace(type, items=tuple(map(_given_out, parts)))
        case Union(parts):
            return without_zero(joined(part for part in parts if part != UNBOUND))
        case _:
            return type


def _at_boundary(type: Any) -> None:
    """IllTyped unless values of the type can cross the boundary of compiled code."""
    match type:
        case TupleType(parts) | RecordType(_, parts) | Union(parts):
            for part in parts:
                _at_boundary(part)
        case FunctionType():
            raise IllTyped(
                f"a function, {type}, at the boundary of compiled code", rule="lower", remedy="call it inside the program"
            )
        case ArrayType(_, _, holes) if not holes:
            return
        case _ if type not in DEFAULTS and type != UNIT:
            remedy = 'numbers, booleans, tuples and records of them; or target="reference"'
            raise IllTyped(f"{type} at the boundary of compiled code", rule="lower", remedy=remedy)


def _trampoline(first: Emission) -> Any:
    """Runs generators that yield the generators they depend on."""
    frames = [first]
    value: Any = None
    error: BaseException | None = None
    while frames:
        try:
            request = frames[-1].throw(error) if error is not None else frames[-1].send(value)
        except StopIteration as end:
            frames.pop()
            value, error = end.value, None
        except AdjudgeError as raised:
            frames.pop()
            value, error = None, raised
        else:
            value, error = None, None
            frames.append(request)
    if error is not None:
        raise error
    return value
