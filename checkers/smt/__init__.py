"""
Judging by solver: programs read as z3 terms over the reals and in IEEE formats, and compared.

It does not know the transforms that it judges; a rule is two programs and a side condition.
"""

from checkers.smt.equality import (
    equal_in_ieee,
    equal_over_reals,
    judge_in_ieee,
    judge_ladder,
    judge_over_reals,
    ladder,
)
from checkers.smt.ieee import DOUBLE, HALF, LADDER, SINGLE, TINY, Z3_IEEE, Format
from checkers.smt.inquiry import Judgment
from checkers.smt.real import Z3_REAL

__all__ = [
    "DOUBLE",
    "HALF",
    "LADDER",
    "SINGLE",
    "TINY",
    "Z3_IEEE",
    "Z3_REAL",
    "Format",
    "Judgment",
    "equal_in_ieee",
    "equal_over_reals",
    "judge_in_ieee",
    "judge_ladder",
    "judge_over_reals",
    "ladder",
]
