"""
The traps of `raise` and `assert` that a run meets are kept by J, by every pass and by the backend; near misses keep their value.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from test_optimizer_rules import body

from backend import compile
from semantics.errors import Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from transforms.failures import drops_failure, keeping
from transforms.fold import SYSTEM as FOLD
from transforms.gradient_programs import gradient_program
from transforms.inline import SYSTEM as INLINE
from transforms.parse import parse_text
from transforms.pipeline import ORDER, optimize
from transforms.simplify import SYSTEM as SIMPLIFY
from transforms.tuples import SYSTEM as TUPLES

# ruff: noqa: E501 (one program to a line)
# each fails at -1.0 and has a value at 2.0
FAILING: dict[str, str] = {
    "an assertion first": "def f(x):\n assert x > 0.0, 'm'\n return x * x",
    "a raise in a branch": "def f(x):\n if x < 0.0: raise ValueError('m')\n return x * 3.0",
    "the failing value has derivative 0": "def f(x):\n def g(z):\n  assert z > 0.0\n  return 1.0\n return g(x) + x",
    "an element that nobody takes": "def f(x):\n def g(z):\n  assert z > 0.0\n  return z\n return (g(x), x * 3.0)[1]",
    "the length of a tuple": "def f(x):\n def g(z):\n  assert z > 0.0\n  return z\n return len((g(x), x)) * x",
    "an argument that nobody reads": "def f(x):\n def g(z):\n  assert z > 0.0\n  return z\n def h(a, b): return b\n return h(g(x), x)",
    "in a loop": "def f(x):\n y = 2.0\n for i in range(3):\n  assert y > 0.0\n  y = y + x - 0.5\n return y * y",
    "in a recursion": "def f(x):\n def g(n, z):\n  if z < -2.0: raise ValueError('m')\n  return z if n == 0 else g(n - 1, z + x)\n return g(4, x)",
}
FIRST_ORDER = [name for name in FAILING if not name.startswith("in a ")]


def outcome(program: Callable[[float], object], x: float) -> object:
    try:
        return program(x)
    except Trap:
        return Trap


@pytest.mark.parametrize("name", FAILING)
def test_the_optimizer_keeps_the_failure_and_the_value(name: str) -> None:
    program = parse_text(FAILING[name], "f")
    for start in (program, gradient_program(program), gradient_program(gradient_program(program))):
        after = optimize(start)
        assert outcome(lambda x, p=after: run(p, x), -1.0) is Trap
        assert run(after, 2.0) == run(start, 2.0)


@pytest.mark.parametrize("name", FIRST_ORDER)
def test_compiled_code_keeps_the_failure_and_the_value(name: str) -> None:
    program = parse_text(FAILING[name], "f")
    for start in (program, gradient_program(program)):
        code = compile(start, (REAL,), "python")
        assert outcome(code, -1.0) is Trap
        assert code(2.0) == run(start, 2.0)


def rewritten(program: Program, system_name: str) -> list[str]:
    system = next(s for s in ORDER if s.name == system_name)
    return [step.rule for step in system.enabled(program)]


def test_a_rule_steps_back_where_it_would_drop_a_failure_and_not_beside_it() -> None:
    dropped = body('%p = fail("m")', "%t = make_tuple(%p, %x)", "%r = getitem(%t, 1)")
    needed = body('%p = fail("m")', "%t = make_tuple(%p, %x)", "%q = getitem(%t, 1)", "%r = add(%q, %p)")
    assert [s.rule for s in TUPLES.enabled(dropped)] == ["element"]
    assert rewritten(dropped, "tuples") == []
    assert rewritten(needed, "tuples") == ["element"]
    other = body("%p = div(1, 0)", "%t = make_tuple(%p, %x)", "%r = getitem(%t, 1)")
    assert rewritten(other, "tuples") == ["element"]


def test_a_call_that_may_fail_is_not_dropped_either() -> None:
    text = "def f(x):\n def g(z):\n  assert z > 0.0\n  return z\n return (g(x), x * 3.0)[1]"
    harmless = text.replace("assert z > 0.0", "z = z + 1.0")
    assert "element" not in rewritten(parse_text(text, "f"), "tuples")
    assert "element" in rewritten(parse_text(harmless, "f"), "tuples")


def test_an_unknown_function_may_fail_only_where_something_can() -> None:
    unknown = body("%p = %u(%x)", "%t = make_tuple(%p, %x)", "%r = getitem(%t, 1)")
    beside = body('%a = fail("m")', "%p = %u(%x)", "%t = make_tuple(%p, %x)", "%q = getitem(%t, 1)", "%r = make_tuple(%q, %a)")
    assert rewritten(unknown, "tuples") == ["element"]
    assert rewritten(beside, "tuples") == []


def test_a_step_that_drops_nothing_or_nothing_that_fails_is_told_apart() -> None:
    program = body('%p = fail("m")', "%q = switch(True, %x, %p)", "%r = add(%q, %y)")
    place = next(n for n in program.nodes if program.callee(n) is TABLE["switch"])
    step = next(s for s in FOLD.enabled(program) if s.rule == "known_switch")
    assert drops_failure(program, step.after, place)
    assert not drops_failure(program, program, place)
    assert rewritten(program, "fold") == ["failed"]


def test_systems_of_the_pipeline_are_those_of_the_modules_with_every_rule() -> None:
    for system in (INLINE, TUPLES, SIMPLIFY, FOLD):
        kept = next(s for s in ORDER if s.name == system.name)
        assert [r.name for r in kept.rules] == [r.name for r in keeping(system).rules] == [r.name for r in system.rules]
