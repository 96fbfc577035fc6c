"""
Compiled programs: lowered, loaded on a target, and called with values of the program.

    compile(program, argument_types, target) -> Compiled      targets()      source(program, types)      ptx(program, types, cc)

A result is that of the reference, bit for bit on python, cpu and cuda-simulator; on a GPU where no elementary function is used, and
within the running error bound elsewhere (`backend.crosscheck`). Integers beyond 64 bits trap instead of wrapping.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from backend import store, toolchain
from backend.boundary import flatten_arguments, unflatten
from backend.cuda import numba_cuda
from backend.lowering.first_order import Lowered, lowered
from backend.stacks.memory import MEMORY, Memory, rooms
from backend.status import LINKED, MEMORY_LIMIT, OK, ORDER, SIZES, error, is_full, raised_by
from backend.ways_in.entrance import Entrance, entrance
from backend.ways_in.entry import is_quick
from backend.ways_in.structured import is_structured, structured
from semantics.errors import AdjudgeError, Crash, IllTyped, Malformed, OutOfFuel, Trap
from semantics.ir import Program
from semantics.type_language import BOOLEAN, INTEGER, REAL

BUDGET = 1_000_000_000
BLOCK = 64


def targets() -> dict[str, str]:
    """For every target, "" if it can run here, else why it cannot."""
    return dict(toolchain.targets())


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
    memory = MEMORY if code.stacks else ()
    own = [f"{m}[i * ({m}.size // status.size) : (i + 1) * ({m}.size // status.size)]" for m in memory[:-1]]
    given = [*loads, *own, *memory[-1:], "fuel", "one"]
    stores = "\n".join(f"        {r}[i] = {v}" for r, v in zip(results, values, strict=True))
    return f"""{code.source}

def batch({", ".join([*arguments, *results, "status", *memory, "fuel", "one"])}):
    i = cuda.grid(1)
    if i < status.size:
        ({", ".join([*values, "left", "code"])},) = kernel({", ".join(given)})
{stores}
        status[i] = code
"""


def ptx(program: Program, argument_types: Sequence[Any] | None = None, cc: tuple[int, int] = (9, 0)) -> str:
    """The PTX of the batch kernel for a compute capability. IllTyped with the reason where it cannot be made here."""
    code = lowered(program, argument_types)
    taken = len(rooms(code.widths)) if code.stacks else 0
    if code.arrays:
        from backend.cuda.block import block_source

        return numba_cuda.ptx(block_source(code), numba_cuda.block_signature(taken), cc)
    return numba_cuda.ptx(batch_source(code), numba_cuda.kernel_signature(code.arguments, code.results, taken), cc)


def compile(
    program: Program,
    argument_types: Sequence[Any] | None = None,
    target: str = "cpu",
    *,
    mode: str = "J",
    budget: int = BUDGET,
    optimize: bool = True,
    fast: bool = False,
    nothing: bool = False,
) -> Compiled:
    """
    The program as a callable on a target. `budget` bounds the turns of its loops in one call: OutOfFuel beyond. `mode` is the
    reverse mode by which a derivative that it asks for is taken. With `fast`, code for the CPU has sums in any order
    (`backend.fast`). With `nothing` it is code that knows sums of nothing, which are integers; other code has it made when it comes
    to one.

    Malformed or IllTyped with the reason if the program has no first-order form, or the target is not there.
    """
    if target not in toolchain.TARGETS:
        raise Malformed(f"{target!r} is not a target", rule="backend", remedy=f"one of {', '.join(toolchain.TARGETS)}")
    if reason := toolchain.missing(target):
        raise Malformed(f"the target {target} is not there: {reason}", rule="backend", remedy="cpu, python or cuda-simulator")

    def made(linked: bool) -> Compiled:
        code = lowered(
            program, argument_types, mode=mode, optimize=optimize, linked=linked, fast=fast and target == "cpu", nothing=nothing
        )
        found = on_target(code, target, budget, lambda: made(linked=True))
        found.exact, found.knowing = another, lambda: another(fast=fast, nothing=True)
        return found

    def another(**options: bool) -> Compiled:
        return compile(program, argument_types, target, mode=mode, budget=budget, optimize=optimize, **options)

    return made(linked=False)


def on_target(code: Lowered, target: str, budget: int = BUDGET, general: Callable[[], Compiled] | None = None) -> Compiled:
    """Generated code, loaded. No status LINKED comes from it where `general` is not given."""
    general = general or (lambda: on_target(code, target, budget))
    toolchain.refuse_absent(target, code.source)
    if target.startswith("cuda"):
        if code.arrays:
            from backend.cuda.launch import Blocks

            return Blocks(code, target, budget, general)
        return Compiled(code, target, budget, numba_cuda.kernel(batch_source(code), target), general)
    if target == "cpu":
        return Compiled(code, target, budget, None, general)
    module = store.load(code.alone, target, toolchain.bindings(target, code.alone, vectors=toolchain.in_loops(code.alone)))
    return Compiled(code, target, budget, module.kernel, general)


class Compiled:
    """
    A program on a target. Call it with values, or `map` it over many samples: one per thread on CUDA.

    quick        the program as a function of numbers and arrays on the CPU; None where an argument or the result is something else
    general()    the same program in code that no status LINKED comes from
    exact()      the same program with all sums from the left
    knowing()    the same program in code that knows sums of nothing
    """

    exact: Callable[[], Compiled]
    knowing: Callable[[], Compiled] | None = None

    def __init__(self, code: Lowered, target: str, budget: int, kernel: Any, general: Callable[[], Compiled]) -> None:
        self.code, self.target, self.budget, self.kernel, self.general = code, target, budget, kernel, general
        self.memory, self.unlinked = Memory(code, budget), False
        self.threaded = target.startswith("cuda")
        self.entrance = entrance(code, self.memory) if target == "cpu" else None
        self.quick = self.way_of_parts(self.call) if is_quick(code) else None

    def __call__(self, *arguments: Any) -> Any:
        return self.call(*arguments) if self.quick is None else self.quick(*arguments)

    def lead_in(self) -> None:
        """Has the machine code made, or found, on the CPU; what the compiler raises is raised. Else the first call does."""
        if isinstance(self.entrance, Entrance) and not self.entrance.leads_in:
            self.entrance.lead_in()

    def way_in(self, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """The program as a function of Python's, which calls `otherwise` for arguments of other types, or if a call fails."""
        types, result = self.code.argument_types, self.code.result_type
        if is_quick(self.code):
            return self.way_of_parts(otherwise)
        if self.code.results and is_structured(types, result):
            return structured(types, result, self.way_of_parts, otherwise)
        return None

    def way_of_parts(self, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """The same of all numbers and arrays that the arguments have, one by one, and as many that the result has."""
        return self.entrance.value(otherwise) if self.entrance is not None else None

    def call(self, *arguments: Any) -> Any:
        """The value, or the error that it ends in, raised."""
        outcome = self.map([arguments])[0]
        if isinstance(outcome, AdjudgeError):
            raise outcome
        return outcome

    def map(self, samples: Iterable[Sequence[Any]]) -> list[Any]:
        """The value of every sample, or the error it ends in."""
        outcomes = [*map(self.row, samples)]
        there = [k for k, row in enumerate(outcomes) if not isinstance(row, Trap)]
        rows = [outcomes[k] for k in there]
        found = map(self.outcome, self.threads(rows)) if self.threaded else map(self.attempt, rows)
        for k, outcome in zip(there, found, strict=True):
            outcomes[k] = outcome
        return outcomes

    def row(self, sample: Sequence[Any]) -> Any:
        """The scalars and arrays of a sample, one by one; the Trap, if one of its integers needs more than 64 bits."""
        try:
            return flatten_arguments(sample, self.code.argument_types)
        except Trap as beyond:
            return beyond

    def attempt(self, row: Sequence[Any]) -> Any:
        """The outcome of one call."""
        try:
            found = self.one(row)
            if found[-1] == SIZES and self.code.summing and self.of_nothing is not None:
                return self.of_nothing.attempt(row)
            return self.outcome(found)
        except (Crash, OutOfFuel) as raised:
            return raised

    def outcome(self, row: Sequence[Any]) -> Any:
        """The value in a row of scalars that ends in fuel and status."""
        if row[-1] != OK:
            return error(int(row[-1]), self.budget, self.code.ahead)
        return unflatten(row[:-2], self.code.result_type)

    def one(self, row: Sequence[Any]) -> Sequence[Any]:
        """The result of one call, made again while its stacks need more memory, or other code."""
        while True:
            result = self.turn(row)
            if is_full(result[-1]):
                if not self.memory.grow((result[-1],)):
                    return (*result[:-1], MEMORY_LIMIT)
            elif result[-1] == LINKED:
                if not self.replace():
                    return (*result[:-1], SIZES)
            elif result[-1] == ORDER:
                return self.from_the_left.one(row)
            else:
                return result

    def turn(self, row: Sequence[Any]) -> Sequence[Any]:
        """What the code leaves, once; the error for what is raised there."""
        try:
            if self.entrance is None:
                left: Sequence[Any] = self.kernel(*row, *self.memory.given)
                return left
            *values, status = self.entrance.status(*row)
        except Exception as raised:
            raise raised_by(raised) from raised
        return (*values, 0, status)

    @cached_property
    def from_the_left(self) -> Compiled:
        return self.exact()

    @cached_property
    def of_nothing(self) -> Compiled | None:
        with suppress(Malformed, IllTyped):
            return self.knowing() if self.knowing is not None else None
        return None

    def replace(self) -> bool:
        """
        From now on the code in which every cell of a stack knows the one below; False where that is refused: the status is SIZES
        then, so the machine runs the sample.
        """
        if self.unlinked:
            return False
        try:
            other = self.general()
        except (Malformed, IllTyped):
            self.unlinked = True
            return False
        self.code, self.kernel = other.code, other.kernel
        self.memory = Memory(other.code, self.budget, self.memory.cell)
        if self.entrance is not None:
            self.entrance.aim(other.code, self.memory)
        return True

    def threads(self, rows: list[list[Any]]) -> list[tuple[Any, ...]]:
        """One launch, a thread per row; again, while a thread's stacks need more memory, or other code."""
        while True:
            found = self.launch(rows)
            statuses = {row[-1] for row in found}
            if LINKED in statuses:
                if not self.replace():
                    return [(*row[:-1], SIZES) if row[-1] == LINKED or is_full(row[-1]) else row for row in found]
            elif not any(map(is_full, statuses)):
                return found
            elif not self.memory.grow(statuses, len(rows)):
                return [(*row[:-1], MEMORY_LIMIT) if is_full(row[-1]) else row for row in found]

    def launch(self, rows: list[list[Any]]) -> list[tuple[Any, ...]]:
        import numpy

        dtype = {REAL: numpy.float64, INTEGER: numpy.int64, BOOLEAN: numpy.bool_}
        count = len(rows)
        if count == 0:
            return []
        columns: list[Any] = [numpy.array([row[i] for row in rows], dtype[t]) for i, t in enumerate(self.code.arguments)]
        results: list[Any] = [numpy.zeros(count, dtype[t]) for t in self.code.results]
        status = numpy.zeros(count, numpy.int64)
        self.launch_columns(columns, results, status)
        found = zip(*(r.tolist() for r in results), [0] * count, status.tolist(), strict=True)
        return list(found)

    def launch_columns(self, columns: list[Any], results: list[Any], status: Any) -> None:
        """One launch, a thread for each element of the columns; results and statuses are written."""
        count = status.size
        given = (*columns, *results, status, *self.memory.for_threads(count))
        self.kernel[(count + BLOCK - 1) // BLOCK, min(BLOCK, count)](*given)
