"""
What kind of number a node holds, as far as a look at its surroundings tells: an abstract interpretation over sets of kinds.

The set of a node contains the kind of every value that it has in any run; so `is_real` is a promise, and its absence is none.
The analysis is demand-driven: it explores backwards from one node, through parameters to the arguments of all calls and through
calls to the outputs of the called graphs, up to a budget; what lies beyond may be anything. On the part explored it takes the
least fixpoint, so the accumulator of a loop is real if it starts real and stays so.

A sensitivity may be the symbolic ZERO at run time, which is a kind of its own: d * y may be ZERO where d may. The arguments a
program is entered with are never ZERO.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from semantics.ir import Apply, Constant, GraphRef, NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.tangents import Zero
from semantics.type_language import BOOLEAN, INTEGER, REAL
from transforms.surgery import index_of

GETITEM, MAKE_TUPLE = TABLE["getitem"], TABLE["make_tuple"]
Kinds = int
A_REAL, AN_INTEGER, A_BOOLEAN, A_ZERO, OTHER = 1, 2, 4, 8, 16
ANYTHING = A_REAL | AN_INTEGER | A_BOOLEAN | A_ZERO | OTHER
DECLARED = {"f64": A_REAL, "i64": AN_INTEGER, "bool": A_BOOLEAN, "number": A_REAL | AN_INTEGER, "any": ANYTHING}
BUDGET = 96
CALLERS = 16


def is_real(program: Program, node: NodeId) -> bool:
    """Whether every value that `node` can have is a real; in particular never ZERO."""
    return fits(program, node, "f64")


def fits(program: Program, node: NodeId, type: str) -> bool:
    """Whether every value that `node` can have is of the named type: f64, i64, bool, number (f64 or i64), any."""
    return not kinds(program, node) & ~DECLARED[type]


Combine = Callable[[Sequence[Kinds]], Kinds]


class _Equation(NamedTuple):
    """The kinds of a node are `combine` of the kinds of `sources`."""

    sources: tuple[NodeId, ...]
    combine: Combine


def kinds(program: Program, node: NodeId, budget: int = BUDGET) -> Kinds:
    """The kinds of the values that `node` can have: the least fixpoint on the part explored, anything beyond it."""
    equations: dict[NodeId, _Equation] = {}
    values: dict[NodeId, Kinds] = {}
    todo = [node]
    while todo:
        current = todo.pop()
        if current in values:
            continue
        beyond = len(values) >= budget
        sources, combine = found = _ANYTHING if beyond else _equation(program, current)
        if sources:
            equations[current], values[current] = found, 0
            todo.extend(sources)
        else:
            values[current] = combine(())
    order, early = [(n, *equations[n]) for n in reversed(equations)], False
    for current, sources, combine in order:
        given = [values[s] for s in sources]
        early = early or 0 in given  # before its source; what no value was taken for is known
        values[current] = combine(given)
    while early:
        early = False
        for current, sources, combine in order:
            before = values[current]
            value = before | combine([values[s] for s in sources])
            if value != before:
                values[current], early = value, True
    return values[node]


def kind_of_constant(value: object) -> Kinds:
    """The kind of a constant."""
    match value:
        case bool():
            return A_BOOLEAN
        case int():
            return AN_INTEGER
        case float():
            return A_REAL
        case Zero():
            return A_ZERO
        case _:
            return OTHER


@cache
def _known(value: Kinds) -> _Equation:
    return _Equation((), lambda _: value)


_ANYTHING = _known(ANYTHING)


def _union(sources: Sequence[NodeId], base: Kinds = 0) -> _Equation:
    return _Equation(tuple(sources), _any_of(base))


@cache
def _any_of(base: Kinds) -> Combine:
    def combine(found: Sequence[Kinds]) -> Kinds:
        result = base
        for kind in found:
            result |= kind
        return result

    return combine


def _equation(program: Program, node: NodeId) -> _Equation:
    match program.nodes[node]:
        case Apply(_, inputs):
            function = program.constant(inputs[0])
            if isinstance(function, Primitive):
                return _primitive(program, function, inputs[1:])
            outputs = _outputs(program, inputs[0])
            return _ANYTHING if outputs is None else _union(outputs)
        case Constant(value):
            return _known(kind_of_constant(value))
        case Parameter() as parameter:
            return _parameter(program, node, parameter)


def _parameter(program: Program, node: NodeId, parameter: Parameter) -> _Equation:
    """The arguments of all calls, if the graph is only called; for the entry also what the program is entered with."""
    graph, base = parameter.graph, 0
    if graph == program.entry:
        declared = {REAL: A_REAL, INTEGER: AN_INTEGER, BOOLEAN: A_BOOLEAN}
        base = declared.get(parameter.type, ANYTHING & ~A_ZERO)
    reference = program.reference(graph)
    if reference is None:
        return _known(base)
    uses = program.users(reference)
    if program.returns.get(reference) or len(uses) > CALLERS or any(u.index != 0 for u in uses):
        return _known(ANYTHING)
    position = program.graphs[graph].parameters.index(node) + 1
    calls = (program.inputs(use.user) for use in uses)
    return _union([inputs[position] for inputs in calls if position < len(inputs)], base)


def _outputs(program: Program, function: NodeId) -> list[NodeId] | None:
    """The outputs of the graphs that `function` can be: a reference, or a switch between two."""
    candidates: tuple[NodeId, ...] = (function,)
    if program.callee(function) is TABLE["switch"] and len(program.inputs(function)) == 4:
        candidates = program.inputs(function)[2:]
    graphs = [program.constant(c) for c in candidates]
    outputs = [program.graphs[g.graph].output for g in graphs if isinstance(g, GraphRef)]
    return outputs if len(outputs) == len(graphs) else None


# primitives


def _pairs(zero_absorbs: bool) -> Combine:
    """Sum-like: ZERO is neutral. Product-like: ZERO absorbs. A real with anything else is real; two integers are an integer."""

    def combine(found: Sequence[Kinds]) -> Kinds:
        a, b = found
        result = 0
        if zero_absorbs:
            result |= A_ZERO if (a | b) & A_ZERO else 0
        else:
            result |= (b if a & A_ZERO else 0) | (a if b & A_ZERO else 0)
        numbers = A_REAL | AN_INTEGER
        if (a & A_REAL and b & numbers) or (b & A_REAL and a & numbers):
            result |= A_REAL
        return result | (AN_INTEGER if a & b & AN_INTEGER else 0)

    return combine


def _gadd(found: Sequence[Kinds]) -> Kinds:
    a, b = found
    return ANYTHING if (a | b) & (OTHER | A_BOOLEAN) and a and b else _pairs(False)(found)


def _div(found: Sequence[Kinds]) -> Kinds:
    a, b = found
    return (A_ZERO if a & A_ZERO else 0) | (A_REAL if a & (A_REAL | AN_INTEGER) and b else 0)


def _whole(found: Sequence[Kinds]) -> Kinds:
    """floordiv, mod, and NumPy's maximum and minimum: ZERO is read as 0.0."""
    a, b = found
    return (AN_INTEGER if a & b & AN_INTEGER else 0) | (A_REAL if (a | b) & (A_REAL | A_ZERO) else 0)


def _pow(found: Sequence[Kinds]) -> Kinds:
    a, b = found
    return A_REAL | (AN_INTEGER if a & b & AN_INTEGER else 0)


def _zero_is_real(found: Sequence[Kinds]) -> Kinds:
    """abs, sign, min and max: ZERO is read as 0.0, and a number stays what it is."""
    both = 0
    for kind in found:
        both |= kind
    return (both & (A_REAL | AN_INTEGER)) | (A_REAL if both & A_ZERO else 0)


def _neg(found: Sequence[Kinds]) -> Kinds:
    return found[0] & (A_REAL | AN_INTEGER | A_ZERO)


def _inject(found: Sequence[Kinds]) -> Kinds:
    """ZERO if the tuple or the sensitivity is, else a sparse tuple."""
    t, i, d = found
    return ((t | d) & A_ZERO) | (OTHER if t and i and d else 0)


def _sum_to(found: Sequence[Kinds]) -> Kinds:
    """Of a real: the sensitivity added up. Of an integer, a boolean or ZERO: ZERO."""
    d, x = found
    if x & OTHER:
        return ANYTHING
    real = (d & ~OTHER) | (A_REAL if d & OTHER else 0) if x & A_REAL else 0
    return real | (A_ZERO if (x & ~A_REAL or d & A_ZERO) else 0)


def _instantiate(found: Sequence[Kinds]) -> Kinds:
    """Of a real: its sensitivity, with 0.0 for ZERO. Of anything else: unit or a tuple."""
    d, x = found
    real = (d & ~A_ZERO) | (A_REAL if d & A_ZERO else 0) if x & A_REAL else 0
    return real | (OTHER if x & ~A_REAL else 0)


def _inner(found: Sequence[Kinds]) -> Kinds:
    """A real; ZERO where nothing flows on one side."""
    a, b = found
    return A_REAL | (A_ZERO if (a | b) & ~A_REAL else 0)


COMBINE: dict[str, Combine] = {
    "add": _pairs(False),
    "sub": _pairs(False),
    "mul": _pairs(True),
    "gadd": _gadd,
    "div": _div,
    "floordiv": _whole,
    "mod": _whole,
    "pow": _pow,
    "abs": _zero_is_real,
    "min": _zero_is_real,
    "max": _zero_is_real,
    "minimum": _whole,
    "maximum": _whole,
    "where": lambda found: found[1] | found[2],
    "sign": _zero_is_real,
    "neg": _neg,
    "inject": _inject,
    "inner": _inner,
    "sum_to": _sum_to,
    "instantiate": _instantiate,
}
RESULT = {"real": A_REAL, "integer": AN_INTEGER, "boolean": A_BOOLEAN, "tuple": OTHER}


def _primitive(program: Program, primitive: Primitive, arguments: tuple[NodeId, ...]) -> _Equation:
    if primitive is GETITEM and len(arguments) == 2:
        element = _element(program, *arguments)
        return _ANYTHING if element is None else _union([element])
    first, combine = _meaning(primitive, len(arguments), program.arrays)
    return _Equation(arguments[first:], combine)


@lru_cache(maxsize=1024)
def _meaning(primitive: Primitive, count: int, arrays: bool) -> tuple[int, Combine]:
    """From which of so many arguments on the kinds of a result are known, and by what."""
    name = primitive.name if TABLE.get(primitive.name) is primitive else ""
    if not primitive.takes(count):
        return count, _any_of(0)
    if name in ("switch", "J"):
        return int(name == "switch"), _any_of(0)
    combine = COMBINE.get(name)
    if arrays and name in ELEMENTWISE:
        return 0, _on_arrays(combine or (lambda _: RESULT.get(primitive.result, ANYTHING)))
    return (0, combine) if combine is not None else (count, _any_of(RESULT.get(primitive.result, ANYTHING)))


def _on_arrays(combine: Combine) -> Combine:
    """Elementwise: where an operand may be an array, so may the result, and its elements stand for any kind."""
    return lambda found: ANYTHING if any(kind & OTHER for kind in found) else combine(found)


def _element(program: Program, t: NodeId, i: NodeId) -> NodeId | None:
    """The node of element `i` of a tuple that is made in place."""
    index, items = index_of(program, i), program.inputs(t)[1:]
    if index is None or program.callee(t) is not MAKE_TUPLE or not -len(items) <= index < len(items):
        return None
    return items[index]
