"""
Are two programs the same function? For any two of them, with no word on how one became the other.

    identity mod p     first a refuter: two rational functions that differ do so at a random residue; replayed on fractions
    sweep              straight-line programs, of any size: the two values are one graph of terms, gone through from the leaves up;
                       what the right one needs in order to be defined, the left one needs too (`straight`)
    path by path       programs with branches: every path of one against every path of the other that it can meet, by sweep, normal
                       form and solver; the solver also shows that the domain does not shrink
    induction          one loop on either side: in lockstep, by an invariant that the user gives, or that equal names are equal
                       (`lockstep`)
    turn by turn       programs whose loops a whole number counts: for each of its values up to a bound, which the verdict states
    bits               both are rewritten by rules that are proved bit for bit, until one text is left; small ones are asked about

The verdict is Proved (for all inputs), Passed (for all real inputs, at a bounded number of turns), Refuted (replayed, at the
smallest point that was found) or Unknown. A normal form that differs proves nothing and refutes nothing.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from checkers.slopes import identical_mod_p
from checkers.smt.equality import judge_over_reals
from checkers.smt.inquiry import Judgment
from checkers.smt.sides import kinds_of, parameter_names
from checkers.smt.solver import RLIMIT
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous
from proofs.validation.arguments import declared, of_leaves
from proofs.validation.bits import bit_for_bit, why
from proofs.validation.lockstep import by_induction, looping
from proofs.validation.smaller import difference_at_points, made_small
from proofs.validation.straight import alike, equal_terms
from proofs.validation.sweep import Sweep
from semantics.conditions import Condition
from semantics.edit import Edit
from semantics.errors import AdjudgeError, IllTyped, Malformed
from semantics.ir import Program

CLAIM = "the same function"
DOMAINS = ("REAL", "BITS")
TURNS = 4
MOST_UNROLLED = 125
FEW_POINTS, FEW_STEPS = 24, 10_000
"""Points at which loops are run that nothing else decides, and the fuel for each: it may not end."""
DECIDED = (Proved, Refuted, Vacuous)


def same(
    left: Program,
    right: Program,
    *,
    domain: str = "REAL",
    condition: Condition | str | None = None,
    turns: int = TURNS,
    invariant: Program | None = None,
    types: Sequence[Any] | None = None,
    rlimit: int = RLIMIT,
    seed: int = 0,
) -> Judgment:
    """
    Whether `right` has the value of `left` wherever `left` has one.

    domain     "REAL" over the real numbers, "BITS" bit for bit in IEEE-754
    condition  on the parameters of `left`: "x > 0"
    turns      whole numbers that count loops are tried from 0 to this, where no proof for all of them is found
    invariant  of the states of the two loops, each a dictionary of its variables, and of arguments by name; its value is a boolean
    types      of the arguments; those that `left` declares, and reals, if none are given
    rlimit     resources of z3 for one question

    Malformed if the programs do not take the same arguments, or an argument has no known number of parts.
    """
    started = time.perf_counter()
    _checked(left, right, domain, invariant)
    given = tuple(types) if types is not None else declared(left)
    left, right = of_leaves(left, given), of_leaves(right, given)
    if domain == "BITS":
        found = bit_for_bit(left, right, condition, rlimit, CLAIM)
    else:
        found = _over_reals_with_loops(left, right, condition, turns, invariant, rlimit, seed)
    if isinstance(found.verdict, Refuted) and domain == "REAL":
        found = replace(found, verdict=made_small(left, right, kinds_of(left), condition, found.verdict))
    return replace(found, name=CLAIM, verdict=replace(found.verdict, claim=CLAIM), seconds=time.perf_counter() - started)


def _checked(left: Program, right: Program, domain: str, invariant: Program | None) -> None:
    if domain not in DOMAINS:
        raise Malformed(f"{domain!r} is no equality domain here", rule="same", remedy=f"one of {', '.join(DOMAINS)}")
    counts = [len(p.graphs[p.entry].parameters) for p in (left, right)]
    if counts[0] != counts[1]:
        raise Malformed(
            f"one program takes {counts[0]} arguments, the other {counts[1]}",
            rule="same",
            remedy="two functions of the same arguments",
        )
    if invariant is None:
        return
    if len(invariant.graphs[invariant.entry].parameters) < 2:
        remedy = "lambda a, b: a['n'] == b['n'], of the variables of the two loops"
        raise Malformed("an invariant takes two states, and arguments of the functions", rule="same", remedy=remedy)
    if domain == "BITS" or not (looping(left) and looping(right)):
        remedy = "leave it out, or compare two functions with one loop each, over the reals"
        raise Malformed("an invariant is of two loops, over the reals", rule="same", remedy=remedy)


# over the reals


def _over_reals_with_loops(
    left: Program, right: Program, condition: Condition | str | None, turns: int, invariant: Program | None, rlimit: int, seed: int
) -> Judgment:
    """The strongest verdict: for all turns, by induction first, which looks at one turn, or by all paths; or for some turns."""
    if invariant is not None:
        return by_induction(left, right, condition, invariant, rlimit, CLAIM)
    hint = "a loop whose turns no whole number counts is proved by induction, with an invariant"
    if looping(left) and looping(right):
        inductive = by_induction(left, right, condition, None, rlimit, CLAIM)
        if isinstance(inductive.verdict, Proved):
            return inductive
        hint += "; without one, " + why(inductive.verdict)
    found = over_reals(left, right, condition, rlimit, seed)
    if isinstance(found.verdict, DECIDED) or not (looping(left) or looping(right)):
        return found
    if "integer" in kinds_of(left):
        found = turn_by_turn(left, right, condition, turns, rlimit, found)
    if isinstance(found.verdict, Unknown):
        if (shown := difference_at_points(left, right, kinds_of(left), condition, FEW_POINTS, FEW_STEPS)) is not None:
            return replace(found, method="execution", verdict=shown)
        found = replace(found, verdict=Unknown(f"{found.verdict.reason}; {hint}"))
    return found


def over_reals(left: Program, right: Program, condition: Condition | str | None, rlimit: int, seed: int) -> Judgment:
    """For all real arguments: refuted modulo p, or proved by sweep where neither program branches, or path by path."""
    kinds = kinds_of(left)
    if condition is None and set(kinds) <= {"real"}:
        try:
            first = identical_mod_p(left, right, 2, seed)
        except AdjudgeError:
            first = Unknown("it cannot be read modulo p")
        if isinstance(first, Refuted):
            inputs = dict(zip(parameter_names(left), first.counterexample.inputs.values(), strict=True))
            first = replace(first, counterexample=replace(first.counterexample, inputs=inputs))
            return Judgment(CLAIM, "identity mod p", first)
    if condition is None:
        try:
            if alike(left, right, kinds):
                return Judgment(CLAIM, "sweep", Proved("a sweep of both graphs"))
        except AdjudgeError as error:
            return Judgment(CLAIM, "none", OutOfScope(error.what) if isinstance(error, IllTyped) else Unknown(error.what))
    sweep = Sweep()
    return judge_over_reals(left, right, kinds, condition, equal=partial(equal_terms, sweep), rlimit=rlimit)


def turn_by_turn(
    left: Program, right: Program, condition: Condition | str | None, turns: int, rlimit: int, otherwise: Judgment
) -> Judgment:
    """All whole-number arguments from 0 to `turns`: proved for all reals at each; else the first judgment that is no proof."""
    places = [i for i, kind in enumerate(kinds_of(left)) if kind == "integer"]
    if (turns + 1) ** len(places) > MOST_UNROLLED:
        return replace(otherwise, verdict=Unknown(f"{len(places)} whole numbers from 0 to {turns} are too many to go through"))
    methods: set[str] = set()
    answers: list[Any] = []
    for values in itertools.product(range(turns + 1), repeat=len(places)):
        fixed = dict(zip(places, values, strict=True))
        found = over_reals(specialised(left, fixed), specialised(right, fixed), condition, rlimit, 0)
        if isinstance(found.verdict, Refuted):
            return replace(found, verdict=_at(left, fixed, found.verdict))
        if not isinstance(found.verdict, (Proved, Vacuous)):
            if not any(values):
                return otherwise
            return replace(found, verdict=Unknown(f"at {', '.join(map(str, values))} turns: {why(found.verdict)}"))
        methods.add(found.method)
        answers += found.answers
    by = " and ".join(sorted(methods))
    what = f"values of the whole-number arguments, 0 to {turns}, each for all reals ({by}): bounded unrolling"
    return Judgment(CLAIM, by, Passed((turns + 1) ** len(places), what), answers=tuple(answers))


def _at(program: Program, fixed: dict[int, int], found: Refuted) -> Refuted:
    """The refutation at the whole numbers that it was found for."""
    names = parameter_names(program)
    inputs = found.counterexample.inputs | {names[i]: value for i, value in fixed.items()}
    return replace(found, counterexample=replace(found.counterexample, inputs=inputs))


def specialised(program: Program, fixed: dict[int, int]) -> Program:
    """The program with some of its parameters replaced by whole numbers; it still takes them."""
    edit = Edit(program)
    parameters = program.graphs[program.entry].parameters
    for i, value in fixed.items():
        edit.replace(parameters[i], edit.constant(value))
    return edit.program


__all__ = ["CLAIM", "same"]
