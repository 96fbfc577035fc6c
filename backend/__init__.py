"""
Fast execution: one target-neutral source, run by CPython, Numba on the CPU, its CUDA simulator, and GPUs.

Tier A generates code of a program that has a first-order form (`compile`); tier B runs any program on one virtual machine
(`machine`). `runnable` takes the first that can.

It has no opinions: what a program means is said by `semantics`, and whether a target agrees by `crosscheck`.
"""

from backend.boundary import general
from backend.crosscheck import Crosscheck, crosscheck
from backend.run import Compiled, compile, lowered, source, targets
from backend.tiers import Machined, ptx, runnable

__all__ = [
    "Compiled",
    "Crosscheck",
    "Machined",
    "compile",
    "crosscheck",
    "general",
    "lowered",
    "ptx",
    "runnable",
    "source",
    "targets",
]
