"""`adjudge about`: what this installation is, what it can judge, and how large its parts are."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Annotated, Any

import typer
from rich.table import Table

from adjudge.cli.common import REFUTED, Json, console, say, say_json
from semantics.primitives import TABLE, Column, Hole
from transforms.backpropagators import find, written_in

PACKAGES = ("adjudge", "numpy", "numba", "numba-cuda", "z3-solver", "python-flint", "hypothesis", "bitwuzla", "cvc5")


def about(
    primitives: Annotated[bool, typer.Option("--primitives", help="The primitive table, with its columns.")] = False,
    transforms: Annotated[bool, typer.Option("--transforms", help="The transforms, with their rules.")] = False,
    size: Annotated[bool, typer.Option("--size", help="Lines per package; lines and complexity of the reverse modes.")] = False,
    costs: Annotated[bool, typer.Option("--costs", help="What gradients cost, by family. Exit 1 above the bound.")] = False,
    as_json: Json = False,
) -> None:
    """
    Say what is installed, and what it holds.

    Versions and targets; or the primitive table, the transforms, the size of the packages, what gradients cost.
    """
    if primitives:
        _show(_primitives(), as_json)
    elif transforms:
        _show(_transforms(), as_json)
    elif size:
        _size(as_json)
    elif costs:
        _costs(as_json)
    else:
        _show(_installation(), as_json)


def _show(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        say_json(rows)
        return
    table = Table(*rows[0], box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(str(v).replace("[", "\\[") for v in row.values()))
    console.print(table)
    say("")


def _installation() -> list[dict[str, Any]]:
    from backend import targets

    rows = [{"what": "Python", "is": platform.python_version(), "note": platform.machine()}]
    for package in PACKAGES:
        try:
            rows.append({"what": package, "is": importlib.metadata.version(package), "note": ""})
        except importlib.metadata.PackageNotFoundError:
            rows.append({"what": package, "is": "not installed", "note": "optional"})
    for name, reason in targets().items():
        rows.append({"what": f"target {name}", "is": "not available" if reason else "available", "note": reason or ""})
    return rows


def _size(as_json: bool) -> None:
    """The packages, and the reverse modes beside MimIrADe's Table 2."""
    from adjudge.cli import size

    if as_json:
        say_json([*size.packages(), *size.transforms()])
        return
    _show(size.packages(), as_json)
    _show(size.transforms(), as_json)


def _costs(as_json: bool) -> None:
    """Every family of programs with the constant of its gradient; the exit code of a refutation if one is above the bound."""
    from checkers.costs import costs
    from checkers.verdict import Passed

    found = costs()
    _show([cost.row for cost in found], as_json)
    if not all(isinstance(cost.verdict, Passed) for cost in found):
        raise typer.Exit(REFUTED)


def columns() -> dict[str, Column]:
    """Every column of the table that is a `Column`, by name."""
    from backend.columns import NUMBA
    from checkers.columns.ball import ball_column
    from checkers.columns.partials import partials
    from checkers.smt.ieee import ieee_column
    from checkers.smt.real import real_column
    from semantics.columns import EXACT, MEANING
    from semantics.columns.types import TYPES

    return {c.name: c for c in (MEANING, TYPES, EXACT, partials(), ball_column(), real_column(), ieee_column(), NUMBA)}


def _primitives() -> list[dict[str, Any]]:
    found = columns()
    rows = []
    for name, primitive in TABLE.items():
        row = {"primitive": name, "signature": f"{' '.join(primitive.signature)} -> {primitive.result}"}
        row["backpropagator"] = written_in().get(name, "-") if not isinstance(find(primitive), Hole) else "-"
        row |= {column: "-" if isinstance(found[column].find(primitive), Hole) else "yes" for column in found}
        rows.append(row)
    return rows


def _transforms() -> list[dict[str, Any]]:
    from transforms import affine, forward, grad, nested_grad, parse, pullback, shadow_memory
    from transforms.pipeline import PASSES, Rounds
    from transforms.ssa import from_graph, joins, to_graph
    from transforms.ssa_adjoint import SYSTEM as LISTING
    from transforms.ssa_adjoint import alphas

    systems: dict[str, Any] = {
        "parse": parse.SYSTEM,
        "grad": grad.SYSTEM,
        "forward": forward.SYSTEM,
        "nested_grad": nested_grad.SYSTEM,
    }
    systems |= {"pullback": pullback.PURE, "sharing": pullback.SHARING, "cached_for": affine.SYSTEM, "shadow": shadow_memory.SYSTEM}
    systems |= {"ssa": from_graph.SYSTEM, "graph": to_graph.SYSTEM, "joins": joins.SYSTEM}
    systems |= {"ssa_adjoint": LISTING, "stack, …": alphas.SYSTEM, **PASSES}
    rows = []
    for name, system in systems.items():
        parts = system.systems if isinstance(system, Rounds) else system.rules
        rows.append({"transform": name, "domain": system.domain, "rules": ", ".join(p.name for p in parts), "does": system.doc})
    return rows
