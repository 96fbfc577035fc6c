"""
Check 17: large arrays. Bugs of blocks, strides and accumulation live where no small case reaches.

The sizes of a sample grow to about 10^6 elements, or as far as the time allows, which the verdict says: one second of the processor
for the probes of one size, 20 where 200 cases or more are asked for (`examples=`). A sample that is large itself is judged at its
own size, with its own elements, if that takes no more than 20 seconds. At each size the rule is judged by random probes
(`probes.py`); where a leaf acts elementwise, all its entries are compared at once as well. A probe that fails is followed to the
bad entry (`bisection.py`), then the smallest size at which it fails is looked for. The verdict states which error of one entry
would have been seen.
"""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from checkers.array_audit.bisection import Bad, search
from checkers.array_audit.case import Case, named, unit
from checkers.array_audit.findings import entry_name, finding, output_name, picked
from checkers.array_audit.opinion import entries
from checkers.array_audit.probes import Probing
from checkers.array_audit.scaling import grown, recipe, shapes_at
from checkers.array_audit.shapes import Group, groups, of_one_structure, reals
from checkers.array_audit.signature import constant_axes
from checkers.array_audit.signature_shapes import MOST as MOST_REALS
from checkers.array_audit.trial import Trial
from checkers.primitive_audit.subject import ROUNDING
from checkers.verdict import OutOfScope, Passed, Refuted, Unknown, Verdict

SIZES = (256, 1024, 32_768, 1_000_000)
LARGE = 100_000
PROBES = 8
SECONDS, PATIENT, MANY = 1.0, 20.0, 200
"""Of the processor, as long as the probes of one size may take; and where so many cases are asked for."""
CALLS = 100
"""How often the probes of one size call function and rule: 10 for the noise, 36 for the steps, 7 for each probe after the first."""
SEARCH = 5.0
"""As long as the search for the smallest size that fails may take."""
MOST_OUTPUTS = 2_000_000
MOST_BYTES = 2**31
"""How many outputs, and how much memory of the function and the rule at once."""
SCRIPTED = 4096
CLAIM = "large arrays"


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    What was seen at one size: the bad entry, or why there was no answer, or how small an error would have been seen.

    single    a part of the norm of a usual column, by probes      entry  a part of the entry itself, where they were compared
    """

    case: Case
    bad: Bad | None = None
    raised: str = ""
    single: float = math.inf
    entry: float = math.inf
    entries: int = 0
    smooth: int = 0
    seconds: float = 0.0
    ended: str = ""
    step: float = math.inf


@dataclass(frozen=True, slots=True)
class Base:
    """A case to be scaled, and the sizes in it."""

    case: Case
    sizes: Sequence[Group]

    def at(self, trial: Trial, target: int) -> Case | None:
        """The case with about so many elements; None if it cannot be."""
        shapes = shapes_at(self.case, self.sizes, target)
        return grown(trial, self.case, shapes) if shapes else None


def large(trial: Trial) -> list[Verdict]:
    """17: random probes at about 10^6 elements, with bisection to the bad entry."""
    own = as_given(trial)
    if own is not None:
        outcome = judged(trial, own, PROBES)
        return [refuted(trial, None, outcome)] if outcome.bad or outcome.raised else [passed(trial, outcome)]
    why = "no sample holds an array that could be larger"
    for base in bases(trial):
        found, before = climb(trial, base)
        if found is None:
            why = "the function has no value at arrays larger than the samples"
            continue
        if found.bad is not None or found.raised:
            return [refuted(trial, base, smallest(trial, base, before, found))]
        return [passed(trial, found)]
    return [OutOfScope(why, CLAIM)]


def as_given(trial: Trial) -> Case | None:
    """The largest sample of LARGE coordinates or more, its elements rounded; None if there is none, or its probes took too long."""
    for sample in sorted((s for s in trial.samples if reals(s) >= LARGE), key=reals, reverse=True):
        start = time.process_time()
        case = trial.case(sample)
        if case is None or not case.outputs or case.size < LARGE or not np.isfinite(case.coordinates).all():
            continue
        trial.pulled_anew(case, trial.seeded(case, np.ones(case.outputs)))
        if (spent := time.process_time() - start) * CALLS <= PATIENT:
            return grown(trial, case, {}) or case
        trial.lost.append(
            f"a sample of {case.size} elements is not judged at its size: one call takes {spent:.2g} s of the processor"
        )
    return None


def bases(trial: Trial) -> Iterator[Base]:
    """Cases that can be scaled, samples first; of each structure one."""
    usable = [c for c in trial.cases if c.size and c.outputs and np.isfinite(c.coordinates).all()]
    for origin in ("sample", "shape", "random"):
        cases = [c for c in usable if c.origin == origin]
        for alike in of_one_structure([c.arguments for c in cases]):
            base = next(c for c in cases if c.arguments is alike[0])
            sizes = growing(trial, base)
            if sizes:
                yield Base(base, sizes)


def growing(trial: Trial, base: Case) -> tuple[Group, ...]:
    """The sizes of a case, but for those that the signature says as numbers: they stay what they are."""
    shapes = [np.shape(a) if isinstance(a, np.ndarray) else None for a in base.arguments]
    held = constant_axes(trial.signature, tuple(shapes)) if trial.signature is not None else ()
    free = (tuple(axis for axis in group if axis not in held) for group in groups([base.arguments]))
    return tuple(group for group in free if group)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a size costs: coordinates, seconds of all probes, outputs, bytes in one call of function and rule."""

    size: int
    seconds: float
    outputs: int
    bytes: int

    def next(self, before: Cost | None, wanted: int, seconds: float) -> tuple[int, str]:
        """The largest size up to `wanted` that `seconds` allow, if costs grow on as they did; and what forbids a larger one."""
        reach, why = wanted, ""
        for name, cost, allowed, least, most in (
            ("time", self.seconds, seconds, 1.0, 1.5),
            ("outputs", self.outputs, MOST_OUTPUTS, 0.0, 4.0),
            ("memory", self.bytes, MOST_BYTES, 0.0, 4.0),
        ):
            power = 1.0
            if before is not None:
                earlier = {"time": before.seconds, "outputs": before.outputs, "memory": before.bytes}[name]
                power = math.log(max(cost, 0.02) / max(earlier, 0.02)) / math.log(self.size / before.size)
            power = min(max(power, least), most)
            if cost * (wanted / self.size) ** power > allowed:
                fits = int(self.size * (allowed / cost) ** (1 / power)) if cost < allowed else 0
                if fits >= reach:
                    continue
                reach = fits
                why = {
                    "time": f"more would take over {seconds:g} s",
                    "outputs": "more would have too many outputs",
                    "memory": "more would take too much memory",
                }[name]
        return reach, why


def climb(trial: Trial, base: Base) -> tuple[Outcome | None, int]:
    """The outcome at the largest size that can be paid, or at the first that fails; and the size before it."""
    seconds = PATIENT if trial.examples >= MANY else SECONDS
    best: Outcome | None = None
    costs: list[Cost] = []
    ended = ""
    for size in SIZES:
        target, ended = costs[-1].next(costs[-2] if len(costs) > 1 else None, size, seconds) if costs else (size, "")
        if costs and target < 2 * costs[-1].size:
            break
        case = base.at(trial, target)
        if case is None:
            ended = "there the function has no value with finite numbers at more"
            break
        found = judged(trial, case, PROBES, step=math.inf if best is None else best.step)
        costs.append(Cost(target, found.seconds, case.outputs, memory(trial, case) if target < LARGE else 0))
        if found.bad is not None or found.raised:
            return found, costs[-2].size if len(costs) > 1 else 0
        if best is None or found.smooth:
            best = found
        else:
            ended = f"at {case.size} elements no output is smooth at any step that was tried"
        if ended:
            break
    return None if best is None else replace(best, ended=ended), 0


def memory(trial: Trial, case: Case) -> int:
    """The most bytes that the function and the rule hold at once."""
    running = tracemalloc.is_tracing()
    if not running:
        tracemalloc.start()
    tracemalloc.reset_peak()
    start, _ = tracemalloc.get_traced_memory()
    trial.value(case.arguments)
    trial.pulled_anew(case, trial.seeded(case, np.ones(case.outputs)))
    _, peak = tracemalloc.get_traced_memory()
    if not running:
        tracemalloc.stop()
    return peak - start


UNSOUGHT = Bad(None, None, math.nan, 0.0, 0.0, 0)


def judged(trial: Trial, case: Case, probes: int, seek: bool = True, step: float = math.inf) -> Outcome:
    """
    The case judged by so many probes, and entry by entry where it acts elementwise.

    seek  whether a failure is followed to its entry        step  the one that served a smaller size, so that none larger is tried
    """
    start = time.process_time()
    probing = Probing(trial, case, np.random.default_rng(trial.seed + 17), most=step)
    single, smooth = 0.0, 0
    for _ in range(probes):
        probe = probing.probe()
        if probe is None:
            answer = trial.pulled_anew(case, trial.seeded(case, np.ones(case.outputs)))
            return Outcome(case, raised=answer.raised or answer.why or "no answer")
        if probe.fails:
            return Outcome(case, bad=search(probing, probe) if seek else UNSOUGHT)
        single, smooth = max(single, probe.threshold), int(np.count_nonzero(probe.w))
    entry, entries = 0.0, 0
    for where in probing.diagonal():
        found = probing.entrywise(where)
        if isinstance(found, tuple):
            k, answered, wanted, room = found
            return Outcome(case, bad=Bad(k - where.start, k, answered, wanted, room, 0))
        entry, entries = max(entry, found if found is not None else math.inf), entries + case.outputs
    return Outcome(case, None, "", single, entry, entries, smooth, time.process_time() - start, step=probing.step)


def smallest(trial: Trial, base: Base, passes: int, failed: Outcome) -> Outcome:
    """The failure at the smallest size, found by halving between one that passes and one that fails, in a budget of time."""
    until = time.process_time() + SEARCH
    low, high, least = passes, failed.case.size, failed
    while high - low > 1 and time.process_time() < until:
        middle = (low + high) // 2
        case = base.at(trial, middle)
        outcome = None if case is None else judged(trial, case, 1, seek=False)
        if outcome is not None and (outcome.bad is not None or outcome.raised):
            least, high = outcome, middle
        else:
            low = middle
    found = judged(trial, least.case, PROBES) if least is not failed else failed
    return found if found.bad is not None or found.raised else failed


def refuted(trial: Trial, base: Base | None, outcome: Outcome) -> Refuted:
    """The finding: the entry and both its values, or why there is none."""
    case, bad = outcome.case, outcome.bad
    size = "1 element" if case.size == 1 else f"{case.size} elements"
    if bad is None:
        return finding(trial, CLAIM, case, found=outcome.raised, wanted="an answer", cause=f"no answer at {size}")
    if bad.output is None or bad.coordinate is None:
        cause = f"the error is spread over many entries at {size}: a probe of random signs misses by {bad.found:.3g}"
        return finding(trial, CLAIM, case, found=bad.found, wanted=0.0, cause=cause, note=f"room {bad.room:.3g}")
    lo, hi = bad.wanted - bad.room, bad.wanted + bad.room
    entry = entry_name(trial, case, bad.output, bad.coordinate)
    if lo <= bad.found <= hi:
        where = f"{named(case, trial.parameters, bad.coordinate)} and {output_name(case, bad.output)}"
        cause = f"wrong at {size} by {where}, though right for a cotangent of this output alone: the rule is not linear there"
        return finding(trial, CLAIM, case, found=bad.found, wanted=bad.wanted, cause=cause)
    cause = f"wrong at {size}: {entry}" + (f"; not seen with fewer than {case.size}" if base is not None and case.size > 1 else "")
    note = f"found in {bad.rounds} halvings; the reference is known to {bad.room:.3g}"
    kind = "fault"
    if is_rounding(trial, case, bad.output, bad.coordinate):
        kind, cause = "accuracy", f"digits are lost at {size}: {entry}; {ROUNDING}"
    test = f"{lo!r} <= {picked(case, bad.coordinate)} <= {hi!r}"
    dout = unit(case.outputs, bad.output)
    stated = {"kind": kind, "cause": cause, "note": note, "test": test}
    found = finding(trial, CLAIM, case, cotangent=dout, found=bad.found, wanted=bad.wanted, **stated)
    if case.size <= SCRIPTED or base is None:
        return found
    index = tuple(int(i) for i in np.unravel_index(bad.output, np.shape(case.value)))
    written = recipe(trial, base.case.arguments, case, index, f"{lo!r} <= {picked(case, bad.coordinate, 'pulled')} <= {hi!r}")
    return found if not written else replace(found, counterexample=replace(found.counterexample, script=written))


def is_rounding(trial: Trial, case: Case, output: int, coordinate: int) -> bool:
    """Whether the case is so small that the checks of entries have an opinion, and theirs is that digits are lost there."""
    if case.size > MOST_REALS or case.outputs > MOST_REALS:
        return False
    return bool(entries(trial, case).accuracy[output, coordinate])


def passed(trial: Trial, outcome: Outcome) -> Verdict:
    """On how many elements, and which error would have been seen."""
    case = outcome.case
    if not outcome.smooth:
        return Unknown(f"at {case.size} elements no output is smooth at any step that was tried", CLAIM)
    missing = case.outputs - outcome.smooth
    smooth = f", {outcome.smooth} of {case.outputs} outputs being smooth at these steps" if missing else ""
    what = f"random probes at {case.size} elements{smooth}; with probability 1 - 2^-20 they see an error of one entry "
    what += f"of {outcome.single:.1e} of the norm of a usual column"
    if outcome.entries:
        what += f"; {outcome.entries} entries compared one by one, 99 in 100 of them to {outcome.entry:.1e} of themselves"
    what += f"; {outcome.ended}" if outcome.ended else ""
    return Passed(PROBES, what, CLAIM)


CHECKS: Sequence[tuple[str, Callable[[Trial], list[Verdict]]]] = ((CLAIM, large),)
