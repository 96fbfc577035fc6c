"""
Named sequences of passes, and the optimizer: all passes in rounds until none has anything left to do.

    optimize         the program at the joint fixpoint
    run_pipeline     passes by name, unrecorded
    derive_pipeline  passes by name, one derivation for the whole; its rules are called pass/rule

Every pass keeps the value wherever the program has one, in its domain, and every trap of `raise` and `assert` that the run meets;
another trap or a divergence may disappear together with what nothing needed. What a closure captures may change, so two
functions are compared by what they compute, and the gradient with respect to a closure is to be taken before optimizing, not after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Protocol

from semantics.collector import at_rest
from semantics.derivation import Derivation, Step
from semantics.errors import Malformed, OutOfFuel
from semantics.ir import NodeId, Program
from transforms import (
    branches,
    copy_propagation,
    cse,
    dce,
    eta,
    fold,
    inline,
    normalize,
    partial_eval,
    scalarize,
    simplify,
    tail_calls,
    tuples,
)
from transforms.failures import keeping
from transforms.places import neighbours, places
from transforms.system import RewriteSystem

ROUNDS = 1000


class Pass(Protocol):
    """What a name on the command line stands for: a transform of programs that can also record its steps."""

    @property
    def name(self) -> str: ...

    @property
    def doc(self) -> str: ...

    def run(self, state: Program) -> Program: ...

    def derive(self, state: Program) -> Derivation[Program]: ...

    def record(self, state: Program) -> Derivation[Program]: ...


@dataclass(frozen=True)
class Rounds:
    """Systems run in turn until a whole round changes nothing: the result is a fixpoint of every one of them."""

    name: str
    systems: tuple[RewriteSystem, ...]
    doc: str = ""

    @at_rest()
    def run(self, state: Program) -> Program:
        """The unrecorded run: what `record` does, without keeping it."""
        for _, step in self._steps(state):
            state = step.after
        return state

    def derive(self, state: Program) -> Derivation[Program]:
        """The recorded run, every program on the way checked to be well-formed."""
        steps: list[Step[Program]] = []
        start = state
        for _ in range(ROUNDS):
            count = len(steps)
            for system in self.systems:
                steps += prefixed(system.name, system.derive(state).steps)
                state = steps[-1].after if steps else start
            if len(steps) == count:
                return Derivation(self.name, start, tuple(steps), str)
        raise self._unsettled()

    def record(self, state: Program) -> Derivation[Program]:
        """A run with its steps, unchecked and fast: after its first time each system looks only near what has changed since."""
        steps = (replace(step, rule=f"{system.name}/{step.rule}") for system, step in self._steps(state))
        return Derivation(self.name, state, tuple(steps), str)

    def _steps(self, state: Program) -> Iterator[tuple[RewriteSystem, Step[Program]]]:
        """
        The steps of a run, with their systems. In a *full* round every system looks at every place; in the others each looks at
        the places near the steps that others took since its last turn. Full rounds come first and last: what the
        neighbourhoods miss is found, and the result is a fixpoint of every system.
        """
        touched: dict[str, set[NodeId]] = {system.name: set() for system in self.systems}
        full = True
        for _ in range(ROUNDS):
            before = state
            for system in self.systems:
                begin = places(state) if full else neighbours(state, touched[system.name])
                for step in system.steps_near(state, begin):
                    yield system, step
                    state = step.after
                    for nodes in touched.values():
                        nodes |= state.touched
                touched[system.name] = set()
            if state is before and full:
                return
            full = state is before
        raise self._unsettled()

    def _unsettled(self) -> OutOfFuel:
        return OutOfFuel(f"{self.name} did not settle within {ROUNDS} rounds", remedy="run the passes one by one and look at each")

    @property
    def joint(self) -> RewriteSystem:
        """All rules as one system, named pass/rule: it replays a recorded run, and is final where the rounds end."""
        rules = tuple(replace(rule, name=f"{system.name}/{rule.name}") for system in self.systems for rule in system.rules)
        return RewriteSystem(self.name, rules, self.doc, argument="see its passes", domain=self.domain)

    @property
    def domain(self) -> str:
        """The weakest domain of its systems."""
        return "REAL" if any(s.domain == "REAL" for s in self.systems) else "BITS"


def prefixed(name: str, steps: Iterable[Step[Program]]) -> list[Step[Program]]:
    """The steps, with their rules called name/rule."""
    return [replace(step, rule=f"{name}/{step.rule}") for step in steps]


SYSTEMS = (inline.SYSTEM, tuples.SYSTEM, simplify.SYSTEM, fold.SYSTEM, branches.SYSTEM, cse.SYSTEM, dce.SYSTEM)
ORDER = tuple(keeping(system) for system in SYSTEMS)
FAST = keeping(simplify.FAST)
OPTIMIZE = Rounds("optimize", ORDER, "all passes that keep every bit, to their joint fixpoint")
OPTIMIZE_FAST = Rounds(
    "optimize_fast",
    tuple(FAST if system.name == simplify.SYSTEM.name else system for system in ORDER),
    "optimize, with the algebra of the reals under its side conditions",
)

# MimIrADe, section 4.3: the normalizers and what construction does by itself, then the standard optimizations, β last.
NORMALIZERS = (tuples.SYSTEM, simplify.SYSTEM, fold.SYSTEM, cse.SYSTEM, dce.SYSTEM)
STANDARD = tuple(
    keeping(s) for s in (eta.SYSTEM, tail_calls.SYSTEM, scalarize.SYSTEM, copy_propagation.SYSTEM, partial_eval.SYSTEM)
)
MIMIR = Rounds(
    "mimir",
    (*(keeping(s) for s in NORMALIZERS), *STANDARD, keeping(inline.SYSTEM), keeping(branches.SYSTEM)),
    "MimIrADe's optimizer: optimize, with eta, tail calls, scalarized tuples, copy propagation and partial evaluation",
)

_ALL: tuple[Pass, ...] = (*ORDER, FAST, OPTIMIZE, OPTIMIZE_FAST, normalize.PASS, *STANDARD, MIMIR)
PASSES: dict[str, Pass] = {p.name: p for p in _ALL}


def optimize(program: Program, *, fast: bool = False) -> Program:
    """
    The program at the joint fixpoint of all passes: optimizing it again changes nothing.

    Its value is that of `program`, bit for bit, wherever `program` has one; with `fast`, over the reals.
    """
    return (OPTIMIZE_FAST if fast else OPTIMIZE).run(program)


def passes(names: Iterable[str]) -> tuple[Pass, ...]:
    """The passes of these names; Malformed with the known names if one is unknown."""
    found: list[Pass] = []
    for name in names:
        if name not in PASSES:
            close = get_close_matches(name, PASSES, 3) or sorted(PASSES)
            raise Malformed(f"no pass is called {name!r}", remedy=f"one of {', '.join(close)}")
        found.append(PASSES[name])
    return tuple(found)


def pipeline(names: Iterable[str]) -> Callable[[Program], Program]:
    """The passes of these names as one function of programs, run in order."""
    chosen = passes(names)

    def run(program: Program) -> Program:
        for transform in chosen:
            program = transform.run(program)
        return program

    return run


def run_pipeline(program: Program, names: Iterable[str]) -> Program:
    """`program` after the passes of these names, in order."""
    return pipeline(names)(program)


def derive_pipeline(program: Program, names: Iterable[str], *, checked: bool = True) -> Derivation[Program]:
    """
    One derivation for the passes of these names, in order; the rule of each step is called pass/rule.

    With `checked`, every program on the way is checked to be well-formed, which costs as much again.
    """
    chosen = passes(names)
    steps: list[Step[Program]] = []
    state = program
    for transform in chosen:
        recorded = transform.derive(state) if checked else transform.record(state)
        steps += recorded.steps if isinstance(transform, Rounds) else prefixed(transform.name, recorded.steps)
        state = recorded.result
    return Derivation(" ".join(p.name for p in chosen), program, tuple(steps), str)
