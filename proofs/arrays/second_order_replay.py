"""
Second derivatives executed at small sizes: what refutes a rule whose J is wrong, and shows that the hypotheses can be met.

J of the rule is compared with the exact second derivative of <w, p(x…)> by dual numbers over dual numbers, which know no rule: over
the rationals where the row has values there, and else on rigorous enclosures. What the machine makes of J on doubles is shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from checkers import forward_mode
from checkers.verdict import Counterexample
from proofs.arrays.instances import Example
from proofs.arrays.replay import apart, applied, direction, doubles, exactly_or_enclosed, lifted, mapped, moving, parts, refutation
from proofs.arrays.second_order import pullback_of_cotangents
from semantics.denotation import FLOATS, Reading, denote
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE


def weighed(row: Primitive, arity: int) -> Program:
    """(x…, w) -> <w, p(x…)>"""
    edit = Edit(applied(row, arity))
    edit.arrays = True
    p = edit.reference(edit.program.entry)
    graph = edit.graph("weighed")
    xs = [edit.parameter(graph, f"x{k}") for k in range(arity)]
    w = edit.parameter(graph, "w")
    edit.output(graph, edit.call(graph, TABLE["inner"], w, edit.apply(graph, p, *xs)))
    edit.set_entry(graph)
    return edit.program


def difference(row: Primitive, rule: Program, arguments: Sequence[Any]) -> Counterexample | None:
    """Where J of the rule is not the second derivative at these arguments; None if nothing is seen."""
    return exactly_or_enclosed(partial(_difference, row, rule, arguments))


def _difference(row: Primitive, rule: Program, arguments: Sequence[Any], reading: Reading) -> Counterexample | None:
    arity, rates = len(arguments), _rates(5)
    point = [lifted(a, reading) for a in arguments]
    w = mapped(lambda _: next(rates), denote(applied(row, arity), point, reading))
    given, us = [*arguments, w], moving(arguments, _rates(3), reading)
    second = pullback_of_cotangents(row, rule, arity)
    at = [*point, lifted(w, reading)]
    found = [x for d, a in zip(denote(second, [*at, *us], reading), given, strict=True) for x in parts(d, a)]
    program, still = weighed(row, arity), moving([w], itertools.repeat(0.0), reading)
    for j, sensitivity in enumerate(found):
        wanted = forward_mode.second_along(program, at, [*us, *still], direction(given, j, reading), reading)
        if apart(sensitivity, wanted):
            names = [*(f"x{k}" for k in range(arity)), "w", *(f"u{k}" for k in range(arity))]
            on_doubles = [doubles(v) for v in (*given, *moving(arguments, _rates(3), FLOATS))]
            shown = _on_machine(second, on_doubles, given)
            cause = f"sensitivity {j} by J of the backpropagator of {row.name} is not the second derivative"
            inputs = dict(zip(names, on_doubles, strict=True))
            return Counterexample(inputs, shown[j] if shown else sensitivity, wanted, cause=cause)
    return None


def _rates(step: int) -> Iterator[float]:
    """Halves between -5/2 and 7/2, in no order, and none of them 0."""
    return ((2 * (step * k % 7) - 5) / 2 for k in itertools.count())


def _on_machine(second: Program, given: list[Any], like: list[Any]) -> list[Any]:
    """What the machine makes of J on doubles; nothing if it refuses."""
    try:
        return [x for d, a in zip(run(second, *given), like, strict=True) for x in parts(d, a)]
    except (AdjudgeError, ValueError):
        return []


def refuted(row: Primitive, examples: Sequence[Example], rule: Program) -> Counterexample | None:
    """The first small instance at which J of the rule is wrong; one that has no value there is wrong too."""
    return refutation(row, examples, rule, difference)
