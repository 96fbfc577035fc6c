"""What is claimed of programs that get generated code: that there is some, that it takes the samples, and its bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import backend
from adjudge.values import to_value
from backend.lists.gathering import gathered
from backend.lists.promotion import promoted
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import Machine
from semantics.values import Unbound, same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

LENGTHS = (0, 1, 2, 3, 7)


def column(size: int) -> tuple[Any, ...]:
    """A vector of numbers of both signs, none of which is another."""
    return (np.cos(1.3 * np.arange(size) + 0.4) * (1.0 + 0.1 * np.arange(size)),)


def written(body: str, parameters: str = "xs") -> Program:
    """The function of these parameters with this body."""
    text = f"import math\nimport numpy as np\ndef f({parameters}):\n " + body.replace("\n", "\n ")
    return parse_text(text, "f")


def gradient(subject: Program, types: Sequence[Any]) -> Program:
    """The program that gives its gradient with respect to the first argument."""
    return calling(subject, "grad", 0, tuple(types))


def outcome(action: Callable[[], Any]) -> Any:
    """The value, or what the error says."""
    try:
        return action()
    except AdjudgeError as error:
        return type(error), error.what


def is_failure(found: Any) -> bool:
    """Whether an outcome is an error, or a variable that is not assigned."""
    return isinstance(found, Unbound) or (isinstance(found, tuple) and isinstance(found[0], type))


def has_code(subject: Program, types: Sequence[Any], samples: Sequence[tuple[Any, ...]], target: str = "python") -> None:
    """
    Asserts that there is code for the program, which gives the reference's bits for each sample but those for which the reference
    traps, or gives what is not assigned, or in which an array has no elements: these the machine may run, and its outcome is the
    reference's.
    """
    types = tuple(types)
    code, both = backend.compile(subject, types, target), backend.runnable(subject, types, target)
    ways = [expand(subject), expand(subject, "ssa"), expand(gathered(promoted(subject), types), "ssa")]
    for sample in samples:
        given = [to_value(a) for a in sample]
        wanted = [outcome(lambda way=way, given=given: Machine(way).run(tuple(given)).value) for way in ways]
        found = [outcome(lambda given=given: both(*given)) for _ in range(2)][1]
        assert any(same(found, value) for value in wanted), (sample, found, wanted)
        if not is_failure(wanted[0]) and all(np.size(a) for a in sample):
            own = outcome(lambda given=given: code(*given))
            assert any(same(own, value) for value in wanted), (sample, own, wanted)
    assert both.refusal is None
