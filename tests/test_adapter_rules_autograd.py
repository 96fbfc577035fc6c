"""Rules of autograd on trial: right ones have no finding, wrong ones the right one; and the ways in, by command and by pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

autograd = pytest.importorskip("autograd")

import autograd.numpy as anp  # noqa: E402
from autograd.extend import defvjp, primitive  # noqa: E402
from autograd.numpy.numpy_vjps import unbroadcast_f  # noqa: E402
from foreign_rules import FULL, A, B, X, assert_caught, report  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from adjudge.adapters.black_boxes import foreign, trial_of  # noqa: E402
from adjudge.adapters.frameworks import of_framework  # noqa: E402
from checkers.array_audit import NAMES  # noqa: E402

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "autograd_rules.py"


def ruled(function, *rules):
    """A primitive with a rule for each argument."""
    made = primitive(function)
    defvjp(made, *rules)
    return made


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


RIGHT = {
    "exp": (ruled(np.exp, lambda out, x: lambda d: d * out), (X,)),
    "softmax": (ruled(softmax, lambda out, x: lambda d: out * (d - anp.sum(d * out))), (X,)),
    "broadcast": (
        ruled(
            lambda x, y: x * y,
            lambda out, x, y: unbroadcast_f(x, lambda d: d * y),
            lambda out, x, y: unbroadcast_f(y, lambda d: d * x),
        ),
        (A, X),
    ),
    "matmul": (ruled(lambda a, b: a @ b, lambda out, a, b: lambda d: d @ b.T, lambda out, a, b: lambda d: a.T @ d), (A, B)),
    "a function of autograd": (anp.sinh, (X,)),
    "floats": (ruled(lambda x, y: x * y, lambda out, x, y: lambda d: d * y, lambda out, x, y: lambda d: d * x), (2.0, 3.0)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_has_no_finding(name):
    rule, sample = RIGHT[name]
    found = report(rule, [sample], *FULL)
    assert [str(f.counterexample) for f in found.findings if f.kind != "convention"] == []


def consuming(out, x):
    """A pullback that writes to what it keeps."""
    kept = np.array(out)

    def pullback(d):
        kept[...] *= d
        return kept

    return pullback


def in_place(out, x):
    def pullback(d):
        d *= np.cos(x)
        return d

    return pullback


WRONG = {
    "sign": (ruled(np.exp, lambda out, x: lambda d: -d * out), (X,), "jacobian", "fault", "sign"),
    "a broadcast axis that is not summed": (
        ruled(lambda x, y: x * y, lambda out, x, y: lambda d: d * y, lambda out, x, y: lambda d: d * x),
        (A, X),
        *("structure", "fault", "shape"),
    ),
    "a residual that is written to": (ruled(np.exp, consuming), (X,), "purity", "fault", "saved"),
    "a cotangent that is written to": (ruled(np.sin, in_place), (X,), "purity", "fault", "in place"),
    "exchanged": (
        ruled(lambda x, y: x * y, lambda out, x, y: lambda d: d * x, lambda out, x, y: lambda d: d * y),
        (X, X[::-1] + 0.25),
        *("jacobian", "fault", "swapped"),
    ),
    "digits": (
        ruled(np.expm1, lambda out, x: lambda d: d * (out + 1.0)),
        (np.array([-30.0, 0.5]),),
        *("accuracy", "accuracy", "digits"),
    ),
    "a term is missing": (ruled(softmax, lambda out, x: lambda d: out * d), (X,), "jacobian", "fault", ""),
    "a clipped cotangent": (
        ruled(np.sin, lambda out, x: lambda d: anp.clip(d, -1, 1) * anp.cos(x)),
        (X,),
        *("algebra", "fault", "linear"),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_caught_with_its_place_and_cause(name):
    assert_caught(*WRONG[name])


def test_the_reference_runs_the_function_under_the_primitive_on_balls():
    trial = trial_of(RIGHT["softmax"][0], [(X,)], examples=10)
    assert "ball" in trial.by(trial.cases[0])


def test_a_function_that_is_none_of_autograds_is_taken_if_it_is_said_to_be():
    trial = trial_of(of_framework(lambda x: anp.sum(x * x), "autograd"), [(X,)], examples=10)
    assert (trial.pulled(trial.cases[0], np.ones(1)).cotangents == 2 * trial.cases[0].coordinates).all()


@given(st.lists(st.integers(-24, 24), min_size=1, max_size=4), st.integers(0, 3))
def test_the_second_pullback_is_the_derivative_of_the_first(numbers, k):
    """Of x**3: coordinate k of the pullback at d is 3 d x**2, whose derivative is 6 d x in coordinate k; exact in eighths."""
    x, k = np.array(numbers) / 8.0, k % len(numbers)
    wanted = np.zeros_like(x)
    wanted[k] = 6.0 * x[k]
    (found,) = foreign(of_framework(lambda x: x * x * x, "autograd")).second_pull((x,), np.ones_like(x), k)
    assert (found == wanted).all()


SKIPPED = [word for name in NAMES if name not in FULL for word in ("--skip", name)]


def test_the_command_judges_the_rules_of_a_file(adjudge):
    code, out, _ = adjudge("check", f"{EXAMPLE}:scaled", "--json", "--examples", "10", *SKIPPED)
    (found,) = json.loads(out)
    assert (code, found["subject"]) == (1, "scaled")
    assert "does not" in str(found) or "shape" in str(found)
    assert adjudge("check", f"{EXAMPLE}:hypotenuse", "--examples", "10", *SKIPPED)[0] == 0
    code, _, err = adjudge("check", f"{EXAMPLE}:first_row")
    assert code == 2
    assert "hypotenuse" in err


def test_the_command_writes_a_page(adjudge, tmp_path):
    page = tmp_path / "page.html"
    code, _, _ = adjudge("check", f"{EXAMPLE}:scaled", "--html", str(page), "--examples", "10", *SKIPPED)
    assert code == 1
    assert "scaled" in page.read_text()
    code, _, err = adjudge("check", f"{EXAMPLE}:scaled", "--html", str(tmp_path / "none" / "page.html"))
    assert (code, "there is no folder" in err) == (2, True)


def test_pytest_makes_an_item_of_each_rule(tmp_path):
    words = [word for name in NAMES if name not in ("structure", "jacobian") for word in ("--adjudge-skip", name)]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--adjudge", str(EXAMPLE), *words]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert "2 failed, 1 passed" in run.stdout, run.stdout
    assert "scaled" in run.stdout
    assert "Traceback" not in run.stdout
