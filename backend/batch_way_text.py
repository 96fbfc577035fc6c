"""
The way into a kernel of batches for a short call, in the language of LLVM: columns in, columns out, in one function.

CPython calls it as it calls those of `backend.ways_in_text`, and so is `self` a tuple of `otherwise` and a cell with the address of
the kernel. Columns of one size, at most MOST, are passed as they lie there; NumPy makes the array whose rows are the results; the
statuses are on the stack. Results are given where no sample failed: the rows, in a tuple. In all else `otherwise` is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backend import c_objects
from backend.c_objects import symbol
from backend.given_arrays import FUNCTIONS
from backend.status import FULL
from backend.ways_in_text import GIVEN, OTHERWISE, load, passed_as, taken
from semantics.type_language import INTEGER, REAL, ArrayType

NAME = "batch"
MOST = 63
MATRIX, STATUSES = ArrayType("f64", (None, None)), ArrayType("i8", (None,))


def kernel_types(takes: Sequence[Any]) -> list[Any]:
    """The types of all that the kernel takes: the stretch, the arguments, results, statuses, fuel, and a one."""
    return [INTEGER, INTEGER, *takes, MATRIX, STATUSES, INTEGER, REAL]


def batch_way(takes: Sequence[Any], rows: int, fuel: int) -> str:
    """The way into a kernel of these arguments, of which the arrays are columns; its results are so many reals."""
    columns = [k for k, type in enumerate(takes) if isinstance(type, ArrayType)]
    given = [text for k, type in enumerate(takes) for text in passed_as(k, type)]
    block = f"i64 %block.size, i64 8, ptr %block.data, i64 {rows}, i64 %size, i64 %step, i64 8"
    statuses = "i64 %size, i64 1, ptr %statuses, i64 %size, i64 1"
    own = [
        "i64 0",
        "i64 %size",
        *given,
        f"ptr null, ptr null, {block}",
        f"ptr null, ptr null, {statuses}",
        f"i64 {fuel}",
        "double 1.0",
    ]
    lines = [
        f"define ptr @{symbol(NAME)}({GIVEN}) {{",
        "  %result = alloca i64",
        "  %failure = alloca ptr",
        "  %beyond = alloca i32",
        "  %shape = alloca [2 x i64]",
        "  %stride = alloca i64",
        f"  %statuses = alloca [{MOST} x i8]",
        "  store i64 0, ptr %result",
        "  store i64 8, ptr %stride",
        *taken(takes),
        f"  %size = add i64 %a{columns[0]}.shape.0, 0",
        "  %less = sub i64 %size, 1",
        f"  %short = icmp ult i64 %less, {MOST}",
        *_alike(columns),
        "  br i1 %fits, label %run, label %otherwise",
        "run:",
        f"  call void @llvm.memset.p0.i64(ptr %statuses, i8 {FULL}, i64 %size, i1 false)",
        f"  store i64 {rows}, ptr %shape",
        "  %count.at = getelementptr i64, ptr %shape, i64 1",
        "  store i64 %size, ptr %count.at",
        "  %step = mul i64 %size, 8",
        f"  %block.size = mul i64 %size, {rows}",
        f"  call void @Py_IncRef(ptr @{symbol('dtype_f64')})",
        f"  %block = call ptr @PyArray_NewFromDescr(ptr @{symbol('ndarray')}, ptr @{symbol('dtype_f64')}, i32 2, ptr %shape,",
        "    ptr null, ptr null, i32 0, ptr null)",
        "  %none = icmp eq ptr %block, null",
        "  br i1 %none, label %lost, label %go",
        "go:",
        load("%block.data", "ptr", "%block", c_objects.DATA),
        f"  %raised = call i32 %code(ptr %result, ptr %failure, {', '.join(own)})",
        "  %failed = load i64, ptr %result",
        "  %returned = icmp eq i32 %raised, 0",
        "  %all = icmp eq i64 %failed, 0",
        "  %good = and i1 %returned, %all",
        "  br i1 %good, label %made, label %again",
        "again:",
        "  call void @Py_DecRef(ptr %block)",
        "  br label %otherwise",
        "made:",
        f"  %tuple = call ptr @PyTuple_New(i64 {rows})",
        "  %nothing = icmp eq ptr %tuple, null",
        "  br i1 %nothing, label %dropped, label %filled",
        "filled:",
        *_rows(rows),
        f"  br i1 %whole.{rows}, label %done, label %short_of",
        "done:",
        "  call void @Py_DecRef(ptr %block)",
        "  ret ptr %tuple",
        "short_of:",
        "  call void @Py_DecRef(ptr %tuple)",
        "  br label %dropped",
        "dropped:",
        "  call void @Py_DecRef(ptr %block)",
        "  br label %lost",
        "lost:",
        "  ret ptr null",
        OTHERWISE,
        "}",
    ]
    return "\n".join([c_objects.declarations(), "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)", FUNCTIONS, "", *lines])


def _alike(columns: Sequence[int]) -> Iterator[str]:
    """Whether the columns have one size."""
    yield "  %alike.0 = icmp eq i1 %short, true"
    for n, k in enumerate(columns):
        yield f"  %like.{n} = icmp eq i64 %a{k}.shape.0, %size"
        yield f"  %alike.{n + 1} = and i1 %alike.{n}, %like.{n}"
    yield f"  %fits = and i1 %alike.{len(columns)}, true"


def _rows(rows: int) -> Iterator[str]:
    """The rows of the block in the tuple."""
    yield "  %whole.0 = icmp eq i1 true, true"
    for k in range(rows):
        yield f"  %from.{k} = mul i64 %step, {k}"
        yield f"  %data.{k} = getelementptr i8, ptr %block.data, i64 %from.{k}"
        part = f"ptr %data.{k}, i32 1, ptr %count.at, ptr %stride, ptr @{symbol('dtype_f64')}"
        yield f"  %row.{k} = call ptr @array(ptr %block, {part})"
        yield f"  %is.{k} = icmp ne ptr %row.{k}, null"
        yield f"  %whole.{k + 1} = and i1 %whole.{k}, %is.{k}"
        yield f"  %set.{k} = call i32 @PyTuple_SetItem(ptr %tuple, i64 {k}, ptr %row.{k})"
