"""
Where generated code lives: one importable file per source, named by its hash, so that Numba's cache finds it again; and what was
lowered from which program, named by a hash of the program and of the code that lowers, so that a second process need not lower.

The folder is $XDG_CACHE_HOME/adjudge, or ~/.cache/adjudge, or a temporary one where neither can be written. Files are written
beside their place and renamed, so a reader never sees half of one.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from backend import toolchain

T = TypeVar("T")
VERSION = 22  # of the bindings, which the source does not show
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


def digest(text: str) -> str:
    """A name for a text. As `random` does, SHA is taken from where it is: `hashlib` would load OpenSSL first, some milliseconds."""
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256
    return str(sha256(text.encode()).hexdigest()[:32])


def _place(key: str) -> Path:
    return folder() / f"l_{digest(f'{VERSION}{_code()}{key}')}.pickle"


@cache
def _code() -> str:
    """The sources of everything that has a say in lowering, by name, size and time of change."""
    root = Path(__file__).resolve().parent.parent
    return digest("\n".join(line for package in CODE for line in sorted(_stated(str(root / package)))))


def _stated(folder: str) -> Iterator[str]:
    """Name, size and time of change of every source in a folder and in those inside it."""
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    found = entry.stat()
                    yield f"{entry.path} {found.st_size} {found.st_mtime_ns}"
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)


def write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=folder(), suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(name, path)


def load(source: str, target: str, bindings: Mapping[str, Any]) -> ModuleType:
    """The module of `source`, its free names bound first."""
    bound = toolchain.elementary(source) if target.startswith("cpu") or target == "native" else ""
    key = digest(f"{VERSION}\n{target}\n{toolchain.versions()}\n{bound}\n{source}")
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
