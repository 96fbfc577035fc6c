"""Each rule of the optimizer: where it fires, and a near miss where it must not."""

from __future__ import annotations

import math
from itertools import product

import pytest

from semantics.columns.meaning import MEANING
from semantics.edit import Edit
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import Program
from semantics.machine import run
from semantics.tangents import ZERO
from semantics.text import read
from semantics.values import same
from transforms import branches, cse, dce, fold, inline, simplify, tuples
from transforms.patterns.rule import pattern_rule
from transforms.simplify import EXACT_RULES, FAST_RULES, ZERO_RULES
from transforms.system import RewriteSystem, places


def fires(system: RewriteSystem, rule: str, program: Program) -> list[Program]:
    """What `rule` makes of `program`, at every place where it applies."""
    found = next(r for r in system.rules if r.name == rule)
    return [after for place in places(program) if (after := found.function(program, place)) is not None]


def body(*equations: str, parameters: str = "%x: f64, %y: f64, %i: i64, %b: bool, %u") -> Program:
    """A program of one graph; its result is what the last equation defines."""
    last = equations[-1].split("=")[0].strip()
    lines = "\n".join(f"  {e}" for e in equations)
    program = read(f"program @f\n\n@f({parameters}):\n{lines}\n  return {last}")
    edit = Edit(program)
    if not program.users(nothing := edit.constant(None)):
        edit.remove(nothing)
    return edit.program


# rule, program where it fires, near miss
FIRING: list[tuple[RewriteSystem, str, Program, Program]] = [
    (fold.SYSTEM, "fold_constants", body("%r = mul(2, 3.5)"), body("%r = div(1, 0)")),
    (fold.SYSTEM, "fold_constants", body("%r = lt(1, 2)"), body("%r = make_tuple(1, 2)")),
    (fold.SYSTEM, "known_switch", body("%r = switch(True, %x, %y)"), body("%r = switch(%b, %x, %y)")),
    (fold.SYSTEM, "known_switch", body("%r = switch(False, %x, %y)"), body("%r = switch(1, %x, %y)")),
    (fold.SYSTEM, "failed", body('%p = fail("m")', "%r = make_tuple(%x, %p)"), body('%r = fail("m")')),
    (
        cse.SYSTEM,
        "merge",
        body("%p = mul(%x, %y)", "%q = mul(%x, %y)", "%r = add(%p, %q)"),
        body("%p = mul(%x, 0.0)", "%q = mul(%x, -0.0)", "%r = add(%p, %q)"),
    ),
    (
        cse.SYSTEM,
        "merge",
        body("%p = %u(%x)", "%q = %u(%x)", "%r = add(%p, %q)"),
        body("%p = mul(%x, 1)", "%q = mul(%x, 1.0)", "%r = add(%p, %q)"),
    ),
    (dce.SYSTEM, "dead_node", body("%p = mul(%x, %y)", "%r = sin(%x)"), body("%p = mul(%x, %y)", "%r = sin(%p)")),
    (
        tuples.SYSTEM,
        "element",
        body("%t = make_tuple(%x, %y)", "%r = getitem(%t, -1)"),
        body("%t = make_tuple(%x, %y)", "%r = getitem(%t, 2)"),
    ),
    (tuples.SYSTEM, "length_of_made", body("%t = make_tuple(%x, %y)", "%r = length(%t)"), body("%r = length(%u)")),
    (
        tuples.SYSTEM,
        "made_of_length",
        body("%t = make_tuple(%x, %y)", "%r = of_length(%t, 2)"),
        body("%t = make_tuple(%x, %y)", "%r = of_length(%t, 3)"),
    ),
    (
        tuples.SYSTEM,
        "made_of_elements",
        body("%t = of_length(%u, 2)", "%p = getitem(%t, 0)", "%q = getitem(%t, 1)", "%r = make_tuple(%p, %q)"),
        body("%t = of_length(%u, 3)", "%p = getitem(%t, 0)", "%q = getitem(%t, 1)", "%r = make_tuple(%p, %q)"),
    ),
    (
        tuples.SYSTEM,
        "element_of_sum",
        body("%t = make_tuple(%x, %y)", "%s = gadd(%t, %u)", "%r = getitem(%s, 1)"),
        body("%s = gadd(%u, %u)", "%r = getitem(%s, 1)"),
    ),
    (
        tuples.SYSTEM,
        "injected_size",
        body("%t = make_tuple(%x, %y)", "%r = inject(%t, 1, %x)"),
        body("%t = make_tuple(None, None)", "%r = inject(%t, 1, %x)"),
    ),
    (
        tuples.SYSTEM,
        "instance_of_made",
        body("%t = make_tuple(%x, %y)", "%r = instantiate(%u, %t)"),
        body("%t = make_tuple(%x, %y)", "%r = instantiate(%t, %u)"),
    ),
    (
        simplify.SYSTEM,
        "element_of_injected",
        body("%t = make_tuple(%x, %y)", "%d = inject(%t, 1, %x)", "%r = getitem(%d, -1)"),
        body("%d = inject(%u, 1, %x)", "%r = getitem(%d, -1)"),
    ),
    (simplify.SYSTEM, "j_of_operand", body("%j = J(%u)", "%r = mul(%j, %x)"), body("%j = J(%u)", "%r = make_tuple(%j, %x)")),
    (
        simplify.SYSTEM,
        "j_of_operand",
        body("%j = J(%u)", "%r = expand_dims(%j, 1)"),
        body("%j = J(%u)", "%r = put(%j, 0, %x)"),  # of a tuple of functions, perhaps
    ),
    (branches.SYSTEM, "negated", body("%n = not_(%b)", "%r = switch(%n, %x, %y)"), body("%r = switch(%b, %x, %y)")),
    (
        branches.SYSTEM,
        "element_of_choice",
        body("%p = make_tuple(%x, 1)", "%q = make_tuple(%y, 2)", "%t = switch(%b, %p, %q)", "%r = getitem(%t, 0)"),
        body("%p = make_tuple(%x, 1)", "%t = switch(%b, %p, %u)", "%r = getitem(%t, 0)"),
    ),
]


@pytest.mark.parametrize(("system", "rule", "hit", "miss"), FIRING)
def test_a_rule_fires_where_its_left_side_stands_and_not_beside_it(
    system: RewriteSystem, rule: str, hit: Program, miss: Program
) -> None:
    assert fires(system, rule, hit)
    assert not fires(system, rule, miss)


BRANCHED = """
program @f
@f(%x: f64):
  %c = lt(%x, 0.0)
  %s = switch(%c, @a, @b)
  %t = %s()
  %r = getitem(%t, 0)
  {rest}
@a():
  %p = switch(%c, %x, 1.0)
  %q = make_tuple(%p, sin)
  return %q
@b():
  %v = make_tuple(2.0, cos)
  return %v
"""


def test_in_a_chain_of_tuples_the_innermost_element_goes_first() -> None:
    """One of the chain is enabled at a time, and the others wait for it; for an element of %u, not made here, none does."""
    chain = body("%t = make_tuple(%x, %y)", "%p = getitem(%t, 0)", "%s = make_tuple(%p)", "%q = getitem(%s, 0)", "%r = neg(%q)")
    p, q = (node for node in sorted(chain.nodes) if chain.callee(node) is tuples.GETITEM)
    assert [step.place for step in tuples.SYSTEM.enabled(chain)] == [chain.describe(p)]
    assert tuples.SYSTEM.blocker(chain, q) == p
    assert tuples.SYSTEM.run(chain) == body("%t = make_tuple(%x, %y)", "%s = make_tuple(%x)", "%r = neg(%x)")
    opaque = body("%p = getitem(%u, 0)", "%s = make_tuple(%p)", "%q = getitem(%s, 0)", "%r = neg(%q)")
    assert len(tuples.SYSTEM.enabled(opaque)) == 1


def test_only_the_used_element_of_a_conditional_leaves_its_branches() -> None:
    used, both = BRANCHED.format(rest="return %r"), BRANCHED.format(rest="%w = make_tuple(%r, %t)\n  return %w")
    assert fires(branches.SYSTEM, "element_of_branch", read(used))
    assert not fires(branches.SYSTEM, "element_of_branch", read(both))


def test_inside_a_branch_its_condition_is_known() -> None:
    program = read(BRANCHED.format(rest="return %r"))
    (after,) = fires(branches.SYSTEM, "known_condition", program)
    assert "switch(True, %x, 1.0)" in str(after)
    assert not fires(
        branches.SYSTEM, "known_condition", read(str(program).replace("%c = lt(%x, 0.0)\n", "%c = lt(%x, 0.0)\n  %h = @a()\n"))
    )


def test_what_calls_a_function_from_a_branch_sinks_into_it() -> None:
    program = read(BRANCHED.format(rest="%h = getitem(%t, 1)\n  %w = %h(%r)\n  return %w"))
    (after,) = fires(branches.SYSTEM, "sink", program)
    assert all(same(run(after, x), run(program, x)) for x in (-1.5, 0.0, 2.0))
    assert not fires(branches.SYSTEM, "sink", after)
    assert not fires(branches.SYSTEM, "sink", read(BRANCHED.format(rest="%w = sin(%r)\n  return %w")))


def test_a_graph_that_only_passes_on_is_what_it_passes_to() -> None:
    text = "program @f\n@f(%x: f64, %b):\n  %h = switch(%b, @g, sin)\n  %r = %h(%x)\n  return %r\n@g(%y):\n  %z = {}\n  return %z"
    assert fires(branches.SYSTEM, "eta", read(text.format("cos(%y)")))
    assert not fires(branches.SYSTEM, "eta", read(text.format("pow(%y, 2)")))
    assert not fires(branches.SYSTEM, "eta", read(text.format("@g(%y)")))


def test_it_is_not_what_needs_its_parameter() -> None:
    """@k is nested in @g: in the place of @g it would have captured a parameter that is nowhere."""
    text = (
        "program @f\n@f(%x: f64):\n  %r = @g(%x)\n  return %r\n@g(%y):\n  %z = @k(%y)\n  return %z\n"
        "@k(%a):\n  %s = @inner()\n  return %s\n@inner():\n  %d = add(%a, {})\n  return %d"
    )
    assert fires(branches.SYSTEM, "eta", read(text.format("1.0")))
    assert not fires(branches.SYSTEM, "eta", read(text.format("%y")))


CALLS = """
program @f
@f(%x: f64):
  %r = {call}
  return %r
@g(%y):
  %z = {body}
  return %z
@apply(%h, %v):
  %w = %h(%h, %v)
  return %w
"""


@pytest.mark.parametrize(
    ("call", "inner", "inlined"),
    [
        ("@g(%x)", "mul(%y, %y)", True),
        ("@g(%x)", "@g(%y)", False),
        ("@g(%x, %x)", "mul(%y, %y)", False),
        ("@apply(@apply, %x)", "sin(%y)", False),
        ("%x(@g)", "sin(%y)", False),
    ],
)
def test_only_calls_that_fit_and_cannot_recur_are_inlined(call: str, inner: str, inlined: bool) -> None:
    assert bool(fires(inline.SYSTEM, "beta", read(CALLS.format(call=call, body=inner)))) is inlined


def test_inlining_copies_what_is_nested_and_keeps_what_is_captured() -> None:
    program = read(
        """
        program @f
        @f(%x: f64):
          %a = @twice(%x)
          %b = @twice(%a)
          return %b
        @twice(%y):
          %c = lt(%y, 1.0)
          %s = switch(%c, @low, @high)
          %t = %s()
          return %t
        @low():
          %p = mul(%y, %x)
          return %p
        @high():
          %q = sub(%y, %x)
          return %q
        """
    )
    after = inline.SYSTEM.derive(program).result
    assert len(after.graphs) == 5
    assert all(same(run(after, x), run(program, x)) for x in (-2.0, 0.5, 3.0))


def test_recursion_and_its_loop_are_left_alone() -> None:
    program = read(
        """
        program @f
        @f(%x: f64):
          %r = @loop(%x, 10)
          return %r
        @loop(%a, %n):
          %c = gt(%n, 0)
          %s = switch(%c, @more, @done)
          %t = %s()
          return %t
        @more():
          %b = mul(%a, %a)
          %m = sub(%n, 1)
          %u = @loop(%b, %m)
          return %u
        @done():
          return %a
        """
    )
    assert not fires(inline.SYSTEM, "beta", program)


def test_a_parameter_that_nothing_reads_is_dropped_from_every_call_or_from_none() -> None:
    text = "program @f\n@f(%x: f64):\n  %p = @g(%x, 1)\n  %q = @g(%p, 2)\n  %r = {}\n  return %r\n"
    text += "@g(%y, %n):\n  %z = sin(%y)\n  return %z"
    (after,) = fires(dce.SYSTEM, "unused_parameter", read(text.format("neg(%q)")))
    assert same(run(after, 0.5), -math.sin(math.sin(0.5)))
    assert not fires(dce.SYSTEM, "unused_parameter", read(text.format("@g(%q)")))
    assert not fires(dce.SYSTEM, "unused_parameter", read(text.format("make_tuple(%q, @g)")))


def test_all_parameters_that_nothing_reads_go_at_once_unless_something_may_fail() -> None:
    """Of a program that may fail one goes at a time, so what is needed for its failure keeps no other."""
    text = "program @f\n@f(%x: f64):\n  %r = @g(1, %x, 2, %x)\n{}  return %r\n@g(%k, %y, %n, %m):\n  %z = sin(%y)\n  return %z"
    (after,) = fires(dce.SYSTEM, "unused_parameter", read(text.format("")))
    assert [len(graph.parameters) for graph in after.graphs.values()] == [1, 1]
    (after,) = fires(dce.SYSTEM, "unused_parameter", read(text.format('  %e = fail("no")\n')))
    assert [len(graph.parameters) for graph in after.graphs.values()] == [1, 3]


def test_graphs_that_refer_only_to_one_another_are_dead() -> None:
    text = "program @f\n@f(%x: f64):\n  %r = sin(%x)\n  return {}\n"
    text += "@g(%y):\n  %z = @h(%y)\n  return %z\n@h(%y2):\n  %z2 = @g(%y2)\n  return %z2"
    assert len(dce.SYSTEM.run(read(text.format("%r"))).graphs) == 1
    assert not fires(dce.SYSTEM, "dead_graphs", read(text.format("@g")))


NESTED = """
program @f
@f(%x: f64, %b: bool):
  %m = {outer}
  %s = switch(%b, @a, @c)
  %t = %s()
  %r = {result}
  return %r
@a():
  %n = sin(%x)
  return %n
@c():
  %k = sin(%x)
  return %k
"""


def test_an_equal_node_that_the_enclosing_graph_needs_is_captured_instead() -> None:
    needed = read(NESTED.format(outer="sin(%x)", result="mul(%m, %t)"))
    assert len(fires(cse.SYSTEM, "merge_outwards", needed)) == 2
    unneeded, siblings = NESTED.format(outer="sin(%x)", result="neg(%t)"), NESTED.format(outer="cos(%x)", result="mul(%m, %t)")
    assert not fires(cse.SYSTEM, "merge_outwards", read(unneeded))
    assert not fires(cse.SYSTEM, "merge_outwards", read(siblings))


# rules as data

REALS = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e308, -1e308, 5e-324, 1e-310, math.inf, -math.inf, math.nan, 0.1, 7.25)
INTEGERS = (0, 1, -1, 2, -3, 7, 2**70, -(2**70))
VALUES: dict[str, tuple[object, ...]] = {
    "f64": REALS,
    "i64": INTEGERS,
    "bool": (True, False),
    "number": (*REALS, *INTEGERS),
    "any": (*REALS, *INTEGERS, True, False, None, ZERO, (1.0, 2.0), (1.0, (ZERO, 3))),
}


@pytest.mark.parametrize("rule", [*EXACT_RULES, *ZERO_RULES], ids=str)
def test_an_exact_rule_refines_at_every_special_value(rule: object) -> None:
    """Where the left side has a value the right side has the same, in BITS: all combinations of special values."""
    rule = pattern_rule(rule.text)  # type: ignore[attr-defined]
    judged = 0
    for values in product(*(VALUES[t] for t in rule.variables.values())):
        try:
            wanted = run(rule.left, *values)
        except (AdjudgeError, OverflowError):
            continue
        judged += 1
        assert same(run(rule.right, *values), wanted), (values, wanted)
    assert judged


@pytest.mark.parametrize(
    "text", ["x + 0.0 -> x", "0.0 - x -> -x", "x * 0.0 -> 0.0", "x - x -> 0.0", "-(x - y) -> y - x", "x / y * y -> x"]
)
def test_the_fast_rules_are_not_exact(text: str) -> None:
    rule = next(r for r in FAST_RULES if r.text == text)
    cases = product(REALS, repeat=len(rule.variables))
    assert not all(same(run(rule.left, *v), run(rule.right, *v)) for v in cases)
    assert rule.domain == "REAL"


def test_a_rule_on_reals_needs_a_real() -> None:
    rule = pattern_rule("x + -0.0 -> x")
    program = body("%r = add(%x, -0.0)")
    assert any(rule.bind(program, p) for p in places(program))
    for near in (body("%r = add(%i, -0.0)"), body("%r = add(%u, -0.0)"), body("%r = add(%x, 0.0)"), body("%r = add(-0.0, %x)")):
        assert not any(rule.bind(near, p) for p in places(near))


def test_a_metavariable_that_occurs_twice_stands_for_one_node() -> None:
    rule = pattern_rule("x * y + x * y -> x * y", domain="REAL")
    hit = body("%p = mul(%x, %y)", "%r = add(%p, %p)")
    near = body("%p = mul(%x, %y)", "%q = mul(%y, %x)", "%r = add(%p, %q)")
    assert any(rule.bind(hit, n) for n in places(hit))
    assert not any(rule.bind(near, n) for n in places(near))


def test_a_literal_metavariable_matches_only_a_constant() -> None:
    rule = pattern_rule("x + #a + #b -> x + (#a + #b)", domain="REAL")
    hit, near = body("%p = add(%x, 1.5)", "%r = add(%p, 2.0)"), body("%p = add(%x, 1.5)", "%r = add(%p, %y)")
    assert any(rule.rewrite.function(hit, n) for n in places(hit))
    assert not any(rule.rewrite.function(near, n) for n in places(near))


def test_a_side_condition_is_trusted_over_the_reals_and_must_be_known_in_bits() -> None:
    open_, known, false = body("%r = div(%x, %x)"), body("%r = add(2.0, %x)"), body("%r = add(-2.0, %x)")
    unknown = body("%r = add(%y, %x)")
    real = pattern_rule("x / x -> 1.0", when="x != 0", domain="REAL")
    exact = pattern_rule("y + x -> x + y", when="y > 0", domain="BITS")
    assert any(real.rewrite.function(open_, n) for n in places(open_))
    assert any(exact.rewrite.function(known, n) for n in places(known))
    assert not any(exact.rewrite.function(false, n) for n in places(false))
    assert not any(exact.rewrite.function(unknown, n) for n in places(unknown))


def test_both_sides_are_programs_of_the_metavariables() -> None:
    rule = pattern_rule("b: bool, i: i64 | where(b, i * x, x) -> where(b, x * i, x)", name="swap")
    assert (rule.name, dict(rule.variables)) == ("swap", {"b": "bool", "i": "i64", "x": "f64"})
    assert same(run(rule.left, True, 3, 0.5), 1.5)
    assert same(run(rule.right, False, 3, 0.5), 0.5)


@pytest.mark.parametrize(
    ("text", "what", "column"),
    [
        ("x", "a rule has one arrow", 0),
        ("x -> x", "the left side must apply something", 0),
        ("1 + 2 -> 3", "the left side has no metavariable", 0),
        ("x + 1 -> y", "y occurs on the right only", 9),
        ("x + foo(x) -> x", "foo is not a primitive", 4),
        ("x < y < x -> True", "Compare has no place in a rule", 0),
        ("x: f32 | x + 1 -> x", "f32 is no type of a metavariable", 3),
        ("x: f64, z: f64 | x + 1 -> x", "z is declared but does not occur on the left", 8),
        ("exp(x, y) -> x", "exp takes 1 arguments, 2 given", 0),
        ("x + -> x", "this is not an expression: invalid syntax", 0),
        ("x + 'a' -> x", "Constant has no place in a rule", 4),
        ("-" * 600 + "x -> x", "a rule is one line of at most 500 characters", 0),
    ],
)
def test_a_text_that_is_no_rule_is_malformed_with_a_place(text: str, what: str, column: int) -> None:
    with pytest.raises(Malformed) as caught:
        pattern_rule(text)
    assert (caught.value.what, caught.value.location.column) == (what, column)  # type: ignore[union-attr]
    assert caught.value.remedy


def test_a_condition_may_speak_of_metavariables_only() -> None:
    with pytest.raises(Malformed, match="names z"):
        pattern_rule("x / x -> 1.0", when="z != 0", domain="REAL")
    with pytest.raises(Malformed, match="no equality domain"):
        pattern_rule("x / x -> 1.0", domain="ROUGH")


def test_folding_is_the_meaning_and_never_a_restatement() -> None:
    """A user's primitive folds by its own cell."""
    from semantics.primitives.row import Primitive

    triple = Primitive("triple", ("x",), ("real",), "real", columns={MEANING.name: lambda x: 3.0 * x})
    program = read("program @f\n@f():\n  %r = triple(2.0)\n  return %r", {"triple": triple})
    assert str(fold.SYSTEM.run(program)).endswith("return 6.0")
