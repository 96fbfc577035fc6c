"""
Cells of several kinds in one arena: tuples that hold others made at the same places, as the nodes of a tree do.

What a recursion leaves for its adjoint is a tuple that holds those of the calls that it made, and one of another kind where it made
none. A *family* is such places together: the fields of its tuples that hold others are its *links*. A value of it is one number,
that of a cell (`backend.recursion.cells`), whatever is below. A field of which one kind says ZERO, since no run reads it there, is
*absent* of that kind, and has the type that the others give it; what is read is tested not to be.

A tuple that every call in a queue leaves, in one field of its result, has the number of the call: so has the tape of an adjoint.
It is made beside the answer and for that alone, so once for each call; and no other tuple may be where such a one is.

The frames of a recursion (`backend.recursion.loops`) are a family as well. Each is taken off once and in order: they are a stack,
of which the memory is used again. So are calls in a queue (`backend.recursion.calls`), each with its answer in one cell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from backend.recursion.calls import ANSWER, ARGUMENTS, CALL, PLACE, RESULT_OF
from backend.recursion.family import Family
from backend.recursion.frames import ABSENT, FRAME, GETITEM
from backend.stacks.sites import TUPLES, UNKNOWN, Flows
from semantics.edit import Edit
from semantics.ir import NodeId, Program, Use
from semantics.tangents import ZERO
from transforms.directed import components


def families(program: Program, flows: Flows, stacks: Mapping[NodeId, int], whole: bool) -> dict[NodeId, Family]:
    """
    By site, the family; there is none where the flow of tuples is not known, or where a site is one of `stacks`. If `whole`, ZERO
    is held like all else, and no field is absent but in frames.
    """
    if not flows.settled:
        return {}
    fields = {n: program.inputs(n)[1:] for n in program.nodes if program.callee(n) in TUPLES}
    parts = held(program, flows, fields.keys())
    found: dict[NodeId, Family] = {}
    for group in _together(parts, flows):
        sites = tuple(sorted(group))
        if not stacks.keys() & group:
            found |= dict.fromkeys(sites, _family(program, sites, [fields[s] for s in sites], parts, whole))
    return found | dict(_of_calls(program, fields, found))


def made_apart(program: Program) -> Program:
    """
    The program in which a tuple that is put into several others is made for each; itself if there is none. Two trees that have an
    end alike, as what a function leaves and what its adjoint leaves may once equal expressions are one, are so no family.
    """
    shared: list[tuple[NodeId, Use]] = []
    for node in sorted(program.nodes):
        if program.callee(node) in TUPLES:
            into = [use for use in sorted(program.users(node)) if program.callee(use.user) in TUPLES]
            shared += ((node, use) for use in into[1:])
    edit = Edit(program)
    for node, use in shared:
        _put_apart(edit, node, use)
    return edit.program if shared else program


def _put_apart(edit: Edit, node: NodeId, use: Use) -> None:
    """Another tuple like this one where it is used."""
    graph, inputs = edit.program.owner(node), edit.program.inputs(use.user)
    assert graph is not None, "it is made"
    copy = edit.apply(graph, *edit.program.inputs(node))
    edit.set_inputs(use.user, (*inputs[: use.index], copy, *inputs[use.index + 1 :]))


def held(program: Program, flows: Flows, made: Set[NodeId]) -> dict[NodeId, list[set[NodeId]]]:
    """Of each of these tuples, which of them each of its fields may be."""
    return {n: [flows.reaching.get(f, set()) & made for f in program.inputs(n)[1:]] for n in made}


def recursive(held: Mapping[NodeId, Sequence[Set[NodeId]]]) -> set[NodeId]:
    """The tuples that may hold others made at the same place, at whatever depth."""
    edges = {n: [s for part in parts for s in part] for n, parts in held.items()}
    component = components(edges)
    count = Counter(component.values())
    return {n for n, number in component.items() if count[number] > 1 or n in edges[n]}


def _family(
    program: Program, sites: tuple[NodeId, ...], fields: list[Any], held: Mapping[NodeId, list[set[NodeId]]], whole: bool
) -> Family:
    links = frozenset(k for s in sites for k, part in enumerate(held[s]) if part & set(sites))
    frames = all(program.callee(s) is FRAME for s in sites)
    calls = all(program.callee(s) in (CALL, ANSWER) for s in sites)
    nothing = ABSENT.value if frames or calls else None if whole else ZERO
    sizes = tuple(map(len, fields))
    absent = {}
    for k in range(max(sizes)):
        beyond = frozenset(kind for kind, size in enumerate(sizes) if k >= size)
        empty = nothing is ZERO and _may_be_empty(program, sites, fields, k)
        said_by = (i for i, f in enumerate(fields) if k < len(f) and _says(program.constant(f[k]), nothing, empty))
        saying = frozenset(said_by if nothing is not None else ())
        if kinds := beyond | saying if len(beyond | saying) < len(sites) else beyond:
            absent[k] = kinds
    said = {} if frames or calls else _said(program, fields, absent)
    return Family(sites[0], sites, sizes, links, absent, frames, calls, said)


def _says(constant: Any, nothing: Any, empty: bool) -> bool:
    """Whether what is known of a field is that it holds nothing; so does the empty tuple, if it may."""
    return constant is nothing or (empty and type(constant) is tuple and not constant)


def _may_be_empty(program: Program, sites: Sequence[NodeId], fields: Sequence[Sequence[NodeId]], k: int) -> bool:
    """Whether field k is a tuple made beside the cell, or the empty one, which then stands for a way that was not taken."""
    found = [(site, f[k]) for site, f in zip(sites, fields, strict=True) if k < len(f)]
    others = [(site, n) for site, n in found if not _says(program.constant(n), ZERO, empty=True)]
    return all(program.callee(n) in TUPLES and program.owner(n) == program.owner(site) for site, n in others)


def _said(program: Program, fields: list[Any], absent: Mapping[int, frozenset[int]]) -> dict[int, frozenset[int]]:
    """Of each field that is True or False in all cells of a kind, the kinds in which it is True: neither none nor all."""
    found = {}
    for k in range(max(map(len, fields))):
        values = {kind: program.constant(f[k]) for kind, f in enumerate(fields) if k < len(f) and kind not in absent.get(k, ())}
        saying = frozenset(kind for kind, value in values.items() if value is True)
        if all(type(value) is bool for value in values.values()) and 0 < len(saying) < len(values):
            found[k] = saying
    return found


def _of_calls(
    program: Program, fields: Mapping[NodeId, Sequence[NodeId]], found: Mapping[NodeId, Family]
) -> Iterator[tuple[NodeId, Family]]:
    """The queues of which each call leaves one cell of a family, as a field of its result, and these families."""
    for queue in {family.first: family for family in found.values() if family.calls}.values():
        answers = [site for site in queue.sites if program.callee(site) is ANSWER]
        for k, places in _places(program, fields, answers):
            family = found.get(next(iter(places)))
            if family is not None and not family.known and {*family.sites} == {*places}:
                given = _given(program, fields, family, places)
                family = replace(family, places=places, given=given, queue=queue.first)
                yield from ((site, family) for site in family.sites)
                yield from ((site, replace(queue, placed=k)) for site in queue.sites)
                break


def _places(
    program: Program, fields: Mapping[NodeId, Sequence[NodeId]], answers: Sequence[NodeId]
) -> Iterator[tuple[int, dict[NodeId, NodeId]]]:
    """A field that in the result of every answer is a tuple made beside it for it alone: by tuple, the call that is answered."""
    results = [fields[site][RESULT_OF] for site in answers]
    for k in range(min((len(fields.get(r, ())) for r in results), default=0)):
        places = {fields[r][k]: fields[site][PLACE] for site, r in zip(answers, results, strict=True)}
        beside = zip(answers, results, places, strict=False)
        if len(places) == len(answers) and all(
            node in fields and program.owner(node) == program.owner(site) for site, *made in beside for node in made
        ):
            yield k, places


def _given(
    program: Program, fields: Mapping[NodeId, Sequence[NodeId]], family: Family, places: Mapping[NodeId, NodeId]
) -> dict[int, int]:
    """The fields of such a family that are, of whatever kind, one argument of the call."""
    found = {}
    for k in range(max(family.sizes)):
        having = [s for kind, s in enumerate(family.sites) if k < len(fields[s]) and kind not in family.absent.get(k, ())]
        said = {_argument(program, fields[s][k], places[s]) for s in having}
        if len(said) == 1 and (argument := said.pop()) is not None:
            found[k] = argument
    return found


def _argument(program: Program, node: NodeId, call: NodeId) -> int | None:
    """The field of a call that a node reads; None if it reads none."""
    if program.callee(node) is not GETITEM or program.inputs(node)[1] != call:
        return None
    at = program.constant(program.inputs(node)[2])
    return at if type(at) is int and at >= ARGUMENTS else None


def _together(held: Mapping[NodeId, list[set[NodeId]]], flows: Flows) -> Iterator[set[NodeId]]:
    """The sites of which some value may be one as well as another, where one of them may hold one of its own."""
    again = recursive(held)
    leader = {n: n for n in held}

    def lead(n: NodeId) -> NodeId:
        while leader[n] != n:
            leader[n] = n = leader[leader[n]]
        return n

    unknown = set()
    for reaching in flows.reaching.values():
        if mine := reaching & again:
            one = lead(next(iter(mine)))
            for other in reaching & held.keys():
                leader[lead(other)] = one
            if UNKNOWN in reaching:
                unknown.add(one)
    groups: dict[NodeId, set[NodeId]] = {}
    for n in held:
        groups.setdefault(lead(n), set()).add(n)
    refused = {lead(n) for n in unknown}
    yield from (group for one, group in groups.items() if group & again and one not in refused)
