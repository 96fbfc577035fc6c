"""Parts computed before the array is copied: the same bits, and rows that are updated from what they hold cost what rows do."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed
from test_backend_begun import SPECIAL

from backend.arrays import beforehand
from backend.arrays.beforehand import PART, computed_beforehand
from backend.arrays.in_place import blocks, copied
from backend.lowering.first_order import lowered
from semantics.type_language import ArrayType
from transforms.gradient_programs import calling
from transforms.parse import parse_text

N, M = "a2_.shape[0]", "a2_.shape[1]"


def text(*nests: str, copy: str = "a2_", between: str = "pass", made: str = f"({N}, {M})") -> str:
    """A matrix, its copy, and what is written to that."""
    lines = [
        "a2_ = _empty((a0.shape[0], 3), _f64)",
        f"for k1 in range({N}):",
        f"    for k2 in range({M}):",
        "        a2_[k1, k2] = a0[k1] * k2 + a1[k1]",
        f"a3_ = _empty({made}, _f64)",
        f"for k3 in range({N}):",
        f"    for k4 in range({M}):",
        f"        a3_[k3, k4] = {copy}[k3, k4]",
        between,
        *(line for nest in nests for line in nest.splitlines()),
    ]
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines), "    return (a2_, a3_)"])


def first(source: str) -> str:
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    computed_beforehand(function)
    return ast.unparse(ast.fix_missing_locations(function))


SHIFTED = f"for k5 in range({M} - 1):\n    x6 = a2_[1, k5] * 2.0\n    a3_[1, k5 + 1] = x6 + a1[0]"
GATHERED = "for k5 in range(5):\n    i7 = (k5 * k5) % 2\n    x6 = a2_[i7, 1] + k5\n    a3_[i7, 2] = x6"
TESTED = "for k5 in range(3):\n    if k5 > 3:\n        return (a2_, a2_)\n    a3_[0, k5] = a2_[1, 2 - k5]"
ROWS = f"for k5 in range(1):\n    for k6 in range({M}):\n        a3_[k5 + 1, k6] = a2_[k5, k6] - a2_[k5 + 1, 0]"
FIRES = {"shifted": SHIFTED, "gathered, one of them several times": GATHERED, "after a test": TESTED, "rows": ROWS}


@pytest.mark.parametrize("nest", FIRES.values(), ids=FIRES)
@pytest.mark.parametrize("between", ["pass", "x9 = a0[0]"])
def test_what_a_part_becomes_is_computed_before_the_copy(nest: str, between: str) -> None:
    source = text(nest, between=between)
    found = first(source)
    before, _, after = found.partition("a3_ = _empty(")
    assert "a3_part_[" in before
    assert after.count("a2_[") == 1, "the copy alone reads the old array"
    x = np.array([1.5, -2.0])
    assert bits(executed(found, x, 2.0 * x)) == bits(executed(source, x, 2.0 * x))


BESIDE = SHIFTED + "\n    a8_[k5] = x6"


def test_what_else_the_loop_writes_is_written_once() -> None:
    source = text(BESIDE, "a3_[0, 0] = a8_[0] + a8_[1]", between="a8_ = _empty((2,), _f64)")
    found = first(source)
    assert found.count("a8_[k5") == 1
    assert found.partition("a3_ = _empty(")[2].count("a2_[") == 1
    x = np.array([1.5, -2.0])
    assert bits(executed(found, x, 2.0 * x)) == bits(executed(source, x, 2.0 * x))


NEAR = {
    "the old array is written beside it": text(BESIDE.replace("a8_[k5]", "a8_[0, k5]"), between="a8_ = a2_"),
    "all but the edges": text(f"for k5 in range({N} - 2):\n    for k6 in range({M}):\n        a3_[k5 + 1, k6] = a2_[k5, k6]"),
    "nothing of the old array": text("for k5 in range(3):\n    a3_[1, k5] = a1[0]"),
    "what was written is read": text("for k5 in range(2):\n    a3_[1, k5 + 1] = a2_[0, k5] + a3_[1, k5]"),
    "two are written": text("for k5 in range(2):\n    a3_[1, k5] = a2_[0, k5]\n    a3_[0, k5] = a2_[1, k5]"),
    "the old array changes by another name": text(SHIFTED, between="a8_ = a2_").replace(
        "a8_ = a2_", "a8_ = a2_\n    a8_[0, 1] = 9.0"
    ),
    "the copy is mentioned before": text(SHIFTED).replace("    for k3", "    i9 = a3_.shape[0]\n    for k3"),
    "the old array changes": text(SHIFTED, between="a2_[0, 1] = 9.0"),
}


@pytest.mark.parametrize("near", NEAR)
def test_else_all_stays(near: str) -> None:
    assert first(NEAR[near]) == ast.unparse(ast.parse(NEAR[near]))


@st.composite
def nests(draw: st.DrawFn) -> str:
    """Some loops that write parts of the copy, of what the old array or the copy holds, and others that read them."""
    found = []
    for at in range(draw(st.integers(1, 3))):
        k, x = f"k{at}5", f"x{at}6"
        to = draw(st.sampled_from((f"0, {k}", f"1, {k} + 1", f"{k}, 0", f"{k} % 2, 1", f"1, 1 - {k}")))
        of = [draw(st.sampled_from((f"0, {k}", f"1, {k} + 1", f"{k}, 2", f"1 - {k}, {k}", "1, 1"))) for _ in range(2)]
        a, b = (draw(st.sampled_from(("a2_", "a2_", "a2_", "a3_"))) for _ in range(2))
        body = [f"    {x} = {a}[{of[0]}] * 0.5", f"    a3_[{to}] = {x} + {b}[{of[1]}]"]
        if draw(st.booleans()):
            new = f"a{at}7_"
            found += [f"{new} = _empty((2,), _f64)", f"for {k} in range(2):", f"    {new}[{k}] = {a}[{of[0]}]"]
            body[1] += f" + {new}[{k}]"
            k = f"k{at}8"
            body = [line.replace(f"k{at}5", k) for line in body]
        found += [f"for {k} in range(2):", *body]
    return text("\n".join(found))


@given(nests(), st.lists(st.sampled_from(SPECIAL), min_size=2, max_size=2))
def test_what_is_computed_is_the_same(source: str, numbers: list[float]) -> None:
    x = np.array(numbers)
    found = first(source)
    event(f"changed: {'part_' in found}")
    assert bits(executed(found, x, 2.0 * x)) == bits(executed(source, x, 2.0 * x))


def test_a_part_of_an_array_that_changes_meanwhile_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    source = NEAR["the old array changes"]
    monkeypatch.setattr(beforehand, "stored", lambda statements: set())
    x = np.array([1.5, -2.0])
    assert bits(executed(first(source), x, 2.0 * x)) != bits(executed(source, x, 2.0 * x))


LOOPS = {
    "a row and another": "y[i, 1:] += x[i, :-1]",
    "a row by one of its elements": "y[i] += y[i, 0]",
    "a row, shifted": "y[i, 1:] = y[i, :-1] * 2.0",
    "some of a row": "y[i, ::2] += y[i, 0]",
    "a row by what a cell keeps": "y[i, 1:] *= y[i, :-1]",
    "a row by its sum": "y[i] = y[i] / np.sum(y[i])",
    "a row by its sine, and another": "y[i] = np.sin(y[i - 1] + y[i])",
    "the first rows": "y[:2] += y[i]",
}


@pytest.mark.parametrize("line", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_no_turn_copies_the_whole_array(line: str, derived: bool) -> None:
    """There were n² copies of elements: 200 ms for 16,000 rows of 4, and now 1."""
    body = (
        f"import numpy as np\ndef f(x):\n    y = x.copy()\n    for i in range(len(x)):\n        {line}\n    return np.sum(y ** 2)\n"
    )
    types = (ArrayType("f64", (None, None)),)
    program = parse_text(body, "f")
    code = lowered(calling(program, "grad", 0, types) if derived else program, types)
    function: Any = next(f for f in ast.parse(code.alone).body if isinstance(f, ast.FunctionDef) and f.name == "kernel")
    turns = [s for loop in ast.walk(function) if isinstance(loop, ast.While) for block in blocks(loop) for s in block]  # type: ignore[arg-type]
    assert turns
    nests = [s for s in turns if isinstance(s, ast.For) and isinstance(s.body[0], ast.For)]
    assert not [pair for s in nests if (pair := copied(s)) and not pair[1].endswith(PART)]
