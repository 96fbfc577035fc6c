"""
Rewrites of the user: `rule("x + 0.0 -> x")` is the object that `audit` and `prove` take, and that a pass can be made of.
"""

from __future__ import annotations

from semantics.errors import Malformed
from transforms.pattern import DOMAINS, PatternRule, pattern_rule


def rule(text: str, when: str | None = None, domain: str = "REAL", name: str = "") -> PatternRule:
    """
    The rewrite that `text` states, `left -> right`. Names are f64 scalars unless typed: `x: i64 | x + 0 -> x`.

    when    the side condition, such as "x != 0"
    domain  the equality that it claims: "REAL" over the reals, "IEEE" with one NaN, "BITS" bit for bit
    name    what reports call it; the text if not given

    Malformed, with a caret where there is one, if the text, the condition or the domain cannot be read.
    """
    for what, value in (("text", text), ("name", name), ("domain", domain)):
        if not isinstance(value, str):
            raise Malformed(
                f"the {what} of a rule is a string, not {value!r}", rule="rule", remedy='rule("x + 0.0 -> x", domain="REAL")'
            )
    if when is not None and not isinstance(when, str):
        raise Malformed(f"the side condition of a rule is a string, not {when!r}", rule="rule", remedy='when="x != 0"')
    if domain not in DOMAINS:
        raise Malformed(f"{domain!r} is no equality domain", rule="rule", remedy=f"one of {', '.join(DOMAINS)}")
    if "->" not in text:
        raise Malformed(f"{text!r} has no `->`", rule="rule", remedy="write it as `left -> right`, such as `x * 2.0 -> x + x`")
    return pattern_rule(text, when=when, domain=domain, name=name)
