"""
What `raise` and a failed `assert` mean stays: the optimizer drops no trap of theirs that the program is sure to meet.

    failed      f(…, fail(m), …)  ⟹  fail(m)
    keeping     a system whose rules step back where they would drop a failure

Arguments are evaluated before what they are given to, so an application with a failing argument fails. A step *drops* a failure
if an input of the place that it rewrites is needed by nothing afterwards, and it, or what only it needed, may fail: it applies
`fail`, a graph that leads to `fail`, or a function that is not known. Programs without `fail` are looked at no further than that.
Other traps may vanish with values that nobody needs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from semantics.edit import Edit
from semantics.ir import Apply, GraphId, GraphRef, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms.surgery import become, referrers
from transforms.system import Rewrite, RewriteSystem, rewrite

FAIL, SWITCH = TABLE["fail"], TABLE["switch"]
# What these remove is not evaluated, or is put where its arguments are.
FREE = frozenset({"dead_node", "dead_graphs", "failed"})


@rewrite
def failed(program: Program, place: int) -> Program | None:
    """f(…, fail(m), …)  ⟹  fail(m)"""
    found = program.nodes.get(place) if program.interned.get(FAIL) is not None else None
    if not isinstance(found, Apply):
        return None
    failing = next((n for n in found.inputs if program.owner(n) == found.graph and program.callee(n) is FAIL), None)
    return None if failing is None else become(Edit(program), place, failing)


def keeping(system: RewriteSystem) -> RewriteSystem:
    """The system, each rule of which applies only where it drops no failure."""
    rules = tuple(rule if rule.name in FREE else replace(rule, function=partial(_kept, rule)) for rule in system.rules)
    return replace(system, rules=rules)


def _kept(rule: Rewrite, program: Program, place: int) -> Program | None:
    after = rule.function(program, place)
    return None if after is not None and drops_failure(program, after, place) else after


def drops_failure(before: Program, after: Program, place: int) -> bool:
    """Whether the step at `place` leaves nothing that needs one of its inputs, and that input may fail."""
    if before.interned.get(FAIL) is None:
        return False
    todo = [n for n in _given(before, place) if n in after.nodes]
    seen: set[NodeId] = set()
    leading: frozenset[GraphId] | None = None
    while todo:
        node = todo.pop()
        if node in seen or not isinstance(after.nodes[node], Apply) or _needed(after, node):
            continue
        seen.add(node)
        if not isinstance(after.callee(node), Primitive):
            leading = _leading(after) if leading is None else leading
        if _may_fail(after, node, leading or frozenset()):
            return True
        todo.extend(after.inputs(node))
    return False


def _given(program: Program, place: int) -> list[NodeId]:
    """The inputs of an application; of a graph, those of its calls."""
    if place in program.nodes:
        return list(program.inputs(place))
    reference = program.reference(place)
    return [n for use in (program.users(reference) if reference is not None else ()) for n in program.inputs(use.user)]


def _may_fail(program: Program, node: NodeId, leading: frozenset[GraphId]) -> bool:
    """Whether the application itself may fail, its inputs apart. A choice between known graphs is one of them."""
    callee = program.callee(node)
    if isinstance(callee, Primitive):
        return callee is FAIL
    if isinstance(callee, GraphRef):
        return callee.graph in leading
    function = program.inputs(node)[0]
    chosen = [program.constant(n) for n in program.inputs(function)[2:]] if program.callee(function) is SWITCH else []
    if not chosen or not all(isinstance(g, GraphRef) for g in chosen):
        return True
    return any(g.graph in leading for g in chosen)


def _leading(program: Program) -> frozenset[GraphId]:
    """The graphs that apply `fail`, or refer to one that leads to it. Once per program."""
    known: frozenset[GraphId] | None = program.__dict__.get("_leading_to_failure")
    if known is None:
        fail = program.interned.get(FAIL)
        uses = program.users(fail) if fail is not None else ()
        todo = [owner for use in uses if (owner := program.owner(use.user)) is not None]
        seen = set(todo)
        while todo:
            fresh = set(referrers(program, todo.pop())) - seen
            seen |= fresh
            todo.extend(fresh)
        known = program.__dict__["_leading_to_failure"] = frozenset(seen)
    return known


def _needed(program: Program, node: NodeId) -> bool:
    """Whether the result of the entry needs a node: through its users, and through the graphs whose results do."""
    seen, todo = {node}, [node]
    while todo:
        current = todo.pop()
        if current not in program.nodes:
            continue
        for graph in program.returns.get(current, ()):
            if graph == program.entry:
                return True
            reference = program.reference(graph)
            if reference is not None and reference not in seen:
                seen.add(reference)
                todo.append(reference)
        for use in program.users(current):
            if use.user not in seen:
                seen.add(use.user)
                todo.append(use.user)
    return False


RULES = (failed,)
