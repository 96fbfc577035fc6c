"""Which trap is told of a program whose lists are arrays: that which the reference comes to first, of any number of turns."""

from __future__ import annotations

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_gathering import COLUMN, outcome, program

import adjudge as aj
import backend
from adjudge.values import to_value
from backend.lists.gathering import gathered
from backend.lists.promotion import promoted
from backend.tiers import Tiered
from semantics.errors import Trap
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import INTEGER
from semantics.values import same
from transforms.parse import parse_text

SIZES = ([], [0.7], [0.3, -1.2], [1.0, 2.0, 0.5], [2.0, 3.0, -1.0, 0.25])
BEFORE = (
    "t = 7 // n",
    "t = 7 // (n - 2)",
    "t = 4611686018427387904 * n",
    "x = xs[2]",
    "assert n != 3, 'three'",
    "if n == 4: raise KeyError('four')",
)
"""What may trap whatever the turn: what a turn that is taken before its loop could come to, though none is taken."""

IN_A_TURN = (
    *BEFORE,
    "t = 7 // (i - 1)",
    "t = 3074457345618258603 * (i + 1)",
    "x = xs[i + 1]",
    "assert x < 1.5, 'large'",
    "if x < 0.0: raise ValueError('negative')",
    "y = np.zeros(2) + xs\nx = x + y[0]",
)
ROWS = (
    "xs * (x + t)",
    "np.array([x, t * 1.0])",
    "np.ones(1 + i // 3) * (x * t)",  # of another size in the fourth turn
    "[x * t, x + 1.0]",
    "[z * (t + 7 // (j + i - 2)) for j, z in enumerate(xs)]",
    "[xs[j] * x for j in range(n + 7 // (n - 1) - 8 + i)]",
)
NUMBERS = ("x * t", "x / (t + 1)", "float(t)")
USES = ("np.sum(np.array(a) * 0.5)", "np.sum(np.stack([np.array(r) for r in a]))", "np.sum(np.array(a[0]))", "a[-1][0] + len(a)")
OF_NUMBERS = ("sum(a, 0.0)", "a[0] + a[-1]", "np.sum(np.array(a))", "a[2] * len(a)")


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A loop of n turns, or fewer, each of which may trap in several ways, and what is made of the list that it makes."""
    rows = draw(st.booleans())
    turns = draw(st.sampled_from(("n", "n", "n - 1", "n // 2", "0")))
    inside = draw(st.lists(st.sampled_from(IN_A_TURN), max_size=3))
    made = draw(st.sampled_from(ROWS if rows else NUMBERS))
    last = draw(st.sampled_from(USES if rows else OF_NUMBERS))
    after = draw(st.lists(st.sampled_from(BEFORE), max_size=1))
    lines = ["n = len(xs)", "t = 1", "x = 0.5", "a = []", f"for i in range({turns}):", " x = xs[i]"]
    lines += [f" {line}" for line in "\n".join(inside).splitlines()]
    return "\n".join([*lines, f" a.append({made})", *after, f"return {last} + x * t"])


def tells_what_the_reference_tells(subject: Program, *ways: Program) -> set[str]:
    """Asserts that of all sizes the outcome of the second call is that of one of these; the kinds of outcomes."""
    code = backend.runnable(subject, COLUMN, "python")
    kinds = set()
    for sample in SIZES:
        given_ = to_value(np.array(sample))
        found = [outcome(lambda given_=given_: code(given_)) for _ in range(2)][1]
        wanted = [outcome(lambda given_=given_, way=way: Machine(way).run((given_,)).value) for way in ways]
        assert any(same(found, value) for value in wanted), (sample, found, wanted)
        kinds.add("trap" if isinstance(found, tuple) else "value")
    assert isinstance(code, Tiered)
    kinds.add("code" if code.refusal is None else "left to the machine")
    return kinds


FIRST = {
    "the body divides, and no turn is taken": ("for i in range(n // 3): a.append(xs * (5 // (n - 2)))", [0.3, -1.2], ""),
    "the body divides, and one is": ("for i in range(n): a.append(xs * (5 // (n - 2)))", [0.3, -1.2], "division by zero"),
    "what follows the loop divides": ("for i in range(n): a.append(xs * x)\nt = 5 // (n - 2)", [0.3, -1.2], "division by zero"),
    "an index in the first turn, a division in the second": (
        "for i in range(n): a.append(np.array([xs[i + 2], 1.0 * (5 // (i - 1))]))",
        [0.3, -1.2],
        "index",
    ),
    "a division in the first turn, an index in the second": (
        "for i in range(n): a.append(np.array([1.0 * (5 // i), xs[i + 1]]))",
        [0.3, -1.2],
        "division by zero",
    ),
    "an assertion in the second turn, an overflow after it": (
        "for i in range(n):\n assert i < 1, 'second'\n a.append(xs * (4611686018427387904 * (i + 1)))",
        [0.3, -1.2],
        "second",
    ),
    "an integer beyond 64 bits, which is no trap, and an assertion in the turn after it": (
        "for i in range(n):\n assert i < 2, 'third'\n a.append(xs * (4611686018427387904 * (i + 1)))",
        [1.0, 2.0, 0.5],
        "third",
    ),
    "rows of rows, of which the inner ones have no turn": (
        "for i in range(n): a.append(np.array([x * (5 // (n - 2)) for j in range(n - 2)]))",
        [0.3, -1.2],
        "",
    ),
}
"""A loop, a sample, and what the trap says; "" where there is none."""


@pytest.mark.parametrize("name", FIRST)
def test_the_trap_that_comes_first_is_told(name: str) -> None:
    loop, sample, said = FIRST[name]
    subject = program(f"n = len(xs)\nx = 0.5\nt = 1\na = []\n{loop}\nreturn np.sum(np.array(a)) * t")
    assert gathered(promoted(subject), COLUMN) is not promoted(subject)
    assert "code" in tells_what_the_reference_tells(subject, subject)
    found = outcome(lambda: Machine(subject).run((to_value(np.array(sample)),)).value)
    assert isinstance(found, tuple) is bool(said)
    assert not said or (found[0] is Trap and said in found[1])


@costly(20)  # an example is code of its own, and five samples by two ways
@given(bodies())
def test_of_several_traps_the_first_is_told(body: str) -> None:
    subject = program(body)
    event("gathered" if gathered(promoted(subject), COLUMN) is not promoted(subject) else "a list")
    for kind in sorted(tells_what_the_reference_tells(subject, subject)):
        event(kind)


def test_a_batch_has_the_value_of_a_sample_that_takes_no_turn() -> None:
    """A regression: the first turn divided before the loop was asked for one, and that was told."""
    subject = program("n = len(xs)\na = []\nfor i in range(n // 3): a.append(xs * (5 // (n - 2)))\nreturn np.sum(np.array(a))")
    code = backend.runnable(subject, COLUMN, "python")
    samples = [(to_value(np.array(sample)),) for sample in SIZES]
    assert isinstance(code, Tiered)
    found = code.map(samples)
    assert all(same(value, Machine(subject).run(sample).value) for value, sample in zip(found, samples, strict=True))
    assert code.again > 0
    assert code.refusal is None


def test_code_without_lists_is_not_ahead_and_its_traps_are_its_own() -> None:
    code = backend.runnable(program("n = len(xs)\nreturn np.sum(xs * (5 // (n - 2)))"), COLUMN, "python")
    assert isinstance(code, Tiered)
    [found] = code.map([(to_value(np.array([0.3, -1.2])),)])
    assert isinstance(found, Trap)
    assert code.again == 0


SOME_TURNS = """
import numpy as np
def f(xs, n: int):
    a = []
    for i in range(n // 3):
        a.append(xs * (5 // (n - 2)))
    s = 0.0
    for r in a:
        s = s + np.sum(r)
    return s
"""


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_samples_that_take_no_turn_have_their_value_beside_those_that_do(target: str) -> None:
    """A regression: of a batch of columns, a division in a turn that is not taken was told, and had no words."""
    found = aj.vmap(parse_text(SOME_TURNS, "f"), target=target)(np.ones((3, 2)), np.array([2, 3, 6]))
    assert found.tolist() == [0.0, 10.0, 4.0]


def test_code_that_no_machine_stands_behind_does_not_say_that_a_trap_is_the_programs() -> None:
    code = backend.compile(parse_text(SOME_TURNS, "f"), (*COLUMN, INTEGER), "python")
    assert code(to_value(np.ones(2)), 3) == 10.0
    with pytest.raises(Trap, match="lists as arrays") as told:
        code(to_value(np.ones(2)), 2)
    assert "runnable" in told.value.remedy
    assert backend.runnable(parse_text(SOME_TURNS, "f"), (*COLUMN, INTEGER), "python")(to_value(np.ones(2)), 2) == 0.0


def test_code_without_lists_says_what_it_traps_on() -> None:
    code = backend.compile(program("return xs[0] * (5 // (len(xs) - 2))"), COLUMN, "python")
    with pytest.raises(Trap, match="division by zero"):
        code(to_value(np.ones(2)))
