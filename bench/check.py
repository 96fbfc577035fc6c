"""
What the judge of backpropagators costs: seconds of the processor on right rules, beside what is allowed; the judge on 10^6
elements, with the error of one entry that it would have seen; how the cost grows with the elements, the arguments and the lines
of a primitive; and all the wrong and right rules of the tests, counted.
"""

from __future__ import annotations

import linecache
import re
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import adjudge as aj
from bench.measure import Row, timed
from bench.rules import array_rules, backpropagators
from checkers.array_audit.build import of_functions
from checkers.array_audit.large import PROBES, bases, judged
from checkers.primitive_audit import reads_arrays
from semantics.primitives.table import TABLE

DEV, DEEP = (200, 2.0), (2000, 30.0)
"""Points, and the seconds that one scalar primitive may take on them."""
MILLION, ALLOWED = 1_000_000, 30.0
SLOWEST = 3
ELEMENTS = (10_000, 100_000, MILLION)
ARGUMENTS = (1, 10, 100)
LINES = (2, 20, 200)
LINEAR = ("exp", "softmax", "var", "cumsum")
ON_ARRAYS = (*LINEAR, "matmul")


def rows() -> Iterator[Row]:
    """Every row of this table."""
    aj.check(TABLE["neg"])  # imports, and what is made once
    yield from of_reals()
    for name in ON_ARRAYS:
        yield on_a_million(array_rules.CONTROLS[name])
    for name in LINEAR:  # a product of matrices is itself no linear work
        yield from grows(f"{name}, elements", ELEMENTS, probed(array_rules.CONTROLS[name]))
    yield from grows("a function of reals, arguments", ARGUMENTS, lambda n: judging(many_arguments(n)))
    yield from grows("a function of reals, lines", LINES, lambda n: judging(many_lines(n)))
    yield from counted()


def judging(primitive: Any, examples: int | None = None) -> float:
    """Seconds of the processor for one report, by every check."""
    return timed(lambda: aj.check(primitive, examples=examples))[0]


def of_reals() -> Iterator[Row]:
    """Every primitive of the table that is a function of reals and has a backpropagator, and the slowest of them on more points."""
    names = [name for name, row in TABLE.items() if row.signature and not reads_arrays(row)]
    taken = {}
    for name in names:
        try:
            taken[name] = judging(TABLE[name], DEV[0])
        except aj.IllTyped:  # it has no backpropagator
            continue
    slowest = sorted(taken, key=taken.__getitem__)[-SLOWEST:]
    middle = statistics.median(taken.values())
    yield Row(
        f"a scalar primitive, median of {len(taken)}", f"{middle:.2f} s", f"{DEV[1]:g} s, {DEV[0]} points", f"{middle / DEV[1]:.2f}"
    )
    for name in slowest:
        yield Row(f"{name}, {DEV[0]} points", f"{taken[name]:.2f} s", f"{DEV[1]:g} s", f"{taken[name] / DEV[1]:.2f}")
    for name in slowest:
        spent = judging(TABLE[name], DEEP[0])
        yield Row(f"{name}, {DEEP[0]} points", f"{spent:.2f} s", f"{DEEP[1]:g} s", f"{spent / DEEP[1]:.2f}")


# arrays


def sample(control: Any, size: int) -> tuple[Any, ...]:
    """Arguments of about so many elements together."""
    source = np.random.default_rng(size)
    side = round((size / 2) ** 0.5)
    shapes = ((side, side),) * 2 if control.name == "matmul" else ((size,),)
    return tuple(source.normal(size=shape) for shape in shapes)


def on_a_million(control: Any) -> Row:
    """The whole report on a sample of 10^6 elements, and the error of one entry that it would have seen."""
    spent, report = timed(lambda: aj.check_vjp(control.forward, control.right, [sample(control, MILLION)]))
    (large,) = (v for v in report.verdicts if v.claim == "large arrays")
    said = re.search(r"at (\d+) elements.* one entry of (\S+)", getattr(large, "what", ""))
    against = f"sees {said[2]} of a column" if said else f"{large}"[:60]
    return Row(
        f"{control.name}, {said[1] if said else 'no'} elements",
        f"{spent:.2f} s, allowed {ALLOWED:g} s",
        against,
        f"{spent / ALLOWED:.2f}",
    )


def probed(control: Any) -> Callable[[int], float]:
    """From a size to the seconds of the probes of one case of so many elements."""
    trial = of_functions(control.forward, control.right, control.samples)
    base = next(bases(trial))

    def spent(size: int) -> float:
        case = base.at(trial, size)
        assert case is not None
        return timed(lambda: judged(trial, case, PROBES))[0]

    return spent


# growth


def grows(what: str, sizes: tuple[int, ...], cost: Callable[[int], float]) -> Iterator[Row]:
    """Seconds at each size, for each unit of it, and the ratio of that to the one before: at most about 1 if it does not grow."""
    before: float | None = None
    for size in sizes:
        each = cost(size) / size
        ratio = "" if before is None else f"{each / before:.2f} times"
        yield Row(
            f"{what}: {size}", f"{each * size:.2f} s", f"{each * 1e6:.3g} µs each" if each < 1e-3 else f"{each:.3f} s each", ratio
        )
        before = each


def many_arguments(n: int) -> Any:
    """A sum of n squares."""
    names = [f"x{i}" for i in range(n)]
    forward = " + ".join(f"{x} * {x}" for x in names)
    cotangents = ", ".join(f"2.0 * {x} * dout" for x in names)
    return written(f"sum_of_{n}", ", ".join(names), f"    return {forward}", f"    return ({cotangents},)")


def many_lines(n: int) -> Any:
    """n sines, one inside the other."""
    forward = "\n".join(f"    x{i + 1} = math.sin(x{i}) + 1.5" for i in range(n))
    backward = "\n".join(f"    dout = dout * math.cos(x{i})" for i in reversed(range(n)))
    return written(f"sines_{n}", "x0", f"{forward}\n    return x{n}", f"{forward}\n{backward}\n    return (dout,)")


def written(name: str, parameters: str, forward: str, backward: str) -> Any:
    """The primitive of these two function bodies, whose source can be read."""
    text = f"import math\n\ndef {name}({parameters}):\n{forward}\n\ndef rule({parameters}, out, dout):\n{backward}\n"
    file = f"<bench {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    found: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), found)
    made = aj.primitive(name=name)(found[name])
    made.backpropagator(found["rule"])
    return made


# rules


def counted() -> Iterator[Row]:
    """All wrong rules and all right ones, each judged by the checks that may find it."""
    wrong, right = backpropagators.WRONG, backpropagators.RIGHT
    spent, found = timed(lambda: sum(w.is_found() for w in wrong))
    yield Row("wrong rules, found as what they are", f"{found} of {len(wrong)}", "", f"{spent / len(wrong):.2f} s each")
    spent, blamed = timed(lambda: sum(r.is_blamed() for r in right))
    yield Row("right rules, blamed for a fault", f"{blamed} of {len(right)}", "", f"{spent / len(right):.2f} s each")
