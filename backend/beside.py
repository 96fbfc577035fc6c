"""
Work that another process does, so that no caller waits for it; what comes of it is kept (`backend.store`).

    begin(name, task, …)   has a task, "module:function" of texts, done by a process of its own
    is_going_on(name)      whether such a process is at it
    wait(name, seconds)    waits until none is, or so much time is over, and says whether none is

There is one process for each name, and no other for an hour, whatever came of it; and half as many as there are processors. It
gives way to others, outlives who began it, says nothing, and leaves what it has kept. With ADJUDGE_WAIT in the environment, where
there are no locks, as on Windows, and where what is kept is lost with this process, none is begun: who needs the work does it.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from backend import store

if TYPE_CHECKING:
    import subprocess

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

AGAIN = 3600.0
"""Seconds after which work that has come to nothing is begun again."""
PRIORITY = 10
"""How nice the process is to others: 0 is the usual, 19 the most."""
LOOK = 0.01
"""Seconds between two looks at what goes on."""

_OURS: list[str] = []
"""What this process was begun for."""
_BEGUN: list[subprocess.Popen[bytes]] = []


def begin(name: str, task: str, *arguments: str) -> bool:
    """Whether a process has been begun."""
    if fcntl is None or os.environ.get("ADJUDGE_WAIT") or not store.lasts() or _was_lately(name) or _are_many():
        return False
    import subprocess  # which no first call waits for

    path = os.pathsep.join(filter(None, map(str, (store.ROOT, *sys.path))))
    code = "import sys; from backend import beside; beside.work(*sys.argv[1:])"
    with suppress(OSError), _file(name).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # which is the process's, as it has the file open
        os.utime(lock.fileno())
        begun = subprocess.Popen(
            [sys.executable, "-P", "-c", code, name, task, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path, "ADJUDGE_WAIT": "1"},
            pass_fds=(lock.fileno(),),
            start_new_session=True,
        )
        _BEGUN.append(begun)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, begun.pid, PRIORITY)
        return True
    return False


def work(name: str, task: str, *arguments: str) -> None:
    """What the process does."""
    _OURS.append(name)
    module, _, function = task.partition(":")
    getattr(import_module(module), function)(*arguments)


def is_going_on(name: str) -> bool:
    """Whether another process is at it."""
    if fcntl is None or name in _OURS:
        return False
    with suppress(FileNotFoundError), _file(name).open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait(name: str, seconds: float = float("inf")) -> bool:
    """Whether no other process is at it any more, when it ends or when so much time is over."""
    end = time.monotonic() + seconds
    while going_on := is_going_on(name):
        if time.monotonic() >= end:
            break
        time.sleep(LOOK)
    return not going_on


def _was_lately(name: str) -> bool:
    """Whether it has been begun not long ago."""
    try:
        return time.time() - _file(name).stat().st_mtime < AGAIN
    except OSError:
        return False


def _are_many() -> bool:
    """Whether this process has begun as many as are to be at work together."""
    _BEGUN[:] = [begun for begun in _BEGUN if begun.poll() is None]
    return len(_BEGUN) >= max(1, (os.cpu_count() or 1) // 2)


def _file(name: str) -> Path:
    return store.folder() / f"b_{store.digest(name)}.lock"
