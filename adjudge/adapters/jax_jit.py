"""
`jax.jit` against the reference: does the compiled function compute what its jaxpr says, to the accuracy that its operations have?

The jaxpr is read twice by balls: exactly, and with every rounding that a compiled program may make (`rounding`). A result inside
the second enclosure is right. One outside is an accuracy finding while at most half of the digits of its format are lost beyond the
bound, and a fault otherwise; so are another dtype or shape, and NaN or an infinity where all is finite.

Of a gradient it is asked, too, that the derivative which the jaxpr of `jax.grad` says is that of our J, over the reals.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from adjudge.adapters.jaxprs import from_jaxpr, with_jax
from adjudge.adapters.rounding import F32, F64, Format, enclosure, exact, floats_in, format_of, precise
from adjudge.values import to_value
from checkers.columns.leaves import map_leaves
from checkers.columns.undecided import Undecided
from checkers.optimizer_audit.outcomes import agree, on_a_kink
from checkers.optimizer_audit.samples import Point, edge_samples, names_of, numbers_in, shrink, types_of
from checkers.verdict import Counterexample, LedgerEntry, Passed, Refuted, Report, Unknown, Verdict
from semantics.arrays import Array, single
from semantics.errors import AdjudgeError, IllTyped, Malformed
from semantics.ir import Program
from transforms.array_rows import NUMPY_DTYPE, to_numpy
from transforms.gradient_programs import gradient_program

SAMPLES = 48
CLAIM = {F64.name: "jit in f64", F32.name: "jit in f32"}


@dataclass(frozen=True)
class Miss:
    """A result that is not inside: the kind of finding, what was found and wanted, and why."""

    kind: str
    found: Any
    wanted: str
    why: str


@dataclass
class Compared:
    """A function, compiled, beside its jaxpr as a program. `derivative` is the gradient of the function by our J."""

    program: Program
    compiled: Callable[..., Any]
    format: Format
    derivative: Program | None = None

    def miss(self, point: Point) -> Miss | None:
        """What is wrong at a point; None if nothing is. Undecided and Trap where the reference has no answer."""
        inside = enclosure(self.program, point)
        value = exact(self.program, point)
        with precise():
            if self.derivative is not None:
                wanted = flat(exact(self.derivative, point))
                if not agree(exact(self.program, point, floats_in(self.derivative)), wanted):
                    kind = "convention" if on_a_kink(self.derivative, point) else "fault"
                    return Miss(kind, shown(value), shown(wanted), "the gradient that JAX says is another, over the reals")
            return outside(self.found(point), inside, value, self.format)

    def found(self, point: Point) -> Any:
        """What the compiled function gives, as a value of ours."""
        results = with_jax().tree.leaves(self.compiled(*(as_jax(x) for x in point)))
        values = tuple(to_value(np.asarray(r)[()] if np.ndim(r) == 0 else np.asarray(r)) for r in results)
        return values[0] if len(values) == 1 else values


def flat(value: Any) -> Any:
    """A tuple of one is its item, as a jaxpr has it."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def as_jax(x: Any) -> Any:
    """A value of ours as NumPy has it, which JAX takes with its dtype."""
    return to_numpy(x) if isinstance(x, Array) else NUMPY_DTYPE[{float: "f64", int: "i64", bool: "bool"}[type(x)]](x)


def outside(found: Any, inside: Any, value: Any, format: Format) -> Miss | None:
    """The first part of a result that is not inside its enclosure."""
    for have, ball, real in parts(found, inside, value):
        if not isinstance(ball, arb):
            if have != ball or type(have) is not type(ball):
                return Miss("fault", have, repr(ball), "another value")
            continue
        if type(have) is not float:
            return Miss("fault", have, shown(ball), "another dtype or shape")
        if not math.isfinite(have):
            return Miss("fault", have, shown(real), "no finite number, where every operation has a finite result")
        if ball.contains(arb(have)):
            continue
        error, bound = abs(arb(have) - real), (abs(ball - real)).upper()
        lost = float((error / bound).log() / arb(2).log())
        kind = "accuracy" if lost <= format.digits / 2 else "fault"
        why = f"off by {error.str(3)}, where roundings allow {arb(bound).str(3)}: {lost * math.log10(2):.1f} decimal digits more"
        return Miss(kind, have, shown(real), why)
    return None


def parts(found: Any, inside: Any, value: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Numbers side by side; where structure, dtype or shape differ, the wholes."""
    if isinstance(inside, tuple) and isinstance(found, tuple) and len(inside) == len(found):
        for triple in zip(found, inside, value, strict=True):
            yield from parts(*triple)
    elif isinstance(inside, Array) and isinstance(found, Array) and (inside.dtype, inside.shape) == (found.dtype, found.shape):
        yield from zip(found.items, inside.items, value.items, strict=True)
    else:
        yield found, inside, value


def shown(value: Any) -> str:
    """Balls to 17 digits."""
    return str(map_leaves(lambda _, x: float(x.mid()) if isinstance(x, arb) else x, value))


def judge_jit(
    function: Callable[..., Any],
    arguments: Sequence[Any] | None = None,
    *,
    grad: bool = False,
    seed: int = 0,
    samples: int = SAMPLES,
    compiled: Callable[..., Any] | None = None,
) -> Report:
    """
    The report on `jax.jit(function)` in f64 and in f32, on generated inputs of the types and shapes of the arguments.

    arguments  examples; without them, what the annotations say, and a real where there is none
    grad       judge `jax.grad(function)` with respect to its float arguments instead, and the derivative too
    compiled   judge this in place of what `jax.jit` makes
    """
    jax = with_jax()
    given = [to_value(a) for a in (arguments if arguments is not None else example_of(function))]
    name = f"jax.jit({'jax.grad(' * grad}{getattr(function, '__name__', 'f')}{')' * grad})"
    verdicts: list[Verdict] = []
    ledger: list[LedgerEntry] = []
    for format in (F64, F32):
        started = time.perf_counter()
        try:
            with jax.enable_x64(True):
                point = tuple(cast(x, format) for x in given)
                compared = prepared(jax, function, point, grad, compiled)
                found = list(judged(compared, format, seed, samples))
        except (TypeError, ValueError) as error:
            raise IllTyped(
                f"JAX refuses the function: {str(error).splitlines()[0]}", rule="jax", remedy="check the example arguments"
            ) from error
        verdicts += found
        ledger.append(LedgerEntry(CLAIM[format.name], time.perf_counter() - started))
    return Report(name, tuple(verdicts), tuple(ledger), seed)


def prepared(jax: Any, function: Callable[..., Any], point: Point, grad: bool, compiled: Callable[..., Any] | None) -> Compared:
    """The function at arguments like `point`: its jaxpr as a program, and what runs."""
    values = [as_jax(x) for x in point]
    derivative = None
    if grad:
        floats = tuple(i for i, x in enumerate(values) if np.asarray(x).dtype.kind == "f")
        if not floats:
            raise Malformed("no argument is a float to differentiate by", rule="jax", remedy="give floats: 2.0, not 2")
        derivative = gradient_program(from_jaxpr(jax.make_jaxpr(function)(*values)), floats)
        function = jax.grad(function, argnums=floats)
    program = from_jaxpr(jax.make_jaxpr(function)(*values))
    return Compared(program, compiled or jax.jit(function), format_of(program), derivative)


def judged(compared: Compared, format: Format, seed: int, samples: int) -> Iterator[Verdict]:
    """The verdicts on one format: the first finding of each kind, shrunk, and on how many inputs there was none."""
    program, claim = compared.program, CLAIM[format.name]
    passed, open_, findings = 0, [], {}
    for point in inputs(program, format, seed, samples):
        try:
            miss = compared.miss(point)
        except (Undecided, AdjudgeError) as error:
            open_.append(error.what)
            continue
        if miss is None:
            passed += 1
        elif miss.kind not in findings:
            findings[miss.kind] = finding(compared, point, miss.kind, claim)
    yield from findings.values()
    if passed:
        left = f"; {len(open_)} not judged, the first since {open_[0]}" if open_ else ""
        yield Passed(passed, f"inputs inside the derived bounds{left}", claim)
    elif not findings:
        yield Unknown(f"no input was decided: {open_[0] if open_ else 'there was none'}", claim)


def finding(compared: Compared, point: Point, kind: str, claim: str) -> Refuted:
    """A finding, at the simplest input that was found to show it."""

    def fails(candidate: Point) -> bool:
        try:
            miss = compared.miss(candidate)
        except AdjudgeError:
            return False
        return miss is not None and miss.kind == kind

    small = shrink(point, fails)
    miss = compared.miss(small)
    assert miss is not None
    inputs = dict(zip(names_of(compared.program), small, strict=True))
    return Refuted(
        Counterexample(inputs, miss.found, miss.wanted, miss.why, note=f"the jaxpr, read:\n{compared.program}"), kind, claim
    )


def inputs(program: Program, format: Format, seed: int, most: int) -> list[Point]:
    """Finite points: plain ones first, then ones at the edges of the format."""
    types, extra = types_of(program), numbers_in(program)
    plain = edge_samples(types, extra, seed=seed, most=most // 2, finite=True)
    wide = edge_samples(types, extra, seed=seed, most=2 * most)
    rounded = [tuple(cast(x, format) for x in p) for p in (*plain, *wide[:: max(1, 2 * len(wide) // most)])]
    return [p for p in rounded if all(map(finite, p))][:most]


def finite(x: Any) -> bool:
    """Whether every number in a value is finite, and every integer one of 64 bits."""
    items = x.items if isinstance(x, Array) else (x,)
    return all(math.isfinite(v) if type(v) is float else -(2**63) <= v < 2**63 for v in items)


def cast(x: Any, format: Format) -> Any:
    """A value with its floats in a format; a scalar of f32 is an array without axes."""
    if type(x) is float and format is F32:
        return Array("f32", (), (single(x),))
    if isinstance(x, Array) and x.dtype in ("f32", "f64"):
        if format is F64 and not x.shape:
            return x.items[0]
        return Array(format.name, x.shape, tuple(map(single, x.items)) if format is F32 else x.items)
    return x


EXAMPLES = {"float": 1.0, "int": 2, "bool": True}


def example_of(function: Callable[..., Any]) -> list[Any]:
    """An example of each argument, by its annotation; a real where there is none."""
    found: list[Any] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not inspect.Parameter.empty:
            continue
        said = parameter.annotation
        if said is inspect.Parameter.empty:
            found.append(1.0)
            continue
        kind = said if isinstance(said, str) else getattr(said, "__name__", str(said))
        if kind not in EXAMPLES:
            raise Malformed(
                f"what {parameter.name} is does not follow from {kind}", rule="jax", remedy="give an example of each argument"
            )
        found.append(EXAMPLES[kind])
    return found
