"""The cross-check: which tier ran where, and why; and that targets agree with the reference on drawn programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import backend
from adjudge.cli import crosscheck
from adjudge.cli.crosscheck import OWN, random_samples
from adjudge.functions import parse
from adjudge.values import to_value
from backend import toolchain
from backend.lowering.expansion import first_that_fits
from checkers.generators import Source, Whole, points, sources, wholes
from semantics.arrays import Array
from semantics.errors import OutOfFuel
from semantics.machine import Machine
from semantics.type_language import INTEGER, REAL, ArrayType, TupleType
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

PROGRAMS = """
import numpy as np

def power(x: float, n: int):
    r = 1.0
    for _ in range(n):
        r = r * x
    return r

def recursive(x: float, n: int):
    return 1.0 if n == 0 else x * recursive(x, n - 1)

def composed(x: float, n: int):
    f = lambda y: y
    for _ in range(n):
        f = (lambda g: lambda y: g(y) * x)(f)
    return f(x)

def layer(w, x):
    return np.sum(np.tanh(w @ x))

def marched(x: float, y: float):
    p = (x, y)
    for _ in range(3):
        p = tuple([0.5 * a + x for a in p])
    return sum([a * a for a in p])

def large(n: int):
    return n * 4611686018427387904
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    path = tmp_path / "programs.py"
    path.write_text(PROGRAMS)
    return path


ROWS = {
    "power": (["-g", "x"], "A"),
    "recursive": (["-g", "x"], "A"),
    "composed": (["-g", "x"], "B"),
    "marched": (["-g", "x"], "A"),  # what is compiled has its loops over p unrolled, and so has the reference
    "layer": (["np.ones((2, 3))", "np.ones(3)", "-g", "w"], "A"),
}


@pytest.mark.parametrize("name", ROWS)
def test_there_is_a_row_for_every_target_with_the_tier_and_the_reason(
    adjudge: Any, programs: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, tier = ROWS[name]
    monkeypatch.setattr(crosscheck, "ptx_rows", lambda program, types: [])  # which has tests of its own
    code, out, _ = adjudge("crosscheck", f"{programs}:{name}", *words, "--samples", "3", "--json")
    assert code == 0
    rows = json.loads(out)["targets"]
    assert [row["target"] for row in rows] == list(toolchain.TARGETS)
    for row in rows:
        assert row["skipped"] == toolchain.missing(row["target"])
        if not row["skipped"]:
            assert row["tier"] == tier
            assert bool(row["refusal"]) == (tier == "B")
            assert row["bitwise"] == row["samples"] >= 3


def test_samples_that_generated_code_leaves_to_the_machine_are_counted(
    adjudge: Any, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crosscheck, "ptx_rows", lambda program, types: [])
    code, out, _ = adjudge("crosscheck", f"{programs}:large", "--samples", "12", "--quick")
    assert code == 0
    assert "left to tier B" in out


def test_an_integer_beyond_64_bits_is_no_reason_to_end(adjudge: Any, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once the Trap of one sample ended the command."""
    monkeypatch.setattr(crosscheck, "ptx_rows", lambda program, types: [])
    code, out, _ = adjudge("crosscheck", f"{programs}:large", str(2**70), "--samples", "3", "--quick", "--json")
    assert code == 0
    for row in json.loads(out)["targets"]:
        assert row["skipped"] or (row["again"] >= 1 and row["bitwise"] == row["samples"] == 4)


@pytest.mark.parametrize("refusal", ["", "no first-order form"])
def test_ptx_of_the_machine_is_not_waited_for_in_a_quick_run(
    adjudge: Any, programs: Path, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(crosscheck, "ptx_rows", lambda program, types: asked.append(types) or [])
    monkeypatch.setattr(crosscheck, "compare", lambda *given: [backend.Crosscheck("python", 1, 1, refusal=refusal)])
    words = "crosscheck", f"{programs}:layer", "np.ones((2, 3))", "np.ones(3)"
    of_any_size = [ArrayType("f64", (None, None)), ArrayType("f64", (None,))]
    assert ("takes a minute" in adjudge(*words, "--quick")[1]) is bool(refusal)
    assert asked == ([] if refusal else [of_any_size]), "of the code that ran"
    assert "takes a minute" not in adjudge(*words)[1]
    assert asked[-1] == of_any_size


def test_what_the_reference_has_no_fuel_for_judges_nothing() -> None:
    program = parse_text("def f(x):\n    return x\n", "f", "f.py", {})

    def spent(*_: Any) -> Any:
        raise OutOfFuel("spent")

    (row,) = backend.crosscheck(program, None, [(1.0,), (2.0,)], spent, ["python"])
    assert (row.ambiguous, row.mismatches) == (2, ())
    (row,) = backend.crosscheck(program, None, [(1.0,)], lambda x: 2.0, ["python"])
    assert (row.ambiguous, len(row.mismatches)) == (0, 1)


TARGETS = ("python", "cuda-sequential")


def agrees(program: Any, types: Any, samples: list[Any]) -> str:
    """That both targets have the reference's bits; the tier."""
    found = backend.crosscheck(program, types, samples, lambda *a: Machine(program).run(a).value, TARGETS)
    for row in found:
        assert not row.skipped
        assert row.mismatches == ()
        assert row.bitwise == row.samples == len(samples)
    return found[0].tier


@given(sources(), st.data())
def test_programs_over_numbers_are_run_alike(source: Source, data: Any) -> None:
    program = expand(parse_text(source.text, "f", "generated.py", {}))
    samples = [data.draw(points(source.parameters)) for _ in range(2)]
    event(f"tier {agrees(program, (REAL,) * source.parameters, samples)}")


@given(wholes(), st.booleans())
def test_programs_over_the_whole_language_and_their_gradients_are_run_alike(whole: Whole, gradient: bool) -> None:
    program = calling(whole.program(), "grad", whole.real, whole.types) if gradient else whole.program()
    event(f"tier {agrees(first_that_fits(program, 'J', lambda one: one), whole.types, [whole.arguments])}")


def test_a_sum_over_columns_of_which_there_is_one_is_taken_by_one_thread() -> None:
    program = parse(lambda x: np.sum(np.sum(x + 1.0, axis=0)))
    for columns in (1, 2):
        assert agrees(program, (ArrayType("f64", (3, columns)),), [(to_value(np.full((3, columns), 0.25)),)]) == "A"


def chained(x, y, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        x = np.tanh(x * y + np.sum(y)) - np.max(x)
    return np.sum(np.sum(x, axis=0) * y)


@given(st.integers(1, 4), st.integers(2, 4), st.integers(0, 3), st.data())
def test_programs_over_arrays_are_run_alike(m: int, n: int, turns: int, data: Any) -> None:
    numbers = st.floats(-3, 3)
    x, y = (np.array(data.draw(st.lists(numbers, min_size=k, max_size=k))) for k in (m * n, n))
    types = (ArrayType("f64", (None, None)), ArrayType("f64", (None,)), INTEGER)
    program = first_that_fits(calling(parse(chained), "grad", (0, 1), types), "J", lambda one: one)
    event(f"tier {agrees(program, types, [(to_value(x.reshape(m, n)), to_value(y), turns)])}")


REFUSED = {
    "an integer by position": (("large", "7", "-g", "0"), "with respect to n was asked for, which is the integer 7"),
    "an integer by name, of its declared type": (("power", "-g", "n"), "with respect to n was asked for, which is the integer"),
    "an array of integers": (("layer", "np.ones((2, 3))", "np.array([1, 2, 3])", "-g", "x"), "which is an array of int64"),
    "a name that is none": (("power", "1.5", "2", "-g", "q"), "wrt is 'q', but the arguments are x, n"),
    "too many arguments": (("power", "1.5", "2", "3.0", "-g", "x"), "takes 2 arguments, 3 given"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_gradient_that_there_is_not_is_refused_with_its_cause(adjudge: Any, programs: Path, name: str) -> None:
    (function, *words), what = REFUSED[name]
    code, _, said = adjudge("crosscheck", f"{programs}:{function}", *words, "--samples", "1", "--quick")
    assert (code, what in " ".join(said.split())) == (2, True), said


def test_samples_have_the_integers_of_the_example_in_their_arrays(adjudge: Any, tmp_path: Path) -> None:
    """Of a program that gathers nearly all samples were traps: places were any integers from 0 to 12."""
    file = tmp_path / "program.py"
    file.write_text("import numpy as np\ndef f(x, k):\n    return np.sum(x[k] * x[k[0]])\n")
    code, said, _ = adjudge("crosscheck", f"{file}:f", "np.ones(3)", "array([0, 2, -3])", "--quick", "--samples", "8", "--json")
    ran = next(r for r in json.loads(said)["targets"] if r["target"] == "python")
    assert code == 0
    assert ran["bitwise"] == ran["samples"]
    assert ran["again"] <= ran["samples"] / OWN + 1


@given(st.integers(0, 5), st.integers(1, 20))
def test_what_is_no_array_of_integers_is_drawn_as_without_an_example(seed: int, count: int) -> None:
    types = (REAL, INTEGER, TupleType((ArrayType("i64", (2,)), ArrayType("bool", (2,)))))
    example = (0.5, 40, (Array("i64", (2,), (70, 80)), Array("bool", (2,), (True, True))))
    found, others = random_samples(types, count, seed, example), random_samples(types, count, seed)
    assert [repr((s[0], s[1], s[2][1])) for s in found] == [repr((s[0], s[1], s[2][1])) for s in others]
    own = [s[2][0].items == t[2][0].items for s, t in zip(found, others, strict=True)]
    assert own == [k % OWN == 0 for k in range(len(found))]
    assert all({*s[2][0].items} <= {70, 80} for k, s in enumerate(found) if k % OWN)
