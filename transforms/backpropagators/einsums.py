"""
The backpropagator of `einsum`, as text, one for each number of operands.

The sensitivity of an operand is an einsum of dout and the other operands, put back on its axes: see `einsum_adjoint` and `unsum`,
whose own backpropagators are in `algebra.py`.
"""

from __future__ import annotations


def einsum_pullback(arity: int) -> str:
    """(subscripts, x1, …, out, dout) -> (ZERO, dx1, …), `arity` counting the subscripts."""
    xs = [f"%x{i}" for i in range(1, arity)]
    lines = [f"  %all = make_tuple({', '.join(xs)})"]
    for k, x in enumerate(xs):
        others = ", ".join(["%dout", *(y for y in xs if y != x)])
        lines += [
            f"  %plan{k} = einsum_adjoint(%s, {k}, %all)",
            f"  %sum{k} = getitem(%plan{k}, 0)",
            f"  %back{k} = getitem(%plan{k}, 1)",
            f"  %e{k} = einsum(%sum{k}, {others})",
            f"  %u{k} = unsum(%back{k}, %e{k}, {x})",
            f"  %d{k} = sum_to(%u{k}, {x})",
        ]
    result = ", ".join(["ZERO", *(f"%d{k}" for k in range(len(xs)))])
    parameters = ", ".join(["%s", *xs, "%out", "%dout"])
    return "\n".join([f"program @pullback\n\n@pullback({parameters}):", *lines, f"  %r = make_tuple({result})", "  return %r"])
