"""What a file has to judge: primitives, rules, sets of rules, passes."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any, get_type_hints

from adjudge.primitives import UserPrimitive
from semantics.ir import Program
from transforms.pattern import PatternRule
from transforms.system import AgendaSystem, Rewrite, RewriteSystem


def is_primitive(value: Any) -> bool:
    """Whether `check` judges it."""
    return isinstance(value, UserPrimitive)


def is_rewriting(value: Any, module: ModuleType | None = None) -> bool:
    """
    Whether `audit` judges it without being told its name: a rule, a system of rules, an object with a name and `run`, or a
    function of the module itself whose one parameter and result are annotated `Program`.
    """
    if isinstance(value, (type, ModuleType)):
        return False
    if isinstance(value, (PatternRule, Rewrite, RewriteSystem, AgendaSystem)):
        return True
    if inspect.isfunction(value):
        return module is not None and value.__module__ == module.__name__ and _on_programs(value)
    return callable(getattr(value, "run", None)) and isinstance(getattr(value, "name", None), str)


def _on_programs(function: Any) -> bool:
    try:
        hints = get_type_hints(function)
    except Exception:  # annotations are foreign code
        return False
    return len(inspect.signature(function).parameters) == 1 and list(hints.values()) == [Program, Program]


def primitives_in(module: ModuleType) -> dict[str, Any]:
    """The primitives that a file defines."""
    return {name: value for name, value in vars(module).items() if is_primitive(value)}


def rewriting_in(module: ModuleType, file: str = "") -> dict[str, Any]:
    """
    The rules and passes that a file defines. A list of rules is judged as rules together; so are all rules of a `file` that is
    named, if there are several and no list has them.
    """
    from checkers.optimizer_audit.rule_set import RuleSet

    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if is_rules(value):
            found[name] = RuleSet(name, tuple(value))
        elif is_rewriting(value, module):
            found[name] = value
    rules = tuple(v for v in found.values() if isinstance(v, PatternRule))
    listed = any(isinstance(v, RuleSet) and {id(r) for r in rules} <= {id(r) for r in v.rules} for v in found.values())
    if file and len(rules) > 1 and not listed:
        found[f"rules of {file}"] = RuleSet(file, rules)
    return found


def is_rules(value: Any) -> bool:
    """Whether it is a list of rules."""
    return isinstance(value, (list, tuple)) and len(value) > 1 and all(isinstance(r, PatternRule) for r in value)
