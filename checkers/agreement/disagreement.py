"""
Where two modes part: the first step of the reverse sweep at which another cotangent arrives.

A *probe* at a node n of the program is a parameter δ that is added wherever the value of n is used, and is zero. The derivative by
δ is the cotangent of n, summed over all the times that n is evaluated. So every mode can be asked for the cotangents of all steps
without looking into the adjoint that it builds, and the reversal of the trace of the same program says what they should be:

    f(x)  =  … n …        ⟹        g(x, δ)  =  … (n + δ) …        ∂g/∂δ at δ = 0  =  Σ n̄

The reverse sweep comes to the nodes in the order of their last evaluation, the last first. A few probes are set at once, spread
over the steps; the search goes on between the last that agrees and the first that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from checkers import trace_reversal
from checkers.agreement.question import Question, along_asked
from checkers.ball_differences import precision
from checkers.columns.ball import BITS
from checkers.columns.leaves import is_discrete
from checkers.properties.agreement import Wide, differ, lifted, shown
from semantics.arrays import Array
from semantics.denotation import Reading, denote
from semantics.edit import Edit
from semantics.errors import AdjudgeError, Location
from semantics.ir import NodeId, Parameter, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.type_language import REAL
from transforms.gradient_programs import differentiated
from transforms.nested_grad import expand

ADD = TABLE["add"]
PROBES = 8  # set at once: each is one more captured value in every graph below


@dataclass(slots=True)
class Visit:
    """What a run saw of one node: the primitive, its last arguments, when and how often it was applied, and to what it flowed."""

    primitive: Primitive
    arguments: tuple[Any, ...] = ()
    last: int = 0
    times: int = 0
    real: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """
    The first differing step: `shown` is the node and its application; `found` and `wanted` are the cotangents that arrive there.

    users  the applications that use the node: the cotangent is what their backpropagators send back
    """

    shown: str
    location: Location | None
    arguments: tuple[Any, ...]
    times: int
    found: Any
    wanted: Any
    users: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        where = f" at {self.location}" if self.location else ""
        inputs = f" with arguments {', '.join(map(repr, self.arguments))}" if self.arguments else ""
        often = f", evaluated {self.times} times; cotangents are summed" if self.times > 1 else ""
        by = f"; it is sent back by {', '.join(self.users)}" if self.users else ""
        return (
            f"the first differing step is {self.shown}{where}{inputs}{often}: the cotangent {self.found!r} arrives, "
            f"where {self.wanted!r} should{by}"
        )


def first_difference(question: Question, mode: str, reading: Reading) -> Difference | str:
    """
    The first step, in the order of the reverse sweep, at which `mode` has another cotangent than the reversal of the trace.

    A text that says why, where none can be named.
    """
    try:
        with precision(BITS):
            program, arguments = _primal(question, mode, reading)
            visits = _visits(program, arguments, reading)
            steps = sorted((n for n, v in visits.items() if v.real), key=lambda n: -visits[n].last)
            return _search(program, arguments, mode, reading, steps, visits)
    except Wide as wide:
        return f"the first differing step is not known: {wide}"
    except AdjudgeError as error:
        return f"the first differing step is not known: with probes in it, {type(error).__name__}: {error.what}"


def _primal(question: Question, mode: str, reading: Reading) -> tuple[Program, tuple[Any, ...]]:
    """The program whose gradient is in doubt: at second order the derivative along a direction, as the mode itself makes it."""
    if question.order == 1:
        return question.expanded, lifted(reading, question.arguments)
    inputs = (*question.arguments, *along_asked(question, question.direction))
    return expand(question.directional(), mode), lifted(reading, inputs)


def _visits(program: Program, arguments: Sequence[Any], reading: Reading) -> dict[NodeId, Visit]:
    """Every node that the run evaluates. A *real* one gives a number or an array of numbers each time."""
    found: dict[NodeId, Visit] = {}
    clock = 0

    def note(of: Program, node: NodeId, primitive: Primitive, values: Sequence[Any], value: Any) -> None:
        nonlocal clock
        if of is not program:
            return
        clock += 1
        visit = found.setdefault(node, Visit(primitive))
        visit.arguments, visit.last, visit.times = tuple(values), clock, visit.times + 1
        visit.real = visit.real and _is_real(value, reading)

    denote(program, arguments, replace(reading, observe=note))
    return found


def _is_real(value: Any, reading: Reading) -> bool:
    if isinstance(value, Array):
        return value.dtype in ("f64", "f32")
    return not is_discrete(value) and isinstance(value, type(reading.lift(1.0)))


def probed(program: Program, nodes: Sequence[NodeId]) -> Program:
    """The program with one more parameter for each of the nodes, added to it wherever it is used."""
    edit = Edit(program)
    entry = program.graphs[program.entry]
    graph = edit.graph("probed", entry.location)
    parameters = []
    for node in entry.parameters:
        old = program.nodes[node]
        assert isinstance(old, Parameter)
        parameters.append(edit.parameter(graph, old.name, old.type, old.location))
    for k, node in enumerate(nodes):
        owner = program.owner(node)
        assert owner is not None
        probe = edit.parameter(graph, f"δ{k}", REAL)
        total = edit.call(owner, ADD, probe, probe)
        edit.replace(node, total)
        edit.set_inputs(total, (edit.constant(ADD), node, probe))
    edit.output(graph, edit.apply(graph, edit.reference(program.entry), *parameters))
    edit.set_entry(graph)
    return edit.program


Cotangents = Callable[[Sequence[NodeId]], tuple[tuple[Any, ...], tuple[Any, ...]]]


def _search(
    program: Program, arguments: tuple[Any, ...], mode: str, reading: Reading, steps: Sequence[NodeId], visits: dict[NodeId, Visit]
) -> Difference | str:
    """Bisection by PROBES: everything looked at before `low` agrees, and the step `high` differs."""
    low, high = 0, len(steps)
    difference: Difference | None = None
    while low < high:
        chosen = sorted({low + (high - low) * k // PROBES for k in range(PROBES)})
        found, wanted = _cotangents(program, arguments, mode, reading, [steps[i] for i in chosen])
        bad = next((k for k in range(len(chosen)) if differ(found[k], wanted[k]) is not None), None)
        if bad is None:
            low = chosen[-1] + 1
            continue
        high = chosen[bad]
        low = chosen[bad - 1] + 1 if bad else high
        difference = _difference(program, steps[high], visits, found[bad], wanted[bad])
    if difference is not None:
        return difference
    return "every step inside the program agrees: the first differing step is the entry, where cotangents reach the arguments"


def _cotangents(
    program: Program, arguments: tuple[Any, ...], mode: str, reading: Reading, nodes: Sequence[NodeId]
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The cotangents of these nodes: by the mode, and by the reversal of the trace."""
    watched, count = probed(program, nodes), len(arguments)
    types = [getattr(watched.nodes[p], "type", None) for p in watched.graphs[watched.entry].parameters]
    wrt = tuple(range(count, count + len(nodes)))
    inputs = (*arguments, *(reading.lift(0.0) for _ in nodes))
    found = denote(expand(differentiated(watched, wrt, "grad", types), mode), inputs, reading)
    return found, trace_reversal.gradient(watched, inputs, reading)[count:]


def _difference(program: Program, node: NodeId, visits: dict[NodeId, Visit], found: Any, wanted: Any) -> Difference:
    visit = visits[node]
    users = dict.fromkeys(_named(program, use.user, visits) for use in sorted(program.users(node)) if use.user in visits)
    arguments = tuple(shown(a) for a in visit.arguments)
    location = getattr(program.nodes[node], "location", None)
    found, wanted = (0 if x is ZERO else shown(x) for x in (found, wanted))
    return Difference(program.describe(node), location, arguments, visit.times, found, wanted, tuple(users))


def _named(program: Program, user: NodeId, visits: dict[NodeId, Visit]) -> str:
    location = getattr(program.nodes[user], "location", None)
    return f"{visits[user].primitive.name} ({location})" if location else visits[user].primitive.name
