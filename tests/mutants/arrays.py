"""
Wrong backpropagators of rows on arrays and records, after mistakes that are easily made: each in a line or two of Python, with a
program and a point that show it. Every one keeps shapes where it can, so that only the values give it away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from checkers.properties.structured import with_constants
from semantics.arrays import Array
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.type_language import type_of
from transforms import adjoint_primitives, gradient_programs
from transforms.backpropagators import NAMES
from transforms.parse import parse_text

X = Array("f64", (2,), (1.5, -0.5))
A = Array("f64", (2, 2), (1.0, 2.0, -1.0, 0.5))
HEADER = "import numpy as np\nfrom typing import NamedTuple\nclass P(NamedTuple):\n    a: object\n    b: object\n"
PROGRAMS = {
    "transposed": "return np.sum(a.T * np.array([[1.0, 2.0], [3.0, 4.0]]) * a)",
    "written": "y = x * x\n    y[0] = np.sum(a)\n    return np.sum(y * y)",
    "written twice": "y = x * x\n    y[np.array([1, 1])] = a[0]\n    return np.sum(y * y)",
    "element": "return a[0, 1] * a[0, 0] * x[1] * x[1]",
    "gathered": "return np.sum(x[np.array([0, 1, 1])] * np.array([1.0, 2.0, 4.0])) * a[1, 0]",
    "kept": "return np.sum(np.sum(a * a, axis=1, keepdims=True) * x)",
    "reduced": "return np.sum(np.sum(a * a, axis=1) * x)",
    "mean": "return np.sum(np.mean(a * a, axis=0) * x)",
    "product": "return np.prod(a) * x[0]",
    "accumulated": "return np.sum(np.cumsum(x * x) * x) + a[0, 0]",
    "matrices": "return np.sum((a @ a) * np.array([[1.0, 2.0], [3.0, 5.0]])) + x[0]",
    "joined": "return np.sum(np.concatenate((x, a[0])) ** 2 * np.arange(4))",
    "stacked": "return np.sum(np.stack((x, a[1])) * a)",
    "flipped": "return np.sum(np.flip(x) * x * np.array([1.0, 2.0])) + np.sum(a)",
    "sorted": "return np.sum(np.sort(x) * np.array([1.0, 3.0])) + np.sum(a)",
    "largest": "return np.max(x * x) * x[1] + np.sum(a)",
    "record": "p = P(np.sum(x * x), np.sum(a))\n    return p.a * p.a * p.b",
    "replaced": "p = P(np.sum(x), np.sum(a))\n    q = p._replace(a=p.b * p.b)\n    return q.a * q.b + p.a",
    "full": "return np.sum(np.full((2, 2), x[0] * x[1]) * a)",
    "repeated": "return np.sum(np.broadcast_to(x, (2, 2)) * a * a)",
}


@dataclass(frozen=True)
class Wrong:
    """The backpropagator of a row as Python, or as text of the language, and the program on which it shows."""

    row: str
    text: str
    on: str

    def __str__(self) -> str:
        return f"{self.row}: {self.text.splitlines()[-1].strip()}"

    def cell(self) -> Program:
        """The wrong backpropagator."""
        return read(self.text) if self.text.startswith("program") else parse_text(self.text, "wrong", "<wrong>", NAMES)

    @contextmanager
    def planted(self) -> Iterator[None]:
        """J has it inside the block."""
        original, wrong = adjoint_primitives.pullback_of, self.cell()

        def found(primitive: Primitive, arity: int, arrays: bool, whole: int | None = None) -> Program:
            return wrong if primitive is TABLE[self.row] else original(primitive, arity, arrays, whole)

        with patch.object(adjoint_primitives, "pullback_of", found):
            yield

    def gradient(self, program: Program, wrt: Any = 0, types: Any = None) -> Program:
        """The gradient with the wrong rule."""
        with self.planted():
            return gradient_programs.gradient_program(program, wrt, types)


def program(name: str) -> Program:
    """A program of a matrix and a vector."""
    return with_constants(parse_text(f"{HEADER}def f(a, x):\n    {PROGRAMS[name]}\n", "f"), [type_of(A), type_of(X)], {})


def _python(parameters: str, result: str) -> str:
    return f"def wrong({parameters}, out, dout):\n    return {result}\n"


MUTANTS: tuple[Wrong, ...] = (
    Wrong("transpose", _python("x, axes", "dout, ZERO"), "transposed"),
    Wrong("put", _python("t, i, v", "dout, ZERO, sum_to(keep(getitem(dout, i), final(t, i)), v)"), "written"),
    Wrong("put", _python("t, i, v", "put(dout, i, ZERO), ZERO, ZERO"), "written"),
    Wrong("put", _python("t, i, v", "put(dout, i, ZERO), ZERO, sum_to(getitem(dout, i), v)"), "written twice"),
    Wrong("getitem", _python("t, i", "inject(t, 0, dout), ZERO"), "element"),
    Wrong("getitem", _python("t, i", "put(t * 0.0, i, dout), ZERO"), "gathered"),
    Wrong("reduce_sum", _python("x, axis, keepdims", "sum_to(spread(dout, x, None, False), x), ZERO, ZERO"), "kept"),
    Wrong("reduce_sum", _python("x, axis, keepdims", "sum_to(dout * (x * 0.0 + 1.0), x), ZERO, ZERO"), "reduced"),
    Wrong("mean", _python("x, axis, keepdims", "sum_to(spread(dout / array_size(x), x, axis, keepdims), x), ZERO, ZERO"), "mean"),
    Wrong("reduce_prod", _python("x, axis, keepdims", "sum_to(spread(dout * out, x, axis, keepdims), x), ZERO, ZERO"), "product"),
    Wrong("cumsum", _python("x, axis", "cumsum(dout, axis), ZERO"), "accumulated"),
    Wrong("matmul", _python("a, b", "matmul(dout, b), matmul(transpose(a, None), dout)"), "matrices"),
    Wrong("matmul", _python("a, b", "matmul(dout, transpose(b, None)), matmul(transpose(dout, None), a)"), "matrices"),
    Wrong("concatenate", _python("xs, axis", "(getitem(dout, (0, 1)), getitem(dout, (0, 1))), ZERO"), "joined"),
    Wrong("stack", _python("xs, axis", "(getitem(dout, 1), getitem(dout, 0)), ZERO"), "stacked"),
    Wrong("flip", _python("x, axis", "dout, ZERO"), "flipped"),
    Wrong("sort", _python("x, axis", "dout, ZERO"), "sorted"),
    Wrong("reduce_max", _python("x, axis, keepdims", "spread(dout, x, axis, keepdims), ZERO, ZERO"), "largest"),
    Wrong("full", _python("shape_, value, dtype_", "ZERO, getitem(dout, (0, 0)), ZERO"), "full"),
    Wrong("broadcast_to", _python("x, shape_", "getitem(dout, 0), ZERO"), "repeated"),
)

RECORDS: tuple[Wrong, ...] = (
    Wrong("make_record", _python("label, x, y", "ZERO, getitem(dout, 1), getitem(dout, 0)"), "record"),
    Wrong("make_record", _python("label, x, y", "ZERO, getitem(dout, 0), ZERO"), "record"),
    Wrong("field", _python("r, name", "inject(r, 0, dout), ZERO"), "record"),
    Wrong("field", _python("r, name", "inject(r, field_index(r, name), ZERO), ZERO"), "record"),
    Wrong("with_field", _python("r, name, v", "dout, ZERO, getitem(dout, field_index(out, name))"), "replaced"),
    Wrong("with_field", _python("r, name, v", "ZERO, ZERO, getitem(dout, field_index(out, name))"), "replaced"),
)
