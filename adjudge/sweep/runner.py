"""
A sweep: every function of a library judged, in parallel, each as it is done into the store; what is stored is not judged again.

joblib runs the tasks, on local processes or on a cluster; each of its processes has a worker of its own (`bench`), so that a
function that hangs or crashes is recorded and the sweep goes on. One process, this one, writes the store.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from adjudge.sweep import bench
from adjudge.sweep.catalogue import Library, discovered, library
from adjudge.sweep.store import Record, Store
from adjudge.sweep.worker import STOPPED, Task
from semantics.errors import Malformed

BACKENDS: Mapping[str, tuple[str, str]] = {"dask": ("distributed", "dask[distributed]"), "ray": ("ray", "ray")}
"""What a cluster needs: the module, and what to install."""
IN_LISTS = ("ray",)
"""Backends that hand back a whole list of answers and no single ones: they are given few tasks at a time."""
LIST = 4
JUDGE = ("checkers", "adjudge/adapters", "adjudge/sweep/calls.py", "adjudge/sweep/worker.py")
"""The sources on which a verdict depends, beside the library and how its function is called."""


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What a sweep judges and how.

    only      functions by their dotted names, or ends of them; all if empty
    examples  inputs to try per call        seconds, memory  what one function may take        keep  verdicts of earlier judges too
    """

    library: str
    only: tuple[str, ...] = ()
    seed: int = 0
    examples: int = 40
    seconds: float = 60.0
    memory: int = 8 * 2**30
    jobs: int = 1
    backend: str = ""
    skip: tuple[str, ...] = ()
    keep: bool = False

    def __post_init__(self) -> None:
        for name, least in (("examples", 1), ("seconds", 0.1), ("memory", 2**28)):
            if getattr(self, name) < least:
                raise Malformed(f"{name} is {getattr(self, name):g}", rule="sweep", remedy=f"at least {least:g}")
        if self.jobs == 0:
            raise Malformed("a sweep of 0 processes does nothing", rule="sweep", remedy="-1 for one on each core")

    def task(self, function: str) -> Task:
        return Task(self.library, function, self.seed, self.examples, self.seconds, self.memory, self.skip)


@dataclass(frozen=True, slots=True)
class Made:
    """By what a verdict was made: the versions, the sources of the judge, how the function is called."""

    version: str
    adjudge: str
    judge: str
    calls: tuple[str, ...]


def key(plan: Plan, function: str, version: str) -> str:
    """Under which key the store has the verdict on a function."""
    ours = importlib.metadata.version("adjudge")
    skipped = f" without {', '.join(sorted(plan.skip))}" if plan.skip else ""
    profile = f"{plan.examples} examples, seed {plan.seed}{skipped}"
    return f"sweep | {plan.library} {version} | {function} | {profile} | adjudge {ours}"


@cache
def sources() -> str:
    """A digest of the sources of the judge: another digest is another judge."""
    root = Path(__file__).resolve().parent.parent.parent
    found = hashlib.sha256()
    for place in JUDGE:
        path = root / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


def made(lib: Library, function: str) -> Made:
    """By what a verdict on a function would be made now."""
    texts = tuple(call.text for call in lib.calls(function))
    return Made(lib.version, importlib.metadata.version("adjudge"), sources(), texts)


def chosen(lib: Library, only: Sequence[str]) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The functions to try, and what is left out with its reason. Malformed if nothing bears a name of `only`."""
    found = discovered(lib)

    def named(function: str) -> bool:
        return not only or any(function == name or function.endswith(f".{name}") for name in only)

    for name in only:
        if not any(f == name or f.endswith(f".{name}") for f in (*found.functions, *found.left_out)):
            raise Malformed(f"{lib.name} exports no {name}", rule="sweep", remedy=f"a name in {', '.join(lib.modules)}")
    return tuple(filter(named, found.functions)), {k: v for k, v in found.left_out.items() if named(k)}


def sweep(plan: Plan, store: Store) -> Iterator[tuple[int, int, Record]]:
    """
    Judges what the plan asks for; after each function (how many are done, of how many, its record).

    First come the names that are left out without trying, and the records that the store has already; each new one is in the store
    before it is yielded.
    """
    lib = library(plan.library)
    version = lib.version
    functions, left_out = chosen(lib, plan.only)
    whole, done = len(functions) + len(left_out), 0
    for function, reason in left_out.items():
        record = {"library": plan.library, "function": function, "calls": [], "left out": reason, "stopped": "", "seconds": 0.0}
        record |= {"seed": plan.seed, "examples": plan.examples, **_plain(made(lib, function))}
        store.put(key(plan, function, version), record)
        done += 1
        yield done, whole, record
    todo = []
    for function in functions:
        stored = store.get(key(plan, function, version))
        if stored is not None and _is_kept(stored, made(lib, function), plan):
            done += 1
            yield done, whole, stored
        else:
            todo.append(function)
    for answer in _answers([plan.task(f) for f in todo], plan):
        record = {"library": plan.library, "seed": plan.seed, "examples": plan.examples, "budget": plan.seconds, **answer}
        record |= _plain(made(lib, answer["function"]))
        store.put(key(plan, answer["function"], version), record)
        done += 1
        yield done, whole, record


def _plain(value: Made) -> dict[str, Any]:
    return {("asked" if k == "calls" else k): list(v) if isinstance(v, tuple) else v for k, v in asdict(value).items()}


def _is_kept(record: Record, now: Made, plan: Plan) -> bool:
    """Whether a stored verdict is by the judge that we have, of the calls that we make, and neither a mishap nor a want of time."""
    if record["stopped"].startswith(STOPPED):
        return False
    enough = not record["stopped"] or record["budget"] >= plan.seconds
    return enough and (plan.keep or all(record.get(name) == value for name, value in _plain(now).items()))


def _answers(tasks: Sequence[Task], plan: Plan) -> Iterator[Record]:
    """The records of the tasks, as they are done."""
    from joblib import Parallel, delayed

    whole = plan.backend in IN_LISTS
    size = LIST * abs(plan.jobs) if whole else max(len(tasks), 1)
    with _backend(plan.backend):
        parallel = Parallel(n_jobs=plan.jobs, batch_size=1, return_as="list" if whole else "generator_unordered")
        try:
            for start in range(0, len(tasks), size):
                yield from parallel(delayed(bench.judge)(task) for task in tasks[start : start + size])
        finally:
            bench.close()


def _backend(name: str) -> AbstractContextManager[Any]:
    """joblib on the backend of a name. Malformed if there is none, or its package is not installed."""
    from joblib import parallel_config

    if not name:
        return nullcontext()
    if name not in BACKENDS:
        raise Malformed(
            f"there is no backend {name}", rule="sweep", remedy=f"one of {', '.join(BACKENDS)}, or none for processes here"
        )
    module, install = BACKENDS[name]
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise Malformed(f"the backend {name} needs {module}, which is not installed", remedy=f"pip install '{install}'") from error
    if name == "ray":
        importlib.import_module("ray.util.joblib").register_ray()
    return parallel_config(backend=name)
