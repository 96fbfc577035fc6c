"""
Generated code takes programs over arrays, of the corpora and generated, in every bit; what is left to tier B is named.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from test_backend_array_rows import kernels
from test_corpus_types import calls
from vm_runs import outcome

import backend
from adjudge.functions import parse
from adjudge.values import to_value
from backend.status import SIZES, error
from checkers.generators import Whole, wholes
from semantics.arrays import Array
from semantics.errors import AdjudgeError
from semantics.ir import Constant, Program
from semantics.machine import Machine
from semantics.primitives.array_rows import EVIDENCE
from semantics.primitives.row import Primitive
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand

CALLS = {name: (make, tuple(values())) for name, (make, values) in calls().items()}
MEMORY = "memory: memory is not compiled yet"
LIST = "a value of type list[f64, ...]: sequences of unknown length are not compiled yet"
NO_ELEMENTS = error(SIZES, 0).what
LEFT = {
    **{f"higher_order:{name}": LIST for name in ("mapped_over_array", "mapped_over_two")},
    "array_basics:empty_array": NO_ELEMENTS,
}
"""What tier B runs, and why: of no elements, generated code gives up when it runs."""
LEFT_OF_GRADIENTS = {
    "array_basics:empty_array": NO_ELEMENTS,
    "data_records:network_of_records": "what is called is not known: SSA form is for programs of first order",
}


def has_arrays(program: Program) -> bool:
    """Whether a program has a row that only programs with arrays have."""
    values = (n.value for n in program.nodes.values() if isinstance(n, Constant))
    return any(isinstance(v, Primitive) and v.name in EVIDENCE for v in values)


NAMES = [name for name, (make, _) in sorted(CALLS.items()) if has_arrays(make())]
DIFFERENTIATED = [name for name in NAMES[::2] if LEFT.get(name) != LIST]
"""Every second one, without those with lists that are refused: their gradients are refused by the same words, after seconds."""


def refusal(program: Program, arguments: tuple[Any, ...]) -> str:
    """Why generated code does not run a program, if it does not; else asserts that it gives the bits of the reference."""
    types = tuple(backend.general(type_of(a)) for a in arguments)
    code = outcome(lambda: backend.compile(program, types, "python"))
    if isinstance(code, AdjudgeError):
        return code.what.partition("; reached by")[0]
    results = kernels(code, arguments)
    if isinstance(results[0], AdjudgeError):
        assert all(isinstance(r, AdjudgeError) and r.what == results[0].what for r in results)
        return results[0].what
    first = Machine(expand(program)).run(arguments).value
    for found in results:  # the derivative of a loop may be the SSA adjoint, whose sums have another order
        assert same(found, first) or same(found, Machine(expand(program, "ssa")).run(arguments).value)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_a_program_of_the_corpora(name: str) -> None:
    make, arguments = CALLS[name]
    assert refusal(make(), arguments) == LEFT.get(name, "")


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_a_gradient_of_the_corpora(name: str) -> None:
    make, arguments = CALLS[name]
    if not isinstance(arguments[0], (float, Array)):
        pytest.skip("its first argument is neither a number nor an array")
    program = calling(make(), "grad", 0, tuple(backend.general(type_of(a)) for a in arguments))
    assert refusal(program, arguments) == LEFT_OF_GRADIENTS.get(name, "")


@given(wholes())
def test_a_generated_program(whole: Whole) -> None:
    found = refusal(whole.program(), whole.arguments)
    event(found or "generated code")
    assert found in ("", MEMORY, NO_ELEMENTS) or "sequences of unknown length" in found


def chosen(x, i, b, d):  # type: ignore[no-untyped-def]
    top = np.concatenate([x[i], np.where(b, x, -x)])
    return {"y": [np.cumsum(top * d["scale"], axis=0), np.argsort(x, axis=1)], "z": (i * 2, np.logical_not(b), d["shift"][1])}


def test_native_code_takes_and_gives_every_dtype_and_structure() -> None:
    x = np.random.default_rng(3).normal(size=(3, 4))
    given_ = (x, np.array([2, 0, -1]), x > -0.5, {"scale": 0.5, "shift": [np.arange(3), -1.5]})
    values = tuple(map(to_value, given_))
    types = tuple(backend.general(type_of(v)) for v in values)
    found = backend.compile(parse(chosen), types, "cpu").call(*values)
    assert same(found, Machine(parse(chosen)).run(values).value)
