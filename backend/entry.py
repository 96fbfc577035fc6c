"""
The entry of compiled code on the CPU: the arguments and one address, and back the value alone.

A kernel takes arrays and gives a tuple that ends in a status, and both are slow to pass between CPython and machine code. An entry
takes the address of a block of memory (`backend.stack_memory`), and raises if the status is not OK; the kernel is then called again
for the status. `caller(compiled, otherwise)` is a Python function of the arguments that goes in there, if they have the types that
the code is for; else, and where the entry raises, it calls `otherwise`.
"""

from __future__ import annotations

from backend.boundary import PYTHON
from backend.lower import Lowered
from backend.stack_memory import HEADER
from semantics.type_language import TupleType


def entry_source(code: Lowered) -> str:
    """The generated code with its entry."""
    arguments = [f"a{i}" for i in range(len(code.arguments))]
    values = [f"v{i}" for i in range(len(code.results))]
    stacks = [
        f"    size = {HEADER} + capacity * {code.width}",
        "    reals = _reals(address, size)",
        "    integers = _integers(address, size)",
    ]
    memory = [f"reals[{HEADER}:], integers[{HEADER}:], capacity"] if code.stacks else []
    given = ", ".join([*arguments, *memory, "budget", "one"])
    result = values[0] if len(values) == 1 else f"({', '.join(values)})"
    return "\n".join(
        [
            code.source,
            "",
            "@_device",
            f"def entry({', '.join([*arguments, 'address'])}):",
            f"    one = _reals(address, {HEADER})[0]",
            f"    budget = _integers(address, {HEADER})[1]",
            *([f"    capacity = _integers(address, {HEADER})[2]", *stacks] if code.stacks else []),
            f"    ({', '.join([*values, 'left', 'status'])},) = kernel({given})",
            "    if status != 0:",
            "        raise ArithmeticError",
            f"    return {result}",
            "",
            *(_caller(arguments, code) if is_quick(code) else ()),
        ]
    )


def is_quick(code: Lowered) -> bool:
    """Whether arguments and result go through an entry as they are: numbers, and a number or a tuple of several."""
    result = code.result_type
    flat = isinstance(result, TupleType) and len(result.items) > 1 and all(t in PYTHON for t in result.items)
    return (result in PYTHON or flat) and all(t in PYTHON for t in code.argument_types)


def _caller(arguments: list[str], code: Lowered) -> list[str]:
    """A test of each type, since Numba would make new code for others; what goes wrong is found out by `otherwise`."""
    tests = " and ".join(f"type({a}) is {PYTHON[t].__name__}" for a, t in zip(arguments, code.argument_types, strict=True))
    given = ", ".join(arguments)
    return [
        "",
        "def caller(compiled, otherwise):",
        "    entry, address = compiled.entry, compiled.memory.address",
        f"    def call({given}):",
        "        nonlocal entry, address",
        f"        if not ({tests or 'True'}):",
        f"            return otherwise({given})",
        "        try:",
        f"            return entry({', '.join([*arguments, 'address'])})",
        "        except ArithmeticError:",
        "            pass",
        f"        value = otherwise({given})",
        "        entry, address = compiled.entry, compiled.memory.address",
        "        return value",
        "    return call",
        "",
    ]
