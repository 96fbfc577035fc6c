"""
The three questions (DESIGN, section 6), each answered by a `Report` or by verdicts. The checkers are imported when asked.

    check        is this backpropagator right?
    audit        is this rewrite rule, are these rules together, is this pass sound?
    prove        what can be proved of it?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semantics.errors import Malformed
from semantics.ir import Program

if TYPE_CHECKING:
    from checkers.verdict import Report, Verdict

SEED = 0


def check(
    x: Any,
    samples: Sequence[Any] | None = None,
    *,
    seed: int = SEED,
    skip: Sequence[str] = (),
    examples: int | None = None,
    fixed: Sequence[int] = (),
    domain: Callable[..., bool] | None = None,
    framework: str = "",
) -> Report:
    """
    Judges a backpropagator: of a primitive made by `@aj.primitive`, of a row of the table (by name or as a row), or of another
    framework: a `jax.custom_vjp`, `torch.autograd.Function` or `autograd.extend.primitive`, any function that they differentiate.

    samples    tuples of arguments to judge on and around: arrays, numbers, attributes. Without them, inputs are made from the
               domain and the signature of a primitive; of another framework's function, small arrays that it takes
    seed       of every random choice; printed in the report        skip   names of checks not to make (see `report.ledger`)
    examples   about how many inputs; with 200 and more, arrays     fixed  positions of attributes, with samples
               grow to 10^6 elements, else as far as a second allows
    domain     (x…) -> whether arguments are meant to be tried, with samples
    framework  "jax", "torch" or "autograd": whose rules a plain function is differentiated by
    """
    from adjudge.adapters.frameworks import recognised
    from checkers.primitive_audit.given import nearest, options
    from semantics.primitives.table import TABLE

    options(seed, examples, domain)
    if framework or (not isinstance(x, str) and recognised(x)):
        return _check_foreign(x, samples, (seed, skip, examples), (fixed, domain, framework))
    if isinstance(x, str):
        if x not in TABLE:
            remedy = nearest(x, TABLE, "`adjudge about --primitives` lists them")
            raise Malformed(f"there is no primitive {x!r}", rule="check", remedy=remedy)
        x = TABLE[x]
    if samples is not None or tuple(fixed) or domain is not None:
        return _check_on(x, samples, (seed, skip, examples), (fixed, domain))
    from checkers.primitive_audit import check as judge
    from proofs import prove as prover

    return judge(x, seed=seed, skip=skip, examples=examples, prover=prover)


def _check_on(x: Any, samples: Any, asked: tuple[Any, ...], where: tuple[Any, ...]) -> Report:
    """A primitive of the user, judged as its two functions, on samples."""
    source = getattr(getattr(x, "row", x), "columns", {}).get("source", {})
    forward, rule = source.get("forward"), source.get("backpropagator")
    if forward is None or rule is None or samples is None:
        what = "samples are missing" if samples is None else f"{x!r} is no primitive written in Python with its backpropagator"
        remedy = (
            "a primitive says where it is defined itself: @aj.primitive(domain=..., signature=...); others take samples=[(x, y)]"
        )
        raise Malformed(what, rule="check", remedy=remedy)
    seed, skip, examples = asked
    return check_vjp(forward, rule, samples, seed=seed, skip=skip, examples=examples, fixed=where[0], domain=where[1])


def _check_foreign(x: Any, samples: Any, asked: tuple[Any, ...], where: tuple[Any, ...]) -> Report:
    """An object of another framework, by its adapter."""
    from adjudge.adapters.black_boxes import trial_of
    from checkers import array_audit

    seed, skip, examples = asked
    fixed, domain, framework = where
    many = {} if examples is None else {"examples": examples}
    return array_audit.judged(
        lambda: trial_of(x, samples, seed=seed, fixed=fixed, domain=domain, framework=framework, **many), seed, skip
    )


def check_vjp(
    forward: Callable[..., Any],
    pullback: Callable[..., Any],
    samples: Sequence[Any],
    *,
    seed: int = SEED,
    skip: Sequence[str] = (),
    examples: int | None = None,
    fixed: Sequence[int | str] = (),
    domain: Callable[..., bool] | None = None,
) -> Report:
    """
    Judges a black box: forward(*xs) -> y and pullback(xs, y, dy), or (*xs, y, dy), -> tuple of sensitivities.

    samples   where to judge, on and around: tuples of reals; or of NumPy arrays, and attributes (axes, flags, indices)
    fixed     positions or names of arguments by which nothing is differentiated; forward may say so itself, `n: int`
    domain    (x…) -> whether arguments are meant to be tried
    examples  about how many inputs        seed, skip  as for `check`

    The reference is the strongest that the function offers: exact rationals or balls if it can be run on them, else long-double
    Richardson extrapolation with a derived bound; the report names it.
    """
    from checkers.primitive_audit import check_vjp as judge
    from checkers.primitive_audit.given import options

    options(seed, examples, domain)
    fixed = (fixed,) if isinstance(fixed, (int, str)) else tuple(fixed)
    return judge(forward, pullback, samples, seed=seed, skip=skip, examples=examples, fixed=fixed, domain=domain)


def audit(
    rule_or_pass: Any,
    *,
    seed: int = SEED,
    skip: Sequence[str] = (),
    domain: str | None = None,
    examples: Sequence[Any] = (),
    claims: str = "",
) -> Report:
    """
    Judges a rewrite rule, several rules, a pass, several passes, or a gradient.

        audit("x + 0.0 -> x", domain="IEEE")    audit(aj.rule("x / x -> 1.0 when x != 0"))    audit([double, drop_zero])
        audit("cse")                            audit(my_pass)                                audit(["inline", my_pass])
        audit(system, examples=[f])             audit(my_gradient, claims="gradient")

    rule_or_pass  a rule (`aj.rule`, or its text), a list of rules that are used together, the name of a shipped pass, a
                  RewriteSystem, any function from Program to Program, or a list of passes that are run in turn
    seed          of every random choice; the same seed gives the same report, but for the seconds
    skip          names of checks not to make: `checkers.optimizer_audit.checks` has them all, the ledger of a report those made
    domain        the equality to judge by, in place of the declared one: "BITS" bit for bit, "IEEE" with one NaN, "REAL" over
                  the reals
    examples      functions or programs to judge a pass on, before those that we generate
    claims        "gradient": the function makes of a program its gradient, and is judged against forward mode and the trace

    A rule is judged over the reals and in IEEE-754, by proof and at points; on types, gradients, its side condition, termination
    and overlaps; what would save a refuted rule is said. Of rules together it is asked whether they end and whether their order
    matters, and they are judged as a pass. A pass is run on programs built to contain what passes get wrong; a bad result is
    shrunk and, if the pass is made of rules, blamed on the first bad step.

    The report has the `verdict`, all `verdicts`, the `findings` (faults first), `details`, and the `ledger` of what was and was
    not judged; `raise_for_faults()` for tests. Malformed if there is nothing to judge, or no check of a name.
    """
    from checkers.optimizer_audit import audit as judge
    from checkers.optimizer_audit.checks import known
    from transforms.patterns.rule import PatternRule

    left_out, domain = known(skip), equality(domain)
    programs = [_program(e) for e in examples]
    if isinstance(rule_or_pass, (list, tuple)) and rule_or_pass and all(isinstance(r, PatternRule) for r in rule_or_pass):
        from checkers.optimizer_audit.rule_set import RuleSet

        rule_or_pass = RuleSet(f"{rule_or_pass[0].name} and {len(rule_or_pass) - 1} more", tuple(rule_or_pass))
    if isinstance(rule_or_pass, PatternRule) and domain is not None:
        rule_or_pass = replace(rule_or_pass, domain=domain)
    return judge(rule_or_pass, seed=seed, skip=left_out, domain=domain, examples=programs, claims=claims)


def equality(domain: str | None) -> str | None:
    """The name of an equality domain, in any case, or None; Malformed if it is no such name."""
    from transforms.patterns.rule import DOMAINS

    if domain is None:
        return None
    if not isinstance(domain, str) or domain.upper() not in DOMAINS:
        raise Malformed(f"{domain!r} is no equality domain", rule="audit", remedy=f"one of {', '.join(DOMAINS)}")
    return domain.upper()


def _program(example: Any) -> Program:
    """The program that an example is, or that its source says."""
    from adjudge.functions import parse

    return example if isinstance(example, Program) else parse(example)


def prove(primitive_or_rule: Any) -> list[Verdict]:
    """
    What can be proved of a backpropagator, or of a rewrite rule.

        prove("tanh")    prove(my_primitive)             its backpropagator over the reals; if that is not refuted, J of it against
                                                         the second derivatives, and of several arguments the total differential
        prove(aj.rule("x + 0.0 -> x", domain="IEEE"))    over the reals, then up the ladder of float formats

    A primitive is read by its z3 column (`@f.z3`) or by its forward function, if that is in the language and its loops have a known
    number of turns. A refutation names an input on which the machine found the cotangent wrong, with both values. What cannot be
    read is OutOfScope, with what to add; a domain that holds no point is Vacuous. Malformed if it is no primitive and no rule.
    """
    from proofs import prove as discharge
    from semantics.primitives.row import Primitive
    from semantics.primitives.table import TABLE

    if isinstance(primitive_or_rule, str):
        if primitive_or_rule not in TABLE:
            remedy = "`adjudge about` lists them; a rule is written aj.rule(...)"
            raise Malformed(f"there is no primitive {primitive_or_rule!r}", rule="prove", remedy=remedy)
        primitive_or_rule = TABLE[primitive_or_rule]
    thing = getattr(primitive_or_rule, "row", primitive_or_rule)
    found = list(discharge(thing))
    return found + (_higher(thing, found) if isinstance(thing, Primitive) else [])


def _higher(primitive: Any, first: Sequence[Verdict]) -> list[Verdict]:
    """Second order and the total differential of a scalar primitive whose backpropagator is not refuted."""
    from checkers.verdict import Proved, Unknown
    from proofs import second_order, totals
    from proofs.cases import cases

    if not cases(primitive) or not all(isinstance(v, (Proved, Unknown)) for v in first):
        return []
    asked = [second_order.judge, *([totals.judge] if totals.of_several(primitive) else [])]
    return [judge(primitive).verdict for judge in asked]
