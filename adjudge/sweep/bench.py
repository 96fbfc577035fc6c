"""
A worker and the one who waits for it: a process that judges one function after another, and is replaced when it dies.

A function that hangs, or takes its process down, costs itself: what was judged before is kept, and the reason is recorded.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from adjudge.sweep.worker import Task
from checkers.verdict import Report

ERRORS = "what the worker said on standard error"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""One thread for each worker, where the user does not say otherwise: there is a worker for each core."""
LIFE = 40
"""So many functions a worker judges before it is replaced: what libraries keep of compiled code is given back."""


class Bench:
    """A worker process, started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._judged = 0

    def judge(self, task: Task) -> dict[str, Any]:
        """What the worker said of each call, why the function is left out, if it is, and why there is not more."""
        begin = time.perf_counter()
        process = self._running()
        calls: list[dict[str, Any]] = []
        record: dict[str, Any] = {"function": task.function, "calls": calls, "left out": "", "stopped": ""}
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(task.as_json() + "\n")
            process.stdin.flush()
        for line in process.stdout:
            answer = json.loads(line)
            if "done" in answer:
                record["stopped"] = answer["done"]
                break
            if "left out" in answer:
                record["left out"] = answer["left out"]
            else:
                calls.append(answer)
        else:
            record["stopped"] = self._how_it_ended(process, task)
            self.close()
        self._judged += 1
        return record | {"calls": merged(calls), "seconds": time.perf_counter() - begin}

    def _running(self) -> subprocess.Popen[str]:
        """The worker; a new one where there is none, or where it has judged enough."""
        if self._judged >= LIFE:
            self.close()
        if self._process is None:
            self._judged = 0
            self._folder = tempfile.TemporaryDirectory()  # where a library function that writes a file writes it
            path = os.pathsep.join(map(os.path.abspath, sys.path))
            with (Path(self._folder.name) / ERRORS).open("w") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "-X", "faulthandler", "-m", "adjudge.sweep.worker"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    cwd=self._folder.name,
                    env={**dict.fromkeys(THREADS, "1"), **os.environ, "PYTHONPATH": path},
                )
        return self._process

    def _how_it_ended(self, process: subprocess.Popen[str], task: Task) -> str:
        """Why a worker is gone, with the last that it said."""
        code = process.wait()
        if code in [-getattr(signal, name) for name in ("SIGALRM", "SIGPROF") if hasattr(signal, name)]:
            return f"not done in {task.seconds:g} seconds"
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        assert self._folder is not None
        said = [
            line.strip() for line in (Path(self._folder.name) / ERRORS).read_text(errors="replace").splitlines() if line.strip()
        ]
        fatal = [line for line in said if line.startswith(("Fatal", "terminate called", "MemoryError"))] or said[-1:]
        return f"the process died: {how}" + (f": {fatal[-1]}" if fatal else "")

    def close(self) -> None:
        """Ends the worker."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def merged(answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers, those on the checks of one call as one report."""
    found: list[dict[str, Any]] = []
    for _, group in groupby(answers, key=lambda answer: answer["call"]):
        of_call = list(group)
        if len(of_call) > 1:
            parts = [Report.from_json(json.dumps(answer["report"])) for answer in of_call]
            verdicts = tuple(v for part in parts for v in part.verdicts)
            ledger = tuple(dict.fromkeys(entry for part in parts for entry in part.ledger if entry.check != "plots"))
            whole = Report(parts[0].subject, verdicts, ledger, parts[0].seed, parts[0].details)
            seconds = sum(answer["seconds"] for answer in of_call)
            of_call = [{"call": of_call[0]["call"], "report": json.loads(whole.to_json()), "seconds": seconds}]
        found += of_call
    return found


_BENCH = Bench()
atexit.register(_BENCH.close)


def judge(task: Task) -> dict[str, Any]:
    """The record of one function, by the worker of this process."""
    return _BENCH.judge(task)


def close() -> None:
    """Ends the worker of this process."""
    _BENCH.close()
