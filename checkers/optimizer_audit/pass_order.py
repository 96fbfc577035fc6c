"""How a pass ends: at a fixpoint, by its measure, in one program whatever the order, recorded or not."""

from __future__ import annotations

from collections.abc import Sequence

from checkers.optimizer_audit.subjects import Broken, Pass
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.derivation import seeded
from semantics.errors import AdjudgeError
from semantics.ir import Program
from transforms.system import RewriteSystem, nothing_decreases

PROGRAMS, SMALL, ORDERS, FUEL = 40, 30, 2, 2_000


def settles(subject: Pass, changed: Sequence[tuple[Program, Program]]) -> Verdict:
    """Running the pass on its own result changes nothing."""
    claim = "idempotent"
    for before, after in changed:
        again = subject(after)
        if isinstance(again, Broken) or again != after:
            shown = again.why if isinstance(again, Broken) else str(again)
            note = f"program:\n{before}\nonce:\n{after}"
            return Refuted(
                Counterexample({"program": str(before)}, shown, str(after), "a second run", note=note), "convention", claim
            )
    return Passed(len(changed), "changed programs", claim)


def small(programs: Sequence[Program], most: int) -> list[Program]:
    """Programs that are cheap to run step by step, spread over all."""
    fit = [p for p in programs if len(p.nodes) <= SMALL]
    return fit[:: max(1, len(fit) // most)][:most]


def ends_as_claimed(system: RewriteSystem, programs: Sequence[Program]) -> Verdict:
    """The measure of the system decreases with every step."""
    claim = "the measure decreases with every step"
    if system.measure is nothing_decreases:
        return OutOfScope(f"no measure is claimed; the argument is: {system.argument or 'none'}", claim)
    steps = 0
    for program in small(programs, PROGRAMS):
        try:
            run = system.derive(program, fuel=FUEL, checked=False)
        except AdjudgeError as error:
            return Refuted(Counterexample({"program": str(program)}, error.what, "an end"), "fault", claim)
        for step in run.steps:
            old, new = system.measure(step.before), system.measure(step.after)
            if not new < old:
                note = f"rule {step.rule} at {step.place}\nbefore:\n{step.before}\nafter:\n{step.after}"
                return Refuted(
                    Counterexample({"program": str(program)}, str(new), f"less than {old}", f"rule {step.rule}", note=note),
                    "fault",
                    claim,
                )
            steps += 1
    return Passed(steps, "steps", claim)


def orders(system: RewriteSystem, programs: Sequence[Program], seed: int) -> Verdict:
    """Random strategies end in one program. No system has to: a difference is a convention, worth knowing."""
    claim = "the order of steps does not matter"
    tried = 0
    for program in small(programs, PROGRAMS // 2):
        try:
            results = [system.derive(program, strategy=seeded(seed + k), fuel=FUEL, checked=False).result for k in range(ORDERS)]
        except AdjudgeError as error:
            return Unknown(error.what, claim)
        first = system.run(program, fuel=FUEL)
        for other in results:
            tried += 1
            if other != first:
                return Refuted(
                    Counterexample({"program": str(program)}, str(other), str(first), "another order"), "convention", claim
                )
    return Passed(tried, "runs in random order", claim)


def same_either_way(system: RewriteSystem, programs: Sequence[Program]) -> Verdict:
    """The recorded run and the worklist end in one program."""
    claim = "the recorded run ends where the unrecorded one does"
    chosen = small(programs, PROGRAMS)
    for program in chosen:
        try:
            recorded, unrecorded = system.derive(program, fuel=FUEL, checked=False).result, system.run(program, fuel=FUEL)
        except AdjudgeError as error:
            return Unknown(error.what, claim)
        if recorded != unrecorded:
            return Refuted(
                Counterexample({"program": str(program)}, str(unrecorded), str(recorded), "the worklist"), "convention", claim
            )
    return Passed(len(chosen), "programs", claim)
