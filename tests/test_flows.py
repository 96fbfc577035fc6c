"""Where functions and data flow, and what `expand` refuses to leave."""

from __future__ import annotations

import pytest

from semantics.errors import Malformed
from semantics.ir import NodeId, Program
from semantics.text import names, read
from transforms.flows import is_function
from transforms.nested_grad import expand

THROUGH_A_TUPLE = """
program @f
@f(%a, %b):
  %t = make_tuple(%a, %b)
  %h = getitem(%t, 0)
  %x = getitem(%t, 1)
  %y = %h(%x)
  return %y
"""
STORED = """
program @f
@f(%g):
  %d = grad(%g)
  return %d
"""
STORED_ELSEWHERE = """
program @f
@f(%x):
  return %x
@h(%g):
  %d = grad(%g)
  return %d
"""


def node(program: Program, name: str) -> NodeId:
    return next(n for n, found in names(program).items() if found == name)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_what_data_have_been_found_to_be_changes_no_later_answer(order: str) -> None:
    program = read(THROUGH_A_TUPLE)
    wanted = {"a": True, "b": False}
    for _ in range(2):
        for name in order:
            assert is_function(program, node(program, f"%{name}")) is wanted[name]


def test_a_macro_that_is_stored_is_refused_where_the_entry_reaches_it() -> None:
    with pytest.raises(Malformed, match="cannot be identified"):
        expand(read(STORED))
    program = read(STORED_ELSEWHERE)
    assert expand(program) == program
