"""
Arrays in cells of stacks of which only the sizes are read, through whatever loops carry them: their sizes, as integers.

    a7_ = reals[⟦where⟧:⟦where⟧ + i5]          a7_0 = i5
    (a9_, x1) = (a7_, x0)                 →    (a9_0, x1) = (a7_0, x0)
    …a9_.shape[0]…                             …a9_0…

The adjoint of a read x[i] needs no more of x; so the turns of a loop that reads x by index keep no copy of x each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from backend.stacks.arrays import VIEW

NAME = re.compile(r"\b(a\d+_)\b(?!\.shape\[)")
SIZE = re.compile(r"\b(a\d+_)\.shape\[(\d+)\]")
EMPTY = re.compile(r"_empty\(\((?:0, ?)+\), \w+\)")
FLAT = re.compile(r".* = \w+\[(.*)\]$")
FLAGS = re.compile(r".*\.view\(_bool\)\[:(.*)\]$")
SHAPE = re.compile(r".*\(([^()]*)\)\)$")


def sizes_alone(text: str) -> str:
    """A function in which a name that only lends its sizes stands for integers, if it is of an array in a cell."""
    lines = text.split("\n")
    sizes = {view[1]: found for line in lines if (view := VIEW.match(line)) and (found := _sizes(line)) is not None}
    if not sizes:
        return text
    moves, read = _uses(lines, set(sizes))
    rank = {name: len(found) for name, found in sizes.items() if name not in read}
    todo = [*rank]
    while todo:
        name = todo.pop()
        for target, value in moves:
            if value == name and target not in read and target not in rank:
                rank[target] = rank[name]
                todo.append(target)
    dropped = set(rank)
    while dropped:
        dropped = {value for target, value in moves if value in rank and target not in rank}
        rank = {name: n for name, n in rank.items() if name not in dropped}
    return "\n".join(new for line in lines for new in _rewritten(line, sizes, rank)) if rank else text


def _sizes(line: str) -> list[str] | None:
    """The sizes of the array that a line makes a view of."""
    if "_reshape(" in line:
        return [*filter(None, SHAPE.sub(r"\1", line).replace(" ", "").split(","))] if SHAPE.match(line) else None
    if (flags := FLAGS.match(line)) is not None:
        return [flags[1]]
    if (flat := FLAT.match(line)) is None:
        return None
    cut = flat[1]  # begin:begin + size
    begins = (cut[:k] for k, c in enumerate(cut) if c == ":" and cut[k + 1 :].startswith(f"{cut[:k]} + "))
    return next(([cut[2 * len(begin) + 4 :]] for begin in begins), None)


def _uses(lines: list[str], views: set[str]) -> tuple[list[tuple[str, str]], set[str]]:
    """The moves from name to name; and the names that something else is done with than to move them and to ask for sizes."""
    moves: list[tuple[str, str]] = []
    read: set[str] = set()
    for line in lines:
        if (view := VIEW.match(line)) is not None and view[1] in views:
            continue
        for target, value in _pairs(line) or [("", line)]:
            if NAME.fullmatch(target) and (NAME.fullmatch(value) or EMPTY.fullmatch(value)):
                moves.append((target, value))
            else:
                read.update(NAME.findall(target), NAME.findall(value))
    return moves, read


def _pairs(line: str) -> list[tuple[str, str]] | None:
    """What a line assigns to what, in parallel; None if it is no assignment."""
    target, found, value = line.strip().partition(" = ")
    if not found or line.rstrip().endswith(":"):
        return None
    targets, values = _parts(target), _parts(value)
    return [*zip(targets, values, strict=True)] if len(targets) == len(values) else [(target, value)]


def _parts(text: str) -> list[str]:
    """The parts of a tuple, in parentheses or not; else the text."""
    if (inside := _split(text[1:-1])) is not None and text.startswith("(") and text.endswith(")"):
        return inside
    return _split(text) or [text]


def _split(text: str) -> list[str] | None:
    """What is between the commas that are in no brackets; None where more are closed than opened, as in a) + (b."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([⟦") - (c in ")]⟧")
        if depth < 0:
            return None
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


def _rewritten(line: str, sizes: dict[str, list[str]], rank: dict[str, int]) -> Iterator[str]:
    """The lines that a line becomes."""
    indent = line[: len(line) - len(line.lstrip())]
    if (view := VIEW.match(line)) is not None and view[1] in rank and view[1] in sizes:
        yield from (f"{indent}{view[1]}{k} = {n}" for k, n in enumerate(sizes[view[1]]))
        return
    line = SIZE.sub(lambda found: found[1] + found[2] if found[1] in rank else found[0], line)
    pairs = _pairs(line) or []
    if not any(target in rank for target, _ in pairs):
        yield line
        return
    moved = [new for target, value in pairs for new in _moved(target, value, rank)]
    targets, values = ", ".join(t for t, _ in moved), ", ".join(v for _, v in moved)
    yield f"{indent}({targets},) = ({values},)" if len(moved) > 1 else f"{indent}{targets} = {values}"


def _moved(target: str, value: str, rank: dict[str, int]) -> list[tuple[str, str]]:
    """The pair; of a name that lends its sizes, a pair for each axis."""
    if target not in rank:
        return [(target, value)]
    if EMPTY.fullmatch(value):
        return [(f"{target}{k}", "0") for k in range(rank[target])]
    return [(f"{target}{k}", f"{value}{k}" if value in rank else f"{value}.shape[{k}]") for k in range(rank[target])]
