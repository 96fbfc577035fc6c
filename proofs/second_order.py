"""
Second derivatives: J applied to the backpropagators themselves.

With c(x…, dout) = rule(x…, p(x…), dout), J gives the pullback of c at u…, one u for each cotangent. It must be

    by x_j    dout · Σ_i u_i · ∂²p/∂x_j∂x_i          by dout    Σ_i u_i · ∂p/∂x_i

The derivatives on the right come from no rule and from no J (`proofs.derivations`). Kinks are left out. At the boundary of a branch
of the rule J follows one branch, and an `if y == 0` that holds a value fixed erases its derivative there: such a rule is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any

import z3

from checkers.smt.inquiry import Judgment
from checkers.smt.replay import floats
from checkers.smt.terms import real
from checkers.verdict import Unknown, Verdict
from proofs.backpropagators import FirstOrder, axioms, judged, sampled
from proofs.cases import cases
from proofs.comparison import Wanted
from proofs.derivations import Setting, with_rule
from proofs.obligation import Obligation
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms.clone import link
from transforms.nested_grad import expand


def pullback_of_cotangents(primitive: Primitive, rule: Program) -> Program:
    """(x…, dout, u…) -> the sensitivities of x… and dout, where u… are those of the cotangents that the rule gives."""
    edit = Edit(empty())
    cotangents = edit.graph("cotangents")
    xs = [edit.parameter(cotangents, x) for x in (*primitive.parameters, "dout")]
    out = edit.call(cotangents, with_rule(primitive, rule), *xs[:-1])
    edit.output(cotangents, edit.apply(cotangents, edit.reference(link(edit, rule)), *xs[:-1], out, xs[-1]))
    entry = edit.graph("second")
    at = [edit.parameter(entry, x) for x in (*primitive.parameters, "dout")]
    seeds = [edit.parameter(entry, f"u_{x}") for x in primitive.parameters]
    pair = edit.call(entry, TABLE["vjp"], edit.reference(cotangents), *at)
    pullback = edit.call(entry, TABLE["getitem"], pair, edit.constant(1))
    edit.output(entry, edit.apply(entry, pullback, edit.call(entry, TABLE["make_tuple"], *seeds)))
    edit.set_entry(entry)
    return expand(edit.program)


class SecondOrder(FirstOrder):
    """The pullback of one rule against the second derivatives of its primitive."""

    @cached_property
    def program(self) -> Program:
        return pullback_of_cotangents(self.primitive, self.rule)

    def wanted(self, setting: Setting) -> Wanted | Verdict:
        case, dout = setting.case, z3.Real("dout")
        u = {i: z3.Real(f"u_{self.primitive.parameters[i]}") for i in case.moving}
        by_x: dict[int, Any] = dict.fromkeys(case.moving, real(0))
        for j in case.moving:
            for i in case.moving:
                second = self.derivation.second(setting, i, j)
                if isinstance(second, Unknown):
                    return second
                self.derivation.note_divisors(second, setting.assumed)
                by_x[j] = by_x[j] + dout * u[i] * second
        by_dout = real(0)
        for i in case.moving:
            by_dout = by_dout + u[i] * setting.first[i]
        names, count = (*self.primitive.parameters, "dout"), len(case.arguments)
        seeds = {f"u_{x}": u.get(i, ZERO) for i, x in enumerate(self.primitive.parameters)}
        inputs = dict(zip(names, [*case.arguments, dout], strict=True)) | seeds
        return Wanted(
            self.program,
            list(inputs.values()),
            {**by_x, count: by_dout},
            [f"the derivative of Σ u·cotangent by {x}" for x in names],
            count + 1,
            setting.assumed,
            inputs,
            sampled(case, ["dout", *map(str, u.values())]),
            partial(floats, self.program),
            note=case.label,
        )

    def kinks(self) -> Verdict | None:
        """Nothing is claimed of second derivatives at kinks."""
        return None


def judge(primitive: Primitive, rule: Program | None = None) -> Judgment:
    """Whether J of `rule` (the primitive's own, if not given) gives the second derivatives of `primitive`."""
    return judged(f"second order of {primitive.name}", SecondOrder, primitive, rule)


def obligations(primitives: Iterable[Primitive]) -> list[Obligation]:
    """One obligation per primitive that is a function of reals."""
    return [Obligation(f"second order of {p.name}", p.name, partial(judge, p), axioms(p)) for p in primitives if cases(p)]
