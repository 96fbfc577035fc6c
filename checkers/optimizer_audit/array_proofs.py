"""
Proofs of array rules for all shapes.

    index forms   both sides have one normal form at symbolic sizes, for every choice of attributes (`checkers.smt.index_reading`)
    elementwise   every primitive acts element by element, the sides have the same variables, and the rule holds of scalars: then
                  the shapes of both sides are what these variables broadcast to, and at each index the scalar rule applies. Where
                  several variables meet and the right side is not defined everywhere, an empty array can make a difference, and
                  the lemma is not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from checkers.optimizer_audit.array_instances import Instance, Instances
from checkers.smt.index_factors import Form
from checkers.smt.index_reading import Equality, equal_for_all_shapes
from checkers.smt.index_values import Indexed, Opaque, View, array, number
from checkers.verdict import Proved, Unknown, Verdict
from semantics.arrays import FLOATING
from semantics.primitives.table import ELEMENTWISE
from semantics.type_language import BOOLEAN, REAL
from transforms.patterns.metavariables import ATTRIBUTES, array_type
from transforms.patterns.rule import PatternRule
from transforms.patterns.terms import Term, Variable, calls

CLAIM = "equal over the reals, for all shapes"


def proved_for_all_shapes(rule: PatternRule, instances: Instances, rlimit: int) -> Verdict:
    """Proved, or Unknown with what stands in the way."""
    found = by_index_forms(rule, instances.found)
    if found.same:
        choices = len(_choices(instances.found))
        by = "index forms" + (f", {choices} choices of attributes" if choices > 1 else "")
        return Proved(by, CLAIM)
    scalars = elementwise_rule(rule, FLOATING)  # over the reals nothing is rounded
    if scalars is not None:
        from checkers.smt.equality import equal_over_reals

        verdict = equal_over_reals(scalars.left, scalars.right, None, scalars.condition, rlimit=rlimit)
        if isinstance(verdict, Proved):
            return Proved(f"{verdict.by}, at every element", CLAIM)
    return Unknown(found.why, CLAIM)


def only_moves(rule: PatternRule, found: Sequence[Instance]) -> bool:
    """Whether both sides are one, for all shapes, without any arithmetic: then the bits are the same too."""
    equality = by_index_forms(rule, found)
    return equality.same and equality.moves_only


def by_index_forms(rule: PatternRule, found: Sequence[Instance]) -> Equality:
    """The rule at symbolic sizes, for every choice of attributes that some instance has."""
    kinds = {rule.variables[n] for n in rule.literals}
    any_rank = any((a := array_type(t)) is not None and a.dims is None for t in rule.variables.values())
    if any_rank:
        return equal_for_all_shapes(rule.left, rule.right, [_argument(n, t) for n, t in rule.variables.items()])
    if kinds & {"shape", "index"}:
        return Equality(False, False, "which shapes and indices fit depends on the sizes")
    if not found:
        return Equality(False, False, "the rule has no instance")
    moves = True
    for attributes in _choices(found):
        given = [_argument(n, t) for n, t in rule.variables.items() if n not in attributes]
        equality = equal_for_all_shapes(*rule.instance({}, attributes), given)
        if not equality.same:
            return equality
        moves = moves and equality.moves_only
    return Equality(True, moves)


def _choices(found: Sequence[Instance]) -> list[dict[str, Any]]:
    """The choices of attributes among the instances."""
    return list({str(sorted(i.attributes.items())): dict(i.attributes) for i in found}.values())


def _argument(name: str, text: str) -> Form | Indexed | View | Opaque:
    """A metavariable at symbolic sizes; an attribute stands for itself."""
    arrays = array_type(text)
    if arrays is None:
        return Opaque(name) if text in ATTRIBUTES else number(name)
    if arrays.dims is None:
        return View(arrays.dtype, name, Opaque(f"shape of {name}"))
    dims = tuple(f"{name}.{k}" if d is None else d for k, d in enumerate(arrays.dims))
    return array(name, arrays.dtype, dims)


def elementwise_rule(rule: PatternRule, reals: tuple[str, ...] = ("f64",)) -> Instance | None:
    """The rule of scalars that an elementwise rule is at every index; None if the lemma does not apply. `reals` are read as f64."""
    types = {n: _scalar(t, reals) for n, t in rule.variables.items()}
    primitives = [c.primitive for side in (rule.left_term, rule.right_term) for c in calls(side)]
    if None in types.values() or rule.literals or not all(p.name in ELEMENTWISE for p in primitives):
        return None
    if _variables(rule.left_term) != _variables(rule.right_term):
        return None
    if isinstance(rule.right_term, Variable) and (bare := array_type(rule.variables[rule.right_term.name])) and bare.dims == ():
        return None  # arithmetic makes a number of an array without axes
    needs = any(c.primitive.domain for c in calls(rule.right_term))
    if needs and len(types) > 1:
        return None
    left, right = rule.instance(types, {})
    return Instance(rule.name, left, right, rule.condition, rule.domain, types, {}, {})


def _scalar(text: str, reals: tuple[str, ...]) -> Any:
    arrays = array_type(text)
    element = text if arrays is None else "f64" if arrays.dtype in reals else arrays.dtype
    return {"f64": REAL, "bool": BOOLEAN}.get(element)


def _variables(term: Term) -> set[str]:
    """The names of the variables in a term."""
    found = {a.name for c in calls(term) for a in c.arguments if isinstance(a, Variable)}
    return found | ({term.name} if isinstance(term, Variable) else set())
