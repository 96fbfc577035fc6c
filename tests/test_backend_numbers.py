"""Numbers on which CPython, compiled code and GPUs differ: every target here means what the reference does, which is CPython's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from vm_runs import outcome, same_outcome

import backend
from adjudge.values import to_value
from backend import toolchain
from backend.machine import Execution, load
from backend.status import OVERFLOW, error
from semantics.errors import AdjudgeError, IllTyped, OutOfFuel, Trap
from semantics.ir import Program
from semantics.machine import Machine
from semantics.values import same
from transforms.parse import parse_text

INTEGERS = [
    *("m + n", "m - n", "m * n", "m // n", "m % n", "divmod(m, n)[0]", "-m", "abs(m)", "m ** 2", "m ** 35"),
    *("min(m, n)", "max(m, n)", "int(x)", "math.trunc(x)", "math.floor(x)", "math.ceil(x)", "int(x * y)"),
]
REALS = [
    *("x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "x ** y", "math.pow(x, y)", "x ** 2", "x ** 3", "x ** -1", "x ** 0.5"),
    *("min(x, y)", "max(x, y)", "math.copysign(x, y)", "math.atan2(x, y)", "abs(x)", "-x", "float(m)", "m / n", "m ** -1"),
    *("m + x", "m * x", "m / x", "x // m", "m % x", "(x, y, 0.5)[n]", "math.exp(x)", "math.log(x)", "math.sin(x)", "math.sqrt(x)"),
    *(
        "math.cbrt(x)",
        "math.tanh(x)",
        "math.log1p(x)",
        "math.sinh(x)",
        "x * y + y",
        "np.maximum(x, y)",
        "np.minimum(x, y)",
        "2 ** -1",
    ),
]
BOOLEANS = [
    *("float(m) == m", "float(m) < n", "m == x", "m < x", "m >= x", "m < n", "m == n", "x < y", "x == y", "x != x", "x >= y"),
    *("bool(x)", "bool(m)", "math.isnan(x)"),
]
KINDS = {"an integer": INTEGERS, "a real": REALS, "a boolean": BOOLEANS}
ROWS = [row for rows in KINDS.values() for row in rows]

EDGE, DIGITS = 1 << 63, (1 << 53) + 1
WHOLE = (0, 1, -1, 2, -3, 7, DIGITS, 1 << 62, 3 << 61, EDGE - 1, -EDGE)
SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -2.5,
    -8.0,
    0.5,
    1e3,
    float(1 << 53),
    2.0**63,
    1e30,
    1e300,
    -1e308,
    5e-324,
    math.inf,
    -math.inf,
    math.nan,
)
HOST = ("python", "cpu", "cuda-sequential")


def written(*lines: str) -> Program:
    text = "\n    ".join(("def f(m: int, n: int, x: float, y: float, row: int):", *lines))
    return parse_text(f"import math\nimport numpy as np\n{text}\n", "f", "numbers.py", {})


def alone(row: str) -> Program:
    return written(f"return {row}")


@cache
def together(kind: str) -> Program:
    """One program of all rows of a kind, of which an argument chooses: one compilation for all."""
    return choosing(KINDS[kind])


def choosing(every: list[str]) -> Program:
    *rows, last = every
    return written(*(f"if row == {k}: return {row}" for k, row in enumerate(rows)), f"return {last}")


def samples(row: str, number: int) -> list[tuple[Any, ...]]:
    """All values of the variables of the row."""
    reads = re.findall(r"\b[mnxy]\b", row)
    values = [of if name in reads else of[:1] for name, of in zip("mnxy", (WHOLE, WHOLE, SPECIAL, SPECIAL), strict=True)]
    return [(*chosen, number) for chosen in product(*values)]


@cache
def cases(kind: str) -> list[tuple[tuple[Any, ...], Any]]:
    """Every sample of a kind, and how the reference ends on the row that it chooses."""
    found = []
    for number, row in enumerate(KINDS[kind]):
        ends = reference(alone(row))
        found += [(sample, ends(*sample)) for sample in samples(row, number)]
    return found


def reference(program: Program) -> Callable[..., Any]:
    """How the reference ends: its value, or its error."""
    machine = Machine(program)
    return lambda *arguments: outcome(lambda: machine.run(arguments).value)


def beyond(value: Any) -> bool:
    return type(value) is int and not -EDGE <= value < EDGE


def is_as_wanted(found: Any, wanted: Any) -> bool:
    """Whether generated code ended well: with the reference's bits, a trap where it traps, or one that 64 bits are too few."""
    if beyond(wanted):
        return isinstance(found, Trap) and found.what == error(OVERFLOW, 0).what
    if isinstance(wanted, AdjudgeError):
        return type(found) is type(wanted) and found.what != error(OVERFLOW, 0).what
    return not isinstance(found, AdjudgeError) and same(found, wanted)


# the reference


@pytest.mark.parametrize("row", [row for row in ROWS if "np." not in row])
def test_the_reference_means_what_cpython_does_wherever_that_has_a_result_that_is_real(row: str) -> None:
    ends, code, compared = reference(alone(row)), compile(row, row, "eval"), 0
    for sample in samples(row, 0):
        wanted = ends(*sample)
        try:
            value = eval(code, {"math": math}, dict(zip("mnxy", sample[:4], strict=True)))
        except (ZeroDivisionError, OverflowError, ValueError, IndexError):
            is_total = "x" in row  # the function of reals, where the reference goes on
            assert type(wanted) is Trap or (is_total and type(wanted) is float)
            continue
        compared += 1
        assert same(wanted, math.nan if type(value) is complex else value), sample
    assert compared


PITFALLS: dict[str, tuple[dict[str, Any], Any]] = {
    "m // n": ({"m": -EDGE, "n": -1}, EDGE),
    "m % n": ({"m": -7, "n": 2}, 1),
    "m * n": ({"m": 1 << 62, "n": 3}, 3 << 62),
    "2 ** -1": ({}, 0.5),
    "m ** 35": ({"m": 4}, 1 << 70),
    "float(m) == m": ({"m": DIGITS}, False),
    "math.exp(x)": ({"x": 1000.0}, math.inf),
    "math.log(x)": ({"x": 0.0}, -math.inf),
    "math.sin(x)": ({"x": math.inf}, math.nan),
    "x ** 0.5": ({"x": -8.0}, math.nan),
    "min(x, y)": ({"x": math.nan, "y": 1.0}, math.nan),
    "max(x, y)": ({"x": 0.0, "y": -0.0}, 0.0),
    "max(y, x)": ({"x": 0.0, "y": -0.0}, -0.0),
    "math.floor(x)": ({"x": 1e300}, int(1e300)),
    "math.ceil(x)": ({"x": -0.0}, 0),
    "int(x)": ({"x": 1e30}, int(1e30)),
    "math.cbrt(x)": ({"x": -8.0}, -2.0),
}


@pytest.mark.parametrize("row", PITFALLS)
def test_the_pitfalls_have_these_values(row: str) -> None:
    named, wanted = PITFALLS[row]
    sample = [named.get(name, 0 if name in "mn" else 0.0) for name in ("m", "n", "x", "y", "row")]
    assert same(Machine(alone(row)).run([*sample[:4], 0]).value, wanted)


REFUSED = {"m << n": "the operator <<", "math.fmod(x, y)": "math.fmod", "True + True": "add wants numbers"}


@pytest.mark.parametrize("row", REFUSED)
def test_what_the_language_does_not_have_no_target_guesses(row: str) -> None:
    for target in HOST:
        with pytest.raises(AdjudgeError) as caught:
            backend.compile(alone(row), None, target)
        assert REFUSED[row] in caught.value.what
        assert caught.value.remedy


# the targets


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", HOST)
def test_generated_code_ends_as_the_reference_on_every_pair_of_special_values(target: str, kind: str) -> None:
    assert differing(together(kind), target, kind) == []


@pytest.mark.parametrize("kind", KINDS)
def test_so_it_does_on_the_simulator(kind: str) -> None:
    if reason := toolchain.missing("cuda-simulator"):
        pytest.skip(reason)
    assert differing(together(kind), "cuda-simulator", kind, 29) == []


def differing(program: Program, target: str, kind: str, step: int = 1) -> list[str]:
    """The samples on which generated code ends otherwise than the reference, one of so many."""
    chosen = cases(kind)[::step]
    found = backend.compile(program, None, target).map([sample for sample, _ in chosen])
    return [
        f"{KINDS[kind][sample[-1]]} at {sample[:4]}: {value!r} in place of {wanted!r}"
        for (sample, wanted), value in zip(chosen, found, strict=True)
        if not is_as_wanted(value, wanted)
    ]


def test_what_outgrows_64_bits_goes_on_with_integers_of_any_size() -> None:
    chosen = [case for case in cases("an integer") if beyond(case[1])]
    tiered = backend.runnable(together("an integer"), None, "python")
    found = tiered.map([sample for sample, _ in chosen])
    assert tiered.again == len(chosen) > 100
    assert all(same(value, wanted) for (_, wanted), value in zip(chosen, found, strict=True))


@pytest.mark.parametrize("target", HOST)
def test_an_integer_to_an_integer_that_is_not_known_is_one_unless_it_is_negative(target: str) -> None:
    """Code takes the power for an integer; for a negative exponent, of which it is a real, the machine runs the sample."""
    program = alone("m ** n + (m + 1) ** abs(n)")
    chosen = [(m, n, 0.0, 0.0, 0) for m, n in product((0, 1, -1, 2, -3, 1 << 31), (0, 1, 2, 5, 62, 80, -1, -2))]
    tiered, ends = backend.runnable(program, None, target), reference(program)
    wanted = [ends(*sample) for sample in chosen]
    for found, value in zip(tiered.map(chosen), wanted, strict=True):
        same_outcome(found, value)
    assert tiered.refusal is None
    assert tiered.again == sum(n < 0 or beyond(value) or beyond(m**n) for (m, n, *_), value in zip(chosen, wanted, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_the_virtual_machine_has_the_bits_and_the_words(kind: str) -> None:
    for target in ("python", "cpu"):
        machines = [Execution(load(alone(row)), target, patience=0) for row in KINDS[kind]]
        for sample, wanted in cases(kind)[:: 5 if target == "python" else 1]:
            same_outcome(outcome(machines[sample[-1]].run, sample), wanted)


# what lies outside


@pytest.mark.parametrize("target", HOST)
def test_an_index_outside_is_a_trap_and_never_a_read(target: str) -> None:
    program = parse_text("def f(a: 'f64[?]', n: int):\n    return a[n]\n", "f", "numbers.py", {})
    values = [(to_value(np.array([1.0, 2.0, 3.0])), n) for n in (0, 2, -1, -3, 3, -4, EDGE - 1, -EDGE)]
    ends = reference(program)
    for sample, found in zip(values, backend.runnable(program, None, target).map(values), strict=True):
        wanted = ends(*sample)
        assert type(found) is type(wanted) is (float if -3 <= sample[1] < 3 else Trap)
        assert isinstance(found, Trap) or same(found, wanted)


@pytest.mark.parametrize("target", ["python", "cuda-sequential"])
def test_a_trap_of_generated_code_is_told_as_the_reference_tells_it(target: str) -> None:
    """A status has no place; the machine, which has it, runs the sample again. A spent budget stays what it is."""
    program = parse_text(
        "def f(x: float, n: int):\n    while x < 2.0:\n        x = x * n\n    return x * (10 // n)\n", "f", "traps.py", {}
    )
    tiered = backend.runnable(program, None, target, budget=50)
    tiered.calls = 1
    assert tiered(5.0, 3) == 15.0
    same_outcome(outcome(tiered, 5.0, 0), outcome(Machine(program).run, (5.0, 0)))
    endless = outcome(tiered, 1.0, 1)
    assert isinstance(endless, OutOfFuel)
    assert "50 turns" in endless.what


# that a target which is wrong is noticed

WRONG: dict[str, tuple[str, tuple[Any, ...], Any]] = {
    "wraps": ("m * n", (1 << 62, 3, 0.0, 0.0), -(1 << 62)),
    "divides the least integer to zero": ("m // n", (-EDGE, -1, 0.0, 0.0), 0),
    "rounds before it compares": ("float(m) == m", (DIGITS, 0, 0.0, 0.0), True),
    "saturates": ("int(x)", (0, 0, 1e30, 0.0), EDGE - 1),
    "converts NaN": ("int(x)", (0, 0, math.nan, 0.0), -EDGE),
    "ignores NaN": ("min(x, y)", (0, 0, math.nan, 1.0), 1.0),
    "loses the sign of a zero": ("max(x, y)", (0, 0, -0.0, 0.0), 0.0),
    "divides by zero": ("m // n", (1, 0, 0.0, 0.0), 0),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_target_that_does_what_hardware_does_is_noticed(name: str) -> None:
    row, arguments, what_it_gives = WRONG[name]
    wanted = reference(alone(row))(*arguments, 0)
    assert not is_as_wanted(what_it_gives, wanted)
    assert is_as_wanted(error(OVERFLOW, 0) if beyond(wanted) else wanted, wanted)
    assert not is_as_wanted(IllTyped("anything", rule="backend"), wanted)


@pytest.mark.parametrize(
    ("row", "other", "is_wrong"),
    [
        ("min(x, y)", "np.minimum(x, y)", True),
        ("max(x, y)", "max(y, x)", True),
        ("x + y", "y + x", False),
        ("-x", "-1.0 * x", False),
    ],
)
def test_a_row_that_is_compiled_to_another_is_noticed_where_a_bit_differs(row: str, other: str, is_wrong: bool) -> None:
    rows = [other if one == row else one for one in REALS]
    assert bool(differing(choosing(rows), "python", "a real", 7)) == is_wrong
