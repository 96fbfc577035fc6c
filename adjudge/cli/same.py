"""`adjudge prove --same FILE:F FILE:G`: are two functions one?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import typer
from rich.markup import escape

from adjudge.cli.common import DONE, ONLY_UNKNOWNS, REFUTED, console, load, say, say_json
from adjudge.cli.reports import coloured
from checkers.verdict import Passed, Proved, Refuted, Report, summary
from semantics.errors import Malformed

EXAMPLE = "adjudge prove --same examples/same.py:horner examples/same.py:powers"


def same(targets: Sequence[str], options: dict[str, Any], invariant: str, as_json: bool) -> None:
    """
    The verdict on two functions, which are read and not run. Ends with 0 for proved, or passed as far as it says, 1 for refuted, 3
    for not decided.
    """
    from adjudge.proving import judged

    if len(targets) != 2:
        raise Malformed(f"--same compares two functions, and {len(targets)} are named", remedy=EXAMPLE)
    relation = load(invariant) if invariant else None
    judgment = judged(*map(load, targets), invariant=relation, **options)
    verdict = judgment.verdict
    if as_json:
        record = json.loads(Report(" and ".join(targets), (verdict,)).to_json())["verdicts"][0]
        say_json({"left": targets[0], "right": targets[1], "method": judgment.method, "seconds": judgment.seconds} | record)
    else:
        console.print(f"{escape(targets[0])} and {escape(targets[1])}: {coloured(verdict, summary(verdict))}")
        if isinstance(verdict, Refuted):
            say(str(verdict.counterexample))
    match verdict:
        case Refuted():
            raise typer.Exit(REFUTED)
        case Proved() | Passed():
            raise typer.Exit(DONE)
    raise typer.Exit(ONLY_UNKNOWNS)


def misplaced(given: dict[str, Any]) -> None:
    """Malformed if an option of --same is given without it."""
    for name, value in given.items():
        if value:
            raise Malformed(f"--{name} goes with --same", remedy=f"{EXAMPLE} --{name} …")
