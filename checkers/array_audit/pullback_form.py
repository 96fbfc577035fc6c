"""
The two ways to write a pullback of arrays, and which one somebody has chosen.

    (xs, y, dy)      the arguments as one tuple: the documented form of black boxes
    (x…, y, dy)      the arguments one by one, as primitives have it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from checkers.array_audit.case import Arguments
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.pullback_form import required
from semantics.errors import IllTyped
from transforms.python_rows import quietly

TUPLES = ("xs", "args", "arguments", "primals", "inputs")
"""What a pullback of one argument calls its first parameter if it takes the arguments as a tuple."""


def spread_out(rule: Callable[..., Any]) -> Callable[[Arguments, Any, Any], Any]:
    """A rule of (x…, y, d) as one of (xs, y, d)."""
    return lambda xs, y, d: quietly("the backpropagator", rule, *xs, y, d)


def spreads(trial: Trial, pullback: Callable[..., Any], samples: Sequence[Arguments]) -> bool:
    """
    Whether the pullback is written (x…, y, dy) rather than (xs, y, dy).

    With several arguments their number tells. With one, the name of the first parameter, or else which form answers in the shape of
    the argument at a sample. If both do, it is spread where its first parameter bears the name of the argument, or where the other
    form would take the tuple itself for an array; if neither does, the documented form (xs, y, dy).
    """
    names = required(pullback)
    arity = len(trial.parameters)
    if len(names) != arity + 2 or names[0] in TUPLES:
        return False
    if arity > 1:
        return True
    for arguments in samples:
        case = trial.case(arguments)
        if case is None:
            continue
        cotangent = np.ones(case.outputs)
        documented = trial.pulled_anew(case, trial.seeded(case, cotangent))
        trial.pull, kept = spread_out(pullback), trial.pull
        answered = trial.pulled_anew(case, trial.seeded(case, cotangent))
        if documented.cotangents is not None and answered.cotangents is not None and names[0] not in trial.parameters:
            trial.pull = lambda xs, y, d: pullback(_Whole(xs), y, d)
            documented = trial.pulled_anew(case, trial.seeded(case, cotangent))
        elif answered.cotangents is not None:
            documented = answered
        trial.pull = kept
        if documented is not answered and documented.cotangents is not None:
            return False
        return answered.cotangents is not None or documented.raised.startswith(("TypeError", "AttributeError", "IllTyped"))
    return False


class _Whole(tuple[Any, ...]):
    """Arguments that NumPy cannot take for an array: a rule that computes with the tuple itself means one argument."""

    __slots__ = ()

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise IllTyped("a tuple of arguments is no array", rule="check_vjp")
