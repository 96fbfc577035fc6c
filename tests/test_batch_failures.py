"""The errors that a batch returns are those of calls of their own: place, words, remedy. Those that nobody asks for cost no run."""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.failures import SHOWN, Failures
from semantics.errors import AdjudgeError, Trap


def remainder(a: int, b: int) -> int:
    return a % b


def quotient(a: int, b: int) -> int:
    return a // b


def positive(x: float) -> float:
    assert x > 0.0, "positive"
    return math.log(x)


def raising(x: float, y: float) -> float:
    if y > 1.0:
        raise ValueError("large")
    if x < 0.0:
        raise ValueError("negative")
    return math.sqrt(x) * y


def picked(x: Any, i: int) -> Any:
    return x[i] * 2.0


@dataclass(frozen=True)
class Pair:
    a: float
    b: int


def of_record(p: Pair) -> float:
    return p.a * (7 // p.b)


A, B, X = np.array([4, 5, 6, 7]), np.array([1, 0, 2, 0]), np.array([1.0, -1.0, 2.0, 0.0])
CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "a remainder by zero": (remainder, (A, B)),
    "a quotient by zero": (quotient, (A, B)),
    "an assertion": (positive, (X,)),
    "one of two messages": (raising, (X, np.array([0.5, 0.5, 2.0, 0.5]))),
    "an index": (picked, (np.ones((4, 3)), np.array([0, 3, 1, -4]))),
    "a field of a record": (of_record, (Pair(X, B),)),
    "a gradient": (aj.grad(raising), (X, np.array([0.5, 0.5, 2.0, 0.5]))),
}


def alone(f: Any, arguments: tuple[Any, ...], k: int) -> AdjudgeError | None:
    """The error of one sample on the reference."""
    given = [Pair(x.a[k].item(), x.b[k].item()) if isinstance(x, Pair) else x[k] if x.ndim > 1 else x[k].item() for x in arguments]
    try:
        f(*given) if isinstance(f, type(aj.grad(quotient))) else aj.run(f, *given)
    except AdjudgeError as error:
        return error
    return None


@pytest.mark.parametrize("target", ["cpu", "python", "reference"])
@pytest.mark.parametrize("name", CASES)
def test_an_error_that_is_returned_is_that_of_its_sample(name: str, target: str) -> None:
    f, arguments = CASES[name]
    wanted = {k: error for k in range(4) if (error := alone(f, arguments, k)) is not None}
    batch = aj.vmap(f, target=target, errors="return")
    for _ in range(3):  # the quick way too
        _, failures = batch(*arguments)
        assert wanted
        assert {k: str(e) for k, e in failures.items()} == {k: str(e) for k, e in wanted.items()}
        assert all(e.location is not None for e in failures.values())


def test_an_error_is_that_of_the_columns_as_they_were() -> None:
    a, b, shared = A.copy(), B.copy(), np.array([3])
    _, failures = aj.vmap(lambda a, b, c: a % b + c[0], (0, 0, None), errors="return")(a, b, shared)
    a[:], b[:], shared[:] = 1, 1, 1 << 62
    assert {k: e.what for k, e in failures.items()} == {1: "integer modulo by zero", 3: "integer modulo by zero"}


def test_no_sample_is_run_again_before_its_error_is_asked_for() -> None:
    asked: list[int] = []

    def explain(k: int, error: AdjudgeError) -> AdjudgeError:
        asked.append(k)
        return Trap(f"{error.what} of {k}")

    failures = Failures({k: Trap("an error") for k in range(3, 100)}, explain)
    assert (len(failures), [*failures][:2]) == (97, [3, 4])
    assert (3 in failures, 2 in failures, failures.get(2)) == (True, False, None)
    assert asked == []
    assert failures[5].what == failures[5].what == "an error of 5"
    assert asked == [5]
    assert repr(failures).endswith(f"{2 + SHOWN}: {failures[2 + SHOWN]!r}, … of 97}}")
    assert len(asked) == SHOWN
    with pytest.raises(KeyError):
        failures[2]


def test_the_errors_go_to_another_process_in_full() -> None:
    _, failures = aj.vmap(remainder, errors="return")(A, B)
    again = pickle.loads(pickle.dumps(failures))
    assert type(again) is dict
    assert {k: str(e) for k, e in again.items()} == {k: str(e) for k, e in failures.items()}
    assert "remainder" not in repr(failures)
    assert repr(failures) == repr(dict(failures))
