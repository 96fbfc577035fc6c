"""
Compiled programs: lowered, loaded on a target, and called with values of the program.

    compile(program, argument_types, target) -> Compiled      targets()      source(program, types)      ptx(program, types, cc)

A result is that of the reference, bit for bit on python, cpu and cuda-simulator; on a GPU where no elementary function is used, and
within the running error bound elsewhere (`backend.crosscheck`). Integers beyond 64 bits trap instead of wrapping.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend import store, toolchain
from backend.lower import Lowered, lower
from backend.status import OK, error
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel
from semantics.ir import Parameter, Program
from semantics.structured import Record
from semantics.type_language import BOOLEAN, INTEGER, REAL, RecordType, Scalar, TupleType
from semantics.type_lattice import Union

BUDGET = 1_000_000_000
BLOCK = 64


def targets() -> dict[str, str]:
    """For every target, "" if it can run here, else why it cannot."""
    return dict(toolchain.targets())


def lowered(program: Program, argument_types: Sequence[Any] | None = None, *, optimize: bool = True) -> Lowered:
    """The first-order form of a program, optimized before where the optimizer is there; as it is where that cannot be lowered."""
    if optimize and (better := _optimized(_declared(program, argument_types))) is not None:
        try:
            return lower(better, argument_types)
        except AdjudgeError:
            return lower(program, argument_types)
    return lower(program, argument_types)


def _declared(program: Program, argument_types: Sequence[Any] | None) -> Program:
    """The program whose entry declares these types where it declares none: the optimizer may rely on them."""
    parameters = program.graphs[program.entry].parameters
    if argument_types is None or len(argument_types) != len(parameters):
        return program
    nodes = program.nodes
    for node, type in zip(parameters, argument_types, strict=True):
        found = nodes[node]
        if isinstance(found, Parameter) and found.type is None:
            nodes = nodes.set(node, replace(found, type=type))
    return replace(program, nodes=nodes)


def _optimized(program: Program) -> Program | None:
    """The optimizer's result; None if there is no optimizer, or it gives up."""
    try:
        from transforms.pipeline import optimize

        return optimize(program)
    except (ImportError, OutOfFuel):
        return None


def source(program: Program, argument_types: Sequence[Any] | None = None) -> str:
    """The generated code, the same for every target."""
    return lowered(program, argument_types).source


def batch_source(code: Lowered) -> str:
    """The generated code with a kernel that runs one sample per thread."""
    arguments = [f"a{i}" for i in range(len(code.arguments))]
    results = [f"r{i}" for i in range(len(code.results))]
    values = [f"v{i}" for i in range(len(results))]
    read = {REAL: "float", INTEGER: "int", BOOLEAN: "bool"}
    loads = [f"{read[t]}({a}[i])" for a, t in zip(arguments, code.arguments, strict=True)]
    stores = "\n".join(f"        {r}[i] = {v}" for r, v in zip(results, values, strict=True))
    return f"""{code.source}

def batch({", ".join([*arguments, *results, "status", "fuel", "one"])}):
    i = cuda.grid(1)
    if i < status.size:
        ({", ".join([*values, "left", "code"])},) = kernel({", ".join([*loads, "fuel", "one"])})
{stores}
        status[i] = code
"""


def ptx(program: Program, argument_types: Sequence[Any] | None = None, cc: tuple[int, int] = (9, 0)) -> str:
    """The PTX of the batch kernel for a compute capability. IllTyped with the reason where it cannot be made here."""
    if reason := toolchain.ptx_available():
        raise IllTyped(f"no PTX here: {reason}", rule="backend", remedy="install the cuda extra and a CUDA toolkit")
    code = lowered(program, argument_types)
    module = store.load(batch_source(code), "cuda", toolchain.bindings("cuda"))
    return toolchain.compile_ptx(module.batch, toolchain.kernel_signature(code.arguments, code.results), cc)


def compile(
    program: Program,
    argument_types: Sequence[Any] | None = None,
    target: str = "cpu",
    *,
    budget: int = BUDGET,
    optimize: bool = True,
) -> Compiled:
    """
    The program as a callable on a target. `budget` bounds the turns of its loops in one call: OutOfFuel beyond.

    Malformed or IllTyped with the reason if the program has no first-order form, or the target is not there.
    """
    if target not in toolchain.TARGETS:
        raise Malformed(f"{target!r} is not a target", rule="backend", remedy=f"one of {', '.join(toolchain.TARGETS)}")
    if reason := toolchain.targets()[target]:
        raise Malformed(f"the target {target} is not there: {reason}", rule="backend", remedy="cpu, python or cuda-simulator")
    code = lowered(program, argument_types, optimize=optimize)
    toolchain.refuse_absent(target, code.source)
    batched = target.startswith("cuda")
    module = store.load(batch_source(code) if batched else code.source, target, toolchain.bindings(target))
    if not batched:
        return Compiled(code, target, budget, module.kernel)
    return Compiled(code, target, budget, toolchain.jitted(module.batch) if target == "cuda" else toolchain.simulated(module.batch))


@dataclass(frozen=True)
class Compiled:
    """A program on a target. Call it with values, or `map` it over many samples: one per thread on CUDA."""

    code: Lowered
    target: str
    budget: int
    kernel: Any

    def __call__(self, *arguments: Any) -> Any:
        outcome = self.map([arguments])[0]
        if isinstance(outcome, AdjudgeError):
            raise outcome
        return outcome

    def map(self, samples: Iterable[Sequence[Any]]) -> list[Any]:
        """The value of every sample, or the error it ends in."""
        flat = [flatten_arguments(sample, self.code.argument_types) for sample in samples]
        rows = self.threads(flat) if self.target.startswith("cuda") else [self.kernel(*row, self.budget, 1.0) for row in flat]
        return [self.outcome(row) for row in rows]

    def outcome(self, row: Sequence[Any]) -> Any:
        """The value in a row of scalars that ends in fuel and status."""
        if row[-1] != OK:
            return error(int(row[-1]), self.budget)
        return unflatten(row[:-2], self.code.result_type)

    def threads(self, rows: list[list[Any]]) -> list[tuple[Any, ...]]:
        """One launch, a thread per row."""
        import numpy

        dtype = {REAL: numpy.float64, INTEGER: numpy.int64, BOOLEAN: numpy.bool_}
        count = len(rows)
        if count == 0:
            return []
        columns: list[Any] = [numpy.array([row[i] for row in rows], dtype[t]) for i, t in enumerate(self.code.arguments)]
        results: list[Any] = [numpy.zeros(count, dtype[t]) for t in self.code.results]
        status = numpy.zeros(count, numpy.int64)
        self.kernel[(count + BLOCK - 1) // BLOCK, min(BLOCK, count)](*columns, *results, status, self.budget, 1.0)
        found = zip(*(r.tolist() for r in results), [0] * count, status.tolist(), strict=True)
        return list(found)


def flatten_arguments(values: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """The scalars of the arguments; IllTyped if one does not have its type, Trap if an integer needs more than 64 bits."""
    if len(values) != len(types):
        raise IllTyped(f"the program takes {len(types)} arguments, {len(values)} given", rule="enter")
    scalars: list[Any] = []
    todo = list(zip(values, types, strict=True))[::-1]
    while todo:
        value, type = todo.pop()
        match type, value:
            case TupleType(items), tuple() if len(items) == len(value):
                todo += list(zip(value, items, strict=True))[::-1]
            case RecordType(label, items), Record(of, parts) if label == of and len(items) == len(parts):
                todo += list(zip(parts, items, strict=True))[::-1]
            case Scalar("f64"), float():
                scalars.append(value)
            case Scalar("bool"), bool():
                scalars.append(value)
            case Scalar("i64"), int() if not isinstance(value, bool):
                if not -(1 << 63) <= value < 1 << 63:
                    raise error(1, 0)
                scalars.append(value)
            case Scalar("unit"), None:
                pass
            case _:
                raise IllTyped(f"an argument wants {type}, found {value!r}", rule="enter")
    return scalars


def unflatten(row: Sequence[Any], type: Any) -> Any:
    """The value of a type from its scalars; recursion is bounded by the nesting of the type."""
    value, rest = _take(list(row), type)
    assert not rest, "every scalar belongs to the value"
    return value


def _take(row: list[Any], type: Any) -> tuple[Any, list[Any]]:
    match type:
        case TupleType(items) | RecordType(_, items):
            parts = []
            for item in items:
                part, row = _take(row, item)
                parts.append(part)
            return Record(type.label, tuple(parts)) if isinstance(type, RecordType) else tuple(parts), row
        case Union(members):
            number, row = int(row[0]), row[1:]
            options = []
            for member in members:
                option, row = _take(row, member)
                options.append(option)
            return options[number], row
        case Scalar("f64"):
            return float(row[0]), row[1:]
        case Scalar("i64"):
            return int(row[0]), row[1:]
        case Scalar("bool"):
            return bool(row[0]), row[1:]
        case _:
            return None, row
