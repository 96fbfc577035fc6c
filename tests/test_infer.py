"""Inference: types before running are the types of what runs yield, and what it refuses names its node."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from backend_programs import PROGRAMS, samples
from hypothesis import event, given
from hypothesis import strategies as st

from semantics.columns.types import TYPES, apply_type
from semantics.edit import Edit, empty
from semantics.errors import IllTyped, OutOfFuel, Trap
from semantics.infer import infer
from semantics.machine import run
from semantics.primitives.row import Hole, row
from semantics.primitives.table import ROWS, TABLE
from semantics.signatures import Line, Signature, ancestors
from semantics.text import read
from semantics.type_language import BOOLEAN, INTEGER, REAL, UNIT, FunctionType, TupleType, type_of
from semantics.type_lattice import NEVER, UNBOUND, ZERO_TYPE, Literal, Union, erase, join, members, of_constant


def has_type(value: Any, type: Any) -> bool:
    """Whether the value is of the type, unions decided part by part."""
    for member in members(type):
        if isinstance(member, TupleType) and isinstance(value, tuple) and len(value) == len(member.items):
            if all(has_type(v, t) for v, t in zip(value, member.items, strict=True)):
                return True
        elif member == type_of(value):
            return True
    return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_run_yields_a_value_of_the_inferred_type(name: str) -> None:
    program = read(PROGRAMS[name])
    for literals in (True, False):
        result = infer(program, literals=literals).result
        for arguments in samples(name)[::7]:
            try:
                value = run(program, *arguments)
            except Trap:
                continue
            assert has_type(value, result), (arguments, value, str(result))


OPERATORS = "add sub mul div floordiv mod pow neg abs min max exp floor to_real to_boolean lt eq not_ make_tuple getitem length switch".split()  # noqa: E501, SIM905
CONSTANTS: list[Any] = [0, 2, -1, 1.5, True, 7]


@given(st.data())
def test_a_typed_straight_line_steps_or_traps(data: st.DataObject) -> None:
    """Progress and preservation on straight lines: accepted ones never stick, refused ones never return."""
    edit = Edit(empty())
    graph = edit.graph("f")
    nodes = [edit.parameter(graph, "x"), edit.parameter(graph, "n"), *map(edit.constant, CONSTANTS)]
    for _ in range(data.draw(st.integers(1, 5))):
        primitive = TABLE[data.draw(st.sampled_from(OPERATORS))]
        arity = 2 if primitive.parameters == ("*",) else len(primitive.signature)
        inputs = [data.draw(st.sampled_from(nodes)) for _ in range(arity)]
        nodes.append(edit.call(graph, primitive, *inputs))
    edit.output(graph, nodes[-1])
    arguments = (data.draw(st.sampled_from([0.0, -2.5, float("nan"), 3.0])), data.draw(st.integers(-3, 3)))
    try:
        result = infer(edit.program, [REAL, INTEGER]).result
    except IllTyped:
        event("refused")
        with pytest.raises((IllTyped, Trap)):
            run(edit.program, *arguments)
        return
    event("accepted")
    try:
        value = run(edit.program, *arguments)
    except Trap:
        return
    assert has_type(value, result)


def test_an_error_names_the_node_and_the_calls_that_lead_to_it() -> None:
    program = read("""program @f
@f(%x: f64):
  %t = make_tuple(%x, %x)
  %r = @g(%t)
  return %r
@g(%u):
  %v = mul(%u, 2.0)
  return %v
""")
    with pytest.raises(IllTyped) as caught:
        infer(program)
    assert caught.value.rule == "mul"
    assert caught.value.node == "%v = mul(%u, 2.0)"
    assert "%r = @g(%t)" in caught.value.what
    assert "tuple[f64, f64]" in caught.value.what


def test_an_ill_typed_branch_is_refused_unless_its_condition_rules_it_out() -> None:
    text = """program @f
@f(%x: f64):
  %c = CONDITION
  %t = switch(%c, @good, @bad)
  %r = %t()
  return %r
@good():
  return %x
@bad():
  %b = exp(True)
  return %b
"""
    with pytest.raises(IllTyped):
        infer(read(text.replace("CONDITION", "lt(%x, 0.0)")))
    assert infer(read(text.replace("%c = CONDITION\n", "").replace("%c", "True"))).result == REAL


def test_a_known_index_travels_through_a_call() -> None:
    program = read("""program @f
@f(%x: f64):
  %t = make_tuple(%x, 1)
  %a = @get(%t, 0)
  %b = @get(%t, 1)
  %r = make_tuple(%a, %b)
  return %r
@get(%u, %i):
  %v = getitem(%u, %i)
  return %v
""")
    assert infer(program).result == TupleType((REAL, INTEGER))
    assert infer(program, literals=False).result == TupleType((join(REAL, INTEGER),) * 2)


def test_recursion_is_typed_without_annotations_and_without_end_is_never() -> None:
    factorial = """program @f
@f(%n: i64):
  %c = le(%n, 1)
  %t = switch(%c, @one, @more)
  %r = %t()
  return %r
@one():
  return 1
@more():
  %m = sub(%n, 1)
  %k = @f(%m)
  %p = mul(%n, %k)
  return %p
"""
    assert infer(read(factorial)).result == INTEGER
    assert infer(read("program @f\n@f(%n: i64):\n  %r = @f(%n)\n  return %r\n")).result == NEVER


def test_closures_over_closures_without_end_are_out_of_fuel() -> None:
    program = read("""program @f
@f(%n: i64):
  %r = @loop(%n, @start)
  return %r
@start(%x):
  return %x
@loop(%i, %k):
  %c = gt(%i, 0)
  %t = switch(%c, @body, @done)
  %q = %t()
  return %q
@body():
  %j = sub(%i, 1)
  %z = @loop(%j, @next)
  return %z
@next(%y):
  %w = %k(%y)
  return %w
@done():
  %d = %k(1.0)
  return %d
""")
    with pytest.raises(OutOfFuel) as caught:
        infer(program)
    assert "@loop" in caught.value.what or "@next" in caught.value.what or "@body" in caught.value.what
    assert run(program, 3) == 1.0


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("add", (REAL, INTEGER), REAL),
        ("add", (INTEGER, INTEGER), INTEGER),
        ("add", (ZERO_TYPE, INTEGER), INTEGER),
        ("mul", (ZERO_TYPE, REAL), ZERO_TYPE),
        ("div", (INTEGER, INTEGER), REAL),
        ("pow", (INTEGER, Literal(INTEGER, 2)), INTEGER),
        ("pow", (INTEGER, Literal(INTEGER, -2)), REAL),
        ("pow", (INTEGER, INTEGER), join(REAL, INTEGER)),
        ("pow", (REAL, INTEGER), REAL),
        ("min", (INTEGER, REAL), join(REAL, INTEGER)),
        ("neg", (Literal(INTEGER, 3),), Literal(INTEGER, -3)),
        ("sin", (INTEGER,), REAL),
        ("length", (TupleType((REAL, REAL)),), Literal(INTEGER, 2)),
        ("getitem", (TupleType((REAL, INTEGER)), Literal(INTEGER, -1)), INTEGER),
        ("getitem", (TupleType((REAL, INTEGER)), Literal(INTEGER, 2)), NEVER),
        ("of_length", (TupleType((REAL,)), Literal(INTEGER, 2)), NEVER),
        ("gadd", (join(ZERO_TYPE, REAL), REAL), REAL),
        ("gadd", (TupleType((ZERO_TYPE, REAL)), TupleType((REAL, ZERO_TYPE))), TupleType((REAL, REAL))),
        ("inject", (TupleType((INTEGER, REAL)), Literal(INTEGER, 1), REAL), TupleType((ZERO_TYPE, REAL))),
        ("instantiate", (ZERO_TYPE, TupleType((REAL, INTEGER))), TupleType((REAL, UNIT))),
        ("instantiate", (ZERO_TYPE, FunctionType(3, (REAL, BOOLEAN))), TupleType((REAL, UNIT))),
        ("add", (UNBOUND, REAL), NEVER),
        ("switch", (Literal(BOOLEAN, True), REAL, BOOLEAN), REAL),
        ("switch", (BOOLEAN, REAL, BOOLEAN), join(REAL, BOOLEAN)),
    ],
)
def test_a_primitive_has_the_type_its_meaning_demands(name: str, arguments: tuple[Any, ...], wanted: Any) -> None:
    assert apply_type(TABLE[name], arguments) == wanted


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add", (BOOLEAN, REAL)),
        ("sin", (BOOLEAN,)),
        ("switch", (INTEGER, REAL, REAL)),
        ("getitem", (REAL, INTEGER)),
        ("getitem", (TupleType((REAL,)), REAL)),
        ("gadd", (TupleType((REAL,)), REAL)),
        ("seed", (INTEGER,)),
        ("not_", (REAL,)),
        ("range_length", (REAL, INTEGER, INTEGER)),
        ("J", (FunctionType(1),)),
        ("sin", (REAL, REAL)),
        ("grad", (FunctionType(1), INTEGER)),
    ],
)
def test_a_primitive_refuses_arguments_that_its_meaning_refuses(name: str, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(IllTyped):
        apply_type(TABLE[name], arguments)


def test_the_type_column_is_full_and_a_users_signature_serves() -> None:
    assert all(p.name in TYPES.cells for p in ROWS)
    assert [p.name for p in ROWS if isinstance(TYPES.cells[p.name], Hole)] == [
        "grad", "value_and_grad", "vjp", "jvp", "jacobian", "hessian", "hvp",
    ]  # fmt: skip
    own = row("softplus", "x", "real -> real")
    assert apply_type(own, [INTEGER]) == REAL
    with pytest.raises(IllTyped):
        apply_type(own, [BOOLEAN])


TYPES_POOL = st.recursive(
    st.sampled_from([REAL, INTEGER, BOOLEAN, ZERO_TYPE, NEVER, *map(of_constant, (1, 2, True))]),
    lambda inner: (
        st.lists(inner, max_size=2).map(lambda items: TupleType(tuple(items)))
        | st.lists(inner, min_size=1, max_size=1).map(lambda items: FunctionType(1, tuple(items)))
    ),
    max_leaves=4,
)


@given(TYPES_POOL, TYPES_POOL, TYPES_POOL)
def test_types_form_a_join_semilattice(a: Any, b: Any, c: Any) -> None:
    assert join(a, b) == join(b, a)
    assert join(a, a) == a
    assert join(join(a, b), c) == join(a, join(b, c))
    assert join(NEVER, a) == a
    assert erase(join(a, b)) == join(erase(a), erase(b))
    assert not any(isinstance(m, Union) for m in members(join(a, b)))


@pytest.mark.parametrize("length", [1, 7, 250])
def test_the_signatures_of_a_graph_on_a_line_of_calls_are_its_ancestors_of_that_graph(length: int) -> None:
    """Of so many calls, one from another, the nearest first, and none that is too far away."""
    signatures = [Signature(k % 3, (), (k,)) for k in range(length)]
    origin = {after: (before, 0) for before, after in pairwise(signatures)}
    line = Line()
    for signature in signatures:
        line = line.longer(signature)
        for graph in range(4):
            assert [*line.of(graph)] == [a for a in ancestors(origin, signature) if a.graph == graph]
