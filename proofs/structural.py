"""
J, case by case of its structural induction, and the algebra of sensitivities that it computes in.

    abstract    the two facts that the induction needs of any linear maps: the adjoint of a composition is the composition of the
                adjoints in reverse, and the adjoint of fan-out is the sum. Ground instances over uninterpreted sorts
    monoid      gadd is commutative and associative with ZERO neutral, on reals, tuples and sparse tuples
    J           J's own output on a program per construct, where the primitives g, h, k are unknown functions with unknown
                derivatives: its gradient is the derivative of the value by the rules of calculus

The last two run the code that is shipped, on terms. The primitives of structure have their own obligations (`structure_rows`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import partial
from typing import Any

import z3
from immutables import Map

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import explore
from checkers.smt.real import reading
from checkers.smt.sides import Mismatch, leaves
from checkers.smt.terms import real, uninterpreted
from checkers.verdict import Counterexample, Proved, Refuted, Unknown, Verdict
from proofs.calculus import DERIVATIVES, derivative
from proofs.normal_form import equal
from proofs.obligation import Claim, Obligation, identity, lemma
from semantics.ir import Program
from semantics.primitives.row import Primitive, row
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO, Sparse, gadd
from semantics.text import read
from transforms.gradient_programs import gradient_program

# abstract linear maps


def composition() -> Iterable[Claim]:
    """<g, B A dx> = <A* B* g, dx>, from <u, A dx> = <A* u, dx> at u = B* g and <g, B w> = <B* g, w> at w = A dx"""
    space_x, space_y, space_z = (z3.DeclareSort(name) for name in ("X", "Y", "Z"))
    product_x, product_y, product_z = (z3.Function(f"in_{s.name()}", s, s, z3.RealSort()) for s in (space_x, space_y, space_z))
    a, b = z3.Function("A", space_x, space_y), z3.Function("B", space_y, space_z)
    a_, b_ = z3.Function("A_adj", space_y, space_x), z3.Function("B_adj", space_z, space_y)
    dx, g = z3.Const("dx", space_x), z3.Const("g", space_z)
    assumed = [product_y(b_(g), a(dx)) == product_x(a_(b_(g)), dx), product_z(g, b(a(dx))) == product_y(b_(g), a(dx))]
    yield product_z(g, b(a(dx))), product_x(a_(b_(g)), dx), assumed


def fan_out() -> Iterable[Claim]:
    """<g, A dx + B dx> = <A* g + B* g, dx>, the inner products being additive"""
    space_x, space_y = z3.DeclareSort("X"), z3.DeclareSort("Y")
    product_x, product_y = (z3.Function(f"in_{s.name()}", s, s, z3.RealSort()) for s in (space_x, space_y))
    plus_x, plus_y = (z3.Function(f"plus_{s.name()}", s, s, s) for s in (space_x, space_y))
    a, b = (z3.Function(name, space_x, space_y) for name in "AB")
    a_, b_ = (z3.Function(f"{name}_adj", space_y, space_x) for name in "AB")
    dx, g = z3.Const("dx", space_x), z3.Const("g", space_y)
    assumed = [
        product_y(g, plus_y(a(dx), b(dx))) == product_y(g, a(dx)) + product_y(g, b(dx)),
        product_x(plus_x(a_(g), b_(g)), dx) == product_x(a_(g), dx) + product_x(b_(g), dx),
        product_y(g, a(dx)) == product_x(a_(g), dx),
        product_y(g, b(dx)) == product_x(b_(g), dx),
    ]
    yield product_y(g, plus_y(a(dx), b(dx))), product_x(plus_x(a_(g), b_(g)), dx), assumed


# the monoid of sensitivities


def sensitivities(prefix: str) -> list[Any]:
    """Sensitivities of a pair of a real and a pair, in every representation."""
    a, b, c = (z3.Real(f"{prefix}{i}") for i in range(3))
    deep = Sparse(2, Map({1: c}))
    return [ZERO, (a, (b, c)), (a, deep), (ZERO, (b, ZERO)), Sparse(2, Map({0: a})), Sparse(2, Map({1: deep}))]


def same_sensitivity(x: Any, y: Any) -> bool:
    """Whether two sensitivities over the reals are equal, a ZERO being as good as zeros."""
    pairs = list(leaves(x, y))
    return not any(isinstance(p, Mismatch) for p in pairs) and all(
        equal(*(real(0) if v is ZERO else v for v in p)) for p in pairs if not isinstance(p, Mismatch)
    )


def judge_monoid(add: Any = gadd, name: str = "gadd is a commutative monoid") -> Judgment:
    """The laws on every combination of representations; `add` is `gadd` unless a test plants a bug."""
    inquiry = Inquiry()
    tried = 0
    for x, y, z in itertools.product(*(sensitivities(p) for p in "abc")):
        laws = {
            "associativity": (add(add(x, y), z), add(x, add(y, z))),
            "commutativity": (add(x, y), add(y, x)),
            "neutrality": (add(x, ZERO), x),
        }
        for law, (left, right) in laws.items():
            tried += 1
            if not same_sensitivity(left, right):
                counterexample = Counterexample({"a": x, "b": y, "c": z}, left, right, cause=f"{law} fails")
                return inquiry.judged(name, "normal form", Refuted(counterexample, claim=name))
    return inquiry.judged(name, "normal form", Proved(f"normal form, {tried} equations", name))


# J on abstract primitives


def unknown(name: str, arity: int = 1, partials: tuple[Primitive, ...] = ()) -> Primitive:
    """A primitive that is an unknown function over the reals; its backpropagator multiplies by the unknown `partials`."""
    letters = "xy"[:arity]

    def cell(*arguments: Any) -> Any:
        return uninterpreted(f"u_{name}", *arguments)

    columns: dict[str, Any] = {"z3_real": cell}
    if partials:
        given = ", ".join(f"%{x}" for x in letters)
        slopes = [f"%s{i} = {p.name}({given})" for i, p in enumerate(partials)]
        products = [f"%d{i} = mul(%d, %s{i})" for i in range(arity)]
        result = f"%r = make_tuple({', '.join(f'%d{i}' for i in range(arity))})"
        body = "\n".join(f"  {line}" for line in (*slopes, *products, result))
        text = f"program @p\n@p({given}, %out, %d):\n{body}\n  return %r"
        columns["backpropagator"] = read(text, {**TABLE, **{p.name: p for p in partials}})
    bare = row(name, " ".join(letters), " ".join(["real"] * arity) + " -> real")
    return Primitive(bare.name, bare.parameters, bare.signature, bare.result, columns=columns)


def _tower(name: str) -> tuple[Primitive, ...]:
    """A function of one argument with its first and second derivatives."""
    second = unknown(f"{name}2")
    first = unknown(f"{name}1", partials=(second,))
    return unknown(name, partials=(first,)), first, second


_BINARY = (unknown("kx", 2), unknown("ky", 2))
PRIMITIVES: dict[str, Primitive] = {
    **TABLE,
    **{p.name: p for p in (*_tower("g"), *_tower("h"), *_BINARY, unknown("k", 2, _BINARY))},
}


def _next(after: str) -> Any:
    return lambda x: (uninterpreted(f"u_{after}", x),)


PARTIALS: dict[str, Any] = {
    **DERIVATIVES,
    **{f"u_{name}": _next(after) for name, after in (("g", "g1"), ("g1", "g2"), ("h", "h1"), ("h1", "h2"))},
    "u_k": lambda x, y: (uninterpreted("u_kx", x, y), uninterpreted("u_ky", x, y)),
}

# One program per construct of the language; the gradient is taken by %x.
CONSTRUCTS: dict[str, str] = {
    "chain rule": "@f(%x: f64):\n %a = g(%x)\n %b = h(%a)\n return %b",
    "fan-out": "@f(%x: f64):\n %a = g(%x)\n %b = k(%a, %a)\n %c = mul(%b, %x)\n return %c",
    "two arguments": "@f(%x: f64, %y: f64):\n %a = k(%y, %x)\n return %a",
    "unused argument": "@f(%x: f64, %y: f64):\n %a = g(%y)\n return %a",
    "tuple and projection": "@f(%x: f64):\n %a = g(%x)\n %t = make_tuple(%a, %x, 2.0)\n %u = make_tuple(%t, %t)\n"
    " %v = getitem(%u, 1)\n %b = getitem(%v, 0)\n %c = getitem(%v, 1)\n %d = k(%b, %c)\n return %d",
    "switch": "@f(%x: f64):\n %c = gt(%x, 0.0)\n %t = switch(%c, @p, @q)\n %r = %t()\n return %r\n"
    "@p():\n %a = g(%x)\n return %a\n@q():\n %b = h(%x)\n return %b",
    "switch of values": "@f(%x: f64):\n %c = gt(%x, 0.0)\n %a = g(%x)\n %b = h(%x)\n %r = switch(%c, %a, %b)\n return %r",
    "closure": "@f(%x: f64):\n %a = h(%x)\n %r = @i(%a)\n return %r\n@i(%y):\n %b = k(%x, %y)\n return %b",
    "closure as a value": "@f(%x: f64):\n %a = g(%x)\n %r = @twice(@i, %x)\n return %r\n"
    "@i(%y):\n %b = k(%a, %y)\n return %b\n@twice(%fun, %z):\n %u = %fun(%z)\n %v = %fun(%u)\n return %v",
    "closure in a tuple": "@f(%x: f64):\n %t = make_tuple(@i, %x)\n %i = getitem(%t, 0)\n %y = getitem(%t, 1)\n %r = %i(%y)\n"
    " return %r\n@i(%y2):\n %b = k(%x, %y2)\n return %b",
    "returned closure": "@f(%x: f64):\n %m = @make(%x)\n %r = %m(%x)\n return %r\n@make(%y):\n %a = g(%y)\n return @i\n"
    "@i(%z):\n %b = k(%a, %z)\n return %b",
    "capture through a call": "@f(%x: f64):\n %r = @outer()\n return %r\n@outer():\n %a = @inner()\n %b = g(%a)\n return %b\n"
    "@inner():\n %c = h(%x)\n return %c",
    "loop of three turns": "@f(%x: f64):\n %r = @loop(0, %x)\n return %r\n"
    "@loop(%n, %y):\n %c = lt(%n, 3)\n %t = switch(%c, @go, @end)\n"
    " %r2 = %t()\n return %r2\n@go():\n %m = add(%n, 1)\n %z = k(%y, %x)\n %r3 = @loop(%m, %z)\n return %r3\n@end():\n return %y",
    "recursion of three calls": "@f(%x: f64):\n %r = @rec(3, %x)\n return %r\n@rec(%n, %y):\n %c = gt(%n, 0)\n"
    " %t = switch(%c, @go, @end)\n %r2 = %t()\n return %r2\n@go():\n %m = sub(%n, 1)\n %z = g(%y)\n %w = @rec(%m, %z)\n"
    " %v = mul(%w, %y)\n return %v\n@end():\n return %y",
    "no dependence": "@f(%x: f64):\n return 3.0",
}


def construct(name: str) -> Program:
    """The program of a construct."""
    return read("program @f\n" + CONSTRUCTS[name], PRIMITIVES)


def judge_j(name: str, program: Program, order: int = 1, gradient: Program | None = None, claim: str = "") -> Judgment:
    """The gradient program of J (or `gradient`) gives the derivative of the value, on every path."""
    claim = claim or f"J: {name}" + (", second order" if order == 2 else "")
    inquiry = Inquiry()
    inputs = [z3.Real(f"x{i}") for i in range(len(program.graphs[program.entry].parameters))]
    if gradient is None:
        gradient = gradient_program(program)
        for _ in range(order - 1):
            gradient = gradient_program(gradient)
    for source in explore(program, inputs, reading):
        wanted = source.value
        for _ in range(order):
            wanted = derivative(wanted, inputs[0], PARTIALS)
        for target in explore(gradient, inputs, reading, source.all):
            verdict, method = identity(inquiry, target.value, wanted, [*source.all, *target.all])
            if not isinstance(verdict, Proved):
                answer = inquiry.ask([*source.all, *target.all, target.value != wanted])
                shown = Counterexample({str(x): answer.model.get(str(x)) for x in inputs}, str(target.value), str(wanted))
                found: Verdict = Refuted(shown, claim=claim) if answer.status == "sat" else Unknown(answer.reason, claim)
                return inquiry.judged(claim, method, found)
    return inquiry.judged(claim, "normal form and z3", Proved("normal form and z3, for all g, h and k", claim))


SMOOTH_TWICE: dict[str, str] = {
    "chain rule": CONSTRUCTS["chain rule"],
    "switch": CONSTRUCTS["switch"],
    "capture through a call": CONSTRUCTS["capture through a call"],
    "tuple and product": "@f(%x: f64):\n %a = g(%x)\n %t = make_tuple(%a, %x)\n %b = getitem(%t, 0)\n %c = getitem(%t, 1)\n"
    " %d = mul(%b, %c)\n return %d",
    "closure": "@f(%x: f64):\n %a = h(%x)\n %r = @i(%a)\n return %r\n@i(%y):\n %b = mul(%x, %y)\n return %b",
}

OBLIGATIONS: tuple[Obligation, ...] = (
    lemma("adjoint of a composition", (), composition),
    lemma("adjoint of fan-out", (), fan_out),
    Obligation("gadd is a commutative monoid", "sensitivities", judge_monoid),
    *(Obligation(f"J: {name}", "J", partial(lambda n: judge_j(n, construct(n)), name), ("slope",)) for name in CONSTRUCTS),
    *(
        Obligation(
            f"J: {name}, second order",
            "J",
            partial(lambda n, t: judge_j(n, read("program @f\n" + t, PRIMITIVES), 2), name, text),
            ("slope",),
        )
        for name, text in SMOOTH_TWICE.items()
    ),
)
