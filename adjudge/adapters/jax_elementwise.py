"""
Equations that are read element by element: arithmetic, elementary functions, comparisons, conversions.

Each rule is named by the primitive of `jax.lax` that it reads, and its docstring says as what. NaN and signed zeros are what the
documentation of XLA says: `max` and `min` hand a NaN on, `sign` keeps the sign of a zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from adjudge.adapters.jax_site import Known, Site
from semantics.ir import NodeId

Rule = Callable[[Site], NodeId | list[NodeId]]

# one row of the same meaning
SAME = {
    "add": "add", "add_any": "add", "sub": "sub", "mul": "mul", "neg": "neg", "abs": "abs", "max": "maximum", "min": "minimum",
    "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "cbrt": "cbrt", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "asinh", "acosh": "acosh", "atanh": "atanh", "erf": "erf", "erfc": "erfc", "pow": "pow",
    "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne",
}  # fmt: skip
IDENTITIES = ("copy", "stop_gradient", "optimization_barrier", "device_put")
INTEGER_LOGIC = "on integers, which works on bits"


def same(site: Site) -> NodeId:
    """p x… is read as the row of the same meaning"""
    return site(SAME[site.equation.primitive.name], *site.operands)


def identity(site: Site) -> list[NodeId]:
    """p x… is x…"""
    return list(site.operands)


def div(site: Site) -> NodeId:
    """x / y; of integers, rounded towards 0"""
    x, y = site.operands
    return site("div", x, y) if site.dtype() in ("f64", "f32") else _towards_zero(site, "floordiv", _opposite(site, x, y))


def rem(site: Site) -> NodeId:
    """the rest of the division that rounds towards 0: it has the sign of x"""
    x, y = site.operands
    if site.dtype() in ("f64", "f32"):
        return site("copysign", site("mod", site("abs", x), site("abs", y)), x)
    return _towards_zero(site, "mod", site("lt", x, Known(0)))


def _towards_zero(site: Site, name: str, negative: NodeId) -> NodeId:
    """name(|x|, |y|), negated where `negative`."""
    size = site(name, *(site("abs", x) for x in site.operands))
    return site("where", negative, site("neg", size), size)


def _opposite(site: Site, x: NodeId, y: NodeId) -> NodeId:
    return site("ne", site("lt", x, Known(0)), site("lt", y, Known(0)))


def sign(site: Site) -> NodeId:
    """-1, 0 or 1; a zero keeps its sign, NaN is NaN"""
    (x,) = site.operands
    if site.dtype() in ("f64", "f32"):
        return site("copysign", site("sign", x), x)
    return site("where", site("lt", x, Known(0)), Known(-1), site("where", site("gt", x, Known(0)), Known(1), Known(0)))


def square(site: Site) -> NodeId:
    """x * x"""
    return site("mul", *site.operands * 2)


def integer_pow(site: Site) -> NodeId:
    """x ** n"""
    return site("pow", *site.operands, Known(int(site.parameter("y"))))


def exp2(site: Site) -> NodeId:
    """2 ** x"""
    return site("pow", site.number(2), *site.operands)


def rsqrt(site: Site) -> NodeId:
    """1 / sqrt x"""
    return site("div", site.number(1), site("sqrt", *site.operands))


def logistic(site: Site) -> NodeId:
    """1 / (1 + exp(-x))"""
    return site("div", site.number(1), site("add", site.number(1), site("exp", site("neg", *site.operands))))


def floor(site: Site) -> NodeId:
    """floor x as a real; a trap where x is not finite"""
    return _whole(site, site("floor", *site.operands))


def ceil(site: Site) -> NodeId:
    """ceil x as a real; a trap where x is not finite"""
    return _whole(site, site("ceil", *site.operands))


def round_(site: Site) -> NodeId:
    """|x| rounded down, and one more where the rest is above a half, or is a half and the method says up; then the sign of x"""
    (x,) = site.operands
    size = site("abs", x)
    below = _whole(site, site("floor", size))
    rest = site("sub", size, below)
    if int(site.parameter("rounding_method")) == 0:
        up = site("ge", rest, site.number(0.5))
    else:
        odd = site("eq", site("mod", below, site.number(2)), site.number(1))
        up = site("or_", site("gt", rest, site.number(0.5)), site("and_", odd, site("eq", rest, site.number(0.5))))
    return site("copysign", site("where", up, site("add", below, site.number(1)), below), x)


def _whole(site: Site, node: NodeId) -> NodeId:
    """An integer as a real in the dtype of the operand."""
    return convert(site, node, "i64", site.dtype(), bool(site.shape()) or site.dtype() == "f32")


def is_finite(site: Site) -> NodeId:
    """|x| < inf"""
    return site("lt", site("abs", *site.operands), Known(math.inf))


def clamp(site: Site) -> NodeId:
    """min(max(low, x), high)"""
    low, x, high = site.operands
    return site("minimum", site("maximum", low, x), high)


def select_n(site: Site) -> NodeId:
    """case number `which`; of a boolean, the second where it is True"""
    which, first, *rest = site.operands
    result = first
    for k, case in enumerate(rest, 1):
        result = site("where", which if site.dtype() == "bool" else site("eq", which, Known(k)), case, result)
    return result


def _logic(name: str) -> Rule:
    """A connective of booleans; refused on integers, where it works on bits."""

    def rule(site: Site) -> NodeId:
        if site.dtype() != "bool":
            raise site.refuse(INTEGER_LOGIC)
        return site(name, *site.operands)

    rule.__doc__ = f"{name} of booleans"
    return rule


def reduce_precision(site: Site) -> NodeId:
    """x rounded to f32, if that is the format"""
    format_ = int(site.parameter("exponent_bits")), int(site.parameter("mantissa_bits"))
    if format_ == (8, 23):
        return site("single", *site.operands)
    if format_ == (11, 52):
        return site.operands[0]
    raise site.refuse(f"to {format_[0]} bits of exponent and {format_[1]} of mantissa", "round to float32")


def convert_element_type(site: Site) -> NodeId:
    """x in another dtype: reals are cut off to integers, anything but 0 is True"""
    return convert(site, site.operands[0], site.dtype(), site.result_dtype, bool(site.shape()))


def convert(site: Site, x: NodeId, old: str, new: str, axes: bool) -> NodeId:
    """x of one dtype as one of another; `axes` says whether it has axes."""
    if old == new:
        return x
    if axes or new == "f32":
        return site("astype", x, Known(new))
    if old == "f32":
        return site.scalar(site("astype", x, Known(new)), (), new) if new != "bool" else site("ne", x, Known(0.0))
    match old, new:
        case "bool", _:
            return site("where", x, Known({"f64": 1.0}.get(new, 1)), Known({"f64": 0.0}.get(new, 0)))
        case _, "bool":
            return site("ne", x, Known(0.0 if old == "f64" else 0))
        case _:
            return site("to_real" if new == "f64" else "to_integer", x)


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(SAME, same),
    **dict.fromkeys(IDENTITIES, identity),
    "div": div,
    "rem": rem,
    "sign": sign,
    "square": square,
    "integer_pow": integer_pow,
    "exp2": exp2,
    "rsqrt": rsqrt,
    "logistic": logistic,
    "floor": floor,
    "ceil": ceil,
    "round": round_,
    "is_finite": is_finite,
    "clamp": clamp,
    "select_n": select_n,
    "and": _logic("and_"),
    "or": _logic("or_"),
    "xor": _logic("ne"),
    "not": _logic("not_"),
    "reduce_precision": reduce_precision,
    "convert_element_type": convert_element_type,
}
