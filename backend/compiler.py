"""
Numba's compiler as generated code needs it.

`Flat` leaves out its own single assignment form, which takes time that grows with the number of variables times that of statements.
A variable of generated code has one type wherever it is assigned, and LLVM has the form anyway.

`vectorise_sums` has LLVM vectorise loops that contain a sum too: the terms are computed side by side, and added one by one.
"""

from functools import cache
from typing import Any

from llvmlite import binding
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.untyped_passes import ReconstructSSA


class Flat(CompilerBase):  # type: ignore[misc]
    """The usual passes but one."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [found for found in passes.passes if found[0] is not ReconstructSSA]
        passes.finalize()
        return [passes]


@cache
def vectorise_sums() -> None:
    """From now on, in this process, no sum keeps LLVM from vectorising the rest of its loop. It keeps its order, so its bits."""
    binding.set_option("adjudge", "--force-ordered-reductions")
