"""Backpropagators written as text, for tests that plant a wrong one."""

from __future__ import annotations

from semantics.ir import Program
from semantics.text import read


def pullback(parameters: str, *lines: str) -> Program:
    """A backpropagator as text; the last line is what it returns."""
    *equations, result = lines
    names = ", ".join(f"%{p}" for p in [*parameters.split(), "out", "dout"])
    body = "\n".join(f"  {e}" for e in [*equations, f"%result = make_tuple({result})"])
    return read(f"program @p\n@p({names}):\n{body}\n  return %result")
