"""
NumPy in rewrite rules: `np.sum(x, axis=#a)`, `x.T`, `x.reshape(#s)`, `x[:, 0]`. What the front end makes of the same expression
in a program is what it means in a rule; nothing is restated here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from semantics.errors import Malformed
from transforms.patterns.terms import Term, term_of

PREFIX = "hole_"


def numpy_term(form: ast.expr, term: Callable[[ast.expr], Term], refuse: Callable[[str, str], Malformed]) -> Term:
    """The term of a NumPy call, a method, an attribute or a subscript, whose operands `term` reads."""
    from transforms.parse import parse_text

    holes: dict[str, Term] = {}

    def held(node: ast.expr) -> ast.expr:
        """The operand as the front end sees it: literals, tuples and slices as they are, everything else a parameter."""
        match node:
            case ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant()) | ast.Attribute(ast.Name("np")):
                return node
            case ast.Tuple(items):
                return ast.Tuple([held(i) for i in items], ast.Load())
            case ast.Slice(lower, upper, step):
                return ast.Slice(*(part and held(part) for part in (lower, upper, step)))
            case _:
                name = f"{PREFIX}{len(holes)}"
                holes[name] = term(node)
                return ast.Name(name, ast.Load())

    match form:
        case ast.Call(ast.Attribute(ast.Name("np")) as function, arguments, keywords):
            held_form: ast.expr = _call(function, [held(a) for a in arguments], keywords, held)
        case ast.Call(ast.Attribute(owner, name), arguments, keywords):
            method = ast.Attribute(held(owner), name, ast.Load())
            held_form = _call(method, [held(a) for a in arguments], keywords, held)
        case ast.Attribute(owner, name):
            held_form = ast.Attribute(held(owner), name, ast.Load())
        case ast.Subscript(owner, index):
            held_form = ast.Subscript(held(owner), held(index), ast.Load())
        case _:
            raise AssertionError(form)
    source = f"import numpy as np\ndef side({', '.join(holes)}):\n    return {ast.unparse(ast.fix_missing_locations(held_form))}\n"
    try:
        return term_of(parse_text(source, "side", "<rule>"), holes)
    except Malformed as error:
        raise refuse(error.what, error.remedy) from None


def _call(
    function: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword], held: Callable[[ast.expr], ast.expr]
) -> ast.expr:
    return ast.Call(function, arguments, [ast.keyword(k.arg, held(k.value)) for k in keywords])


def known_to_numpy(name: str) -> bool:
    """Whether the front end has a function of NumPy by this name."""
    from transforms.parse.numpy_names import NUMPY

    return name in NUMPY.members
