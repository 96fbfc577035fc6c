"""
Every scalar backpropagator is right over the reals, inside its domain and off its kinks.

The program of the rule itself is run on terms, at symbolic x and dout with out = p(x), on all its paths; each cotangent must be
dout times the partial derivative of p, which does not come from a rule (`proofs.derivations`). At the kinks of abs, min and max
the rule must give a subgradient (`proofs.kinks`). A rule that differs is refuted by execution (`proofs.comparison`).

A domain that no point lies in makes the verdict Vacuous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.replay import floats
from checkers.verdict import OutOfScope, Proved, Unknown, Verdict
from proofs.cases import EXPONENTS, Case, cases
from proofs.comparison import Comparison, Wanted
from proofs.derivations import Derivation, Setting, points_of
from proofs.kinks import METHOD, judge_kinks
from proofs.obligation import Obligation
from semantics.columns.meaning import MEANING
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.row import Hole, Primitive
from transforms.backpropagators import backpropagator
from transforms.python_rows import constants, is_opaque, program_of

COTANGENTS = (Fraction(1), Fraction(-2), Fraction(1, 2), Fraction(0))
BOTH = "normal form and z3"
EXP = ("exp_sum", "exp_slope")
LOG = (*EXP, "log_inverse", "inverse")
CIRCULAR = ("sin_sum", "cos_sum", "sin_slope", "cos_slope", "circle")
# What the derivative of a function rests on; where nothing is said, on `slope` alone.
AXIOMS: dict[str, tuple[str, ...]] = {
    "exp": EXP,
    "log": LOG,
    "tan": ("tangent", *CIRCULAR),
    "asin": ("asin_inverse", "roots", "inverse", *CIRCULAR),
    "acos": ("acos_inverse", "roots", "inverse", *CIRCULAR),
    "atan": ("atan_inverse", "tangent", "inverse", *CIRCULAR),
    "atan2": ("polar", "inverse", *CIRCULAR),
    "pow": ("slope", "real_power", *LOG),
    **dict.fromkeys(("sin", "cos"), CIRCULAR),
    **dict.fromkeys(("erf", "erfc"), ("erf_integral", "pi", *EXP)),
    **dict.fromkeys(("sinh", "cosh", "tanh"), ("hyperbolic", *EXP)),
    **dict.fromkeys(("asinh", "acosh", "atanh"), ("inverse_hyperbolic", "roots", *LOG)),
    **dict.fromkeys(("log1p", "logaddexp"), ("shifted", *LOG)),
    "expm1": ("shifted", *EXP),
    **dict.fromkeys(("log2", "log10"), ("logarithm_bases", *LOG)),
    **dict.fromkeys(("sqrt", "cbrt", "hypot"), ("roots", "slope")),
    **dict.fromkeys(("floordiv", "mod", "floor", "ceil", "to_integer"), ("pieces",)),
}


class FirstOrder:
    """One rule against one primitive. What second order shares: the cases, the course of a judgment, the words of its scope."""

    def __init__(self, primitive: Primitive, rule: Program, derivation: Derivation | None = None) -> None:
        self.primitive, self.rule, self.inquiry = primitive, rule, Inquiry()
        self.derivation = derivation or Derivation(primitive, self.inquiry)

    def verdict(self) -> Verdict:
        if not cases(self.primitive):
            return OutOfScope(f"{self.primitive.name} is not a function of reals; adjudge.check judges it by execution")
        if is_opaque(self.rule):
            return OutOfScope(f"the proofs cannot look into the backpropagator of {self.primitive.name}{objection(self.primitive)}")
        for setting in self.derivation.settings():
            wrong = self.setting(setting) if isinstance(setting, Setting) else setting
            if wrong is not None:
                return wrong
        if (wrong := self.kinks()) is not None:
            return wrong
        return Proved(f"{self.scope()}; by {in_words(self.derivation.methods)}")

    def setting(self, setting: Setting) -> Verdict | None:
        """None if the program gives what is wanted in one setting."""
        wanted = self.wanted(setting)
        if not isinstance(wanted, Wanted):
            return wanted
        comparison = Comparison(self.inquiry, wanted)
        wrong = comparison.verdict()
        self.derivation.methods |= comparison.methods
        return wrong

    def wanted(self, setting: Setting) -> Wanted | Verdict:
        """The rule at (x…, out, dout) is to give dout·∂p/∂x for every x that moves."""
        case, dout, p = setting.case, z3.Real("dout"), self.primitive
        return Wanted(
            self.rule,
            [*case.arguments, setting.out, dout],
            {i: dout * term for i, term in setting.first.items()},
            [f"dout times the derivative of {p.name} by {x}" for x in p.parameters],
            len(case.arguments),
            setting.assumed,
            dict(zip([*p.parameters, "dout"], [*case.arguments, dout], strict=True)),
            sampled(case, ["dout"]),
            self.execute,
            note=case.label,
        )

    def execute(self, values: list[Any]) -> Any:
        """What the machine answers for the rule on doubles."""
        *inputs, dout = (float(v) if isinstance(v, Fraction) else v for v in values)
        try:
            out = MEANING[self.primitive](*inputs)
        except AdjudgeError as error:
            return error
        return floats(self.rule, [*inputs, out, dout])

    def kinks(self) -> Verdict | None:
        return judge_kinks(self.derivation, self.rule, self.execute)

    def scope(self) -> str:
        """Where the claim holds, in words."""
        everywhere = not self.primitive.kinks or METHOD in self.derivation.methods
        if self.primitive.name == "pow":
            where = f"at integer exponents {min(EXPONENTS)}…{max(EXPONENTS)}, and at real ones for a positive base"
        elif self.derivation.partial:
            where = "where the formula of its derivative is defined"
        elif self.derivation.off_boundaries and everywhere:
            where = "off the boundaries of its pieces"
        else:
            where = "everywhere in its domain" if everywhere else "off its kinks"
        return where


def in_words(methods: set[str]) -> str:
    """The methods as a list, the solvers last; what "normal form and z3" says too is not said twice."""
    others = sorted(m for m in methods if m != BOTH and (BOTH not in methods or m not in ("normal form", "z3")))
    return ", ".join([*others, *({BOTH} & methods)]) or "execution"


def sampled(case: Case, factors: Iterable[str]) -> list[dict[str, Any]]:
    """Points for a case, and a few values of what everything is linear in."""
    return [
        {**p, **{name: COTANGENTS[(k + i) % len(COTANGENTS)] for i, name in enumerate(factors)}}
        for k, p in enumerate(points_of(case))
    ]


Judge = Callable[[Primitive, Program], FirstOrder]


def judged(name: str, make: Judge, primitive: Primitive, rule: Program | None = None) -> Judgment:
    """The judgment that `make` gives on a rule (the primitive's own, if none is given); what cannot be read is out of scope."""
    try:
        judging = make(primitive, rule if rule is not None else backpropagator(primitive))
    except AdjudgeError as error:
        return Judgment(name, "none", OutOfScope(said(error), name))
    verdict: Verdict
    try:
        verdict = judging.verdict()
    except AdjudgeError as error:
        verdict = Unknown(said(error)) if type(error).__name__ in ("OutOfFuel", "Crash") else OutOfScope(said(error))
    except z3.Z3Exception as error:
        verdict = Unknown(f"the z3_real column of {primitive.name} cannot be read: {error}")
    method = in_words(judging.derivation.methods)
    return judging.inquiry.judged(name, method, replace(verdict, claim=name))


def objection(primitive: Primitive) -> str:
    """Why the parser did not take a backpropagator written in Python, and what to do."""
    function = primitive.columns.get("source", {}).get("backpropagator")
    found = program_of(function) if function is not None else None
    return f": {found.reason}; write it in the language" if isinstance(found, Hole) else "; write it in the language"


def said(error: AdjudgeError) -> str:
    """What is wrong and what to try."""
    return f"{error.what}; {error.remedy}" if error.remedy else error.what


def judge(primitive: Primitive, rule: Program | None = None) -> Judgment:
    """Whether `rule` (the primitive's own, if not given) is the backpropagator of `primitive` over the reals."""
    return judged(f"backpropagator of {primitive.name}", FirstOrder, primitive, rule)


def axioms(primitive: Primitive) -> tuple[str, ...]:
    """The trusted axioms that the judgments on a primitive use; of a user's, those of the functions that it is written in."""
    own = [primitive.columns[name] for name in ("program", "backpropagator") if name in primitive.columns]
    names = {v.name for p in own if isinstance(p, Program) for v in constants(p) if isinstance(v, Primitive)} or {primitive.name}
    used = {axiom for name in names for axiom in AXIOMS.get(name, ())}
    return tuple(sorted(used | {"slope"} if own else used)) or ("slope",)


def obligations(primitives: Iterable[Primitive]) -> list[Obligation]:
    """One obligation per primitive that is a function of reals."""
    return [Obligation(f"backpropagator of {p.name}", p.name, partial(judge, p), axioms(p)) for p in primitives if cases(p)]
