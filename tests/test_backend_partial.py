"""None and ZERO in place of a value, where no run needs one: there generated code gives up, and the machine runs the sample."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import pytest
from vm_runs import outcome

from backend import runnable
from backend.stacks.cell_types import StackInference
from backend.tiers import Tiered
from semantics.errors import IllTyped
from semantics.infer import entry_types
from semantics.machine import Machine
from semantics.text import read
from semantics.type_language import INTEGER, REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

TYPES = (REAL, INTEGER)
PROGRAMS = {
    "the best so far": """
def f(x, n):
    best = None
    for i in range(n):
        v = x * i - i * i
        if best is None or v > best:
            best = v
    return best * 2.0
""",
    "what a search has found": """
def root(x):
    if x < 0.0:
        return None
    return x ** 0.5
def f(x, n):
    r = root(x - n)
    return x if r is None else r * 2.0
""",
    "a sum from 0": """
def f(x, n):
    return sum(x * i for i in range(n))
""",
    "the minimum of a field of records, if there are any": """
from typing import NamedTuple
class Hit(NamedTuple):
    t: float
    k: int
def f(x, n):
    first = None
    for k in range(1, n + 1):
        hit = Hit(x * (k - 2) ** 2 + 1.0 / k, k)
        if first is None or hit.t < first.t:
            first = hit
    return first.t * first.k
""",
}
ABSENT_AT = {"the best so far": 0, "a sum from 0": None, "the minimum of a field of records, if there are any": 0}
"""The number of turns with which a value is an error of the reference; None: only a gradient is."""


@cache
def tiered(name: str, derived: bool) -> Tiered:
    program = parse_text(PROGRAMS[name], "f", "partial.py", {})
    return runnable(calling(program, "value_and_grad", 0, TYPES) if derived else program, TYPES, "python")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_it_is_compiled_and_ends_as_the_reference_does(name: str, derived: bool) -> None:
    code = tiered(name, derived)
    code.calls = 1
    for x, n in ((1.5, 3), (9.0, 4), (-2.0, 1), (math.nan, 2), (0.5, 0)):
        wanted = [outcome(lambda m=m: Machine(expand(code.program, m)).run((x, n)).value) for m in ("J", "ssa")]  # noqa: B023
        found = outcome(code, x, n)
        fails = n == 0 and name in ABSENT_AT and (derived or ABSENT_AT[name] == 0)
        assert isinstance(found, IllTyped) == fails
        assert code.again == fails
        if fails:
            assert all(found.what == error.what for error in wanted)
        else:
            assert any(same(found, value) for value in wanted)
    assert code.refusal is None


WRONG = {
    "None is no number": ("(%x: f64, %c: bool)", "%m = switch(%c, %x, None)", "%r = mul(%m, 2.0)"),
    "a tuple is no number": ("(%x: f64, %c: bool)", "%t = make_tuple(%x)\n  %m = switch(%c, %x, %t)", "%r = mul(%m, 2.0)"),
}


@pytest.mark.parametrize(("name", "partial", "typed"), [(n, p, p and "None" in n) for n in WRONG for p in (False, True)])
def test_only_where_asked_for_and_only_none_and_zero_are_left_out(name: str, partial: bool, typed: bool) -> None:
    given, choice, use = WRONG[name]
    program = read(f"program @f\n@f{given}:\n  {choice}\n  {use}\n  return %r\n")

    def result() -> Any:
        return StackInference(program, True, {}, partial=partial).run(entry_types(program, None)).result

    if typed:
        assert result() == REAL
    else:
        with pytest.raises(IllTyped, match="mul wants numbers"):
            result()
