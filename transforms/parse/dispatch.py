"""
What is decided by the class of a record when the program runs, in a closed world: the classes that the program can name.

Of every attribute, method and operator that is decided so, the program has one graph. After everything else is parsed it gets,
class by class, the arm of each class that has the member; a class that a later function brings along is added to it.

    @.area(%s, %k):                               s.area(k)
      %c = is_instance(%s, label(… Square …))
      %t = switch(%c, @Square, @else)
      return %t()                                 @Square() = @Square.area(of_class(%s, label), %k), @else() looks at the next class

An operator asks the left operand's class first, and then, for its reflected method, the right one's.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from semantics.errors import Malformed
from semantics.ir import GraphId, NodeId
from transforms.agenda_system import agenda_rule
from transforms.parse.calls import bind, called, take_parts
from transforms.parse.classes import members_of
from transforms.parse.cursor import Cursor
from transforms.parse.items import Close, Enter, Use
from transforms.parse.members import class_of, function_of, on_array, receiver_of
from transforms.parse.names import Class
from transforms.parse.numpy_names import ATTRIBUTES, METHODS
from transforms.parse.special import OPERATORS, may_be_record, operator_of
from transforms.parse.spreading import positional_only
from transforms.parse.state import Chain, Dispatch, ParseState, Value

SPECIAL = {method: primitive for primitive, methods in OPERATORS.items() for method in methods if method}


def decided(c: Cursor, dispatch: Dispatch, arguments: Sequence[NodeId], at: ast.AST) -> NodeId:
    """The call of the graph that decides, which is made where it is first needed."""
    return c.apply(c.edit.reference(chain(c, dispatch, at).graph), *arguments, at=at)


def chain(c: Cursor, dispatch: Dispatch, at: ast.AST) -> Chain:
    """The graph that decides. As long as it has looked at no class it does what is done where no class has the member."""
    if dispatch not in c.tables.chains:
        location = c.frame.scope.source.location(at)
        graph = c.edit.graph(f".{dispatch.name}" if dispatch.kind in ("read", "call") else dispatch.name, location)
        names = ("x", "y") if dispatch.kind in ("left", "right") else ("r", *(f"a{i}" for i in range(dispatch.arguments)))
        for name in names[: 1 + dispatch.arguments]:
            c.edit.parameter(graph, name)
        found = Chain(graph, graph, 0, replace(c.frame, function=graph, graph=graph, loops=None), at)
        c.change(chains=c.tables.chains.set(dispatch, found))
        here, c.frame = c.frame, found.frame
        last = otherwise(c, dispatch, c.edit.graphs[graph].parameters, at)
        c.frame = here
        c.edit.output(graph, last)
    return c.tables.chains[dispatch]


def otherwise(c: Cursor, dispatch: Dispatch, arguments: Sequence[NodeId], at: ast.AST) -> NodeId:
    """What is done with a value of none of the classes."""
    record, *rest = arguments
    match dispatch.kind:
        case "left" if (reflected := OPERATORS.get(SPECIAL[dispatch.name], ("", ""))[1]) and dispatch.arguments:
            return decided(c, Dispatch("right", reflected, 1), arguments, at)
        case "left" | "right":
            return c.apply(SPECIAL[dispatch.name], *arguments, at=at)
        case "call" if dispatch.name == "__call__":
            return c.apply(record, *rest, at=at)
        case "call" if dispatch.name in METHODS:
            count = len(rest) - len(dispatch.keywords)
            keywords = dict(zip(dispatch.keywords, rest[count:], strict=True))
            return on_array(c, dispatch.name, [record, *rest[:count]], keywords, at)
        case "read" if dispatch.name in ATTRIBUTES:
            found: NodeId = ATTRIBUTES[dispatch.name].build(c, [record], at)
            return found
    value = c.apply("field", record, c.constant(dispatch.name), at=at)
    return c.apply(value, *rest, at=at) if dispatch.kind == "call" else value


def waiting(state: ParseState) -> Dispatch | None:
    """A dispatch that has not looked at every class of the world."""
    return next((d for d, found in state.chains.items() if found.done < len(state.world)), None)


@agenda_rule
def next_class(state: ParseState) -> ParseState | None:
    """·, with @.m before class P  →  ·        where P has m, the end of @.m becomes switch(is_instance(r, P), @P, @else)()"""
    if state.agenda is not None or state.pending or (dispatch := waiting(state)) is None:
        return None
    c = Cursor(state)
    found = c.tables.chains[dispatch]
    cls = c.tables.world[found.done]
    c.frame = found.frame
    tail: GraphId = found.tail
    items: tuple[object, ...] = ()
    if dispatch.name in members_of(cls):
        tail, items = _extended(c, dispatch, found, cls)
    c.change(chains=c.tables.chains.set(dispatch, found._replace(tail=tail, done=found.done + 1)))
    c.do(*items)
    return c.state


def _extended(c: Cursor, dispatch: Dispatch, found: Chain, cls: Class) -> tuple[GraphId, tuple[object, ...]]:
    """The new tail, and what remains to be done for the arm of the class."""
    arguments = c.edit.graphs[found.graph].parameters
    record = arguments[1 if dispatch.kind == "right" else 0]
    arm, tail = c.new_graph(cls.label.name, found.at), c.new_graph("else", found.at)
    c.edit.output(tail, _again(c, found, dispatch, tail))
    c.frame = replace(c.frame, graph=found.tail)
    test = c.apply("is_instance", record, c.constant(cls.label), at=found.at)
    old = c.edit.graphs[found.tail].output
    c.edit.output(found.tail, c.switch(test, arm, tail, found.at))
    _discard(c, old)
    c.frame = replace(found.frame, graph=arm)
    itself = c.apply("of_class", record, c.constant(cls.label), at=found.at)
    match members_of(cls)[dispatch.name]:
        case "constant":
            return tail, (Enter(c.frame), Use(cls.member(dispatch.name), found.at), Close(), Enter(found.frame))
        case _:
            c.edit.output(arm, c.as_value(_arm(c, dispatch, cls, itself, arguments, found.at)))
            return tail, ()


def _again(c: Cursor, found: Chain, dispatch: Dispatch, tail: GraphId) -> NodeId:
    c.frame = replace(found.frame, graph=tail)
    return otherwise(c, dispatch, c.edit.graphs[found.graph].parameters, found.at)


def _discard(c: Cursor, node: NodeId) -> None:
    """Removes what the old end of a chain computed, now that nothing uses it; what is used twice comes up twice."""
    todo = [node]
    while todo:
        current = todo.pop()
        nodes = c.edit.program.nodes
        if current not in nodes or c.edit.program.owner(current) is None or c.edit.uses.get(current) or c.edit.returns.get(current):
            continue
        if inputs := c.edit.program.inputs(current):
            c.edit.remove(current)
            todo += inputs


def _arm(c: Cursor, dispatch: Dispatch, cls: Class, record: NodeId, arguments: Sequence[NodeId], at: ast.AST) -> NodeId:
    """What is done with a record of the class."""
    name, kind = dispatch.name, members_of(cls)[dispatch.name]
    rest = [a for i, a in enumerate(arguments) if i != (1 if dispatch.kind == "right" else 0)]
    if dispatch.kind == "read" and kind not in ("field", "property"):
        return bound(c, cls, name, record, at)
    if kind in ("field", "property"):
        read = (
            c.apply("field", record, c.constant(name), at=at)
            if kind == "field"
            else c.apply(c.edit.reference(function_of(c, cls, name, at)[0]), record, at=at)
        )
        return c.apply(read, *rest, at=at) if dispatch.kind == "call" else read
    graph, signature = function_of(c, cls, name, at)
    count = len(rest) - len(dispatch.keywords)
    keywords = dict(zip(dispatch.keywords, rest[count:], strict=True))
    parts = [(node, False) for node in (*receiver_of(cls, name, record), *rest[:count])]
    try:
        given = bind(c, at, signature, parts, keywords)  # type: ignore[arg-type]
    except Malformed as error:
        return c.apply("fail", c.constant(f"TypeError: {error.what}"), at=at)
    return c.apply(c.edit.reference(graph), *given, at=at)


def bound(c: Cursor, cls: Class, name: str, record: NodeId, at: ast.AST) -> NodeId:
    """A method as a function of its other required parameters, which has its record already."""
    graph, signature = function_of(c, cls, name, at)
    before = receiver_of(cls, name, record)
    view = c.new_graph(name, at)
    names = [p for i, p in enumerate(signature.parameters) if i >= len(before) and i in signature.required]
    given = [*before, *(c.edit.parameter(view, p) for p in names)]
    here, c.frame = c.frame, replace(c.frame, graph=view)
    parts = [(node, False) for node in given]
    result = c.apply(c.edit.reference(graph), *bind(c, at, signature, parts, {}), at=at)  # type: ignore[arg-type]
    c.frame = here
    c.edit.output(view, result)
    return c.edit.reference(view)


# operators and calls


@agenda_rule
def apply_operator(state: ParseState) -> ParseState | None:
    """⊕/2 κ, y x σ  →  κ, %r σ        with %r = @__add__(x, y), which decides by class; where a class defines it"""
    if (item := operator_of(state)) is None:
        return None
    name, c = OPERATORS[item.primitive][0], Cursor(state)
    operands = c.nodes(item.count)
    cls = class_of(c, operands[0])
    if cls is not None and cls.kinds.get(name) == "method":
        graph, signature = function_of(c, cls, name, item.at)
        given = bind(c, item.at, signature, [(n, False) for n in operands], {})  # type: ignore[arg-type]
        c.push(c.apply(c.edit.reference(graph), *given, at=item.at))
    else:
        c.push(decided(c, Dispatch("left", name, item.count - 1), operands, item.at))
    return c.state


@agenda_rule
def call_record(state: ParseState) -> ParseState | None:
    """invoke κ, b … f σ  →  κ, %r σ        with %r = @.__call__(f, …, b): a record's method, or the function f itself"""
    match called(state):
        case (at, Value(node)) if may_be_record(state, node):
            c = Cursor(state)
            parts, keywords = take_parts(c, at)
            if (cls := class_of(c, node)) is not None and "__call__" in cls.kinds:
                graph, signature = function_of(c, cls, "__call__", at)
                c.push(c.apply(c.edit.reference(graph), *bind(c, at, signature, [(node, False), *parts], keywords), at=at))
                return c.state
            if keywords:
                raise c.refuse(at, "keyword arguments need a function that is known when parsing", "pass the arguments by position")
            positional = positional_only(c, at, parts)
            c.push(decided(c, Dispatch("call", "__call__", len(positional)), [node, *positional], at))
            return c.state
    return None


RULES = (next_class, apply_operator, call_record)
