"""Lists that come under another name from turn to turn, as by `cur = nxt`, have generated code; those of two names stay cells."""

from __future__ import annotations

import pytest
from code_claims import LENGTHS, column, gradient, has_code, outcome, written
from hypothesis import event, given
from hypothesis import strategies as st
from test_backend_gathering import COLUMN
from test_backend_promotion import has_memory

import backend
from backend.lists import followed_cells
from backend.lists.followed_cells import followed
from backend.lists.lifting import with_states
from backend.lists.promotion import promoted
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.type_language import REAL
from semantics.values import same
from semantics.wellformed import check
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

RENAMED = {
    "the next becomes this one": (
        "cur = [x for x in xs]\nfor k in range(3):\n nxt = []\n for i in range(len(cur)): nxt.append(cur[i] * cur[0] + 1.0)\n"
        " cur = nxt\nreturn sum(cur, 0.0)"
    ),
    "half as many a round": (
        "cur = [x for x in xs]\nwhile len(cur) > 1:\n nxt = []\n"
        " for i in range(0, len(cur) - 1, 2): nxt.append(cur[i] * cur[i + 1])\n"
        " if len(cur) % 2 == 1: nxt.append(cur[-1])\n cur = nxt\nreturn cur[0]"
    ),
    "a new list now and then": (
        "a = []\ns = 0.0\nfor x in xs:\n if x > 0.5:\n  s = s + sum(a, 0.0)\n  a = []\n a.append(x * s + x)\nreturn s + sum(a, 0.0)"
    ),
    "a new list when it is long": (
        "t = 0.0\na = []\nfor x in xs:\n if len(a) == 2:\n  t = t + a[0] * a[1]\n  a = []\n a.append(x)\nreturn t + len(a)"
    ),
    "the row before": (
        "n = len(xs)\nprev = [0.1 * k for k in range(n + 1)]\nfor i in range(n):\n cur = [i * 0.1]\n for j in range(n):\n"
        "  cur.append(min(prev[j] + (xs[i] - xs[j]) * (xs[i] - xs[j]), cur[j] + 0.3))\n prev = cur\nreturn prev[-1]"
    ),
    "two that change places": (
        "n = len(xs)\na = [x for x in xs]\nb = [0.0] * n\nfor k in range(3):\n for i in range(n): b[i] = a[i] * 0.5 + a[i - 1]\n"
        " a, b = b, a\nreturn sum([u * v for u, v in zip(a, b)], 0.0)"
    ),
    "a copy is kept": (
        "best, cur = [], []\nfor x in xs:\n if x > -0.5: cur.append(x)\n else: cur = []\n"
        " if len(cur) > len(best): best = list(cur)\nreturn sum(best, 0.0)"
    ),
    "pairs": (
        "cur = [(x, x * x) for x in xs]\nfor k in range(2):\n nxt = []\n for u, v in cur:\n  if u < 1.0: nxt.append((v, u + 0.5))\n"
        " cur = nxt\nreturn sum([u - v for u, v in cur], 0.0)"
    ),
}
RENAMED |= {
    "the longer of two, in a branch": (
        "best, cur = [], []\nfor x in xs:\n cur.append(x)\n if x < 0.0:\n  if len(cur) > len(best): best = cur\n  cur = []\n"
        "return sum(best, 1.0) + sum(cur, 0.0)"
    ),
}
TWO_NAMES = {
    "the other changes": "a = [x]\nb = [2.0]\nfor i in range(3):\n b = a\n b.append(x * i)\nreturn sum(a, 0.0) + len(b)",
    "now and then": "a = [x]\nb = [2.0]\nfor i in range(3):\n if x > i: b = a\n b.append(x)\nreturn sum(a, 0.0) - len(b)",
    "one is kept": (
        "a, b = [x], []\nfor i in range(3):\n b = a\n a = [x * i]\n b.append(1.0)\n c = b\n c.append(x)\n a = b\n"
        "return a[-1] + len(b)"
    ),
}
SAMPLES = [column(n) for n in LENGTHS]


@pytest.mark.parametrize("name", RENAMED)
@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_a_list_of_another_name_has_code(name: str, derived: bool) -> None:
    subject = written(RENAMED[name])
    has_code(gradient(subject, COLUMN) if derived else subject, COLUMN, SAMPLES)


@pytest.mark.parametrize("name", ["the next becomes this one", "a new list now and then"])
def test_so_it_has_where_numba_compiles_it(name: str) -> None:
    has_code(gradient(written(RENAMED[name]), COLUMN), COLUMN, SAMPLES[1:], "cpu")


def test_an_index_outside_is_the_reference_s_error() -> None:
    subject = written(RENAMED["the row before"].replace("prev[-1]", "prev[len(xs) + 1 + (2 if xs[0] > 0.0 else 0)]"))
    has_code(subject, COLUMN, SAMPLES)


@pytest.mark.parametrize("name", TWO_NAMES)
def test_near_miss_a_list_of_two_names_stays_a_cell(name: str) -> None:
    subject = written(TWO_NAMES[name], "x")
    assert promoted(subject) is subject
    with pytest.raises(Malformed, match="memory"):
        backend.compile(subject, (REAL,), "python")


# The promotion itself

NAMES = "abc"
SIMPLE = (
    "{0}.append(x * {2}.0)",
    "{0} = {1}",
    "{0} = [x, {2}.0]",
    "{0} = []",
    "{0}, {1} = {1}, {0}",
    "x = x * 0.5 + len({0})",
    "if len({0}) > 0: x = x + {0}[-1]",
    "if len({0}) > 0: {0}[0] = x",
    "if len({0}) > 0: x = {0}.pop()",
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """Statements that change and rename three lists, in loops and branches."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 3 and draw(st.integers(0, 3)) == 0:
            number = draw(st.integers(0, 3))
            lines.append(draw(st.sampled_from((f"for i{depth} in range({number}):", f"if x > {number}.5:", "if len(a) > len(b):"))))
            lines += [" " + line for line in draw(blocks(depth + 1))]
        else:
            one, other = draw(st.permutations(NAMES))[:2]
            lines.append(draw(st.sampled_from(SIMPLE)).format(one, other, draw(st.integers(1, 5))))
    return lines


@st.composite
def renamings(draw: st.DrawFn) -> Program:
    body = ["a, b, c = [x], [], [1.0, x]", *draw(blocks()), *draw(blocks())]
    return parse_text("def f(x):\n " + "\n ".join([*body, "return x + sum(a, 0.0) * 3.0 + sum(b, 0.0) * 7.0 + len(c)"]), "f")


@given(renamings())
def test_promotion_preserves_values_and_traps_of_lists_that_are_renamed(subject: Program) -> None:
    found = promoted(subject)
    event("promoted" if found is not subject else "left" if TABLE["memory"] in subject.interned else "without memory")
    check(found)
    for x in (0.5, 4.0, 9.5):
        assert same(outcome(lambda x=x: run(found, x)), outcome(lambda x=x: run(subject, x)))


@pytest.mark.parametrize("mode", ["J", "ssa"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_gradients_are_those_of_the_memory(name: str, mode: str) -> None:
    text = "a, b = [x, 2.0], [x]\nfor k in range(3):\n c = [a[0] * x]\n c.append(b[-1] + k)\n a, b = b, c\nreturn {}[0] * {}[-1]"
    subject = written(text.format(name, name), "x")
    found = promoted(subject)
    assert not has_memory(found)
    before, after = (expand(calling(p, "grad", 0, (REAL,)), mode) for p in (subject, found))
    assert same(run(after, 1.25), run(before, 1.25))


def memory_of(subject: Program) -> int:
    (use,) = (use for use in subject.users(subject.interned[TABLE["memory"]]) if use.index == 0)
    return use.user


def test_a_cell_that_is_passed_has_the_name_of_the_parameter_alone() -> None:
    subject = written("a, b = [x], [2.0]\nfor k in range(3):\n b[0] = a[0] * x\n a, b = b, a\nreturn a[0]", "x")
    found = followed(subject, memory_of(subject))
    assert found is not None
    for call, passed in found.passed.items():
        (state,) = (s for s, calls in found.calls.items() if call in calls)
        assert set(passed) <= set(found.held[state])
        assert not {*passed.values()} - {*passed} & {*found.held[state]}


def test_a_state_is_passed_beside_a_pointer_where_a_branch_chooses_one() -> None:
    subject = written("a, b = [x], [2.0]\nb.append(x)\nif x > 1.0: a = b\nreturn a[0]", "x")
    memory = memory_of(subject)
    lifted = with_states(subject, memory)
    check(lifted)
    assert followed(subject, memory) is None
    assert followed(lifted, memory) is not None
    assert with_states(lifted, memory) is lifted


def test_near_miss_a_name_that_nothing_reads_needs_no_state() -> None:
    subject = written("a = [x]\na.append(2.0)\nif x > 1.0: y = 3.0\nelse: y = x\nreturn a[0] + y", "x")
    assert with_states(subject, memory_of(subject)) is subject


def test_a_cell_that_keeps_its_old_name_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: what is passed on is there by both names, so what one changes the other does not show."""
    monkeypatch.setattr(followed_cells, "_renamed", lambda cells, passed: cells.union(passed))
    subject = written(TWO_NAMES["now and then"], "x")
    found = promoted(subject)
    assert found is not subject
    assert not same(run(found, 1.5), run(subject, 1.5))
