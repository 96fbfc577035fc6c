"""Rewrite rules over types, shapes and attributes: their text, their Python form, and where the engine lets them fire."""

from __future__ import annotations

import numpy as np
import pytest

import adjudge as aj
from semantics.arrays import Array
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.machine import run
from semantics.text import read
from semantics.type_language import REAL, ArrayType
from semantics.values import same
from semantics.wellformed import check
from transforms.known_types import known_type, known_value
from transforms.patterns.functions import function_rule
from transforms.patterns.metavariables import Arrays, admissible, array_type, sizes_in, unify
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.patterns.terms import text_of
from transforms.system import places

# text


def test_a_side_condition_may_stand_in_the_text() -> None:
    inside, outside = pattern_rule("x / x -> 1.0 when x != 0"), pattern_rule("x / x -> 1.0", when="x != 0")
    assert (inside.law, inside.condition, inside.name) == (outside.law, outside.condition, outside.name)
    assert pattern_rule("x / x -> 1.0 when x != 0", when="x != 0").law == inside.law
    assert inside.law == "x / x -> 1.0   when x != 0"


@pytest.mark.parametrize(
    ("text", "when", "what"),
    [
        ("x / x -> 1.0 when x != 0", "x > 0", "the text says when x != 0, the argument when x > 0"),
        ("x / x -> 1.0 when", None, "there is no condition after `when`"),
        ("x: f64[m | x.T -> x", None, "'x: f64[m' is no declaration"),
        ("x: f64[m + 1] | x.T -> x", None, "f64[m + 1] is no type of a metavariable"),
        ("x: f64[m], m: i64 | x * m -> m * x", None, "m is a size and a metavariable"),
        ("#x: f64[m] | x.T -> x", None, "#x is a literal, and no array is one"),
        ("x: f64[m] | np.split(x, 2) -> x", None, "np.split is not in the language"),
        ("x: f64[m] | x + n -> x", None, "n occurs on the right only"),
        ("x: f64[m] | sum(x, k=3) -> sum(x)", None, "sum takes no argument k here"),
    ],
)
def test_what_cannot_be_read_is_malformed_with_a_remedy(text: str, when: str | None, what: str) -> None:
    if "n occurs" in what:
        text = "x: f64[m] | x + 1.0 -> x + n"
    with pytest.raises(Malformed) as caught:
        pattern_rule(text, when=when)
    assert caught.value.what == what
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x: f64[m, n] | x.T -> x", "transpose(x, None)"),
        ("x: f64[m, n] | transpose(x) -> x", "transpose(x, None)"),
        ("x: f64[m, n] | np.sum(x, axis=#a) -> x", "reduce_sum(x, #a, False)"),
        ("x: f64[m, n] | x.sum(axis=#a, keepdims=True) -> x", "reduce_sum(x, #a, True)"),
        ("x: f64[m, n], y: f64[n, p] | x @ y -> x", "x @ y"),
        ("x: f64[...] | x.reshape(#s) -> x", "reshape(x, #s)"),
        ("x: f64[m] | x * np.ones((m,)) -> x", "x * full(make_tuple(m), 1.0, 'f64')"),
        ("x: f64[m], y: f64[n] | np.concatenate((x, y), axis=0) -> x", "concatenate(make_tuple(x, y), 0)"),
        ("(x, y)[#i] -> x", "getitem(make_tuple(x, y), #i)"),
        ("b: bool[n], x: f64[n] | where(b, x, x) -> x", "np.where(b, x, x)"),
        ("b: bool | where(b, x, x) -> x", "x if b else x"),
        ("x: f64[m, n] | transpose(x, (1, 0)) -> x", "transpose(x, (1, 0))"),
        ('x: f64[m, n], y: f64[n, p] | np.einsum("ij,jk->ik", x, y) -> x @ y', "einsum('ij,jk->ik', x, y)"),
        ("x: f64[m] | np.exp(x) -> exp(x)", "exp(x)"),
    ],
)
def test_numpy_in_a_rule_is_what_the_front_end_makes_of_it(text: str, wanted: str) -> None:
    rule = pattern_rule(text)
    assert text_of(rule.left_term) == wanted
    declared = text.partition("|")[0] + "|" if "|" in text else ""
    assert pattern_rule(f"{declared} {wanted} -> {text_of(rule.right_term)}").left_term == rule.left_term


def test_the_kind_of_an_attribute_follows_from_where_it_stands() -> None:
    rule = pattern_rule("x: f64[...] | transpose(reshape(sum(x, axis=#a), #s), #p)[#i] -> x")
    assert {n: rule.variables[n] for n in rule.literals} == {"a": "axis", "s": "shape", "p": "permutation", "i": "index"}
    assert pattern_rule("#k: i64, x: f64[n, n] | tril(x, #k) -> x").variables["k"] == "i64"


def test_types_of_arrays_are_read_and_written() -> None:
    assert array_type("f64[m, 3, _]") == Arrays("f64", ("m", 3, None))
    assert array_type("i64[*]") == array_type("i64[...]") == Arrays("i64", None)
    assert str(array_type("bool[ n ]")) == "bool[n]"
    assert array_type("f64[]") == Arrays("f64", ())
    assert array_type("f16[n]") is None
    assert array_type("f64") is None
    assert sizes_in({"x": "f64[m, n]", "y": "f64[n, p]"}) == {"m": ("x", 0), "n": ("x", 1), "p": ("y", 1)}


def test_unification_knows_equal_sizes_and_needs_those_with_names() -> None:
    sizes: dict[str, int] = {}
    assert unify(Arrays("f64", ("m", "n")), ArrayType("f64", (2, 3)), sizes)
    assert sizes == {"m": 2, "n": 3}
    assert not unify(Arrays("f64", ("n",)), ArrayType("f64", (2,)), sizes)
    assert unify(Arrays("f64", (None,)), ArrayType("f64", (None,)), sizes)
    assert not unify(Arrays("f64", ("k",)), ArrayType("f64", (None,)), sizes)
    assert not unify(Arrays("f64", None), ArrayType("f64", ()), sizes)
    assert not unify(Arrays("f64", None), ArrayType("f32", (2,)), sizes)
    assert not unify(Arrays("f64", None), REAL, sizes)


def test_attributes_admit_what_rows_accept() -> None:
    assert admissible("axis", None)
    assert admissible("axis", (0, -1))
    assert not admissible("axis", (0, 0))
    assert not admissible("axis", 1.0)
    assert not admissible("permutation", 0)
    assert admissible("shape", (2, -1))
    assert not admissible("index", None)
    assert not admissible("i64", True)


def test_both_sides_are_programs_and_sizes_are_read_from_shapes() -> None:
    rule = pattern_rule("x: f64[m, n] | np.mean(x, axis=0) -> np.sum(x, axis=0) / m")
    x = Array("f64", (2, 2), (1.0, 2.0, 3.0, 6.0))
    assert same(run(rule.left, x), Array("f64", (2,), (2.0, 4.0)))
    assert same(run(rule.left, x), run(rule.right, x))
    left, right = rule.instance({"x": ArrayType("f64", (2, 2))}, {}, {"m": 2, "n": 2})
    assert same(run(left, x), run(right, x))
    assert "shape" not in str(right)


# two functions


def test_two_functions_are_the_rule_that_their_text_states() -> None:
    rule = aj.rule(lambda x: x + 0.0, lambda x: x)
    assert isinstance(rule, PatternRule)
    assert rule.law == "x + 0.0 -> x"
    assert (rule.left_term, rule.right_term) == (pattern_rule("x + 0.0 -> x").left_term, pattern_rule("x + 0.0 -> x").right_term)


def product_transposed(x: f64[m, n], y: f64[n, p]):  # type: ignore[name-defined,no-untyped-def]  # noqa: F821
    return (x @ y).T


def transposes_multiplied(x, y):  # type: ignore[no-untyped-def]
    return y.T @ x.T


def test_annotations_and_keywords_say_the_types() -> None:
    annotated = aj.rule(product_transposed, transposes_multiplied, domain="BITS")
    assert dict(annotated.variables) == {"x": "f64[m, n]", "y": "f64[n, p]"}
    by_keyword = aj.rule(lambda x, a: np.sum(-x, axis=a), lambda x, a: -np.sum(x, axis=a), x="f64[...]")
    assert by_keyword.law == "x: f64[...] | reduce_sum(-x, #a, False) -> -reduce_sum(x, #a, False)"
    assert by_keyword.literals == ("a",)


def test_functions_that_make_no_rule_are_malformed() -> None:
    with pytest.raises(Malformed, match="different parameters"):
        aj.rule(lambda x: -x, lambda y: y)
    with pytest.raises(Malformed, match="does not use y"):
        aj.rule(lambda x, y: -x, lambda x, y: x)
    with pytest.raises(Malformed, match="is no parameter"):
        aj.rule(lambda x: -x, lambda x: x, z="f64")
    with pytest.raises(Malformed, match="calls a function or branches"):
        function_rule(branching, branching, {})
    with pytest.raises(Malformed, match="a text states both sides"):
        aj.rule("x + 0.0 -> x", x="f64[m]")
    with pytest.raises(Malformed, match="the text of a rule"):
        aj.rule(lambda x: -x)  # type: ignore[arg-type]


def branching(x):  # type: ignore[no-untyped-def]
    return x if x > 0 else -x


# the engine


def program(parameters: str, *lines: str) -> Program:
    *equations, result = lines
    return read(f"program @f\n@f({parameters}):\n" + "".join(f"  {e}\n" for e in equations) + f"  return {result}")


def fires(text: str, subject: Program, domain: str = "BITS") -> Program | None:
    rule = pattern_rule(text, domain=domain)
    found = (rule.rewrite.function(subject, place) for place in places(subject))
    after = next((p for p in found if p is not None), None)
    if after is not None:
        check(after)
    return after


TWICE = ("%a = transpose(%x, None)", "%r = transpose(%a, None)", "%r")


def test_an_array_rule_fires_where_the_type_is_known() -> None:
    rule = "x: f64[m, n] | transpose(transpose(x)) -> x"
    after = fires(rule, program("%x: f64[2, 3]", *TWICE))
    assert after is not None
    assert str(after).strip().endswith("return %x")
    for unknown in ("%x", "%x: f64[2]", "%x: f32[2, 3]", "%x: f64[?, 3]"):
        assert fires(rule, program(unknown, *TWICE)) is None
    assert fires("x: f64[_, n] | transpose(transpose(x)) -> x", program("%x: f64[?, 3]", *TWICE)) is not None


def test_sizes_on_the_right_are_the_known_ones() -> None:
    after = fires("x: f64[m, n] | mean(x, 0) -> sum(x, 0) / m", program("%x: f64[2, 3]", "%r = mean(%x, 0, False)", "%r"))
    assert after is not None
    x = Array("f64", (2, 3), tuple(map(float, range(6))))
    assert same(run(after, x), Array("f64", (3,), (1.5, 2.5, 3.5)))


def test_sizes_on_the_left_match_equal_constants_only() -> None:
    rule = "x: f64[m, n] | x * np.ones((m, n)) -> x"
    for shape in ("(2, 3)", "%s"):
        tuple_made = ("%s = make_tuple(2, 3)",) if shape == "%s" else ()
        hit = program("%x: f64[2, 3]", *tuple_made, f'%o = full({shape}, 1.0, "f64")', "%r = mul(%x, %o)", "%r")
        assert fires(rule, hit) is not None
    near = program("%x: f64[2, 3]", '%o = full((1, 3), 1.0, "f64")', "%r = mul(%x, %o)", "%r")
    assert fires(rule, near) is None


def test_equal_names_are_equal_sizes() -> None:
    rule = "x: f64[n, n] | trace(transpose(x)) -> trace(x)"
    body = ("%t = transpose(%x, None)", "%r = trace(%t)", "%r")
    assert fires(rule, program("%x: f64[2, 2]", *body)) is not None
    assert fires(rule, program("%x: f64[2, 3]", *body)) is None


def test_an_attribute_matches_a_literal_that_is_admissible_and_nothing_else() -> None:
    rule = "x: f64[...] | sum(-x, axis=#a) -> -sum(x, axis=#a)"
    for axis in ("0", "None", "(0, 1)"):
        assert fires(rule, program("%x: f64[2, 3]", "%n = neg(%x)", f"%r = reduce_sum(%n, {axis}, False)", "%r")) is not None
    open_axis = program("%x: f64[2, 3], %a: i64", "%n = neg(%x)", "%r = reduce_sum(%n, %a, False)", "%r")
    assert fires(rule, open_axis) is None


def test_a_condition_on_attributes_and_sizes_is_known_to_hold_or_not() -> None:
    rule = "x: f64[m, n] | sum(sum(x, #a), #b) -> sum(x) when a == n - 2 and b == 0"
    body = ("%s = reduce_sum(%x, 1, False)", "%r = reduce_sum(%s, 0, False)", "%r")
    assert fires(rule, program("%x: f64[2, 3]", *body)) is not None
    assert fires(rule, program("%x: f64[2, 4]", *body)) is None


def test_types_are_known_through_primitives_and_not_through_calls() -> None:
    made = program("%x: f64[2, 3]", "%s = shape(%x)", "%o = full(%s, 1.0, None)", "%r = add(%x, %o)", "%r")
    assert known_type(made, made.graphs[made.entry].output) == ArrayType("f64", (2, 3))
    called = read("program @f\n@f(%x: f64[2]):\n  %r = @g(%x)\n  return %r\n\n@g(%y):\n  %s = neg(%y)\n  return %s")
    assert known_type(called, called.graphs[called.entry].output) is None
    wrong = program("%x: f64[2, 3]", "%r = matmul(%x, %x)", "%r")
    assert known_type(wrong, wrong.graphs[wrong.entry].output) is None


def test_what_lies_beyond_the_budget_is_not_known() -> None:
    lines = ["%a0 = neg(%x)", *(f"%a{i + 1} = neg(%a{i})" for i in range(300))]
    long = program("%x: f64[2]", *lines, "%a300")
    assert known_type(long, long.graphs[long.entry].output) is None


def test_a_literal_is_a_constant_or_a_tuple_made_of_constants() -> None:
    subject = program("%x: f64[2, 3]", "%t = make_tuple(1, 0)", "%r = transpose(%x, %t)", "%r")
    place = subject.graphs[subject.entry].output
    assert known_value(subject, subject.inputs(place)[2]) == (1, 0)
    assert known_value(subject, subject.inputs(place)[1]) is subject
    assert fires("x: f64[m, n] | transpose(x, (1, 0)) -> x.T", subject) is not None
