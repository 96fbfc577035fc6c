"""Sums in fast code: steps whose order is left open, and a test of the total. If it is not finite, the exact code runs again."""

from __future__ import annotations

import re
from typing import Any

from backend.status import ORDER

_TEST = re.compile(r"\n *if not \((x\d+) - \1 == 0\.0\):\n *return [^\n]*")
IDLE = 5
"""How often the code names a total that only its own sum and test read: where it begins, twice in a step, and twice in the test."""


def next_term(emit: Any, total: str, term: Any) -> None:
    """One term more."""
    emit.line(f"{total} = _any_term({total}, {term.text})")


def demand_finite(emit: Any, total: str) -> None:
    """The status ORDER where the total is not finite: in the order of the reference it may be, or be another infinity or NaN."""
    emit.trap(f"not ({total} - {total} == 0.0)", ORDER)


def without_idle_tests(text: str) -> str:
    """The code without the tests of totals that nothing reads, which a compiler then need not compute."""
    names: dict[str, int] = {}
    for name in re.findall(r"\w+", text):
        names[name] = names.get(name, 0) + 1
    return _TEST.sub(lambda test: "" if names[test[1]] == IDLE else test[0], text)
