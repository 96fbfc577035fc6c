"""
Machine code without its compiler: what Numba has compiled once is kept as an object file, which is put where it runs again.

    functions(source, exports) -> {name: function of integers and reals}      is_kept(source, exports)
    addresses(source, exports) -> {name: where its code is}           of_text(text, names, called) -> the same, from LLVM's text

The source is generated code; `exports` says, for each function that is called from Python, what it takes and gives, a letter for
each: i for integers, d for reals, b for booleans. To `functions` an array goes in as an address. Numba takes a third of a second to
be imported and to start, LLVM some 20 ms, which are spared where `backend.cpu.placing` can do without. A file is found again by the
source, the versions and the processor. What another process cannot link is compiled anew.
"""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from backend import store, toolchain
from backend.cpu import runtime
from backend.cpu.elf import Unknown
from backend.cpu.placing import placed
from semantics.collector import at_rest

if TYPE_CHECKING:
    from backend.cpu.object_code import Object

Function = Callable[..., Any]
TYPES: dict[str, Any] = {"i": ctypes.c_int64, "d": ctypes.c_double, "b": ctypes.c_bool}


def is_kept(source: str, exports: Mapping[str, str]) -> bool:
    """Whether the functions are there without compiling."""
    return (store.folder() / key(source, exports)).exists()


def functions(source: str, exports: Mapping[str, str]) -> dict[str, Function]:
    """The functions, compiled or found in the cache. `exports` has the letters of the arguments, a colon, those of the results."""
    return {name: _callable(address, exports[name]) for name, address in addresses(source, exports).items()}


def addresses(source: str, exports: Mapping[str, str]) -> dict[str, int]:
    """Where the machine code of the functions is."""
    if (found := kept_addresses(source, exports)) is not None:
        return found
    objects = _compiled(source, exports)
    keep(source, exports, objects)
    return _linked(objects)


def kept_addresses(source: str, exports: Mapping[str, str], arrays: bool = False) -> dict[str, int] | None:
    """The same of what is kept; None if nothing is, or it cannot be linked here. Code of `arrays` makes some, and frees them."""
    try:
        return _linked(pickle.loads(store.kept(store.folder() / key(source, exports))), arrays)
    except (OSError, pickle.UnpicklingError, EOFError, Unlinkable):
        return None


def keep(source: str, exports: Mapping[str, str], objects: Mapping[str, Object]) -> None:
    """Keeps what has been compiled elsewhere, with Numba's wrappers or without, for the next process."""
    store.keep(store.folder() / key(source, exports), pickle.dumps(dict(objects)))


class Unlinkable(Exception):
    """An object needs a function that this process does not have; caught, and compiled anew."""


def key(source: str, exports: Mapping[str, str]) -> str:
    """The name of the file in which they are kept."""
    return _file_of(store.compiler(), source, tuple(sorted(exports.items())))


@lru_cache(16)  # of the machine it is asked several times whether it is kept, before it is loaded
def _file_of(compiler: str, source: str, exports: tuple[tuple[str, str], ...]) -> str:
    made_by = f"{compiler}\n{toolchain.versions()}\n{toolchain.elementary(source)}\n{processor()}"
    said = f"{made_by}\n{list(exports)}\n{source}"
    return f"n_{store.digest(said)}.pickle"


def _compiled(source: str, exports: Mapping[str, str]) -> dict[str, Object]:
    from backend.cpu import object_code

    module = store.load(source, "native", object_code.bindings(source))
    return {name: object_code.compiled(getattr(module, name), of.partition(":")[0]) for name, of in exports.items()}


# loading


@cache
def llvm() -> Any:
    """llvmlite's binding of LLVM, started. What it imports lives on, so nothing is collected meanwhile."""
    with at_rest():
        from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def _process() -> ctypes.CDLL:
    """All that this process has loaded: among it, the C library's mathematics."""
    return ctypes.CDLL(None)


@cache
def processor() -> str:
    """What the code is for: LLVM's name of the processor, and what it can do. Asked once for what the system says of it."""
    said = _said_of_processor()
    return store.remembered(f"the processor\n{toolchain.versions()}\n{said}", _named) if said else _named()


def _named() -> str:
    binding = llvm()
    return f"{binding.get_process_triple()} {binding.get_host_cpu_name()} {binding.get_host_cpu_features().flatten()}"


def _said_of_processor() -> str:
    """What Linux says that the first processor is and can do; "" if it does not say."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            first = takewhile(str.strip, lines)
            return "".join(line for line in first if line.partition("\t")[0] in SAID)
    except (OSError, ValueError):
        return ""


SAID = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")

_ENGINES: list[Any] = []
"""Whoever holds the machine code, for as long as the process lives."""


def of_text(text: str, names: Sequence[str], called: Mapping[str, int]) -> dict[str, int]:
    """Where the machine code of functions is whose text is LLVM's; what they call is `called`."""
    said = f"{toolchain.versions()}\n{processor()}\nlarge\n{text}"
    path = store.folder() / f"t_{store.digest(said)}.o"
    try:
        content = store.kept(path)
    except OSError:
        module = llvm().parse_assembly(text)
        module.verify()
        content = _machine("large").emit_object(module)
        store.keep(path, content)
    try:
        return placed(content, names, called.__getitem__)
    except (Unknown, KeyError):
        for name, address in called.items():
            llvm().add_symbol(name, address)
        return _placed([content], names)


def _linked(objects: Mapping[str, Object], arrays: bool = False) -> dict[str, int]:
    needed = {name: _address(name, arrays) for _, _, names in objects.values() for name in names}
    try:
        called = partial(_address, arrays=arrays)
        return {name: placed(content, [symbol], called)[symbol] for name, (symbol, content, _) in objects.items()}
    except Unknown:
        for name, address in needed.items():
            llvm().add_symbol(name, address)
        found = _placed([content for _, content, _ in objects.values()], [symbol for symbol, _, _ in objects.values()])
        return {name: found[symbol] for name, (symbol, _, _) in objects.items()}


def _address(name: str, arrays: bool = False) -> int:
    """Where a function is that code calls. Unlinkable if it is not there."""
    if arrays and name in runtime.functions():
        return runtime.functions()[name]
    if (function := getattr(_process(), name, None)) is not None:
        return _at(function)
    if not arrays and name.startswith(NUMBAS_OWN):
        return _at(_never)
    if (found := llvm().address_of_symbol(name)) is None:
        raise Unlinkable(name)
    return int(found)


def _at(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _placed(contents: Sequence[bytes], symbols: Sequence[str]) -> dict[str, int]:
    """Where LLVM has put the functions of object files."""
    binding = llvm()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine())
    for content in contents:
        engine.add_object_file(binding.ObjectFileRef.from_data(content))
    engine.finalize_object()
    _ENGINES.append(engine)
    return {symbol: engine.get_function_address(symbol) for symbol in symbols}


def _machine(model: str = "jitdefault") -> Any:
    return llvm().Target.from_default_triple().create_target_machine(codemodel=model)


NUMBAS_OWN = ("NRT_", "numba_")
"""What its wrappers call, and what frees arrays: neither is reached where addresses go in, and memory is lent by the host."""


@ctypes.CFUNCTYPE(None)
def _never() -> None:
    """In the place of functions of Numba's that are not there."""


def _callable(address: int, of: str) -> Function:
    """The function at an address. Numba's convention: where the result goes, where an exception goes, then the arguments."""
    takes, _, gives = of.partition(":")
    fields = [(f"r{k}", TYPES[letter]) for k, letter in enumerate(gives)]
    result = type("Result", (ctypes.Structure,), {"_fields_": fields})
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *(TYPES[letter] for letter in takes))(address)
    failure, names = ctypes.c_void_p(), [name for name, _ in fields]

    def called(*arguments: Any) -> Any:
        given = result()
        if function(ctypes.byref(given), ctypes.byref(failure), *arguments) != 0:
            raise ArithmeticError
        return given.r0 if len(names) == 1 else tuple(getattr(given, name) for name in names)

    return called
