"""
Object files that Numba makes of generated code: what `native` keeps.

A function here is called from Python by address alone, so Numba's wrappers, which make Python's objects, are left out; what the
functions of a module call of each other is compiled into each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from backend import toolchain
from backend.ways_in.c_objects import DTYPES
from backend.ways_in.text import passed_types
from semantics.errors import Crash
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

POINTER = re.compile(r"\w+\*+")

Object = tuple[str, bytes, tuple[str, ...]]
"""The symbol of a function, its object file, and the functions that it calls and does not have."""


def bindings(source: str) -> dict[str, Any]:
    """Those of the CPU, without wrappers."""
    from numba import njit

    from backend.cpu.compiler import Usual

    return toolchain.bindings("cpu", source) | {"_device": njit(**toolchain.BARE, pipeline_class=Usual)}


def compiled(function: Callable[..., Any], takes: str) -> Object:
    """The object file of a function of `bindings`; `takes` has a letter for each argument: integer, real (d), boolean."""
    from numba import types

    letters = {"i": types.int64, "d": types.float64, "b": types.boolean}
    signature = tuple(letters[letter] for letter in takes)
    dispatcher: Any = function
    if signature not in dispatcher.overloads:
        dispatcher.compile(signature)
    found = dispatcher.overloads[signature]
    library = found.library
    return found.fndesc.llvm_func_name, library._codegen._tm.emit_object(library._final_module), _needed(library)


def address(dispatcher: Any, takes: Sequence[Any], gives: Sequence[Any], addressed: bool) -> int:
    """
    Where the machine code of an entry is (`backend.ways_in.entry`), for arguments of these types; compiled if need be. Crash if
    Numba passes them otherwise than `backend.ways_in.text`.
    """
    from numba import types

    signature = tuple(map(numba_type, takes)) + (types.int64,) * addressed
    if signature not in dispatcher.overloads:
        dispatcher.compile(signature)
    found = dispatcher.overloads[signature]
    given = found.signature.return_type
    taken = found.target_context.call_conv.get_function_type(given, signature).args[2:]  # after result and exception
    leaves = [*map(_leaf, map(numba_type, gives)), types.int64]
    if [POINTER.sub("ptr", str(t)) for t in taken] != passed_types(takes, addressed) or [*map(_leaf, _parts(given))] != leaves:
        raise Crash(f"compiled code takes {taken} and gives {given}", rule="backend", remedy="report it, with the version of Numba")
    place: int = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    return place


def numba_type(type: Any) -> Any:
    """What Numba calls a type; an array is orderly."""
    from numba import from_dtype, types
    from numpy import dtype

    if isinstance(type, ArrayType):
        return types.Array(from_dtype(dtype(DTYPES[type.dtype])), len(type.dims), "C")
    return {REAL: types.float64, INTEGER: types.int64, BOOLEAN: types.boolean}[type]


def language_type(type: Any) -> Any:
    """What Numba's type of a number or of an orderly array is called here."""
    from numba import types

    if isinstance(type, types.Array):
        (dtype,) = (of for of, name in DTYPES.items() if name == str(type.dtype))
        return ArrayType(dtype, (None,) * type.ndim)
    return {types.float64: REAL, types.int64: INTEGER, types.boolean: BOOLEAN}[type]


def _parts(type: Any) -> Any:
    """The types of a result, or its type, if it is no tuple."""
    from numba import types

    return type if isinstance(type, types.BaseTuple) else (type,)


def _leaf(type: Any) -> Any:
    """The type of a result, in whatever order its elements are, and whether or not Numba knows which number it is."""
    from numba import types

    return (type.dtype, type.ndim) if isinstance(type, types.Array) else types.unliteral(type)


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
