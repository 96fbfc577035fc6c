"""`adjudge audit --jax-jit FILE:FUNCTION [ARGS…]`: a function compiled by JAX, against the reference."""

from __future__ import annotations

import json

import typer

from adjudge.cli.common import import_file, say_json, split, values_of
from adjudge.cli.reports import print_report, progress
from semantics.errors import Malformed


def jit_report(target: str | None, arguments: list[str] | None, jax_jit: bool, grad: bool, seed: int, as_json: bool) -> None:
    """Prints the report on `jax.jit` of a function, or of its gradient, on inputs like the arguments."""
    from adjudge.adapters.jax_jit import judge_jit

    if not jax_jit:
        raise Malformed("ARGS and --grad go with --jax-jit", remedy="adjudge audit --jax-jit FILE:FUNCTION 2.0 '[1.0, 2.0]'")
    if target is None:
        raise Malformed("--jax-jit judges a function", remedy="adjudge audit --jax-jit FILE:FUNCTION [ARGS…]")
    path, name = split(target)
    if not name:
        raise Malformed(f"--jax-jit judges one function of {path}", remedy=f"name it: {target.rstrip(':')}:FUNCTION")
    function = getattr(import_file(path), name, None)
    if not callable(function):
        raise Malformed(f"{path} defines no function {name}", remedy="name a function of the file: FILE:FUNCTION")
    with progress() as bar:
        bar.add_task(f"judging jax.jit({name})", total=None)
        report = judge_jit(function, values_of(target, arguments) if arguments else None, grad=grad, seed=seed)
    if as_json:
        say_json(json.loads(report.to_json()))
    else:
        print_report(report)
    raise typer.Exit(report.exit_code)
