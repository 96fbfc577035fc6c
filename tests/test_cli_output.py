"""Where the output cannot be written, a command ends in one of our errors and exit code 2; what an encoding lacks is escaped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no device here is always full")
PROGRAM = "def f(x, y):\n    return x * y\n"


def adjudge(*words: str, stdout: int = subprocess.PIPE, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-m", "adjudge", *words]
    return subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, env=known, check=False)


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "program.py").write_text(PROGRAM)
    return f"{tmp_path / 'program.py'}:f"


@needs_full
@pytest.mark.parametrize("words", [["show"], ["show", "--json"], ["infer"]])
def test_a_full_disk_is_bad_input_and_no_refutation(program: str, words: list[str]) -> None:
    with FULL.open("w") as full:
        done = adjudge(words[0], program, *words[1:], *(["f64", "f64"] if words == ["infer"] else []), stdout=full.fileno())
    assert done.returncode == 2
    assert done.stderr.startswith("Malformed: the output cannot be written: No space left on device\n  try: ")


def test_a_letter_that_the_terminal_has_not_is_escaped(program: str) -> None:
    """The near miss is UTF-8, which has them all."""
    done = adjudge("show", program, "--after", "ssa", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "%1 \\u2190 mul(x, y)" in done.stdout
    assert "%1 ← mul(x, y)" in adjudge("show", program, "--after", "ssa", PYTHONIOENCODING="utf-8").stdout


def test_without_an_output_a_command_does_its_work(program: str, tmp_path: Path) -> None:
    saved = tmp_path / "derivation.json"
    script = f"{sys.executable} -m adjudge step {program} 2.0 3.0 --save {saved} >&-"
    known = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", script], env=known, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert saved.read_text().startswith("{")


@needs_full
def test_a_report_is_printed_though_its_page_cannot_be_written() -> None:
    done = adjudge("check", "examples/primitives.py:softplus", "--html", str(FULL), "--skip", "composition", "--skip", "vacuity")
    assert done.returncode == 2
    assert "Proved, " in done.stdout
    assert "Malformed: /dev/full cannot be written: No space left on device" in done.stderr


def test_a_function_that_is_not_there_is_answered_with_those_that_are(program: str) -> None:
    assert "try: it has f" in adjudge("show", program.replace(":f", ":integrate")).stderr


def test_an_argument_that_is_no_value_has_no_line_in_the_file(program: str) -> None:
    said = adjudge("run", program, "abc", "1.0").stderr
    assert "the argument 'abc' is not a value: the name abc is not defined" in said
    assert "program.py:" not in said
