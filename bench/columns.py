"""`python -m bench.columns`: the comparisons of `bench.gradients` as a table in Markdown, that of `docs/performance.md`."""

from __future__ import annotations

import sys

from bench.comparison import COLUMNS, line
from bench.gradients import comparisons

if __name__ == "__main__":
    sys.stdout.write(f"| gradient | tier | {' | '.join(COLUMNS)} | first, s |\n|{'---|' * (len(COLUMNS) + 3)}\n")
    for comparison in comparisons():
        sys.stdout.write(f"{line(comparison)}\n")
        sys.stdout.flush()
