"""
Equality of array programs for all shapes: both sides as sums of products with bound indices, brought to a normal form.

    (x @ y)[i, j]   =   Σb x[i, b] y[b, j]          sum(c * x)   =   Σb c x[b]          eye(n)[i, j]   =   δ(i, j)

Sizes are symbols. Two forms that are equal as data are equal for every value of the sizes and the entries, by these lemmas, each
an induction over the size or an identity of reals:

    linearity     Σb (s + t) = Σb s + Σb t,   Σb c t = c Σb t where b is not in c        exchange    Σa Σb t = Σb Σa t
    constant      Σb t = n t where b < n is not in t                                    delta       Σb δ(b, j) t(b) = t(j)
    one           an axis of size 1 has index 0 alone                                   exp         exp s exp t = exp (s + t)
    view          reshape(reshape(x, s), t) = reshape(x, t)                             names       a bound index may be renamed
    one point     Σb<n [b = e] t(b) = [0 ≤ e < n] t(e) where b is not in e               common      Σb c t / Σb t = c

What is needed for a side to be defined (a divisor, a logarithm) is noted with the shape over which it is needed; the right side
must need nothing that the left does not. Anything outside is not reached, and nothing is said of it: forms that differ prove
nothing. Kinds that no size changes (an array without axes or a number) are left to runs.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from checkers.smt.index_factors import Factor, Form, Monomial, NotReachedError, connected, equal_index, height, occurs, tidied
from checkers.smt.index_places import Condition, Dim, Extent, Index, Place, condition, substituted

MOST_BOUND = 5
MOST_TERMS = 200


def constant(value: Any) -> Form:
    """A rational number."""
    return total([(Monomial((), ()), Fraction(value))])


def single(factor: Factor) -> Form:
    """One factor."""
    return total([(Monomial((), (factor,)), Fraction(1))])


def size(dim: Dim) -> Form:
    """A size as a number."""
    if isinstance(dim, Place):
        products = [(tuple(Factor("size", a.name) for a in atoms if isinstance(a, Extent)), c) for atoms, c in dim.terms]
        return total([(Monomial((), factors), Fraction(c)) for factors, c in products])
    return constant(dim) if isinstance(dim, int) else single(Factor("size", dim))


def holds(kind: str, term: Index) -> Form:
    """1 where the term is 0 ("eq"), or not negative ("ge"); else 0."""
    found = condition(kind, term)
    return constant(int(found)) if isinstance(found, bool) else single(Factor("holds", "", (found,)))


def truth(name: str, *arguments: Form) -> Form:
    """1 where a relation of forms holds; else 0."""
    return single(Factor("truth", name, arguments))


def total(terms: Sequence[tuple[Monomial, Fraction]]) -> Form:
    """The normal form of a sum: every monomial in its own, equal ones added up, zeros left out, in order."""
    found: dict[Monomial, Fraction] = {}
    for monomial, coefficient in terms:
        scale, normal = _normal(monomial)
        found[normal] = found.get(normal, Fraction(0)) + coefficient * scale
    kept = [(m, c) for m, c in found.items() if c]
    if len(kept) > MOST_TERMS:
        raise NotReachedError(f"a sum of more than {MOST_TERMS} products")
    return Form(tuple(sorted(kept, key=repr)))


def add(*forms: Form) -> Form:
    """The sum."""
    return total([t for f in forms for t in f.terms])


def scaled(form: Form, by: Fraction | int) -> Form:
    """A rational multiple."""
    return Form(tuple((m, c * by) for m, c in form.terms)) if by else Form(())


def multiply(a: Form, b: Form) -> Form:
    """The product; the bound indices of the two sides are renamed apart."""
    terms = []
    for (m, c), (n, d) in itertools.product(a.terms, b.terms):
        apart: dict[Index, Index] = {i: f"{i}'{len(m.bound)}'{k}" for k, (i, _) in enumerate(n.bound)}
        other = _renamed(n, apart)
        terms.append((Monomial((*m.bound, *other.bound), (*m.factors, *other.factors)), c * d))
    return total(terms)


def summed(form: Form, index: str, dim: Dim) -> Form:
    """Σ over index < dim."""
    return total([(Monomial((*m.bound, (index, dim)), m.factors), c) for m, c in form.terms])


def inverse(form: Form) -> Form:
    """1/form: of a single product factor by factor, else a factor of its own. That the form is not 0 is for others to note."""
    if len(form.terms) == 1:
        (monomial, coefficient) = form.terms[0]
        outside = [f for f in monomial.factors if not any(occurs(i, f) for i, _ in monomial.bound)]
        factors = [_inverted(f) for f in outside]
        if monomial.bound:
            inside = [f for f in monomial.factors if f not in outside]
            factors.append(Factor("inverse", "", (total([(Monomial(monomial.bound, tuple(inside)), Fraction(1))]),)))
        return total([(Monomial((), tuple(factors)), 1 / coefficient)])
    if not form.terms:
        raise NotReachedError("a division by zero")
    return single(Factor("inverse", "", (form,)))


def _inverted(factor: Factor) -> Factor:
    if (factor.kind, factor.name) == ("call", "exp"):
        return Factor("call", "exp", (scaled(factor.parts[0], -1),))
    if factor.kind == "inverse" and isinstance(factor.parts[0], Factor):
        return factor.parts[0]
    return Factor("inverse", "", (factor,))


def call(name: str, *arguments: Form) -> Form:
    """A function of forms, by its name; exp and log undo each other, and what commutes is ordered."""
    if name == "exp":
        return _exponential(arguments[0])
    if name == "log" and (inside := _argument(arguments[0], "exp")) is not None:
        return inside
    if name in COMMUTATIVE:
        arguments = tuple(sorted(arguments, key=str))
    return single(Factor("call", name, arguments))


COMMUTATIVE = frozenset({"max", "min", "maximum", "minimum", "hypot", "logaddexp", "eq", "ne", "and_", "or_"})


def _exponential(exponent: Form) -> Form:
    """exp (Σ k log s + t) = Π s^k exp t, for small integers k."""
    result, rest = constant(1), []
    for monomial, k in exponent.terms:
        inside = _argument(Form(((monomial, Fraction(1)),)), "log")
        if inside is None or k.denominator != 1 or abs(k) > MOST_BOUND:
            rest.append((monomial, k))
            continue
        for _ in range(abs(k.numerator)):
            result = multiply(result, inside if k > 0 else inverse(inside))
    return multiply(result, single(Factor("call", "exp", (Form(tuple(rest)),)))) if rest else result


def _argument(form: Form, name: str) -> Form | None:
    """s, if the form is name(s) and nothing else."""
    if len(form.terms) != 1:
        return None
    (monomial, coefficient) = form.terms[0]
    if coefficient != 1 or monomial.bound or len(monomial.factors) != 1:
        return None
    factor = monomial.factors[0]
    return factor.parts[0] if (factor.kind, factor.name) == ("call", name) else None


def rename(form: Form, names: dict[Index, Index]) -> Form:
    """The form with free indices renamed. Recursion is bounded: forms nest as deeply as a rule is long."""
    return total([(_renamed(m, names), c) for m, c in form.terms])


def _renamed(monomial: Monomial, names: dict[Index, Index]) -> Monomial:
    bound = tuple((names.get(i, i), n) for i, n in monomial.bound)
    return Monomial(bound, tuple(_renamed_factor(f, names) for f in monomial.factors))


def _renamed_factor(factor: Factor, names: dict[Index, Index]) -> Factor:
    parts = tuple(_renamed_part(p, names) for p in factor.parts)
    if factor.kind == "delta" or (factor.kind == "call" and factor.name in COMMUTATIVE):
        parts = tuple(sorted(parts, key=str))
    return Factor(factor.kind, factor.name, parts)


def _renamed_part(part: Any, names: dict[Index, Index]) -> Any:
    if isinstance(part, Factor):
        return _renamed_factor(part, names)
    if isinstance(part, Condition):
        return condition(part.kind, substituted(part.place, names))
    return rename(part, names) if isinstance(part, Form) else substituted(part, names)


def _normal(monomial: Monomial) -> tuple[Fraction, Monomial]:
    """The monomial with deltas and idle indices gone, inverses cancelled, exponentials joined and bound indices named by rank."""
    scale = Fraction(1)
    bound, factors = list(monomial.bound), list(monomial.factors)
    changed = True
    while changed:
        changed = False
        for place, (index, dim) in enumerate(bound):
            found = equal_index(factors, index, dim)
            if found is not None:
                other, guards = found
                factors = [*(_renamed_factor(f, {index: other}) for f in factors), *guards]
            elif not isinstance(dim, Place) and not any(occurs(index, f) for f in factors):
                factors += [] if isinstance(dim, int) else [Factor("size", dim)]
                scale *= dim if isinstance(dim, int) else 1
            else:
                continue
            del bound[place]
            changed = True
            break
    left = _joined(tidied(factors, bound), bound)
    if any(dim == 0 for _, dim in bound) or Factor("holds", "", (False,)) in left:
        return Fraction(0), Monomial((), ())
    return scale, _named(*_cancelled(bound, left))


def _joined(factors: Sequence[Factor], bound: Sequence[tuple[Index, Dim]]) -> list[Factor]:
    """
    exp s exp t as exp(s + t), and f · 1/f as 1: that f is not 0 has been noted where it was a divisor.

    Of an exponent, what speaks of other bound indices stands in an exponential of its own, which a sum can leave outside.
    """
    exponents = [f.parts[0] for f in factors if (f.kind, f.name) == ("call", "exp")]
    if exponents:
        factors = [f for f in factors if (f.kind, f.name) != ("call", "exp")]
        apart: dict[frozenset[Index], list[tuple[Monomial, Fraction]]] = {}
        for m, c in (add(*exponents) if len(exponents) > 1 else exponents[0]).terms:
            apart.setdefault(frozenset(i for i, _ in bound if any(occurs(i, f) for f in m.factors)), []).append((m, c))
        factors += [Factor("call", "exp", (Form(tuple(terms)),)) for terms in apart.values()]
    counts = Counter(factors)
    for factor in list(counts):
        if factor.kind == "inverse" and (both := min(counts[factor], counts[factor.parts[0]])):
            counts[factor] -= both
            counts[factor.parts[0]] -= both
    return list(counts.elements())


def _cancelled(bound: Sequence[tuple[Index, Dim]], factors: Sequence[Factor]) -> tuple[tuple[Any, ...], tuple[Factor, ...]]:
    """Σb t · 1/Σb t as 1, where t is all that speaks of the bound indices b, and nothing else does of one of them."""
    factors = list(factors)
    for divisor in [f for f in factors if f.kind == "inverse" and isinstance(f.parts[0], Form)]:
        terms = divisor.parts[0].terms
        if len(terms) != 1 or not terms[0][0].bound or terms[0][1] != 1:
            continue
        for index, _ in bound:
            part, own = connected(index, bound, factors)
            if divisor not in own and len(own) < len(factors):
                normal = Form(((_named(part, tuple(own)), Fraction(1)),))
                if normal == divisor.parts[0]:
                    bound = [b for b in bound if b not in part]
                    factors = [f for f in factors if f not in own]
                    factors.remove(divisor)
                    break
    return tuple(bound), tuple(factors)


def _named(bound: tuple[tuple[Index, Dim], ...], factors: tuple[Factor, ...]) -> Monomial:
    """The least of the monomials that the orders of the bound indices make."""
    if not bound:
        return Monomial((), tuple(sorted(factors, key=repr)))
    if len(bound) > MOST_BOUND:
        raise NotReachedError(f"a sum over more than {MOST_BOUND} indices")
    level = max((height(f) for f in factors), default=0)
    candidates = []
    for order in itertools.permutations(bound):
        names: dict[Index, Index] = {i: f"b{level}.{k}" for k, (i, _) in enumerate(order)}
        renamed = sorted((_renamed_factor(f, names) for f in factors), key=repr)
        candidates.append(Monomial(tuple((names[i], n) for i, n in order), tuple(renamed)))
    return min(candidates, key=repr)
