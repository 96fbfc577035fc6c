"""Lists that loops make are arrays in generated code, in every bit; what is asked more than an array answers stays a list."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
import backend
from adjudge.values import to_value
from backend.lists import gathering
from backend.lists.gathering import gathered
from backend.lists.loops import loops
from backend.lists.promotion import promoted
from backend.tiers import Tiered
from semantics.arrays import Array
from semantics.denotation import FRACTIONS, denote
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import Program
from semantics.machine import Machine
from semantics.type_language import REAL, ArrayType
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

COLUMN = (ArrayType("f64", (None,)),)
SIZES = ([], [0.7], [0.3, -1.2, 2.0], [1.0, -0.0, float("nan"), 0.5, 3.0])
TAKEN = {
    "a comprehension made an array": "return np.sum(np.array([math.sin(x) for x in xs]))",
    "rows that are stacked": "return np.sum(np.stack([xs * xs[k] for k in range(len(xs))]) ** 2)",
    "a sum": "return sum([x * x for x in xs], 0.0)",
    "a generator": "return sum((x * x for x in xs), 0.0)",
    "elements and the length": "a = [x * x for x in xs]; return a[0] * a[-1] + len(a)",
    "a matrix": "m = np.array([[x * y for y in xs] for x in xs]); return np.sum(m @ m)",
    "elements of elements": "a = [[x * y for y in xs] for x in xs]\nreturn sum([a[i][i] * i for i in range(len(xs))], 0.0)",
    "one list after another": (
        "a = [math.exp(x) for x in xs]; t = sum(a, 0.0)\nreturn sum([v / t * x for v, x in zip(a, xs)], 0.0)"
    ),
    "rows gone over": "s = 0.0\nfor r in [np.tanh(xs * k) for k in range(4 + len(xs))]: s = s + np.sum(r * r)\nreturn s",
    "integers": "a = [i * i for i in range(len(xs))]\nreturn sum([xs[i] * a[i] for i in range(len(xs))], 0.0)",
    "a loop that appends": (
        "a = []\ns = 0.0\nfor x in xs:\n if x > 0.0: s = s + x\n a.append(x * s)\nreturn np.sum(np.array(a)) + s"
    ),
    "two loops that append": (
        "a, b = [], []\nfor x in xs:\n a.append(x)\n b.append(x * 2.0)\nreturn np.dot(np.array(a), np.array(b))"
    ),
    "a repeated element that changes": (
        "n = len(xs)\nd = [0.0] * n\nfor i in range(1, n): d[i] = d[i - 1] * 0.5 + xs[i]\nreturn d[n - 1]"
    ),
    "booleans that change": (
        "n = len(xs)\nd = [False] * n\nfor i in range(n): d[i] = xs[i] > 0.5\nreturn sum([1.0 if b else 0.0 for b in d], 0.0)"
    ),
    "slices chosen by a branch": "a = None if len(xs) > 2 else 0\nreturn np.sum(xs[a:2]) + sum([x for x in xs], 0.0)",
    "no turn, and a body that divides": "n = len(xs)\nreturn np.sum(np.stack([xs * (5 // n) for i in range(n)]))",
    "rows of one element": "s = np.zeros(3)\nfor r in [np.ones(1) * x for x in xs]: s = s + r\nreturn np.sum(s)",
}
LEFT = {
    "numbers of two kinds": "return sum([x if x > 0.0 else 1 for x in xs], 0.0)",
    "elements of several sizes": "return np.sum(np.stack([np.ones(k + 1) * xs[k] for k in range(len(xs))]))",
}


def program(body: str) -> Program:
    text = "import math\nimport numpy as np\ndef f(xs):\n " + body.replace("; ", "\n").replace("\n", "\n ")
    return parse_text(text, "f")


def outcome(action: Any) -> Any:
    """The value, or what the error says."""
    try:
        return action()
    except AdjudgeError as error:
        return type(error), error.what


def agrees(subject: Program, types: tuple[Any, ...] = COLUMN) -> None:
    """
    Asserts that tier A has code for columns, all of one sample, and that with and without elements the outcome is the reference's
    in every bit: of J, of the SSA adjoint, or of that of the program with arrays, whose sums have another order where a turn is
    taken before the loop.
    """
    code = backend.runnable(subject, types, "python")
    ways = [expand(subject), expand(subject, "ssa"), expand(gathered(promoted(subject), types), "ssa")]
    for sample in SIZES:
        given_ = (to_value(np.array(sample)),) * len(types)
        found = [outcome(lambda given_=given_: code(*given_)) for _ in range(2)][1]
        wanted = (outcome(lambda given_=given_, way=way: Machine(way).run(given_).value) for way in ways)
        assert any(same(found, value) for value in wanted)
    assert isinstance(code, Tiered)
    assert code.refusal is None


@pytest.mark.parametrize("name", TAKEN)
def test_a_list_that_loops_make_is_an_array(name: str) -> None:
    agrees(program(TAKEN[name]))


@pytest.mark.parametrize("name", [n for n in TAKEN if n != "booleans that change"])
def test_so_it_is_where_a_gradient_is_asked_for(name: str) -> None:
    agrees(calling(program(TAKEN[name]), "grad", 0, COLUMN))


@pytest.mark.parametrize("name", LEFT)
def test_what_an_array_does_not_answer_stays_a_list(name: str) -> None:
    subject = program(LEFT[name])
    with pytest.raises(Malformed, match="unknown length"):
        backend.lowered(subject, COLUMN)


def test_a_list_of_known_length_stays_apart() -> None:
    subject = program("return sum([t * t for t in (xs[0], 2.0, 3.0)], 0.0)")
    assert gathered(subject, COLUMN) is subject


def test_types_are_told_once_for_lists_beside_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each list took 11 s for forty of them."""
    told: list[Program] = []
    typed = gathering.told_types
    monkeypatch.setattr(gathering, "told_types", lambda subject, types: told.append(subject) or typed(subject, types))
    lists = [f"a{k} = [x * {k}.0 for x in xs]" for k in range(12)]
    subject = program("\n".join([*lists, "return " + " + ".join(f"a{k}[0]" for k in range(12))]))
    assert not list(loops(gathered(subject, COLUMN)))
    assert len(told) == 1


ELEMENTS = ("x * x", "math.tanh(x) * i", "xs[i] - xs[len(xs) - 1 - i]", "x / (x * x + 1.0)", "max(x, 0.25) * s", "float(i)")
ROWS = ("xs * {}", "np.array([{}, 2.0 * x])", "np.sin(xs[:2]) + {}")
CONSUMERS = (
    "np.sum(np.array({0}) * {1})",
    "sum({0}, 0.0) * {1}",
    "{0}[-1] + {0}[0] * {1}",
    "sum([u * v for u, v in zip({0}, {0})], {1})",
    "np.array({0})[0] - len({0}) * {1}",
    "sum([v if v > {1} else -v for v in {0}], 0.0)",
)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """A loop that makes one or two lists of numbers, or rows, and something made of them."""
    element, other = draw(st.sampled_from(ELEMENTS)), draw(st.sampled_from(ELEMENTS))
    rows = draw(st.booleans())
    made = draw(st.sampled_from(ROWS)).format(f"({element})") if rows else element
    lines = ["s = 0.5", "a, b = [], []"]
    lines += ["for i in range(len(xs)):", " x = xs[i]", " if x > 0.0: s = s * 0.5 + x", f" a.append({made})", f" b.append({other})"]
    if not rows and draw(st.booleans()):
        lines += ["for i in range(1, len(xs)):", " x = xs[i]", f" a[i] = a[i - 1] * 0.5 + {element}"]
    second = draw(st.sampled_from(CONSUMERS)).format("b", "s")
    first = (
        f"np.sum(np.{draw(st.sampled_from(('array', 'stack')))}(a) * 0.5)"
        if rows
        else draw(st.sampled_from(CONSUMERS)).format("a", "s")
    )
    return "\n".join([*lines, f"return {first} + {second}"])


@costly(40)  # an example is code of two programs, and five samples by three ways: a hundred took over twenty minutes
@given(bodies())
def test_gathering_preserves_values_and_gradients(body: str) -> None:
    subject = program(body)
    without = promoted(subject)
    event("gathered" if gathered(without, COLUMN) is not without else "left")
    agrees(subject)
    agrees(calling(subject, "grad", 0, COLUMN))


@pytest.mark.parametrize(
    "name", [n for n in TAKEN if not any(w in TAKEN[n] for w in ("(x * x", "math", "tanh", "//", "0.5", "stack"))]
)
def test_gradients_are_the_same_over_the_rationals(name: str) -> None:
    subject = promoted(program(TAKEN[name]))
    xs = Array("f64", (3,), (Fraction(1, 3), Fraction(-2), Fraction(5, 7)))
    before, after = (expand(calling(p, "grad", 0, COLUMN)) for p in (subject, gathered(subject, COLUMN)))
    assert before != after
    assert denote(after, [xs], FRACTIONS).items == denote(before, [xs], FRACTIONS).items


# Jacobians, which are lists of rows


def several(x):  # type: ignore[no-untyped-def]
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.sin(x[i]) * x[0]
    return y


def matrices(x):  # type: ignore[no-untyped-def]
    return np.expand_dims(x, 1) * x


def number(x):  # type: ignore[no-untyped-def]
    return np.sum(x * x)


@pytest.mark.parametrize("f", [several, matrices, number], ids=["vector", "matrix", "number"])
@pytest.mark.parametrize("target", ["python", "cpu"])
def test_a_jacobian_is_generated_code(f: Any, target: str) -> None:
    jacobian = aj.compile(aj.jacobian(f), target=target)
    for x in (np.array([0.5, -1.0, 2.0]), np.array([0.5]), np.zeros(0)):
        for _ in range(2):
            assert same(to_value(jacobian(x)), to_value(aj.jacobian(f)(x)))


def test_the_jacobian_of_an_array_of_any_size_has_a_type() -> None:
    assert str(aj.infer(aj.jacobian(matrices), "f64[?]").result) == "f64[?, ?, ?]"


LATTICE = """
def f(x: float):
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(x * i + j)
        rows.append(row)
    return rows[2][1]
"""


@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_what_holds_a_list_that_is_an_array_is_one_whatever_its_length(derived: bool) -> None:
    subject = parse_text(LATTICE, "f")
    code = backend.compile(calling(subject, "grad", 0, (REAL,)) if derived else subject, (REAL,), "python")
    assert code(1.5) == (2.0 if derived else 4.0)
