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
    "getitem": _rule("t i", "%dt = inject(%t, %i, %dout)", "%dt, ZERO"),
    "inject": _rule("t i d", "%dd = getitem(%dout, %i)", "ZERO, ZERO, %dd"),
    "gadd": _rule("a b", "%dout, %dout"),
    "instantiate": _rule("d x", "%dout, ZERO"),
    "J": _rule("x", "%dout"),
    "of_length": _rule("t n", "%dout, ZERO"),
    "length": _rule("t", "ZERO"),
    "range_length": _rule("start stop step", "ZERO, ZERO, ZERO"),
    "seed": _rule("x", "ZERO"),
    "to_real": _rule("x", "%dout"),
    "not_": _rule("x", "ZERO"),
    **{name: _rule("x", "ZERO") for name in ("to_integer", "to_boolean", "floor", "ceil", "sign")},
    **{name: _rule("x y", "ZERO, ZERO") for name in ("lt", "le", "gt", "ge", "eq", "ne", "floordiv")},
}


def tuple_pullback(arity: int) -> str:
    """The backpropagator of `make_tuple` at one arity: each element takes its part."""
    names = [f"x{i}" for i in range(arity)]
    parts = [f"%d{i} = getitem(%dout, {i})" for i in range(arity)]
    return _rule(" ".join(names), *parts, ", ".join(f"%d{i}" for i in range(arity)))
