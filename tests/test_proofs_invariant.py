"""The gradients of the corpus are proved node by node; those of broken variants of J are not; what is not reached says why."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import corpus
import pytest
from mutants.transform import CONTROLS, MUTANTS, Variant

from checkers.properties.oracles import forward_mode_agrees
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown
from proofs.invariant import gradient_is_right
from semantics.ir import Program
from semantics.text import read
from transforms.parse import parse_text

# in the first the number of turns depends on a real, so the paths are without end; J of the others takes seconds to make
SLOW = ("doubling_until", "third_derivative_of_sine", "nested_three_deep", "grad_of_a_loop", "grad_under_a_branch")


@functools.cache
def parsed(file: str, name: str) -> Program:
    return parse_text((corpus.FOLDER / f"{file}.py").read_text(), name, f"{file}.py", {"math": math})


@pytest.mark.parametrize("file", ["straight", "branches", "loops", "closures", "tuples", "derivatives"])
def test_the_gradients_of_the_corpus_are_proved(file: str) -> None:
    cases = [c for c in corpus.CASES if c.file == file and c.name not in SLOW]
    verdicts = {c.name: gradient_is_right(parsed(c.file, c.name), name=c.name).verdict for c in cases}
    assert {name: v for name, v in verdicts.items() if not isinstance(v, Proved)} == {}


def test_what_is_not_reached_says_why() -> None:
    arrays = read("program @f\n@f(%x: f64[3]):\n  return 1.0")
    found = gradient_is_right(arrays).verdict
    assert isinstance(found, OutOfScope)
    assert "no number" in found.why
    whole = read("program @f\n@f(%n: i64):\n  return %n")
    assert isinstance(gradient_is_right(whole).verdict, OutOfScope)


def test_a_loop_that_waits_for_a_real_is_unknown() -> None:
    found = gradient_is_right(parsed("loops", "doubling_until")).verdict
    assert isinstance(found, Unknown)
    assert "decisions" in found.reason


TEXTS = {
    "fan-out": "def f(x, y):\n a = x * y\n b = a * a + x\n return b * a / y\n",
    "captures": "def f(x, y, z):\n a = x * 2.0\n def g(u):\n  return u * a * y - z\n"
    " def h(v):\n  return g(v) * g(x)\n return h(z)\n",
    "branch": "def f(x, y, z):\n if x > 0:\n  r = x * y\n else:\n  r = z * z * x\n return r * y\n",
    "tuples": "def f(x, y):\n t = (x * y, y, x)\n u = (t, t[1])\n return u[0][0] * u[1] + u[0][2] * t[0]\n",
    "identity": "def f(x, y):\n def same(u):\n  return u\n"
    " def chosen(c):\n  return x if c > 0 else y\n return same(x) * chosen(y)\n",
    "aliased": "def f(x, y):\n def g(a, b):\n  return a * b + a\n return g(x, x) * g(y, y) * x * x\n",
}
PROGRAMS = {name: parse_text(text, "f", "f.py", {}) for name, text in TEXTS.items()}
# perturbations are confused in derivatives of derivatives only; ZERO for 0 is a matter of types, which the proof does not look at
OF_OTHER_TESTS = ("perturbation confusion", "ZERO at the boundary")


def points(program: Program) -> Sequence[tuple[float, ...]]:
    """Some points on both sides of the branches."""
    count = len(program.graphs[program.entry].parameters)
    return [(1.5, -0.5, 2.0)[:count], (-1.5, 0.75, 0.5)[:count], (0.5, 2.0, -3.0)[:count]]


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.name not in OF_OTHER_TESTS], ids=str)
def test_a_fault_in_j_is_never_proved_where_it_shows(mutant: Variant) -> None:
    """Every fault is caught in some program, and a program that is proved for all that has the right gradient when it runs."""
    caught = 0
    for program in PROGRAMS.values():
        verdict = gradient_is_right(program, mutant.gradient).verdict
        caught += isinstance(verdict, (Refuted, Unknown, OutOfScope))
        if isinstance(verdict, Proved):
            assert all(isinstance(forward_mode_agrees(program, p, mutant.gradient), Passed) for p in points(program))
    assert caught > 0


@pytest.mark.parametrize("name", ["fan-out overwrites", "second use dropped", "captures forgotten", "seed 2.0"])
def test_a_fault_is_refuted_by_execution(name: str) -> None:
    (mutant,) = [m for m in MUTANTS if m.name == name]
    verdicts = [gradient_is_right(p, mutant.gradient).verdict for p in PROGRAMS.values()]
    assert any(isinstance(v, Refuted) and v.counterexample.found != v.counterexample.wanted for v in verdicts)


@pytest.mark.parametrize("control", [c for c in CONTROLS if c.rules], ids=str)
def test_variants_of_j_that_are_right_are_proved(control: Variant) -> None:
    for name in ("fan-out", "captures", "branch", "tuples"):
        assert isinstance(gradient_is_right(PROGRAMS[name], control.gradient).verdict, Proved)


def test_a_program_of_two_hundred_applications_is_proved() -> None:
    lines = "\n".join(f" {'ab'[i % 2]} = {('a * b + x', 'b - a * y', 'a / 3.0 - b', 'b * x')[i % 4]}" for i in range(100))
    program = parse_text(f"def f(x, y):\n a, b = x, y\n{lines}\n return a * b\n", "f", "f.py", {})
    judgment = gradient_is_right(program)
    assert isinstance(judgment.verdict, Proved), judgment.verdict
    assert len(judgment.answers) > 400
