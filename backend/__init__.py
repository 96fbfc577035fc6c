"""
Fast execution of first-order programs: one target-neutral source, run by CPython, Numba on the CPU, its CUDA simulator, and GPUs.

It has no opinions: what a program means is said by `semantics`, and whether a target agrees by `crosscheck`.
"""

from backend.crosscheck import Crosscheck, crosscheck
from backend.run import Compiled, compile, lowered, ptx, source, targets

__all__ = ["Compiled", "Crosscheck", "compile", "crosscheck", "lowered", "ptx", "source", "targets"]
