"""Lists that are appended to and assigned to: in place, and every list before is what it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import agrees, same_value
from vm_stress import ROOMS, moves_as_it_likes

from backend.machine import Execution, load
from backend.machine.layout import GROWN, HP, RAW, RESULT_PAYLOAD
from backend.machine.structural import values
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.structured import LIST, Record, Slice
from semantics.tangents import ZERO
from transforms.parse import parse_text

BOTH = ("python", "cpu")
LISTS = tuple(Record(LIST, tuple(0.5 * k for k in range(n))) for n in (0, 6, 11))
REALS, PAIRS, MIXED = (1.5, -0.0), ((1.0, 2), (True, (3.0,))), (ZERO, Record(LIST, (1.0, 2.0)))
PLACES = (0, 1, 7, -1, -5, 12)
SLICES = tuple(Slice(*s) for s in ((2,), (-4, -1), (1, 9, 2), (None, None, -1), (8, 2, -3), (5, 5), (-30, 30, 4), (0, 1 << 40)))

Step = tuple[str, int, int]


def of_steps(steps: Sequence[Step]) -> Program:
    """
    A function of a list and two values. Each step makes a list of those before; the result is all that there is in the end, so that
    what has been changed is looked at too.
    """
    edit = Edit(empty())
    graph = edit.graph("f")
    first, *parts = (edit.parameter(graph, name) for name in ("first", "p", "q"))

    def call(name: str, *operands: Any) -> Any:
        return edit.call(graph, TABLE[name], *operands)

    found, looked = [first], []
    for name, a, b in steps:
        base = found[-1 - a % len(found)]
        value = call("make_tuple", *parts) if b % 3 == 2 else parts[b % 2]
        match name:
            case "append":
                found.append(call("append", base, value))
            case "concat":
                found.append(call("concat", base, found[-1 - b % len(found)]))
            case "put":
                found.append(call("put", base, edit.constant(PLACES[b % len(PLACES)]), value))
            case "first":
                found.append(call("getitem", base, edit.constant(Slice(None, (9, -1, 3, -20)[b % 4], (None, 1)[b % 2]))))
            case "slice":
                found.append(call("getitem", base, edit.constant(SLICES[b % len(SLICES)])))
            case _:
                for k in range(b % 4):
                    looked.append(call("getitem", base, edit.constant(PLACES[(b + k) % 5])))
    edit.output(graph, call("make_tuple", *found, *looked, *(call("length", x) for x in found)))
    return edit.program


NAMES = ("append", "append", "append", "concat", "put", "put", "first", "slice", "getitem", "getitem")
STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from((0, 0, 0, 1, 2, 5)), st.integers(0, 12)), min_size=1, max_size=16
)
PARTS = st.sampled_from([REALS, PAIRS, MIXED])


def sound(made: Sequence[Step], first: Any, parts: Any) -> list[Step]:
    """The steps whose places there are, and whose lists stay short."""
    kept: list[Step] = []
    for step in made:
        try:
            value = run(of_steps([*kept, step]), first, *parts)
        except AdjudgeError:
            continue
        if all(not isinstance(x, Record) or len(x.items) < 200 for x in value):
            kept.append(step)
    return kept


@given(STEPS, st.sampled_from(LISTS), PARTS)
def test_every_list_is_the_references_whatever_is_made_of_it(made: list[Step], first: Any, parts: Any) -> None:
    kept = sound(made, first, parts)
    event(", ".join(sorted({name for name, _, _ in kept})))
    agrees(of_steps(kept), (first, *parts), BOTH)


@given(STEPS, st.sampled_from(LISTS))
def test_a_place_that_there_is_not_ends_as_on_the_reference(made: list[Step], first: Any) -> None:
    wanted = agrees(of_steps(made), (first, *REALS), BOTH)
    event("an error" if isinstance(wanted, AdjudgeError) else "a value")


@given(STEPS, st.sampled_from(LISTS), PARTS, ROOMS, st.sampled_from(BOTH), st.sampled_from([0, 300, 700]))
def test_lists_survive_the_collector_wherever_it_comes(
    made: Any, first: Any, parts: Any, rooms: Any, target: str, young: int
) -> None:
    program = of_steps(sound(made, first, parts))
    moves_as_it_likes(program, (first, *parts), target, rooms, young=young, stack=128, smallest=1 << 14)


@pytest.mark.parametrize("young", [400, 1500])
def test_old_lists_lead_to_young_elements(young: int) -> None:
    made = [step for k in range(60) for step in (("append", 0, k), ("put", 0, (0, 1, 3)[k % 3]), ("put", k % 3, k % 2))]
    program = of_steps(made)
    for parts in (PAIRS, MIXED):
        few = Execution(load(program), "cpu", patience=0, stack=64, smallest=1 << 17, young=young)
        same_value(few.run((LISTS[1], *parts)), run(program, LISTS[1], *parts))


def test_a_list_that_is_read_while_another_is_changed_is_given_a_buffer_of_its_own() -> None:
    made: list[Step] = [("append", 0, 0)] * 9
    for k in range(14):
        made += [("put", 0, k), ("getitem", len(made) - 8, 3)]
    program = of_steps(sound(made, LISTS[2], PAIRS))
    agrees(program, (LISTS[2], *PAIRS), BOTH)
    for young in (0, 300, 700):
        moves_as_it_likes(program, (LISTS[2], *PAIRS), "cpu", [None, 3, 20, 9], young=young, stack=128, smallest=1 << 14)


LOOPS = {
    "append": "def f(n: int):\n xs = []\n for i in range(n):\n  xs.append(i * 0.5)\n return xs[n - 1] + xs[0]\n",
    "assign": "def f(n: int):\n xs = [0.0] * n\n for i in range(n):\n  xs[i] = i * 0.5\n return xs[n - 1] + xs[0]\n",
    "pairs": "def f(n: int):\n xs = [(i, i * 0.5) for i in range(n)]\n return xs[n - 1][1] + xs[0][1]\n",
    "stack": """def f(n: int):
 xs = [0.5] * n
 while len(xs) > 1:
  x = xs.pop()
  y = xs.pop()
  xs.append(x + y - 0.5 if len(xs) > 0 else x * (n - 1))
 return xs[0]
""",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_over_a_list_writes_as_many_words_as_it_has_turns(name: str) -> None:
    program, words = parse_text(LOOPS[name], "f"), []
    for n in (100, 1000):
        whole = Execution(load(program), "python", patience=0, young=0)
        assert whole.run((n,)) == (n - 1) * 0.5
        words.append(whole.words.integers[HP] - whole.bottom)
    assert words[1] < 11 * words[0]


COPIED = """
def f(n: int):
    xs = [0.5] * n
    ys = xs.copy()
    for i in range(1, n):
        ys[i] = xs[i - 1] + xs[i]
    return xs, ys
"""


def test_changes_are_not_looked_through_more_often_than_a_list_has_elements() -> None:
    whole = Execution(load(parse_text(COPIED, "f")), "python", patience=0, young=0)
    xs, ys = whole.run((100,))
    assert (xs.items, ys.items) == ((0.5,) * 100, (0.5,) + (1.0,) * 99)
    words = whole.words.integers
    x = values(words, words[RESULT_PAYLOAD])
    assert words[x] == GROWN
    assert words[words[x + 1] + RAW + 1] <= 100
