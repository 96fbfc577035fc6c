"""Young objects, which become old in the same buffer when their place is full: wherever that comes, a run is the reference's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_corpus_types import calls
from test_vm_sparse_arrays import MATRIX, OTHER, ROUND, ROW, ROWS, of_steps
from vm_runs import applying, outcome, same_outcome, same_value

from adjudge.functions import Derivative
from backend.machine import Execution, load
from backend.machine.heap import Heap
from backend.machine.layout import HEAP, HP, LIMIT, OLD, RAW, STACK_END, STEPS
from backend.machine.young import PARTS, Young
from checkers.generators import Whole, wholes
from semantics.errors import AdjudgeError
from semantics.machine import Machine, run
from semantics.reader import read
from semantics.type_language import type_of
from transforms.nested_grad import expand
from transforms.parse import parse_text

BOTH = ("python", "cpu")
CALLS = {name: (make, tuple(values())) for name, (make, values) in calls().items()}
NAMES = sorted(CALLS)


def watched(program: Any, target: str, young: int, smallest: int = 1 << 18, stack: int = 64) -> tuple[Execution, list[int]]:
    """An execution with so many words for young objects, and a list of the steps at which some become old."""
    execution = Execution(load(program), target, patience=0, stack=stack, smallest=smallest, young=young)
    steps: list[int] = []
    promote = execution.promote

    def counted() -> None:
        steps.append(execution.words.integers[STEPS])
        promote()

    execution.promote = counted  # type: ignore[method-assign]
    return execution, steps


@pytest.mark.parametrize("name", NAMES[::4])
def test_a_gradient_of_the_corpus_is_the_same_with_little_room_for_young_objects(name: str) -> None:
    make, arguments = CALLS[name]
    gradient = outcome(lambda: Derivative(make(), "grad", 0).program(tuple(map(type_of, arguments))))
    program = expand(make()) if isinstance(gradient, AdjudgeError) else gradient
    wanted = outcome(Machine(program).run, arguments, 200_000)
    for target, young in zip(BOTH, (512, 1024), strict=True):
        execution, _ = watched(program, target, young)
        same_outcome(outcome(execution.run, arguments, 200_000), wanted if isinstance(wanted, AdjudgeError) else wanted.value)
        assert isinstance(wanted, AdjudgeError) or execution.steps == wanted.steps


GROWING = "def f(n: int):\n out = []\n for i in range(n):\n  out.append(1.5 * i)\n return sum(out)\n"


def test_a_promotion_goes_over_what_the_host_has_seen_since_the_last_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    program, young, gone = parse_text(GROWING, "f"), 1 << 12, list[int]()
    forget = Heap.forget

    def counted(heap: Heap, start: int, end: int) -> None:
        gone.append(len(heap.since))
        forget(heap, start, end)

    monkeypatch.setattr(Heap, "forget", counted)
    execution, _ = watched(program, "python", young)
    same_value(execution.run((1000,)), run(program, 1000))
    assert len(gone) > 5
    assert max(gone) <= young // RAW, "so many objects at most have room there"
    assert max(gone) <= 2 * sum(gone) / len(gone) + young // 16, "as many the last time as the first"


@given(wholes(), st.integers(300, 900))
def test_how_much_room_young_objects_have_decides_nothing(whole: Whole, young: int) -> None:
    program = whole.program()
    execution, _ = watched(program, "python", young, smallest=1 << 14)
    same_value(execution.run(whole.arguments), Machine(program).run(whole.arguments).value)


LOOP = """
def f(n: int):
    t, u = (0.0, ()), 0.0
    while n > 0:
        u = (u, 1.0)[1]
        t = (u, t) if n < 30 else t
        n = n - 1
    return t
"""


@pytest.mark.parametrize("target", BOTH)
def test_what_is_not_needed_for_long_takes_the_room_of_young_objects_alone(target: str) -> None:
    program = parse_text(LOOP, "f")
    execution, steps = watched(program, target, 512)
    same_value(execution.run((2000,)), run(program, 2000))
    words = execution.words.integers
    assert len(steps) > 10
    assert words[LIMIT] - words[HEAP] == 512
    assert words[OLD] - words[LIMIT] < 29 * (2 + 4) + len(steps) * 40  # the cells that are kept, and what a step needed


@pytest.mark.parametrize("young", [1 << 12, 1 << 13, 1 << 14])
@pytest.mark.parametrize("target", BOTH)
def test_an_old_sum_leads_to_young_ones_and_they_survive(target: str, young: int) -> None:
    program = of_steps(ROUND, lambda k: k % ROWS)
    arguments = (MATRIX, MATRIX, ROW, OTHER)
    execution, steps = watched(program, target, young, smallest=1 << 18, stack=1 << 9)
    same_value(execution.run(arguments), run(program, *arguments))
    assert steps or young == 1 << 14


GROWN = """program @f
@f(%n):
  %t = make_tuple()
  %v = @loop(%n, %t)
  return %v
@loop(%i, %s):
  %c = gt(%i, 0)
  %b = switch(%c, @more, @done)
  %w = %b()
  return %w
@more():
  %j = sub(%i, 1)
  %u = append(%s, %i)
  %x = @loop(%j, %u)
  return %x
@done():
  return %s
"""


@pytest.mark.parametrize("target", BOTH)
def test_an_object_that_wants_much_of_the_room_is_old_at_once_and_young_ones_go_on(target: str) -> None:
    program = read(GROWN)
    execution, steps = watched(program, target, 256, smallest=1 << 17)
    same_value(execution.run((150,)), run(program, 150))
    assert len(steps) > 3
    assert execution.words.integers[OLD] > 0
    assert execution.words.count == 1 << 17


@pytest.mark.parametrize("target", BOTH)
def test_an_instruction_that_fills_the_room_again_has_its_objects_behind_the_old(target: str) -> None:
    program = applying("gadd", 2)
    given = tuple(tuple(float(k + j) for k in range(20)) for j in range(16))
    execution, steps = watched(program, target, 512)
    same_value(execution.run((given, given)), run(program, given, given))
    assert steps == [0, 0]


DEEP = "def f(n: int):\n return (1.0, ()) if n == 0 else (2.0, f(n - 1))"


@pytest.mark.parametrize("target", BOTH)
def test_a_stack_that_grows_ends_it_and_a_full_heap_too(target: str) -> None:
    program = parse_text(DEEP, "f")
    execution, _ = watched(program, target, 512, smallest=1 << 13)
    wanted = run(program, 300)
    for _ in range(3):  # the buffer is kept, with a larger stack
        same_value(execution.run((300,)), wanted)


def test_there_is_no_room_for_young_objects_in_a_small_buffer_or_behind_a_large_stack() -> None:
    small, stack, enough = [0] * (STACK_END + 5000), [0] * 10_000, [0] * 10_000
    small[HEAP], stack[HEAP], enough[HEAP] = 100, 600, 500
    for words, size in ((small, 640), (stack, 512), (enough, 512)):
        young = Young()
        young.begin(words, size)
        young.open(words)
        assert (words[OLD] > 0) == (words is enough)
        assert words[HP] == words[HEAP]
    assert len(enough) - enough[HEAP] >= PARTS * 512
