"""Turns of a loop side by side: where that is done and where not, and that no bit changes, for any number of turns and lanes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from loop_texts import bits, executed

from backend import compile as compile_for
from backend import general
from backend.arrays import lanes, nests, turns
from backend.arrays.tightening import tightened
from semantics.type_language import ArrayType
from transforms.gradient_programs import calling
from transforms.parse import parse_text

pytestmark = pytest.mark.filterwarnings("ignore:invalid value")  # of infinities
N, M = "a0.shape[0]", "a0.shape[1]"


@pytest.fixture
def few() -> Iterator[None]:
    """Few lanes, so that few samples fill them several times, with some left over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "LANES", 3)
        patch.setattr(lanes, "FEWEST", 2)
        patch.setattr(lanes, "JAMMED", 2)
        yield


def arguments(n: int, m: int) -> tuple[Any, Any]:
    """A matrix and a vector, with a NaN, an infinity and negative zeros."""
    numbers = np.random.default_rng(n + 10 * m).normal(size=(n, m))
    numbers[numbers > 1.9], numbers[numbers < -1.9] = np.nan, -np.inf
    numbers[np.abs(numbers) < 0.1] = -0.0
    return numbers, np.random.default_rng(m).normal(size=m)


def kernel(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def unchanged(text: str) -> bool:
    """Whether turns go side by side, once the bits have been seen to be the same for several numbers of turns."""
    found = tightened(text)
    for n, m in ((0, 3), (1, 3), (2, 0), (3, 1), (7, 5)):
        given = arguments(n, m)
        assert bits(executed(found, *given)) == bits(executed(text, *given)), found
    return "_l in range(" in found


SUM = ("x = -0.0", f"for j in range({M}):", "    x = x + a0[k, j] * a1[j]")


def over_samples(*lines: str, before: tuple[str, ...] = (), after: str = "c") -> str:
    """A function with a loop over samples, which may write an element of c each."""
    inside = (f"    {line}" for line in lines)
    return kernel(f"c = _empty(({N},), _f64)", *before, f"for k in range({N}):", *inside, f"return ({after}, fuel, 0)")


ADD = ("for i in range(a0.shape[1]):", "    s[i] = s[i] + x * a0[k, i]")
ADDED = (f"s = _full(({M},), -0.0, _f64)",)
PART = (f"p = _empty(({N}, {M}), _f64)",)
FILL = (f"for i in range({M}):", "    p[k, i] = a0[k, i] - a1[i]")


SIDE_BY_SIDE = {
    "a sum": over_samples(*SUM, "c[k] = x"),
    "elements added to": over_samples(*SUM, *ADD, before=ADDED, after="s"),
    "a number carried": over_samples(*SUM, "x9 = x9 + x", "c[k] = x9", before=("x9 = 1.0",), after="c, x9"),
    "a part of an array": over_samples(*FILL, "x = -0.0", f"for j in range({M}):", "    x = x + p[k, j]", "c[k] = x", before=PART),
    "a place that is computed": over_samples(
        "i0 = 0",
        *SUM,
        "if x > 0.0:",
        "    i0 = 1",
        "u[i0] = u[i0] + x",
        before=("u = _full((2,), 0.0, _f64)",),
        after="u",
    ),
    "a number that is perhaps set": over_samples(
        "i0 = 0", *SUM, "if k == 1:", "    i0 = 1", *ADD, "c[k] = 7.0 if i0 > 0 else x", before=ADDED, after="c, s"
    ),
    "a nest": over_samples(
        *FILL,
        f"for j in range({M}):",
        "    x7 = a1[j] * a0[k, j]",
        f"    for i in range({M}):",
        "        p[k, i] = p[k, i] + x7 * a1[i]",
        *SUM,
        f"for v in range({M}):",
        "    s[v] = s[v] + p[k, v] * x",
        before=(*PART, *ADDED),
        after="s",
    ),
    "a nest in which order matters": over_samples(
        *FILL,
        *SUM,
        f"for j in range({M}):",
        f"    for i in range({M}):",
        "        p[k, 0] = p[k, 0] * 0.5 + a1[i] * a0[k, j] + x",
        f"for v in range({M}):",
        "    s[v] = s[v] + p[k, v]",
        before=(*PART, *ADDED),
        after="s",
    ),
    "a loop that reads what its loop writes": over_samples(
        *FILL,
        *SUM,
        f"for j in range({M}):",
        f"    q[k, j] = p[k, {M} - 1 - j] * x",
        f"    for i in range({M}):",
        "        p[k, i] = p[k, i] + q[k, j]",
        f"for v in range({M}):",
        "    s[v] = s[v] + p[k, v]",
        before=(*PART, f"q = _empty(({N}, {M}), _f64)", *ADDED),
        after="s",
    ),
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", SIDE_BY_SIDE)
def test_turns_go_side_by_side(name: str) -> None:
    assert unchanged(SIDE_BY_SIDE[name])


STAY = {
    "an element of another turn": over_samples(
        "r[0] = r[0] * 0.5", *SUM, "r[k] = x + r[0]", before=(f"r = _full(({N},), 2.0, _f64)",), after="r"
    ),
    "no sum": over_samples("c[k] = a0.shape[1] * 2.0"),
    "a number that is read after": over_samples(*SUM, "c[k] = x", before=("x = 1.0",), after="c, x"),
    "an element added to twice": over_samples(
        *SUM, "s[0] = s[0] + x", *ADD, before=(f"s = _full(({M} + 1,), -0.0, _f64)",), after="s"
    ),
    "an element added to in every turn of a loop": over_samples(
        *SUM, f"for i in range({M}):", "    s[0] = s[0] + x * a1[i]", before=("s = _full((1,), 0.0, _f64)",), after="s"
    ),
    "a number carried through a loop": over_samples(
        *SUM, f"for i in range({M}):", "    x9 = x9 + x * a1[i]", before=("x9 = 1.0",), after="x9"
    ),
    "a carried number read in a loop": over_samples(
        *SUM, "x9 = x9 + x", f"for i in range({M}):", "    x = x + x9", "c[k] = x", before=("x9 = 1.0",)
    ),
    "a turn that returns": over_samples(*SUM, "if x > 3.0:", "    return (c, fuel, 1)", "c[k] = x"),
    "an array of two names": over_samples(*SUM, "c[k] = x", before=("d = c",), after="c, d"),
    "a loop of another length in each turn": over_samples(
        "x = -0.0", f"for j in range(min(k, {M})):", "    x = x + a1[j]", "c[k] = x"
    ),
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("name", STAY)
def test_other_loops_stay(name: str) -> None:
    assert not unchanged(STAY[name])


@st.composite
def functions(draw: st.DrawFn) -> str:
    """A loop over samples, in which sums, parts, added and carried things come in any order, and places are sometimes wrong."""
    lines: list[str] = ["x = a1.shape[0] * 0.5"]
    index = st.sampled_from(["i", "i", "i", "i", "0"])
    for at in range(draw(st.integers(1, 5))):
        j, own = f"j{at}", draw(st.sampled_from(["x", "x8", "x8", "x8"]))
        inner = [f"for {j} in range({M}):"]
        match draw(st.sampled_from(["sum", "sum", "part", "add", "carry", "nest", "test", "most"])):
            case "sum":
                lines += [
                    f"{own} = -0.0",
                    *inner,
                    f"    {own} = {own} + a0[k, {j}] * p[k, {draw(index).replace('i', j)}]",
                    f"x = x + {own}",
                ]
            case "part":
                lines += [*inner, f"    p[k, {j}] = a0[k, {j}] * x"]
            case "add":
                lines += [*inner, f"    s[{draw(index).replace('i', j)}] = s[{j}] + p[k, {j}] * x"]
            case "carry":
                lines += [
                    f"x9 = x9 + {own if at else 'x'}" if own == "x" else "x9 = x9 + x",
                    *(["x = x + x9"] if draw(st.booleans()) else []),
                ]
            case "nest":
                new, other = draw(st.sampled_from([(j, "i"), ("i", j), ("0", "i")]))
                lines += [*inner, f"    q[k, {j}] = a1[{j}] * x", f"    for i in range({M}):"]
                lines += [f"        p[k, {new}] = p[k, {new}] + q[k, {j}] * a1[{other}]"]
            case "test":
                lines += ["if x > 0.0:", "    x = x * 0.5", "else:", f"    x = {draw(st.sampled_from(['x + 1.0', 'x9']))}"]
            case "most":
                lines += [
                    "x6, i9 = (x, 0)",
                    *inner,
                    f"    if a0[k, {j}] > x6:",
                    f"        x6, i9 = (a0[k, {j}], {j})",
                    "x = x + a1[i9] * x6",
                ]
    lines += draw(st.sampled_from([["c[k] = x"], ["c[k] = x", "u[0] = u[0] + x"], ["x9 = x9 - x"]]))
    before = [
        *PART,
        f"q = _empty(({N}, {M}), _f64)",
        *ADDED,
        "u = _full((1,), 0.0, _f64)",
        "x9 = 0.25",
        f"r = _full(({N},), 2.0, _f64)",
    ]
    first = [f"for i in range({M}):", "    p[k, i] = a0[k, i] - a1[i]"] if draw(st.integers(0, 9)) else []
    made = f"p = _full(({N}, {M}), 0.5, _f64)"
    return over_samples(
        *first, *lines, before=tuple(made if b == PART[0] and not first else b for b in before), after="c * r, s, x9, u"
    )


@pytest.mark.usefixtures("few")
@given(functions(), st.integers(0, 9), st.integers(1, 5))
def test_no_bit_changes(text: str, n: int, m: int) -> None:
    found = tightened(text)
    given = arguments(n, m)
    assert bits(executed(found, *given)) == bits(executed(text, *given)), found
    event("side by side" if "_l in range(" in found else "not")


def _all_set(block: Any, numbers: frozenset[str]) -> set[str]:
    return {*numbers}


PLANTED: list[tuple[Any, str, Any]] = [
    (turns, "_in_one_place", lambda *_: True),
    (turns, "_has_own", lambda *_: True),
    (nests, "_keeps_order", lambda *_: True),
    (nests, "joinable", lambda *_: True),
    (lanes, "definitely", _all_set),
]


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("module", "name", "fault"), PLANTED, ids=[name for _, name, _ in PLANTED])
def test_a_pass_without_one_of_its_conditions_is_caught(
    module: Any, name: str, fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, fault)
    guilty = 0
    for text in (*SIDE_BY_SIDE.values(), *STAY.values()):
        try:
            unchanged(text)
        except (AssertionError, UnboundLocalError):
            guilty += 1
    assert guilty


MIXTURE = """
import numpy as np
def f(means, x):
    centered = np.expand_dims(x, 1) - means
    logs = np.sum(centered * centered, axis=2)
    return np.sum(np.log(np.sum(np.exp(-logs), axis=1)))
"""


def test_compiled_code_has_the_bits_of_the_loops_as_they_were() -> None:
    types = (general(ArrayType("f64", (3, 11))),) * 2
    compiled = compile_for(calling(parse_text(MIXTURE, "f"), "grad", 0, types), types, "cpu")
    source, alone = (text[text.index("def kernel") :] for text in (compiled.code.source, compiled.code.alone))
    assert "_l in range(" in alone
    rng = np.random.default_rng(0)
    for n in (1, 63, 64, 150):
        given = rng.normal(size=(3, 11)), rng.normal(size=(n, 11))
        assert bits((compiled(*given),)) == bits(executed(source, *given)[:1])
