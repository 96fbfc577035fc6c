"""What is not compiled yet is refused by name, with the one remedy; what the result does not need is no reason to refuse."""

from __future__ import annotations

from typing import Any

import pytest

import backend
from backend.arrays.table import CELLS as LOOPS
from backend.columns import IN_LOOPS, NO_ARRAYS, NO_MEMORY, NUMBA, ULP
from backend.structure import STRUCTURAL
from semantics.edit import Edit, empty
from semantics.errors import IllTyped, Malformed
from semantics.ir import Program
from semantics.primitives.row import Hole
from semantics.primitives.table import ARRAYS, STRUCTURE, TABLE
from semantics.text import read
from semantics.type_language import REAL, ArrayType, TupleType


def program(parameters: str, *lines: str) -> Program:
    *equations, result = lines
    body = "\n".join(f"  {e}" for e in equations)
    return read(f"program @f\n@f({parameters}):\n{body}\n  return {result}")


REFUSED: dict[str, tuple[Program, str]] = {
    "an array made": (program("%x: f64", "%a = full(3, %x, None)", "%r = reduce_sum(%a, None, False)", "%r"), "arrays"),
    "a row of arrays": (program("%x: f64[3]", "%r = cumsum(%x, None)", "%r"), "cumsum"),
    "the ... of an index": (program("%x: f64[3]", "%r = getitem(%x, ...)", "%r"), "an index"),
    "memory": (
        program(
            "%x: f64, %n: i64",
            *("%m = memory(0)", "%a = alloc(%m, %x)", "%k = getitem(%a, 0)", "%p = getitem(%a, 1)"),
            "%q = lea(%p, %n)",
            "%r = load(%k, %q)",
            "%r",
        ),
        "memory is not compiled yet",
    ),
    "in a function that is called": (
        read("program @f\n@g(%y):\n  %a = as_array(%y, None)\n  return %a\n@f(%x: f64):\n  %r = @g(%x)\n  return %r"),
        "as_array",
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


@pytest.mark.parametrize("type", [ArrayType("f32", (2,)), TupleType((REAL, ArrayType("i64", (3,))))])
def test_an_argument_that_holds_an_array_of_another_dtype_than_f64_is_refused(type: Any) -> None:
    with pytest.raises((Malformed, IllTyped), match=r"not compiled yet|boundary of compiled code"):
        backend.compile(program("%x", "%x"), (type,), "python")


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
            assert cell is (IN_LOOPS if row.name in LOOPS else NO_ARRAYS)
            assert (ULP.find(row) is NO_ARRAYS) == (cell is NO_ARRAYS)
        elif row.name in STRUCTURAL:
            assert cell not in (NO_ARRAYS, NO_MEMORY)
    assert NUMBA.find(TABLE["alloc"]) is NO_MEMORY
    assert not isinstance(NUMBA.find(TABLE["maximum"]), Hole)
