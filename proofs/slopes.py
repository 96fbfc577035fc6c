"""
Carathéodory slopes of the algebraic primitives: the witness φ with f(x + h) - f(x) = h·φ(x, h).

The equation is checked, so a wrong witness proves nothing; φ is rational with a denominator that the hypotheses keep from 0, or
an `if` that the hypotheses hold on one side, so it is continuous at h = 0. That step is the axiom `slope`.

`SLOPES` is the table of the primitives. `slope_of` finds the slope of any term made of arithmetic, roots and `if`, by the rules
by which slopes compose; it serves second derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from checkers.smt.terms import product, real, uninterpreted
from proofs.calculus import NotDifferentiable

Terms = Sequence[Any]
h = z3.Real("h")


@dataclass(frozen=True)
class Slope:
    """
    witness(x, h)  φ for the argument that moves; `x` are all arguments at the start
    near(x, h)     hypotheses: how small h has to be, and which pieces are meant
    """

    witness: Callable[[Terms, Any], Any]
    near: Callable[[Terms, Any], list[Any]] = lambda x, h: []


def _root(name: str, x: Any) -> Any:
    return uninterpreted(f"u_{name}", x)


def _sign(x: Any) -> Any:
    return z3.If(x > 0, real(1), real(-1))


def _size(x: Any) -> Any:
    return z3.If(x < 0, -x, x)


def _less(h: Any, x: Any) -> list[Any]:
    """|h| < |x|: the step does not reach 0 from x."""
    return [_size(h) < _size(x)]


def _gap(x: Terms, h: Any) -> list[Any]:
    """The step does not make the two arguments meet."""
    return [_size(h) < _size(x[0] - x[1])]


def power_slope(n: int) -> Slope:
    """x ** n: Σ (x + h)^k x^(n-1-k), and for negative n the same over the two powers, with the other sign."""
    m = abs(n)

    def total(x: Any, step: Any) -> Any:
        terms = [product(x + step, k) * product(x, m - 1 - k) for k in range(m)]
        result = terms[0] if terms else real(0)
        for t in terms[1:]:
            result = result + t
        return result

    if n >= 0:
        return Slope(lambda x, h: total(x[0], h))
    return Slope(lambda x, h: -total(x[0], h) / (product(x[0] + h, m) * product(x[0], m)), lambda x, h: [x[0] + h != 0])


def _moved(x: Terms, i: int, h: Any) -> Any:
    """x² + y² where argument i has moved by h; written as the column reads hypot."""
    a, b = (v + h if j == i else v for j, v in enumerate(x))
    return a * a + b * b


def _hypot_slope(i: int) -> Slope:
    """hypot in its argument i: (2x + h) over the sum of the two roots."""
    return Slope(lambda x, h: (2 * x[i] + h) / (_root("sqrt", _moved(x, i, h)) + _root("sqrt", _moved(x, i, real(0)))))


_LARGER = (
    Slope(lambda x, h: z3.If(x[0] > x[1], real(1), real(0)), _gap),
    Slope(lambda x, h: z3.If(x[1] > x[0], real(1), real(0)), _gap),
)
_SMALLER = (
    Slope(lambda x, h: z3.If(x[0] < x[1], real(1), real(0)), _gap),
    Slope(lambda x, h: z3.If(x[1] < x[0], real(1), real(0)), _gap),
)

SLOPES: dict[str, tuple[Slope, ...]] = {
    "add": (Slope(lambda x, h: real(1)), Slope(lambda x, h: real(1))),
    "sub": (Slope(lambda x, h: real(1)), Slope(lambda x, h: real(-1))),
    "mul": (Slope(lambda x, h: x[1]), Slope(lambda x, h: x[0])),
    "div": (
        Slope(lambda x, h: real(1) / x[1]),
        Slope(lambda x, h: -x[0] / (x[1] * (x[1] + h)), lambda x, h: [x[1] + h != 0]),
    ),
    "neg": (Slope(lambda x, h: real(-1)),),
    "to_real": (Slope(lambda x, h: real(1)),),
    "single": (Slope(lambda x, h: real(1)),),
    "abs": (Slope(lambda x, h: _sign(x[0]), lambda x, h: _less(h, x[0])),),
    "sign": (Slope(lambda x, h: real(0), lambda x, h: _less(h, x[0])),),
    **dict.fromkeys(("max", "maximum"), _LARGER),
    **dict.fromkeys(("min", "minimum"), _SMALLER),
    "copysign": (
        Slope(lambda x, h: _sign(x[0]) * _sign(x[1]), lambda x, h: _less(h, x[0])),
        Slope(lambda x, h: real(0), lambda x, h: _less(h, x[1])),
    ),
    "sqrt": (Slope(lambda x, h: real(1) / (_root("sqrt", x[0] + h) + _root("sqrt", x[0])), lambda x, h: [x[0] > 0, x[0] + h > 0]),),
    "cbrt": (
        Slope(
            lambda x, h: (
                real(1)
                / (
                    _root("cbrt", x[0] + h) * _root("cbrt", x[0] + h)
                    + _root("cbrt", x[0] + h) * _root("cbrt", x[0])
                    + _root("cbrt", x[0]) * _root("cbrt", x[0])
                )
            ),
            lambda x, h: _less(h, x[0]),
        ),
    ),
    "hypot": (_hypot_slope(0), _hypot_slope(1)),
}


def slope_of(root: Any, variable: Any) -> tuple[Any, list[Any]]:
    """
    φ with root(variable + h) - root(variable) = h·φ, and under which hypotheses: that what is divided by is not 0 after the step,
    that what stands under a square root is positive, and that no condition changes.

    The rules, with a' for a after the step:

        (a + b): φa + φb     (a·b): φa·b' + a·φb     (a/b): (φa·b - a·φb) / (b·b')     sqrt a: φa / (sqrt a' + sqrt a)
    """
    known: dict[int, Any] = {}
    near: list[Any] = []
    todo: list[tuple[Any, bool]] = [(root, False)]
    while todo:
        term, ready = todo.pop()
        if term.get_id() in known:
            continue
        parts = [c for c in term.children() if z3.is_arith(c)]
        if ready:
            known[term.get_id()] = _compose(term, [known[c.get_id()] for c in parts], _Step(variable), near)
        elif term.eq(variable):
            known[term.get_id()] = real(1)
        elif not parts:
            known[term.get_id()] = real(0)
        else:
            todo.append((term, True))
            todo.extend((c, False) for c in parts)
    return known[root.get_id()], near


@dataclass(frozen=True)
class _Step:
    """The step of a variable by h."""

    variable: Any

    def __call__(self, term: Any) -> Any:
        return z3.substitute(term, (self.variable, self.variable + h))


def _compose(term: Any, slopes: list[Any], after: _Step, near: list[Any]) -> Any:
    """The slope of a term from those of its numeric parts; what has to hold for it is added to `near`."""
    a, kind = term.children(), term.decl().kind()
    if all(z3.is_rational_value(s) and s.numerator_as_long() == 0 for s in slopes) and kind != z3.Z3_OP_ITE:
        return real(0)
    match kind:
        case z3.Z3_OP_ADD:
            return z3.Sum(*slopes)
        case z3.Z3_OP_SUB:
            return slopes[0] - z3.Sum(real(0), *slopes[1:])
        case z3.Z3_OP_UMINUS:
            return -slopes[0]
        case z3.Z3_OP_MUL:
            return z3.Sum(*(z3.Product(*a[:i], s, *map(after, a[i + 1 :])) for i, s in enumerate(slopes)))
        case z3.Z3_OP_DIV:
            near.append(after(a[1]) != 0)
            return (slopes[0] * a[1] - a[0] * slopes[1]) / (a[1] * after(a[1]))
        case z3.Z3_OP_ITE:
            near.append(after(a[0]) == a[0])
            return z3.If(a[0], *slopes)
        case z3.Z3_OP_UNINTERPRETED if term.decl().name() == "u_sqrt":
            near += [a[0] > 0, after(a[0]) > 0]
            return slopes[0] / (after(term) + term)
        case z3.Z3_OP_UNINTERPRETED if term.decl().name() == "u_cbrt":
            near += [a[0] != 0, after(a[0]) != 0]
            return slopes[0] / (after(term) * after(term) + after(term) * term + term * term)
    raise NotDifferentiable(f"no slope is known of {term.decl().name()}")
