"""Translation validation: seconds for each node against the size of the program, by the optimizer's map of nodes and by sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.families import calls, closures, fan_out, functions, straight_line, wide_tuple
from bench.measure import Row, timed
from checkers.verdict import Proved
from proofs.validation import same, validated
from transforms.parse import parse_text
from transforms.pipeline import OPTIMIZE

SIZES = (100, 1000, 10_000)
LIMIT = 20.0  # seconds that a row may be expected to take, from what it took at the size before
MAPPED: tuple[Callable[[int], str], ...] = (straight_line, fan_out, wide_tuple, functions, closures)
SWEPT: tuple[Callable[[int], str], ...] = (straight_line, fan_out, wide_tuple, calls)


def rows() -> Iterator[Row]:
    """A row for each family, method and number of nodes."""
    for method, families in (("map of nodes", MAPPED), ("sweep", SWEPT)):
        for family in families:
            yield from _of(method, family)


def _of(method: str, family: Callable[[int], str]) -> Iterator[Row]:
    first = last = 0.0
    for nodes in SIZES:
        lines = int(nodes / len(parse_text(family(100), "f").nodes) * 100)
        program = parse_text(family(lines), "f")
        what = f"{method}, {family.__name__}, {len(program.nodes)} nodes"
        if 10 * last > LIMIT:
            yield Row(what, "left out", f"{SIZES[0]} nodes", f"above {LIMIT:.0f} s")
            continue
        run = OPTIMIZE.record(program)
        if method == "sweep":
            last, found = timed(lambda: same(program, run.result))  # noqa: B023
        else:
            last, found = timed(lambda: validated(run.steps))  # noqa: B023
        each = last / len(program.nodes)
        first = first or each
        answer = "proved" if isinstance(found.verdict, Proved) else type(found.verdict).__name__.lower()
        yield Row(what, f"{last:.2f} s, {1e6 * each:.0f} µs/node, {answer}", f"{SIZES[0]} nodes", f"{each / first:.2f}")
