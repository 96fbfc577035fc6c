"""What the commands share: consoles, the reading of FILE:NAME and of arguments, the import of a file that is to be judged."""

from __future__ import annotations

import codecs
import importlib.util
import io
import json
import os
import sys
import traceback
from functools import cache
from itertools import takewhile
from os.path import isdir, isfile
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from adjudge.cli.arguments import FORMS, argument
from adjudge.values import to_value
from semantics.errors import AdjudgeError, Location, Malformed
from semantics.ir import Program
from semantics.structured import Record
from transforms.parse import defaults_of, functions_in, parse_file, source_of

DONE, REFUTED, BAD_INPUT, ONLY_UNKNOWNS = 0, 1, 2, 3

EXTRAS = ("autograd", "jax", "torch")  # packages that our extras of these names install

WIDE = 132  # where output is not a terminal, tables are not squeezed into 80 columns

console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout is not None and sys.stdout.isatty() else WIDE)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

Target = Annotated[str, typer.Argument(metavar="FILE:FUNCTION", help="The program: a function in a Python file, read but not run.")]
Arguments = Annotated[list[str] | None, typer.Argument(metavar="[ARGS]...", help=f"Arguments: {FORMS}.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Seed = Annotated[int, typer.Option(help="The seed of every random choice.")]


def legible() -> None:
    """What a terminal's encoding has not is written as an escape, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="backslashreplace")


def unwritable(error: OSError) -> Malformed:
    """What a command says where its output, or a file, cannot be written; nothing more is written to that output."""
    if error.filename is None and sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Malformed(
        f"{error.filename or 'the output'} cannot be written: {error.strerror}", remedy="make room, or write elsewhere"
    )


def say(text: str) -> None:
    """Plain text, as it is."""
    console.print(text, markup=False)


def say_json(value: Any) -> None:
    """A value as JSON, or JSON text as it is."""
    say(value if isinstance(value, str) else json.dumps(value, indent=1, default=_as_json))


def _as_json(value: Any) -> Any:
    """An array as nested lists, a record as an object of its fields; other values as they print."""
    match value:
        case np.ndarray() | np.generic():
            return value.tolist()
        case Record(label, items):
            return dict(zip(label.fields, items, strict=True))
        case _:
            return repr(value)


def split(target: str) -> tuple[Path, str]:
    """FILE and NAME of `FILE:NAME`; NAME may be missing. Malformed if there is no such file."""
    file, colon, name = target.rpartition(":")
    if not colon or (len(file) == 1 and file.isalpha()):
        file, name = target, ""
    if not isfile(file):  # of a name that no file can have, Path.is_file raises
        what = f"{file} is a folder" if isdir(file) else f"there is no file {file}" if file else "no file is named"
        raise Malformed(what, remedy="name a program as FILE:FUNCTION, such as examples/figure_1.py:f")
    return Path(file), name


def named(target: str) -> tuple[Path, str]:
    """FILE and FUNCTION of a target; the one function of FILE if none is named."""
    path, name = split(target)
    if name:
        return path, name
    known = functions_in(path)
    if not known:
        raise Malformed(f"{path} defines no function", location=Location(str(path), 1), remedy="define one with def")
    if len(known) != 1:
        raise Malformed(f"{path} has {len(known)} functions", remedy=f"name one: {', '.join(f'{path}:{k}' for k in known)}")
    return path, known[0]


def load(target: str) -> Program:
    """The program FILE:FUNCTION, parsed without running the file."""
    return parse_file(*named(target))


def writable(*paths: Path | None) -> None:
    """Malformed if a file that a command is to write is a folder, or in no folder: asked before the work that it is to hold."""
    for path in paths:
        if path is None:
            continue
        if isdir(path):
            raise Malformed(f"{path} is a folder", remedy="name a file in it")
        if not isdir(path.absolute().parent):
            raise Malformed(f"there is no folder {path.parent}", remedy="name a file in a folder that is there")


def read_text(path: Path) -> str:
    """The text of a file that an option names. Malformed if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", "") or "it is no text in UTF-8"
        raise Malformed(f"{path} cannot be read: {what}", remedy="name a file of text") from error


def write_text(path: Path, text: str) -> None:
    """The text in the file. Malformed if it cannot be written."""
    writable(path)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Malformed(f"{path} cannot be written: {error.strerror}", remedy="name a file that you may write") from error


def positions(texts: list[str]) -> int | str | tuple[int | str, ...]:
    """`--wrt` as typed: positions or names; one stays one, several are a tuple."""
    parts = [int(t) if t.lstrip("-").isdigit() else t for t in texts]
    return parts[0] if len(parts) == 1 else tuple(parts)


def values_of(target: str, arguments: list[str] | None) -> list[Any]:
    """The arguments as typed, read in the file of the program."""
    return [argument(text, split(target)[0]) for text in arguments or []]


def filled(target: str, program: Program, arguments: list[str] | None) -> list[Any]:
    """The arguments as typed, then the defaults of the parameters for which none was, as in a call."""
    values = values_of(target, arguments)
    path, name = named(target)
    defaults = defaults_of(source_of(path), name)
    names = [getattr(program.nodes[n], "name", "") for n in program.graphs[program.entry].parameters]
    missing = takewhile(defaults.__contains__, names[len(values) :])
    return [*values, *(to_value(defaults[name]) for name in missing)]


@cache
def import_file(path: Path) -> ModuleType:
    """Imports a file that is to be judged, once. This runs its code, and says so on standard error."""
    errors.print(f"importing {path} (this runs its code)", markup=False)
    spec = importlib.util.spec_from_file_location(f"_judged_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise Malformed(f"{path} is not a Python file", remedy="name a file whose name ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        what = str(error) if isinstance(error, AdjudgeError) else f"{type(error).__name__}: {error}"
        raise Malformed(f"importing {path} failed: {what}", location=_place(error, path), remedy=_remedy(error)) from error
    finally:
        sys.path.remove(str(path.parent.resolve()))
    return module


def _place(error: BaseException, path: Path) -> Location:
    """Where an import failed: where the text is not Python, else the last line of the file that was running, else its first."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Location(error.filename, error.lineno, max((error.offset or 1) - 1, 0), (error.text or "").rstrip("\n"))
    ran = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path.absolute()) and f.lineno]
    return Location(str(path), ran[-1].lineno or 1, 0, ran[-1].line or "") if ran else Location(str(path), 1)


def _remedy(error: BaseException) -> str:
    """What to try when a file cannot be imported: install what it needs, if that is all."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        package = error.name.partition(".")[0]
        return f"pip install 'adjudge[{package}]'" if package in EXTRAS else f"install {package}"
    return "fix the file; it must import alone"


def worst(codes: list[int]) -> int:
    """One exit code for several: refuted before only-unknowns before done."""
    return REFUTED if REFUTED in codes else ONLY_UNKNOWNS if ONLY_UNKNOWNS in codes else DONE
