"""
How large the parts are, and how complex the reverse modes: the measure of MimIrADe's Table 2, by radon.

Lines are radon's `sloc`: lines that hold code, without blank lines, comments and docstrings; `lloc` counts statements. Complexity
is cyclomatic: its total and largest are over functions and methods; its mean is that of `radon cc -a`, over functions, methods
and classes, and is also given per function alone, as the table of the paper has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from radon.complexity import cc_visit
from radon.raw import analyze
from radon.visitors import Class

ROOT = Path(__file__).resolve().parent.parent.parent
LAYERS = ("semantics", "transforms", "backend", "checkers", "proofs", "adjudge")
MOST_LINES, MOST_COMPLEXITY = 600, 4.0  # what a reverse mode is kept below

EXTENSIONS = tuple(f"transforms/pullback/{name}.py" for name in ("pointers", "cells", "accumulation", "for_loops"))
POLICIES = ("transforms/ssa_adjoint/rerun.py",)
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "J": (("transforms/grad.py", "transforms/grad_state.py", "transforms/adjoint_primitives.py"), ()),
    "SSA adjoint": (("transforms/ssa_adjoint/*.py",), POLICIES),
    "SSA adjoint, with the policies mixed and recompute": (("transforms/ssa_adjoint/*.py",), ()),
    "local pullbacks": (("transforms/pullback/*.py",), EXTENSIONS),
    "local pullbacks, with pointers and for": (("transforms/pullback/*.py",), ()),
    "shadow memory": (("transforms/shadow_memory.py", "transforms/shadow_state.py"), ()),
}
COLUMNS = ("transform", "files", "lines", "statements", "functions", "total CC", "mean CC", "per function", "largest CC")
MODES = ("J", "SSA adjoint", "local pullbacks")

PUBLISHED = (
    ("MimIrADe (Table 2)", "4.7k", 704, 1.6),
    ("MimIrADe without pointers (Table 2)", "1.3k", 141, 1.8),
    ("Enzyme (Table 2)", "58.9k", 13793, 10.9),
    ("Enzyme without plugins (Table 2)", "49.4k", 11857, 12.8),
)


@dataclass(frozen=True, slots=True)
class Size:
    """Lines of code, statements, and the complexities of the functions and of the classes of some files."""

    files: int
    sloc: int
    lloc: int
    functions: tuple[int, ...]
    classes: tuple[int, ...]

    @property
    def mean(self) -> float:
        """The mean complexity of a block, that is of a function, a method or a class: what `radon cc -a` prints."""
        blocks = (*self.functions, *self.classes)
        return sum(blocks) / max(1, len(blocks))

    @property
    def per_function(self) -> float:
        """The mean complexity of a function or method."""
        return sum(self.functions) / max(1, len(self.functions))


def files_of(patterns: Sequence[str], without: Sequence[str] = ()) -> list[Path]:
    """The files that the patterns name, below the root."""
    left_out = {ROOT / name for name in without}
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path not in left_out]


def measured(files: Sequence[Path]) -> Size:
    """The size of some files together."""
    sources = [path.read_text() for path in files]
    raw = [analyze(source) for source in sources]
    blocks = [block for source in sources for block in cc_visit(source)]
    functions = tuple(b.complexity for b in blocks if not isinstance(b, Class))
    classes = tuple(b.complexity for b in blocks if isinstance(b, Class))
    return Size(len(files), sum(r.sloc for r in raw), sum(r.lloc for r in raw), functions, classes)


def size_of(part: str) -> Size:
    """The size of one of the PARTS."""
    return measured(files_of(*PARTS[part]))


def transforms() -> list[dict[str, Any]]:
    """Every reverse mode beside the two tools that MimIrADe's Table 2 compares."""
    rows: list[dict[str, Any]] = []
    for part in PARTS:
        size = size_of(part)
        counts = (size.files, size.sloc, size.lloc, len(size.functions), sum(size.functions))
        means = (f"{size.mean:.1f}", f"{size.per_function:.1f}", max(size.functions, default=0))
        rows.append(dict(zip(COLUMNS, (part, *counts, *means), strict=True)))
    for tool, lines, total, mean in PUBLISHED:
        rows.append(dict(zip(COLUMNS, (tool, "–", lines, "–", "–", total, "–", mean, "–"), strict=True)))
    return rows


def packages() -> list[dict[str, Any]]:
    """Every package: its files, their lines, the longest file."""
    rows = []
    for package in LAYERS:
        files = sorted((ROOT / package).rglob("*.py"))
        lines = [len(f.read_text().splitlines()) for f in files]
        rows.append({"package": package, "files": len(files), "lines": sum(lines), "longest file": max(lines)})
    return rows
