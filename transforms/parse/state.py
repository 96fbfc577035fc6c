"""
The state of parsing.

    κ  agenda: what remains to be done, a stack of items      σ  operands: what expressions have left, a stack
    ρ  environment: local variable ↦ node                     g  the graph being built; none after a return
    P  the program so far                                     θ  the loops around this place: header and after

Every part is immutable: a state can be kept, compared with its successor, and continued from. Rules move it by a `Cursor`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from immutables import Map

from semantics.ir import GraphId, NodeId, Program
from transforms.parse.flow import Scope
from transforms.parse.names import Class, Known, Module, NameTable, Operation, Refused
from transforms.parse.source import Function

NOWHERE: GraphId = -1
EMPTY: Map[Any, Any] = Map()


class Stack(NamedTuple):
    """An immutable stack; the empty one is None."""

    head: Any
    tail: Stack | None


def items_of(stack: Stack | None) -> Iterator[Any]:
    """From the top down."""
    while stack is not None:
        yield stack.head
        stack = stack.tail


@dataclass(frozen=True, slots=True)
class Target:
    """A graph that is jumped to, the variables it takes, and the hidden counter of a `for`, which a jump increments."""

    graph: GraphId
    variables: tuple[str, ...]
    counter: NodeId | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Where the parser is: in which function, in which graph of it, what the variables stand for, and the loops around."""

    scope: Scope
    names: NameTable
    function: GraphId
    graph: GraphId
    env: Map[str, NodeId]
    loops: Stack | None = None


@dataclass(frozen=True, slots=True)
class Signature:
    """
    How a known graph is called. A default is a node, None where it is not known here, or a Refused that says why not.

    With `rest`, the last parameter is the tuple of the positional arguments that no other takes.
    """

    name: str
    parameters: tuple[str, ...]
    positional_only: int
    positional: int
    defaults: Mapping[int, NodeId | Refused | None]
    rest: bool = False

    @property
    def required(self) -> tuple[int, ...]:
        """The positions that every call must fill."""
        return tuple(i for i in range(len(self.parameters)) if i not in self.defaults)


@dataclass(frozen=True, slots=True)
class Value:
    """An operand that is a node; `boolean` if its text alone shows that it is a boolean."""

    node: NodeId
    boolean: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """A method, or what may be one: the attribute `name` of the value `receiver`, whose class is known here or not."""

    receiver: NodeId
    name: str
    of: Class | None


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """An operand that is not a node yet: an operation, a module, or a method of a value."""

    found: Operation | Module | Method
    at: ast.AST


class Dispatch(NamedTuple):
    """
    What is decided by the class of a record when the program runs: `x.name`, `x.name(…)`, or an operator.

    kind      "read", "call", "left" (x ⊕ y by a method of x) or "right" (by one of y)
    arguments is how many there are besides the receiver; keywords are the names of the last of them
    """

    kind: str
    name: str
    arguments: int = 0
    keywords: tuple[str, ...] = ()


class Chain(NamedTuple):
    """A graph that decides by class: `tail` is the last graph of it so far, `done` how many classes it has looked at."""

    graph: GraphId
    tail: GraphId
    done: int
    frame: Frame
    at: ast.AST


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """An operand that a loop can go over: the number of elements, and `element(cursor, k, at)`, which makes the k-th."""

    size: NodeId
    element: Callable[[Any, NodeId, ast.AST], NodeId]


@dataclass(frozen=True, eq=False)
class ParseState:
    """
    functions   the graph of each global function met so far      pending     those whose body is still to be parsed
    signatures  how each known graph is called                    wrappers    the view of a graph with its defaults filled in
    reserved    the graph of a nested function, by the graph of the function it is defined in and its tree
    awaited     for a nested function, the names it needs that are defined below it
    world       the classes of records that the functions parsed so far can name
    makers      the class that a graph makes records of               owners    the class that a graph is a method of
    chains      for what is decided by class when the program runs, the graph that decides
    """

    program: Program
    agenda: Stack | None
    operands: Stack | None
    frame: Frame
    pending: tuple[tuple[Known, GraphId, bool], ...] = ()
    functions: Map[Any, GraphId] = EMPTY
    signatures: Map[GraphId, Signature] = EMPTY
    wrappers: Map[GraphId, NodeId] = EMPTY
    reserved: Map[tuple[GraphId, Function], GraphId] = EMPTY
    defined: Map[GraphId, None] = EMPTY
    awaited: Map[GraphId, tuple[GraphId, ...]] = EMPTY
    world: tuple[Class, ...] = ()
    makers: Map[GraphId, Class] = EMPTY
    owners: Map[GraphId, Class] = EMPTY
    chains: Map[Dispatch, Chain] = EMPTY
