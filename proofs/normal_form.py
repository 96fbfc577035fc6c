"""
An exact normal form of terms over the reals: quotients of polynomials with fractional coefficients in *atoms*.

An atom is a variable, a function of normal forms, or any term that is not read (an `if`, an integer part), which stands for
itself. Built in, so that they need no proof search:

    exp(Σ n·m) = Π exp(m)^n     exp(log a) = a     log(exp a) = a     sqrt(a)² = a     cbrt(a)³ = a     sin² = 1 - cos²

`equal(a, b)` is True only if a and b are equal wherever both are defined. False means *not shown*: nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import z3

from checkers.smt.purify import MOST_POWER, PARITY
from checkers.smt.terms import fraction

Monomial = tuple[tuple[int, int], ...]
Poly = dict[Monomial, Fraction]
ONE: Monomial = ()
MOST_TERMS = 4000


class TooLarge(Exception):
    """A polynomial grew beyond what is worth carrying."""


@dataclass(frozen=True, eq=False)
class Quotient:
    """num / den, two polynomials; den is not the zero polynomial."""

    num: Poly
    den: Poly


def constant(c: Fraction) -> Poly:
    """The polynomial c."""
    return {ONE: c} if c else {}


def plus(a: Poly, b: Poly, scale: Fraction = Fraction(1)) -> Poly:
    """a + scale * b"""
    result = dict(a)
    for monomial, c in b.items():
        total = result.get(monomial, Fraction(0)) + scale * c
        if total:
            result[monomial] = total
        else:
            result.pop(monomial, None)
    return result


def join(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, n in b:
        powers[atom] = powers.get(atom, 0) + n
    return tuple(sorted((atom, n) for atom, n in powers.items() if n))


def product(a: Poly, b: Poly) -> Poly:
    """a * b, in integers over one denominator: a sum of fractions costs several times as much."""
    (left, over), (right, under) = whole(a), whole(b)
    result: dict[Monomial, int] = {}
    for m, c in left:
        for n, d in right:
            key = join(m, n)
            result[key] = result.get(key, 0) + c * d
    return {m: Fraction(c, over * under) for m, c in result.items() if c}


def whole(a: Poly) -> tuple[list[tuple[Monomial, int]], int]:
    """A polynomial with integers for coefficients, and the least number that divides them all to give `a`."""
    denominator = math.lcm(*(c.denominator for c in a.values()))
    return [(m, c.numerator * (denominator // c.denominator)) for m, c in a.items()], denominator


class Algebra:
    """The atoms met so far, and arithmetic modulo what is known about them. One algebra per comparison."""

    def __init__(self) -> None:
        self.atoms: dict[Any, int] = {}
        self.functions: dict[str, list[tuple[tuple[Quotient, ...], int]]] = {}
        self.reductions: dict[int, tuple[int, Poly]] = {}
        self.logs: dict[int, Quotient] = {}
        self.memo: dict[int, Quotient] = {}
        self.alive: list[z3.ExprRef] = []

    # polynomials

    def times(self, a: Poly, b: Poly) -> Poly:
        """a * b, reduced."""
        if len(a) * len(b) > MOST_TERMS * 16:
            raise TooLarge
        return self.reduce(product(a, b))

    def reduce(self, poly: Poly) -> Poly:
        """Replaces atom^k wherever a relation says what it is. Relations go from newer atoms to older ones, so this ends."""
        while True:
            hit = next(((m, a, n) for m in poly for a, n in m if a in self.reductions and n >= self.reductions[a][0]), None)
            if hit is None:
                return poly
            monomial, atom, _ = hit
            power, value = self.reductions[atom]
            rest = join(monomial, ((atom, -power),))
            c = poly[monomial]
            poly = {m: d for m, d in poly.items() if m != monomial}
            for m, d in value.items():
                poly = plus(poly, {join(rest, m): c * d})
            if len(poly) > MOST_TERMS:
                raise TooLarge

    # quotients

    def add(self, a: Quotient, b: Quotient, sign: int = 1) -> Quotient:
        if a.den == b.den:
            return Quotient(plus(a.num, b.num, Fraction(sign)), a.den)
        left, right = self.times(a.num, b.den), self.times(b.num, a.den)
        return self.tidy(plus(left, right, Fraction(sign)), self.times(a.den, b.den))

    def mul(self, a: Quotient, b: Quotient) -> Quotient:
        return self.tidy(self.times(a.num, b.num), self.times(a.den, b.den))

    def inverse(self, a: Quotient) -> Quotient:
        if not a.num:
            raise ZeroDivisionError
        return Quotient(a.den, a.num)

    def tidy(self, num: Poly, den: Poly) -> Quotient:
        """num / den with common powers of atoms cancelled and a constant denominator divided out."""
        if not den:
            raise ZeroDivisionError
        if not num:
            return Quotient({}, constant(Fraction(1)))
        common: dict[int, int] | None = None
        for monomial in (*num, *den):
            powers = dict(monomial)
            common = powers if common is None else {a: min(n, powers[a]) for a, n in common.items() if a in powers}
        divisor = tuple((a, -n) for a, n in (common or {}).items())
        lead = den[min(den)]
        num, den = ({join(m, divisor): c / lead for m, c in p.items()} for p in (num, den))
        return Quotient(num, den)

    def power(self, a: Quotient, n: int) -> Quotient:
        base, result = (a if n >= 0 else self.inverse(a)), self.number(Fraction(1))
        for _ in range(abs(n)):
            result = self.mul(result, base)
        return result

    def number(self, c: Fraction) -> Quotient:
        return Quotient(constant(c), constant(Fraction(1)))

    def same(self, a: Quotient, b: Quotient) -> bool:
        """Whether a = b follows by algebra; False if a denominator is the zero polynomial."""
        if not self.reduce(a.den) or not self.reduce(b.den):
            return False
        return not plus(self.times(a.num, b.den), self.times(b.num, a.den), Fraction(-1))

    # atoms

    def atom(self, key: Any) -> Quotient:
        index = self.atoms.setdefault(key, len(self.atoms))
        return Quotient({((index, 1),): Fraction(1)}, constant(Fraction(1)))

    def apply(self, name: str, *arguments: Quotient) -> Quotient:
        """The atom name(arguments), one for equal arguments."""
        known = self.functions.setdefault(name, [])
        for others, index in known:
            if all(self.same(a, b) for a, b in zip(arguments, others, strict=True)):
                return Quotient({((index, 1),): Fraction(1)}, constant(Fraction(1)))
        found = self.atom((name, len(known)))
        index = next(iter(found.num))[0][0]
        known.append((arguments, index))
        return found

    def function(self, name: str, *arguments: Quotient) -> Quotient:
        """name(arguments), with the relations of that function; an odd or even one gets the argument that leads with plus."""
        if name in PARITY and (num := arguments[0].num) and num[min(num)] * arguments[0].den[min(arguments[0].den)] < 0:
            negated = Quotient({m: -c for m, c in num.items()}, arguments[0].den)
            return self.mul(self.number(Fraction(PARITY[name])), self.function(name, negated))
        if name == "u_exp":
            return self.exponential(arguments[0])
        if name == "u_log" and self.same(arguments[0], self.number(Fraction(1))):
            return self.number(Fraction(0))
        if name == "u_sin":
            cosine = self.apply("u_cos", *arguments)
            result = self.apply("u_sin", *arguments)
            square = self.times(cosine.num, cosine.num)
            self.relate(result, 2, plus(constant(Fraction(1)), square, Fraction(-1)))
            return result
        result = self.apply(name, *arguments)
        root = {"u_sqrt": 2, "u_cbrt": 3}.get(name)
        inside = self.tidy(arguments[0].num, arguments[0].den)
        if root is not None and inside.den == constant(Fraction(1)):
            self.relate(result, root, inside.num)
        if name == "u_log":
            self.logs[next(iter(result.num))[0][0]] = arguments[0]
        return result

    def relate(self, atom: Quotient, power: int, value: Poly) -> None:
        """atom ** power = value, used from left to right; only if value speaks of older atoms."""
        index = next(iter(atom.num))[0][0]
        if all(a < index for m in value for a, _ in m):
            self.reductions[index] = (power, value)

    def exponential(self, argument: Quotient) -> Quotient:
        """exp of a sum as a product of powers of atoms."""
        argument = self.tidy(argument.num, argument.den)
        if not argument.num:
            return self.number(Fraction(1))
        if argument.den != constant(Fraction(1)):
            negative = argument.num[min(argument.num)] < 0
            inside = Quotient({m: -c for m, c in argument.num.items()}, argument.den) if negative else argument
            return self.power(self.apply("u_exp", inside), -1 if negative else 1)
        result = self.number(Fraction(1))
        for monomial, c in argument.num.items():
            whole = len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0] in self.logs and c.denominator == 1
            if whole and abs(c) <= MOST_POWER:
                factor, times = self.logs[monomial[0][0]], c.numerator
            else:
                times = c.numerator if abs(c.numerator) <= MOST_POWER else (1 if c > 0 else -1)
                factor = self.apply("u_exp", Quotient({monomial: c / times}, constant(Fraction(1))))
            result = self.mul(result, self.power(factor, times))
        return result

    # terms

    def of(self, root: z3.ExprRef) -> Quotient:
        """The normal form of a term. An explicit stack: terms are as deep as programs are long."""
        todo: list[tuple[z3.ExprRef, bool]] = [(root, False)]
        while todo:
            term, ready = todo.pop()
            if term.get_id() in self.memo:
                continue
            if not ready and (term.decl().kind() in READERS or _is_function(term)):
                todo.append((term, True))
                todo.extend((c, False) for c in term.children())
                continue
            self.alive.append(term)
            self.memo[term.get_id()] = self._read(term)
        return self.memo[root.get_id()]

    def _read(self, term: z3.ExprRef) -> Quotient:
        value = fraction(term)
        if value is not None:
            return self.number(value)
        kind = term.decl().kind()
        if kind in READERS:
            return READERS[kind](self, [self.memo[c.get_id()] for c in term.children()])
        if _is_function(term):
            return self.function(term.decl().name(), *(self.memo[c.get_id()] for c in term.children()))
        return self.atom(term.decl().name() if not term.children() else ("term", term.get_id()))


def _is_function(term: z3.ExprRef) -> bool:
    return term.decl().kind() == z3.Z3_OP_UNINTERPRETED and bool(term.children())


def _fold(operation: Callable[[Algebra, Quotient, Quotient], Quotient]) -> Callable[[Algebra, list[Quotient]], Quotient]:
    def fold(algebra: Algebra, arguments: list[Quotient]) -> Quotient:
        result = arguments[0]
        for a in arguments[1:]:
            result = operation(algebra, result, a)
        return result

    return fold


READERS: dict[int, Callable[[Algebra, list[Quotient]], Quotient]] = {
    z3.Z3_OP_ADD: _fold(lambda g, a, b: g.add(a, b)),
    z3.Z3_OP_SUB: _fold(lambda g, a, b: g.add(a, b, -1)),
    z3.Z3_OP_MUL: _fold(lambda g, a, b: g.mul(a, b)),
    z3.Z3_OP_DIV: _fold(lambda g, a, b: g.mul(a, g.inverse(b))),
    z3.Z3_OP_UMINUS: lambda g, a: g.mul(a[0], g.number(Fraction(-1))),
}


def equal(a: z3.ExprRef, b: z3.ExprRef) -> bool:
    """Whether two real terms are shown equal wherever both are defined."""
    if a.sort() != b.sort() or not z3.is_real(a):
        return False
    algebra = Algebra()
    try:
        return algebra.same(algebra.of(a), algebra.of(b))
    except (TooLarge, ZeroDivisionError):
        return False
