"""
Differential algebra of terms: the derivative of a real term by a variable, without any backpropagator.

The rules are the sum, product, quotient and chain rules, and one derivative per named function. `DERIVATIVES` is that table;
every entry is an obligation of `proofs.lemmas`, derived there from the trusted axioms. An `if` is differentiated branch by branch
and an integer part is locally constant: both hold away from the boundary of the condition and from jumps, so whoever uses the
result adds that hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import z3

from checkers.smt.purify import evaluated
from checkers.smt.terms import PI, real, uninterpreted

Term: TypeAlias = z3.ArithRef


def one_over(x: Term) -> Term:
    """1 / x"""
    return real(1) / x


# name -> the partial derivatives, as functions of the arguments
DERIVATIVES: dict[str, Callable[..., Sequence[Term]]] = {
    "u_exp": lambda x: (uninterpreted("u_exp", x),),
    "u_log": lambda x: (one_over(x),),
    "u_sin": lambda x: (uninterpreted("u_cos", x),),
    "u_cos": lambda x: (-uninterpreted("u_sin", x),),
    "u_sqrt": lambda x: (one_over(2 * uninterpreted("u_sqrt", x)),),
    "u_cbrt": lambda x: (one_over(3 * uninterpreted("u_cbrt", x) * uninterpreted("u_cbrt", x)),),
    "u_asin": lambda x: (one_over(uninterpreted("u_sqrt", 1 - x * x)),),
    "u_acos": lambda x: (-one_over(uninterpreted("u_sqrt", 1 - x * x)),),
    "u_atan": lambda x: (one_over(1 + x * x),),
    "u_atan2": lambda y, x: (x / (x * x + y * y), -(y / (x * x + y * y))),
    "u_erf": lambda x: (2 / uninterpreted("u_sqrt", z3.Real(PI)) * uninterpreted("u_exp", -(x * x)),),
}


class NotDifferentiable(Exception):
    """A term with no derivative by these rules."""


Partials: TypeAlias = Mapping[str, Callable[..., Sequence[Term]]]


def derivative(root: Term, variable: Term, known_functions: Partials = DERIVATIVES) -> Term:
    """d root / d variable. An explicit stack; shared subterms are differentiated once."""
    known: dict[int, Term] = {}
    todo: list[tuple[z3.ExprRef, bool]] = [(root, False)]
    while todo:
        term, ready = todo.pop()
        if term.get_id() in known:
            continue
        parts = [c for c in term.children() if z3.is_arith(c)]
        if not ready:
            todo.append((term, True))
            todo.extend((c, False) for c in parts)
            continue
        known[term.get_id()] = real(1) if term.eq(variable) else _of(term, [known[c.get_id()] for c in parts], known_functions)
    return known[root.get_id()]


def _of(term: z3.ExprRef, d: list[Term], functions: Partials) -> Term:
    """The derivative of one node, given those of its numeric children. Zero derivatives are left out of sums and products."""
    a, kind = term.children(), term.decl().kind()
    if not d or all(_zero(x) for x in d) or kind == z3.Z3_OP_TO_INT:
        return real(0)
    if kind in (z3.Z3_OP_ADD, z3.Z3_OP_SUB):
        signs = [1, *[1 if kind == z3.Z3_OP_ADD else -1] * (len(d) - 1)]
        return _sum([x if s > 0 else -x for x, s in zip(d, signs, strict=True) if not _zero(x)])
    if kind == z3.Z3_OP_UMINUS:
        return -d[0]
    if kind == z3.Z3_OP_MUL:
        return _sum([_product([d[i], *a[:i], *a[i + 1 :]]) for i in range(len(a)) if not _zero(d[i])])
    if kind == z3.Z3_OP_DIV:
        return d[0] / a[1] if _zero(d[1]) else (d[0] * a[1] - a[0] * d[1]) / (a[1] * a[1])
    if kind == z3.Z3_OP_ITE:
        return z3.If(a[0], d[0], d[1])
    if kind == z3.Z3_OP_TO_REAL:
        return d[0]
    if kind == z3.Z3_OP_UNINTERPRETED and term.decl().name() in functions:
        partial = functions[term.decl().name()](*a)
        return _sum([p * x for p, x in zip(partial, d, strict=True) if not _zero(x)])
    raise NotDifferentiable(f"{term.decl().name()} has no derivative here")


def boundaries(root: Term) -> list[z3.BoolRef]:
    """Where `derivative` may be wrong, negated: no comparison that an `if` decides is on its edge, no integer part at a jump."""
    found: list[z3.BoolRef] = []
    seen: set[int] = set()
    todo: list[z3.ExprRef] = [root]
    while todo:
        term = todo.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        kind, a = term.decl().kind(), term.children()
        if kind in (z3.Z3_OP_LT, z3.Z3_OP_LE, z3.Z3_OP_GT, z3.Z3_OP_GE, z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT) and z3.is_arith(a[0]):
            found.append(a[0] != a[1])
        elif kind == z3.Z3_OP_TO_INT:
            found.append(z3.ToReal(term) != a[0])
        todo.extend(a)
    return found


def divisors(root: Term) -> list[Term]:
    """What the term divides by, outside the branches of an `if` and innermost last."""
    strict = evaluated([root])
    found: dict[int, Term] = {}
    seen: set[int] = set()
    todo: list[z3.ExprRef] = [root]
    while todo:
        term = todo.pop()
        if term.get_id() in strict and term.get_id() not in seen:
            seen.add(term.get_id())
            if z3.is_app_of(term, z3.Z3_OP_DIV) and not z3.is_rational_value(term.arg(1)):
                found[term.arg(1).get_id()] = term.arg(1)
            todo.extend(term.children())
    return list(found.values())


def _zero(term: Term) -> bool:
    return bool(z3.is_rational_value(term) and term.numerator_as_long() == 0)


def _sum(terms: list[Term]) -> Term:
    result = terms[0]
    for t in terms[1:]:
        result = result + t
    return result


def _product(terms: list[Term]) -> Term:
    result = terms[0]
    for t in terms[1:]:
        result = result * t
    return result


MOST_CUTS = 4


def pieces(term: Any) -> list[tuple[tuple[Any, ...], Any]]:
    """
    The term on each piece: the conditions of its `If`s, decided one way or the other, and what is left of it.

    At most MOST_CUTS conditions are decided, outermost first; the others stay where they are.
    """
    todo: list[tuple[tuple[Any, ...], Any, int]] = [((), term, 0)]
    done: list[tuple[tuple[Any, ...], Any]] = []
    while todo:
        where, current, cuts = todo.pop()
        condition = _first_condition(current)
        if condition is None or cuts == MOST_CUTS:
            done.append((where, current))
            continue
        for choice, fact in ((z3.BoolVal(True), condition), (z3.BoolVal(False), z3.Not(condition))):
            todo.append(((*where, fact), z3.simplify(z3.substitute(current, (condition, choice))), cuts + 1))
    return done


def _first_condition(term: Any) -> Any:
    """The condition of some `If` in the term that holds no `If` itself, or None."""
    seen: set[int] = set()
    todo = [term]
    while todo:
        current = todo.pop()
        if current.get_id() in seen:
            continue
        seen.add(current.get_id())
        if z3.is_app(current) and current.decl().kind() == z3.Z3_OP_ITE and _first_condition(current.arg(0)) is None:
            return current.arg(0)
        todo.extend(current.children())
    return None
