"""
The opcodes of numbers, made from the column "numba": one function per primitive, with a case for each pair of kinds of arguments.

So the machine and the generated code of tier A compute with one and the same text. Where a test before an operation says that 64
bits do not hold the result, or that the program traps, the answer is SERVICE: the host computes with integers of any size, or
raises.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from backend.columns import NUMBA, Template
from backend.machine import (
    array_parts,
    list_slices,
    memory_cells,
    sensitivities,
    small_arrays,
    small_matrices,
    small_sensitivities,
    structural,
)
from backend.machine.layout import COMPARISONS, OWN
from semantics.columns.arithmetic import MOST_BITS
from semantics.errors import AdjudgeError
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL, Scalar
from semantics.type_lattice import Literal

TAGS = {REAL: "REAL", INTEGER: "INT", BOOLEAN: "BOOL"}
KINDS = {
    "real": (REAL, INTEGER),
    "number": (REAL, INTEGER),
    "integer": (INTEGER,),
    "boolean": (BOOLEAN,),
    "any": (REAL, INTEGER, BOOLEAN),
}
NAMES = "xyzw"

# what a symbolic ZERO among the operands makes of the result; elsewhere the host reads it as the real 0
_LEFT, _RIGHT = "I[x] == ZERO and REAL <= I[y] <= INT", "I[y] == ZERO and REAL <= I[x] <= INT"
_LEFT_ARRAY, _RIGHT_ARRAY = "I[x] == ZERO and I[y] == ARRAY", "I[y] == ZERO and I[x] == ARRAY"
ZEROS: dict[str, tuple[tuple[str, str], ...]] = {
    "add": ((_LEFT, "copy(I, y, out)"), (_RIGHT, "copy(I, x, out)")),
    "sub": ((_RIGHT, "copy(I, x, out)"),),
    "mul": ((f"{_LEFT} or {_LEFT_ARRAY}", "copy(I, x, out)"), (f"{_RIGHT} or {_RIGHT_ARRAY}", "copy(I, y, out)")),
    "div": ((f"I[x] == ZERO and I[y] == REAL or {_LEFT_ARRAY}", "copy(I, x, out)"),),
    "neg": (("I[x] == ZERO", "copy(I, x, out)"),),
}


TABLES: tuple[dict[str, Any], ...] = (
    {**structural.UNARY, **sensitivities.UNARY, **small_arrays.UNARY, **small_matrices.UNARY, **memory_cells.UNARY},
    {
        **structural.BINARY,
        **sensitivities.BINARY,
        **small_sensitivities.BINARY,
        **array_parts.BINARY,
        **small_matrices.BINARY,
        **memory_cells.BINARY,
    },
    {
        **structural.TERNARY,
        **sensitivities.TERNARY,
        **small_arrays.TERNARY,
        **list_slices.TERNARY,
        **memory_cells.TERNARY,
    },
    {**small_matrices.QUATERNARY},
)
"""The functions on structured values with one operand, two, three and four."""


def numeric() -> Iterator[Primitive]:
    """The rows whose text is in the column, in the order of the table; those that structural code covers are not among them."""
    covered = {*COMPARISONS, *structural.VARIADIC, *(name for table in TABLES for name in table)}
    for name, primitive in TABLE.items():
        if not isinstance(NUMBA.find(primitive), Hole) and name not in covered:
            yield primitive


Case = tuple[tuple[Scalar, ...], Template, str]


@cache
def cases(primitive: Primitive) -> tuple[Case, ...]:
    """For each choice of scalar types that the row takes: the types, the text, and a further condition on the arguments."""
    return tuple(_cases(primitive))


def _cases(primitive: Primitive) -> Iterator[Case]:
    cell = NUMBA[primitive]
    for types in product(*(KINDS[kind] for kind in primitive.signature)):
        if primitive.name == "pow" and types == (INTEGER, INTEGER):
            yield types, cell(INTEGER, Literal(INTEGER, 0)), f"0 <= I[y + 1] <= {MOST_BITS}"
            yield types, cell(INTEGER, Literal(INTEGER, -1)), "I[y + 1] < 0"
            continue  # a larger exponent is for the host: the meaning traps at results of too many bits
        if BOOLEAN in types and len(set(types)) > 1:
            continue
        try:
            yield types, cell(*types), ""
        except AdjudgeError:
            continue


def function(primitive: Primitive) -> str:
    """The body of the opcode of a numeric row that is not `elementary`: the operands are at x, y, the result goes to `out`."""
    names = NAMES[: len(primitive.signature)]
    lines = []
    found = cases(primitive)
    for types, template, further in found:
        if not template.real:
            tests = [f"I[{x}] == {TAGS[t]}" for x, t in zip(names, types, strict=True)]
            lines.append(f"if {' and '.join([*tests, further] if further else tests)}:")
            lines += [f"    {line}" for line in body(names, types, template)]
    if any(further for _, _, further in found):
        lines += [f"if {' and '.join(f'I[{x}] == INT' for x in names)}:", "    return SERVICE"]
    for template in dict.fromkeys(template for _, template, _ in found if template.real):
        lines.append(f"if {' and '.join(f'(I[{x}] == REAL or I[{x}] == INT)' for x in names)}:")
        lines += [f"    {line}" for line in body(names, (REAL,) * len(names), template)]
    for condition, result in ZEROS.get(primitive.name, ()):
        lines += [f"if {condition}:", f"    return {result}"]
    return "\n".join([*lines, f"return {on_arrays(primitive)}"])


def on_arrays(primitive: Primitive) -> str:
    """What becomes of arguments that are no numbers."""
    if primitive.name in small_arrays.BY_PAIRS:
        return f"pairs(I, F, {small_arrays.BY_PAIRS.index(primitive.name)}, x, y, out)"
    return "negated(I, F, x, out)" if primitive.name == "neg" else "SERVICE"


def pair() -> str:
    """The choice among the rows that go over pairs of elements."""
    texts = [NUMBA[TABLE[name]](REAL, REAL).text.format("x", "y") for name in small_arrays.BY_PAIRS]
    tests = [f"    if op == {k}:\n        return {text}" for k, text in enumerate(texts[:-1])]
    return "\n".join(["def pair(op, x, y):", *tests, f"    return {texts[-1]}"])


def body(names: str, types: tuple[Scalar, ...], template: Template) -> Iterator[str]:
    """What one case does: the arguments read, the tests, the result and its tag."""
    for x, t in zip(names, types, strict=True):
        read = f"real(I, F, {x})" if template.real else f"F[{x} + 1]" if t == REAL else f"I[{x} + 1]"
        yield f"a{x} = {f'({read} != 0)' if t == BOOLEAN else read}"
    arguments = [f"a{x}" for x in names]
    if "one" in template.text:
        yield "one = F[ONE]"
    for condition, _ in template.checks:
        yield f"if {condition.format(*arguments)}:"
        yield "    return SERVICE"
    text = template.text.format(*arguments)
    if template.fallible:
        yield f"value, failed = {text}"
        yield "if failed != 0:"
        yield "    return SERVICE"
        text = "value"
    yield f"{'F' if template.type == REAL else 'I'}[out + 1] = {f'int({text})' if template.type == BOOLEAN else text}"
    yield f"I[out] = {TAGS[template.type]}"
    yield "return RUNNING"


def is_elementary(primitive: Primitive) -> bool:
    """Whether it is one expression of reals, whatever numbers it is given: what `elementary` groups."""
    texts = {template for _, template, _ in cases(primitive)}
    return len(texts) == 1 and (only := texts.pop()).real and not only.checks and not only.fallible and "one" not in only.text


def elementary(primitive: Primitive) -> str:
    """The expression of such a row, of the reals x, y."""
    return cases(primitive)[0][1].text.format(*NAMES)


def helpers() -> set[str]:
    """The helpers that the texts call."""
    return {"_order"} | {name for primitive in numeric() for _, template, _ in cases(primitive) for name in template.helpers}


class Opcodes:
    """
    The numbers of the opcodes, in groups: one group per number of operands and way of working, each with its source.

    `absent` are the names of functions that some target lacks: what calls them is served by the host. So one program is the same
    data on every target, and a run may go from one to another.
    """

    def __init__(self, absent: Collection[str] = ()) -> None:
        texts = {p: elementary(p) if is_elementary(p) else function(p) for p in numeric()}
        kept = [p for p, text in texts.items() if not any(f"{f}(" in text for f in absent)]
        self.groups = [Group(0, FUNCTIONS, dict(structural.VARIADIC)), Group(2, ORDERS, COMPARISONS)]
        for n, table in enumerate(TABLES, 1):
            mine = [p for p in kept if len(p.signature) == n]
            self.groups.append(Group(n, FUNCTIONS, {**table, **{p.name: texts[p] for p in mine if not is_elementary(p)}}))
            self.groups.append(Group(n, REALS, {p.name: texts[p] for p in mine if is_elementary(p)}))
        self.groups = [group for group in self.groups if group.members]
        names = [name for group in self.groups for name in group.members]
        self.number = {name: OWN + k for k, name in enumerate(names)}
        self.end = OWN + len(names)
        """The first number that no opcode has: from here on the host serves."""


FUNCTIONS, REALS, ORDERS = "functions", "reals", "orders"


@dataclass(frozen=True)
class Group:
    """
    Opcodes with the same number of operands, any number for 0, that work alike. What a member is depends on how:

    functions  a function of structured values, or the body of one
    reals      an expression of reals
    orders     which answers of a comparison make it True
    """

    operands: int
    form: str
    members: dict[str, Any]
