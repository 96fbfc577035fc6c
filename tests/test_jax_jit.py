"""`jax.jit` beside the reference: sound functions raise nothing, planted errors are found, with their kind."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from flint import arb  # noqa: E402
from jax import lax  # noqa: E402

from adjudge.adapters.jax_jit import judge_jit  # noqa: E402
from adjudge.adapters.rounding import F32, F64, enclosure, precise  # noqa: E402
from checkers.verdict import Passed, Unknown  # noqa: E402
from semantics.errors import IllTyped, Malformed  # noqa: E402
from semantics.text import read  # noqa: E402

V = np.array([1.0, -2.0, 3.5])


def kinds(report):
    return {f.kind for f in report.findings}


def smooth(x, y):
    return jnp.sin(x) * jnp.exp(y) - x * y


def cancelling(x):
    return (1.0 + x) - 1.0 - x


def looped(x: float, n: int):
    return lax.fori_loop(0, n % 4, lambda i, c: c * 0.5 + jnp.sin(c), x)


def vectors(v):
    return jnp.sum(v * v) / jnp.sqrt(jnp.sum(v) ** 2 + 1.0) + v @ jnp.tanh(v)


def branching(x):
    return lax.cond(x < 1.0, lambda t: t * t, lambda t: t / 3.0, x)


SOUND = [(smooth, None), (cancelling, None), (looped, None), (vectors, (V,)), (branching, None), (jax.nn.logsumexp, (V,))]


@pytest.mark.parametrize(("f", "arguments"), SOUND)
@pytest.mark.parametrize("grad", [False, True])
def test_what_xla_compiles_stays_inside_the_derived_bounds(f, arguments, grad):
    report = judge_jit(f, arguments, grad=grad and f is not looped, samples=24)
    assert report.findings == ()
    assert [type(v) for v in report.verdicts] == [Passed, Passed]


def planted(wrong):
    return judge_jit(smooth, compiled=jax.jit(wrong), samples=24)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y: jnp.sin(x) * jnp.exp(y) - y * x * x,
        lambda x, y: jnp.exp(y) * jnp.cos(x) - x * y,
        lambda x, y: x * y - jnp.sin(x) * jnp.exp(y),
        lambda x, y: (jnp.sin(x) * jnp.exp(y) - x * y).astype(np.float16).astype(x.dtype),
        lambda x, y: (jnp.sin(x) * jnp.exp(y) - x * y)[None],
        lambda x, y: jnp.where(x == 0.0, jnp.nan, jnp.sin(x) * jnp.exp(y) - x * y),
        lambda x, y: jnp.sin(x) * jnp.exp(y) - x * y > 0.0,
    ],
)
def test_another_function_is_a_fault(wrong):
    assert "fault" in kinds(planted(wrong))


def test_lost_digits_are_an_accuracy_finding_that_says_how_many():
    (found,) = planted(lambda x, y: (jnp.sin(x) * jnp.exp(y) - x * y) * (1.0 + 1e-13)).findings
    assert found.kind == "accuracy"
    assert found.claim == "jit in f64"
    assert "decimal digits more" in found.counterexample.cause


def test_a_function_that_loses_half_of_its_digits_is_at_fault_in_f64_and_not_in_f32():
    report = planted(lambda x, y: (jnp.sin(x) * jnp.exp(y) - x * y) * (1.0 + 1e-7))
    assert {(f.claim, f.kind) for f in report.findings} >= {("jit in f64", "fault")}
    assert ("jit in f32", "fault") not in {(f.claim, f.kind) for f in report.findings}


@jax.custom_jvp
def wrong_rule(x):
    return jnp.sin(x) * x


wrong_rule.defjvps(lambda t, _, x: (jnp.cos(x) * x - jnp.sin(x)) * t)


def test_a_wrong_derivative_rule_is_a_fault_and_the_value_is_none():
    assert kinds(judge_jit(wrong_rule, grad=True)) == {"fault"}
    assert judge_jit(wrong_rule).findings == ()


def test_another_derivative_at_a_kink_is_a_convention():
    assert kinds(judge_jit(jnp.abs, [1.0], grad=True)) == {"convention"}


def test_a_failing_input_is_shrunk():
    found = planted(lambda x, y: jnp.where(y > 1.5, 0.0, smooth(x, y))).findings[0]
    assert set(map(str, found.counterexample.inputs)) == {"x", "y"}
    assert found.counterexample.inputs["y"] == 2.0


def test_what_no_bound_decides_is_unknown():
    (first, _) = judge_jit(lambda x: jnp.floor(jnp.sin(x) * 0.0)).verdicts
    assert isinstance(first, (Unknown, Passed))
    assert isinstance(judge_jit(lambda x: jnp.log(-jnp.abs(x) - 1.0)).verdicts[0], Unknown)


def test_bad_input_is_refused_with_a_remedy():
    def strange(x: list):
        return x

    for error, arguments in ((Malformed, (strange,)), (IllTyped, (vectors, (2.0,))), (IllTyped, (smooth, (2.0,)))):
        with pytest.raises(error) as caught:
            judge_jit(*arguments)
        assert caught.value.remedy
    with pytest.raises(Malformed) as caught:
        judge_jit(lambda n: n * 2, (3,), grad=True)
    assert "float" in caught.value.remedy


SUMS = read("program @f\n@f(%v: f64[3]):\n  %s = reduce_sum(%v, None, False)\n  return %s")


def test_a_sum_is_enclosed_in_every_order():
    """1e16 + 1 - 1e16 is 0, 1 or 2 by the order and the roundings; the ball holds all, and no more than 3 roundings allow."""
    from semantics.arrays import Array

    ball = enclosure(SUMS, (Array("f64", (3,), (1e16, 1.0, -1e16)),))
    with precise():
        assert all(ball.contains(arb(x)) for x in (0.0, 1.0, 2.0))
        assert not ball.contains(arb(8.0))


def test_a_rounding_less_than_claimed_is_seen():
    """The ball around 1/3 holds both neighbours in f64, and no double further away than XLA's reciprocal may be."""
    third = read("program @f\n@f(%x: f64):\n  %y = div(%x, 3.0)\n  return %y")
    ball = enclosure(third, (1.0,))
    with precise():
        assert ball.contains(arb(1.0 / 3.0))
        assert not ball.contains(arb(1.0 / 3.0) * (1 + arb(2) ** -50))


@pytest.mark.parametrize("format", [F64, F32])
def test_the_digits_of_a_format(format):
    assert format.digits == {"f64": 53, "f32": 24}[format.name]


FILE = "import jax.numpy as jnp\n\ndef f(x: float):\n    return jnp.sin(x)\n\ndef g(v):\n    return jnp.sum(v)\n\nh = 3\n"


def test_the_command_prints_the_report(adjudge, tmp_path):
    path = tmp_path / "functions.py"
    path.write_text(FILE)
    code, out, _ = adjudge("audit", "--jax-jit", f"{path}:f")
    assert code == 0
    assert "jit in f64" in out
    code, out, _ = adjudge("audit", "--jax-jit", "--grad", "--json", f"{path}:g", "np.array([1.0, 2.0])")
    assert code == 0
    assert '"jax.jit(jax.grad(g))"' in out


@pytest.mark.parametrize(
    "arguments", [("--jax-jit",), ("--grad", "F:f"), ("--jax-jit", "F:h"), ("--jax-jit", "F:none"), ("--jax-jit", "F")]
)
def test_a_command_that_says_too_little_is_refused(adjudge, tmp_path, arguments):
    path = tmp_path / "functions.py"
    path.write_text(FILE)
    code, _, said = adjudge("audit", *(a.replace("F", str(path), 1) if a.startswith("F") else a for a in arguments))
    assert code == 2
    assert "try" in said
