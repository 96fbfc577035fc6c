"""
The three profiles of property tests: `dev` (the default), `ci` (the same examples on every run) and `deep`.

Choose one with `pytest --hypothesis-profile=deep`. Failing examples are printed so that they can be replayed.

The fixture `adjudge` runs a command as a user types it; `own_store` is an empty folder for compiled code.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile("dev", max_examples=20, deadline=None, print_blob=True, suppress_health_check=SLOW_IS_FINE)
settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, print_blob=True, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile("deep", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=SLOW_IS_FINE)
settings.load_profile("dev")

os.environ["ADJUDGE_WAIT"] = "1"  # what is compiled is compiled here, so that calls are of the same tier in every run


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """
    The last collection is here, while the session still goes on, and none after it has objects to go over. A worker that has run
    many tests holds so many that one took longer than the five seconds after which it is interrupted: a KeyboardInterrupt in
    whatever Python code came next, which was what Hypothesis does at the end of a collection.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder, in which compiled code is kept while the tests of a module run."""
    from backend import store

    path, before = tmp_path_factory.mktemp("kept"), store.folder
    store.folder = lambda: path  # type: ignore[assignment]
    yield path
    store.folder = before


@pytest.fixture
def adjudge(monkeypatch, capsys):
    """A function from the words of a command to its exit code, its output, and what it says of errors."""
    from adjudge.cli import main

    def command(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["adjudge", *arguments])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return command
