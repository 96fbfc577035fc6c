"""
A pass as the judge sees it: a function from programs to programs, with the steps of its runs.

A system of rules and a sequence of systems record their own; several passes in a row record those of each; a function is one step.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from semantics.derivation import Step
from semantics.errors import AdjudgeError, Crash, Malformed, OutOfFuel
from semantics.ir import Program
from transforms.pipeline import PASSES
from transforms.places import places
from transforms.system import Rewrite, RewriteSystem

FUEL = 5_000
OURS = tuple(Path(__file__).resolve().parents[2] / name for name in ("semantics", "transforms", "checkers", "adjudge"))
Redo = Callable[[Program], Iterator[Program]]


@dataclass(frozen=True)
class Broken:
    """The pass gave no program."""

    why: str
    refused: bool = False
    endless: bool = False


@dataclass
class Pass:
    """
    apply   runs it                                    system  is there if it is made of rules alone; `fired` counts them
    record  gives the steps of a run                   redo    what the rule of a step makes of a program, wherever it applies
    """

    name: str
    apply: Callable[[Program], Any]
    domain: str
    record: Callable[[Program], Sequence[Step[Program]]]
    redo: dict[str, Redo]
    system: RewriteSystem | None = None
    fired: Counter[str] = field(default_factory=Counter)
    rules: tuple[Rewrite, ...] = ()

    def __call__(self, program: Program) -> Program | Broken:
        """The program that the pass makes, or why there is none. A refusal by one of our errors is no crash."""
        try:
            found = self.apply(program)
        except OutOfFuel as error:
            return Broken(f"it does not end: {error.what}", endless=True)
        except Crash as error:
            return Broken(f"Crash: {error.what}")
        except AdjudgeError as error:
            return Broken(f"{type(error).__name__}: {error.what}", refused=True)
        except RecursionError:
            return Broken("it recurses on the program, past Python's limit")
        except Exception as error:  # a pass is foreign code, and may raise anything
            return Broken(f"it raised {type(error).__name__}: {error}{place_of(error)}")
        found = getattr(found, "result", found)
        return found if isinstance(found, Program) else Broken(f"it returned {type(found).__name__}, not a Program")

    def steps(self, program: Program) -> tuple[Step[Program], ...]:
        """The steps of a run; none where the pass gives no program."""
        try:
            return tuple(self.record(program))
        except Exception:  # what the pass raises is judged where it is run
            return ()


def place_of(error: Exception) -> str:
    """The last line of the author's own that an error came through, as the end of a sentence; nothing if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).is_file() and not any(Path(f.filename).is_relative_to(p) for p in OURS)]
    return f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""


def as_pass(subject: Any, domain: str | None) -> Pass:
    """The pass that a RewriteSystem, a name, an object with `run`, a function, or a sequence of such things is."""
    if isinstance(subject, (list, tuple)):
        return _in_a_row([as_pass(part, None) for part in subject], domain)
    if isinstance(subject, str):
        if subject not in PASSES:
            raise Malformed(f"no pass is called {subject!r}", rule="audit", remedy=f"one of {', '.join(PASSES)}")
        subject = PASSES[subject]
    if isinstance(subject, Rewrite):
        subject = RewriteSystem(subject.name, (subject,), domain=subject.domain)
    name = getattr(subject, "name", None) or getattr(subject, "__name__", None) or type(subject).__name__
    claimed = domain or getattr(subject, "domain", None) or "BITS"
    if isinstance(subject, RewriteSystem):
        fired: Counter[str] = Counter()
        counted = replace(subject, rules=tuple(_counted(r, fired) for r in subject.rules))
        return Pass(
            name,
            lambda p: counted.run(p, fuel=FUEL),
            claimed,
            lambda p: counted.record(p, fuel=FUEL).steps,
            {r.name: _wherever(r) for r in subject.rules},
            subject,
            fired,
            subject.rules,
        )
    run = subject.run if hasattr(subject, "run") else subject
    if not callable(run):
        raise Malformed(f"{subject!r} is no pass", rule="audit", remedy="a function from Program to Program")
    if hasattr(subject, "record") and hasattr(subject, "joint"):
        rules = subject.joint.rules
        return Pass(name, run, claimed, lambda p: subject.record(p).steps, {r.name: _wherever(r) for r in rules}, rules=rules)
    whole = Pass(name, run, claimed, lambda p: (), {})
    whole.record = lambda p: tuple(_one_step(whole, p))
    whole.redo = {name: lambda p: _results(whole, p)}
    return whole


def _in_a_row(parts: Sequence[Pass], domain: str | None) -> Pass:
    """Passes one after the other; a step is named by its pass, and its rule where there is one."""
    if not parts:
        raise Malformed("a sequence of no passes", rule="audit", remedy="name one")

    def run(program: Program) -> Any:
        for part in parts:
            found = getattr(found := part.apply(program), "result", found)
            if not isinstance(found, Program):
                return found
            program = found
        return program

    def record(program: Program) -> Iterator[Step[Program]]:
        for part in parts:
            for step in part.record(program):
                yield replace(step, rule=_within(part, step.rule))
                program = step.after

    redo = {_within(part, name): again for part in parts for name, again in part.redo.items()}
    claimed = domain or min((part.domain for part in parts), key=("REAL", "IEEE", "BITS").index)
    name = ", ".join(part.name for part in parts)
    return Pass(name, run, claimed, lambda p: tuple(record(p)), redo, rules=tuple(r for part in parts for r in part.rules))


def _within(part: Pass, rule: str) -> str:
    return rule if rule == part.name else f"{part.name}/{rule}"


def _one_step(subject: Pass, program: Program) -> Iterator[Step[Program]]:
    """A run of a function: one step, at no place."""
    for after in _results(subject, program):
        yield Step(subject.name, "the whole program", program, after)


def _results(subject: Pass, program: Program) -> Iterator[Program]:
    after = subject(program)
    if isinstance(after, Program) and after is not program:
        yield after


def _wherever(rule: Rewrite) -> Redo:
    """What one step of a rule makes of a program, for every place where it applies."""

    def again(program: Program) -> Iterator[Program]:
        for place in places(program):
            after = rule.function(program, place)
            if after is not None:
                yield after

    return again


def _counted(rule: Rewrite, fired: Counter[str]) -> Rewrite:
    def function(program: Program, place: int) -> Program | None:
        after = rule.function(program, place)
        if after is not None:
            fired[rule.name] += 1
        return after

    return replace(rule, function=function)
