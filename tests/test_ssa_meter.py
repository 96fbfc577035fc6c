"""One count for both machines: what a value holds, and what straight-line code keeps alive before and after translation."""

from __future__ import annotations

from typing import Any

import pytest
from corpus import CASES, FOLDER, Case

from checkers.agreement import metered
from semantics.memory import Pointer
from semantics.primitives.table import TABLE
from semantics.ssa.meter import Store, peak_live
from semantics.tangents import ZERO
from semantics.values import Closure
from transforms.nested_grad import expand
from transforms.parse import parse_file
from transforms.ssa.from_graph import to_ssa

STRAIGHT = [case for case in CASES if case.file == "straight"]
PAIR = (1.0, 2)


@pytest.mark.parametrize("case", STRAIGHT, ids=lambda c: c.name)
def test_straight_line_code_keeps_as_much_alive_on_both_machines(case: Case) -> None:
    """A node and the name it becomes live from the same step to the same step: there is one graph, and one function."""
    program = expand(parse_file(FOLDER / f"{case.file}.py", case.name))
    x = (float(case.points[0]),)
    assert metered(program, x).live == peak_live(to_ssa(program), x).live


def test_the_straight_line_corpus_is_there() -> None:
    assert len(STRAIGHT) > 20


@pytest.mark.parametrize(
    ("value", "scalars"),
    [
        (1.5, 1),
        (True, 1),
        ("text", 1),
        (Pointer(0, 3), 1),
        (ZERO, 0),
        (None, 0),
        (TABLE["sin"], 0),
        (PAIR, 2),
        ((PAIR, PAIR, 1.0), 3),
        (Closure(1, ()), 0),
        (Closure(1, (1.0, None, 2)), 2),
        (Closure(1, (PAIR, Closure(2, (PAIR, 3.0)))), 3),
    ],
)
def test_what_a_value_holds_is_let_go_with_it(value: Any, scalars: int) -> None:
    """Held by two and dropped by one it is still held once."""
    store = Store()
    store.hold(value)
    alone = store.scalars
    store.hold(value)
    store.drop(value)
    assert alone == store.scalars == scalars
    store.drop(value)
    assert store.scalars == 0
    assert not store.held
