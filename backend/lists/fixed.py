"""
Lists of one known length in lists of unknown length, as tuples, which they are but for their kind.

    path = [[a, b]]                           path = [(a, b)]
    path.append([c, d])              ⟹        path.append((c, d))
    a, b = path[-1]                           a, b = path[-1]

It is so where nothing makes such a list longer, changes it, or is given it as a list. Lists of tuples then become columns
(`backend.lists.columns`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.lists.meeting import ANY, APPEND, CONCAT, GETITEM, ITERATED, MAKE_RECORD, MAKE_TUPLE, OF_LENGTH, PUT, SWITCH, Meeting
from semantics.edit import Edit
from semantics.infer import Inference
from semantics.ir import NodeId, Program, Use
from semantics.primitives.row import Primitive
from semantics.type_language import RecordType, SequenceType
from transforms.surgery import index_of

INTO = {APPEND: (2,), PUT: (3,), SWITCH: (2, 3), OF_LENGTH: (1,)}
"""What a list may go into, as which input; into a tuple or a list that is made in place as any, and to a function."""


def with_tuples(program: Program, inference: Inference, _: bool = False) -> Program:
    """The program with tuples for all such lists; itself if it has none."""
    meeting = Meeting(program, inference)
    members = meeting.members()
    shared = {meeting.find(one) for _, one in meeting.constants} | {meeting.find(one) for one in meeting.outputs.values()}
    inner = {
        meeting.part(root, ANY) for root, nodes in members.items() if _is_unknown(meeting, nodes) and ANY in meeting.parts[root]
    }
    found = [root for root in inner - shared - meeting.lost if _are_fixed(meeting, members.get(root, []))]
    edit = Edit(program)
    for node in (node for root in found for node in members[root]):
        if program.callee(node) is MAKE_RECORD:
            edit.set_inputs(node, (edit.constant(MAKE_TUPLE), *program.inputs(node)[2:]))
    return edit.program if found else program


def _is_unknown(meeting: Meeting, nodes: Sequence[NodeId]) -> bool:
    return any(isinstance(type, SequenceType) for node in nodes for type in meeting.types.get(node, ()))


def _are_fixed(meeting: Meeting, nodes: Sequence[NodeId]) -> bool:
    """Whether what these nodes have are lists of one length, made in place, of which nothing asks what only lists answer."""
    types = [type for node in nodes for type in meeting.types.get(node, ())]
    lengths = {len(type.items) if _is_list(type) else 0 for type in types}
    made = any(meeting.program.callee(node) is MAKE_RECORD for node in nodes)
    return made and len(lengths) == 1 and 0 not in lengths and all(_is_plain(meeting.program, node) for node in nodes)


def _is_list(type: Any) -> bool:
    return isinstance(type, RecordType) and type.label.kind == "list"


def _is_plain(program: Program, node: NodeId) -> bool:
    """Whether a list comes to a node as it was made, and goes on so."""
    return program.callee(node) not in (APPEND, CONCAT, PUT, ITERATED) and all(
        _goes_on(program, use) for use in program.users(node)
    )


def _goes_on(program: Program, use: Use) -> bool:
    callee = program.callee(use.user)
    if callee is GETITEM:
        return use.index == 1 and index_of(program, program.inputs(use.user)[2]) is not None
    if callee in (MAKE_TUPLE, MAKE_RECORD) or not isinstance(callee, Primitive):
        return use.index > 0
    return use.index in INTO.get(callee, ())
