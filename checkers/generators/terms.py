"""
What generated programs over arrays are written with: terms, which know their shape and dtype, and the writer that picks them.

A term knows what makes the program valid by construction: its shape, its dtype, and a bound on the size of every element. In an
exact program it also knows its *grain*, the number of binary digits after the point: where bound · 2^grain < 2^50 no operation of
the program rounds, so the order of a sum does not matter and NumPy must give the same bits.

    w  writer    t  term
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from checkers.generators.options import Options
from checkers.generators.writer import Writer
from semantics.arrays import Shape, size_of

FEATURES = (
    "broadcasting",
    "division",
    "elementary",
    "powers",
    "kinks",
    "where",
    "reductions",
    "products",
    "indexing",
    "gather",
    "mask",
    "movement",
    "joining",
    "sorting",
    "creation",
    "integers",
    "single",
    "updates",
    "loops",
    "branches",
    "functions",
    "records",
    "lists",
    "dicts",
    "memory",
    "assertions",
    "empty",
)
EVERYTHING = frozenset(FEATURES)
DATA = frozenset({"records", "lists", "dicts", "memory", "assertions"})

LIMIT = 8.0
ARGUMENT = 4.0
LARGEST = 12
DIGITS = {"f64": 50, "f32": 20, "i64": 50, "bool": 50}


@dataclass(frozen=True, slots=True)
class WholeOptions:
    """
    features  those that may occur; each program uses a random subset of them
    always    those that every program may use
    exact     no operation rounds: + - * and moves on few binary digits, so that NumPy's bits are the only right ones
    smooth    differentiable everywhere: no kink, no comparison of reals, no sort
    size      the number of statements, nested ones included
    """

    features: frozenset[str] = EVERYTHING
    always: frozenset[str] = frozenset()
    exact: bool = False
    smooth: bool = False
    size: int = 4

    def allowed(self) -> tuple[str, ...]:
        """The features in a fixed order, those that the restrictions forbid left out."""
        forbidden = {"elementary", "division"} if self.exact else {"single"}
        forbidden |= {"kinks", "sorting", "mask"} if self.smooth else set()
        return tuple(f for f in FEATURES if f in self.features | self.always and f not in forbidden)


class Term(NamedTuple):
    """
    Text in Python that can stand anywhere as an operand, and what is known of its value.

    shape   () for a number
    bound   on the size of every element
    grain   the binary digits after the point; of no interest in programs that round
    """

    text: str
    shape: Shape = ()
    dtype: str = "f64"
    bound: float = ARGUMENT
    grain: int = 3

    @property
    def size(self) -> int:
        """How many elements."""
        return size_of(self.shape)

    @property
    def rank(self) -> int:
        """How many axes."""
        return len(self.shape)


class WholeWriter(Writer):
    """
    What has been written so far.

    terms    what can be used here, oldest first
    moving   names that are assigned more than once, or changed: no closure captures them
    classes  the lines of the classes, which stand before the function
    """

    def __init__(self, draw: Callable[[Any], Any], options: WholeOptions, features: frozenset[str]) -> None:
        super().__init__(draw, Options(smooth=options.smooth, size=options.size), features)
        self.exact, self.smooth = options.exact, options.smooth
        self.terms: list[Term] = []
        self.moving: set[str] = set()
        self.classes: list[str] = []

    def name(self, t: Term, stem: str = "a") -> Term:
        """Writes `stem = t` and makes the new name usable."""
        name = self.fresh(stem)
        self.line(f"{name} = {t.text}")
        return self.keep(t._replace(text=name))

    def keep(self, t: Term) -> Term:
        """Makes a name usable from here on."""
        self.terms.append(t)
        return t

    @contextmanager
    def block(self) -> Iterator[None]:
        """A block of its own: what is named inside is not usable after it."""
        before = list(self.terms)
        self.indent += 1
        yield
        self.indent -= 1
        self.terms = before

    def of(self, rank: int | None = None) -> list[Term]:
        """The real terms in scope, all or those of so many axes, oldest first."""
        return [t for t in self.terms if t.dtype in ("f64", "f32") and (rank is None or t.rank == rank)]

    def fits(self, t: Term) -> bool:
        """Whether the value is small and, in an exact program, has few digits."""
        return t.bound <= LIMIT and (not self.exact or math.log2(max(t.bound, 1.0)) + t.grain <= DIGITS[t.dtype] - 8)


def literal(w: WholeWriter, shape: Shape, integers: bool = False) -> Term:
    """An array of constants written out; a number for no axes."""
    pool = ("1", "2", "-1", "3", "0") if integers else ("1.0", "0.5", "-1.5", "2.0", "-0.25", "3.0", "0.0")
    start = w.number(0, len(pool) - 1)
    flat = [pool[(start + k) % len(pool)] for k in range(size_of(shape))]
    dtype = "i64" if integers else "f64"
    bound, grain = 3.0, 0 if integers else 2
    if not shape:
        return Term(f"({flat[0]})", (), dtype, bound, grain)
    if not size_of(shape):
        return Term(f"np.zeros({shape}{', np.int64' if integers else ''})", shape, dtype, bound, grain)
    return Term(f"np.array({_nested(flat, shape)})", shape, dtype, bound, grain)


def _nested(flat: Sequence[str], shape: Shape) -> str:
    if len(shape) == 1:
        return f"[{', '.join(flat)}]"
    step = len(flat) // shape[0]
    return f"[{', '.join(_nested(flat[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0]))}]"


def damped(w: WholeWriter, t: Term, bound: float = LIMIT) -> Term:
    """The term, or one of the same shape that is small enough: scaled by a power of two, or a literal where digits run out."""
    if t.bound > bound:
        exponent = math.ceil(math.log2(t.bound / bound))
        t = t._replace(text=f"({t.text} * {2.0**-exponent!r})", bound=t.bound * 2.0**-exponent, grain=t.grain + exponent)
    if t.dtype in ("i64", "bool"):
        t = t._replace(dtype="f64")
        t = t._replace(text=f"({t.text} * 1.0)")
    return t if w.fits(t) else literal(w, t.shape)


def wide(t: Term) -> Term:
    """An f32 array as one of f64; anything else as it is."""
    return t._replace(text=f"{t.text}.astype(np.float64)", dtype="f64") if t.dtype == "f32" else t


def atom(w: WholeWriter) -> Term:
    """A real term in scope, the newest as likely as all others together."""
    known = w.of()
    return wide(known[-1] if w.number(0, 2) == 0 else w.pick(known))


def number(w: WholeWriter, depth: int = 1) -> Term:
    """A real number: one in scope, a constant, or a sum of an array."""
    known = w.of(0)
    if known and (depth <= 0 or w.flip()):
        return wide(w.pick(known))
    if depth <= 0 or w.number(0, 2) == 0:
        return literal(w, ())
    return total(w, atom(w))


def total(w: WholeWriter, t: Term) -> Term:
    """A number made of every element of the array."""
    if t.shape == ():
        return t
    return damped(w, Term(f"np.sum({t.text})", (), t.dtype, max(t.bound * t.size, 1.0), t.grain))


def like(w: WholeWriter, shape: Shape, depth: int = 1) -> Term:
    """A real term of exactly this shape."""
    known = [t for t in w.of() if t.shape == shape]
    if known and w.number(0, 3) > 0:
        return wide(w.pick(known))
    if depth > 0 and w.flip():
        other = number(w, depth - 1)
        base = literal(w, shape)
        return damped(w, Term(f"({base.text} * {other.text})", shape, "f64", base.bound * other.bound, base.grain + other.grain))
    return literal(w, shape)
