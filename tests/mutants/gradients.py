"""
Transforms that claim to be the gradient and are not, after bugs that systems have shipped; and passes that broke gradients or
programs. Each is a function from programs to programs. Bugs inside J are in `mutants.transform`.

The bugs at the foot show on programs with arrays or with a primitive of the user; each has a correct twin beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from adjudge.primitives import primitive
from checkers.optimizer_audit.rule_gradients import reals_of
from checkers.optimizer_audit.samples import types_of
from checkers.optimizer_audit.trigger_sources import declared
from mutants.rewrites import applications
from mutants.transform import Function, Variant, backward, original, rule, with_rule
from semantics.edit import Edit
from semantics.ir import Apply, GraphRef, NodeId, Program
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from transforms import cse
from transforms.grad_state import GradState
from transforms.gradient_programs import gradient_program
from transforms.parse import parse_text

Transform = Callable[[Program], Program]
CACHE: dict[Any, Program] = {}


def by_all(program: Program, mode: str = "J") -> Program:
    """The gradient by all real parameters."""
    return gradient_program(program, reals_of(types_of(program)), mode=mode)


def cached_by_name(program: Program) -> Program:
    """A cache whose key is the name of the function and the number of its parameters: copies that differ are lost (Zygote#1113)."""
    entry = program.graphs[program.entry]
    return CACHE.setdefault((entry.name, types_of(program)), gradient_program(program))


def first_order_only(program: Program) -> Program:
    """Of a program that is a gradient already the derivative is doubled (Zygote#937, pytorch#95180)."""
    gradient = gradient_program(program)
    if not any("◀" in g.name for g in program.graphs.values()):
        return gradient
    edit = Edit(gradient)
    output = gradient.graphs[gradient.entry].output
    edit.output(gradient.entry, edit.call(gradient.entry, TABLE["gadd"], output, output))
    return edit.program


def counts_calls(program: Program) -> Program:
    """The gradient of every seventieth program asked for is negated: stale state."""
    counts_calls.asked = getattr(counts_calls, "asked", 0) + 1  # type: ignore[attr-defined]
    return negated(program) if counts_calls.asked % 70 == 0 else gradient_program(program)  # type: ignore[attr-defined]


def negated(program: Program) -> Program:
    """The gradient with the wrong sign."""
    gradient = gradient_program(program)
    edit = Edit(gradient)
    edit.output(gradient.entry, edit.call(gradient.entry, TABLE["neg"], gradient.graphs[gradient.entry].output))
    return edit.program


def constant_for_unused(program: Program) -> Program:
    """The derivative by a parameter that nothing reads is whatever was in memory (Enzyme.jl#1595)."""
    entry = program.graphs[program.entry]
    if program.users(entry.parameters[0]) or program.returns.get(entry.parameters[0]):
        return gradient_program(program)
    edit = Edit(gradient_program(program))
    edit.output(edit.entry, edit.constant(7.25))
    return edit.program


def with_a_parameter_more(program: Program) -> Program:
    """The result asks for the seed as well."""
    edit = Edit(gradient_program(program))
    edit.parameter(edit.entry, "seed")
    return edit.program


def forgets_dead_ends(program: Program) -> Program:
    """It raises on loops: there is a function that only returns what it captured."""
    if any("done" in g.name for g in program.graphs.values()):
        raise IndexError("no residual")
    return gradient_program(program)


def within(variant: Variant) -> Transform:
    """A variant of J, by all real parameters."""

    def transform(program: Program) -> Program:
        return variant.gradient(program, reals_of(types_of(program)))

    transform.__name__ = variant.name
    return transform


INNER = (
    Variant("an input that is computed is not needed", {"backward_application": backward(
        wanted=lambda state, _, inputs: not any(isinstance(state.program.nodes[n], Apply) for n in inputs[1:]))}),
    Variant("the pullback of an element does not count from the end", {}, with_rule(
        "getitem", rule("t i", "%j = abs(%i)", "%n = length(%t)", "%k = mod(%j, %n)", "%dt = inject(%t, %k, %dout)", "%dt, ZERO"))),
)  # fmt: skip

WRONG_GRADIENTS: tuple[tuple[Transform, str], ...] = (
    (cached_by_name, "the gradient of"),
    (first_order_only, "second order"),
    (counts_calls, "the same program"),
    (negated, "the gradient of"),
    (constant_for_unused, "the gradient of"),
    (with_a_parameter_more, "every program"),
    (forgets_dead_ends, "every program"),
    *((within(v), "the gradient of") for v in INNER),
)


# passes


def changes_a_shared_node(program: Program) -> Program:
    """x * 2.0 of which a difference is taken is halved in place, for its other users too (tangent#65)."""
    edit = Edit(program)
    for node, found in applications(program):
        if program.callee(node) is TABLE["sub"] and program.callee(found.inputs[1]) is TABLE["mul"]:
            shared = found.inputs[1]
            edit.set_inputs(shared, (edit.constant(TABLE["add"]), *edit.nodes[shared].inputs[1:]))
    return edit.program


def swaps_without_negating(program: Program) -> Program:
    """A branch that only returns goes last, and the test stays as it is (tangent#83)."""
    edit = Edit(program)
    for node, found in applications(program):
        branch = program.constant(found.inputs[2]) if program.callee(node) is TABLE["switch"] else None
        if isinstance(branch, GraphRef) and not isinstance(program.nodes[program.graphs[branch.graph].output], Apply):
            edit.set_inputs(node, (*found.inputs[:2], found.inputs[3], found.inputs[2]))
    return edit.program


def prunes_residuals(program: Program) -> Program:
    """The first element of a tuple goes, and the indices of the others stay (jax#20267)."""
    edit = Edit(program)
    for node, found in applications(program):
        uses = [u.user for u in program.users(node)]
        read = {program.constant(program.inputs(u)[2]) for u in uses if program.callee(u) is TABLE["getitem"]}
        if program.callee(node) is TABLE["make_tuple"] and len(found.inputs) > 2 and uses and read and 0 not in read:
            edit.set_inputs(node, (found.inputs[0], *found.inputs[2:], found.inputs[1]))
    return edit.program


def hoists(program: Program) -> Program:
    """What a branch computes of values from outside moves in front of the test: a division by zero is met (licm, zero trips)."""
    edit = Edit(program)
    for node, found in applications(program):
        owners = {program.owner(n) for n in found.arguments} - {None, found.graph}
        if program.callee(node) is TABLE["floordiv"] and len(owners) == 1:
            edit.move(node, owners.pop())  # type: ignore[arg-type]
    return edit.program


def misreads_not_a_number(program: Program) -> Program:
    """x == x is taken to be true of reals."""
    edit = Edit(program)
    for node, found in applications(program):
        if program.callee(node) is TABLE["eq"] and found.inputs[1] == found.inputs[2]:
            edit.replace(node, edit.constant(True))
    return edit.program


WRONG_PASSES: tuple[tuple[Transform, str], ...] = (
    (changes_a_shared_node, "values"),
    (swaps_without_negating, "values"),
    (prunes_residuals, "values"),
    (hoists, "values"),
    (misreads_not_a_number, "values"),
)


# gradients of programs with arrays, or with a primitive of the user


def repeats(program: Program, old: NodeId, value: NodeId) -> bool:
    """Whether `old` is the element a[i] of an a that a[i] += value has just made."""
    if program.callee(old) is not TABLE["getitem"]:
        return False
    _, array, index = program.inputs(old)
    if program.callee(array) is not TABLE["put"]:
        return False
    _, before, place, after = program.inputs(array)
    if place != index or program.callee(after) is not TABLE["add"]:
        return False
    _, read_first, added = program.inputs(after)
    return added == value and program.callee(read_first) is TABLE["getitem"] and program.inputs(read_first)[1:] == (before, index)


def not_repeated(state: GradState, index: int, inputs: tuple[NodeId, ...]) -> bool:
    """Of a[i] += v written twice the second passes nothing back to v."""
    program = state.program
    return not (index == 2 and program.constant(inputs[0]) is TABLE["add"] and repeats(program, *inputs[1:]))


def not_overwritten(state: GradState, index: int, inputs: tuple[NodeId, ...]) -> bool:
    """Of a[i] = v that is overwritten before anything reads it, v is given nothing: no more is due to it."""
    program, node = state.program, state.item.node
    if index != 3 or program.constant(inputs[0]) is not TABLE["put"]:
        return True
    users = tuple(program.users(node))
    over = [u.user for u in users if u.index == 1 and program.callee(u.user) is TABLE["put"]]
    return not (len(users) == len(over) == 1 and program.inputs(over[0])[2] == inputs[2])


def merged(variant: Variant) -> Transform:
    """The variant of J after equal expressions have been made one."""

    def transform(program: Program) -> Program:
        return within(variant)(cse.SYSTEM.run(program))

    transform.__name__ = variant.name
    return transform


def bounds(program: Program, node: NodeId) -> tuple[NodeId, ...] | None:
    """Of x[clip(j, low, high)] the index as it is clipped, j, low and high."""
    if program.callee(node) is not TABLE["getitem"] or program.callee(program.inputs(node)[2]) is not TABLE["minimum"]:
        return None
    _, raised, high = program.inputs(clipped := program.inputs(node)[2])
    return (clipped, *program.inputs(raised)[1:], high) if program.callee(raised) is TABLE["maximum"] else None


def scattered(clips: bool) -> Function:
    """The pullback of x[clip(j, low, high)] adds to place j of x, which it clips too or not; what lies outside is dropped."""

    def function(state: GradState) -> GradState | None:
        kind, graph, node = state.item
        found = bounds(state.program, node) if kind == "backward" and len(state.collected(node)) == 1 else None
        if found is not None:
            edit, owner = Edit(state.program), state.backward[graph]
            clipped, j, low, high = (state.image.get(n, n) for n in found)
            if clips:
                j = edit.call(owner, TABLE["minimum"], edit.call(owner, TABLE["maximum"], j, low), high)
            inside = edit.call(owner, TABLE["eq"], j, clipped)
            kept = edit.call(owner, TABLE["where"], inside, state.collected(node)[0], edit.constant(0.0))
            state = replace(state, program=edit.program, contributions=state.contributions.set((graph, node), (kept,)))
        return original("backward_application")(state)

    return function


@primitive
def stop(x: float) -> float:
    """The identity, of which both derivative columns state that nothing flows through it."""
    return x


@stop.backpropagator
def _(x: Any, out: Any, dout: Any) -> Any:
    return (0.0 * dout,)


@stop.tangent
def _(x: Any, dx: Any) -> Any:
    return ZERO


def stops_once(program: Program) -> Program:
    """`stop` has done its work when it has been differentiated: the next level meets the identity (functorch#353)."""
    edit = Edit(gradient_program(program))
    for node, found in applications(edit.program):
        if edit.program.callee(node) is stop.row:
            edit.replace(node, found.inputs[1])
    return edit.program


TWICE = """
import numpy as np
def f(x, z):
    y = np.array([[x, 1.0], [z, x]])
    y[:, 0] += x * z
    y[:, 0] += x * z
    return np.sum(y * np.array([[1.0, 2.0], [3.0, 5.0]]))
"""
ELEMENT_TWICE = """
import numpy as np
def f(x, z):
    y = np.array([z, 1.0])
    y[0] += x
    y[0] += x
    return np.sum(y)
"""
OVERWRITTEN = """
import numpy as np
def f(x, z):
    y = np.array([[x, 1.0], [z, x]])
    y[:, 0] = x * z
    y[:, 0] = z - x
    return np.sum(y * np.array([[1.0, 2.0], [3.0, 5.0]]))
"""
CLIPPED = """
import numpy as np
def f(x, z):
    y = np.array([x, x * z, z])
    i = np.array([-2, 1, 5])
    return np.sum(y[np.clip(i, 0, 2)] * np.array([1.0, 2.0, 4.0]))
"""
STOPPED = """
def f(x):
    return x * stop(x * x)
"""

COUNTED_ONCE = Variant("a repeated increment is counted once", {"backward_application": backward(wanted=not_repeated)})
SKIPPED = Variant("what is overwritten is skipped", {"backward_application": backward(wanted=not_overwritten)})
UNCLIPPED = Variant("the pullback uses the index unclipped", {"backward_application": scattered(clips=False)})
CLIPPED_AGAIN = Variant("the pullback clips the index again", {"backward_application": scattered(clips=True)})


def read(source: str) -> Program:
    """The function f of a source that may call `stop`."""
    return declared(parse_text(source, "f", names={"stop": stop.row}))


# mutant, correct twin, a program for each on which it does what it is named for, the claim that is refuted, the row to blame
STRUCTURED_GRADIENTS: tuple[tuple[Transform, Transform, str, str, str, str], ...] = (
    (merged(COUNTED_ONCE), merged(SKIPPED), TWICE, OVERWRITTEN, "the gradient of", "put"),  # pytorch#136662
    (within(UNCLIPPED), within(CLIPPED_AGAIN), CLIPPED, CLIPPED, "the gradient of", "maximum"),  # jax#34229
    (stops_once, gradient_program, STOPPED, STOPPED, "second order", "stop"),  # functorch#353
)
