"""
Three reverse modes, one meaning: closures (J), the adjoint of SSA code and local pullbacks give one gradient, which is that of dual
numbers.

The claim is about first-order programs, those that the translation to SSA accepts. It is judged over the reals, on fractions or
enclosures. A difference is looked at again by `checkers.agreement`, which knows of kinks, where derivatives are conventions, and
names the first differing step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers import forward_mode
from checkers.agreement import judge, question
from checkers.agreement.question import Question
from checkers.ball_differences import precision
from checkers.columns.ball import BITS, balls
from checkers.columns.undecided import Undecided
from checkers.properties.agreement import Wide, differ, is_rational, lifted
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Unknown, Verdict
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.errors import AdjudgeError, IllTyped, Malformed, Trap
from semantics.ir import Program

REVERSE = ("J", "ssa", "pullback")
CLAIM = "three reverse modes, one meaning"


def three_modes_agree(program: Program, arguments: Sequence[Any], modes: Sequence[str] = REVERSE) -> Verdict:
    """The gradients by `modes`, by all arguments that hold reals, are the gradient by forward mode, and their values the value."""
    asked = question(program, arguments)
    made: dict[str, Program] = {}
    for mode in modes:
        try:
            made[mode] = asked.derivative(mode)
        except Malformed as refusal:
            if mode.startswith("ssa"):
                return OutOfScope(f"no SSA adjoint: {refusal.what}", CLAIM)
            return Refuted(Counterexample(_named(arguments), str(refusal), f"an adjoint by {mode}"), claim=CLAIM)
    rational = all(is_rational(p) for p in (asked.expanded, *made.values()))
    reading = FRACTIONS if rational else balls(BITS)
    with precision(BITS):
        return _compared(asked, made, reading)


def _named(arguments: Sequence[Any]) -> dict[str, Any]:
    return {f"argument {i}": x for i, x in enumerate(arguments)}


def _compared(asked: Question, made: dict[str, Program], reading: Reading) -> Verdict:
    primals = lifted(reading, asked.arguments)
    try:
        value = denote(asked.expanded, primals, reading)
        slopes = {p: forward_mode.derivative(asked.expanded, primals, p, reading) for p in asked.paths}
    except (Trap, IllTyped) as error:
        return OutOfScope(f"no reference value: {error.what}", CLAIM)
    wanted = (value, asked.gathered(slopes))
    for mode, program in made.items():
        try:
            if differ(denote(program, primals, reading), wanted) is not None:
                return _looked_at_again(asked, mode)
        except Undecided as error:
            return Unknown(f"not decided by enclosures: {error.what}", CLAIM)
        except Wide as wide:
            return Unknown(str(wide), CLAIM)
        except AdjudgeError:
            return _looked_at_again(asked, mode)
    return Passed(len(made), "modes equal to forward mode", CLAIM)


def _looked_at_again(asked: Question, mode: str) -> Verdict:
    """The verdict of `checkers.agreement` on the mode that differs."""
    try:
        return judge(asked, (mode, "forward"), counted=False).verdicts[mode]
    except (Trap, IllTyped) as error:
        return OutOfScope(f"no value in doubles: {error.what}", CLAIM)
