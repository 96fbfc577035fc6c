"""
The kernels of batches, as text behind the generated code of one sample: each goes over a stretch of samples.

    batch    calls the generated code for each sample: one text for CPython and Numba
    wide     calls it for `width` samples at once, of numbers that stand side by side (`backend.batches.lanes`), for the CPU. Where
             these samples part at a branch, or one of them does not end as it should, `batch` goes over them

A kernel takes the columns of the arguments, what is shared as it is; the results, the scalars of each dtype as the rows of one
array; the statuses; and memory. It gives how many samples did not end well. Of an array that is taken apart
(`backend.batches.forms`) each element is a number, of a sample's own row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from backend import store, toolchain
from backend.batches.branches import asks
from backend.batches.choices import choosing
from backend.batches.forms import Form, holders, places
from backend.stacks.memory import LIMIT, MEMORY, Memory
from backend.status import FULL, OK, SIZES
from backend.ways_in.entrance import of_kernel
from semantics.arrays import size_of
from semantics.shapes import known
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

READ: dict[Any, str] = {REAL: "float", INTEGER: "int", BOOLEAN: "bool", "f64": "float", "i64": "int", "bool": "bool"}
BYTES = {"f64": 8, "i64": 8, "bool": 1}
SHARED = 20  # arguments that all share, at most, for lanes: CPython writes a longer call as Numba does not read it in a `try`
WIDE = 64  # samples from which on lanes are worth the making
PATIENCE = 16  # stretches of samples at once that part before the others are counted


class Kernels:
    """The kernels of a program on a target; `wide`, where there is one, for `width` samples at once."""

    def __init__(self, form: Form, shared: Sequence[bool], target: str) -> None:
        code, text = form.code, batch_kernel(form, shared)
        bound = toolchain.bindings(target, text)
        lanes = toolchain.lanes(is_for_few(form, shared)) if target == "cpu" else {}
        self.width = lanes["_WIDTH"] if lanes and is_wide(form, shared, lanes["_CALLED"]) else 1
        if self.width > 1:
            text, bound = text + wide_kernel(form, shared, self.width), bound | lanes
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


def batch_kernel(form: Form, shared: Sequence[bool]) -> str:
    """The generated code with the kernel `batch`."""
    code, arguments = form.code, _names(form)
    values = [f"v{k}" for k in range(len(code.results))]
    unlike = [f"v{at}.shape != r{at}.shape[1:]" for at, t in enumerate(form.results) if isinstance(t, ArrayType) and not form.apart]
    lines = [
        "",
        "@_batch",
        f"def batch({', '.join(['first', 'last', *arguments, *holders(form), 'status', *_memory(form)])}):",
        "    failed = 0",
        "    for i in range(first, last):",
        f"        if status[i] == {FULL}:",
        f"            ({', '.join([*values, 'left', 'code'])},) = kernel({', '.join([*_loads(form, shared), *_memory(form)])})",
        *((f"            if code == {OK} and ({' or '.join(unlike)}):", f"                code = {SIZES}") if unlike else ()),
        "            status[i] = code",
        f"            if code == {OK}:",
        *(f"                {store}" for store in _stores(form)),
        "                continue",
        "            failed += 1",
        "    return failed",
        "",
    ]
    return "\n".join([code.alone, *lines])


def _names(form: Form) -> list[str]:
    return [f"a{i}" for i in range(len(form.arguments))]


def _memory(form: Form) -> list[str]:
    return [*(MEMORY if form.code.stacks else ()), "fuel", "one"]


def _loads(form: Form, shared: Sequence[bool]) -> Iterator[str]:
    """What the code takes of sample i."""
    for name, type, s, parts in zip(_names(form), form.arguments, shared, places(form, form.arguments, "x"), strict=True):
        for _, index in parts:
            at = ", ".join([*(() if s else ("i",)), *((index,) if index else ())])
            found = f"{name}[{at}]" if at else name
            array = isinstance(type, ArrayType)
            read = READ[type.dtype] if array and index else READ.get(type, "")
            yield f"{read}({found})" if read and at else found


def _stores(form: Form) -> Iterator[str]:
    """Where what the code gives of sample i goes."""
    given = [*places(form, form.results, "v")]
    for name, numbers in holders(form).items():
        for row, at in enumerate(numbers):
            if isinstance(form.results[at], ArrayType):
                yield from (f"{name}[{f'i, {index}' if index else 'i'}] = {value}" for value, index in given[at])
            else:
                yield f"{name}[{row}, i] = {given[at][0][0]}"


# side by side


def is_wide(form: Form, shared: Sequence[bool], called: frozenset[str]) -> bool:
    """Whether the code may be given lanes: it is of numbers, the columns are of reals, and it calls only what takes lanes."""
    names = set(re.findall(r"(?<![\w.])(_\w+)\(", form.code.alone))
    pairs = [*zip(form.arguments, shared, strict=True)]
    columns, alike = [t for t, s in pairs if not s], [t for t, s in pairs if s]
    few = sum(not isinstance(t, ArrayType) for t in alike) <= SHARED
    numbers = not form.code.arrays and bool(form.code.results) and few
    reals = all(_is_real(t) for t in (*columns, *(t for t in alike if isinstance(t, ArrayType))))
    return numbers and names <= called and bool(columns) and reals


def is_for_few(form: Form, shared: Sequence[bool]) -> bool:
    """
    Whether few samples are to go side by side: the code asks about them, or rows have to be taken apart for each lane, which
    takes less, where all fit in registers.
    """
    rows = any(isinstance(t, ArrayType) and not s for t, s in zip(form.arguments, shared, strict=True))
    return rows or asks(f"{form.code.alone}\n{choosing(form.code.alone)}", columns_among(form, shared))


def _is_real(type: Any) -> bool:
    return type.dtype == "f64" if isinstance(type, ArrayType) else bool(type == REAL)


def columns_among(form: Form, shared: Sequence[bool]) -> list[str]:
    """The names of what the code takes that samples have each of their own."""
    taken = places(form, form.arguments, "a")
    return [name for parts, s in zip(taken, shared, strict=True) for name, _ in parts if not s]


def wide_kernel(form: Form, shared: Sequence[bool], width: int) -> str:
    """
    The kernel `wide`, behind the text of `batch`, which goes over what is left. Where the last are fewer than there are lanes, some
    that came before run with them once more, and are written again as they were. The `try` stands in a function of its own: from
    CPython 3.12 on, Numba does not find it behind a loop.
    """
    code, pairs = form.code, [*zip(_names(form), form.arguments, shared, strict=True)]
    columns, arrays = [a for a, _, s in pairs if not s], [a for a, t, s in pairs if s and isinstance(t, ArrayType)]
    alike = [a for a, t, s in pairs if s and not isinstance(t, ArrayType)]
    memory = ["_lane_reals(reals)", "_lane_integers(integers)", "capacity"] if code.stacks else []
    given = ", ".join([*_taken(form, columns, arrays), *memory, "fuel", "one"])
    values = [f"v{k}" for k in range(len(code.results))]
    taken = ["i", "count", "columns", "results", *(["arrays"] if arrays else []), *alike, *_memory(form)]
    memory = ["_address(reals)", "_address(integers)", "capacity"] if code.stacks else []
    call = ["at", *taken[1 : len(taken) - len(_memory(form))], *memory, "fuel", "one"]
    whole = ", ".join([*_names(form), *holders(form), "status", *_memory(form)])
    own = choosing(code.alone).replace("def kernel(", "def choosing(", 1)
    return f"""
{own}
@_device
def abreast({", ".join(taken)}):
    ({", ".join([*values, "left", "code"])},) = {"choosing" if own else "kernel"}({given})
    if code == {OK}:
        {"; ".join(_put(form)) or "pass"}
    return code


@_device
def attempt({", ".join(taken)}):
    try:
        code = abreast({", ".join(taken)})
    except Exception:
        code = {FULL}
    return code


@_batch
def wide(first, last, {whole}):
    count = status.size
    columns = ({", ".join(f"_address({a})" for a in columns)},)
    results = ({", ".join(f"_address({r})" for r in holders(form))},)
    {f"arrays = ({', '.join(f'_address({a})' for a in arrays)},)" if arrays else ""}
    failed, parted, i = 0, 0, first
    while i < last and {width} <= last - first and (parted < {PATIENCE} or {2 * width} * parted < i - first):
        at = min(i, last - {width})
        code = {OK}
        for k in range(i, at + {width}):
            code = code if status[k] == {FULL} else {FULL}
        if code == {OK}:
            code = attempt({", ".join(call)})
        if code == {OK}:
            for k in range(i, at + {width}):
                status[k] = {OK}
        else:
            failed += batch(i, at + {width}, {whole})
            parted += 1
        i = at + {width}
    return failed + batch(i, last, {whole})
"""


def _taken(form: Form, columns: Sequence[str], arrays: Sequence[str]) -> Iterator[str]:
    """What the code takes of the samples from i on: neighbours in a column, or numbers that are a row of an array apart."""
    for name, type in zip(_names(form), form.arguments, strict=True):
        if not isinstance(type, ArrayType):
            yield f"_taken(columns[{columns.index(name)}] + 8 * i)" if name in columns else name
            continue
        size = size_of(known(type.dims))
        for k in range(size):
            if name in columns:
                yield f"_taken_apart(columns[{columns.index(name)}] + {8 * size} * i + {8 * k}, {8 * size})"
            else:
                yield f"_real(arrays[{arrays.index(name)}] + {8 * k})"


def _put(form: Form) -> Iterator[str]:
    """The writing of what the code gives of the samples from i on."""
    given = [*places(form, form.results, "v")]
    for k, (name, numbers) in enumerate(holders(form).items()):
        for row, at in enumerate(numbers):
            type, values = form.results[at], [value for value, _ in given[at]]
            if not isinstance(type, ArrayType):
                yield f"_put_{name[2:]}(results[{k}] + {BYTES[name[2:]]} * ({row} * count + i), {values[0]})"
                continue
            step = BYTES[type.dtype]
            for n, value in enumerate(values):
                place = f"results[{k}] + {step * len(values)} * i + {step * n}"
                yield f"_put_{type.dtype}_apart({place}, {value}, {step * len(values)})"
