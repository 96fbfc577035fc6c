"""Records, lists and dictionaries on every target: what has a known shape is compiled, and gives what the reference gives."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from language import CASES, Case

import adjudge as aj
import backend
from adjudge.cli.crosscheck import SPECIAL, random_samples
from backend.crosscheck import inside
from backend.lowering import records, structure
from backend.running_error import Bounded, bounds
from checkers.columns.leaves import coordinates
from semantics.errors import IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.structured import LIST, Label, Record
from semantics.text import read
from semantics.type_language import RecordType, parse_type, type_of
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.nested_grad import expand

DATA = {c.name: c for c in CASES if c.file in ("data_records", "data_sequences")}
ENDLESS = ("built_tree",)  # a tree whose depth is an argument has no finite type; inference says so, but takes its time
ACCEPTED = [n for n in DATA if n not in ENDLESS]
NATIVE = ("operators_of_class", "tree_depth_weighted", "matrix_of_lists", "dictionary_in_a_loop")
SIMULATED = ("replaced_named", "dictionary")
STRAIGHT = (
    *("fields", "default_field", "by_position", "keyword_fields", "method_calls_method", "replaced", "replaced_named"),
    *("operators_of_class", "record_in_tuple", "captured_record", "tree_sum", "record_chosen", "dual_number_by_hand"),
    *("list_of_reals", "tuple_of_tuples", "tree_depth_weighted", "record_of_arrays", "dictionary_of_parameters"),
)


def expanded(case: Case) -> Program:
    return expand(case.program())


def gradient(case: Case) -> Program:
    by = tuple(dict.fromkeys(path[0] for path in coordinates(case.values())))
    return gradient_program(expanded(case), by, case.types())


def scaled(value: Any, factor: float) -> Any:
    """The value with every real multiplied."""
    if isinstance(value, Record):
        return Record(value.label, scaled(value.items, factor))
    if isinstance(value, tuple):
        return tuple(scaled(v, factor) for v in value)
    return value * factor if type(value) is float else value


def agrees(program: Program, case: Case, target: str) -> None:
    """Bit-equal to the reference at the program's own arguments, and at others of their types."""
    samples = [scaled(case.values(), factor) for factor in (1.0, -0.3, 7.0, float("inf"))]
    (found,) = backend.crosscheck(program, case.types(), samples, lambda *a: run(program, *a), [target])
    assert not found.skipped
    assert found.mismatches == ()
    assert found.bitwise == len(samples)


@pytest.mark.parametrize("name", ACCEPTED)
def test_the_generated_code_agrees_with_the_machine_bit_for_bit(name: str) -> None:
    agrees(expanded(DATA[name]), DATA[name], "python")


@pytest.mark.parametrize("name", STRAIGHT)
def test_so_do_the_gradients_of_programs_without_loops(name: str) -> None:
    agrees(gradient(DATA[name]), DATA[name], "python")


@pytest.mark.parametrize("name", NATIVE)
def test_so_does_native_code(name: str) -> None:
    agrees(expanded(DATA[name]), DATA[name], "cpu")


def test_so_does_a_native_gradient() -> None:
    agrees(gradient(DATA["method_calls_method"]), DATA["method_calls_method"], "cpu")


@pytest.mark.parametrize("name", SIMULATED)
def test_so_does_the_cuda_simulator(name: str) -> None:
    agrees(expanded(DATA[name]), DATA[name], "cuda-simulator")


# the rows, one by one, on p of a type and an integer n; the machine is the judge

LIST2, DICT2, TUPLE2, PAIR = "list[f64, f64]", 'dict["a": f64, "b": f64]', "tuple[f64, f64]", "namedtuple Pair[x: f64, y: f64]"
ROWS: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "an index known only when it runs": (LIST2, "%r = getitem(%p, %n)", (0, 1, -2, 2, -3)),
    "put where it is known only when it runs": (LIST2, "%r = put(%p, %n, 9.0)", (0, 1, -2, 2, -3)),
    "put in a NamedTuple": (PAIR, "%r = put(%p, -1, 9.0)", (0,)),
    "put of another kind of value": (LIST2, "%r = put(%p, %n, %n)", (0, 1)),
    "concat and append": (LIST2, "%q = make_tuple(%n)\n%s = concat(%p, %q)\n%r = append(%s, %n)", (4,)),
    "concat to a tuple": (LIST2, "%q = make_tuple(%n)\n%r = concat(%q, %p)", (4,)),
    "a slice backwards": (LIST2, "%i = make_slice(None, None, -1)\n%r = getitem(%p, %i)", (0,)),
    "a slice of a NamedTuple": (PAIR, "%i = make_slice(1, None, None)\n%r = getitem(%p, %i)", (0,)),
    "cleared": (TUPLE2, "%d = cleared(%p, %n)\n%r = instantiate(%d, %p)", (0, 1)),
    "cleared in a known place": (PAIR, "%d = cleared(%p, 1)\n%r = instantiate(%d, %p)", (0,)),
    "inject of a slice": (
        LIST2,
        "%i = make_slice(None, None, -1)\n%d = make_tuple(5.0, 6.0)\n%s = inject(%p, %i, %d)\n%r = instantiate(%s, %p)",
        (0,),
    ),
    "inject at a key": (DICT2, '%s = inject(%p, "b", 5.0)\n%r = instantiate(%s, %p)', (0,)),
    "gadd of a record and a tuple": (PAIR, "%q = make_tuple(1.0, 2.0)\n%s = gadd(%p, %q)\n%r = instantiate(%s, %p)", (0,)),
    "unlabelled": (LIST2, "%q = make_tuple(%p, %n)\n%r = unlabelled(%q)", (0,)),
    "a key": (DICT2, '%r = getitem(%p, "b")', (0,)),
    "a new key": (DICT2, '%r = with_field(%p, "c", %n)', (3,)),
    "an old key": (DICT2, '%r = with_field(%p, "a", %n)', (3,)),
    "has_field": (DICT2, '%a = has_field(%p, "a")\n%c = has_field(%p, "c")\n%r = make_tuple(%a, %c)', (0,)),
    "the place of a field": (PAIR, '%i = field_index(%p, "y")\n%r = getitem(%p, %i)', (0,)),
    "values and the number of keys": (DICT2, "%v = values_of(%p)\n%k = keys_of(%p)\n%m = length(%k)\n%r = append(%v, %m)", (0,)),
    "iterated": (
        DICT2,
        "%k = iterated(%p)\n%i = getitem(%k, 1)\n%j = place_in(%p, %i)\n%v = values_of(%p)\n%r = getitem(%v, %j)",
        (0,),
    ),
    "the truth of a dictionary": (DICT2, "%r = to_boolean(%p)", (0,)),
    "a field of one class or a trap": (
        PAIR,
        "%t = make_record(label(list), 1.0)\n%c = gt(%n, 0)\n%u = switch(%c, %p, %t)\n"
        '%v = of_class(%u, label(namedtuple Pair: x, y))\n%r = field(%v, "x")',
        (1, 0),
    ),
    "isinstance of one of two": (
        PAIR,
        '%c = gt(%n, 0)\n%u = switch(%c, %p, 2.0)\n%r = is_instance(%u, "float")',
        (1, 0),
    ),
}


def row(type: str, equations: str) -> Program:
    body = "\n".join(f"  {line}" for line in equations.split("\n"))
    return read(f"program @f\n@f(%p: {type}, %n: i64):\n{body}\n  return %r")


def of_type(type: str) -> Any:
    found = parse_type(type)
    return Record(found.label, (1.5, -0.0)) if isinstance(found, RecordType) else (1.5, -0.0)


@pytest.mark.parametrize("name", ROWS)
def test_each_row_of_data_agrees_with_the_machine(name: str) -> None:
    type, equations, numbers = ROWS[name]
    program = row(type, equations)
    for optimize in (True, False):
        compiled = backend.compile(program, None, "python", optimize=optimize)
        for n in numbers:
            try:
                wanted = run(program, of_type(type), n)
            except Trap:
                with pytest.raises(Trap):
                    compiled(of_type(type), n)
                continue
            assert same(compiled(of_type(type), n), wanted)


# the face


class Point(NamedTuple):
    x: float
    y: float

    def norm2(self):
        return self.x * self.x + self.y * self.y


@dataclass(frozen=True)
class Body:
    at: Point
    mass: float

    def energy(self):
        assert self.mass > 0.0, "a mass is positive"
        return self.mass * self.at.norm2()


def moved(body, by):
    return replace(body, at=Point(body.at.x + by[0], body.at.y + by[-1])), {"energy": body.energy(), "by": by}


def energy(body):
    return body.energy()


BODY = Body(Point(0.5, -2.0), 3.0)


def test_records_come_back_as_instances_of_their_classes() -> None:
    for target in ("python", "cpu"):
        assert aj.compile(moved, target)(BODY, [1.0, 0.25]) == moved(BODY, [1.0, 0.25])
        assert aj.grad(energy, target=target)(BODY) == Body(Point(3.0, -12.0), 4.25)
        with pytest.raises(Trap, match=r"(?i)assertion"):
            aj.compile(energy, target)(Body(Point(0.5, -2.0), -1.0))


def local_point() -> Any:
    class Local(NamedTuple):
        x: float
        y: float

    return Local


def test_what_is_remembered_by_the_text_of_a_program_is_of_no_class() -> None:
    """Classes of one name and with the same fields each get back their own, even such as no other process could find again."""
    one, other = local_point(), local_point()

    def product(p):
        return p.x * p.y

    both = aj.compile(aj.grad(product), "python")
    for function in (both, aj.grad(product), aj.compile(aj.grad(product)), aj.compile(aj.grad(product))):
        for _ in range(2):
            for of in (one, other):
                found = function(of(2.0, 3.0))
                assert type(found) is of
                assert tuple(found) == (3.0, 2.0)


def test_an_argument_of_another_class_or_length_is_refused() -> None:
    compiled = backend.compile(row(LIST2, "%r = getitem(%p, %n)"), None, "python")
    for wrong in ((1.0, 2.0), Record(LIST, (1.0,)), Record(Label("dict", "", ("a", "b")), (1.0, 2.0))):
        with pytest.raises(IllTyped, match="wants list"):
            compiled(wrong, 0)


def test_a_choice_between_lists_of_two_lengths_is_refused() -> None:
    equations = "%q = append(%p, 1.0)\n%c = gt(%n, 0)\n%s = switch(%c, %p, %q)\n%r = length(%s)"
    with pytest.raises(Malformed, match="unknown length"):
        backend.compile(row(LIST2, equations), None, "python")


def test_only_a_run_that_needs_an_array_is_refused() -> None:
    """A class whose method makes an array is no reason, if no argument is of that class: the methods are chosen by the types."""
    assert "matmul" in str(DATA["record_of_functions"].program())
    agrees(expanded(DATA["record_of_functions"]), DATA["record_of_functions"], "python")


def test_the_running_error_reaches_into_records() -> None:
    program = row(LIST2, "%a = getitem(%p, 0)\n%b = exp(%a)\n%r = put(%p, 1, %b)")
    found = bounds(program, [of_type(LIST2), 0])
    wanted = run(program, of_type(LIST2), 0)
    exact, inexact = found.items
    assert isinstance(exact, Bounded)
    assert exact.bound == 0.0 < inexact.bound
    assert inside(found, wanted)
    assert inside(found, Record(LIST, (1.5, wanted.items[1] + inexact.bound / 2)))
    assert not inside(found, Record(LIST, (1.5 + 2.0**-52, wanted.items[1])))
    assert not inside(found, wanted.items)


def swapped(emit: Any, r: Any, name: Any) -> Any:
    """field, with the last field for the first."""
    place = records.field_index(emit, r, name)
    return None if place is None else r.items[len(r.items) - 1 - place.value]


def merged(emit: Any, r: Any, name: Any, value: Any) -> Any:
    """with_field that puts the value in every place."""
    return replace(r, items=(value,) * len(r.items))


@pytest.mark.parametrize(("name", "bug", "seen_by"), [("field", swapped, "replaced_named"), ("with_field", merged, "replaced")])
def test_a_planted_bug_is_found(monkeypatch: pytest.MonkeyPatch, name: str, bug: Any, seen_by: str) -> None:
    monkeypatch.setitem(structure.STRUCTURAL, name, bug)
    case = DATA[seen_by]
    program = read(str(expanded(case)))
    compiled = backend.compile(program, case.types(), "python", optimize=False)
    assert not same(compiled(*case.values()), run(program, *case.values()))


# the command

HERE = Path(__file__).resolve().parent
EXAMPLE, LANGUAGE = HERE.parent / "examples" / "records.py", HERE / "language" / "data_sequences.py"


@pytest.mark.parametrize(
    "words",
    [
        (f"{LANGUAGE}:matrix_of_lists", "[[0.5, -2.0], [3.0, 1.0]]"),
        (f"{EXAMPLE}:fold", "Branch(Leaf(2.0), Branch(Leaf(3.0), Leaf(5.0), 0.5), 1.5)", "--grad", "tree"),
    ],
)
def test_crosscheck_samples_arguments_like_the_example(adjudge: Any, words: tuple[str, ...]) -> None:
    code, out, _ = adjudge("crosscheck", *words, "--samples", "5", "--quick", "--json")
    assert code == 0
    found = {t["target"]: t for t in json.loads(out)["targets"]}
    for target in ("python", "cpu"):
        assert found[target]["samples"] == 1 + len(SPECIAL) + 5
        assert found[target]["bitwise"] == found[target]["samples"]


def test_crosscheck_asks_for_an_example_where_no_type_is_declared(adjudge: Any) -> None:
    code, _, error = adjudge("crosscheck", f"{EXAMPLE}:walk", "--quick")
    assert code == 2
    assert "give an example of the arguments" in error


def test_the_special_reals_are_put_everywhere_in_a_sample() -> None:
    type = parse_type('dict["a": f64, "b": tuple[i64, list[f64]]]')
    samples = random_samples((type,), 2, 0)
    for special, (sample,) in zip(SPECIAL, samples, strict=False):
        assert same(sample.items[0], special)
        assert same(sample.items[1][1], Record(LIST, (special,)))
        assert isinstance(sample.items[1][0], int)
    assert len(samples) == len(SPECIAL) + 2
    assert all(type_of(sample) == type for (sample,) in samples)
    assert len(random_samples((parse_type("list[i64]"),), 2, 0)) == 2
