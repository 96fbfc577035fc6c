"""Generated code of drawn programs over arrays and lists has the bits of the reference: values, gradients, second derivatives."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from array_program_claims import judged
from array_programs import Drawn, array_programs
from claims import costly
from hypothesis import HealthCheck, Phase, event, find, given, settings
from hypothesis.errors import NoSuchExample

from backend.arrays import carried, in_place

DRAWN_ALONE = {"phases": [Phase.generate], "database": None, "deadline": None, "suppress_health_check": list(HealthCheck)}


def holds(drawn: Drawn, kind: str, target: str = "python") -> Counter[str]:
    """Asserts the law of a kind of derivative, and says what became of the program."""
    told = judged(drawn.text(kind == "value"), kind, target)
    event("code" if told["value"] else "a trap" if told["trap"] else "the machine's")
    return told


@costly(2)
@given(array_programs())
def test_a_value_is_the_references_in_every_bit(drawn: Drawn) -> None:
    holds(drawn, "value")


@costly(4)
@given(array_programs())
def test_a_gradient_is_that_of_j_or_of_the_adjoint_in_every_bit(drawn: Drawn) -> None:
    holds(drawn, "gradient")


@costly(4)
@given(array_programs())
def test_so_is_a_tangent(drawn: Drawn) -> None:
    holds(drawn, "tangent")


@costly(8)
@given(array_programs(most=2))
def test_so_is_a_gradient_of_a_derivative(drawn: Drawn) -> None:
    holds(drawn, "second")


@costly(100)
@given(array_programs(most=2, kinds=("FA", "FAP")))
def test_so_is_a_gradient_that_numba_compiles(drawn: Drawn) -> None:
    holds(drawn, "gradient", "cpu")


PASSED_ON = """
import numpy as np
def f(x, y, n2, e: float, n: int):
    t = 0.5
    v = -0.25
    g = x * e
    c = np.zeros_like(x)
    for i1 in reversed(range(n)):
        if v > 0.5:
            g = h
        if 0 % 2 == 0:
            h = g
        for i4 in range(n):
            h = h * e
            if g[0] > 0.0:
                c = g + c
    return t
"""


def test_a_block_that_passes_on_to_one_nested_in_it_is_code() -> None:
    """The rule `eta` put the inner block in the place of the outer, whose parameter it needs: Python's ValueError came of it."""
    assert judged(PASSED_ON, "gradient")["value"]


PLACES = """
import numpy as np
def f(x, y, n2, e: float, n: int):
    r = np.argsort(x)
    b = y > 0.5
    return np.sum(np.cumsum(x) ** 2), x[np.argmax(r)] * e, y[np.argmax(b)], r[1:].argmin() if len(x) > 1 else 0
"""


def test_the_place_of_the_least_integer_is_found_beside_an_array_that_is_made() -> None:
    """It was 0: the least so far begins as the largest integer, a name of the module that a pass took for one without a value."""
    assert judged(PLACES, "value")["value"]


NO_TURN = Drawn(
    (
        "    for i1 in range(n):",
        "        h = run(h, 0.5)",
        "        j2 = 0",
        "        while j2 < n:",
        "            j2 += 1",
        "            h = h * e",
        "            t = np.sum(np.array(l) * 0.5)",
        "        l = s[1:]",
        "        h = h * e",
        "    RETURN t",
    )
)


def test_before_a_loop_of_no_turns_an_array_has_no_fewer_than_no_elements() -> None:
    """A slice of n - 1 elements was made before the loop, where nothing had tested that n is not 0: a ValueError came of it."""
    assert judged(NO_TURN.text(True), "value")["value"]


def test_most_programs_run_as_generated_code() -> None:
    """Of a few that are the same each time."""
    told: list[Counter[str]] = []

    @settings(max_examples=8, derandomize=True, **DRAWN_ALONE)
    @given(array_programs())
    def gathered(drawn: Drawn) -> None:
        told.append(holds(drawn, "value"))

    gathered()
    assert sum(found["value"] > 0 for found in told) >= 0.5 * len(told)


def read_later(facts: Any, copies: list[Any], own: Any) -> list[Any]:
    """In place where the old array is the only name of its memory, though something reads it afterwards."""
    facts.sole(own)
    return [c for c in copies if facts.bit(c.old) & facts.steps[id(c.loop)].before]


PLANTED = {
    "a sum in place of what is read later": (in_place, "_moved", read_later, "FA"),
    "sizes that differ are one": (carried.Sizes, "agree", lambda self, one: True, "FABW"),
}
EXAMPLES = 100


def is_wrong(drawn: Drawn) -> bool:
    try:
        judged(drawn.text(True), "value")
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    *place, kinds = PLANTED[bug]
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    monkeypatch.setattr(*place)
    find(array_programs(kinds=(kinds,)), is_wrong, settings=settings(max_examples=EXAMPLES, **DRAWN_ALONE), random=Random(0))


def test_without_a_bug_none_is_found() -> None:
    with pytest.raises(NoSuchExample):
        find(array_programs(), is_wrong, settings=settings(max_examples=5, **DRAWN_ALONE), random=Random(0))
