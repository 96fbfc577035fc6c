"""The programs of `bench` mean the same by hand: their gradients at the least sizes, by the reference and as written."""

from importlib import import_module

import numpy as np
import pytest
from typer.testing import CliRunner

import adjudge as aj
from bench import __main__ as command
from bench import array_gradients, compiling, first, gradbench_table, gradients, lists, papers, scaling
from bench.by_hand import FAMILIES
from bench.comparison import Comparison, line
from bench.gradbench_by_hand import BY_HAND
from bench.measure import named
from transforms.parse import parse_text

SMALL = {
    "logsumexp of an array": (4,),
    "logistic regression on arrays": (3, 2),
    "MLP 784-32-10": (1,),
    "GMM": (2, 3, 2),
    "BA on arrays": (2,),
    "BA by samples": (2,),
    "RNN on arrays": (3, 2),
    "LSTM": (2,),
    "Brusselator by index": (4, 2),
    "recursive tree": (4,),
    "layer by index": (3, 2),
    "Huber's loss by index": (5,),
    "product by index": (3,),
    **dict.fromkeys(lists.FAMILIES, (5,)),
    "list of arrays": (3, 2),
}


@pytest.mark.parametrize("name", array_gradients.FAMILIES)
def test_the_gradients_by_hand_are_gradients(name):
    family = array_gradients.FAMILIES[name]
    given = family.given(*SMALL[name])
    if family.sample:
        found = aj.vmap(parse_text(family.sample, family.derivative), target="reference")(*given)
    elif family.derivative:
        found = aj.run(parse_text(family.text, family.derivative), *given)
    else:
        found = aj.grad(parse_text(family.text, "f"), family.wrt)(*given)
    array_gradients.refuse_another_derivative(name, found, family.hand(*given))


@pytest.mark.parametrize("name", FAMILIES)
def test_the_derivatives_by_hand_are_derivatives(name):
    family = FAMILIES[name]
    given = (*family.arguments, *family.turns[:1])
    gradients.refuse_another_derivative(name, aj.grad(parse_text(family.text, "f"))(*given), family.hand(*given))


@pytest.mark.parametrize("module", BY_HAND)
@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_derivatives_of_gradbench_by_hand_are_derivatives(module, size):
    program = import_module(f"bench.gradbench_programs.{module}")
    function = list(program.FUNCTIONS.values())[1]
    given = function.read(program.sample(size))
    found = aj.run(function.program, *given) if module == "kmeans" else function.program(*given)
    array_gradients.refuse_another_derivative(module, (found,), (BY_HAND[module](*given),))


def test_a_row_of_gradbench_has_what_there_is_to_compare_with():
    assert gradbench_table.row("det", (1.0, 2e-6), (3.0, 5e-6), 1e-5, 2e-6).ratio == "2.5, JAX 0.5, by hand 2.5"
    assert gradbench_table.row("lse", (1.0, 2e-6), (3.0, 5e-6), "").ratio == "2.5"


@pytest.mark.parametrize("name", ["GMM", "recursive tree"])
def test_another_derivative_is_refused(name):
    family = array_gradients.FAMILIES[name]
    given = family.given(*SMALL[name])
    found = family.hand(*given)
    parts = found if isinstance(found, tuple) else (found,)
    wrong = (*parts[:-1], parts[-1] * (1.0 + 2.0**-25))
    with pytest.raises(ValueError, match=name):
        array_gradients.refuse_another_derivative(name, wrong, parts)


def test_a_missed_target_is_named_and_a_met_one_is_not():
    others = {"by hand": (1.3, 1.0), "forward pass": (2.9, 1.0), "JAX": (1.01, 1.0), "torch": (0.99, 1.0), "autograd": "no loops"}
    assert Comparison("pow, 3", "A", "", (1.0, 1.0), others).missed() == ("by hand", "JAX")
    assert Comparison("MLP, 3", "A", "", (1.0, 1.0), others).missed() == ("JAX",)
    assert Comparison("GMM, 3", "A", "", (1.0, 1.0), others).missed() == ("by hand",)
    assert Comparison("Jacobian", "A", "", (1.0, 1.0), {"forward pass": (32.0, 1.0)}).missed() == ()
    assert "**1.3**" in line(Comparison("pow, 3", "A", "", (1.0, 1.0), others))
    assert [row.against for row in Comparison("pow", "A", "", (1.0, 1.0), others).rows()][-1] == "autograd cannot: no loops"


@pytest.mark.parametrize(("power", "faster"), [(1, False), (2, True)])
def test_a_cost_that_grows_faster_than_the_input_is_named(monkeypatch, power, faster):
    monkeypatch.setattr(scaling, "_one_call", lambda function, given: 1e-9 * given[0] ** power)
    scaled = scaling.Scaled("turns", scaling.DECADES, lambda n: (n,), lambda given: array_gradients.Ours(lambda n: n, "A"))
    last = list(scaling._sizes("f", scaled))[-1]
    assert ("grows faster" in last.ratio or last.value == "not run") is faster


def test_every_scaled_program_has_arguments_at_every_size_that_differ_in_it():
    for scaled in scaling.programs().values():
        assert scaled.sizes[-1] >= 10**4 * scaled.sizes[0] or scaled.sizes == (8, 64, 512, 4096, 32768)
        assert len(scaled.given(scaled.sizes[0])) == len(scaled.given(scaled.sizes[1]))


def test_every_program_whose_first_gradient_is_measured_has_the_function_that_is_called():
    for name, (text, wrt, given) in first.programs().items():
        program = parse_text(text, wrt if isinstance(wrt, str) else "f")
        assert len(program.graphs[program.entry].parameters) == len(given), name


def test_the_tables_of_the_papers_name_what_ours_are_put_beside():
    assert papers.with_closures(1.5, 7) == 7 * 1.5**6, "exact in double precision"
    assert set(papers.TABLE_3) < set(papers.ways())


def test_help_names_every_table_and_measures_nothing():
    done = CliRunner().invoke(command.app, ["gradients", "--help"], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert all(f"{name}: {command.what(name)[:40]}" in done.output for name in command.TABLES)


@pytest.mark.parametrize("given", [["nosuch"], ["machine", "--only", "pow"], ["gradients", "--only", "no such program"]])
def test_what_there_is_no_row_of_is_bad_input(given):
    assert CliRunner().invoke(command.app, given).exit_code == 2


def test_a_part_of_the_name_chooses_programs():
    assert list(named(FAMILIES, "POW")) == ["pow"]
    assert named(FAMILIES, "") == FAMILIES
    assert named(FAMILIES, "power") == {}


@pytest.mark.parametrize("table", command.OF_PROGRAMS)
def test_tables_of_programs_can_be_asked_for_one(table):
    assert list(command.TABLES[table].rows("no such program")) == []


def test_a_line_that_takes_its_length_squared_grows_faster_and_one_that_takes_it_twice_over_does_not():
    assert compiling.grown((10, 1.0), 100, 100.0) == "10.00, grows faster"
    assert compiling.grown((10, 1.0), 100, 20.0) == "2.00"
    assert compiling.grown(None, 10, 1.0) == ""


@pytest.mark.parametrize("name", compiling.KINDS)
def test_every_statement_of_a_straight_line_needs_the_one_before(name):
    forms, kind, _ = compiling.KINDS[name]
    text = compiling.straight(forms, 7, compiling.whole_of(kind))
    for k in range(7):
        (statement,) = [line for line in text.splitlines() if line.startswith(f"    x{k + 1} = ")]
        assert f"x{k}" in statement
    assert len(parse_text(text, "f", names={"np": np}).graphs) == 1
