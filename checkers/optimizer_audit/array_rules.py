"""
The judgment on a rule about arrays or attributes, such as `x: f64[m, k], y: f64[k, n] | (x @ y).T -> y.T @ x.T`.

Over the reals it is proved for all shapes where index forms decide it, or where every primitive is elementwise and the rule holds
of scalars; elsewhere by z3 at each of its instances, for all shapes up to a bound. Values, types and gradients are compared at
the instances (`array_instances`), smallest first. What is a fault and what a convention is as for rules about scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from checkers.optimizer_audit.array_gradients import keeps_array_gradients
from checkers.optimizer_audit.array_instances import Instance, Instances, instances_of
from checkers.optimizer_audit.array_proofs import elementwise_rule, proved_for_all_shapes
from checkers.optimizer_audit.divergence import Divergence, in_the_reals, on_the_machine
from checkers.optimizer_audit.journal import Journal
from checkers.optimizer_audit.rule_structure import fired
from checkers.optimizer_audit.rule_values import bits_refuted, equal_bits, equal_reals, equal_types
from checkers.optimizer_audit.side_conditions import of_the_declared, what_would_save
from checkers.verdict import Counterexample, OutOfScope, Passed, Proved, Refuted, Report, Unknown, Vacuous, Verdict
from semantics.errors import AdjudgeError
from semantics.infer import infer
from semantics.type_lattice import erase
from semantics.values import over_leaves
from semantics.wellformed import check
from transforms.patterns.rule import PatternRule

BIT_POINTS, REAL_POINTS, TYPE_POINTS = 16, 4, 2
MOST_PROOFS, LARGEST_PROOF = 40, 12  # instances that z3 is asked about, and the numbers among their arguments
CROSS_CHECKS, LARGEST_CHECK = 3, 4
FORMAT_PROOFS, LARGEST_FORMAT_PROOF = 6, 6
RLIMIT = 1_500_000
ON_THE_MACHINE = "equal in IEEE-754, bit for bit, where a tiny format differs"


def audit_array_rule(rule: PatternRule, seed: int, skip: frozenset[str], rlimit: int = RLIMIT) -> Report:
    """The report on a rule that has shapes or attributes (`not rule.is_scalar`)."""
    journal = Journal(f"rule {rule.name}", skip)
    bits = rule.domain in ("BITS", "IEEE")
    real_kind, bit_kind = ("convention", "fault") if bits else ("fault", "convention")
    instances = instances_of(rule)
    journal.details["instances"] = instances.scope(instances.found)
    if not instances.found:
        journal.verdicts.append(Vacuous("no choice of shapes and attributes gives the left side a meaning", "instances"))
        return journal.report(seed)
    proved = journal.check("proof over the reals", lambda: _over_the_reals(rule, instances, real_kind, rlimit))
    found = instances.found
    real = journal.check(
        "values over the reals", lambda: [over(found, lambda i: equal_reals(i, seed, real_kind, REAL_POINTS), in_the_reals)]
    )
    machine = journal.check(
        "values in IEEE-754", lambda: [over(found, lambda i: equal_bits(i, seed, bit_kind, BIT_POINTS), on_the_machine)]
    )
    _in_formats(journal, rule, found, bits, machine, rlimit)
    types = journal.check("types", lambda: [over(found, lambda i: equal_types(i, seed, TYPE_POINTS))])
    refuted = any(isinstance(v, Refuted) for v in proved)
    if refuted:
        journal.not_judged("gradients", "the values differ over the reals")
    else:
        journal.check("gradients", lambda: keeps_array_gradients(found, seed))
    journal.check("firing", lambda: [_fires(rule, found, not any(isinstance(v, Refuted) for v in types))])
    _conditions(journal, rule, seed, machine if bits else real, rlimit)
    from checkers.optimizer_audit.rules import in_short

    journal.details["summary"] = in_short(journal.verdicts)
    return journal.report(seed)


def _conditions(journal: Journal, rule: PatternRule, seed: int, judged: Sequence[Verdict], rlimit: int) -> None:
    """The weakest side condition, of the elements, where the rule is one of scalars at every index."""
    scalars = elementwise_rule(rule)
    if scalars is None:
        journal.not_judged("weakest side condition", "the vocabulary speaks of scalars, and the rule is not elementwise")
    elif any(isinstance(v, Refuted) for v in judged):
        what_would_save(journal, scalars, seed, None, rlimit)
    elif rule.condition is not None:
        of_the_declared(journal, scalars, seed, None, rlimit)


Diverge = Callable[..., Divergence | None]


def over(instances: Sequence[Instance], judge: Callable[[Instance], Verdict], diverge: Diverge | None = None) -> Verdict:
    """
    The verdict of a check on points over all instances: the first refutation, with the attributes that lead to it, and with both
    sides node by node if `diverge` tells where they part.
    """
    count, claim = 0, ""
    for instance in instances:
        verdict = judge(instance)
        claim = verdict.claim or claim
        match verdict:
            case Refuted(counterexample):
                point = tuple(counterexample.inputs.values())
                shown = diverge(instance.left, instance.right, point) if diverge is not None else None
                note = "\n".join(part for part in (counterexample.note, str(shown) if shown else "") if part)
                return with_attributes(replace(verdict, counterexample=replace(counterexample, note=note)), instance)
            case Passed(n):
                count += n
            case Unknown():
                return verdict
    if not count:
        return Vacuous("no point of any instance satisfies the condition and gives the left side a value", claim)
    return Passed(count, f"points of {len(instances)} choice{'s' * (len(instances) != 1)} of shapes and attributes", claim)


def with_attributes(verdict: Refuted, instance: Instance) -> Refuted:
    """The refutation with the attributes among the inputs."""
    inputs = {**verdict.counterexample.inputs, **instance.attributes}
    return replace(verdict, counterexample=replace(verdict.counterexample, inputs=inputs))


# proofs


def prove_array_rule(rule: PatternRule, rlimit: int = RLIMIT) -> list[Verdict]:
    """What can be proved of a rule about arrays: over the reals, and bit for bit if it claims so."""
    instances = instances_of(rule)
    if not instances.found:
        return [Vacuous("no choice of shapes and attributes gives the left side a meaning", "equal over the reals")]
    found = _over_the_reals(rule, instances, "fault" if rule.domain == "REAL" else "convention", rlimit)
    return found if rule.domain == "REAL" else [*found, *_bit_for_bit(rule, instances.found, rlimit)]


def _over_the_reals(rule: PatternRule, instances: Instances, kind: str, rlimit: int) -> list[Verdict]:
    """One proof for all shapes and a few instances as a cross-check, or a proof of every instance, or what stands in the way."""
    every = proved_for_all_shapes(rule, instances, rlimit)
    if isinstance(every, Proved):
        few = [i for i in instances.found if 0 < i.weight <= LARGEST_CHECK][:CROSS_CHECKS]
        check = _each(few, kind, rlimit, f"equal over the reals, for {instances.scope(few)}")
        return [check] if isinstance(check, Refuted) else [every]
    chosen = [i for i in instances.found if i.weight <= LARGEST_PROOF][:MOST_PROOFS]
    found = _each(chosen, kind, rlimit, f"equal over the reals, for {instances.scope(chosen)}")
    return [found]


def _each(instances: Sequence[Instance], kind: str, rlimit: int, claim: str) -> Verdict:
    """Every instance put to the solver."""
    from checkers.smt.equality import equal_over_reals

    methods: set[str] = set()
    for instance in instances:
        verdict = equal_over_reals(instance.left, instance.right, None, instance.condition, rlimit=rlimit)
        match verdict:
            case Refuted(counterexample):
                return with_attributes(Refuted(counterexample, kind, claim), instance)
            case Proved(by):
                methods.add(by)
            case Vacuous():
                continue
            case _:
                return replace(verdict, claim=claim)
    return Proved(" and ".join(sorted(methods)), claim) if methods else Vacuous("no instance can be met", claim)


def _in_formats(
    journal: Journal, rule: PatternRule, found: Sequence[Instance], bits: bool, machine: Sequence[Verdict], rlimit: int
) -> None:
    """Bit for bit: for all shapes where entries only move, or where the rule is elementwise and its scalars are proved."""
    if not bits:
        journal.not_judged("proof in IEEE-754", "the rule claims equality over the reals only")
    elif any(isinstance(v, Refuted) for v in machine):
        journal.not_judged("proof in IEEE-754", "already refuted by a run")
    else:
        journal.check("proof in IEEE-754", lambda: _bit_for_bit(rule, found, rlimit))


def _bit_for_bit(rule: PatternRule, found: Sequence[Instance], rlimit: int) -> list[Verdict]:
    from checkers.optimizer_audit.array_proofs import only_moves
    from checkers.smt.equality import equal_in_ieee
    from checkers.smt.ieee import LADDER, TINY

    if only_moves(rule, found):
        return [Proved("index forms: both sides only move entries", "bit-equal in every format, for all shapes")]
    scalars = elementwise_rule(rule)
    if scalars is not None:
        verdicts: list[Verdict] = []
        for format in LADDER:
            verdict = equal_in_ieee(scalars.left, scalars.right, format, scalars.condition, rlimit=rlimit)
            verdicts.append(replace(verdict, claim=f"{verdict.claim}, at every element, for all shapes"))
            if not isinstance(verdict, Proved):
                break
        return verdicts
    small = [i for i in found if 0 < i.weight <= LARGEST_FORMAT_PROOF][:FORMAT_PROOFS]
    claim = f"bit-equal in {TINY.name}, for {len(small)} small shapes"
    proved = 0
    for instance in small:
        verdict = equal_in_ieee(instance.left, instance.right, TINY, instance.condition, rlimit=rlimit)
        if isinstance(verdict, Refuted):  # a hint, unless the machine, which computes in another format, shows it too
            shown = bits_refuted(instance, widened(tuple(verdict.counterexample.inputs.values())), "fault", ON_THE_MACHINE)
            return [with_attributes(replace(verdict, kind="convention", claim=claim) if shown is None else shown, instance)]
        if not isinstance(verdict, Proved):
            return [Unknown(f"{type(verdict).__name__} at {dict(instance.sizes)}", claim)]
        proved += 1
    return [Proved("z3", claim)] if proved else [OutOfScope("no instance is small enough", claim)]


def widened(point: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """
    A point of the tiny format, its largest exponent 3 and its least number 2^-5, as points of doubles: as it is; with what is in
    the last binade, or below the normal numbers, in those of doubles; and with all numbers scaled up or down by as much.
    """
    up, down = 2.0**1020, 2.0**-1069

    def ends(x: float) -> float:
        return x * up if abs(x) >= 8.0 else x * down if abs(x) < 0.25 else x

    def changed(value: Any, change: Callable[[float], float]) -> Any:
        return over_leaves(lambda x: change(x) if type(x) is float else x, value)

    for change in (float, ends, up.__mul__, down.__mul__):
        yield tuple(changed(value, change) for value in point)


# rewriting


def _fires(rule: PatternRule, found: Sequence[Instance], typed: bool) -> Verdict:
    """The rule on its own left side at known types: it must fire and leave a well-formed program, if `typed` of the same type."""
    claim = "fires on its own left side, and leaves it well-formed"
    tried = 0
    for instance in found[:: max(1, len(found) // 24)]:
        after = next(fired(rule.rewrite, instance.left), None)
        if after is None:
            continue
        tried += 1
        try:
            check(after)
            before_type, after_type = (erase(infer(p).result) for p in (instance.left, after)) if typed else (None, None)
        except AdjudgeError as error:
            return Refuted(Counterexample({"before": str(instance.left)}, str(after), error.what), "fault", claim)
        if typed and before_type != after_type:
            return Refuted(Counterexample({"before": str(instance.left)}, str(after_type), str(before_type)), "fault", claim)
    if not tried:
        return Vacuous("the rule fires on no instance of its own left side", claim)
    return Passed(tried, "instances of its own left side", claim)


def judged_as_arrays(rule: Any) -> bool:
    """Whether a rule is judged here: it has metavariables for arrays or attributes."""
    return isinstance(rule, PatternRule) and not rule.is_scalar
