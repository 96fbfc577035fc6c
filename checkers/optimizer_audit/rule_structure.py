"""
A rule as a rewrite: does it fire on its own left side, keep programs well-formed, come to an end on its own results, do what no
shipped rule does already, and occur in generated programs?
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkers.optimizer_audit.rule_values import Rule, points_of
from checkers.optimizer_audit.samples import Point
from checkers.optimizer_audit.term_orders import decreasing
from checkers.optimizer_audit.triggers import typed
from checkers.optimizer_audit.unification import instance_of, positions
from checkers.verdict import Counterexample, Passed, Proved, Refuted, Unknown, Vacuous, Verdict
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.wellformed import check
from transforms.patterns.text import Literal, Variable
from transforms.places import places
from transforms.realness import DECLARED, fits
from transforms.system import Rewrite, RewriteSystem

MOST_STEPS = 40


def instances(rule: Rule, seed: int) -> Iterator[Program]:
    """The left side with typed parameters, and with constants from the side condition in place of some or all variables."""
    bare = typed(rule.left)
    yield bare
    points = points_of(rule, seed, finite=True, most=24)
    for point in points[:6]:
        for kept in (*range(len(point)), -1):
            yield _filled(bare, point, kept)


def _filled(program: Program, point: Point, kept: int) -> Program:
    """Constants for all parameters but the one at `kept`."""
    edit = Edit(program)
    for i, (node, value) in enumerate(zip(program.graphs[program.entry].parameters, point, strict=True)):
        if i != kept:
            edit.replace(node, edit.constant(value))
    return edit.program


def fired(rewrite: Rewrite, program: Program) -> Iterator[Program]:
    """Every program that one step of the rule leads to."""
    for place in places(program):
        after = rewrite.function(program, place)
        if after is not None:
            yield after


def fires(rule: Rule, rewrite: Rewrite, seed: int) -> tuple[Verdict, Program | None]:
    """The rule on its own left side: it must fire somewhere and leave a well-formed program, which is returned too."""
    claim = "fires on its own left side, and leaves it well-formed"
    for instance in instances(rule, seed):
        for after in fired(rewrite, instance):
            try:
                check(after)
            except AdjudgeError as error:
                return Refuted(Counterexample({"before": str(instance)}, str(after), error.what), "fault", claim), None
            return Passed(1, "its own left side", claim), after
    return Vacuous("the rule fires on no instance of its own left side", claim), None


def terminates(rule: Any, rewrite: Rewrite, start: Program | None) -> Verdict:
    """A simplification order in which the left side is greater; where none is found, the rule is applied again to what it made."""
    order = decreasing(rule.left_term, rule.right_term) if hasattr(rule, "left_term") else ""
    if order:
        return Proved(order, "ends, used alone, on every program")
    claim = "ends on its own results"
    if start is None:
        return Unknown("no simplification order makes the left side greater, and it was not run", claim)
    seen, program = {start.canonical}, start
    for steps in range(MOST_STEPS):
        after = next(fired(rewrite, program), None)
        if after is None:
            return Passed(steps + 1, "steps from its left side to where it applies no more", claim)
        program = after
        if program.canonical in seen:
            why = f"after {steps + 2} steps the program is one that was there before"
            return Refuted(Counterexample({"program": str(program)}, "a loop", "an end", why), "convention", claim)
        seen.add(program.canonical)
    why = f"it still applies after {MOST_STEPS} steps"
    return Refuted(Counterexample({"program": str(start)}, "growth", "an end", why), "convention", claim)


def subsumed(rule: Rule, shipped: Sequence[Rewrite]) -> list[str]:
    """The names of shipped rules that do to the left side what the rule does; empty if they leave the sides apart."""
    left, right = typed(rule.left), typed(rule.right)
    known = [r for r in shipped if r.name != rule.name]
    if not known:
        return []
    system = RewriteSystem("shipped", tuple(known))
    try:
        normal = system.derive(left, fuel=200, checked=False)
        target = system.run(right, fuel=200)
    except AdjudgeError:
        return []
    return sorted({s.rule for s in normal.steps}) if normal.steps and normal.result == target else []


def instance_in(rule: Any, others: Sequence[Any]) -> list[str]:
    """The names of the rules of which this one is an instance: left and right, types and side condition included."""
    return [o.name for o in others if o is not rule and o.name != rule.name and _is_instance(rule, o)]


def _is_instance(rule: Any, other: Any) -> bool:
    found = instance_of((other.left_term, other.right_term), (rule.left_term, rule.right_term))
    if found is None or (other.condition is not None and not _same_condition(rule, other, found)):
        return False
    return all(_admits(other.variables[x], term, rule) for x, term in found.items())


def _same_condition(rule: Any, other: Any, found: Mapping[str, Any]) -> bool:
    """Whether the condition of the other says of what its variables stand for what the rule's own says."""
    if rule.condition is None or not all(isinstance(t, Variable) for t in found.values()):
        return False
    names = {x: t.name for x, t in found.items()}
    said = re.sub(r"[A-Za-z]\w*", lambda m: names.get(m[0], m[0]), str(other.condition))
    return set(said.split(" and ")) <= set(str(rule.condition).split(" and "))


def _admits(type: str, term: Any, rule: Any) -> bool:
    """Whether a metavariable of this type stands for the term of the rule."""
    match term:
        case Variable(name):
            own = rule.variables[name]
            return type in ("any", own) or (type == "number" and own in ("f64", "i64"))
        case Literal(value):
            python = {"f64": (float,), "i64": (int,), "bool": (bool,), "number": (float, int)}.get(type)
            return type == "any" or (python is not None and builtins.type(value) in python)
        case _:
            return type == "any" or _result_fits(type, term, rule)


def _result_fits(type: str, term: Any, rule: Any) -> bool:
    """Whether the value of an application is known to be of the type, given the types of the rule's metavariables."""
    program = typed(rule.left)
    places_of = [path for path, part in positions(rule.left_term) if part is term]
    node = program.graphs[program.entry].output
    for index in places_of[0] if places_of else ():
        node = program.inputs(node)[index + 1]
    return bool(places_of) and type in DECLARED and fits(program, node, type)


def hits(rewrite: Rewrite, programs: Sequence[Program]) -> list[tuple[Program, Program]]:
    """The programs on which the rule fires, each with what one step makes of it."""
    found: list[tuple[Program, Program]] = []
    for program in programs:
        after = next(fired(rewrite, program), None)
        if after is not None:
            found.append((program, after))
    return found


def known(rule: Any) -> Rewrite | None:
    """The rule as the engine runs it, if it can."""
    found = getattr(rule, "rewrite", None)
    return found if isinstance(found, Rewrite) else None
