"""The command line. Exit codes: 0 judged sound (or done), 1 refuted, 2 bad input, 3 only unknowns."""

from __future__ import annotations

import sys

import typer

from adjudge.cli import about, crosscheck, demo, judging, programs
from adjudge.cli.common import BAD_INPUT, errors
from semantics.errors import AdjudgeError

app = typer.Typer(
    name="adjudge",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A referee for reverse-mode automatic differentiation: run, step, differentiate and judge programs.\n\n"
    "Begin with `adjudge demo`. A program is named FILE:FUNCTION; `run`, `step`, `show` and `crosscheck` read the file "
    "without running it, `check`, `audit` and `prove` import it.\n\n"
    "Exit codes: 0 done or judged sound, 1 refuted, 2 bad input, 3 only unknowns.",
)

for command in (demo.demo, programs.run, programs.step, programs.show, judging.check, judging.audit, judging.prove):
    app.command()(command)
app.command()(crosscheck.crosscheck)
app.command()(about.about)


def main() -> None:
    """Runs a command; every bad input ends in one of our errors on standard error and exit code 2."""
    try:
        app()
    except AdjudgeError as error:
        errors.print(str(error), markup=False, highlight=False)
        sys.exit(BAD_INPUT)


__all__ = ["app", "main"]
