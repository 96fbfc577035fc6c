"""
Steps and derivations. One notion for the machine and for every transform: `Step(rule, place, before, after)`.

A *system* is anything with `name`, `enabled(state) -> list[Step]`, `final(state)` and `render(state)`. From it come, for all
systems alike: `derive` (record a run), `replay` (run it again and compare), `to_json`, `coverage`, `why_not`, and the printer.

Source: DESIGN, section 4; the idea of rule names as data is PLT Redex's.
"""

from __future__ import annotations

import difflib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from semantics.errors import Crash, Malformed, OutOfFuel

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Step(Generic[S]):
    """
    `rule` fired at `place` and took `before` to `after`.

    site  the place as text, or what makes the text when somebody asks: naming a node takes a walk over its program
    """

    rule: str
    site: str | Callable[[], str]
    before: S
    after: S

    @property
    def place(self) -> str:
        """Where the rule fired."""
        return self.site if isinstance(self.site, str) else self.site()


class Rule(Protocol):
    """What every rule of every system has: a name and a law. Rules are made by `rule` below or by `transforms.system`."""

    @property
    def name(self) -> str: ...

    @property
    def law(self) -> str: ...


class Steppable(Protocol[S]):
    """Anything that moves by small steps."""

    @property
    def name(self) -> str: ...

    @property
    def rules(self) -> Sequence[Rule]: ...

    def enabled(self, state: S) -> list[Step[S]]: ...

    def final(self, state: S) -> bool: ...

    def render(self, state: S) -> str: ...


def law_of(function: Callable[..., Any]) -> str:
    """The law in a rule's docstring. A rule without one is refused when it is defined."""
    law = (function.__doc__ or "").strip("\n").rstrip()
    if not law.strip():
        raise Malformed(f"rule {function.__name__} states no law", remedy="put it in the docstring")
    indent = min(len(line) - len(line.lstrip()) for line in law.splitlines() if line.strip())
    return "\n".join(line[indent:] for line in law.splitlines())


Strategy = Callable[[list[Step[Any]]], Step[Any]]


def first(steps: list[Step[Any]]) -> Step[Any]:
    """The strategy that takes the first enabled step."""
    return steps[0]


def seeded(seed: int) -> Strategy:
    """The strategy that takes an enabled step at random, the same way for the same seed."""
    source = random.Random(seed)
    return source.choice


@dataclass(frozen=True, slots=True)
class Derivation(Generic[S]):
    """A run: where it began, and every step. `result` is where it ended."""

    system: str
    start: S
    steps: tuple[Step[S], ...]
    render: Callable[[S], str]

    @property
    def result(self) -> S:
        return self.steps[-1].after if self.steps else self.start

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The run as text: the start, then for each step its rule, its place, and what it changed."""
        yield f"{self.system}: {len(self.steps)} steps"
        yield from (f"    {line}" for line in self.render(self.start).splitlines())
        for number, step in enumerate(self.steps, 1):
            yield f"{number:>4}  {step.rule}  at {step.place}"
            yield from (f"      {line}" for line in changes(self.render(step.before), self.render(step.after)))

    def coverage(self) -> Counter[str]:
        """How often each rule fired."""
        return Counter(step.rule for step in self.steps)

    def to_json(self) -> str:
        """The run as JSON: rule, place and rendered state of every step. `replay` checks a run against it."""
        return json.dumps(
            {
                "system": self.system,
                "start": self.render(self.start),
                "steps": [{"rule": s.rule, "place": s.place, "after": self.render(s.after)} for s in self.steps],
            },
            indent=1,
        )


def changes(before: str, after: str) -> list[str]:
    """The lines that differ, marked - and +."""
    diff = difflib.ndiff(before.splitlines(), after.splitlines())
    return [line for line in diff if line[0] in "-+"]


def derive(system: Steppable[S], start: S, *, strategy: Strategy = first, fuel: int = 100_000) -> Derivation[S]:
    """A recorded run to the end. OutOfFuel after `fuel` steps; Crash if a state is neither final nor can step."""
    steps: list[Step[S]] = []
    state = start
    while choices := system.enabled(state):
        if len(steps) >= fuel:
            raise OutOfFuel(
                f"{system.name} did not end within {fuel} steps", rule=choices[0].rule, node=choices[0].place, remedy="raise fuel"
            )
        step = strategy(choices)
        steps.append(step)
        state = step.after
    if not system.final(state):
        raise Crash(f"{system.name} is stuck after {len(steps)} steps", node=system.render(state).splitlines()[-1])
    return Derivation(system.name, start, tuple(steps), system.render)


def replay(system: Steppable[S], start: S, record: str) -> Derivation[S]:
    """
    Runs `system` from `start` along a run saved by `to_json`, and returns the new derivation.

    Malformed if the record is not one, or if at some step the recorded rule is not enabled at the recorded place, or leads to
    another state than recorded.
    """
    try:
        saved = json.loads(record)
        recorded = [(s["rule"], s["place"], s["after"]) for s in saved["steps"]]
        begin = saved["start"]
    except (ValueError, KeyError, TypeError) as error:
        raise Malformed(f"this is not a saved derivation: {error}", remedy="save one with `adjudge step … --save FILE`") from None
    if begin != system.render(start):
        raise Malformed("the recorded run starts from another state", rule="replay")
    steps: list[Step[S]] = []
    state = start
    for number, (rule, place, after) in enumerate(recorded, 1):
        matching = [s for s in system.enabled(state) if (s.rule, s.place) == (rule, place)]
        if not matching:
            raise Malformed(f"step {number}: {rule} is not enabled at {place}", rule="replay")
        found = next((s for s in matching if system.render(s.after) == after), None)
        if found is None:
            raise Malformed(f"step {number}: {rule} at {place} leads to another state than recorded", rule="replay")
        steps.append(found)
        state = found.after
    return Derivation(system.name, start, tuple(steps), system.render)


def why_not(system: Steppable[S], state: S, rule: str) -> str:
    """Why the rule called `rule` does not fire in `state`, in words: it fires, it is unknown, or what is enabled instead."""
    names = [r.name for r in system.rules]
    if rule not in names:
        close = difflib.get_close_matches(rule, names, 3) or names
        raise Malformed(f"{system.name} has no rule {rule}", remedy=f"one of {', '.join(close)}")
    enabled = system.enabled(state)
    places = [s.place for s in enabled if s.rule == rule]
    if places:
        return f"{rule} is enabled at {', '.join(places)}"
    law = next(r.law for r in system.rules if r.name == rule)
    others = ", ".join(sorted({f"{s.rule} at {s.place}" for s in enabled})) or "nothing: the state is final"
    indented = "\n".join(f"    {line}" for line in law.splitlines())
    return f"{rule} does not fire here: no place has the form of its left side\n{indented}\n  enabled instead: {others}"
