"""Lists of one known length in lists of unknown length: tuples in generated code, and the reference's bits."""

from __future__ import annotations

import pytest
from array_program_claims import TYPES, holds, judged, written
from claims import costly
from hypothesis import given
from hypothesis import strategies as st

from backend.lists import fixed
from backend.lists.fixed import with_tuples
from backend.lists.promotion import promoted
from backend.lists.told import told_types
from semantics.ir import Program
from transforms.parse import parse_text


def changed(body: str) -> bool:
    """Whether it has tuples for lists."""
    program: Program = promoted(parse_text(written(body), "f"))
    inference = told_types(program, TYPES)
    assert inference is not None
    return with_tuples(program, inference) is not program


TAKEN = {
    "a path": "p = [[e, 1.0]]\nfor v in x:\n    a, b = p[-1]\n    p.append([a * b, b + v])\nreturn sum([a + b for a, b in p], 0.0)",
    "pairs": "p = [[v, v * e] for v in x]\nreturn sum([q[0] * q[1] for q in p], 0.0)",
    "of a function": (
        "def turned(q):\n    return [q[1], q[0] * e]\np = [turned([v, 1.0]) for v in x]\nr = [turned(q) for q in p]\n"
        "return sum([u[0] * w[1] for u, w in zip(p, r)], 0.0)"
    ),
    "one of two": "p = []\nfor v in x:\n    p.append([v, e] if v > 0.0 else [e, v])\nreturn sum([q[0] - q[-1] for q in p], 0.0)",
    "one is replaced": "p = [[v, e] for v in x]\np[-1] = [0.25, 0.75]\nreturn sum([q[0] * q[1] for q in p], 0.0)",
    "a list of work": (
        "p = [[v, e] for v in x]\ns = 0.0\nwhile p:\n    a, b = p.pop()\n    s += a * b\n    if b > 0.5:\n"
        "        p.append([a, b - 0.5])\nreturn s"
    ),
    "arrays": "p = [[v * y, y] for v in x]\nreturn sum([np.sum(q[0] * q[1]) for q in p], 0.0)",
    "made an array": "p = [[v, e * v] for v in x]\nq = np.array(p)\nreturn np.sum(q[:, 0] * q[:, 1]) + p[0][1]",
    "tuples made an array": "p = []\nfor v in x:\n    p.append((v, e))\nreturn np.sum(np.array(p) @ np.array([1.0, e]))",
    "of integers and reals": "p = [[v, 1] for v in x]\nreturn sum([q[0] * q[1] for q in p], 0.0)",
}


@pytest.mark.parametrize("kind", ["value", "gradient"])
@pytest.mark.parametrize("name", TAKEN)
def test_such_lists_are_tuples(name: str, kind: str) -> None:
    assert changed(TAKEN[name]) or "tuples" in name
    assert judged(written(TAKEN[name]), kind)["value"]


NEAR = {
    "of several lengths": "p = [[v, e] for v in x]\np.append([e, e, e])\nreturn sum([q[0] * q[-1] for q in p], 0.0)",
    "an element is changed": "p = [[v, e] for v in x]\nq = list(p[0])\nq[1] = 5.0\np[0] = q\nreturn sum([q[1] for q in p], 0.0)",
    "one is made longer": "p = [[v, e] for v in x]\nq = list(p[0])\nq.append(2.0)\nreturn sum([r[0] * q[-1] for r in p], 0.0)",
    "it is asked how long it is": "p = [[v, e] for v in x]\nreturn sum([q[0] * len(q) for q in p], 0.0)",
    "it is compared": "p = [[v, e] for v in x]\nreturn sum([1.0 for q in p if q == [1.0, e]], 0.0)",
    "it is gone over": "p = [[v, e] for v in x]\ns = 0.0\nfor q in p:\n    for v in q:\n        s = s * 0.5 + v\nreturn s",
    "an index is computed": "p = [[v, e] for v in x]\nreturn sum([q[n % 2] for q in p], 0.0)",
    "the list is of known length": "p = [[e, 1.0], [1.0, e]]\nreturn sum([q[0] * q[1] for q in p], 0.0)",
}


@pytest.mark.parametrize("name", NEAR)
def test_near_miss_others_stay_lists(name: str) -> None:
    assert not changed(NEAR[name])
    judged(written(NEAR[name]), "value")


def test_what_is_asked_of_a_list_is_what_keeps_it_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixed, "_goes_on", lambda *_: True)
    assert [name for name in NEAR if changed(NEAR[name])] == ["it is asked how long it is", "an index is computed"]


def test_a_list_that_is_given_out_stays_one() -> None:
    assert not changed("return [[v, e] for v in x]")
    assert not changed("return [[v, e] for v in x][0]")


PARTS = ("v", "e", "v * e", "a", "b", "a * b", "b + v", "1.0")
LINES = (
    "p.append([P, P])",
    "p[-1] = [P, P]",
    "a, b = p[-1]",
    "a = p[i % len(p)][0]",
    "b = p[0][-1]",
    "t += p[-1][1] * e",
    "t += len(p)",
    "p = p + [[P, P]]",
    "p.pop()",
)
AFTER = (
    "t",
    "t + np.sum(np.array(p))",
    "np.array(p).shape[0] * t",
    "t + sum([q[0] * q[1] for q in p], 0.0)",
    "t + p[-1][0]",
    "t + sum([u - w for u, w in p], b)",
)


@st.composite
def paths(draw: st.DrawFn) -> str:
    """A loop over a list of pairs, which are lists."""
    lines = [f"p = {draw(st.sampled_from(('[]', '[[e, 1.0]]', '[[u, e] for u in y]')))}", "a, b, t = e, 1.0, 0.5"]
    lines.append("for i, v in enumerate(x):")
    for _ in range(draw(st.integers(1, 4))):
        line = draw(st.sampled_from(LINES))
        while "P" in line:
            line = line.replace("P", draw(st.sampled_from(PARTS)), 1)
        head = draw(st.sampled_from(("", "", "", "if v > 0.0:", "if len(p) > 1:")))
        lines += [f"    {head}", f"        {line}"] if head else [f"    {line}"]
    return written("\n".join([*lines, f"return {draw(st.sampled_from(AFTER))}"]))


@costly(3)
@given(paths())
def test_a_value_is_the_references_in_every_bit(text: str) -> None:
    holds(text, "value")


@costly(6)
@given(paths())
def test_a_gradient_is_that_of_j_or_of_the_adjoint_in_every_bit(text: str) -> None:
    holds(text, "gradient")
