"""
The items of the agenda: what a rule can leave to be done.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from semantics.ir import GraphId, NodeId
from transforms.parse.names import Found
from transforms.parse.nodes import Inner
from transforms.parse.source import Function
from transforms.parse.state import Frame, ParseState, Target


@dataclass(frozen=True, slots=True, eq=False)
class Eval:
    """Evaluate an expression."""

    expression: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class Emit:
    """Apply a primitive to the top `count` operands."""

    primitive: str
    count: int
    at: ast.AST
    boolean: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """Replace the operand by its truth."""

    at: ast.AST


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """Leave what a global name stands for."""

    found: Found
    at: ast.AST


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """Take the attribute of a module."""

    at: ast.Attribute


@dataclass(frozen=True, slots=True, eq=False)
class Enter:
    """Go on in another frame."""

    frame: Frame


@dataclass(frozen=True, slots=True, eq=False)
class Choose:
    """The condition is the operand: open the thunks of a conditional expression."""

    at: ast.IfExp


@dataclass(frozen=True, slots=True, eq=False)
class Shortcut:
    """The first of the remaining values of `and` or `or` is the operand: open the thunks of what follows."""

    at: ast.BoolOp
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Two neighbours of a chained comparison are operands."""

    at: ast.Compare
    index: int


@dataclass(frozen=True, slots=True, eq=False)
class Put:
    """Leave a node as operand."""

    node: NodeId
    boolean: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Close:
    """The operand is the output of the current graph, together with the variables that `:=` may have assigned."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Pick:
    """Both thunks are built: switch between them and call the one chosen; take apart what `:=` assigned."""

    condition: NodeId
    then: GraphId
    other: GraphId
    at: ast.AST
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Invoke:
    """The function and its arguments are operands: call it."""

    at: ast.Call


@dataclass(frozen=True, slots=True, eq=False)
class Gather:
    """The elements of a display, those to be spread included, are operands: join them."""

    at: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class Enclosed:
    """The arguments of a function that is called on the spot and the function itself are operands: call it."""

    at: Inner


@dataclass(frozen=True, slots=True, eq=False)
class Build:
    """The defaults of a function are operands: build it. `name` is the variable it is bound to; None for a lambda's value."""

    node: Function
    name: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Execute the statements from number `index` on."""

    statements: tuple[ast.stmt, ...]
    index: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Do:
    """Execute one statement."""

    statement: ast.stmt


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Assign the operand to a target, a name or a tuple of targets."""

    target: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """Assign the operand to each of several targets."""

    targets: tuple[ast.expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Keep:
    """Assign the operand to a variable and leave it."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class HasKey:
    """The dictionary is the operand: whether it has the key that the text names."""

    at: ast.Compare


@dataclass(frozen=True, slots=True, eq=False)
class Drop:
    """Forget the operand."""


@dataclass(frozen=True, slots=True, eq=False)
class Fork:
    """The truth of the test is the operand: open the branches."""

    at: ast.If


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """Where control reaches this, call the target."""

    target: Target
    at: ast.AST


@dataclass(frozen=True, slots=True, eq=False)
class FallOff:
    """Where control reaches this, return None."""


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """The truth of a loop's test is the operand: open its body and what follows."""

    at: ast.While
    header: Target


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """Evaluate an iterable to a walk."""

    expression: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class Over:
    """The top `count` operands are the parts of an iterable of this kind: make its walk."""

    kind: str
    count: int
    at: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class Count:
    """The walk is the operand: open the loop that goes over it."""

    at: ast.For


def evaluating(state: ParseState) -> ast.expr | None:
    """The expression on top of the agenda, if that is what is there."""
    return state.agenda.head.expression if state.agenda is not None and isinstance(state.agenda.head, Eval) else None


def top(state: ParseState) -> Any:
    """The item on top of the agenda."""
    return state.agenda.head if state.agenda is not None else None


def kind_of(state: ParseState) -> tuple[type, type | None]:
    """The kinds of the item on top of the agenda and of the source that is parsed next, if that is what it is for."""
    item = top(state)
    return type(item), type(item.expression) if isinstance(item, Eval) else type(item.statement) if isinstance(item, Do) else None
