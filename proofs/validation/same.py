"""
Are two programs the same function? For any two of them, with no word on how one became the other.

    identity mod p     first a refuter: two rational functions that differ do so at a random residue; replayed on fractions
    sweep              straight-line programs, of any size: the two values are one graph of terms, gone through from the leaves up;
                       what the right one needs in order to be defined, the left one needs too
    path by path       programs with branches: every path of one against every path of the other that it can meet, by sweep, normal
                       form and solver; the solver also shows that the domain does not shrink
    turn by turn       programs whose loops a whole number counts: for each of its values up to a bound, which the verdict states
    bits               both are rewritten by rules that are proved bit for bit, until one text is left; small ones are asked about

The verdict is Proved (for all inputs), Passed (for all real inputs, at a bounded number of turns), Refuted (replayed) or Unknown.
A normal form that differs proves nothing and refutes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import z3

from checkers.slopes import identical_mod_p
from checkers.smt.equality import judge_in_ieee, judge_over_reals
from checkers.smt.ieee import LADDER
from checkers.smt.inquiry import Judgment
from checkers.smt.real import reading
from checkers.smt.sides import Kind, Mismatch, inputs_of, kinds_of, leaves
from checkers.smt.solver import RLIMIT
from checkers.smt.terms import real
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from proofs.normal_form import equal as equal_by_normal_form
from proofs.validation.signatures import in_order
from proofs.validation.sweep import Sweep
from semantics.columns.meaning import MEANING
from semantics.conditions import Condition
from semantics.denotation import denote
from semantics.edit import Edit
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel, Trap
from semantics.ir import Program
from semantics.tangents import ZERO
from transforms.pipeline import optimize

CLAIM = "the same function"
DOMAINS = ("REAL", "BITS")
TURNS = 4
FUEL = 200_000
MOST_BITS = 8
"""Applications of a program that is put bit for bit to a solver: beyond these it does not answer."""
MONOLITH = 120
"""Terms whose normal form as a whole is worth trying where the sweep does not reach."""


def same(
    left: Program,
    right: Program,
    *,
    domain: str = "REAL",
    condition: Condition | str | None = None,
    turns: int = TURNS,
    rlimit: int = RLIMIT,
    seed: int = 0,
) -> Judgment:
    """
    Whether `right` has the value of `left` wherever `left` has one.

    domain     "REAL" over the real numbers, "BITS" bit for bit in IEEE-754
    condition  on the parameters of `left`: "x > 0"
    turns      whole numbers that count loops are tried from 0 to this, where no proof for all of them is found
    rlimit     resources of z3 for one question

    Malformed if the programs do not take the same arguments.
    """
    started = time.perf_counter()
    _checked(left, right, domain)
    if domain == "BITS":
        found = bit_for_bit(left, right, condition, rlimit)
    else:
        found = over_reals(left, right, condition, rlimit, seed)
        if not isinstance(found.verdict, (Proved, Refuted, Vacuous)) and "integer" in kinds_of(left):
            found = turn_by_turn(left, right, condition, turns, rlimit, found)
    return replace(found, name=CLAIM, verdict=replace(found.verdict, claim=CLAIM), seconds=time.perf_counter() - started)


def _checked(left: Program, right: Program, domain: str) -> None:
    if domain not in DOMAINS:
        raise Malformed(f"{domain!r} is no equality domain here", rule="same", remedy=f"one of {', '.join(DOMAINS)}")
    counts = [len(p.graphs[p.entry].parameters) for p in (left, right)]
    if counts[0] != counts[1]:
        raise Malformed(
            f"one program takes {counts[0]} arguments, the other {counts[1]}",
            rule="same",
            remedy="two functions of the same arguments",
        )


# over the reals


def over_reals(left: Program, right: Program, condition: Condition | str | None, rlimit: int, seed: int) -> Judgment:
    """For all real arguments: refuted modulo p, or proved by sweep where neither program branches, or path by path."""
    kinds = kinds_of(left)
    if condition is None and set(kinds) <= {"real"}:
        try:
            first = identical_mod_p(left, right, 2, seed)
        except AdjudgeError:
            first = Unknown("it cannot be read modulo p")
        if isinstance(first, Refuted):
            return Judgment(CLAIM, "identity mod p", first)
    if condition is None:
        try:
            if straight(left, right, kinds):
                return Judgment(CLAIM, "sweep", Proved("a sweep of both graphs"))
        except AdjudgeError as error:
            return Judgment(CLAIM, "none", OutOfScope(error.what) if isinstance(error, IllTyped) else Unknown(error.what))
    sweep = Sweep()
    return judge_over_reals(left, right, kinds, condition, equal=partial(_equal, sweep), rlimit=rlimit)


def _equal(sweep: Sweep, left: z3.ExprRef, right: z3.ExprRef) -> bool:
    """By sweep, and by the normal form of small terms as a whole, which knows exponentials of sums."""
    if sweep.equal(left, right):
        return True
    return len(in_order(left, right)) <= MONOLITH and equal_by_normal_form(left, right)


def straight(left: Program, right: Program, kinds: Sequence[Kind]) -> bool:
    """
    Whether two programs without branches are shown to be the same: value by value, and nothing is needed but what `left` needs.

    OutOfFuel if a loop does not end; IllTyped where it cannot be read over the reals.
    """
    try:
        (one, needed), (other, needs) = (_straight(p, left, kinds) for p in (left, right))
    except (Branches, Trap):
        return False
    sweep = Sweep()
    known = {sweep.class_of(c) for c in needed}
    if not all(sweep.class_of(c) in known for c in needs):
        return False
    for leaf in leaves(one, other):
        if isinstance(leaf, Mismatch):
            return False
        x, y = (real(0) if v is ZERO else v for v in leaf)
        if z3.is_expr(x) != z3.is_expr(y) or (not z3.is_expr(x) and x != y):
            return False
        if z3.is_expr(x) and not _equal(sweep, x, y):
            return False
    return True


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


def _straight(program: Program, named_as: Program, kinds: Sequence[Kind]) -> tuple[Any, list[z3.BoolRef]]:
    """The value of a program without branches, at the inputs of `named_as`, and what it needs."""
    makers = {"integer": z3.Int, "boolean": z3.Bool}
    inputs = inputs_of(named_as, kinds, lambda kind, name: makers.get(kind, z3.Real)(name))
    course = Straight()
    return denote(program, inputs.values, reading(course), fuel=FUEL), course.needs


# loops


def turn_by_turn(
    left: Program, right: Program, condition: Condition | str | None, turns: int, rlimit: int, otherwise: Judgment
) -> Judgment:
    """All whole-number arguments from 0 to `turns`: proved for all reals at each; else the first judgment that is no proof."""
    places = [i for i, kind in enumerate(kinds_of(left)) if kind == "integer"]
    methods: set[str] = set()
    answers: list[Any] = []
    for n in range(turns + 1):
        fixed = dict.fromkeys(places, n)
        found = over_reals(specialised(left, fixed), specialised(right, fixed), condition, rlimit, 0)
        if isinstance(found.verdict, Refuted):
            return found
        if not isinstance(found.verdict, (Proved, Vacuous)):
            return otherwise if n == 0 else replace(found, verdict=Unknown(f"at {n} turns: {_why(found.verdict)}"))
        methods.add(found.method)
        answers += found.answers
    by = " and ".join(sorted(methods))
    what = f"values of the whole-number arguments, 0 to {turns}, each for all reals ({by}): bounded unrolling"
    return Judgment(CLAIM, by, Passed(turns + 1, what), answers=tuple(answers))


def _why(verdict: Verdict) -> str:
    return str(getattr(verdict, "reason", "") or getattr(verdict, "why", "") or type(verdict).__name__)


def specialised(program: Program, fixed: dict[int, int]) -> Program:
    """The program with some of its parameters replaced by whole numbers; it still takes them."""
    edit = Edit(program)
    parameters = program.graphs[program.entry].parameters
    for i, value in fixed.items():
        edit.replace(parameters[i], edit.constant(value))
    return edit.program


# bits


def bit_for_bit(left: Program, right: Program, condition: Condition | str | None, rlimit: int) -> Judgment:
    """One text by rules that keep bits; else, for a few applications, up the ladder of formats."""
    if condition is None and optimize(left) == optimize(right):
        return Judgment(CLAIM, "congruence", Proved("congruence: one program, by rules that are proved bit for bit"))
    size = max(sum(_counts(p, n) for n in p.nodes) for p in (left, right))
    if size > MOST_BITS:
        why = f"no rules of ours make them one program, and {size} applications are too many for a solver of floats"
        return Judgment(CLAIM, "congruence", Unknown(why))
    found = Judgment(CLAIM, "none", Unknown("no format was decided"))
    decided: list[str] = []
    for format in LADDER:
        judgment = judge_in_ieee(left, right, format, condition, rlimit=rlimit)
        if not isinstance(judgment.verdict, Proved):
            return judgment if not decided or isinstance(judgment.verdict, Refuted) else _decided(found, decided, judgment)
        decided.append(format.name)
        found = judgment
    return replace(found, verdict=Proved(f"{found.method} in {', '.join(decided)}"))


def _decided(found: Judgment, formats: Sequence[str], open_: Judgment) -> Judgment:
    """What is known where the widest formats are not decided."""
    return replace(found, verdict=Unknown(f"bit-equal in {', '.join(formats)}; then {_why(open_.verdict)}"))


def _counts(program: Program, node: int) -> bool:
    """Whether a node applies a primitive with a meaning."""
    inputs = getattr(program.nodes[node], "inputs", ())
    return bool(inputs) and MEANING.cells.get(str(program.constant(inputs[0]))) is not None


__all__ = ["CLAIM", "OutOfFuel", "same"]
