"""
Wrong backpropagators of arrays that public systems shipped (`ZOO.md`, first section and its cotangent line), and others like them.

A `Bug` stands by its right twin, with samples as an honest author gives: the input at which the bug shows is not among them, unless
it shows everywhere. `ZOO` has the shipped ones by reference; `OTHERS` those that are in no list. `TWINS` are the right ones that
are not among the other controls.
"""

from __future__ import annotations

from mutants.array_rules import Bug
from mutants.zoo_rules.cotangents import COTANGENTS
from mutants.zoo_rules.invented import INVENTED
from mutants.zoo_rules.shipped import SHIPPED
from mutants.zoo_rules.twins import RIGHT, TWINS

__all__ = ["OTHERS", "TWINS", "ZOO"]

ZOO: dict[str, tuple[Bug, ...]] = {}
for _reference, _name, _twin, _rule, _checks, _kind in (*SHIPPED, *COTANGENTS):
    ZOO[_reference] = (*ZOO.get(_reference, ()), Bug(_name, RIGHT[_twin], _rule, _checks, _kind))
OTHERS = tuple(Bug(name, RIGHT[twin], rule, checks, kind) for name, twin, rule, checks, kind in INVENTED)
