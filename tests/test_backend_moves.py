"""Moves one after the other do what the parallel ones do."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backend.lowering.moves import one_by_one

NAMES = "abcdef"
terms = st.one_of(
    st.sampled_from(NAMES),
    st.integers(0, 9).map(str),
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).map(lambda pair: f"{pair[0]} + 2 * {pair[1]}"),
)


@given(st.permutations(NAMES), st.lists(terms, min_size=2, max_size=6))
def test_the_same_values_come_out(order: list[str], values: list[str]) -> None:
    line = f"({', '.join(order[: len(values)])}) = ({', '.join(values)})"
    parallel, sequence = ({name: 10 * k for k, name in enumerate(NAMES)} for _ in range(2))
    exec(line, {}, parallel)
    text = one_by_one(line)
    assert ") = (" not in text
    exec(text, {}, sequence)
    assert {name: sequence[name] for name in NAMES} == parallel


def test_a_cycle_is_opened_once_and_what_is_no_parallel_move_is_left_alone() -> None:
    assert one_by_one("    (x, y) = (y, x)") == "    x_ = x\n    x = y\n    y = x_"
    assert one_by_one("(x, y, z) = (y, z, 1.0)") == "x = y\ny = z\nz = 1.0"
    assert one_by_one("(x, y) = (x, 2)") == "y = 2"
    assert one_by_one("    x, y = (y, x)") == "    x_ = x\n    x = y\n    y = x_"  # as `ast.unparse` writes it
    for line in (
        "(a, b) = f(x)",
        "a, b = (f)(x)",
        "(a[0], b) = (b, a)",
        "a[i, 0] = (x)",
        "x = (y) + (z)",
        "def f(x): return (x) == (x)",
    ):
        assert one_by_one(line) == line
