"""
Fast execution: one target-neutral source, run by CPython, Numba on the CPU, its CUDA simulator, and GPUs.

Tier A generates code of a program that has a first-order form (`compile`); tier B runs any program on one virtual machine
(`machine`). `runnable` takes the first that can. What only tier A needs is loaded when it is asked for: no first call waits for it.

It has no opinions: what a program means is said by `semantics`, and whether a target agrees by `crosscheck`.
"""

from typing import TYPE_CHECKING, Any

from backend.boundary import general
from backend.crosscheck import Crosscheck, crosscheck
from backend.tiers import Machined, ptx, runnable

if TYPE_CHECKING:
    from backend.lowering.first_order import lowered
    from backend.run import Compiled, compile, source, targets

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


def __getattr__(name: str) -> Any:
    """A name of tier A's."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from backend import run

    return getattr(run, name)
