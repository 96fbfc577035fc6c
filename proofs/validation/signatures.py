"""
What a term over the reals is modulo a prime, at a random point: terms with different signatures are different functions.

Variables are random residues; a function of the reals, an `if`, a comparison is an arbitrary function of the signatures of its
parts, the same wherever it is asked (Schwartz and Zippel, with random oracles). Equal signatures prove nothing: they say which
pairs of terms are worth a proof.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import dataclass, field

import z3

from checkers.columns.modular import P
from checkers.smt.purify import PARITY
from checkers.smt.terms import fraction

# f(a) where it is rational: what constant folding may have made of it
KNOWN = {
    **{(name, 0): 0 for name, sign in PARITY.items() if sign == -1},
    **{("u_sqrt", n): n for n in (0, 1)},
    **{("u_cbrt", n): n for n in (0, 1)},
    ("u_exp", 0): 1,
    ("u_cos", 0): 1,
    ("u_log", 1): 0,
}


@dataclass
class Signatures:
    """The residues of terms at one random point, which `seed` names. A division by zero is an arbitrary residue."""

    seed: int = 0
    found: dict[int, int] = field(default_factory=dict)

    def __getitem__(self, term: z3.ExprRef) -> int:
        """The residue of a term whose children have theirs."""
        key = term.get_id()
        if key not in self.found:
            self.found[key] = self._of(term)
        return self.found[key]

    def _of(self, term: z3.ExprRef) -> int:
        value = fraction(term)
        if value is not None:
            return value.numerator * pow(value.denominator, -1, P) % P
        parts = [self.found[c.get_id()] for c in term.children()]
        match term.decl().kind():
            case z3.Z3_OP_ADD:
                return sum(parts) % P
            case z3.Z3_OP_SUB:
                return (parts[0] - sum(parts[1:])) % P
            case z3.Z3_OP_UMINUS:
                return -parts[0] % P
            case z3.Z3_OP_MUL:
                product = 1
                for part in parts:
                    product = product * part % P
                return product
            case z3.Z3_OP_DIV if parts[1]:
                return parts[0] * pow(parts[1], -1, P) % P
        name = str(term.decl().name())
        return self.function(name, parts) if parts else self.oracle(name, parts)

    def function(self, name: str, parts: list[int]) -> int:
        """
        A function at residues. What is known of it holds here too: odd and even functions are, sin² + cos² is 1, and sqrt(a)² is a
        where a is a square.
        """
        if (name, parts[0]) in KNOWN:
            return KNOWN[name, parts[0]]
        if name in PARITY and parts[0] > P // 2:
            return PARITY[name] * self.function(name, [-parts[0] % P]) % P
        if name in ("u_sin", "u_cos"):
            half = self.oracle("tangent of half", parts)
            scale = pow(1 + half * half, -1, P)  # 1 + half² is not 0: -1 is no square
            return (2 * half if name == "u_sin" else 1 - half * half) * scale % P
        if name == "u_sqrt" and pow(parts[0], (P - 1) // 2, P) == 1:
            return pow(parts[0], (P + 1) // 4, P)
        return self.oracle(name, parts)

    def oracle(self, name: str, parts: list[int]) -> int:
        """An arbitrary residue, the same for the same name and parts."""
        text = f"{self.seed} {name} {' '.join(map(str, parts))}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "big") % P


def in_order(*roots: z3.ExprRef, known: Container[int] = ()) -> list[z3.ExprRef]:
    """
    All subterms, each once, children first; none that is known, by its identity, and nothing below it.

    An explicit stack: terms are as deep as programs are long.
    """
    order: list[z3.ExprRef] = []
    seen: set[int] = set()
    todo: list[tuple[z3.ExprRef, bool]] = [(root, False) for root in reversed(roots)]
    while todo:
        term, ready = todo.pop()
        if ready:
            order.append(term)
        elif (key := term.get_id()) not in seen and key not in known:
            seen.add(key)
            todo.append((term, True))
            todo.extend((c, False) for c in reversed(term.children()))
    return order
