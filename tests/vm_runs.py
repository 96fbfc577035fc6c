"""A run of the virtual machine against one of the reference: what tests of the machine share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.machine import Execution, load
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import Machine, Outcome
from semantics.primitives.table import TABLE
from semantics.values import same


def applying(name: str, count: int) -> Program:
    """A primitive of untyped parameters."""
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, TABLE[name], *(edit.parameter(graph, f"x{k}") for k in range(count))))
    return edit.program


def agrees(program: Program, arguments: Sequence[Any], targets: Sequence[str], fuel: int = 200_000) -> Outcome | AdjudgeError:
    """Asserts that every target ends as the reference does: the same bits after as many steps, or the same error, word by word."""
    wanted = outcome(Machine(program).run, arguments, fuel)
    code = load(program)
    for target in targets:
        execution = Execution(code, target, patience=0)
        found = outcome(execution.run, arguments, fuel)
        same_outcome(found, wanted if isinstance(wanted, AdjudgeError) else wanted.value)
        assert isinstance(wanted, AdjudgeError) or execution.steps == wanted.steps
    return wanted


def same_outcome(found: Any, wanted: Any) -> None:
    """Asserts that two runs ended alike: in the same value, or the same error, word by word."""
    if isinstance(wanted, AdjudgeError):
        assert type(found) is type(wanted), f"{found} in place of {wanted}"
        assert str(found) == str(wanted)
    else:
        same_value(found, wanted)


def same_value(found: Any, wanted: Any) -> None:
    """Asserts that two values are the same in every bit."""
    assert not isinstance(found, AdjudgeError), found
    assert same(found, wanted), f"{found!r} is not {wanted!r}"


def outcome(function: Any, *arguments: Any) -> Any:
    """What a call gives, or the error that it ends in."""
    try:
        return function(*arguments)
    except AdjudgeError as error:
        return error
