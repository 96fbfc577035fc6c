"""Loops over what is of known length: what is unrolled and what stays, no value changed; and the gradient of a descent."""

from __future__ import annotations

from typing import Any

import pytest
from claims import costly
from hypothesis import event, given
from test_backend_stacks import outcome

import backend
from backend.lowering.expansion import _ways, first_that_fits
from backend.lowering.lower import lower
from checkers.generators import Options, Source, points, sources
from checkers.generators.options import FIRST_ORDER
from semantics.errors import Malformed, Trap
from semantics.ir import Apply, Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER, REAL, TupleType
from semantics.values import same
from transforms import known_lengths
from transforms.gradient_programs import calling
from transforms.known_lengths import LONGEST, Known, element_of_made, unrolled
from transforms.nested_grad import expand
from transforms.parse import parse_text
from transforms.pipeline import optimize

PAIR = TupleType((REAL, REAL))
HALVING = """
def halves(v):
    return tuple([t * 0.5 + u for t, u in zip(v, (0.25, 0.0))])

def f(a: float):
    p = (a, 1.0)
    while p[0] > 0.6:
        q = halves(p)
        if q[1] < 0.01:
            break
        p = q
    return a * a - sum([t * t for t in p])
"""
SPREAD = """
def g(a, x, y):
    return a * x - y * y

def twice(a):
    p = (a, 1.0)
    while p[0] > 0.1:
        p = (p[0] * 0.5, p[1] * a)
    return p

def f(a: float):
    return g(a, *twice(a))
"""
GROWING = """
def f(a: float):
    found = []
    while a > 0.1:
        a = a * 0.5
        found.append(a)
    return sum([t * t for t in found])
"""
CHECKED = """
def f(a: float):
    def checked(t):
        if t > 3.0:
            raise ValueError("large")
        return t
    n = len([checked(t) for t in (a, 2.0 * a)])
    while a > 1.0:
        a = a - 1.0
    return n * a
"""


def long(size: int) -> str:
    return f"def f(a: float):\n p = ({'a, ' * size})\n while p[0] > 1.0:\n  p = tuple([t * 0.5 for t in p])\n return sum(p)\n"


def applied(program: Program) -> set[str]:
    """The names of the primitives that are applied."""
    callees = (program.callee(n) for n, node in program.nodes.items() if isinstance(node, Apply))
    return {getattr(c, "name", "@") for c in callees}


def loops(program: Program) -> int:
    """How many graphs are the head of a loop."""
    return sum(graph.name.rsplit(".")[-1] in ("for", "while") for graph in program.graphs.values())


@pytest.mark.parametrize("text", [HALVING, SPREAD, long(LONGEST)], ids=["comprehensions", "spread", "longest"])
def test_what_has_one_length_in_every_run_is_made_in_place(text: str) -> None:
    program = parse_text(text, "f")
    result = unrolled(program)
    assert applied(program) & {"iterated", "append", "concat"}
    assert not applied(result) & {"iterated", "append", "concat", "length"}
    assert loops(result) == 1
    for x in (0.7, 3.0, -1.0, float("nan")):
        assert same(run(result, x), run(program, x))


@pytest.mark.parametrize("text", [GROWING, long(LONGEST + 1)], ids=["growing", "too long"])
def test_what_has_several_lengths_or_too_many_elements_stays(text: str) -> None:
    program = parse_text(text, "f")
    assert loops(unrolled(program)) == loops(program)


def test_a_length_of_two_kinds_is_none() -> None:
    text = "def n(t):\n return len(t)\ndef f(a: float):\n return a * n((a, a)) * n((a, a, a))\n"
    program = parse_text(text, "f")
    assert "length" in applied(unrolled(program))
    assert "length" not in applied(unrolled(parse_text(text.replace("n((a, a, a))", "n((a, 1.0))"), "f")))


def test_a_program_whose_types_cannot_be_told_is_left() -> None:
    program = parse_text(HALVING.replace("a: float", "a"), "f")
    assert unrolled(program) is program
    assert unrolled(program, (REAL,)) is not program


def test_no_failure_is_dropped() -> None:
    program = parse_text(CHECKED, "f")
    assert run(unrolled(program), 1.25) == run(program, 1.25) == 0.5
    for x in (1.75, 4.0):
        with pytest.raises(Trap, match="large"):
            run(unrolled(program), x)


def test_an_element_of_a_list_made_in_place_is_that_element() -> None:
    text = "def f(a: float):\n return [a, 2.0 * a][{}]\n"
    for index, fires in ((1, True), (-2, True), (2, False), ("int(a)", False)):
        program = parse_text(text.format(index), "f")
        at = [n for n in program.nodes if program.callee(n) is TABLE["getitem"]]
        assert (element_of_made.function(program, at[0]) is not None) == fires


METHOD = """from typing import NamedTuple
class Decay(NamedTuple):
    rate: float
    def step(self, h): return h * self.rate
class Twice(NamedTuple):
    rate: float
    def step(self, h): return h + h * self.rate
def run(d, n):
    h = 1.0
    for k in range(n):
        h = d.step(h)
    return h
def f(rate, n: int): return run({}, n)
"""
ONE, EITHER = METHOD.format("Decay(rate)"), METHOD.format("Decay(rate) if rate > 0.0 else Twice(rate)")


def switches(program: Program) -> int:
    """How many nodes choose one of two functions."""
    return sum(program.callee(n) is TABLE["switch"] for n in program.nodes)


def test_the_method_of_a_known_class_is_chosen_once_and_that_of_one_of_two_when_it_runs() -> None:
    for text, fewer in ((ONE, True), (EITHER, False)):
        program = parse_text(text, "f")
        result = unrolled(program, (REAL, INTEGER))
        assert (switches(result) < switches(program)) == fewer
        for x in (0.5, -0.5):
            assert run(result, x, 3) == run(program, x, 3)


def test_a_function_that_came_from_elsewhere_is_not_put_in_the_place_of_a_switch() -> None:
    """What is chosen may capture what only its own scope has; so it is one of two that stand there, or none."""
    text = "def f(x: float):\n a = lambda y: y * x\n g = lambda p: (p if True else abs)(2.0)\n return g(a) + g(a)\n"
    program = parse_text(text, "f")
    assert run(unrolled(program), 1.5) == run(program, 1.5) == 6.0


OVER_TUPLES = Options(features=FIRST_ORDER - {"numpy"}, always=frozenset({"over_tuple", "tuple", "while"}), size=6)


@costly(2)
@given(sources(OVER_TUPLES), points(2))
def test_an_unrolled_program_gives_what_the_program_gives(source: Source, x: tuple[float, ...]) -> None:
    program = source.program()
    result = unrolled(program, (REAL, REAL))
    event(f"unrolled: {result is not program}")
    wanted, found = outcome(lambda: run(program, *x)), outcome(lambda: run(result, *x))
    assert isinstance(wanted, type) or same(wanted, found)


def test_one_length_too_many_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_lengths, "_known", lambda type, _: Known(1, None) if isinstance(type, TupleType) else None)
    program = parse_text(HALVING, "f")
    assert outcome(lambda: run(unrolled(program), 0.7)) != run(program, 0.7)


# what it is for: adjoints of loops around them


def agrees(program: Program, types: tuple[Any, ...], samples: list[tuple[Any, ...]]) -> None:
    """The generated code of the unrolled program gives what the reference gives of the adjoint of the program as it is."""
    adjoint, code = expand(program, "ssa"), backend.compile(expand(unrolled(program, types), "ssa"), types, "python")
    for sample in samples:
        assert same(run(adjoint, *sample), code.call(*sample))


def test_the_gradient_of_a_loop_that_calls_a_method_is_compiled() -> None:
    types = (REAL, INTEGER)
    program = calling(parse_text(ONE, "f"), "grad", 0, types)
    with pytest.raises(Malformed, match="what is called is not known"):
        expand(program, "ssa")
    agrees(unrolled(program, types), types, [(0.7, 3), (3.0, 0), (-0.0, 2)])


@pytest.mark.parametrize("text", [HALVING, SPREAD, long(3)], ids=["comprehensions", "spread", "sum"])
def test_the_gradient_of_a_loop_around_them_is_compiled_and_has_the_references_bits(text: str) -> None:
    agrees(calling(parse_text(text, "f"), "grad", 0, (REAL,)), (REAL,), [(0.7,), (3.0,), (-1.0,), (float("nan"),)])


COMPLEX = """
from typing import NamedTuple

class C(NamedTuple):
    a: float
    b: float

    def __mul__(self, o):
        return C(self.a * o.a - self.b * o.b, self.a * o.b + self.b * o.a)

def f(x, y, n: int):
    q = C(x, y)
    for _ in range(n):
        q = q * C(x, 0.5)
    return q.a + q.b
"""


def test_what_multiplies_records_is_told_apart_from_what_multiplies_their_fields() -> None:
    """One function asks whether there is a record; of a loop around it there was no gradient in code."""
    types = (REAL, REAL, INTEGER)
    program = parse_text(COMPLEX, "f")
    found = unrolled(program, types)
    assert "is_instance" in applied(program)
    assert "is_instance" not in applied(found)
    gradient = calling(program, "grad", (0, 1), types)
    code, adjoint = first_that_fits(gradient, "J", lambda one: (backend.compile(one, types, "python"), one), types)
    for sample in [(0.75, -1.5, 3), (-0.25, 0.5, 0), (float("nan"), 2.0, 2)]:
        assert same(run(adjoint, *sample), code.call(*sample))


def test_near_miss_what_chooses_when_it_runs_is_one_function_for_all_its_calls() -> None:
    text = "def larger(x, y): return x if x > y else y\ndef f(x, y): return larger(x, 0.5) * larger(y, x)\n"
    program = parse_text(text, "f")
    assert known_lengths._apart(program, (REAL, REAL)) is program


def test_without_types_it_would_be_refused() -> None:
    program = calling(parse_text(long(2), "f"), "grad", 0, (REAL,))
    with pytest.raises(Malformed, match="unknown length"):
        lower(expand(program, "ssa"), (REAL,))
    assert first_that_fits(program, "J", lambda one: lower(one, (REAL,)), (REAL,)).stacks


DESCENT = """
def descent(f, gradient, x):
    lowest, slope = f(x), gradient(x)
    rate, successes = 0.125, 0
    while sum([s * s for s in slope]) > 0.25:
        if successes == 3:
            rate, successes = 2.0 * rate, 0
        else:
            there = tuple([a - rate * b for a, b in zip(x, slope)])
            if there[0] > 100.0:
                break
            found = f(there)
            if found < lowest:
                x, lowest, slope, successes = there, found, gradient(there), successes + 1
            else:
                rate, successes = 0.5 * rate, 0
    return x

def inside(p):
    def f(q):
        return (q[0] - p[0]) * (q[0] - p[0]) + p[1] * q[1] * q[1]
    return descent(f, grad(f), p)

def height(p):
    q = inside(p)
    return p[0] * p[1] + p[0] * p[0] - q[0] * q[1]
"""


def test_a_gradient_in_a_turn_is_differentiated_with_the_loop() -> None:
    """The sensitivity of a pair is `instantiate`d there, at ZERO in the paths that are not taken: DEMANDING says so."""
    program = calling(parse_text(DESCENT + "def f(p):\n return grad(height)(p)\n", "f"), None, 0, (PAIR,))
    agrees(program, (PAIR,), [((0.7, 0.8),), ((1.5, 2.0),), ((101.0, 1.0),)])


@pytest.mark.parametrize(
    ("text", "early"),
    [
        (DESCENT + "def f(p):\n return grad(height)(p)\n", True),
        (DESCENT + "def f(p):\n return jvp(height, (p,), ((1.0, 0.0),))[1]\n", False),  # no stack, so nothing to refuse
        ("def h(p):\n return sum([t * t for t in p])\n" + "def f(p):\n return grad(h)(p)\n", False),  # no loop around it
    ],
    ids=["in a loop, in reverse", "forward", "alone"],
)
def test_what_would_be_refused_for_its_lengths_is_unrolled_first(text: str, early: bool) -> None:
    program = calling(parse_text(text, "f"), None, 0, (PAIR,))
    (first, _), *_ = _ways(program, "J", (PAIR,))
    assert (first is not program) == early


def test_one_signature_for_each_graph_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that would be long asks what is ZERO, where code for each case need not."""
    program = calling(parse_text(DESCENT + "def f(p):\n return grad(height)(p)\n", "f"), None, 0, (PAIR,))
    adjoint = optimize(expand(unrolled(program, (PAIR,)), "ssa"))
    plain = lower(adjoint, (PAIR,))
    monkeypatch.setattr("backend.lowering.lower.CROWD", 0)
    monkeypatch.setattr("backend.store.remembered", lambda key, make: make())
    assert len(lower(adjoint, (PAIR,)).source) < len(plain.source)
    agrees(program, (PAIR,), [((0.7, 0.8),), ((1.5, 2.0),), ((101.0, 1.0),)])
