"""
Equations with jaxprs inside: calls, branches and loops. A jaxpr is a graph; a loop is a graph that calls itself last.

    cond i b₀ b₁ … x…      switch(i, @b₁, @b₀)(x…)
    while p b x…           @loop(x…): switch(@p(x…), @step, @done)()      @step(): @loop(@b(x…))      @done(): x…
    scan b x… ys           a loop over k with the results of every turn put at place k of arrays made before
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjudge.adapters.jax_elementwise import Rule
from adjudge.adapters.jax_site import Known, Operand, Site, dtype_of, type_of_aval
from semantics.ir import NodeId
from semantics.primitives.table import TABLE
from semantics.type_language import INTEGER

INSIDE = ("jaxpr", "call_jaxpr")
CALLS = ("jit", "custom_jvp_call", "custom_vjp_call", "remat2")


def call(site: Site) -> list[NodeId]:
    """the jaxpr inside, called; a custom derivative is of no account here"""
    inside = next(site.parameter(name) for name in INSIDE if name in site.equation.params)
    return _called(site, inside, site.operands)


def _called(site: Site, jaxpr: object, operands: Sequence[Operand]) -> list[NodeId]:
    """The results of the graph of a jaxpr at some operands."""
    result = site.apply(site.edit.reference(site.graph_of(jaxpr)), *operands)
    return site.parts(result, _outputs(jaxpr))


def _outputs(jaxpr: object) -> int:
    return len(getattr(jaxpr, "jaxpr", jaxpr).outvars)  # type: ignore[attr-defined]


def cond(site: Site) -> list[NodeId]:
    """the branch of this number, the first or the last where there is none of that number"""
    which, *operands = site.operands
    first, *rest = site.parameter("branches")
    chosen = site.edit.reference(site.graph_of(first))
    for k, branch in enumerate(rest, 1):
        chosen = site("switch", _at_least(site, which, k), site.edit.reference(site.graph_of(branch)), chosen)
    return site.parts(site.apply(chosen, *operands), _outputs(first))


def _at_least(site: Site, which: NodeId, k: int) -> NodeId:
    """Whether a branch number is k or more; of a boolean made a number, the boolean itself."""
    made = site.edit.nodes[which]
    if site.dtype() == "bool":
        return which
    inputs = getattr(made, "inputs", ())
    if (
        k == 1
        and inputs
        and inputs[0] == site.node(Known(TABLE["where"]))
        and inputs[2:] == (site.node(Known(1)), site.node(Known(0)))
    ):
        return int(inputs[1])
    return site("ge", which, Known(k))


def while_(site: Site) -> list[NodeId]:
    """a graph that calls itself until the condition is False"""
    test, body = site.parameter("cond_jaxpr"), site.parameter("body_jaxpr")
    m, n = int(site.parameter("cond_nconsts")), int(site.parameter("body_nconsts"))
    test_constants, body_constants, start = site.operands[:m], site.operands[m : m + n], site.operands[m + n :]
    types = [type_of_aval(v.aval) for v in site.equation.invars[m + n :]]

    def again(loop: Site, state: Sequence[NodeId]) -> NodeId:
        return loop.apply(loop.edit.reference(loop.graph_of(test)), *test_constants, *state)

    def turn(step: Site, state: Sequence[NodeId]) -> list[NodeId]:
        return _called(step, body, [*body_constants, *state])

    return loop(site, types, start, again, turn)


def scan(site: Site) -> list[NodeId]:
    """a loop over the first axis, forwards or backwards"""
    body, length = site.parameter("jaxpr"), int(site.parameter("length"))
    m, n = int(site.parameter("num_consts")), int(site.parameter("num_carry"))
    constants, carry, rows = site.operands[:m], site.operands[m : m + n], site.operands[m + n :]
    outputs = site.equation.outvars[n:]
    arrays: list[Operand] = [
        site(
            "full",
            Known(tuple(map(int, v.aval.shape))),
            Known({"bool": False, "i64": 0}.get(dtype_of(v.aval), 0.0)),
            Known(dtype_of(v.aval)),
        )
        for v in outputs
    ]
    types = [INTEGER, *(type_of_aval(v.aval) for v in site.equation.invars[m : m + n]), *(type_of_aval(v.aval) for v in outputs)]

    def again(loop: Site, state: Sequence[NodeId]) -> NodeId:
        return loop("lt", state[0], Known(length))

    def turn(step: Site, state: Sequence[NodeId]) -> list[NodeId]:
        k, *values = state
        place = step("sub", Known(length - 1), k) if site.parameter("reverse") else k
        found = _called(step, body, [*constants, *values[:n], *(step("getitem", row, place) for row in rows)])
        made = [step("put", array, place, y) for array, y in zip(values[n:], found[n:], strict=True)]
        return [step("add", k, Known(1)), *found[:n], *made]

    return loop(site, types, [Known(0), *carry, *arrays], again, turn)[1:]


def loop(site: Site, types: Sequence[object], start: Sequence[Operand], again: object, turn: object) -> list[NodeId]:
    """@loop(state): switch(again(state), @step, @done)(), with @step() = @loop(turn(state)) and @done() = state."""
    edit, name = site.edit, site.equation.primitive.name
    graphs = [edit.graph(n) for n in (name, f"{name}.step", f"{name}.done")]
    head, step, done = (Site(edit, graph, site.equation, (), site.graph_of) for graph in graphs)
    state = [edit.parameter(head.graph, "", type) for type in types]
    chosen = head("switch", again(head, state), *(edit.reference(g) for g in graphs[1:]))  # type: ignore[operator]
    edit.output(head.graph, head.apply(chosen))
    edit.output(step.graph, step.apply(edit.reference(head.graph), *turn(step, state)))  # type: ignore[operator]
    edit.output(done.graph, state[0] if len(state) == 1 else done.tuple(state))
    return site.parts(site.apply(edit.reference(head.graph), *start), len(state))


RULES: Mapping[str, Rule] = {**dict.fromkeys(CALLS, call), "cond": cond, "while": while_, "scan": scan}
