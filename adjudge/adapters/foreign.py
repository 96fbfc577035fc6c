"""
A differentiable function of another framework, as NumPy sees it: what `jax_rules`, `torch_rules` and `autograd_rules` make.

Beside the two functions that every trial has, a framework can say more: what value the forward pass of the rule computes, what
two backward passes through one forward pass answer, the derivative of the pullback, and the function as a program of ours. The
program is read in balls, so that the reference of a black box is rigorous where its operations are in our table.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from flint import arb

from checkers.array_audit.bounds import Bounds, Reference, Sides
from checkers.array_audit.case import Arguments, Case, Vector, is_real, leaves, unflat, unit
from semantics.errors import AdjudgeError
from semantics.ir import Program

T = TypeVar("T")
LARGEST = 64
"""So many coordinates and outputs a program is read for in balls; beyond, an element of Python for each takes too long."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """
    forward       (x…) -> value and pull (xs, value, cotangent) -> a cotangent per argument, both on NumPy
    fixed         positions that the framework does not differentiate by
    rule_value    xs -> the value that the forward pass of the rule computes, where that is another function
    twice         (xs, cotangent) -> what the pullback of one forward pass answers, asked two times
    alone         (xs, cotangent, k) -> what the pullback answers where only result k is used, and the others have no cotangent
    second_pull   (xs, cotangent, k) -> the derivatives, by each argument, of coordinate k of what the pullback answers
    traced        a case -> the forward function as a program of the leaves, in order; Malformed if it cannot be read
    rule_traced   a case -> the pullback as a program of the leaves and of the cotangents of the real results
    plain         the function of NumPy under a primitive, which takes arrays of objects too; None if there is none
    """

    name: str
    framework: str
    forward: Callable[..., Any]
    pull: Callable[[Arguments, Any, Any], Any]
    parameters: tuple[str, ...] = ()
    fixed: frozenset[int] = frozenset()
    rule_value: Callable[[Arguments], Any] | None = None
    twice: Callable[[Arguments, Any], tuple[Any, Any]] | None = None
    alone: Callable[[Arguments, Any, int], Any] | None = None
    second_pull: Callable[[Arguments, Any, int], Any] | None = None
    traced: Callable[[Case], Program] | None = None
    rule_traced: Callable[[Case], Program] | None = None
    plain: Callable[..., Any] | None = None


def parameters_of(function: Any, skip: int = 0) -> tuple[str, ...]:
    """The names of the parameters that must be given, in order, but for the first `skip`; none where Python does not know them."""
    try:
        found = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return ()
    if any(p.kind is p.VAR_POSITIONAL for p in found):
        return ()
    return tuple(p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty)


def name_of(x: Any, default: str) -> str:
    """The name of a function or a class, `default` for what has none."""
    name = getattr(x, "__name__", "")
    return name if isinstance(name, str) and name.isidentifier() else default


def reals(values: Arguments) -> list[Any]:
    """The reals among values, one after the other."""
    return [leaf for _, leaf in leaves(values)]


def seeds(cotangent: Any, count: int) -> tuple[Any, ...]:
    """The cotangent of each of the results of a function that has so many."""
    return tuple(cotangent) if isinstance(cotangent, (tuple, list)) and count != 1 else (cotangent,)


def answers(arguments: Arguments, fixed: frozenset[int], found: Sequence[Any]) -> tuple[Any, ...]:
    """The cotangents of the leaves, in order, in the structure of the arguments; None in the place of what is no leaf."""
    rest = iter(found)

    def built(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return tuple(map(built, value))
        if not is_real(value):
            return None
        cotangent = next(rest)
        return cotangent if isinstance(value, np.ndarray) or np.ndim(cotangent) else float(cotangent)

    return tuple(None if i in fixed else built(value) for i, value in enumerate(arguments))


@dataclass(slots=True)
class PerSignature(Generic[T]):
    """What is made of a case, once for all arguments of its shapes and attributes; `refused` is why the first could not be made."""

    make: Callable[[Case], T]
    refused: str = ""
    _known: dict[Any, T | None] = field(default_factory=dict, repr=False)

    def __call__(self, case: Case) -> T | None:
        """What is made; None of cases that are too large, and where it cannot be made."""
        if max(case.size, case.outputs) > LARGEST:
            return None
        key = signature(case)
        if key not in self._known:
            self._known[key] = self._made(case)
        return self._known[key]

    def _made(self, case: Case) -> T | None:
        try:
            return self.make(case)
        except AdjudgeError as error:
            self.refused = self.refused or error.what
        except Exception as error:  # what a framework raises where a function cannot be traced, such as a branch on a value
            self.refused = self.refused or f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return None


@dataclass(slots=True)
class Traced:
    """The reference in balls through the program that the framework makes of a function."""

    reading: PerSignature[Reference]
    name: str

    def sides(self, case: Case, direction: Vector, fine: bool = False) -> Sides | None:
        """The derivatives of all outputs along `direction`, with finer steps if asked; None where the program cannot be read."""
        found = self.reading(case)
        if found is None:
            return None
        sides = found.sides(of_leaves(case), direction, **({"fine": True} if fine else {}))
        return None if sides is None else replace(sides, by=self.name)

    def second(self, case: Case, first: Vector, second: Vector) -> Bounds | None:
        """The second derivatives of all outputs along two directions."""
        found = self.reading(case)
        return None if found is None else found.second(of_leaves(case), first, second)


@dataclass(slots=True)
class TracedRule:
    """The pullback over the reals: what the framework traces of it, in balls; asked for the cotangent of one output at a time."""

    reading: PerSignature[Program]

    def __call__(self, case: Case, output: int) -> list[Any] | None:
        """The cotangents of the leaves, as balls, where output has cotangent 1 and all others 0; None if it cannot be read."""
        from checkers.array_audit.references.program_balls import reals as in_order
        from checkers.array_audit.references.program_balls import to_balls
        from checkers.primitive_audit.programs import in_balls

        program = self.reading(case)
        if program is None:
            return None
        plain = of_leaves(case)
        seeded = unflat((case.value,), unit(case.outputs, output))
        values = (*plain.arguments, *map(_number, reals(seeded)))
        both = Case(values, None)
        balls = np.array([*map(arb, both.coordinates.tolist()), None], dtype=object)[:-1]
        arguments = [to_balls(a, b) for a, b in zip(values, both.at(balls), strict=True)]
        return in_order(in_balls(program, arguments), Case((), plain.arguments))


def signature(case: Case) -> Any:
    """What a program is traced for: shapes and dtypes of the leaves, and all else as it is."""
    real = {path for path, _ in leaves(case.arguments, case.fixed)}

    def said(path: tuple[int, ...], value: Any) -> Any:
        if path in real:
            return np.shape(value), str(np.asarray(value).dtype)
        if isinstance(value, (tuple, list)):
            return tuple(said((*path, i), v) for i, v in enumerate(value))
        return (value.shape, str(value.dtype), value.tobytes()) if isinstance(value, np.ndarray) else repr(value)

    return tuple(said((i,), value) for i, value in enumerate(case.arguments))


def of_leaves(case: Case) -> Case:
    """The case of the function of its leaves alone, as a traced program is: numbers without axes are numbers, if they are f64."""
    plain = tuple(_number(leaf) for _, leaf in leaves(case.arguments, case.fixed))
    found = tuple(_number(leaf) for _, leaf in leaves((case.value,)))
    return Case(plain, found[0] if len(found) == 1 else found, case.origin, case.note)


def _number(leaf: Any) -> Any:
    return float(leaf) if np.ndim(leaf) == 0 and np.asarray(leaf).dtype == np.float64 else np.asarray(leaf)
