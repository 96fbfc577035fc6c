"""
Values as typed on a command line: literals, and other expressions of the language, read in the file of the program.

`Layer(np.ones(3), 0.5)` means what it would mean at the end of the file, whose classes and constants it may name. It is parsed and
run on the machine like any program; the file itself is not run.
"""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.values import to_value
from semantics.errors import AdjudgeError, Malformed
from semantics.machine import Machine
from semantics.structured import Record
from semantics.values import Closure
from transforms.nested_grad import expand
from transforms.parse import parse_text, source_of

FORMS = """2.0, 3, True, '(1.0, 2.0)', '[1.0, 2.0]', '{"a": 1.0}', 'array([1.0, 2.0])', 'np.ones((2, 3))', inf, nan, 0x1.8p+1"""

KNOWN = {"np": np, "array": np.array, "inf": math.inf, "nan": math.nan}
NAME = "the_argument"
FUEL = 10_000_000


def argument(text: str, path: Path | None = None) -> Any:
    """The value that a text means, in the file `path` if one is given. Malformed if it means none."""
    if "0x" in text.lower() and "p" in text.lower():
        try:
            return float.fromhex(text)
        except ValueError:
            pass
    try:
        return to_value(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError):
        return _expression(text, path)


def _expression(text: str, path: Path | None) -> Any:
    """The value of an expression of the language."""
    if not text.partition("#")[0].strip():  # in brackets it would be the empty tuple
        raise Malformed(f"the argument {text!r} is not a value: nothing is in it", remedy=FORMS)
    try:
        ast.parse(f"({text}\n)", mode="eval")
        written = f"{source_of(path) if path else ''}\n\ndef {NAME}():\n    return ({text}\n    )\n"
        machine = Machine(expand(parse_text(written, NAME, str(path or "the argument"), KNOWN)))
        value = machine.run([], FUEL).value
    except SyntaxError as error:
        raise Malformed(f"the argument {text!r} is not a value: {error.msg}", remedy=FORMS) from None
    except UnicodeEncodeError:
        raise Malformed(f"the argument {text!r} is not a value: it is no text in UTF-8", remedy=FORMS) from None
    except AdjudgeError as error:
        what = f"the argument {text!r} is not a value: {error.what}"
        place = error.location if error.location and path and error.location.line <= len(source_of(path).splitlines()) else None
        raise Malformed(what, location=place, remedy=error.remedy or FORMS) from None
    if not _is_data(value):
        raise Malformed(f"the argument {text!r} is not a value but a function", remedy=FORMS)
    return value


def _is_data(value: Any) -> bool:
    """Whether no part of a value is a function."""
    todo = [value]
    while todo:
        top = todo.pop()
        if isinstance(top, Closure) or callable(top):
            return False
        if isinstance(top, (tuple, Record)):
            todo.extend(top if isinstance(top, tuple) else top.items)
    return True
