"""`adjudge prove`: the obligations discharged, written down as certificates, and put to other solvers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from adjudge.cli.common import DONE, ONLY_UNKNOWNS, REFUTED, Json, console, errors, say, say_json, writable, write_text
from adjudge.cli.judging import named_in
from adjudge.cli.reports import coloured
from adjudge.cli.same import misplaced
from adjudge.cli.same import same as two_functions
from adjudge.judged import is_primitive
from checkers.verdict import ORDER, OutOfScope, Passed, Proved, Refuted, Unknown, Vacuous, Verdict, summary
from semantics.errors import Malformed
from semantics.primitives import Primitive
from transforms.patterns.rule import PatternRule

FORMATS = ("tiny", "f16", "f32", "f64")


def prove(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME | FILE[:NAME]]...",
            help="Primitives, shipped rules, families of obligations; all if none. With --same two functions, read and not run.",
        ),
    ] = None,
    trusted: Annotated[bool, typer.Option("--trusted", help="Print the axioms that proofs rest on, and how many do.")] = False,
    recheck: Annotated[bool, typer.Option("--recheck", help="Put the certificates to solvers, from their files alone.")] = False,
    solver: Annotated[str, typer.Option(metavar="cvc5|bitwuzla|z3|all", help="With --recheck: whom to ask.")] = "all",
    write: Annotated[bool, typer.Option("--write", help="Write the certificates of what is proved.")] = False,
    folder: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where certificates are; ours if not said.")] = None,
    page: Annotated[Path | None, typer.Option(metavar="FILE.md", help="Where to write the table of all verdicts.")] = None,
    widest: Annotated[str, typer.Option("--format", metavar="|".join(FORMATS), help="The widest format for rules.")] = "f64",
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one on each core.")] = -1,
    store: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep judgments there, and do not make them again.")] = None,
    same: Annotated[bool, typer.Option("--same", help="Are FILE:F and FILE:G the same function?")] = False,
    over: Annotated[str, typer.Option(metavar="reals|bits", help="With --same: over the reals, or bit for bit.")] = "",
    where: Annotated[str, typer.Option(metavar="CONDITION", help="With --same: only where it holds, 'x > 0'.")] = "",
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="With --same: of each argument, in order, 'f64[3]'.")
    ] = None,
    unroll: Annotated[int | None, typer.Option(metavar="N", min=0, help="With --same: turns of loops to go through.")] = None,
    invariant: Annotated[
        str, typer.Option(metavar="FILE:NAME", help="With --same: relates the variables of the two loops, for an induction.")
    ] = "",
    verbose: Annotated[bool, typer.Option("--verbose", help="A line for every obligation.")] = False,
    as_json: Json = False,
) -> None:
    """
    Prove what is claimed of primitives, of rewrite rules and of the transform, and say what it rests on; or, with --same, that two
    functions have the same value wherever the first has one.

    Exit codes: 0 proved, 1 something refuted or two solvers in contradiction, 3 nothing decided.
    """
    if same:
        given = {"over": over, "where": where, "types": types, "unroll": unroll}
        two_functions(names or [], {k: v for k, v in given.items() if v not in ("", None)}, invariant, as_json)
        return
    misplaced({"over": over, "where": where, "type": types, "unroll": unroll is not None, "invariant": invariant})
    if solver != "all" and not recheck:
        raise Malformed("--solver says whom --recheck asks", remedy=f"adjudge prove --recheck --solver {solver}")
    if folder is not None and not (trusted or recheck or write):
        raise Malformed("--folder goes with --write, --recheck or --trusted", remedy=f"adjudge prove --write --folder {folder}")
    if trusted:
        _axioms(folder, as_json)
        return
    if recheck:
        _recheck(names or [], solver, folder, jobs, as_json)
        return
    if page is not None and names:
        raise Malformed("--page writes the whole table, of all obligations", remedy="adjudge prove --page docs/proofs.md")
    writable(page)
    if write and names:
        raise Malformed("--write writes the certificates of all obligations", remedy="adjudge prove --write")
    if write and folder is not None:
        from proofs.certify import replaceable

        replaceable(folder)
    outcomes, others = _proved(names or [], widest, jobs, store)
    if write:
        _write(outcomes, folder)
    if page is not None:
        from proofs.page import page as written

        write_text(page, written(outcomes))
        say(f"{page}: {len(outcomes)} obligations")
    if as_json:
        say_json([_as_json(o) for o in outcomes] + [{"name": v.claim, "verdict": summary(v)} for v in others])
    else:
        _said(outcomes, others, verbose)
    raise typer.Exit(_code([*(o.judgment.verdict for o in outcomes), *others]))


def _proved(names: Sequence[str], widest: str, jobs: int, store: Path | None) -> tuple[list[Any], list[Verdict]]:
    """The outcomes of our obligations, behind a bar, and the verdicts on what files define."""
    from adjudge.sweep.store import Store
    from checkers.smt.ieee import LADDER
    from proofs.run import chosen, run

    if widest not in FORMATS:
        raise Malformed(f"{widest!r} is no format", rule="prove", remedy=f"one of {', '.join(FORMATS)}")
    formats = LADDER[: FORMATS.index(widest) + 1]
    known = {name: chosen([name], formats) for name in names}
    wanted = chosen(formats=formats) if not names else list({o.name: (f, o) for found in known.values() for f, o in found}.values())
    kept = Store(store) if store is not None else None
    outcomes: list[Any] = []
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("proving", total=len(wanted))
        for outcome in run(wanted, formats=formats, jobs=jobs, store=kept):
            outcomes.append(outcome)
            bar.update(task, advance=1, description=outcome.obligation.name)
    if kept is not None:
        kept.close()
    return outcomes, [v for name, found in known.items() if not found for v in _of_file(name)]


def _of_file(target: str) -> list[Verdict]:
    """The verdicts on the primitives and rules that a file defines."""
    from adjudge.judging import prove as discharge

    verdicts: list[Verdict] = []
    for name, found in named_in(target, _provable, "primitives or rules", BY_US).items():
        for verdict in discharge(found):
            verdicts.append(verdict)
            say(f"{name}: {verdict.claim}: {summary(verdict)}")
            if isinstance(verdict, Refuted):
                say(str(verdict.counterexample))
    return verdicts


def _provable(module: Any) -> dict[str, Any]:
    """The primitives and rules that a file defines."""
    return {k: v for k, v in vars(module).items() if is_primitive(v) or isinstance(v, (PatternRule, Primitive))}


def _code(verdicts: Sequence[Verdict]) -> int:
    """Refuted, done, or only unknowns. A rule that claims the reals only is not refuted by what formats make of it."""
    if any(isinstance(v, Refuted) and v.kind != "convention" for v in verdicts):
        return REFUTED
    return DONE if any(isinstance(v, (Proved, Passed)) for v in verdicts) else ONLY_UNKNOWNS


# what is said


def _said(outcomes: Sequence[Any], others: Sequence[Verdict], verbose: bool) -> None:
    """A line per family, then everything that is not proved; with `verbose` a line per obligation first."""
    from proofs.run import titles

    if verbose or (outcomes and len(outcomes) <= FEW):
        table = Table("obligation", "verdict", "ms", box=None, pad_edge=False)
        for o in outcomes:
            v = o.judgment.verdict
            table.add_row(escape(o.obligation.name), coloured(v, summary(v)), f"{1000 * o.judgment.seconds:.0f}")
        console.print(table)
    elif outcomes:
        kinds = [kind.__name__ for kind in ORDER]
        table = Table("what", *(k.lower() if k != "OutOfScope" else "out of scope" for k in kinds), "s", box=None, pad_edge=False)
        for family, title in titles().items():
            found = [o for o in outcomes if o.family == family]
            counts = Counter(type(o.judgment.verdict).__name__ for o in found)
            seconds = sum(o.judgment.seconds for o in found)
            if found:
                table.add_row(escape(title), *(str(counts[k]) for k in kinds), f"{seconds:.1f}")
        console.print(table)
    verdicts = [*(o.judgment.verdict for o in outcomes), *others]
    for verdict in verdicts[: len(outcomes)]:  # the others were told as they were judged
        if isinstance(verdict, (Refuted, Unknown, Vacuous)):
            console.print(f"{escape(verdict.claim)}: {coloured(verdict, summary(verdict))}")
            if isinstance(verdict, Refuted):
                say(str(verdict.counterexample))
    if not verbose and len(outcomes) > FEW and (left := sum(isinstance(v, (OutOfScope, Passed)) for v in verdicts)):
        say(f"{left} more are not proved, but executed or out of scope; --verbose says why")
    counted = Counter(type(v).__name__ for v in verdicts)
    say(", ".join(f"{counted[kind.__name__]} {kind.__name__}" for kind in ORDER))


BY_US = "make one by @adjudge.primitive or adjudge.rule(…)"
FEW = 20  # obligations that are told one by one


def _as_json(o: Any) -> dict[str, Any]:
    """One outcome, whole."""
    from proofs.certify import certificate
    from proofs.run import to_record

    j = o.judgment
    shown = {"name": j.name, "family": o.family, "subject": o.obligation.subject, "method": j.method, "verdict": summary(j.verdict)}
    asked = [{"sha256": q.sha256, "expected": q.expected, "by": q.by} for q in certificate(j, o.family).questions]
    exact = to_record(j)["verdict"]["verdicts"][0]
    return shown | {"seconds": j.seconds, "rlimit": j.rlimit, "axioms": o.axioms, "questions": asked, "exact": exact}


def _axioms(folder: Path | None, as_json: bool) -> None:
    """The trusted base, each axiom with how many of the certified obligations rest on it."""
    from proofs import TRUSTED
    from proofs.certify import FOLDER, MANIFEST, read
    from proofs.foundations import users

    where = folder or FOLDER
    certificates = read(where)[0] if (where / MANIFEST).exists() else []
    used = users((c.obligation, c.axioms) for c in certificates)
    rows = [
        {"name": a.name, "statement": a.statement, "source": a.source, "executed at": a.domain, "used by": used[a.name]}
        for a in TRUSTED
    ]
    if as_json:
        say_json(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    table = Table("axiom", "statement", "source", "executed at", "used by", box=None, pad_edge=False)
    for row in rows:
        cells = [escape(str(row[k])) for k in ("name", "statement", "source")]
        table.add_row(*cells, ", ".join(row["executed at"]), str(len(row["used by"])))
    console.print(table)
    resting = sum(bool(c.axioms) for c in certificates)
    say(f"{len(rows)} axioms, and no others; {resting} of {len(certificates)} certified obligations rest on any of them")


# certificates


def _write(outcomes: Sequence[Any], folder: Path | None) -> None:
    from proofs.certify import FOLDER, write

    where = folder or FOLDER
    count = write([(o.judgment, o.family, o.axioms) for o in outcomes], where)
    say(f"{where}: {count} questions of {len(outcomes)} obligations")


def _recheck(names: Sequence[str], asked: str, folder: Path | None, jobs: int, as_json: bool) -> None:
    """Every solver asked in turn: what share it answers, what it does not know, and what it contradicts."""
    from proofs.certify import FOLDER
    from proofs.recheck import rechecked, solvers, unanswered

    if names:
        raise Malformed("--recheck reads every certificate and takes no names", remedy="adjudge prove --recheck --solver cvc5")
    found = []
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        for solver in solvers(asked):
            task = bar.add_task(f"asking {solver}", total=None)
            watcher = lambda done, whole, task=task: bar.update(task, completed=done, total=whole)  # noqa: E731
            found.append(rechecked(solver, folder or FOLDER, jobs=jobs, watcher=watcher))
    if as_json:
        say_json([{"asked": r.asked} | asdict(r) for r in found])
    else:
        for r in found:
            say(str(r))
            for line in unanswered(r):
                say(f"  {line}")
            for obligation, why in r.conflicts:
                say(f"  CONTRADICTED: {obligation}: {why}")
    raise typer.Exit(REFUTED if any(r.conflicts for r in found) else DONE)
