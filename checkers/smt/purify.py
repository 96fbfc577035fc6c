"""
From terms to what z3 decides well: no division, no function names, a few facts about each function. There is
one fresh real per distinct application and one fresh inverse per denominator, with inverse * denominator = 1.

Every fact that is added is true of the real function at that argument, so `unsat` of the purified question means unsat of the
question, wherever everything that is evaluated is defined; whether it is, is asked separately, as a question about domains. What
stands in a branch of an `if` need not be evaluated, so the facts about it hold only under the condition that it is defined.
A `sat` answer may be spurious, since the facts are not complete: the caller executes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import z3

from checkers.smt.terms import fraction, product, real, uninterpreted

CONGRUENT = 8  # functions applied to at most so many arguments get all pairs of congruence facts
MOST_POWER = 16
# f(-x) = f(x) for even functions, -f(x) for odd ones
PARITY = {"u_cos": 1, "u_sin": -1, "u_atan": -1, "u_asin": -1, "u_erf": -1, "u_cbrt": -1}


class Purifier:
    """The replacements made so far, and the facts that go with them. One purifier per question."""

    def __init__(self) -> None:
        self.facts: list[z3.BoolRef] = []
        self.names: dict[int, z3.ExprRef] = {}
        self.keys: dict[tuple[str, tuple[int, ...]], z3.ArithRef] = {}
        self.applied: dict[str, list[tuple[list[z3.ArithRef], z3.ArithRef]]] = {}
        self.origin: dict[str, z3.ArithRef] = {}
        self.alive: list[z3.ExprRef] = []
        self.strict: set[int] = set()
        self.stated: set[str] = set()

    def question(self, assertions: Sequence[z3.BoolRef]) -> list[z3.BoolRef]:
        """The purified assertions with all facts about what occurs in them."""
        self.strict |= evaluated(assertions)
        purified = [self.term(a) for a in assertions]
        return [*purified, *self.facts, *self._congruence(), *self._logarithms()]

    def term(self, root: z3.ExprRef) -> z3.ExprRef:
        """`root` without division and function names. An explicit stack: terms are as deep as programs are long."""
        todo: list[tuple[z3.ExprRef, bool]] = [(root, False)]
        while todo:
            term, ready = todo.pop()
            key = term.get_id()
            if key in self.names:
                continue
            if not ready:
                todo.append((term, True))
                todo.extend((c, False) for c in term.children())
                continue
            self.alive.append(term)
            self.names[key] = self._node(term, [self.names[c.get_id()] for c in term.children()])
        return self.names[root.get_id()]

    def _node(self, term: z3.ExprRef, children: list[z3.ExprRef]) -> z3.ExprRef:
        kind = term.decl().kind()
        if kind == z3.Z3_OP_DIV:
            divisor = fraction(z3.simplify(children[1]))
            if divisor is not None and divisor != 0:
                return children[0] * real(1 / divisor)
            return children[0] * self.inverse(children[1], term.get_id() in self.strict)
        if kind == z3.Z3_OP_UNINTERPRETED and children:
            return self.function(term.decl().name(), children, term.get_id() in self.strict)
        if not children or all(a.eq(b) for a, b in zip(children, term.children(), strict=True)):
            return term
        return z3.substitute(term, *zip(term.children(), children, strict=True))

    def fresh(self, name: str, arguments: Sequence[z3.ArithRef]) -> tuple[z3.ArithRef, bool]:
        """The variable for name(arguments), and whether it is new. Equal normalised arguments give one variable."""
        normal = [z3.simplify(a, som=True) for a in arguments]
        key = (name, tuple(a.get_id() for a in normal))
        if key in self.keys:
            return self.keys[key], False
        self.alive.extend(normal)
        variable = z3.Real(f"{name}!{len(self.keys)}")
        self.keys[key] = variable
        self.applied.setdefault(name, []).append((list(arguments), variable))
        return variable, True

    def state(self, variable: z3.ArithRef, strict: bool, defined: z3.BoolRef, facts: Sequence[z3.BoolRef]) -> None:
        """Adds facts about a variable, once; under the condition `defined` unless it is evaluated for sure."""
        key = f"{variable}{'' if strict else '?'}"
        if key in self.stated or str(variable) in self.stated:
            return
        self.stated.add(key)
        self.facts.extend(facts if strict else [z3.Implies(defined, fact) for fact in facts])

    def inverse(self, denominator: z3.ArithRef, strict: bool = True) -> z3.ArithRef:
        """The variable i with i * denominator = 1."""
        variable, _ = self.fresh("inv", [denominator])
        self.state(variable, strict, denominator != 0, [variable * denominator == 1])
        return variable

    def function(self, name: str, arguments: list[z3.ArithRef], strict: bool = True) -> z3.ArithRef:
        """The variable for an application, with the facts about it."""
        if name == "u_exp":
            return self.exponential(arguments[0])
        if name == "u_log" and (inside := self.origin.get(str(arguments[0]))) is not None:
            return inside
        for (other,), known in self.applied.get(name, ()) if name in PARITY else ():
            if fraction(z3.simplify(other + arguments[0], som=True)) == 0:
                return known if PARITY[name] > 0 else -known
        variable, _ = self.fresh(name, arguments)
        if name in FACTS:
            self.state(variable, strict, arguments[0] >= 0, FACTS[name](self, variable, arguments))
        return variable

    def exponential(self, argument: z3.ArithRef) -> z3.ArithRef:
        """exp of a sum as a product: exp(Σ n·m) = Π exp(m)^n, and exp(log x) = x."""
        summands = _summands(z3.simplify(argument, som=True))
        result: z3.ArithRef | None = None
        for coefficient, rest in summands:
            factor = self._exponential_of(rest)
            if coefficient < 0:
                factor = self.inverse(factor)
            factor = product(factor, abs(coefficient))
            result = factor if result is None else result * factor
        return real(1) if result is None else result

    def _exponential_of(self, argument: z3.ArithRef) -> z3.ArithRef:
        for arguments, variable in self.applied.get("u_log", ()):
            if variable.eq(argument):
                return arguments[0]
        variable, new = self.fresh("u_exp", [argument])
        if new:
            signs = [z3.Implies(argument > 0, variable > 1), z3.Implies(argument == 0, variable == 1)]
            self.facts += [variable > 0, *signs, z3.Implies(argument < 0, variable < 1)]
            self.origin[str(variable)] = argument
        return variable

    def _congruence(self) -> list[z3.BoolRef]:
        """Equal arguments give equal values, for functions with few applications."""
        facts: list[z3.BoolRef] = []
        for name, found in self.applied.items():
            if name != "inv" and 1 < len(found) <= CONGRUENT:
                for i, (arguments, value) in enumerate(found):
                    for others, other in found[:i]:
                        same = [a == b for a, b in zip(arguments, others, strict=True)]
                        facts.append(z3.Implies(same[0] if len(same) == 1 else z3.And(*same), value == other))
        return facts

    def _logarithms(self) -> list[z3.BoolRef]:
        """log a + log b = log ab for positive a and b, and log a + log b = 0 for ab = 1, where the logarithms occur."""
        found = self.applied.get("u_log", [])
        facts: list[z3.BoolRef] = []
        if len(found) <= CONGRUENT // 2:
            for i, ((a,), of_a) in enumerate(found):
                for (b,), of_b in found[: i + 1]:
                    positive = [a > 0, b > 0]
                    facts.append(z3.Implies(z3.And(*positive, a * b == 1), of_a + of_b == 0))
                    facts += [z3.Implies(z3.And(*positive, a * b == c), of_a + of_b == of_c) for (c,), of_c in found]
        return facts


def evaluated(assertions: Sequence[z3.ExprRef]) -> set[int]:
    """The terms that are evaluated whatever the conditions: all that are reached without entering a branch of an `if`."""
    seen: set[int] = set()
    todo = list(assertions)
    while todo:
        term = todo.pop()
        if term.get_id() not in seen:
            seen.add(term.get_id())
            todo.extend(term.children()[:1] if z3.is_app_of(term, z3.Z3_OP_ITE) else term.children())
    return seen


def _summands(term: z3.ArithRef) -> list[tuple[int, z3.ArithRef]]:
    """A sum of monomials as integer multiples of rests; the number 0 is the empty sum."""
    parts = term.children() if term.decl().kind() == z3.Z3_OP_ADD else [term]
    found: list[tuple[int, z3.ArithRef]] = []
    for part in parts:
        value = fraction(part)
        coefficient, rest = (value, real(1)) if value is not None else (Fraction(1), part)
        if part.decl().kind() == z3.Z3_OP_MUL and (leading := fraction(part.arg(0))) is not None:
            others = part.children()[1:]
            coefficient, rest = leading, others[0] if len(others) == 1 else z3.Product(*others)
        if part.decl().kind() == z3.Z3_OP_UMINUS:
            coefficient, rest = Fraction(-1), part.arg(0)
        if coefficient == 0:
            continue
        if abs(coefficient.numerator) > MOST_POWER:
            coefficient, rest = Fraction(1 if coefficient > 0 else -1), rest * real(abs(coefficient))
        if coefficient.denominator != 1:
            rest = rest * real(Fraction(1, coefficient.denominator))
        found.append((coefficient.numerator, rest))
    return found


Facts = Callable[[Purifier, z3.ArithRef, list[z3.ArithRef]], list[z3.BoolRef]]


def _circle(purifier: Purifier, variable: z3.ArithRef, arguments: list[z3.ArithRef]) -> list[z3.BoolRef]:
    """sin² + cos² = 1, whichever of the two was met."""
    sine, cosine = (purifier.fresh(name, arguments)[0] for name in ("u_sin", "u_cos"))
    return [sine * sine + cosine * cosine == 1]


FACTS: dict[str, Facts] = {
    "u_sqrt": lambda _, r, a: [r * r == a[0], r >= 0],
    "u_cbrt": lambda _, r, a: [r * r * r == a[0], z3.Implies(a[0] > 0, r > 0), z3.Implies(a[0] < 0, r < 0)],
    "u_sin": _circle,
    "u_cos": _circle,
    "u_log": lambda _, r, a: [z3.Implies(a[0] > 1, r > 0), z3.Implies(a[0] == 1, r == 0), z3.Implies(a[0] < 1, r < 0)],
    "u_atan": lambda _, r, a: [z3.Implies(a[0] > 0, r > 0), z3.Implies(a[0] < 0, r < 0), z3.Implies(a[0] == 0, r == 0)],
    "u_erf": lambda _, r, a: [r > -1, r < 1],
}


def pi_facts(terms: Sequence[z3.ExprRef]) -> list[z3.BoolRef]:
    """3.14 < π < 3.15, if π occurs."""
    seen: set[int] = set()
    todo = list(terms)
    while todo:
        term = todo.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if z3.is_const(term) and str(term) == "u_pi":
            pi = uninterpreted("u_pi")
            return [pi > real(Fraction(314, 100)), pi < real(Fraction(315, 100))]
        todo.extend(term.children())
    return []
