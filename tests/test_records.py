"""
Records, lists and dictionaries as values: their rows, their types, their text, and the boundary in both directions.

The gradient of a record is a record; it is compared with forward mode and with the reversal of the trace, exactly on fractions.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import pytest

import adjudge as aj
from adjudge.cli.arguments import argument
from adjudge.values import to_value
from checkers import forward_mode, trace_reversal
from checkers.properties.agreement import differ
from semantics.arrays import Array
from semantics.columns.meaning import MEANING
from semantics.columns.types import apply_type
from semantics.denotation import FRACTIONS, denote, over_leaves
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError, IllTyped, Malformed, Trap
from semantics.infer import infer
from semantics.primitives.table import TABLE
from semantics.structured import ELLIPSIS, LIST, Label, Record, Slice
from semantics.tangents import ZERO, dense
from semantics.text import read
from semantics.type_language import BOOLEAN, INTEGER, REAL, RecordType, SequenceType, TupleType, parse_type, tangent, type_of
from semantics.type_lattice import NEVER, erase, join, members, of_constant
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand
from transforms.parse import parse, parse_text

POINT = Label("dataclass", "Point", ("x", "y"))
PAIR = Label("namedtuple", "Pair", ("x", "y"))
DICT = Label("dict", "", ("x", "a b"))
VALUES: tuple[Any, ...] = (
    *(Record(POINT, (1.5, 2)), Record(PAIR, (1.5, True)), Record(DICT, (1.5, None)), Record(LIST, (1.5, 2.5, 3))),
    *(Record(LIST, ()), (1.5, 2), (), 1.5, 2, True, None, Record(POINT, ((1.0,), Record(LIST, (2.0,))))),
)


class Pair(NamedTuple):
    x: float
    y: float = 2.0


@dataclasses.dataclass(frozen=True)
class Point:
    x: float
    y: Any

    def inner(self, other: Point) -> Any:
        return self.x * other.x + self.y * other.y


# rows


def outcome(name: str, arguments: tuple[Any, ...]) -> Any:
    try:
        return MEANING[TABLE[name]](*arguments)
    except AdjudgeError as error:
        return error


def typed(name: str, arguments: tuple[Any, ...]) -> Any:
    try:
        return apply_type(TABLE[name], [of_constant(a) for a in arguments])
    except AdjudgeError as error:
        return error


NAMES = ("x", "y", "a b", "missing")
SLICES = (Slice(0, 1, None), Slice(None, None, -1), Slice(1, None, None), Slice(5, 9, 2))
APPLICATIONS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "field": (VALUES, NAMES),
    "field_index": (VALUES, NAMES),
    "has_field": (VALUES, NAMES),
    "with_field": (VALUES, NAMES, (0.5, (1.0,))),
    "of_class": (VALUES, (POINT, PAIR, DICT)),
    "is_instance": (VALUES, (POINT, PAIR, "float", "int|tuple", "list", (POINT, "float"), "NoneType")),
    "getitem": (VALUES, (0, -1, 1, 7, *SLICES, *NAMES)),
    "keys_of": (VALUES,),
    "values_of": (VALUES,),
    "iterated": (VALUES,),
    "place_in": (VALUES, (0, -1, *NAMES)),
    "eq": (NAMES, NAMES),
    "ne": (NAMES, NAMES),
    "length": (VALUES,),
    "of_length": (VALUES, (0, 2, 3)),
    "concat": (VALUES, VALUES),
    "append": (VALUES, (0.5, None)),
    "unlabelled": (VALUES,),
    "inject": ((*VALUES[:4], (1.5, 2)), (0, 1, -1), (0.5,)),
    "make_slice": ((0, 1, None, 1.5), (2, None), (1, -1, 0, None)),
}


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_type_of_a_row_is_that_of_its_value_and_what_is_refused_fails(name: str) -> None:
    """Progress and preservation, for every combination of these values: known parts make the types exact."""
    judged = 0
    for arguments in product(*APPLICATIONS[name]):
        value, found = outcome(name, arguments), typed(name, arguments)
        if isinstance(found, AdjudgeError):
            assert isinstance(value, AdjudgeError), (arguments, found, value)
        elif isinstance(value, IllTyped):
            raise AssertionError(f"{name}{arguments} is typed {found}, but {value}")
        elif isinstance(value, Trap):
            assert found == NEVER, (arguments, found)
        else:
            assert erase(found) == erase(of_constant(dense(value))), (arguments, str(found), value)
            judged += 1
    assert judged > 0


def test_a_row_takes_what_it_names_and_nothing_else() -> None:
    point = VALUES[0]
    assert MEANING[TABLE["field"]](point, "y") == 2
    assert same(MEANING[TABLE["with_field"]](point, "y", 3), Record(POINT, (1.5, 3)))
    grown = MEANING[TABLE["with_field"]](VALUES[2], "new", 3)
    assert same(grown, Record(Label("dict", "", ("x", "a b", "new")), (1.5, None, 3)))
    assert isinstance(outcome("with_field", (point, "new", 3)), Trap)
    assert isinstance(outcome("make_record", ("Point", 1.0)), IllTyped)
    assert not MEANING[TABLE["is_instance"]](Record(Label("dataclass", "Point", ("x",)), (1.0,)), POINT)


def test_a_dictionary_is_gone_over_by_its_keys_and_anything_else_by_its_elements() -> None:
    iterated, values = MEANING[TABLE["iterated"]], MEANING[TABLE["values_of"]]
    assert iterated(Record(DICT, (1.5, None))) == ("x", "a b")
    assert same(iterated(VALUES[3]), VALUES[3])
    assert values(Record(DICT, (1.5, None))) == (1.5, None)
    assert isinstance(outcome("values_of", (VALUES[3],)), IllTyped)
    assert same(MEANING[TABLE["inject"]](Record(DICT, (1.5, 2.5)), "a b", 4.0), (ZERO, 4.0))
    assert isinstance(outcome("getitem", (Record(DICT, (1.5, 2.5)), "missing")), Trap)


def test_a_sensitivity_is_cleared_in_one_place() -> None:
    cleared = MEANING[TABLE["cleared"]]
    assert cleared((1.0, 2.0), 1) == (1.0, ZERO)
    assert cleared(ZERO, 0) is ZERO
    sparse = MEANING[TABLE["inject"]]((1.0, 2.0), 1, 5.0)
    assert same(cleared(sparse, 1), (ZERO, ZERO))
    assert cleared(sparse, 0) is sparse
    assert apply_type(TABLE["cleared"], [TupleType((REAL, REAL)), of_constant(1)]) == TupleType((REAL, of_constant(ZERO)))


def test_labels_go_where_sensitivities_come_in() -> None:
    nested = Record(POINT, (1.0, (Record(LIST, (2.0,)), 3.0)))
    assert MEANING[TABLE["unlabelled"]](nested) == (1.0, ((2.0,), 3.0))


# types and text


def test_a_type_is_printed_and_read() -> None:
    for value in VALUES:
        assert parse_type(str(type_of(value))) == type_of(value)
    assert str(type_of(VALUES[0])) == "dataclass Point[x: f64, y: i64]"
    assert str(type_of(VALUES[2])) == 'dict["x": f64, "a b": unit]'
    assert str(tangent(type_of(VALUES[0]))) == "dataclass Point[x: f64, y: unit]"
    for text in ("dict[f64]", "dataclass Point[x]", "record[f64]", "list[f64"):
        with pytest.raises(Malformed):
            parse_type(text)


def test_records_of_one_label_and_length_join_item_by_item() -> None:
    a, b = RecordType(LIST, (REAL,)), RecordType(LIST, (INTEGER,))
    assert join(a, b) == RecordType(LIST, (join(REAL, INTEGER),))
    assert join(a, RecordType(LIST, (REAL, REAL))) == SequenceType(LIST, REAL)
    assert len(members(join(a, TupleType((REAL,))))) == 2
    assert len(members(join(RecordType(POINT, (REAL, REAL)), RecordType(PAIR, (REAL, REAL))))) == 2


CONSTANTS = (
    *VALUES,
    Array("f64", (2, 1), (1.0, -0.0)),
    Array("bool", (0,), ()),
    Slice(None, 3, -1),
    ELLIPSIS,
    POINT,
    DICT,
    LIST,
    ("x", (1,)),
)


def test_the_text_of_a_constant_reads_back() -> None:
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.parameter(graph, "p", type_of(VALUES[2]))
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], *map(edit.constant, CONSTANTS)))
    program = edit.program
    assert read(str(program)) == program
    for wrong in ("slice(1, 2)", "record(1)", "f64[2](1.0)", "f64[1.5](1.0)", "label(1)", "(1, 2"):
        with pytest.raises(Malformed):
            read(f"program @f\n\n@f():\n  return {wrong}")


def test_a_program_of_records_is_inferred() -> None:
    text = "from typing import NamedTuple\nclass P(NamedTuple):\n x: float\n def double(self): return P(self.x * 2.0)\n"
    body = "def g(p): return p.double()\ndef f(x): return [g(P(x)), P(1)]"
    found = infer(parse_text(text + body, "f", names={}), [REAL])
    assert str(found.result) == "list[namedtuple P[x: f64], namedtuple P[x: i64]]"
    chosen = infer(parse_text(text + "def f(x): return isinstance(P(x), P)", "f", names={}), [REAL])
    assert chosen.result == BOOLEAN
    with pytest.raises(IllTyped, match="wants a record"):
        infer(parse_text(text + "def g(p): return p.x\ndef f(x): return g(x)", "f", names={}), [REAL])


# the boundary


def _with_key(d: Any) -> Any:
    e = {"a": d["a"]}
    e["b"] = d["a"] * d["a"]
    return e["a"] * e["b"]


CASES: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "NamedTuple": (lambda p: p.x * p.x * p.y, (Pair(2.0, 3.0),), Pair(12.0, 4.0)),
    "dataclass": (lambda p: p.x * p.y, (Point(2.0, 3.0),), Point(3.0, 2.0)),
    "dataclass with an integer": (lambda p: p.x * p.x * p.y, (Point(2.0, 3),), Point(12.0, None)),
    "list": (lambda xs: xs[0] * xs[1] + sum(xs), ([2.0, 3.0, 4.0],), [4.0, 3.0, 1.0]),
    "empty list beside": (lambda xs: xs[0] * xs[0] + len(xs[1]), ([2.0, []],), [4.0, []]),
    "dictionary": (lambda d: d["a"] * d["b"], ({"b": 3.0, "a": 2.0},), {"b": 2.0, "a": 3.0}),
    "list of records": (lambda ps: ps[0].x * ps[1].y, ([Pair(2.0, 3.0), Pair(4.0, 5.0)],), [Pair(5.0, 0.0), Pair(0.0, 2.0)]),
    "record of records": (lambda p: p.x.y * p.y[0], (Point(Pair(2.0, 3.0), (5.0,)),), Point(Pair(0.0, 5.0), (3.0,))),
    "method": (lambda p: p.inner(p) + 0.0, (Point(2.0, 3.0),), Point(4.0, 6.0)),
    "dictionary of lists": (lambda d: d["w"][1] * d["b"], ({"w": [2.0, 3.0], "b": 4.0},), {"w": [0.0, 4.0], "b": 3.0}),
    "replaced": (lambda p: p._replace(x=p.y * p.y).x * p.x, (Pair(2.0, 3.0),), Pair(9.0, 12.0)),
    "a new key": (_with_key, ({"a": 3.0},), {"a": 27.0}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_gradient_has_the_structure_of_its_argument(case: str) -> None:
    f, arguments, wanted = CASES[case]
    assert aj.run(f, *arguments) == f(*arguments)
    found = aj.grad(f)(*arguments)
    assert found == wanted
    assert type(found) is type(arguments[0])
    value, also = aj.value_and_grad(f)(*arguments)
    assert (value, also) == (f(*arguments), wanted)


@pytest.mark.parametrize("case", CASES)
def test_the_gradient_is_that_of_forward_mode_and_of_the_reversed_trace(case: str) -> None:
    f, arguments, _ = CASES[case]
    program = parse(f)
    primals = tuple(over_leaves(lambda x: Fraction(x) if isinstance(x, float) else x, to_value(a)) for a in arguments)
    found = denote(gradient_program(program), primals, FRACTIONS)
    assert differ(found, forward_mode.gradient(program, primals, FRACTIONS)[0]) is None
    assert differ(found, trace_reversal.gradient(program, primals, FRACTIONS)[0]) is None


def test_second_order_through_fields_is_forward_over_reverse() -> None:
    def f(p: Point) -> Any:
        return p.x * p.x * p.y * p.inner(p)

    def slope(p: Point) -> Any:
        g = aj.grad(f)(p)
        return g.x + 2.0 * g.y

    point = Point(1.5, -0.5)
    found = aj.grad(slope)(point)
    x, y = Fraction(3, 2), Fraction(-1, 2)
    # f = x⁴y + x²y³; the gradient of f_x + 2 f_y
    f_xx, f_xy, f_yy = 12 * x * x * y + 2 * y**3, 4 * x**3 + 6 * x * y * y, 6 * x * x * y
    assert found == Point(float(f_xx + 2 * f_xy), float(f_xy + 2 * f_yy))


def test_a_vjp_takes_and_gives_records() -> None:
    def f(p: Point, d: Any) -> Any:
        return Point(p.x * d["k"], [p.y, d["k"]])

    value, pullback = aj.vjp(f, Point(2.0, 3.0), {"k": 4.0})
    assert value == Point(8.0, [3.0, 4.0])
    assert pullback(Point(1.0, [10.0, 100.0])) == (Point(4.0, 10.0), {"k": 102.0})
    for wrong in (Pair(1.0, 2.0), (1.0, [1.0, 2.0]), Point(1.0, (1.0, 2.0)), Point(1.0, [1.0]), {"x": 1.0, "y": [1.0, 2.0]}):
        with pytest.raises(IllTyped):
            pullback(wrong)


def test_a_jvp_takes_and_gives_records() -> None:
    def f(p: Point) -> Any:
        return {"s": p.x * p.y, "t": Pair(p.x * p.x)}

    value, change = aj.jvp(f, (Point(2.0, 3.0),), (Point(1.0, 10.0),))
    assert value == {"s": 6.0, "t": Pair(4.0, 2.0)}
    assert change == {"s": 23.0, "t": Pair(4.0, 0.0)}


def test_derivatives_inside_a_program_take_and_give_records() -> None:
    def inside(x: float) -> Any:
        out, pullback = aj.vjp(lambda p: Point(p.x * p.x, {"a": p.y}), Point(x, 2.0))
        (d,) = pullback(Point(3.0, {"a": x}))
        _, change = aj.jvp(lambda p: p.x * p.y, (Point(x, x),), (Point(1.0, 0.0),))
        return d.x + d.y * change + out.x

    x = Fraction(3, 2)
    program = parse(inside)
    assert denote(expand(program), (x,), FRACTIONS) == 6 * x + x * x + x * x
    assert denote(gradient_program(program), (x,), FRACTIONS) == 6 + 4 * x


def test_what_the_boundary_refuses() -> None:
    @dataclasses.dataclass(frozen=True)
    class Inherited(Point):
        z: float = 0.0

    for bad in ({1: 2.0}, {"a": "text"}, Inherited(1.0, 2.0), {1.0}):
        with pytest.raises(IllTyped) as raised:
            aj.run(lambda v: v, bad)
        assert raised.value.remedy
    with pytest.raises(AdjudgeError):
        aj.hessian(lambda p: p.x * p.x)(Pair(1.0))


def test_near_miss_of_the_hessian_of_a_record_there_are_products() -> None:
    assert aj.hvp(lambda p: p.x * p.x)(Pair(1.0), Pair(1.0)) == Pair(2.0, 0.0)


@pytest.mark.parametrize("case", [c for c in CASES if c != "a new key"])
def test_the_image_of_j_has_the_type_of_the_argument(case: str) -> None:
    """But where a loop hands on closures, as in a sum, whose types have no end."""
    f, arguments, _ = CASES[case]
    types = [type_of(to_value(a)) for a in arguments]
    if case == "list":
        with pytest.raises(AdjudgeError):
            infer(gradient_program(parse(f), 0, types), types)
        return
    assert infer(gradient_program(parse(f), 0, types), types).result == tangent(types[0])


def test_the_command_line_reads_lists_dictionaries_and_arrays() -> None:
    assert same(argument('[1.0, {"a b": (2, None)}]'), to_value([1.0, {"a b": (2, None)}]))
    assert same(argument("np.array([[1.0, 2.0]])"), Array("f64", (1, 2), (1.0, 2.0)))
    for wrong in ("{1.0}", "{1: 2.0}", "[print]", "array('text')"):
        with pytest.raises(AdjudgeError):
            argument(wrong)
