"""A counterexample as a Python program that runs both sides, prints both values, and exits with 1 if they differ."""

from __future__ import annotations

import math
from typing import Any

from checkers.optimizer_audit.samples import Point
from semantics.arrays import Array
from semantics.ir import Program

SCRIPT = """import math, sys
from semantics.arrays import Array
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from semantics.tangents import ZERO

before = read({before!r})
after = read({after!r})
point = {point}
wanted = run(before, *point)
try:
    found = run(after, *point)
except Exception as error:
    found = repr(error)
print("wanted", wanted, "found", found)
sys.exit(0 if same(wanted, found) else 1)
"""


def script_of(before: Program, after: Program, point: Point) -> str:
    """The program as text. It needs this package and nothing else."""
    return SCRIPT.format(before=str(before), after=str(after), point=_literal(point))


def _literal(value: Any) -> str:
    """A value as Python source."""
    if isinstance(value, tuple):
        return "(" + "".join(_literal(v) + ", " for v in value) + ")"
    if isinstance(value, Array):
        return f"Array({value.dtype!r}, {value.shape!r}, {_literal(value.items)})"
    if type(value) is float and not math.isfinite(value):
        return "math.nan" if math.isnan(value) else ("math.inf" if value > 0 else "-math.inf")
    return repr(value)
