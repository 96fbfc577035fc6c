"""What an optimizer must keep: the value in its declared domain, at every single step, and the gradient; and that it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from checkers.properties.adjoint import all_arguments
from checkers.properties.agreement import judged, point
from checkers.properties.evaluation import named
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Vacuous, Verdict
from semantics.derivation import first, seeded
from semantics.errors import AdjudgeError, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.system import RewriteSystem

Transform = Callable[[Program], Program]
BITWISE = ("BITS", "IEEE")  # of scalars, IEEE tells the same values apart


def _outcome(program: Program, arguments: Sequence[Any]) -> Any:
    """The value, or the kind of error."""
    try:
        return run(program, *arguments)
    except AdjudgeError as error:
        return type(error).__name__


def _same_outcome(a: Any, b: Any) -> bool:
    return a == b if isinstance(a, str) or isinstance(b, str) else same(a, b)


def keeps_bits(transform: Transform, program: Program, arguments: Sequence[Any], claim: str = "T22 eval ∘ opt = eval") -> Verdict:
    """T4, T22: the transformed program has the same value in every bit. A program that traps may lose its trap, not gain one."""
    wanted, found = _outcome(program, arguments), _outcome(transform(program), arguments)
    if isinstance(wanted, str):
        return OutOfScope(f"it ends with {wanted}", claim)
    if not _same_outcome(found, wanted):
        return Refuted(Counterexample(named(arguments), found, wanted), claim=claim)
    return Passed(1, "the same bits", claim)


def substitution(program: Program, arguments: Sequence[Any], inline: Transform | None = None) -> Verdict:
    """T4: inlining is β: a call replaced by the body of what it calls, with the arguments for the parameters, keeps every bit."""
    if inline is None:
        from transforms.inline import SYSTEM

        inline = SYSTEM.run
    return keeps_bits(inline, program, arguments, "T4 substitution")


def keeps_reals(transform: Transform, program: Program, arguments: Sequence[Any], claim: str = "T22 over the reals") -> Verdict:
    """T22 for passes that promise equality over the reals only."""
    at = point(program, arguments)
    return judged(claim, arguments, lambda: at.value(transform(program)), lambda: at.value(program))


def refines(system: RewriteSystem, program: Program, arguments: Sequence[Any], seed: int | None = None) -> Verdict:
    """T21: every single step keeps the value in the domain of its rule. Blames the first step that does not."""
    claim = f"T21 {system.name} refines"
    domains = {rule.name: rule.domain for rule in system.rules}
    derivation = system.derive(program, strategy=first if seed is None else seeded(seed))
    if not derivation.steps:
        return Vacuous("no rule fires", claim)
    before = _outcome(program, arguments)
    for number, step in enumerate(derivation.steps, 1):
        after = _outcome(step.after, arguments)
        note = f"step {number}: {step.rule} at {step.place}"
        if isinstance(before, str):
            before = after
            continue
        if domains[step.rule] in BITWISE:
            if not _same_outcome(after, before):
                return Refuted(Counterexample(named(arguments), after, before, note=note), claim=claim)
        else:
            verdict = keeps_reals(lambda _, after=step.after: after, step.before, arguments, claim)  # type: ignore[misc]
            if isinstance(verdict, Refuted):
                c = verdict.counterexample
                return Refuted(Counterexample(c.inputs, c.found, c.wanted, note=f"{note}; {c.note}"), claim=claim)
        before = after
    return Passed(len(derivation.steps), "steps", claim)


def gradient_commutes(transform: Transform, program: Program, arguments: Sequence[Any], bitwise: bool = True) -> Verdict:
    """
    T22: ∇(opt f) = ∇f = opt(∇f).

    The second in bits, if the pass promises bits. The first in bits as well, or over the reals where a sum is taken in another
    order; both alternatives are needed, since folding 1.0 / 3.0 keeps bits and not reals.
    """
    claim, wrt = "T22 grad ∘ opt = opt ∘ grad", all_arguments(program)
    derivative, at = gradient_program(program, wrt), point(program, arguments)
    if bitwise:
        kept = keeps_bits(transform, derivative, arguments, f"{claim}: opt(∇f) = ∇f in bits")
        if isinstance(kept, Refuted):
            return kept
    else:
        kept = keeps_reals(transform, derivative, arguments, f"{claim}: opt(∇f) = ∇f")
        if isinstance(kept, Refuted):
            return kept
    optimized = gradient_program(transform(program), wrt)
    if bitwise and _same_outcome(_outcome(optimized, arguments), _outcome(derivative, arguments)):
        return Passed(1, "the gradient of the optimized program, in bits", claim)
    return judged(
        claim,
        arguments,
        lambda: at.value(optimized),
        lambda: at.value(derivative),
        what="the gradient of the optimized program",
    )


def measure_decreases(system: RewriteSystem, program: Program, seed: int | None = None) -> Verdict:
    """T23: the measure strictly decreases with every step, or the system says in writing why it ends."""
    claim = f"T23 {system.name}: the measure decreases"
    if system.measure(program) == ():
        if not system.argument:
            return Refuted(Counterexample({}, "no measure and no argument", "one of the two"), claim=claim)
        return OutOfScope(f"argued in writing: {system.argument}", claim)
    derivation = system.derive(program, strategy=first if seed is None else seeded(seed), checked=False)
    for step in derivation.steps:
        before, after = system.measure(step.before), system.measure(step.after)
        if not after < before:
            return Refuted(Counterexample({}, after, f"less than {before}", note=f"{step.rule} at {step.place}"), claim=claim)
    return Passed(len(derivation.steps), "steps", claim)


def result_is_fixpoint(system: RewriteSystem, program: Program) -> Verdict:
    """T23: no rule applies to the result of the worklist engine, and a second run changes nothing."""
    claim = f"T23 {system.name}: the result is a fixpoint"
    result = system.run(program)
    left = system.enabled(result)
    if left:
        return Refuted(Counterexample({}, f"{left[0].rule} at {left[0].place}", "nothing enabled"), claim=claim)
    if system.run(result) != result:
        return Refuted(Counterexample({}, str(system.run(result)), str(result)), claim=claim)
    return Passed(1, "nothing enabled", claim)


def engines_agree(system: RewriteSystem, program: Program, seed: int | None = None) -> Verdict:
    """T23: the worklist engine and the one-step engine (with a seed, in random order) end in the same program up to renaming."""
    claim = f"T23 {system.name}: worklist = one step at a time"
    quick = system.run(program)
    slow = system.derive(program, strategy=first if seed is None else seeded(seed), checked=False).result
    if quick != slow:
        return Refuted(Counterexample({}, str(quick), str(slow)), claim=claim)
    return Passed(1, "equal programs", claim)


def every_step_is_well_formed(system: RewriteSystem, program: Program) -> Verdict:
    """T21: every program on the way is well-formed."""
    claim = f"T21 {system.name}: well-formed after every step"
    try:
        derivation = system.derive(program, checked=True)
    except Trap as trap:
        return OutOfScope(trap.what, claim)
    except AdjudgeError as error:
        return Refuted(Counterexample({}, str(error), "a well-formed program"), claim=claim)
    return Passed(len(derivation.steps), "steps", claim)
