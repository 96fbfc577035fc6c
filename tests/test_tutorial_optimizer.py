"""docs/audit-an-optimizer.md is true: its commands print what it shows, its Python gives what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tutorials import Block, Session, prints, run_session, run_snippet, tutorial

PAGE = tutorial("audit-an-optimizer.md")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the page and our examples."""
    PAGE.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("session", PAGE.sessions, ids=lambda s: s.command)
def test_a_command_prints_what_the_page_shows(session: Session, adjudge: Callable[..., tuple[int, str, str]], folder: Path) -> None:
    run_session(session, adjudge, folder)


@pytest.mark.parametrize("block", PAGE.snippets, ids=lambda b: b.text.split("\n")[2])
def test_the_python_of_the_page_gives_what_it_says(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_snippet(block, folder, monkeypatch)


def test_the_page_shows_a_rule_a_refutation_a_pass_and_a_test() -> None:
    commands = [s.command for s in PAGE.sessions]
    assert len(commands) >= 12
    for wanted in ("--domain BITS", "my_rules.py", "examples/audited_pass.py:tidy", "pytest --adjudge"):
        assert any(wanted in c for c in commands), wanted
    assert all(s.shown.strip() for s in PAGE.sessions)


def test_a_page_that_shows_something_else_is_found() -> None:
    out = "rule a: proved\ncheck   verdict\nreals   proved\n\n1 Proved\n"
    assert prints("rule a: …\n…\nreals  proved\n…\n", out)
    assert prints("rule a: proved\ncheck  verdict\nreals  proved\n\n1 Proved", out)
    assert not prints("rule a: …\n…\nreals  refuted\n…\n", out)
    assert not prints("rule a: proved\nreals   proved\n…", out)
    assert not prints("rule a: proved", out)
