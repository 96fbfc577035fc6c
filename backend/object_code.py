"""
Object files that Numba makes of generated code: what `native` keeps.

A function here is called from Python by address alone, so Numba's wrappers, which make Python's objects, are left out; what the
functions of a module call of each other is compiled into each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backend import toolchain

Object = tuple[str, bytes, tuple[str, ...]]
"""The symbol of a function, its object file, and the functions that it calls and does not have."""


def bindings(source: str) -> dict[str, Any]:
    """Those of the CPU, without wrappers."""
    from numba import njit

    from backend.compiler import Usual

    return toolchain.bindings("cpu", source) | {"_device": njit(**toolchain.BARE, pipeline_class=Usual)}


def compiled(function: Callable[..., Any], takes: str) -> Object:
    """The object file of a function of `bindings`; `takes` has a letter for each argument: integer, real (d), boolean."""
    from numba import types

    letters = {"i": types.int64, "d": types.float64, "b": types.boolean}
    signature = tuple(letters[letter] for letter in takes)
    dispatcher: Any = function
    dispatcher.compile(signature)
    found = dispatcher.overloads[signature]
    library = found.library
    return found.fndesc.llvm_func_name, library._codegen._tm.emit_object(library._final_module), _needed(library)


def made(dispatcher: Any) -> Object | None:
    """The object file of a function that Numba has compiled for one signature, with its wrappers; None if it was in its cache."""
    (found,) = dispatcher.overloads.values()
    try:
        content = found.library._get_compiled_object()
    except (RuntimeError, ValueError):
        return None
    return found.fndesc.llvm_func_name, content, _needed(found.library)


def _needed(library: Any) -> tuple[str, ...]:
    """What a library calls and does not have."""
    return tuple(f.name for f in library._final_module.functions if f.is_declaration and not f.name.startswith("llvm."))
