"""Names that are always what one other name is, which is assigned once at most, become that name, and no others do."""

from __future__ import annotations

import ast

import pytest

from backend.lowering.handed_on import first_names, handed_on

LOOP = """def f(p, n):
    a, x, k = (p, 0.0, 0)
    while True:
        if k == n:
            return x
        b, y, j = (a, x + a, k + 1)
        a, x, k = (b, y, j)
        continue
"""


def function(text: str) -> ast.FunctionDef:
    found = ast.parse(text).body[0]
    assert isinstance(found, ast.FunctionDef)
    return found


def run(tree: ast.FunctionDef, *arguments: float) -> object:
    names: dict[str, object] = {}
    exec(ast.unparse(ast.fix_missing_locations(ast.Module([tree], []))), names)
    return names[tree.name](*arguments)  # type: ignore[operator]


def test_what_a_loop_hands_on_is_the_parameter() -> None:
    tree = function(LOOP)
    assert first_names(tree) == {"a": "p", "b": "p"}
    handed_on(tree)
    assert not {"a", "b"} & {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    assert run(tree, 0.5, 3) == run(function(LOOP), 0.5, 3) == 1.5


@pytest.mark.parametrize(
    ("old", "new"),
    [("b, y, j = (a, x + a, k + 1)", "b, y, j = (x, x + a, k + 1)"), ("        continue", "        p = x")],
    ids=["another value in one turn", "the parameter is assigned"],
)
def test_near_miss_a_name_that_may_be_something_else_stays(old: str, new: str) -> None:
    text = LOOP.replace(old, new)
    tree = function(text)
    assert first_names(tree) == {}
    handed_on(tree)
    assert ast.unparse(tree) == ast.unparse(function(text))


def test_near_miss_parameters_that_change_places_stay() -> None:
    text = LOOP.replace("def f(p, n)", "def f(p, n, q=2.0)").replace("a, x, k = (p, 0.0, 0)", "a, c, x, k = (p, q, 0.0, 0)")
    text = text.replace("a, x, k = (b, y, j)", "a, c, x, k = (c, b, y, j)")
    tree = function(text)
    assert first_names(tree) == {}
    handed_on(tree)
    assert run(tree, 0.5, 3) == 0.5 + 2.0 + 0.5


def test_near_miss_a_parameter_that_is_assigned_is_none_of_its_values() -> None:
    """Shrunk: what a loop was left by was taken for what it began with, since a parameter was taken for not seen yet."""
    text = (
        "def f(n, s):\n    last = n\n    while last < 3:\n        s = s + 1\n        next = s\n        last = next\n    return last"
    )
    tree = function(text)
    assert "last" not in first_names(tree)
    handed_on(tree)
    assert run(tree, 0, 0) == 3


def test_an_array_that_turns_change_is_the_one_before_the_loop() -> None:
    text = """def f(n):
    a = [0] * n
    b, k = (a, 0)
    while k < n:
        b[k] = k
        c = b
        b, k = (c, k + 1)
    return b"""
    tree = function(text)
    assert first_names(tree) == {"b": "a", "c": "a"}
    handed_on(tree)
    assert run(tree, 3) == run(function(text), 3) == [0, 1, 2]


def test_near_miss_what_each_turn_makes_stays() -> None:
    text = "def f(n):\n    k = 0\n    while k < n:\n        a = [k]\n        b = a\n        k = k + 1\n    return b"
    tree = function(text)
    assert first_names(tree) == {}


def test_a_move_of_nothing_else_is_gone_and_a_block_is_never_empty() -> None:
    tree = function("def f(p, b):\n    if b:\n        a = p\n    else:\n        a = p\n    return a")
    handed_on(tree)
    assert ast.unparse(tree) == "def f(p, b):\n    if b:\n        pass\n    else:\n        pass\n    return p"
