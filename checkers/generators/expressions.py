"""Generated expressions. Every one is total where it stands: divisors and arguments of logarithms are kept away from zero."""

from __future__ import annotations

import math
from collections.abc import Callable

from checkers.generators.writer import FUNCTION_BOUND, LIMIT, Expression, Variable, Writer

CONSTANTS = (1.0, 0.5, 2.0, -1.5, 0.25, 3.0, -0.75)


def real(w: Writer, depth: int) -> Expression:
    """A real expression of at most this depth, no larger than LIMIT."""
    if depth <= 0 or w.number(0, 3) == 0:
        return atom(w)
    makers = [m for m, feature in MAKERS if feature == "" or w.may(feature)]
    return damped(w, w.pick(makers)(w, depth - 1), LIMIT)


def atom(w: Writer) -> Expression:
    """A real variable, the newest as likely as all others together, or a constant."""
    reals = w.known("real")
    choice = w.number(0, 4)
    if not reals or choice == 4:
        c = w.pick(CONSTANTS)
        return Expression(repr(c) if c >= 0 else f"({c!r})", abs(c))
    v = reals[-1] if choice < 2 else w.pick(reals)
    return Expression(v.name, v.bound)


def damped(w: Writer, e: Expression, bound: float) -> Expression:
    """The expression, made smaller if it may exceed the bound: scaled by a power of two, or through sin or tanh."""
    if e.bound <= bound:
        return e
    if w.may("math") and bound >= 1 and w.flip():
        w.mark("math")
        return Expression(f"math.{w.pick(('sin', 'tanh'))}({e.text})", 1.0)
    exponent = math.ceil(math.log2(e.bound / bound))
    return Expression(f"({e.text} * {2.0**-exponent!r})", e.bound * 2.0**-exponent)


def add(w: Writer, depth: int) -> Expression:
    a, b = real(w, depth), real(w, depth)
    return Expression(f"({a.text} {w.pick('+-')} {b.text})", a.bound + b.bound)


def multiply(w: Writer, depth: int) -> Expression:
    a, b = real(w, depth), real(w, depth)
    return Expression(f"({a.text} * {b.text})", a.bound * b.bound)


def divide(w: Writer, depth: int) -> Expression:
    """The divisor is at least 2 or a constant."""
    a, b = real(w, depth), atom(w)
    if w.flip():
        return Expression(f"({a.text} / (2.0 + {b.text} * {b.text}))", a.bound / 2)
    return Expression(f"({a.text} / {w.pick(('2.0', '4.0', '3.0'))})", a.bound / 2)


def negate(w: Writer, depth: int) -> Expression:
    a = real(w, depth)
    return Expression(f"(-{a.text})", a.bound)


def power(w: Writer, depth: int) -> Expression:
    w.mark("power")
    a, n = atom(w), w.pick((2, 3, 1, 0))
    return Expression(f"({a.text} ** {n})", max(1.0, a.bound) ** n)


ELEMENTARY: tuple[tuple[str, float], ...] = (
    ("math.sin({})", 1.0),
    ("math.cos({})", 1.0),
    ("math.tanh({})", 1.0),
    ("math.exp(math.sin({}))", 2.72),
    ("math.atan({})", 1.58),
    ("math.log(3.0 + math.cos({}))", 1.39),
    ("math.sqrt(2.0 + math.sin({}))", 1.74),
    ("math.asinh({})", 3.0),
    ("math.expm1(-math.cos({}))", 1.72),
    ("math.log1p(math.exp(math.sin({})))", 1.4),
    ("math.tan(math.cos({}) * 0.5)", 0.6),
    ("math.sinh(math.sin({}))", 1.2),
    ("math.cosh(math.cos({}))", 1.6),
    ("math.atan2({}, 2.5)", 1.6),
    ("math.hypot({}, 1.5)", LIMIT + 1.5),
    ("math.asin(math.sin({}) * 0.5)", 0.6),
    ("math.atanh(math.cos({}) * 0.5)", 0.6),
    ("((2.0 + math.sin({})) ** 1.5)", 5.2),
)


def elementary(w: Writer, depth: int) -> Expression:
    w.mark("math")
    form, bound = w.pick(ELEMENTARY)
    return Expression(form.format(real(w, depth).text), bound)


def error_function(w: Writer, depth: int) -> Expression:
    w.mark("error_function")
    w.mark("math")
    return Expression(f"math.{w.pick(('erf', 'erfc'))}({real(w, depth).text})", 2.0)


def conditional(w: Writer, depth: int) -> Expression:
    w.mark("conditional")
    test = condition(w, depth)
    a, b = real(w, depth), real(w, depth)
    return Expression(f"({a.text} if {test} else {b.text})", max(a.bound, b.bound))


def with_kink(w: Writer, depth: int) -> Expression:
    w.mark("kinks")
    a, b = real(w, depth), real(w, depth)
    form = w.pick(("abs({0})", "max({0}, {1})", "min({0}, {1})"))
    return Expression(form.format(a.text, b.text), max(a.bound, b.bound))


EXTREMES = ("np.maximum({0}, {1})", "np.minimum({0}, {1})", "np.where({0} < 0.5, {1}, 1.0)")


def of_numpy(w: Writer, depth: int) -> Expression:
    """The scalar functions that Python has not; `float` makes of NumPy's number one of Python's."""
    w.mark("numpy")
    forms = (*(() if w.options.smooth else EXTREMES), *(() if w.options.rational_only else ("np.logaddexp({0}, {1})",)))
    a, b = real(w, depth), real(w, depth)
    return Expression(f"float({w.pick(forms).format(a.text, b.text)})", max(a.bound, b.bound) + 1.0)


def element(w: Writer, depth: int) -> Expression:
    """An element of a tuple in scope, by a constant index."""
    tuples = w.known("tuple")
    if not tuples:
        return real(w, depth)
    w.mark("tuple")
    v = w.pick(tuples)
    index = w.number(0, v.size - 1)
    return Expression(f"{v.name}[{index - v.size if w.flip() else index}]", v.bound)


def with_integer(w: Writer, depth: int) -> Expression:
    w.mark("integer")
    i, bound = integer(w, depth)
    a = real(w, depth)
    if w.flip():
        return Expression(f"({a.text} + {i})", a.bound + bound)
    return Expression(f"({i} * {a.text})", a.bound * max(1.0, bound))


def applied(w: Writer, depth: int) -> Expression:
    """A call of a function in scope, by position, by keyword, or of an element of a tuple of functions."""
    functions, tuples = w.known("function"), w.known("functions")
    if not functions and not tuples:
        return real(w, depth)
    if tuples and (not functions or w.flip()):
        v = w.pick(tuples)
        return call(w, Variable(f"{v.name}[{w.number(0, v.size - 1)}]", "function", size=1), depth)
    return call(w, w.pick(functions), depth)


def call(w: Writer, function: Variable, depth: int) -> Expression:
    """The call; every argument is damped to what functions take. With the feature, one name may be passed twice."""
    arguments: list[str] = []
    left_out = function.defaults > 0 and w.flip()
    for index in range(function.size - left_out):
        if arguments and w.may("alias") and w.flip():
            w.mark("alias")
            arguments.append(arguments[0].removeprefix(f"{function.keyword}="))
        else:
            arguments.append(damped(w, real(w, depth), FUNCTION_BOUND).text)
        if function.defaults and index == function.size - 1 and w.flip():
            arguments[-1] = f"{function.keyword}={arguments[-1]}"
    return Expression(f"{function.name}({', '.join(arguments)})", FUNCTION_BOUND)


def integer(w: Writer, depth: int) -> tuple[str, float]:
    """A small integer expression and its bound."""
    known = w.known("integer")
    if depth <= 0 or not known or w.number(0, 2) == 0:
        if known and w.flip():
            v = w.pick(known)
            return v.name, v.bound
        n = w.number(0, 3)
        return str(n), float(n)
    a, bound = integer(w, depth - 1)
    match w.pick(("+", "*", "//", "%", "-")):
        case "+":
            b, other = integer(w, depth - 1)
            return f"({a} + {b})", bound + other
        case "-":
            b, other = integer(w, depth - 1)
            return f"({a} - {b})", bound + other
        case "*":
            return f"({a} * 2)", bound * 2
        case "//":
            return f"({a} // 2)", bound
        case _:
            return f"({a} % 3)", 2.0


def condition(w: Writer, depth: int) -> str:
    """A boolean expression. In smooth programs only integers are compared."""
    if w.may("boolean") and depth > 0 and w.flip():
        w.mark("boolean")
        match w.pick(("and", "or", "not", "chain")):
            case "not":
                return f"(not {condition(w, depth - 1)})"
            case "chain":
                a, b, c = (operand(w, depth - 1) for _ in range(3))
                return f"({a} < {b} <= {c})"
            case word:
                return f"({condition(w, depth - 1)} {word} {condition(w, depth - 1)})"
    return f"({operand(w, depth - 1)} {w.pick(('<', '>', '<=', '>='))} {operand(w, depth - 1)})"


def operand(w: Writer, depth: int) -> str:
    """One side of a comparison."""
    return integer(w, depth)[0] if w.options.smooth else real(w, max(depth, 0)).text


MAKERS: tuple[tuple[Callable[[Writer, int], Expression], str], ...] = (
    (add, ""),
    (multiply, ""),
    (divide, ""),
    (negate, ""),
    (power, "power"),
    (error_function, "error_function"),
    (elementary, "math"),
    (elementary, "math"),
    (conditional, "conditional"),
    (with_kink, "kinks"),
    (of_numpy, "numpy"),
    (element, "tuple"),
    (with_integer, "integer"),
    (applied, "definition"),
    (applied, "lambda"),
    (applied, "higher_order"),
    (applied, "recursion"),
    (applied, "captured_call"),
    (applied, "functions_in_tuples"),
)
