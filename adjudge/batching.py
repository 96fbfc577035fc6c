"""
`vmap`: a function of one sample as a function of many, on any target.

Every argument has a first axis more, over samples; a tuple, a list or a record has it on each of its arrays. So has the result. The
value at each sample is that of the function called on it, bit for bit where the target gives the bits of the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from adjudge.compiling import MODES
from adjudge.elsewhere import made
from adjudge.failures import Failures
from adjudge.functions import TARGETS, Derivative, bind, parse
from adjudge.values import is_function, to_python, to_value
from semantics.errors import AdjudgeError, IllTyped, Malformed, Trap
from semantics.machine import Machine
from semantics.type_language import type_of
from transforms.gradient_programs import calling
from transforms.nested_grad import expand

ERRORS = ("raise", "return")
DTYPES = ("float64", "float32", "int64", "bool")
Axes = int | None | tuple[int | None, ...]


def vmap(
    f: Any, in_axes: Axes = 0, *, target: str = "cpu", mode: str = "exact", errors: str = "raise", threads: int = 0
) -> Callable[..., Any]:
    """
    f, a function, a derivative or a program, at every sample of its arguments: `aj.vmap(aj.grad(f))(xs, ys)`.

    in_axes   0, or None for an argument that all samples share; a tuple has one for each argument. Functions are shared
    mode      "exact" or "fast", as of `compile`; what differs is sums over arrays, and what programs of arrays call
    errors    "raise" the error of the first sample that has one, its number in the text; or "return" (values, failures), where
              `failures` has the error of each sample that failed, by number, and the values there are nan, 0 or False; an
              error that is asked for is explained by a run of its sample, so to count them is quick
    threads   how many go over the samples on "cpu"; 0 for as many as Numba would use
    """
    if target not in TARGETS:
        raise Malformed(f"{target!r} is not a target", remedy=f"one of {', '.join(TARGETS)}")
    if mode not in MODES:
        raise Malformed(f"{mode!r} is not a mode of compiled code", remedy=f"one of {', '.join(MODES)}")
    if type(threads) is not int or threads < 0:
        raise Malformed(f"threads is {threads!r}", remedy="their number, or 0")
    if errors not in ERRORS:
        raise Malformed(f"errors is {errors!r}", remedy=f"one of {', '.join(ERRORS)}")
    if not all(a is None or (type(a) is int and a == 0) for a in (in_axes if isinstance(in_axes, tuple) else (in_axes,))):
        raise Malformed(
            f"in_axes is {in_axes!r}", remedy="0 or None, or a tuple of those; np.moveaxis(x, k, 0) brings axis k first"
        )
    program = parse(f)
    runners: dict[Any, Any] = {}

    def at_length(*arguments: Any, **named: Any) -> Any:
        if named:
            what = f"{batched.__name__} takes its arguments by position, and was given {', '.join(named)} by name"
            raise IllTyped(what, rule="vmap", remedy="in_axes has one axis for each position; bind others in a lambda")
        given = _arguments(f, arguments, in_axes)
        count = _count(given)

        def sample(k: int) -> list[Any]:
            return [a.at(k) for a in given if not a.function]

        if isinstance(f, Derivative):
            f.arguments([a.value if a.function else a.at(0) for a in given], {})
        types = [None if a.function else type_of(a.at(0)) for a in given]
        runner = _runner(program, given, types, target, {"threads": threads, "fast": mode == "fast"}, runners)
        outcome = runner.run(count, sample)
        quick = runner.way_in(at_length, errors == "return") if len(given) == len(arguments) else None
        batched.lead(quick or at_length)  # for columns and numbers of the types that came last
        if errors == "return":
            return to_python(outcome.value, None), _in_full(outcome.failures, runner, given)
        if outcome.failures:
            first = min(outcome.failures)
            raise _of_sample(first, runner.explained(outcome.failures[first], sample(first)))
        return to_python(outcome.value, None)

    again = partial(vmap, target=target, mode=mode, errors=errors, threads=threads)
    batched = made(at_length, "aj.vmap", f"vmap_{getattr(f, '__name__', 'f')}", again, f, in_axes)
    return batched


@dataclass(frozen=True)
class Argument:
    """An argument: a function, a value of the language, or, if it is `mapped`, one with columns for its leaves."""

    name: str
    value: Any
    columns: tuple[Any, ...] = ()
    mapped: bool = False
    function: bool = False

    def at(self, k: int) -> Any:
        """The value of one sample."""
        return to_value(self.value, self.name, lambda x, name: to_value(x[k], name)) if self.mapped else self.value

    def only(self, numbers: list[int]) -> Argument:
        """The argument at these samples alone, in columns of its own."""
        return replace(self, value=to_value(self.value, self.name, lambda x, _: x[numbers])) if self.mapped else self


def _arguments(f: Any, arguments: Sequence[Any], in_axes: Axes) -> list[Argument]:
    """The arguments, by position; a default is shared."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(arguments)
    if len(axes) != len(arguments):
        raise IllTyped(f"in_axes has {len(axes)} axes for {len(arguments)} arguments", rule="vmap", remedy="one for each")
    bound = bind(f, arguments, {})
    names = [f"argument {k}" for k in range(len(bound))]
    return [_argument(v, name, a) for v, name, a in zip(bound, names, (*axes, *[None] * len(bound)), strict=False)]


def _argument(value: Any, name: str, axis: int | None) -> Argument:
    if is_function(value):
        return Argument(name, value, function=True)
    if axis is None:
        return Argument(name, to_value(value, name))
    columns: list[Any] = []

    def column(x: Any, name: str) -> Any:
        columns.append(_column(x, name))
        return x

    return Argument(name, to_value(value, name, column), tuple(columns), mapped=True)


def _column(x: Any, name: str) -> Any:
    if type(x) is not np.ndarray or x.ndim == 0:
        shown = "an array without axes" if type(x) is np.ndarray else f"a value of type {type(x).__name__}"
        remedy = "an array, its first axis over samples; or None in in_axes, if all samples share it"
        raise IllTyped(f"{name} holds {shown}, which has no axis of samples", rule="vmap", remedy=remedy)
    if x.dtype.name not in DTYPES:
        raise IllTyped(f"{name} is an array of {x.dtype}", rule="vmap", remedy=f"convert it to one of {', '.join(DTYPES)}")
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder())


def _count(given: Sequence[Argument]) -> int:
    """How many samples there are."""
    sizes = {len(column): a.name for a in given for column in a.columns}
    if not sizes:
        raise IllTyped(
            "no argument has an axis of samples", rule="vmap", remedy="0 in in_axes for one; or call the function itself"
        )
    if len(sizes) > 1:
        found = ", ".join(f"{size} in {name}" for size, name in sizes.items())
        raise IllTyped(f"the arguments have not the same number of samples: {found}", rule="vmap", remedy="one number for all")
    (count,) = sizes
    if count == 0:
        raise IllTyped("there are no samples", rule="vmap", remedy="at least one: of none, the shape of the result is not known")
    return count


@dataclass(frozen=True)
class Runner:
    """
    `run(count, sample)` gives the outcome, `explained(error, sample)` an error in full, if it `is_vague`; `way_in(otherwise, pair)`
    is quicker.
    """

    run: Callable[..., Any]
    is_vague: Callable[[AdjudgeError], bool]
    explained: Callable[..., AdjudgeError]
    way_in: Callable[..., Callable[..., Any] | None]


def _runner(
    program: Any, given: Sequence[Argument], types: list[Any], target: str, options: dict[str, Any], made: dict[Any, Any]
) -> Runner:
    """What runs the program at all samples of these arguments."""
    from backend import general
    from backend.batches.batch import Batch, Column, of_outcomes
    from backend.batches.way_in import way_in
    from backend.boundary import flatten_arguments
    from backend.tiers import is_vague

    types = [None if t is None else general(t) for t in types] if target != "reference" else types
    data = [(a, t) for a, t in zip(given, types, strict=True) if not a.function]
    columns: list[Column] | None = None
    with suppress(Trap):  # a shared integer of more than 64 bits is no column
        flat = [a.columns if a.mapped else flatten_arguments([a.value], [t]) for a, t in data]
        columns = [Column(c, not a.mapped) for (a, _), part in zip(data, flat, strict=True) for c in part]
    shared = tuple(c.shared for c in columns or ())
    key = (tuple(types), shared, tuple(id(a.value) for a in given if a.function))
    if key not in made:
        functions = {i: parse(a.value) for i, a in enumerate(given) if a.function}
        linked = calling(program, None, 0, types, functions)
        if target == "reference":
            made[key] = Machine(expand(linked))
        else:
            made[key] = Batch(linked, [t for t in types if t is not None], shared, target, **options)
    found = made[key]
    if isinstance(found, Machine):
        return Runner(
            lambda count, sample: of_outcomes([_on(found, sample(k)) for k in range(count)]),
            lambda _: False,
            lambda error, _: error,
            lambda *_: None,
        )
    return Runner(
        lambda count, sample: found.run(columns, count, sample),
        is_vague,
        found.tiered.explained,
        lambda otherwise, pair: (
            None if columns is None else way_in(found, types, lambda value: to_python(value, None), otherwise, pair)
        ),
    )


def _on(machine: Machine, arguments: Sequence[Any]) -> Any:
    """The value on the reference machine, or the error that it ends in."""
    try:
        return machine.run(arguments).value
    except AdjudgeError as error:
        return error


def _in_full(failures: dict[int, AdjudgeError], runner: Runner, given: Sequence[Argument]) -> Mapping[int, AdjudgeError]:
    """The errors, each explained when it is asked for, from what its sample is now: a column may change after the call."""
    vague = {k: i for i, k in enumerate(k for k, error in failures.items() if runner.is_vague(error))}
    if not vague:
        return failures
    kept = [a if a.function else a.only([*vague]) for a in given]

    def explain(number: int, error: AdjudgeError) -> AdjudgeError:
        place = vague.get(number)
        return error if place is None else runner.explained(error, [a.at(place) for a in kept if not a.function])

    return Failures(failures, explain)


def _of_sample(number: int, found: AdjudgeError) -> AdjudgeError:
    """The error, with the number of the sample that ends in it."""
    what = f"sample {number}: {found.what}"
    return type(found)(what, rule=found.rule, node=found.node, location=found.location, remedy=found.remedy)
