"""
Programs in which rules on the structure of programs fire: taken from recorded runs of our optimizers on gradients.

Such rules are seldom enabled in a program as it is written; what J leaves is full of tuples to take apart, closures to open and
branches to choose. For every rule the smallest programs are kept in which some run used it; for a rule that others mostly
forestall, a program is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache

from checkers.optimizer_audit.rule_gradients import reals_of
from checkers.optimizer_audit.samples import types_of
from checkers.optimizer_audit.trigger_sources import declared, sourced
from checkers.optimizer_audit.triggers import triggers
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.text import read
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text
from transforms.pipeline import MIMIR, OPTIMIZE

LARGEST, EACH = 60, 6  # the nodes of a program to differentiate; programs for each rule

# what neither the triggers of audits nor their gradients have
SOURCES = (
    """
def f(x, y):
    def g(t, n):
        return t[0] * t[1] if n == 0 else g((t[0] * t[1], t[1] + x), n - 1)
    return g((x, y), 2) + g((y, x), 3)""",
    """
def f(x, y):
    t = (x, x * y) if x > y else (y, x + y)
    return t[0] * t[0]""",
    """
def f(x, y):
    def large():
        return (x * y, x)
    def small():
        return (y, x - y)
    t = (large if x > 1.0 else small)()
    return t[0] + 1.0""",
    """
def f(x, y):
    if x < 0.0:
        raise ValueError("negative")
    return x * y""",
    """
def f(x, y):
    def twice(h, z):
        def k(w):
            return h(w)
        def apply(g, v):
            return g(g(v))
        return apply(k, z)
    return twice(lambda u: u * x, y)""",
    """
def f(x, y):
    t = (x, y, x * y)
    a, *b = t
    return a + b[0] * b[1] + len(b)""",
    """
def f(x, y):
    def g(*t):
        return t[0] * t[1]
    def h(*t):
        return g(*t)
    return h(x, y)""",
)

# where a rule fires that other rules of its optimizer mostly forestall
WRITTEN = {
    "made_of_elements": """
@f(%x: f64, %y: f64):
  %s = make_tuple(%x, %y)
  %t = of_length(%s, 2)
  %a = getitem(%t, 0)
  %b = getitem(%t, 1)
  %u = make_tuple(%a, %b)
  %r = getitem(%u, 1)
  return %r""",
    "instance_of_made": """
@f(%x: f64, %y: f64):
  %d = make_tuple(%y, ZERO)
  %t = make_tuple(%x, %y)
  %u = instantiate(%d, %t)
  %a = getitem(%u, 0)
  %r = mul(%a, %x)
  return %r""",
    "j_of_operand": """
@f(%x: f64, %y: f64):
  %j = J(%x)
  %r = mul(%j, %y)
  return %r""",
    "element_of_choice": """
@f(%x: f64, %y: f64):
  %c = lt(%x, %y)
  %s = make_tuple(%x, 1)
  %t = make_tuple(%y, 2)
  %u = switch(%c, %s, %t)
  %a = getitem(%u, 0)
  %r = mul(%a, %y)
  return %r""",
    "tuple_of_elements": """
@f(%x: f64, %y: f64):
  %c = lt(%x, %y)
  %s = make_tuple(%x, %y)
  %t = make_tuple(%y, %x)
  %u = switch(%c, %s, %t)
  %a = getitem(%u, 0)
  %b = getitem(%u, 1)
  %v = make_tuple(%a, %b)
  %w = getitem(%v, 0)
  %r = mul(%w, %x)
  return %r""",
}


def _gradients() -> Iterator[Program]:
    """The programs that audits of passes begin with, and their gradients."""
    for program in (t.program for t in (*triggers(), *sourced())):
        if len(program.nodes) > LARGEST:
            continue
        yield program
        if wrt := reals_of(types_of(program)):
            with suppress(AdjudgeError):
                yield gradient_program(program, wrt)
    for source in SOURCES:
        program = declared(parse_text(source, "f"))
        yield program
        yield gradient_program(program, (0, 1))


@cache
def harvested() -> dict[str, tuple[Program, ...]]:
    """By the name of a rule, the smallest programs where a run of `optimize` or of `mimir` used it, and those that are written."""
    found: dict[str, list[Program]] = defaultdict(list, {rule: [read("program @f\n" + text)] for rule, text in WRITTEN.items()})
    for program in _gradients():
        for optimizer in (OPTIMIZE, MIMIR):
            try:
                steps = optimizer.record(program).steps
            except AdjudgeError:
                continue
            for step in steps:
                found[step.rule.partition("/")[2]].append(step.before)
    return {rule: tuple(sorted(programs, key=lambda p: len(p.nodes))[:EACH]) for rule, programs in found.items()}
