"""
Python programs over numbers, arrays and lists, drawn: names that are taken for others, swapped and taken back, loops of every kind.

Nearly all are well-typed, since every name keeps its kind (`array_lines`); any line may go when one shrinks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from array_lines import ALWAYS, BEGINS, GIVEN, GUARDED, HELPERS, KIND, LINES, LOOPS, NAMES, SUMS, TESTS
from hypothesis import strategies as st

FIELD = re.compile(r"\{([A-Z])\}")


@dataclass(frozen=True)
class Scope:
    """Where a line stands: what it may read beside the names, how deep it is, and whether a loop goes on around it."""

    integers: tuple[str, ...] = ("n", "0", "1", "2")
    numbers: tuple[str, ...] = ("e", "0.5")
    rows: tuple[str, ...] = ()
    depth: int = 0
    looping: bool = False


@dataclass(frozen=True)
class Drawn:
    """A program: its lines, with RETURN and names where it returns, of the same kinds each time."""

    lines: tuple[str, ...]

    def text(self, whole: bool) -> str:
        """The source; what is returned is a tuple of what all names have, or one number."""
        body = [_returns(line, whole) for line in self.lines]
        used = {word for line in body for word in re.findall(r"\b[a-z]\w*\b", line)}
        helpers = [text.strip() for name, text in HELPERS.items() if name in used]
        begins = [f"    {name} = {value}" for name, value in BEGINS.items() if name in used]
        return "\n".join(["import numpy as np", *helpers, "def f(x, y, n2, e: float, n: int):", *begins, *body]) + "\n"


def _returns(line: str, whole: bool) -> str:
    indent, returns, names = line.partition("RETURN")
    if not returns:
        return line
    if whole:
        return f"{indent}return ({', '.join(GIVEN.get(KIND[name], '{}').format(name) for name in names.split())},)"
    return f"{indent}return {' + '.join(SUMS[KIND[name]].format(name) for name in names.split())}"


class _Writer:
    """Draws lines; `kinds` are those whose names a program has."""

    def __init__(self, draw: st.DrawFn, kinds: str) -> None:
        self.draw, self.loops = draw, 0
        self.kinds = set(kinds) | {"E", "I", "C"}
        some = st.lists(st.sampled_from(self.known(LINES)), min_size=5, max_size=12, unique=True)
        self.lines = draw(some) + self.known(ALWAYS)
        self.tests, self.over = self.known(TESTS), self.known(LOOPS)
        self.guarded = self.known(GUARDED)

    def known(self, templates: Sequence[str]) -> list[str]:
        return [t for t in templates if set(FIELD.findall(t)) <= self.kinds]

    def one(self, template: str, scope: Scope) -> str:
        """The template with a name in each place."""
        target, equals, value = template.rpartition(" = ")
        return (
            FIELD.sub(lambda at: self.name(at, scope, ()), target)
            + equals
            + FIELD.sub(lambda at: self.name(at, scope, scope.rows), value)
        )

    def name(self, at: re.Match[str], scope: Scope, rows: Sequence[str]) -> str:
        match at.group(1):
            case "I":
                return self.draw(st.sampled_from(scope.integers))
            case "E":
                return self.draw(st.sampled_from(scope.numbers))
            case "C":
                return self.one(self.draw(st.sampled_from(self.tests)), scope)
            case kind:
                return self.draw(st.sampled_from((*NAMES[kind], *(rows if kind == "A" else ()))))

    def block(self, scope: Scope, most: int, least: int = 1) -> list[str]:
        """Lines of which the first is at the margin."""
        lines: list[str] = []
        kinds = ["line"] * 6 + ["back"] + ["if", "if"] * (scope.depth < 3) + ["guard"] * bool(self.guarded)
        for _ in range(self.draw(st.integers(least, most))):
            match self.draw(st.sampled_from(kinds + ["loop", "loop", "while"] * (scope.depth < 2 and self.loops < MOST_LOOPS))):
                case "line":
                    lines.append(self.one(self.draw(st.sampled_from(self.lines)), scope))
                case "guard":
                    name = self.draw(st.sampled_from(NAMES["P"]))
                    line = self.draw(st.sampled_from(self.guarded)).replace("{P}", name)
                    head, colon, body = line.partition(":")
                    lines += [head + colon, "   " + self.one(body, scope)]
                case "back":
                    lines += self.back(scope)
                case "if":
                    lines += self.choice(scope)
                case "loop":
                    lines += self.loop(scope)
                case "while":
                    lines += self.counted(scope)
        return lines

    def counted(self, scope: Scope) -> list[str]:
        """A `while` that counts its turns, and may end before."""
        self.loops += 1
        i = f"j{self.loops}"
        inner = replace(scope, integers=(*scope.integers, i), depth=scope.depth + 1, looping=True)
        test = f" and {self.one(self.draw(st.sampled_from(self.tests)), scope)}" if self.draw(st.booleans()) else ""
        head = f"while {i} < {self.draw(st.sampled_from(('n', '3')))}{test}:"
        return [f"{i} = 0", head, f"    {i} += 1", *indented(self.block(inner, 4))]

    def back(self, scope: Scope) -> list[str]:
        """An old value has another name, which some turns go back to."""
        names = NAMES[self.draw(st.sampled_from([kind for kind in "AFBLM" if kind in self.kinds]))]
        new, old = self.draw(st.permutations(names))[:2]
        kind = next(kind for kind in NAMES if NAMES[kind] is names)
        added = "[{F}]" if kind == "L" else f"{{{kind}}} * 0.5"
        lines = [f"{old} = {new}", self.one(f"{new} = {new} + {added}", scope), *self.block(replace(scope, depth=3), 2)]
        return [*lines, f"if {self.one(self.draw(st.sampled_from(self.tests)), scope)}:", f"    {new} = {old}"]

    def choice(self, scope: Scope) -> list[str]:
        inner = replace(scope, depth=scope.depth + 1)
        ends = [[], [], [], ["RETURN"], *([["break"], ["continue"]] if scope.looping else [])]
        lines = [f"if {self.one(self.draw(st.sampled_from(self.tests)), scope)}:"]
        lines += indented(self.block(inner, 3) + self.draw(st.sampled_from(ends)))
        if self.draw(st.booleans()):
            lines += ["else:", *indented(self.block(inner, 2))]
        return lines

    def loop(self, scope: Scope, most: int = 4, least: int = 1) -> list[str]:
        self.loops += 1
        head = self.one(self.draw(st.sampled_from(self.over)).replace("{k}", str(self.loops)), scope)
        taken = re.findall(r"\b[ifer]\d+\b", head.partition(" in ")[0])
        i, e, r = (tuple(name for name in taken if name[0] in letters) for letters in ("i", "ef", "r"))
        inner = Scope((*scope.integers, *i), (*scope.numbers, *e), (*scope.rows, *r), scope.depth + 1, looping=True)
        return [head, *indented(self.block(inner, most, least))]


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


MOST_LOOPS = 4
KINDS = ("FA", "FA", "FAB", "FAK", "FAP", "FAL", "FAPR", "FABW", "FAM", "FABPL", "FABWKMPLR")
ASSIGNED = re.compile(r"\b[a-z]\b")


@st.composite
def array_programs(draw: st.DrawFn, most: int = 6, kinds: tuple[str, ...] = KINDS) -> Drawn:
    """A program of names of one of `kinds`: a loop, and lines before it and after it. It returns names that it has assigned."""
    writer = _Writer(draw, draw(st.sampled_from(kinds)))
    lines = [*writer.block(Scope(depth=3), 2), *writer.loop(Scope(), most, (most + 1) // 2), *writer.block(Scope(), 2)]
    changed = {name for line in lines if " = " in line for name in ASSIGNED.findall(line.partition(" = ")[0])} | {"h"}
    changed |= {name for name in ASSIGNED.findall(" ".join(lines)) if name in "pqr"}
    result = draw(st.lists(st.sampled_from(sorted(changed & KIND.keys())), min_size=1, max_size=5, unique=True))
    others = [" ".join(draw(st.sampled_from(NAMES[KIND[name]])) for name in result) for line in lines if line.endswith("RETURN")]
    whole = [f"{line} {others.pop()}" if line.endswith("RETURN") else line for line in lines]
    return Drawn(tuple(indented([*whole, f"RETURN {' '.join(result)}"])))
