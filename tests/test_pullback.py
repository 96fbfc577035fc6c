"""Local pullbacks: each rule fires and has a near miss, figure 3 is that of the paper, names are of no account, bugs are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from claims import costly, holds, judged, refuted
from hypothesis import given

from checkers.generators import Options, Source, points, sources
from checkers.properties import adjoint, oracles
from checkers.verdict import Counterexample, Refuted, Verdict
from semantics.edit import Edit
from semantics.errors import Crash, IllTyped, Malformed, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_file, parse_text
from transforms.pipeline import optimize
from transforms.pullback import PURE, SYSTEM, applied, augmented, begin, derivation, expand_j, rules, sharing, state, tuples

FIGURE_3 = parse_file(Path(__file__).parent.parent / "examples" / "figure_3.py", "f")
by_pullback = partial(gradient_program, mode="pullback")


def program_of(body: str, parameters: str = "x") -> Program:
    """A text in Python, or, where it applies primitives with %, of the graph IR."""
    if "%" in body:
        return read(f"program @f\n@f(%x):\n{body}")
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return parse_text(f"import numpy as np\n\ndef f({parameters}):\n{lines}", "f")


def fired(program: Program) -> list[str]:
    """The rules of a run; in every state exactly one is enabled, and every program on the way is well-formed."""
    steps = PURE.derive(applied(program)).steps
    for step in steps:
        check(step.after.program)
    return [step.rule for step in steps]


FIRES = {
    "variable": "return x",
    "literal": "return 1.0",
    "closure": "def g(y):\n    return y * x\nreturn g(x)",
    "application": "return x * x",
    "tuple_made": "return (x, 1.0)",
    "record_made": "return [x, 1.0]",
    "projection": "return (x, 1.0)[-1]",
    "field_projection": '  %p = make_record(label(dict: a, b), %x, 1.0)\n  %b = field(%p, "b")\n  return %b',
    "array_element": "return np.stack((x, 2.0))[1]",
}
NEAR_MISSES = {
    "literal": "def g(y):\n    return y * x\nreturn g",
    "closure": "def g(y):\n    return y * y\nreturn g(x)",
    "application": "return x",
    "tuple_made": "return [x, 1.0]",
    "record_made": "return (x, 1.0)",
    "projection": "t = (x, 1.0)\ni = 0\nif x > 0.0:\n    i = 1\nreturn t[i]",
    "field_projection": '  %p = make_record(label(dict: a, b), %x, 1.0)\n  %b = field(%p, "c")\n  return %b',
    "array_element": "return np.stack((x, 2.0), 1)[1]",
}


@pytest.mark.parametrize("rule", FIRES)
def test_each_rule_of_a_construct_fires_and_gives_the_gradient_of_j(rule: str) -> None:
    program = program_of(FIRES[rule])
    assert rule in fired(program)
    if rule not in ("tuple_made", "record_made"):
        assert run(by_pullback(program), 3.0) == run(gradient_program(program), 3.0)


@pytest.mark.parametrize("rule", NEAR_MISSES)
def test_each_rule_of_a_construct_leaves_its_near_miss_to_another(rule: str) -> None:
    assert rule not in fired(program_of(NEAR_MISSES[rule]))


@pytest.mark.parametrize("index", ["2", "-3"])
def test_an_index_beyond_the_tuple_is_left_to_trap_when_it_runs(index: str) -> None:
    program = program_of(f"return (x, 1.0)[{index}]")
    assert "projection" not in fired(program)
    with pytest.raises(Trap):
        run(by_pullback(program), 1.0)


def test_the_rules_around_a_body_fire_once_for_a_graph_and_the_free_variable_of_f_is_external() -> None:
    closed = read(
        "program @f\n@f(%x):\n  %j = J(@g)\n  %t = %j(2.0)\n  %v = getitem(%t, 0)\n  return %v\n"
        "@g(%y):\n  %s = add(%y, %x)\n  return %s"
    )
    place = next(n for n in closed.nodes if closed.callee(n) is TABLE["J"])
    steps = [step.rule for step in PURE.derive(begin(closed, place)).steps]
    assert steps == ["open_graph", "external", "variable", "variable", "application", "returned", "finish"]
    assert {r.name for r in rules.RULES} <= {*steps, *FIRES} | {r.name for r in rules.SPECIAL}


def test_j_of_what_is_no_known_graph_is_refused() -> None:
    program = read("program @f\n@f(%x):\n  %j = J(%x)\n  return %j")
    with pytest.raises(Malformed, match="known"):
        begin(program, program.graphs[program.entry].output)


def test_a_strategy_for_pointers_that_there_is_not_is_refused_with_those_there_are() -> None:
    start = applied(FIGURE_3)
    with pytest.raises(Malformed, match="structured, in_memory, applied, accumulated"):
        expand_j(start.program, start.place, pointers="taped")


# figure 3

FIGURE_3B = """
@▶f(%▶a, %▶b):
  %49 = @▶add(%▶a, %▶b)
  %▶x = getitem(%49, 0)
  %90 = @▶mul(%▶x, %▶b)
  %▶y = getitem(%90, 0)
  %◀x = getitem(%49, 1)
  %◀y = getitem(%90, 1)
  %106 = make_tuple(%▶y, @y*)
  return %106

@y*(%s):
  %103 = %◀y(%s)
  %104 = @y.e*(%103)
  return %104

@y.e*(%s.2):
  %∇x = getitem(%s.2, 1)
  %96 = @x*(%∇x)
  %∇b = getitem(%s.2, 2)
  %98 = @b*(%∇b)
  %99 = gadd(%96, %98)
  return %99

@x*(%s.3):
  %64 = %◀x(%s.3)
  %65 = @x.e*(%64)
  return %65

@x.e*(%s.4):
  %∇a = getitem(%s.4, 1)
  %55 = @a*(%∇a)
  %∇b.2 = getitem(%s.4, 2)
  %58 = @b*(%∇b.2)
  %60 = gadd(%55, %58)
  return %60

@a*(%s.5):
  %19 = make_tuple(ZERO, %s.5, ZERO)
  return %19

@b*(%s.6):
  %23 = make_tuple(ZERO, ZERO, %s.6)
  return %23
"""
FIGURE_3C = """
program @▶f

@▶f(%▶a, %▶b):
  %out = add(%▶a, %▶b)
  %out.2 = mul(%out, %▶b)
  %106 = make_tuple(%out.2, @◀f)
  return %106

@◀f(%∇f):
  %113 = make_tuple()
  %78 = mul(%∇f, %▶b)
  %79 = mul(%∇f, %out)
  %∇b = gadd(%79, %78)
  %114 = make_tuple(%113, %78, %∇b)
  return %114
"""


def test_figure_3b_is_the_program_augmented_rule_by_rule() -> None:
    """p and q of the paper are the arguments of x and of y, so p* is x.e* and q* is y.e*; ▶add and ▶mul are linked in beside it."""
    shown = str(augmented(FIGURE_3))
    for graph in FIGURE_3B.strip().split("\n\n"):
        assert graph in shown
    assert fired(FIGURE_3) == ["open_graph", "variable", "variable", "application", "application", "returned", "finish"]


def test_figure_3c_is_one_function_with_two_products_and_a_sum_in_its_pullback() -> None:
    optimized = optimize(augmented(FIGURE_3, shared=True))
    assert str(optimized).strip() == FIGURE_3C.strip()
    value, pullback = TABLE["getitem"], optimized.constant(optimized.inputs(optimized.graphs[optimized.entry].output)[2])
    assert value not in optimized.interned
    names = sorted(optimized.callee(n).name for n in optimized.owned[pullback.graph])
    assert names == ["gadd", "make_tuple", "make_tuple", "mul", "mul"]


def test_the_derivation_of_figure_3_ends_in_it() -> None:
    for shared in (False, True):
        assert derivation(FIGURE_3, shared).result == augmented(FIGURE_3, shared)


def test_the_pure_rules_run_alone() -> None:
    start = applied(FIGURE_3)
    assert SYSTEM.run(start) == expand_j(start.program, start.place, shared=False)


# matrix operations are differentiated whole (section 3.3.2)


def test_the_pullback_of_a_product_is_two_products_with_transposes_and_no_loop() -> None:
    program = parse_text("def product(M, N):\n    return M @ N\n", "product")
    augmented_product = optimize(augmented(program, shared=True))
    applied_there = [augmented_product.callee(n) for n in augmented_product.nodes if augmented_product.apply(n)]
    assert applied_there.count(TABLE["matmul"]) == 3
    assert {TABLE["swap_last"], TABLE["transpose"]} & set(applied_there)


# names are of no account


def renamed_to(program: Program, name: Callable[[int], str]) -> Program:
    """The same program with every graph, parameter and node called something else, by way of its text."""
    edit = Edit(program)
    for key in program.graphs:
        edit.rename(key, name(key))
    text = str(edit.program)
    table = {old: f"%{name(i)}.{i}" for i, old in enumerate(dict.fromkeys(NODE.findall(text)))}
    return read(NODE.sub(lambda found: table[found.group()], text))


NODE = re.compile(r"%[\w∇▶◀↑◇đ§'.*]+")
NAMES: dict[str, Callable[[int], str]] = {
    "ret": lambda _: "ret",
    "pullback": lambda i: ("pullback", "◀f", "x*", "s")[i % 4],
    "underscores": lambda _: "__",
    "each other's": lambda i: f"n{-i % 7}",
}


@pytest.mark.parametrize("name", NAMES)
@costly(4)
@given(source=sources(Options(size=3)), x=points(2))
def test_renaming_never_changes_a_derivative(name: str, source: Source, x: tuple[float, ...]) -> None:
    program = read(str(source.program()))
    other = renamed_to(program, NAMES[name])
    assert str(other) != str(program)
    left, right = by_pullback(other, (0, 1)), by_pullback(program, (0, 1))
    assert left.canonical == right.canonical
    assert same(run(left, *x), run(right, *x))
    holds(adjoint.commutes_with_renaming(program, by_pullback))


# planted bugs

BRANCHES_AND_TUPLES = """
def f(x, y):
    def g(z):
        return z * x - y
    t = (x * y, g(y) * y)
    u = t[0] * x
    if u > y:
        return u * t[1]
    return t[1] - u * g(t[1])
"""


def verdict(gradient: Callable[..., Program] = by_pullback) -> Verdict:
    """Reverse by local pullbacks against forward mode; a program that gets stuck is a wrong one."""
    program = parse_text(BRANCHES_AND_TUPLES, "f")
    try:
        return oracles.forward_mode_agrees(program, (3.0, 2.0), gradient)
    except (Crash, IllTyped, Trap) as error:
        return Refuted(Counterexample({}, str(error), "a gradient"), claim="pullback")


def test_without_a_bug_there_is_nothing_to_find() -> None:
    judged(verdict())


def _backwards(s: Any, edit: Edit, back: int, elements: Any, first: int = 0) -> Any:
    """◀y ∘ e* instead of e* ∘ ◀y."""
    arguments = state.weighted_sum(s, edit, "e*", elements, first)
    body, sensitivity = state.opened(edit, "y*")
    edit.output(body, edit.apply(body, back, edit.apply(body, edit.reference(arguments), sensitivity)))
    return arguments, body


def _next_element(s: Any, whole: int, index: int) -> int | None:
    """The element after the one that is selected."""
    structure, place = s.structure.get((s.item.graph, whole)), s.program.constant(index)
    return structure.elements[(place + 1) % len(structure.elements)] if structure and type(place) is int else None


BUGS: dict[str, tuple[Any, str, Any]] = {
    "composed in the wrong order": (rules, "composed", _backwards),
    "a projection is off by one": (tuples, "element_of", _next_element),
    "a captured variable is dropped": (rules, "_captured", lambda s, n, right=rules._captured: right(s, n)[1:]),
    "different pullbacks are factored": (
        *(sharing, "_earlier"),
        lambda s: next((t for t in sorted(s.term.values()) if t in s.program.nodes and t != s.item.node), None),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, wrong = BUGS[bug]
    monkeypatch.setattr(module, name, wrong)
    refuted(verdict())
