"""
Arguments that stand for several: `f(a, *t)`, and the parameter `*args` that takes the rest of them.

The elements of a display, or of a list or tuple made in this function, are known when parsing and stand for themselves. Otherwise a
function that is known takes the elements that it needs out of the whole, whose length is then checked when the program runs.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from semantics.ir import NodeId
from transforms.parse.cursor import Cursor
from transforms.parse.displays import expanded, joined
from transforms.parse.state import Signature

Part = tuple[NodeId, bool]


def positional_only(c: Cursor, at: ast.Call, parts: list[Part]) -> list[NodeId]:
    """The arguments of a call of something whose number of parameters is not known: every element of a starred one must be."""
    found = expanded(c, parts)
    if any(starred for _, starred in found):
        what = "how many arguments the * stands for is not known when parsing"
        raise c.refuse(at, what, "write the elements out: g(t[0], t[1]), or call a function that is known here", rule="call")
    return [node for node, _ in found]


def spread(
    c: Cursor, at: ast.Call, parts: list[Part], signature: Signature, keywords: Mapping[str, NodeId]
) -> tuple[list[NodeId], NodeId | None]:
    """
    The positional arguments for the parameters of `signature`, what `*t` stands for taken apart, and the tuple of the rest.

    Without a parameter for the rest, arguments that are too many are left for `bind` to refuse.
    """
    found, count = expanded(c, parts), signature.positional
    if not any(starred for _, starred in found):
        nodes = [node for node, _ in found]
        if not signature.rest:
            return nodes, None
        return nodes[:count], c.apply("make_tuple", *nodes[count:], at=at)
    whole = joined(c, found, at)
    if signature.rest:
        after = c.apply("make_slice", c.constant(count), c.constant(None), c.constant(None), at=at)
        rest = c.apply("getitem", whole, after, at=at) if count else whole
        return [c.apply("getitem", whole, c.constant(i), at=at) for i in range(count)], rest
    count -= sum(name in keywords for name in signature.parameters[:count])
    if any(i in signature.defaults for i in range(count)):
        what = f"{signature.name} has defaults, so how many arguments the * stands for must be known when parsing"
        raise c.refuse(at, what, "write the elements out: g(t[0], t[1])", rule="call")
    whole = c.apply("of_length", whole, c.constant(count), at=at)
    return [c.apply("getitem", whole, c.constant(i), at=at) for i in range(count)], None
