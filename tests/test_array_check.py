"""The judge on arrays: opinions on entries, findings that fail alone, and the ways in."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutants.array_rules import BUGS, CONTROLS, MATRIX, VECTOR, WEIGHTS
from test_array_check_controls import others

import adjudge as aj
from checkers.array_audit.build import of_functions
from checkers.array_audit.jacobian import judge
from checkers.array_audit.opinion import entries
from checkers.array_audit.script import literal
from checkers.primitive_audit import NAMES
from checkers.verdict import OutOfScope, Passed, Refuted, Vacuous
from semantics.errors import IllTyped, Malformed

BUG = {bug.name: bug for bug in BUGS}
SCRIPTED = ("wrong sign", "unreduced broadcast", "clipped cotangent", "a bias of 1e-7", "repeated indices overwritten")


def trial(name: str, rule: Any = None) -> Any:
    control = CONTROLS[name]
    return of_functions(control.forward, rule or control.right, control.samples, fixed=control.fixed, examples=12)


# opinions


MATMUL = trial("matmul")


@given(st.integers(0, 10**6), st.sampled_from([1e-6, -1e-9, 0.5, -2.0]))
def test_one_wrong_entry_is_a_fault_and_the_others_are_right(where: int, error: float) -> None:
    case = next(c for c in MATMUL.cases if c.origin == "sample")
    whole = MATMUL.jacobian(case).copy()
    assert entries(MATMUL, case, whole).right.all()
    bad = np.flatnonzero(whole.ravel())[where % np.count_nonzero(whole)]
    whole.ravel()[bad] *= 1 + error
    opinions = entries(MATMUL, case, whole)
    assert np.flatnonzero(opinions.fault.ravel()).tolist() == [bad]
    assert opinions.right.sum() == whole.size - 1


@pytest.mark.parametrize("name", ["softmax", "sort", "cumprod", "square root"])
def test_an_entry_has_exactly_one_opinion(name: str) -> None:
    judged = trial(name)
    for case in judged.cases:
        found = entries(judged, case)
        count = found.right.astype(int) + found.fault + found.accuracy + found.skip
        assert (count == 1).all()


def test_an_error_of_a_few_ulp_is_rounding_and_right() -> None:
    case = MATMUL.cases[0]
    whole = MATMUL.jacobian(case)
    assert entries(MATMUL, case, whole * (1 + 2.0**-50)).right.all()


def test_digits_that_cancel_are_accuracy_and_no_fault() -> None:
    wrong = BUG["expm1 by its value"]
    report = aj.check_vjp(wrong.control.forward, wrong.wrong, wrong.control.samples, skip=others(), examples=24)
    assert {f.kind for f in report.findings} == {"accuracy"}


# findings


@pytest.mark.parametrize("name", SCRIPTED)
def test_the_script_of_a_finding_fails_alone(name: str) -> None:
    bug = BUG[name]
    report = aj.check_vjp(bug.control.forward, bug.wrong, bug.control.samples, fixed=bug.control.fixed, skip=others(), examples=24)
    finding = next(f for f in report.findings if f.kind == "fault" and f.claim in bug.caught_by)
    script = finding.counterexample.script
    assert "float.fromhex" in script or "np.array" in script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, script + done.stderr
    assert "Error" not in done.stderr, done.stderr


def test_the_script_passes_once_the_rule_is_mended() -> None:
    bug = BUG["wrong sign"]
    report = aj.check_vjp(bug.control.forward, bug.wrong, bug.control.samples, skip=others(), examples=24)
    script = report.findings[0].counterexample.script.replace("return (-d * sigmoid(x),)", "return (d * sigmoid(x),)")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, script + done.stderr


@given(st.lists(st.floats(), min_size=0, max_size=6), st.sampled_from(["float64", "float32"]), st.sampled_from("CF"))
def test_a_literal_gives_the_array_back(numbers: list[float], dtype: Any, order: Any) -> None:
    with np.errstate(over="ignore"):
        array = np.array(numbers * 2, dtype=np.float64).astype(dtype).reshape((2, len(numbers)), order=order)
    again = eval(literal(array), {"np": np})
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert np.array_equal(again, array, equal_nan=True)
    assert np.array_equal(np.signbit(again[again == 0]), np.signbit(array[array == 0]))


def test_a_strided_array_is_written_as_one() -> None:
    array = np.arange(12.0).reshape(3, 4)[:, ::2]
    again = eval(literal(array), {"np": np})
    assert np.array_equal(again, array)
    assert not again.flags.c_contiguous


def test_a_finding_says_entry_values_and_seed() -> None:
    bug = BUG["blend swapped"]
    report = aj.check_vjp(bug.control.forward, bug.wrong, bug.control.samples, skip=others(), examples=24, seed=7)
    found = next(f for f in report.findings if f.claim == "jacobian").counterexample
    assert "d out[" in found.note
    assert "seed 7" in found.note
    assert set(found.inputs) == {"a", "b", "w", "dout"}
    assert isinstance(found.found, float)


# ways in


def test_samples_decide_which_judge_is_asked() -> None:
    scalar = aj.check_vjp(lambda x: x * x, lambda x, y, d: (2.0 * x * d,), [(1.0,), (2.0,)], skip=("composition", "optimizer"))
    arrays = aj.check_vjp(lambda x: x * x, lambda x, y, d: (2.0 * x * d,), [VECTOR], skip=others())
    assert "points" in scalar.details
    assert "cases" in arrays.details


def test_a_function_of_reals_that_takes_arrays_is_judged_on_them() -> None:
    fast = tuple(n for n in NAMES if n not in ("shapes", "large arrays"))
    report = aj.check_vjp(lambda x: x * x, lambda x, y, d: (2.0 * x * d,), [(1.0,), (2.0,)], skip=fast)
    assert all(isinstance(v, Passed) for v in report.verdicts)
    wrong = aj.check_vjp(lambda x: x * x, lambda x, y, d: (2.0 * np.ravel(x)[0] * d,), [(1.0,), (2.0,)], skip=fast)
    assert {v.claim for v in wrong.verdicts if isinstance(v, Refuted)} == {"shapes", "large arrays"}


def test_a_function_of_reals_that_takes_no_arrays_says_so() -> None:
    fast = tuple(n for n in NAMES if n not in ("shapes", "large arrays"))
    report = aj.check_vjp(lambda x: x if x > 0 else 0.0, lambda x, y, d: (d if x > 0 else 0.0,), [(1.0,)], skip=fast)
    assert all(isinstance(v, OutOfScope) for v in report.verdicts)
    assert all("takes no arrays" in v.why for v in report.verdicts if isinstance(v, OutOfScope))


def test_inputs_that_are_all_empty_prove_nothing() -> None:
    """A passed check has compared entries."""
    made = trial("matmul")
    made.cases = tuple(case for case in made.cases if not case.outputs)
    assert made.cases
    (verdict,) = judge(made, "shapes", {case.origin for case in made.cases})
    assert isinstance(verdict, Vacuous)


def test_a_check_that_is_skipped_is_in_the_ledger() -> None:
    report = aj.check_vjp(CONTROLS["square"].forward, CONTROLS["square"].right, [VECTOR], skip=(*others(), "algebra"))
    assert {e.check for e in report.ledger if e.skipped == "asked to be skipped"} == {*others(), "algebra"}


@pytest.mark.parametrize(
    ("samples", "error"),
    [([], Malformed), ([(MATRIX, WEIGHTS), (MATRIX,)], Malformed), ([(MATRIX.astype(complex), WEIGHTS)], IllTyped)],
)
def test_samples_that_cannot_be_read_are_refused(samples: Any, error: Any) -> None:
    with pytest.raises(error) as raised:
        aj.check_vjp(CONTROLS["matmul"].forward, CONTROLS["matmul"].right, samples)
    assert raised.value.remedy


def test_an_unknown_check_is_refused() -> None:
    with pytest.raises(Malformed, match="there is no check"):
        aj.check_vjp(CONTROLS["square"].forward, CONTROLS["square"].right, [VECTOR], skip=("gradients",))


def test_the_same_seed_gives_the_same_report() -> None:
    bug = BUG["upper triangle"]

    def told() -> list[str]:
        report = aj.check_vjp(bug.control.forward, bug.wrong, bug.control.samples, skip=others(), examples=24)
        return [str(f.counterexample) for f in report.findings]

    assert told() == told()


def test_a_row_of_the_table_that_reads_arrays_is_judged_on_them() -> None:
    report = aj.check("matmul", skip=others())
    assert "cases" in report.details
    assert not report.findings
