"""
The same functions of one number, which takes one way; see `backend.exact.hyperbolic`.

Where each number of a loop waits for the one before, as in a recurrent network, what counts is how long one takes. A processor goes
on at the branch that it foresees before it knows k. So for a hyperbolic tangent below 1, where k is 0, -1, -2 or -3, each k has a
branch of its own, in which it is known: its multiples of ln 2 are constants, and nothing waits for it.

From SCALED on the library is called: where the result is 1 or -1, whatever needs it does not wait for the argument there.

Each is a function of the module that calls it. The operations are those for vectors, but for those of which the result is not
chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from backend.exact.exponential import exponential
from backend.exact.hyperbolic import (
    HALF,
    LARGE,
    ONE_FROM,
    PER_HALVING,
    corrected,
    cosine,
    halvings,
    reduced,
    series,
    unscaled,
)
from backend.exact.instructions import DOUBLE, Instructions

LEAST = -3  # of the k's below 1
SCALED = 6.5  # below, k is at most 19
SMALL = ir.IntType(32)


def tangent_alone(into: Instructions, x: Any) -> Any:
    """tanh x"""
    builder, number = into.builder, into.number
    sub, div = builder.fsub, builder.fdiv
    size = into.call("fabs", x)
    twice = builder.fmul(size, number(2.0))
    below, beyond, middle, large, joined, end = _blocks(builder, "below", "beyond", "middle", "large", "joined", "end")
    builder.cbranch(builder.fcmp_ordered("<", size, number(1.0)), below, beyond)
    builder.position_at_end(below)
    e = _below_one(into, builder.fneg(twice), joined)
    found = [(_signed(into, div(builder.fneg(e), builder.fadd(e, number(2.0))), x), builder.block)]
    builder.branch(end)
    builder.position_at_end(beyond)
    builder.cbranch(builder.fcmp_ordered("<", size, number(SCALED)), middle, large)
    builder.position_at_end(middle)
    e = _scaled(into, twice)
    found.append((_signed(into, sub(number(1.0), div(number(2.0), builder.fadd(e, number(2.0)))), x), builder.block))
    builder.branch(end)
    builder.position_at_end(large)
    found.append((builder.call(_declared(builder.module, "tanh"), [x]), builder.block))
    builder.branch(end)
    builder.position_at_end(end)
    return _met(builder, found)


def _below_one(into: Instructions, u: Any, joined: Any) -> Any:
    """e^u − 1, for u from -2 to 0, each k by a way of its own to a block where they meet."""
    builder, number = into.builder, into.number
    near = builder.fcmp_ordered(">", u, number(-HALF))
    k = builder.fptosi(into.plus_product(number(-0.5), number(PER_HALVING), u), SMALL)
    ways = _blocks(builder, *(f"k{n}" for n in range(1 - LEAST)))
    choice = builder.switch(builder.select(near, SMALL(0), k), ways[-1])
    for n, way in enumerate(ways[:-1]):
        choice.add_case(SMALL(-n), way)
    found = []
    for n, way in enumerate(ways):
        builder.position_at_end(way)
        found.append((_less_one(into, u, -n), builder.block))
        builder.branch(joined)
    builder.position_at_end(joined)
    return _met(builder, found)


def _less_one(into: Instructions, u: Any, k: int) -> Any:
    """e^u − 1, of k that is known, from LEAST to 0."""
    builder, number = into.builder, into.number
    sub, mul = builder.fsub, builder.fmul
    if k == 0:
        return unscaled(into, u, *series(into, u))
    x, c = reduced(into, u, number(float(k)))
    d = sub(x, corrected(into, x, c, *series(into, x)))
    if k == -1:
        return sub(mul(number(0.5), d), number(0.5))
    return sub(mul(builder.fadd(number(1.0), d), number(2.0**k)), number(1.0))


def _scaled(into: Instructions, u: Any) -> Any:
    """e^u − 1, where k is from 2 to 19."""
    builder = into.builder
    k = halvings(into, u)
    x, c = reduced(into, u, k)
    d = builder.fsub(x, corrected(into, x, c, *series(into, x)))
    scale, inverse = into.power_of_two(k), into.power_of_two(builder.fneg(k))
    return builder.fmul(builder.fadd(builder.fsub(into.number(1.0), inverse), d), scale)


def _declared(module: Any, name: str) -> Any:
    """A function of the C library."""
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(DOUBLE, [DOUBLE]), name)


def _signed(into: Instructions, size: Any, x: Any) -> Any:
    return into.call("copysign", size, x)


def _blocks(builder: Any, *names: str) -> list[Any]:
    return [builder.append_basic_block(name) for name in names]


def cosine_alone(into: Instructions, x: Any) -> Any:
    """cosh x"""
    builder, number = into.builder, into.number
    add, mul, div = builder.fadd, builder.fmul, builder.fdiv
    size = into.call("fabs", x)
    small, more, usual, near, huge, end = _blocks(builder, "small", "more", "usual", "near", "huge", "end")
    builder.cbranch(builder.fcmp_ordered("<", size, number(HALF)), small, more)
    builder.position_at_end(more)
    builder.cbranch(builder.fcmp_ordered("<", size, number(LARGE)), usual, huge)
    found = []
    builder.position_at_end(small)
    e = unscaled(into, size, *series(into, size))
    w = add(number(1.0), e)
    found.append((add(number(1.0), div(mul(e, e), add(w, w))), builder.block))
    builder.branch(end)
    builder.position_at_end(usual)
    power = exponential(builder, size, into.fused)
    halved = mul(number(0.5), power)
    found.append((halved, builder.block))
    builder.cbranch(builder.fcmp_ordered("<", size, number(ONE_FROM)), near, end)
    builder.position_at_end(near)
    found.append((add(halved, div(number(0.5), power)), builder.block))
    builder.branch(end)
    builder.position_at_end(huge)
    found.append((cosine(builder, x, into.fused), builder.block))
    builder.branch(end)
    builder.position_at_end(end)
    return _met(builder, found)


def _met(builder: Any, found: list[tuple[Any, Any]]) -> Any:
    """What a number is, by the block that it comes from."""
    phi = builder.phi(DOUBLE)
    for value, block in found:
        phi.add_incoming(value, block)
    return phi


def _called(name: str, write: Callable[[Instructions, Any], Any]) -> Callable[[Any, Any, bool], Any]:
    def call(builder: Any, x: Any, fused: bool) -> Any:
        """The call of the function, which is written into the module if it is not there."""
        function = builder.module.globals.get(name)
        if function is None:
            function = ir.Function(builder.module, ir.FunctionType(DOUBLE, [DOUBLE]), name)
            function.linkage = "internal"
            own = ir.IRBuilder(function.append_basic_block())
            own.ret(write(Instructions(own, DOUBLE, fused), function.args[0]))
        return builder.call(function, [x])

    return call


FUNCTIONS: dict[str, Callable[[Any, Any, bool], Any]] = {
    "tanh": _called("adjudge.tanh", tangent_alone),
    "cosh": _called("adjudge.cosh", cosine_alone),
}
