"""
A tutorial that is run: its fenced blocks, the sessions in them, and whether what a command prints is what the page shows.

    ```python            a file, if its first line is `# name.py`; else Python whose lines `expression  # literal` must hold
    ```console           `$ command`, and what it prints; `…` is any text, a line `…` any lines
    ```console jax       run only where that package is installed
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import pytest
from test_documents import asserting

from adjudge.cli.common import import_file

ROOT = Path(__file__).resolve().parent.parent
CUT = "…"
REFUTED = re.compile(r"refuted \((fault|accuracy)\)|^(fault|accuracy): ", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the package without which it is not run, its text."""

    language: str
    needs: str
    text: str

    @property
    def file(self) -> str:
        """The file that a block of Python is, if its first line names one."""
        named = re.match(r"# (\w+\.py)\n", self.text)
        return named[1] if named and self.language == "python" else ""


@dataclass(frozen=True)
class Session:
    """A command of the page, with what it is shown to print."""

    command: str
    shown: str
    needs: str


@dataclass(frozen=True)
class Tutorial:
    """A page of docs/."""

    blocks: tuple[Block, ...]

    @property
    def sessions(self) -> list[Session]:
        """The commands of the page, in order."""
        found = []
        for block in self.blocks:
            if block.language == "console":
                for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                    command, _, shown = part.partition("\n")
                    found.append(Session(command, shown, block.needs))
        return found

    @property
    def snippets(self) -> list[Block]:
        """The Python of the page that is no file."""
        return [b for b in self.blocks if b.language == "python" and not b.file]

    def write(self, folder: Path) -> None:
        """The files of the page and our examples, in a folder."""
        for block in self.blocks:
            if block.file:
                (folder / block.file).write_text(block.text)
        (folder / "examples").symlink_to(ROOT / "examples")
        import_file.cache_clear()


def tutorial(name: str) -> Tutorial:
    """The page docs/NAME."""
    page = (ROOT / "docs" / name).read_text()
    found = re.findall(r"^```(\w+) ?(\w*)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return Tutorial(tuple(Block(*parts) for parts in found))


def skip_without(package: str) -> None:
    """Skips the test where a package is not installed."""
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def run_session(session: Session, adjudge: Callable[..., tuple[int, str, str]], folder: Path) -> None:
    """A command prints what the page shows; ours exits with 1 if and only if that has a `refuted` fault or lost digits."""
    skip_without(session.needs)
    words = shlex.split(session.command)
    if words[0] == "adjudge":
        code, out, err = adjudge(*words[1:])
        assert code == int(REFUTED.search(session.shown) is not None), err
    else:
        command = [sys.executable, "-m", *words, "-p", "no:cacheprovider"]
        out = subprocess.run(command, cwd=folder, env=at_a_desk(), capture_output=True, text=True, timeout=120, check=False).stdout
    assert prints(session.shown, out), out


def at_a_desk() -> dict[str, str]:
    """The environment without what tells pytest that it runs unattended, where its summary has every line of a failure."""
    return {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}


def run_snippet(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python of a page gives what it says, and says something."""
    skip_without(block.needs)
    text = asserting(block.text)
    assert "assert " in text or "raise_for_faults" in text
    (folder / "of_the_page.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "of_the_page", raising=False)
    __import__("of_the_page")
    del sys.modules["of_the_page"]


def fits(shown: str, found: str) -> bool:
    """Whether a line is the one shown: `…` is any text, spaces are any number of spaces."""
    words = ["[ ]+".join(map(re.escape, re.split(" +", piece))) for piece in shown.rstrip().split(CUT)]
    return re.fullmatch(".*".join(words), found.rstrip()) is not None


def prints(shown: str, found: str) -> bool:
    """Whether the output is what the page shows; a line `…` is any lines, so what follows it is looked for from there on."""
    lines = found.strip("\n").splitlines()
    parts = [list(g) for cut, g in groupby(shown.strip("\n").splitlines(), lambda line: line == CUT) if not cut]
    starts_cut, ends_cut = shown.startswith(CUT + "\n"), shown.rstrip("\n").endswith("\n" + CUT)
    at = 0
    for i, part in enumerate(parts):
        last = i == len(parts) - 1 and not ends_cut
        choices = [0] if i == 0 and not starts_cut else range(at, len(lines) - len(part) + 1)
        places = [p for p in choices if all(map(fits, part, lines[p : p + len(part)])) and p + len(part) <= len(lines)]
        places = [p for p in places if not last or p + len(part) == len(lines)]
        if not places:
            return False
        at = places[0] + len(part)
    return True
