"""
The rule of calls of NumPy's functions: keywords and defaults are put in the places of the row's parameters, and the array of a list
in the place of one that the text shows to be a list.
"""

from __future__ import annotations

import ast

from semantics.ir import NodeId
from transforms.agenda_system import agenda_rule
from transforms.parse.calls import called, take_arguments
from transforms.parse.cursor import Cursor
from transforms.parse.known import is_sequence
from transforms.parse.numpy_names import Function
from transforms.parse.state import Name, ParseState

ARRAYS = frozenset("abcxy")
"""What the parameters are called that take an array."""


@agenda_rule
def call_numpy(state: ParseState) -> ParseState | None:
    """invoke κ, b … a m σ  →  κ, %r σ        with %r the row that NumPy's m is, its defaults filled in"""
    match called(state):
        case (at, Name(found=Function() as found)):
            c = Cursor(state)
            positional, keywords = take_arguments(c, at, strings=True)
            given = arranged(c, at, found, positional, keywords)
            c.push(found.build(c, with_arrays(c, at, found, given), at))
            return c.state
    return None


def arranged(c: Cursor, at: ast.AST, found: Function, positional: list[NodeId], keywords: dict[str, NodeId]) -> list[NodeId]:
    """The arguments in the order of the parameters; Malformed where NumPy would refuse, or the language has not the keyword."""
    if "*" in found.parameters:
        if keywords:
            raise c.refuse(at, f"{found.name} takes no keyword arguments here", "pass the arguments by position")
        if len(positional) < found.least:
            raise c.refuse(at, f"{found.name} takes {found.least} arguments or more", "correct the number of arguments")
        return positional
    parameters = found.parameters
    if len(positional) > len(parameters):
        raise c.refuse(at, f"{found.name} takes {len(parameters)} arguments, {len(positional)} given", _shape(found))
    given = dict(zip(parameters, positional, strict=False))
    for name, node in keywords.items():
        if name not in parameters or name in given:
            what = f"{found.name} got {name} twice" if name in given else f"{found.name} takes no argument {name} here"
            raise c.refuse(at, what, _shape(found))
        given[name] = node
    for name in parameters:
        if name not in given:
            if name not in found.defaults:
                raise c.refuse(at, f"{found.name} needs an argument for {name}", _shape(found))
            given[name] = c.constant(found.defaults[name])
    return [given[name] for name in parameters]


def with_arrays(c: Cursor, at: ast.AST, found: Function, given: list[NodeId]) -> list[NodeId]:
    """The arguments with np.array of each list that stands where NumPy takes an array, as `np.mean([e for x in t])` has it."""
    if "*" in found.parameters:
        return given
    pairs = zip(found.parameters, given, strict=True)
    return [
        c.apply("as_array", node, c.constant(None), at=at) if name in ARRAYS and is_sequence(c, node) else node
        for name, node in pairs
    ]


def _shape(found: Function) -> str:
    inside = ", ".join(f"{p}={found.defaults[p]!r}" if p in found.defaults else p for p in found.parameters)
    return f"{found.name}({inside})"


RULES = (call_numpy,)
