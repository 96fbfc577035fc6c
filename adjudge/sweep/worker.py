"""
One function of a library on trial, in a process of its own: `python -m adjudge.sweep.worker`.

It reads tasks from standard input and answers on what was its standard output, a line of JSON each; whatever the library prints
goes to standard error. Each check of each call is answered when it is made, so that a function that hangs later loses only the
rest. A task that is not done in its seconds ends the process by a signal, wherever it is stuck: SIGPROF after so many seconds of
the processor, SIGALRM after PATIENCE times as many of the clock.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import numpy as np

from adjudge.sweep.calls import Call
from adjudge.sweep.catalogue import GUESSES, Library, library, resolve
from checkers.verdict import Report
from semantics.errors import AdjudgeError, IllTyped, Malformed

NO_DERIVATIVE = (
    "not implemented",
    "NotImplementedError",
    "does not require grad",
    "is not differentiable",
    "not differentiable",
    "non-differentiable",
)
"""What frameworks say of a function that they have no derivative for; any other complaint is for the judge."""


@dataclass(frozen=True, slots=True)
class Task:
    """One function to judge: how, and within what. `memory` in bytes is what the process may have of address space."""

    library: str
    function: str
    seed: int
    examples: int
    seconds: float
    memory: int
    skip: tuple[str, ...] = ()

    def as_json(self) -> str:
        return json.dumps(asdict(self))


STOPPED = "the judge stopped: "
PATIENCE = 4
RANDOM = "random: two calls differ"
NO_FLOATS = "its results are no floats, or not finite"
NO_ARGUMENTS = "takes none of the arguments that we guess"
UNDIFFERENTIATED = "no derivative"
TELLING = (UNDIFFERENTIATED, RANDOM, NO_FLOATS, "")
"""Of the objections to several guesses the first of these says most."""


def judged(task: Task, lib: Library) -> Iterator[dict[str, Any]]:
    """An answer for each call of the function: the report, or why it was refused. Of guesses the first that can be judged."""
    names, function = lib.namespace(), resolve(task.function)
    listed = lib.calls(task.function)
    refused: list[str] = []
    for call in listed or GUESSES:
        if not listed and "[" in call.text and any(why.startswith(UNDIFFERENTIATED) for why in refused):
            continue  # a list of arrays would only hide from the framework what it refused
        begin = time.perf_counter()
        trial = _trial(lib, call, call.bound(function, names), task)
        why = trial if isinstance(trial, str) else objection(trial)
        if not why:
            for report in _reports(lib, trial, task):
                yield {"call": call.text, "report": json.loads(report.to_json()), "seconds": time.perf_counter() - begin}
                begin = time.perf_counter()
            if not listed:
                return
        elif listed:
            yield {"call": call.text, "refused": why}
        else:
            refused.append(why)
    if not listed:
        yield {"left out": told(refused)}


def told(refused: Sequence[str]) -> str:
    """The reason that says most of those why guesses were refused."""
    found = min(refused, key=lambda why: next(i for i, start in enumerate(TELLING) if why.startswith(start)))
    return found if found.startswith(TELLING[:-1]) else f"{NO_ARGUMENTS}: {GUESSES[0].text}: {found}"


VALUE, RAISES = ("its value at the first is", "returns no reals"), "at the first it raises "
"""How the adapters say that a function gives other things than floats, or nothing."""


def _trial(lib: Library, call: Call, function: Callable[..., Any], task: Task) -> Any:
    """The trial of one call, or why there is none."""
    samples = call.samples(task.seed)
    options: dict[str, Any] = {"seed": task.seed, "examples": task.examples, "name": f"{task.function} as {call.text}"}
    options["domain"] = call.domain
    try:
        if lib.trial is not None:
            return lib.trial(function, samples, **options)
        from adjudge.adapters.black_boxes import trial_of

        return trial_of(function, samples, framework=lib.name, **options)
    except (Malformed, IllTyped) as error:
        return NO_FLOATS if any(mark in error.what for mark in VALUE) else error.what.partition(RAISES)[2] or error.what


def _reports(lib: Library, trial: Any, task: Task) -> Iterator[Report]:
    """A report for each check, or one of all where the library has a judge of its own."""
    if lib.judge is not None:
        yield lib.judge(trial, task.seed, task.skip)
        return
    from checkers.array_audit import CHECKS, NAMES, details
    from checkers.judgment import judged as judge
    from checkers.judgment import known

    skip = known(task.skip, NAMES)
    for check in CHECKS:
        left_out = tuple(name for name in skip if name == check[0])
        yield judge(lambda: trial, (check,), seed=task.seed, skip=left_out, details=details, plots=lambda trial: ())


def objection(trial: Any) -> str:
    """Why a trial cannot be judged, or nothing: no value, no floats in it, another value each time, no derivative."""
    case = next(iter(trial.cases), None)
    if case is None or not case.outputs:
        return NO_FLOATS
    again = trial.value(case.arguments)
    if again is None or not np.array_equal(again, trial.value(case.arguments), equal_nan=True):
        return RANDOM
    said = trial.pulled(case, np.ones(case.outputs)).raised
    return f"{UNDIFFERENTIATED}: {said}" if any(mark in said for mark in NO_DERIVATIVE) else ""


def serve(tasks: TextIO, answers: TextIO) -> None:
    """Answers tasks until there are no more."""
    libraries: dict[str, Library] = {}
    for line in tasks:
        task = Task(**json.loads(line))
        if task.library not in libraries:
            libraries[task.library] = library(task.library)
            _limit(task.memory)
        _alarm(task.seconds)
        try:
            for answer in judged(task, libraries[task.library]):
                _say(answers, answer)
            _say(answers, {"done": ""})
        except MemoryError:
            _say(answers, {"done": f"more than {task.memory / 2**30:.3g} GiB wanted"})
        except AdjudgeError as error:
            _say(answers, {"done": f"{type(error).__name__}: {error.what}"})
        except Exception as error:  # a foreign function may raise anything, also from within the judge
            _say(answers, {"done": f"{STOPPED}{type(error).__name__}: {error}"})
        finally:
            _alarm(0.0)


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _alarm(seconds: float) -> None:
    """The process ends in so many seconds, even inside foreign code; never, for 0. Where there are no alarms nothing is done."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)


def _limit(memory: int) -> None:
    """No more address space than so many bytes, where the system has limits."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (ImportError, ValueError, OSError):
        return


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    serve(sys.stdin, answers)


if __name__ == "__main__":
    main()
