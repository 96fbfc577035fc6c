"""Translation validation: small loop-free programs and their results, handed to the solver as a question of equality."""

from __future__ import annotations

from collections.abc import Sequence

from checkers.optimizer_audit.pass_values import compare
from checkers.verdict import Counterexample, Proved, Refuted, Unknown, Verdict
from semantics.ir import Apply, GraphRef, Program
from semantics.scope import scopes

MOST, RLIMIT, SMALL = 5, 300_000, 12


def loop_free(program: Program) -> bool:
    """Whether no graph can reach itself."""
    found = scopes(program)
    below = {g: set(targets) for g, targets in found.references.items()}
    todo = [(g, t) for g, targets in below.items() for t in targets]
    while todo:
        graph, target = todo.pop()
        if graph == target:
            return False
        for further in found.references.get(target, ()):
            if further not in below[graph]:
                below[graph].add(further)
                todo.append((graph, further))
    return all(g not in targets for g, targets in below.items())


def validated(changed: Sequence[tuple[Program, Program]], domain: str) -> list[Verdict]:
    """At most a few changed programs, proved equal over the reals, or in a narrow format if the pass claims bits."""
    from checkers.smt.equality import equal_in_ieee, equal_over_reals
    from checkers.smt.ieee import TINY

    chosen = [pair for pair in changed if _cheap(pair[0]) and _cheap(pair[1])]
    verdicts: list[Verdict] = []
    proved = 0
    reasons: list[str] = []
    for before, after in chosen[:: max(1, len(chosen) // MOST)][:MOST]:
        if domain == "REAL":
            found = equal_over_reals(before, after, rlimit=RLIMIT)
        else:
            found = equal_in_ieee(before, after, TINY, rlimit=RLIMIT)
        match found:
            case Proved():
                proved += 1
            case Refuted(counterexample) if domain == "REAL" or _holds_up(before, after, counterexample):
                note = f"before:\n{before}\nafter:\n{after}"
                shown = Counterexample(
                    counterexample.inputs, counterexample.found, counterexample.wanted, counterexample.cause, note=note
                )
                return [Refuted(shown, "fault", "translation validation")]
            case Unknown(reason):
                reasons.append(reason)
            case _:
                reasons.append(type(found).__name__)
    if proved:
        where = "over the reals" if domain == "REAL" else f"in {TINY.name}"
        verdicts.append(Proved(f"z3: {proved} programs equal {where}", "translation validation"))
    if reasons:
        verdicts.append(Unknown(f"{len(reasons)} programs not decided: {reasons[0]}", "translation validation"))
    return verdicts


def _holds_up(before: Program, after: Program, counterexample: Counterexample) -> bool:
    """Whether a counterexample in a narrow format tells the programs apart on the machine, in doubles."""
    point = tuple(counterexample.inputs.values())
    return all(type(v) in (int, float, bool) for v in point) and compare(before, after, [point], "BITS")[0] is not None


def _cheap(program: Program) -> bool:
    applications = sum(isinstance(n, Apply) for n in program.nodes.values())
    graphs = sum(isinstance(getattr(n, "value", None), GraphRef) for n in program.nodes.values())
    return applications <= SMALL and graphs <= 4 and loop_free(program)
