"""
Numba's libraries of generated code: each function is optimized once, and made machine code of once.

Numba optimizes a function together with all that it calls, makes machine code of it, and does so again in whatever calls it: where
n functions call one another in a row, that is of order n². What compiled code alone calls is a `Part` here, LLVM's text of that
function by itself. What is called from outside is a `Whole`: it links every part that it needs, once, and that is optimized.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary


class Part(JITCodeLibrary):
    """The text of a function that compiled code alone calls, and what that calls in its turn. It has no machine code."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: the wrapper that Numba looks for is not there either."""
        self._ensure_finalized()
        return 0


class Whole(JITCodeLibrary):
    """A function that is called from outside, with all that its parts call."""

    def finalize(self) -> None:
        self._linking_libraries = needed(self)
        super().finalize()


def needed(library: Any) -> list[Any]:
    """
    What a library links, and what its parts do, each once and after all that call it: LLVM links what has been asked for.
    """
    found: dict[Any, None] = {}
    todo = [(other, False) for other in reversed(library._linking_libraries)]
    seen: set[Any] = set()
    while todo:
        other, ready = todo.pop()
        if ready:
            found[other] = None
        elif other not in seen:
            seen.add(other)
            todo.append((other, True))
            if isinstance(other, Part):
                todo += [(inner, False) for inner in reversed(other._linking_libraries)]
    return [*reversed(found)]
