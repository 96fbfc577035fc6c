"""
A branch knows what its test has found: what is valid by `isinstance`, `is None` and their `and`, `or` and `not` is well typed.

Every type that is inferred is that of the values of runs; where a test says nothing, what some run may do wrong is refused.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from semantics import narrowing
from semantics.errors import IllTyped
from semantics.infer import infer
from semantics.machine import run
from semantics.narrowing import facts
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER, REAL, type_of
from semantics.type_lattice import members
from transforms.parse import parse_text

BODIES = {
    "none": ("z = x if n > 0 else None", "1.0 if z is None else z * x"),
    "not none": ("z = x if n > 0 else None", "z * x if z is not None else 1.0"),
    "not": ("z = x if n > 0 else None", "z * x if not z is None else 1.0"),
    "and": ("z = x if n > 0 else None", "z * 2.0 if z is not None and z > 1.0 else x"),
    "or": ("z = x if n > 0 else None", "1.0 if z is None or z > 3.0 else z * x"),
    "and of three": ("z = x if n > 0 else None", "z if x > 0.0 and z is not None and z > 1.0 else x"),
    "a tuple": ("z = (x, x) if n > 0 else x", "z[0] if isinstance(z, tuple) else z"),
    "one of two": ("z = (x, x) if n > 0 else x if n < 0 else None", "z[0] if isinstance(z, tuple) else 1.0 if z is None else z"),
    "in a closure": ("z = x if n > 0 else None", "0.0 if z is None else (lambda: z * x)()"),
    "a name for it": ("z = x if n > 0 else None\n    there = z is not None", "z * x if there else 0.0"),
}
ILL = {
    "no test": ("z = x if n > 0 else None", "z * x"),
    "the other branch": ("z = x if n > 0 else None", "z * x if z is None else 1.0"),
    "of another": ("z, w = (x, x) if n > 0 else (None, x)", "z * x if w is not None else 1.0"),
    "either": ("z = x if n > 0 else None", "z * x if z is not None or x > 0.0 else 1.0"),
    "not both": ("z = x if n > 0 else None", "1.0 if z is None and x > 0.0 else z * x"),
}


def program(lines: str, result: str) -> Any:
    return parse_text(f"def f(x, n: int):\n    {lines}\n    return {result}\n", "f")


@pytest.mark.parametrize("name", BODIES)
def test_what_a_test_rules_out_is_well_typed(name: str) -> None:
    subject = program(*BODIES[name])
    found = narrowing.infer(subject, (REAL, INTEGER)).result
    for n in (-1, 0, 1):
        assert type_of(run(subject, 2.0, n)) in members(found)


@pytest.mark.parametrize("name", ILL)
def test_what_no_test_rules_out_is_refused(name: str) -> None:
    with pytest.raises(IllTyped):
        narrowing.infer(program(*ILL[name]), (REAL, INTEGER))


def test_a_class_is_known_in_its_branch() -> None:
    text = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Dual:
    re: float
    im: float
    def __mul__(self, o): return Dual(self.re * o.re, self.im) if isinstance(o, Dual) else Dual(self.re * o, self.im)
def f(x, n: int):
    z = Dual(x, 1.0) if n > 0 else x
    return (Dual(x, x) * z).re
"""
    assert narrowing.infer(parse_text(text, "f"), (REAL, INTEGER)).result == REAL


def test_what_a_test_of_a_known_class_says_needs_no_narrowing() -> None:
    """Of what is no record, `if isinstance(x, Dual)` took both branches, in every program that asks so."""
    text = "def f(x, n: int):\n    if isinstance(x, tuple):\n        return x[0]\n    return x\n"
    assert infer(parse_text(text, "f"), (REAL, INTEGER)).result == REAL


def test_infer_of_a_function_narrows() -> None:
    def f(x, n: int):  # type: ignore[no-untyped-def]
        z = x if n > 0 else None
        return 1.0 if z is None else z * x

    assert "-> f64" in str(aj.infer(f, 2.0, 1))


def test_facts_of_or_hold_where_it_does_not() -> None:
    subject = program(*BODIES["or"])
    switch = subject.interned[TABLE["switch"]]
    tests = [subject.inputs(use.user)[1] for use in sorted(subject.users(switch)) if use.index == 0]
    both = [len(list(facts(subject, test, False))) for test in tests]
    assert max(both) == 1
    assert max(len(list(facts(subject, test, True))) for test in tests if subject.callee(test) is not TABLE["is_instance"]) == 0


TESTS = ("z is None", "z is not None", "isinstance(z, tuple)", "x > 0.5", "n > 0")


@given(st.lists(st.sampled_from(TESTS), min_size=1, max_size=3), st.sampled_from(("and", "or")), st.sampled_from(("", "not ")))
def test_every_run_of_what_is_well_typed_has_a_value_of_the_type(tests: list[str], word: str, negation: str) -> None:
    subject = program(
        "z = x if n > 0 else None if n < 0 else (x, x)",
        f"(z * x if {negation}({f' {word} '.join(tests)}) else 1.0)",
    )
    try:
        found = narrowing.infer(subject, (REAL, INTEGER)).result
    except IllTyped:
        return
    for x in (0.25, 2.0):
        for n in (-1, 0, 1):
            assert type_of(run(subject, x, n)) in members(found)
