"""
Cost against size over four decades: the compiled gradient of every program, in seconds for each unit of its size.

A cost of n to the power p makes a unit 10^(p - 1) times dearer from one decade to the next. A row says that it grows faster than
its input where p is above 1.5, nearer to 2 than to 1: leaving a cache costs less than that. A program whose next size would take
more than a few seconds stops there, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.array_gradients import FAMILIES as ARRAYS
from bench.array_gradients import Ours, gradient, ours, types_of
from bench.by_hand import FAMILIES as NUMBERS
from bench.measure import Row, named, seconds, seconds_a_call
from semantics.type_language import INTEGER, REAL
from transforms.gradient_programs import calling
from transforms.parse import parse_text

DECADES = (10, 100, 1000, 10_000, 100_000)
LONGEST = 5.0  # seconds that a call may be expected to take

FILLED = """
import numpy as np
def f(a, xs):
    out = np.zeros_like(xs)
    s = 0.0
    for i in range(len(xs)):
        s = a * s + xs[i]
        out[i] = s
    return np.sum(out * out)
"""

STACK = """
def f(a, xs):
    stack = [x for x in xs]
    while len(stack) > 1:
        x = stack.pop()
        y = stack.pop()
        stack.append(a * x + y)
    return stack[0]
"""


GATHERED = """
import numpy as np
def f(x, k):
    s = 0.0
    for i in range(len(k)):
        s = s + np.sum(np.tanh(x[k[i]]))
    return s
"""

ADDED = """
import numpy as np
def f(x, k):
    o = x.copy()
    for i in range(len(k)):
        o[k[i]] += np.tanh(o[k[i, 0]])
    return np.sum(o * o)
"""

SHARED = """
import numpy as np
def f(p, k):
    p = p.copy()
    for i in range(1, len(k)):
        p[i] = (p[i] + p[i - 1]) / (1.0 + np.sum(p[i] * p[i]))
    return np.sum(p * p)
"""


STATES = """
import numpy as np
def f(p, k):
    states = [p[0]]
    for i in range(1, len(k)):
        states.append(np.tanh(states[i - 1] + p[i]))
    return sum(np.sum(s * s) for s in states)
"""


COMPLEX = """
from typing import NamedTuple
class Complex(NamedTuple):
    re: float
    im: float
    def __add__(self, o): return Complex(self.re + o.re, self.im + o.im)
    def __mul__(self, o): return Complex(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
def f(p, k):
    z = Complex(0.0, 0.0)
    for i in range(len(k)):
        z = z * z + Complex(p[i] * 0.1, 0.2)
    return z.re * z.re + z.im * z.im
"""


@dataclass(frozen=True)
class Scaled:
    """A program, and its arguments from a size; `made` makes our gradient of it."""

    unit: str
    sizes: tuple[int, ...]
    given: Callable[[int], tuple[Any, ...]]
    made: Callable[[tuple[Any, ...]], Ours]


def rows(only: str = "") -> Iterator[Row]:
    """Every program, from its least size on, or those whose name has a text in it."""
    for name, scaled in named(programs(), only).items():
        yield from _sizes(name, scaled)


def _sizes(name: str, scaled: Scaled) -> Iterator[Row]:
    found = scaled.made(scaled.given(scaled.sizes[1]))  # one row alone has a type of its own
    before: tuple[int, float] | None = None
    for n in scaled.sizes:
        label = f"{name}, {n} {scaled.unit}, tier {found.tier}"
        if before is not None and before[1] * n > LONGEST:
            yield Row(label, "not run", f"would take some {before[1] * n:.0f} s", "")
            return
        given = scaled.given(n)
        each = _one_call(found.call, given) / n
        value = f"{1e9 * each:.4g} ns each"
        if before is None:
            yield Row(label, value, "", "")
        else:
            ratio, faster = each / before[1], each / before[1] > (n / before[0]) ** 0.5
            yield Row(label, value, f"of {before[0]}: {1e9 * before[1]:.4g} ns", f"{ratio:.2f}{', grows faster' * faster}")
        before = n, each


def _one_call(function: Callable[..., Any], given: tuple[Any, ...]) -> float:
    """Seconds of a call: the least of some, of which short ones are taken many at a time."""
    function(*given)
    function(*given)
    took = seconds(lambda: function(*given), 1)
    if took > 0.5:
        return took
    calls = max(1, int(0.02 / max(took, 1e-7)))
    return seconds_a_call(function, given, calls, 5)


def programs() -> dict[str, Scaled]:
    """All programs, by name, with what is counted."""
    found = {name: Scaled("turns", DECADES, _turns(name), _of_numbers(name)) for name in NUMBERS if NUMBERS[name].turns}
    counted: dict[str, tuple[str, Callable[[int], tuple[int, ...]]]] = {
        "logsumexp of an array": ("elements", lambda n: (n,)),
        "logistic regression on arrays": ("samples", lambda n: (n, 5)),
        "MLP 784-32-10": ("samples", lambda n: (n,)),
        "GMM": ("samples", lambda n: (2, 3, n)),
        "BA on arrays": ("observations", lambda n: (n,)),
        "BA by samples": ("observations", lambda n: (n,)),
        "RNN on arrays": ("turns", lambda n: (n, 8)),
        "LSTM": ("turns", lambda n: (n,)),
        "Brusselator by index": ("places", lambda n: (n, 2)),
        "recursive tree": ("leaves", lambda n: (n,)),
    }
    smaller = {"recursive tree": tuple(8 * 8**k for k in range(5)), "MLP 784-32-10": (1, 10, 100, 1000, 10_000)}
    for name, (unit, sized) in counted.items():
        found[name] = Scaled(unit, smaller.get(name, DECADES), _arguments(name, sized), _of_arrays(name))
    for name, text, axes in (
        ("elements that are gathered", GATHERED, 1),
        ("elements that are added to", ADDED, 1),
        ("rows over their sums", SHARED, 2),
        ("list of arrays that is read by index", STATES, 2),
        ("records with operators", COMPLEX, 1),
    ):
        found[name] = Scaled("turns", DECADES, _places(axes), _by_places(text))
    found["pow on the machine"] = Scaled("turns", DECADES, _turns("pow"), _closures_of_pow)
    assigned = {name: ARRAYS[name].text for name in ("list that is appended to", "list that is filled")}
    for name, text in (assigned | {"array that is filled": FILLED, "stack": STACK}).items():
        found[f"{name}, on the machine"] = Scaled("elements", DECADES, _line, _on_the_machine(text))
    return found


def _line(n: int) -> tuple[Any, ...]:
    return 0.5, np.linspace(0.0, 1.0, n)


def _places(axes: int) -> Callable[[int], tuple[Any, ...]]:
    """An array, and three indices for each of its elements or rows, which are anywhere in it."""

    def given(n: int) -> tuple[Any, ...]:
        random = np.random.default_rng(0)
        return random.uniform(0.5, 1.5, (n, 3)[:axes]), random.integers(0, n, (n, 3))

    return given


def _by_places(text: str) -> Callable[[tuple[Any, ...]], Ours]:
    def made(given: tuple[Any, ...]) -> Ours:
        types = types_of(given)
        return ours(calling(parse_text(text, "f"), "grad", 0, types), types)

    return made


def _turns(name: str) -> Callable[[int], tuple[Any, ...]]:
    return lambda n: (*NUMBERS[name].arguments, n)


def _arguments(name: str, sized: Callable[[int], tuple[int, ...]]) -> Callable[[int], tuple[Any, ...]]:
    return lambda n: ARRAYS[name].given(*sized(n))


def _of_numbers(name: str) -> Callable[[tuple[Any, ...]], Ours]:
    types = (*(REAL for _ in NUMBERS[name].arguments), INTEGER)
    return lambda _: ours(calling(parse_text(NUMBERS[name].text, "f"), "grad", 0, types), types)


def _of_arrays(name: str) -> Callable[[tuple[Any, ...]], Ours]:
    return lambda given: gradient(ARRAYS[name], given)


def _on_the_machine(text: str) -> Callable[[tuple[Any, ...]], Ours]:
    """The gradient of a program by both arguments, as a first call takes it."""

    def made(given: tuple[Any, ...]) -> Ours:
        from adjudge.values import to_value
        from backend.tiers import Tiered

        types = types_of(given)
        machined = Tiered(calling(parse_text(text, "f"), "grad", (0, 1), types), types, "cpu", {}).machined
        return Ours(lambda *arguments: machined(*map(to_value, arguments)), "B")

    return made


def _closures_of_pow(_: tuple[Any, ...]) -> Ours:
    """The gradient that J makes of pow, whose backpropagators are closures over closures."""
    from backend import Machined
    from transforms.nested_grad import expand

    types = (REAL, INTEGER)
    return Ours(Machined(expand(calling(parse_text(NUMBERS["pow"].text, "f"), "grad", 0, types), "J")), "B")
