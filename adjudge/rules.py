"""
Rewrites of the user: `rule("x + 0.0 -> x")` is the object that `audit` and `prove` take, and that a pass can be made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from semantics.errors import Malformed
from transforms.patterns.functions import function_rule
from transforms.patterns.rule import DOMAINS, PatternRule, pattern_rule


def rule(
    left: str | Callable[..., Any],
    right: Callable[..., Any] | None = None,
    *,
    when: str | None = None,
    domain: str = "REAL",
    name: str = "",
    **types: str,
) -> PatternRule:
    """
    The rewrite that a text states, `left -> right`, or that two functions of the same parameters do.

        rule("x / x -> 1.0 when x != 0")        rule("x: f64[m, n] | transpose(transpose(x)) -> x")
        rule(lambda x: x + 0.0, lambda x: x)    rule(lambda x, a: np.sum(-x, axis=a), lambda x, a: -np.sum(x, axis=a), x="f64[...]")

    when    the side condition, such as "x != 0", if the text does not say it
    domain  the equality that it claims: "REAL" over the reals, "IEEE" with one NaN, "BITS" bit for bit
    name    what reports call it; the text if not given
    types   of the parameters of functions, which annotations may say too; in a text they stand before `|`. Names are f64 scalars
            unless typed (`transforms.patterns.rule` has the types)

    Malformed, with a caret where there is one, if the text, the condition or the domain cannot be read.
    """
    for what, value in (("name", name), ("domain", domain), *(("type of " + n, t) for n, t in types.items())):
        if not isinstance(value, str):
            raise _refuse(f"the {what} of a rule is a string, not {value!r}", 'rule("x + 0.0 -> x", domain="REAL")')
    if when is not None and not isinstance(when, str):
        raise _refuse(f"the side condition of a rule is a string, not {when!r}", 'when="x != 0"')
    if domain not in DOMAINS:
        raise _refuse(f"{domain!r} is no equality domain", f"one of {', '.join(DOMAINS)}")
    if callable(left) and callable(right):
        return function_rule(left, right, types, when=when, domain=domain, name=name)
    if not isinstance(left, str):
        raise _refuse(f"the text of a rule is a string, not {left!r}", "a text, or two functions of the same parameters")
    if right is not None or types:
        raise _refuse("a text states both sides and the types", 'rule("x: i64 | x + 0 -> x", when=…)')
    if "->" not in left:
        raise _refuse(f"{left!r} has no `->`", "write it as `left -> right`, such as `x * 2.0 -> x + x`")
    return pattern_rule(left, when=when, domain=domain, name=name)


def _refuse(what: str, remedy: str) -> Malformed:
    return Malformed(what, rule="rule", remedy=remedy)
