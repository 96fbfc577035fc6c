"""
The entry of compiled code on the CPU: the arguments and at most one address, and back the value alone.

A kernel takes arrays and gives a tuple that ends in a status, and both are slow to pass between CPython and machine code. An entry
takes the address of a block of memory (`backend.stack_memory`), if the code needs any, and raises if the status is not OK; the
kernel is then called again for the status. `caller(compiled, otherwise)` is a Python function of the arguments that goes in there,
if they have the types that the code is for; else, and where the entry raises, it calls `otherwise`. The kernel itself is called as
`row`; only these two have Numba's wrappers, which take a good part of the time to compile.
"""

from __future__ import annotations

import re
from typing import Any

from backend.boundary import PYTHON
from backend.lowering import Lowered
from backend.moves import one_by_one
from backend.stack_memory import HEADER, MEMORY, is_addressed
from semantics.type_language import ArrayType, TupleType
from transforms.array_rows import NUMPY_DTYPE


def entry_source(code: Lowered) -> str:
    """The generated code with its entry."""
    arguments = [f"a{i}" for i in range(len(code.arguments))]
    address = ["address"] if is_addressed(code) else []
    values = [f"v{i}" for i in range(len(code.results))]
    stacks = [
        f"    size = {HEADER} + capacity * {code.width} + _integers(address, {HEADER})[3]",
        "    reals = _reals(address, size)",
        "    integers = _integers(address, size)",
    ]
    memory = [f"_cells(reals[{HEADER}:]), _cells(integers[{HEADER}:]), capacity"] if code.stacks else []
    given = ", ".join([*arguments, *memory, "budget", "one"])
    taken = [*arguments, *(MEMORY if code.stacks else ()), "budget", "one"]
    result = values[0] if len(values) == 1 else f"({', '.join(values)})"
    return "\n".join(
        [
            known(one_by_one(code.alone)).replace("@_device\n", "@_bare\n" if code.arrays else "@_flat\n"),
            "",
            "@_device",
            f"def row({', '.join(taken)}):",
            f"    return kernel({', '.join(f'_cells({t})' if t in MEMORY[:-1] else t for t in taken)})",
            "",
            "@_device",
            f"def entry({', '.join([*arguments, *address])}):",
            f"    one = _reals(address, {HEADER})[0]" if address else "    one = 1.0",
            f"    budget = _integers(address, {HEADER})[1]" if address else "    budget = int(one)",
            *([f"    capacity = _integers(address, {HEADER})[2]", *stacks] if code.stacks else []),
            f"    ({', '.join([*values, 'left', 'status'])},) = kernel({given})",
            *([f"    return ({', '.join(values)}, status)"] if code.arrays else _raising(result)),
            "",
            *(_caller(arguments, code) if is_quick(code) else ()),
        ]
    )


def known(source: str) -> str:
    """The source without saying that what is read from integers is one, for which Numba compiles a function."""
    return re.sub(r"\bint\((integers\[[^]]*\])\)", r"\1", source)


def _raising(result: str) -> list[str]:
    """The end of an entry of numbers. One of arrays gives its status: what it holds when it raises is never freed."""
    return ["    if status != 0:", "        raise ArithmeticError", f"    return {result}"]


def is_quick(code: Lowered) -> bool:
    """Whether arguments and result go through an entry as they are: numbers and arrays, and one of these or a tuple of several."""
    result = code.result_type
    flat = isinstance(result, TupleType) and len(result.items) > 1 and all(map(_passes, result.items))
    return (_passes(result) or flat) and all(map(_passes, code.argument_types))


def _passes(type: Any) -> bool:
    return type in PYTHON or isinstance(type, ArrayType)


def _test(name: str, type: Any) -> str:
    """Whether an argument has its type, as an expression. Sizes that are not known are tested by the code."""
    if not isinstance(type, ArrayType):
        return f"type({name}) is {PYTHON[type].__name__}"
    sizes = f" and {found}" if (found := _sizes(name, type)) else ""
    return f"type({name}) is ndarray and {name}.dtype is d_{type.dtype} and {name}.ndim == {len(type.dims)}{sizes}"


def _sizes(name: str, type: ArrayType) -> str:
    """Whether an array has the sizes that its type knows."""
    return " and ".join(f"{name}.shape[{k}] == {n}" for k, n in enumerate(type.dims) if n is not None)


def _caller(arguments: list[str], code: Lowered) -> list[str]:
    """The function of the arguments, by their tests. Of arrays, see `_of_arrays`."""
    tests = [_test(a, t) for a, t in zip(arguments, code.argument_types, strict=True)]
    given = ", ".join(arguments)
    dtypes = sorted({t.dtype for t in code.argument_types if isinstance(t, ArrayType)})
    address = ["address"] if is_addressed(code) else []
    held = "entry, address = compiled.entry, compiled.memory.passed[0]" if address else "entry = compiled.entry"
    called = f"entry({', '.join([*arguments, *address])})"
    if code.arrays:
        inside = _of_arrays(arguments, code, tests, called)
    else:
        inside = [f"        if not ({' and '.join(tests) or 'True'}):", f"            return otherwise({given})"]
        inside += ["        try:", f"            return {called}", "        except ArithmeticError:", "            pass"]
    return [
        "",
        "def caller(compiled, otherwise):",
        *(["    from numpy import array, dtype, ndarray", "    known = False"] if code.arrays else ()),
        *(f"    d_{of} = dtype('{NUMPY_DTYPE[of].__name__}')" for of in dtypes),
        f"    {held}",
        f"    def call({given}):",
        f"        nonlocal {', '.join(['entry', *address, *(['known'] if code.arrays else [])])}",
        *inside,
        f"        value = otherwise({given})",
        f"        {held}",
        "        return value",
        "    return call",
        "",
    ]


def _of_arrays(arguments: list[str], code: Lowered, tests: list[str], called: str) -> list[str]:
    """
    The types of arrays are tested here until a call has made the code; from then on by Numba, which does so anyway, and has been
    told to make no other.
    """
    arrays = [a for a, t in zip(arguments, code.argument_types, strict=True) if isinstance(t, ArrayType)]
    left = [test for test, t in zip(tests, code.argument_types, strict=True) if not isinstance(t, ArrayType)]
    left += [f"type({a}) is ndarray" for a in arrays]
    left += [
        sizes for a, t in zip(arguments, code.argument_types, strict=True) if isinstance(t, ArrayType) and (sizes := _sizes(a, t))
    ]
    last = len(code.results)
    value = "value[0]" if last == 1 else f"value[:{last}]"
    return [
        f"        if known and {' and '.join(left) or 'True'}:",
        "            try:",
        f"                value = {called}",
        f"                if value[{last}] == 0:",
        f"                    return {value}",
        "            except TypeError:",
        "                pass",
        f"        if not ({' and '.join(tests) or 'True'}):",
        f"            return otherwise({', '.join(arguments)})",
        *(line for a in arrays for line in (f"        if not {a}.flags.carray:", f"            {a} = array({a}, order='C')")),
        f"        value = {called}",
        f"        if value[{last}] == 0:",
        "            if not known:",
        "                entry.disable_compile()",
        "            known = True",
        f"            return {value}",
        "        known = False",
    ]
