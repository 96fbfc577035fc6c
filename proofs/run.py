"""
All obligations discharged: in parallel, each in a process of its own, in order, and so that stopped work goes on where it stopped.

joblib hands the obligations out by name to its processes. Such a process has built all of them and asked nothing; it forks for each
one, so that what an obligation costs does not depend on what was proved before it, nor on how many processes there are. The fork
has a memory cap, and is killed if it outlives `WALL`: such an obligation is Unknown and says so.

With a store, each judgment is kept as it is made, under a key that names the sources and the solver; what is there is not made
again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import multiprocessing
import os
import resource
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from joblib import Parallel, delayed

from checkers.report_json import from_json, to_json
from checkers.smt.ieee import LADDER, Format
from checkers.smt.inquiry import Judgment
from checkers.smt.solver import Answer, address_space
from checkers.verdict import Report, Unknown
from proofs.families import FAMILIES, by_family
from proofs.foundations import rests_on
from proofs.obligation import Obligation, discharge
from semantics.errors import Malformed

WALL = 240.0
MEMORY_MB = 6000
SOURCES = ("semantics", "transforms", "checkers", "proofs")
# Of an answer, what outlives the process that asked.
KEPT = tuple(f.name for f in fields(Answer) if f.name not in ("model", "approximate"))
Record = dict[str, Any]


class Kept(Protocol):
    """Where judgments are kept: records by key."""

    def get(self, key: str) -> Record | None: ...

    def put(self, key: str, record: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True)
class Outcome:
    """An obligation of a family with its judgment, and the names of the axioms that it rests on."""

    obligation: Obligation
    family: str
    judgment: Judgment
    axioms: tuple[str, ...]


def chosen(names: Sequence[str] = (), formats: Sequence[Format] = LADDER) -> list[tuple[str, Obligation]]:
    """The obligations by these names, subjects or families, each with its family; all if there are no names."""
    wanted = set(names)
    every = [(family, o) for family, found in by_family(tuple(formats)).items() for o in found]
    return [(family, o) for family, o in every if not wanted or wanted & {family, o.name, o.subject}]


def run(
    wanted: Sequence[tuple[str, Obligation]],
    *,
    formats: Sequence[Format] = LADDER,
    jobs: int = 1,
    store: Kept | None = None,
    wall: float = WALL,
) -> Iterator[Outcome]:
    """The outcomes, in order, each as soon as it and those before it are there."""
    if jobs == 0:
        raise Malformed("0 processes prove nothing", rule="prove", remedy="--jobs 2, or -1 for one on each core")
    kept = {o.name: r for _, o in wanted if store is not None and (r := store.get(key(o.name, formats))) is not None}
    missing = [o.name for _, o in wanted if o.name not in kept]
    made: Iterator[Record] = iter(())
    if missing:
        parallel = Parallel(n_jobs=jobs, return_as="generator", batch_size=1, pre_dispatch="2*n_jobs")
        made = parallel(delayed(in_fork)(name, tuple(formats), wall) for name in missing)
    for family, obligation in wanted:
        record = kept.get(obligation.name)
        if record is None:
            record = next(made)
            if store is not None:
                store.put(key(obligation.name, formats), record)
        judgment = from_record(record)
        yield outcome(family, obligation, judgment)


def outcome(family: str, obligation: Obligation, judgment: Judgment) -> Outcome:
    """The outcome that a judgment is, under the name of its obligation, with its axioms."""
    calculus = any(f.calculus for f in FAMILIES if f.name == family)
    return Outcome(obligation, family, replace(judgment, name=obligation.name), rests_on(obligation, judgment, calculus))


def key(name: str, formats: Sequence[Format]) -> str:
    """Under which key a store has a judgment: another text of the sources, or another solver, is another key."""
    ladder = " ".join(f.name for f in formats)
    return f"prove | {name} | {ladder} | z3 {metadata.version('z3-solver')} | {sources()}"


@cache
def sources() -> str:
    """A digest of the sources on which a judgment depends."""
    root = Path(__file__).resolve().parent.parent
    found = hashlib.sha256()
    for place in SOURCES:
        for file in sorted((root / place).rglob("*.py")):
            found.update(file.read_bytes())
    return found.hexdigest()[:12]


# judgments as records: what a process hands on and a store keeps


def to_record(judgment: Judgment) -> Record:
    """A judgment in terms of JSON. Models of satisfiable questions are left out: what they showed is in the verdict."""
    answers = [{name: asdict(a)[name] for name in KEPT} for a in judgment.answers]
    verdict = json.loads(to_json(Report(judgment.name, (judgment.verdict,))))
    return {"method": judgment.method, "seconds": judgment.seconds, "verdict": verdict, "answers": answers}


def from_record(record: Record) -> Judgment:
    """The judgment of a record."""
    report = from_json(json.dumps(record["verdict"]))
    answers = tuple(Answer(**a) for a in record["answers"])
    return Judgment(report.subject, record["method"], report.verdicts[0], record["seconds"], answers)


# one obligation in one process


def named(name: str, formats: tuple[Format, ...]) -> Obligation:
    """The obligation of a name."""
    return next(o for of_family in by_family(formats).values() for o in of_family if o.name == name)


def in_fork(name: str, formats: tuple[Format, ...], wall: float = WALL, memory_mb: int = MEMORY_MB) -> Record:
    """The record of an obligation, discharged in a fork of this process."""
    obligation = named(name, formats)
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(sender, obligation, memory_mb))
    child.start()
    sender.close()
    try:
        if not receiver.poll(wall):
            return to_record(Judgment(name, "none", Unknown(f"killed after {wall:g} s", name), wall))
        record: Record = receiver.recv()
        return record
    except EOFError:
        return to_record(Judgment(name, "none", Unknown("its process died, probably of its memory cap", name)))
    finally:
        receiver.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL) if child.is_alive() else None
        child.join()


def _child(sender: Connection, obligation: Obligation, memory_mb: int) -> None:
    """In a group of its own, so that the solvers it starts end with it."""
    os.setpgid(0, 0)
    with contextlib.suppress(ValueError, OSError):
        limit = address_space() + (memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sender.send(to_record(discharge(obligation)))
    sender.close()


def titles() -> dict[str, str]:
    """The families by name, each with what it judges."""
    return {family.name: family.title for family in FAMILIES}
