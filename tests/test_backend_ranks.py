"""
A gradient of a loop that takes gradients of products: known numbers travel through calls, so every array has one rank, and the code
is that for this rank alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from code_claims import has_code

from adjudge.values import to_value
from backend import runnable
from backend.lowering import lower as lowering
from backend.lowering.first_order import lowered
from backend.lowering.lower import lower
from backend.stacks import cell_types
from backend.stacks.cell_types import has_ranks
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.type_language import REAL, ArrayType
from semantics.type_lattice import ZERO_TYPE, join
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

VECTOR, MATRIX = ArrayType("f64", (None,)), ArrayType("f64", (None, None))
DESCENT = """
import numpy as np
import adjudge as aj
def f(w, xs, ys, rate):
    def loss(w):
        return np.mean((xs @ w - ys) ** 2)
    for _ in range(3):
        w = w - rate * aj.grad(loss)(w)
    return loss(w)
"""
NEWTON = """
import numpy as np
import adjudge as aj
def f(w, xs, ys, rate):
    def loss(w):
        return np.sum((xs @ w - ys) ** 2) + 0.1 * np.sum(w ** 4)
    for _ in range(2):
        w = w - rate * np.linalg.solve(aj.hessian(loss)(w), aj.grad(loss)(w))
    return loss(w)
"""
TASKS = """
import numpy as np
import adjudge as aj
def f(w, xs, ys, rate):
    def loss(w, k):
        return np.mean((np.tanh(xs @ w) - k * ys) ** 2)
    total = 0.0
    for k in range(3):
        v = w
        for _ in range(2):
            v = v - rate * aj.grad(loss)(v, k)
        total += loss(v, k)
    return total
"""
TYPES = (VECTOR, MATRIX, VECTOR, REAL)
RNG = np.random.default_rng(5)
GIVEN = RNG.standard_normal(3), RNG.standard_normal((5, 3)), RNG.standard_normal(5), 0.1
LINES = {DESCENT: 500, NEWTON: 3000, TASKS: 700}
"""Of the code, at most; when each rank had its own, of a descent there were 2488, and of the tasks 1602."""


def gradient(text: str) -> Program:
    """The gradient by the first argument and by the rate."""
    return calling(parse_text(text, "f"), "grad", (0, 3), TYPES)


@pytest.mark.parametrize("text", LINES)
def test_there_is_code_for_one_rank_of_each_array_and_it_gives_what_the_reference_gives(text: str) -> None:
    assert lowered(gradient(text), TYPES).alone.count("\n") < LINES[text]
    has_code(gradient(text), TYPES, [GIVEN])


def test_where_known_numbers_may_not_travel_there_is_code_for_each_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    own = lowering._lowered

    def refusing(*given: Any, literals: bool, **more: Any) -> Any:
        if literals:
            raise Malformed("no code with known numbers")
        return own(*given, literals=literals, **more)

    program = expand(gradient(DESCENT), "ssa")
    few = lower(program, TYPES)
    monkeypatch.setattr(lowering, "_lowered", refusing)
    assert lower(program, TYPES).alone.count("\n") > 2 * few.alone.count("\n")


def test_inference_ends_as_soon_as_a_rank_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method was judged at 4352 signatures of graphs before."""
    judged: list[bool] = []
    judge = cell_types.StackInference.judge

    def noted(self: Any, signature: Any) -> Any:
        judged.append(self.literals)
        return judge(self, signature)

    monkeypatch.setattr(cell_types.StackInference, "judge", noted)
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    lowered(gradient(NEWTON), TYPES)
    assert judged.count(False) < judged.count(True)


def test_arrays_of_several_ranks_are_told_from_others() -> None:
    assert has_ranks(join(VECTOR, MATRIX))
    assert has_ranks(join(join(VECTOR, MATRIX), ZERO_TYPE))
    assert not has_ranks(join(VECTOR, ZERO_TYPE))
    assert not has_ranks(join(VECTOR, ArrayType("f64", (3,))))
    assert not has_ranks(join(VECTOR, REAL))


SOFTMAX = """
import numpy as np
def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)
def share(x):
    return softmax(x)[0] * 3.0 + np.sum(softmax(x) ** 2)
"""


def test_a_crowd_of_types_is_no_code_and_the_machine_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Hessian whose 200 graphs had 539 signatures was not there after six minutes."""
    program, x = calling(parse_text(SOFTMAX, "share"), "hessian", 0, (VECTOR,)), to_value(np.array([0.1, 0.5, -0.3]))
    signatures, run = list[int](), lowering._Lowering.run

    def noted(self: Any) -> Any:
        signatures.append(len(self.inference.types))
        return run(self)

    monkeypatch.setattr(lowering._Lowering, "run", noted)
    tiered = runnable(program, (VECTOR,), "python")
    first = tiered(x)
    assert same(tiered(x), first)
    assert tiered.refusal is not None
    assert max(signatures) <= lowering.CROWD
