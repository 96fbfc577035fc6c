"""
Numba's cache of compiled functions, whose files end in a sum of what is in them, as all that is kept does.

Numba unpickles what it finds and gives the rest to LLVM, which ends the process where that is no bitcode. A file that is not as it
was written is none here: the function is compiled again, and the file written anew.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import IndexDataCacheFile
from numba.core.serialize import dumps

from backend import store


class SummedFile(IndexDataCacheFile):
    """The index of the signatures of a function, and a file for each of them."""

    def _load_index(self) -> dict[Any, str]:
        try:
            file = io.BytesIO(store.kept(Path(self._index_path)))
        except OSError:
            return {}
        if pickle.load(file) != self._version:
            return {}
        stamp, overloads = pickle.load(file)
        return overloads if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        store.keep(Path(self._index_path), pickle.dumps(self._version) + dumps((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        """OSError if it is damaged: then `load` finds none."""
        return pickle.loads(store.kept(Path(self._data_path(name))))

    def _save_data(self, name: str, data: Any) -> None:
        store.keep(Path(self._data_path(name)), dumps(data))


def kept(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """What `njit` with these options makes of a function, and keeps."""

    def decorate(function: Callable[..., Any]) -> Any:
        made = njit(**options, cache=True)(function)
        made._cache._cache_file.__class__ = SummedFile
        return made

    return decorate
