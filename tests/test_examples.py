"""
The examples: every function of every file is a program, and its value is CPython's.

The derivatives along a direction are those of forward mode: equal on enclosures of 400 bits, without tolerance.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from adjudge.values import to_value
from checkers import forward_mode
from checkers.columns.leaves import at_path, coordinates, map_leaves
from checkers.properties.agreement import differ, point
from semantics.errors import Malformed
from semantics.type_language import type_of
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import functions_in, parse_file

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
JUDGED = (  # imported and judged, not run
    *("primitives.py", "rewrites.py", "audited_pass.py", "jax_pass.py", "torch_pass.py"),
    *("jax_rules.py", "torch_rules.py", "autograd_rules.py"),
)
PROGRAMS = [(p.stem, f) for p in sorted(EXAMPLES.glob("*.py")) if p.name not in JUDGED for f in functions_in(p)]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


@pytest.mark.parametrize(("file", "name"), PROGRAMS)
def test_every_function_parses_and_those_to_be_refused_do_not(file, name):
    if file == "refused":
        with pytest.raises(Malformed) as caught:
            parse_file(EXAMPLES / "refused.py", name)
        assert caught.value.location is not None
        assert caught.value.remedy
    else:
        assert parse_file(EXAMPLES / f"{file}.py", name).graphs


def calls() -> dict[str, tuple[str, tuple[Any, ...]]]:
    """A file and a function, with arguments that hold reals; records by what makes them."""
    arrays, records = importlib.import_module("arrays"), importlib.import_module("records")
    leaf, branch, vector = records.Leaf, records.Branch, records.Vector
    model, x, y = arrays.initial(), np.array(arrays.POINTS), np.array(arrays.LABELS)
    return {
        "arrays:loss": (model, x, y),
        "arrays:logistic": ({"w": np.array([0.5, -0.25]), "b": 0.125}, x, y),
        "arrays:curvature": (np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.5, 1.0]])),
        "arrays:recurrent": (x[1:], np.array([[0.5, -0.25], [0.125, 0.25]]), np.eye(2)),
        "arrays:running_products": (np.array([2.0, 3.0, 5.0]),),
        "closures:f": (0.5, 2.0),
        "closures:church": (2.0,),
        "figure_1:main": (2.0, 3.0),
        "memory:pair": (2.0,),
        "memory:appended": (2.0,),
        "memory:counted": (2.0,),
        "newton:square_root": (2.0,),
        "records:fold": (branch(leaf(2.0), branch(leaf(3.0), leaf(5.0), 0.5), 1.5),),
        "records:walk": ([vector(3.0), vector(0.0, 4.0)],),
        "shapes:network": (np.array([0.5, -1.0]), np.eye(2), np.ones(2)),
        "shapes:halves": (np.array([1.0, 2.0, 4.0]),),
    }


NAMES = (
    *(
        "arrays:loss",
        "arrays:logistic",
        "arrays:curvature",
        "arrays:recurrent",
        "arrays:running_products",
        "closures:f",
        "closures:church",
    ),
    *("figure_1:main", "memory:pair", "memory:appended", "memory:counted", "newton:square_root", "records:fold", "records:walk"),
    *("shapes:network", "shapes:halves"),
)


def found(case: str) -> tuple[Any, tuple[Any, ...]]:
    """The function and its arguments."""
    file, name = case.split(":")
    return getattr(importlib.import_module(file), name), calls()[case]


@pytest.mark.parametrize("case", NAMES)
def test_the_gradient_is_that_of_forward_mode(case):
    f, arguments = found(case)
    values = tuple(map(to_value, arguments))
    program = expand(aj.parse(f))
    at = point(program, values)
    wrt = tuple(range(len(values)))
    gradient = at.value(gradient_program(program, wrt, [type_of(v) for v in values]))
    count = iter(range(10**6))
    direction = map_leaves(lambda _, __: ((7 * next(count)) % 11 - 4.5) / 4, values)
    tangents = tuple(forward_mode.lifted(at.reading, d) for d in direction)
    wanted = forward_mode.jvp(program, at.arguments, tangents, at.reading)[1]
    total = at.reading.lift(0.0)
    for path in coordinates(values):
        total = total + at.reading.lift(at_path(direction, path)) * at_path(gradient, path)
    assert differ(total, wanted) is None


SCALAR = [c for c in NAMES if c.split(":")[0] in ("closures", "figure_1", "newton", "records") or c == "memory:appended"]


@pytest.mark.parametrize("case", [*SCALAR, "arrays:running_products", "shapes:halves"])
def test_the_value_is_that_of_cpython_in_bits(case):
    f, arguments = found(case)
    assert aj.run(f, *arguments) == f(*arguments)


def test_training_lowers_the_loss():
    before, after = aj.run(found("arrays:loss")[0].__globals__["trained"], 5)
    assert after < before


def test_the_adjoint_written_by_hand_is_the_gradient():
    memory = importlib.import_module("memory")
    for n in range(5):
        assert aj.run(memory.power_adjoint, 3.0, n) == aj.grad(memory.power)(3.0, n) == n * 3.0 ** (n - 1)
