"""
The three profiles of property tests: `dev` (the default), `ci` (the same examples on every run) and `deep`.

Choose one with `pytest --hypothesis-profile=deep`. Failing examples are printed so that they can be replayed.

The fixture `adjudge` runs a command as a user types it.
"""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, settings

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile("dev", max_examples=20, deadline=None, print_blob=True, suppress_health_check=SLOW_IS_FINE)
settings.register_profile(
    "ci", max_examples=60, deadline=None, derandomize=True, print_blob=True, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile("deep", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=SLOW_IS_FINE)
settings.load_profile("dev")


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
