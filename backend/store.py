"""
Where generated code lives: one importable file per source, named by its hash, so that Numba's cache finds it again; and what was
lowered from which program, named by a hash of the program and of the code that lowers, so that a second process need not lower.

The folder is $XDG_CACHE_HOME/adjudge, or ~/.cache/adjudge, or a temporary one where neither can be written. Files are written
beside their place and renamed, so a reader never sees half of one; and they end in a sum of what is in them, so one that a full
disk or a lost write has left otherwise is made again. LLVM ends the process where an object file is none.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
import tempfile
from binascii import crc32
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from backend import toolchain

T = TypeVar("T")
ROOT = Path(__file__).resolve().parent.parent
CODE = ("semantics", "transforms", "backend")
NAME = "adjudge"
SUM = 4
"""Bytes."""
COMPILER = ("toolchain.py", "cpu", "exact", "fast", "cuda", "batches/lanes.py", "batches/lane_memory.py")
"""In `backend`, what a source that is compiled is bound to, and how it is compiled: that it does not show."""


@cache
def folder() -> Path:
    """The cache folder, made if need be."""
    base = os.environ.get("XDG_CACHE_HOME")
    path = (Path(base) if base else Path.home() / ".cache") / NAME
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return Path(tempfile.mkdtemp(prefix="adjudge-"))


def lasts() -> bool:
    """Whether what is kept outlives this process."""
    return folder().name == NAME


def remembered(key: str, make: Callable[[], T]) -> T:
    """What `make` gave when it was last called for this key by the same code, in some process; else what it gives now."""
    path = _place(key)
    try:
        found: T = pickle.loads(kept(path))
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError):
        found = make()
        keep(path, pickle.dumps(found))
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
    return folder() / f"l_{digest(f'{sources()}{key}')}.pickle"


@cache
def sources() -> str:
    """What runs the sources of everything that has a say in lowering, and these by name, size and time of change."""
    stated = (line for package in CODE for line in sorted(_stated(str(ROOT / package))))
    return digest("\n".join((str(sys.implementation.cache_tag), *stated)))


@cache
def compiler() -> str:
    """The sources of COMPILER, by what is in them: they are read anew only where some source has changed."""
    return remembered("the compiler", lambda: contents(ROOT / "backend"))


def contents(backend: Path) -> str:
    """A digest of the sources of COMPILER in a folder of the backend, by name: wherever it is, and whenever they were written."""
    found = {str(file.relative_to(backend)): file for name in COMPILER for file in _sources(backend / name)}
    return digest("\n".join(f"{name} {digest(file.read_text(encoding='utf-8'))}" for name, file in sorted(found.items())))


def _sources(place: Path) -> Iterator[Path]:
    """A source, or those in a folder and in those inside it."""
    return iter((place,)) if place.suffix else place.rglob("*.py")


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


class Damaged(OSError):
    """A file is not as it was written."""


def keep(path: Path, content: bytes) -> None:
    """Has `kept` find it. A disk that is full keeps nothing, which is no reason to end."""
    with suppress(OSError):
        write(path, content + crc32(content).to_bytes(SUM, "big"))


def kept(path: Path) -> bytes:
    """What was kept there; an OSError if there is nothing, or something else."""
    content = path.read_bytes()
    if len(content) < SUM or crc32(content[:-SUM]).to_bytes(SUM, "big") != content[-SUM:]:
        raise Damaged(f"{path} is not what was written there")
    return content[:-SUM]


def write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def load(source: str, target: str, bindings: Mapping[str, Any]) -> ModuleType:
    """The module of `source`, its free names bound first."""
    bound = toolchain.elementary(source) if target.startswith("cpu") or target == "native" else ""
    made_by = f"{toolchain.versions()}\n{compiler()}" if target != "python" else ""  # which compiles nothing
    key = digest(f"{target}\n{made_by}\n{bound}\n{source}")
    path = _written(folder() / f"k_{key}.py", source.encode())
    spec = importlib.util.spec_from_file_location(f"adjudge_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(bindings)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _written(path: Path, content: bytes) -> Path:
    """Where the file is: there, or in a temporary folder where there is no room."""
    if not path.exists() or path.read_bytes() != content:
        try:
            write(path, content)
        except OSError:
            path = Path(tempfile.mkdtemp(prefix="adjudge-")) / path.name
            write(path, content)
    return path
