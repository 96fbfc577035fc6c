"""The adjoint of a loop that is left in several places: no number changes, and no turn asks what all turns but the first know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st
from ssa_adjoints import BREAKS, SWAP, gradient
from test_ssa_normal import outcome

from semantics.columns import exact
from semantics.errors import AdjudgeError, OutOfFuel
from semantics.ssa.dominance import loops
from semantics.ssa.form import Branch, Function, Jump, Literal, Module
from semantics.ssa.machine import run
from semantics.ssa.text import read
from semantics.ssa.wellformed import check
from semantics.tangents import ZERO, dense
from transforms.first_turns import exits, parcels
from transforms.first_turns.exits import with_first_turns
from transforms.first_turns.parcels import parcelled
from transforms.first_turns.sources import Sources
from transforms.first_turns.ways import Ways, told
from transforms.parse import parse_text
from transforms.ssa import peeling
from transforms.ssa.from_graph import to_ssa
from transforms.ssa.peeling import answered, is_peelable, peeled
from transforms.ssa.threading import forward_threaded

# left by a break with what only that way has, or at its end
BREAK = """function f(x, n):
block #1:
    %1 ← φ(#0 → x, #3 → %6)
    %2 ← φ(#0 → 0, #3 → %7)
    %3 ← lt(%2, n)
    goto #5 if not %3
block #2:
    %4 ← mul(%1, x)
    %5 ← gt(%4, 50)
    goto #4 if %5
block #3:
    %6 ← mul(%4, %1)
    %7 ← add(%2, 1)
    goto #1
block #4:
    %8 ← mul(%4, %4)
block #5:
    %9 ← φ(#1 → %1, #4 → %8)
    %10 ← mul(%9, x)
    return %10"""
# in a loop around it, which keeps what the way out has computed for each of its turns
NESTED = """function f(x, n):
block #1:
    %1 ← φ(#0 → x, #7 → %10)
    %2 ← φ(#0 → 0, #7 → %11)
    %3 ← lt(%2, n)
    goto #8 if not %3
block #2:
    goto #3
block #3:
    %4 ← φ(#2 → %1, #5 → %7)
    %5 ← lt(%4, 90)
    goto #7 if not %5
block #4:
    %6 ← mul(%4, x)
    %20 ← gt(%6, 60)
    goto #6 if %20
block #5:
    %7 ← mul(%6, 3)
    goto #3
block #6:
    %8 ← mul(%6, %4)
    %9 ← mul(%8, x)
    goto #7
block #7:
    %10 ← φ(#3 → %4, #6 → %9)
    %11 ← add(%2, 1)
    goto #1
block #8:
    return %1"""
POINTS = st.tuples(st.integers(-3, 9), st.integers(0, 4))


def gradients(source: str) -> tuple[Module, Module]:
    """The gradient as it is written, and with first turns."""
    before = forward_threaded(gradient(read(source)))
    after = with_first_turns(before)
    check(after)
    return before, after


def value(module: Module, point: tuple[Any, ...]) -> Any:
    return dense(run(module, tuple(map(exact.lift, point)), exact.EXACT, lift=exact.lift))


def asked_in_loops(function: Function) -> int:
    """The questions in loops."""
    found = loops(function)
    return sum(isinstance(b.jump, Branch) for b in function.blocks if found.innermost[b.label] is not None)


def zeros(function: Function) -> int:
    """The φ nodes with an arm that is ZERO."""
    return sum(any(arm == Literal(ZERO) for _, arm in phi.arms) for block in function.blocks for phi in block.phis)


@pytest.mark.parametrize("source", [BREAK, NESTED, BREAKS, SWAP])
def test_gradients_stay_what_they_are(source: str) -> None:
    before, after = gradients(source)
    parameters = len(before.main.parameters)
    for x in (-7, -2, 1, 2, 3, 11):
        for n in (0, 1, 2, 3):
            point = (x, *(n,) * (parameters - 1))
            assert value(before, point) == value(after, point)


CONDITIONS = st.sampled_from(["y > 20", "z < 5", "y * z > 30", "z > y", "i > 1"])
CHANGES = st.sampled_from(["y = y * x", "z = z + y * y", "y = z - x", "z = x * 2"])


@st.composite
def statements(draw: st.DrawFn, depth: int) -> list[str]:
    """The body of a loop, which may be left anywhere, in a loop that may be too."""
    lines: list[str] = []
    for kind in draw(st.lists(st.sampled_from(["change", "change", "if", "break", "return", "loop"]), min_size=1, max_size=5)):
        if kind == "change" or (kind == "loop" and depth > 1):
            lines.append(draw(CHANGES))
        elif kind == "loop":
            k = f"k{depth}"
            body = draw(statements(depth + 1))
            lines += [f"{k} = 0", f"while {k} < 3:", *(f"    {line}" for line in body), f"    {k} = {k} + 1"]
        else:
            last = {"if": draw(CHANGES), "break": "break", "return": "return y * z + x"}[kind]
            lines += [f"if {draw(CONDITIONS)}:", f"    {draw(CHANGES)}", f"    {last}"]
    return lines


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function of two numbers, with a loop."""
    body = "\n".join(f"        {line}" for line in draw(statements(0)))
    return f"def f(x, y):\n    z = x + y\n    i = 0\n    while i < 3:\n{body}\n        i = i + 1\n    return y + z * z\n"


SQUARED_OFTEN = """def f(x, y):
    z = x + y
    i = 0
    while i < 3:
        y = y * x
        k0 = 0
        while k0 < 3:
            k1 = 0
            while k1 < 3:
                z = z + y * y
                y = z - x
                k1 = k1 + 1
            y = y * x
            k0 = k0 + 1
        i = i + 1
    return y + z * z
"""


@settings(deadline=None)
@given(programs(), st.tuples(*[st.integers(-3, 3)] * 2))
@example(SQUARED_OFTEN, (0, 1))  # 27 squares of squares
def test_first_turns_keep_the_gradients_of_generated_loops(text: str, point: tuple[int, int]) -> None:
    before = forward_threaded(gradient(to_ssa(parse_text(text, "f"))))
    after = with_first_turns(before)
    event(f"has first turns: {after != before}")
    event(f"has parcels: {sum(map(zeros, after.functions)) < sum(map(zeros, before.functions))}")
    check(after)
    assert value_or_end(after, point) == value_or_end(before, point)


def value_or_end(module: Module, point: tuple[Any, ...]) -> Any:
    """The value, or that some number on the way has too many digits, as squares of squares have."""
    try:
        return value(module, point)
    except OutOfFuel as error:
        event(f"ends in {error.rule}")
        return OutOfFuel


def test_no_turn_but_the_first_asks_how_the_loop_was_left() -> None:
    before, after = gradients(BREAK)
    assert asked_in_loops(before["◀f"]) == 3  # whether the turn was finished, how the loop was left, whether there are more
    assert asked_in_loops(after["◀f"]) == 1
    assert zeros(before["◀f"]) > zeros(after["◀f"])


def test_a_loop_that_is_left_in_one_place_stays_as_it_is() -> None:
    before, after = gradients(SWAP)
    assert before == after


def test_what_one_way_out_has_computed_is_one_tuple() -> None:
    before, after = gradients(BREAK)
    assert zeros(before["▶f"]) == 2
    assert zeros(after["▶f"]) == 0
    assert sum(arm == Literal(()) for b in after["▶f"].blocks for phi in b.phis for _, arm in phi.arms) == 2  # with a stack


# of a loop alone

LATER_KNOW = """function f(x, n):
block #1:
    %0 ← sub(x, 1)
block #2:
    %1 ← φ(#1 → {}, #4 → {})
    %2 ← φ(#1 → %0, #4 → %5)
    goto #3 if %1 else #4
block #3:
    %3 ← mul(%2, 2)
    goto #4
block #4:
    %4 ← φ(#2 → %2, #3 → %3)
    %5 ← add(%4, 1)
    %6 ← lt(%5, n)
    goto #2 if %6 else #5
block #5:
    return %5"""


@pytest.mark.parametrize(
    ("first", "later", "copied"),
    [("True", "False", True), ("False", "False", False), ("True", "%6", False), ("False", "True", True)],
)
def test_the_first_turn_is_apart_if_later_ones_know_what_is_asked(first: str, later: str, copied: bool) -> None:
    module = read(LATER_KNOW.format(first, later))
    assert is_peelable(answered(module.main)) is copied
    after = replace(module, functions=(peeled(module.main),))
    check(after)
    multiplies = sum(len(b.instructions) for b in after.main.blocks)
    assert (multiplies > 4) is copied
    for x in (-2, 0, 5):
        for n in (-3, 1, 4, 9):
            assert outcome(module, (x, n), 200) == outcome(after, (x, n), 200)


def test_a_loop_that_would_be_too_long_has_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    module = read(LATER_KNOW.format("True", "False"))
    with monkeypatch.context() as patch:
        patch.setattr(peeling, "SIZE", 2)
        assert asked_in_loops(peeled(module.main)) == 2
    assert asked_in_loops(peeled(module.main)) == 1


# of what ▶f keeps


def pair(source: str) -> tuple[Function, Function]:
    before, _ = gradients(source)
    return before["▶f"], before["◀f"]


def test_what_all_cells_have_in_one_place_is_known_and_another_is_not() -> None:
    forward, backward = pair(BREAK)
    found = Sources(forward, backward)
    known = [value for name in found.backward if (value := found.literal(name)) is not None]
    assert Literal(True) in known  # the last turn was not finished, says the tape
    assert Literal(False) in known  # all others were, say the cells
    assert len(known) < len(found.backward)


CALLER = """function f(x):
block #1:
    %1, %2 ← @▶f(x)
    %3, %4 ← @◀f(%2, 7)
    return %3

"""
ASKED_TWICE = """function ▶f(x):
block #1:
    %1 ← gt(x, 0)
    goto #3 if %1
block #2:
    %2 ← mul(x, 5)
block #3:
    %3 ← φ(#1 → False, #2 → True)
    %4 ← φ(#1 → True, #2 → False)
    %5 ← φ(#1 → ZERO, #2 → %2)
    %6 ← make_tuple(%3, %4, %5)
    return x, %6

function ◀f(tape, d):
block #1:
    %1 ← getitem(tape, 0)
    %2 ← getitem(tape, 1)
    %3 ← getitem(tape, 2)
    goto #3 if not %1
block #2:
    {}
    goto #4
block #3:
    %5 ← gadd(d, {})
block #4:
    %6 ← φ(#2 → %4, #3 → %5)
    goto #6 if %2
block #5:
    %7 ← mul(%6, 3)
block #6:
    %8 ← φ(#4 → %6, #5 → %7)
    return %8, %8"""


def asked_twice(first: str, second: str) -> tuple[Function, Function]:
    module = read(
        "function f(x):\nblock #1:\n    %1, %2 ← @▶f(x)\n    %3, %4 ← @◀f(%2, 7)\n    return %3\n\n"
        + ASKED_TWICE.format(first, second)
    )
    check(module)
    return module["▶f"], module["◀f"]


def run_pair(forward: Function, backward: Function, x: int) -> Any:
    return run(Module((*read(CALLER).functions, forward, backward), "f"), (x,))


def test_one_record_tells_another() -> None:
    forward, backward = asked_twice("%4 ← mul(d, 2)", "1")
    after = answered(told(forward, backward))
    assert sum(isinstance(b.jump, Branch) for b in backward.blocks) == 2
    assert sum(isinstance(b.jump, Branch) for b in after.blocks) == 1
    assert [run_pair(forward, after, x) for x in (-1, 1)] == [run_pair(forward, backward, x) for x in (-1, 1)]


@pytest.mark.parametrize(("first", "second", "wrapped"), [("%4 ← mul(d, %3)", "1", True), ("%4 ← mul(d, 2)", "%3", False)])
def test_a_parcel_holds_what_is_read_where_it_is_there(first: str, second: str, wrapped: bool) -> None:
    forward, backward = asked_twice(first, second)
    after = parcelled(forward, backward)
    assert (zeros(after[0]) == 0) is wrapped
    assert [run_pair(*after, x) for x in (-1, 1)] == [run_pair(forward, backward, x) for x in (-1, 1)]


@pytest.mark.parametrize("other", ["%9 ← make_tuple(tape, d)\n    %10 ← getitem(%9, 0)\n    %4 ← getitem(%10, 2)", "%4 ← @g(tape)"])
def test_a_tuple_that_is_read_otherwise_has_no_parcel(other: str) -> None:
    use = f"{other}\n    %11 ← mul(d, %3)\n    %12 ← mul(%11, %4)"
    text = ASKED_TWICE.format(use, "1").replace("%6 ← φ(#2 → %4", "%6 ← φ(#2 → %12")
    g = "\n\nfunction g(t):\nblock #1:\n    %1 ← getitem(t, 2)\n    return %1"
    module = read(CALLER + text + g)
    check(module)
    forward, backward = module["▶f"], module["◀f"]
    assert Sources(forward, backward).read_elsewhere() == {"%6"}
    after, _ = parcelled(forward, backward)
    assert zeros(after) == zeros(forward) == 1


# planted bugs


def other_way(function: Function) -> Function:
    """goto #e for what is True."""
    turned = (replace(b, jump=_turned(b.jump)) for b in function.blocks)
    return DECIDED(replace(function, blocks=tuple(turned)))


def _turned(jump: Jump) -> Jump:
    match jump:
        case Branch(Literal(value), then, otherwise):
            return Branch(Literal(not value), then, otherwise)
        case _:
            return jump


def no_for_yes(self: Ways, label: int, to: int, known: Any) -> Any:
    """What is known on the other way."""
    [other] = [s for s in self.function.by_label[label].successors if s != to] or [to]
    return AFTER(self, label, other, known)


DECIDED, AFTER = peeling._decided, Ways.after


def differs(source: str) -> bool:
    """Whether some gradient is another, or there is none."""
    try:
        before, after = gradients(source)
        return any(value(before, (x, n)) != value(after, (x, n)) for x in (-7, 2, 3, 11) for n in (0, 1, 3))
    except AdjudgeError:
        return True


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (peeling, "_decided", other_way),
        (parcels, "_reads", lambda function: {}),
        (Ways, "after", no_for_yes),
    ],
)
def test_a_wrong_step_is_caught(module: Any, name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not differs(BREAK)
    assert not differs(NESTED)
    monkeypatch.setattr(module, name, wrong)
    assert differs(BREAK) or differs(NESTED)


def test_in_too_many_blocks_no_first_turn_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = gradients(BREAK)
    assert before != after
    monkeypatch.setattr(exits, "BLOCKS", len(before["◀f"].blocks))
    assert gradients(BREAK)[1] == after
    monkeypatch.setattr(exits, "BLOCKS", len(before["◀f"].blocks) - 1)
    before, after = gradients(BREAK)
    assert before == after
