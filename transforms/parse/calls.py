"""
The rules of calls. What is called decides: a known function (keywords and defaults are resolved here), a primitive, an
operation of the library, a derivative, or any other value, which takes positional arguments only.
"""

from __future__ import annotations

import ast

from semantics.ir import GraphRef, NodeId
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms.agenda_system import agenda_rule
from transforms.parse.cursor import Cursor
from transforms.parse.items import Eval, Invoke, evaluating, top
from transforms.parse.library import is_macro
from transforms.parse.names import Module, Operation, Refused, suggestion
from transforms.parse.special import may_be_record
from transforms.parse.spreading import Part, positional_only, spread
from transforms.parse.state import Name, ParseState, Signature, Stack, Value

# derivatives with a second argument that says with respect to what
WITH_RESPECT = frozenset({"grad", "value_and_grad", "jacobian", "hessian"})
MACRO_PARAMETERS = {"jvp": ("f", "primals", "tangents"), "hvp": ("f",), **dict.fromkeys(WITH_RESPECT, ("f", "wrt"))}


@agenda_rule
def call(state: ParseState) -> ParseState | None:
    """⟨f(a, …, k=b)⟩ κ, σ  →  ⟨f⟩ ⟨a⟩ … ⟨b⟩ invoke κ, σ"""
    match evaluating(state):
        case ast.Call(func=function, args=arguments, keywords=keywords) as at:
            c = Cursor(state)
            given = [a.value if isinstance(a, ast.Starred) else a for a in arguments]
            c.do(Eval(function), *map(Eval, given), *(Eval(k.value) for k in keywords), Invoke(at))
            return c.state
    return None


def called(state: ParseState) -> tuple[ast.Call, Value | Name] | None:
    """The call on top of the agenda, and the operand that is called."""
    found = top(state)
    if not isinstance(found, Invoke):
        return None
    operands: Stack | None = state.operands
    for _ in range(len(found.at.args) + len(found.at.keywords)):
        assert operands is not None
        operands = operands.tail
    assert operands is not None
    return found.at, operands.head


def _called_constant(state: ParseState) -> tuple[ast.Call, object] | None:
    """The call on top of the agenda, with the constant that is called, or None as its value if it is no constant."""
    match called(state):
        case (at, Value(node)):
            return at, state.program.constant(node)
    return None


def take_arguments(c: Cursor, at: ast.Call, strings: bool = False) -> tuple[list[NodeId], dict[str, NodeId]]:
    """The arguments of the call, by position and by keyword; the operand that is called is taken too."""
    parts, keywords = take_parts(c, at, strings)
    return positional_only(c, at, parts), keywords


def take_parts(c: Cursor, at: ast.Call, strings: bool = False) -> tuple[list[Part], dict[str, NodeId]]:
    """Likewise, each by position with whether it is starred: then it is a sequence of arguments."""
    if not strings:
        _no_strings(c, at)
    values = c.nodes(len(at.args) + len(at.keywords))
    c.pop()
    count = len(at.args)
    starred = (isinstance(a, ast.Starred) for a in at.args)
    return list(zip(values[:count], starred, strict=True)), {
        str(k.arg): v for k, v in zip(at.keywords, values[count:], strict=True)
    }


def _no_strings(c: Cursor, at: ast.Call) -> None:
    for argument in (*at.args, *(k.value for k in at.keywords)):
        for piece in argument.elts if isinstance(argument, ast.Tuple) else [argument]:
            if isinstance(piece, ast.Constant) and isinstance(piece.value, str):
                raise c.refuse(piece, "a string is no value here", "a string only names an argument: grad(f, 'x')")


@agenda_rule
def call_function(state: ParseState) -> ParseState | None:
    """invoke κ, b … a @f σ  →  κ, %r σ        with %r = @f(a, …), keywords and defaults put in the places of @f's parameters"""
    match _called_constant(state):
        case (at, GraphRef(graph)) if graph in state.signatures:
            c = Cursor(state)
            parts, keywords = take_parts(c, at)
            c.push(c.apply(c.edit.reference(graph), *bind(c, at, state.signatures[graph], parts, keywords), at=at))
            return c.state
    return None


@agenda_rule
def call_primitive(state: ParseState) -> ParseState | None:
    """invoke κ, b … a p σ  →  κ, %r σ        with %r = p(a, …), p a primitive"""
    match _called_constant(state):
        case (at, Primitive() as primitive) if not is_macro(primitive):
            c = Cursor(state)
            parts, keywords = take_parts(c, at)
            variadic = primitive.parameters[-1:] == ("*",)
            wanted = primitive.parameters[: -1 if variadic else None]
            if not variadic or keywords:
                positional = bind(c, at, Signature(primitive.name, wanted, 0, len(wanted), {}), parts, keywords)
            else:
                positional = positional_only(c, at, parts)
            c.push(c.apply(c.constant(primitive), *positional, at=at))
            return c.state
    return None


@agenda_rule
def call_operation(state: ParseState) -> ParseState | None:
    """invoke κ, b … a m σ  →  κ, %r σ        with %r the expansion of the library function m, or the one primitive that it is"""
    match called(state):
        case (at, Name(found=Operation() as operation)) if type(operation) is Operation:
            c = Cursor(state)
            parts, keywords = take_parts(c, at, strings=operation.name == "float")
            if operation.least == operation.most:
                fixed = Signature(operation.name, ("",) * operation.least, 0, operation.least, {})
                positional, _ = spread(c, at, parts, fixed, {})
            else:
                positional = positional_only(c, at, parts)
            if keywords:
                remedy = "pass the arguments by position" if operation.name not in ("min", "max") else "compare the keys yourself"
                raise c.refuse(at, f"{operation.name} takes no keyword arguments here", remedy)
            count, most = len(positional), operation.most
            if count < operation.least or (most is not None and count > most):
                wanted = str(operation.least) if operation.least == most else f"{operation.least} to {most or 'any number of'}"
                raise c.refuse(at, f"{operation.name} takes {wanted} arguments, {count} given", "correct the number of arguments")
            c.push(operation.build(c, positional, at), operation.name in ("bool", "isnan", "isinf", "isfinite"))
            return c.state
    return None


@agenda_rule
def call_derivative(state: ParseState) -> ParseState | None:
    """invoke κ, w f grad σ  →  κ, %d σ        with %d = grad(f, w), w = 0 if left out; likewise the other derivatives"""
    match _called_constant(state):
        case (at, Primitive(name=name) as macro) if is_macro(macro):
            c = Cursor(state)
            positional, keywords = take_arguments(c, at, strings=name in WITH_RESPECT)
            if name == "vjp":
                if keywords or not positional:
                    raise c.refuse(at, "vjp takes a function and its arguments, by position", "write vjp(f, x, y)")
                arguments = positional
            else:
                defaults = {1: c.constant(0)} if name in WITH_RESPECT else {}
                parameters = MACRO_PARAMETERS[name]
                parts = [(node, False) for node in positional]
                arguments = bind(c, at, Signature(name, parameters, 0, len(parameters), defaults), parts, keywords)
            if name in WITH_RESPECT:
                _check_positions(c, at, name, arguments[1])
            c.push(c.apply(c.constant(macro), *arguments, at=at))
            return c.state
    return None


def _check_positions(c: Cursor, at: ast.Call, name: str, wrt: NodeId) -> None:
    """The second argument of grad and its kind is known here: a position, a name, or a tuple of them."""
    parts = [wrt]
    inputs = c.edit.program.inputs(wrt)
    if inputs and c.constant_value(inputs[0]) is TABLE["make_tuple"]:
        parts = list(inputs[1:])
    if not all(type(c.constant_value(n)) in (int, str) for n in parts):
        what = f"{name} must know when parsing with respect to what it differentiates"
        raise c.refuse(at, what, f"a position, a name, or a tuple of them: {name}(f, 0), {name}(f, 'x'), {name}(f, (0, 1))")


@agenda_rule
def call_value(state: ParseState) -> ParseState | None:
    """invoke κ, b … a f σ  →  κ, %r σ        with %r = f(a, …), f any other value"""
    match _called_constant(state):
        case (at, value) if not (isinstance(value, Primitive) or (isinstance(value, GraphRef) and value.graph in state.signatures)):
            if may_be_record(state, called(state)[1].node):  # type: ignore[index,union-attr]
                return None
            c = Cursor(state)
            if at.keywords:
                raise c.refuse(at, "keyword arguments need a function that is known when parsing", "pass the arguments by position")
            positional, _ = take_arguments(c, at)
            function = c.tables.operands
            for _argument in at.args:
                assert function is not None
                function = function.tail
            assert function is not None
            c.push(c.apply(function.head.node, *positional, at=at))
            return c.state
    return None


@agenda_rule
def call_module(state: ParseState) -> ParseState | None:
    """invoke κ, … m σ  →  Malformed        m a module"""
    match called(state):
        case (at, Name(found=Module(name=name))):
            raise Cursor(state).refuse(at, f"the module {name} is not a function", f"call one of its functions: {name}.…")
    return None


def bind(c: Cursor, at: ast.Call, signature: Signature, parts: list[Part], keywords: dict[str, NodeId]) -> list[NodeId]:
    """The arguments in the order of the parameters; Malformed if they do not fit."""
    positional, rest = spread(c, at, parts, signature, keywords)
    name, parameters = signature.name, signature.parameters if rest is None else signature.parameters[:-1]
    if len(positional) > signature.positional:
        count = f"{signature.positional} positional argument{'s' * (signature.positional != 1)}"
        raise c.refuse(at, f"{name} takes {count}, {len(positional)} given", f"{name}({', '.join(parameters)})", rule="call")
    slots: dict[int, NodeId] = dict(enumerate(positional))
    for keyword, value in keywords.items():
        allowed = parameters[signature.positional_only :]
        if keyword not in allowed:
            taken = f"by name it takes {', '.join(allowed)}" if allowed else "give its arguments by position"
            raise c.refuse(at, f"{name} has no parameter {keyword}", suggestion(keyword, list(allowed), taken), rule="call")
        index = parameters.index(keyword)
        if index in slots:
            raise c.refuse(at, f"{name} gets its argument {keyword} twice", "pass it once", rule="call")
        slots[index] = value
    for index, parameter in enumerate(parameters):
        if index not in slots:
            default = signature.defaults.get(index)
            if isinstance(default, Refused):
                raise c.refuse(at, f"{name}({parameter}): {default.what}", default.remedy, rule="call")
            if default is None:
                known = index in signature.defaults
                what = f"the default of {parameter} is not known yet" if known else f"{name} needs an argument for {parameter}"
                raise c.refuse(at, what, f"define {name} above" if known else f"{name}({', '.join(parameters)})", rule="call")
            slots[index] = default
    return [slots[i] for i in range(len(parameters))] + ([] if rest is None else [rest])


RULES = (call, call_function, call_primitive, call_operation, call_derivative, call_value, call_module)
