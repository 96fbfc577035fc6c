"""
A rule over the reals, the integers and the booleans: a metavariable that may be of several kinds is tried as each of them.

Integers are mathematical and booleans are two, so z3 proves rules about them as it does rules about reals. Choices of kinds at
which the left side has no meaning are left out, since the rule cannot meet them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from checkers.verdict import OutOfScope, Proved, Verdict

KINDS: Mapping[str, tuple[str, ...]] = {
    "f64": ("real",),
    "i64": ("integer",),
    "bool": ("boolean",),
    "number": ("real", "integer"),
    "any": ("real", "integer", "boolean", "zero", "pair"),
}


def proved_in_every_kind(rule: Any, rlimit: int) -> Verdict:
    """The gravest of the verdicts at all choices of kinds; Proved names the kinds if there are several."""
    from checkers.smt.equality import equal_over_reals

    declared = getattr(rule, "variables", None) or {}
    if not all(type in KINDS for type in declared.values()) or all(len(KINDS[t]) == 1 for t in declared.values()):
        return equal_over_reals(rule.left, rule.right, None, rule.condition, rlimit=rlimit)
    outside: Verdict = OutOfScope("no kinds of the metavariables give the left side a meaning", "equal over the reals")
    proved: list[Proved] = []
    met: set[str] = set()
    for kinds in product(*(KINDS[type] for type in declared.values())):
        verdict = equal_over_reals(rule.left, rule.right, kinds, rule.condition, rlimit=rlimit)
        match verdict:
            case Proved():
                proved.append(verdict)
                met |= set(kinds)
            case OutOfScope():
                continue
            case _:
                return verdict
    if not proved:
        return outside
    methods = " and ".join(sorted({v.by for v in proved}))
    return replace(proved[0], by=f"{methods}; each metavariable {', '.join(k for k in KINDS['any'] if k in met)}")
