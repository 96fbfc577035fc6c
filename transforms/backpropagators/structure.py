"""
Backpropagators of the structural primitives, as text. ZERO is the sensitivity of what nothing depends on.

Element i of a tuple sends its sensitivity back to place i alone (`inject`, kept sparse); a switch sends it to the value that
it chose; fan-out and fan-in are each other's adjoints (`gadd`). Lengths, indices and conditions have none.
"""

from __future__ import annotations


def _rule(parameters: str, *body: str) -> str:
    """The text of a backpropagator: its parameters, its equations, and last what it returns."""
    *equations, result = body
    arguments = ", ".join(f"%{p}" for p in [*parameters.split(), "out", "dout"])
    lines = [f"program @pullback\n\n@pullback({arguments}):", *(f"  {e}" for e in equations)]
    return "\n".join([*lines, f"  %r = make_tuple({result})", "  return %r"])


STRUCTURAL: dict[str, str] = {
    "switch": _rule("c a b", "%da = switch(%c, %dout, ZERO)", "%db = switch(%c, ZERO, %dout)", "ZERO, %da, %db"),
    "where": _rule("c x y", "%dx = where(%c, %dout, ZERO)", "%dy = where(%c, ZERO, %dout)", "ZERO, %dx, %dy"),
    "getitem": _rule("t i", "%dt = inject(%t, %i, %dout)", "%dt, ZERO"),
    "inject": _rule("t i d", "%k = place_in(%t, %i)", "%dd = getitem(%dout, %k)", "ZERO, ZERO, %dd"),
    "gadd": _rule("a b", "%dout, %dout"),
    "instantiate": _rule("d x", "%dout, ZERO"),
    "J": _rule("x", "%dout"),
    "of_length": _rule("t n", "%dout, ZERO"),
    "keys_of": _rule("d", "ZERO"),
    **{name: _rule("d", "%dout") for name in ("values_of", "iterated")},
    "place_in": _rule("t i", "ZERO, ZERO"),
    "length": _rule("t", "ZERO"),
    "concat": _rule(
        "s t",
        *("%n = length(%s)", "%first = make_slice(None, %n, None)", "%rest = make_slice(%n, None, None)"),
        *("%ds = getitem(%dout, %first)", "%dt = getitem(%dout, %rest)", "%ds, %dt"),
    ),
    "append": _rule(
        "s x",
        "%n = length(%s)",
        "%first = make_slice(None, %n, None)",
        "%ds = getitem(%dout, %first)",
        "%dx = getitem(%dout, %n)",
        "%ds, %dx",
    ),
    "is_instance": _rule("x kinds", "ZERO, ZERO"),
    "make_slice": _rule("start stop step", "ZERO, ZERO, ZERO"),
    "field": _rule("t name", "%k = field_index(%t, %name)", "%dt = inject(%t, %k, %dout)", "%dt, ZERO"),
    "with_field": _rule(
        "t name v",
        *("%k = field_index(%out, %name)", "%dv = getitem(%dout, %k)", "%had = has_field(%t, %name)"),
        *("%stop = switch(%had, None, %k)", "%old = make_slice(None, %stop, None)", "%rest = getitem(%dout, %old)"),
        *("%same = cleared(%dout, %k)", "%dt = switch(%had, %same, %rest)", "%dt, ZERO, %dv"),
    ),
    "cleared": _rule("d i", "%dd = cleared(%dout, %i)", "%dd, ZERO"),
    "of_class": _rule("x label", "%dout, ZERO"),
    "unlabelled": _rule("d", "%dout"),
    **{name: _rule("t name", "ZERO, ZERO") for name in ("field_index", "has_field")},
    "fail": _rule("message", "ZERO"),
    "range_length": _rule("start stop step", "ZERO, ZERO, ZERO"),
    "seed": _rule("x", "ZERO"),
    **{name: _rule("x", "%dout") for name in ("to_real", "single")},
    "not_": _rule("x", "ZERO"),
    **{name: _rule("x", "ZERO") for name in ("to_integer", "to_boolean", "floor", "ceil", "sign")},
    **{name: _rule("x y", "ZERO, ZERO") for name in ("lt", "le", "gt", "ge", "eq", "ne", "and_", "or_", "floordiv")},
}


def tuple_pullback(arity: int) -> str:
    """The backpropagator of `make_tuple` at one arity: each element takes its part."""
    names = [f"x{i}" for i in range(arity)]
    parts = [f"%d{i} = getitem(%dout, {i})" for i in range(arity)]
    return _rule(" ".join(names), *parts, ", ".join(f"%d{i}" for i in range(arity)))


def record_pullback(arity: int) -> str:
    """The backpropagator of `make_record` with `arity` arguments: each item takes its part, the label none."""
    names = [f"x{i}" for i in range(arity)]
    parts = [f"%d{i} = getitem(%dout, {i - 1})" for i in range(1, arity)]
    return _rule(" ".join(names), *parts, ", ".join(["ZERO", *(f"%d{i}" for i in range(1, arity))]))


def whole_power_pullback(n: int, arrays: bool = False) -> str:
    """
    The backpropagator of x ** n for one integer n: n x ** (n - 1) to x, nothing for n = 0, and nothing to n.

    Where there may be `arrays`, what flows to x has the dtype of x, and nothing flows to an array of integers.
    """
    if n == 0:
        return _rule("x n", "ZERO, ZERO")
    product = (f"%p = pow(%x, {n - 1})", f"%s = mul({n}, %p)", "%dx = mul(%dout, %s)")
    if arrays:
        return _rule("x n", *product, "%d = sum_to(%dx, %x)", "%d, ZERO")
    return _rule("x n", *product, "%dx, ZERO")
