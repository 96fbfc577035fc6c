"""
The negative corpus of types: programs whose arrays cannot fit together are refused before they run, at the right line.

The files of `tests/ill_typed` are data: small texts that each define `f`, under a title with the types of its arguments. The line
to be blamed ends in `# <-` and the exact text of the error, less the chain of calls.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from semantics.arrays import Array, size_of
from semantics.errors import AdjudgeError, IllTyped
from semantics.infer import infer
from semantics.ir import Program
from semantics.machine import run
from semantics.structured import Record
from semantics.type_language import ArrayType, RecordType, TupleType, parse_type
from semantics.type_lattice import erase
from transforms.nested_grad import expand
from transforms.parse import parse_text

FOLDER = Path(__file__).parent / "ill_typed"
MARK = "  # <- "
HEADER = "import numpy as np\n"
ONES: dict[str, Any] = {"f64": 1.0, "f32": 1.0, "i64": 1, "bool": True}


def corpus() -> list[tuple[str, str, str]]:
    """Every program: its title, the types of its arguments, its text."""
    found = []
    for file in sorted(FOLDER.glob("*.py")):
        for chunk in file.read_text().split("# --- ")[1:]:
            head, _, text = chunk.partition("\n")
            title, _, types = head.partition(": ")
            found.append((f"{file.stem}: {title}", types, HEADER + text))
    return found


CORPUS = corpus()
each = pytest.mark.parametrize(("title", "types", "text"), CORPUS, ids=[title for title, _, _ in CORPUS])


def entered(types: str, text: str) -> tuple[Program, tuple[Any, ...]]:
    """The program, expanded, and the types of its arguments."""
    whole = parse_type(f"tuple[{types}]")
    assert isinstance(whole, TupleType)
    bare = "\n".join(line.partition(MARK)[0] for line in text.split("\n"))
    return expand(parse_text(bare, "f", names={})), whole.items


def value_of(t: Any) -> Any:
    """A value of a type: ones."""
    match t:
        case ArrayType(dtype, dims):
            return Array(dtype, dims, (ONES[dtype],) * size_of(dims))  # type: ignore[arg-type]
        case TupleType(items):
            return tuple(map(value_of, items))
        case RecordType(label, items):
            return Record(label, tuple(map(value_of, items)))
        case _:
            return ONES[str(erase(t))]


@each
def test_it_is_refused_before_it_runs_at_its_line(title: str, types: str, text: str) -> None:
    program, given = entered(types, text)
    with pytest.raises(IllTyped) as raised:
        infer(program, given)
    error = raised.value
    line, expected = next((i, x.partition(MARK)[2]) for i, x in enumerate(text.split("\n"), 1) if MARK in x)
    assert error.what.partition("; reached by")[0] == expected
    assert error.location is not None
    assert error.location.line == line
    assert len(error.remedy) > 3
    assert error.node


@each
def test_it_is_refused_when_it_runs(title: str, types: str, text: str) -> None:
    program, given = entered(types, text)
    with pytest.raises(AdjudgeError):
        run(program, *map(value_of, given))


def test_there_are_eighty_of_them() -> None:
    assert len({text for _, _, text in CORPUS}) >= 80


def test_the_error_shows_the_shapes_the_calls_and_the_line_of_each() -> None:
    text = """import numpy as np
def h(a, b):
    return a @ b
def g(a, b):
    return h(a, b.T)
def f(a):
    return np.sum(g(a, a[:, 0:2]))
"""
    with pytest.raises(IllTyped) as raised:
        infer(parse_text(text, "f", "model.py"), [parse_type("f64[2, 3]")])
    assert re.sub(r"%\d+", "%n", str(raised.value)).split("\n") == [
        "IllTyped: matmul: the shapes (2, 3) and (2, 2) do not match, 3 columns against 2 rows; given f64[2, 3], f64[2, 2]; "
        "reached by %n = @g(%a, %n) (model.py:7), then %n = @h(%a.2, %n) (model.py:5)",
        "  rule matmul at %n = matmul(%a.3, %b.2)",
        "  model.py:3",
        "    return a @ b",
        "           ^",
        "  try: transpose one, or reshape",
    ]
