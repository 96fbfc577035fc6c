"""Rules of JAX on trial: right ones have no finding, wrong ones the right one; the forward function is never the rule's."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from foreign_rules import EXAMPLES, FULL, A, B, X, assert_caught, report  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from adjudge.adapters.black_boxes import foreign, trial_of  # noqa: E402
from adjudge.adapters.frameworks import of_framework  # noqa: E402
from checkers.array_audit.trial import SINGLE  # noqa: E402
from semantics.errors import Malformed  # noqa: E402


def custom(forward, fwd, bwd, nondiff=()):
    """A custom_vjp."""
    made = jax.custom_vjp(forward, nondiff_argnums=nondiff)
    made.defvjp(fwd, bwd)
    return made


def with_tangent(forward, rule):
    """A custom_jvp."""
    made = jax.custom_jvp(forward)
    made.defjvp(rule)
    return made


def softmax(x):
    e = jnp.exp(x - jnp.max(x))
    return e / jnp.sum(e)


def softplus(x):
    return jnp.logaddexp(0.0, x)


def matmul(a, b):
    return a @ b


def both(x, y):
    return x * y, x - y


def gathered(x, i):
    return x[i]


def power(x, k):
    return x**k


RIGHT = {
    "softplus": (custom(softplus, lambda x: (softplus(x), x), lambda x, d: (d * jax.nn.sigmoid(x),)), (X,)),
    "softmax": (custom(softmax, lambda x: (softmax(x),) * 2, lambda y, d: (y * (d - jnp.sum(d * y)),)), (X,)),
    "matmul": (custom(matmul, lambda a, b: (a @ b, (a, b)), lambda r, d: (d @ r[1].T, r[0].T @ d)), (A, B)),
    "two results": (
        custom(both, lambda x, y: (both(x, y), (x, y)), lambda r, d: (d[0] * r[1] + d[1], d[0] * r[0] - d[1])),
        (X, X[::-1]),
    ),
    "an argument that is not differentiated": (
        custom(power, lambda x, k: (x**k, x), lambda k, x, d: (k * d * x ** (k - 1),), (1,)),
        (X, 3),
    ),
    "an argument of integers": (
        custom(gathered, lambda x, i: (x[i], (x, i)), lambda r, d: (jnp.zeros_like(r[0]).at[r[1]].add(d), None)),
        (X, np.array([0, 2, 0])),
    ),
    "a tangent": (with_tangent(jnp.sin, lambda x, t: (jnp.sin(x[0]), jnp.cos(x[0]) * t[0])), (X,)),
    "singles": (custom(jnp.tanh, lambda x: (jnp.tanh(x),) * 2, lambda y, d: (d * (1 - y * y),)), (X.astype(np.float32),)),
}


def unwanted(found):
    return [f for f in found.findings if f.kind != "convention"]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_has_no_finding(name):
    rule, sample = RIGHT[name]
    domain = (lambda x, i: bool(np.all(np.abs(i) < len(x)))) if "integers" in name else None  # beyond, JAX takes the last element
    found = report(rule, [sample], *FULL, domain=domain)
    assert [str(f.counterexample) for f in unwanted(found) if f.kind == "fault"] == []
    if name != "singles":  # 1 - y * y has lost digits where tanh is near 1
        assert [str(f.counterexample) for f in unwanted(found)] == []


WRONG = {
    "sign": (custom(jnp.exp, lambda x: (jnp.exp(x),) * 2, lambda y, d: (-d * y,)), (X,), "jacobian", "fault", "sign"),
    "a factor": (custom(jnp.square, lambda x: (x * x, x), lambda x, d: (d * x,)), (X,), "jacobian", "fault", "2"),
    "a term is missing": (
        custom(softmax, lambda x: (softmax(x),) * 2, lambda y, d: (y * d,)),
        (X,),
        *("jacobian", "fault", ""),
    ),
    "transposed": (
        custom(matmul, lambda a, b: (a @ b, (a, b)), lambda r, d: ((d @ r[1].T).T, r[0].T @ d)),
        (A[:, :2], B[:2]),
        *("jacobian", "fault", ""),
    ),
    "exchanged": (
        custom(both, lambda x, y: (both(x, y), (x, y)), lambda r, d: (d[0] * r[0] + d[1], d[0] * r[1] - d[1])),
        (X, X[::-1] + 0.25),
        *("jacobian", "fault", ""),
    ),
    "NaN where the function is finite": (
        custom(softplus, lambda x: (softplus(x), x), lambda x, d: (d * jnp.exp(x) / (1.0 + jnp.exp(x)),)),
        (np.array([1000.0, 0.5]),),
        *("jacobian", "fault", "nan"),
    ),
    "another value in the forward pass": (
        custom(lambda x: jnp.clip(x, -1, 1), lambda x: (x, x), lambda x, d: (jnp.where(jnp.abs(x) < 1, d, 0.0),)),
        (X,),
        *("primal", "fault", "forward pass"),
    ),
    "digits": (
        custom(jnp.expm1, lambda x: (jnp.expm1(x),) * 2, lambda y, d: (d * (y + 1.0),)),
        (np.array([-30.0, 0.5]),),
        *("accuracy", "accuracy", "digits"),
    ),
    "clipped cotangents": (
        custom(jnp.sin, lambda x: (jnp.sin(x), x), lambda x, d: (jnp.clip(d, -1, 1) * jnp.cos(x),)),
        (X,),
        *("algebra", "fault", ""),
    ),
    "a wrong tangent": (
        with_tangent(jnp.sin, lambda x, t: (jnp.sin(x[0]), -jnp.cos(x[0]) * t[0])),
        (X,),
        *("jacobian", "fault", "sign"),
    ),
    "repeated indices": (
        custom(gathered, lambda x, i: (x[i], (x, i)), lambda r, d: (jnp.zeros_like(r[0]).at[r[1]].set(d), None)),
        (X, np.array([0, 2, 0])),
        *("jacobian", "fault", ""),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_caught_with_its_place_and_cause(name):
    assert_caught(*WRONG[name])


def test_a_forward_pass_that_only_rounds_otherwise_is_no_fault():
    def other(x):
        return jnp.log1p(jnp.exp(x))

    rule = custom(softplus, lambda x: (other(x), x), lambda x, d: (d * jax.nn.sigmoid(x),))
    near = report(rule, [(X,)], "primal", domain=lambda x: bool(np.all(np.abs(x) < 4.0)))
    assert {f.kind for f in near.findings} == {"convention"}
    assert {f.kind for f in report(rule, [(np.array([1000.0, 1.0]),)], "primal").findings} == {"fault"}, "exp overflows"


def test_the_script_of_a_finding_fails_while_the_rule_is_wrong(tmp_path):
    import subprocess
    import sys
    from pathlib import Path

    from adjudge.cli.common import import_file
    from adjudge.judged import primitives_in

    file = Path(__file__).resolve().parent.parent / "examples" / "jax_rules.py"
    checked = primitives_in(import_file(file))["clipped"]
    found = report(checked.value, checked.options["samples"], "primal").findings[0]
    (tmp_path / "alone.py").write_text(found.counterexample.script)
    run = subprocess.run([sys.executable, "alone.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 1, run.stderr
    assert "Traceback" not in run.stderr
    assert "The sources are not embedded" not in found.counterexample.script


def test_64_bit_types_are_enabled_inside_only():
    before = jax.config.jax_enable_x64
    trial = trial_of(jnp.exp, [(X,)], examples=EXAMPLES)
    assert trial.cases[0].value.dtype == np.float64
    assert jax.config.jax_enable_x64 == before


def test_singles_are_judged_in_their_format():
    assert trial_of(jnp.exp, [(X.astype(np.float32),)], examples=EXAMPLES).unit == SINGLE


def test_the_reference_is_the_jaxpr_in_balls_and_what_cannot_be_read_is_said():
    trial = trial_of(jax.nn.softplus, [(X,)], examples=EXAMPLES)
    assert "jaxpr" in trial.references[0].name
    assert not any("enclosures" in lost for lost in trial.lost)
    trial = trial_of(jnp.linalg.inv, [(np.array([[2.0, 0.5], [0.25, 1.0]]),)], examples=EXAMPLES)
    assert any("rigorous enclosures are lost" in lost and "lu" in lost for lost in trial.lost)


def test_without_samples_it_says_what_was_assumed():
    trial = trial_of(jnp.arctan2, examples=EXAMPLES)
    assert any("samples were assumed" in lost for lost in trial.lost)
    with pytest.raises(Malformed) as caught:
        trial_of(of_framework(lambda x: jnp.log(-1.0 - x * x), "jax"))
    assert "samples=" in caught.value.remedy


def test_a_rule_that_was_never_defined_is_malformed():
    with pytest.raises(Malformed) as caught:
        trial_of(jax.custom_vjp(lambda x: x), [(X,)])
    assert "defvjp" in caught.value.remedy


def test_partial_and_jitted_functions_are_taken():
    assert trial_of(partial(jax.nn.leaky_relu, negative_slope=0.1), [(X,)], examples=EXAMPLES).cases
    assert trial_of(jax.jit(lambda x: jnp.sum(x * x)), [(X,)], examples=EXAMPLES).cases


@given(st.lists(st.integers(-24, 24), min_size=1, max_size=4), st.integers(0, 3))
def test_the_second_pullback_is_the_derivative_of_the_first(numbers, k):
    """Of x**3: coordinate k of the pullback at d is 3 d x**2, whose derivative is 6 d x in coordinate k; exact in eighths."""
    x, k = np.array(numbers) / 8.0, k % len(numbers)
    rule = foreign(of_framework(lambda x: x * x * x, "jax"))
    wanted = np.zeros_like(x)
    wanted[k] = 6.0 * x[k]
    (found,) = rule.second_pull((x,), np.ones_like(x), k)
    assert (found == wanted).all()


HELD = {
    "gathered": (lambda x, i: x[i], (X, np.array([0, 2, 2]))),
    "an exponent": (lambda x, k: x**k, (X, 3)),
    "rolled": (jnp.roll, (X, 1)),
    "a mask": (lambda m, x: jnp.where(m, x, 0.0), (np.array([True, False, True]), X)),
    "segments": (lambda x, i: jax.ops.segment_sum(x, i, 3), (X, np.array([0, 2, 2]))),
    "written": (lambda x, i, v: x.at[i].set(v), (X, np.array([0, 2]), X[:2])),
}


@pytest.mark.parametrize("name", HELD)
def test_integers_are_held_and_the_reference_reads_the_jaxpr(name):
    function, sample = HELD[name]
    trial = trial_of(function, [sample], framework="jax", examples=4)
    assert trial.by(trial.cases[0]) == "differences in ball arithmetic of the jaxpr"
    assert trial.lost == []
