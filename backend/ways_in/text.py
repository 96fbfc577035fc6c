"""
The ways into compiled code from Python, in the language of LLVM: one text for all code of the same types.

    value     gives the result of an entry (`backend.ways_in.entry`), if its status is OK
    status    gives a tuple of all that the entry leaves, which ends in the status

CPython calls them as builtin functions (METH_FASTCALL | METH_KEYWORDS). `self` is a tuple of a function, `otherwise`, and of a
cell, a bytearray of two words: where the entry is, 0 while there is none, and where its memory is (`backend.stacks.memory`). What
is a number of the exact type is read, an orderly array is passed as it lies there, and the entry is called. For whatever else
comes, such as keywords, a subclass or an integer beyond 64 bits, `otherwise` is called, as it came.

An array is lent: as Numba sees it, nobody owns its memory, so nothing counts references to it. The memory of a result goes to an
object of Numba's that releases it, and that is the base of NumPy's array, or of those of all rows of a block; where nothing is made
of it, it is released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from backend.stacks.memory import MEMORY_WORD
from backend.ways_in import c_objects
from backend.ways_in.c_objects import symbol
from backend.ways_in.given_arrays import FUNCTIONS, array_type, arrays_of
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType

NAMES = ("value", "status")
CODE_WORD = 0
"""Where in a cell the address of the entry is."""

PASSED = {REAL: "double", INTEGER: "i64", BOOLEAN: "i8"}
PYTHON = {REAL: "float", INTEGER: "int", BOOLEAN: "bool"}
SIZES = {"f64": 8, "f32": 4, "i64": 8, "bool": 1, "i8": 1}
GIVEN = "ptr %self, ptr %given, i64 %count, ptr %names"


OTHERWISE = """otherwise:
  %function = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %found = tail call ptr @PyObject_Vectorcall(ptr %function, ptr %given, i64 %count, ptr %names)
  ret ptr %found"""


def ways(
    takes: Sequence[Any], gives: Sequence[Any], addressed: bool, rows: Sequence[int] = (), names: Sequence[str] = NAMES
) -> str:
    """
    `value` and `status` for an entry of these types. One result is the value itself, more are a tuple; with `rows`, the last that
    the entry gives is a block, and its rows are the results of these numbers.
    """
    arrays = [FUNCTIONS] if any(isinstance(type, ArrayType) for type in gives) else []
    return "\n".join([c_objects.declarations(), *arrays, *(_way(name, takes, gives, addressed, rows) for name in names)])


def _way(name: str, takes: Sequence[Any], gives: Sequence[Any], addressed: bool, rows: Sequence[int]) -> str:
    """Read, call, and make objects; each step has a block of its own, and what does not fit leaves for `otherwise`."""
    result = result_type(gives)
    passed = [text for k, type in enumerate(takes) for text in passed_as(k, type)] + ["i64 %memory"] * addressed
    kept = [k for k, type in enumerate(gives) if isinstance(type, ArrayType)]
    demanded = [f"  %ok = icmp eq i64 %r{len(gives)}, 0", "  %good = and i1 %returned, %ok"] if name == "value" else []
    lines = [
        f"define ptr @{symbol(name)}({GIVEN}) {{",
        f"  %result = alloca {result}",
        "  %failure = alloca ptr",
        "  %beyond = alloca i32",
        f"  store {result} zeroinitializer, ptr %result",
        "  store ptr null, ptr %failure",  # code with a `try` asks it, whether or not anything was raised
        *taken(takes),
        load("%memory", "i64", "%cell", MEMORY_WORD),
        f"  %raised = call i32 %code({', '.join(['ptr %result', 'ptr %failure', *passed])})",
        "  %returned = icmp eq i32 %raised, 0",
        f"  %all = load {result}, ptr %result",
        *(f"  %r{k} = extractvalue {result} %all, {k}" for k in range(len(gives) + 1)),
        *(f"  %memory{k} = extractvalue {array_type(gives[k])} %r{k}, 0" for k in kept),
        *demanded,
        f"  br i1 %{'good' if demanded else 'returned'}, label %made, label %failed",
        "made:",
    ]
    whole = (*gives, INTEGER) if name == "status" else tuple(gives)
    lines += _one(gives[0]) if name == "value" and len(whole) == 1 and not rows else _tuple(gives, whole, rows, kept)
    released = [f"  call void @release(ptr %memory{k})" for k in kept]
    return "\n".join(["", *lines, "failed:", *released, "  br label %otherwise", OTHERWISE, "}"])


def taken(takes: Sequence[Any]) -> Iterator[str]:
    """The code, and the arguments of these types; where all are read, a block begins."""
    yield f"  %counted = icmp eq i64 %count, {len(takes)}"
    yield "  %unnamed = icmp eq ptr %names, null"
    yield "  %plain = and i1 %counted, %unnamed"
    yield "  %held = call ptr @PyTuple_GetItem(ptr %self, i64 1)"
    yield "  %cell = call ptr @PyByteArray_AsString(ptr %held)"
    yield load("%code", "ptr", "%cell", CODE_WORD)
    yield "  %there = icmp ne ptr %code, null"
    yield "  %begins = and i1 %plain, %there"
    yield "  br i1 %begins, label %read.0, label %otherwise"
    for k, type in enumerate(takes):
        yield from _read(k, type)
    yield f"read.{len(takes)}:"


def _read(k: int, type: Any) -> Iterator[str]:
    """An argument of its exact type, as the code takes it."""
    number = PYTHON.get(type)
    yield f"read.{k}:"
    yield load(f"%a{k}", "ptr", "%given", 8 * k)
    yield load(f"%a{k}.type", "ptr", f"%a{k}", c_objects.TYPE)
    yield f"  %a{k}.fits = icmp eq ptr %a{k}.type, @{symbol(number or 'ndarray')}"
    yield f"  br i1 %a{k}.fits, label %take.{k}, label %otherwise"
    yield f"take.{k}:"
    if isinstance(type, ArrayType):
        yield from _lent(k, type)
    elif number == "float":
        yield f"  %x{k} = call double @PyFloat_AsDouble(ptr %a{k})"
        yield f"  br label %read.{k + 1}"
    elif number == "int":
        yield f"  %x{k} = call i64 @PyLong_AsLongLongAndOverflow(ptr %a{k}, ptr %beyond)"
        yield f"  %beyond{k} = load i32, ptr %beyond"
        yield f"  %within{k} = icmp eq i32 %beyond{k}, 0"
        yield f"  br i1 %within{k}, label %read.{k + 1}, label %otherwise"
    else:
        yield f"  %is{k} = icmp eq ptr %a{k}, @{symbol('True')}"
        yield f"  %x{k} = zext i1 %is{k} to i8"
        yield f"  br label %read.{k + 1}"


def _lent(k: int, type: ArrayType) -> Iterator[str]:
    """An array of the dtype, the number of axes and the known sizes, orderly."""
    a, axes = f"%a{k}", len(type.dims)
    yield load(f"{a}.dtype", "ptr", a, c_objects.DTYPE)
    yield load(f"{a}.axes", "i32", a, c_objects.AXES)
    yield load(f"{a}.flags", "i32", a, c_objects.FLAGS)
    yield f"  {a}.bits = and i32 {a}.flags, {c_objects.ORDERLY}"
    yield f"  {a}.0 = icmp eq ptr {a}.dtype, @{symbol(f'dtype_{type.dtype}')}"
    yield f"  {a}.1 = icmp eq i32 {a}.axes, {axes}"
    yield f"  {a}.2 = icmp eq i32 {a}.bits, {c_objects.ORDERLY}"
    yield f"  {a}.3 = and i1 {a}.0, {a}.1"
    yield f"  {a}.4 = and i1 {a}.2, {a}.3"
    yield f"  br i1 {a}.4, label %sizes.{k}, label %otherwise"
    yield f"sizes.{k}:"
    for what, place in (("shape", c_objects.SHAPE), ("strides", c_objects.STRIDES)):
        yield load(f"{a}.{what}", "ptr", a, place)
        for d in range(axes):
            yield load(f"{a}.{what}.{d}", "i64", f"{a}.{what}", 8 * d)
    yield load(f"{a}.data", "ptr", a, c_objects.DATA)
    yield f"  {a}.size.0 = add i64 0, 1"
    yield f"  {a}.known.0 = icmp eq i1 true, true"
    for d, known in enumerate(type.dims):
        yield f"  {a}.size.{d + 1} = mul i64 {a}.size.{d}, {a}.shape.{d}"
        yield f"  {a}.same.{d} = icmp eq i64 {a}.shape.{d}, {f'{a}.shape.{d}' if known is None else known}"
        yield f"  {a}.known.{d + 1} = and i1 {a}.known.{d}, {a}.same.{d}"
    yield f"  br i1 {a}.known.{axes}, label %read.{k + 1}, label %otherwise"


def passed_as(k: int, type: Any) -> list[str]:
    """An argument as Numba passes it: an array is its owner, of its memory and as an object, and then what `array_type` has."""
    if not isinstance(type, ArrayType):
        return [f"{PASSED[type]} %x{k}"]
    sizes = [f"i64 %a{k}.{what}.{d}" for what in ("shape", "strides") for d in range(len(type.dims))]
    size = f"i64 %a{k}.size.{len(type.dims)}"
    return ["ptr null", "ptr null", size, f"i64 {SIZES[type.dtype]}", f"ptr %a{k}.data", *sizes]


def _one(type: Any) -> Iterator[str]:
    """The value, where it is no tuple."""
    yield from _made(0, type, result_type([type]))
    yield "  ret ptr %o0"


def _tuple(gives: Sequence[Any], whole: Sequence[Any], rows: Sequence[int], kept: Sequence[int]) -> Iterator[str]:
    """A tuple of the results, and of the status if `whole` has it. A part that could not be made is null; then so is the tuple."""
    block = len(gives) - 1
    others = iter([f"%o{k}" for k in range(len(whole)) if not rows or k != block])
    row = {k: f"%row{n}" for n, k in enumerate(rows)}
    parts = [row[k] if k in row else next(others) for k in range(len(whole) - bool(rows) + len(rows))]
    yield f"  %tuple = call ptr @PyTuple_New(i64 {len(parts)})"
    yield "  %nothing = icmp eq ptr %tuple, null"
    yield "  br i1 %nothing, label %lost, label %filled"
    yield "filled:"
    for k, type in enumerate(whole):
        if not rows or k != block:
            yield from _made(k, type, result_type(gives))
    if rows:
        yield from arrays_of(block, gives[block], result_type(gives), [row[k] for k in rows], 1)
    yield "  %whole.0 = icmp eq i1 true, true"
    for k, part in enumerate(parts):
        yield f"  %is.{k} = icmp ne ptr {part}, null"
        yield f"  %whole.{k + 1} = and i1 %whole.{k}, %is.{k}"
        yield put("%tuple", k, part)
    yield f"  br i1 %whole.{len(parts)}, label %done, label %dropped"
    yield from ("done:", "  ret ptr %tuple", "dropped:", "  call void @Py_DecRef(ptr %tuple)", "  ret ptr null", "lost:")
    yield from (f"  call void @release(ptr %memory{k})" for k in kept)
    yield "  ret ptr null"


def _made(k: int, type: Any, result: str) -> Iterator[str]:
    """The object %o of a result %r, one of `result`."""
    if isinstance(type, ArrayType):
        yield from arrays_of(k, type, result, [f"%o{k}"], 0)
    elif type == REAL:
        yield f"  %o{k} = call ptr @PyFloat_FromDouble(double %r{k})"
    elif type == INTEGER:
        yield f"  %o{k} = call ptr @PyLong_FromLongLong(i64 %r{k})"
    else:
        yield f"  %w{k} = zext i8 %r{k} to i64"
        yield f"  %o{k} = call ptr @PyBool_FromLong(i64 %w{k})"


def passed_types(takes: Sequence[Any], addressed: bool) -> list[str]:
    """The types of what an entry takes, as Numba passes them."""
    return [text.split()[0] for k, type in enumerate(takes) for text in passed_as(k, type)] + ["i64"] * addressed


def result_type(gives: Sequence[Any]) -> str:
    """What an entry gives: its results and the status."""
    return f"{{{', '.join([*(array_type(t) if isinstance(t, ArrayType) else PASSED[t] for t in gives), 'i64'])}}}"


def put(tuple: str, k: int, part: str) -> str:
    """A part goes into a new tuple."""
    return f"  %place.{k} = getelementptr i8, ptr {tuple}, i64 {c_objects.PARTS + 8 * k}\n  store ptr {part}, ptr %place.{k}"


def load(name: str, type: str, start: str, place: int) -> str:
    return f"  {name}.at = getelementptr i8, ptr {start}, i64 {place}\n  {name} = load {type}, ptr {name}.at"
