"""What a report of the judge holds: shrunk inputs, causes, scripts that fail alone, vacuity, the ledger, and clear refusals."""
# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from adjudge.primitives import primitive
from checkers.primitive_audit import NAMES, check, check_vjp
from checkers.primitive_audit.findings import complexity, shrink, simpler
from checkers.verdict import FaultsFound, OutOfScope, Passed, Refuted, Vacuous
from semantics.errors import IllTyped, Malformed

FAST = ("composition", "optimizer", "second order", "proof")
TWO = 2.0


def half(x):
    return x / TWO


def wrong_softplus():
    p = primitive(lambda x: math.log1p(math.exp(x)), name="softplus_wrong")
    p.backpropagator(lambda x, out, dout: (-dout / (1.0 + math.exp(-x)),))
    return p


def report_of(forward, rule, **more):
    p = primitive(forward, name="suspect")
    p.backpropagator(rule)
    return check(p, examples=60, skip=FAST, **more)


def finding_of(report, claim):
    return next(f for f in report.findings if f.claim == claim and f.kind == "fault")


def run(script, folder):
    """The exit code of a script in an empty folder, with nothing of ours on its path."""
    file = folder / "fails_alone.py"
    file.write_text(script)
    done = subprocess.run([sys.executable, "-I", str(file)], capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("forward", "rule", "cause"),
    [
        (lambda x: math.sin(x), lambda x, out, d: (-d * math.cos(x),), "wrong sign"),
        (lambda x, y: x * y + y, lambda x, y, out, d: (d * (x + 1.0), d * y), "swapped arguments"),
        (lambda x: x * x, lambda x, out, d: (d * x,), "a factor 2 is missing"),
        (lambda x: math.sin(x), lambda x, out, d: (d * math.cos(x) + 0.25 * d,), "additive constant 0.25"),
        (lambda x: math.sin(x), lambda x, out, d: (math.cos(x) + 0.5,), "ignores the cotangent"),
        (lambda x: x * x * x, lambda x, out, d: (3.0 * x * d,), "missing factor x"),
        (lambda x: math.sin(x) + 2.0 * x, lambda x, out, d: (d * (0.0 if x == 0 else math.cos(x) + 2.0),), "isolated points"),
    ],
)
def test_the_cause_is_suspected(forward, rule, cause):
    report = report_of(forward, rule)
    assert any(cause in f.counterexample.cause for f in report.findings if f.kind == "fault"), str(report)


def test_a_counterexample_is_shrunk():
    """Wrong for x > 3 only: no simpler number than the shrunk one fails."""
    report = report_of(lambda x: x * x, lambda x, out, d: (d * 2.0 * x if x <= 3.0 else d * x,))
    x = finding_of(report, "jacobian").counterexample.inputs["x"]
    assert x > 3
    assert complexity(x) <= complexity(7.0)


def test_shrinking_reaches_a_local_minimum():
    """Whatever `simpler` offers for the result does not fail, or is no simpler."""

    def fails(xs):
        return xs[0] > 2.5 and xs[1] != 0

    xs = shrink((1234.56789, -0.001), fails)
    assert fails(xs)
    for i in range(2):
        for candidate in simpler(xs[i]):
            smaller = complexity(candidate) < complexity(xs[i])
            assert not (smaller and fails((*xs[:i], candidate, *xs[i + 1 :])))


def test_a_script_imports_nothing_twice():
    report = report_of(lambda x: math.exp(x), lambda x, out, d: (-d * math.exp(x),))
    lines = finding_of(report, "jacobian").counterexample.script.splitlines()
    assert lines.count("import math") == 1


def test_the_script_of_a_wrong_rule_fails_alone(tmp_path):
    """It needs nothing but Python: sources, constants and helpers are in it."""
    report = report_of(lambda x: half(x) * half(x), lambda x, out, d: (d * half(x) * TWO,))
    script = finding_of(report, "jacobian").counterexample.script
    assert "adjudge" not in script
    code, output = run(script, tmp_path)
    assert code == 1, output
    assert "wanted" in output
    repaired = script.replace("d * half(x) * TWO", "d * half(x)").replace("dout * half(x) * TWO", "dout * half(x)")
    assert repaired != script
    assert run(repaired, tmp_path)[0] == 0


@pytest.mark.parametrize("claim", ["algebra", "zero", "jacobian"])
def test_scripts_of_black_boxes_fail_alone(claim, tmp_path):
    report = check_vjp(lambda x: np.sin(x), lambda xs, y, d: (np.cos(xs[0]) + 0.5 + 0.0 * d,), [(1.0,)], examples=60, skip=FAST)
    script = finding_of(report, claim).counterexample.script
    code, output = run(script, tmp_path)
    assert code == 1, output
    assert "import numpy as np" in script


def test_a_script_without_sources_says_so(tmp_path):
    namespace = {"math": math}
    exec("def f(x): return math.sin(x)\ndef g(xs, y, d): return (2.0 * d,)", namespace)
    report = check_vjp(namespace["f"], namespace["g"], [(1.0,)], examples=60, skip=FAST)
    script = finding_of(report, "jacobian").counterexample.script
    assert "not embedded" in script
    assert run(script, tmp_path)[0] == 1


def test_inputs_that_notice_nothing_are_vacuous():
    """Under an offset of 1e9 differences of doubles do not see a factor of 1 + 1e-6; without the offset they do."""

    def survivors(offset):
        def forward(x):
            return np.imag(np.exp(1j * x)) + offset

        report = check_vjp(forward, lambda xs, y, d: (d * np.cos(xs[0]),), [(1.0,)], examples=40, skip=FAST)
        return {v.why for v in report.verdicts if isinstance(v, Vacuous)}

    assert any("a factor 1 + 1e-6" in why for why in survivors(1e9))
    assert survivors(0.0) == set()


def test_damage_that_changes_nothing_is_not_listed():
    """A zero cotangent turned, doubled or zeroed is the same cotangent."""
    report = report_of(lambda x: 3.0 + 0.0 * x, lambda x, out, d: (0.0 * d,))
    assert not any(isinstance(v, Vacuous) for v in report.verdicts)


def test_damage_is_noticed_on_a_correct_rule():
    report = report_of(lambda x, y: x * y, lambda x, y, out, d: (d * y, d * x))
    (passed,) = (v for v in report.verdicts if v.claim == "vacuity")
    assert isinstance(passed, Passed)
    assert passed.n >= 12


def test_every_check_is_in_the_ledger():
    report = report_of(lambda x: x * x, lambda x, out, d: (2.0 * x * d,))
    entries = {e.check: e for e in report.ledger}
    assert set(NAMES) <= set(entries)
    assert all(entries[name].skipped for name in FAST)
    assert "alias" in entries["aliasing"].skipped
    assert {v.claim for v in report.verdicts if isinstance(v, OutOfScope)} >= {"aliasing"}
    assert {v.claim for v in report.verdicts if isinstance(v, Passed)} >= {"shapes", "large arrays"}


def test_a_report_is_the_same_for_the_same_seed():
    def told(seed):
        report = report_of(lambda x: math.exp(x), lambda x, out, d: (d * out if x < 5.0 else d,), seed=seed)
        return [(v.claim, str(v.counterexample) if isinstance(v, Refuted) else v) for v in report.verdicts]

    assert told(3) == told(3)


def test_a_wrong_primitive_fails_and_says_why():
    report = check(wrong_softplus(), examples=60, skip=FAST)
    with pytest.raises(FaultsFound):
        report.raise_for_faults()
    assert report.exit_code == 1
    first = json.loads(report.to_json())["verdicts"]
    assert any(v["verdict"] == "Refuted" and "0x" in v["found"] and v["script"] for v in first)
    assert "seed 0" in report.findings[0].counterexample.note


def test_a_black_box_loses_judgments_in_writing():
    p = primitive(lambda x: np.imag(np.exp(1j * x)), name="wave")
    p.backpropagator(lambda x, out, d: (d * np.real(np.exp(1j * x)),))
    report = check(p, examples=60)
    assert "second order" in {v.claim for v in report.verdicts if isinstance(v, OutOfScope)}
    assert any("black box" in e.skipped for e in report.ledger)


@pytest.mark.parametrize(
    ("call", "error", "hint"),
    [
        (lambda: check(3), IllTyped, "@primitive"),
        (lambda: check(primitive(lambda x: x, name="f")), IllTyped, "backpropagator"),
        (lambda: check_vjp(math.sin, 3, [(1.0,)]), IllTyped, ""),
        (lambda: check_vjp(math.sin, math.cos, []), Malformed, "list"),
        (lambda: check_vjp(math.sin, math.cos, [(1.0,), (1.0, 2.0)]), Malformed, "one number per argument"),
        (lambda: check_vjp(math.sin, lambda xs, y, d: (d,), [(np.zeros(3),)]), Malformed, "a sample at which"),
        (lambda: check_vjp(math.sin, math.cos, [("one",)]), IllTyped, ""),
        (lambda: check(wrong_softplus(), skip=("jacobi",)), Malformed, "jacobian"),
    ],
)
def test_bad_requests_are_refused_with_a_remedy(call, error, hint):
    with pytest.raises(error) as caught:
        call()
    assert hint in caught.value.remedy
