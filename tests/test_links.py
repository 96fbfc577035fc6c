"""Links that wait: whoever asks a program for the uses of its nodes finds what is there, whenever he asks."""

from __future__ import annotations

import pickle

from immutables import Map

from semantics.edit import Edit, empty
from semantics.ir import Apply, GraphId, NodeId, Program, Use
from semantics.links import MOST, Sets
from semantics.primitives.table import TABLE
from semantics.wellformed import problems

SIN, ADD = TABLE["sin"], TABLE["add"]


def by_hand(program: Program) -> tuple[dict[NodeId, set[Use]], dict[GraphId, set[NodeId]]]:
    """The uses of all nodes and the applications of all graphs, from the nodes alone."""
    uses: dict[NodeId, set[Use]] = {}
    owned: dict[GraphId, set[NodeId]] = {}
    for node, found in program.nodes.items():
        if isinstance(found, Apply):
            owned.setdefault(found.graph, set()).add(node)
            for index, target in enumerate(found.inputs):
                uses.setdefault(target, set()).add(Use(node, index))
    return uses, owned


def recorded(program: Program) -> tuple[dict[NodeId, set[Use]], dict[GraphId, set[NodeId]]]:
    """The same, as the program has them."""
    return {n: set(found) for n, found in program.uses.items()}, {g: set(found) for g, found in program.owned.items()}


def chain(count: int) -> list[Program]:
    """Programs of 0, 1, … sines and sums, each made of the one before, of which nothing has been asked."""
    edit = Edit(empty())
    graph = edit.graph("f")
    last = edit.parameter(graph, "x")
    made = [edit.program]
    for k in range(count):
        edit = Edit(made[-1])
        last = edit.call(graph, ADD, last, last) if k % 2 else edit.call(graph, SIN, last)
        made.append(edit.program)
    return made


def test_every_program_on_the_way_has_its_own_links() -> None:
    made = chain(2 * MOST + 3)
    for program in (made[-1], made[0], made[MOST], *made[::17]):
        assert recorded(program) == by_hand(program)
    assert not list(problems(made[-1]))


def test_two_edits_of_one_program_do_not_meet() -> None:
    program = chain(3)[-1]
    one, other = Edit(program), Edit(program)
    x = program.graphs[program.entry].parameters[0]
    sine, total = one.call(program.entry, SIN, x), other.call(program.entry, ADD, x, x)
    assert sine == total, "the same number in two programs"
    for edited in (one.program, other.program, program):
        assert recorded(edited) == by_hand(edited)


def test_what_is_added_and_removed_again_is_gone() -> None:
    program = chain(3)[-1]
    edit = Edit(program)
    x = program.graphs[program.entry].parameters[0]
    edit.remove(edit.call(program.entry, SIN, x))
    assert recorded(edit.program)[0][x] == by_hand(program)[0][x]


def test_a_program_of_another_process_finds_its_links_anew() -> None:
    program = chain(5)[-1]
    assert program.uses
    kept = pickle.loads(pickle.dumps(program))
    assert not {"uses", "owned", "links"} & set(vars(kept))
    assert recorded(kept) == by_hand(program)
    assert kept == program


def test_additions_are_put_in_once() -> None:
    sets: Sets[str] = Sets(Map())
    sets = sets.with_more([(1, "a"), (1, "b"), (2, "a")]).with_more([(1, "a")])
    assert {key: set(found) for key, found in sets.now.items()} == {1: {"a", "b"}, 2: {"a"}}
    assert sets.now is sets.now
