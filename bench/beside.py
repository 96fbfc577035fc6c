"""
The judge of backpropagators beside the checkers of PyTorch and JAX: what each finds of five faults planted in one rule, seconds on
the same right rules, how many of our wrong rules of arrays each finds, and how often each accuses a right one.

All three are given the same pairs of a function and a rule in NumPy, at the same samples, which are those that an honest author
gives: our judge looks around them, the others judge at them. Theirs have their default tolerances, in double precision.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import adjudge as aj
from bench.measure import Row, timed
from bench.rules import array_rules, controls, zoo_rules

SHOWN = ("softplus", "softmax", "multiply", "cumprod", "sort", "norm", "matmul", "var")
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


CHECKERS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "aj.check_vjp": ("adjudge", ours),
    "torch.autograd.gradcheck": ("torch", by_torch),
    "jax.test_util.check_grads": ("jax", by_jax),
}


def elu_slope(x: Any) -> Any:
    """The derivative of elu."""
    return np.where(x > 0, 1.0, np.exp(np.minimum(x, 0.0)))


PLANTED: dict[str, Callable[..., Any]] = {
    "the wrong sign below 0": lambda x, y, d: (d * np.where(x > 0, 1.0, -elu_slope(x)),),
    "a factor 1 + 1e-6": lambda x, y, d: (d * elu_slope(x) * (1.0 + 1e-6),),
    "0 * inf in the branch not taken": lambda x, y, d: (d * ((x > 0) * 1.0 + (x <= 0) * np.exp(x)),),
    "the cotangent clipped to [-1, 1]": lambda x, y, d: (np.clip(d, -1.0, 1.0) * elu_slope(x),),
    "a bias of 1e-7": lambda x, y, d: (d * elu_slope(x) + 1e-7,),
}
"""Five faults in the backpropagator of elu."""


def rows() -> Iterator[Row]:
    """Every row of this table."""
    checkers = {name: checker for name, (package, checker) in CHECKERS.items() if importlib.util.find_spec(package)}
    right = {c.name: c for c in (*array_rules.CONTROLS.values(), *controls.CONTROLS)}
    for checker in checkers.values():
        checker(right["exp"], right["exp"].right)  # imports, and what is compiled once
    yield from planted(array_rules.CONTROLS["elu"], checkers)
    for name in SHOWN:
        yield from side_by_side(right[name], checkers)
    yield from counted(
        [b for bugs in zoo_rules.ZOO.values() for b in bugs] + list(zoo_rules.OTHERS), list(right.values()), checkers
    )


def planted(control: Any, checkers: dict[str, Any]) -> Iterator[Row]:
    """For each fault in the rule of one function whether each checker objects; the right rule last."""
    yield Row(f"{control.name}, the rule with", *(f"by {name}" for name in checkers), *[""] * (3 - len(checkers)))
    for fault, rule in (PLANTED | {"no fault": control.right}).items():
        said = []
        for checker in checkers.values():
            spent, found = timed(lambda c=checker, r=rule: c(control, r))  # type: ignore[misc]
            said.append(f"{'caught' if found else 'not caught'}, {spent:.2f} s")
        yield Row(f"  {fault}", *said, *[""] * (3 - len(said)))


def side_by_side(control: Any, checkers: dict[str, Any]) -> Iterator[Row]:
    """The time of our judge on a right rule, and of each other."""
    mine, *others = ((name, timed(lambda c=checker: c(control, control.right))[0]) for name, checker in checkers.items())  # type: ignore[misc]
    if not others:
        yield Row(control.name, f"{mine[1]:.2f} s", "no other checker is installed", "")
    for name, theirs in others:
        yield Row(control.name, f"{mine[1]:.2f} s", f"{name} {theirs:.3f} s", f"{mine[1] / theirs:.0f}")


def counted(mutants: Sequence[Any], right: Sequence[Any], checkers: dict[str, Any]) -> Iterator[Row]:
    """How many wrong rules each finds, and how many right ones it accuses."""
    for name, checker in checkers.items():
        spent, found = timed(lambda c=checker: sum(c(b.control, b.wrong) for b in mutants))  # type: ignore[misc]
        yield Row("wrong rules found", f"{found} of {len(mutants)}", name, f"{spent / len(mutants):.2f} s each")
    for name, checker in checkers.items():
        spent, found = timed(lambda c=checker: sum(c(r, r.right) for r in right))  # type: ignore[misc]
        yield Row("right rules accused", f"{found} of {len(right)}", name, f"{spent / len(right):.2f} s each")
