"""
Numba's compiler as generated code needs it.

`Usual` has LLVM vectorise loops that contain a sum too: the terms are computed side by side, and added one by one. And whether
arrays overlap is asked before each inner loop, not once for all turns of the outer one: parts of a stack that follow one another in
every turn are apart in each, but what all turns write of the one overlaps what all write of the other. LLVM has options for both,
which hold for all that it compiles; so they are set while it compiles generated code, and set back.

`Flat` leaves out what generated code does not need. Numba's own single assignment form takes time that grows with the number of
variables times that of statements; a variable of generated code has one type wherever it is assigned, and LLVM has the form anyway.
Other passes look for what generated code does not have: functions and comprehensions inside, expressions of whole arrays, overloads
that want to be inlined, branches that a type decides. `Written` is for the machine, whose parts are written by hand.

After each pass that may have changed a function, Numba finds out again what lives where; here the passes that need that do, and
`backend.cpu.lifetimes` finds it out. Where many ways end a function, they meet (`backend.cpu.endings`). LLVM is told in which loops
no turn needs what another writes (`backend.cpu.vectors`), fewer variables have memory (`backend.cpu.registers`), and each function
is optimized once (`backend.cpu.libraries`).

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
from numba._dynfunc import make_function
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import InlineOverloads, IRLegalization, NativeLowering, NopythonRewrites, PreLowerStripPhis
from numba.core.untyped_passes import DeadBranchPrune, InlineClosureLikes, IRProcessing, ReconstructSSA

from backend.cpu.endings import OneDeletion, OneEnding
from backend.cpu.libraries import Part, Whole
from backend.cpu.lifetimes import as_rows
from backend.cpu.resolving import remembered
from backend.cpu.vectors import Telling

OPTIONS = {"force-ordered-reductions": ("true", "false"), "hoist-runtime-checks": ("false", "true")}
"""What they are for generated code, and what else."""
NOT_NEEDED = (ReconstructSSA, InlineClosureLikes, DeadBranchPrune, InlineOverloads, NopythonRewrites, PreLowerStripPhis)
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


def _into(kind: type, state: Any) -> None:
    """Has the function of a compilation be in a library of this kind."""
    if state.library is None:
        state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()


@register_pass(mutates_CFG=True, analysis_only=False)
class WholeLowering(NativeLowering):
    """The pass that writes LLVM's code of what is called from outside."""

    _name = "whole_lowering"

    def run_pass(self, state: Any) -> bool:
        _into(Whole, state)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class TellingLowering(NativeLowering):
    """The pass that writes LLVM's code of a part, and what it is told of loops."""

    _name = "telling_lowering"

    @property
    def lowering_class(self) -> Any:
        return Telling

    def run_pass(self, state: Any) -> bool:
        """The way in from Python, of which Numba wants one for each function, leads nowhere."""
        _into(Part, state)
        state.flags.no_compile = True
        super().run_pass(state)
        found, target, library = state.cr, state.targetctx, state.library
        nowhere = make_function(found.fndesc.lookup_module(), found.fndesc.qualname, "", 0, found.env, (library,))
        library.finalize()
        target.insert_user_function(nowhere, found.fndesc, [library])
        state.cr = found._replace(cfunc=nowhere)
        return True


class Usual(CompilerBase):
    """The usual passes, with the options of generated code."""

    LOWERING = WholeLowering

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.LOWERING if found is NativeLowering else found, said) for found, said in passes.passes]
        passes.finalize()
        return [passes]

    def compile_extra(self, func: Any) -> Any:
        with vectorised(), remembered(self.state.typingctx), as_rows():
            return super().compile_extra(func)


class Flat(Usual):
    """The usual passes that generated code needs."""

    LOWERING = TellingLowering
    NEEDED: tuple[type, ...] = ()

    def define_pipelines(self) -> list[Any]:
        (passes,) = super().define_pipelines()
        passes.passes = [found for found in passes.passes if found[0] in self.NEEDED or found[0] not in NOT_NEEDED]
        passes.add_pass_after(OneEnding, IRProcessing)
        passes.add_pass_after(OneDeletion, IRLegalization)
        passes._ENFORCING = False
        passes.finalize()
        return [passes]


class Written(Flat):
    """The same where a variable may have another type when it is assigned again."""

    NEEDED = (ReconstructSSA, PreLowerStripPhis)


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
