"""
The rules of what stands behind a dot: fields, properties and methods of records, and the attributes of arrays.

    r.a          field(r, "a")                         a is a field of the class of r, or only ever a field
    r.p, r.m(x)  @m(r, x)                              m is a property or a method of the class of r, known where it was made
    r.m(x)       @.m(r, x)                             the class of r is known when the program runs: see `dispatch`
    x.T          transpose(x, None)                    no class that the program can name has a T

The class of a value is known where the record is made in this function, of `self`, and after `replace`.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from semantics.errors import Malformed
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Parameter
from semantics.primitives.table import TABLE
from semantics.structured import Label
from transforms.agenda_system import agenda_rule
from transforms.parse.calls import bind, called, take_arguments, take_parts
from transforms.parse.classes import members_of
from transforms.parse.cursor import Cursor
from transforms.parse.items import Member, Use, top
from transforms.parse.library import Update
from transforms.parse.names import Class, Known, Module, Operation, suggestion
from transforms.parse.numpy_calls import arranged
from transforms.parse.numpy_names import ATTRIBUTES, METHODS, REFUSED_METHODS
from transforms.parse.spreading import positional_only
from transforms.parse.state import Dispatch, Method, Name, ParseState, Signature, Value

UPDATE = "_replace"
SEVERAL = frozenset({"reshape", "transpose"})  # x.reshape(2, 3) is x.reshape((2, 3))


def maker(c: Cursor, cls: Class, at: ast.AST) -> NodeId:
    """The graph that makes a record of a class from its fields."""
    functions = c.tables.functions
    if cls.key not in functions:
        if any(other.label == cls.label for other in c.tables.makers.values()):
            raise c.refuse(at, f"two classes are called {cls.label.name} and have the same fields", "give them different names")
        graph = c.edit.graph(cls.label.name, cls.location)
        fields = [c.edit.parameter(graph, name) for name in cls.label.fields]
        c.edit.output(graph, c.edit.call(graph, TABLE["make_record"], c.constant(cls.label), *fields))
        c.change(functions=functions.set(cls.key, graph), makers=c.tables.makers.set(graph, cls))
        if all(cls.key != other.key for other in c.tables.world):
            c.change(world=(*c.tables.world, cls))
        defaults = {i: c.constant_default(found) for i, found in cls.defaults.items()}
        c.sign(graph, Signature(cls.label.name, cls.label.fields, 0, cls.positional, defaults))
    return c.edit.reference(c.tables.functions[cls.key])


def class_of(c: Cursor, node: NodeId) -> Class | None:
    """The class of a record, where the program alone shows it."""
    while True:
        match c.edit.nodes[node]:
            case Parameter(graph=graph):
                found: Class | None = c.tables.owners.get(graph)
                return found if c.edit.graphs[graph].parameters[0] == node else None
            case Apply(inputs=(function, *arguments)):
                value = c.constant_value(function)
                if isinstance(value, GraphRef):
                    return c.tables.makers.get(value.graph)
                if value is TABLE["with_field"]:
                    node = arguments[0]
                    continue
                place = {TABLE["make_record"]: 0, TABLE["of_class"]: 1}.get(value)
                return None if place is None else _labelled(c, c.constant_value(arguments[place]))
            case _:
                return None


def _labelled(c: Cursor, label: object) -> Class | None:
    found = [cls for cls in c.tables.world if cls.label == label]
    return found[0] if len(found) == 1 and isinstance(label, Label) else None


def kinds_in_world(c: Cursor, name: str) -> set[str]:
    """What an attribute can be of the classes that the program can name."""
    return {kinds[name] for cls in c.tables.world if name in (kinds := members_of(cls))}


def function_of(c: Cursor, cls: Class, name: str, at: ast.AST) -> tuple[GraphId, Signature]:
    """The graph of a method, a property or a function of a class."""
    found = cls.member(name)
    if not isinstance(found, Known):
        raise c.refuse(at, f"{cls.label.name}.{name} is no function with a source", "define it by def in the class")
    graph = c.graph_of(c.declare(replace(found, name=f"{cls.label.name}.{name}"), at))
    signature = c.signature(graph) if graph is not None else None
    assert graph is not None
    assert signature is not None
    if graph not in c.tables.owners and cls.kinds[name] != "staticmethod":
        c.change(owners=c.tables.owners.set(graph, cls))
        if not signature.parameters or not signature.positional:
            raise c.refuse(at, f"{cls.label.name}.{name} has no parameter for the record", f"def {name}(self, …)")
        if cls.kinds[name] == "classmethod":
            maker(c, cls, at)
            c.sign(graph, signature := _without_first(signature))
    return graph, signature


def _without_first(s: Signature) -> Signature:
    """The signature of a class method, whose first parameter stands for the class."""
    defaults = {i - 1: d for i, d in s.defaults.items()}
    return replace(
        s,
        parameters=s.parameters[1:],
        positional_only=max(0, s.positional_only - 1),
        positional=s.positional - 1,
        defaults=defaults,
    )


def receiver_of(cls: Class, name: str, record: NodeId) -> list[NodeId]:
    """What a method takes before its arguments: the record, or nothing."""
    return [record] if cls.kinds[name] == "method" else []


# attributes


@agenda_rule
def use_class(state: ParseState) -> ParseState | None:
    """⟨P⟩ κ, σ  →  κ, @P σ        @P(x, y) = make_record(label of P, x, y), with the defaults of P"""
    match top(state):
        case Use(Class() as cls, at):
            c = Cursor(state)
            c.push(maker(c, cls, at))
            return c.state
    return None


def _looked_at(state: ParseState) -> tuple[ast.Attribute, NodeId, Class | None] | None:
    """The attribute on top of the agenda, the value that it is taken of, and the class if the value is that class itself."""
    found, operand = top(state), state.operands and state.operands.head
    if not isinstance(found, Member) or not isinstance(operand, Value):
        return None
    value = state.program.constant(operand.node)
    return found.at, operand.node, state.makers.get(value.graph) if isinstance(value, GraphRef) else None


@agenda_rule
def member_of_class(state: ParseState) -> ParseState | None:
    """(.m) κ, @P σ  →  κ, @P.m σ        a method of P as a function of a P; a static method, or a constant of P"""
    match _looked_at(state):
        case (at, _, Class() as cls):
            c = Cursor(state)
            c.pop()
            kind = cls.kinds.get(at.attr)
            if kind in ("method", "staticmethod", "classmethod"):
                c.push(_of_class(c, cls, at) if kind == "method" else c.edit.reference(function_of(c, cls, at.attr, at)[0]))
            elif kind == "constant":
                c.do(Use(cls.member(at.attr), at))
            else:
                known = [n for n, k in cls.kinds.items() if k != "property"]
                raise c.refuse(at, f"the class {cls.label.name} has no {at.attr}", suggestion(at.attr, known), rule="name")
            return c.state
    return None


def _of_class(c: Cursor, cls: Class, at: ast.Attribute) -> NodeId:
    """A method as a function, which demands that its first argument is of the class."""
    graph, signature = function_of(c, cls, at.attr, at)
    view = c.edit.graph(signature.name, c.edit.graphs[graph].location)
    parameters = [c.edit.parameter(view, name) for name in signature.parameters]
    label = c.constant(cls.label)
    checked = c.edit.call(view, TABLE["of_class"], parameters[0], label)
    c.edit.output(view, c.edit.call(view, GraphRef(graph), checked, *parameters[1:]))
    c.sign(view, signature)
    return c.edit.reference(view)


@agenda_rule
def member_of_known(state: ParseState) -> ParseState | None:
    """(.a) κ, r σ  →  κ, field(r, "a") σ        r of a known class; of a property @p(r), of a method what is to be called"""
    match _looked_at(state):
        case (at, node, None) if (cls := class_of(Cursor(state), node)) is not None:
            c = Cursor(state)
            c.pop()
            match members_of(cls).get(at.attr):
                case "field":
                    c.push(c.apply("field", node, c.constant(at.attr), at=at))
                case "property":
                    c.push(c.apply(c.edit.reference(function_of(c, cls, at.attr, at)[0]), node, at=at))
                case "constant":
                    c.do(Use(cls.member(at.attr), at))
                case None if not _is_update(cls, at.attr):
                    known = list(members_of(cls))
                    raise c.refuse(at, f"{cls.label.name} has no attribute {at.attr}", suggestion(at.attr, known), rule="name")
                case _:
                    c.push_name(Method(node, at.attr, cls), at)
            return c.state
    return None


def _is_update(cls: Class, name: str) -> bool:
    return name == UPDATE and cls.label.kind == "namedtuple"


@agenda_rule
def member_of_value(state: ParseState) -> ParseState | None:
    """(.a) κ, r σ  →  κ, field(r, "a") σ        where a is a field of some class and nothing else; or what is to be decided"""
    match _looked_at(state):
        case (at, node, None) if class_of(Cursor(state), node) is None:
            c = Cursor(state)
            c.pop()
            name, kinds = at.attr, kinds_in_world(c, at.attr)
            of_array = name in METHODS or name in ATTRIBUTES
            if not kinds and not of_array and name != UPDATE:
                raise _unknown(c, at)
            if kinds == {"field"} and not of_array:
                c.push(c.apply("field", node, c.constant(name), at=at))
            elif not kinds and name in ATTRIBUTES:
                c.push(ATTRIBUTES[name].build(c, [node], at))
            else:
                c.push_name(Method(node, name, None), at)
            return c.state
    return None


def _unknown(c: Cursor, at: ast.Attribute) -> Malformed:
    """The refusal of an attribute that nothing has."""
    if at.attr in REFUSED_METHODS:
        return c.refuse(at, f"the method {at.attr} is not in the language", f"write {REFUSED_METHODS[at.attr]}", rule="name")
    every = {n for cls in c.tables.world for n in members_of(cls)}
    remedy = suggestion(at.attr, [*every, *METHODS, *ATTRIBUTES])
    if not remedy.startswith("did you"):
        remedy = "name the class in this module, or in the annotation of the parameter; a tuple has elements by position"
    what = f"neither arrays nor classes of records that the program can name have an attribute {at.attr}"
    return c.refuse(at, what, remedy, rule="name")


@agenda_rule
def member_of_name(state: ParseState) -> ParseState | None:
    """(.a) κ, r.m σ  →  (.a) κ, v σ        with v what r.m is when it is not called; a function of the library has no attributes"""
    found, operand = top(state), state.operands and state.operands.head
    if not isinstance(found, Member) or not isinstance(operand, Name) or isinstance(operand.found, Module):
        return None
    c = Cursor(state)
    if isinstance(operand.found, Operation):
        raise c.refuse(found.at, f"{operand.found.name} is a function, so .{found.at.attr} means nothing", "call it first")
    c.push(c.value().node)
    c.do(found)
    return c.state


# calls of methods


@agenda_rule
def call_known_method(state: ParseState) -> ParseState | None:
    """invoke κ, b … r.m σ  →  κ, %x σ        with %x = @m(r, …, b), m a method of the known class of r"""
    match called(state):
        case (at, Name(found=Method(receiver, name, Class() as cls))) if name in cls.kinds:
            c = Cursor(state)
            parts, keywords = take_parts(c, at)
            graph, signature = function_of(c, cls, name, at)
            before = [(node, False) for node in receiver_of(cls, name, receiver)]
            c.push(c.apply(c.edit.reference(graph), *bind(c, at, signature, [*before, *parts], keywords), at=at))
            return c.state
    return None


@agenda_rule
def call_update(state: ParseState) -> ParseState | None:
    """invoke κ, v … r._replace σ  →  κ, %r σ        with %r = with_field(r, "a", v) …"""
    match called(state):
        case (at, Name(found=Method(receiver, name, of))) if name == UPDATE and (of is None or name not in of.kinds):
            c = Cursor(state)
            parts, fields = take_parts(c, at)
            if parts:
                raise c.refuse(at, "_replace takes fields by name", "r._replace(x=…)")
            c.push(updated(c, receiver, fields, at))
            return c.state
    return None


@agenda_rule
def call_replace(state: ParseState) -> ParseState | None:
    """invoke κ, v … r replace σ  →  κ, %r σ        with %r = with_field(r, "a", v) …"""
    match called(state):
        case (at, Name(found=Update())):
            c = Cursor(state)
            positional, fields = take_arguments(c, at)
            if len(positional) != 1:
                raise c.refuse(at, "replace takes one record, and fields by name", "replace(r, x=…)")
            c.push(updated(c, positional[0], fields, at))
            return c.state
    return None


def updated(c: Cursor, record: NodeId, fields: dict[str, NodeId], at: ast.AST) -> NodeId:
    """The record with other values in some fields."""
    cls = class_of(c, record)
    for name, value in fields.items():
        if cls is not None and name not in cls.label.fields:
            raise c.refuse(at, f"{cls.label.name} has no field {name}", suggestion(name, list(cls.label.fields)), rule="name")
        record = c.apply("with_field", record, c.constant(name), value, at=at)
    return record


@agenda_rule
def call_method(state: ParseState) -> ParseState | None:
    """invoke κ, b … r.m σ  →  κ, %x σ        with %x = @.m(r, …, b), which decides by the class of r; of arrays m's row"""
    match called(state):
        case (at, Name(found=Method(receiver, name, None))) if name != UPDATE:
            c = Cursor(state)
            from transforms.parse.dispatch import decided

            parts, keywords = take_parts(c, at, strings=name in METHODS)
            positional = positional_only(c, at, parts)
            if not kinds_in_world(c, name) and name in METHODS:
                c.push(on_array(c, name, [receiver, *positional], keywords, at))
            else:
                dispatch = Dispatch("call", name, len(positional) + len(keywords), tuple(keywords))
                c.push(decided(c, dispatch, [receiver, *positional, *keywords.values()], at))
            return c.state
    return None


def on_array(c: Cursor, name: str, positional: list[NodeId], keywords: dict[str, NodeId], at: ast.AST) -> NodeId:
    """A method of arrays: the function of NumPy of that name, on the array."""
    if name in SEVERAL and len(positional) > 2:
        positional = [positional[0], c.apply("make_tuple", *positional[1:], at=at)]
    found = METHODS[name]
    result: NodeId = found.build(c, arranged(c, at, found, positional, keywords), at)
    return result


def read_member(c: Cursor, found: Method, at: ast.AST) -> NodeId:
    """A member that is not called: a property read, or a method as a function that has its record already."""
    from transforms.parse.dispatch import bound, decided

    if found.of is None:
        return decided(c, Dispatch("read", found.name), [found.receiver], at)
    if found.name not in found.of.kinds:
        raise c.refuse(at, f"{found.name} is no value", f"call it: r.{found.name}(x=…)")
    return bound(c, found.of, found.name, found.receiver, at)


RULES = (
    *(use_class, member_of_class, member_of_known, member_of_value, member_of_name, call_known_method, call_update, call_replace),
    call_method,
)
