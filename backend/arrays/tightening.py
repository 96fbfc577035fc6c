"""
The passes over the text of a function for one processor: tests of sizes first, indices in order not read, what nothing needs left
out, loops over one size joined, arrays made smaller, turns put side by side, loops marked whose turns are apart, arrays written
where they are kept, constants written out, edges filled alone, and sizes read once. On a GPU the threads of a block share loops and
arrays, so the text is left there as it is. A choice between constants is three blocks to Numba, some of whose passes take time that
grows with blocks times names.
"""

from __future__ import annotations

import ast

from backend.arrays.alike import alike
from backend.arrays.apart import marked
from backend.arrays.arranged import arranged
from backend.arrays.begun import begun
from backend.arrays.carried import spoken, told
from backend.arrays.constants import constants
from backend.arrays.contraction import contracted
from backend.arrays.decided import decided
from backend.arrays.direct import direct
from backend.arrays.eager import eager
from backend.arrays.edges import edged
from backend.arrays.effects import Reader, roots
from backend.arrays.fusion import fused
from backend.arrays.guards import guarded, sized
from backend.arrays.hoisting import hoisted, lent
from backend.arrays.keeping import kept_in_place, kept_once
from backend.arrays.lanes import beside
from backend.arrays.needed import needed
from backend.arrays.once import read_once
from backend.arrays.popped import summed
from backend.arrays.ranged import ranged
from backend.arrays.reuse import reused
from backend.arrays.stacked import stacked
from backend.arrays.touched import touched
from backend.arrays.unmasked import unmasked
from backend.arrays.whole import whole
from backend.arrays.windows import windowed

SHARES = frozenset({"_each", "_rows", "_columns", "_all", "_own", "_alone"})
THROUGH = 8  # names, from a sum of sensitivities to what it is a sum with: through choices, out of a loop and its turn, into one


def tightened(text: str) -> str:
    """A function that computes the same numbers in the same way, with fewer loops and less memory."""
    if "_empty(" not in text and "_full(" not in text:
        return text
    module = _Ranges().visit(ast.parse(text))
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef), "one function"
    needed(function, Reader(roots(function)))
    guarded(function, Reader(roots(function)))
    arranged(function)
    module.body[0] = function = summed(function, told(function), THROUGH)
    if begun(function):
        constants(function)
        spoken(function)
    if (found := whole(function)) is not None:
        spoken(found)
        direct(found)
        needed(found, Reader(roots(found)))
        module.body[0] = function = summed(found, told(found), THROUGH)
        if begun(function):
            constants(function)
            spoken(function)
    needed(function, Reader(roots(function)))
    unmasked(function)
    if decided(function):
        sized(function)
    touched(function)
    hoisted(function)
    windowed(function)
    function.body = fused(function.body, Reader(roots(function)))
    beside(function, contracted(function))
    marked(function, Reader(roots(function)))
    stacked(function)
    kept_in_place(function)
    kept_once(function)
    reused(function)
    lent(function)
    reused(function)
    constants(function)
    edged(function)
    eager(function)
    alike(function, copies="all")
    ranged(function)
    read_once(function)
    return ast.unparse(ast.fix_missing_locations(module))


class _Ranges(ast.NodeTransformer):
    """Whatever threads share, one processor goes through as a range."""

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        match node.iter:
            case ast.Call(ast.Name(name), stop) if name in SHARES:
                node.iter = ast.Call(ast.Name("range", ast.Load()), stop, [])
        return node
