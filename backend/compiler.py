"""
Numba's compiler as generated code needs it.

`Usual` has LLVM vectorise loops that contain a sum too: the terms are computed side by side, and added one by one. And whether
arrays overlap is asked before each inner loop, not once for all turns of the outer one: parts of a stack that follow one another in
every turn are apart in each, but what all turns write of the one overlaps what all write of the other. LLVM has options for both,
which hold for all that it compiles; so they are set while it compiles generated code, and set back.

`Flat` leaves out what generated code does not need. Numba's own single assignment form takes time that grows with the number of
variables times that of statements; a variable of generated code has one type wherever it is assigned, and LLVM has the form anyway.
Other passes look for what generated code does not have: functions and comprehensions inside, expressions of whole arrays, overloads
that want to be inlined, branches that a type decides.

`Vectors`, for code over arrays, leaves this out too; it has LLVM told in which loops no turn needs what another writes
(`backend.vectors`), and gives fewer variables memory (`backend.registers`).

`registries_alone` has Numba load what it knows to compile without SciPy's linear algebra, which it would load to see whether it is
there.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any

from llvmlite import binding
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites
from numba.core.untyped_passes import DeadBranchPrune, InlineClosureLikes, ReconstructSSA

from backend.vectors import Telling

OPTIONS = {"force-ordered-reductions": ("true", "false"), "hoist-runtime-checks": ("false", "true")}
"""What they are for generated code, and what else."""
NOT_NEEDED = (ReconstructSSA, InlineClosureLikes, DeadBranchPrune, InlineOverloads, NopythonRewrites)
"""The passes that find nothing to do in generated code, or nothing that LLVM does not do."""
_now: set[str] = set()  # those that are as for generated code


@contextmanager
def vectorised() -> Iterator[None]:
    """Inside, neither a sum nor another turn keeps LLVM from vectorising a loop. Sums keep order and bits. Numba holds its lock."""
    mine = [option for option in OPTIONS if option not in _now]  # none, where generated code is compiled for generated code
    for option in mine:
        binding.set_option("adjudge", f"--{option}={OPTIONS[option][0]}")
    _now.update(mine)
    try:
        yield
    finally:
        _now.difference_update(mine)
        for option in mine:
            binding.set_option("adjudge", f"--{option}={OPTIONS[option][1]}")


class Usual(CompilerBase):
    """The usual passes, with the options of generated code."""

    def define_pipelines(self) -> list[Any]:
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]

    def compile_extra(self, func: Any) -> Any:
        with vectorised():
            return super().compile_extra(func)


class Flat(Usual):
    """The usual passes that generated code needs."""

    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        passes.passes = [found for found in passes.passes if found[0] not in NOT_NEEDED]
        passes.finalize()
        return [passes]


@register_pass(mutates_CFG=True, analysis_only=False)
class TellingLowering(NativeLowering):
    """The pass that writes LLVM's code, and what it is told of loops."""

    _name = "telling_lowering"

    @property
    def lowering_class(self) -> Any:
        return Telling


class Vectors(Flat):
    """The same, but that LLVM is told which loops have turns that are apart."""

    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        passes.passes = [(TellingLowering if found is NativeLowering else found, said) for found, said in passes.passes]
        passes.finalize()
        return [passes]


@cache
def registries_alone() -> None:
    """
    Numba knows that there is a BLAS, if SciPy is installed, without having loaded it, which takes a tenth of a second. A function
    with a product of matrices looks for it again when it is compiled.
    """
    linalg: Any = importlib.import_module("numba.np.linalg")
    looks = linalg.ensure_blas
    linalg.ensure_blas = _installed
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = looks


def _installed() -> None:
    """ImportError where there is no SciPy."""
    if find_spec("scipy") is None:
        raise ImportError("SciPy has the BLAS that products of matrices call")
