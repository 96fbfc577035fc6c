"""Generated programs and their gradients on the virtual machine: whatever the generators write ends as on the reference."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import agrees, same_value

from adjudge.functions import Derivative
from backend.machine import Execution, load
from checkers.generators import Source, Whole, graphs, points, sources, wholes
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import Machine
from transforms.nested_grad import expand
from transforms.parse import parse_text

BOTH = ("python", "cpu")


@given(graphs(), points(2))
def test_a_drawn_graph_is_run_as_on_the_reference(program: Program, x: tuple[float, ...]) -> None:
    agrees(program, x, BOTH)


@given(sources(), st.data())
def test_a_program_over_numbers_is_run_as_on_the_reference(source: Source, data: Any) -> None:
    program = expand(parse_text(source.text, "f", "generated.py", {}))
    found = agrees(program, data.draw(points(source.parameters)), BOTH)
    event("an error" if isinstance(found, AdjudgeError) else "a value")


@given(wholes())
def test_a_program_over_the_whole_language_is_run_as_on_the_reference(whole: Whole) -> None:
    agrees(whole.program(), whole.arguments, BOTH)


@given(wholes())
def test_its_gradient_is_run_as_on_the_reference(whole: Whole) -> None:
    agrees(Derivative(whole.program(), "grad", whole.real).program(whole.types), whole.arguments, ("cpu",))


@given(wholes(), st.integers(300, 3000))
def test_how_large_the_buffer_begins_decides_nothing(whole: Whole, words: int) -> None:
    program = whole.program()
    execution = Execution(load(program), "python", stack=64, smallest=words)
    same_value(execution.run(whole.arguments), Machine(program).run(whole.arguments).value)
