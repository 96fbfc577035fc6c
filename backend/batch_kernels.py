"""
The kernels of batches, as text behind the generated code of one sample: each goes over a stretch of samples.

    batch    calls the generated code for each sample: one text for CPython and Numba
    wide     calls it for `width` samples at once, of numbers that stand side by side (`backend.lanes`), for the CPU. Where these
             samples part at a branch, or one of them does not end as it should, `batch` goes over them

A kernel takes the columns of the arguments, what is shared as it is; the results, the scalars of each dtype as the rows of one
array; the statuses; and memory. It gives how many samples did not end well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from backend import store, toolchain
from backend.lane_branches import asks
from backend.lowering import Lowered
from backend.stack_memory import LIMIT, MEMORY, Memory
from backend.status import FULL, OK, SIZES
from backend.ways_in import of_kernel
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

READ = {REAL: "float", INTEGER: "int", BOOLEAN: "bool"}
BYTES = {"f64": 8, "i64": 8, "bool": 1}
SHARED = 20  # arguments that all share, at most, for lanes: CPython writes a longer call as Numba does not read it in a `try`
WIDE = 64  # samples from which on lanes are worth the making
PATIENCE = 16  # stretches of samples at once that part before the others are counted


class Kernels:
    """The kernels of a program on a target; `wide`, where there is one, for `width` samples at once."""

    def __init__(self, code: Lowered, shared: Sequence[bool], target: str) -> None:
        text = batch_kernel(code, shared)
        bound = toolchain.bindings(target, text)
        lanes = toolchain.lanes(asks(code.alone, columns_among(code, shared))) if target == "cpu" else {}
        self.width = lanes["_WIDTH"] if lanes and is_wide(code, shared, lanes["_CALLED"]) else 1
        if self.width > 1:
            text, bound = text + wide_kernel(code, shared, self.width), bound | lanes
        fast = code.fast and code.arrays  # of numbers it is the exact code
        bound = bound | toolchain.fast_bindings() if fast else bound
        self.module = store.load(text, f"{target}, fast" if fast else target, bound)
        self.closed = target == "cpu" and not code.arrays
        self.batch = None if self.closed else self.module.batch
        self.wide: Any = None
        self.ways: dict[Any, Any] = {}

    def way(self, kernel: Any) -> Any:
        """The kernel as it is called for a short time."""
        if kernel not in self.ways:
            self.ways[kernel] = of_kernel(kernel)
        return self.ways[kernel]

    def ready(self, count: int) -> tuple[Any, int] | None:
        """The kernel for so many samples, and how many it takes at once; None if it is yet to be compiled."""
        kernel, width = (self.wide, self.width) if self.width > 1 and count >= WIDE else (self.batch, 1)
        return None if kernel is None else (kernel, width)

    def launch(self, memory: Memory, samples: int, threads: int, alone: bool = False) -> tuple[Any, list[Any]] | None:
        """
        The kernel, and the memory for each of the threads: for stacks of several samples at once, and of several threads, if there
        is so much; that of the last time, if it runs `alone`, while all threads of Python wait. None if the kernel is yet to be
        compiled.
        """
        if (found := self.ready(samples)) is None:
            return None
        kernel, width = found
        room = max(1, LIMIT // max(1, memory.size)) if memory.code.stacks else threads * width
        if width > 1 and threads * width > room:
            kernel, width = self.batch, 1
        if alone:
            return kernel, [memory.for_batch(width)]
        return kernel, pieces_of(memory, min(threads, room), width)

    def prepare(self, arguments: Sequence[Any]) -> None:
        """
        Has the kernels of numbers compiled for these arguments: `batch`, and then `wide`. Where lanes cannot stand for its numbers
        there is no `wide`.
        """
        if self.batch is None:
            toolchain.compiles(self.module.batch, arguments)
            self.batch = self.module.batch
        elif toolchain.compiles(self.module.wide, arguments):
            self.wide = self.module.wide
        else:
            self.width = 1


def pieces_of(memory: Memory, count: int, width: int) -> list[tuple[Any, ...]]:
    """What each of several threads is given of the memory for stacks, which are as wide, and the rest."""
    if not memory.code.stacks:
        return [memory.given] * count
    reals, integers, *rest = memory.for_threads(count * width)
    size = memory.size * width
    return [(reals[k * size : (k + 1) * size], integers[k * size : (k + 1) * size], *rest) for k in range(count)]


def holders(code: Lowered) -> dict[str, list[int]]:
    """The arrays that hold the results, in the order in which kernels take them, with the numbers of the results in each."""
    found: dict[str, list[int]] = {}
    for number, type in enumerate(code.results):
        found.setdefault(f"r{number}" if isinstance(type, ArrayType) else f"r_{type.name}", []).append(number)
    return found


def batch_kernel(code: Lowered, shared: Sequence[bool]) -> str:
    """The generated code with the kernel `batch`."""
    arguments, values = _names(code)
    loads = [_load(a, t, s) for a, t, s in zip(arguments, code.arguments, shared, strict=True)]
    arrays = [at for at, type in enumerate(code.results) if isinstance(type, ArrayType)]
    unlike = [f"v{at}.shape != r{at}.shape[1:]" for at in arrays]
    stores = [
        f"{r}[i] = v{at}" if at in arrays else f"{r}[{row}, i] = v{at}"
        for r, numbers in holders(code).items()
        for row, at in enumerate(numbers)
    ]
    lines = [
        "",
        "@_batch",
        f"def batch({', '.join(['first', 'last', *arguments, *holders(code), 'status', *_memory(code)])}):",
        "    failed = 0",
        "    for i in range(first, last):",
        f"        if status[i] == {FULL}:",
        f"            ({', '.join([*values, 'left', 'code'])},) = kernel({', '.join([*loads, *_memory(code)])})",
        *((f"            if code == {OK} and ({' or '.join(unlike)}):", f"                code = {SIZES}") if unlike else ()),
        "            status[i] = code",
        f"            if code == {OK}:",
        *(f"                {store}" for store in stores),
        "                continue",
        "            failed += 1",
        "    return failed",
        "",
    ]
    return "\n".join([code.alone, *lines])


def _names(code: Lowered) -> tuple[list[str], list[str]]:
    return [f"a{i}" for i in range(len(code.arguments))], [f"v{i}" for i in range(len(code.results))]


def _memory(code: Lowered) -> list[str]:
    return [*(MEMORY if code.stacks else ()), "fuel", "one"]


def _load(name: str, type: Any, shared: bool) -> str:
    if isinstance(type, ArrayType):
        return name if shared else f"{name}[i]"
    return name if shared else f"{READ[type]}({name}[i])"


# side by side


def is_wide(code: Lowered, shared: Sequence[bool], called: frozenset[str]) -> bool:
    """Whether the code may be given lanes: it is of numbers, the columns are of reals, and it calls only what takes lanes."""
    names = set(re.findall(r"(?<![\w.])(_\w+)\(", code.alone))
    columns = [t for t, s in zip(code.arguments, shared, strict=True) if not s]
    numbers = not code.arrays and bool(code.results) and sum(shared) <= SHARED
    return numbers and names <= called and bool(columns) and all(t == REAL for t in columns)


def columns_among(code: Lowered, shared: Sequence[bool]) -> list[str]:
    """The names of the arguments that samples have each of their own."""
    arguments, _ = _names(code)
    return [a for a, s in zip(arguments, shared, strict=True) if not s]


def wide_kernel(code: Lowered, shared: Sequence[bool], width: int) -> str:
    """
    The kernel `wide`, behind the text of `batch`, which goes over what is left. Where the last are fewer than there are lanes, some
    that came before run with them once more, and are written again as they were.
    """
    arguments, values = _names(code)
    columns = columns_among(code, shared)
    alike = [a for a, s in zip(arguments, shared, strict=True) if s]
    at = {a: f"_taken(columns[{k}] + 8 * i)" for k, a in enumerate(columns)}
    memory = ["_lane_reals(reals)", "_lane_integers(integers)", "capacity"] if code.stacks else []
    given = ", ".join([*(at.get(a, a) for a in arguments), *memory, "fuel", "one"])
    held = holders(code)
    stores = [
        f"_put_{name[2:]}(results[{k}] + {BYTES[name[2:]]} * ({row} * count + i), v{at})"
        for k, (name, numbers) in enumerate(held.items())
        for row, at in enumerate(numbers)
    ]
    taken = ["i", "count", "columns", "results", *alike, *_memory(code)]
    memory = ["_address(reals)", "_address(integers)", "capacity"] if code.stacks else []
    call = ["at", "count", "columns", "results", *alike, *memory, "fuel", "one"]
    whole = ", ".join([*arguments, *held, "status", *_memory(code)])
    return f"""
@_device
def abreast({", ".join(taken)}):
    ({", ".join([*values, "left", "code"])},) = kernel({given})
    if code == {OK}:
        {"; ".join(stores) or "pass"}
    return code


@_batch
def wide(first, last, {whole}):
    count = status.size
    columns = ({", ".join(f"_address({a})" for a in columns)},)
    results = ({", ".join(f"_address({r})" for r in held)},)
    failed, parted, i = 0, 0, first
    while i < last and {width} <= last - first and (parted < {PATIENCE} or {2 * width} * parted < i - first):
        at = min(i, last - {width})
        code = {OK}
        for k in range(i, at + {width}):
            code = code if status[k] == {FULL} else {FULL}
        if code == {OK}:
            try:
                code = abreast({", ".join(call)})
            except Exception:
                code = {FULL}
        if code == {OK}:
            for k in range(i, at + {width}):
                status[k] = {OK}
        else:
            failed += batch(i, at + {width}, {whole})
            parted += 1
        i = at + {width}
    return failed + batch(i, last, {whole})
"""
