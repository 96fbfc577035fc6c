"""
Passes to judge: `adjudge audit examples/audited_pass.py:reciprocals` and `…:exact_reciprocals`, `…:tidy`.

A division is slow and a product is not, so both functions turn x / c into x * (1 / c). Rounding 1 / c first and the product then
is not rounding once, except where 1 / c is exact: there c is a power of two. `tidy` is made of rules, one of them wrong.
"""

import math
from collections.abc import Callable

import adjudge as aj
from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives import TABLE
from transforms.system import RewriteSystem


def reciprocals(program: Program) -> Program:
    """x / c  =>  x * (1 / c), for every constant c but zero. Not sound: x / 3.0 is rounded once, x * (1 / 3.0) twice."""
    return _divisions(program, lambda c: c != 0)


def exact_reciprocals(program: Program) -> Program:
    """x / c  =>  x * (1 / c), where 1 / c is exact."""
    return _divisions(program, lambda c: abs(math.frexp(c)[0]) == 0.5 and 2.0**-1022 <= abs(1 / c) < math.inf)


def _divisions(program: Program, wanted: Callable[[float], bool]) -> Program:
    edit = Edit(program)
    for node in program.nodes:
        if program.callee(node) is TABLE["div"] and len(program.inputs(node)) == 3:
            _, x, c = program.inputs(node)
            value = program.constant(c)
            if type(value) is float and wanted(value):
                edit.set_inputs(node, (edit.constant(TABLE["mul"]), x, edit.constant(1 / value)))
    return edit.program


TIDY = (
    aj.rule("x * 1.0 -> x", domain="IEEE"),
    aj.rule("-(-x) -> x", domain="IEEE"),
    aj.rule("0.0 - x -> -x", domain="IEEE"),
)

tidy = RewriteSystem("tidy", tuple(rule.rewrite for rule in TIDY), domain="IEEE")
