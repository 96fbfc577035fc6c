"""
Numba's runtime, which counts references to the memory of arrays, without the rest of Numba, whose import takes a third of a second.

    module()       the extension module that has it
    functions()    where its functions are, by the names under which compiled code calls them

It needs nothing of Numba. Where Numba is imported later, it finds the same module, so all memory has one owner.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from functools import cache
from typing import Any

NAME = "numba.core.runtime._nrt_python"


@cache
def module() -> Any:
    """The module, with the allocator that Numba gives it when it is imported. Memory from one cannot go back to another."""
    if "numba" not in sys.modules and (found := _alone()) is not None:
        found.memsys_use_cpython_allocator()
        return found
    return importlib.import_module(NAME)


def _alone() -> Any:
    """The module, loaded from where it lies; None where it is not there."""
    package = importlib.util.find_spec("numba")
    places = package.submodule_search_locations if package is not None else None
    folders = [os.path.join(place, "core", "runtime") for place in places or ()]
    spec = importlib.machinery.PathFinder.find_spec(NAME, folders)
    if spec is None or spec.loader is None:
        return None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@cache
def functions() -> dict[str, int]:
    """Where the functions are."""
    return {name if name.startswith("_") else f"NRT_{name}": address for name, address in module().c_helpers.items()}
