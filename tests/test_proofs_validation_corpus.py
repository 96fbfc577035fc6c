"""
J-and-optimize against forward mode: proved for every program of the corpus without loops and of up to 200 nodes, and for programs
of small arrays. Which programs those are, and which are not and why, is written down here, so that the count cannot fall unseen.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import corpus
import numpy as np
import pytest
from mutants.transform import MUTANTS

import adjudge as aj
from checkers.properties.oracles import forward_mode_agrees
from checkers.verdict import OutOfScope, Proved, Refuted
from proofs.validation import optimized_gradient_is_right
from proofs.validation.lockstep import looping
from semantics.ir import Program
from semantics.type_language import parse_type
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize

LARGEST = 200
PROVED = {"straight": 23, "branches": 13, "closures": 16, "tuples": 8, "derivatives": 7}
TOO_LARGE = {"nested_three_deep", "second_derivative", "third_derivative_of_sine"}
LOOPS = 29


@functools.cache
def parsed(file: str, name: str) -> Program:
    return parse_text((corpus.FOLDER / f"{file}.py").read_text(), name, f"{file}.py", {"math": math})


def why_not(case: Any) -> str:
    """Why a program of the corpus is out of scope, if it is."""
    program = expand(parsed(case.file, case.name))
    if looping(program):
        return "it has a loop or calls itself"
    return f"it has more than {LARGEST} nodes" if len(program.nodes) > LARGEST else ""


def test_the_corpus_is_what_it_is_said_to_be() -> None:
    reasons = {case.name: why_not(case) for case in corpus.CASES}
    assert Counter(c.file for c in corpus.CASES if not reasons[c.name]) == PROVED
    assert {name for name, why in reasons.items() if "nodes" in why} == TOO_LARGE
    assert sum("loop" in why for why in reasons.values()) == LOOPS
    assert len(reasons) == sum(PROVED.values()) + len(TOO_LARGE) + LOOPS


@pytest.mark.parametrize("file", PROVED)
def test_the_optimized_gradient_is_proved(file: str) -> None:
    cases = [c for c in corpus.CASES if c.file == file and not why_not(c)]
    verdicts = {c.name: optimized_gradient_is_right(parsed(file, c.name)).verdict for c in cases}
    assert {name: v for name, v in verdicts.items() if not isinstance(v, Proved)} == {}


ARRAYS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "sum of squares": (lambda x: np.sum(x * x), ("f64[3]",)),
    "matmul": (lambda a, b: np.sum(np.sin(a @ b)), ("f64[2, 3]", "f64[3, 2]")),
    "softmax": (lambda x: np.sum(np.exp(x) / np.sum(np.exp(x)) * x), ("f64[3]",)),
    "variance": (lambda x: np.mean((x - np.mean(x)) ** 2), ("f64[4]",)),
    "broadcast": (lambda a, x: np.sum(a * x + x), ("f64[2, 3]", "f64[3]")),
    "transpose": (lambda a: np.sum(np.reshape(a.T, (6,)) * np.reshape(a, (6,))), ("f64[2, 3]",)),
    "layer": (lambda w, b, x: np.sum(np.tanh(w @ x + b) ** 2), ("f64[2, 2]", "f64[2]", "f64[2]")),
    "index": (lambda x, y: x[0] * x[2] * y + x[1], ("f64[3]", "f64")),
    "concatenate": (lambda x, y: np.sum(np.concatenate((x, y)) * np.concatenate((y, x))), ("f64[2]", "f64[2]")),
    "cumsum": (lambda x: np.sum(np.cumsum(x) * x), ("f64[3]",)),
    "where": (lambda x: np.sum(np.where(x > 0.0, x * x, x)), ("f64[2]",)),
    "branch": (lambda x: np.sum(x) if x[0] > 0.0 else np.dot(x, x), ("f64[2]",)),
}


def of_arrays(name: str, **by: Any) -> Any:
    function, types = ARRAYS[name]
    return optimized_gradient_is_right(aj.parse(function), [parse_type(t) for t in types], **by).verdict


@pytest.mark.parametrize("name", ARRAYS)
def test_the_optimized_gradient_of_small_arrays_is_proved_by_entries(name: str) -> None:
    assert isinstance(of_arrays(name), Proved)


def test_a_value_that_is_no_number_is_out_of_scope() -> None:
    found = optimized_gradient_is_right(aj.parse(lambda x: x > 0.0))
    assert not isinstance(found.verdict, Proved)
    whole = optimized_gradient_is_right(aj.parse(lambda n: n), [parse_type("i64")])
    assert isinstance(whole.verdict, OutOfScope)


# faults planted in J's accumulation, and in what comes after it

ACCUMULATION = [m for m in MUTANTS if m.name in ("fan-out overwrites", "second use dropped", "captures forgotten", "seed 2.0")]


@pytest.mark.parametrize("mutant", ACCUMULATION, ids=str)
def test_a_fault_in_accumulation_is_caught_wherever_it_shows_and_never_proved(mutant: Any) -> None:
    """Every program of whose gradient execution finds a point that is wrong is refused; at least one is."""
    shown = 0
    for case in (c for c in corpus.CASES if c.file in ("straight", "closures") and c.rational and not why_not(c)):
        program = parsed(case.file, case.name)
        agreements = [forward_mode_agrees(program, (float(x),), mutant.gradient) for x in case.points[:2]]
        if any(isinstance(a, Refuted) for a in agreements):
            shown += 1
            assert not isinstance(optimized_gradient_is_right(program, gradient=mutant.gradient).verdict, Proved), case.name
    assert shown > 0


@pytest.mark.parametrize("mutant", ACCUMULATION[:2], ids=str)
def test_a_fault_in_accumulation_is_never_proved_of_arrays(mutant: Any) -> None:
    for name in ("sum of squares", "softmax", "cumsum"):
        assert not isinstance(of_arrays(name, gradient=mutant.gradient), Proved), name


def test_a_fault_after_j_is_caught() -> None:
    """An optimizer that forgets a term is not proved, though J is."""
    program = parsed("straight", "fanned_out")

    def forgetful(adjoint: Program) -> Program:
        from semantics.edit import Edit
        from semantics.primitives.table import TABLE

        adjoint = optimize(adjoint)
        edit = Edit(adjoint)
        node = next(n for n in sorted(adjoint.nodes) if adjoint.callee(n) in (TABLE["gadd"], TABLE["add"]))
        edit.replace(node, adjoint.inputs(node)[1])
        return edit.program

    assert isinstance(optimized_gradient_is_right(program).verdict, Proved)
    assert isinstance(optimized_gradient_is_right(program, optimizer=forgetful).verdict, Refuted)
