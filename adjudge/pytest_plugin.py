"""
The pytest plugin: `pytest --adjudge FILE` makes an item of every primitive, rule and pass that FILE defines, of every rule of JAX,
PyTorch or autograd in it, and one of its rewrite rules together if there are several.

An item fails if its report has a fault, and shows the report; it is skipped if nothing was decided. May be given more than once;
FILE is imported. A table `ADJUDGE` in it says on which samples a rule is judged (see `adjudge.judged`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from checkers.verdict import Report

NOT_DECIDED = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--adjudge FILE`, `--adjudge-seed N` and `--adjudge-skip CHECK`."""
    group = parser.getgroup("adjudge", "judging backpropagators, rewrite rules and passes")
    group.addoption("--adjudge", action="append", default=[], metavar="FILE", help="judge all primitives, rules and passes in FILE")
    group.addoption("--adjudge-seed", type=int, default=0, metavar="N", help="the seed of every random choice")
    group.addoption("--adjudge-skip", action="append", default=[], metavar="CHECK", help="a check not to make, by name")


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
    """A file whose primitives, rules and passes are judged."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item per primitive, rule, set of rules, and pass; a file without any is an error."""
        from adjudge.cli.common import import_file
        from adjudge.judged import primitives_in, rewriting_in
        from semantics.errors import AdjudgeError

        try:
            module = import_file(self.path)
            primitives, rewriting = primitives_in(module), rewriting_in(module, self.path.name)
        except AdjudgeError as error:
            raise self.CollectError(str(error)) from None
        if not primitives and not rewriting:
            raise self.CollectError(f"{self.path} defines no primitive, no rule and no pass")
        for name, found in primitives.items():
            yield JudgedItem.from_parent(self, name=name, subject=found.value, audited=False, options=found.options)
        for name, subject in rewriting.items():
            yield JudgedItem.from_parent(self, name=name, subject=subject, audited=True)


def applicable(skip: Sequence[str], audited: bool) -> list[str]:
    """The names of checks that apply to a rewrite, or to a backpropagator; those that apply to neither, too, to be refused."""
    from checkers.optimizer_audit.checks import CHECKS
    from checkers.primitive_audit import NAMES

    mine, others = (CHECKS, NAMES) if audited else (NAMES, CHECKS)
    return [name for name in skip if name in mine or name not in others]


def properties(report: Report) -> list[tuple[str, str]]:
    """What JUnit XML says of a report beside its failure: the verdict, the seed, the references, how many findings of each kind."""
    from collections import Counter

    from checkers.verdict import KINDS, summary

    kinds = Counter(f.kind for f in report.findings)
    said = {"verdict": summary(report.verdict), "seed": report.seed, "references": report.details.get("references")}
    said |= {kind: kinds[kind] for kind in KINDS}
    return [(f"adjudge.{name}", str(value)) for name, value in said.items() if value is not None]


class JudgedItem(pytest.Item):
    """The judgment of one primitive, rule, set of rules, or pass."""

    def __init__(self, *, subject: Any, audited: bool, options: Mapping[str, Any] | None = None, **rest: Any) -> None:
        super().__init__(**rest)
        self.subject, self.audited, self.options = subject, audited, dict(options or {})

    def runtest(self) -> None:
        """Raises FaultsFound with the report if there is a fault; skips if nothing was decided."""
        from adjudge.judging import audit, check
        from checkers.verdict import FaultsFound, summary

        seed, skip = self.config.getoption("--adjudge-seed"), self.config.getoption("--adjudge-skip")
        judge = audit if self.audited else check
        report = judge(self.subject, seed=seed, skip=applicable(skip, self.audited), **self.options)
        self.add_report_section("call", "report", str(report))
        self.user_properties += properties(report)
        if any(f.kind == "fault" for f in report.findings):
            raise FaultsFound(f"{self.name} has faults:\n{report}")
        if report.exit_code == NOT_DECIDED:
            pytest.skip(f"{self.name}: {summary(report.verdict)}")

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The report, without a traceback through our own code."""
        from semantics.errors import AdjudgeError

        return str(excinfo.value) if isinstance(excinfo.value, AdjudgeError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the item comes from."""
        return self.path, None, f"adjudge: {self.name}"
