"""
The functions of GradBench as programs that adjudge reads, a module of the suite in each file, written from the mathematics.

    function   what a function is: a program, how it is called, how JSON becomes its arguments and its result JSON
    descent    the descent of `saddle` and `particle`

Every other file has a table `FUNCTIONS` of its functions by their names, and `sample`, an input of a given size.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from bench.gradbench_programs.function import Function
from semantics.errors import Malformed

MODULES = ("hello", "lse", "llsq", "gmm", "kmeans", "ode", "det", "lstm", "ba", "ht", "saddle", "particle")


def functions(module: str) -> Mapping[str, Function]:
    """The functions of a module, which is imported when it is first asked for."""
    if module not in MODULES:
        raise Malformed(f"there is no module {module!r}", remedy=f"one of {', '.join(MODULES)}")
    found: Mapping[str, Function] = import_module(f"bench.gradbench_programs.{module}").FUNCTIONS
    return found
