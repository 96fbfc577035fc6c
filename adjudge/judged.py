"""
What a file has to judge: primitives and rules of other frameworks (`check`), rewrite rules, sets of them, passes (`audit`).

`check` finds the primitives of a file, and each `jax.custom_vjp`, `jax.custom_jvp`, `torch.autograd.Function` and
`autograd.extend.primitive` that is written in it. How they are to be tried, a table in the file may say:

    ADJUDGE = {
        "blend": {"samples": [(x, y, 0.5)], "fixed": (2,)},
        "inverse": {"samples": [(a,)], "domain": lambda a: np.linalg.cond(a) < 1e3},
        "loss": {"samples": [(x,)], "framework": "torch"},
    }

    samples    tuples of arguments                       domain     arguments -> whether they are meant to be tried
    fixed      positions of attributes                   framework  of a function that is no rule: "jax", "torch", "autograd"
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, get_type_hints

from adjudge.adapters import frameworks
from adjudge.primitives import UserPrimitive
from semantics.errors import Malformed
from semantics.ir import Program
from transforms.agenda_system import AgendaSystem
from transforms.patterns.rule import PatternRule
from transforms.system import Rewrite, RewriteSystem

TABLE_OF_FILE = "ADJUDGE"
OPTIONS = ("samples", "domain", "fixed", "framework")


@dataclass(frozen=True, slots=True)
class Checked:
    """What `check` is to judge, and the options that the file gives for it."""

    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)


def is_primitive(value: Any) -> bool:
    """Whether it is a primitive made by `@aj.primitive`."""
    return isinstance(value, UserPrimitive)


def is_rewriting(value: Any, module: ModuleType | None = None) -> bool:
    """
    Whether `audit` judges it without being told its name: a rule, a system of rules, an object with a name and `run`, or a
    function of the module itself whose one parameter and result are annotated `Program`.
    """
    if isinstance(value, (type, ModuleType)) or frameworks.is_rule(value):
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


def primitives_in(module: ModuleType) -> dict[str, Checked]:
    """
    What `check` judges in a file: its primitives, the rules of other frameworks that it defines, and what its table names.

    A rule that the file imports, or knows by a second name, is judged if the table names it. Malformed for a table that cannot be
    read.
    """
    table = table_of(module)
    found: dict[str, Checked] = {}
    seen: set[int] = set()
    for name, value in vars(module).items():
        mine = is_primitive(value) or (frameworks.is_rule(value) and frameworks.home(value) == module.__name__)
        if name in table or (mine and id(value) not in seen):
            seen.add(id(value))
            found[name] = _checked(value, table.get(name, {}))
    return found


def _checked(value: Any, options: Mapping[str, Any]) -> Checked:
    given = dict(options)
    framework = given.pop("framework", "")
    return Checked(frameworks.of_framework(value, framework) if framework else value, given)


def table_of(module: ModuleType) -> dict[str, Mapping[str, Any]]:
    """The table of a file, empty if there is none. Malformed where a name or an option in it is not known."""
    table = getattr(module, TABLE_OF_FILE, {})
    example = f'{TABLE_OF_FILE} = {{"name": {{"samples": [(x, y)]}}}}'
    if not isinstance(table, Mapping) or not all(isinstance(v, Mapping) for v in table.values()):
        raise Malformed(f"{TABLE_OF_FILE} is no table of tables", rule="check", remedy=f"write {example}")
    for name, options in table.items():
        if name not in vars(module):
            raise Malformed(f"{TABLE_OF_FILE} names {name!r}, which the file does not define", rule="check", remedy=example)
        for option in options:
            if option not in OPTIONS:
                remedy = f"one of {', '.join(OPTIONS)}"
                raise Malformed(f"{TABLE_OF_FILE} has no option {option!r}, given for {name!r}", rule="check", remedy=remedy)
    return dict(table)


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
