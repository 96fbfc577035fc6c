"""
The judge of backpropagators beside the checkers of PyTorch and JAX: seconds on the same function, how many of our mutants each
finds, and how often each accuses a right rule.

All three are given the same pairs of a function and a rule in NumPy, at the same samples, which are those that an honest author
gives: our judge looks around them, the others judge at them. Theirs have their default tolerances, in double precision.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import adjudge as aj
from bench.measure import Row, timed

SHOWN = ("softplus", "softmax", "multiply", "cumprod", "sort", "norm", "matmul", "var")
TESTS = Path(__file__).resolve().parent.parent / "tests"
Arguments = tuple[Any, ...]


def ours(control: Any, rule: Any) -> bool:
    """Whether our judge finds a fault or a loss of digits."""
    report = aj.check_vjp(control.forward, rule, control.samples, fixed=control.fixed, domain=control.domain)
    return report.exit_code == 1


def by_torch(control: Any, rule: Any) -> bool:
    """Whether `torch.autograd.gradcheck` objects at a sample."""
    import torch

    def accused(sample: Arguments) -> bool:
        places = varying(sample, control.fixed)

        class Function(torch.autograd.Function):
            @staticmethod
            def forward(context: Any, *reals: Any) -> Any:
                xs = filled(sample, places, [r.detach().numpy() for r in reals])
                context.xs, context.y = xs, control.forward(*xs)
                return torch.from_numpy(np.array(context.y, dtype=np.float64))

            @staticmethod
            def backward(context: Any, d: Any) -> Any:
                found = rule(*context.xs, context.y, d.detach().numpy())
                return tuple(torch.from_numpy(np.array(found[i], dtype=np.float64)) for i in places)

        reals = [torch.tensor(np.array(sample[i], dtype=np.float64), requires_grad=True) for i in places]
        return not torch.autograd.gradcheck(Function.apply, reals)

    return any(objects(lambda s=s: accused(s)) for s in control.samples)  # type: ignore[misc]


def by_jax(control: Any, rule: Any) -> bool:
    """Whether `jax.test_util.check_grads` objects at a sample, in reverse mode to first order."""
    import jax
    from jax.test_util import check_grads

    jax.config.update("jax_enable_x64", True)

    def accused(sample: Arguments) -> bool:
        places = varying(sample, control.fixed)
        shape = np.shape(control.forward(*sample))

        def host(*reals: Any) -> Any:
            return np.array(control.forward(*filled(sample, places, list(map(np.asarray, reals)))), dtype=np.float64)

        def host_rule(*all_of: Any) -> Any:
            *reals, d = map(np.asarray, all_of)
            xs = filled(sample, places, reals)
            found = rule(*xs, control.forward(*xs), d)
            return tuple(np.array(found[i], dtype=np.float64) for i in places)

        @jax.custom_vjp
        def function(*reals: Any) -> Any:
            return jax.pure_callback(host, jax.ShapeDtypeStruct(shape, np.float64), *reals)

        def backward(reals: Any, d: Any) -> Any:
            return jax.pure_callback(host_rule, tuple(jax.ShapeDtypeStruct(r.shape, np.float64) for r in reals), *reals, d)

        function.defvjp(lambda *reals: (function(*reals), reals), backward)
        reals = tuple(jax.numpy.asarray(np.array(sample[i], dtype=np.float64)) for i in places)
        check_grads(function, reals, order=1, modes=("rev",))
        return False

    return any(objects(lambda s=s: accused(s)) for s in control.samples)  # type: ignore[misc]


def objects(question: Callable[[], bool]) -> bool:
    """The answer; whatever a checker raises, it objects."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return question()
    except Exception:  # an AssertionError, a GradcheckError, or what the rule itself raised
        return True


def varying(sample: Arguments, fixed: Sequence[int]) -> tuple[int, ...]:
    """The positions that are differentiated."""
    return tuple(i for i, x in enumerate(sample) if i not in fixed and np.asarray(x).dtype.kind == "f")


def filled(sample: Arguments, places: Sequence[int], reals: Sequence[Any]) -> Arguments:
    """The sample with other values at these positions."""
    found = dict(zip(places, reals, strict=True))
    return tuple(found.get(i, x) for i, x in enumerate(sample))


OTHERS = {"torch": ("torch.autograd.gradcheck", by_torch), "jax": ("jax.test_util.check_grads", by_jax)}


def rows() -> Iterator[Row]:
    """Every row of this table."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    from mutants import array_rules, controls, zoo_rules

    others = {name: pair for package, pair in OTHERS.items() for name in [pair[0]] if importlib.util.find_spec(package)}
    right = {c.name: c for c in (*array_rules.CONTROLS.values(), *controls.CONTROLS)}
    for name in (n for n in SHOWN if n in right):
        yield from side_by_side(right[name], others)
    mutants = list(
        {b.name: b for b in (*array_rules.BUGS, *(b for of in zoo_rules.ZOO.values() for b in of), *zoo_rules.OTHERS)}.values()
    )
    checkers = {"aj.check_vjp": ours} | {name: checker for name, (_, checker) in others.items()}
    for name, checker in checkers.items():
        spent, found = timed(lambda c=checker: sum(c(b.control, b.wrong) for b in mutants))  # type: ignore[misc]
        yield Row("wrong rules found", f"{found} of {len(mutants)}", name, f"{spent / len(mutants):.2f} s each")
    for name, checker in checkers.items():
        spent, found = timed(lambda c=checker: sum(c(r, r.right) for r in right.values()))  # type: ignore[misc]
        yield Row("right rules accused", f"{found} of {len(right)}", name, f"{spent / len(right):.2f} s each")


def side_by_side(control: Any, others: dict[str, Any]) -> Iterator[Row]:
    """The time of our judge on a right rule, and of each other."""
    mine, _ = timed(lambda: ours(control, control.right))
    if not others:
        yield Row(control.name, f"{mine:.2f} s", "no other checker is installed", "")
    for name, (_, checker) in others.items():
        theirs, _ = timed(lambda c=checker: c(control, control.right))  # type: ignore[misc]
        yield Row(control.name, f"{mine:.2f} s", f"{name} {theirs:.3f} s", f"{mine / theirs:.0f}")
