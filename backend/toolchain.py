"""
All contact with Numba and CUDA: what the free names of generated code mean on each target, and how it is compiled.

    python          CPython, with the reference's own total functions
    cpu             numba.njit: no fastmath, no vector math library, so bit-identical to `math`
    cuda-simulator  Numba's simulator of CUDA threads, over the Python bindings
    cuda            a GPU; `ptx` compiles for one without having it

Every product is `_mul`: `dmul_rn` on CUDA, which the assembler may not fuse with an addition.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import operator
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from semantics.arrays import single
from semantics.columns.arithmetic import ieee_divide, ieee_power
from semantics.columns.elementary import ELEMENTARY, atan2, copysign, hypot
from semantics.errors import IllTyped
from semantics.primitives.table import ELEMENTARY as ROWS
from semantics.type_language import BOOLEAN, INTEGER, REAL, Scalar

TARGETS = ("python", "cpu", "cuda-simulator", "cuda")
NAMES = tuple(p.name for p in ROWS if p.name != "logaddexp")  # which has a helper
CONSTANTS = {"_MAX": (1 << 63) - 1, "_MIN": -(1 << 63), "_inf": math.inf, "_nan": math.nan}
ABSENT = {"cpu": {"_hypot": "CPython's math.hypot rounds in its own way, which no C library reproduces"}}
Bindings = dict[str, Any]


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _floor(x: float) -> float:
    """floor as a double, total, keeping the sign of a zero."""
    return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x


def _fmod(x: float, y: float) -> float:
    """fmod, total."""
    return math.nan if math.isinf(x) or y == 0 else math.fmod(x, y)


def dtypes() -> Bindings:
    import numpy

    return {"_f64": numpy.float64, "_float32": numpy.float32, "_i64": numpy.int64, "_bool": numpy.bool_}


def arrays() -> Bindings:
    """What makes arrays, and goes over them where there is one thread: all loops are `range`."""
    import numpy

    loops = dict.fromkeys(("_each", "_rows", "_columns", "_all", "_own", "_alone"), range)
    return {"_empty": numpy.empty, "_full": numpy.full, "_array": numpy.array, "_reshape": numpy.reshape} | loops | dtypes()


def python_bindings() -> Bindings:
    """The reference's functions."""
    functions: Bindings = {f"_{name}": cell for name, cell in ELEMENTARY.items()}
    functions |= {"_atan2": atan2, "_hypot": hypot, "_copysign": copysign, "_pow": ieee_power, "_div": ieee_divide}
    return (
        functions
        | CONSTANTS
        | arrays()
        | {"_device": _same, "_batch": _same, "_workers": range}
        | {"_mul": operator.mul, "_floor": _floor, "_fmod": _fmod, "_f32": single}
    )


@cache
def _cpu_functions() -> Bindings:
    """The C library through `math`; what Numba lacks of `math`, through NumPy's scalars, which call the same library."""
    import numpy

    from backend import cpu_functions

    functions: Bindings = {f"_{name}": getattr(math, name) for name in NAMES if name not in ("cbrt", "hypot")}
    return functions | {
        "_mul": cpu_functions.mul,
        "_div": cpu_functions.div,
        "_reals": cpu_functions.reals,
        "_integers": cpu_functions.integers,
        "_pow": math.pow,
        "_cbrt": numpy.cbrt,
        "_floor": numpy.floor,
        "_f32": numpy.float32,
        "_fmod": numpy.fmod,
    }


def cpu_bindings() -> Bindings:
    """What `cpu` binds. Functions that it cannot give bit for bit are absent, with a reason in `ABSENT`."""
    from numba import njit, prange

    return (
        _cpu_functions()
        | CONSTANTS
        | arrays()
        | {"_device": njit(error_model="numpy", cache=True), "_part": njit(error_model="numpy", forceinline=True)}
        | {"_batch": njit(error_model="numpy", cache=True, parallel=True), "_workers": prange}
    )


@cache
def _cuda_functions() -> Bindings:
    cuda = _cuda()
    from numba.cuda import libdevice

    device = cuda.jit(device=True)

    @device
    def _div(a, b):  # type: ignore[no-untyped-def]
        return a / b

    functions: Bindings = {f"_{name}": getattr(libdevice, name) for name in NAMES if name != "sqrt"}
    return functions | {
        "_sqrt": libdevice.dsqrt_rn,
        "_pow": libdevice.pow,
        "_mul": libdevice.dmul_rn,
        "_floor": libdevice.floor,
        "_f32": libdevice.double2float_rn,
        "_fmod": libdevice.fmod,
        "_div": _div,
    }


def cuda_bindings() -> Bindings:
    """NVIDIA's device functions."""
    cuda = _cuda()

    return _cuda_functions() | CONSTANTS | {"_device": cuda.jit(device=True), "cuda": cuda}


def simulator_bindings() -> Bindings:
    """The Python bindings, and the module whose thread indices the simulator supplies."""
    cuda = _cuda()

    return python_bindings() | {"cuda": cuda}


def bindings(target: str) -> Bindings:
    """The free names of generated code on a target. `_part` decorates what is compiled with its callers, and not kept by itself."""
    found = {
        "python": python_bindings,
        "cpu": cpu_bindings,
        "cuda": cuda_bindings,
        "cuda-simulator": simulator_bindings,
    }[target]()
    return {"_part": found["_device"], **found}


def workers(target: str) -> int:
    """How many threads go over the samples of a batch."""
    if target != "cpu":
        return 1
    from numba import get_num_threads

    return int(get_num_threads())


def refuse_absent(target: str, source: str) -> None:
    """IllTyped if the source calls a function that the target does not have."""
    for name, reason in ABSENT.get(target, {}).items():
        if f"{name}(" in source:
            raise IllTyped(f"{name[1:]} cannot run on the target {target}: {reason}", rule="backend", remedy="use another target")


def _cuda() -> Any:
    """The module numba.cuda, untyped."""
    return importlib.import_module("numba.cuda")


# what there is


def targets() -> dict[str, str]:
    """For every target, "" if it can run here, else why it cannot."""
    return {target: missing(target) for target in TARGETS}


@cache
def missing(target: str) -> str:
    """ "" if a target can run here, else why it cannot. Only what CUDA needs is looked for, and only if it is asked for."""
    match target:
        case "python" | "cpu":
            return ""
        case "cuda-simulator":
            return _cuda_package()
        case "cuda":
            return _cuda_package() or _device()
        case _:
            return "no such target"


def _cuda_package() -> str:
    if importlib.util.find_spec("numba_cuda") is None:
        return "the package numba-cuda is not installed"
    cuda = _cuda()

    if cuda.implementation != "NVIDIA":
        return "numba.cuda is not NVIDIA's implementation"
    return ""


def _device() -> str:
    cuda = _cuda()

    try:
        return "" if cuda.is_available() else "no GPU or no driver"
    except Exception as error:
        return f"the driver failed: {error}"


@cache
def ptx_available() -> str:
    """ "" if PTX can be made here, else why not. libnvvm comes with the CUDA toolkit or as a package of its own."""
    if reason := _cuda_package():
        return reason
    try:
        compile_ptx(_nothing, (), (9, 0))
    except Exception as error:
        return f"libnvvm cannot be used: {str(error).splitlines()[0]}"
    return ""


def _nothing() -> None:
    return None


@cache
def versions() -> str:
    """Everything outside the source that decides what compiled code is: versions as their files say them, nothing imported."""
    files = {"numba": "_version.py", "llvmlite": "_version.py", "numpy": "version.py"}
    found = ((importlib.util.find_spec(name), file) for name, file in files.items())
    return "\n".join((Path(spec.origin).parent / file).read_text() for spec, file in found if spec and spec.origin)


# compilation


@contextlib.contextmanager
def _without_device(cc: tuple[int, int]) -> Iterator[None]:
    """
    What asks a driver, answered without one: the capability that device functions are compiled for, and the name of the
    architecture, which Numba looks up in the runtime compiler (libnvrtc) although it does not run it.
    """
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    nvrtc: Any = importlib.import_module("numba.cuda.cudadrv.nvrtc")
    paths: Any = importlib.import_module("numba.cuda.cuda_paths")
    kept = dispatcher.get_current_device, nvrtc.get_arch_option, paths._get_nvrtc_path
    dispatcher.get_current_device = lambda: types.SimpleNamespace(compute_capability=cc)
    nvrtc.get_arch_option = lambda major, minor, arch="": f"compute_{major}{minor}{arch}"
    paths._get_nvrtc_path = lambda: _or_none(kept[2])
    try:
        yield
    finally:
        dispatcher.get_current_device, nvrtc.get_arch_option, paths._get_nvrtc_path = kept


def _or_none(find: Callable[[], Any]) -> Any:
    """What `find` finds; None where the library is not installed."""
    try:
        return find()
    except Exception:
        return None


def compile_ptx(function: Callable[..., Any], signature: tuple[Any, ...], cc: tuple[int, int]) -> str:
    """The PTX of a kernel for one compute capability; needs no GPU."""
    from numba import void

    cuda = _cuda()
    with _without_device(cc):
        text, _ = cuda.compile(function, void(*signature), device=False, abi="numba", cc=cc)
    return str(text.decode() if isinstance(text, bytes) else text)


_NUMBA = {REAL: "float64", INTEGER: "int64", BOOLEAN: "boolean"}


def array_types(scalars: tuple[Scalar, ...]) -> tuple[Any, ...]:
    """Numba's types of one-dimensional arrays of these scalars."""
    import numba

    return tuple(getattr(numba, _NUMBA[t])[::1] for t in scalars)


def kernel_signature(arguments: tuple[Scalar, ...], results: tuple[Scalar, ...], stacks: bool = False) -> tuple[Any, ...]:
    """The signature of the batch kernel: arrays of arguments, results and statuses, memory of stacks, then fuel and one."""
    import numba

    memory = (*array_types((REAL, INTEGER)), numba.int64) if stacks else ()
    return (*array_types(arguments), *array_types(results), numba.int64[::1], *memory, numba.int64, numba.float64)


def machine_signature() -> tuple[Any, ...]:
    """The signature of the kernel of the virtual machine: buffers as integers and as doubles, code, starts, statuses; the limit."""
    words, doubles = array_types((INTEGER, REAL))
    return (words, doubles, words, words, words, array_types((INTEGER,))[0].dtype)


def on_device(array: Any) -> Any:
    """A copy of the array in the memory of the GPU."""
    return _cuda().to_device(array)


def simulated(function: Callable[..., Any]) -> Any:
    """The function as a kernel that Numba's simulator runs, beside the real target in one process."""
    kernel: Any = importlib.import_module("numba.cuda.simulator.kernel")
    return kernel.FakeCUDAKernel(function, False)


def jitted(function: Callable[..., Any]) -> Any:
    """The function as a kernel for the GPU."""
    cuda = _cuda()

    return cuda.jit(function)
