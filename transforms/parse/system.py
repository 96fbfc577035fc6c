"""
The system of parsing: its rules, its states' beginning and end, and the functions that run it.
"""

from __future__ import annotations

import ast
import math
import tokenize
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from immutables import Map

from semantics.edit import Edit, empty
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import MACROS
from semantics.wellformed import problems
from transforms.agenda_system import AgendaSystem
from transforms.parse import (
    assigning,
    calls,
    dispatch,
    displays,
    expressions,
    functions,
    identity,
    iterate,
    loops,
    members,
    naming,
    numpy_calls,
    raising,
    shortcuts,
    statements,
)
from transforms.parse.cursor import Cursor
from transforms.parse.dispatch import waiting
from transforms.parse.items import Block, Do, Eval, Walked, kind_of
from transforms.parse.names import Known, Literal, Refused, found_value, known_function, outside, suggestion
from transforms.parse.source import parameters_of, read_source
from transforms.parse.state import NOWHERE, Frame, Name, ParseState, Value, Walk, items_of
from transforms.parse.text_names import text_names

FRAGMENT: Mapping[str, Any] = {"math": math, **{p.name: p for p in MACROS}}
RULES = (
    *(*expressions.RULES, *displays.RULES, *naming.RULES, *shortcuts.RULES, *assigning.RULES, *identity.RULES, *calls.RULES),
    *(*numpy_calls.RULES, *members.RULES, *dispatch.RULES),
    *(*functions.RULES, *statements.RULES, *raising.RULES, *loops.RULES, *iterate.RULES),
)


def ended(state: ParseState) -> bool:
    """Nothing is on the agenda, no function waits for its body, and whatever decides by class has looked at every class."""
    return state.agenda is None and not state.pending and waiting(state) is None


def at(state: ParseState) -> str:
    """The piece of source that the next step looks at."""
    return describe(state, state.agenda.head) if state.agenda is not None else "the next function"


def describe(state: ParseState, item: Any) -> str:
    """An item of the agenda: what it does, and to which source."""
    kind = type(item).__name__.lower()
    node: ast.AST
    match item:
        case Eval(piece) | Do(piece) | Walked(piece):
            node = piece
        case Block(block, index):
            return f"{kind} of {len(block) - index} statements"
        case _:
            found = getattr(item, "at", None) or getattr(item, "target", None)
            if not isinstance(found, ast.AST):
                return kind
            node = found
    location = state.frame.scope.source.location(node)
    text = location.text[location.column :].strip()
    return f"{kind} line {location.line}: {text[:60]}"


def shown(state: ParseState) -> str:
    """The agenda's top, the operands, the variables, and the program so far."""
    program = state.program
    agenda = [describe(state, item) for item, _ in zip(items_of(state.agenda), range(8), strict=False)]
    operands = [_operand(program, o) for o in items_of(state.operands)]
    variables = [f"{name} = {program.describe_name(node)}" for name, node in sorted(state.frame.env.items())]
    here = program.graphs[state.frame.graph].name if state.frame.graph != NOWHERE else "nowhere"
    lines = [f"κ {line}" for line in agenda] + [f"σ {' '.join(operands)}"] * bool(operands) + [f"ρ {line}" for line in variables]
    return "\n".join([f"in {here}", *lines, str(program)])


def _operand(program: Program, operand: Value | Name | Walk) -> str:
    match operand:
        case Value(node):
            return program.describe_name(node)
        case Walk(size):
            return f"(walk of {program.describe_name(size)})"
        case Name(found):
            return found.name


def result(state: ParseState) -> Program:
    """The program; Malformed if a function was used where the variables it captures do not exist yet."""
    for judgment, what, node in problems(state.program):
        location = getattr(state.program.nodes.get(node, None), "location", None) if node is not None else None
        location = location or state.program.graphs[state.program.entry].location
        raise Malformed(
            f"a nested function is used before the variables it captures exist: {what}",
            rule=judgment,
            node=state.program.describe(node) if node is not None else "",
            location=location,
            remedy="define the function after those variables, or pass them as arguments",
        )
    return state.program


SYSTEM: AgendaSystem[ParseState, Program] = AgendaSystem(
    "parse",
    RULES,
    ended,
    at,
    shown,
    result,
    doc="Python source to the graph IR, one small step at a time over the syntax tree",
    argument="every rule replaces an item by items for smaller pieces of source, or by none; each function is parsed once",
    input="Python",
    kind=kind_of,
)


def start(known: Known) -> ParseState:
    """The state in which the entry waits to be parsed."""
    source, node = known.open()
    scope = functions.replace_name(functions.understood(source, node, known.names), known.name)
    edit = Edit(empty())
    graph = edit.graph(known.name, source.location(node))
    frame = Frame(scope, known.names, graph, NOWHERE, Map())
    state = ParseState(edit.program, None, None, frame, ((known, graph, True),), Map({known.key: graph}))
    cursor = Cursor(state)
    defaults = {i: cursor.constant_default(found) for i, found in known.defaults.items()}
    if (rest := node.args.vararg) is not None:
        remedy = f"name each parameter, or take one tuple: {rest.arg}"
        raise source.refuse(rest, f"*{rest.arg} is for functions that are called inside a program", remedy)
    cursor.sign(graph, functions.signature_of(node, known.name, defaults))
    return cursor.state


def initial(function: Callable[..., Any]) -> ParseState:
    """The state from which SYSTEM parses a live function. Malformed if it has no source, or is no function."""
    if isinstance(function, types.FunctionType):
        found = found_value(function)
        return start(found if isinstance(found, Known) else known_function(function))
    if (refused := outside(function)) is not None:
        raise Malformed(refused.what, rule="source", remedy=refused.remedy)
    what = f"{getattr(function, '__name__', repr(function))} is no Python function with a source"
    if isinstance(function, Primitive):
        what = f"{function.name} is a primitive, not a function with a source"
    raise Malformed(what, rule="source", remedy="pass a function made by def or lambda; wrap others: `lambda x: …`")


def initial_text(source: str, name: str, file: str = "<text>", names: Mapping[str, Any] | None = None) -> ParseState:
    """
    The state from which SYSTEM parses the function called `name` in a text.

    `names` gives meaning to global names that the text does not bind; left out, these are `math` and the derivatives, so that a
    fragment needs no imports.
    """
    return start(_named(source, name, file, FRAGMENT if names is None else names))


def initial_file(path: str | Path, name: str, names: Mapping[str, Any] | None = None) -> ParseState:
    """The state from which SYSTEM parses the function called `name` in a file; `names` adds to what its text binds."""
    return initial_text(source_of(path), name, str(path), names or {})


def _named(text: str, name: str, file: str, names: Mapping[str, Any] | None) -> Known:
    source, tree = read_source(text, file)
    table = text_names(source, tree, names or {})
    if name not in table.bound:
        known = _functions(tree)
        remedy = suggestion(name, known, f"it has {', '.join(known)}") if known else "define a function with def"
        location = source.location(tree)
        raise Malformed(f"{file} defines no function called {name}", rule="source", location=location, remedy=remedy)
    found = table.find(name)
    if isinstance(found, Known):
        return found
    statement = table.bound[name][-1]
    if isinstance(found, Refused):
        raise source.refuse(statement, found.what, found.remedy, rule="source")
    raise source.refuse(statement, f"{name} is not a function", f"define it by `def {name}(…):`", rule="source")


def parse(function: Callable[..., Any]) -> Program:
    """The program of a live function. Malformed where it is not in the language."""
    return SYSTEM.run(initial(function))


def parse_text(source: str, name: str, file: str = "<text>", names: Mapping[str, Any] | None = None) -> Program:
    """The program of the function called `name` in a text, of which nothing is run. Malformed where it is not in the language."""
    return SYSTEM.run(initial_text(source, name, file, names))


def parse_file(path: str | Path, name: str, names: Mapping[str, Any] | None = None) -> Program:
    """The program of the function called `name` in a file, of which nothing is run; `names` adds to what its text binds."""
    return SYSTEM.run(initial_file(path, name, names))


def functions_in(path: str | Path) -> list[str]:
    """The names of the functions that a file defines at its top level, in order."""
    return _functions(read_source(source_of(path), str(path))[1])


def _functions(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for statement in tree.body:
        match statement:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
                found.append(name)
    return list(dict.fromkeys(found))


def source_of(path: str | Path) -> str:
    """The text of a Python file, in the encoding that it declares. Malformed if it cannot be read."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, ValueError) as error:
        raise Malformed(
            f"{path} cannot be read: {error}", rule="source", remedy="give the path of a Python file in UTF-8"
        ) from None


def defaults_of(function: Callable[..., Any] | str, name: str = "", names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """
    The default values of a function's parameters by name: of a live function, or of the one called `name` in a text.

    From a text, only defaults that are numbers, booleans or None are given.
    """
    if isinstance(function, str):
        known = _named(function, name, "<text>", names)
        _, node = known.open()
        parameters = parameters_of(node)
        found = {parameters[i].arg: f for i, f in known.defaults.items()}
        return {n: f.value for n, f in found.items() if isinstance(f, Literal)}
    code = function.__code__
    count = code.co_argcount
    given = function.__defaults__ or ()
    ordered = dict(zip(code.co_varnames[count - len(given) : count], given, strict=True))
    return {**ordered, **(function.__kwdefaults__ or {})}
