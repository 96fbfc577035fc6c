"""
The targets, and what the free names of generated code mean on each.

    python           CPython, with the reference's own total functions
    cpu              numba.njit: no fastmath, no vector math library, so bit-identical to `math`
    cuda-sequential  the text for CUDA, its threads run one after another by CPython (`backend.cuda.sequential`)
    cuda-simulator   Numba's simulator of CUDA threads, over the Python bindings
    cuda             a GPU; `ptx` compiles for one without having it

What is Numba's of CUDA is in `backend.cuda.numba_cuda`. Every product is `_mul`: `dmul_rn` on CUDA, which the assembler may not
fuse with an addition.
"""

from __future__ import annotations

import importlib.util
import math
import operator
import re
from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from backend.cpu import plain_tiles
from semantics.arrays import single
from semantics.columns.arithmetic import ieee_divide, ieee_power
from semantics.columns.elementary import ELEMENTARY, atan2, copysign, hypot
from semantics.errors import IllTyped
from semantics.primitives.table import ELEMENTARY as ROWS

TARGETS = ("python", "cpu", "cuda-sequential", "cuda-simulator", "cuda")
NAMES = tuple(p.name for p in ROWS if p.name != "logaddexp")  # which has a helper
CONSTANTS = {"_MAX": (1 << 63) - 1, "_MIN": -(1 << 63), "_inf": math.inf, "_nan": math.nan}
ABSENT = {"cpu": {"_hypot": "CPython's math.hypot rounds in its own way, which no C library reproduces"}}
IN_VECTORS = ("exp", "tanh", "cosh")  # what there are instructions for
ALONE = ("tanh", "cosh")  # of these, what a single number has sooner by branches, of which it takes one, than by what lanes have
LOOP = re.compile(r"^( *)for [^\n]*\n(?:\1 +[^\n]*\n|\n)*", re.MULTILINE)  # over elements, so perhaps in vectors
CELLS = re.compile(r"\bintegers\[(?!\d+:)")  # integers in cells, as the frames of a recursion have them
SINGLE = {"_TALL": 1, "_WIDE": 1, "_LONG": 1}  # the size of a tile, where that is one sum
Bindings = dict[str, Any]
BARE: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""How Numba compiles what only compiled code calls."""


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _floor(x: float) -> float:
    """floor as a double, total, keeping the sign of a zero."""
    return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x


def _fmod(x: float, y: float) -> float:
    """fmod, total."""
    return math.nan if math.isinf(x) or y == 0 else math.fmod(x, y)


def _place(array: Any, memory: Any) -> int:
    """The place of an orderly array that lies in the memory of stacks; -1 of another."""
    first, begin = (given.__array_interface__["data"][0] for given in (array, memory))
    place, rest = divmod(first - begin, 8)
    inside = array.flags.c_contiguous and 0 <= place < memory.size and rest == 0
    alike = array.dtype == memory.dtype or (array.dtype.kind, memory.dtype.kind) == ("b", "i")
    return place if inside and alike else -1


def _from_zero(index: int, size: int) -> int:
    """An index that has been found to be inside, from the beginning."""
    return index + size if index < 0 else index


def _zeros(count: int) -> list[Any]:
    """What holds as many numbers as a strip of turns needs (`backend.lowering.strips`)."""
    return [0] * count


def dtypes() -> Bindings:
    """What dtypes are called, and what makes the arrays that a program has as constants."""
    import numpy

    names = {"_f64": numpy.float64, "_float32": numpy.float32, "_i64": numpy.int64, "_bool": numpy.bool_}
    return names | {"_constant": numpy.array}


def arrays() -> Bindings:
    """What makes arrays, and goes over them where there is one thread: all loops are `range`."""
    import numpy

    loops = dict.fromkeys(("_each", "_rows", "_columns", "_all", "_own", "_alone", "_apart", "_strip_of"), range)
    made = {"_empty": numpy.empty, "_full": numpy.full, "_reshape": numpy.reshape, "_row_of": operator.getitem, "_place": _place}
    return made | loops | dtypes()


def python_bindings() -> Bindings:
    """The reference's functions."""
    functions: Bindings = {f"_{name}": cell for name, cell in ELEMENTARY.items()}
    functions |= {"_atan2": atan2, "_hypot": hypot, "_copysign": copysign, "_pow": ieee_power, "_div": ieee_divide}
    return (
        functions
        | CONSTANTS
        | arrays()
        | {"_device": _same, "_batch": _same}
        | {"_mul": operator.mul, "_floor": _floor, "_fmod": _fmod, "_f32": single}
        | {**SINGLE, **{f"_{f.__name__}": f for f in plain_tiles.ALL}}
        | {f"_lone_{name}": ELEMENTARY[name] for name in ALONE}
        | {"_held": _zeros, "_places": _zeros, "_from_zero": _from_zero}
    )


@cache
def _cpu_functions() -> Bindings:
    """The C library through `math`; what Numba lacks of `math`, through NumPy's scalars, which call the same library."""
    import numpy

    from backend.cpu import arrays as cpu_arrays
    from backend.cpu import functions as cpu_functions
    from backend.cpu import memory as cpu_memory
    from backend.cpu import tiles, turn_sums

    functions: Bindings = {f"_{name}": getattr(math, name) for name in NAMES if name not in ("cbrt", "hypot")}
    functions |= {f"_lone_{name}": getattr(math, name) for name in ALONE}
    sizes = {"_TALL": tiles.TALL, "_WIDE": tiles.WIDE, "_LONG": tiles.LONG}
    return (functions | sizes) | {
        "_empty": cpu_arrays.empty,
        "_full": cpu_arrays.full,
        "_row_of": cpu_arrays.row_of,
        "_reshape": cpu_arrays.reshape,
        "_tile": tiles.tile,
        "_strip": tiles.strip,
        "_add_row": turn_sums.add_row,
        "_add_outer": turn_sums.add_outer,
        "_mul": cpu_functions.mul,
        "_div": cpu_functions.div,
        "_sum_overflows": cpu_functions.sum_overflows,
        "_difference_overflows": cpu_functions.difference_overflows,
        "_product_overflows": cpu_functions.product_overflows,
        "_from_zero": cpu_functions.from_zero,
        "_reals": cpu_functions.reals,
        "_integers": cpu_functions.integers,
        "_cells": cpu_memory.cells,
        "_place": cpu_memory.place,
        "_flags": cpu_memory.flags,
        "_held": cpu_memory.held,
        "_places": cpu_memory.places,
        "_pow": math.pow,
        "_cbrt": numpy.cbrt,
        "_floor": numpy.floor,
        "_f32": numpy.float32,
        "_fmod": numpy.fmod,
    }


def cpu_bindings(source: str) -> Bindings:
    """
    What `cpu` binds for a source: what has instructions for vectors is looked for where it is called. Functions that the target
    cannot give bit for bit are absent, with a reason in `ABSENT`.
    """
    import numpy
    from numba import njit

    from backend.cpu import summed
    from backend.cpu.compiler import Flat, Usual, Written, registries_alone

    registries_alone()
    return (
        arrays()
        | _cpu_functions()
        | _without_calls(source)
        | CONSTANTS
        | {name: numpy.int64(CONSTANTS[name]) for name in ("_MAX", "_MIN")}  # of an int Numba makes a type of its own
        | {
            "_device": summed.kept(error_model="numpy", pipeline_class=Usual),
            "_entry": summed.kept(**BARE, pipeline_class=Usual),
            "_part": njit(**BARE, forceinline=True, pipeline_class=Written),
            "_bare": njit(**BARE, pipeline_class=Flat),
            "_called": njit(**BARE, forceinline=False, pipeline_class=Written),
        }
        | {"_batch": summed.kept(error_model="numpy", nogil=True, pipeline_class=Usual)}
    )


def _without_calls(source: str) -> Bindings:
    """The elementary functions that a source calls, and that there are instructions for, with the bits of the C library."""
    if not (found := variants(source)):
        return {}
    from backend.exact import cpu

    alone = {f"_lone_{name}": cpu.ALONE[name, variant] for name, variant in variants(source, alone=True).items()}
    return alone | {f"_{name}": cpu.INTRINSICS[name, variant] for name, variant in found.items()}


def variants(source: str, alone: bool = False) -> dict[str, str]:
    """
    For each function that a source calls and the CPU computes without the library, by which instructions (`backend.exact`); or,
    for those that have others for a number by itself, by which of these. A recursion over numbers calls the library, where large
    arguments are sooner done, but for the turns of one in strips that are computed alone.
    """
    if not (called := [name for name in (ALONE if alone else IN_VECTORS) if f"_{name}(" in source]):
        return {}
    if alone and "integers[" in source and "_lone_" not in source and CELLS.search(source):
        return {}
    from backend.exact import trial

    return {name: variant for name in called if (variant := trial.variant(name, alone))}


def in_loops(source: str) -> frozenset[str]:
    """What there are instructions for and a loop over elements calls: of that, several may be computed at once."""
    loops = "".join(loop[0] for loop in LOOP.finditer(source))
    return frozenset(name for name in IN_VECTORS if f"_{name}(" in loops)


def elementary(source: str) -> str:
    """The same, as a part of what compiled code is called."""
    return f"{variants(source)} {variants(source, alone=True)}"


@cache
def fast_bindings() -> Bindings:
    """What fast code for the CPU calls besides, or in place of the C library."""
    from backend.cpu import tiles
    from backend.fast import cpu, exponential

    named = {f"_{f.__name__}": f for f in (cpu.any_term, cpu.any_product, exponential.exp)}
    return named | {"_any_tile": tiles.any_tile, "_any_strip": tiles.any_strip}


@cache
def lanes(asked: bool) -> Bindings:
    """
    What a kernel for several samples at once calls besides; how many, and the names that it may call with lanes. They are few where
    it asks them (`backend.batches.branches`).
    """
    from backend.batches import lane_memory, lanes

    width = lanes.FEW if asked else lanes.MANY
    own = {"_WIDTH": width, "_CALLED": lanes.CALLED, "_mul": lanes.mul, "_div": lanes.div, "_chosen": lanes.chosen}
    return {f"_{name}": function for name, function in lane_memory.CALLED[width].items()} | own


def compiles(function: Any, arguments: Sequence[Any]) -> bool:
    """Whether Numba can type and compile a function for such arguments; it then has, and compiles it for no others."""
    from numba import typeof
    from numba.core.errors import NumbaError

    try:
        function.compile(tuple(map(typeof, arguments)))
    except NumbaError:
        return False
    function.disable_compile()
    return True


def bindings(target: str, source: str, vectors: Collection[str] = IN_VECTORS) -> Bindings:
    """
    The free names of a source of generated code on a target. `_part`, `_bare`, `_called` decorate what compiled code alone calls,
    and is not kept by itself; the first is compiled into its callers, the second is optimized in the entry, with variables of one
    type each, and the last stays apart, which the others do not where what calls them is compiled into its callers.
    What is not in `vectors` is computed of numbers by themselves, for which some of these functions have other instructions.
    """
    from backend.cuda import numba_cuda

    found = {  # type: ignore[no-untyped-call]
        "python": python_bindings,
        "cpu": lambda: cpu_bindings(source),
    }.get(target, lambda: numba_cuda.bindings(target))()
    if target == "cpu":
        found |= {f"_{name}": found[f"_lone_{name}"] for name in ALONE if name not in vectors}
    return {"_part": found["_device"], "_bare": found["_device"], "_called": found["_device"], **found}


def workers(target: str) -> int:
    """How many threads go over the samples of a batch."""
    if target != "cpu":
        return 1
    from numba import config

    return int(config.NUMBA_NUM_THREADS)


def refuse_absent(target: str, source: str) -> None:
    """IllTyped if the source calls a function that the target does not have."""
    for name, reason in ABSENT.get(target, {}).items():
        if f"{name}(" in source:
            raise IllTyped(f"{name[1:]} cannot run on the target {target}: {reason}", rule="backend", remedy="use another target")


# what there is


def targets() -> dict[str, str]:
    """For every target, "" if it can run here, else why it cannot."""
    return {target: missing(target) for target in TARGETS}


@cache
def missing(target: str) -> str:
    """ "" if a target can run here, else why it cannot. Only what CUDA needs is looked for, and only if it is asked for."""
    if target not in TARGETS:
        return "no such target"
    if target in ("python", "cpu", "cuda-sequential"):
        return ""
    from backend.cuda import numba_cuda

    return numba_cuda.missing(target)


@cache
def versions() -> str:
    """Everything outside the source that decides what compiled code is: versions as their files say them, nothing imported."""
    files = {"numba": "_version.py", "llvmlite": "_version.py", "numpy": "version.py"}
    found = ((importlib.util.find_spec(name), file) for name, file in files.items())
    return "\n".join((Path(spec.origin).parent / file).read_text() for spec, file in found if spec and spec.origin)
