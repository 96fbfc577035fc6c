"""What generated code of a drawn program owes to the reference, for arrays of several sizes: the bits of its value, or its trap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from hypothesis import event

import backend
from adjudge.values import to_value
from backend.lists.gathering import gathered
from backend.lists.promotion import promoted
from backend.lowering.expansion import first_that_fits
from backend.run import Compiled
from backend.tiers import is_beyond
from semantics.errors import AdjudgeError, IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import INTEGER, REAL, ArrayType
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

TYPES = (ArrayType("f64", (None,)), ArrayType("f64", (None,)), ArrayType("f64", (None, None)), REAL, INTEGER)
DIFFERENTIATED = (0, 1, 2, 3)
SIZES = ((3, 3, 2), (2, 3, 3), (1, 4, 1), (3, 1, 0), (0, 2, 2))
"""The lengths of x and y, and n: equal, different, one, and none."""
BUDGET = 100_000


@cache
def sample(m: int, k: int, n: int) -> tuple[Any, ...]:
    """Arguments: numbers of both signs, some of them equal, and a matrix with as many rows and columns as x has elements."""
    x, y = np.array([0.5, -1.25, 0.75, 2.0])[:m], np.array([1.0, 0.5, -0.5, 0.25])[:k]
    given = x, y, np.linspace(-1.0, 1.0, m * m).reshape(m, m), 0.75, n
    return tuple(map(to_value, given))


TANGENT = """
from adjudge import jvp
def along(x, y, n2, e: float, n: int):
    directions = (x * 0.5 + 1.0, y, n2 + 1.0, 0.5)
    return jvp(lambda x, y, n2, e: f(x, y, n2, e, n), (x, y, n2, e), directions)
"""


def of(text: str, kind: str) -> Program:
    """The program of a text, or of its tangent, or of its gradient by all that is real, or by `e` and then by x."""
    if kind == "tangent":
        return parse_text(text + TANGENT, "along")
    program = parse_text(text, "f")
    if kind == "gradient":
        return calling(program, "value_and_grad", DIFFERENTIATED, TYPES)
    return calling(calling(program, "grad", 3, TYPES), "grad", 0, TYPES) if kind == "second" else program


def ways(program: Program, kind: str) -> Iterator[Program]:
    """What code may have the bits of: the expansion that was lowered, J, the SSA adjoint, and that with arrays for lists."""
    if kind == "value":
        yield program
        return
    yield expand(program, "ssa")
    yield expand(program)
    for known in (False, True):
        arrays = gathered(promoted(program), TYPES, known=known)
        yield expand(arrays, "ssa")
        yield first_that_fits(arrays, "J", lambda one: backend.compile(one, TYPES, "python") and one, TYPES)


def outcome(action: Callable[[], Any]) -> Any:
    try:
        return action()
    except AdjudgeError as error:
        return error


def agree(found: Any, wanted: Any) -> bool:
    """
    Whether these are the same bits, or errors of one class; what code says of a trap is less than what the reference says. A trap
    may vanish with a value that nobody needs.
    """
    if isinstance(wanted, Trap) and not isinstance(found, AdjudgeError):
        return True
    if isinstance(found, AdjudgeError) or isinstance(wanted, AdjudgeError):
        return type(found) is type(wanted)
    return same(found, wanted)


def written(body: str) -> str:
    """The text of a program of these arguments, with this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"import numpy as np\ndef f(x, y, n2, e: float, n: int):\n{lines}"


def judged(text: str, kind: str, target: str = "python") -> Counter[str]:
    """
    Asserts that code has the bits of one of the ways, or that of its trap, for each of the sizes, if there is code. Says how often
    there is a value, a trap, or the machine is left to tell: `refused` if it always is, for a reason that the documents give.
    """
    program = of(text, kind)
    try:
        code: Compiled = backend.compile(program, TYPES, target, budget=BUDGET)
    except (Malformed, IllTyped):
        return Counter(refused=1)
    told: Counter[str] = Counter()
    pending = [(size, outcome(lambda: code.call(*sample(*size)))) for size in SIZES]  # noqa: B023 (called at once)
    left = []
    for size, found in pending:
        if isinstance(found, Trap) and is_beyond(found):
            told["machine"] += 1
        else:
            left.append((size, found))
    for way in ways(program, kind):
        machine = Machine(way)
        wrong = [(size, found) for size, found in left if not agree(found, outcome(lambda: machine.run(sample(*size)).value))]  # noqa: B023
        if not wrong:
            break
    assert not wrong, [(size, found) for size, found in wrong]
    told.update("trap" if isinstance(found, AdjudgeError) else "value" for _, found in left)
    return told


def holds(text: str, kind: str) -> None:
    """Asserts the same of a drawn program, and notes for the statistics what there was."""
    told = judged(text, kind)
    event("code" if told["value"] else "a trap" if told["trap"] else "refused" if told["refused"] else "the machine's")
