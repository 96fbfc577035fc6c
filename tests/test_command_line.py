"""The commands, as a user types them: what they print, what they return, and what they say of bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.transforming import NAMES

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FIGURE_1 = f"{EXAMPLES / 'figure_1.py'}:f"


def test_run_prints_the_value_and_the_gradient(adjudge):
    assert adjudge("run", FIGURE_1, "2.0", "3.0")[:2] == (0, "648.0\n")
    code, out, _ = adjudge("run", FIGURE_1, "2.0", "3.0", "-g", "x", "-g", "1", "--json")
    assert code == 0
    assert json.loads(out) == {"value": 648.0, "gradient": [972.0, 864.0]}


def test_negative_and_special_arguments_are_read(adjudge):
    assert adjudge("run", FIGURE_1, "-2.0", "0x1.8p+1")[1] == "-648.0\n"
    assert adjudge("run", FIGURE_1, "-inf", "-3", "-g", "x", "--json")[0] == 0
    assert adjudge("run", FIGURE_1, "inf", "1.0")[1] == "inf\n"


WITH_DEFAULTS = """
def f(x: float, k: int = 3, scale: float = 0.5):
    return scale * x ** k

def summed(n: int, x: float):
    xs = []
    for i in range(n):
        xs.append(x * i)
    return sum(xs)
"""


def test_parameters_for_which_nothing_is_given_have_their_defaults(adjudge, tmp_path):
    (tmp_path / "f.py").write_text(WITH_DEFAULTS)
    f = f"{tmp_path / 'f.py'}:f"
    assert adjudge("run", f, "2.0")[:2] == (0, "4.0\n")
    assert json.loads(adjudge("run", f, "2.0", "2", "-g", "x", "--json")[1]) == {"value": 2.0, "gradient": 2.0}
    assert adjudge("run", f, "2.0", "2", "1.0")[1] == "4.0\n"
    assert "the program takes 3 arguments (x, k, scale), 0 given" in adjudge("run", f)[2]
    code, out, _ = adjudge("crosscheck", f, "2.0", "--quick", "--samples", "3", "--json")
    assert code == 0
    assert all(t["bitwise"] == t["samples"] for t in json.loads(out)["targets"] if not t["skipped"])


def test_a_random_sample_that_the_reference_refuses_is_refused_everywhere(adjudge, tmp_path):
    """The sum of no elements is the integer 0, which has no gradient."""
    (tmp_path / "f.py").write_text(WITH_DEFAULTS)
    summed = f"{tmp_path / 'f.py'}:summed"
    code, out, _ = adjudge("crosscheck", summed, "3", "2.0", "-g", "x", "--quick", "--json")
    assert code == 0
    assert all(t["bitwise"] == t["samples"] for t in json.loads(out)["targets"] if not t["skipped"])
    code, _, said = adjudge("crosscheck", summed, "0", "2.0", "-g", "x", "--quick")
    assert code == 2
    assert "a function whose result is a real" in said


@pytest.mark.parametrize("name", ["evaluate", "parse", *NAMES])
def test_every_transform_can_be_stepped_saved_and_replayed(adjudge, tmp_path, name):
    saved = tmp_path / "run.json"
    arguments = ["2.0", "3.0"] if name == "evaluate" else []
    code, out, _ = adjudge("step", FIGURE_1, *arguments, "-t", name, "--save", str(saved))
    assert code == 0
    assert "steps" in out
    code, out, _ = adjudge("step", FIGURE_1, *arguments, "-t", name, "--replay", str(saved))
    assert code == 0
    assert out.startswith("replayed")


def test_a_forged_record_does_not_replay(adjudge, tmp_path):
    saved = tmp_path / "run.json"
    adjudge("step", FIGURE_1, "2.0", "3.0", "--save", str(saved))
    saved.write_text(saved.read_text().replace("648.0", "649.0"))
    code, _, err = adjudge("step", FIGURE_1, "2.0", "3.0", "--replay", str(saved))
    assert code == 2
    assert "another state than recorded" in err


def test_why_not_names_the_law_of_the_rule(adjudge):
    _, out, _ = adjudge("step", FIGURE_1, "2.0", "3.0", "--why-not", "close")
    assert "close does not fire here" in out


def test_figure_1_is_shown_after_optimization_as_one_would_write_it(adjudge):
    _, out, _ = adjudge("show", FIGURE_1, "--after", "grad", "--after", "optimize", "--json")
    assert json.loads(out)["applications"] == 4
    assert json.loads(out)["graphs"] == 1


def test_check_and_audit_say_by_their_exit_code_what_they_found(adjudge):
    primitives, rewrites = EXAMPLES / "primitives.py", EXAMPLES / "rewrites.py"
    assert adjudge("check", f"{primitives}:gauss")[0] == 0
    code, out, _ = adjudge("check", f"{primitives}:softplus_wrong")
    assert code == 1
    assert "wrong sign" in out
    assert adjudge("audit", f"{rewrites}:double")[0] == 0
    code, out, _ = adjudge("audit", f"{rewrites}:drop_zero", "--json")
    assert code == 1
    verdicts = {v["claim"]: v["verdict"] for v in json.loads(out)[0]["verdicts"]}
    assert verdicts["equal over the reals"] == "Proved"
    assert verdicts["equal in IEEE-754, bit for bit"] == "Refuted"


def test_prove_prints_a_table_and_the_axioms(adjudge):
    code, out, _ = adjudge("prove", "tanh", "--json")
    assert code == 0
    assert json.loads(out)[0]["verdict"].startswith("proved")
    axioms = json.loads(adjudge("prove", "--trusted", "--json")[1])
    assert 0 < len(axioms) <= 25


def test_crosscheck_compares_every_target_that_is_there(adjudge):
    code, out, _ = adjudge("crosscheck", FIGURE_1, "-g", "x", "--samples", "5", "--quick", "--json")
    assert code == 0
    found = {t["target"]: t for t in json.loads(out)["targets"]}
    assert found["cpu"]["bitwise"] == found["cpu"]["samples"] > 0
    assert not found["cpu"]["mismatches"]


@pytest.mark.parametrize("option", [(), ("--primitives",), ("--transforms",), ("--size",)])
def test_about_has_rows(adjudge, option):
    code, out, _ = adjudge("about", *option, "--json")
    assert code == 0
    assert len(json.loads(out)) > 4


BAD = {
    "no such file": (("run", "none.py:f", "1.0"), "no file"),
    "no such function": (("run", f"{EXAMPLES / 'figure_1.py'}:nope", "1.0"), "nope"),
    "no such argument": (("run", FIGURE_1, "abc", "1.0"), "not a value"),
    "too few arguments": (("run", FIGURE_1, "1.0"), "2 arguments"),
    "an integer's gradient": (("run", FIGURE_1, "1", "1.0", "-g", "x"), "integer"),
    "no such transform": (("step", FIGURE_1, "-t", "optimise"), "not a transform"),
    "no such rule": (("step", FIGURE_1, "1.0", "2.0", "--why-not", "nope"), "no rule"),
    "nothing to judge": (("check", str(EXAMPLES / "figure_1.py")), "defines no"),
    "no such name to judge": (("audit", f"{EXAMPLES / 'rewrites.py'}:nope"), "nope"),
    "not a record": (("step", FIGURE_1, "1.0", "2.0", "--replay", str(EXAMPLES / "pow.py")), "not a saved derivation"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_exit_code_2_with_a_remedy(adjudge, what):
    arguments, says = BAD[what]
    code, _, err = adjudge(*arguments)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


DATA = """
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np

SCALE = 2.0

class Line(NamedTuple):
    slope: float
    shift: float = 0.0

@dataclass(frozen=True)
class Pair:
    left: np.ndarray
    right: float

def line(p, x):
    return np.sum(p.slope * x + p.shift)

def pair(p):
    return np.sum(p.left) * p.right

def squares(d):
    return np.sum(d["w"] ** 2) * d["b"]

def bad_shapes(x, y):
    return np.sum(x @ y)
"""


@pytest.fixture
def data(tmp_path):
    (tmp_path / "data.py").write_text(DATA)
    return str(tmp_path / "data.py")


ARGUMENTS = {
    "a record": ("line", ["Line(2.0, SCALE)", "3.0"], "p", 8.0, {"slope": 3.0, "shift": 1.0}),
    "a record with a default": ("line", ["Line(slope=2.0)", "3.0"], "p", 6.0, {"slope": 3.0, "shift": 1.0}),
    "an array": ("line", ["Line(2.0)", "array([1.0, 0.5])"], "x", 3.0, [2.0, 2.0]),
    "an array of f32": ("line", ["Line(2.0)", "array([1.0, 0.5], dtype=np.float32)"], "x", 3.0, [2.0, 2.0]),
    "an array that is made": ("line", ["Line(2.0)", "np.ones((2, 1)) * SCALE"], "x", 8.0, [[2.0], [2.0]]),
    "a dictionary of arrays": ("squares", ['{"w": array([1.0, -2.0]), "b": 0.5}'], "d", 2.5, {"w": [1.0, -2.0], "b": 5.0}),
    "a dataclass of arrays": ("pair", ["Pair(np.ones(2), 3.0)"], "p", 6.0, {"left": [3.0, 3.0], "right": 2.0}),
}


@pytest.mark.parametrize("what", ARGUMENTS)
def test_an_argument_is_an_expression_read_in_the_file(adjudge, data, what):
    name, arguments, by, value, gradient = ARGUMENTS[what]
    code, out, err = adjudge("run", f"{data}:{name}", *arguments, "-g", by, "--json")
    assert code == 0, err
    assert json.loads(out) == {"value": value, "gradient": gradient}


def test_records_and_arrays_print_as_one_writes_them(adjudge, data):
    assert adjudge("run", f"{data}:line", "Line(2.0)", "array([1.0, 0.5])", "-g", "p")[1] == (
        "value    3.0\ngradient Line(slope=1.5, shift=2.0)\n"
    )


def test_infer_takes_types_and_values(adjudge, data):
    code, out, _ = adjudge("infer", f"{data}:line", "Line(2.0)", "f64[?, 2]", "--json")
    assert code == 0
    assert json.loads(out)["result"] == "f64"


def test_arrays_are_crosschecked_on_the_virtual_machine(adjudge, data):
    code, out, _ = adjudge("crosscheck", f"{data}:pair", "Pair(np.ones(2), 3.0)", "--samples", "2", "--quick", "--json")
    assert code == 0
    ran = [t for t in json.loads(out)["targets"] if not t["skipped"]]
    assert {t["target"] for t in ran} >= {"python", "cpu"}
    assert all(t["bitwise"] == t["samples"] > 0 for t in ran)


BAD_DATA = {
    "ragged rows": ("line", ["Line(2.0)", "array([[1.0, 2.0], [3.0]])"], "different lengths"),
    "no such class": ("line", ["Lime(2.0)", "1.0"], "did you mean"),
    "too few fields": ("line", ["Line()", "1.0"], "slope"),
    "a function": ("line", ["line", "1.0"], "not a value but a function"),
    "half an expression": ("line", ["Line(2.0", "1.0"], "is not a value"),
    "a set": ("line", ["{1.0}", "1.0"], "type set"),
    "a string": ("line", ["'text'", "1.0"], "type str"),
    "what would run": ("line", ["__import__('os')", "1.0"], "not in the language"),
    "shapes": ("bad_shapes", ["array([1.0, 2.0])", "array([1.0])"], "do not match"),
    "an array of integers": ("squares", ['{"w": array([1, 2]), "b": 1.0}', "1.0", "-g", "d"], "1 arguments"),
    "a missing key": ("squares", ['{"w": array([1.0, 2.0])}'], "one of w"),
}


@pytest.mark.parametrize("what", BAD_DATA)
def test_bad_data_is_exit_code_2_with_what_to_do(adjudge, data, what):
    name, arguments, says = BAD_DATA[what]
    code, _, err = adjudge("run", f"{data}:{name}", *arguments)
    assert code == 2
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("raise ModuleNotFoundError(name='jax.numpy')", "pip install 'adjudge[jax]'"),
        ("import not_installed_anywhere", "install not_installed_anywhere"),
        ("1 / 0", "fix the file"),
    ],
)
def test_a_file_that_does_not_import_says_what_to_do(adjudge, tmp_path, line, remedy):
    (tmp_path / "rules.py").write_text(line)
    code, _, err = adjudge("audit", str(tmp_path / "rules.py"))
    assert code == 2
    assert f"try: {remedy}" in err
