"""
Classes of records in programs: NamedTuples and dataclasses with fields, defaults, methods, properties and operators.

Each program has CPython's value, bit for bit; its first and second derivatives by J are those of forward mode, exactly, on fractions.
"""

# ruff: noqa: E501 (one program to a line)
from __future__ import annotations

import dataclasses
import math
from collections import namedtuple
from typing import Any, NamedTuple

import pytest
from test_parse_sequences import agrees_with_cpython, derivatives_agree

import adjudge as aj
from semantics.errors import AdjudgeError, Malformed, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.values import same
from transforms.parse import SYSTEM, initial, initial_text, parse, parse_text

PRELUDE = '''
import dataclasses
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

class P(NamedTuple):
    """A point."""
    x: float
    y: float = 2.0
    unit = 0.5

    def norm2(self): return self.x * self.x + self.y * self.y
    def scaled(self, k, *, by=1.0): return P(self.x * k * by, self.y * k)
    def twice(self): return self.scaled(2.0).norm2()
    @property
    def swapped(self): return P(self.y, self.x)
    @staticmethod
    def origin(): return P(0.0, 0.0)
    @classmethod
    def diagonal(cls, a): return cls(a, y=a)

@dataclass(frozen=True)
class Leaf:
    v: float
    def total(self, k): return self.v * k
    @property
    def size(self): return 1

@dataclass(frozen=True)
class Node:
    left: object
    right: object
    def total(self, k): return self.left.total(k * 2.0) + self.right.total(k)
    @property
    def size(self): return self.left.size + self.right.size

@dataclass(frozen=True, order=True)
class Model:
    w: P
    act: object
    n: int = 2
    def run(self, x):
        for _ in range(self.n):
            x = self.act(self.w.x * x + self.w.y)
        return x

def fold(t):
    if isinstance(t, Leaf):
        return t.v
    return fold(t.left) * fold(t.right) + fold(t.left)

def grow(x, n):
    t = Leaf(x)
    for i in range(n):
        t = Node(t, Leaf(x + i)) if i % 2 else Node(Leaf(x * i), t)
    return t
'''

VECTOR = """
@dataclass(frozen=True)
class V:
    a: float
    b: float
    half: ClassVar[float] = 0.5

    def __add__(self, o): return V(self.a + o.a, self.b + o.b)
    def __sub__(self, o): return V(self.a - o.a, self.b - o.b)
    def __mul__(self, k): return V(self.a * k, self.b * k)
    def __rmul__(self, k): return self * k
    def __radd__(self, k): return V(self.a + k, self.b + k)
    def __truediv__(self, k): return V(self.a / k, self.b / k)
    def __neg__(self): return V(-self.a, -self.b)
    def __matmul__(self, o): return self.a * o.a + self.b * o.b
    def __call__(self, t, u=1.0): return self.a + t * self.b * u
"""

BODIES: dict[str, str] = {
    "fields": "def f(x): return P(x, x * x).x * P(x).y",
    "construction by name": "def f(x): return P(y=x, x=3.0).x + P(x=x).y * P(1.0, y=x).y",
    "construction with a star": "def f(x):\n t = (x, x * x)\n return P(*t).y",
    "construction from a dictionary display": 'def f(x): return P(**{"x": x, "y": 3.0}).norm2()',
    "a method": "def f(x): return P(x).norm2()",
    "methods that call each other": "def f(x): return P(x, 1.0).twice()",
    "a method with keywords": "def f(x): return P(x).scaled(2.0, by=x).x",
    "a property": "def f(x): return P(x).swapped.y * P(x, x * x).swapped.x",
    "a static method": "def f(x): return P.origin().x + P(x).origin().y + x * x",
    "a class method": "def f(x): return P.diagonal(x).norm2() * P(1.0).diagonal(x).y",
    "a constant of the class": "def f(x): return P(x).unit * x + V(x, x).half + P.unit",
    "a method as a function of the record": "def f(x): return P.norm2(P(x)) + P.scaled(P(x), x).y",
    "a bound method": "def f(x):\n m = P(x).norm2\n return m() + m()",
    "a bound method with an argument": "def ap(g, y): return g(y)\ndef f(x): return ap(P(x).scaled, x).x",
    "a class as a function": "def ap(g, y): return g(y)\ndef f(x): return ap(P, x).norm2()",
    "unpacking": "def f(x):\n a, b = P(x, x * x)\n return a * b",
    "indexing": "def f(x):\n p = P(x, x * x)\n return p[0] * p[-1] + len(p)",
    "iteration": "def f(x):\n s = 1.0\n for v in P(x, x + 1.0): s = s * v\n return s",
    "slices": "def f(x): return P(x, x * x)[1:][0]",
    "replace": "def f(x):\n v = replace(V(x, 2.0), b=x * x)\n return v.a * v.b",
    "replace through its module": "def f(x): return dataclasses.replace(V(x, x), a=2.0).b",
    "_replace": "def f(x):\n p = P(x)._replace(y=x * x)\n return p._replace(x=1.0).norm2()",
    "_replace of a class not known": "def g(p): return p._replace(y=3.0)\ndef f(x): return g(P(x, x)).norm2()",
    "operators": "def f(x):\n v = V(x, 1.0) + V(2.0, x) * x - V(x, x)\n return (v / 2.0) @ -v",
    "reflected operators": "def f(x): return (x * V(x, 1.0)).a + (2.0 + V(x, 3.0)).b + (x + V(1.0, x)).b",
    "augmented assignment": "def f(x):\n v = V(x, 1.0)\n v += V(1.0, x)\n v *= x\n return v @ v",
    "sum of records": "def f(x): return sum([V(x, 1.0), V(x * x, x)], V(0.0, 0.0)).b",
    "a record that is called": "def f(x): return V(x, 2.0)(x) + V(1.0, x)(x, u=x)",
    "a value that is called": "def ap(g): return g(3.0)\ndef f(x): return ap(V(x, x)) + ap(lambda y: y * x)",
    "dispatch": "def area(s): return s.total(3.0)\ndef f(x): return area(Leaf(x)) * area(Node(Leaf(x), Leaf(2.0)))",
    "a field of a property": "def g(p): return p.swapped.x * p.twice()\ndef f(x): return g(P(x))",
    "a method of a record not known, as a value": "def g(p):\n m = p.scaled\n return m(3.0).x\ndef f(x): return g(P(x)) * x",
    "dispatch on a property": "def n(s): return s.size\ndef f(x): return n(Node(Leaf(x), Node(Leaf(x), Leaf(x)))) * x * x",
    "a tree fold": "def f(x): return fold(Node(Leaf(x), Node(Leaf(x * x), Leaf(1.5))))",
    "a tree that grows": "def f(x): return fold(grow(x, 3)) + grow(x, 2).total(1.0)",
    "a chosen record": "def f(x):\n s = Leaf(x) if x > 0 else Node(Leaf(x), Leaf(x))\n return s.total(x)",
    "a record in a loop": "def f(x):\n p = P(x, 1.0)\n for i in range(3): p = P(p.y * x, p.x + i)\n return p.norm2()",
    "a method in a loop": "def f(x):\n p = P(x, 1.0)\n for i in range(3): p = p.scaled(x).swapped\n return p.norm2()",
    "records in a tuple": "def f(x):\n t = (P(x), P(x * x, x))\n return t[1].x * t[0].y + t[0].norm2()",
    "records in a list": "def f(x):\n ps = [P(x * i, x) for i in range(4)]\n return sum(p.norm2() for p in ps)",
    "a record in a record": "def f(x):\n m = Model(P(x, 0.5), lambda y: y * y)\n return m.run(x)",
    "a function in a field": "def f(x):\n m = Model(P(x), lambda y: y * x, n=1)\n return m.act(2.0) + m.w.y",
    "a record captured": "def f(x):\n p = P(x, x)\n g = lambda k: p.x * k + p.norm2()\n return g(3.0) + g(x)",
    "isinstance of several": "def f(x):\n def k(v): return 1.0 if isinstance(v, (P, float)) else 2.0\n return x * x * k(x) + k(P(x)) + k(V(x, x)) + k((x, x))",
    "a NamedTuple is a tuple": "def f(x): return x * x if isinstance(P(x), tuple) and not isinstance(V(x, x), tuple) else 0.0",
    "a global record": "ORIGIN = P(1.0, 3.0)\ndef f(x): return ORIGIN.norm2() * x * x",
    "a default that is a record": "O = P(1.0, 3.0)\n@dataclass\nclass S:\n v: float\n o: P = O\ndef f(x): return S(x).o.norm2() * x * S(x, P(x)).o.x",
    "a generator over a record": "def f(x): return sum(v * v for v in P(x, x + 1.0))",
    "mapping a class": "def f(x): return [P(a, b) for a, b in zip((x, 1.0), (x, x))][0].norm2()",
    "comparison in a method": "def f(x):\n p = P(x)\n return p.norm2() if p.x < p.y else p.x * p.x * p.x",
}
MUTABLE = """
@dataclass
class S:
    v: float
    n: int = 0
"""
BODIES |= {
    "a field assigned": "def f(x):\n s = S(x)\n s.v = x * 2.0\n s.v += x\n return s.v * x",
    "fields assigned in a loop": "def f(x):\n s = S(x)\n for i in range(3):\n  s.v = s.v * x + i\n  s.n += 1\n return s.v * s.n",
    "a field assigned in a branch": "def f(x):\n s = S(x)\n if x > 1: s.v = 3.0 * x\n return s.v * s.v",
    "a field among several targets": "def f(x):\n s = S(x)\n a, s.v = x * x, x\n return s.v * a",
    "a field of a copy assigned": "def g(s):\n s = replace(s)\n s.v = 3.0\n return s.v\ndef f(x):\n s = S(x)\n return g(s) * s.v * s.v",
}
PROGRAMS = {
    name: PRELUDE + VECTOR * ("V(" in body) + MUTABLE * ("S(" in body and "class S" not in body) + body + "\n"
    for name, body in BODIES.items()
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_has_the_value_of_cpython(name: str) -> None:
    agrees_with_cpython(PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_first_and_second_derivatives_are_those_of_forward_mode(name: str) -> None:
    derivatives_agree(PROGRAMS[name])


# live classes


class Pair(NamedTuple):
    a: float
    b: float = 0.5

    def product(self) -> float:
        return self.a * self.b


Plain = namedtuple("Plain", ["p", "q"])


@dataclasses.dataclass(frozen=True)
class Layer:
    weight: float
    bias: float
    activation: Any = math.tanh

    def __call__(self, x: float) -> float:
        return self.activation(self.weight * x + self.bias)  # type: ignore[no-any-return]


@dataclasses.dataclass(frozen=True)
class Odd:
    first: float
    second: Any = dataclasses.field(default_factory=list)


START = Pair(2.0)
WEIGHTS = [Layer(0.5, 0.1), Layer(-1.0, 0.2)]
SETTINGS = {"rate": 0.5, "start": START}


def live_methods(x: float) -> float:
    return Pair(x).product() * START.product() + Plain(x, q=3.0).q


def live_network(x: float) -> float:
    for layer in WEIGHTS:
        x = layer(x)
    return x * SETTINGS["rate"] + SETTINGS["start"].a  # type: ignore[operator, attr-defined, no-any-return]


def of_an_annotation(p: Pair, layer: Layer) -> float:
    return layer(p.product()) + p.b


def odd(x: float) -> float:
    return Odd(x, [x, 2.0]).second[0] * Odd(x, []).first  # type: ignore[no-any-return]


@pytest.mark.parametrize("function", [live_methods, live_network, odd])
def test_a_live_function_reads_live_classes_and_records(function: Any) -> None:
    for x in (0.5, -1.25):
        assert same(run(parse(function), x), function(x))


def test_the_label_of_a_live_class_gives_the_class_back() -> None:
    assert aj.run(lambda x: Pair(x, 2.0), 1.0) == Pair(1.0, 2.0)
    assert isinstance(aj.run(lambda x: [Layer(x, x)], 1.0)[0], Layer)
    assert isinstance(aj.run(lambda x: Plain(x, {"a": x}), 1.0), Plain)


def test_a_class_in_an_annotation_can_be_named() -> None:
    class Local(NamedTuple):
        field: float

        def doubled(self) -> float:
            return self.field * 2.0

    def f(r: Local) -> float:
        return r.doubled()

    f.__annotations__["r"] = Local
    assert aj.run(f, Local(1.5)) == 3.0
    assert aj.grad(f)(Local(1.5)) == Local(2.0)


# methods are not confused, and the world is closed


def program(source: str) -> Program:
    return parse_text(PRELUDE + source, "f", names={})


def test_methods_of_classes_with_the_same_fields_are_not_confused() -> None:
    text = "@dataclass(frozen=True)\nclass Other:\n v: float\n def total(self, k): return 100.0\ndef g(s): return s.total(2.0)\ndef f(x): return "
    assert run(program(text + "g(Leaf(x))"), 1.5) == 3.0
    assert run(program(text + "g(Other(x))"), 1.5) == 100.0
    assert run(program(text + "1.0 if isinstance(Other(x), Leaf) else 0.0"), 1.5) == 0.0


def test_a_method_of_another_class_is_a_trap() -> None:
    with pytest.raises(Trap, match="has not the field norm2"):
        run(program("def g(s): return s.norm2()\ndef f(x): return g(Leaf(x))"), 1.5)
    with pytest.raises(Trap, match="is no P"):
        run(program("def f(x): return P.norm2(Leaf(x))"), 1.5)
    with pytest.raises(Trap, match=r"TypeError: Leaf\.total"):
        run(program("def g(s): return s.total(1.0, 2.0)\ndef f(x): return g(Leaf(x))"), 1.5)


def test_a_method_of_arrays_that_uses_a_value_twice_may_be_a_field_of_a_class() -> None:
    """`var` squares what it has computed, and its end is discarded where a class has a member of that name."""
    text = "import numpy as np\nclass Q(NamedTuple):\n var: float\ndef g(q): return q.var()\ndef f(x): return g(np.array([x, 2.0 * x]))"
    assert run(program(text), 4.0) == 4.0


def test_what_is_no_sequence_is_not_indexed_or_gone_over() -> None:
    for use in ("Leaf(x)[0]", "len(Leaf(x))", "[v for v in Leaf(x)][0]", "(lambda a, b: a)(*Leaf(x))", 'P(x)["x"] + P(x, x)[2]'):
        with pytest.raises(AdjudgeError):
            run(program(f"def f(x): return {use}"), 1.5)


def test_two_classes_of_one_name_and_the_same_fields_are_refused() -> None:
    def make() -> Any:
        class Twin(NamedTuple):
            v: float

        return Twin

    first, second = make(), make()
    with pytest.raises(Malformed, match="two classes are called Twin"):
        parse(lambda x: first(x).v + second(x).v)


# each rule has a place where it does not fire


def coverage(source: str) -> set[str]:
    return set(SYSTEM.derive(initial_text(PRELUDE + VECTOR + source, "f", names={})).coverage())


FIRES = {
    "use_class": ("def f(x): return P(x).x", "def f(x): return x"),
    "member_of_class": ("def f(x): return P.origin().x", "def f(x): return P(x).x"),
    "member_of_known": ("def f(x): return P(x).x", "def g(p): return p.x\ndef f(x): return g(P(x))"),
    "member_of_value": ("def g(p): return p.x\ndef f(x): return g(P(x))", "def f(x): return P(x).x"),
    "member_of_name": ("def g(p): return p.swapped.x\ndef f(x): return g(P(x))", "def f(x): return P(x).swapped.x"),
    "call_known_method": ("def f(x): return P(x).norm2()", "def g(p): return p.norm2()\ndef f(p): return g(p)"),
    "call_method": ("def g(p): return p.norm2()\ndef f(x): return g(P(x))", "def f(x): return P.origin()"),
    "call_update": ("def f(x): return P(x)._replace(y=x).y", "def f(x): return replace(V(x, x), b=x).b"),
    "call_replace": ("def f(x): return replace(V(x, x), b=x).b", "def f(x): return P(x)._replace(y=x).y"),
    "apply_operator": ("def f(x): return V(x, x) + x", "def f(x): return 1.0 + 2.0"),
    "call_record": ("def g(h): return h(1.0)\ndef f(x): return g(V(x, x))", "def g(x): return x\ndef f(x): return g(x)"),
    "next_class": ("def g(p): return p.norm2()\ndef f(x): return g(P(x))", "def f(x): return P(x).x"),
}


@pytest.mark.parametrize("rule", FIRES)
def test_the_rule_fires_where_it_is_meant_and_not_beside_it(rule: str) -> None:
    there, beside = FIRES[rule]
    assert rule in coverage(there)
    assert rule not in coverage(beside)


def test_a_live_parse_is_made_of_the_same_steps() -> None:
    derivation = SYSTEM.derive(initial(live_network))
    assert str(derivation.result.program) == str(parse(live_network))
    assert {"call_record", "next_class"} <= set(derivation.coverage())
