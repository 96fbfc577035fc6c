"""What sizes are assumed to be is what going through the text in rounds says, and costs what there is to tell."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

import backend.arrays
from backend.arrays import assumed, walking
from backend.arrays.assumed import Assigned, Assignments, Key, Source, source
from backend.arrays.walking import walk

KEYS = [(letter,) for letter in "abcdef"]
SAID = st.sampled_from(["", "3", "x.shape[0]", "(x.shape[0] - 1)"])
sources = st.one_of(SAID.map(Source), st.builds(Source, st.sampled_from(KEYS), st.booleans(), st.integers(-1, 2)))
texts = st.lists(st.builds(Assigned, st.sampled_from(KEYS), sources), max_size=12)


def added(size: str, more: int) -> str:
    """A size and a number: "" below 0, and else the size of the argument with the sum of what is added to it, if that is not 0."""
    if size.isdigit():
        return str(int(size) + more) if int(size) + more >= 0 else ""
    total = more + int("".join(size.strip("()").split()[1:]) or 0)
    return "x.shape[0]" if total == 0 else f"(x.shape[0] {'-' if total < 0 else '+'} {abs(total)})"


def in_rounds(text: list[Assigned], wrong: set[Key]) -> dict[Key, str]:
    """The text gone through until nothing more becomes known."""
    known: dict[Key, str] = {}
    while True:
        before = len(known)
        for key, (found, _, more) in text:
            if key not in wrong and key not in known and (value := found if isinstance(found, str) else known.get(found)):
                known |= {key: sum} if (sum := added(value, more)) else {}
        if len(known) == before:
            return known


@given(texts, st.sets(st.sampled_from(KEYS), max_size=2))
@example(
    [Assigned(("c",), Source("x.shape[0]")), Assigned(("a",), Source(("b",))), Assigned(("b",), Source(("c",), True, 1))], set()
)
def test_what_is_assumed_is_what_rounds_through_the_text_say(text: list[Assigned], wrong: set[Key]) -> None:
    found = Assignments(text).assumed(wrong)
    assert found == in_rounds(text, wrong)
    event("nothing" if not found else "through others" if any(not isinstance(one.source.found, str) for one in text) else "at once")


def test_what_comes_first_in_the_text_is_taken_of_what_is_known_in_one_round() -> None:
    text = [Assigned(("a",), Source(("b",))), Assigned(("b",), Source("3")), Assigned(("a",), Source("4"))]
    assert Assignments(text).assumed(()) == {("a",): "4", ("b",): "3"}
    assert Assignments(text[:2]).assumed(()) == {("a",): "3", ("b",): "3"}


def backwards(n: int) -> list[Assigned]:
    """Each key is given the one that is assigned after it, so that every round would tell one more."""
    return [*(Assigned((f"k{at}",), Source((f"k{at + 1}",))) for at in range(n)), Assigned((f"k{n}",), Source("3"))]


def test_each_assignment_is_looked_at_once_whatever_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    pop = assumed.heappop

    def counted(todo: list[Any]) -> Any:
        looked.append(None)
        return pop(todo)

    monkeypatch.setattr(assumed, "heappop", counted)
    assert len(Assignments(backwards(300)).assumed(())) == len(looked) == 301


def test_assignments_to_keys_are_given_in_the_order_of_the_text() -> None:
    text = backwards(5)
    assert Assignments(text).of({("k4",): "", ("k1",): ""}) == [text[1], text[4]]


@pytest.mark.parametrize(
    ("text", "axis", "found"),
    [
        ("7", "", Source("7")),
        ("True", "", Source("")),
        ("a0", "1", Source("a0.shape[1]")),
        ("t.shape[1]", "", Source(("t", "1"), True)),
        ("t.shape[k]", "", Source("")),
        ("_empty((n, 4), _f64)", "0", Source(("n",), True)),
        ("_empty((n, 4), _f64)", "2", Source("")),
        ("m[b:b + a0.shape[0]]", "0", Source("a0.shape[0]", True)),
        ("m[b:c + a0.shape[0]]", "0", Source("")),
        ("int(integers[_cell(7, s, '3')])", "", Source(("integers", "7", "'3'"))),
        ("1 + t.shape[0]", "", Source(("t", "0"), True, 1)),
        ("t.shape[0] - 2", "", Source(("t", "0"), True, -2)),
        ("a0.shape[0] - 2 + 1", "", Source("(a0.shape[0] - 1)", True)),
        ("2 - t.shape[0]", "", Source("")),
        ("t.shape[0] + k", "", Source("")),
        ("2 - 3", "", Source("")),
    ],
)
def test_what_an_assignment_gives_is_found_without_knowing_any_size(text: str, axis: str, found: Source) -> None:
    assert source(ast.parse(text, mode="eval").body, axis, {"a0"}) == found


@pytest.mark.parametrize("path", sorted(Path(backend.arrays.__file__).parent.glob("c*.py")), ids=lambda path: path.stem)
def test_walking_gives_what_the_library_gives_but_contexts_and_operators(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert [*walk(tree)] == [n for n in ast.walk(tree) if not isinstance(n, walking.LEAVES)]


def test_a_leaf_and_a_node_without_all_its_fields_are_walked() -> None:
    assert [*walk(ast.Load())] == []
    assert len([*walk(ast.Assign([ast.Name("x", ast.Store())], ast.Name("y", ast.Load())))]) == 3


def test_what_is_put_into_a_node_that_was_given_is_not_walked() -> None:
    """As in the library: a pass may write to what it is given."""
    tree = ast.parse("x = y")
    seen = []
    for node in walk(tree):
        seen.append(node)
        if isinstance(node, ast.Assign):
            node.value = ast.parse("u + v", mode="eval").body
    assert [n.id for n in seen if isinstance(n, ast.Name)] == ["x", "y"]
