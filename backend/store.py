"""
Where generated code lives: one importable file per source, named by its hash, so that Numba's cache finds it again; and what was
lowered from which program, named by a hash of the program and of the code that lowers, so that a second process need not lower.

The folder is $XDG_CACHE_HOME/adjudge, or ~/.cache/adjudge, or a temporary one where neither can be written. Files are written
beside their place and renamed, so a reader never sees half of one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from backend import toolchain

T = TypeVar("T")
VERSION = 14  # of the bindings, which the source does not show
CODE = ("semantics", "transforms", "backend")


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


def remembered(key: str, make: Callable[[], T]) -> T:
    """What `make` gave when it was last called for this key by the same code, in some process; else what it gives now."""
    path = _place(key)
    try:
        found: T = pickle.loads(path.read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        found = make()
        write(path, pickle.dumps(found))
    return found


def is_remembered(key: str) -> bool:
    """Whether there is something for this key. It may yet turn out to be unreadable."""
    return _place(key).exists()


def _place(key: str) -> Path:
    return folder() / f"l_{hashlib.sha256(f'{VERSION}{_code()}{key}'.encode()).hexdigest()[:32]}.pickle"


@cache
def _code() -> str:
    """The sources of everything that has a say in lowering, by name, size and time of change."""
    root = Path(__file__).resolve().parent.parent
    files = [file for package in CODE for file in sorted((root / package).rglob("*.py"))]
    stated = [(str(file), file.stat()) for file in files]
    return "\n".join(f"{name} {s.st_size} {s.st_mtime_ns}" for name, s in stated)


def write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=folder(), suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(name, path)


def load(source: str, target: str, bindings: Mapping[str, Any]) -> ModuleType:
    """The module of `source`, its free names bound first."""
    bound = toolchain.elementary(source) if target.startswith("cpu") or target == "native" else ""
    key = hashlib.sha256(f"{VERSION}\n{target}\n{toolchain.versions()}\n{bound}\n{source}".encode()).hexdigest()[:32]
    path = folder() / f"k_{key}.py"
    if not path.exists():
        write(path, source.encode())
    spec = importlib.util.spec_from_file_location(f"adjudge_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(bindings)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
