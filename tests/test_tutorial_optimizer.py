"""docs/audit-an-optimizer.md is true: its commands print what it shows, its Python gives what it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path

import pytest
from test_documents import asserting

from adjudge.cli.common import import_file

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "audit-an-optimizer.md").read_text()
CUT = "…"


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


BLOCKS = [Block(*found) for found in re.findall(r"^```(\w+) ?(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
FILES = {b.file: b for b in BLOCKS if b.file}


@dataclass(frozen=True)
class Session:
    """A command of the page, with what it is shown to print."""

    command: str
    shown: str
    needs: str


def sessions() -> list[Session]:
    """The commands of the page, in order."""
    found = []
    for block in BLOCKS:
        if block.language == "console":
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, shown = part.partition("\n")
                found.append(Session(command, shown, block.needs))
    return found


SESSIONS = sessions()


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


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with the files of the page and our examples."""
    for name, block in FILES.items():
        (tmp_path / name).write_text(block.text)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    import_file.cache_clear()
    return tmp_path


def has(package: str) -> bool:
    return not package or find_spec(package) is not None


@pytest.mark.parametrize("session", SESSIONS, ids=lambda s: s.command)
def test_a_command_prints_what_the_page_shows(session: Session, adjudge, folder: Path) -> None:
    if not has(session.needs):
        pytest.skip(f"{session.needs} is not installed")
    words = shlex.split(session.command)
    if words[0] == "adjudge":
        code, out, err = adjudge(*words[1:])
        refuted = "refuted (fault)" in session.shown
        assert code == int(refuted), err
    else:
        command = [sys.executable, "-m", *words, "-p", "no:cacheprovider"]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        out = run.stdout
    assert prints(session.shown, out), out


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "python" and not b.file], ids=lambda b: b.text.split("\n")[2])
def test_the_python_of_the_page_gives_what_it_says(block: Block, folder: Path, monkeypatch) -> None:
    if not has(block.needs):
        pytest.skip(f"{block.needs} is not installed")
    text = asserting(block.text)
    assert "assert " in text or "raise_for_faults" in text
    (folder / "of_the_page.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "of_the_page", raising=False)
    __import__("of_the_page")
    del sys.modules["of_the_page"]


def test_the_page_shows_a_rule_a_refutation_a_pass_and_a_test() -> None:
    commands = [s.command for s in SESSIONS]
    assert len(commands) >= 12
    for wanted in ("--domain BITS", "my_rules.py", "examples/audited_pass.py:tidy", "pytest --adjudge"):
        assert any(wanted in c for c in commands), wanted
    assert all(s.shown.strip() for s in SESSIONS)


def test_a_page_that_shows_something_else_is_found() -> None:
    out = "rule a: proved\ncheck   verdict\nreals   proved\n\n1 Proved\n"
    assert prints("rule a: …\n…\nreals  proved\n…\n", out)
    assert prints("rule a: proved\ncheck  verdict\nreals  proved\n\n1 Proved", out)
    assert not prints("rule a: …\n…\nreals  refuted\n…\n", out)
    assert not prints("rule a: proved\nreals   proved\n…", out)
    assert not prints("rule a: proved", out)
