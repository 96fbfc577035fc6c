"""
Rows whose meaning index forms have no words for (determinants, running products, repeated writes): all shapes up to a stated bound.

The row and the shipped backpropagator are run on arrays of terms, one for every entry, on all paths that comparisons open.
There the cotangent of each entry must be Σ w · ∂f, where the derivative of the row's own value is taken by differential algebra.
This is a proof for these shapes and all their entries, off the boundaries of the comparisons and inside the domain.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import explore
from checkers.smt.real import reading
from checkers.smt.terms import real
from checkers.verdict import Proved, Unknown, Vacuous
from proofs.arrays.adjoints import rule_of
from proofs.arrays.instances import A, Example, Number, concrete, names_of_sizes
from proofs.arrays.kinds import axes
from proofs.arrays.replay import applied, flattened, parts
from proofs.calculus import NotDifferentiable, derivative
from proofs.normal_form import TooLarge
from proofs.obligation import identity
from semantics.arrays import Array
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms.clone import link

ROWS: tuple[tuple[Any, ...], ...] = (("n",), ("n", "m"))
VECTOR, MATRIX = A(("n",)), A(("n", "n"))


def _integers(*items: int) -> Array:
    return Array("i64", (len(items),), items)


EXAMPLES: dict[str, list[Example]] = {
    "reduce_prod": [(A(s), axis, keep) for s in ROWS for axis in axes(len(s)) for keep in (False, True)] + [(A((4,)), None, False)],
    "cumprod": [*((A(s), axis) for s in ROWS for axis in (*range(len(s)), None)), (A((4,)), 0)],
    "recurrence": [(A(s), A(s), axis, back) for s in ROWS for axis in range(len(s)) for back in (False, True)],
    "gathered": [(A(("n", 3)), _integers(3, 1, 0, 1), A(("n", 3)))],
    "returned": [(A((4,)), _integers(2, 2, 0, 1), A((3,))), (A((2,)), _integers(2, 1), A((2,)))],
    "keep": [(A((3,)), Array("bool", (3,), (True, False, True)))],
    "put": [(A((3,)), _integers(1, 1, 0), A((3,))), (A((3,)), _integers(2, 0), A((2,))), (A((2, 2)), _integers(1, 1), A((2, 2)))],
    "linspace": [(Number(), Number(), count) for count in (1, 2, 3, 4)],
    "solve": [(MATRIX, VECTOR), (MATRIX, A(("n", 1)))],
    "inv": [(MATRIX,)],
    "det": [(MATRIX,)],
    "slogdet": [(MATRIX,)],
    "cholesky": [(MATRIX,)],
}
MOST = 2
"""The largest size of an axis with a name."""
Claims = Callable[[Primitive, Program, Sequence[Any]], Iterator[tuple[Any, Any, list[Any]]]]
BEYOND: dict[str, str] = {
    "gathered": "places that are data are no indices of a form",
    "returned": "places that are data are no indices of a form",
    "keep": "a mask that is data is no condition of a form",
    "put": "where a place is named twice the last value stays, which is no sum",
    "linspace": "its entries have their place as a factor",
    "det": "a determinant is a sum over permutations",
    "slogdet": "a determinant is a sum over permutations",
}
"""Rows of which nothing is proved, or less, beyond the bound, and why."""
LEAST: dict[str, int] = dict.fromkeys(("solve", "inv", "det", "slogdet", "cholesky"), 1)


def together(row: Primitive, rule: Program, arity: int) -> Program:
    """(x…, w) -> (p(x…), rule(x…, p(x…), w))"""
    edit = Edit(rule)
    edit.arrays = True
    graph = edit.graph("both")
    arguments = [edit.parameter(graph, f"x{k}") for k in range(arity)]
    w = edit.parameter(graph, "w")
    out = edit.call(graph, row, *arguments)
    back = edit.apply(graph, edit.reference(link(edit, rule)), *arguments, out, w)
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], out, back))
    edit.set_entry(graph)
    return edit.program


def sizes_of(row: str, example: Example) -> Iterator[dict[str, int]]:
    """The sizes up to the bound."""
    names = sorted(names_of_sizes(example))
    for values in itertools.product(range(LEAST.get(row, 0), MOST + 1), repeat=len(names)):
        yield dict(zip(names, values, strict=True))


def claims(row: Primitive, rule: Program, arguments: Sequence[Any]) -> Iterator[tuple[Any, Any, list[Any]]]:
    """The cotangent of each entry and what it must be, with the conditions of the path."""
    alone = applied(row, len(arguments))
    defined = [path.value for path in explore(alone, arguments, reading) if path.trap is None]
    if not defined:
        return
    w = _filled(defined[0], itertools.count())
    entries = [x for a in arguments for x in terms(a)]
    for path in explore(together(row, rule, len(arguments)), [*arguments, w], reading):
        if path.trap is not None:
            if any(inside.trap is None for inside in explore(alone, arguments, reading, path.all)):
                raise path.trap  # the rule has no value where the row has one
            continue
        out, back = path.value
        seeds = list(flattened(w, w))
        moved = list(flattened(out, out))
        found = [x for d, a in zip(back, arguments, strict=True) for x in parts(d, a, terms)]
        for x, cotangent in zip(entries, found, strict=True):
            wanted: Any = real(0)
            for seed, value in zip(seeds, moved, strict=True):
                if z3.is_expr(value):
                    wanted = wanted + seed * derivative(value, x)
            yield (real(0) if isinstance(cotangent, int) else cotangent), wanted, path.all


def terms(value: Any) -> list[Any]:
    """The entries of an argument that are terms."""
    if isinstance(value, tuple):
        return [x for part in value for x in terms(part)]
    if isinstance(value, Array):
        return list(value.items) if value.dtype == "f64" else []
    return [value] if z3.is_expr(value) else []


def _filled(value: Any, count: Iterator[int]) -> Any:
    """A cotangent of a value: a variable for every entry."""
    if isinstance(value, tuple):
        return tuple(_filled(v, count) for v in value)
    if isinstance(value, Array):
        return value.with_items(z3.Real(f"w{next(count)}") for _ in value.items)
    return z3.Real(f"w{next(count)}")


def judge(row: Primitive, examples: Sequence[Example], rule: Program | None = None) -> Judgment:
    """The adjoint identity at every shape up to the bound."""
    scope = f"; at sizes up to {MOST}: {BEYOND[row.name]}" if row.name in BEYOND else f", all sizes up to {MOST}"
    return at_every_shape(f"{row.name} on arrays: adjoint, sizes up to {MOST}", row, examples, rule, claims, scope)


def at_every_shape(
    name: str, row: Primitive, examples: Sequence[Example], rule: Program | None, claims: Claims, scope: str
) -> Judgment:
    """Whether what is claimed of a rule, the shipped one if none is given, holds at every shape up to the bound."""
    inquiry = Inquiry()
    proved = 0
    rule = rule or rule_of(row, len(examples[0]))
    for example in examples:
        for sizes in sizes_of(row.name, example):
            numbers = (z3.Real(f"x{k}") for k in itertools.count())
            try:
                for found, wanted, assumed in claims(row, rule, concrete(example, sizes, numbers)):
                    verdict, _ = identity(inquiry, found, wanted, assumed, both=False)
                    if not isinstance(verdict, Proved):
                        return inquiry.judged(name, "terms", Unknown(f"at {sizes}: {verdict}", name))
                    proved += 1
            except (AdjudgeError, NotDifferentiable, TooLarge, ValueError) as error:
                why = getattr(error, "what", str(error) or type(error).__name__)
                return inquiry.judged(name, "terms", Unknown(f"at {sizes}: {why}", name))
    if not proved:
        return inquiry.judged(name, "terms", Vacuous("no entry at any of these sizes", name))
    return inquiry.judged(name, "normal form", Proved(f"terms, {proved} entries{scope}", name))
