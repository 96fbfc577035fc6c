"""
Whether an evaluation failed at a point or for good: a function that a reference cannot run is not run again for every direction.

A failure at a point (a comparison that is not decided, a division by zero) says nothing of other points. Any other says that the
function does what the numbers cannot do; after `PATIENCE` such cases and no success the function is given up, and `why` says so.

A function may also compute something else on other numbers than on doubles (it may ask for the dtype): `faithful` refuses that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from checkers.array_audit.case import Case, flat, leaves
from semantics.errors import AdjudgeError, IllTyped, Trap

PATIENCE = 2
SAME = 2.0**-10
"""Relative to the value or to 1: rounding may lose many digits of a value and leave it the same; another function is another."""
POINTWISE = (Trap, ArithmeticError, ValueError)


@dataclass(eq=False)
class Attempts:
    """What became of the evaluations of one function on one kind of number."""

    why: str = ""
    succeeded: bool = False
    _failed: dict[int, Case] = field(default_factory=dict, repr=False)

    def __call__(self, case: Case, compute: Callable[[], Any]) -> Any:
        """The result of `compute` for a case; None where it fails, or has failed for good on this case or on the function."""
        if id(case) in self._failed or (not self.succeeded and len(self._failed) >= PATIENCE):
            return None
        try:
            found = compute()
        except POINTWISE:
            return None
        except Exception as error:  # a foreign function may raise anything
            self._failed[id(case)] = case
            self.why = error.what if isinstance(error, AdjudgeError) else f"{type(error).__name__}: {error}"
            return None
        self.succeeded = True
        return found


def faithful(values: Any, case: Case) -> bool:
    """True; IllTyped unless these doubles are the values of the case, but for rounding."""
    known = flat([leaf for _, leaf in leaves((case.value,))])
    found = np.asarray(values, dtype=np.float64)
    room = SAME * np.maximum(1.0, np.abs(known))
    judged = np.isfinite(known) & np.isfinite(found)
    if (np.abs(found - known)[judged] > room[judged]).any():
        raise IllTyped("the function has other values on other numbers than doubles", rule="references")
    return True
