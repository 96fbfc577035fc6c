"""`adjudge agree`: one derivative by every reverse mode and by two oracles, at first and second order, side by side."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import typer
from rich.table import Table

from adjudge.agreement import judged_program
from adjudge.cli.common import Arguments, Json, Target, console, errors, filled, load, positions, say, say_json
from checkers.agreement import Answer, Judged, summary_of
from checkers.agreement.judgement import ORDERS, plain
from checkers.showing import exactly
from checkers.verdict import Refuted, Report
from semantics.errors import Malformed

COLUMNS = ("steps", "peak live", "nodes", "optimized")


def agree(
    target: Target,
    arguments: Arguments = None,
    wrt: Annotated[
        list[str] | None, typer.Option(help="Differentiate by this position or name; may be repeated. All reals.")
    ] = None,
    order: Annotated[int, typer.Option(help="1 or 2 for one order alone; 0 for both.")] = 0,
    modes: Annotated[list[str] | None, typer.Option("--mode", help="Only this mode; may be repeated.")] = None,
    fuel: Annotated[int, typer.Option(help="The most steps that one run may take.")] = 5_000_000,
    as_json: Json = False,
) -> None:
    """
    Compare the reverse modes with each other and with two oracles.

    J, the SSA adjoint under three policies, local pullbacks, forward mode, trace reversal: value, derivative and cost.
    """
    if order not in (0, 1, 2):
        raise Malformed(f"there is no order {order}", rule="agree", remedy="--order 1, --order 2, or neither for both")
    program = load(target)
    values = filled(target, program, arguments)
    orders = (1, 2) if order == 0 else (order,)
    with errors.status("asking every mode") if errors.is_terminal else nullcontext():
        found = judged_program(
            program, values, wrt=positions(wrt) if wrt else None, orders=orders, modes=tuple(modes) if modes else None, fuel=fuel,
            subject=target,
        )  # fmt: skip
    if as_json:
        say_json(_as_json(found))
    else:
        _tell(found)
    raise typer.Exit(found.exit_code)


def _tell(report: Report) -> None:
    """One table for each order, what they were compared in, and every disagreement in full."""
    for order, judged in report.details["orders"].items():
        asked = judged.found.question.asks_for
        console.print(_table(judged, asked))
        say(f"{ORDERS[order]}, {judged.found.domain}{'; values are equal in bits' if order == 1 else ''}\n")
    for finding in report.findings:
        say(f"{finding.claim}: {finding.kind}\n{finding.counterexample}")


def _table(judged: Judged, asked: str) -> Table:
    table = Table("mode", *(("value",) if judged.found.question.order == 1 else ()), asked, box=None, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="right")
    table.add_column("")
    for answer in judged.found.answers:
        table.add_row(*(text.replace("[", "\\[") for text in _row(judged, answer)))
    return table


def _row(judged: Judged, answer: Answer) -> list[str]:
    """The cells of one answer; a dash where there is nothing to say."""
    values = [answer.value, answer.derivative] if judged.found.question.order == 1 else [answer.derivative]
    shown = [plain(v) if v is not None else "–" for v in values]
    before, after = answer.nodes or (None, None)
    counts = [str(n) if n is not None else "–" for n in (answer.steps, answer.live, before, after)]
    return [answer.title, *shown, *counts, summary_of(judged, answer)]


def _as_json(report: Report) -> dict[str, Any]:
    """Every order with its rows; doubles as hex strings beside their decimals."""
    return {
        "subject": report.subject,
        "verdict": type(report.verdict).__name__,
        "orders": {
            str(order): {
                "asks_for": j.found.question.asks_for,
                "domain": j.found.domain,
                "modes": [_cells(j, a) for a in j.found.answers],
            }
            for order, j in report.details["orders"].items()
        },
        "findings": [_finding(f) for f in report.findings],
    }


def _cells(judged: Judged, answer: Answer) -> dict[str, Any]:
    before, after = answer.nodes or (None, None)
    return {
        "mode": answer.mode,
        "title": answer.title,
        "value": None if answer.value is None else exactly(answer.value),
        "derivative": None if answer.derivative is None else exactly(answer.derivative),
        "steps": answer.steps,
        "peak_live": answer.live,
        "nodes": before,
        "optimized": after,
        "says": summary_of(judged, answer),
    }


def _finding(finding: Refuted) -> dict[str, Any]:
    c = finding.counterexample
    return {"claim": finding.claim, "kind": finding.kind, "found": exactly(c.found), "wanted": exactly(c.wanted), "cause": c.cause}
