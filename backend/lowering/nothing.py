"""
Arrays without elements, which stand where there is none, made once in a function: code that may end in thirty places, and gives an
array, has one of them in each.

    def f(…):                                         def f(…):
        …                                                 no_f64_1 = _empty((0,), _f64)
        if …:                                             …
            return (_empty((0,), _f64), fuel, 9)   →      if …:
        …                                                     return (no_f64_1, fuel, 9)

Nothing writes to an element of such an array, so one is as good as many. Making one is a call of Numba's runtime each time that the
code runs, and a function more, compiled into every place. A function that the kernel calls, and that has the memory of stacks,
takes a part of that, without elements: where all its other arrays lie there too, none is counted then.
"""

from __future__ import annotations

import re

NONE = re.compile(r"_empty\(\((0,|0(?:, 0)+)\), _(\w+)\)")
IN_MEMORY = {"f64": "reals[0:0]", "bool": "_flags(integers, 0, 0)"}
"""One along one axis, as a part of the memory of stacks."""
FUNCTION = re.compile(r"^def \w+\([^\n]*\):\n", re.MULTILINE)


def made_once(source: str) -> str:
    """The source in which each function makes one array without elements of a type."""
    starts = [found.start() for found in FUNCTION.finditer(source)]
    parts = [source[a:b] for a, b in zip([0, *starts], [*starts, len(source)], strict=True)]
    return "".join([parts[0], *map(_of_function, parts[1:])])


def _of_function(text: str) -> str:
    made: dict[str, str] = {}
    head, line, _ = text.partition("\n")
    within = " reals, integers," in head and not head.startswith("def kernel(")

    def name(found: re.Match[str]) -> str:
        called = f"no_{found[2]}_{found[1].count('0')}"
        made[called] = IN_MEMORY[found[2]] if within and found[1] == "0," and found[2] in IN_MEMORY else found[0]
        return called

    body = NONE.sub(name, text)[len(head) + len(line) :]
    return head + line + "".join(f"    {called} = {new}\n" for called, new in made.items()) + body
