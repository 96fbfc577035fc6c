"""
Programs over the whole language: arrays, records, lists, statements, memory, types.

Each is a function of a file here; the lines of its docstring are the arguments that it is judged at, one call a line. The files
are read as text, and run by CPython only to know what CPython makes of them. `CASES` names them all.
"""

from __future__ import annotations

import ast
import copy
import functools
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.values import to_value
from semantics.ir import Program
from semantics.type_language import type_of
from transforms.parse import parse_text

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Case:
    """One program and one call of it."""

    file: str
    name: str
    call: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name}({self.call})"

    def python(self) -> Any:
        """What CPython makes of the call."""
        return namespace(self.file)[self.name](*copy.deepcopy(self.arguments()))

    def arguments(self) -> tuple[Any, ...]:
        """The arguments, as Python values."""
        found: tuple[Any, ...] = eval(f"({self.call},)", dict(namespace(self.file)))
        return found

    def values(self) -> tuple[Any, ...]:
        """The arguments, as values of the language."""
        return tuple(to_value(a) for a in self.arguments())

    def types(self) -> tuple[Any, ...]:
        """Their types."""
        return tuple(type_of(v) for v in self.values())

    def program(self) -> Program:
        """The program as it is parsed."""
        return _parsed(self.file, self.name)


@functools.cache
def _parsed(file: str, name: str) -> Program:
    return parse_text((FOLDER / f"{file}.py").read_text(), name, f"{file}.py", {})


@functools.cache
def namespace(file: str) -> dict[str, Any]:
    """The module that CPython makes of a file, with the names that the calls may use."""
    module = types.ModuleType(f"language_{file}")
    sys.modules[module.__name__] = module
    module.__dict__.update({"np": np, "array": np.array})
    exec(compile((FOLDER / f"{file}.py").read_text(), str(FOLDER / f"{file}.py"), "exec"), module.__dict__)
    return module.__dict__


def _cases(path: Path) -> list[Case]:
    functions = [d for d in ast.parse(path.read_text()).body if isinstance(d, ast.FunctionDef)]
    calls = [(d.name, line.strip()) for d in functions for line in (ast.get_docstring(d) or "").splitlines() if line.strip()]
    return [Case(path.stem, name, line) for name, line in calls]


CASES: tuple[Case, ...] = tuple(c for p in sorted(FOLDER.glob("*.py")) if p.stem != "__init__" for c in _cases(p))
