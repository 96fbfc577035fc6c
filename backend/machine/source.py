"""
The text of the machine: its state, its loop, and a tree of tests that finds the function of an opcode.

`source(opcodes)` is one text for every target, as generated code of tier A is, and every program is data to it. `made()` is all
that a run needs to know of it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from backend import prelude, toolchain
from backend.machine import (
    array_parts,
    collecting,
    control,
    growing_lists,
    list_sensitivities,
    list_slices,
    memory_cells,
    sensitivities,
    slices,
    small_arrays,
    small_matrices,
    small_sensitivities,
    sparse_arrays,
    sparse_lists,
    structural,
)
from backend.machine.interpreter import Made
from backend.machine.layout import NAMES, OWN
from backend.machine.opcodes import NAMES as OPERANDS
from backend.machine.opcodes import ORDERS, REALS, Group, Opcodes, helpers, pair


def tree(first: int, bodies: Sequence[str], indent: str) -> str:
    """Tests that find the body of an opcode from `first` on, in as many of them as the logarithm of their number."""
    if len(bodies) == 1:
        return textwrap.indent(bodies[0], indent)
    half = len(bodies) // 2
    low, high = tree(first, bodies[:half], indent + "    "), tree(first + half, bodies[half:], indent)
    return f"{indent}if op < {first + half}:\n{low}\n{high}"


def group_source(number: int, group: Group, first: int) -> Iterator[str]:
    """The functions of a group: `apply_k`, and what it needs. Another number of operands is for the host to refuse."""
    names = OPERANDS[: group.operands]
    lines = [f"def apply_{number}(I, F, C, op, at, n, fp, out):"]
    if group.operands:
        lines += [f"    if n != {group.operands}:", "        return SERVICE"]
    lines += [f"    {x} = operand(C, at + {k}, fp)" for k, x in enumerate(names)]
    members = list(group.members.values())
    if group.form == REALS:
        yield f"def reals_{number}(op, {', '.join(names)}):\n" + tree(first, [f"return {m}" for m in members], "    ")
        values = ", ".join(f"real(I, F, {x})" for x in names)
        otherwise = "SERVICE"
        if group.operands == 1:
            yield f"def each_{number}(I, F, op, x, out):\n" + textwrap.indent(EACH.replace("of(", f"reals_{number}("), "    ")
            otherwise = f"each_{number}(I, F, op, x, out)"
        numbers = " and ".join(f"(I[{x}] == REAL or I[{x}] == INT)" for x in names)
        lines += [f"    if not ({numbers}):", f"        return {otherwise}"]
        lines += [f"    F[out + 1] = reals_{number}(op, {values})", "    I[out] = REAL", "    return RUNNING"]
    elif group.form == ORDERS:
        yield f"def true_of_{number}(op):\n" + tree(first, [f"return {m}" for m in members], "    ")
        lines += ["    found = compared(I, F, x, y)", f"    if found == 0 or (I[x] == BOOL and op < {first + len(members) - 2}):"]
        lines += ["        return SERVICE", f"    I[out + 1] = 1 if found & true_of_{number}(op) != 0 else 0"]
        lines += ["    I[out] = BOOL", "    return RUNNING"]
    else:
        lines.append(tree(first, [m if isinstance(m, str) else body(m) for m in members], "    "))
    yield "\n".join(lines)


EACH = """
p = whole(I, x)
if p == 0:
    return SERVICE
r = like_array(I, p, out)
if r == 0:
    return FULL
at, to = items(I, p), items(I, r)
for k in range(I[p + COUNT]):
    F[to + k] = of(op, F[at + k])
return RUNNING
""".strip()
"""What a row of one real does with an array of few elements."""

APPLY = "status = apply(I, F, C, op, at, n, fp, out)"


def source(opcodes: Opcodes) -> str:
    """
    The text of the machine, the same for every target.

    In the loop the choice of the group stands in the place of the call of `apply`: one call less on the way to every instruction.
    The same is done with every part; those on what is sparse and on memories are large and used in several places, and are called.
    """
    own: tuple[Callable[..., Any], ...] = (
        *small_arrays.PARTS,
        *small_matrices.PARTS,
        *sparse_arrays.PARTS,
        *slices.PARTS,
        *array_parts.PARTS,
        *small_sensitivities.PARTS,
        *growing_lists.PARTS,
        *sparse_lists.PARTS,
        *memory_cells.PARTS,
        *sensitivities.PARTS,
        *control.PARTS,
        *collecting.PARTS,
    )
    basic: tuple[Callable[..., Any], ...] = (*structural.PARTS, *small_arrays.BASIC)
    parts = [*prelude.closure(helpers()), *map(plain, basic), pair(), *map(plain, own)]
    first, choices = OWN, []
    for number, group in enumerate(opcodes.groups):
        parts += group_source(number, group, first)
        first += len(group.members)
        choices.append(f"if op < {first}:\n    {APPLY.replace('apply', f'apply_{number}')}\n")
    choice = "el".join([*choices, "se:\n    status = SERVICE"])
    loop = plain(control.run)
    indent = next(line for line in loop.splitlines() if line.endswith(APPLY)).removesuffix(APPLY)
    whole = [*(plain(f) for f in collecting.WHOLE), loop.replace(indent + APPLY, textwrap.indent(choice, indent))]
    head = "\n".join(f"{name} = {value}" for name, value in NAMES.items())
    marked = (("_part", parts), ("_called", [plain(f) for f in called()]), ("_device", whole))
    return "\n\n".join([head, *(f"@{mark}\n{text}" for mark, texts in marked for text in texts)]) + "\n"


def called() -> Iterator[Callable[..., Any]]:
    """What is long, and called from several places."""
    yield from (*growing_lists.CALLED, *sparse_arrays.CALLED, *array_parts.CALLED)
    yield from (*sparse_lists.CALLED, *list_sensitivities.CALLED, *list_slices.CALLED)
    yield from (structural.getitem, sensitivities.inject, *memory_cells.CALLED)


def plain(function: Callable[..., Any]) -> str:
    """The source of a function without annotations and docstring, which mean nothing to a compiler."""
    code = function.__code__
    names = ", ".join(code.co_varnames[: code.co_argcount])
    return f"def {function.__name__}({names}):\n" + textwrap.indent(body(function), "    ")


def body(function: Callable[..., Any]) -> str:
    """The statements of a function of a module: the lines below its head and its docstring, as far as they are indented."""
    lines = _lines(function.__code__.co_filename)[function.__code__.co_firstlineno - 1 :]
    first = next(k for k, line in enumerate(lines) if line.endswith(":")) + 1
    if lines[first].lstrip().startswith(QUOTES):
        closes = (k for k in range(first, len(lines)) if lines[k].endswith(QUOTES) and (k > first or len(lines[k].strip()) > 3))
        first = next(closes) + 1
    end = next((k for k in range(first, len(lines)) if lines[k] and not lines[k].startswith(" ")), len(lines))
    return textwrap.dedent("\n".join(lines[first:end])).rstrip()


QUOTES = '"' * 3


@cache
def _lines(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8").splitlines()


@cache
def opcodes() -> Opcodes:
    """The opcodes, the same on every target."""
    return Opcodes([name for absent in toolchain.ABSENT.values() for name in absent])


def made() -> Made:
    """What `interpreter` remembers of all this."""
    text, found = source(opcodes()), opcodes()
    return Made(text, addressed(text, (control.run, *collecting.WHOLE)), found.number, found.end)


def addressed(text: str, functions: Iterable[Callable[..., Any]]) -> tuple[str, dict[str, str]]:
    """
    The text with functions of addresses in the place of these, called `…_at`, and what `native.functions` must know of them.

    They are these functions, not callers of them: what is called is compiled twice, by itself and in its caller.
    """
    exports = {}
    for function in functions:
        names, takes, given = function.__code__.co_varnames[: function.__code__.co_argcount], [], ""
        for name in names:
            buffer = {"Words": "_integers", "Doubles": "_reals"}.get(function.__annotations__[name])
            takes += [name, f"{name}_size"] if buffer else [name]
            given += f"    {name} = {buffer}({name}, {name}_size)\n" if buffer else ""
        own = f"{function.__name__}_at"
        text = text.replace(f"\ndef {function.__name__}({', '.join(names)}):\n", f"\ndef {own}({', '.join(takes)}):\n{given}")
        exports[own] = "i" * len(takes) + ":i"
    return text, exports
