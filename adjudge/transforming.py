"""
`transform(f, "grad", "inline", …)`: named transforms in sequence, as one derivation whose states are programs.

    grad                              J and what calls it, one mirrored node at a time
    forward                           jvp and what calls it, one mirrored node at a time
    nested_grad                       macros inside the program, from the inside out
    pullback, sharing                 f^a by local rules (MimIrADe); the same, and the pullbacks of each graph shared
    cached_for                        J, with affine loops by a forward loop that writes a cache and a backward loop that reads it
    shadow                            the gradient of a first-order program with memory, in a shadow memory
    ssa, graph, joins                 a program of first order in SSA form, and back; what follows a branch is called once
    ssa_adjoint                       primal and adjoint of SSA code with alphas, as Zygote lists them
    stack, recompute, mixed           primal and adjoint of SSA code, alphas resolved by this policy
    inline, cse, dce, fold, …         one pass to its fixpoint
    optimize, mimir                   all passes, round by round, to their joint fixpoint

What a transform reads is made for it: one that reads SSA takes a program of the graph IR too, and one that reads the graph IR takes
SSA. `opened` is where all these names are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adjudge.functions import Derivative, parse
from semantics.derivation import Derivation, Step
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.ssa.form import Module
from transforms import affine, forward, grad, nested_grad, normalize, pullback, shadow_memory
from transforms.agenda_system import AgendaSystem
from transforms.gradient_programs import Wrt, before_j, before_jvp
from transforms.pipeline import PASSES, Rounds
from transforms.ssa import from_graph, joins, to_graph
from transforms.ssa_adjoint import POLICIES, alphas, listing
from transforms.ssa_adjoint import SYSTEM as LISTING
from transforms.ssa_adjoint import begin as begin_listing
from transforms.system import RewriteSystem

State = Program | Module
ON_SSA = ("graph", "ssa_adjoint", *POLICIES)
NAMES = ("grad", "forward", "nested_grad", "pullback", "sharing", "cached_for", "shadow", "ssa", "joins", *ON_SSA, *PASSES)


@dataclass(frozen=True)
class Opened:
    """
    A transform about to begin: `system` runs from `start`, and `shown` takes from a state of the system what a reader sees of it, a
    program or a module of SSA functions, or its text while it is neither.
    """

    system: Any
    start: Any
    shown: Callable[[Any], Any] = lambda state: state


@dataclass(frozen=True)
class Drawn:
    """A state on the way from one language to another, as text."""

    text: str

    def __str__(self) -> str:
        return self.text


def transform(f: Any, *names: str, wrt: Wrt = 0, fuel: int = 1_000_000) -> Derivation[Any]:
    """
    The derivation of `names` applied to f one after the other; `.result` is the program, or the SSA module, at the end.

    Malformed for a name that is none; OutOfFuel if a transform does not end within `fuel` steps.
    """
    start: State = f if isinstance(f, Module) else parse(f)
    steps: list[Step[Any]] = []
    if isinstance(f, Derivative) and names[:1] != ("nested_grad",):
        names = ("nested_grad", *names)
    state = start
    for name in names:
        derivation = derive_one(state, name, wrt, fuel)
        steps += derivation.steps
        state = derivation.result
    return Derivation(" ".join(names) or "nothing", start, tuple(steps), str)


def derive_one(state: State, name: str, wrt: Wrt = 0, fuel: int = 1_000_000) -> Derivation[Any]:
    """The derivation of one transform."""
    if name in ("pullback", "sharing"):
        return pullback.derivation(nested_grad.expand(as_program(state), "pullback"), shared=name == "sharing")
    found = opened(state, name, wrt)
    if isinstance(found.system, Rounds):
        return found.system.record(found.start)
    agenda = isinstance(found.system, AgendaSystem) or name == "nested_grad"
    derivation = found.system.derive(found.start, fuel=fuel) if agenda else found.system.record(found.start, fuel=fuel)
    steps = [Step(s.rule, s.site, found.shown(s.before), found.shown(s.after)) for s in derivation.steps]
    seen = found.shown(found.start)
    if seen is not state and isinstance(seen, type(state)):  # what was done to come there
        steps.insert(0, Step("macro_call", f"{name}, with respect to {wrt!r}", state, seen))
    return Derivation(name, state, tuple(steps), str)


def opened(state: State, name: str, wrt: Wrt = 0) -> Opened:
    """The system of this name and the state that it starts from. Malformed for a name that is none."""
    if name in ON_SSA:
        return _on_ssa(as_module(state), name)
    program = as_program(state)
    if name == "grad":
        return Opened(grad.SYSTEM, grad.begin(*before_j(nested_grad.expand(program), wrt)), lambda s: s.program)
    if name == "forward":
        return Opened(forward.SYSTEM, forward.begin(*before_jvp(nested_grad.expand(program))), lambda s: s.program)
    if name in ("pullback", "sharing"):
        begin = pullback.applied(nested_grad.expand(program, "pullback"))
        if name == "pullback":
            return Opened(pullback.PURE, begin, lambda s: s.program)
        return Opened(pullback.SHARING, pullback.begin_sharing(pullback.PURE.run(begin)), lambda s: s.program)
    if name == "cached_for":
        before, place = before_j(nested_grad.expand(program), wrt)
        return Opened(affine.SYSTEM, affine.begin(affine.NORMAL.run(before), place), lambda s: s.program)
    if name == "shadow":
        return _ending(shadow_memory.SYSTEM, shadow_memory.begin(program, wrt), lambda s: s.program)
    if name == "ssa":
        return _ending(from_graph.SYSTEM, from_graph.begin(program))
    if name == "nested_grad":
        return Opened(nested_grad.ending(nested_grad.SYSTEM, program), program)
    if name == "normalize":
        return Opened(normalize.SYSTEM, normalize.begin(program), lambda s: s.program)
    if name in PASSES or name == "joins":
        return Opened(PASSES.get(name, joins.SYSTEM), program)
    raise Malformed(f"{name!r} is not a transform", remedy=f"one of {', '.join(NAMES)}")


def _on_ssa(module: Module, name: str) -> Opened:
    """The transforms that read SSA."""
    if name == "graph":
        return _ending(to_graph.SYSTEM, to_graph.begin(module))
    if name == "ssa_adjoint":
        return _ending(LISTING, begin_listing(module))
    return _ending(alphas.SYSTEM, alphas.begin(listing(module), name, to_graph.to_graph(module).arrays))


def _ending(system: AgendaSystem[Any, Any], start: Any, shown: Callable[[Any], Any] | None = None) -> Opened:
    """A system whose last state is shown as its result, and others as they draw themselves."""
    on_the_way = shown or (lambda s: Drawn(system.render(s)))
    return Opened(system, start, lambda s: system.result(s) if system.final(s) else on_the_way(s))


def as_program(state: State) -> Program:
    """The graph IR of what may be SSA."""
    return to_graph.to_graph(state) if isinstance(state, Module) else state


def as_module(state: State) -> Module:
    """The SSA of what may be a program."""
    return from_graph.to_ssa(from_graph.first_order(nested_grad.expand(state))) if isinstance(state, Program) else state


def replayable(opened_: Opened) -> Any:
    """The system as `derive` and `replay` take it: rounds as one system of all their rules."""
    return opened_.system if isinstance(opened_.system, (AgendaSystem, RewriteSystem)) else opened_.system.joint
