"""Functions, derivatives and programs as callables on a target (DESIGN, section 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjudge.elsewhere import Ways, made
from adjudge.functions import TARGETS, Derivative, Runner, bind, is_plain, runner_of
from semantics.collector import at_rest
from semantics.errors import Malformed

MODES = ("exact", "fast")


def compile(f: Any, target: str = "cpu", mode: str = "exact") -> Callable[..., Any]:
    """
    f as a callable on a target: "reference", "python" (the generated code, not compiled), "cpu", "cuda", "cuda-simulator" or
    "cuda-sequential" (the text for CUDA, its threads run by CPython).

    Compiled per signature, at the second call with it: to code of its own if it has a first-order form, the gradient of a loop by
    way of the SSA adjoint; else to code of the virtual machine, which has the first call. Code of a large program is made by
    another process, and calls go on when they have waited for ten seconds, unless ADJUDGE_WAIT is in the environment
    (docs/backend.md).

    mode   "exact", the bits of the reference, and of its mode "ssa" for the gradient of a loop; or "fast", which on "cpu" adds sums
           over arrays in any order and has an exponential of its own, within a bound that `adjudge crosscheck --mode fast` derives
           for each run
    """
    if target not in TARGETS:
        raise Malformed(f"{target!r} is not a target", remedy=f"one of {', '.join(TARGETS)}")
    if mode not in MODES:
        raise Malformed(f"{mode!r} is not a mode of compiled code", remedy=f"one of {', '.join(MODES)}")
    runners: dict[Any, Runner] = {}

    def at_length(*arguments: Any, **named: Any) -> Any:
        bound = f.arguments(arguments, named) if isinstance(f, Derivative) else bind(f, arguments, named)
        with at_rest():
            found, data = runner_of(None, 0, f, bound, runners, target, fast=mode == "fast")
            value = found.run(*data)
        if is_plain(bound, arguments, named):
            compiled.lead(ways.of(found))
        return value

    ways = Ways(at_length)
    compiled = made(at_length, "aj.compile", getattr(f, "__name__", "f"), compile, f, target, mode)
    return compiled
