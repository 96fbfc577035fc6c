"""
What a caller gives beside samples, read strictly before anything runs: functions that take as many arguments as they will be
given, numbers that are numbers, a domain that is a function.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from semantics.errors import AdjudgeError, IllTyped, Malformed


def accepts(function: Callable[..., Any], what: str, counts: Iterable[int], remedy: str) -> None:
    """IllTyped where a function takes none of these numbers of arguments; what Python knows no signature of passes."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    tried = sorted(set(counts))
    for count in tried:
        try:
            signature.bind(*(None,) * count)
        except TypeError:
            continue
        return
    wanted = " or ".join(map(str, tried))
    plural = "" if wanted == "1" else "s"
    shown = f"{what} takes {signature}, and is given {wanted} argument{plural}"
    raise IllTyped(shown, rule="check_vjp", remedy=remedy)


def two_functions(forward: Any, pullback: Any, arity: int) -> None:
    """IllTyped unless both are functions: forward of so many arguments, pullback of (xs, y, dy), or of (x…, y, dy)."""
    for what, f in (("forward", forward), ("pullback", pullback)):
        if not callable(f):
            raise IllTyped(f"{what} is {f!r}, not a function", rule="check_vjp", remedy="pass two Python functions")
    accepts(forward, "forward", (arity,), "a sample holds one value for each argument of forward: [(x, y), (x2, y2)]")
    accepts(
        pullback, "pullback", (3, arity + 2), "write it pullback(xs, y, dy), xs the tuple of arguments; or pullback(x, …, y, dy)"
    )


def options(seed: Any, examples: Any, domain: Any = None) -> None:
    """IllTyped unless the seed is a whole number, examples a positive one, and the domain, where there is one, a function."""
    if type(seed) is not int:
        raise IllTyped(f"seed is {seed!r}, no whole number", rule="check", remedy="seed=0")
    if examples is not None and (type(examples) is not int or examples < 1):
        raise IllTyped(f"examples is {examples!r}, no number of inputs", rule="check", remedy="a positive whole number, or None")
    if domain is not None and not callable(domain):
        remedy = "a function of the arguments: domain=lambda x: bool((x > 0).all())"
        raise IllTyped(f"domain is {domain!r}, not a function", rule="check", remedy=remedy)


def is_finite(meaning: Callable[..., Any], arguments: Sequence[float]) -> bool:
    """Whether a function of reals has a finite value at a point."""
    try:
        return math.isfinite(meaning(*arguments))
    except AdjudgeError:
        return False


def objection(function: Callable[..., Any], arguments: Sequence[Any]) -> str:
    """What a function raises at some arguments, as the end of a sentence."""
    try:
        function(*arguments)
    except Exception as error:  # whatever a foreign function raises is told
        return f": {told(error)}"
    return ""


def told(error: Exception) -> str:
    """The kind of an error and the first line of what it says; our own say their kind themselves."""
    said = str(error.what if isinstance(error, AdjudgeError) else error).splitlines()
    return f"{type(error).__name__}: {said[0] if said else ''}"


def nowhere(name: str, samples: int, why: str, remedy: str) -> Malformed:
    """The refusal of a function that has no finite value at the samples."""
    where = "the sample" if samples == 1 else f"any of its {samples} samples" if samples else "any shape that was tried"
    return Malformed(f"{name} has no finite value at {where}{why}", rule="check", remedy=remedy)


def nearest(name: str, names: Iterable[str], otherwise: str) -> str:
    """The remedy for a name that is not there: one that is like it, or what to do otherwise."""
    found = get_close_matches(name, list(names), 1)
    return f"did you mean {found[0]!r}? {otherwise}" if found else otherwise
