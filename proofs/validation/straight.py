"""
Programs that decide nothing, read over the reals as one graph of terms: no matter how large, since there is one path.

What a program needs in order to be defined is kept beside its value. A right side is the left one if every leaf of the value is of
one class and whatever the right one needs, the left one needs too (`proofs.validation.sweep`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from checkers.smt.real import reading
from checkers.smt.sides import Kind, Mismatch, inputs_of, leaves
from checkers.smt.terms import real
from proofs.normal_form import equal as equal_by_normal_form
from proofs.validation.signatures import in_order
from proofs.validation.sweep import Sweep
from semantics.denotation import denote
from semantics.errors import Trap
from semantics.ir import Program
from semantics.tangents import ZERO

FUEL = 200_000
MONOLITH = 120
"""Terms whose normal form as a whole is worth trying where the sweep does not reach."""


class Branches(Exception):
    """The program decides something."""


@dataclass
class Straight:
    """The course of a program without branches: what it needs, as it stands."""

    needs: list[z3.BoolRef] = field(default_factory=list)

    def need(self, condition: Any) -> None:
        """Notes a condition of definedness; a plainly false one traps."""
        if condition is False:
            raise Trap("undefined over the reals", rule="z3_real")
        if condition is not True:
            self.needs.append(condition)

    def decide(self, condition: Any) -> bool:
        """A condition without variables."""
        found = z3.simplify(condition)
        if not (z3.is_true(found) or z3.is_false(found)):
            raise Branches
        return bool(z3.is_true(found))


def alike(left: Program, right: Program, kinds: Sequence[Kind]) -> bool:
    """
    Whether two programs without branches are shown to be the same: value by value, and nothing is needed but what `left` needs.

    OutOfFuel if a loop does not end; IllTyped where it cannot be read over the reals.
    """
    try:
        (one, needed), (other, needs) = (_read(p, left, kinds) for p in (left, right))
    except (Branches, Trap):
        return False
    sweep = Sweep()
    known = {sweep.class_of(c) for c in needed}
    if not all(sweep.class_of(c) in known for c in needs):
        return False
    return all(not isinstance(leaf, Mismatch) and same_leaf(sweep, *leaf) for leaf in leaves(one, other))


def same_leaf(sweep: Sweep, x: Any, y: Any) -> bool:
    """Whether two scalars are shown equal wherever both are defined."""
    x, y = (real(0) if v is ZERO else v for v in (x, y))
    if z3.is_expr(x) and z3.is_expr(y):
        return equal_terms(sweep, x, y)
    return not z3.is_expr(x) and not z3.is_expr(y) and bool(x == y)


def equal_terms(sweep: Sweep, left: z3.ExprRef, right: z3.ExprRef) -> bool:
    """By sweep, and by the normal form of small terms as a whole, which knows exponentials of sums."""
    if sweep.equal(left, right):
        return True
    return len(in_order(left, right)) <= MONOLITH and equal_by_normal_form(left, right)


def _read(program: Program, named_as: Program, kinds: Sequence[Kind]) -> tuple[Any, list[z3.BoolRef]]:
    """The value of a program without branches, at the inputs of `named_as`, and what it needs."""
    makers = {"integer": z3.Int, "boolean": z3.Bool}
    inputs = inputs_of(named_as, kinds, lambda kind, name: makers.get(kind, z3.Real)(name))
    course = Straight()
    return denote(program, inputs.values, reading(course), fuel=FUEL), course.needs
