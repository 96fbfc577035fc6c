"""What a run may give before it is assigned, as the greatest of a list that may be empty, has code; such a run is the machine's."""

from __future__ import annotations

import numpy as np
import pytest
from code_claims import LENGTHS, column, gradient, has_code, written
from test_backend_gathering import COLUMN

import adjudge as aj
import backend
from adjudge.values import to_value
from semantics.errors import IllTyped, Trap
from semantics.type_language import REAL

POSITIVE = "a = []\nfor x in xs:\n if x > 0.0: a.append(x * x)\n"
GIVEN = {
    "the greatest": POSITIVE + "return max(a)",
    "the least": POSITIVE + "return min(a)",
    "one of each": POSITIVE + "return max(a) - min(a) * 0.5",
    "a pair": POSITIVE + "return (max(a), len(a))",
    "the sum": POSITIVE + "return sum(a)",
    "of a list that begins with one": POSITIVE.replace("[]", "[1.0]") + "return max(a)",
    "now and then": POSITIVE.replace("a = []", "a, m = [], 0.0") + " if len(a) > 1: m = m + max(a)\nreturn m",
    "an element of the last turn": "for x in xs:\n if x > 0.2: y = x * x\nreturn y",
    "a row of it": "for x in xs:\n if x > 0.2: y = xs * x\nreturn y",
}
SAMPLES = [*(column(n) for n in LENGTHS), (np.array([-1.0, -2.0]),)]


@pytest.mark.parametrize("name", GIVEN)
def test_what_may_be_unassigned_has_code(name: str) -> None:
    has_code(written(GIVEN[name]), COLUMN, SAMPLES)


@pytest.mark.parametrize("name", ["the greatest", "the least", "one of each", "of a list that begins with one", "now and then"])
@pytest.mark.parametrize("target", ["python", "cpu"])
def test_so_has_its_gradient(name: str, target: str) -> None:
    has_code(gradient(written(GIVEN[name]), COLUMN), COLUMN, SAMPLES[:-1], target)


def test_a_run_that_has_not_assigned_it_is_told_by_the_machine() -> None:
    def last(xs):  # type: ignore[no-untyped-def]
        for x in xs:
            if x > 0.0:
                y = x
        return y

    code = aj.compile(last, target="python")
    assert code(np.array([1.0, -2.0])) == 1.0
    for _ in range(2):
        with pytest.raises(Trap, match="returned before it is assigned"):
            code(np.array([-1.0, -2.0]))
    own = backend.compile(aj.parse(last), COLUMN, "python")
    with pytest.raises(Trap, match="does not return"):
        own(to_value(np.array([-1.0])))


def test_near_miss_what_no_run_assigns_is_refused() -> None:
    with pytest.raises(IllTyped, match="unbound"):
        backend.compile(written("if x is None: y = 1.0\nreturn y", "x"), (REAL,), "python")
