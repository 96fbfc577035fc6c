"""
The engine of every transform: named rules with laws, run one step at a time and recorded, or with a worklist for speed.

Two shapes of system share one interface (`name`, `rules`, `enabled`, `final`, `render`, `run`, `derive`):

    RewriteSystem  its state is a Program; a rule looks at one place (a node or a graph) and answers with a new program or None
    AgendaSystem   its state says itself what comes next; exactly one rule is enabled until it is final (`transforms.agenda_system`)

That both ways of running a RewriteSystem end in the same program up to renaming is a property (T23), not a hope.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from semantics.collector import at_rest
from semantics.derivation import Derivation, Step, Strategy, derive, first, law_of
from semantics.errors import Crash, OutOfFuel
from semantics.ir import Apply, Constant, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.wellformed import check
from transforms.places import Shape, describe_place, neighbours, places, shape_of

FUEL = 1_000_000
MANY = 10_000
LATER = 1 << 60  # more than any identifier


@dataclass(frozen=True, slots=True)
class Rewrite:
    """
    A rule on programs. `function(program, place)` answers with the new program, or None where the rule does not apply.

    domain     the equality it keeps: "BITS" (every value bit for bit), "IEEE" (one NaN), "REAL" (over the reals)
    condition  the side condition under which it does, as text; empty if none
    heads      the primitives whose applications it can match; empty if it must be tried everywhere
    operands   what each operand of these looks like, None for one that may be anything; None in all if nothing is said
    computed   whether it can match only applications of a function that is no constant, and is to be tried at these alone
    """

    name: str
    law: str
    function: Callable[[Program, int], Program | None]
    domain: str = "BITS"
    condition: str = ""
    heads: tuple[Primitive, ...] = ()
    operands: tuple[Shape, ...] | None = None
    computed: bool = False

    def may_match(self, shapes: tuple[Shape, ...]) -> bool:
        """Whether operands of these shapes can be those that it wants."""
        wanted = self.operands
        return wanted is None or (len(wanted) == len(shapes) and all(w in (None, s) for w, s in zip(wanted, shapes, strict=True)))


def rewrite_of(*heads: str) -> Callable[[Callable[[Program, int], Program | None]], Rewrite]:
    """As `rewrite`, for a rule that can match only applications of these primitives: the engine tries it nowhere else."""

    def make(function: Callable[[Program, int], Program | None]) -> Rewrite:
        return Rewrite(function.__name__, law_of(function), function, heads=tuple(TABLE[name] for name in heads))

    return make


def rewrite(function: Callable[[Program, int], Program | None]) -> Rewrite:
    """Makes a function a rule that keeps every bit; its docstring is its law."""
    return Rewrite(function.__name__, law_of(function), function)


def rewrite_of_computed(function: Callable[[Program, int], Program | None]) -> Rewrite:
    """As `rewrite`, for a rule that can match only applications of a function that is no constant."""
    return Rewrite(function.__name__, law_of(function), function, computed=True)


def nothing_decreases(program: Program) -> tuple[int, ...]:
    """The measure of a system whose termination is argued in writing instead."""
    return ()


def nothing_blocks(program: Program, place: int) -> NodeId | None:
    """What rules that look at one place and its surroundings wait for."""
    return None


@dataclass(frozen=True)
class RewriteSystem:
    """
    A transform by local rewriting.

    measure    a tuple that strictly decreases, in lexicographic order, with every step; or `nothing_decreases`
    argument   why it terminates, where no measure says it
    blocker    the node, if there is one far from a place, whose rewriting may enable a rule there: the worklist waits for it
    """

    name: str
    rules: tuple[Rewrite, ...]
    doc: str = ""
    measure: Callable[[Program], tuple[int, ...]] = nothing_decreases
    argument: str = ""
    domain: str = "BITS"
    input: str = "IR"
    output: str = "IR"
    blocker: Callable[[Program, int], NodeId | None] = nothing_blocks

    def enabled(self, state: Program) -> list[Step[Program]]:
        """Every step that some rule allows somewhere, by place and then in the order of the rules."""
        return list(self._enabled(state))

    def _enabled(self, state: Program) -> Any:
        for place in places(state):
            for rule in self._candidates(state, place):
                after = rule.function(state, place)
                if after is not None:
                    yield Step(rule.name, partial(describe_place, state, place), state, after)

    def final(self, state: Program) -> bool:
        """Whether no rule applies anywhere."""
        return next(self._enabled(state), None) is None

    def render(self, state: Program) -> str:
        return str(state)

    def derive(self, state: Program, *, strategy: Strategy = first, fuel: int = FUEL, checked: bool = True) -> Derivation[Program]:
        """The recorded run. With `checked`, every program on the way is checked to be well-formed: Crash if it is not."""
        if strategy is first:
            result = derive(_FirstOnly(self), state, fuel=fuel)
        else:
            result = derive(self, state, strategy=strategy, fuel=fuel)
        if checked:
            for step in result.steps:
                _recheck(self.name, step)
        return result

    @at_rest()
    def run(self, state: Program, *, fuel: int = FUEL) -> Program:
        """
        The unrecorded run with a worklist: after a step only the touched places and their neighbours are looked at again.

        The worklist is a heap, nodes before graphs: what is asked of a graph may take a walk over the program, so it waits until
        no node is left to look at. When the heap is empty every place is looked at once more: the result is a fixpoint whatever
        the neighbourhood misses.
        """
        for step in self._worklist(state, fuel):
            state = step.after
        return state

    def steps_near(self, state: Program, begin: Iterable[int], *, fuel: int = FUEL) -> Iterator[Step[Program]]:
        """The steps of a run that looks at the places `begin` and at what its own steps touch, and nowhere else."""
        graphs = state.graphs
        heap = sorted([place + LATER if place in graphs else place for place in begin])
        queued = {place % LATER for place in heap}
        waiting: dict[NodeId, list[int]] = {}
        steps, alone = 0, self.blocker is nothing_blocks
        while heap:
            place = heapq.heappop(heap) % LATER
            queued.discard(place)
            step = self._step_at(state, place)
            if step is not None:
                steps += 1
                if steps > fuel:
                    raise OutOfFuel(f"{self.name} did not end within {fuel} steps", remedy="raise fuel")
                yield step
                state = step.after
                freed = [p for node in (place, *state.touched) for p in waiting.pop(node, ())]
                again = [place, *neighbours(state), *freed]
            elif alone:
                continue
            elif (blocker := self.blocker(state, place)) is not None:
                waiting.setdefault(blocker, []).append(place)
                again = []
            else:
                again = waiting.pop(place, [])
            graphs = state.graphs
            for near in again:
                if near not in queued:
                    queued.add(near)
                    heapq.heappush(heap, near + LATER if near in graphs else near)

    def record(self, state: Program, *, fuel: int = FUEL) -> Derivation[Program]:
        """What `run` does, with its steps: as fast as `run`, and unchecked."""
        return Derivation(self.name, state, tuple(self._worklist(state, fuel)), self.render)

    def _worklist(self, state: Program, fuel: int) -> Iterator[Step[Program]]:
        """The steps of `run`."""
        begin: Sequence[int] = places(state)
        while begin:
            before = state
            for step in self.steps_near(state, begin, fuel=fuel):
                fuel -= 1
                yield step
                state = step.after
            begin = () if state is before else [p for p in places(state) if self._step_at(state, p) is not None]

    def _step_at(self, state: Program, place: int) -> Step[Program] | None:
        """The first step that is allowed at `place`."""
        for rule in self._candidates(state, place):
            after = rule.function(state, place)
            if after is not None:
                return Step(rule.name, partial(describe_place, state, place), state, after)
        return None

    def _candidates(self, state: Program, place: int) -> tuple[Rewrite, ...]:
        """The rules that can match at `place`, in their order; none if nothing is there any more."""
        node = state.nodes.get(place)
        if isinstance(node, Apply):
            function = state.nodes[node.inputs[0]]
            if not isinstance(function, Constant):
                return self._anywhere
            if not isinstance(callee := function.value, Primitive):
                return self._headless
            found = self._by_head.get(callee, self._headless)
            return self._that_may_match(state, node, callee, found) if callee in self._choosy else found
        return self._headless if node is not None or place in state.graphs else ()

    def _that_may_match(self, state: Program, node: Apply, callee: Primitive, rules: tuple[Rewrite, ...]) -> tuple[Rewrite, ...]:
        """Those of the rules that an application with such operands may match. What there is of them is soon known."""
        shapes = tuple([shape_of(state, operand) for operand in node.inputs[1:]])
        known = self._by_shapes
        if len(known) > MANY:
            known.clear()
        if (found := known.get((callee, shapes))) is None:
            found = known[callee, shapes] = tuple(rule for rule in rules if rule.may_match(shapes))
        return found

    @cached_property
    def _anywhere(self) -> tuple[Rewrite, ...]:
        return tuple(rule for rule in self.rules if not rule.heads)

    @cached_property
    def _headless(self) -> tuple[Rewrite, ...]:
        return tuple(rule for rule in self._anywhere if not rule.computed)

    @cached_property
    def _by_head(self) -> dict[Primitive, tuple[Rewrite, ...]]:
        rules = [rule for rule in self.rules if not rule.computed]
        heads = {head for rule in rules for head in rule.heads}
        return {head: tuple(rule for rule in rules if not rule.heads or head in rule.heads) for head in heads}

    @cached_property
    def _choosy(self) -> frozenset[Primitive]:
        """The heads of rules that say what their operands must be."""
        return frozenset(head for rule in self.rules if rule.operands is not None for head in rule.heads)

    @cached_property
    def _by_shapes(self) -> dict[tuple[Primitive, tuple[Shape, ...]], tuple[Rewrite, ...]]:
        return {}


@dataclass(frozen=True)
class _FirstOnly:
    """A system that offers only its first enabled step: what `derive` needs when it takes the first anyway."""

    system: RewriteSystem

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def rules(self) -> Sequence[Rewrite]:
        return self.system.rules

    def enabled(self, state: Program) -> list[Step[Program]]:
        found = next(self.system._enabled(state), None)
        return [] if found is None else [found]

    def final(self, state: Program) -> bool:
        return self.system.final(state)

    def render(self, state: Program) -> str:
        return self.system.render(state)


def _recheck(name: str, step: Step[Program]) -> None:
    """A step must lead to a well-formed program: everything else is a bug in the rule, named here."""
    try:
        check(step.after)
    except Exception as error:
        raise Crash(f"{name}: rule {step.rule} made an ill-formed program: {error}", rule=step.rule, node=step.place) from error
