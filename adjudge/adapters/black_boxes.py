"""
Rules of other frameworks on trial: a `jax.custom_vjp`, a `torch.autograd.Function`, an `autograd.extend.primitive`, and any
function that those frameworks differentiate, each a trial.

Its forward function and its pullback are made by `jax_rules`, `torch_rules` or `autograd_rules`, the trial by what makes all
trials of black boxes. Without samples, small arrays are tried; the trial says in `lost` what was assumed.
"""

from __future__ import annotations

import importlib
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.adapters.foreign import Foreign, PerSignature, Traced, TracedRule
from adjudge.adapters.frameworks import FRAMEWORKS, Marked, home, recognised
from checkers.array_audit.bounds import Reference
from checkers.array_audit.case import Case, leaves
from checkers.array_audit.trial import DOUBLE, SINGLE, Trial
from semantics.errors import AdjudgeError, Malformed

TRACES = {"jax": "differences in ball arithmetic of the jaxpr", "torch": "differences in ball arithmetic of the traced graph"}


def foreign(x: Any, fixed: frozenset[int] = frozenset(), framework: str = "") -> Foreign:
    """An object of a framework as functions of NumPy. Malformed if it is of none, or the framework is not installed."""
    if framework and framework not in FRAMEWORKS:
        known = " or ".join(map(repr, FRAMEWORKS))
        raise Malformed(f"{framework!r} is no framework that has an adapter", rule="check", remedy=f"framework={known}")
    framework = framework or recognised(x)
    if framework not in FRAMEWORKS:
        remedy = 'say whose it is: check(f, framework="jax"), "torch" or "autograd"'
        raise Malformed(f"{x!r} is of no framework that has an adapter", rule="check", remedy=remedy)
    rules = importlib.import_module(f"adjudge.adapters.{framework}_rules")
    return rules.foreign(x.function if isinstance(x, Marked) else x, fixed)


def trial_of(
    x: Any,
    samples: Sequence[Any] | None = None,
    *,
    seed: int = 0,
    examples: int = 60,
    domain: Callable[..., bool] | None = None,
    fixed: Sequence[int] = (),
    name: str | None = None,
    framework: str = "",
) -> Trial:
    """
    The trial of an object of another framework.

    samples    tuples of arguments: arrays, numbers, attributes. Without them, small arrays on which it has a value
    domain     (x…) -> whether arguments are meant to be tried
    fixed      positions of attributes; numbers that are no floats are attributes anyway
    framework  of a plain function, whose rules it is differentiated by

    Beside what every trial has: `rule_value`, `twice`, `alone` and `second_pull` as `Foreign` says. Malformed without a value.
    """
    from checkers.array_audit.build import of_functions

    rule = foreign(x, frozenset(fixed), framework)
    given = samples_of(rule) if samples is None else listed(samples)
    usable = [s for s in given if taken(rule, s)]
    positions = rule.fixed | attributes(rule, given)
    if positions != rule.fixed:
        rule = foreign(x, frozenset(positions), framework)
    unit = SINGLE if any(in_single(rule, s) for s in usable) else DOUBLE
    references, refused = references_of(rule, usable, unit)

    def pullback(xs: Any, y: Any, dy: Any) -> Any:
        return rule.pull(tuple(xs), y, dy)

    trial = of_functions(
        rule.forward,
        pullback,
        given,
        seed=seed,
        examples=examples,
        fixed=tuple(sorted(positions)),
        domain=domain,
        references=references,
        unit=unit,
        name=name or rule.name,
        framework=rule.framework,
        spread=False,
        parameters=rule.parameters,
    )
    trial.rule_value, trial.twice, trial.second_pull = rule.rule_value, rule.twice, rule.second_pull
    trial.alone = rule.alone
    trial.over_reals = None if rule.rule_traced is None else TracedRule(PerSignature(rule.rule_traced))
    trial.recipe = recipe(x, rule)
    if samples is None:
        trial.lost.append(f"samples were assumed, of the shapes {'; '.join(map(shapes, given))}: give your own with samples=[...]")
    if refused:
        trial.lost.append(f"rigorous enclosures are lost: {refused}")
    return trial


def references_of(rule: Foreign, samples: Sequence[Any], unit: float) -> tuple[tuple[Reference, ...], str]:
    """The references for the forward function, strongest first, and why there are no rigorous ones, if there are none."""
    from checkers.array_audit.references import program_balls, references_for

    if rule.plain is not None:
        return tuple(references_for(forward=rule.plain, unit=unit)), ""
    numeric = tuple(references_for(forward=rule.forward, unit=unit, objects=False))
    if rule.traced is None:
        return numeric, ""
    trace = rule.traced
    reading: PerSignature[Reference] = PerSignature(lambda case: program_balls(trace(case)))
    for sample in samples:
        reading(Case(sample, rule.forward(*sample), fixed=rule.fixed))
    return (Traced(reading, TRACES[rule.framework]), *numeric), reading.refused


def recipe(x: Any, rule: Foreign) -> str:
    """The lines of Python that find an object again and make its two functions; "" if no module has it by a name."""
    function = x.function if isinstance(x, Marked) else x
    module = sys.modules.get(home(function))
    names = [n for n, v in vars(module).items() if v is function] if module is not None else []
    if not names or module is None:
        return ""
    file = getattr(module, "__file__", None)
    if file is None or Path(file).is_relative_to(sysconfig.get_path("purelib")):
        imports, found = "import importlib\n", f"importlib.import_module({module.__name__!r}).{names[0]}"
    else:
        imports, found = "import runpy\n", f"runpy.run_path({str(Path(file).resolve())!r})[{names[0]!r}]"
    made = f"rule = foreign({found}, frozenset({sorted(rule.fixed)}), {rule.framework!r})"
    lines = f"{imports}\nfrom adjudge.adapters.black_boxes import foreign\n\n{made}\n"
    return f"{lines}forward, pullback = rule.forward, rule.pull\n"


# samples


def listed(samples: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Samples as tuples of arguments; an array or a number alone is one argument. Malformed for anything else."""
    if not isinstance(samples, (list, tuple)) or not samples:
        raise Malformed("samples is empty or no list", rule="check", remedy="a list of tuples of arguments: [(x, y), (x2, y2)]")
    found = [s if isinstance(s, tuple) else (s,) for s in samples]
    if any(isinstance(s, list) for s in samples) or len({len(f) for f in found}) != 1:
        remedy = "write (x,) for one argument"
        raise Malformed("a sample is no tuple of arguments, or they differ in length", rule="check", remedy=remedy)
    return found


def attributes(rule: Foreign, samples: Sequence[tuple[Any, ...]]) -> frozenset[int]:
    """Positions that PyTorch cannot differentiate by: numbers of Python."""
    if rule.framework != "torch":
        return frozenset()
    return frozenset(i for s in samples for i, v in enumerate(s) if isinstance(v, (float, np.generic)))


def in_single(rule: Foreign, sample: tuple[Any, ...]) -> bool:
    """Whether the function computes in f32: its arguments or its value are."""
    return any(np.asarray(leaf).dtype == np.float32 for _, leaf in leaves((*sample, rule.forward(*sample))))


def shapes(sample: tuple[Any, ...]) -> str:
    """The shapes of the arguments."""
    return ", ".join(str(list(np.shape(v))) for v in sample)


def candidates(arity: int) -> Iterator[tuple[Any, ...]]:
    """Small arguments in (0, 1): arrays without axes, vectors, matrices that are not square, products, matrices that are."""

    def filled(k: int, shape: tuple[int, ...]) -> Any:
        return ((np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * (2 * k + 3)) % 16 / 16 + 1 / 64).reshape(shape)

    alike = [(shape,) * arity for shape in ((3,), (2, 3), (), (3, 3))]
    pairs = [((2, 3), (3,)), ((2, 3), (3, 2)), ((2, 3), (2, 1))] if arity == 2 else []
    for together in (*alike, *pairs):
        yield tuple(filled(k, shape) for k, shape in enumerate(together))


ATTRIBUTE = 2
"""What is tried for an argument that is not differentiated by."""


def samples_of(rule: Foreign) -> list[tuple[Any, ...]]:
    """Arguments on which the function has a finite value and its rule an answer; Malformed with what to do if there are none."""
    arities = (len(rule.parameters),) if rule.parameters else (1, 2, 3)
    for dtype in (np.float64, np.float32):
        for arity in arities:
            tried: list[tuple[Any, ...]] = [tuple(np.asarray(v, dtype=dtype) for v in c) for c in candidates(arity)]
            tried = [tuple(ATTRIBUTE if i in rule.fixed else v for i, v in enumerate(s)) for s in tried]
            found = [s for s in tried if taken(rule, s)]
            if found:
                return found
    remedy = "give samples=[(x, ...)], tuples of arguments that it takes"
    raise Malformed(f"{rule.name} has no finite real value on the small arrays that were tried", rule="check", remedy=remedy)


def taken(rule: Foreign, sample: tuple[Any, ...]) -> bool:
    """Whether the function has finite reals as its value at a sample."""
    try:
        with np.errstate(all="ignore"):
            found = leaves((rule.forward(*sample),))
    except AdjudgeError:
        raise
    except Exception:  # whatever a framework raises says that it does not take these arguments
        return False
    return bool(found) and all(np.isfinite(leaf).all() for _, leaf in found)


__all__ = ["foreign", "recognised", "trial_of"]
