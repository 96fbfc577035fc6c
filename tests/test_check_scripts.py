"""Findings of second order and of composition: their scripts compute the failure anew, alone, and tell when it is repaired."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import adjudge as aj
from adjudge.adapters.black_boxes import trial_of
from checkers.array_audit.build import of_functions
from checkers.array_audit.composition import composition
from checkers.array_audit.orders import second_order
from checkers.primitive_audit import CHECKS
from checkers.primitive_audit.build import of_row
from checkers.primitive_audit.script import NotEmbeddable, embedded
from checkers.verdict import Refuted

VECTOR = [(np.array([0.5, -1.25, 2.0]),), (np.array([1.5, 0.75]),)]


@aj.primitive
def held(x):
    return x


@held.backpropagator
def _(x, out, dout):
    return (0.0 * dout,)


@aj.primitive
def slope(x):
    return math.cos(x)


@slope.backpropagator
def _(x, out, dout):
    return (dout * math.sin(x),)


@aj.primitive
def wave(x):
    return math.sin(x)


@wave.backpropagator
def _(x, out, dout):
    return (dout * slope(x),)


calls = [0]


def squares(x):
    return np.sum(x * x)


def drifting(x, out, dout):
    calls[0] += 1
    return (dout * 2.0 * x * (1.0 + (calls[0] > 30) * 1e-6 * calls[0]),)


def exponential(x):
    return np.exp(x)


def fixed_value(x, out, dout):
    return (dout * held(out),)


def script_of(verdicts):
    found = next(v for v in verdicts if isinstance(v, Refuted))
    return found.counterexample.script


def run(script, folder):
    """The exit code of a script in an empty folder, and what it prints."""
    file = folder / "fails_alone.py"
    file.write_text(script)
    done = subprocess.run([sys.executable, "-I", str(file)], capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode, done.stdout + done.stderr


def fails_until(script, wrong, right, folder):
    """The script fails; with the wrong part replaced it passes."""
    assert "not embedded" not in script
    code, output = run(script, folder)
    assert code == 1, output
    assert "Error" not in output
    assert wrong in script
    code, output = run(script.replace(wrong, right), folder)
    assert code == 0, output


def test_a_second_derivative_of_arrays(tmp_path):
    script = script_of(second_order(of_functions(exponential, fixed_value, VECTOR, spread=True)))
    assert "@held.backpropagator" in script
    fails_until(script, "0.0 * dout", "dout", tmp_path)


def test_a_gradient_of_a_program_of_arrays(tmp_path):
    script = script_of(composition(of_functions(squares, drifting, VECTOR, spread=True)))
    fails_until(script, "1e-06", "0.0", tmp_path)


def test_a_second_derivative_of_numbers(tmp_path):
    script = script_of(dict(CHECKS)["second order"](of_row(wave.row, seed=0, examples=60)))
    fails_until(script, "dout * math.sin(x)", "-dout * math.sin(x)", tmp_path)


def test_a_gradient_of_a_program_of_numbers(tmp_path):
    """In the program 'nested grad' the rule inside the rule is seen."""
    script = script_of(dict(CHECKS)["composition"](of_row(wave.row, seed=0, examples=60)))
    fails_until(script, "dout * math.sin(x)", "-dout * math.sin(x)", tmp_path)


def test_a_second_derivative_by_a_framework(tmp_path):
    """What a framework differentiates is asked of the framework, by the object's name in its module."""
    pytest.importorskip("autograd")
    module = tmp_path / "rules_of_a_user.py"
    module.write_text(
        "import autograd.numpy as np\n"
        "from autograd.extend import defvjp, primitive\n\n"
        "held = primitive(lambda x: 1.0 * x)\n"
        "defvjp(held, lambda out, x: lambda d: 0.0 * d)\n\n\n"
        "@primitive\ndef exponential(x):\n    return np.exp(x)\n\n\n"
        "defvjp(exponential, lambda out, x: lambda d: d * held(out))\n"
    )
    script = script_of(second_order(trial_of(_loaded(module).exponential, VECTOR, examples=4)))
    assert "rule.second_pull" in script
    code, output = run(script, tmp_path)
    assert code == 1, output
    module.write_text(module.read_text().replace("0.0 * d", "d"))
    assert run(script, tmp_path)[0] == 0


def _loaded(file):
    import importlib.util

    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


# what a script carries


def test_a_primitive_is_carried_with_its_backpropagator():
    known = {}
    embedded(fixed_value, "pullback", known)
    assert known["held"].startswith("@aj.primitive\ndef held(x):")
    assert "@held.backpropagator" in known["held"]


def test_what_a_rule_keeps_is_carried_if_python_writes_it():
    known = {}
    embedded(drifting, "pullback", known)
    assert known["calls"] == f"calls = {calls!r}"
    kept = [np.zeros(2)]
    with pytest.raises(NotEmbeddable, match="kept is list"):
        embedded(lambda x, out, dout: (dout * kept[0],), "pullback", {})


def test_a_default_is_carried_as_the_value_that_it_has() -> None:
    """It was carried as it was written, and a name in it was unknown to the script."""
    rate = 2.5

    def scaled(x: float, k: float = rate, *, rounds: tuple[int, ...] = (1, 2)) -> float:
        return k * x

    def filtered(x: float, kernel: object = np.ones(2)) -> float:
        return x

    known: dict[str, str] = {}
    embedded(scaled, "forward", known)
    assert known == {"forward": "def forward(x, k=2.5, *, rounds=(1, 2)):\n    return k * x"}
    with pytest.raises(NotEmbeddable, match="a default that is ndarray"):
        embedded(filtered, "forward", {})
