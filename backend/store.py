"""
Where generated code lives: one importable file per source, named by its hash, so that Numba's cache finds it again.

The folder is $XDG_CACHE_HOME/adjudge, or ~/.cache/adjudge, or a temporary one where neither can be written. Files are written
beside their place and renamed, so a reader never sees half of one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from backend import toolchain

VERSION = 3  # of the bindings, which the source does not show


@cache
def folder() -> Path:
    """The cache folder, made if need be."""
    base = os.environ.get("XDG_CACHE_HOME")
    path = (Path(base) if base else Path.home() / ".cache") / "adjudge"
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return Path(tempfile.mkdtemp(prefix="adjudge-"))


def load(source: str, target: str, bindings: Mapping[str, Any]) -> ModuleType:
    """The module of `source`, its free names bound first."""
    key = hashlib.sha256(f"{VERSION}\n{target}\n{toolchain.versions()}\n{source}".encode()).hexdigest()[:32]
    path = folder() / f"k_{key}.py"
    if not path.exists():
        handle, name = tempfile.mkstemp(dir=folder(), suffix=".py.tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        os.replace(name, path)
    spec = importlib.util.spec_from_file_location(f"adjudge_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(bindings)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
