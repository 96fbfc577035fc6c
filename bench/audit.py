"""The judge of optimizers: seconds per rule over the shipped table and over Myia's eight, and programs through a pass."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from bench.measure import Row
from checkers.optimizer_audit import audit
from checkers.optimizer_audit.critical_pairs import pairs
from checkers.optimizer_audit.outcomes import Runner
from checkers.optimizer_audit.pass_values import compare, points_for
from checkers.optimizer_audit.rule_values import points_of
from checkers.optimizer_audit.subjects import as_pass
from checkers.optimizer_audit.triggers import generated
from semantics.ir import Program
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.pipeline import PASSES
from transforms.simplify import EXACT_RULES, FAST, FAST_RULES

MYIA = (
    ("zero times x", "0.0 * x -> 0.0"),
    ("x times one", "x * 1.0 -> x"),
    ("zero plus x", "0.0 + x -> x"),
    ("double negation", "-(-x) -> x"),
    ("negated factor", "-x * y -> -(x * y)"),
    ("double division", "x / y / z -> x / (y * z)"),
    ("plus of negation", "x + -y -> x - y"),
    ("minus of negation", "x - -y -> x + y"),
)
PROGRAMS = 1000
THROUGH = ("simplify", "cse", "inline")


def wall(action: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds by the clock, since solvers run in processes of their own; and the result."""
    began = time.perf_counter()
    result = action()
    return time.perf_counter() - began, result


def machine_alone(rule: PatternRule) -> None:
    """Both sides of a rule at all its points, and nothing else."""
    left, right = Runner(rule.left), Runner(rule.right)
    for point in points_of(rule, 0):
        left(point), right(point)


def rows() -> Iterator[Row]:
    """Every row of this table."""
    shipped = (*EXACT_RULES, *FAST_RULES)
    audit(shipped[0])  # imports, and the programs that every audit uses
    taken = [(*wall(lambda r=rule: audit(r)), rule) for rule in shipped]  # type: ignore[misc]
    alone = [wall(lambda r=rule: machine_alone(r))[0] for rule in shipped]  # type: ignore[misc]
    middle, slowest = statistics.median(t for t, _, _ in taken), max(taken, key=lambda t: t[0])
    ratio = f"{middle / statistics.median(alone):.0f}"
    yield Row(f"a rule, median of the {len(shipped)} shipped", f"{middle:.2f} s", "the machine at its points", ratio)
    yield Row("the slowest of them", f"{slowest[0]:.2f} s", slowest[2].name, f"{slowest[0] / middle:.1f} medians")
    for name, text in MYIA:
        seconds, report = wall(lambda t=text: audit(pattern_rule(t, domain="IEEE")))  # type: ignore[misc]
        yield Row(f"Myia: {name}", f"{seconds:.2f} s", report.details["summary"], f"{seconds / middle:.1f} medians")
    seconds, found = wall(lambda: [pairs(rule, shipped, FAST.rules) for rule in shipped])
    count = sum(p.joined + len(p.apart) + len(p.undecided) for p in found)
    yield Row("critical pairs of all shipped rules", f"{seconds:.2f} s", f"{count} pairs", f"{1000 * seconds / count:.1f} ms each")
    programs = generated(1, PROGRAMS)[:PROGRAMS]
    for name in THROUGH:
        subject = as_pass(PASSES[name], None)
        seconds, passed = wall(lambda s=subject: [s(p) for p in programs])  # type: ignore[misc]
        judged, _ = wall(
            lambda s=subject, after=passed: [  # type: ignore[misc]
                compare(p, q, points_for(p, s.domain, 0), s.domain)
                for p, q in zip(programs, after, strict=True)
                if isinstance(q, Program)
            ]
        )
        ratio = f"{(seconds + judged) / seconds:.1f}"
        yield Row(f"{len(programs)} programs through {name}", f"{seconds + judged:.1f} s", "the pass alone", ratio)
