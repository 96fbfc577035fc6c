"""
Two terms of a thousand nodes are equal: proved from the leaves up, one pair of nodes at a time.

Both are one graph, since equal subterms are one node. The nodes are gone through in order, children first. A node whose signature
modulo a prime is that of an earlier one is a *candidate*; if the two are proved equal they are one class from there on, and every
later proof is about classes. So each proof is small, however large the terms are.

A proof takes the difference of the two nodes as a polynomial in classes, and replaces the latest class by its definition, a
polynomial in earlier ones, until nothing is left (equal) or the budget is spent (not shown). Known of functions, as in
`proofs.normal_form`: sqrt(a)² = a, cbrt(a)³ = a, sin² = 1 - cos², exp(a)·exp(b) = exp(a + b) where the sum is a class, and
1/a · a = 1: equality is meant wherever both sides are defined. Not shown is never different.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import z3

from checkers.columns.modular import P
from checkers.smt.purify import PARITY
from checkers.smt.terms import fraction
from proofs.normal_form import ONE, Monomial, Poly, TooLarge, constant, plus, product
from proofs.validation.signatures import KNOWN, Signatures, in_order

MOST_TERMS = 120
MOST_STEPS = 24
MOST_ALIKE = 4
"""So many classes of one signature are compared with; more would be odd: functions with relations that signatures do not see."""
ROOTS = {"u_sqrt": 2, "u_cbrt": 3}


@dataclass
class Sweep:
    """The classes of all terms seen so far. `proved` counts the pairs that took a proof; nodes that are one term take none."""

    signatures: Signatures = field(default_factory=Signatures)
    classes: dict[int, int] = field(default_factory=dict)
    definitions: list[Poly | None] = field(default_factory=list)
    inverses: dict[int, Poly] = field(default_factory=dict)
    powers: dict[int, tuple[int, Poly]] = field(default_factory=dict)
    applied: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)
    alike: dict[int, list[int]] = field(default_factory=dict)
    alive: list[z3.ExprRef] = field(default_factory=list)
    proved: int = 0
    open: int = 0

    def equal(self, left: z3.ExprRef, right: z3.ExprRef) -> bool:
        """Whether two terms are shown equal wherever both are defined."""
        return self.class_of(left) == self.class_of(right)

    def class_of(self, term: z3.ExprRef) -> int:
        """The class of a term and, before it, of all its subterms."""
        for part in in_order(term, known=self.classes):
            self.add(part)
        return self.classes[term.get_id()]

    def add(self, term: z3.ExprRef) -> None:
        """Puts a term, whose children are in, into the class of an equal one, or into a class of its own."""
        key = term.get_id()
        if key in self.classes:
            return
        self.alive.append(term)
        signature = self.signatures[term]
        body = self.body(term)
        if body is not None and len(body) == 1 and (only := next(iter(body.items())))[1] == 1 and _is_one(only[0]):
            self.classes[key] = only[0][0][0]
            return
        known = self.alike.setdefault(signature, []) if z3.is_real(term) else []
        if body is None or not z3.is_real(term):
            self.classes[key] = found = self.new(body)
            known.append(found)
            return
        if (other := self.shown(known, body, 1)) is not None:
            self.classes[key] = other
            return
        if (other := self.shown(self.alike.get(-signature % P, []), body, -1)) is not None:
            body = {((other, 1),): Fraction(-1)}
        self.classes[key] = found = self.new(body)
        known.append(found)

    def shown(self, candidates: list[int], body: Poly, sign: int) -> int | None:
        """The candidate that is shown to be the body, or its negation."""
        for other in candidates[:MOST_ALIKE]:
            if self.vanishes(plus(body, _variable(other), Fraction(-sign))):
                self.proved += 1
                return other
            self.open += 1
        return None

    # classes

    def new(self, definition: Poly | None) -> int:
        """A further class, later than all before."""
        self.definitions.append(definition)
        return len(self.definitions) - 1

    def body(self, term: z3.ExprRef) -> Poly | None:
        """The term as a polynomial in the classes of its children; None of what is no real or has no relation to other terms."""
        value = fraction(term)
        if value is not None:
            return constant(value)
        parts = [self.classes[c.get_id()] for c in term.children()]
        match term.decl().kind():
            case z3.Z3_OP_ADD:
                return self.sum([(p, 1) for p in parts])
            case z3.Z3_OP_SUB:
                return self.sum([(p, 1 if k == 0 else -1) for k, p in enumerate(parts)])
            case z3.Z3_OP_UMINUS:
                return self.sum([(parts[0], -1)])
            case z3.Z3_OP_MUL:
                return self.product(parts)
            case z3.Z3_OP_DIV:
                return self.product([parts[0], self.inverse(parts[1])])
        return self.application(term, parts)

    def short(self, part: int) -> Poly:
        """A class as a constant or as a multiple of another one, if it is that; else itself."""
        definition = self.definitions[part]
        simple = definition is not None and len(definition) <= 1 and all(m == ONE or _is_one(m) for m in definition)
        return definition if simple and definition is not None else _variable(part)

    def sum(self, parts: list[tuple[int, int]]) -> Poly:
        total: Poly = {}
        for part, sign in parts:
            total = plus(total, self.short(part), Fraction(sign))
        return total

    def product(self, parts: list[int]) -> Poly:
        total = constant(Fraction(1))
        for part in parts:
            total = times(total, self.short(part))
        return total

    def inverse(self, part: int) -> int:
        """The class of 1 / part; of an inverse, the class that it is the inverse of."""
        short = self.short(part)
        if (only := next(iter(short), ONE)) and _is_one(only) and short[only] == 1:
            part = only[0][0]
            whole = self.inverses.get(part, {})
            if (inverted := next(iter(whole), ONE)) and _is_one(inverted):
                return inverted[0][0]
        if ("/", (part,)) not in self.applied:
            self.applied["/", (part,)] = found = self.new(None)
            self.inverses[found] = _variable(part)
        return self.applied["/", (part,)]

    def application(self, term: z3.ExprRef, parts: list[int]) -> Poly | None:
        """A function of classes: one class for the same function of the same classes."""
        name = str(term.decl().name())
        if not parts or term.decl().params():
            return None
        at = self.short(parts[0])
        if set(at) <= {ONE} and (name, at.get(ONE, 0)) in KNOWN:
            return constant(Fraction(KNOWN[name, int(at.get(ONE, 0))]))
        sign = 1
        if name in PARITY and (negated := self.negation(parts[0])) is not None:
            parts, sign = [negated], PARITY[name]
        key = (f"{name}:{term.decl().kind()}", tuple(parts))
        if key not in self.applied:
            relation = self.relation(name, key)
            self.applied[key] = self.new(None)
            if relation is not None:
                self.powers[self.applied[key]] = relation
        return {((self.applied[key], 1),): Fraction(sign)}

    def relation(self, name: str, key: tuple[str, tuple[int, ...]]) -> tuple[int, Poly] | None:
        """What a power of a function is, in earlier classes."""
        if name in ROOTS:
            return ROOTS[name], _variable(key[1][0])
        if name != "u_sin":
            return None
        of_cosine = (key[0].replace("sin", "cos"), key[1])
        if of_cosine not in self.applied:
            self.applied[of_cosine] = self.new(None)
        return 2, plus(constant(Fraction(1)), {((self.applied[of_cosine], 2),): Fraction(1)}, Fraction(-1))

    def negation(self, part: int) -> int | None:
        """The class whose negation this one is by definition."""
        body = self.definitions[part]
        if body is None or len(body) != 1:
            return None
        monomial, c = next(iter(body.items()))
        return monomial[0][0] if c == -1 and _is_one(monomial) else None

    # proofs

    def vanishes(self, difference: Poly) -> bool:
        """Whether a polynomial in classes is shown to be 0 wherever all is defined."""
        try:
            for _ in range(MOST_STEPS):
                if not difference:
                    return True
                latest = max((a for m in difference for a, _ in m), default=None)
                if latest is None:
                    return False
                difference = self.without(difference, latest)
        except TooLarge:
            pass
        return False

    def without(self, poly: Poly, variable: int) -> Poly:
        """
        The polynomial with a class eliminated: by its definition, by what is known of its powers, or as an arbitrary real, of
        which all coefficients must vanish.
        """
        coefficients = by_power(poly, variable)
        definition = self.definitions[variable]
        if definition is not None:
            return evaluated(coefficients, definition)
        if variable in self.inverses:
            top = max(coefficients)
            reversed_ = {top - n: c for n, c in coefficients.items()}
            return evaluated(reversed_, self.inverses[variable])
        if variable in self.powers:
            power, value = self.powers[variable]
            reduced: dict[int, Poly] = {}
            for n, c in coefficients.items():
                raised = times(c, raised_to(value, n // power))
                reduced[n % power] = plus(reduced.get(n % power, {}), raised)
            coefficients = reduced
        left = [c for c in coefficients.values() if c]
        if len(left) > 1 and not all(self.vanishes(c) for c in left[1:]):
            raise TooLarge
        return left[0] if left else {}


# polynomials in classes


def _variable(index: int) -> Poly:
    return {((index, 1),): Fraction(1)}


def _is_one(monomial: Monomial) -> bool:
    """Whether a monomial is one class, to the power of 1."""
    return len(monomial) == 1 and monomial[0][1] == 1


def times(a: Poly, b: Poly) -> Poly:
    """a * b; TooLarge beyond the budget."""
    if len(a) * len(b) > MOST_TERMS * 8:
        raise TooLarge
    found = product(a, b)
    if len(found) > MOST_TERMS:
        raise TooLarge
    return found


def raised_to(base: Poly, n: int) -> Poly:
    """base ** n"""
    result = constant(Fraction(1))
    for _ in range(n):
        result = times(result, base)
    return result


def by_power(poly: Poly, variable: int) -> dict[int, Poly]:
    """The coefficients of the powers of a variable."""
    found: dict[int, Poly] = {}
    for monomial, c in poly.items():
        n = dict(monomial).get(variable, 0)
        rest = tuple((a, k) for a, k in monomial if a != variable)
        found.setdefault(n, {})[rest] = c
    return found


def evaluated(coefficients: dict[int, Poly], value: Poly) -> Poly:
    """Σ cₙ · valueⁿ"""
    total: Poly = {}
    for n, c in coefficients.items():
        total = plus(total, times(c, raised_to(value, n)))
    return total
