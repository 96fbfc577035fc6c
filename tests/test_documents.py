"""The documents are true: their commands do what they say, their Python runs, and the table of NumPy names is the one there is."""

from __future__ import annotations

import ast
import re
import shlex
import sys
from pathlib import Path

import pytest

from transforms.parse.numpy_names import LINALG, NUMPY

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
PAPERS = (ROOT / "docs" / "papers.md").read_text()
LANGUAGE = (ROOT / "docs" / "language.md").read_text()

# what takes long is run by the tests of the part that it shows
ELSEWHERE = {
    "adjudge prove": "test_proofs_backpropagators",
    "adjudge prove --jobs 2": "test_proofs_run",
    "adjudge prove --recheck": "test_certificates",
    "adjudge check examples/primitives.py": "test_check_zoo",
    "adjudge audit examples/rewrites.py": "test_command_line",
    "adjudge crosscheck examples/figure_1.py:f --grad x": "test_command_line",
    "adjudge run examples/pow.py:pow 1.0 1000000": "test_semantics_machine",
    "adjudge about --costs": "test_costs",
    "adjudge check my_primitives.py": "test_a_primitive_of_the_readme_is_judged",
    "adjudge audit my_rules.py": "test_a_rewrite_of_the_readme_is_judged",
}


def commands() -> dict[str, int]:
    """Every command that the README and the papers' table give in full, with the exit code that they say it has."""
    indented = re.findall(r"^    (adjudge .*?)(?:  +#.*)?$", README, re.MULTILINE)
    quoted = re.findall(r"`(adjudge [^`…]+)`(?: \(exit code (\d)\))?", PAPERS)
    return {**dict.fromkeys(indented, 0), **{command: int(code or 0) for command, code in quoted}}


COMMANDS = commands()


@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in ELSEWHERE])
def test_a_command_of_the_documents_does_what_it_says(adjudge, monkeypatch, command):
    monkeypatch.chdir(ROOT)
    code, out, err = adjudge(*shlex.split(command)[1:])
    assert code == COMMANDS[command], err
    assert "Traceback" not in err
    assert (out if code == 0 else err).strip()


def test_every_command_is_run_here_or_elsewhere():
    assert ELSEWHERE.keys() <= COMMANDS.keys()
    assert all(where in globals() or (ROOT / "tests" / f"{where}.py").exists() for where in ELSEWHERE.values())
    assert len(COMMANDS) > 30


ROWS = (*(f"M{i}" for i in range(1, 16)), *(f"Z{i}" for i in range(1, 8)), *(f"A{i}" for i in range(1, 10)))


@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_demonstrated_by_a_command(row):
    (line,) = re.findall(rf"^\| {row} \|.*$", PAPERS, re.MULTILINE)
    shown = re.findall(r"`(adjudge [^`]+)`", line)
    tables = re.findall(r"`python -m bench (\w+)`", line)
    assert shown or tables
    assert set(shown) <= COMMANDS.keys()
    assert all(f'"{table}": ' in (ROOT / "bench" / "__main__.py").read_text() for table in tables)
    for path in re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", line):
        assert (ROOT / path).exists(), path


# the Python of the README

BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def block(about: str) -> str:
    """The one block of the README that contains a text."""
    (found,) = [b for b in BLOCKS if about in b]
    return found


def asserting(text: str) -> str:
    """The Python, its lines `expression  # literal` made assertions."""
    lines = []
    for line in text.splitlines():
        expression, _, comment = line.partition("  #")
        try:
            value = ast.literal_eval(comment.strip())
        except (ValueError, SyntaxError):
            lines.append(line)
        else:
            lines.append(f"assert {expression.strip()} == {value!r}")
    return "\n".join(lines)


@pytest.mark.parametrize("about", ["aj.compile(aj.grad(f)", "class Layer"])
def test_the_python_of_the_readme_runs_and_gives_what_it_says(about, tmp_path, monkeypatch):
    name = f"readme_{'arrays' if 'Layer' in about else 'scalars'}"
    (tmp_path / f"{name}.py").write_text(asserting(block(about)))
    monkeypatch.syspath_prepend(tmp_path)
    __import__(name)
    del sys.modules[name]


def test_the_readme_says_what_its_expressions_give():
    assert asserting(block("aj.compile(aj.grad(f)")).count("assert ") == 3


def test_a_primitive_of_the_readme_is_judged(adjudge, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_primitives.py").write_text(block("@aj.primitive"))
    code, out, _ = adjudge("check", "my_primitives.py")
    assert code == 0
    assert "proved" in out


def test_a_rewrite_of_the_readme_is_judged(adjudge, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my_rules.py").write_text(block("aj.rule"))
    code, out, _ = adjudge("audit", "my_rules.py")
    assert code == 1
    assert "-0.0" in out


# the table of names


def test_the_table_of_numpy_names_is_complete():
    """Every name of the table is there, and every function there is in the table."""
    (table,) = re.findall(r"^\| made .*?(?=^\| updated)", LANGUAGE, re.MULTILINE | re.DOTALL)
    words = {w for quoted in re.findall(r"`([^`]+)`", table) for w in quoted.split() if w.isidentifier()}
    functions = {
        n for n in (*NUMPY.members, *LINALG.members) if not isinstance(getattr(__import__("numpy"), n, None), (float, type))
    }
    assert words == functions - {"linalg", "newaxis"}


# what a page shows of a command is what the command prints; the tutorials leave things out, and have tests of their own

TUTORIALS = ("audit-an-optimizer.md", "check-a-backpropagator.md")

SHOWN = [
    (page.name, command, output)
    for page in sorted((ROOT / "docs").glob("*.md"))
    if page.name not in TUTORIALS
    for command, output in re.findall(r"^```console\n\$ (adjudge .*)\n((?:.*\n)*?)```$", page.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize(("page", "command", "output"), SHOWN, ids=[f"{page}: {command}" for page, command, _ in SHOWN])
def test_a_page_shows_what_the_command_prints(adjudge, monkeypatch, page, command, output):
    monkeypatch.chdir(ROOT)
    code, out, err = adjudge(*shlex.split(command)[1:])
    assert code == 0, err
    assert output.strip(), f"{page} does not show what {command} prints"
    assert [line.rstrip() for line in out.rstrip().splitlines()] == [line.rstrip() for line in output.splitlines()]


def test_pages_show_commands():
    assert {"reverse-modes.md"} <= {page for page, _, _ in SHOWN}
