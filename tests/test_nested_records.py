"""Derivatives inside loops and recursions that pass on what they make of records, tuples and functions; and those without end."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import adjudge as aj
from semantics.errors import Malformed, OutOfFuel
from semantics.text import names, read
from transforms import nested_grad
from transforms.flows import is_function
from transforms.parse import parse

REPLACED = """
program @f
@f(%r, %h, %y):
  %s = with_field(%r, "w", %h)
  %t = with_field(%s, "WHICH", %y)
  %g = field(%t, "w")
  %z = %g(1.0)
  return %z
"""
TAKEN = """
program @f
@f(%h, %y, %k):
  %p = make_tuple(%h, %y)
  %g = @take(%p, INDEX)
  %q = make_tuple(%y, %k)
  %l = @take(%q, 1)
  %a = %g(1.0)
  %b = %l(1.0)
  %z = add(%a, %b)
  return %z
@take(%t, %i):
  %e = getitem(%t, %i)
  return %e
"""


@dataclass(frozen=True)
class Weight:
    w: float


@dataclass(frozen=True)
class Line:
    w: float
    b: float


@dataclass(frozen=True)
class Scaled:
    line: Line
    s: float


@dataclass(frozen=True)
class Held:
    f: Any
    w: float


class Named(NamedTuple):
    w: float


def square(p: Any) -> Any:
    return p.w**2


def line(q: Any) -> Any:
    return q.w**2 * q.b + q.b**3


def scaled(r: Scaled) -> float:
    return line(r.line) * r.s**2  # type: ignore[no-any-return]


def product(t: tuple[float, float]) -> float:
    return t[0] ** 2 * t[1] + t[1] ** 3


def of_a_dictionary(d: dict[str, float]) -> float:
    return d["a"] ** 2 * d["b"] + d["b"] ** 3


def one_field(p: Weight) -> float:
    for _ in range(1):
        p = dataclasses.replace(p, w=aj.grad(square)(p).w)
    return p.w


def a_named_tuple(p: Named) -> float:
    for _ in range(1):
        p = p._replace(w=aj.grad(square)(p).w)
    return p.w


def a_recursion(p: Weight, n: int = 2) -> float:
    return p.w if n == 0 else a_recursion(dataclasses.replace(p, w=aj.grad(square)(p).w), n - 1)


def a_while(p: Weight) -> float:
    n = 0
    while n < 2:
        p = dataclasses.replace(p, w=p.w - 0.1 * aj.grad(square)(p).w)
        n = n + 1
    return p.w


def two_fields(q: Line) -> float:
    for _ in range(2):
        g = aj.grad(line)(q)
        q = dataclasses.replace(q, w=q.w - 0.1 * g.w, b=q.b - 0.1 * g.b)
    return line(q)  # type: ignore[no-any-return]


def two_updates(q: Line) -> float:
    for _ in range(2):
        q = dataclasses.replace(q, w=q.w - 0.1 * aj.grad(line)(q).w)
        q = dataclasses.replace(q, b=q.b - 0.1 * aj.grad(line)(q).b)
    return line(q)  # type: ignore[no-any-return]


def a_record_in_a_record(r: Scaled) -> float:
    for _ in range(2):
        g = aj.grad(scaled)(r)
        r = dataclasses.replace(r, line=dataclasses.replace(r.line, w=r.line.w - 0.1 * g.line.w), s=r.s - 0.1 * g.s)
    return scaled(r)


def a_tuple(t: tuple[float, float]) -> float:
    for _ in range(2):
        g = aj.grad(product)(t)
        t = (t[0] - 0.1 * g[0], t[1])
    return product(t)


def a_dictionary(x: float) -> float:
    d = {"a": x, "b": 2.0 * x}
    for _ in range(2):
        g = aj.grad(of_a_dictionary)(d)
        d["a"] = d["a"] - 0.1 * g["a"]
    return of_a_dictionary(d)


def a_product_with_the_hessian(q: Line) -> float:
    for _ in range(1):
        q = dataclasses.replace(q, w=q.w - 0.1 * aj.hvp(line)(q, q).w)
    return line(q)  # type: ignore[no-any-return]


def a_function_in_a_field(x: float) -> float:
    r = Held(lambda t: t * x, x)
    for _ in range(2):
        r = dataclasses.replace(r, w=r.w * 0.5 + aj.grad(r.f)(r.w))
    return r.f(r.w)  # type: ignore[no-any-return]


def a_function_that_a_field_gets(x: float) -> float:
    r = Held(lambda t: t * x, x)
    for _ in range(2):
        r = dataclasses.replace(r, f=lambda t, g=r.f: g(t) * t)
    return aj.grad(r.f)(x)  # type: ignore[no-any-return]


def a_function_of_the_last(x: float) -> float:
    f, s = math.sin, 0.0
    for _ in range(3):
        f = lambda t, f=f: f(t) * t  # noqa: E731
        s = s + aj.grad(f)(x)
    return s


X, Q = 0.3, Line(0.3, 0.7)
CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    f.__name__: (f, x)
    for f, x in (
        *((f, Weight(X)) for f in (one_field, a_recursion, a_while)),
        *((f, Q) for f in (two_fields, two_updates, a_product_with_the_hessian)),
        *((f, X) for f in (a_dictionary, a_function_in_a_field, a_function_that_a_field_gets, a_function_of_the_last)),
        *((a_named_tuple, Named(X)), (a_record_in_a_record, Scaled(Q, 0.9)), (a_tuple, (0.3, 0.7))),
    )
}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What grows without end is refused soon."""
    monkeypatch.setattr(nested_grad, "MOST", 20_000)


def leaves(value: Any) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, tuple):
        return [x for v in value for x in leaves(v)]
    return [x for v in vars(value).values() for x in leaves(v)]


def moved(value: Any, steps: list[float]) -> Any:
    """The value with each of its numbers moved by the next of these steps."""
    if isinstance(value, float):
        return value + steps.pop(0)
    parts = value if isinstance(value, tuple) else vars(value).values()
    found = [moved(v, steps) for v in parts]
    return tuple(found) if type(value) is tuple else type(value)(*found)


def slopes(f: Callable[..., Any], x: Any, h: float = 1e-5) -> list[float]:
    """Differences of the values of a program, whose own derivatives are taken by the reference."""
    size = len(leaves(x))
    ways = [[h * (k == i) for k in range(size)] for i in range(size)]
    value = lambda steps: aj.run(f, moved(x, steps))  # noqa: E731
    return [(value([*way]) - value([-s for s in way])) / (2 * h) for way in ways]


@pytest.mark.parametrize("mode", ["J", "pullback"])
@pytest.mark.parametrize("case", CASES)
def test_the_gradient_of_a_loop_that_passes_on_what_it_makes_ends(case: str, mode: str) -> None:
    f, x = CASES[case]
    assert leaves(aj.grad(f, mode=mode)(x)) == pytest.approx(slopes(f, x), rel=1e-6, abs=1e-8)


def test_second_order_of_a_replaced_field() -> None:
    def cubed(p: Any) -> Any:
        return p.w**3

    def stepped(p: Any) -> Any:
        for _ in range(1):
            p = dataclasses.replace(p, w=aj.grad(cubed)(p).w)
        return p.w

    assert aj.hvp(stepped)(Weight(X), Weight(1.0)) == Weight(6.0)
    assert aj.grad(lambda p: aj.grad(stepped)(p).w)(Weight(X)) == Weight(6.0)


def test_a_parameter_that_is_asked_for_again_is_there_already() -> None:
    """Each order of each parameter is passed once."""
    program = nested_grad.expand(parse(a_function_of_the_last))
    for graph in program.graphs.values():
        images = [program.nodes[p].image for p in graph.parameters]  # type: ignore[union-attr]
        assert len({i for i in images if i}) == len([i for i in images if i])


def by_reverse_mode(f: Any, n: int, x: float) -> Any:
    return f(x) if n == 0 else by_reverse_mode(lambda t: 1.0 * aj.grad(f)(t), n - 1, x)


def by_forward_mode(f: Any, n: int, x: float) -> Any:
    return f(x) if n == 0 else by_forward_mode(lambda t: aj.jvp(f, (t,), (1.0,))[1], n - 1, x)


def in_reverse(x: float) -> Any:
    return by_reverse_mode(math.sin, 2, x)


def forwards(x: float) -> Any:
    return by_forward_mode(math.sin, 2, x)


WAYS: dict[str, Callable[[Any], Callable[[float], Any]]] = {
    "run": lambda f: lambda x: aj.run(f, x),
    "grad": aj.grad,
    "compile": aj.compile,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [in_reverse, forwards])
def test_orders_without_end_are_refused_at_their_place(f: Callable[[float], Any], way: str) -> None:
    with pytest.raises(OutOfFuel, match="do not come to an end") as caught:
        WAYS[way](f)(X)
    assert caught.value.rule == nested_grad.ENDLESS
    assert caught.value.location is not None
    assert "name each" in (caught.value.remedy or "")


def test_near_miss_orders_that_are_written_out_end() -> None:
    def third(x: float) -> Any:
        first = lambda t: 1.0 * aj.grad(math.sin)(t)  # noqa: E731
        second = lambda t: 1.0 * aj.grad(first)(t)  # noqa: E731
        return aj.grad(second)(x)

    assert aj.run(third, X) == pytest.approx(-math.cos(X))


def test_near_miss_a_function_that_is_its_own_derivative_is_refused_as_ever() -> None:
    def higher(f: Any, n: int, x: float) -> Any:
        return f(x) if n == 0 else higher(aj.grad(f), n - 1, x)

    with pytest.raises(Malformed, match="cannot be identified"):
        aj.run(lambda x: higher(math.sin, 2, x), X)


@pytest.mark.parametrize(("index", "found"), [(0, True), (1, False), (-2, True)])
def test_what_comes_into_a_graph_by_a_call_returns_to_that_call(index: int, found: bool) -> None:
    """Another call of the same graph takes the other element out of such a pair, which says nothing of this one."""
    program = read(TAKEN.replace("INDEX", str(index)))
    node = next(n for n, name in names(program).items() if name == "%h")
    assert is_function(program, node) is found


@pytest.mark.parametrize(("which", "found"), [("w", False), ("b", True)])
def test_a_replaced_field_is_no_longer_what_it_was(which: str, found: bool) -> None:
    program = read(REPLACED.replace("WHICH", which))
    node = next(n for n, name in names(program).items() if name == "%h")
    assert is_function(program, node) is found
