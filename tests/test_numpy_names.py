"""
NumPy's types as conversions, updates by `np.add.at` and `np.put`, the names of logsumexp, and names that the language has not.

Values are CPython's bit for bit, and derivatives those of forward mode and of the reversed trace, exactly, on fractions.
"""

# ruff: noqa: E501 (one program to a line)
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_parse_sequences import derivatives_agree

import adjudge as aj
from adjudge.values import to_value
from semantics.errors import Malformed, Trap
from semantics.machine import run
from semantics.values import same
from transforms.parse import parse, parse_text

HEAD = "import numpy as np\nimport adjudge as aj\n"
START = "def f(x):\n a = np.array([x, 2.0 * x, x * x])\n"

# each is rational in x, and of no more than three terms to a sum
UPDATES: dict[str, str] = {
    "add at repeated places": f"{START} np.add.at(a, [0, 0, 2], x)\n return a[0] * a[1] + a[2]",
    "add at one place": f"{START} np.add.at(a, -1, a[0] * a[0])\n return a[2] * x",
    "add an array": f"{START} np.add.at(a, np.array([1, 1, 0]), [x, 1.0, x * x])\n return a[0] + a[1] * a[1]",
    "add at a slice": f"{START} np.add.at(a, slice_of(a), 1.0)\n return a[0] * a[2]".replace("slice_of(a)", "np.array([0, 2])"),
    "put along the flattened array": "def f(x):\n a = np.array([[x, 2.0], [3.0, x * x]])\n np.put(a, [1, 2], [x, x * x])\n return a[0, 1] * a[1, 0] + a[1, 1]",
    "put one number": f"{START} np.put(a, 1, x * 3.0)\n return a[1] * a[2]",
    "put in a loop": f"{START} for k in range(3): np.put(a, k, a[k] * x)\n return a[0] + a[1] * a[2]",
    "take along an axis": "def f(x):\n a = np.array([[x, 2.0], [x * x, 1.0]])\n b = np.take_along_axis(a, np.array([[1, 0], [1, 1]]), 1)\n return b[0, 1] * b[0, 0] + b[1, 0]",
    "conversions": f"{START} return np.float64(x) * np.sum(np.float64(a)) + np.int64(2) * np.float64(np.array([1, 2]))[1] + (x if np.bool_(1.0) else 0.0)",
}


def program_of(text: str) -> Any:
    return parse_text(HEAD + text, "f", names={})


def cpython(text: str) -> Any:
    namespace: dict[str, Any] = {}
    exec(HEAD + text, namespace)
    return namespace["f"]


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("x", [1.5, -0.5, 3.0])
def test_the_value_is_that_of_numpy(name: str, x: float) -> None:
    assert same(run(program_of(UPDATES[name]), x), float(cpython(UPDATES[name])(x)))


@pytest.mark.parametrize("name", UPDATES)
def test_derivatives_are_those_of_two_oracles(name: str) -> None:
    derivatives_agree(HEAD + UPDATES[name])


CONVERTED = (
    2,
    -7,
    2.75,
    -0.5,
    True,
    np.array([1.5, -2.5]),
    np.array([[1, 2], [3, 4]]),
    np.array(0.1, dtype=np.float32),
    np.array([]),
)


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "bool_", "double", "single"])
def test_a_type_that_is_called_converts_and_is_a_dtype_elsewhere(kind: str) -> None:
    called, passed = program_of(f"def f(x): return np.{kind}(x)"), program_of(f"def f(x): return np.array(x, dtype=np.{kind})")
    for x in CONVERTED:
        assert same(run(called, to_value(x)), to_value(getattr(np, kind)(x))), x
        assert same(run(passed, to_value(x)), to_value(np.array(x, dtype=getattr(np, kind)))), x
    live = parse(lambda x: x.astype(np.float32) + np.float32(1.0))
    assert same(run(live, to_value(np.array([0.1]))), to_value(np.array([0.1]).astype(np.float32) + np.float32(1.0)))


ROW = "logsumexp(%x, 0, True)"


@pytest.mark.parametrize(
    "text",
    [
        "from scipy.special import logsumexp\ndef f(x): return logsumexp(x, 0, keepdims=True)",
        "import scipy.special\ndef f(x): return scipy.special.logsumexp(x, axis=0, keepdims=True)",
        "import scipy.special as sp\ndef f(x): return sp.logsumexp(x, 0, None, True)",
        "import adjudge\ndef f(x): return adjudge.logsumexp(x, 0, True)",
    ],
)
def test_logsumexp_by_any_name_is_the_row(text: str) -> None:
    assert ROW in str(parse_text(text, "f", names={}))


def test_logsumexp_of_adjudge_is_the_row_in_a_live_function_and_numpys_formula_outside() -> None:
    assert ROW in str(parse(lambda x: aj.logsumexp(x, 0, True)))
    assert aj.logsumexp(np.array([2.0, 2.0])) == np.log(2.0) + 2.0
    assert same(to_value(aj.logsumexp(np.array([[1.0], [3.0]]), axis=1)), to_value(np.array([1.0, 3.0])))
    with pytest.raises(Malformed, match="no weights"):
        parse_text("from scipy.special import logsumexp\ndef f(x): return logsumexp(x, 0, x)", "f", names={})


REFUSED = {
    "np.fft.fft(x)": "np.fft",
    "np.sinc(x)": "np.sin, np.sinh",
    "np.cov(x)": "np.cos, np.cosh",
    "np.nansum(x)": "np.sum",
    "np.meen(x)": "np.mean",
    "np.linalg.eig(x)": "np.linalg.eig",
    "np.moveaxis(x, 0, 1)": "np.transpose(x, axes)",
    "np.swapaxes(x, 0, 1)": "np.transpose(x, axes)",
    "np.put(x, 0, 1.0)": "a line of its own",
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_name_outside_the_table_is_refused_with_what_to_write(call: str) -> None:
    with pytest.raises(Malformed) as raised:
        program_of(f"def f(x): return {call}")
    assert REFUSED[call] in f"{raised.value.what} {raised.value.remedy}"
    assert raised.value.location is not None
    assert raised.value.location.line == 3


CHANGED = {
    "an argument": ("def f(x):\n np.add.at(x, 0, 1.0)\n return x", "would change for the caller"),
    "a view is still used": ("def f(x):\n y = x.copy()\n z = y[0:1]\n np.put(y, 0, 1.0)\n return z", "would change with it"),
    "a list": ("def f(x):\n y = [1.0, x]\n np.put(y, 0, x)\n return y[0]", "this is a list"),
    "its value is used": ("def f(x):\n y = x.copy()\n return np.add.at(y, 0, 1.0)", "means nothing"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_an_update_that_python_would_show_elsewhere_is_refused(name: str) -> None:
    text, what = CHANGED[name]
    with pytest.raises(Malformed, match=what):
        program_of(text)


def test_an_update_outside_the_array_traps() -> None:
    for text in ("np.add.at(a, 3, x)", "np.put(a, [0, 5], [x, x])"):
        with pytest.raises(Trap):
            run(program_of(f"{START} {text}\n return a[0]"), 1.5)
