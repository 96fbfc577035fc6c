"""The text of programs: what is printed reads back as the same program, and what is no program is refused at its place."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from immutables import Map

from checkers.generators import exhaustive, graphs
from semantics.edit import Edit, empty
from semantics.errors import Malformed
from semantics.ir import Apply, NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import canonical, describe, names, read
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, TupleType, parse_type
from semantics.values import Unbound, bits

VALUES = st.one_of(
    st.floats(allow_nan=True),
    st.integers(),
    st.booleans(),
    st.none(),
    st.text(),
    st.just(ZERO),
    st.sampled_from(list(TABLE.values())),
    st.from_regex(r"[a-z_]\w{0,5}", fullmatch=True).map(Unbound),
)
TYPES = st.recursive(st.sampled_from([REAL, INTEGER, BOOLEAN, UNIT]), lambda t: st.lists(t, max_size=3).map(tuple).map(TupleType))


@given(graphs(size=8))
def test_what_is_printed_reads_back(program: Program) -> None:
    again = read(str(program))
    assert again == program
    assert str(read(str(again))) == str(again)


def test_every_small_program_reads_back() -> None:
    for program in exhaustive(1):
        assert read(str(program)) == program


@given(st.lists(VALUES, min_size=1, max_size=5))
def test_every_constant_reads_back_as_the_same_value(values: list[object]) -> None:
    edit = Edit(empty())
    f = edit.graph("f")
    edit.output(f, edit.call(f, TABLE["make_tuple"], *(edit.constant(v) for v in values)))
    program = read(str(edit.program))
    output = program.graphs[program.entry].output
    found = [program.constant(n) for n in program.inputs(output)[1:]]
    for wanted, value in zip(values, found, strict=True):
        assert type(value) is type(wanted)
        assert bits(value) == bits(wanted) if isinstance(wanted, float) and isinstance(value, float) else value == wanted


@given(TYPES)
def test_every_type_reads_back(t: object) -> None:
    assert parse_type(str(t)) == t
    edit = Edit(empty())
    f = edit.graph("f")
    edit.output(f, edit.parameter(f, "x", t))
    assert str(read(str(edit.program))) == str(edit.program)


@given(graphs(size=6))
def test_programs_that_differ_in_names_only_are_equal(program: Program) -> None:
    edit = Edit(program)
    for graph in program.graphs:
        edit.rename(graph, f"other{graph}")
    renamed = {n: replace(a, name=f"q{n}") if isinstance(a, (Apply, Parameter)) else a for n, a in edit.nodes.items()}
    other = replace(edit.program, nodes=Map(renamed))
    assert other == program
    assert hash(other) == hash(program)
    assert str(other) != str(program)


@given(graphs(size=6))
def test_programs_that_differ_in_one_constant_are_not_equal(program: Program) -> None:
    edit = Edit(program)
    old = edit.graphs[program.entry].output
    edit.output(program.entry, edit.call(program.entry, TABLE["add"], old, edit.constant(0.125)))
    assert edit.program != program


def test_dead_nodes_and_unreachable_graphs_are_printed_marked_and_not_compared() -> None:
    text = "program @f\n@f(%x):\n  %d = @g(%x)\n  return %x\n@g(%y):\n  return %y"
    program = read(text)
    assert "%d = @g(%x)  ; dead" in str(program)
    assert "@g(%y):  ; unreachable" in str(program)
    assert program == read("program @k\n@k(%a):\n  return %a")
    assert read(str(program)) == program


def test_clashing_names_get_numbers() -> None:
    edit = Edit(empty())
    f = edit.graph("f")
    x = edit.parameter(f, "x")
    nodes: list[NodeId] = [x]
    for _ in range(3):
        nodes.append(edit.apply(f, edit.constant(TABLE["sin"]), nodes[-1], name="x"))
    edit.output(f, nodes[-1])
    assert [names(edit.program)[n] for n in nodes] == ["%x", "%x.2", "%x.3", "%x.4"]
    assert describe(edit.program, nodes[1]) == "%x.2 = sin(%x)"


def test_signed_zeros_and_nan_are_told_apart_from_zero() -> None:
    programs = [read(f"program @f\n@f(%x):\n  return {c}") for c in ("0.0", "-0.0", "0", "nan", "False", "ZERO", "None")]
    assert len(set(programs)) == len(programs)
    assert "-0.0" in canonical(programs[1])


def test_numbers_read_as_reals_and_integers() -> None:
    program = read("program @f\n@f():\n  %t = make_tuple(1, 1.0, 1e3, -2, -inf, 1e-320)\n  return %t")
    output = program.graphs[program.entry].output
    assert [program.constant(n) for n in program.inputs(output)[1:]] == [1, 1.0, 1000.0, -2, -math.inf, 1e-320]


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("", "empty", 0),
        ("program f", "expected a graph", 1),
        ("program @f", "not defined", 1),
        ("program @f\n%a = sin(1.0)", "outside a graph", 2),
        ("program @f\n@f(%x):\n  return %y", "%y is not defined", 3),
        ("program @f\n@f(%x):\n  return @g", "@g is not defined", 3),
        ("program @f\n@f(%x):\n  %y = sine(%x)\n  return %y", "sine is not a primitive", 3),
        ("program @f\n@f(%x):\n  %y = sin(%x)", "returns nothing", 1),
        ("program @f\n@f(%x):\n  %x = sin(%x)\n  return %x", "defined twice", 3),
        ("program @f\n@f(%x):\n  return %x\n@f(%y):\n  return %y", "defined twice", 4),
        ("program @f\n@f(%x):\n  return %x %x", "unexpected %x", 3),
        ("program @f\n@f(%x):\n  %y = sin(%x\n  return %y", "expected ,", 3),
        ("program @f\n@f(%x: f32):\n  return %x", "not a type", 0),
        ("program @f\n@f(%x):\n  return $x", "cannot read", 3),
    ],
)
def test_what_is_no_program_is_refused_at_its_line(text: str, what: str, line: int) -> None:
    with pytest.raises(Malformed) as caught:
        read(text)
    assert what in str(caught.value)
    assert (caught.value.location.line if caught.value.location else 0) == line


def test_the_message_points_at_the_place() -> None:
    with pytest.raises(Malformed) as caught:
        read("program @f\n@f(%x):\n  %y = sine(%x)\n  return %y", file="demo.ir")
    assert str(caught.value).splitlines() == [
        "Malformed: sine is not a primitive",
        "  demo.ir:3",
        "    %y = sine(%x)",
        "         ^",
        "  try: see `adjudge about --primitives`",
    ]


def test_comments_and_blank_lines_do_not_count() -> None:
    assert read('program @f ; a "comment\n\n; alone\n@f(%x):  ; here\n  return "; not a comment"') == read(
        'program @f\n@f(%x):\n  return "; not a comment"'
    )


def test_a_variable_that_the_parser_named_is_read_when_it_is_unbound() -> None:
    """Regression, `reader.word`: names of the parser's own end in a quote, which a word could not."""
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], edit.constant(Unbound("acc'"))))
    assert read(str(edit.program)) == edit.program
