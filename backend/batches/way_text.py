"""
The way into a kernel of batches for a short call, in the language of LLVM: columns in, columns out, in one function.

CPython calls it as it calls those of `backend.ways_in.text`, and so is `self` a tuple of `otherwise` and a cell with the address of
the kernel. Columns of one size, at most MOST, are passed as they lie there. NumPy makes the arrays of the results: one for each
array of a sample, and one whose rows are the numbers; the statuses are on the stack. Results are given where no sample failed. In
all else `otherwise` is called, when the arrays that were made have been given back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from backend.status import FULL
from backend.ways_in import c_objects
from backend.ways_in.c_objects import symbol
from backend.ways_in.given_arrays import FUNCTIONS
from backend.ways_in.text import GIVEN, OTHERWISE, load, passed_as, put, taken
from semantics.type_language import INTEGER, REAL, ArrayType

NAME = "batch"
MOST = 63
STATUSES = ArrayType("i8", (None,))


def kernel_types(takes: Sequence[Any], gives: Sequence[Any]) -> list[Any]:
    """The types of all that the kernel takes: the stretch, the arguments, results, statuses, fuel, and a one."""
    axes = [type.dims if isinstance(type, ArrayType) else (None,) for type in made(gives)]
    results = [ArrayType("f64", (None,) * (1 + len(dims))) for dims in axes]
    given = [ArrayType(t.dtype, (None,) * len(t.dims)) if isinstance(t, ArrayType) else t for t in takes]
    return [INTEGER, INTEGER, *given, *results, STATUSES, INTEGER, REAL]


def made(gives: Sequence[Any]) -> list[Any]:
    """What there is an array for, in the order in which the kernel takes them: each array of a sample, and all numbers together."""
    first = next((k for k, type in enumerate(gives) if type == REAL), None)
    return [type for k, type in enumerate(gives) if type != REAL or k == first]


def batch_way(takes: Sequence[Any], shared: Sequence[bool], gives: Sequence[Any], alone: bool, fuel: int) -> str:
    """
    The way into a kernel of these arguments. Its results are reals and arrays of reals of known sizes, as a tuple; one of them as
    it is, if `alone`.
    """
    mapped = [k for k, s in enumerate(shared) if not s]
    given = [text for k, type in enumerate(takes) for text in passed_as(k, type)]
    arrays, rows = [f"%m{k}" for k, _ in enumerate(made(gives))], sum(type == REAL for type in gives)
    results = [part for name, type in zip(arrays, made(gives), strict=True) for part in _passed(name, type, rows)]
    statuses = "i64 %size, i64 1, ptr %statuses, i64 %size, i64 1"
    own = ["i64 0", "i64 %size", *given, *results, f"ptr null, ptr null, {statuses}", f"i64 {fuel}", "double 1.0"]
    dropped = [f"  call void @Py_DecRef(ptr {name})" for name in arrays]
    lines = [
        f"define ptr @{symbol(NAME)}({GIVEN}) {{",
        "  %result = alloca i64",
        "  %failure = alloca ptr",
        "  %beyond = alloca i32",
        f"  %shape = alloca [{2 + max(len(getattr(type, 'dims', ())) for type in gives)} x i64]",
        "  %stride = alloca i64",
        f"  %statuses = alloca [{MOST} x i8]",
        "  store i64 0, ptr %result",
        "  store i64 8, ptr %stride",
        *taken(takes),
        f"  %size = add i64 %a{mapped[0]}.shape.0, 0",
        "  %less = sub i64 %size, 1",
        f"  %short = icmp ult i64 %less, {MOST}",
        *_alike(mapped),
        "  br i1 %fits, label %run, label %otherwise",
        "run:",
        f"  call void @llvm.memset.p0.i64(ptr %statuses, i8 {FULL}, i64 %size, i1 false)",
        *(line for name, type in zip(arrays, made(gives), strict=True) for line in _array(name, type, rows)),
        *_all("built", arrays),
        "  br i1 %built, label %go, label %lost",
        "go:",
        *(load(f"{name}.data", "ptr", name, c_objects.DATA) for name in arrays),
        *(line for name, type in zip(arrays, made(gives), strict=True) for line in _sizes(name, type, rows)),
        f"  %raised = call i32 %code(ptr %result, ptr %failure, {', '.join(own)})",
        "  %failed = load i64, ptr %result",
        "  %returned = icmp eq i32 %raised, 0",
        "  %all = icmp eq i64 %failed, 0",
        "  %good = and i1 %returned, %all",
        "  br i1 %good, label %made, label %again",
        "again:",
        *dropped,
        "  br label %otherwise",
        "made:",
        *([f"  ret ptr {arrays[0]}"] if alone else _tuple(gives, arrays, rows)),
        "lost:",
        *dropped,
        "  ret ptr null",
        OTHERWISE,
        "}",
    ]
    return "\n".join([c_objects.declarations(), "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)", FUNCTIONS, "", *lines])


def _alike(mapped: Sequence[int]) -> Iterator[str]:
    """Whether the columns have one size."""
    yield "  %alike.0 = icmp eq i1 %short, true"
    for n, k in enumerate(mapped):
        yield f"  %like.{n} = icmp eq i64 %a{k}.shape.0, %size"
        yield f"  %alike.{n + 1} = and i1 %alike.{n}, %like.{n}"
    yield f"  %fits = and i1 %alike.{len(mapped)}, true"


def _all(name: str, objects: Sequence[str]) -> Iterator[str]:
    """Whether all of these objects could be made."""
    yield f"  %{name}.0 = icmp eq i1 true, true"
    for k, object in enumerate(objects):
        yield f"  %{name}.is.{k} = icmp ne ptr {object}, null"
        yield f"  %{name}.{k + 1} = and i1 %{name}.{k}, %{name}.is.{k}"
    yield f"  %{name} = and i1 %{name}.{len(objects)}, true"


def _array(name: str, type: Any, rows: int) -> Iterator[str]:
    """An array for the arrays of all samples, or for the numbers: of one number, that is its column."""
    dims = ["%size", *map(str, type.dims)] if isinstance(type, ArrayType) else [str(rows), "%size"][rows == 1 :]
    for d, n in enumerate(dims):
        yield f"  {name}.at.{d} = getelementptr i64, ptr %shape, i64 {d}"
        yield f"  store i64 {n}, ptr {name}.at.{d}"
    yield f"  call void @Py_IncRef(ptr @{symbol('dtype_f64')})"
    yield f"  {name} = call ptr @PyArray_NewFromDescr(ptr @{symbol('ndarray')}, ptr @{symbol('dtype_f64')}, i32 {len(dims)},"
    yield "    ptr %shape, ptr null, ptr null, i32 0, ptr null)"


def _sizes(name: str, type: Any, rows: int) -> Iterator[str]:
    """The elements of an array, and the bytes of a row of numbers."""
    yield f"  {name}.size = mul i64 %size, {prod(type.dims) if isinstance(type, ArrayType) else rows}"  # type: ignore[arg-type]
    if not isinstance(type, ArrayType):
        yield "  %step = mul i64 %size, 8"


def _passed(name: str, type: Any, rows: int) -> Iterator[str]:
    """An array of the results as the kernel takes it."""
    yield f"ptr null, ptr null, i64 {name}.size, i64 8, ptr {name}.data"
    if isinstance(type, ArrayType):
        strides = [8 * prod(type.dims[d:]) for d in range(len(type.dims) + 1)]  # type: ignore[arg-type]
        yield from ("i64 %size", *(f"i64 {n}" for n in type.dims), *(f"i64 {n}" for n in strides))
    else:
        yield from (f"i64 {rows}", "i64 %size", "i64 %step", "i64 8")


def _tuple(gives: Sequence[Any], arrays: Sequence[str], rows: int) -> Iterator[str]:
    """The tuple of the results. Of several numbers each has an array over its row, and the block is theirs."""
    block = arrays[made(gives).index(REAL)] if rows else ""
    own = iter([name for name in arrays if name != block or rows == 1])
    yield f"  %tuple = call ptr @PyTuple_New(i64 {len(gives)})"
    yield "  %nothing = icmp eq ptr %tuple, null"
    yield "  br i1 %nothing, label %lost, label %filled"
    yield "filled:"
    if rows > 1:
        yield "  store i64 %size, ptr %shape"
    parts, row = [], 0
    for k, type in enumerate(gives):
        if type == REAL and rows > 1:
            yield f"  %from.{k} = mul i64 %step, {row}"
            yield f"  %data.{k} = getelementptr i8, ptr {block}.data, i64 %from.{k}"
            part = f"ptr %data.{k}, i32 1, ptr %shape, ptr %stride, ptr @{symbol('dtype_f64')}"
            yield f"  call void @Py_IncRef(ptr {block})"
            yield f"  %row.{k} = call ptr @array(ptr {block}, {part})"
            row += 1
        parts.append(f"%row.{k}" if type == REAL and rows > 1 else next(own))
    yield from (put("%tuple", k, part) for k, part in enumerate(parts))
    if rows > 1:
        yield f"  call void @Py_DecRef(ptr {block})"
    yield from _all("whole", parts)
    yield from ("  br i1 %whole, label %done, label %short_of", "done:", "  ret ptr %tuple")
    yield from ("short_of:", "  call void @Py_DecRef(ptr %tuple)", "  ret ptr null")
