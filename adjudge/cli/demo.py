"""`adjudge demo`: the main job on the examples, in under a minute: judge, differentiate, optimize, cross-check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adjudge.cli.common import Json, Seed, import_file, say, say_json
from checkers.verdict import Report
from semantics.errors import Malformed
from semantics.ir import Program
from semantics.type_language import REAL

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
SAMPLES = 32


def demo(
    seed: Seed = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Skip the CUDA simulator.")] = False,
    as_json: Json = False,
) -> None:
    """
    Judge the examples, in under a minute.

    Two backpropagators, two rewrites, and the gradient of figure 1 on every target.
    """
    from adjudge.cli.reports import progress
    from backend.machine import ahead

    if not EXAMPLES.is_dir():
        raise Malformed(
            "the examples are not part of this installation", remedy="run the demo in a clone, installed with pip install -e ."
        )
    ahead.begin()  # so that it is compiled when the first gradient is asked for
    results: dict[str, Any] = {}
    with progress() as bar:
        task = bar.add_task("starting", total=None)
        for name, describe, action in _acts(seed, quick):
            bar.update(task, description=describe)
            results[name] = action()
    if as_json:
        say_json({k: _plain(v) for k, v in results.items()})
    else:
        _tell(results)


def _acts(seed: int, quick: bool) -> list[tuple[str, str, Any]]:
    """Name, what the progress line says, and what is done."""
    return [
        ("sound backpropagator", "judging softplus", lambda: _check("softplus", seed)),
        ("wrong backpropagator", "judging a wrong softplus", lambda: _check("softplus_wrong", seed)),
        ("sound rewrite", "auditing x * 2.0 -> x + x", lambda: _audit("double", seed)),
        ("unsound rewrite", "auditing x + 0.0 -> x", lambda: _audit("drop_zero", seed)),
        ("figure 1", "differentiating figure 1", _figure),
        ("crosscheck", "cross-checking its gradient", lambda: _crosscheck(seed, quick)),
    ]


def _check(name: str, seed: int) -> Report:
    from adjudge.judging import check

    return check(getattr(import_file(EXAMPLES / "primitives.py"), name), seed=seed)


def _audit(name: str, seed: int) -> Report:
    from adjudge.judging import audit

    return audit(getattr(import_file(EXAMPLES / "rewrites.py"), name), seed=seed)


def _figure() -> tuple[Program, Program, Program]:
    """Figure 1 of the 2018 paper: parsed, after grad, after optimization."""
    from transforms import dce
    from transforms.gradient_programs import gradient_program
    from transforms.parse import parse_file
    from transforms.pipeline import optimize

    program = parse_file(EXAMPLES / "figure_1.py", "f")
    after = dce.SYSTEM.run(gradient_program(program))
    return program, after, optimize(after)


def _crosscheck(seed: int, quick: bool) -> Any:
    from adjudge.cli.crosscheck import compare, ptx_rows, random_samples

    types, program = (REAL, REAL), _figure()[2]
    return compare(program, types, random_samples(types, SAMPLES, seed), quick), ptx_rows(program, types)


def _plain(value: Any) -> Any:
    match value:
        case Report():
            import json

            return json.loads(value.to_json())
        case tuple():
            return [str(p) for p in value]
        case _:
            return value


def _tell(results: dict[str, Any]) -> None:
    from adjudge.cli.crosscheck import print_results
    from adjudge.cli.reports import print_report

    program, after, optimized = results["figure 1"]
    say("1. A correct backpropagator: softplus\n")
    print_report(results["sound backpropagator"])
    say("2. A wrong one\n")
    print_report(results["wrong backpropagator"])
    say("3. A sound rewrite: x * 2.0 -> x + x\n")
    print_report(results["sound rewrite"])
    say("4. An unsound one: x + 0.0 -> x\n")
    print_report(results["unsound rewrite"])
    say(f"5. Figure 1 of the 2018 paper, as parsed:\n\n{program}\n\n   its gradient by x, as J makes it:\n\n{after}\n")
    say(f"   and after optimization:\n\n{optimized}\n")
    say("6. That gradient on every target, against the reference machine:\n")
    print_results(*results["crosscheck"])
