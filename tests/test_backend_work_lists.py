"""Lists of what there is to do, from which a loop takes the last and to which it adds others, have generated code."""

from __future__ import annotations

import pytest
from code_claims import LENGTHS, column, gradient, has_code, written
from test_backend_gathering import COLUMN

import backend
from backend.lists.promotion import promoted
from backend.lists.reading import without_unread
from backend.lowering import subset
from backend.stacks.near_types import SIZES, Near, unsized, widest
from semantics.errors import Malformed
from semantics.signatures import Signature
from semantics.type_language import INTEGER, REAL, ArrayType, TupleType
from semantics.type_lattice import ZERO_TYPE, join

HALVES = (
    "work = [(0, len(xs))]\ns = 0.0\nwhile work:\n lo, hi = work.pop()\n if hi - lo == 1: s = s + xs[lo] * xs[lo]\n"
    " elif hi - lo > 1:\n  mid = (lo + hi) // 2\n  work.append((lo, mid))\n  work.append((mid, hi))\n  s = s * 0.99\nreturn s"
)
SORTED = (
    "a = [x for x in xs]\nwork = [(0, len(a) - 1)]\nwhile work:\n lo, hi = work.pop()\n if lo < hi:\n  p = a[hi]\n  i = lo\n"
    "  for j in range(lo, hi):\n   if a[j] < p:\n    t = a[i]\n    a[i] = a[j]\n    a[j] = t\n    i = i + 1\n"
    "  t = a[i]\n  a[i] = a[hi]\n  a[hi] = t\n  work.append((lo, i - 1))\n  work.append((i + 1, hi))\n"
    "return sum([k * v for k, v in enumerate(a)], 0.0)"
)
WORK = {
    "halves": HALVES,
    "intervals of reals, with a depth": (
        "work = [(xs[0], xs[0] * 2.0, 0)]\ns = 0.0\nwhile len(work) > 0:\n lo, hi, d = work.pop()\n mid = 0.5 * (lo + hi)\n"
        " if d > 3 or (hi - lo) * (hi - lo) < 0.001: s += (hi - lo) * math.exp(mid)\n"
        " else:\n  work.append((lo, mid, d + 1))\n  work.append((mid, hi, d + 1))\nreturn s"
    ),
    "one list of work a turn": (
        "t = 0.0\nfor x in xs:\n work = [(x, 1)]\n while work:\n  v, d = work.pop()\n  if d < 4:\n"
        "   work.append((v * 0.5, d + 1))\n   work.append((v * v, d + 2))\n  else: t = t + v\nreturn t"
    ),
    "the first is taken": HALVES.replace("pop()", "pop(0)"),
    "a list of numbers is sorted": SORTED,
    "an array is sorted": SORTED.replace("a = [x for x in xs]", "a = xs.copy()"),
    "one index, and more work than turns say": (
        "todo = [0]\ns = 0.0\nwhile todo:\n i = todo.pop()\n if i < len(xs):\n  s = s * 0.5 + xs[i]\n  todo.append(2 * i + 1)\n"
        "  todo.append(2 * i + 2)\nreturn s"
    ),
    "a work list that a branch makes shorter by two": (
        "work = [(x, i) for i, x in enumerate(xs)]\ns = 0.0\nwhile len(work) > 1:\n x, i = work.pop()\n y, j = work.pop()\n"
        " s = s + x * y * (i - j)\n if x > y: work.append((x - y, j))\nreturn s"
    ),
}
SAMPLES = [column(n) for n in LENGTHS]


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_a_work_list_has_code(name: str, derived: bool) -> None:
    subject = written(WORK[name])
    has_code(gradient(subject, COLUMN) if derived else subject, COLUMN, SAMPLES)


@pytest.mark.parametrize("name", ["halves", "intervals of reals, with a depth"])
def test_so_it_has_where_numba_compiles_it(name: str) -> None:
    has_code(gradient(written(WORK[name]), COLUMN), COLUMN, SAMPLES[1:], "cpu")


def test_near_miss_pairs_and_triples_in_one_list_are_the_machines() -> None:
    several = HALVES.replace("(mid, hi)", "(mid, hi, 0)").replace("work.pop()", "work.pop()[:2]")
    with pytest.raises(Malformed):
        backend.compile(written(several), COLUMN, "python")


# Each rule: where it fires, and a near miss


def test_what_a_loop_in_a_loop_passes_on_and_nothing_reads_is_passed_no_more() -> None:
    subject = promoted(written(WORK["one list of work a turn"]))
    passed = [p for g in subject.graphs.values() for p in g.parameters]
    read = without_unread(subject)
    assert {subject.describe(p) for p in passed if p not in read.nodes} == {"%list'1", "%list'1.2"}
    assert without_unread(read) is read


def test_near_miss_what_may_fail_is_passed_still() -> None:
    text = (
        "def g(t, k):\n return k if k > 2.0 else g(t, k + 1.0)\ndef h(x):\n assert x > 0.0, 'positive'\n return x\n"
        "return g(h(xs[0]), xs[1])"
    )
    failing, plain = written(text), written(text.replace(" assert x > 0.0, 'positive'\n", ""))
    assert without_unread(failing) is failing
    assert without_unread(plain) is not plain


def test_of_a_program_whose_cells_are_values_no_types_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: the types of lists of every length took most of the time until there was code."""
    monkeypatch.setattr("transforms.known_lengths.typed", lambda *_: pytest.fail("types were asked for"))
    subset.refuse_memory(promoted(written(SORTED)), COLUMN)


def test_arrays_of_many_known_sizes_have_few_signatures() -> None:
    def of(size: int | None) -> Signature:
        return Signature(7, (), (ArrayType("f64", (size,)), INTEGER))

    several = [Near(of(size)) for size in range(2, 2 + SIZES)]
    assert widest(of(99), several, False) == of(None)
    assert widest(of(99), several[1:], False) == of(99)
    assert widest(of(1), several, False) == of(1)  # it may be what is repeated
    assert unsized(TupleType((ArrayType("f64", (3, 1)), REAL))) == TupleType((ArrayType("f64", (None, 1)), REAL))
    assert unsized(join(ZERO_TYPE, ArrayType("i64", (4,)))) == join(ZERO_TYPE, ArrayType("i64", (None,)))


def test_the_gradient_of_work_with_three_parts_is_no_longer_than_its_lines_say() -> None:
    """A regression: each part had code for each size that its array had come to, 12,000 lines after half a minute."""
    subject = gradient(written(WORK["intervals of reals, with a depth"]), COLUMN)
    assert len(backend.lowered(subject, COLUMN).alone.splitlines()) < 2000
