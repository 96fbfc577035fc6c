"""
What is on trial: a function on arrays, its backpropagator, references for the derivative, and the cases to try.

A `Trial` is made from a row, from two functions of NumPy, or by an adapter of another framework. Everything that a check needs is
asked of it, and remembered: values, pulled-back cotangents, whole Jacobians, the reference's bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from checkers.array_audit.bounds import Bounds, Reals, Reference, Sides
from checkers.array_audit.case import Arguments, Case, Path, Vector, flat, leaves, unflat, unit
from checkers.array_audit.signature import misfit
from checkers.primitive_audit.given import told
from checkers.verdict import Verdict
from semantics.array_signatures import ArraySignature
from semantics.ir import Program
from semantics.primitives.row import Primitive

T = TypeVar("T")
DOUBLE, SINGLE = 2.0**-53, 2.0**-24
"""The unit roundoff of the arithmetic that a rule computes in."""


@dataclass(frozen=True, slots=True, eq=False)
class Pulled:
    """
    What a backpropagator answered: `raw` as returned, or what it `raised`.

    cotangents  the elements of all cotangents of leaves, one after the other; None if their structure is wrong, which `why` says
    """

    raw: Any
    cotangents: Vector | None
    raised: str = ""
    why: str = ""


@dataclass
class Trial:
    """
    forward      arguments -> value: NumPy in, NumPy out. What it raises puts the arguments out of the domain
    pull         (arguments, value, cotangent) -> one cotangent per argument; of a fixed argument, or an integer's, anything
    references   strongest first
    domain       whether arguments are meant to be tried; true of everything where nobody says otherwise
    signature    what a primitive says that it takes, None where nobody says; other arguments are outside the domain
    fixed        positions that are not differentiated: those that are said to be, and the silent ones
    silent       positions of real arguments for which the rule answers None wherever it is asked
    unit         the unit roundoff of the arithmetic of the rule
    operations   how many elementary operations an entry of the rule's answer takes, at least; each may cost 4 ulp
    row, rule    the primitive and its backpropagator as a program; None of a black box
    program      the forward function as a program of arrays; None of a black box
    *_source     the Python functions, for scripts; None if there are none
    spread       whether pull_source takes (x…, y, dy) rather than (xs, y, dy)
    prover       what proves the rule; given by whoever asks
    samples      what the author gave, of any size; the cases are small
    examples     how many cases were asked for
    rule_value   xs -> the value that the forward pass of the rule computes, where a framework runs another function than forward
    twice        (xs, cotangent) -> what one forward pass answers to the same cotangent, asked two times
    alone        (xs, cotangent, k) -> what it answers where result k alone has a cotangent, and the others have none
    second_pull  (xs, cotangent, k) -> the derivatives, by each argument, of coordinate k of what the rule answers
    over_reals   (case, output) -> what the rule answers over the reals to the one-hot cotangent of an output, as balls
    recipe       the lines of Python that make `forward` and `pullback` of a black box, for scripts
    convicted    how often each leaf had a confirmed fault       refusals  how often each way over the reals came to nothing
    """

    name: str
    parameters: tuple[str, ...]
    forward: Callable[..., Any]
    pull: Callable[[Arguments, Any, Any], Any]
    references: tuple[Reference, ...]
    fixed: frozenset[int] = frozenset()
    domain: Callable[[Arguments], bool] = lambda arguments: True
    unit: float = DOUBLE
    operations: int = 64
    row: Primitive | None = None
    rule: Program | None = None
    program: Program | None = None
    forward_source: Callable[..., Any] | None = None
    pull_source: Callable[..., Any] | None = None
    spread: bool = True
    seed: int = 0
    prover: Callable[[Primitive], Sequence[Verdict]] | None = None
    cases: tuple[Case, ...] = ()
    lost: list[str] = field(default_factory=list)
    framework: str = ""
    samples: tuple[Arguments, ...] = ()
    rule_value: Callable[[Arguments], Any] | None = None
    twice: Callable[[Arguments, Any], tuple[Any, Any]] | None = None
    second_pull: Callable[[Arguments, Any, int], Any] | None = None
    over_reals: Callable[[Case, int], list[Any] | None] | None = None
    recipe: str = ""
    examples: int = 0
    silent: frozenset[int] = frozenset()
    alone: Callable[[Arguments, Any, int], Any] | None = None
    signature: ArraySignature | None = None
    convicted: Counter[Path] = field(default_factory=Counter, repr=False)
    refusals: Counter[str] = field(default_factory=Counter, repr=False)
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def once(self, case: Case | None, compute: Callable[[], T], *key: Any) -> T:
        """What `compute` answers of a case, computed when it is first asked. The case is kept, so that no other gets its id."""
        place = (id(case), *key)
        if place not in self._known:
            self._known[place] = (case, compute())
        found: T = self._known[place][1]
        return found

    # values

    def case(self, arguments: Arguments, origin: str = "sample", note: str = "") -> Case | None:
        """The case of these arguments; None where the function has no finite value, or is not meant to be tried."""
        try:
            with np.errstate(all="ignore"):
                if (self.signature is not None and misfit(self.signature, arguments)) or not self.domain(arguments):
                    return None
                value = self.forward(*arguments)
        except Exception:  # whatever a foreign function raises says that it does not take these arguments
            return None
        if not all(np.isfinite(leaf).all() for _, leaf in leaves((value,))):
            return None
        return Case(arguments, value, origin, note, self.fixed)

    def value(self, arguments: Arguments) -> Vector | None:
        """The reals of the value, one after the other; None where the function raises."""
        try:
            with np.errstate(all="ignore"):
                return flat([leaf for _, leaf in leaves((self.forward(*arguments),))])
        except Exception:
            return None

    def seeded(self, case: Case, cotangent: Vector) -> Any:
        """A vector over the outputs in the structure, the shapes and the dtypes of the value."""
        return unflat((case.value,), cotangent)[0]

    # the backpropagator

    def pulled(self, case: Case, cotangent: Vector) -> Pulled:
        """What the backpropagator answers to a vector over the outputs; whatever it raises is recorded, never passed on."""
        return self.once(case, lambda: self.pulled_anew(case, self.seeded(case, cotangent)), "pulled", cotangent.tobytes())

    def pulled_anew(self, case: Case, cotangent: Any, value: Any = None) -> Pulled:
        """The answer to a cotangent as it is given, asked again; `value` in place of the case's own, for what a rule keeps."""
        try:
            with np.errstate(all="ignore"):
                raw = self.pull(case.arguments, case.value if value is None else value, cotangent)
        except Exception as error:
            return Pulled(None, None, told(error))
        found = self.read(case, raw)
        return Pulled(raw, None, why=found) if isinstance(found, str) else Pulled(raw, found)

    def read(self, case: Case, raw: Any) -> Vector | str:
        """The cotangents of the leaves as one vector, or what is wrong with their number, structure or shapes."""
        answers = tuple(raw) if isinstance(raw, (tuple, list)) else (raw,) if len(case.arguments) == 1 else None
        if answers is None or len(answers) != len(case.arguments):
            found = type(raw).__name__ if answers is None else f"{len(answers)} cotangents"
            return f"it answers {found} for {len(case.arguments)} argument{'s' * (len(case.arguments) > 1)}"
        parts: list[Any] = []
        for path, leaf in leaves(case.arguments, case.fixed):
            try:
                if (answer := _at(answers, path)) is None:
                    return f"the cotangent of {self.parameters[path[0]]} is None"
                part = np.asarray(answer, dtype=np.float64)
            except (TypeError, ValueError, IndexError, KeyError) as error:
                return f"the cotangent of {self.parameters[path[0]]} is no array of reals: {error}"
            if part.shape != np.shape(leaf):
                return f"the cotangent of {self.parameters[path[0]]} has shape {part.shape}, the argument {np.shape(leaf)}"
            parts.append(part)
        return flat(parts)

    def jacobian(self, case: Case) -> Reals | None:
        """The Jacobian by the backpropagator, a row for each output (outputs, size); None if an answer cannot be read."""
        return self.once(case, lambda: self._jacobian(case), "jacobian")

    def _jacobian(self, case: Case) -> Reals | None:
        rows = [self.pulled(case, unit(case.outputs, k)).cotangents for k in range(case.outputs)]
        whole = [row for row in rows if row is not None]
        return np.array(whole, dtype=np.float64).reshape(case.outputs, case.size) if len(whole) == len(rows) else None

    # the references

    def sides(self, case: Case, direction: Vector) -> Sides:
        """The derivatives of all outputs along a direction: by the strongest reference, and the next for what it does not know."""
        return self.once(case, lambda: self._sides(case, direction), "sides", direction.tobytes())

    def _sides(self, case: Case, direction: Vector) -> Sides:
        size = case.outputs
        found = Sides(Bounds.unknown(size), Bounds.unknown(size), np.zeros(size, dtype=bool), "nothing")
        for reference in self.references:
            more = reference.sides(case, direction)
            if more is None:
                continue
            found = more if found.by == "nothing" else _filled(found, more)
            if (found.left.known & found.right.known | found.infinite).all():
                break
        return found

    def reference(self, case: Case) -> Bounds:
        """The reference's Jacobian (outputs, size); NaN at kinks, at edges, where no linear one is, and where nothing is known."""
        return self.once(case, lambda: self._reference(case), "reference")

    def _reference(self, case: Case) -> Bounds:
        columns = [self.sides(case, unit(case.size, k)).value for k in range(case.size)]
        shape = (case.size, case.outputs)
        lo, hi = (np.array([getattr(c, end) for c in columns]).reshape(shape).T for end in ("lo", "hi"))
        return self._where_linear(case, Bounds(lo, hi))

    def _where_linear(self, case: Case, found: Bounds) -> Bounds:
        """
        NaN in the rows of outputs whose derivative along a direction is not what the columns add up to: they have no derivative.

        Of three equal elements the middle one is such: it stays where it is if one of them moves, and moves with all of them.
        """
        if case.size < 2:
            return found
        direction = 1 + 0.625 * np.arange(case.size) / case.size
        along = self.sides(case, direction)
        lo, hi, size = found.lo @ direction, found.hi @ direction, found.size @ direction
        apart = np.maximum(along.value.lo - hi, lo - along.value.hi) > along.agreement * size
        bad = (apart | (along.kink & np.isfinite(size)))[:, None]
        return Bounds(np.where(bad, np.nan, found.lo), np.where(bad, np.nan, found.hi))

    def by(self, case: Case) -> str:
        """Which references answered for a case."""
        names = {self.sides(case, unit(case.size, k)).by for k in range(case.size)} - {"nothing"}
        return " and ".join(sorted(names)) or "nothing"


def _at(answers: Sequence[Any], path: Path) -> Any:
    value: Any = answers
    for i in path:
        value = value[i]
    return value


def _filled(found: Sides, more: Sides) -> Sides:
    """The first, and the second where the first knows neither side."""
    blank = ~(found.left.known | found.right.known | found.infinite)
    if not blank.any():
        return found

    def chosen(a: Bounds, b: Bounds) -> Bounds:
        return Bounds(np.where(blank, b.lo, a.lo), np.where(blank, b.hi, a.hi))

    by = f"{found.by} and {more.by}" if more.by not in found.by else found.by
    agreement = max(found.agreement, more.agreement)
    infinite = found.infinite | (blank & more.infinite)
    return Sides(chosen(found.left, more.left), chosen(found.right, more.right), infinite, by, agreement)
