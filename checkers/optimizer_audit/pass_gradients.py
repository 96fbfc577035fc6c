"""Does a pass keep gradients: grad(opt p) = grad(p), and opt(grad p) = grad(p)? At a kink of p a change is a convention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from checkers.optimizer_audit.blame import blamed_step
from checkers.optimizer_audit.outcomes import Runner, Value
from checkers.optimizer_audit.pass_programs import Bench, cause_of, explained
from checkers.optimizer_audit.pass_values import compare, points_for, signature
from checkers.optimizer_audit.rule_gradients import Gradients, judged, reals_of
from checkers.optimizer_audit.samples import Point, edge_samples, names_of, numbers_in, types_of
from checkers.optimizer_audit.subjects import Broken
from checkers.verdict import Counterexample, Passed, Refuted, Vacuous, Verdict
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.wellformed import problems
from transforms import inline
from transforms.gradient_programs import gradient_program

GRADIENTS, OF_GRADIENTS = 16, 5


def gradients_kept(bench: Bench) -> list[Verdict]:
    """grad(opt p) against grad(p), over the reals; at a kink of p a change is a convention."""
    claim = "gradients are kept: grad of the result is grad of the program"
    verdicts: list[Verdict] = []
    tried = 0
    for program, after in _spread(bench.changed, GRADIENTS):
        wrt = reals_of(types_of(program))
        points = list(edge_samples(types_of(program), numbers_in(program), seed=bench.seed, most=12, finite=True))
        if not wrt or not _is_real(program, points):
            continue
        try:
            gradients = Gradients(program, after, wrt, quick=True)
        except AdjudgeError:
            continue
        for verdict in judged(gradients, points, names_of(program), claim):
            if isinstance(verdict, Refuted):
                c = verdict.counterexample
                blame = blamed_step(bench.subject, program, partial(_slopes_differ, wrt, points, verdict.kind))
                note = str(blame) if blame is not None else f"before:\n{program}\nafter:\n{after}"
                shown = Counterexample(c.inputs, c.found, c.wanted, c.cause or cause_of(bench.subject, blame), note=note)
                if all(not isinstance(v, Refuted) or v.kind != verdict.kind for v in verdicts):
                    verdicts.append(Refuted(shown, verdict.kind, claim))
            elif isinstance(verdict, Passed):
                tried += verdict.n
        if any(isinstance(v, Refuted) and v.kind == "fault" for v in verdicts):
            return verdicts
    if tried:
        verdicts.append(Passed(tried, "points of changed programs", claim))
    return verdicts or [Vacuous("no changed program has a real value and a real parameter", claim)]


def _slopes_differ(wrt: tuple[int, ...], points: list[Point], kind: str, before: Program, after: Program) -> bool:
    """Whether the gradients of two programs differ, in this kind of finding."""
    if next(iter(problems(after)), None) is not None or signature(before) != signature(after):
        return False
    try:
        gradients = Gradients(before, after, wrt, quick=True)
    except AdjudgeError:
        return False
    return any(isinstance(v, Refuted) and v.kind == kind for v in judged(gradients, points, names_of(before), ""))


def _is_real(program: Program, points: Sequence[Point]) -> bool:
    """Whether the program yields reals."""
    runner = Runner(program)
    return any(isinstance(v := runner(p), Value) and type(v.value) is float for p in points[:4])


def optimized_gradients(bench: Bench) -> Verdict:
    """opt(grad p) against grad(p): gradients are programs too, with tuples, closures and sensitivities in them."""
    claim = "the optimized gradient is the gradient"
    domain, tried, count = bench.subject.domain, 0, 0
    for program in _gradient_programs(bench):
        after = bench.subject(program)
        if isinstance(after, Broken):
            if after.refused:
                continue
            return Refuted(Counterexample({"program": str(program)}, after.why, "a program"), "fault", claim)
        if next(iter(problems(after)), None) is not None:
            return Refuted(Counterexample({"program": str(program)}, "an ill-formed program", "a program"), "fault", claim)
        found, runs = compare(program, after, points_for(program, domain, bench.seed)[:8], domain)
        tried, count = tried + runs, count + (program != after)
        if found is not None:
            return Refuted(explained(bench, program, found), "fault", claim)
    return (
        Passed(tried, f"runs of {count} gradients that it changed", claim) if tried else Vacuous("no gradient could be made", claim)
    )


def _gradient_programs(bench: Bench) -> Iterator[Program]:
    """Gradients of the shapes and of generated programs: as J leaves them, and with their calls opened."""
    made = 0
    for program, _ in bench.pairs[:40] + bench.pairs[-OF_GRADIENTS:]:
        if made == 2 * OF_GRADIENTS:
            return
        wrt = reals_of(types_of(program))
        if not wrt or not _is_real(program, edge_samples(types_of(program), seed=bench.seed, most=4, finite=True)):
            continue
        try:
            gradient = gradient_program(program, wrt)
            yield gradient
            yield inline.SYSTEM.run(gradient, fuel=2_000)
        except AdjudgeError:
            continue
        made += 1


def _spread(pairs: list[tuple[Program, Program]], most: int) -> list[tuple[Program, Program]]:
    """At most `most` of them: the first, which are examples and shapes, and others evenly spread."""
    if len(pairs) <= most:
        return pairs
    half = most // 2
    rest = pairs[half:]
    return [*pairs[:half], *rest[:: max(1, len(rest) // half)][:half]]
