"""docs/check-a-backpropagator.md is true: its commands print what it shows, its Python gives what it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tutorials import Block, Session, run_session, run_snippet, tutorial

PAGE = tutorial("check-a-backpropagator.md")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the page and our examples."""
    PAGE.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("session", PAGE.sessions, ids=lambda s: s.command)
def test_a_command_prints_what_the_page_shows(session: Session, adjudge: Callable[..., tuple[int, str, str]], folder: Path) -> None:
    run_session(session, adjudge, folder)
    if "--html" in session.command:
        assert "<svg" in (folder / "kinks.html").read_text()
    if "--junitxml" in session.command:
        assert 'name="adjudge.seed"' in (folder / "report.xml").read_text()


@pytest.mark.parametrize("block", PAGE.snippets, ids=lambda b: next(w for w in b.text.split() if w[0].isupper() or "(" in w))
def test_the_python_of_the_page_gives_what_it_says(block: Block, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_snippet(block, folder, monkeypatch)


def test_the_page_shows_each_kind_of_finding_each_framework_and_a_test() -> None:
    shown = "\n".join(s.shown for s in PAGE.sessions)
    for kind in ("passed on", "proved", "fault: ", "accuracy: ", "convention: "):
        assert kind in shown
    assert {s.needs for s in PAGE.sessions} == {"", "jax", "torch", "autograd"}
    assert any(s.command.startswith("pytest --adjudge") for s in PAGE.sessions)
    assert all(s.shown.strip() for s in PAGE.sessions)
