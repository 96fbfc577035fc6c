"""Rules of PyTorch on trial: right ones have no finding, wrong ones the right one, among them those that gradcheck does not see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from foreign_rules import FULL, A, B, X, assert_caught, report  # noqa: E402
from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from adjudge.adapters.black_boxes import foreign, trial_of  # noqa: E402
from adjudge.adapters.frameworks import of_framework  # noqa: E402
from adjudge.adapters.torch_rules import tensor  # noqa: E402
from adjudge.cli.common import import_file  # noqa: E402
from adjudge.judged import primitives_in  # noqa: E402
from checkers.array_audit.trial import SINGLE  # noqa: E402

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "torch_rules.py"


def function(forward, backward):
    """A Function of a forward and a backward pass, the old way, with ctx."""
    return type("Planted", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def saving(compute):
    """A forward pass that saves its arguments."""

    def forward(ctx, *xs):
        ctx.save_for_backward(*xs)
        return compute(*xs)

    return forward


def kept(compute):
    """A forward pass that keeps its result where PyTorch does not look after it."""

    def forward(ctx, *xs):
        ctx.kept = compute(*xs)
        return ctx.kept.clone()

    return forward


def saved(ctx):
    return ctx.saved_tensors


def blend(x, y, t):
    return t * x + (1 - t) * y


class NewStyle(torch.autograd.Function):
    """x**3, with setup_context."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, d):
        return 3 * d * ctx.saved_tensors[0] ** 2


def by_weights(ctx, d):
    x, y, t = saved(ctx)
    return d * t, d * (1 - t), d * (x - y)


def scaling(ctx, x, k):
    ctx.k = k
    return x * k


def without_zeros(backward):
    """The sine and the cosine; the backward pass is given None for a result that is not used."""

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return torch.sin(x), torch.cos(x)

    return function(forward, backward)


def each_if_used(ctx, d, e):
    (x,) = saved(ctx)
    return (0 if d is None else d * torch.cos(x)) - (0 if e is None else e * torch.sin(x))


RIGHT = {
    "None for what is not used": (without_zeros(each_if_used), (X,)),
    "blend": (function(saving(blend), by_weights), (X, X[::-1], np.array([0.25, 0.5, 0.75]))),
    "setup_context": (NewStyle, (X,)),
    "matmul": (function(saving(torch.matmul), lambda ctx, d: (d @ saved(ctx)[1].T, saved(ctx)[0].T @ d)), (A, B)),
    "two results": (
        function(saving(lambda x, y: (x * y, x - y)), lambda ctx, d, e: (d * saved(ctx)[1] + e, d * saved(ctx)[0] - e)),
        (X, X[::-1]),
    ),
    "a number of Python": (
        function(lambda ctx, x, k: (setattr(ctx, "k", k), x * k)[1], lambda ctx, d: (d * ctx.k, None)),
        (X, 3.0),
    ),
    "singles": (function(saving(torch.sin), lambda ctx, d: d * torch.cos(saved(ctx)[0])), (X.astype(np.float32),)),
    "a function of PyTorch": (torch.nn.functional.softplus, (X,)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_rule_has_no_finding(name):
    rule, sample = RIGHT[name]
    found = report(rule, [sample], *FULL)
    assert [str(f.counterexample) for f in found.findings if f.kind != "convention"] == []


@pytest.mark.parametrize(
    ("backward", "cause"),
    [
        (lambda ctx, d, e: d * torch.cos(*saved(ctx)) - e * torch.sin(*saved(ctx)), "the rule raises where only result 0 is used"),
        (
            lambda ctx, d, e: None if d is None else d * torch.cos(*saved(ctx)) - (0 if e is None else e * torch.sin(*saved(ctx))),
            "the rule answers something else than to zeros where only result 1 is used",
        ),
    ],
    ids=["raises", "answers None"],
)
def test_a_result_that_is_not_used_has_no_cotangent(backward, cause):
    found = report(without_zeros(backward), [(X,)], "structure").findings[0]
    assert found.counterexample.cause.startswith(cause)
    assert found.kind == "fault"


def test_without_the_promise_zeros_are_given():
    """PyTorch makes zeros of None, if it is not told otherwise: the rule that needs them is right then."""
    rule = function(
        saving(lambda x: (torch.sin(x), torch.cos(x))),
        lambda ctx, d, e: d * torch.cos(*saved(ctx)) - e * torch.sin(*saved(ctx)),
    )
    assert report(rule, [(X,)], "structure").findings == ()


def exchanged(ctx, d):
    x, y, t = saved(ctx)
    return d * (1 - t), d * t, d * (x - y)


def without_view(ctx, d):
    return d.view(-1).reshape(d.shape) * torch.cos(saved(ctx)[0])


CALLS: list[int] = []


def forgetful(ctx, d):
    CALLS.append(1)
    return d * torch.cos(saved(ctx)[0]) * (1 + len(CALLS) % 5)


WRONG = {
    "exchanged arguments of a blend": (
        function(saving(blend), exchanged),
        (X, X[::-1], np.array([0.25, 0.5, 0.75])),
        *("jacobian", "fault", "swapped"),
    ),
    "a residual that is written to": (
        function(kept(torch.exp), lambda ctx, d: ctx.kept.mul_(d)),
        (X,),
        *("purity", "fault", "saved"),
    ),
    "a cotangent that is written to": (
        function(saving(torch.sin), lambda ctx, d: d.mul_(torch.cos(saved(ctx)[0]))),
        (X,),
        *("purity", "fault", "in place"),
    ),
    "a cotangent that must be contiguous": (
        function(saving(torch.sin), without_view),
        (A,),
        *("structure", "fault", "view"),
    ),
    "sign": (function(kept(torch.exp), lambda ctx, d: -d * ctx.kept), (X,), "jacobian", "fault", "sign"),
    "an argument without a cotangent": (
        function(saving(torch.mul), lambda ctx, d: (d * saved(ctx)[1], None)),
        (X, X + 1.0),
        *("jacobian", "fault", ""),
    ),
    "digits": (
        function(kept(torch.expm1), lambda ctx, d: d * (ctx.kept + 1)),
        (np.array([-30.0, 0.5]),),
        *("accuracy", "accuracy", "digits"),
    ),
    "a part in a million": (
        function(saving(torch.sin), lambda ctx, d: d * torch.cos(saved(ctx)[0]) * (1 + 1e-6)),
        (X,),
        *("jacobian", "fault", ""),
    ),
    "memory between calls": (
        function(saving(torch.sin), forgetful),
        (X,),
        *("replay", "fault", "earlier calls"),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_rule_is_caught_with_its_place_and_cause(name):
    assert_caught(*WRONG[name])


def test_what_is_right_at_first_order_only_is_caught_at_second():
    checked = primitives_in(import_file(EXAMPLE))["Cube"]
    assert not report(checked.value, checked.options["samples"], "jacobian").findings
    assert [f.kind for f in report(checked.value, checked.options["samples"], "second order").findings] == ["fault"]


def test_the_script_of_a_finding_fails_while_the_rule_is_wrong(tmp_path):
    rule = primitives_in(import_file(EXAMPLE))["SwappedBlend"].value
    found = report(rule, None, "jacobian").findings[0]
    (tmp_path / "alone.py").write_text(found.counterexample.script)
    run = subprocess.run([sys.executable, "alone.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (run.returncode, "Traceback" in run.stderr) == (1, False), run.stderr


def test_the_reference_reads_what_is_traced_and_says_what_it_cannot():
    assert "traced" in trial_of(torch.nn.functional.softplus, [(X,)], examples=10).references[0].name
    trial = trial_of(of_framework(lambda x: x if x.sum() > 0 else -x, "torch"), [(X,)], examples=10)
    assert any("rigorous enclosures are lost" in lost for lost in trial.lost)


def test_singles_are_judged_in_their_format():
    assert trial_of(torch.exp, [(X.astype(np.float32),)], examples=10).unit == SINGLE


def test_a_function_that_writes_to_its_argument_is_refused_where_that_is_frozen():
    rule = foreign(of_framework(lambda x: x.add_(1.0), "torch"))
    x = X.copy()
    rule.forward(x)
    assert (x == X + 1.0).all()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        rule.forward(x)


LAYOUTS = {
    "as it is": lambda a: a,
    "Fortran order": np.asfortranarray,
    "every second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "reversed": lambda a: a[..., ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:1], a.shape),
    "empty": lambda a: a[:0],
    "without axes": lambda a: a.ravel()[:1].reshape(()),
}


@given(st.lists(st.floats(allow_nan=False), min_size=6, max_size=6), st.sampled_from(sorted(LAYOUTS)))
def test_a_tensor_holds_the_array_with_its_strides(numbers, layout):
    array = LAYOUTS[layout](np.array(numbers).reshape(2, 3))
    found = tensor(array)
    assert np.array_equal(found.numpy().view(np.int64), array.view(np.int64))
    if layout in ("Fortran order", "every second"):
        assert [s * 8 for s in found.stride()] == list(array.strides)
