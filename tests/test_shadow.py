"""
Two strategies for pointers agree: sensitivities carried by the token (J), and accumulated in a shadow memory (FEATURES A3).

Exactly, on fractions, over generated straight-line programs; and the rules, each where it fires and where it does not.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from checkers import forward_mode
from checkers.properties.agreement import differ
from semantics.denotation import FRACTIONS, denote
from semantics.derivation import replay
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.linear import check_linear
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import OPTIMIZE
from transforms.shadow_memory import RULES, SYSTEM, begin

HEAD = "program @f\n\n@f(%x: f64, %y: f64):\n"


def program(*lines: str) -> Program:
    return read(HEAD + "".join(f"  {line}\n" for line in lines))


PAIR = program(
    "%m0 = memory(0)",
    "%w = make_tuple(%x, %y)",
    "%a = alloc(%m0, %w)",
    "%m1 = getitem(%a, 0)",
    "%p = getitem(%a, 1)",
    "%q = lea(%p, 0)",
    "%u = load(%m1, %q)",
    "%s = mul(%u, %y)",
    "%m2 = store(%m1, %q, %s)",
    "%v = load(%m2, %q)",
    "%t = load(%m2, %p)",
    "%l = getitem(%t, 1)",
    "%k = mul(%v, %l)",
    "%r = add(%k, %u)",
    "return %r",
)
CHOICE = program(
    "%m0 = memory(0)",
    "%a = alloc(%m0, %x)",
    "%m1 = getitem(%a, 0)",
    "%p = getitem(%a, 1)",
    "%b = alloc(%m1, %y)",
    "%m2 = getitem(%b, 0)",
    "%q = getitem(%b, 1)",
    "%c = lt(%x, %y)",
    "%z = switch(%c, %p, %q)",
    "%u = load(%m2, %z)",
    "%s = mul(%u, %x)",
    "%m3 = store(%m2, %z, %s)",
    "%v = load(%m3, %p)",
    "%w = load(%m3, %q)",
    "%r = mul(%v, %w)",
    "return %r",
)


def both(p: Program, x: float, y: float) -> None:
    """The gradient by the shadow is well-formed, linear, and J's and forward mode's, exactly."""
    check_linear(p)
    shadowed = SYSTEM.run(begin(p, (0, 1)))
    check(shadowed)
    check_linear(shadowed)
    at = (Fraction(x), Fraction(y))
    found = denote(shadowed, at, FRACTIONS)
    assert differ(found, denote(gradient_program(p, (0, 1)), at, FRACTIONS)) is None
    assert differ(found, forward_mode.gradient(p, at, FRACTIONS)) is None


@pytest.mark.parametrize("p", [PAIR, CHOICE], ids=["a part through lea", "one of two pointers"])
def test_both_strategies_agree(p: Program) -> None:
    both(p, 1.5, -0.5)
    both(p, -2.0, 3.0)


def test_both_strategies_agree_at_second_order_and_the_shadow_can_be_differentiated() -> None:
    """The image of the shadow transform is linear and of first order but for its rules; J applies to it."""
    shadowed = SYSTEM.run(begin(PAIR))
    at = (Fraction(3, 2), Fraction(-2))
    found = denote(gradient_program(shadowed, (0, 1)), at, FRACTIONS)
    assert differ(found, denote(gradient_program(gradient_program(PAIR), (0, 1)), at, FRACTIONS)) is None


ACCUMULATED = (
    "def f(x, y):\n xs = [x, 2.0]\n def add(v):\n  xs[0] += v * y\n  return xs[0]\n xs[1] = add(x) * add(y)\n return xs[0] * xs[1]"
)


def test_a_parsed_program_whose_calls_are_inlined_is_of_first_order() -> None:
    inlined = OPTIMIZE.run(parse_text(ACCUMULATED, "f", names={}))
    both(inlined, 1.5, -0.5)


# generated programs


@st.composite
def straight(draw: st.DrawFn) -> Program:
    """A straight line of memory operations and arithmetic, whose token is used linearly."""
    lines, numbers, cells, pairs = ["%m0 = memory(0)"], ["%x", "%y", "2.0"], [], []
    token = "%m0"
    for i in range(draw(st.integers(2, 12))):
        number = st.sampled_from(numbers)
        kind = draw(st.sampled_from(["alloc", "pair", "load", "store", "add", "mul"]))
        if kind in ("alloc", "pair") or (kind in ("load", "store") and not cells):
            value = draw(number)
            if kind == "pair":
                lines.append(f"%t{i} = make_tuple({value}, {draw(number)})")
                value = f"%t{i}"
            lines += [f"%a{i} = alloc({token}, {value})", f"%m{i + 1} = getitem(%a{i}, 0)", f"%p{i} = getitem(%a{i}, 1)"]
            token = f"%m{i + 1}"
            if kind == "pair":
                lines += [f"%q{i} = lea(%p{i}, 0)", f"%s{i} = lea(%p{i}, -1)"]
                cells += [f"%q{i}", f"%s{i}"]
                pairs.append(f"%p{i}")
            else:
                cells.append(f"%p{i}")
        elif kind == "load":
            lines.append(f"%v{i} = load({token}, {draw(st.sampled_from(cells))})")
            numbers.append(f"%v{i}")
        elif kind == "store":
            lines.append(f"%m{i + 1} = store({token}, {draw(st.sampled_from(cells))}, {draw(number)})")
            token = f"%m{i + 1}"
        else:
            lines.append(f"%v{i} = {kind}({draw(number)}, {draw(number)})")
            numbers.append(f"%v{i}")
    last = "%x"
    for i, cell in enumerate(cells):
        lines += [f"%l{i} = load({token}, {cell})", f"%e{i} = mul({last}, %l{i})", f"%g{i} = add(%e{i}, {numbers[-1]})"]
        last = f"%g{i}"
    return program(*lines, f"%end = add({last}, {numbers[-1]})", "return %end")


@given(straight(), st.sampled_from([1.5, -0.5]), st.sampled_from([2.0, -3.0]))
def test_both_strategies_agree_on_generated_programs(p: Program, x: float, y: float) -> None:
    both(p, x, y)


# rules


def test_every_rule_fires_and_the_recorded_run_replays() -> None:
    derivation = SYSTEM.derive(begin(PAIR))
    assert set(derivation.coverage()) == {rule.name for rule in RULES}
    assert replay(SYSTEM, begin(PAIR), derivation.to_json()).result.program == derivation.result.program
    assert same(run(SYSTEM.result(derivation.result), 1.5, 2.0), run(SYSTEM.run(begin(PAIR)), 1.5, 2.0))


def test_without_memory_no_rule_of_memory_fires() -> None:
    p = program("%r = mul(%x, %y)", "return %r")
    assert set(SYSTEM.derive(begin(p)).coverage()) == {"forward", "seeded", "backward", "summed", "result"}
    both(p, 1.5, 2.0)


def test_a_look_is_reversed_after_the_store_that_follows_it() -> None:
    """The look stands below the store in the text; the store's reversal must not take what the look adds."""
    p = program(
        "%m0 = memory(0)",
        "%a = alloc(%m0, %x)",
        "%m1 = getitem(%a, 0)",
        "%p = getitem(%a, 1)",
        "%m2 = store(%m1, %p, %y)",
        "%u = load(%m2, %p)",
        "%before = load(%m1, %p)",
        "%r = mul(%u, %before)",
        "return %r",
    )
    both(p, 1.5, 2.0)


KEPT = (
    "%m0 = memory(0)",
    "%a = alloc(%m0, %x)",
    "%m1 = getitem(%a, 0)",
    "%p = getitem(%a, 1)",
    "%b = alloc(%m1, %p)",
    "%m2 = getitem(%b, 0)",
    "%q = getitem(%b, 1)",
    "%z = load(%m2, %q)",
    "%r = load(%m2, %z)",
    "return %r",
)


def test_the_transform_is_asked_for_by_name_with_parameters_by_name() -> None:
    derivation = aj.transform(PAIR, "shadow", wrt=("y", "x"))
    assert derivation.steps[-1].rule == "result"
    assert run(derivation.result, 1.5, 2.0) == run(gradient_program(PAIR, (1, 0)), 1.5, 2.0)
    with pytest.raises(Malformed, match="no parameter z"):
        begin(PAIR, "z")


def test_what_is_not_of_first_order_is_refused_and_j_differentiates_it() -> None:
    kept = program(*KEPT)
    with pytest.raises(Malformed, match="kept in memory") as raised:
        SYSTEM.run(begin(kept))
    assert raised.value.rule == "shadow"
    assert run(gradient_program(kept), 1.5, 2.0) == 1.0
    calling = parse_text("def f(x, y):\n xs = [x]\n while len(xs) < 3: xs.append(y)\n return xs[2]", "f", names={})
    with pytest.raises(Malformed, match="without calls"):
        begin(calling)
    twice = program(
        *KEPT[:4],
        "%m5 = store(%m1, %p, %y)",
        "%m6 = store(%m1, %p, %x)",
        "%u = load(%m5, %p)",
        "%v = load(%m6, %p)",
        "%r = add(%u, %v)",
        "return %r",
    )
    with pytest.raises(Malformed, match="used twice"):
        begin(twice)
