"""`adjudge run`, `step` and `show`: programs, their runs, and their transforms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adjudge.cli.common import (
    Arguments,
    Json,
    Target,
    console,
    filled,
    load,
    named,
    positions,
    read_text,
    say,
    say_json,
    writable,
    write_text,
)
from adjudge.functions import run as run_program
from adjudge.functions import value_and_grad
from adjudge.tracing import entered
from adjudge.transforming import NAMES, opened, replayable, transform
from semantics.derivation import Derivation, derive, replay, why_not
from semantics.errors import Malformed
from semantics.ir import Apply, Program
from semantics.machine import Machine
from semantics.ssa.form import Module
from transforms.parse import SYSTEM as PARSE
from transforms.parse import initial_file
from transforms.pipeline import Rounds

BY = ("grad", "cached_for", "shadow")  # the transforms that differentiate by some arguments


def run(
    target: Target,
    arguments: Arguments = None,
    by: Annotated[
        list[str] | None, typer.Option("--grad", "-g", help="Also the gradient by this position or name; may be repeated.")
    ] = None,
    fuel: Annotated[int, typer.Option(help="The most steps the reference machine may take.")] = 200_000_000,
    on: Annotated[
        str, typer.Option("--target", help="reference, python, cpu, cuda, cuda-simulator or cuda-sequential.")
    ] = "reference",
    mode: Annotated[str, typer.Option(help="How the adjoint is built: J, ssa, pullback, cached, … (adjudge agree has all).")] = "J",
    as_json: Json = False,
) -> None:
    """Run a function on the reference machine, or its gradient."""
    if mode != "J" and not by:
        raise Malformed("--mode says how a gradient is made, and none is asked for", remedy=f"--grad 0 --mode {mode}")
    program = load(target)
    values = filled(target, program, arguments)
    if by:
        value, gradient = value_and_grad(program, positions(by), target=on, mode=mode)(*values)
        say_json({"value": value, "gradient": gradient}) if as_json else say(f"value    {value!r}\ngradient {gradient!r}")
        return
    if on != "reference":
        from adjudge.compiling import compile as compile_for

        value = compile_for(program, on)(*values)
    else:
        value = run_program(program, *values, fuel=fuel)
    say_json({"value": value}) if as_json else say(repr(value))


def step(
    target: Target,
    arguments: Arguments = None,
    name: Annotated[
        str, typer.Option("--transform", "-t", help="evaluate, parse, grad, forward, inline, cse, dce, … (adjudge about)")
    ] = "evaluate",
    after: Annotated[
        list[str] | None, typer.Option("--after", help="Apply this transform first, unrecorded; may be repeated.")
    ] = None,
    first: Annotated[int, typer.Option("--first", min=0, help="Print at most this many steps; 0 for all.")] = 0,
    interactive: Annotated[bool, typer.Option("--interactive", "-i", help="Wait for Enter after every step.")] = False,
    save: Annotated[Path | None, typer.Option(help="Save the derivation as JSON.")] = None,
    replayed: Annotated[Path | None, typer.Option("--replay", help="Check the run against a derivation saved before.")] = None,
    why: Annotated[str | None, typer.Option("--why-not", help="Say why this rule does not fire at the end.")] = None,
    fuel: Annotated[int, typer.Option(help="The most steps to record.")] = 100_000,
    as_json: Json = False,
) -> None:
    """
    Walk a transform or a run, rule by rule.

    Every step shows its rule, its place and what it changed; a run that was saved replays.
    """
    writable(save)
    recorded = read_text(replayed) if replayed is not None else ""
    derivation, system, start = _derivation(target, filled(target, load(target), arguments), name, after or [], fuel)
    if save is not None:
        write_text(save, derivation.to_json())
    if replayed is not None:
        replay(system, start, recorded)
        say(f"replayed: {len(derivation)} steps, every rule, place and state as recorded")
        return
    if as_json:
        say_json(derivation.to_json())
        return
    _print(derivation, first, interactive)
    fired = ", ".join(f"{rule} {count}" for rule, count in derivation.coverage().most_common())
    say(f"\n{len(derivation)} steps: {fired or 'none'}")
    if why is not None:
        say(why_not(system, derivation.result, why))


def _derivation(target: str, values: list[Any], name: str, after: list[str], fuel: int) -> tuple[Derivation[Any], Any, Any]:
    """The derivation, the system that made it, and the state that it starts from."""
    if name == "parse":
        start = initial_file(*named(target))
        return PARSE.derive(start, fuel=fuel), PARSE, start
    program = transform(load(target), *after).result if after else load(target)
    if name == "evaluate":
        expanded, data = entered(program, values)
        machine = Machine(expanded)
        begin = machine.initial(data)
        return derive(machine, begin, fuel=fuel), machine, begin
    if name not in NAMES:
        raise Malformed(f"{name!r} is not a transform", remedy=f"evaluate, parse, {', '.join(NAMES)}")
    found = opened(program, name)
    rounds = isinstance(found.system, Rounds)
    derivation = found.system.derive(found.start) if rounds else found.system.derive(found.start, fuel=fuel)
    return derivation, replayable(found), found.start


def _print(derivation: Derivation[Any], first: int, interactive: bool) -> None:
    shown = 0
    for line in derivation.lines():
        if line[:4].strip().isdigit() and not line.startswith("      "):
            shown += 1
            if first and shown > first:
                say(f"      … {len(derivation) - first} more steps")
                return
            if interactive and shown > 1:
                console.input("")
        say(line)


def show(
    target: Target,
    after: Annotated[
        list[str] | None, typer.Option("--after", help="Apply this transform first: grad, ssa, inline, …; may be repeated.")
    ] = None,
    wrt: Annotated[
        list[str] | None, typer.Option(help="By what `--after grad` differentiates: position or name; may be repeated.")
    ] = None,
    as_json: Json = False,
) -> None:
    """
    Print a program in the graph IR, or in SSA form.

    As parsed, or after the transforms named by --after.
    """
    if wrt and not set(after or ()) & set(BY):
        raise Malformed("--wrt says by what to differentiate, and nothing is", remedy=f"--after {BY[0]} --wrt {wrt[0]}")
    program = load(target)
    if after:
        program = transform(program, *after, wrt=positions(wrt or ["0"])).result
    counts = _counts(program)
    if as_json:
        say_json({"text": str(program), **counts})
        return
    said = ("graphs", "applications") if isinstance(program, Program) else tuple(counts)
    say(f"{program}\n\n; {', '.join(f'{counts[what]} {what}' for what in said)}")


def _counts(found: Program | Module) -> dict[str, int]:
    """The size of what is shown."""
    if isinstance(found, Program):
        applications = sum(isinstance(n, Apply) for n in found.nodes.values())
        return {"graphs": len(found.graphs), "nodes": len(found.nodes), "applications": applications}
    blocks = [block for function in found.functions for block in function.blocks]
    instructions = sum(len(block.instructions) for block in blocks)
    return {"functions": len(found.functions), "blocks": len(blocks), "instructions": instructions}
