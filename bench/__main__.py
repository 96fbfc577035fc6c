"""`python -m bench [TABLE …]`: tables of ratios, all of them or those named (`TABLES` below)."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from bench import (
    audit,
    backend,
    batches,
    beside,
    check,
    compiling,
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
from bench.measure import Row

TABLES: dict[str, ModuleType] = {
    "machine": machine,
    "transforms": transforms,
    "modes": modes,
    "audit": audit,
    "check": check,
    "beside": beside,
    "backend": backend,
    "validation": validation,
    "gradients": gradients,
    "batches": batches,
    "fast": fast,
    "first": first,
    "scaling": scaling,
    "compiling": compiling,
    "papers": papers,
    "gradbench": gradbench_table,
}
OF_PROGRAMS = ("gradients", "batches", "fast", "first", "scaling", "compiling", "gradbench")
WIDTHS = (44, 36, 30, 22)


def what(table: str) -> str:
    """What a table measures: the first paragraph of its module."""
    text = TABLES[table].__doc__ or ""
    return " ".join(text.strip().split("\n\n")[0].split())


EPILOG = "\n\n".join(f"**{name}**: {what(name)}" for name in TABLES)
app = typer.Typer(add_completion=False, rich_markup_mode="markdown", context_settings={"help_option_names": ["-h", "--help"]})


@app.command(epilog=EPILOG)
def main(
    tables: Annotated[list[str] | None, typer.Argument(help="Tables, by name; all without one.", show_default=False)] = None,
    only: Annotated[str, typer.Option(help=f"Programs with this text in their name. For {', '.join(OF_PROGRAMS)}.")] = "",
) -> None:
    """
    Prints tables of ratios, each row as soon as it is measured: what was measured, its value, what it is compared with, the ratio.

    Seconds are of a processor, where nothing else is said; compare within a run. All tables together take more than an hour.
    """
    console = Console(width=None if sys.stdout.isatty() else sum(WIDTHS) + 2 * len(WIDTHS))
    for name in (chosen := tables or [*TABLES]):
        if name not in TABLES:
            refuse(f"no table is called {name}: {', '.join(TABLES)}")
        if only and tables and name not in OF_PROGRAMS:
            refuse(f"the table {name} has no rows by program: --only is for {', '.join(OF_PROGRAMS)}")
    rows = 0
    for name in chosen if not only else [n for n in chosen if n in OF_PROGRAMS]:
        console.print(f"[bold]{name}[/]")
        for row in TABLES[name].rows(only) if only else TABLES[name].rows():
            console.print(line(row))
            rows += 1
    if not rows:
        refuse(f"no program of these tables has {only!r} in its name")


def line(row: Row) -> Table:
    """A row, in columns."""
    found = Table.grid(padding=(0, 2))
    for width in WIDTHS:
        found.add_column(width=width)
    found.add_row(row.what, row.value, row.against, row.ratio)
    return found


def refuse(why: str) -> None:
    """Bad input: exit code 2, as `adjudge` has it."""
    Console(stderr=True).print(why)
    raise typer.Exit(2)


if __name__ == "__main__":
    app()
