"""What is made of the table alone is found again: the same programs, asked for once, and nothing of a user's own primitives."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from semantics.ir import Constant
from semantics.primitives.row import Primitive, row
from semantics.primitives.table import TABLE
from transforms import backpropagators, elementwise_pullback
from transforms.remembering import remembered, remembering
from transforms.ssa_adjoint import pullbacks

MADE = [
    lambda: str(backpropagators._of_table.__wrapped__("exp")),
    lambda: str(elementwise_pullback.broadcast_pullback.__wrapped__("mul")),
    lambda: str(pullbacks.pullback_function.__wrapped__(TABLE["tanh"], 1, None, True)),
    lambda: str(pullbacks.pullback_function.__wrapped__(TABLE["pow"], 2, 3, False)),
]


class Folder:
    """A memory as of files: it keeps bytes, and counts what is made and what is found."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.made = self.found = 0

    def __call__(self, key: str, make: Any) -> Any:
        if key in self.kept:
            self.found += 1
            return pickle.loads(self.kept[key])
        made = make()
        self.made += 1
        self.kept[key] = pickle.dumps(made)
        return made


@pytest.mark.parametrize("make", MADE)
def test_what_is_found_is_what_was_made(make: Any) -> None:
    folder, wanted = Folder(), make()
    with remembering(folder):
        assert make() == wanted
        assert folder.made > 0
        made = folder.made
        assert make() == wanted
        assert folder.found > 0
        assert folder.made == made
    assert make() == wanted
    assert folder.made == made


def test_a_primitive_of_the_table_is_itself_when_it_is_found_again() -> None:
    folder = Folder()
    with remembering(folder):
        backpropagators._of_table.__wrapped__("exp")
        found = backpropagators._of_table.__wrapped__("exp")
    used = [n.value for n in found.nodes.values() if isinstance(n, Constant) and isinstance(n.value, Primitive)]
    assert used
    assert all(TABLE[p.name] is p for p in used)
    own = row("exp", "x", "real -> real")
    assert pickle.loads(pickle.dumps(own)) is not TABLE["exp"]


def test_the_memory_that_was_entered_last_is_asked_and_none_outside() -> None:
    outer, inner = Folder(), Folder()
    with remembering(outer):
        with remembering(inner):
            assert remembered("a", lambda: 1) == 1
        assert remembered("a", lambda: 2) == 2
    assert remembered("a", lambda: 3) == 3
    assert (outer.made, inner.made) == (1, 1)


def test_two_exponents_and_two_kinds_of_arguments_have_keys_of_their_own() -> None:
    folder = Folder()
    with remembering(folder):
        for n in (2, 3):
            for arrays in (False, True):
                pullbacks.pullback_function.__wrapped__(TABLE["pow"], 2, n, arrays)
    assert sum(key.startswith("the pullback of pow") for key in folder.kept) == 4
