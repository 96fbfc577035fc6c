"""
Two programs bit for bit in IEEE-754: rewritten to one text by rules that are proved bit for bit; else, if they are small, up the
ladder of formats.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checkers.smt.equality import judge_in_ieee
from checkers.smt.ieee import LADDER
from checkers.smt.inquiry import Judgment
from checkers.verdict import Proved, Refuted, Unknown, Verdict
from semantics.columns.meaning import MEANING
from semantics.conditions import Condition
from semantics.ir import Program
from transforms.pipeline import optimize

MOST_BITS = 8
"""Applications of a program that is put bit for bit to a solver: beyond these it does not answer."""


def bit_for_bit(left: Program, right: Program, condition: Condition | str | None, rlimit: int, claim: str) -> Judgment:
    """One text by rules that keep bits; else, for a few applications, up the ladder of formats."""
    if condition is None and optimize(left) == optimize(right):
        return Judgment(claim, "congruence", Proved("congruence: one program, by rules that are proved bit for bit"))
    size = max(sum(_counts(p, n) for n in p.nodes) for p in (left, right))
    if size > MOST_BITS:
        why = f"no rules of ours make them one program, and {size} applications are too many for a solver of floats"
        return Judgment(claim, "congruence", Unknown(why))
    found = Judgment(claim, "none", Unknown("no format was decided"))
    decided: list[str] = []
    for format in LADDER:
        judgment = judge_in_ieee(left, right, format, condition, rlimit=rlimit)
        if not isinstance(judgment.verdict, Proved):
            return judgment if not decided or isinstance(judgment.verdict, Refuted) else _decided(found, decided, judgment)
        decided.append(format.name)
        found = judgment
    return replace(found, verdict=Proved(f"{found.method} in {', '.join(decided)}"))


def _decided(found: Judgment, formats: Sequence[str], open_: Judgment) -> Judgment:
    """What is known where the widest formats are not decided."""
    return replace(found, verdict=Unknown(f"bit-equal in {', '.join(formats)}; then {why(open_.verdict)}"))


def why(verdict: Verdict) -> str:
    """The reason that a verdict gives, or what it is."""
    return str(getattr(verdict, "reason", "") or getattr(verdict, "why", "") or type(verdict).__name__)


def _counts(program: Program, node: int) -> bool:
    """Whether a node applies a primitive with a meaning."""
    inputs: Sequence[int] = getattr(program.nodes[node], "inputs", ())
    return bool(inputs) and MEANING.cells.get(str(program.constant(inputs[0]))) is not None
