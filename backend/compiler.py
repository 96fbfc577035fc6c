"""
Numba's compiler as generated code needs it: without its own single assignment form, which takes time that grows with the number of
variables times that of statements. A variable of generated code has one type wherever it is assigned, and LLVM has the form anyway.
"""

from typing import Any

from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.untyped_passes import ReconstructSSA


class Flat(CompilerBase):  # type: ignore[misc]
    """The usual passes but one."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [found for found in passes.passes if found[0] is not ReconstructSSA]
        passes.finalize()
        return [passes]
