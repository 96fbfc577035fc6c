"""Lists that some turns leave as they are, of tuples, that meet or are kept in tuples: arrays in generated code, in every bit."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_gathering import COLUMN, agrees, outcome, program

import adjudge as aj
import backend
from adjudge.values import to_value
from backend.lists.arrayed import arrayed
from backend.lists.columns import in_columns
from backend.lists.gathering import gathered
from backend.lists.growing import Growth, growths
from backend.lists.loops import loops
from backend.lists.meeting import Meeting
from backend.lists.promotion import promoted
from backend.lists.told import told_types
from semantics.arrays import Array
from semantics.denotation import FRACTIONS, denote
from semantics.errors import IllTyped, Malformed, Trap
from semantics.infer import Inference
from semantics.ir import Program
from semantics.machine import Machine
from semantics.primitives.table import TABLE
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand

TAKEN = {
    "some turns add nothing": "return sum([x * x for x in xs if x > 0.0], 0.0)",
    "some turns add one, others two": (
        "a = []\nfor x in xs:\n if x > 0.0: a.append(x)\n else:\n  a.append(-x)\n  a.append(x * 2.0)\n"
        "return np.sum(np.array(a) * 3.0)"
    ),
    "several that are known": "a = []\nfor x in xs: a.extend([x, x * 2.0])\nreturn sum([u * v for u, v in zip(a, a[1:])], 0.0)",
    "a loop that is left": "a = []\nfor x in xs:\n if x > 1.0: break\n a.append(x)\nreturn sum(a, 0.0)",
    "a loop without a number of turns": (
        "a = []\nk = 0\nwhile k < len(xs):\n if xs[k] > 0.0: a.append(xs[k])\n k = k + 1\nreturn sum(a, 0.0) + len(a)"
    ),
    "a loop in a loop": "a = []\nfor x in xs:\n for y in xs:\n  if x > y: a.append(x - y)\nreturn sum(a, 0.0)",
    # What is joined to a list with room was put in the place of both: inputs were rewritten by where they had been before.
    "one more after the loop": "a = []\nfor x in xs:\n if x > 0.0: a.append(x)\na.append(1.0)\nreturn sum(a, 0.0) + len(a)",
    "before and behind another list": (
        "a = []\nfor x in xs:\n if x > 0.0: a.append(x)\nb = [2.0] + a\nc = a + b\n"
        "return sum([u * v for u, v in zip(c, c[1:])], 0.0)"
    ),
    "one array more after the loop": (
        "a = []\nfor x in xs:\n if x > 0.0: a.append(xs * x)\na.append(xs + 1.0)\nreturn sum([np.sum(r * r) for r in a], 0.0)"
    ),
    "the last element is read": "a = [xs[0]]\nfor x in xs: a.append(x + a[-1])\nreturn sum(a, 0.0)",
    "any element is read": "a = [1.0]\nfor i in range(len(xs)): a.append(a[i // 2] + xs[i])\nreturn a[-1] - a[0]",
    "the last element is taken": (
        "a = []\ns = 0.0\nfor x in xs:\n a.append(x)\n if x < 0.0:\n  s = s * 2.0 + a.pop()\n  a.append(s)\nreturn sum(a, s)"
    ),
    "is there one": "a = []\ns = 0.0\nfor x in xs:\n if x < 0.0: a.append(x)\n if a: s = s + a[-1]\nreturn s",
    "pairs": "return sum([u * v for u, v in [(x, x + 1.0) for x in xs]], 0.0)",
    "pairs in pairs": "return sum([u * v + w for u, (v, w) in [(x, (x, x - 1.0)) for x in xs]], 0.0)",
    "pairs of a number and an array": "a = []\nfor x in xs: a.append((x, xs * x))\nreturn sum([x * np.sum(r) for x, r in a], 0.0)",
    "pairs that are changed and passed on": (
        "def last(p): return p[-1][0] * p[-2][1]\na = [(0.0, 1)]\nfor x in xs:\n u, v = a[-1]\n a.append((u + x, v + 1))\n"
        "return last(a[:]) * len(a)"
    ),
    "two lists in one": "return sum([x for x in xs] + [1.0] + [x for x in xs], 0.0)",
    "one of two lists": "a = [x for x in xs] if len(xs) > 1 else [x * 2.0 for x in xs]\nreturn sum(a, 0.0)",
    "a part of a list": "a = [x for x in xs]\nb = a[1:]\nb = b + [0.0]\nreturn sum(b, 0.0)",
    "a list in a tuple": "a = [x for x in xs]\nt = (a, 1.0)\nreturn t[0][0]",
    "a list given with another": (
        "def parts(ys): return [y for y in ys if y > 0.0], [y for y in ys if y <= 0.0]\n"
        "a, b = parts(xs)\nreturn sum(a, 0.0) - 2.0 * sum(b, 0.0)"
    ),
    "a list carried in a tuple": "t = (0.0, [])\nfor x in xs: t = (t[0] + x, t[1] + [x - t[0]])\nreturn t[0] + sum(t[1], 0.0)",
    "a list where an array may be": "def total(ys): return sum([y for y in ys])\nreturn total([x + 1.0 for x in xs]) + total(xs)",
    "integers that are indices": "a = np.array([i for i in range(len(xs)) if xs[i] > 0.0])\nreturn np.sum(xs[a])",
    "arrays beside one another": "return np.sum(np.stack([xs + x for x in xs], axis=1)[0])",
    "arrays one after another": "return np.sum(np.concatenate([np.outer(xs, xs) + x for x in xs])[:, 0])",
    "rows that some turns add, added to an array": (
        "a = []\nfor x in xs:\n if x > 0.0: a.append(xs * x)\ns = np.zeros_like(xs)\nfor r in a: s = s + r\nreturn np.sum(s)"
    ),
    "arrays that begin with one": (
        "a = [xs]\nx = xs\nfor k in range(4):\n x = x * x * 0.5\n a.append(x)\nreturn np.sum(a[-1] * a[-2]) + np.sum(a[0])"
    ),
    "arrays that begin with two, and some turns add one": (
        "a = [xs, xs * 2.0]\nfor x in xs:\n if x > 0.0: a.append(a[-1] * x)\nreturn np.sum(np.stack(a))"
    ),
    "a list that another loop makes longer": (
        "a = []\nfor x in xs:\n if x > 0.0: a.append(x)\nfor x in xs:\n if x < 0.5: a.append(x * 2.0)\n"
        "return sum([a[k] * k for k in range(len(a))], 0.0)"
    ),
    "one that a loop makes longer and another shorter": (
        "a = []\nfor x in xs:\n a.append(x)\n if x > 0.5: a.append(x * x)\ns = 0.0\n"
        "while len(a) > 1:\n s = s * 0.5 + a.pop() * a.pop()\n if s > 1.0 and len(a) > 1: a.append(s)\nreturn s + sum(a, 0.0)"
    ),
    # As long as a list is that grows too: its length is no node any more once that has a count, and the room was asked of the node.
    "one that goes over another that grows": (
        "s = [x for x in xs]\nl = []\nfor x in xs:\n s = s + [x]\n l = s + [x]\n for e in s:\n  l = l + [0.5 * e]\n"
        " if x > 0.0: s = s + [x]\nreturn sum(l, 0.0) + sum(s, 0.0)"
    ),
    # An array of no elements has no columns, so code that put others beside it left every sample to the machine.
    "arrays of two lists": (
        "a = [xs * x for x in xs if x > 0.0]\nb = [xs + x for x in xs]\nreturn np.sum(np.stack([*a, *b], axis=1)[0])"
    ),
    "arrays of two lists, neither of which may have some": (
        "a = [xs * x for x in xs if x > 0.0]\nb = [xs + x for x in xs if x < 0.0]\nreturn np.sum(np.array([*b, *a, *b]))"
    ),
    "an array made of arrays": "a = []\nfor x in xs:\n if x > 0.0: a.append(xs + x)\nreturn np.sum(np.array(a))",
}
LEFT = {
    "a list that is given out": "a = [x for x in xs if x > 0.0]\nreturn (a, 1.0)",
    "tuples of two lengths": "a = [(x, x) if x > 0.0 else (x, x, x) for x in xs]\nreturn sum([len(t) for t in a], 0.0)",
    "a list and an array in one": "return sum([x for x in xs] + (xs if len(xs) > 5 else [1.0]), 0.0)",
    "arrays without a number of turns": (
        "a = []\nk = 0\nwhile k < len(xs):\n if xs[k] > 0.0: a.append(xs * xs[k])\n k = k + 1\n"
        "return sum([np.sum(r) for r in a], 0.0)"
    ),
    "arrays that begin with as many as there are": (
        "a = [xs * x for x in xs]\nfor x in xs:\n if x > 0.0: a.append(a[-1] * x)\nreturn np.sum(np.stack(a))"
    ),
    "numbers and booleans": "a = [x for x in xs] + [True]\nreturn 1.0 if a[0] else 2.0",
}


@pytest.mark.parametrize("name", TAKEN)
def test_such_lists_are_arrays(name: str) -> None:
    agrees(program(TAKEN[name]))


@pytest.mark.parametrize("name", TAKEN)
def test_so_they_are_where_a_gradient_is_asked_for(name: str) -> None:
    agrees(calling(program(TAKEN[name]), "grad", 0, COLUMN))


@pytest.mark.parametrize("name", TAKEN)
def test_so_they_are_where_a_tangent_is_asked_for(name: str) -> None:
    """Types were told of what forward mode makes of the function: no list was an array, and types of tangents took minutes."""
    agrees(calling(program(TAKEN[name]), "jvp", 0, COLUMN), (*COLUMN, *COLUMN))


@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
@pytest.mark.parametrize(
    "name",
    [
        "rows that some turns add, added to an array",
        "arrays of two lists",
        "arrays of two lists, neither of which may have some",
    ],
)
def test_rows_that_some_turns_add_are_added_by_generated_code(name: str, derived: bool) -> None:
    """A regression: code took them to be as small as those that are there first, and left whatever it was given."""
    subject = program(TAKEN[name])
    subject = calling(subject, "grad", 0, COLUMN) if derived else subject
    code, reference = backend.compile(subject, COLUMN, "python"), Machine(expand(subject))
    for sample in ([0.5], [-0.5], [0.5, -1.0], [1.0, 2.0, -0.5]):
        given_ = to_value(np.array(sample))
        assert same(code(given_), reference.run((given_,)).value)


def test_a_shape_with_which_every_run_traps_is_no_trap_of_the_compiler() -> None:
    """
    A regression: while this list was refused, nothing could be made of it without arrays, which no run goes by; that was told as
    the program's trap. It has code now, and no run of that traps.
    """
    subject = program(
        "r = []\nfor x in xs:\n if x > 0.5:\n  r.append(xs)\n  return 1.0 + len(r)\n r.append(xs)\nreturn 0.5 + len(r)"
    )
    code = backend.runnable(subject, COLUMN, "python")
    for sample in ([], [0.25], [0.25, 2.0, 1.0]):
        given_ = to_value(np.array(sample))
        assert same([code(given_) for _ in range(2)][1], Machine(subject).run((given_,)).value)
    assert code.refusal is None


TWO = (
    "p = [1.0]\nq = [2.0]\ns = 0.5\nfor x in xs:\n for y in xs:\n  q.append(s)\n  p.append(x)\n q.append(y)\n s += p.pop()\n"
    "return s + len(q)"
)


@pytest.mark.parametrize("step", [1, -1])
def test_counts_of_several_lists_are_passed_as_their_parameters_come(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: they came in the order in which the lists were found, so each list could have the other's count."""
    subject = program(TWO)
    before, found = growths, list[list[Growth]]()

    def turned(meeting: Meeting, nodes: Any) -> list[Growth]:
        found.append(before(meeting, nodes)[::step])
        return found[-1]

    monkeypatch.setattr("backend.lists.arrayed.growths", turned)
    arrays = gathered(promoted(subject), COLUMN)
    assert len(found[0]) == 2
    given_ = to_value(np.array([0.5, -1.0, 2.0]))
    assert same(Machine(arrays).run((given_,)).value, Machine(subject).run((given_,)).value)


@pytest.mark.parametrize("name", LEFT)
def test_what_an_array_does_not_answer_stays_a_list(name: str) -> None:
    with pytest.raises((Malformed, IllTyped)):
        backend.lowered(program(LEFT[name]), COLUMN)


def typed(subject: Program) -> Inference:
    found = told_types(subject, COLUMN)
    assert found is not None
    return found


RELAXED = "d = {}\ngo = True\nwhile go:\n go = False\n for i in range(len(xs)):\n  if {} < d[3]:\n   d[3] = {}\n   go = True\n"
KNOWN = {
    "as many as the text says, changed beside a flag": RELAXED.format("[9.0] * 4", "xs[i]", "xs[i]") + "return d[3] - d[0]",
    "one and then as many as the text says": RELAXED.format("[0.0] + [9.0] * 3", "d[i % 3] + xs[i]", "xs[i]") + "return d[3]",
}
"""Lists of known length that no code is made for as their elements."""


@pytest.mark.parametrize("name", KNOWN)
def test_a_list_of_known_length_is_an_array_where_its_elements_are_not_told_apart(name: str) -> None:
    subject = program(KNOWN[name])
    agrees(subject)
    agrees(calling(subject, "grad", 0, COLUMN))
    assert gathered(promoted(subject), COLUMN, known=True) is not promoted(subject)


@pytest.mark.parametrize("name", TAKEN)
def test_gradients_are_the_same_over_the_rationals(name: str) -> None:
    subject = promoted(program(TAKEN[name]))
    xs = Array("f64", (4,), (Fraction(1, 3), Fraction(-2), Fraction(5, 7), Fraction(3, 2)))
    before, after = (expand(calling(p, "grad", 0, COLUMN)) for p in (subject, gathered(subject, COLUMN)))
    assert before != after
    assert denote(after, [xs], FRACTIONS).items == denote(before, [xs], FRACTIONS).items


# Each rule: where it fires, and a near miss


def applied(subject: Program, name: str) -> int:
    """How often a primitive is applied in what a run needs."""
    return sum(subject.callee(n) is TABLE[name] for nodes in typed(subject).types.values() for n in nodes)


def test_a_list_of_pairs_is_two_lists_and_one_of_numbers_is_one() -> None:
    pairs = program("a = [(x, x) for x in xs]\nreturn a[0][1]")
    assert len(list(loops(in_columns(pairs, typed(pairs))))) == 2
    numbers = program("a = [x for x in xs]\nreturn a[0]")
    assert in_columns(numbers, typed(numbers)) is numbers


def test_pairs_of_reals_that_are_made_an_array_are_columns_beside_one_another() -> None:
    subject = program("return np.sum(np.array([(x, x) for x in xs]))")
    found = in_columns(subject, typed(subject))
    assert applied(found, "stack") == applied(subject, "stack") + 1
    agrees(subject)
    other = program("return np.sum(np.array([(x, 1) for x in xs]))")
    assert in_columns(other, typed(other)) is other


def test_a_list_is_an_array_unless_it_is_given_out() -> None:
    taken, left = (program(f"a = [x for x in xs if x > 0.0]\nreturn {result}") for result in ("a[0]", "a"))
    assert not applied(arrayed(taken, typed(taken)), "append")
    assert arrayed(left, typed(left)) is left


def growth(body: str) -> Growth:
    subject = promoted(program(body))
    meeting = Meeting(subject, typed(subject))
    (found,) = growths(meeting, [n for nodes in meeting.members().values() for n in nodes])
    return found


def test_there_is_room_from_the_start_where_one_loop_says_how_many_turns_it_has() -> None:
    found = growth("a = []\nfor x in xs:\n if x > 0.0: a.append(x)\n else: a.extend([x, x])\nreturn a[0]")
    assert found.turns is not None
    assert found.by == 3


@pytest.mark.parametrize("body", [TAKEN["a loop without a number of turns"], TAKEN["a loop in a loop"]])
def test_else_the_array_grows_when_it_is_full(body: str) -> None:
    assert growth(body).turns is None
    subject = program(body.replace("x > y", "x > y - 9.0").replace("xs[k] > 0.0", "True"))
    sample = to_value(np.linspace(-1.0, 1.0, 40))
    assert same(backend.compile(subject, COLUMN, "python")(sample), Machine(expand(subject)).run((sample,)).value)


AGAIN = "a = [x for x in xs]\nfor k in range(3): a = [y * y - 0.5 for y in a{}]\nreturn sum(a, 0.0)"


def test_a_list_to_which_each_turn_adds_one_is_as_long_as_the_turns_wherever_it_goes() -> None:
    every, some = (program(AGAIN.format(test)) for test in ("", " if y < 9.0"))
    agrees(calling(every, "grad", 0, COLUMN))
    agrees(calling(some, "grad", 0, COLUMN))
    assert not applied(gathered(promoted(every), COLUMN), "make_slice")
    assert applied(gathered(promoted(some), COLUMN), "make_slice")


LEFT_SOON = "a = []\nfor i in range({}):\n if i >= len(xs): {}\n a.append({})\nreturn np.sum(np.array(a))"


@pytest.mark.parametrize(("turns", "way"), [("10**12", "break"), ("5, 10**12", "return sum(a, 1.0)"), ("0, -10**12, -1", "break")])
def test_there_is_no_room_for_turns_that_may_never_be_taken(turns: str, way: str) -> None:
    """A regression: a loop that is left early asked for the memory of all of its turns."""
    text = LEFT_SOON.format(turns, way, "xs[i]").replace("i >=", "i * i >=")
    assert growth(text).few
    subject = program(text)
    agrees(subject)
    agrees(calling(subject, "grad", 0, COLUMN))


ALL = [("50", "break"), ("1, len(xs) - 1, 2", "break"), ("10**12", "s = 0.0"), ("xs.shape[0]", "break")]


@pytest.mark.parametrize(("turns", "way"), ALL)
def test_near_miss_there_is_where_they_are_few_or_all_are_taken(turns: str, way: str) -> None:
    found = growth(LEFT_SOON.format(turns, way, "xs[i]").replace("\n a.", "\n if xs[0] > 0.0: a."))
    assert found.turns is not None
    assert not found.few


def test_arrays_for_which_there_is_no_room_are_the_machines() -> None:
    few, many = (program(LEFT_SOON.format(turns, "break", "xs * xs[i]")) for turns in ("50", "len(xs) + 10**12"))
    agrees(few)
    sample = to_value(np.array([0.5, -1.0]))
    with pytest.raises(Trap):
        backend.compile(many, COLUMN, "python")(sample)
    code = backend.runnable(many, COLUMN, "python")
    assert same([code(sample) for _ in range(2)][1], Machine(expand(many)).run((sample,)).value)


@pytest.mark.parametrize("index", ["0", "-1", "i"])
def test_an_element_that_is_not_there_yet_is_the_reference_s_error(index: str) -> None:
    """The array has room there, which the list has not."""
    subject = program(f"a = []\ns = 0.0\nfor i in range(len(xs)):\n s = s + a[{index}]\n a.append(xs[i])\nreturn s")
    code, given_ = backend.runnable(subject, COLUMN, "python"), to_value(np.ones(3))
    wanted = outcome(lambda: Machine(expand(subject)).run((given_,)).value)
    assert isinstance(wanted, tuple)
    assert outcome(lambda: code(given_)) == outcome(lambda: code(given_)) == wanted


# All that is done to functions with lists


def chosen(x):  # type: ignore[no-untyped-def]
    out = []
    for v in x:
        if v > 0.0:
            out.append(v * v * x[0])
    return np.sum(np.array(out)) * x


def weighted(x):  # type: ignore[no-untyped-def]
    pairs = [(v, v * v) for v in x if v > 0.0]
    return sum([a * b for a, b in pairs], 0.0) * x[0]


def first_of_gradient(x):  # type: ignore[no-untyped-def]
    return aj.grad(weighted)(x)[0]


def twice(f: Any) -> Any:
    return aj.jacobian(aj.grad(weighted))


def nested(f: Any) -> Any:
    return aj.grad(first_of_gradient)


@pytest.mark.parametrize("derive", [aj.jacobian, twice, nested])
def test_derivatives_of_derivatives_are_the_reference_s(derive: Callable[[Any], Any]) -> None:
    subject = derive(chosen)
    code = aj.compile(subject, target="python")
    for x in (np.array([0.5, -1.0, 2.0]), np.array([-0.5, -1.0, -2.0])):  # of one size, for which there is one code
        for _ in range(2):
            assert np.allclose(code(x), subject(x), rtol=1e-13, atol=0.0)


def test_batches_are_what_the_samples_are() -> None:
    rows = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -3.0], [-1.0, -2.0, -3.0]])
    for f in (weighted, aj.grad(weighted)):
        assert same(to_value(aj.vmap(f, target="python")(rows)), to_value(np.array([f(row) for row in rows])))


ADDED = (
    "a.append(x)",
    "a.append(x * 0.5); a.append(s)",
    "a.extend([x, s])",
    "a.append(a[-1] + x)",
    "s = s + a[0]",
    "s = s + a.pop(); a.append(x)",
)
TESTS = ("x > 0.0", "i % 2 == 0", "len(a) < 3", "s < x")
ASKED = (
    "sum(a, s)",
    "a[-1] * a[0]",
    "np.sum(np.array(a) * s)",
    "sum([u * v for u, v in zip(a, a[1:])], s)",
    "len(a) * s",
    "sum(a[1:] + [s], 0.0)",
)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A loop that adds to a list now and then, is left or not, and something made of the list."""
    begin = draw(st.sampled_from(("a = [1.0]", "a = [x for x in xs] + [2.0]")))
    lines = [begin, "s = 0.5", "for i in range(len(xs)):", " x = xs[i]"]
    for _ in range(draw(st.integers(1, 2))):
        lines += [f" if {draw(st.sampled_from(TESTS))}:", *(f"  {part}" for part in draw(st.sampled_from(ADDED)).split("; "))]
    lines += [" if s > 4.0: break"] if draw(st.booleans()) else []
    return "\n".join([*lines, " s = s * 0.5 + x", f"return {draw(st.sampled_from(ASKED))}"])


@costly(15)
@given(bodies())
def test_room_preserves_values_and_gradients(body: str) -> None:
    subject = program(body)
    event("taken" if gathered(promoted(subject), COLUMN) is not promoted(subject) else "left")
    agrees(subject)
    agrees(calling(subject, "grad", 0, COLUMN))


UP_TO_A_LENGTH = "a = [1.0]\nfor x in xs:\n if len(a) < 3: a.append(x)\nreturn sum(a, 0.0)"


def test_a_list_that_grows_up_to_a_length_is_an_array_where_it_is_differentiated() -> None:
    """A regression: its types are of one, two and three elements, as which code has it, but not the adjoint of its loop."""
    subject = promoted(program(UP_TO_A_LENGTH))
    assert gathered(subject, COLUMN) is subject
    assert gathered(subject, COLUMN, known=True) is not subject
    agrees(subject)
    agrees(calling(subject, "grad", 0, COLUMN))


def test_near_miss_a_list_of_one_length_stays_apart() -> None:
    subject = promoted(program("a = [1.0, 2.0]\nfor x in xs:\n if len(a) < 3: a = [x, a[0]]\nreturn sum(a, 0.0)"))
    assert gathered(subject, COLUMN, known=True) is subject
    agrees(calling(subject, "grad", 0, COLUMN))


@pytest.mark.parametrize("size", ["n", "n + 1"])
def test_a_table_with_one_place_more_is_changed_in_place(size: str) -> None:
    """A size that is told in brackets was not known as the same without, so each turn copied the table."""
    subject = program(f"n = len(xs)\nd = np.zeros({size})\nfor i in range(1, n): d[i] = d[i - 1] * 0.5 + xs[i]\nreturn d[n - 1]")
    assert backend.lowered(subject, COLUMN).alone.count("_empty(") == 1
    agrees(subject)
