"""What is not compiled yet is refused by name, with the one remedy; what the result does not need is no reason to refuse."""

from __future__ import annotations

import pytest

import backend
from backend.arrays.table import CELLS as LOOPS
from backend.columns import IN_LOOPS, NO_MEMORY, NUMBA, ULP
from backend.lists.promotion import promoted
from backend.lowering import expansion
from backend.lowering import first_order as lowering
from backend.lowering.structure import STRUCTURAL
from backend.stacks.cell_types import StackInference
from semantics.edit import Edit, empty
from semantics.errors import Malformed
from semantics.infer import Inferrer
from semantics.ir import Program
from semantics.primitives.row import Hole
from semantics.primitives.table import ARRAYS, STRUCTURE, TABLE
from semantics.text import read
from semantics.type_language import INTEGER, REAL
from transforms import known_lengths
from transforms.gradient_programs import calling
from transforms.parse import parse_text


def program(parameters: str, *lines: str) -> Program:
    *equations, result = lines
    body = "\n".join(f"  {e}" for e in equations)
    return read(f"program @f\n@f({parameters}):\n{body}\n  return {result}")


REFUSED: dict[str, tuple[Program, str]] = {
    "a dtype": (program("%x: f32[2, 2]", "%r = inv(%x)", "%r"), "linear algebra of other than matrices of f64"),
    "an axis that is not known": (program("%x: f64[3, 3], %k: i64", "%r = cumsum(%x, %k)", "%r"), "an axis"),
    "memory": (
        program(
            "%x: f64, %n: i64",
            *("%m = memory(0)", "%a = alloc(%m, %x)", "%k = getitem(%a, 0)", "%p = getitem(%a, 1)"),
            *("%b = alloc(%k, %x)", "%l = getitem(%b, 0)", "%q = getitem(%b, 1)", "%c = lt(%x, 0.0)", "%o = switch(%c, %p, %q)"),
            "%r = load(%l, %o)",
            "%r",
        ),
        "memory is not compiled yet",
    ),
    "in a function that is called": (
        read("program @f\n@g(%y, %k):\n  %a = sort(%y, %k)\n  return %a\n@f(%x: f64[3], %n: i64):\n  %r = @g(%x, %n)\n  return %r"),
        "an axis",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_arrays_or_memory_is_refused_by_name(name: str) -> None:
    refused, what = REFUSED[name]
    for optimize in (True, False):
        with pytest.raises(Malformed) as caught:
            backend.compile(refused, None, "python", optimize=optimize)
        assert caught.value.rule == "lower"
        assert what in caught.value.what
        assert "not compiled yet" in caught.value.what
        assert 'target="reference"' in caught.value.remedy


APPENDED = """
def f(x: float):
    zs = [x, x]
    ys = [x]
    for _ in range(5):
        new = []
        for i in range(2):
            new.append(zs[i] * 2.0)
        zs = [z for z in new]
        kept = ys if x > 0.0 else new
        kept.append(x)
    return zs[0]
"""
WITHOUT = """
from typing import NamedTuple
class Kept(NamedTuple):
    v: float
    def use(self):
        xs = []
        xs.append(self.v)
        return xs[0]
class Squared(NamedTuple):
    v: float
    def use(self): return self.v * self.v
def g(r): return r.use()
def h(x): return g(Kept(x))
def f(x: float): return g(Squared(x))
"""


def test_a_derivative_whose_function_needs_memory_is_refused_before_it_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The adjoint's types would take half a minute to tell."""
    monkeypatch.setattr(lowering, "first_that_fits", lambda *given: pytest.fail("it was expanded"))
    with pytest.raises(Malformed, match="memory is not compiled yet") as caught:
        backend.compile(calling(parse_text(APPENDED, "f"), "grad", 0, (REAL,)), (REAL,), "python")
    assert caught.value.rule == "lower"


GROWN = """
def f(x: float):
    rows = []
    last = []
    def add(v):
        last.append(v)
    for i in range(3):
        row = []
        for j in range(3):
            row.append(x * i + j)
        rows.append(row)
        add(x)
    return rows[2][1]
"""


def test_types_are_told_no_further_than_to_the_first_call_that_needs_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrunk from Viterbi's algorithm: the types of lists in lists, which grow in loops, took half a minute."""
    begun: list[int] = []
    judge = Inferrer.judge
    monkeypatch.setattr(Inferrer, "judge", lambda self, signature: begun.append(signature.graph) or judge(self, signature))
    with pytest.raises(Malformed, match="memory is not compiled yet"):
        backend.compile(parse_text(GROWN, "f"), (REAL,), "python")
    assert len(begun) == 1


LENGTHS = """
def f(x: float, n: int):
    out = []
    for i in range({}):
        out.append(x if x > i else i)
    return sum(out, 0.0)
"""


def test_types_are_told_no_further_than_to_the_first_call_that_is_passed_a_list_of_any_length() -> None:
    """Of elements of two kinds there are 2ᵏ lists of k: half a minute for the types of a Hessian, which was then refused."""
    subject = promoted(parse_text(LENGTHS.format("n"), "f"))
    whole, found = Inferrer(subject, True), StackInference(subject, True, {})
    whole.run((REAL, INTEGER))
    with pytest.raises(Malformed, match="sequences of unknown length are not compiled yet"):
        found.run((REAL, INTEGER))
    assert len(found.results) < len(whole.results) // 4


def test_near_miss_a_list_of_known_length_is_passed_on() -> None:
    subject = parse_text(LENGTHS.format("3"), "f")
    assert backend.compile(subject, (REAL, INTEGER), "python")(1.5, 0) == 5.0


def test_the_loops_of_a_program_that_needs_memory_are_not_unrolled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrunk from a generated program, on the machine: the types of its lists, told to find lengths, took some minutes."""
    monkeypatch.setattr(known_lengths, "known", lambda *given: pytest.fail("the types were told"))
    with pytest.raises(Malformed, match="refused"):
        expansion.first_that_fits(calling(parse_text(APPENDED, "f"), "grad", 0, (REAL,)), "J", refusing)


def refusing(program: Program) -> None:
    """Lowers nothing."""
    raise Malformed("refused", rule="lower")


def test_memory_that_no_run_comes_to_by_the_types_is_no_reason_to_refuse() -> None:
    code = backend.compile(calling(parse_text(WITHOUT, "f"), "grad", 0, (REAL,)), (REAL,), "python")
    assert code(1.5) == 3.0


def test_a_call_that_the_result_does_not_need_is_no_reason_to_refuse() -> None:
    edit = Edit(empty())
    graph = edit.graph("f")
    x = edit.parameter(graph, "x", REAL)
    edit.call(graph, TABLE["as_array"], x, edit.constant(None))
    edit.output(graph, edit.call(graph, TABLE["add"], x, x))
    edit.set_entry(graph)
    assert backend.compile(edit.program, None, "python", optimize=False)(1.5) == 3.0


def test_the_columns_say_which_rows_are_not_compiled() -> None:
    for row in (*ARRAYS, *STRUCTURE):
        cell = NUMBA.find(row)
        if row in ARRAYS and row.name not in STRUCTURAL:
            assert row.name in LOOPS
            assert cell is IN_LOOPS
        elif row.name in STRUCTURAL:
            assert cell is not NO_MEMORY
    assert NUMBA.find(TABLE["alloc"]) is ULP.find(TABLE["alloc"]) is NO_MEMORY
    assert not isinstance(NUMBA.find(TABLE["maximum"]), Hole)
