"""`pytest --adjudge FILE`: an item per primitive, rule and pass, one of the rules together, and nothing else unless asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

RULES = """
import adjudge as aj

double = aj.rule("x * 2.0 -> x + x", domain="BITS")
drop_zero = aj.rule("x + 0.0 -> x", domain="IEEE")
"""


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_only_what_the_file_defines_is_judged(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULES)
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert False\n")
    run = pytest_in(tmp_path, "--adjudge", "rules.py")
    assert "2 failed, 1 passed" in run.stdout, "drop_zero, and both rules together"
    assert "drop_zero" in run.stdout
    assert "rules of rules.py" in run.stdout
    assert "-0.0" in run.stdout
    assert "Traceback" not in run.stdout


def test_tests_that_are_named_run_beside_it(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(RULES.replace('drop_zero = aj.rule("x + 0.0 -> x", domain="IEEE")', ""))
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert True\n")
    assert "2 passed" in pytest_in(tmp_path, "test_other.py", "--adjudge", "rules.py").stdout


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    run = pytest_in(tmp_path, "--adjudge", "none.py")
    assert run.returncode == 4
    assert "there is no file" in run.stderr
