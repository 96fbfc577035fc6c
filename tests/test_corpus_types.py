"""
Every program of the corpora is inferred, and its value has the inferred type: preservation on the corpus.

The exceptions are named with their reason; that each is still one is tested too.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import corpus
import language
import pytest

from semantics.errors import AdjudgeError, OutOfFuel
from semantics.infer import infer
from semantics.machine import run
from semantics.type_language import REAL, type_of
from semantics.type_lattice import is_below
from transforms.nested_grad import expand
from transforms.parse import parse_text

NO_END = (OutOfFuel, "a backpropagator of a recursion hands on closures over closures, a type without end")
DEPTH = (OutOfFuel, "a tree as deep as an argument says has a type without end")
STACK = (OutOfFuel, "a stack is pairs in pairs, as many as a run pushes, a type without end")
EXCEPTIONS: dict[str, tuple[type[AdjudgeError], str]] = {
    "derivatives:grad_of_a_loop": NO_END,
    "derivatives:grad_of_a_recursion": NO_END,
    "data_records:built_tree": DEPTH,
    "memory:power_adjoint": STACK,
}
MEMORY_EXAMPLES = Path(__file__).parent.parent / "examples" / "memory.py"
EXAMPLES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("accumulator", "pair", "appended", "counted"), (0.75,)),
    **dict.fromkeys(("power", "power_adjoint"), (0.75, 3)),
}


@functools.cache
def calls() -> dict[str, tuple[Any, ...]]:
    """For every program, its text or case, and the arguments of one call, by name."""
    found: dict[str, tuple[Any, ...]] = {}
    for case in language.CASES:
        found.setdefault(f"{case.file}:{case.name}", (case.program, case.values))
    for small in corpus.CASES:
        program = functools.partial(
            parse_text, (corpus.FOLDER / f"{small.file}.py").read_text(), small.name, f"{small.file}.py", {}
        )
        found[f"{small.file}:{small.name}"] = (program, functools.partial(tuple, [float(x) for x in small.points[:1]]))
    for name, arguments in EXAMPLES.items():
        program = functools.partial(parse_text, MEMORY_EXAMPLES.read_text(), name, "memory.py", {})
        found[f"memory:{name}"] = (program, functools.partial(tuple, arguments))
    return found


@pytest.mark.parametrize("name", calls())
def test_the_value_of_a_program_has_the_inferred_type(name: str) -> None:
    make, values = calls()[name]
    program, arguments = expand(make()), values()
    types = [type_of(a) for a in arguments]
    if name in EXCEPTIONS:
        with pytest.raises(EXCEPTIONS[name][0]):
            infer(program, types)
        return
    result = infer(program, types).result
    assert is_below(type_of(run(program, *arguments)), result)
    if name.startswith(("mutation:", "memory:")):
        assert result == REAL


def test_almost_every_program_is_inferred() -> None:
    assert len(calls()) >= 220
    assert set(EXCEPTIONS) <= set(calls())
