"""
Regions: the code of everything that one tail call after another can reach, from its entry to its value.

Every jump is the last thing that its path does. One to the head of the innermost loop is `continue`; any other is a note in `_go`
of where it leads, after which the path falls to the end of its loop's body, or breaks; where paths meet, the note is read.
"""

from __future__ import annotations

import re
from typing import Any

from backend.lowering.conversion import convert
from backend.lowering.emit import stored
from backend.lowering.flow import Block, Head, flow
from backend.lowering.region import Ends, Region
from backend.lowering.shape import Fn, literal, make, options, plain, typed
from backend.lowering.straight import Emission, Straight, unnamed
from backend.stacks.cells import NO_SITES, Sites
from backend.status import FUEL
from semantics.errors import Malformed
from semantics.infer import Inference, Signature
from semantics.ir import NodeId, Program
from semantics.primitives.row import Primitive
from semantics.type_language import INTEGER
from semantics.type_lattice import NEVER, Literal

IRREDUCIBLE = "lower/irreducible"
NEGATED = re.compile(r"if \(?not (?P<asked>\w+)\)?:")


class Regions(Straight):
    """Writes regions of one typed program. Loops that are entered at several places are refused unless there may be `heads`."""

    def __init__(
        self, program: Program, inference: Inference, sites: Sites = NO_SITES, fast: bool = False, heads: bool = True
    ) -> None:
        super().__init__(program, inference, sites, fast)
        self.heads = heads
        self.result: Any = NEVER  # the type that the function at hand gives

    def successors(self, signature: Signature) -> tuple[Signature, ...]:
        node = self.tail(signature)
        return () if node is None else self.inference.calls[signature][node]

    def region(self, entry: Signature, captured: tuple[Any, ...], arguments: tuple[Any, ...], result: Any, loop: int) -> Emission:
        """The code from `entry` on; its value goes to `result`, or is returned. Answers where its paths end."""
        found = flow(entry, self.successors)
        if found.heads and not self.heads:
            names = " and ".join(f"@{self.program.graphs[s.graph].name}" for s in found.heads)
            raise Malformed(
                f"the tail calls between {names} enter a loop at two places", rule=IRREDUCIBLE, remedy="give the loop one head"
            )
        region = Region(found, result, self.fresh_number(), loop, self.code)
        return (yield self.go(region, entry, captured, arguments, loop))

    def go(self, region: Region, target: Signature, captured: tuple[Any, ...], arguments: tuple[Any, ...], loop: int) -> Emission:
        """A jump: moves, and then either the block itself or a note of where it is."""
        values = tuple(convert(v, t) for v, t in zip((*captured, *arguments), (*target.captured, *target.arguments), strict=True))
        block = region.flow.heads.get(target, target)
        if block in region.flow.headers and block not in region.landing:
            self.store(region, block)
        elif block not in region.storage:
            return (yield self.tree(region, target, tuple(plain(v) for v in values) if _erased(target) else values, loop))
        into = region.storage[block]
        if isinstance(block, Head):
            into, values = (*region.storage[target], *into), (*values, literal(block.entries.index(target)))
        self.move(into, values)
        if block not in region.landing:
            return (yield self.tree(region, block, region.storage[block], loop))
        if block in region.active and loop == region.number[block]:
            self.line("continue")
            return Ends()
        return self.note(region.number[block], region.landing[block], loop)

    def note(self, number: int, landing: int, loop: int) -> Ends:
        self.line(f"_go = {number}")
        if landing == loop:
            return Ends(falls=frozenset([number]))
        self.line("break")
        return Ends(breaks=frozenset([number]))

    def store(self, region: Region, block: Block) -> None:
        """Variables for what the block captures and takes; of a head, for which entry it is, and for what these take."""
        region.number[block] = self.fresh_number()
        types = (INTEGER,) if isinstance(block, Head) else (*block.captured, *block.arguments)
        region.storage[block] = tuple(make(t, self.variable) for t in types)
        for entry in block.entries if isinstance(block, Head) else ():
            self.store(region, entry)

    def tree(self, region: Region, block: Block, values: tuple[Any, ...], loop: int) -> Emission:
        """The block and all it dominates; a header as a loop around them."""
        if block not in region.flow.headers:
            return (yield self.within(region, block, values, loop))
        number = region.number[block]
        region.active.add(block)
        region.landing.setdefault(block, loop)
        outer, self.code = self.code, []
        self.line("fuel = fuel - 1")
        self.trap("fuel < 0", FUEL)
        ends = yield self.within(region, block, values, number)
        if leaving := ends.falls - {number}:
            if number in ends.falls:
                self.line(f"if _go != {number}:")
                self.code.append(["break"])
            else:
                self.line("break")
        body, self.code = self.code, outer
        self.code += ["while True:", body]
        region.active.discard(block)
        return Ends(falls=ends.breaks | leaving)

    def within(self, region: Region, block: Block, values: tuple[Any, ...], loop: int) -> Emission:
        """The straight line of the block, its end, then the merges below it, each where its paths meet."""
        merges = region.flow.below[block]
        env = {} if isinstance(block, Head) else (yield self.straight(block, values))
        if env is None:
            return Ends()
        for merge in merges:
            self.store(region, merge)
            region.landing[merge] = loop
        ends = yield self.enter(region, block, loop) if isinstance(block, Head) else self.end(region, block, env, loop)
        for merge in merges:
            number = region.number[merge]
            if number not in ends.falls:
                continue
            rest = Ends(ends.falls - {number}, ends.breaks)
            with self.under(f"if _go == {number}:" if rest.falls else ""):
                below = yield self.tree(region, merge, region.storage[merge], loop)
            ends = rest | below
        return ends

    def enter(self, region: Region, head: Head, loop: int) -> Emission:
        """The entry at which the loop goes on."""
        (which,) = region.storage[head]
        tests = [f"{'elif' if k else 'if'} {which.text} == {k}:" for k in range(len(head.entries) - 1)]
        ends = Ends()
        for test, entry in zip((*tests, "else:"), head.entries, strict=True):
            with self.under(test):
                ends |= yield self.tree(region, entry, region.storage[entry], loop)
        return ends

    def end(self, region: Region, block: Signature, env: dict[NodeId, Any], loop: int) -> Emission:
        """The last thing the block does: a jump, one of several, or its value."""
        node = self.tail(block)
        if node is not None:
            return (yield self.dispatch(region, block, node, env, loop))
        value = env[self.program.graphs[block.graph].output]
        return self.leave(region, value, loop)

    def dispatch(self, region: Region, block: Signature, node: NodeId, env: dict[NodeId, Any], loop: int) -> Emission:
        """A tail call of a known function, or of one of several."""
        function, *arguments = (env[n] for n in self.program.inputs(node))
        ends = Ends()
        for test, option in _affirmed(options(function)):
            with self.under(test):
                if isinstance(option, Fn) and not isinstance(option.function, Primitive):
                    target = self.callee(block, node, option)
                    ends |= yield self.go(region, target, option.captured, tuple(arguments), loop)
                elif (value := self.applied(option, arguments)) is not None:
                    ends |= self.leave(region, convert(value, self.inference.types[block][node]), loop)
        return ends

    def leave(self, region: Region, value: Any, loop: int) -> Ends:
        """The value of the region: returned, or stored where the region leaves its result."""
        if region.result is None:
            value = self.demanded_of(value, self.result)
            if value is None:
                return Ends()
            value = self.given_out(value) if self.left == ("fuel",) else self.contiguous(value)
            texts = [r.text for r in stored(self.contiguous(convert(value, self.result)), make(self.result, unnamed))]
            self.line(f"return ({', '.join([*texts, *self.left, '0'])},)")
            return Ends()
        value = self.contiguous(convert(value, typed(region.result)))
        self.move((region.result,), (value,))
        if self.code is region.code:
            self.assigned(region.result, value)
        return self.note(region.key, region.home, loop)


def _affirmed(choices: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Of two ways, first the one that is taken if what is asked is so: so the turns of a loop stand before what comes after it."""
    match choices:
        case [(test, one), ("else:", other)] if (negated := NEGATED.fullmatch(test)) is not None:
            return [(f"if {negated['asked']}:", other), ("else:", one)]
        case _:
            return choices


def _erased(signature: Signature) -> bool:
    return not any(isinstance(t, Literal) for t in (*signature.captured, *signature.arguments))
