"""
Algebraic simplification: SYSTEM keeps every bit, FAST adds the rules that hold over the reals only.

Each step of SYSTEM lowers the measure: fewer applications; or as many, of less weight; or of the same weight, with shorter
chains of neg, abs and J below their operands.
"""

from __future__ import annotations

from semantics.ir import Apply, NodeId, Program
from semantics.primitives.table import TABLE
from transforms.simplify.arithmetic import EXACT_RULES, FAST_RULES
from transforms.simplify.sensitivities import RULES as SENSITIVITY_RULES
from transforms.simplify.sensitivities import ZERO_RULES
from transforms.system import RewriteSystem

__all__ = ["EXACT_RULES", "FAST", "FAST_RULES", "RULES", "SYSTEM", "ZERO_RULES", "chain_length", "measure"]

WEIGHT = {
    TABLE[name]: weight
    for name, weight in (("switch", 3), ("div", 3), ("not_", 2), ("mul", 2), ("add", 1), ("sub", 1), ("gadd", 2))
}
CHAIN = (TABLE["neg"], TABLE["abs"], TABLE["J"])


def chain_length(program: Program, node: NodeId) -> int:
    """How many applications of neg, abs and J lie on top of one another at `node`."""
    length = 0
    while program.callee(node) in CHAIN and len(program.inputs(node)) == 2:
        node, length = program.inputs(node)[1], length + 1
    return length


def measure(program: Program) -> tuple[int, ...]:
    """Applications; their weight; the lengths of the chains below their inputs."""
    count = weight = chains = 0
    for node, found in program.nodes.items():
        if isinstance(found, Apply):
            count += 1
            weight += WEIGHT.get(program.callee(node), 0)
            chains += sum(chain_length(program, n) for n in found.inputs)
    return count, weight, chains


RULES = (*(r.rewrite for r in EXACT_RULES), *SENSITIVITY_RULES)

SYSTEM = RewriteSystem(
    name="simplify",
    rules=RULES,
    doc="algebra that keeps every bit, and the algebra of sensitivities",
    measure=measure,
)

FAST = RewriteSystem(
    name="fast",
    rules=(*RULES, *(r.rewrite for r in FAST_RULES)),
    doc="simplify, and the algebra of the reals under its side conditions",
    argument="an added rule removes an application, or replaces one by a cheaper one, or gathers two constants that fold into one",
    domain="REAL",
)
