"""
The virtual machine runs every program of the corpora, and its gradient, as the reference does: every bit, every step, every error.
"""

from __future__ import annotations

import pytest
from test_corpus_types import calls
from vm_runs import agrees, outcome, same_value

from adjudge.functions import Derivative
from backend.machine import Execution, Threads, load
from semantics.errors import AdjudgeError
from semantics.machine import Machine
from semantics.type_language import type_of
from transforms.nested_grad import expand

CALLS = {name: (make, tuple(values())) for name, (make, values) in calls().items()}
NAMES = sorted(CALLS)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_run_as_on_the_reference(name: str) -> None:
    make, arguments = CALLS[name]
    agrees(expand(make()), arguments, ("python", "cpu"))


@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_is_run_as_on_the_reference(name: str) -> None:
    make, arguments = CALLS[name]
    gradient = outcome(lambda: Derivative(make(), "grad", 0).program(tuple(map(type_of, arguments))))
    if isinstance(gradient, AdjudgeError):
        pytest.skip(f"it has no gradient by its first argument: {gradient.what}")
    agrees(gradient, arguments, ("python", "cpu"))


@pytest.mark.parametrize("name", NAMES[::16])
def test_threads_of_the_simulator_end_as_the_reference_does(name: str) -> None:
    make, arguments = CALLS[name]
    program = expand(make())
    wanted = Machine(program).run(arguments)
    (found,) = Threads(load(program), "cuda-simulator").map([arguments])
    same_value(found, wanted.value)


@pytest.mark.parametrize("name", NAMES[::8])
def test_a_small_buffer_is_exchanged_as_often_as_need_be(name: str) -> None:
    make, arguments = CALLS[name]
    program = expand(make())
    execution = Execution(load(program), "python", stack=64, smallest=256)
    same_value(execution.run(arguments), Machine(program).run(arguments).value)
