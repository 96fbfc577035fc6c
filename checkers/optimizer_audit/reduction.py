"""
Making a failing program small: replace a node by one of its arguments or by a constant as long as the failure stays, then drop
what is not needed. What is left is what a reader must look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Apply, GraphRef, Program
from semantics.scope import scopes
from semantics.wellformed import problems
from transforms.clone import link

CONSTANTS: tuple[Any, ...] = (1.0, 0.0, 0, 1)
MOST_TRIES = 250


def live(program: Program) -> Program:
    """The same program without what its entry does not need."""
    edit = Edit(empty())
    edit.set_entry(link(edit, program))
    return edit.program


def text_of(program: object) -> str:
    """A program as text, ill-formed ones too: those that cannot be printed as a list of their nodes."""
    try:
        return str(program)
    except (AdjudgeError, AttributeError, LookupError):
        nodes = getattr(program, "nodes", {})
        return "\n".join(f"  node {n}: {nodes[n]}" for n in sorted(nodes))


def size(program: Program) -> int:
    """Applications and graphs that are needed."""
    found = scopes(program)
    owned = sum(isinstance(program.nodes[n], Apply) and program.owner(n) == g for g, nodes in found.needed.items() for n in nodes)
    return owned + len(found.free)


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one node fewer; the last nodes go first, since they carry the rest with them."""
    found = scopes(program)
    nodes = sorted({n for g, ns in found.needed.items() for n in ns if program.owner(n) == g}, reverse=True)
    for node in nodes:
        application = program.nodes[node]
        if not isinstance(application, Apply):
            continue
        for target in application.arguments:
            if not isinstance(program.constant(target), GraphRef):
                yield _instead(program, node, target)
        for value in CONSTANTS:
            edit = Edit(program)
            edit.replace(node, edit.constant(value))
            yield edit.program


def _instead(program: Program, node: int, other: int) -> Program:
    edit = Edit(program)
    edit.replace(node, other)
    return edit.program


def reduce(program: Program, fails: Callable[[Program], bool], most: int = MOST_TRIES) -> Program:
    """A program for which `fails` is still true, none of whose neighbours that were tried is smaller and fails."""
    program, tries, changed = _if(live(program), fails, program), 0, True
    while changed and tries < most:
        changed = False
        for candidate in smaller(program):
            tries += 1
            if tries > most:
                break
            if next(iter(problems(candidate)), None) is not None:
                continue
            candidate = live(candidate)
            if size(candidate) < size(program) and _quietly(fails, candidate):
                program, changed = candidate, True
                break
    return program


def _if(candidate: Program, fails: Callable[[Program], bool], otherwise: Program) -> Program:
    return candidate if _quietly(fails, candidate) else otherwise


def _quietly(fails: Callable[[Program], bool], program: Program) -> bool:
    """Whether it fails; a candidate that cannot be judged does not."""
    try:
        return fails(program)
    except (AdjudgeError, ArithmeticError, AssertionError, LookupError, TypeError, ValueError):
        return False
