"""A pass as the judge sees it: a function from programs to programs, with its rules where it has any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from semantics.errors import AdjudgeError, Crash, OutOfFuel
from semantics.ir import Program
from transforms.system import Rewrite, RewriteSystem

FUEL = 5_000


@dataclass(frozen=True)
class Broken:
    """The pass gave no program."""

    why: str
    refused: bool = False
    endless: bool = False


@dataclass
class Pass:
    """`apply` runs it; `system` is there if it is made of rules; `fired` counts them."""

    name: str
    apply: Callable[[Program], Any]
    domain: str
    system: RewriteSystem | None = None
    fired: Counter[str] = field(default_factory=Counter)

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
            return Broken(f"it raised {type(error).__name__}: {error}")
        found = getattr(found, "result", found)
        return found if isinstance(found, Program) else Broken(f"it returned {type(found).__name__}, not a Program")


def as_pass(subject: Any, domain: str | None) -> Pass:
    """The pass that a RewriteSystem, an object with `run`, or a function is."""
    name = getattr(subject, "name", None) or getattr(subject, "__name__", None) or type(subject).__name__
    claimed = domain or getattr(subject, "domain", None) or "BITS"
    if isinstance(subject, RewriteSystem):
        fired: Counter[str] = Counter()
        counted = replace(subject, rules=tuple(_counted(r, fired) for r in subject.rules))
        return Pass(name, lambda p: counted.run(p, fuel=FUEL), claimed, subject, fired)
    run = subject.run if hasattr(subject, "run") else subject
    return Pass(name, run, claimed)


def _counted(rule: Rewrite, fired: Counter[str]) -> Rewrite:
    def function(program: Program, place: int) -> Program | None:
        after = rule.function(program, place)
        if after is not None:
            fired[rule.name] += 1
        return after

    return replace(rule, function=function)
