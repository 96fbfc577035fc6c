"""
Wrong variants of every backpropagator, made mechanically from the rule's own program. A prover that proves one is worthless.

    inside     arguments of -, / or ** exchanged; a term of a sum dropped; a constant off by one
    at its use x in place of out, out in place of x, 1 in place of dout
    outside    a cotangent negated, doubled, forgotten, with dout or 1 added; cotangents exchanged

Some variants are no mutants, being equal to the rule over the reals (`x - y` exchanged under a square). Those are proved, and left
out if the machine finds no difference either. All others must be refuted, by a counterexample that the machine confirms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, zip_longest

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.verdict import Refuted
from proofs.backpropagators import FirstOrder, judged
from proofs.derivations import Derivation
from semantics.edit import Edit
from semantics.ir import Apply, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes_from
from transforms.backpropagators import backpropagator

ENOUGH = 3
Variant = tuple[str, Program]
Arguments = list[NodeId]
GETITEM, MAKE_TUPLE = TABLE["getitem"], TABLE["make_tuple"]


def variants(primitive: Primitive) -> tuple[Variant, ...]:
    """Variants of the primitive's backpropagator, by name, those of each kind spread over the front."""
    rule, arity = backpropagator(primitive), len(primitive.parameters)
    kinds = [inside(rule), *(outside(rule, arity, i) for i in range(arity)), at_its_use(rule, arity)]
    spread = chain.from_iterable(zip_longest(*kinds))
    return tuple({name: (name, program) for name, program in filter(None, spread)}.values())


def inside(rule: Program) -> Iterator[Variant]:
    """One application of the rule's program changed."""
    needed = scopes_from(rule, [rule.entry]).needed
    for node in sorted(n for graph, nodes in needed.items() for n in nodes if rule.owner(n) == graph):
        call, callee = rule.nodes[node], rule.callee(node)
        if not isinstance(call, Apply) or not isinstance(callee, Primitive):
            continue
        where = rule.describe(node)
        if callee.name in ("sub", "div", "pow"):
            yield f"{where}: arguments exchanged", _with_inputs(rule, node, (call.inputs[0], *reversed(call.arguments)))
        if callee.name in ("add", "sub"):
            edit = Edit(rule)
            edit.replace(node, call.inputs[1])
            yield f"{where}: a term dropped", edit.program
        for k, x in enumerate(call.inputs[1:], 1):
            value = rule.constant(x)
            if callee.name in ("add", "sub", "mul", "div", "pow") and isinstance(value, (int, float)):
                edit = Edit(rule)
                changed = edit.constant(value + 1)
                yield (
                    f"{where}: {value} off by one",
                    _with_inputs(edit.program, node, (*call.inputs[:k], changed, *call.inputs[k + 1 :])),
                )


def _with_inputs(program: Program, node: NodeId, inputs: tuple[NodeId, ...]) -> Program:
    edit = Edit(program)
    edit.set_inputs(node, inputs)
    return edit.program


def outside(rule: Program, arity: int, i: int) -> Iterator[Variant]:
    """Cotangent i changed after the rule has made it."""

    def changed(change: Callable[[Edit, int, NodeId, NodeId], NodeId]) -> Program:
        def results(edit: Edit, graph: int, given: Arguments, cotangents: Arguments) -> Arguments:
            return [change(edit, graph, c, given[-1]) if k == i else c for k, c in enumerate(cotangents)]

        return wrapped(rule, arity, results=results)

    yield f"cotangent {i} negated", changed(lambda e, g, c, dout: e.call(g, TABLE["neg"], c))
    yield f"cotangent {i} doubled", changed(lambda e, g, c, dout: e.call(g, TABLE["mul"], c, e.constant(2.0)))
    yield f"dout added to cotangent {i}", changed(lambda e, g, c, dout: e.call(g, TABLE["add"], c, dout))
    yield f"cotangent {i} forgotten", changed(lambda e, g, c, dout: e.constant(0.0))
    yield f"dout subtracted from cotangent {i}", changed(lambda e, g, c, dout: e.call(g, TABLE["sub"], c, dout))
    yield f"1 added to cotangent {i}", changed(lambda e, g, c, dout: e.call(g, TABLE["add"], c, e.constant(1.0)))
    yield f"dout twice in cotangent {i}", changed(lambda e, g, c, dout: e.call(g, TABLE["mul"], c, dout))


def at_its_use(rule: Program, arity: int) -> Iterator[Variant]:
    """The rule given something else, or its cotangents in another order."""
    yield "1 in place of dout", wrapped(rule, arity, given=lambda e, xs: [*xs[:-1], e.constant(1.0)])
    yield "x in place of out", wrapped(rule, arity, given=lambda e, xs: [*xs[:-2], xs[0], xs[-1]])
    yield "out in place of x", wrapped(rule, arity, given=lambda e, xs: [xs[-2], *xs[1:]])
    if arity > 1:
        yield "cotangents exchanged", wrapped(rule, arity, results=lambda e, g, xs, cotangents: cotangents[::-1])
        yield "arguments exchanged", wrapped(rule, arity, given=lambda e, xs: [*xs[:arity][::-1], *xs[arity:]])


def wrapped(
    rule: Program,
    arity: int,
    given: Callable[[Edit, Arguments], Arguments] = lambda edit, xs: xs,
    results: Callable[[Edit, int, Arguments, Arguments], Arguments] = lambda edit, graph, xs, cotangents: cotangents,
) -> Program:
    """The program that calls the rule on `given(x…, out, dout)` and returns `results` of its cotangents."""
    edit = Edit(rule)
    inner = edit.reference(rule.entry)
    graph = edit.graph("variant")
    xs = [edit.parameter(graph, f"x{k}") for k in range(arity)] + [edit.parameter(graph, "out"), edit.parameter(graph, "dout")]
    pulled = edit.apply(graph, inner, *given(edit, xs))
    cotangents = [edit.call(graph, GETITEM, pulled, edit.constant(k)) for k in range(arity)]
    edit.output(graph, edit.call(graph, MAKE_TUPLE, *results(edit, graph, xs, cotangents)))
    edit.set_entry(graph)
    return edit.program


def judged_variants(primitive: Primitive) -> Iterator[Judgment]:
    """The judgment on each variant. The derivatives of the primitive are found once and serve all of them."""
    derivation = Derivation(primitive, Inquiry())
    for name, program in variants(primitive):
        yield judged(f"{primitive.name}, {name}", partial(FirstOrder, derivation=derivation), primitive, program)


def refuted_variants(primitive: Primitive, enough: int = ENOUGH) -> list[Judgment]:
    """
    The first `enough` judgments on variants that are refuted, each with its executed counterexample.

    Variants equal to the rule over the reals are proved and passed over; so are those that make no sense (a choice by a real).
    Fewer come back where there are no more.
    """
    found: list[Judgment] = []
    for judgment in judged_variants(primitive):
        if len(found) == enough:
            break
        if isinstance(judgment.verdict, Refuted):
            found.append(judgment)
    return found
