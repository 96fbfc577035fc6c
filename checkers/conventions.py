"""
What others answer at kinks: a table of conventions of JAX, PyTorch and autograd, so that a finding can say which rules differ.

Each entry names a function, the kink, the Clarke interval of its first tied argument, and the slope that each framework takes by
that argument. The tests run the frameworks that are installed and compare. NaN says that a framework has no derivative there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

VERSIONS = {"JAX": "0.10", "PyTorch": "2.13", "autograd": "1.9"}


@dataclass(frozen=True, slots=True)
class Convention:
    """At the kink `where` of `function`, whose slopes lie from lo to hi, each framework takes the slope in `takes`."""

    function: str
    where: str
    lo: float
    hi: float
    takes: Mapping[str, float]


NAN = math.nan
TABLE: tuple[Convention, ...] = (
    Convention("abs", "at 0", -1, 1, {"JAX": 1.0, "PyTorch": 0.0, "autograd": 0.0}),
    Convention("relu", "at 0", 0, 1, {"JAX": 0.0, "PyTorch": 0.0}),
    Convention("leaky_relu", "at 0, slope 0.01 below", 0.01, 1, {"JAX": 1.0, "PyTorch": 0.01}),
    Convention("hardtanh", "at 1", 0, 1, {"JAX": 1.0, "PyTorch": 0.0}),
    Convention("clip", "at the lower bound", 0, 1, {"JAX": 0.5, "PyTorch": 1.0, "autograd": 0.0}),
    Convention("clip", "at the upper bound", 0, 1, {"JAX": 0.5, "PyTorch": 1.0, "autograd": 0.0}),
    Convention("maximum", "of two equal numbers", 0, 1, {"JAX": 0.5, "PyTorch": 0.5, "autograd": 0.5}),
    Convention("minimum", "of two equal numbers", 0, 1, {"JAX": 0.5, "PyTorch": 0.5, "autograd": 0.5}),
    Convention("fmax", "of two equal numbers", 0, 1, {"JAX": 0.0, "PyTorch": 1.0, "autograd": 0.5}),
    Convention("fmin", "of two equal numbers", 0, 1, {"JAX": 0.0, "PyTorch": 1.0, "autograd": 0.5}),
    Convention("max", "of an array, two tied", 0, 1, {"JAX": 0.5, "PyTorch": 0.5, "autograd": 0.5}),
    Convention("min", "of an array, two tied", 0, 1, {"JAX": 0.5, "PyTorch": 0.5, "autograd": 0.5}),
    Convention("sort", "two tied, the first by the first", 0, 1, {"JAX": 1.0, "PyTorch": 1.0, "autograd": 1.0}),
    Convention("median", "of three equal numbers", 0, 1, {"JAX": 0.0, "PyTorch": 1 / 3}),
    Convention("norm", "at 0", -1, 1, {"JAX": NAN, "PyTorch": 0.0, "autograd": NAN}),
    Convention("hypot", "at (0, 0)", -1, 1, {"JAX": 0.5, "PyTorch": NAN}),
    Convention("sqrt", "at 0", math.inf, math.inf, {"JAX": math.inf, "PyTorch": math.inf, "autograd": math.inf}),
    Convention("where", "where(x > 0, x, 0) at 0", 0, 1, {"JAX": 0.0, "PyTorch": 0.0, "autograd": 0.0}),
)
ALIASES = {
    "absolute": "abs",
    "fabs": "abs",
    "clamp": "clip",
    "hard_tanh": "hardtanh",
    "amax": "max",
    "reduce_max": "max",
    "amin": "min",
    "reduce_min": "min",
    "vector_norm": "norm",
}


def others(name: str, answer: float | None = None) -> str:
    """
    What the frameworks take at the kinks of the function of this name, as a clause; "" if the table does not have it.

    `answer` is compared: a framework that takes another slope is said to differ. The name may be dotted.
    """
    plain = name.rsplit(".", maxsplit=1)[-1].lower().strip("_")
    rows = [c for c in TABLE if c.function == ALIASES.get(plain, plain)]
    if not rows:
        return ""
    told = []
    for row in rows[:1] if all(r.takes == rows[0].takes for r in rows) else rows:
        slopes: dict[str, list[str]] = {}
        for framework, slope in row.takes.items():
            slopes.setdefault(shown(slope), []).append(framework)
        told.append(
            f"{row.where}: " + "; ".join(f"{listed(who)} {'takes' if len(who) == 1 else 'take'} {s}" for s, who in slopes.items())
        )
    clause = f"{rows[0].function} " + "; ".join(told)
    if answer is None:
        return clause
    differ = [f for f, slope in rows[0].takes.items() if shown(slope) != shown(answer)]
    return f"{clause}; {listed(differ)} differ{'s' if len(differ) == 1 else ''} from it" if differ else f"{clause}; none differs"


def shown(slope: float) -> str:
    """A slope as people write it."""
    return "NaN" if math.isnan(slope) else f"{slope + 0.0:.6g}"


def listed(names: list[str]) -> str:
    """A, B and C."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
