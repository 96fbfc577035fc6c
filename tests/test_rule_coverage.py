"""Every rule that is shipped has a law, fires somewhere, and has a place where it does not fire."""

from __future__ import annotations

from dataclasses import replace

import pytest
import test_optimizer_rules
from test_grad import REACHED_THROUGH
from test_optimizer_rules import FIRING

from semantics import machine
from semantics.edit import Edit
from semantics.ir import Program
from semantics.type_language import REAL
from transforms import forward, grad, nested_grad, parse
from transforms.gradient_programs import differentiated, gradient_program
from transforms.parse import parse_text
from transforms.patterns.rule import PatternRule
from transforms.pipeline import OPTIMIZE, ORDER
from transforms.simplify import EXACT_RULES, FAST_RULES, ZERO_RULES
from transforms.system import places

PATTERNS: tuple[PatternRule, ...] = (*EXACT_RULES, *FAST_RULES, *ZERO_RULES)
PATTERN_NAMES = {rule.rewrite.name for rule in PATTERNS}

SOURCES = (
    "import math\n\ndef f(x, y):\n    return x**3 * y**4 + math.hypot(x, y)\n",
    "def f(x, n: int):\n    r = 1.0\n    for i in range(n):\n        r = r * x + i\n    return r\n",
    "def f(x):\n    if x > 0.0:\n        return x * x if not x > 1.0 else (x, 2.0)[0]\n    return -x\n",
    "def f(x):\n    def g(h, y):\n        return h(h(y)) if y > 0.0 else y\n    return g(lambda z: z * x, x) + max(x, 1.0)\n",
    "def f(t: tuple):\n    a, b = t\n    s = 0.0\n    for v in (a, b, a):\n        s += v * b\n    return s\n",
    "def even(n):\n    return True if n == 0 else odd(n - 1)\n\ndef odd(n):\n    return False if n == 0 else even(n - 1)\n\n"
    "def f(x):\n    return x if even(4) else -x\n",
)


def test_every_rule_has_a_law() -> None:
    systems = [parse.SYSTEM, grad.SYSTEM, forward.SYSTEM, nested_grad.SYSTEM, *ORDER]
    for rules in (machine.RULES, *(s.rules for s in systems)):
        for rule in rules:
            assert rule.law.strip(), rule.name


def concrete(rule: PatternRule, side: Program) -> Program:
    """A side of a rule with reals for its numbers and constants for its literals: what stands in a program that it is for."""
    edit = Edit(side)
    for index, ((name, kind), node) in enumerate(zip(rule.variables.items(), side.graphs[side.entry].parameters, strict=True)):
        if f"#{name}" in rule.text:
            edit.replace(node, edit.constant(3.0 + index))
        elif kind == "number":
            edit.nodes = edit.nodes.set(node, replace(edit.nodes[node], type=REAL))
    return edit.program


@pytest.mark.parametrize("rule", PATTERNS, ids=lambda r: r.name)
def test_a_pattern_rule_fires_on_its_left_side_and_not_on_its_right(rule: PatternRule) -> None:
    """Of a parameter no side condition is known to hold: in BITS a rule with one is silent even on its own left side."""
    left, right = concrete(rule, rule.left), concrete(rule, rule.right)
    fired = any(rule.rewrite.function(left, place) is not None for place in places(left))
    assert fired or (rule.condition is not None and rule.domain == "BITS")
    assert all(rule.rewrite.function(right, place) is None for place in places(right))


def test_every_structural_rule_fires_in_some_program_and_is_silent_in_some_place() -> None:
    fired: set[str] = {f"{system.name}/{rule}" for system, rule, *_ in FIRING}
    for source in SOURCES:
        program = parse_text(source, "f")
        for start in (program, gradient_program(program) if "tuple" not in source else program):
            fired |= set(OPTIMIZE.derive(start).coverage())
    for source in REACHED_THROUGH.values():
        start = differentiated(parse_text("from adjudge import grad\n\n" + source, "f"))
        fired |= {f"nested_grad/{rule}" for rule in nested_grad.SYSTEM.derive(start).coverage()}
    closed = "def g(c):\n    return lambda y: y * c\n\ndef f(x):\n    h = g(2.0)\n    return grad(lambda z: h(z))(x)\n"
    fired |= {f"nested_grad/{rule}" for rule in nested_grad.SYSTEM.derive(parse_text(closed, "f")).coverage()}
    calls = ["vjp(g, x)[1](1.0)[0]", "apply(grad(math.sin), x)", "grad(g)(3.0) + hessian(g)(x)"]
    calls += [f"moved({h}, x)" for h in ("math.sin", "g", "(lambda h: lambda y: h(y) * x)(g)")]
    for call in calls:
        text = "def g(x):\n    return x * x\n\ndef apply(h, x):\n    return h(x)\n\n"
        text += "def moved(h, x):\n    return jvp(h, (x,), (1.0,))[1]\n\ndef f(x):\n    return " + call + "\n"
        fired |= {f"nested_grad/{rule}" for rule in nested_grad.SYSTEM.derive(parse_text(text, "f")).coverage()}
    shipped = {f"{s.name}/{r.name}" for s in (nested_grad.SYSTEM, *ORDER) for r in s.rules if r.name not in PATTERN_NAMES}
    assert shipped - fired == ELSEWHERE.keys()
    for test in ELSEWHERE.values():
        assert hasattr(test_optimizer_rules, test.partition(".")[2])


# fired by tests of their own, which are named here
ELSEWHERE = {
    "branches/element_of_branch": "test_optimizer_rules.test_only_the_used_element_of_a_conditional_leaves_its_branches",
    "branches/eta": "test_optimizer_rules.test_a_graph_that_only_passes_on_is_what_it_passes_to",
    "cse/merge_outwards": "test_optimizer_rules.test_an_equal_node_that_the_enclosing_graph_needs_is_captured_instead",
}
