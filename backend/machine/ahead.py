"""
The machine, compiled ahead, by another process: it takes 25 seconds, once for all programs on a computer.

Until it is kept, a first call runs on CPython, or has code of its own made, which takes from half a second to some.
"""

from __future__ import annotations

from backend import beside
from backend.machine import interpreter, kernels


def begin() -> bool:
    """Whether a process has been begun that compiles the machine; it is not if the machine is kept, or is being compiled."""
    return not interpreter.is_kept() and beside.begin(interpreter.work(), "backend.machine.ahead:compiled")


def compiled() -> None:
    """The machine, and the loops that it calls, are kept."""
    interpreter.compiled()
    kernels.compiled()
