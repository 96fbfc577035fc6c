"""
The cursor that rules move the state with. It is local to the rule that makes it; states stay values.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import Apply, Constant, GraphId, GraphRef, NodeId
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.values import Unbound
from transforms.agenda import changed
from transforms.parse.names import Found, Group, Known, Module, Operation, Refused
from transforms.parse.state import NOWHERE, Frame, Method, Name, ParseState, Signature, Stack, Target, Value, Walk


class Cursor:
    """A moving cursor over immutable states. `state` is where it stands."""

    __slots__ = ("_agenda", "_edit", "_operands", "_program", "_state", "frame")

    def __init__(self, state: ParseState) -> None:
        self._state, self.frame = state, state.frame
        self._agenda, self._operands = state.agenda and state.agenda.tail, state.operands
        self._edit: Edit | None = None

    @property
    def state(self) -> ParseState:
        """The state moved to: the item on top of the agenda is done."""
        program = self._edit.program if self._edit is not None else self._state.program
        return changed(self._state, program=program, agenda=self._agenda, operands=self._operands, frame=self.frame)

    @property
    def edit(self) -> Edit:
        """The cursor over the program."""
        if self._edit is None:
            self._edit = Edit(self._state.program)
        return self._edit

    @property
    def reached(self) -> bool:
        """Whether control gets here."""
        return self.frame.graph != NOWHERE

    # agenda and operands

    def do(self, *items: Any) -> None:
        """Puts items on the agenda, the first one on top."""
        for item in reversed(items):
            self._agenda = Stack(item, self._agenda)

    def push(self, node: NodeId, boolean: bool = False) -> None:
        """Leaves a node as operand."""
        self._operands = Stack(Value(node, boolean), self._operands)

    def push_name(self, found: Operation | Module | Method, at: ast.AST) -> None:
        """Leaves an operand that is not a node yet."""
        self._operands = Stack(Name(found, at), self._operands)

    def push_walk(self, walk: Walk) -> None:
        """Leaves something to go over as operand."""
        self._operands = Stack(walk, self._operands)

    def pop(self) -> Value | Name | Walk:
        """Takes the top operand."""
        assert self._operands is not None, "an operand is missing"
        top, self._operands = self._operands
        assert isinstance(top, (Value, Name, Walk))
        return top

    def value(self) -> Value:
        """Takes the top operand as a node; an operation becomes a primitive or a small graph."""
        operand = self.pop()
        assert not isinstance(operand, Walk)
        if isinstance(operand, Value):
            return operand
        found, at = operand.found, operand.at
        if isinstance(found, Method):
            from transforms.parse.members import read_member

            return Value(read_member(self, found, at))
        if isinstance(found, Module):
            raise self.refuse(at, f"the module {found.name} is no value", f"use one of its names: {found.name}.{found.members[0]}")
        return Value(self.constant(found.value) if found.value is not None else self._wrapped_operation(found, at))

    def part(self) -> NodeId | Walk:
        """Takes the top operand, as a node if it is a value."""
        assert self._operands is not None
        if isinstance(self._operands.head, Walk):
            walk, self._operands = self._operands
            return walk  # type: ignore[no-any-return]
        return self.value().node

    def nodes(self, count: int) -> list[NodeId]:
        """Takes `count` operands, in the order they were left."""
        return [self.value().node for _ in range(count)][::-1]

    # errors

    def refuse(self, at: ast.AST, what: str, remedy: str, rule: str = "parse") -> Malformed:
        """The error that refuses the source at `at`."""
        return self.frame.scope.source.refuse(at, what, remedy, rule)

    # the program

    def constant(self, value: Any) -> NodeId:
        """The node of a constant."""
        return self.edit.constant(value)

    def constant_value(self, node: NodeId) -> Any:
        """The value of a constant node; None for others."""
        found = self.edit.nodes[node]
        return found.value if isinstance(found, Constant) else None

    def graph_of(self, node: NodeId) -> GraphId | None:
        """The graph that a constant node refers to."""
        value = self.constant_value(node)
        return value.graph if isinstance(value, GraphRef) else None

    def new_graph(self, suffix: str, at: ast.AST) -> GraphId:
        """A new graph of this function, named for its role."""
        return self.edit.graph(f"{self.frame.scope.name}.{suffix}", self.frame.scope.source.location(at))

    def apply(self, function: str | NodeId, *arguments: NodeId, at: ast.AST | None = None, name: str = "") -> NodeId:
        """A new application in the current graph; functions with defaults are passed as views of their required arity."""
        first = self.constant(TABLE[function]) if isinstance(function, str) else function
        location = self.frame.scope.source.location(at) if at is not None else None
        passed = [self.as_value(a) for a in arguments]
        return self.edit.apply(self.frame.graph, first, *passed, name=name, location=location)

    def in_graph(self, graph: GraphId, make: Callable[[], NodeId]) -> NodeId:
        """What `make` builds, built in another graph."""
        here = self.frame.graph
        self.move(graph=graph)
        node = make()
        self.move(graph=here)
        return node

    def switch(self, condition: NodeId, then: GraphId, other: GraphId, at: ast.AST) -> NodeId:
        """The call of one of two thunks."""
        return self.apply(self.apply("switch", condition, self.edit.reference(then), self.edit.reference(other), at=at), at=at)

    def output(self, node: NodeId) -> None:
        """Ends the current graph with `node`; what follows is not reached."""
        if self.reached:
            self.edit.output(self.frame.graph, self.as_value(node))
            self.move(graph=NOWHERE)

    def move(self, **changes: Any) -> None:
        """Changes the frame."""
        self.frame = replace(self.frame, **changes)

    def bind(self, name: str, node: NodeId) -> None:
        """Makes the local variable stand for `node`, which takes its name if it has none."""
        found = self.edit.nodes[node]
        if isinstance(found, Apply) and not found.name:
            self.edit.nodes = self.edit.nodes.set(node, replace(found, name=name))
        self.move(env=self.frame.env.set(name, node))

    def variable(self, name: str) -> NodeId:
        """What a local variable stands for; Unbound if this path has not assigned it."""
        node = self.frame.env.get(name)
        return node if node is not None else self.constant(Unbound(name))

    def jump(self, target: Target, at: ast.AST, first: bool = False) -> None:
        """Ends the current graph with a call of the target. A counter begins at 0 and goes on by 1."""
        if self.reached:
            arguments = [self.variable(v) for v in target.variables]
            if target.counter is not None:
                zero = self.constant(0)
                arguments.insert(0, zero if first else self.apply("add", target.counter, self.constant(1), at=at))
            self.output(self.apply(self.edit.reference(target.graph), *arguments, at=at))

    def join(
        self, role: str, variables: tuple[str, ...], assigned: tuple[str, ...], at: ast.AST, counter: str = ""
    ) -> tuple[Target, Frame]:
        """
        A new graph with a parameter for each of `variables`, and the frame in it, where the other `assigned` ones are unbound.

        With `counter`, the graph's first parameter is a hidden one of that name.
        """
        graph = self.new_graph(role, at)
        hidden = self.edit.parameter(graph, counter) if counter else None
        env = self.frame.env
        for name in assigned:
            env = env.delete(name) if name in env else env
        for name in variables:
            env = env.set(name, self.edit.parameter(graph, name))
        return Target(graph, variables, hidden), replace(self.frame, graph=graph, env=env)

    # functions

    def declare(self, known: Known, at: ast.AST | None = None) -> NodeId:
        """The constant of a global function, whose body will be parsed later if it is new."""
        try:
            return self._declare(known)
        except Malformed as error:
            if error.location is None and at is not None:
                error.location = self.frame.scope.source.location(at)
            raise

    def _declare(self, known: Known) -> NodeId:
        functions = self._state.functions
        if known.key not in functions:
            source, node = known.open()
            from transforms.parse.functions import signature_of

            graph = self.edit.graph(known.name, source.location(node))
            self.change(functions=functions.set(known.key, graph), pending=(*self._state.pending, (known, graph, False)))
            defaults = {i: self.constant_default(found) for i, found in known.defaults.items()}
            self.sign(graph, signature_of(node, known.name, defaults))
        return self.edit.reference(self._state.functions[known.key])

    def constant_default(self, found: Found) -> NodeId | Refused:
        from transforms.parse.names import Literal, Row

        match found:
            case Literal(value) | Row(value) | Operation(value=Primitive() as value):
                return self.constant(value)
            case Known():
                return self.declare(found)
            case Refused():
                return found
            case Group():
                from transforms.parse.classes import constant_value

                known, value = constant_value(found)
                return self.constant(value) if known else Refused("this default value is no constant", "pass the argument")
            case _:
                return Refused("this default value is no constant", "pass the argument")

    def sign(self, graph: GraphId, signature: Signature) -> None:
        """Records how `graph` is called."""
        self.change(signatures=self._state.signatures.set(graph, signature))

    def signature(self, graph: GraphId) -> Signature | None:
        """How `graph` is called, if it is a known function."""
        return self._state.signatures.get(graph)

    def change(self, **changes: Any) -> None:
        """Changes the tables of the state."""
        self._state = replace(self._state, **changes)

    @property
    def tables(self) -> ParseState:
        """The tables of the state, as changed so far."""
        return self._state

    def as_value(self, node: NodeId) -> NodeId:
        """The node as a first-class value: a function with defaults becomes a view that takes only its required arguments."""
        graph = self.graph_of(node)
        signature = self._state.signatures.get(graph) if graph is not None else None
        if graph is not None and signature is not None and signature.rest:
            what = f"{signature.name} takes any number of arguments, so it is no value"
            raise Malformed(what, rule="parse", location=self.edit.graphs[graph].location, remedy="wrap it: lambda x: g(x)")
        if graph is None or signature is None or not (signature.defaults or signature.positional < len(signature.parameters)):
            return node
        if graph not in self._state.wrappers:
            self.change(wrappers=self._state.wrappers.set(graph, self._view(graph, signature)))
        return self._state.wrappers[graph]

    def _view(self, graph: GraphId, signature: Signature) -> NodeId:
        location = self.edit.graphs[graph].location
        view = self.edit.graph(signature.name, location)
        arguments: list[NodeId] = []
        for i, name in enumerate(signature.parameters):
            default = signature.defaults.get(i)
            if i not in signature.defaults and i >= signature.positional:
                what = f"{signature.name} is used as a value, but wants {name} by keyword"
                raise Malformed(what, rule="parse", location=location, remedy=f"make {name} an ordinary parameter")
            if i not in signature.defaults:
                arguments.append(self.edit.parameter(view, name))
            elif isinstance(default, int):
                arguments.append(self.as_value(default))
            else:
                why = default if isinstance(default, Refused) else Refused("its defaults are not known yet", "define it above")
                raise Malformed(
                    f"{signature.name} is used as a value: {why.what}", rule="parse", location=location, remedy=why.remedy
                )
        self.edit.output(view, self.edit.apply(view, self.edit.reference(graph), *arguments, location=location))
        return self.edit.reference(view)

    def _wrapped_operation(self, operation: Operation, at: ast.AST) -> NodeId:
        if operation.most is None or operation.least != operation.most:
            raise self.refuse(at, f"{operation.name} takes a varying number of arguments, so it is no value", "wrap it in a lambda")
        graph = self.edit.graph(operation.name, self.frame.scope.source.location(at))
        arguments = [self.edit.parameter(graph, "xy"[i]) for i in range(operation.least)]
        self.edit.output(graph, self.in_graph(graph, lambda: operation.build(self, arguments, at)))
        return self.edit.reference(graph)
