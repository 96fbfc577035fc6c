"""
Rows of structure, of sensitivities and of memory, and rows through which nothing flows: their backpropagators, to second order.

    first order     (x…, d) -> (p(x…), rule(x…, p(x…), d))              the rule is the adjoint of the derivative of p
    second order    (x…, d, u) -> (c, J's pullback of c, at u)          for c = rule(x…, p(x…), d)

Both are judged entry by entry (`proofs.part_by_part`) at the arguments of `proofs.structure_examples`, the sensitivity in every
representation that it has: ZERO, written out, sparse. These rows move what they are given and do not look inside, so a real that
is a symbol speaks for any element; lengths and places are all those up to the bound. A row whose result has no reals lets nothing
flow, and its rule must say so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from checkers.smt.inquiry import Judgment
from checkers.smt.paths import explore
from checkers.smt.real import reading
from checkers.verdict import OutOfScope
from proofs.arrays.bounded import together
from proofs.arrays.replay import applied
from proofs.kinds import STRUCTURE, constant, kind_of
from proofs.obligation import Obligation
from proofs.part_by_part import Arguments, Instance
from proofs.part_by_part import judge as judge_instances
from proofs.parts import parts, sensitivities, written_out
from proofs.structure_examples import EXAMPLES, LONGEST, MEMORY, NO_VALUE
from semantics.edit import Edit, empty
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS, TABLE
from semantics.tangents import ZERO, Sparse
from semantics.text import read
from transforms.backpropagators import backpropagator
from transforms.backpropagators.einsums import einsum_pullback
from transforms.backpropagators.structure import record_pullback, tuple_pullback
from transforms.clone import link
from transforms.nested_grad import expand

EVERYWHERE, BOUNDED = "everywhere in its domain", f"at lengths up to {LONGEST}"
OF_ANY_ARITY: dict[str, Callable[[int], str]] = {
    "make_tuple": tuple_pullback,
    "make_record": record_pullback,
    "einsum": einsum_pullback,
}
"""Rows that take any number of arguments: the text of the rule, for each number."""


def rule_of(row: Primitive, arity: int) -> Program:
    """The shipped backpropagator of a row; of a row that takes any number of arguments, that for so many."""
    text = OF_ANY_ARITY.get(row.name)
    return read(text(arity)) if text else backpropagator(row)


# first order


def first_order(row: Primitive, examples: Iterable[Arguments], rule: Program | None = None) -> Iterator[Instance]:
    """The row beside its rule at every one of the arguments, with every sensitivity of its value."""
    for arguments in examples:
        program = together(row, rule or rule_of(row, len(arguments)), len(arguments))
        values = [p.value for p in explore(applied(row, len(arguments)), arguments, reading) if p.trap is None]
        for d in sensitivities(values[0], MEMORY) if values else []:
            yield Instance(program, arguments, d)


def judge(row: Primitive, examples: Iterable[Arguments], rule: Program | None = None) -> Judgment:
    """Whether a rule, the shipped one if none is given, is the adjoint at these arguments."""
    scope = EVERYWHERE if constant(row) else BOUNDED
    return judge_instances(f"backpropagator of {row.name}, by structure", first_order(row, examples, rule), scope)


def judge_row(row: Primitive) -> Judgment:
    """The shipped rule of a row; out of scope where there is nothing to differentiate."""
    name = f"backpropagator of {row.name}, by structure"
    if row in MACROS:
        return Judgment(name, "none", OutOfScope("a macro: it is expanded before anything is differentiated", name))
    if row.name in NO_VALUE:
        return Judgment(name, "none", OutOfScope(NO_VALUE[row.name], name))
    return judge(row, EXAMPLES[row.name])


def obligations(rows: Iterable[Primitive]) -> list[Obligation]:
    """One obligation per row of structure, per row through which nothing flows, and per macro."""
    asked = [p for p in rows if p.name in EXAMPLES or p.name in NO_VALUE or p in MACROS]
    return [Obligation(f"backpropagator of {p.name}, by structure", p.name, partial(judge_row, p)) for p in asked]


# second order


def pullback_of_cotangents(row: Primitive, rule: Program, arity: int) -> Program:
    """(x…, d, u) -> (c, the pullback of c at u), where c = rule(x…, p(x…), d) is a tuple and u a sensitivity of it."""
    edit = Edit(empty())
    edit.arrays = True
    cotangents = edit.graph("cotangents")
    xs = [edit.parameter(cotangents, f"x{k}") for k in range(arity)]
    d = edit.parameter(cotangents, "d")
    out = edit.call(cotangents, row, *xs)
    edit.output(cotangents, edit.apply(cotangents, edit.reference(link(edit, rule)), *xs, out, d))
    entry = edit.graph("second")
    at = [edit.parameter(entry, f"y{k}") for k in range(arity + 1)]
    u = edit.parameter(entry, "u")
    pair = edit.call(entry, TABLE["vjp"], edit.reference(cotangents), *at)
    value, pullback = (edit.call(entry, TABLE["getitem"], pair, edit.constant(k)) for k in (0, 1))
    edit.output(entry, edit.call(entry, TABLE["make_tuple"], value, edit.apply(entry, pullback, u)))
    edit.set_entry(entry)
    return expand(edit.program)


def second_order(row: Primitive, examples: Iterable[Arguments], rule: Program | None = None) -> Iterator[Instance]:
    """J's pullback of the cotangents, at the arguments that are written out: those are what a program is differentiated at."""
    for first in first_order(row, filter(plain, examples), rule):
        if first.w is ZERO or isinstance(first.w, Sparse):
            continue
        _, cotangents = explore(first.program, [*first.arguments, first.w], reading)[0].value
        names = (f"u{k}" for k in itertools.count())
        u = tuple(ZERO if c is ZERO else written_out(c, names, MEMORY) for c in cotangents)
        arity = len(first.arguments)
        program = pullback_of_cotangents(row, rule or rule_of(row, arity), arity)
        yield Instance(program, (*first.arguments, first.w), u)


def plain(value: Any) -> bool:
    """Whether nothing in a value is ZERO or sparse."""
    if value is ZERO or isinstance(value, Sparse):
        return False
    return all(map(plain, (parts(value) or {}).values()))


def judge_second(row: Primitive, rule: Program | None = None) -> Judgment:
    """Whether J differentiates a rule, the shipped one if none is given, as the derivatives of its cotangents say."""
    name = f"second order of {row.name}, by structure"
    return judge_instances(name, second_order(row, EXAMPLES[row.name], rule), BOUNDED)


def second_obligations(rows: Iterable[Primitive]) -> list[Obligation]:
    """One obligation per row of structure that has a derivative."""
    asked = [p for p in rows if p.name in EXAMPLES and kind_of(p) == STRUCTURE]
    return [Obligation(f"second order of {p.name}, by structure", p.name, partial(judge_second, p)) for p in asked]
