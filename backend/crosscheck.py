"""
Targets against the reference, sample by sample (T5), and which of the two tiers ran on each.

On every target but a GPU each result must be the reference's bit for bit. On a GPU it must be where the running error is zero, and
within it elsewhere; samples whose path the error leaves open are counted as ambiguous and judge nothing, as do those for which the
reference has not the fuel. An integer that needs more than 64 bits may trap where the reference goes on; that is counted too.

In the mode fast, the target cpu is judged in the same way, by the bound on sums in any order (`backend.fast.bounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend import toolchain
from backend.tiers import runnable
from semantics.arrays import Array
from semantics.errors import AdjudgeError, IllTyped, OutOfFuel, Trap
from semantics.ir import Program
from semantics.structured import Record
from semantics.values import same

SIMULATED = 64


@dataclass(frozen=True)
class Crosscheck:
    """
    What one target did on `samples` samples. Each is in exactly one of the counts, or in `mismatches` as
    (arguments, wanted, found). `skipped` says why the target did not run.

    tier      "A", generated code, or "B", the virtual machine, with `refusal` saying why there is no generated code
    again     how many samples generated code left to the machine: for their sizes, or integers of more than 64 bits
    """

    target: str
    samples: int = 0
    bitwise: int = 0
    within: int = 0
    ambiguous: int = 0
    overflowed: int = 0
    mismatches: tuple[tuple[Any, Any, Any], ...] = ()
    skipped: str = ""
    tier: str = ""
    refusal: str = ""
    again: int = 0


def crosscheck(
    program: Program,
    argument_types: Sequence[Any] | None,
    samples: Sequence[Sequence[Any]],
    reference: Callable[..., Any],
    chosen: Sequence[str] | None = None,
    mode: str = "exact",
) -> list[Crosscheck]:
    """
    One result per target. The simulator, which is slow, sees the first 64 samples. `reference(*arguments)` is the oracle. IllTyped
    if it refuses the first sample, which is what the others are made like; another that it refuses is to be refused everywhere.
    """
    wanted = [_outcome(reference, arguments) for arguments in samples]
    if wanted and isinstance(wanted[0], IllTyped):
        raise wanted[0]
    there = toolchain.targets()
    results = []
    for target in chosen or toolchain.TARGETS:
        if reason := there.get(target, "no such target"):
            results.append(Crosscheck(target, skipped=reason))
            continue
        few = samples[:SIMULATED] if target == "cuda-simulator" else samples
        try:
            compiled = runnable(program, argument_types, target, fast=mode == "fast")
        except AdjudgeError as error:
            results.append(Crosscheck(target, skipped=error.what))
            continue
        found = _compare(program, target, few, wanted, compiled.map(few), mode)
        refusal = compiled.refusal.what if compiled.refusal else ""
        results.append(replace(found, tier="B" if refusal else "A", refusal=refusal, again=compiled.again))
    return results


def _outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """The value, or the error it ends in."""
    try:
        return function(*arguments)
    except (Trap, OutOfFuel, IllTyped) as error:
        return error


def _compare(
    program: Program, target: str, samples: Sequence[Sequence[Any]], wanted: list[Any], found: list[Any], mode: str
) -> Crosscheck:
    counts = {"bitwise": 0, "within": 0, "ambiguous": 0, "overflowed": 0}
    mismatches = []
    for arguments, want, have in zip(samples, wanted, found, strict=False):
        kind = judge(program, target, arguments, want, have, mode)
        if kind == "mismatch":
            mismatches.append((tuple(arguments), want, have))
        else:
            counts[kind] += 1
    return Crosscheck(
        target,
        len(samples),
        counts["bitwise"],
        counts["within"],
        counts["ambiguous"],
        counts["overflowed"],
        tuple(mismatches),
    )


def judge(program: Program, target: str, arguments: Sequence[Any], wanted: Any, found: Any, mode: str = "exact") -> str:
    """bitwise, within, ambiguous, overflowed or mismatch."""
    if isinstance(wanted, OutOfFuel) and not isinstance(found, AdjudgeError):
        return "ambiguous"
    if isinstance(found, AdjudgeError) or isinstance(wanted, AdjudgeError):
        if type(found) is type(wanted):
            return "bitwise"
        return "overflowed" if isinstance(found, Trap) and "overflow" in found.what else "mismatch"
    if same(wanted, found):
        return "bitwise"
    if target != "cuda" and (mode, target) != ("fast", "cpu"):
        return "mismatch"
    from backend.fast.bounds import bounds as any_order  # here, since no run that is compared with nothing waits for them
    from backend.running_error import Ambiguous, bounds

    try:
        bounded = (bounds if target == "cuda" else any_order)(program, arguments)
    except Ambiguous:
        return "ambiguous"
    return "within" if inside(bounded, found) else "mismatch"


def inside(bounded: Any, found: Any) -> bool:
    """Whether every real is within its bound of what it is bounded around, and everything else equal."""
    from backend.running_error import Bounded

    todo = [(bounded, found)]
    while todo:
        bound, value = todo.pop()
        if isinstance(bound, tuple) and isinstance(value, tuple) and len(bound) == len(value):
            todo += zip(bound, value, strict=True)
        elif _alike(bound, value):
            todo.append((tuple(bound.items), tuple(value.items)))  # of an array, what holds them may be no tuple
        elif isinstance(bound, Bounded) and type(value) is float:
            if not (same(bound.value, value) or (bound.bound and abs(bound.value - value) <= bound.bound)):
                return False
        elif isinstance(bound, Bounded) or not same(bound, value):
            return False
    return True


def _alike(a: Any, b: Any) -> bool:
    """Whether both are records of one class, or arrays of one shape and dtype."""
    match a, b:
        case Record(), Record():
            return a.label == b.label
        case Array(), Array():
            return (a.dtype, a.shape) == (b.dtype, b.shape)
        case _:
            return False
