"""The walks over a tree of syntax give what Python's own give, but for what has no text of its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from transforms.parse.nodes import LEAVES, Applied, Immediate, Inner, Made, Then, held_by, walk

FILES = sorted((Path(__file__).resolve().parent.parent / "transforms" / "parse").glob("*.py"))


def same(tree: ast.AST) -> None:
    """Asserts it of every node in a tree."""
    for node in ast.walk(tree):
        assert held_by(node) == [n for n in ast.iter_child_nodes(node) if not isinstance(n, LEAVES)]
    assert list(walk(tree)) == [n for n in ast.walk(tree) if not isinstance(n, LEAVES)]


@pytest.mark.parametrize("file", FILES, ids=[f.stem for f in FILES])
def test_nothing_is_left_out_of_a_file(file: Path) -> None:
    same(ast.parse(file.read_text(encoding="utf-8")))


def test_nothing_is_left_out_of_what_desugaring_makes() -> None:
    x, y = ast.Name("x", ast.Load()), ast.Constant("y")
    function = Immediate("f", ast.arguments([], [ast.arg("a")], None, [], [], None, []), [ast.Return(x)], [])
    for node in (Inner(function, [x, y]), Applied("append", [x, y]), Then([x], y), Made(x, [y], [ast.keyword("k", y)])):
        same(node)
        assert len(list(walk(node))) < len(list(ast.walk(node)))  # `x` is loaded
    assert held_by(x) == []
