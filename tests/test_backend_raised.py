"""What is raised where generated code runs: want of memory is told as such, a fault of the code as one, and the value is right."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.values import to_value
from backend import run, tiers
from backend.batches import way_in as batch_way_in
from backend.cpu import kept
from backend.lowering.first_order import lowered
from backend.machine import Execution, load
from backend.status import raised_by
from backend.ways_in import entrance as ways_in
from semantics import arrays
from semantics.errors import Crash, IllTyped, OutOfFuel, Trap
from semantics.machine import run as on_reference
from semantics.primitives.row import misapplied
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER, REAL, ArrayType
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

NUMBERS = "def f(x, n: int):\n    return x * float(n)\n"
VECTORS = "import numpy as np\ndef f(x, n: int):\n    return np.sum(x) * float(n)\n"
MEMORY, INTERRUPT, FAULTS = 1, 2, range(3, 6)
PLANTED = dict(
    enumerate(["MemoryError()", "KeyboardInterrupt()", 'ValueError("planted")', "ZeroDivisionError()", "IndexError()"], 1)
)
GIVEN = {NUMBERS: (2.0, REAL), VECTORS: (arrays.Array("f64", (2,), (0.5, 1.5)), ArrayType("f64", (None,)))}
WAYS = [(NUMBERS, "cpu"), (VECTORS, "cpu"), (NUMBERS, "python")]


def planted(source: str, target: str) -> str:
    """The source, which raises another error for each n; what Numba compiles cannot be interrupted."""
    texts = {n: text for n, text in PLANTED.items() if target == "python" or n != INTERRUPT}
    cases = "".join(f"    if a1 == {n}:\n        raise {text}\n" for n, text in texts.items())
    head, end, tail = source.rpartition("    return (")
    return head + cases + end + tail


def raising(target: str) -> Any:
    """`lowered`, with what is planted."""

    def lowered_to_raise(*given: Any, **options: Any) -> Any:
        code = lowered(*given, **options)
        return replace(code, source=planted(code.source, target), alone=planted(code.alone, target))

    return lowered_to_raise


@cache
def made(text: str, target: str) -> tiers.Tiered:
    """The program in generated code that raises. It has been called, as it were: the machine begins with no call."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "lowered", raising(target))
        tiered = tiers.runnable(parse_text(text, "f"), (GIVEN[text][1], INTEGER), target)
        assert isinstance(tiered.best, run.Compiled)
    tiered.calls = 1
    return tiered


@given(st.sampled_from(WAYS), st.integers(0, 7))
def test_only_memory_is_out_of_fuel_and_what_a_fault_raises_is_told_while_the_machine_gives_the_value(way: Any, n: int) -> None:
    (text, target), (x, _) = way, GIVEN[way[0]]
    event(f"{PLANTED.get(n, 'nothing')} on {target}")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if n == INTERRUPT and target == "python":
            with pytest.raises(KeyboardInterrupt):
                made(text, target)(x, n)
        elif n == MEMORY:
            with pytest.raises(OutOfFuel, match="there is no memory for the arrays of a call"):
                made(text, target)(x, n)
        else:
            assert made(text, target)(x, n) == on_reference(parse_text(text, "f"), x, n)
    names = [re.sub(r"\W.*", "", PLANTED[n])] if n in FAULTS else []
    assert [re.findall(r"generated code raised (\w+)", str(w.message)) for w in told] == [[name] for name in names]


def test_each_sample_has_its_own_error_or_value() -> None:
    with pytest.warns(RuntimeWarning, match="generated code raised IndexError"):
        found = made(NUMBERS, "cpu").map([(2.0, n) for n in (0, MEMORY, 5, 7)])
    assert [type(v) for v in found] == [float, OutOfFuel, float, float]
    assert [found[k] for k in (0, 2, 3)] == [0.0, 10.0, 14.0]
    assert made(NUMBERS, "cpu").again == 1


@pytest.mark.parametrize("text", [NUMBERS, VECTORS])
def test_code_that_another_entry_led_to_raises_the_same(text: str) -> None:
    """By way of Numba, where objects do not lie in memory as our own way in reads them."""
    compiled = made(text, "cpu").best
    assert isinstance(compiled, run.Compiled)
    entrance = ways_in.Dispatched(compiled.code, compiled.memory)
    (x, _), lent = GIVEN[text], np.array([0.5, 1.5])
    row = [x if text is NUMBERS else lent]
    assert entrance.status(*row, 7)[0] == 14.0
    with pytest.raises(ValueError, match="planted"):
        entrance.status(*row, 3)


@pytest.mark.parametrize("fault", [SyntaxError("planted"), KeyError("planted"), RuntimeError("\nplanted\nand more")])
def test_what_a_compiler_raises_is_told_and_the_machine_runs_the_program(monkeypatch: Any, fault: Exception) -> None:
    def compiled(*_: Any, **__: Any) -> Any:
        raise fault

    monkeypatch.setattr(run, "compile", compiled)
    made = aj.compile(parse_text(NUMBERS, "f"))
    assert made(2.0, 6) == 12.0  # on the machine, as every first call
    name = type(fault).__name__
    with pytest.warns(RuntimeWarning, match=f"no code could be made, {name}: '?planted'?; the virtual machine runs the program"):
        assert made(2.0, 7) == 14.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(2.0, 8) == 16.0, "it is told once"


@pytest.mark.parametrize(("text", "given_"), [(NUMBERS, 2.0), (VECTORS, np.array([0.5, 1.5]))])
def test_so_is_what_it_raises_when_machine_code_is_made_of_the_text(monkeypatch: Any, text: str, given_: Any) -> None:
    """Numba reads the text at the first call of generated code: what it raised there came out, and it was asked at each call."""
    asked = []

    def address(code: Any) -> int:
        asked.append(code)
        raise ValueError("planted")

    monkeypatch.setattr(kept, "address", address)
    made = aj.compile(parse_text(text, "f"))
    assert made(given_, 6) == 12.0  # on the machine
    with pytest.warns(RuntimeWarning, match="no code could be made, ValueError: planted; the virtual machine runs the program"):
        assert made(given_, 7) == 14.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(given_, 8) == 16.0, "it is told once"
    assert len(asked) == 1


def test_a_refusal_is_told_by_no_warning(monkeypatch: Any) -> None:
    def compiled(*_: Any, **__: Any) -> Any:
        raise IllTyped("it has no form of first order")

    monkeypatch.setattr(run, "compile", compiled)
    made = aj.compile(parse_text(NUMBERS, "f"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [made(2.0, n) for n in (6, 7, 8)] == [12.0, 14.0, 16.0]


# batches


def test_a_batch_whose_kernel_raises_runs_sample_by_sample(monkeypatch: Any) -> None:
    monkeypatch.setattr(run, "lowered", raising("cpu"))
    batch = aj.vmap(parse_text(NUMBERS, "f"), errors="return")
    x = np.full(3, 2.0)
    for _ in range(batch_way_in.OFTEN + 3):
        values, failures = batch(x, np.array([6, 7, 8]))
        assert values.tolist() == [12.0, 14.0, 16.0]
        assert failures == {}
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="generated code raised ValueError: planted"):
            values, failures = batch(x, np.array([6, 3, MEMORY]))
        assert values.tolist()[:2] == [12.0, 6.0]
        assert [(k, type(e)) for k, e in failures.items()] == [(2, OutOfFuel)]


# errors


@pytest.mark.parametrize("raised", [MemoryError(), SystemError("x"), KeyError(3), RecursionError()])
def test_an_error_says_what_was_raised(raised: Exception) -> None:
    found = raised_by(raised)
    memory = isinstance(raised, MemoryError)
    assert type(found) is (OutOfFuel if memory else Crash)
    assert memory or type(raised).__name__ in found.what
    assert tiers.is_beyond(found) is not memory


@pytest.mark.parametrize(
    ("given_", "raised", "wanted"),
    [(1, TypeError("x"), IllTyped), (2, TypeError("x"), Crash), (2, MemoryError(), OutOfFuel), (1, MemoryError(), OutOfFuel)],
)
def test_a_cell_that_python_could_not_run_is_one_of_the_five(given_: int, raised: Any, wanted: Any) -> None:
    assert type(misapplied(TABLE["add"], given_, raised)) is wanted


# the budget of memory

LARGE = """
import numpy as np
def full(n: int):
    return np.sum(np.zeros((n, n)))
def eye(n: int):
    return np.sum(np.eye(n))
def points(n: int):
    return np.sum(np.linspace(0.0, 1.0, n * n))
def numbers(n: int):
    return np.sum(np.arange(n * n))
"""


@pytest.mark.parametrize("name", ["full", "eye", "points", "numbers"])
@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_an_array_of_too_many_elements_is_out_of_fuel_at_its_line(name: str, target: str) -> None:
    """
    On the machine, which has the first call. Once a MemoryError or an OverflowError of Python's, where the system did not end the
    process first.
    """
    assert aj.compile(parse_text(LARGE, name), target=target)(3) == on_reference(parse_text(LARGE, name), 3)
    for n in (1 << 15, 4 * 10**9):
        with pytest.raises(OutOfFuel, match="2\\^28 elements") as raised:
            aj.compile(parse_text(LARGE, name), target=target)(n)
        assert raised.value.location is not None


def test_shapes_that_broadcast_to_too_many_elements_are_out_of_fuel() -> None:
    half, more = arrays.MOST >> 10, (arrays.MOST >> 10) + 1
    assert arrays.broadcast_shapes([(half, 1), (1, 1 << 10)], "add") == (half, 1 << 10)
    with pytest.raises(OutOfFuel, match="add: an array of shape"):
        arrays.broadcast_shapes([(more, 1), (1, 1 << 10)], "add")
    assert arrays.broadcast_shapes([(more, None), (1, 1)], "add") == (more, None)


LARGER = """
import numpy as np
def spread(x, n: int):
    return np.sum(np.broadcast_to(x[0], (n, 3)))
def steps(x, n: int):
    return np.sum(np.arange(0, n, 3))
def upwards(x, n: int):
    return np.sum(np.arange(n))
def none(x, n: int):
    return np.zeros((n, 0))
def cube(x, n: int):
    return np.zeros((n, n, n))
def folded(x, n: int):
    return np.sum(x[:0].reshape(n, 0), axis=1)
def diagonal(x, n: int):
    return np.sum(np.diag(x, n))
def below(x, n: int):
    return np.diag(x, -n)
"""


@pytest.mark.parametrize("name", ["spread", "steps", "upwards", "none", "cube", "folded", "diagonal", "below"])
def test_code_goes_over_no_array_that_there_cannot_be(name: str) -> None:
    """Loops without an array once went on for hours, sizes beyond the address space were told as a fault of the code."""
    function = aj.compile(parse_text(LARGER, name), target="cpu")
    for _ in range(2):
        assert np.array_equal(function(np.ones(3), 2), aj.run(parse_text(LARGER, name), np.ones(3), 2))
    for n in (1 << 40, 1 << 62):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(OutOfFuel, match="2\\^28 elements"):
                function(np.ones(3), n)


@pytest.mark.parametrize("name", ["folded", "spread"])
def test_nor_does_the_compiled_machine_ask_for_the_memory_of_one(name: str) -> None:
    """Its words were those of memory, and so another error's, where the compiled machine was kept."""
    execution = Execution(load(expand(parse_text(LARGER, name))), "cpu", patience=0)
    with pytest.raises(OutOfFuel, match="2\\^28 elements"):
        execution.run((to_value(np.ones(3)), 1 << 40))


SHAPED = """
import numpy as np
def two(x, n: int, m: int):
    return x.reshape(n, m)
def rest(x, n: int, m: int):
    return x.reshape(-1, n)
def diagonal(x, n: int, m: int):
    return np.diag(x.reshape(2, 3), n)
def backwards(x, n: int, m: int):
    return x[m::n]
"""


@pytest.mark.parametrize("name", ["two", "rest", "diagonal", "backwards"])
def test_sizes_and_steps_of_any_sign_and_size_are_the_references(name: str) -> None:
    """Two negative sizes have a product like two others; a distance of -2^63 has no opposite, nor has a step."""
    function, x = aj.compile(parse_text(SHAPED, name), target="cpu"), np.arange(6.0)
    ends = (-(1 << 63), -(1 << 32), -3, -2, -1, 1, 2, 3, 1 << 32, (1 << 63) - 1)
    for n, m in [(2, 3), (3, 2), *((n, m) for n in ends for m in ends)]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert told(lambda: function(x, n, m)) == told(lambda: aj.run(parse_text(SHAPED, name), x, n, m)), (n, m)  # noqa: B023


def told(action: Any) -> Any:
    """The shape and the elements of an array, or the error."""
    try:
        found = action()
    except (IllTyped, OutOfFuel, Trap) as error:
        return type(error), error.what
    return found.shape, found.tolist()


@pytest.mark.parametrize(
    ("body", "tests"), [("(np.expand_dims(x, 1) - y) ** 2.0", False), ("np.reshape(x, np.shape(y)) * y", True)]
)
def test_a_shape_that_an_array_has_is_not_tested(body: str, tests: bool) -> None:
    """A regression of speed: tests of sizes came before it was asked whether they are those of the array, and hid that they are."""
    types = (ArrayType("f64", (None, None)),) * 2
    program = parse_text(f"import numpy as np\ndef f(x, y):\n    return np.sum({body})\n", "f")
    code = run.compile(calling(program, "grad", 0, types), types, "python").code
    assert (str(arrays.MOST) in code.alone) == tests
