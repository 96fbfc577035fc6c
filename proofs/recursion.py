"""
J of functions that call themselves, by induction over the calls (see `induction`): for any number of calls, any tree.

◀g is the adjoint of the derivative of g, if it is where g calls itself. The calls are answered by an unknown function with unknown
derivatives, so nothing is known of them but the hypothesis.

The body that runs is J's own output on these programs; g, h and k are unknown functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.sides import claimed, gave_up
from checkers.smt.solver import SAT
from checkers.verdict import Counterexample, Proved, Refuted, Unknown, Vacuous, Verdict
from proofs.calculus import derivative
from proofs.induction import Opened, captured_by, dense, leaves, moving, named, symbols, total, unknown_function
from proofs.obligation import Obligation, identity
from proofs.structural import PARTIALS, PRIMITIVES
from semantics.errors import AdjudgeError
from semantics.ir import Program, graph_of
from semantics.structured import Label, Record
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text

Gradient = Callable[[Program], Program]


@dataclass(frozen=True)
class Recursive:
    """
    A function that calls itself.

    text       of the Python, whose first function is differentiated
    function   the name of the graph that the induction is over
    captured   what that graph captures, in order: any values of their structure; floats become unknown reals, ints unknown integers
    states     its arguments likewise, one state for every structure that they can have
    results    how many reals it returns
    """

    text: str
    function: str
    captured: Sequence[Any]
    states: Sequence[Sequence[Any]]
    results: int = 1

    def program(self) -> Program:
        """The program, every node with a name."""
        return named(parse_text(self.text, "f", "f.py", PRIMITIVES))


@dataclass(frozen=True)
class Pair:
    """The function and its J, opened; the same names stand for the same things in both."""

    source: Opened
    adjoint: Opened
    captured: Mapping[str, Any]
    states: tuple[tuple[Any, ...], ...]
    seeds: tuple[z3.ArithRef, ...]

    @property
    def sensitivity(self) -> Any:
        """The sensitivity of the value: d, or a pair of them."""
        return self.seeds if len(self.seeds) > 1 else self.seeds[0]

    def inputs(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        """What is captured, in the order of its sensitivities, and what is given."""
        return (*(self.captured[n] for n in self.source.order), *arguments)


def pair(example: Recursive, gradient: Gradient = gradient_program) -> Pair:
    """The example opened, and what `gradient` makes of it opened."""
    program = example.program()
    order = captured_by(program, graph_of(program, example.function))
    source = Opened(program, example.function)
    adjoint = Opened(gradient(program), example.function, adjoint=True, order=order)
    captured = dict(zip(order, symbols(tuple(example.captured), "c"), strict=True))
    states = tuple(symbols(tuple(state), "a") for state in example.states)
    return Pair(source, adjoint, captured, states, tuple(z3.Reals([f"d{j}" for j in range(example.results)])))


def guarded(judging: Callable[..., Judgment]) -> Callable[..., Judgment]:
    """An adjoint program that cannot be run on terms is Unknown, with the reason."""

    @wraps(judging)
    def judge(claim: str, *arguments: Any) -> Judgment:
        try:
            return judging(claim, *arguments)
        except AdjudgeError as error:
            return Judgment(claim, "induction", claimed(gave_up(error), claim))

    return judge


@guarded
def judge(claim: str, example: Recursive, gradient: Gradient = gradient_program) -> Judgment:
    """On every path of one call: the value is that of the function, and the sensitivities are d times its partial derivatives."""
    inquiry = Inquiry()
    opened = pair(example, gradient)
    hypothesis, partials = unknown_function("rec", example.results, opened.source.order)
    reached: set[bool] = set()
    for state in opened.states:
        inputs = opened.inputs(state)
        for source in opened.source.turns(hypothesis, opened.captured, state):
            if source.path.trap is not None:
                continue
            reached.add(bool(source.calls))
            for turn in opened.adjoint.turns(hypothesis, opened.captured, state, opened.sensitivity, source.path.all):
                if turn.path.trap is not None:
                    return inquiry.judged(claim, "induction", Unknown(f"▶ traps: {turn.path.trap.what}", claim))
                value, cotangents = turn.path.value
                wanted = derivatives(source.path.value, opened.seeds, inputs, {**PARTIALS, **partials})
                known = [*source.path.all, *turn.path.all]
                found = [*leaves(value), *flat(cotangents, inputs)]
                if (wrong := compare(inquiry, found, [*leaves(source.path.value), *wanted], known, claim)) is not None:
                    return inquiry.judged(claim, "induction", wrong)
    return inquiry.judged(claim, "induction", induced(reached, claim))


def induced(reached: set[bool], claim: str) -> Verdict:
    """Proved if there was a base case and a step; an induction that lacks one of them says nothing."""
    if reached == {True, False}:
        return Proved("induction over calls: base and step", claim)
    return Vacuous(f"the induction has no {'base' if True in reached else 'step'}", claim)


def flat(cotangents: Any, inputs: Any) -> list[z3.ArithRef]:
    """((∇c…), ∇a…) as reals, in the order of the inputs."""
    own, *of_arguments = cotangents
    return dense((*own, *of_arguments), inputs)


def derivatives(value: Any, seeds: Sequence[Any], inputs: Any, partials: Mapping[str, Any]) -> list[z3.ArithRef]:
    """Σ d · ∂value / ∂x for every real x that goes in."""
    return [total([d * derivative(v, x, partials) for d, v in zip(seeds, leaves(value), strict=True)]) for x in moving(inputs)]


def compare(inquiry: Inquiry, found: Sequence[Any], wanted: Sequence[Any], known: Sequence[Any], claim: str) -> Verdict | None:
    """None if the two are equal, real by real, under what is known."""
    if len(found) != len(wanted):
        shown = Counterexample({}, f"{len(found)} reals", f"{len(wanted)} reals", cause="not one sensitivity for every real")
        return Refuted(shown, claim=claim)
    for left, right in zip(found, wanted, strict=True):
        verdict, _ = identity(inquiry, left, right, known)
        if not isinstance(verdict, Proved):
            answer = inquiry.ask([*known, left != right])
            if answer.status == SAT:
                shown = Counterexample(dict(answer.model), str(left), str(right), cause="a step of the induction fails")
                return Refuted(shown, claim=claim)
            return Unknown(answer.reason or "not shown", claim)
    return None


LEAF = Label("namedtuple", "Leaf", ("value",))
NODE = Label("namedtuple", "Node", ("left", "right", "weight"))
TREE = """
class Leaf(NamedTuple):
    value: float

class Node(NamedTuple):
    left: object
    right: object
    weight: float

def f(t, s):
    if isinstance(t, Leaf):
        return g(t.value)
    return t.weight * k(f(t.left, s), s * f(t.right, s))
"""
EXAMPLES: dict[str, Recursive] = {
    "a for loop": Recursive(
        "def f(x, n: int):\n y = x\n for i in range(n):\n  y = k(y, x)\n return g(y)\n", "f.for", (1.0, 1), ((1, 1.0),)
    ),
    "a while loop that carries three values": Recursive(
        "def f(x, n: int):\n y, z = x, 1.0\n while n > 0:\n  y, z = k(y, z), g(z) * x\n  n = n - 1\n return y * z\n",
        "f.while",
        (1.0,),
        ((1.0, 1.0, 1),),
    ),
    "a loop with a branch and two exits": Recursive(
        "def f(x, n: int):\n y = x\n while n > 0:\n  if y > x:\n   return h(y)\n"
        "  y = k(y, x) if y < 0 else g(y)\n  n = n - 1\n return y\n",
        "f.while",
        (1.0,),
        ((1.0, 1),),
    ),
    "recursion that is not in tail position": Recursive(
        "def f(x, n: int):\n return g(x) if n <= 0 else k(f(h(x), n - 1), x) * k(x, x)\n", "f", (), ((1.0, 1),)
    ),
    "two calls": Recursive("def f(x, n: int):\n return x if n < 2 else k(f(g(x), n - 1), f(x, n - 2))\n", "f", (), ((1.0, 1),)),
    "mutual recursion": Recursive(
        "def f(x, n: int):\n def odd(y, m):\n  return x if m <= 0 else g(even(k(x, y), m - 1))\n"
        " def even(y, m):\n  return y if m <= 0 else h(odd(y, m - 1))\n return even(x, n)\n",
        "even",
        (1.0,),
        ((1.0, 1),),
    ),
    "recursion that returns a pair": Recursive(
        "def f(x, n: int):\n def go(y, m):\n  if m <= 0:\n   return y, x\n  a, b = go(g(y), m - 1)\n  return k(a, y), b * x\n"
        " a, b = go(x, n)\n return a * b\n",
        "go",
        (1.0,),
        ((1.0, 1),),
        2,
    ),
    "recursion under a closure": Recursive(
        "def f(x, n: int):\n def go(m):\n  def later(y):\n   return k(y, go(m - 1))\n"
        "  return later(x) if m > 0 else g(x)\n return go(n)\n",
        "go",
        (1.0,),
        ((1,),),
    ),
    "a fold over a tree of records": Recursive(TREE, "f", (), ((Record(LEAF, (1.0,)), 1.0), (Record(NODE, (1.0, 1.0, 1.0)), 1.0))),
}

OBLIGATIONS: tuple[Obligation, ...] = tuple(
    Obligation(f"J, by induction: {name}", "J", partial(judge, f"J, by induction: {name}", example), ("slope",))
    for name, example in EXAMPLES.items()
)
