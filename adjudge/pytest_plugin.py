"""
The pytest plugin: `pytest --adjudge FILE` makes an item of every primitive and every rewrite that FILE defines.

An item passes if its report has no fault; the report is what a failure shows. May be given more than once; FILE is imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--adjudge FILE` and `--adjudge-seed N`."""
    group = parser.getgroup("adjudge", "judging backpropagators and rewrites")
    group.addoption("--adjudge", action="append", default=[], metavar="FILE", help="judge every primitive and rewrite in FILE")
    group.addoption("--adjudge-seed", type=int, default=0, metavar="N", help="the seed of every random choice")


def pytest_configure(config: pytest.Config) -> None:
    """Adds the files to what is collected; without test paths on the command line they are all that is."""
    files = judged(config)
    for file in files:
        if not file.is_file():
            raise pytest.UsageError(f"--adjudge: there is no file {file}")
    if files:
        asked = config.args if config.args_source == pytest.Config.ArgsSource.ARGS else []
        config.args = [*asked, *map(str, files)]


def judged(config: pytest.Config) -> list[Path]:
    """The files named by `--adjudge`."""
    return [Path(f).resolve() for f in config.getoption("--adjudge")]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file named by `--adjudge` is collected as one that is judged."""
    return JudgedFile.from_parent(parent, path=file_path) if file_path in judged(parent.config) else None


class JudgedFile(pytest.File):
    """A file whose primitives and rewrites are judged."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item per primitive and rewrite."""
        from adjudge.cli.common import import_file
        from adjudge.primitives import UserPrimitive
        from transforms.pattern import PatternRule
        from transforms.system import RewriteSystem

        for name, subject in vars(import_file(self.path)).items():
            if isinstance(subject, (UserPrimitive, PatternRule, RewriteSystem)):
                yield JudgedItem.from_parent(self, name=name, subject=subject, audited=not isinstance(subject, UserPrimitive))


class JudgedItem(pytest.Item):
    """The judgment of one primitive or rewrite."""

    def __init__(self, *, subject: Any, audited: bool, **rest: Any) -> None:
        super().__init__(**rest)
        self.subject, self.audited = subject, audited

    def runtest(self) -> None:
        """Raises FaultsFound with the report if there is a fault."""
        from adjudge.judging import audit, check
        from checkers.verdict import FaultsFound

        report = (audit if self.audited else check)(self.subject, seed=self.config.getoption("--adjudge-seed"))
        if any(f.kind == "fault" for f in report.findings):
            raise FaultsFound(f"{self.name} has faults:\n{report}")
        self.add_report_section("call", "report", str(report))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The report, without a traceback through our own code."""
        from semantics.errors import AdjudgeError

        return str(excinfo.value) if isinstance(excinfo.value, AdjudgeError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the item comes from."""
        return self.path, None, f"adjudge: {self.name}"
