"""
Loops by induction: the duality lemma for any body and any number of turns, and instances in closed form.

    duality    G·t does not change in a turn. t is the tangent of what the loop carries and captures, G the sensitivity of it. In
               one turn of J's output the rest of the loop is a backpropagator that answers with *any* reals G; what the turn makes
               of them, G', satisfies <G', t> = <G, t'>, where t' is the tangent of what the body passes on. At the exit <G, t> =
               d·ẏ. So it is at the entry: the reverse mode of the loop is the adjoint of its forward mode
    maps       the same of any linear spaces: <A* G, t> + <B* G, w> = <G, A t + B w>
    instances  a stated closed form is preserved by a turn: `pow` with its chain of closures, Horner's rule
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.solver import SAT
from checkers.smt.terms import uninterpreted
from checkers.verdict import Unknown
from proofs.calculus import derivative
from proofs.induction import Back, Hypothesis, Turn, dense, leaves, like, moving, total
from proofs.obligation import Claim, Obligation, lemma
from proofs.recursion import EXAMPLES, Gradient, Pair, Recursive, compare, flat, guarded, induced, pair
from proofs.structural import PARTIALS
from transforms.gradient_programs import gradient_program

# duality


def any_sensitivity(order: Sequence[str], results: int) -> Hypothesis:
    """The rest of the loop: an unknown value, and a backpropagator that answers with any reals."""

    def hypothesis(captured: Mapping[str, Any], arguments: Sequence[Any]) -> tuple[Any, Back]:
        inputs = (*(captured[n] for n in order), *arguments)
        found = like(inputs, tuple(z3.Real(f"G{i}") for i in range(len(moving(inputs)))))
        values = tuple(z3.Real(f"rest{j}") for j in range(results))
        return (values if results > 1 else values[0]), lambda _: (
            dict(zip(order, found, strict=False)),
            found[len(order) :],
        )

    return hypothesis


def tangent(term: Any, inputs: Sequence[z3.ArithRef], tangents: Sequence[z3.ArithRef]) -> z3.ArithRef:
    """The tangent of a term, given those of what it is made of."""
    return total([derivative(term, x, PARTIALS) * t for x, t in zip(inputs, tangents, strict=True)])


@guarded
def judge_duality(claim: str, example: Recursive, gradient: Gradient = gradient_program) -> Judgment:
    """<G', t> = <G, t'> in every turn and <G, t> = d·ẏ at every exit, for all sensitivities G of what the loop passes on."""
    inquiry = Inquiry()
    opened = pair(example, gradient)
    hypothesis, reached = any_sensitivity(opened.source.order, example.results), set[bool]()
    for state in opened.states:
        for turn in opened.adjoint.turns(hypothesis, opened.captured, state, opened.sensitivity):
            reached.add(bool(turn.calls))
            if turn.path.trap is not None or [len(call.given) for call in turn.calls] not in ([], [1]):
                return inquiry.judged(claim, "induction", Unknown("a turn traps, or is not reversed once", claim))
            found, wanted = dual(opened, turn, state)
            if (wrong := compare(inquiry, found, wanted, turn.path.all, claim)) is not None:
                return inquiry.judged(claim, "induction", wrong)
    return inquiry.judged(claim, "induction", induced(reached, claim))


def dual(opened: Pair, turn: Turn, state: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The two sides of what holds in one turn: the sensitivity of the value is handed on, and <G', t> = <G, t'>."""
    inputs = opened.inputs(state)
    reals = moving(inputs)
    tangents = [z3.Real(f"t{i}") for i in range(len(reals))]
    value, cotangents = turn.path.value
    found = total([g * t for g, t in zip(flat(cotangents, inputs), tangents, strict=True)])
    if not turn.calls:
        return [found], [total([d * tangent(v, reals, tangents) for d, v in zip(opened.seeds, leaves(value), strict=True)])]
    (call,) = turn.calls
    after = moving((*(call.captured[n] for n in opened.source.order), *call.arguments))
    passed = total([z3.Real(f"G{i}") * tangent(x, reals, tangents) for i, x in enumerate(after)])
    return [*dense(call.given[0], opened.sensitivity), found], [*opened.seeds, passed]


def turn_of_maps() -> Iterable[Claim]:
    """<A* G, t> + <B* G, w> = <G, A t + B w>: a turn that carries t by A and takes in w by B, on any spaces"""
    carried, taken = z3.DeclareSort("H"), z3.DeclareSort("W")
    of_h, of_w = (z3.Function(f"in_{s.name()}", s, s, z3.RealSort()) for s in (carried, taken))
    g, t, after, at, bw, a_g = (z3.Const(n, carried) for n in ("G", "t", "At_plus_Bw", "At", "Bw", "A_adj_G"))
    w, b_g = (z3.Const(n, taken) for n in ("w", "B_adj_G"))
    assumed = [of_h(g, after) == of_h(g, at) + of_h(g, bw), of_h(g, at) == of_h(a_g, t), of_h(g, bw) == of_w(b_g, w)]
    yield of_h(a_g, t) + of_w(b_g, w), of_h(g, after), assumed


def cell(size: int) -> Recursive:
    """A recurrent cell that carries `size` numbers; every one is an unknown function of a sum of all, each times its own weight."""
    state, weights = [f"s{i}" for i in range(size)], [f"w{i}" for i in range(size)]
    sums = [" + ".join(f"{weights[(i + j) % size]} * {s}" for j, s in enumerate(state)) for i in range(size)]
    turn = ", ".join(f"g({s})" if i else f"k({s}, u)" for i, s in enumerate(sums))
    packed = ", ".join(state)
    text = (
        f"def f(u, {', '.join(weights)}, n: int):\n {packed} = {', '.join(['u'] * size)}\n while n > 0:\n"
        f"  {packed} = {turn}\n  n = n - 1\n return {' * '.join(state)}\n"
    )
    return Recursive(text, "f.while", (1.0,) * (size + 1), ((*(1.0,) * size, 1),))


LOOPS: dict[str, Recursive] = {
    **{name: EXAMPLES[name] for name in EXAMPLES if "loop" in name},
    **{f"a recurrent cell that carries {size} numbers": cell(size) for size in (2, 3, 4)},
}

# closed forms


@dataclass(frozen=True)
class ClosedForm:
    """
    A loop whose value and sensitivities are known.

    value    (captured, arguments) -> the value
    back     (captured, arguments, d) -> the sensitivities of the reals of both, in order
    facts    (captured, arguments) -> what is known of the names used: their recurrences, at this state
    """

    loop: Recursive
    value: Callable[..., Any]
    back: Callable[..., Sequence[Any]]
    facts: Callable[..., Sequence[Any]]

    def hypothesis(self, order: Sequence[str]) -> Hypothesis:
        """The closed form, of what the loop passes on."""

        def answer(captured: Mapping[str, Any], arguments: Sequence[Any]) -> tuple[Any, Back]:
            c = [captured[n] for n in order]

            def back(d: Any) -> tuple[dict[str, Any], Sequence[Any]]:
                found = like((*c, *arguments), self.back(c, arguments, d))
                return dict(zip(order, found, strict=False)), found[len(order) :]

            return self.value(c, arguments), back

        return answer


@guarded
def judge_closed_form(claim: str, form: ClosedForm, gradient: Gradient = gradient_program) -> Judgment:
    """The value and the sensitivities of every turn are the closed form at its start, if they are at the start of the next."""
    inquiry = Inquiry()
    opened = pair(form.loop, gradient)
    order, reached = opened.source.order, set[bool]()
    c = [opened.captured[n] for n in order]
    for state in opened.states:
        facts = [*form.facts(c, state)]
        if inquiry.ask(facts).status != SAT:
            return inquiry.judged(claim, "induction", Unknown("the hypotheses were not shown satisfiable", claim))
        for turn in opened.adjoint.turns(form.hypothesis(order), opened.captured, state, opened.sensitivity, facts):
            reached.add(bool(turn.calls))
            if turn.path.trap is not None:
                return inquiry.judged(claim, "induction", Unknown(f"a turn traps: {turn.path.trap.what}", claim))
            value, cotangents = turn.path.value
            found = [value, *flat(cotangents, opened.inputs(state))]
            wanted = [form.value(c, state), *form.back(c, state, opened.sensitivity)]
            if (wrong := compare(inquiry, found, wanted, [*facts, *turn.path.all], claim)) is not None:
                return inquiry.judged(claim, "induction", wrong)
    return inquiry.judged(claim, "induction", induced(reached, claim))


def power(x: Any, n: Any) -> Any:
    """x to the n, a name; `n` an integer."""
    return uninterpreted("u_power", x, z3.simplify(z3.ToReal(n)))


def power_facts(x: Any, n: Any) -> list[Any]:
    """x⁰ = 1 and xⁿ = x·xⁿ⁻¹ for n > 0, at n and at n - 1"""
    return [z3.Implies(m == 0, power(x, m) == 1) for m in (n, n - 1)] + [
        z3.Implies(m > 0, power(x, m) == x * power(x, m - 1)) for m in (n, n - 1)
    ]


def whole_power(y: int, n: int) -> dict[str, Callable[..., Any]]:
    """y·xⁿ, by the places of y and n among the arguments: ∇x = d·y·n·xⁿ⁻¹ and ∇y = d·xⁿ."""
    return {
        "value": lambda c, a: a[y] * power(c[0], a[n]),
        "back": lambda c, a, d: (d * a[y] * z3.ToReal(a[n]) * power(c[0], a[n] - 1), d * power(c[0], a[n])),
        "facts": lambda c, a: [a[n] >= 0, *power_facts(c[0], a[n])],
    }


def horner_sum(name: str, c: Sequence[Any], i: Any) -> Any:
    """Σ h(j)·xʳ⁻¹⁻ʲ over i ≤ j < r, or its derivative by x, a name."""
    return uninterpreted(f"u_{name}", *c[:1], z3.ToReal(c[1]), z3.simplify(z3.ToReal(i)))


def horner_facts(c: Sequence[Any], a: Sequence[Any]) -> list[Any]:
    """Both sums are empty at i = r, and at i < r have one summand more than at i + 1."""
    (x, r), (i, _) = c, a
    ends = [z3.Implies(i == r, horner_sum(name, c, i) == 0) for name in ("sum", "slope")]
    coefficient = uninterpreted("u_h", z3.ToReal(i))
    first = coefficient * power(x, r - 1 - i) + horner_sum("sum", c, i + 1)
    slope = coefficient * z3.ToReal(r - 1 - i) * power(x, r - 2 - i) + horner_sum("slope", c, i + 1)
    steps = [horner_sum("sum", c, i) == first, horner_sum("slope", c, i) == slope]
    return [i >= 0, i <= r, *power_facts(x, r - i), *ends, *(z3.Implies(i < r, fact) for fact in steps)]


CLOSED_FORMS: dict[str, ClosedForm] = {
    "pow by a loop": ClosedForm(
        Recursive(
            "def f(x, n: int):\n y = 1.0\n while n > 0:\n  y = y * x\n  n = n - 1\n return y\n", "f.while", (1.0,), ((1.0, 1),)
        ),
        **whole_power(0, 1),
    ),
    "pow by tail calls, whose backpropagators are a chain of closures": ClosedForm(
        Recursive(
            "def f(x, n: int):\n def go(m, y):\n  return y if m <= 0 else go(m - 1, y * x)\n return go(n, 1.0)\n",
            "go",
            (1.0,),
            ((1, 1.0),),
        ),
        **whole_power(1, 0),
    ),
    "Horner's rule": ClosedForm(
        Recursive(
            "def f(x, n: int):\n y = 0.0\n for i in range(n):\n  y = y * x + h(float(i))\n return y\n",
            "f.for",
            (1.0, 1),
            ((1, 1.0),),
        ),
        lambda c, a: a[1] * power(c[0], c[1] - a[0]) + horner_sum("sum", c, a[0]),
        lambda c, a, d: (
            d * (a[1] * z3.ToReal(c[1] - a[0]) * power(c[0], c[1] - a[0] - 1) + horner_sum("slope", c, a[0])),
            d * power(c[0], c[1] - a[0]),
        ),
        horner_facts,
    ),
}

OBLIGATIONS: tuple[Obligation, ...] = (
    lemma("adjoint of a turn", (), turn_of_maps),
    *(
        Obligation(f"loop duality: {name}", "J", partial(judge_duality, f"loop duality: {name}", loop), ("slope",))
        for name, loop in LOOPS.items()
    ),
    *(
        Obligation(f"closed form: {name}", "J", partial(judge_closed_form, f"closed form: {name}", form))
        for name, form in CLOSED_FORMS.items()
    ),
)
