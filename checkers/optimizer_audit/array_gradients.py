"""
Does an array rule keep gradients? Both sides are made numbers by a weighted sum of their entries, and compared as rules of
scalars are: a fault where the left side is smooth, a convention where it is on a kink.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.optimizer_audit.array_instances import Instance
from checkers.optimizer_audit.outcomes import Runner, Value, agree, over_the_reals, said
from checkers.optimizer_audit.rule_gradients import Gradients
from checkers.optimizer_audit.rule_values import allowed, points_of
from checkers.optimizer_audit.samples import Point, names_of, shrink
from checkers.verdict import Counterexample, OutOfScope, Passed, Refuted, Verdict
from semantics.arrays import FLOATING, Array
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.table import TABLE
from semantics.type_language import REAL, ArrayType

CLAIM = "the gradient is kept"
MOST_INSTANCES, MOST_POINTS = 8, 4
LARGEST = 16
WEIGHTS = (1.0, -2.0, 0.5, 3.0, -0.25)


def keeps_array_gradients(instances: Sequence[Instance], seed: int) -> list[Verdict]:
    """At most one fault and one convention over the instances, each shrunk; or Passed."""
    small = [i for i in instances if 0 < i.weight <= LARGEST]
    tried = 0
    found: dict[str, Verdict] = {}
    why = "no instance has a real to differentiate by and a real result"
    for instance in small[:: max(1, len(small) // MOST_INSTANCES)]:
        wrt = tuple(i for i, t in enumerate(instance.variables.values()) if _is_real(t))
        points = points_of(instance, seed, finite=True, most=MOST_POINTS)[:MOST_POINTS]
        value = next((v.value for p in points if isinstance(v := Runner(instance.left)(p), Value)), None)
        if not wrt or not _differentiable(value):
            continue
        try:
            gradients = Gradients(summed(instance.left, value), summed(instance.right, value), wrt)
        except AdjudgeError as error:
            why = f"a side cannot be differentiated: {error.what}"
            continue
        tried += len(points)
        for verdict in _judged(gradients, instance, points):
            found.setdefault(verdict.kind, verdict)
        if "fault" in found:
            break
    if not tried:
        return [OutOfScope(why, CLAIM)]
    return list(found.values()) or [Passed(tried, "points, ties among them, of the weighted sum of the entries", CLAIM)]


def _is_real(type: Any) -> bool:
    return type == REAL or (isinstance(type, ArrayType) and type.dtype == "f64")


def _differentiable(value: Any) -> bool:
    return type(value) is float or (isinstance(value, Array) and value.dtype in FLOATING)


def summed(program: Program, value: Any) -> Program:
    """The program with its result, which is like `value`, made a number: the sum of its entries, each by a weight of its own."""
    if not isinstance(value, Array):
        return program
    edit = Edit(program)
    graph = program.entry
    output = program.graphs[graph].output
    weights = value.with_items(WEIGHTS[k % len(WEIGHTS)] for k in range(len(value.items)))
    weighted = edit.apply(graph, edit.constant(TABLE["mul"]), output, edit.constant(weights))
    total = edit.apply(graph, edit.constant(TABLE["reduce_sum"]), weighted, edit.constant(None), edit.constant(False))
    edit.output(graph, total)
    return edit.program


def _judged(gradients: Gradients, instance: Instance, points: Sequence[Point]) -> list[Refuted]:
    """The refutations at one instance: at most one where the left side is smooth, and one where it is on a kink."""
    holds = allowed(instance)
    found: list[Refuted] = []
    for smooth, kind in ((True, "fault"), (False, "convention")):

        def fails(point: Point, smooth: bool = smooth) -> bool:
            if not holds(point) or not _finite(point) or not gradients.differ(point) or gradients.smooth(point) != smooth:
                return False
            a, b = over_the_reals(gradients.left, point), over_the_reals(gradients.right, point)
            return not (isinstance(a, Value) and isinstance(b, Value) and not agree(a.value, b.value))

        bad = next((p for p in points if fails(p)), None)
        if bad is not None:
            bad = shrink(bad, fails)
            a, b = gradients.pair(bad)
            inputs = {**dict(zip(names_of(instance.left), bad, strict=True)), **instance.attributes}
            cause = "the left side is smooth there" if smooth else "the left side has a kink there: which slope is a convention"
            found.append(Refuted(Counterexample(inputs, said(b), said(a), cause, note="gradients"), kind, CLAIM))
    return found


def _finite(point: Point) -> bool:
    """Whether no entry is too large for fractions to stay quick, nor infinite, nor NaN."""
    entries = [v for x in point for v in (x.items if isinstance(x, Array) else (x,))]
    return all(type(v) is not float or abs(v) < 2.0**300 for v in entries)
