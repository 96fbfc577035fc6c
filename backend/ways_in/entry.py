"""
The entry of compiled code on the CPU: the arguments and at most one address, and back the value and the status.

A kernel takes its memory as arrays, its budget, and a one; an entry takes the address of a block that has them all
(`backend.stacks.memory`), if the code needs any. It is machine code alone: `backend.ways_in.entrance` is how Python calls it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from backend.boundary import PYTHON
from backend.lowering.first_order import Lowered
from backend.lowering.moves import one_by_one
from backend.lowering.nothing import made_once
from backend.prelude import HELPERS
from backend.stacks.memory import ARRAYS, HEADER, is_addressed, rooms
from semantics.type_language import ArrayType, TupleType


@lru_cache(4)  # of one program it is asked three times, before its machine code is found
def entry_source(code: Lowered) -> str:
    """The generated code with its entry."""
    arguments = [f"a{i}" for i in range(len(code.arguments))]
    address = ["address"] if is_addressed(code) else []
    source, _ = code.blocked
    values = [f"v{i}" for i in range(len(code.given))]
    first = HEADER + len(rooms(code.widths))
    stacks = [
        f"    head = _cells(_integers(address, {first}))",
        f"    capacity = ({', '.join(f'head[{k}]' for k in range(HEADER, first))},)",
        f"    size = {first} + head[{first - 1}] + head[{ARRAYS}]",
        "    reals = _reals(address, size)",
        "    integers = _integers(address, size)",
    ]
    memory = [f"_cells(reals[{first}:]), _cells(integers[{first}:]), capacity"] if code.stacks else []
    given = ", ".join([*arguments, *memory, "budget", "one"])
    return "\n".join(
        [
            flagged(known(made_once(one_by_one(source)))).replace("@_device\n", "@_bare\n"),
            "",
            "@_entry",
            f"def entry({', '.join([*arguments, *address])}):",
            f"    one = _reals(address, {HEADER})[0]" if address else "    one = 1.0",
            f"    budget = _integers(address, {HEADER})[1]" if address else "    budget = int(one)",
            *(stacks if code.stacks else []),
            f"    ({', '.join([*values, 'left', 'status'])},) = kernel({given})",
            f"    return ({', '.join([*values, 'status'])},)",
            "",
        ]
    )


def known(source: str) -> str:
    """
    The source without saying that what is read from integers is one, for which Numba compiles a function; with booleans in the
    memory of stacks by a few instructions, where those of Numba's for another dtype are some hundred; and with indices of which
    Numba is told that they count from the beginning.
    """
    source = re.sub(r"\bint\((integers\[[^]]*\])\)", r"\1", source)
    source = FLAGS.sub(r"_flags(integers, \g<begin>, \g<count>)", source)
    return INSIDE.sub(r"\g<to>_from_zero(\g<index>, \g<size>)", source)


def flagged(source: str) -> str:
    """
    The source in which a test of whether the sum, the difference or the product of two integers overflows asks the processor, which
    says it of the operation itself. A sum with a constant is a comparison.
    """
    for test, name in TESTS:
        source = test.sub(rf"if {name}(\g<a>, \g<b>):", source)
    return source.replace(PRODUCT, "").replace("_mul_overflows(", "_product_overflows(")


def _test(large: str, small: str, sign: str) -> re.Pattern[str]:
    """As `backend.columns` writes it; a pass over the text may have left out parentheses."""
    beyond = rf"(?P<b>[ai]\d+) {large} 0 and (?P<a>[ai]\d+) > _MAX \{sign} (?P=b)"
    return re.compile(rf"\bif \(?{beyond}\)? or \((?P=b) {small} 0 and (?P=a) < _MIN \{sign} (?P=b)\):")


FLAGS = re.compile(r"integers\[(?P<begin>[^:\n]+):(?P=begin) \+ \((?P<count>[^\n]+?) \+ 7\) // 8\]\.view\(_bool\)\[:(?P=count)\]")
"""As `backend.stacks.arrays` writes it."""
SIZE = r"[\w.]+(?:\[\d+\])?"
INSIDE = re.compile(rf"^(?P<to> *i\d+ = )(?P<index>\w+) \+ (?P<size>{SIZE}) if (?P=index) < 0 else (?P=index)$", re.MULTILINE)
"""As `backend.arrays.indices` writes it, behind a test that the index is inside."""
PRODUCT = f"@_device\n{HELPERS['_mul_overflows'][0].strip()}\n"
TESTS = ((_test(">", "<", "-"), "_sum_overflows"), (_test("<", ">", "+"), "_difference_overflows"))


def is_quick(code: Lowered) -> bool:
    """Whether arguments and result go through an entry as they are: numbers and arrays, and one of these or a tuple of several."""
    result = code.result_type
    flat = isinstance(result, TupleType) and len(result.items) > 1 and all(map(_passes, result.items))
    return (_passes(result) or flat) and all(map(_passes, code.argument_types))


def _passes(type: Any) -> bool:
    return type in PYTHON or isinstance(type, ArrayType)
