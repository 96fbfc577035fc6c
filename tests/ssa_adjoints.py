"""
Gradients by the SSA adjoint, as modules, and the SSA programs that its tests share.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from semantics.columns import exact
from semantics.ssa.form import Block, Function, FunctionRef, Instruction, Literal, Module, Name, Return
from semantics.ssa.machine import run
from semantics.ssa.text import read
from semantics.ssa.wellformed import check
from semantics.tangents import dense
from transforms.ssa_adjoint import adjoint

SWAP = """function swap(x, y, n):
block #1:
    %1 ← φ(#0 → x, #2 → %2)
    %2 ← φ(#0 → y, #2 → %1)
    %3 ← φ(#0 → n, #2 → %4)
    %6 ← gt(%3, 0)
    goto #3 if not %6
block #2:
    %4 ← sub(%3, 1)
    goto #1
block #3:
    %7 ← mul(%1, %1)
    %8 ← mul(%7, %2)
    return %8"""

# two loops, the inner left by a break and the outer by a return out of the inner
BREAKS = """function breaks(x, n):
block #1:
    goto #2
block #2:
    %1 ← φ(#1 → x, #5 → %3, #9 → %3)
    %2 ← φ(#1 → 0, #5 → %8, #9 → %8)
    %20 ← lt(%2, n)
    goto #10 if not %20
block #3:
    %8 ← add(%2, 1)
block #4:
    %3 ← φ(#3 → %1, #7 → %6)
    %4 ← φ(#3 → 0, #7 → %7)
    %5 ← lt(%4, %2)
    goto #5 if not %5
block #6:
    %6 ← mul(%3, x)
    %7 ← add(%4, 1)
    %21 ← gt(%6, 100)
    goto #8 if %21
block #7:
    goto #4
block #8:
    %9 ← add(%6, x)
    goto #10
block #5:
    %30 ← gt(%3, 50)
    goto #9 if %30 else #2
block #9:
    goto #2
block #10:
    %10 ← φ(#2 → %1, #8 → %9)
    %11 ← mul(%10, %10)
    return %11"""

# recursion that is no tail call, in a branch
RECURSION = """function power(x, n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if not %1
block #2:
    %2 ← sub(n, 1)
    %3 ← @power(x, %2)
    %4 ← mul(%3, x)
block #3:
    %5 ← φ(#1 → 1, #2 → %4)
    return %5"""


def gradient(module: Module, policy: str = "stack", seed: Any = 1) -> Module:
    """grad(x…) = (∇x…), by a policy."""
    adjoined, parameters = adjoint(module, policy), module.main.parameters
    code = (
        Instruction(("%y", "%tape"), FunctionRef(adjoined.entry), tuple(Name(p.name) for p in parameters)),
        Instruction(("%g",), FunctionRef(f"◀{module.entry}"), (Name("%tape"), Literal(seed))),
    )
    grad = Function("grad", parameters, (Block(1, (), code, Return((Name("%g"),))),))
    return Module((grad, *adjoined.functions), "grad")


def gradient_at(source: str, *arguments: Any, policy: str = "stack") -> tuple[Any, ...]:
    """The gradient of the text of a module, on fractions; what it comes from is well formed."""
    module = gradient(read(source), policy)
    check(module)
    return dense(run(module, tuple(map(exact.lift, arguments)), exact.EXACT, lift=exact.lift))  # type: ignore[no-any-return]


def second_at(source: str, *arguments: Any, policy: str = "stack") -> Any:
    """∂²f/∂x², x the first parameter: the adjoint of the gradient, both by the same policy."""
    module = adjoint(gradient(read(source), policy), policy)
    check(module)
    back = Module(module.functions, "◀grad")
    _, tape = run(module, tuple(map(exact.lift, arguments)), exact.EXACT, lift=exact.lift)
    seed = (Fraction(1), *(0 for _ in arguments[1:]))
    return dense(run(back, (tape, seed), exact.EXACT, lift=exact.lift))[0]
