"""Programs as users write them, shrunk from generated ones and from textbooks, in generated code: the reference's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_backend_stack_arrays import agrees, compiled

import adjudge as aj
from adjudge.values import to_value
from backend import general
from backend.lowering import conversion
from backend.lowering.shape import Reg
from semantics.errors import Malformed
from semantics.type_language import BOOLEAN, INTEGER, REAL, type_of
from semantics.type_lattice import ZERO_TYPE, Union
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text


def added_to_a_number(x, a, n: int):  # type: ignore[no-untyped-def]
    """The sensitivity of n is ZERO, whatever that of the sum is; which is one of two where another way leaves."""
    if x > 0.5:
        return 0.5
    return np.sum(a) + n


def after_a_loop_or_none(x, a, n: int):  # type: ignore[no-untyped-def]
    c = np.ones((2, 3))
    if n > 5:
        for _ in range(n):
            pass
    else:
        c[0] = a * np.full((1,), 2)
    return n + np.sum(c) * x


@pytest.mark.parametrize("f", [added_to_a_number, after_a_loop_or_none])
@pytest.mark.parametrize("mode", ["J", "ssa"])
def test_the_gradient_is_compiled_and_has_the_references_bits(f: Any, mode: str) -> None:
    samples = [(0.25, np.array([0.5, -0.0, 3.0]), 3), (0.75, np.ones(3), 7)]
    types = tuple(general(type_of(to_value(v))) for v in samples[0])
    program = calling(aj.parse(f), "grad", (0, 1), types)
    code, reference = compiled(program if mode == "J" else expand(program, mode), types)
    assert all(agrees(code, reference, *sample) for sample in samples)


def test_a_value_of_none_of_the_kinds_that_inference_has_is_refused_so_that_the_machine_takes_the_program() -> None:
    wanted = Union((REAL, ZERO_TYPE))
    with pytest.raises(Malformed, match="bool cannot be stored"):
        conversion.convert(Reg("b1", BOOLEAN), wanted)
    with pytest.raises(Malformed, match="i64 cannot be stored"):
        conversion.convert(Reg("i1", INTEGER), wanted)
    assert conversion.convert(Reg("x1", REAL), wanted).type == wanted


def left_from_either_of_two_loops(x, n: int):  # type: ignore[no-untyped-def]
    """What the result is told from is one of the stacks of two loops, or none; of these two no one stack can be made."""
    c = np.ones(3)
    if n > 6 and x > 9.0:
        return x
    k = 0
    while k < n:
        k = k + 1
        if x > 0.1:
            return x * -0.7
        if n == 2:
            c = c * x
    j = 0
    while j < n:
        j = j + 1
    return np.sum(c) * x


def test_stacks_of_two_loops_are_two_values() -> None:
    types = (REAL, INTEGER)
    code, reference = compiled(calling(aj.parse(left_from_either_of_two_loops), "grad", 0, types), types)
    assert all(agrees(code, reference, *sample) for sample in ((0.7, 1), (0.05, 2), (0.05, 3), (9.5, 7), (-0.0, 0)))


@pytest.mark.parametrize(
    ("given", "dtype"),
    [("x * np.full(3, 2)[1], np.full(2, 2)", "i64"), ("x, np.full(2, True)", "bool"), ("x, np.full(2, 2.5)", "f64")],
)
def test_an_array_full_of_a_known_number_has_its_dtype(given: str, dtype: str) -> None:
    code, reference = compiled(parse_text(f"import numpy as np\ndef f(x):\n    return {given}", "f"), (REAL,))
    assert agrees(code, reference, 1.5)
    assert to_value(code(1.5)[1]).dtype == dtype
