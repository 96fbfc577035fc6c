"""Programs of the corpora, their gradients, and every row of arrays on threads that run one after another: every bit is right."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import pytest
from test_backend_array_rows import ROWS, ordinary
from test_backend_array_rows import program as applying
from test_vm_programs import CALLS, NAMES

import backend
from backend.lowering.expansion import first_that_fits
from backend.tiers import runnable
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import type_of
from semantics.values import same
from transforms.gradient_programs import calling

ARRAYS = [name for name in NAMES if "array" in name]
SLOW = ("derivatives:", "statements:curvature", "data_records:built_tree")  # to expand and to lower
OTHERS = [name for name in NAMES if "array" not in name and not name.startswith(SLOW)][::12]
BEGIN = {"_each", "_rows", "_all", "_alone"}


@cache
def expanded(name: str, gradient: bool) -> tuple[Program, tuple[Any, ...]]:
    make, arguments = CALLS[name]
    program = calling(make(), "grad", 0, tuple(map(type_of, arguments))) if gradient and arguments else make()
    return first_that_fits(program, "J", lambda one: one), arguments


@pytest.mark.parametrize("gradient", [False, True], ids=["value", "gradient"])
@pytest.mark.parametrize("name", ARRAYS + OTHERS)
def test_a_program_ends_as_on_the_reference(name: str, gradient: bool) -> None:
    try:
        program, arguments = expanded(name, gradient)
    except AdjudgeError as error:
        pytest.skip(f"it has no gradient by its first argument: {error.what}")
    try:
        wanted: Any = Machine(program).run(arguments).value
    except AdjudgeError as error:
        wanted = error
    tiered = runnable(program, tuple(map(type_of, arguments)), "cuda-sequential")
    for reverse in (False, True):
        if kernel := getattr(tiered.best, "kernel", None):
            kernel.reverse = reverse
        (found,) = tiered.map([arguments])
        assert type(found) is type(wanted)
        assert isinstance(wanted, AdjudgeError) or same(found, wanted)


@pytest.mark.parametrize(("group", "row"), ROWS)
def test_a_row_has_the_references_bits_in_either_order_of_threads(group: str, row: str) -> None:
    wanted = Machine(applying(row)).run(ordinary()).value
    made = backend.compile(applying(row), None, "cuda-sequential")
    for reverse in (False, True):
        made.kernel.reverse = reverse
        assert same(made(*ordinary()), wanted)


def unsafe(source: str) -> list[str]:
    """What threads would do wrong: elements used in no nest of loops that begins with a meeting, and sums that all would add to."""
    found: list[str] = []
    for function in ast.parse(source).body:
        todo: list[tuple[ast.AST, tuple[str, ...]]] = [(function, ())]
        while todo:
            node, around = todo.pop()
            if isinstance(node, ast.For) and isinstance(node.iter, ast.Call):
                around = (*around, ast.unparse(node.iter.func))
            if isinstance(node, ast.Subscript) and _of_array(node) and not BEGIN & set(around):
                found.append(f"outside of loops: {ast.unparse(node)}")
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript) and around[:1] == ("_all",):
                name = ast.unparse(node.targets[0].value)
                if "_own" not in around and any(ast.unparse(n) == name for n in ast.walk(node.value)):
                    found.append(f"added to by every thread: {ast.unparse(node)}")
            todo += [(child, around) for child in ast.iter_child_nodes(node)]
    return found


def _of_array(node: ast.Subscript) -> bool:
    """Whether an element of an array is read or written; `shape` and the memory of stacks have others."""
    return isinstance(node.value, ast.Name) and node.value.id.startswith("a") and node.value.id.endswith("_")


def test_elements_are_used_in_loops_that_begin_with_a_meeting() -> None:
    seen = 0
    for name in ARRAYS:
        for gradient in (False, True):
            try:
                program, arguments = expanded(name, gradient)
                source = backend.source(program, tuple(map(type_of, arguments)))
            except AdjudgeError:
                continue  # it has no generated code
            assert unsafe(source) == [], name
            seen += "_empty(" in source
    assert seen > len(ARRAYS) // 4, "many programs have loops over arrays"


ADDED = "a1_[0] = a1_[0] + 1.0"


def test_what_threads_would_do_wrong_is_seen() -> None:
    assert unsafe(f"def f(n):\n    for k in _all(n):\n        {ADDED}") == [f"added to by every thread: {ADDED}"]
    assert unsafe("def f(n):\n    for k in range(n):\n        a1_[k] = 1.0") == ["outside of loops: a1_[k]"]
    assert unsafe(f"def f(n):\n    for k in _alone(n):\n        {ADDED}") == []
    assert unsafe("def f(n):\n    for k in _all(n):\n        for j in _own(n):\n            a1_[j] = a1_[j] + 1.0") == []
