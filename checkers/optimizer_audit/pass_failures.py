"""
Does a pass keep what fails? Where a program is sure to meet a `raise`, or an assertion that does not hold, what became of it
must stop too.

Other traps may vanish with values that nobody needs (`transforms.failures`); so the programs here stop in no other way.
"""

from __future__ import annotations

from collections.abc import Iterator

from checkers.optimizer_audit.outcomes import Runner, Stopped, Value, said
from checkers.optimizer_audit.samples import names_of
from checkers.optimizer_audit.subjects import Pass
from checkers.optimizer_audit.trigger_shapes import Trigger
from checkers.optimizer_audit.trigger_sources import declared
from checkers.verdict import Counterexample
from semantics.ir import Program
from semantics.wellformed import problems
from transforms.parse import parse_text

POINTS = ((-1.0,), (0.0,), (2.5,))
FAILING: dict[str, str] = {
    "a branch that raises": """
def f(x):
    if x < 0.0:
        raise ValueError("negative")
    return x * x""",
    "an assertion": """
def f(x):
    y = x * 2.0
    assert y > 1.0
    return y""",
    "nothing times what fails": """
def checked(x):
    if x < 1.0:
        raise ValueError("small")
    return x

def f(x):
    return 0.0 * checked(x) + x""",
    "an element that is not taken": """
def checked(x):
    assert x > 0.0
    return x

def f(x):
    return (x, checked(x))[0]""",
    "a turn that raises": """
def f(x):
    s = 0.0
    for i in range(3):
        if s > 3.0:
            raise ValueError("large")
        s += x
    return s""",
    "both branches raise": """
def f(x):
    if x < 1.0:
        raise ValueError("small")
    raise ValueError("large")""",
}


def failing() -> Iterator[Trigger]:
    """The programs of FAILING; parameters are reals."""
    for name, text in FAILING.items():
        yield Trigger(name, declared(parse_text(text + "\n", "f")))


def dropped(subject: Pass) -> Counterexample | None:
    """A program that stops at a point where what the pass makes of it has a value."""
    fired = subject.fired.copy()
    try:
        return next((found for trigger in failing() if (found := _dropped(subject, trigger.program)) is not None), None)
    finally:
        subject.fired.clear()
        subject.fired.update(fired)


def _dropped(subject: Pass, program: Program) -> Counterexample | None:
    after = subject(program)
    if not isinstance(after, Program) or next(iter(problems(after)), None) is not None:
        return None
    left, right = Runner(program), Runner(after)
    for point in POINTS:
        a = left(point)
        if isinstance(a, Stopped) and isinstance(b := right(point), Value):
            note = f"a failure that the program is sure to meet stays\nbefore:\n{program}\nafter:\n{after}"
            return Counterexample(dict(zip(names_of(program), point, strict=True)), said(b), said(a), note=note)
    return None
