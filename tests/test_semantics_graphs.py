"""The graph IR: links survive edits, scopes are the fixpoint they claim to be, each judgment refuses what it should."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from immutables import Map

from checkers.generators import exhaustive, graphs
from semantics.edit import Edit
from semantics.errors import Malformed
from semantics.ir import NOT_CONSTANT, Apply, Constant, GraphRef, NodeId, Parameter, Program, Use, graph_of
from semantics.primitives.table import TABLE
from semantics.scope import free_variables, order_of_need, scopes, scopes_from
from semantics.text import names, read
from semantics.wellformed import check, problems

THROUGH_A_CALL = """program @f
@f(%x: f64):
  %a = sin(%x)
  %r = @h(%x)
  return %r
@g(%y):
  %p = mul(%y, %a)
  return %p
@h(%z):
  %q = @g(%z)
  return %q
"""


def named(program: Program, *wanted: str) -> list[NodeId]:
    """The nodes with these printed names."""
    found = {name: node for node, name in names(program).items()}
    return [found[w] for w in wanted]


# scope


def slow_scopes(program: Program) -> dict[int, tuple[frozenset[NodeId], frozenset[NodeId]]]:
    """Needs and free variables by plain iteration of their definition until nothing changes; the entry and what it reaches."""
    need = {g: {program.graphs[g].output} for g in program.graphs}
    while True:
        before = {g: len(n) for g, n in need.items()}
        for g, nodes in need.items():
            for n in list(nodes):
                found = program.nodes[n]
                if isinstance(found, Apply) and found.graph == g:
                    nodes.update(found.inputs)
                elif isinstance(found, Constant) and isinstance(found.value, GraphRef):
                    nodes.update(m for m in need[found.value.graph] if program.owner(m) not in (None, found.value.graph))
        if before == {g: len(n) for g, n in need.items()}:
            break
    return {g: (frozenset(n), frozenset(m for m in n if program.owner(m) not in (None, g))) for g, n in need.items()}


@given(graphs(size=8))
def test_scopes_are_the_least_fixpoint_of_their_definition(program: Program) -> None:
    slow, found = slow_scopes(program), scopes(program)
    event(f"deepest nesting {max(found.depth(program, g) for g in found.free)}")
    for g in found.free:
        assert (found.needed[g], frozenset(found.free[g])) == slow[g]
        assert list(found.free[g]) == sorted(found.free[g])
        for other in found.references[g]:
            assert other in found.free


def test_a_variable_captured_only_through_a_called_closure_is_free_in_the_caller() -> None:
    program = read(THROUGH_A_CALL)
    (a,) = named(program, "%a")
    assert free_variables(program, graph_of(program, "h")) == (a,)
    assert free_variables(program, graph_of(program, "g")) == (a,)
    assert free_variables(program, graph_of(program, "f")) == ()


def test_mutually_recursive_closures_capture_what_either_captures() -> None:
    program = read(
        """program @f
@f(%x, %y):
  %r = @even(4)
  return %r
@even(%n):
  %a = @odd(%n)
  %b = mul(%a, %x)
  return %b
@odd(%m):
  %c = @even(%m)
  %d = mul(%c, %y)
  return %d
"""
    )
    x, y = named(program, "%x", "%y")
    for name in ("even", "odd"):
        assert free_variables(program, graph_of(program, name)) == (x, y)


def test_nesting_five_deep_is_a_chain() -> None:
    inside = "\n".join(
        f"@g{i}(%y{i}):\n  %a{i} = add(%y{i}, %y{i - 1})\n  %b{i} = @g{i + 1}(%a{i})\n  return %b{i}" for i in range(1, 6)
    )
    program = read(f"program @f\n@f(%y0):\n  %b0 = @g1(%y0)\n  return %b0\n{inside}\n@g6(%y6):\n  %r = add(%y6, %y5)\n  return %r")
    found = scopes(program)
    for i in range(1, 7):
        graph = graph_of(program, f"g{i}")
        assert found.depth(program, graph) == (found.levels(program) or {})[graph] == i
        assert program.graphs[found.parent(program, graph) or 0].name == (f"g{i - 1}" if i > 1 else "f")
    assert len(found.nested_in(program, program.entry)) == 6
    assert found.nested_in(program, graph_of(program, "g6")) == ()


def test_a_graph_that_only_a_dead_node_refers_to_is_not_reached() -> None:
    program = read("program @f\n@f(%x):\n  %d = @g(%x)\n  return %x\n@g(%y):\n  return %y")
    assert graph_of(program, "g") not in scopes(program).free
    assert graph_of(program, "g") in scopes_from(program, [graph_of(program, "g")]).free


@given(graphs(size=8))
def test_the_order_of_need_puts_every_node_after_all_that_it_needs(program: Program) -> None:
    free = scopes(program).free
    for graph in free:
        seen: set[NodeId] = set()
        for node in order_of_need(program, graph, free):
            match program.nodes[node]:
                case Apply(owner, inputs) if owner == graph:
                    assert set(inputs) <= seen
                case Constant(GraphRef(target)):
                    assert set(free[target]) <= seen
            assert node not in seen
            seen.add(node)
        assert seen == scopes(program).needed[graph]


# edit


def applications(program: Program) -> list[NodeId]:
    return sorted(n for n, a in program.nodes.items() if isinstance(a, Apply))


Move = Callable[[Edit, Callable[[int], int]], None]


def _set_input(edit: Edit, choose: Callable[[int], int]) -> None:
    nodes = applications(edit.program)
    if nodes:
        node = nodes[choose(len(nodes))]
        inputs = list(edit.program.inputs(node))
        inputs[choose(len(inputs))] = sorted(edit.nodes)[choose(len(edit.nodes))]
        edit.set_inputs(node, tuple(inputs))


def _replace(edit: Edit, choose: Callable[[int], int]) -> None:
    nodes = sorted(edit.nodes)
    edit.replace(nodes[choose(len(nodes))], nodes[choose(len(nodes))])


def _remove(edit: Edit, choose: Callable[[int], int]) -> None:
    program = edit.program
    unused = [
        n
        for n in sorted(program.nodes)
        if not program.users(n) and n not in program.returns and not isinstance(program.nodes[n], Parameter)
    ]
    if unused:
        edit.remove(unused[choose(len(unused))])


def _apply(edit: Edit, choose: Callable[[int], int]) -> None:
    graphs_, nodes = sorted(edit.graphs), sorted(edit.nodes)
    edit.call(graphs_[choose(len(graphs_))], TABLE["add"], nodes[choose(len(nodes))], nodes[choose(len(nodes))])


def _output(edit: Edit, choose: Callable[[int], int]) -> None:
    graphs_, nodes = sorted(edit.graphs), sorted(edit.nodes)
    edit.output(graphs_[choose(len(graphs_))], nodes[choose(len(nodes))])


def _move(edit: Edit, choose: Callable[[int], int]) -> None:
    nodes, graphs_ = applications(edit.program), sorted(edit.graphs)
    if nodes:
        edit.move(nodes[choose(len(nodes))], graphs_[choose(len(graphs_))])


def _graph(edit: Edit, choose: Callable[[int], int]) -> None:
    graph = edit.graph("new")
    edit.parameter(graph, "v")
    edit.constant((1, 1.0, True, -0.0, 0.0)[choose(5)])


def _drop_parameter(edit: Edit, choose: Callable[[int], int]) -> None:
    for key in sorted(edit.graphs):
        graph = edit.graphs[key]
        kept = tuple(p for p in graph.parameters if edit.uses.get(p) or edit.returns.get(p))
        if kept != graph.parameters:
            edit.set_parameters(key, kept)
            return


def _fill(edit: Edit, choose: Callable[[int], int]) -> None:
    graph = sorted(edit.graphs)[choose(len(edit.graphs))]
    first, second = edit.reserve(), edit.reserve()
    x = edit.parameters([Parameter(graph, "v"), Parameter(graph, "w")])[choose(2)]
    edit.fill(second, Apply(graph, (edit.constant(TABLE["add"]), first, x)))
    edit.fill(first, Apply(graph, (edit.constant(TABLE["sin"]), x)))


MOVES: tuple[Move, ...] = (_set_input, _replace, _remove, _apply, _output, _move, _graph, _drop_parameter, _fill)


def wrong_links(edit: Edit) -> list[Any]:
    return [p for p in problems(edit.program) if p[0] in ("ownership", "links")]


@given(graphs(size=4), st.data())
def test_every_edit_keeps_ownership_and_both_directions_of_the_links(program: Program, data: st.DataObject) -> None:
    edit, before = Edit(program), str(program)
    for _ in range(data.draw(st.integers(1, 12))):
        move = data.draw(st.sampled_from(MOVES))
        move(edit, lambda n: data.draw(st.integers(0, n - 1)))
        if data.draw(st.booleans(), "whether to look before the next edit"):
            assert wrong_links(edit) == []
    assert wrong_links(edit) == []
    assert str(program) == before, "the program that was edited from is a value"


def test_touched_are_the_nodes_that_changed_or_lost_a_use() -> None:
    program = read("program @f\n@f(%x):\n  %a = sin(%x)\n  %b = add(%a, 1.0)\n  return %b")
    a, b, x = named(program, "%a", "%b", "%x")
    edit = Edit(program)
    edit.replace(a, x)
    assert {a, b, x} <= edit.program.touched
    edit = Edit(program)
    edit.set_inputs(b, (edit.constant(TABLE["sin"]), x))
    assert {a, b} <= edit.program.touched


def test_constants_are_interned_by_value_and_type() -> None:
    edit = Edit(read("program @f\n@f(%x):\n  return %x"))
    values: list[Any] = [1, 1.0, True, 0.0, -0.0, float("nan"), "1", None, (1, 2), TABLE["add"], GraphRef(0)]
    nodes = [edit.constant(v) for v in values]
    assert len(set(nodes)) == len(values)
    assert [edit.constant(v) for v in values] == nodes
    assert edit.constant(-float("nan")) == edit.constant(float("nan"))


def test_a_used_node_is_not_removed() -> None:
    program = read(THROUGH_A_CALL)
    with pytest.raises(AssertionError, match="used node"):
        Edit(program).remove(named(program, "%a")[0])


def test_both_directions_of_a_link_answer() -> None:
    program = read(THROUGH_A_CALL)
    a, p, y = named(program, "%a", "%p", "%y")
    assert program.inputs(p)[1:] == (y, a)
    assert program.users(a) == Map({Use(p, 2): None})
    assert program.callee(p) is TABLE["mul"]
    assert program.callee(y) is NOT_CONSTANT
    assert program.returns[p] == Map({graph_of(program, "g"): None})


# wellformed: a program that violates each judgment, and its neighbour that does not


def broken(program: Program) -> set[str]:
    return {judgment for judgment, _, _ in problems(program)}


def with_nodes(program: Program, node: NodeId, value: Any) -> Program:
    return replace(program, nodes=program.nodes.set(node, value))


def test_generated_programs_are_well_formed() -> None:
    for program in exhaustive(1):
        assert list(problems(program)) == []
    check(read(THROUGH_A_CALL))


def test_links_refuses_an_input_without_its_use_and_a_use_without_its_input() -> None:
    program = read(THROUGH_A_CALL)
    a, p, y = named(program, "%a", "%p", "%y")
    node = program.nodes[p]
    assert isinstance(node, Apply)
    assert broken(with_nodes(program, p, replace(node, inputs=(node.inputs[0], y, y)))) == {"links"}
    assert broken(replace(program, uses=program.uses.set(y, program.users(y).set(Use(p, 2), None)))) == {"links"}
    assert broken(replace(program, uses=program.uses.delete(a))) == {"links"}


def test_links_refuses_a_lost_return_and_a_constant_that_is_not_interned() -> None:
    program = read(THROUGH_A_CALL)
    (p,) = named(program, "%p")
    assert broken(replace(program, returns=program.returns.delete(p))) == {"links"}
    assert broken(replace(program, interned=program.interned.delete(next(iter(program.interned))))) == {"links"}
    twice = replace(program, nodes=program.nodes.set(program.next_id, Constant(TABLE["mul"])), next_id=program.next_id + 1)
    assert broken(twice) == {"links"}


def test_ownership_refuses_dangling_nodes_parameters_and_graphs() -> None:
    program = read(THROUGH_A_CALL)
    a, p, y = named(program, "%a", "%p", "%y")
    node = program.nodes[a]
    assert isinstance(node, Apply)
    assert "ownership" in broken(with_nodes(program, a, replace(node, graph=999)))
    assert "ownership" in broken(with_nodes(program, a, replace(node, inputs=())))
    assert "ownership" in broken(with_nodes(program, a, replace(node, inputs=(999,))))
    assert "ownership" in broken(with_nodes(program, y, Parameter(program.entry, "y")))
    assert "ownership" in broken(replace(program, entry=999))
    assert "ownership" in broken(replace(program, nodes=program.nodes.delete(p)))
    assert "ownership" in broken(with_nodes(program, program.next_id, Parameter(program.entry, "lost")))
    assert "ownership" in broken(with_nodes(program, program.next_id, Constant(GraphRef(999))))
    entry = program.graphs[program.entry]
    again = replace(entry, parameters=entry.parameters * 2)
    assert "ownership" in broken(replace(program, graphs=program.graphs.set(program.entry, again)))


def test_acyclic_refuses_a_node_that_needs_itself_but_not_a_recursive_graph() -> None:
    assert broken(read("program @f\n@f(%x):\n  %a = sin(%b)\n  %b = cos(%a)\n  return %b")) == {"acyclic"}
    assert broken(read("program @f\n@f(%x):\n  %a = add(%a, %x)\n  return %a")) == {"acyclic"}
    assert broken(read("program @f\n@f(%x):\n  %a = @f(%x)\n  return %a")) == set()


def test_scope_refuses_an_entry_that_needs_a_node_of_a_graph_that_is_not_running() -> None:
    program = read("program @f\n@f(%x):\n  return %b\n@g(%y):\n  %b = sin(%y)\n  return %b")
    assert broken(program) == {"scope"}
    with pytest.raises(Malformed, match="not running") as caught:
        check(program)
    assert caught.value.rule == "scope"
    assert caught.value.node == "%b = sin(%y)"


def test_scope_refuses_a_graph_that_needs_nodes_of_two_unrelated_graphs() -> None:
    text = """program @f
@f(%x):
  %a = @g(%x)
  %b = @h(%x)
  %c = add(%a, %b)
  return %c
@g(%y):
  %k = @both()
  return %k
@h(%z):
  return WHAT
@both():
  %s = add(%y, %z)
  return %s
"""
    assert broken(read(text.replace("WHAT", "%z"))) == {"scope"}


def test_scope_refuses_a_closure_over_a_value_computed_from_itself() -> None:
    text = "program @f\n@f(%x):\n  %a = @g(%x)\n  return %a\n@g(%y):\n  %b = add(%y, {})\n  return %b"
    assert broken(read(text.format("%a"))) == {"scope"}
    assert broken(read(text.format("%x"))) == set()


def test_an_unknown_graph_name_is_a_malformed_question() -> None:
    with pytest.raises(Malformed, match="no graph is called @nothing") as caught:
        graph_of(read(THROUGH_A_CALL), "nothing")
    assert "@g" in caught.value.remedy
