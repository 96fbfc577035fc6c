"""
How the sweep calls a function `f`: the text of its arguments, or of an expression, in which letters stand for arrays of floats.

    x, axis=0          f(x, axis=0), where x is an array of shape (2, 3); the rest is Python
    p34, q4            of shapes (3, 4) and (4,)
    A @ A.T, y3        expressions are computed by the library, and differentiated with the function
    f(x34).real        as it stands, since it has `f(`

    letters      what they stand for                          where they are meant to be tried
    x y z w      reals of both signs, without ties            everywhere
    k            small whole numbers, with zeros and ties     everywhere
    p q          positive                                     > 0
    g            above one                                    > 1
    s            between -1 and 1                             > -1, < 1
    u t          between 0 and 1                              > 0, < 1
    a            one real, of shape ()                        everywhere
    A B          square, well conditioned; (3, 3)             where the condition number is below 100

A digit after a letter is the length of an axis. The names `np` (NumPy), and those that the table of the library gives, may be used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from semantics.errors import Malformed

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
LETTER = re.compile(r"([xyzwkpqgsutaAB])(\d*)")
WORST_CONDITION = 100.0
SAMPLES = 2


def _well_conditioned(array: Floats) -> bool:
    """Whether it is square, in its last two axes, and its condition number is below WORST_CONDITION."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2] or not np.isfinite(array).all():
        return False
    return bool((np.linalg.cond(array) < WORST_CONDITION).all()) if array.size else True


@dataclass(frozen=True, slots=True)
class Kind:
    """What a letter stands for: how its arrays are drawn, the shape when none is said, and which arrays are meant to be tried."""

    draw: Callable[[np.random.Generator, tuple[int, ...]], Any]
    shape: tuple[int, ...] = (2, 3)
    holds: Callable[[Floats], bool] = lambda array: True


REALS = Kind(lambda source, shape: source.uniform(0.2, 3.0, shape) * source.choice((-1.0, 1.0), shape))
POSITIVE = Kind(lambda source, shape: source.uniform(0.2, 3.0, shape), holds=lambda v: bool((v > 0).all()))
UNIT = Kind(lambda source, shape: source.uniform(0.1, 0.9, shape), holds=lambda v: bool(((v > 0) & (v < 1)).all()))
SQUARE = Kind(
    lambda source, shape: source.uniform(-0.5, 0.5, shape) + 2.0 * np.eye(shape[-1]), shape=(3, 3), holds=_well_conditioned
)
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys("xyzw", REALS),
    **dict.fromkeys("pq", POSITIVE),
    **dict.fromkeys("ut", UNIT),
    **dict.fromkeys("AB", SQUARE),
    "a": Kind(REALS.draw, shape=()),
    "k": Kind(lambda source, shape: source.integers(-1, 3, shape).astype(np.float64)),
    "g": Kind(lambda source, shape: source.uniform(1.2, 4.0, shape), holds=lambda v: bool((v > 1).all())),
    "s": Kind(lambda source, shape: source.uniform(-0.9, 0.9, shape), holds=lambda v: bool((np.abs(v) < 1).all())),
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a function `f`, as an expression; `letters` are the arrays in it, in order of their first use."""

    text: str
    letters: tuple[str, ...]

    def bound(self, function: Callable[..., Any], names: Mapping[str, Any]) -> Callable[..., Any]:
        """The function of the letters that makes this call."""
        made = eval(f"lambda {', '.join(self.letters)}: {self.text}", {"np": np, **names, "f": function})
        made.__name__ = made.__qualname__ = getattr(function, "__name__", "f")
        return made

    def samples(self, seed: int) -> tuple[tuple[Any, ...], ...]:
        """Arguments for the letters, the same for the same seed."""
        source = np.random.default_rng(seed)
        kinds = [_kind_and_shape(letter) for letter in self.letters]
        return tuple(tuple(np.asarray(kind.draw(source, shape)) for kind, shape in kinds) for _ in range(SAMPLES))

    def domain(self, *arguments: Any) -> bool:
        """Whether every argument is where its letter is meant to be tried."""
        pairs = zip(self.letters, arguments, strict=True)
        return all(KINDS[letter[0]].holds(np.asarray(value, dtype=np.float64)) for letter, value in pairs)


def _kind_and_shape(letter: str) -> tuple[Kind, tuple[int, ...]]:
    kind = KINDS[letter[0]]
    return kind, tuple(map(int, letter[1:])) or kind.shape


def call(text: str) -> Call:
    """The call that a text means. Malformed if it is no Python, or has no letter."""
    whole = text if re.search(r"\bf\(", text) else f"f({text})"
    try:
        tree = ast.parse(whole, mode="eval")
    except SyntaxError as error:
        raise Malformed(f"the call {whole!r} is no Python: {error.msg}", rule="calls") from None
    # ast.walk goes breadth first: the order of use is that of the places in the text
    named = sorted((n for n in ast.walk(tree) if isinstance(n, ast.Name)), key=lambda n: (n.lineno, n.col_offset))
    letters = tuple(dict.fromkeys(n.id for n in named if LETTER.fullmatch(n.id)))
    if not letters:
        raise Malformed(f"the call {whole!r} holds no array", rule="calls", remedy="see adjudge.sweep.calls for the letters")
    return Call(whole, letters)


def table(text: str) -> dict[str, tuple[Call, ...]]:
    """
    The calls of each name of a table, a line for names that are called alike:

        sum mean : x | x, axis=0 | x, axis=1, keepdims=True

    Lines may go on, indented; `#` begins a comment. Malformed if a name is there twice.
    """
    found: dict[str, tuple[Call, ...]] = {}
    whole = re.sub(r"\n[ \t]+", " ", re.sub(r"[ \t]*#.*", "", text))
    for line in filter(str.strip, whole.splitlines()):
        names, colon, calls = line.partition(":")
        if not colon or not names.strip():
            raise Malformed(f"{line!r} is no line of a table", rule="calls", remedy="names : arguments | arguments")
        for name in names.split():
            if name in found:
                raise Malformed(f"{name} is in the table twice", rule="calls")
            found[name] = tuple(call(part.strip()) for part in calls.split("|"))
    return found
