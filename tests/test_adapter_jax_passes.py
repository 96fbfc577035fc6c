"""Passes over jaxprs under the judge: planted bugs are found, correct passes raise nothing."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from hypothesis import settings  # noqa: E402
from jax.extend.core import ClosedJaxpr, Literal  # noqa: E402
from jax.interpreters import partial_eval  # noqa: E402

import adjudge as aj  # noqa: E402
from adjudge.adapters import jaxprs  # noqa: E402
from checkers.optimizer_audit import passes, trigger_sources, triggers  # noqa: E402
from checkers.verdict import Vacuous  # noqa: E402
from semantics.errors import Malformed  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def fewer_programs():
    """A sample of the triggers; all of them in the deep profile."""
    every = 1 if settings.get_current_profile_name() == "deep" else 9
    chosen = triggers.triggers()[::every]
    with pytest.MonkeyPatch.context() as patch:
        for module in (passes, triggers):
            patch.setattr(module, "triggers", lambda: chosen)
        for module in (passes, trigger_sources):
            patch.setattr(module, "sourced", tuple)
        jaxprs.views.cache_clear()
        yield
    jaxprs.views.cache_clear()


def everywhere(change):
    """A pass that changes the equations of a jaxpr, and those of branches, bodies and calls in it."""

    def inside(jaxpr):
        return jaxpr.replace(eqns=[e.replace(params=parameters(e)) for e in change(jaxpr)])

    def parameters(equation):
        return {name: deeper(value) for name, value in equation.params.items()}

    def deeper(value):
        if isinstance(value, ClosedJaxpr):
            return ClosedJaxpr(inside(value.jaxpr), value.consts)
        if isinstance(value, tuple) and value and all(isinstance(v, ClosedJaxpr) for v in value):
            return tuple(map(deeper, value))
        return value

    return lambda closed: ClosedJaxpr(inside(closed.jaxpr), closed.consts)


def identity(closed):
    return closed


def drop_dead(closed):
    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return ClosedJaxpr(jaxpr, closed.consts)


def fold(closed):
    """Sums and products of numbers, computed in f64; what they were is substituted."""
    known, equations = {}, []
    for equation in closed.jaxpr.eqns:
        inputs = [known.get(v, v) if not isinstance(v, Literal) else v for v in equation.invars]
        name, aval = equation.primitive.name, equation.outvars[0].aval
        fits = name in ("add", "mul", "sub") and aval.shape == () and aval.dtype == np.float64
        if fits and all(isinstance(v, Literal) for v in inputs):
            x, y = (np.float64(v.val) for v in inputs)
            with np.errstate(all="ignore"):
                known[equation.outvars[0]] = Literal({"add": x + y, "mul": x * y, "sub": x - y}[name], aval)
        else:
            equations.append(equation.replace(invars=inputs))
    outputs = [known.get(v, v) if not isinstance(v, Literal) else v for v in closed.jaxpr.outvars]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=equations, outvars=outputs), closed.consts)


def without_used_inputs(closed):
    """jax 8bfa5ee: an equation with no inputs counts as dead."""
    return ClosedJaxpr(closed.jaxpr.replace(eqns=[e for e in closed.jaxpr.eqns if e.invars]), closed.consts)


def zero_products(closed):
    """x * 0.0 -> 0.0"""
    equations = []
    for e in closed.jaxpr.eqns:
        zero = [v for v in e.invars if isinstance(v, Literal) and v.aval.shape == () and v.val == 0.0]
        if e.primitive.name == "mul" and zero and e.outvars[0].aval.shape == ():
            e = e.replace(invars=[zero[0], Literal(np.ones((), zero[0].aval.dtype)[()], zero[0].aval)])
        equations.append(e)
    return ClosedJaxpr(closed.jaxpr.replace(eqns=equations), closed.consts)


@everywhere
def swapped_sub(jaxpr):
    return [e.replace(invars=e.invars[::-1]) if e.primitive.name == "sub" else e for e in jaxpr.eqns]


@everywhere
def wrong_axis(jaxpr):
    return [
        e.replace(params={**e.params, "axes": (1 - e.params["axes"][0],)})
        if e.primitive.name == "reduce_sum" and e.invars[0].aval.ndim == 2 and len(set(e.invars[0].aval.shape)) == 1
        else e
        for e in jaxpr.eqns
    ]


@everywhere
def exchanged_branches(jaxpr):
    return [
        e.replace(params={**e.params, "branches": e.params["branches"][::-1]}) if e.primitive.name == "cond" else e
        for e in jaxpr.eqns
    ]


@everywhere
def scans_the_other_way(jaxpr):
    return [
        e.replace(params={**e.params, "reverse": not e.params["reverse"]}) if e.primitive.name == "scan" else e for e in jaxpr.eqns
    ]


def raises(closed):
    return closed.jaxpr.eqns[10_000]


def loses_a_result(closed):
    return ClosedJaxpr(closed.jaxpr.replace(outvars=closed.jaxpr.outvars[:0]), closed.consts)


def no_jaxpr(closed):
    return None


def audited(function, **options):
    return aj.audit(aj.jaxpr_pass(function, **options))


@pytest.mark.parametrize("function", [identity, drop_dead, fold])
def test_a_correct_pass_raises_nothing(function):
    report = audited(function)
    assert report.findings == ()
    assert report.exit_code == 0
    if function is identity:
        assert any(isinstance(v, Vacuous) for v in report.verdicts)


PLANTED = [
    (without_used_inputs, "every program"),
    (zero_products, "values"),
    (swapped_sub, "values"),
    (wrong_axis, "values"),
    (exchanged_branches, "values"),
    (scans_the_other_way, "values"),
    (raises, "every program"),
    (loses_a_result, "every program"),
    (no_jaxpr, "every program"),
]


@pytest.mark.parametrize(
    ("function", "claim"), PLANTED, ids=["dce", "zero", "sub", "axis", "branches", "scan", "raises", "results", "none"]
)
def test_a_planted_bug_is_found(function, claim):
    report = audited(function, name="planted")
    faults = [f for f in report.findings if f.kind == "fault"]
    assert any(f.claim.startswith(claim) for f in faults)
    assert faults[0].counterexample.note or faults[0].counterexample.found


def test_a_pass_over_the_reals_is_judged_as_one():
    """x * 0.0 is 0.0 over the reals."""
    assert not [f for f in audited(zero_products, domain="REAL").findings if f.claim.startswith("values")]


def test_own_examples_come_first():
    def drops_the_outer_tangent(closed):
        names = [e.primitive.name for e in closed.jaxpr.eqns]
        return (
            ClosedJaxpr(closed.jaxpr.replace(eqns=closed.jaxpr.eqns[:1], outvars=closed.jaxpr.eqns[0].outvars), closed.consts)
            if (names == ["tan", "tan"])
            else closed
        )

    assert audited(drops_the_outer_tangent).findings == ()
    assert audited(drops_the_outer_tangent, examples=[(lambda x: jnp.tan(jnp.tan(x)), (np.float64(1.0),))]).findings


def test_what_is_no_function_is_refused():
    with pytest.raises(Malformed) as caught:
        aj.jaxpr_pass(3)
    assert caught.value.remedy
