"""
Tier A takes the programs over arrays: those of the corpora, and generated ones, in every bit. What it leaves to tier B is named.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from test_backend_array_rows import kernels
from test_corpus_types import calls
from vm_runs import outcome

import adjudge as aj
import backend
from adjudge.functions import Derivative, parse
from adjudge.values import to_value
from backend.status import SIZES, error
from checkers.generators import Whole, wholes
from semantics.errors import AdjudgeError
from semantics.ir import Constant, Program
from semantics.machine import Machine
from semantics.primitives.array_rows import EVIDENCE
from semantics.primitives.row import Primitive
from semantics.type_language import type_of
from semantics.values import same
from transforms.nested_grad import expand

CALLS = {name: (make, tuple(values())) for name, (make, values) in calls().items()}
LEFT = {
    "memory is not compiled yet": ("mapped_over_array", "mapped_over_two", "scanned"),
    "do not come to an end": (),
}
"""For every reason why tier A refuses, the programs that it is met in."""


def has_arrays(program: Program) -> bool:
    """Whether a program has a row that only programs with arrays have."""
    values = (n.value for n in program.nodes.values() if isinstance(n, Constant))
    return any(isinstance(v, Primitive) and v.name in EVIDENCE for v in values)


NAMES = [name for name, (make, _) in sorted(CALLS.items()) if has_arrays(make())]


def agrees(program: Program, arguments: tuple[Any, ...]) -> str:
    """Asserts the reference's bits; the refusal, if the program is refused, or that the sizes are others than those of the code."""
    types = tuple(backend.general(type_of(a)) for a in arguments)
    code = outcome(backend.compile, program, types, "python")
    if isinstance(code, AdjudgeError):
        return code.what
    wanted = Machine(expand(program)).run(arguments).value
    for found in kernels(code, arguments):
        if isinstance(found, AdjudgeError):
            assert found.what == error(SIZES, 0).what
            return found.what
        assert same(found, wanted)
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_a_program_of_the_corpora(name: str) -> None:
    make, arguments = CALLS[name]
    print(name, agrees(make(), arguments))


def gradient(program: Program, arguments: tuple[Any, ...], wrt: int) -> Program:
    return Derivative(program, "grad", wrt).program(tuple(backend.general(type_of(a)) for a in arguments))


@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_of_the_corpora(name: str) -> None:
    make, arguments = CALLS[name]
    found = outcome(gradient, make(), arguments, 0)
    if isinstance(found, AdjudgeError):
        pytest.skip(f"it has no gradient by its first argument: {found.what}")
    print(name, agrees(found, arguments))
