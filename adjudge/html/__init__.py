"""
Reports as one page of HTML that needs nothing else.

    write(reports, path, title=...)    the page, written to a file
    page(reports, title=..., about=...)    the page as text
    judged(judgments, title)           a report of the proofs that `proofs.discharge` made, to be shown like any other
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from adjudge.html.page import page
from checkers.verdict import LedgerEntry, Report
from semantics.errors import Malformed

__all__ = ["judged", "page", "write"]

PACKAGES = ("adjudge", "numpy", "jax", "torch", "autograd", "python-flint", "mpmath", "z3-solver", "hypothesis")
MODULES = {"python-flint": "flint", "z3-solver": "z3"}


def write(reports: Sequence[Report], path: Path | str, *, title: str = "", command: str = "") -> None:
    """
    Writes the page about the reports. Malformed if there is no such folder, or the file cannot be written.

    title    what was judged; the subjects by default        command  what made the reports, if it was a command
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise Malformed(f"there is no folder {path.parent}", rule="html", remedy="name a file in a folder that is there")
    if path.is_dir():
        raise Malformed(f"{path} is a folder", rule="html", remedy=f"name a file: {path / 'report.html'}")
    seeds = sorted({str(r.seed) for r in reports if r.seed is not None})
    about = ({"command": command} if command else {}) | ({"seed": ", ".join(seeds)} if seeds else {}) | versions()
    subjects = ", ".join(r.subject for r in reports[:3]) + (f" and {len(reports) - 3} more" if len(reports) > 3 else "")
    text = page(reports, title=title or subjects or "Nothing", about=about)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Malformed(
            f"{path} cannot be written: {error.strerror}", rule="html", remedy="name a file that you may write"
        ) from error


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that had a part in it."""
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        if MODULES.get(package, package) in sys.modules:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                continue
    return found


def judged(judgments: Iterable[Any], title: str = "proofs") -> Report:
    """The report of judgments that have a `name`, a `verdict` and the `seconds` that it took."""
    judgments = list(judgments)
    ledger = tuple(LedgerEntry(j.name, j.seconds) for j in judgments)
    return Report(title, tuple(j.verdict for j in judgments), ledger)
