"""`adjudge crosscheck`: one program on every target, against the reference machine."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from adjudge.cli.common import (
    DONE,
    ONLY_UNKNOWNS,
    REFUTED,
    Arguments,
    Json,
    Seed,
    Target,
    console,
    filled,
    load,
    positions,
    say,
    say_json,
)
from adjudge.compiling import MODES
from adjudge.functions import Derivative
from backend.boundary import general
from backend.lowering.expansion import first_that_fits
from checkers.showing import exactly
from semantics.arrays import Array, single
from semantics.errors import AdjudgeError, IllTyped, Malformed
from semantics.ir import Program
from semantics.machine import Machine
from semantics.structured import Record
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, RecordType, TupleType, type_of
from transforms.gradient_programs import calling

CAPABILITIES = {"sm_75": (7, 5), "sm_90": (9, 0)}
MINUTE = [{"PTX": name, "says": "not made: that of the virtual machine takes a minute; leave out --quick"} for name in CAPABILITIES]
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, float("inf"), float("-inf"), float("nan"))


def crosscheck(
    target: Target,
    arguments: Arguments = None,
    by: Annotated[
        list[str] | None, typer.Option("--grad", "-g", help="Check the gradient by this position or name; may be repeated.")
    ] = None,
    samples: Annotated[int, typer.Option(min=0, help="How many random samples, besides the special ones.")] = 100,
    seed: Seed = 0,
    quick: Annotated[
        bool, typer.Option("--quick", help="Skip the CUDA simulator, and what takes a minute: PTX of tier B.")
    ] = False,
    mode: Annotated[str, typer.Option(help="exact; or fast: on the CPU sums in any order, judged by the bound on them.")] = "exact",
    as_json: Json = False,
) -> None:
    """
    Compare every target with the reference, and say which tier runs on it.

    Generated Python, Numba CPU, simulators of CUDA and a GPU if there is one, bit for bit; PTX and machine code without a GPU.
    Samples are like the arguments that are given; arrays of integers, which may be indices, mostly have theirs.
    """
    if mode not in MODES:
        raise Malformed(f"{mode!r} is not a mode of compiled code", remedy=f"one of {', '.join(MODES)}")
    program = load(target)
    given = filled(target, program, arguments) if arguments else []
    types = tuple(type_of(v) for v in given) if given else declared(program)
    wanted = random_samples(types, samples, seed, given)
    if by:
        derivative = Derivative(program, "grad", positions(by))
        if len(types) == len(program.graphs[program.entry].parameters):
            derivative.arguments(given or random_samples(types, 1, seed)[0], {})
        program = calling(program, "grad", derivative.wrt, tuple(map(general, types)))
    program = as_compiled(program, tuple(map(general, types)))
    try:
        results = compare(program, types, [tuple(given), *wanted] if given else wanted, quick, mode)
    except IllTyped as error:
        if not given:
            error.remedy = "give an example of the arguments on the command line: samples are made like it"
        raise
    made = MINUTE if quick and any(r.refusal for r in results) else ptx_rows(program, [*map(general, types)])
    say_json({"targets": [vars(r) for r in results], "ptx": made}) if as_json else print_results(results, made)
    if any(r.mismatches for r in results):
        raise typer.Exit(REFUTED)
    raise typer.Exit(DONE if any(r.samples for r in results) else ONLY_UNKNOWNS)


def as_compiled(program: Program, types: Sequence[Any]) -> Program:
    """The program with its derivatives as generated code has them, for the reference too; as the machine has, if there is none."""
    from backend import lowered

    def fits(one: Program) -> Program:
        lowered(one, types)  # remembered, so the targets do not wait for it again
        return one

    try:
        return first_that_fits(program, "J", fits, types)
    except AdjudgeError:
        return first_that_fits(program, "J", lambda one: one)


def declared(program: Program) -> tuple[Any, ...]:
    """The declared types of the parameters; f64 where none is declared."""
    nodes = [program.nodes[n] for n in program.graphs[program.entry].parameters]
    return tuple(getattr(n, "type", None) or REAL for n in nodes)


OWN = 4  # of so many samples one has integers of its own in arrays; the others those of the example, which may be indices


def random_samples(types: Sequence[Any], count: int, seed: int, example: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """
    Samples of these types: reals of mixed scale, small integers, booleans; first the special reals, each everywhere. Arrays of
    integers have the elements of those of the example, in another order and number, so that indices are indices.
    """
    source = random.Random(seed)
    special = [tuple(_everywhere(x, _random(t, source)) for t in types) for x in SPECIAL] if any(map(_holds_reals, types)) else []
    found = special + [tuple(_random(t, source) for t in types) for _ in range(count)]
    return [_like(tuple(example), s, source) if example and k % OWN else s for k, s in enumerate(found)]


def _like(example: Any, value: Any, source: random.Random) -> Any:
    """The value with integers of the example in its arrays."""
    if isinstance(value, tuple):
        return tuple(_like(e, v, source) for e, v in zip(example, value, strict=True))
    if isinstance(value, Record):
        return Record(value.label, _like(example.items, value.items, source))
    if isinstance(value, Array) and value.dtype == "i64" and value.items:
        return Array(value.dtype, value.shape, tuple(source.choice(example.items) for _ in value.items))
    return value


def _holds_reals(type: Any) -> bool:
    """Whether a real is of this type, or among the parts of a tuple, a record or an array of it."""
    return type == REAL or getattr(type, "dtype", "") == "f64" or any(_holds_reals(t) for t in getattr(type, "items", ()))


def _everywhere(x: float, value: Any) -> Any:
    """The value with x for every real in it."""
    if isinstance(value, tuple):
        return tuple(_everywhere(x, v) for v in value)
    if isinstance(value, Record):
        return Record(value.label, tuple(_everywhere(x, v) for v in value.items))
    if isinstance(value, Array) and value.dtype == "f64":
        return Array(value.dtype, value.shape, (x,) * len(value.items))
    return x if type(value) is float else value


def _random(type: Any, source: random.Random) -> Any:
    """Bounded recursion: types nest as deep as somebody wrote them."""
    if type == REAL:
        return source.gauss(0.0, 1.0) * 2.0 ** source.randint(-3, 3)
    if type == INTEGER:
        return source.randint(0, 12)
    if type == BOOLEAN:
        return source.random() < 0.5
    if isinstance(type, TupleType):
        return tuple(_random(t, source) for t in type.items)
    if isinstance(type, RecordType):
        return Record(type.label, tuple(_random(t, source) for t in type.items))
    if isinstance(type, ArrayType):
        sizes = tuple(n or 0 for n in type.dims)
        element = {"bool": BOOLEAN, "i64": INTEGER}.get(type.dtype, REAL)
        items = tuple(_random(element, source) for _ in range(math.prod(sizes)))
        return Array(type.dtype, sizes, tuple(map(single, items)) if type.dtype == "f32" else items)
    raise Malformed(f"cannot sample a {type}", remedy="give the arguments on the command line")


def compare(
    program: Program, types: Sequence[Any], samples: Sequence[Sequence[Any]], quick: bool, mode: str = "exact"
) -> list[Any]:
    """The results of every target, of code for arrays of any size, as `compile` makes it; without the simulator if `quick`."""
    from backend import crosscheck as check
    from backend import targets

    machine = Machine(program)
    chosen = [t for t in targets() if not (quick and t == "cuda-simulator")]
    return check(program, [general(t) for t in types], samples, lambda *a: machine.run(a).value, chosen, mode)


def print_results(results: Sequence[Any], made: Sequence[dict[str, str]] = ()) -> None:
    """A table of targets; every target that did not run says why. Then what was compiled for GPUs that are not there."""
    table = Table("target", "tier", "samples", "bit-equal", "in bound", "ambiguous", "overflow", "wrong", box=None, pad_edge=False)
    for r in results:
        counts = [str(n) for n in (r.samples, r.bitwise, r.within, r.ambiguous, r.overflowed, len(r.mismatches))]
        table.add_row(r.target, r.tier or "-", *(counts if not r.skipped else ["-"] * 6))
    console.print(table)
    for r in results:
        if remark := _remark(r):
            say(f"{r.target}: {remark}")
    for reason in dict.fromkeys(r.refusal for r in results if r.refusal):
        say(f"tier A, generated code, refuses: {reason}; tier B, the virtual machine, runs it")
    for r in results:
        for arguments, wanted, found in r.mismatches[:3]:
            say(f"{r.target} at {exactly(arguments)}\n  found  {exactly(found)}\n  wanted {exactly(wanted)}")

    for row in made:
        say(f"PTX for {row['PTX']}: {row['says']}")


def _remark(result: Any) -> str:
    """What there is to say of a row, besides its counts."""
    if result.skipped:
        return f"not run: {result.skipped}"
    return f"{result.again} of {result.samples} samples left to tier B" if result.again else ""


def ptx_rows(program: Program, types: Sequence[Any]) -> list[dict[str, str]]:
    """For each compute capability, whether PTX was made without a GPU, its size, and its fused multiply-adds."""
    from backend import ptx
    from backend.cuda import numba_cuda

    if reason := numba_cuda.ptx_available():
        return [{"PTX": name, "says": f"not made: {reason}"} for name in CAPABILITIES]
    rows = []
    for name, capability in CAPABILITIES.items():
        try:
            text = ptx(program, types, capability)
        except AdjudgeError as error:
            rows.append({"PTX": name, "says": f"not made: {error.what}"})
        else:
            fused = sum(".fma" in line or "\tfma." in line for line in text.splitlines())
            rows.append({"PTX": name, "says": f"made, {len(text.splitlines())} lines, {fused} fused multiply-adds"})
    return rows
