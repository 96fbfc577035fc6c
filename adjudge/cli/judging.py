"""`adjudge check` and `audit`: the judgments, printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from adjudge.adapters.frameworks import recognised
from adjudge.cli.common import DONE, Arguments, Json, Seed, import_file, say, say_json, split, worst, writable, write_text
from adjudge.cli.jit import jit_report
from adjudge.cli.reports import print_overview, print_report, progress
from adjudge.judged import Checked, primitives_in, rewriting_in
from checkers.verdict import Report
from semantics.errors import Malformed
from semantics.primitives import TABLE
from transforms.patterns.rule import DOMAINS

RULES = "primitives (@adjudge.primitive) or rules of JAX, PyTorch or autograd"
A_TABLE = "name functions, and whose they are, in a table ADJUDGE"
Skip = Annotated[list[str] | None, typer.Option(help="A check not to make, by name; may be repeated.")]


def check(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[:NAME] | PRIMITIVE",
            help="A Python file, imported and so run: all primitives and all rules of JAX, PyTorch and autograd that it defines, "
            "or one name. Or a row of our table, `exp`.",
        ),
    ] = None,
    seed: Seed = 0,
    skip: Skip = None,
    examples: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="About how many inputs to try. With 200, arrays of 10^6 elements.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="PAGE", help="Write a page of HTML too, complete in one file.")] = None,
    shipped: Annotated[bool, typer.Option("--shipped", help="Judge every primitive of our table.")] = False,
    write: Annotated[Path | None, typer.Option(metavar="PAGE", help="With --shipped: where to write the page.")] = None,
    as_json: Json = False,
) -> None:
    """
    Judge backpropagators: of primitives (@adjudge.primitive), of jax.custom_vjp and jax.custom_jvp, of torch.autograd.Function, of
    autograd.extend.primitive.

    On which inputs, a table in the file may say; without it, small arrays are tried. It also names functions that are no rules,
    to be judged by the rules of their framework:

    ADJUDGE = {"blend": {"samples": [(x, y)], "fixed": (1,), "domain": lambda x, y: y > 0, "framework": "jax"}}
    """
    from adjudge.judging import check as judge

    if shipped or write is not None:
        from adjudge.shipped_primitives import page, rows

        _shipped("adjudge check", target, (write, "docs/primitives.md", "primitives"), (rows, page), shipped, as_json)
        return
    if target is None:
        raise Malformed("there is nothing to judge", remedy="adjudge check FILE[:NAME], a primitive such as exp, or --shipped")
    writable(html)
    asked: dict[str, Any] = {"seed": seed, "skip": skip or ()} | ({} if examples is None else {"examples": examples})
    subjects = {target: Checked(TABLE[target])} if target in TABLE else named_in(target, primitives_in, RULES, A_TABLE)
    _judge_all(subjects, lambda s: judge(s.value, **asked, **s.options), as_json, html, f"adjudge check {target}")


def audit(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE[:NAME] | RULE | PASS",
            help="A Python file, imported and so run: all rules and passes it defines, or one name. "
            "Or a rule as text, 'x * 2.0 -> x + x'. Or a pass of ours, `cse`.",
        ),
    ] = None,
    arguments: Arguments = None,
    domain: Annotated[
        str | None, typer.Option(metavar="|".join(DOMAINS), help="The equality to judge by, in place of the declared one.")
    ] = None,
    claims: Annotated[str, typer.Option(metavar="gradient", help="Judge a function that makes of a program its gradient.")] = "",
    seed: Seed = 0,
    skip: Skip = None,
    shipped: Annotated[bool, typer.Option("--shipped", help="Judge every rule and pass of our optimizer.")] = False,
    write: Annotated[Path | None, typer.Option(metavar="PAGE", help="With --shipped: where to write the page.")] = None,
    jax_jit: Annotated[bool, typer.Option("--jax-jit", help="Judge jax.jit of FILE:NAME, on inputs like ARGS.")] = False,
    by_grad: Annotated[bool, typer.Option("--grad", help="With --jax-jit: judge jax.jit of jax.grad of it.")] = False,
    as_json: Json = False,
) -> None:
    """
    Judge rewrite rules and passes.

    Several rules of one file are also judged together. Each report says what was proved, what was tried at points, what is
    refuted, by which smallest input, and what was not judged.
    """
    from adjudge.judging import audit as judge
    from adjudge.judging import equality
    from checkers.optimizer_audit.checks import known

    equality(domain), known(skip or ())
    if jax_jit or by_grad or arguments:
        jit_report(target, arguments, jax_jit, by_grad, seed, as_json)
        return
    if shipped or write is not None:
        from checkers.optimizer_audit.page import page, rows

        _shipped("adjudge audit", target, (write, "docs/optimizer.md", "rules and passes"), (rows, page), shipped, as_json)
        return
    if target is None:
        raise Malformed(
            "there is nothing to judge", remedy="adjudge audit FILE[:NAME], a rule such as 'x * 2.0 -> x + x', or --shipped"
        )
    _judge_all(_rewriting(target), lambda s: judge(s, seed=seed, skip=skip or (), domain=domain, claims=claims), as_json)


def _shipped(command: str, target: str | None, place: Any, made: Any, shipped: bool, as_json: bool) -> None:
    """
    The page about what we ship.

    place  where it is written if anywhere, where ours is, and what it is about        made  how its rows and the page are made
    """
    (write, ours, what), (rows, page) = place, made
    if target is not None or not shipped:
        remedy = f"{command} --shipped --write {ours}"
        raise Malformed("--shipped judges what we ship and takes no target; --write goes with it", remedy=remedy)
    writable(write)
    with progress() as bar:
        task = bar.add_task("judging", total=None)
        found = list(rows(lambda name: bar.update(task, description=f"judging {name}")))
    text = page(found)
    if write is not None:
        write_text(write, text)
        say(f"{write}: {len(found)} {what}")
    elif as_json:
        say_json([row.as_dict() for row in found])
    else:
        say(text)
    raise typer.Exit(1 if any(row.fault for row in found) else DONE)


def _rewriting(target: str) -> dict[str, Any]:
    """What a target of `audit` names."""
    from transforms.pipeline import PASSES

    if "->" in target:
        return {target: target}
    if target in PASSES and not Path(target).exists():
        return {target: target}
    if not Path(target).suffix and ":" not in target and not Path(target).exists():
        remedy = f"a file FILE[:NAME], a rule 'left -> right', or one of our passes: {', '.join(PASSES)}"
        raise Malformed(f"{target} is no file, no rule and no pass", remedy=remedy)
    found_in = lambda module: rewriting_in(module, split(target)[0].name)  # noqa: E731
    return named_in(target, found_in, "rules (adjudge.rule) or passes", "name a function on programs: FILE:NAME")


def named_in(target: str, found_in: Callable[[Any], dict[str, Any]], what: str, remedy: str) -> dict[str, Any]:
    """What the file has to judge, or the one named; `remedy` if there is none. A named function counts as a pass."""
    path, name = split(target)
    module = import_file(path)
    found = found_in(module)
    if not name:
        if not found:
            raise Malformed(f"{path} defines no {what}", remedy=remedy)
        return found
    value = getattr(module, name, None)
    if name in found:
        return {name: found[name]}
    if found_in is primitives_in and recognised(value):
        return {name: Checked(value)}
    listed = isinstance(value, (list, tuple)) and value
    if found_in is not primitives_in and not isinstance(value, type) and (listed or callable(value)):
        return {name: value}
    if value is not None:
        kind = type(value).__name__
        article = "an" if kind[0] in "aeiou" else "a"
        raise Malformed(f"{name} of {path} is {article} {kind}: none of the {what}", remedy=_known(found, remedy))
    raise Malformed(f"{path} defines no {name} to judge", remedy=_known(found, remedy))


def _known(found: dict[str, Any], otherwise: str) -> str:
    names = [name for name in found if name.isidentifier()]
    return f"one of {', '.join(names)}" if names else otherwise


def _judge_all(
    subjects: dict[str, Any], judge: Callable[[Any], Report], as_json: bool, html: Path | None = None, title: str = ""
) -> None:
    from checkers.optimizer_audit.journal import watched

    reports: list[Report] = []
    with progress() as bar:
        task = bar.add_task("judging", total=None)
        for i, (name, subject) in enumerate(subjects.items(), 1):
            where = f"judging {name}" + (f" ({i} of {len(subjects)})" if len(subjects) > 1 else "")
            bar.update(task, description=where)
            with watched(lambda check, where=where: bar.update(task, description=f"{where}: {check}")):  # type: ignore[misc]
                reports.append(judge(subject))
    if as_json:
        say_json([json.loads(r.to_json()) for r in reports])
    else:
        for report in reports:
            print_report(report)
        if len(reports) > 1:
            print_overview(reports)
    if html is not None:
        from adjudge.html import write

        write(reports, html, title=title)
    raise typer.Exit(worst([r.exit_code for r in reports]))
