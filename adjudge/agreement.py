"""`agree(f, x…)`: do all ways to build an adjoint mean the same? (`checkers.agreement`)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adjudge.functions import bind, parse
from adjudge.values import is_function, to_value
from semantics.errors import Malformed
from semantics.ir import Program
from transforms.gradient_programs import Wrt
from transforms.modes import MODES

if TYPE_CHECKING:
    from checkers.verdict import Report

FUEL = 5_000_000


def agree(f: Any, *arguments: Any, wrt: Wrt | None = 0, orders: Sequence[int] = (1, 2), fuel: int = FUEL, **named: Any) -> Report:
    """
    Compares the derivatives of f at the arguments by every reverse mode, by forward mode and by reversal of the trace.

    A disagreement is a finding of kind "fault", with the first differing step as its cause; a mode that refuses is in the ledger.
    wrt is a position, a name, or a tuple of them; None for all arguments that hold reals.
    """
    values = bind(f, arguments, named)
    if any(is_function(v) for v in values):
        raise Malformed("an argument is a function", rule="agree", remedy="write a function of data that passes it")
    return judged_program(parse(f), values, wrt=wrt, orders=orders, fuel=fuel, subject=getattr(f, "__name__", "the program"))


def judged_program(
    program: Program,
    arguments: Sequence[Any],
    *,
    wrt: Wrt | None = None,
    orders: Sequence[int] = (1, 2),
    modes: Sequence[str] | None = None,
    fuel: int = FUEL,
    subject: str = "the program",
) -> Report:
    """The report on a program. Malformed for a mode, an order or a `wrt` that is none."""
    from checkers.agreement import ALL, ORACLES, question, report

    chosen, known = tuple(modes or ALL), (*MODES, *ORACLES)
    if unknown := [m for m in chosen if m not in known]:
        raise Malformed(f"no mode is called {unknown[0]!r}", rule="agree", remedy=f"one of {', '.join(known)}")
    if not orders or any(order not in (1, 2) for order in orders):
        raise Malformed(f"orders is {orders!r}", rule="agree", remedy="(1,), (2,) or (1, 2)")
    asked = question(program, [to_value(a) for a in arguments], wrt, fuel=fuel)
    return report(subject, asked, orders, chosen)
