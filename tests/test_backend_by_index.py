"""Gradients of loops that read and write arrays by index: the reference's bits, and the same cost for every turn."""

from __future__ import annotations

import ast
import re
import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest
from code_claims import has_code
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_arrays import normal, types_of
from test_backend_stack_arrays import agrees, compiled

from adjudge.values import to_value
from backend import compile
from backend.arrays import tightening
from backend.lowering import regions
from backend.lowering.flow import Flow, flow
from backend.lowering.scheduling import reads_first
from backend.stacks import near_types
from backend.stacks.sizes import sizes_alone
from semantics.ir import GraphRef
from semantics.scope import order_of_need, scopes
from semantics.text import read
from transforms.gradient_programs import calling
from transforms.parse import parse_text

PRODUCTS = """
import numpy as np
def f(x):
    y = np.ones(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1]
        y[i] *= x[i]
    return np.sum(y)
"""
ROWS = """
import numpy as np
def f(x, h):
    for t in range(len(x)):
        h = np.tanh(h * x[t] + h)
    return np.sum(h)
"""
LINE = """
import numpy as np
def f(u, v):
    for t in range(3):
        a = np.copy(u)
        b = np.copy(v)
        for i in range(1, u.shape[0]):
            a[i] = u[i] + 0.1 * v[i] * u[i - 1]
            b[i] = v[i] - u[i]
        u = a
        v = b
    return np.sum(u * v)
"""
PROGRAMS: dict[str, tuple[str, Any, Any]] = {
    "products": (PRODUCTS, lambda n: (normal(n),), 0),
    "rows": (ROWS, lambda n: (normal(n, 2), normal(2)), (0, 1)),
    "line": (LINE, lambda n: (normal(n), normal(n) + 1.0), (0, 1)),
}


def gradient(name: str) -> Any:
    text, arrays, wrt = PROGRAMS[name]
    types = types_of(arrays(5))
    return compiled(calling(parse_text(text, "f"), "value_and_grad", wrt, types), types)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_gradient_is_the_references_in_every_bit(name: str) -> None:
    code, reference = gradient(name)
    for n in (3, 6):
        assert agrees(code, reference, *PROGRAMS[name][1](n))
    special = [np.where(a > 0.5, -0.0, np.where(a < -0.5, np.inf, a)) for a in PROGRAMS[name][1](6)]
    assert agrees(code, reference, *special)


SOMETIMES = {
    "an element is read in some turns": """
def f(x):
    s = 0.0
    for v in x:
        if v > 1.5:
            break
        if v < 0.0:
            continue
        s = s + v * v
    return s
""",
    "an element is assigned in some turns": """
import numpy as np

def f(x):
    a = np.zeros(x.shape[0])
    for i in range(1, x.shape[0]):
        if x[i] > 0.0:
            a[i - 1] = x[i] * x[i - 1]
    return np.sum(a * a)
""",
    "an element of a matrix is assigned in some turns of a loop that is left": """
import numpy as np
def f(x):
    a = np.zeros((x.shape[0], x.shape[0]))
    for i in range(1, x.shape[0]):
        for j in range(i):
            if x[j] > 0.0:
                a[i, j] = x[j] * a[i - 1, j] + x[i]
            elif x[j] < -0.9:
                break
    return np.sum(a * a)
""",
}


@pytest.mark.parametrize("name", SOMETIMES)
def test_an_index_of_turns_that_do_not_use_it_is_no_reason(name: str) -> None:
    """
    Where a turn does not read by index, the adjoint has ZERO for it: no index of an array, and no run uses it as one. In the last
    a cell has a number or an array in one place, by the branch, and an update of the number is for no run.
    """
    types = types_of((normal(5),))
    code, reference = compiled(calling(parse_text(SOMETIMES[name], "f"), "value_and_grad", 0, types), types)
    for numbers in (normal(6), np.array([0.5, -1.0, 1.0, 0.25]), np.array([0.5, 2.0, -1.0]), np.array([-1.0])):
        assert agrees(code, reference, numbers)


def lines(code: Any, arguments: tuple[Any, ...]) -> int:
    """How many lines of generated code CPython executes in a call."""
    values, count = tuple(map(to_value, arguments)), 0

    def traced(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line" and frame.f_code.co_name == "kernel"
        return traced

    before = sys.gettrace()
    code.call(*values)  # memory of stacks has its size
    sys.settrace(traced)
    try:
        code.call(*values)
    finally:
        sys.settrace(before)
    return count


def bend(name: str) -> int:
    """By how much more the cost grows from 30 to 40 turns than it does from 20 to 30."""
    code, _ = gradient(name)
    a, b, c = (lines(code, PROGRAMS[name][1](n)) for n in (20, 30, 40))
    assert b > a
    return (c - b) - (b - a)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_turn_costs_the_same(name: str) -> None:
    assert bend(name) == 0


def test_a_copy_in_every_turn_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tightening, "summed", lambda function, *asked: function)
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    assert bend("products") > 1000


@pytest.mark.parametrize(("name", "alone"), [("products", True), ("line", True), ("rows", False)])
def test_the_mask_of_one_element_is_written_before_its_sum_where_it_is_not_true(name: str, alone: bool) -> None:
    """A row that is added goes through its mask in a loop, which is vectorised, so there it is written each time."""
    source = gradient(name)[0].code.source
    sums = re.findall(r"if not (\w+)\[(\w+)\]:\n +\1\[\2\] = True\n +\w+\[\2\] = x\d+\n", source)
    assert bool(sums) == alone
    assert len(sums) == source.count("if not a")


# a loop that is entered at two places


@pytest.mark.parametrize("together", [True, False])
def test_a_loop_that_whole_arrays_and_others_enter_is_one_block(together: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    At first the sensitivities of u and v are whole; in later turns some of their elements are ZERO. Inferred without that, the loop
    has one entry; were it not, it would have code for each, and a head.
    """
    found: list[Flow] = []
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    monkeypatch.setattr(regions, "flow", lambda *given: found.append(flow(*given)) or found[-1])
    if not together:
        monkeypatch.setattr(near_types, "_with_holes", lambda t: t)
    code, reference = gradient("line")
    assert sum(bool(f.heads) for f in found) == (1 if together else 2), "the first inference has a head, and is made again"
    assert agrees(code, reference, *PROGRAMS["line"][1](5))


# the order of reads

UPDATE = """program @f
@f(%a: f64[?], %i: i64, %j: i64):
  %b = put(%a, %i, 1.0)
  %x = getitem(%a, {0})
  %c = getitem(%b, 0)
  %r = mul(%c, %x)
  return %r
"""


@pytest.mark.parametrize(("index", "first"), [("%i", "getitem"), ("%j", "put")])
def test_an_element_is_read_before_it_is_updated_and_another_is_not(index: str, first: str) -> None:
    program = read(UPDATE.format(index))
    free = scopes(program).free
    plan = order_of_need(program, program.entry, free)
    named = [getattr(program.callee(n), "name", "") for n in reads_first(program, plan, free)]
    assert sorted(reads_first(program, plan, free)) == sorted(plan)
    assert min(("put", "getitem"), key=named.index) == first


MADE = ("_empty", "_full")
ROW = """
import numpy as np
def f(w, xs):
    rows = []
    h = np.zeros_like(xs[0])
    for x in xs:
        h = np.tanh(w * h + x)
        rows.append(h)
    return np.sum(np.stack(rows))
"""


def test_an_adjoint_makes_an_element_zero_after_what_is_read_of_it() -> None:
    """So no turn of the loop back copies all rows: of a list of n arrays the gradient cost n²."""
    w, xs = np.array([0.5, -0.0, 2.0]), np.array([[1.0, -1.5, 0.25], [-0.0, 0.0, 3.0], [2.0, -2.0, 1e-300], [0.5, 4.0, -1.0]])
    types = types_of((w, xs))
    subject = calling(parse_text(ROW, "f"), "grad", (0, 1), types)
    turns = [n for n in ast.walk(ast.parse(compile(subject, types, "python").code.alone)) if isinstance(n, ast.While)]
    made = [ast.unparse(n) for turn in turns for n in ast.walk(turn) if isinstance(n, ast.Call) and ast.unparse(n.func) in MADE]
    assert made
    assert not [call for call in made if "n_a1_0" in call]
    has_code(subject, types, [(w, xs[:n]) for n in range(1, 5)])


LATE = """program @f
@f(%a: f64[?, 3], %i: i64, %j: i64, %v: f64[3]):
  %b = put(%a, %i, {0})
  %x = getitem(%a, {1})
  %y = add(%x, %v)
  %r = make_tuple(%b, %y)
  return %r
"""


@pytest.mark.parametrize(("value", "index", "late"), [("ZERO", "%i", True), ("%v", "%i", False), ("ZERO", "%j", False)])
def test_what_becomes_zero_does_so_when_it_must(value: str, index: str, late: bool) -> None:
    """One that may fail does so where it stands: with another value, or of an element that was not read."""
    program = read(LATE.format(value, index))
    free = scopes(program).free
    plan = order_of_need(program, program.entry, free)
    order = reads_first(program, plan, free)
    named = [getattr(program.callee(n), "name", "") for n in order]
    assert sorted(order) == sorted(plan)
    assert (named.index("put") > named.index("add")) == late, named


TWICE = """program @f
@f(%a: f64[?, 3], %i: i64, %j: i64, %v: f64[3]):
  %b = put(%a, %i, ZERO)
  %c = put(%b, %j, ZERO)
  %x = getitem(%a, %i)
  %y = getitem(%b, %j)
  %z = add(%x, %y)
  %r = make_tuple(%c, %z)
  return %r
"""


def test_what_becomes_zero_twice_does_so_in_order() -> None:
    program = read(TWICE)
    free = scopes(program).free
    order = reads_first(program, order_of_need(program, program.entry, free), free)
    assert all(order.index(needed) < at for at, n in enumerate(order) for needed in program.inputs(n) if needed in order)
    named = [getattr(program.callee(n), "name", "") for n in order if program.inputs(n)]
    assert named == ["getitem", "put", "getitem", "add", "put", "make_tuple"]


CAPTURED = """program @f
@f(%a: f64[?, 3], %i: i64, %v: f64[3]):
  %b = put(%a, %i, ZERO)
  %x = getitem(%a, %i)
  %y = add(%x, %v)
  %g = make_tuple(@g, %y)
  %z = mul(%y, %v)
  %r = make_tuple(%g, %z)
  return %r
@g():
  return %b
"""


def test_what_becomes_zero_does_so_before_a_graph_captures_it() -> None:
    """A regression: a branch that has the array is no node that is given it, so it was asked for before it was there."""
    program = read(CAPTURED)
    free = scopes(program).free
    order = reads_first(program, order_of_need(program, program.entry, free), free)
    put = next(n for n in order if getattr(program.callee(n), "name", "") == "put")
    graph = next(n for n in order if isinstance(program.constant(n), GraphRef))
    assert order.index(put) < order.index(graph)


# sizes in place of arrays

CARRIED = """def kernel(reals, integers):
    i5 = int(integers[⟦1:s:0_0⟧])
    a7_ = reals[integers[⟦1:s:0⟧]:integers[⟦1:s:0⟧] + i5]
    (a9_, x1) = (a7_, 0.5)
    while True:
        i6 = a9_.shape[0]
        {}
        (a9_, x1) = (a7_, 2.0)"""


@pytest.mark.parametrize(
    ("use", "alone"), [("x2 = 1.0", True), ("a8_ = a9_", True), ("x2 = a9_[0]", False), ("a8_ = a9_.T", False)]
)
def test_an_array_that_lends_its_sizes_alone_is_integers(use: str, alone: bool) -> None:
    text = CARRIED.format(use)
    found = sizes_alone(text)
    assert ("reals[" not in found) == alone
    assert ("(a9_0, x1,) = (a7_0, 0.5,)" in found and "i6 = a9_0" in found) == alone
    assert alone or found == text


def test_an_array_that_may_be_none_lends_the_sizes_of_none() -> None:
    """As where an adjoint says ZERO in place of a cell."""
    found = sizes_alone(CARRIED.format("(i7, a9_) = (1, _empty((0, ), _f64))"))
    assert "reals[" not in found
    assert "(i7, a9_0,) = (1, 0,)" in found
    assert "reals[" in sizes_alone(CARRIED.format("a9_ = _empty((i6, ), _f64)"))


@given(st.lists(st.sampled_from(["a8_ = a9_", "a9_ = a8_", "i7 = a8_.shape[0]", "x = a8_[0]", "f(a9_)"]), max_size=4))
def test_what_is_read_stays_an_array(uses: list[str]) -> None:
    """A name that is read keeps all names that are moved to it."""
    text = CARRIED.format("\n        ".join(uses or ["pass"]))
    found = sizes_alone(text)
    read = "f(a9_)" in uses or ("x = a8_[0]" in uses and "a8_ = a9_" in uses)
    event(f"read: {read}")
    assert (found == text) == read
