"""The command line. Exit codes: 0 judged sound (or done), 1 refuted, 2 bad input, 3 only unknowns."""

from __future__ import annotations

import sys
from typing import NoReturn

import typer

from adjudge.cli import about, agree, crosscheck, demo, inferring, judging, programs, proving, sweep
from adjudge.cli.common import BAD_INPUT, errors, legible, unwritable
from semantics.errors import AdjudgeError

app = typer.Typer(
    name="adjudge",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A referee for reverse-mode automatic differentiation: run, step, differentiate and judge programs.\n\n"
    "Begin with `adjudge demo`. A program is named FILE:FUNCTION; `run`, `step`, `show`, `infer`, `crosscheck` and `agree` read "
    "the file without running it, `check`, `audit` and `prove` import it.\n\n"
    "Exit codes: 0 done or judged sound, 1 refuted, 2 bad input, 3 only unknowns.",
)

NEGATIVE_NUMBERS = {"ignore_unknown_options": True}  # -2.0 is an argument, not an option

TAKE_VALUES = (programs.run, programs.step, inferring.infer, crosscheck.crosscheck, agree.agree)
COMMANDS = (
    demo.demo,
    programs.run,
    programs.step,
    programs.show,
    inferring.infer,
    judging.check,
    judging.audit,
    proving.prove,
    crosscheck.crosscheck,
    agree.agree,
    sweep.sweep,
    about.about,
)
for command in COMMANDS:
    app.command(context_settings=NEGATIVE_NUMBERS if command in TAKE_VALUES else None)(command)


def main() -> None:
    """Runs a command; every bad input ends in one of our errors on standard error and exit code 2."""
    legible()
    try:
        app()
    except AdjudgeError as error:
        _refused(error)
    except OSError as error:
        _refused(unwritable(error))


def _refused(error: AdjudgeError) -> NoReturn:
    errors.print(str(error), markup=False, highlight=False)
    sys.exit(BAD_INPUT)


__all__ = ["app", "main"]
