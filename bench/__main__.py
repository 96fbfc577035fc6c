"""`python -m bench [TABLE …]`: tables of ratios, all of them or those named (`TABLES` below)."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from bench import (
    audit,
    backend,
    batches,
    beside,
    check,
    fast,
    first,
    gradbench_table,
    gradients,
    machine,
    modes,
    papers,
    scaling,
    transforms,
    validation,
)

TABLES = {
    "machine": machine.rows,
    "transforms": transforms.rows,
    "modes": modes.rows,
    "audit": audit.rows,
    "check": check.rows,
    "beside": beside.rows,
    "backend": backend.rows,
    "validation": validation.rows,
    "gradients": gradients.rows,
    "batches": batches.rows,
    "fast": fast.rows,
    "first": first.rows,
    "scaling": scaling.rows,
    "papers": papers.rows,
    "gradbench": gradbench_table.rows,
}
WIDTHS = (44, 36, 30, 22)


def main() -> None:
    """Prints the tables named on the command line, or all."""
    console = Console(width=None if sys.stdout.isatty() else 132)
    for name in sys.argv[1:] or TABLES:
        if name not in TABLES:
            console.print(f"no table is called {name}: {', '.join(TABLES)}")
            sys.exit(2)
        console.print(f"[bold]{name}[/]")
        for row in TABLES[name]():  # each as soon as it is measured
            line = Table.grid(padding=(0, 2))
            for width in WIDTHS:
                line.add_column(width=width)
            line.add_row(row.what, row.value, row.against, row.ratio)
            console.print(line)


main()
