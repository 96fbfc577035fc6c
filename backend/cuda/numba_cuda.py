"""
All contact with the package numba-cuda: what the names of generated code are bound to, how it is compiled, and launched.

Compiling needs no GPU: what asks a driver for one is answered with the capability that is compiled for.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from backend import store, toolchain
from backend.cuda import sequential
from backend.toolchain import CONSTANTS, NAMES, SINGLE, Bindings, dtypes, python_bindings
from semantics.errors import IllTyped
from semantics.type_language import BOOLEAN, INTEGER, REAL, Scalar

WIDTH = {"cuda": 32, "cuda-simulator": 3, "cuda-sequential": 3}
"""How many threads of a block are side by side in a row of elements."""


def numba_cuda() -> Any:
    """The module numba.cuda, untyped. NumPy 2.5 has no row_stack, which it asks for."""
    import numpy

    if not hasattr(numpy, "row_stack"):
        numpy.row_stack = numpy.vstack
    return importlib.import_module("numba.cuda")


# what the names mean


@cache
def _functions() -> Bindings:
    """NVIDIA's device functions."""
    from numba.cuda import libdevice

    from backend.cuda import functions

    device = numba_cuda().jit(device=True)

    mul = libdevice.dmul_rn

    @device
    def _div(a, b):  # type: ignore[no-untyped-def]
        return a / b

    @device
    def _tile(a, b, c, i, j):  # type: ignore[no-untyped-def]
        total = -0.0
        for k in range(b.shape[0]):
            total = total + mul(float(a[i, k]), float(b[k, j]))
        c[i, j] = total

    @device
    def _strip(a, b, c, j):  # type: ignore[no-untyped-def]
        total = -0.0
        for k in range(b.shape[0]):
            total = total + mul(float(a[k]), float(b[k, j]))
        c[j] = total

    found: Bindings = {f"_{name}": getattr(libdevice, name) for name in NAMES if name != "sqrt"}
    arrays = {"_array": functions.array, "_address": functions.address, "_reshape": functions.reshape, "_leave": functions.leave}
    return (
        found
        | arrays
        | {
            "_sqrt": libdevice.dsqrt_rn,
            "_pow": libdevice.pow,
            "_mul": mul,
            "_floor": libdevice.floor,
            "_f32": libdevice.double2float_rn,
            "_fmod": libdevice.fmod,
            "_div": _div,
            "_tile": _tile,
            "_strip": _strip,
        }
    )


def bindings(target: str) -> Bindings:
    """The free names of generated code on a target of CUDA; `cuda` among them, whose threads these are."""
    common = {"_WIDTH": WIDTH[target], "_word": None}
    if target == "cuda-sequential":
        return python_bindings() | _simulated_arrays() | common | {"cuda": sequential.Cuda()}
    import numba

    cuda = numba_cuda()
    common |= {"_word": numba.int64, "cuda": cuda}
    if target == "cuda-simulator":
        return python_bindings() | _simulated_arrays() | common
    decorators = {"_device": cuda.jit(device=True), "_inside": cuda.jit(device=True, inline="always")}
    loops = {"_all": range}  # of the sum of a number; where there are arrays, the threads of a block go over them
    return _functions() | CONSTANTS | SINGLE | dtypes() | common | decorators | loops


def _simulated_arrays() -> Bindings:
    """Arrays at addresses, for CPython."""
    import ctypes

    import numpy

    def array(address: int, shape: tuple[int, ...], dtype: Any) -> Any:
        count = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
        return numpy.ndarray(shape, dtype, (ctypes.c_char * count).from_address(int(address)))

    return {
        "_array": array,
        "_address": lambda a: a.ctypes.data,
        "_reshape": numpy.reshape,
        "_leave": sys.exit,
        "_inside": lambda function: function,
    }


# what there is


def missing(target: str) -> str:
    """ "" if a target of numba-cuda can run here, else why it cannot."""
    return _package() or (_device() if target == "cuda" else "")


def _package() -> str:
    if importlib.util.find_spec("numba_cuda") is None:
        return "the package numba-cuda is not installed"
    if numba_cuda().implementation != "NVIDIA":
        return "numba.cuda is not NVIDIA's implementation"
    return ""


def _device() -> str:
    try:
        return "" if numba_cuda().is_available() else "no GPU or no driver"
    except Exception as error:
        return f"the driver failed: {error}"


@cache
def ptx_available() -> str:
    """ "" if PTX can be made here, else why not. libnvvm comes with the CUDA toolkit or as a package of its own."""
    if reason := _package():
        return reason
    try:
        _compiled(_nothing, (), (9, 0))
    except Exception as error:
        return f"libnvvm cannot be used: {str(error).splitlines()[0]}"
    return ""


def _nothing() -> None:
    return None


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


def ptx(source: str, signature: tuple[Any, ...], cc: tuple[int, int]) -> str:
    """The PTX of `batch` of a source for a compute capability. IllTyped with the reason where it cannot be made here."""
    if reason := ptx_available():
        raise IllTyped(f"no PTX here: {reason}", rule="backend", remedy="install the cuda extra and a CUDA toolkit")

    def made() -> str:
        return _compiled(store.load(source, "cuda", toolchain.bindings("cuda", source)).batch, signature, cc)

    version = importlib.import_module("importlib.metadata").version("numba-cuda")
    return store.remembered(f"ptx {cc} {toolchain.versions()} {version}\n{source}", made)


def _compiled(function: Callable[..., Any], signature: tuple[Any, ...], cc: tuple[int, int]) -> str:
    from numba import void

    with _without_device(cc):
        text, _ = numba_cuda().compile(function, void(*signature), device=False, abi="numba", cc=cc)
    return str(text.decode() if isinstance(text, bytes) else text)


_NUMBA = {REAL: "float64", INTEGER: "int64", BOOLEAN: "boolean"}


def array_types(scalars: tuple[Scalar, ...]) -> tuple[Any, ...]:
    """Numba's types of one-dimensional arrays of these scalars."""
    import numba

    return tuple(getattr(numba, _NUMBA[t])[::1] for t in scalars)


def kernel_signature(arguments: tuple[Scalar, ...], results: tuple[Scalar, ...], rooms: int = 0) -> tuple[Any, ...]:
    """The signature of the batch kernel: arrays of arguments, results and statuses, memory of stacks, then fuel and one."""
    import numba

    memory = (*array_types((REAL, INTEGER)), numba.types.UniTuple(numba.int64, rooms)) if rooms else ()
    return (*array_types(arguments), *array_types(results), numba.int64[::1], *memory, numba.int64, numba.float64)


def machine_signature() -> tuple[Any, ...]:
    """The signature of the kernel of the virtual machine: buffers as integers and as doubles, code, starts, statuses; the limit."""
    words, doubles = array_types((INTEGER, REAL))
    return (words, doubles, words, words, words, array_types((INTEGER,))[0].dtype)


def block_signature(rooms: int) -> tuple[Any, ...]:
    """The signature of a kernel of arrays: tables of arguments and results, statuses, arena, memory of stacks, fuel and one."""
    import numba

    words, doubles = array_types((INTEGER, REAL))
    memory = (doubles, words, numba.types.UniTuple(numba.int64, rooms)) if rooms else ()
    return (words, doubles, words, doubles, words, numba.int64, numba.int64, *memory, numba.int64, numba.float64)


# launches

THREAD = """

def thread(*given):
    try:
        batch(*given)
    except SystemExit:
        pass
"""
"""A thread of the simulator, which may leave."""


def kernel(source: str, target: str) -> Any:
    """`batch` of a source on a target, to be launched as kernel[blocks, threads, stream, bytes of shared memory](*arguments)."""
    if target == "cuda-sequential":
        module = store.load(sequential.rewritten(source), target, toolchain.bindings(target, source))
        return sequential.Kernel(module.batch, module.cuda)
    if target == "cuda":
        return numba_cuda().jit(store.load(source, target, toolchain.bindings(target, source)).batch)
    simulator: Any = importlib.import_module("numba.cuda.simulator.kernel")
    return simulator.FakeCUDAKernel(store.load(source + THREAD, target, toolchain.bindings(target, source)).thread, False)


def on_device(array: Any) -> Any:
    """A copy of the array in the memory of the GPU."""
    return numba_cuda().to_device(array)


@dataclass(frozen=True)
class Words:
    """Words in the memory of a target: as the integers and reals that a kernel takes, and where they are."""

    array: Any
    integers: Any
    reals: Any
    address: int

    def back(self, start: int, stop: int) -> Any:
        """A copy of some of them."""
        part = self.array[start:stop]
        return part.copy_to_host() if hasattr(part, "copy_to_host") else part.copy()


def words(target: str, given: Any) -> Words:
    """The words of an array of integers, or room for so many."""
    import numpy

    if target == "cuda":
        array = numba_cuda().device_array(given, numpy.int64) if isinstance(given, int) else on_device(given)
        return Words(array, array, array.view(numpy.float64), array.device_ctypes_pointer.value)
    array = numpy.empty(given, numpy.int64) if isinstance(given, int) else given
    return Words(array, memoryview(array), memoryview(array.view(numpy.float64)), array.ctypes.data)  # type: ignore[arg-type]
