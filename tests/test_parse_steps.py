"""
Parsing as a system of small steps, the shape of the programs it makes, and live functions.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import event, given
from mutation_programs import MUTATIONS
from test_parse_calls_star import PROGRAMS as CALLS
from test_parse_classes import PROGRAMS as CLASSES
from test_parse_forms import FORMS
from test_parse_sequences import PROGRAMS as SEQUENCES

import adjudge as aj
from checkers.generators import sources
from semantics.derivation import replay, why_not
from semantics.errors import Malformed, Trap
from semantics.ir import GraphRef, Parameter, Program
from semantics.machine import run
from semantics.primitives.row import row
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.text import read
from semantics.type_language import BOOLEAN, INTEGER, REAL
from semantics.values import same
from semantics.wellformed import check
from transforms.parse import SYSTEM, defaults_of, functions_in, initial, initial_text, parse, parse_file, parse_text

# steps


@functools.cache
def coverage() -> Counter[str]:
    """How often each rule fires over all forms, each parsed one step at a time: at each step exactly one rule is enabled."""
    fired: Counter[str] = Counter()
    forms = (text for text, _ in FORMS.values())
    for source in (*forms, *SEQUENCES.values(), *CALLS.values(), *CLASSES.values(), *MUTATIONS.values(), INDICES):
        fired += SYSTEM.derive(initial_text(source, "f", names={})).coverage()
    fired += SYSTEM.derive(initial(uses_globals)).coverage()
    text = "from adjudge import grad\ndef f(x): return grad(sign)(x) + sign(x)"
    fired += SYSTEM.derive(initial_text(text, "f", names={"sign": TABLE["sign"]})).coverage()
    return fired


INDICES = "def f(x): return ~x[1, :, None, ..., ::2]"
RAISING = {"use_refused", "call_module", "generator", "walk_filtered"}


def test_every_rule_fires_and_no_two_at_once() -> None:
    assert {rule.name for rule in SYSTEM.rules} - set(coverage()) == RAISING
    assert len({rule.name for rule in SYSTEM.rules}) == len(SYSTEM.rules)


@pytest.mark.parametrize("form", FORMS)
def test_recorded_and_unrecorded_runs_give_the_same_program(form: str) -> None:
    source, _ = FORMS[form]
    derivation = SYSTEM.derive(initial_text(source, "f", names={}))
    assert str(derivation.result.program) == str(parse_text(source, "f", names={}))


def test_a_saved_derivation_replays_and_a_changed_one_does_not() -> None:
    start = initial_text("def f(x):\n    y = x + 1 if x > 0 else 2\n    return y", "f")
    record = SYSTEM.derive(start).to_json()
    assert len(replay(SYSTEM, start, record)) == len(SYSTEM.derive(start))
    with pytest.raises(Malformed, match="not enabled"):
        replay(SYSTEM, start, record.replace('"binary"', '"comparison"'))


def test_a_state_says_where_it_is_and_why_a_rule_does_not_fire() -> None:
    derivation = SYSTEM.derive(initial_text("def f(x):\n    return x + 1", "f"))
    step = next(s for s in derivation.steps if s.rule == "binary")
    assert step.place == "eval line 2: x + 1"
    assert "does not fire" in why_not(SYSTEM, step.before, "comparison")
    assert "binary is enabled" in why_not(SYSTEM, step.before, "binary")


def test_earlier_states_are_untouched_by_later_steps() -> None:
    start = initial_text("def f(x):\n    while x > 1: x = x / 2\n    return x", "f")
    before = SYSTEM.render(start)
    states = [step.before for step in SYSTEM.derive(start).steps]
    again = [step.before for step in SYSTEM.derive(start).steps]
    assert SYSTEM.render(start) == before
    assert [SYSTEM.render(s) for s in states] == [SYSTEM.render(s) for s in again]


@given(sources())
def test_simulation_generated_programs_have_the_value_of_cpython(source: Any) -> None:
    program = source.program()
    check(program)
    assert read(str(program)) == program
    event(f"features: {len(source.used)}")
    if source.has_oracle:
        for x in (0.5, -1.25):
            point = [x + 0.25 * i for i in range(source.parameters)]
            try:
                wanted = source.python()(*point)
            except (ArithmeticError, ValueError):
                continue
            assert same(run(program, *point), wanted)


# shapes


def graph_parameters(program: Program, name: str) -> tuple[str, ...]:
    """The names of the parameters of the reachable graph called `name`."""
    found = [g for g in scopes(program).free if program.graphs[g].name == name]
    assert len(found) == 1, f"{len(found)} graphs are called {name}"
    return tuple(getattr(program.nodes[n], "name", "") for n in program.graphs[found[0]].parameters)


def graph_names(program: Program) -> set[str]:
    return {program.graphs[g].name for g in scopes(program).free}


def test_a_join_takes_the_variables_assigned_in_a_branch_and_needed_after() -> None:
    program = parse_text(
        "def f(x):\n z = x\n if x > 0:\n  t = x * 2\n  y = t + 1\n  z = t\n else:\n  z = 1\n  y = x\n return y + z + x", "f"
    )
    assert graph_parameters(program, "f.after") == ("y", "z")
    assert graph_names(program) == {"f", "f.if", "f.else", "f.after"}


def test_a_branch_that_returns_makes_no_join() -> None:
    program = parse_text("def f(x):\n if x > 0:\n  return x\n else:\n  y = x * 2\n return y", "f")
    assert graph_names(program) == {"f", "f.if", "f.else"}


def test_a_header_takes_only_what_a_turn_may_read() -> None:
    program = parse_text("def f(x, n):\n i = 0\n while i < n:\n  t = x * i\n  x = t + 1\n  i += 1\n return x", "f")
    assert graph_parameters(program, "f.while") == ("x", "i")
    assert graph_names(program) == {"f", "f.while", "f.body", "f.after"}


def test_a_for_hides_its_counter_and_passes_the_target_only_where_needed() -> None:
    unneeded = parse_text("def f(n):\n s = 0\n for i in range(n): s += i\n return s", "f")
    needed = parse_text("def f(n):\n s = 0\n for i in range(n): s += i\n return s + i", "f")
    assert graph_parameters(unneeded, "f.for") == ("i", "s")
    assert graph_parameters(needed, "f.for") == ("i", "i", "s")


def test_breaks_lead_to_a_graph_with_parameters() -> None:
    program = parse_text("def f(x):\n while x > 1:\n  x = x / 2\n  if x < 3: break\n return x", "f")
    assert graph_parameters(program, "f.after") == ("x",)


def test_captured_variables_are_free_and_not_parameters() -> None:
    program = parse_text("def f(x):\n def g(y): return x * y\n return g(2.0)", "f")
    assert graph_parameters(program, "g") == ("y",)
    inner = next(g for g in scopes(program).free if program.graphs[g].name == "g")
    assert scopes(program).free[inner] == program.graphs[program.entry].parameters


def test_comparisons_need_no_conversion_to_booleans_and_numbers_do() -> None:
    assert "to_boolean" not in str(parse_text("def f(x): return 1 if not (x < 1 and x > 0) or x == 3 else 2", "f"))
    assert "to_boolean" in str(parse_text("def f(x): return 1 if x else 2", "f"))


def test_annotations_type_the_entry_only() -> None:
    program = parse_text("def g(x: int): return x\ndef f(x: float, n: int, b: 'bool', t: tuple, y): return g(n)", "f")
    types = [node.type for n in program.graphs[program.entry].parameters if isinstance(node := program.nodes[n], Parameter)]
    assert types == [REAL, INTEGER, BOOLEAN, None, None]
    other = next(g for g in program.graphs if program.graphs[g].name == "g")
    assert getattr(program.nodes[program.graphs[other].parameters[0]], "type", 0) is None


def test_applications_know_their_line() -> None:
    program = parse_text("def f(n):\n    y = n * 2\n    return 1 // (y - y)", "f", "model.py")
    with pytest.raises(Trap) as raised:
        run(program, 3)
    assert str(raised.value.location) == "model.py:3"


# derivatives

WRT = {
    "grad(g)": "grad(@g, 0)",
    "grad(g, 1)": "grad(@g, 1)",
    "grad(g, wrt='y')": 'grad(@g, "y")',
    "value_and_grad(g, wrt=-1)": "value_and_grad(@g, -1)",
    "jacobian(g, 0)": "jacobian(@g, 0)",
    "hessian(f=g)": "hessian(@g, 0)",
    "hvp(g)": "hvp(@g)",
    "vjp(g, x, 2.0)": "vjp(@g, %x, 2.0)",
}


@pytest.mark.parametrize("call", WRT)
def test_a_derivative_is_the_application_of_its_macro(call: str) -> None:
    text = f"from adjudge import *\ndef g(x, y): return x * y\ndef f(x): return {call}"
    assert WRT[call] in str(parse_text(text, "f", names={}))


def test_several_positions_are_a_tuple() -> None:
    program = parse_text(
        "import adjudge as aj\ndef g(x, y): return x * y\ndef f(x): return aj.grad(g, (0, 'y'))(x, x)", "f", names={}
    )
    assert 'make_tuple(0, "y")' in str(program)
    macro = next(n for n in program.nodes if program.callee(n) is TABLE["grad"])
    assert isinstance(program.constant(program.inputs(macro)[1]), GraphRef)


# live functions

SCALE = 2.5
PAIR = (1, (2.0, True))
spare = aj.grad(lambda x: x * x)


def helper(x: float, k: float = 3, h: Any = math.sin) -> float:
    return h(x) * k


def make(n: float) -> Any:
    def inner(x: float) -> float:
        return x * n + (inner(x - 1) if x > 1 else 0.0)

    return inner


triple, fourfold = make(3.0), make(4.0)


def uses_globals(x: float) -> float:
    return helper(x) + helper(x, h=math.cos) * SCALE + PAIR[1][0] + triple(x) + fourfold(x) + math.pi + 0 * spare(x)


def test_a_live_function_sees_globals_cells_defaults_and_modules() -> None:
    program = parse(uses_globals)
    check(program)
    shown = str(program)
    assert "2.5" in shown
    assert "grad(@lambda, 0)" in shown
    wanted = helper(2.0) + helper(2.0, h=math.cos) * SCALE + PAIR[1][0] + triple(2.0) + fourfold(2.0) + math.pi + 0 * spare(2.0)
    from transforms.nested_grad import expand

    assert same(run(expand(program), 2.0), wanted)


def test_closures_of_one_text_with_other_captures_are_other_functions() -> None:
    assert run(parse(triple), 2.0) == triple(2.0)
    assert run(parse(fourfold), 2.0) == fourfold(2.0)
    assert parse(triple) != parse(fourfold)


def test_a_lambda_is_found_by_its_place() -> None:
    functions = [lambda x: x + 1.0, lambda x: x * 2.0]
    assert [run(parse(g), 3.0) for g in functions] == [4.0, 6.0]


def test_a_users_primitive_is_called_by_its_row() -> None:
    softplus = row("softplus", "x", "real -> real")

    class Wrapped:
        row = softplus

    program = parse_text("def f(x): return softplus(x) + other(x)", "f", names={"softplus": softplus, "other": Wrapped()})
    assert str(program).count("softplus(%x)") == 2


def test_an_enclosing_function_that_is_still_running_is_malformed_not_an_error_of_python() -> None:
    def early(x: float) -> Any:
        return later(x)

    with pytest.raises(Malformed, match="has not assigned later yet"):
        parse(early)

    def later(x: float) -> float:
        return x

    assert run(parse(early), 2.0) == 2.0


def test_files_and_their_functions(tmp_path: Any) -> None:
    file = tmp_path / "model.py"
    file.write_text("import os\nraise SystemExit\ndef g(x): return x\nh = lambda x: g(x) + 1\nN = 3\ndef g(x): return x * N\n")
    assert functions_in(file) == ["g", "h"]
    assert run(parse_file(file, "h"), 2) == 7


def test_defaults_are_told() -> None:
    assert defaults_of(helper) == {"k": 3, "h": math.sin}
    assert defaults_of("def f(x, y=-2, *, z=True): return x", "f") == {"y": -2, "z": True}
