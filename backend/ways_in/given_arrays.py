"""
NumPy's arrays over what an entry gives, in the language of LLVM: the part of a way out of compiled code that is about arrays.

    FUNCTIONS        what is called for memory, or none: `release` gives it back, `owner` makes an object that owns it, to which it
                     goes in any case, None of memory that is lent, and `array` makes an array over a part of what an object owns,
                     of which it takes a reference in any case
    array_type()     an array as an entry gives it
    arrays_of()      the array of a result, or those of the rows of one

Numba's runtime would make the object of memory by a call of its type, and an array for itself; that takes 60 ns more, and of a
block NumPy would be asked for each row. An array of NumPy's is made by NumPy (some 40 ns), in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backend.ways_in import c_objects
from backend.ways_in.c_objects import symbol
from semantics.type_language import ArrayType

FUNCTIONS = f"""
define internal void @release(ptr %memory) {{
  %nobody = icmp eq ptr %memory, null
  br i1 %nobody, label %done, label %go
go:
  call void @NRT_MemInfo_release(ptr %memory)
  br label %done
done:
  ret void
}}

define internal ptr @owner(ptr %memory) {{
  %nobody = icmp eq ptr %memory, null
  br i1 %nobody, label %lent, label %own
lent:
  call void @Py_IncRef(ptr @{symbol("None")})
  ret ptr @{symbol("None")}
own:
  %owner = call ptr @_PyObject_New(ptr @{symbol("memory")})
  %none = icmp eq ptr %owner, null
  br i1 %none, label %lost, label %made
lost:
  call void @release(ptr %memory)
  ret ptr null
made:
  %owned = getelementptr i8, ptr %owner, i64 {c_objects.OWNED}
  store ptr %memory, ptr %owned
  ret ptr %owner
}}

define internal ptr @array(ptr %owner, ptr %data, i32 %axes, ptr %shape, ptr %strides, ptr %dtype) {{
  %nobody = icmp eq ptr %owner, null
  br i1 %nobody, label %lost, label %make
make:
  call void @Py_IncRef(ptr %dtype)
  %array = call ptr @PyArray_NewFromDescr(ptr @{symbol("ndarray")}, ptr %dtype, i32 %axes, ptr %shape, ptr %strides, ptr %data,
    i32 {c_objects.WRITABLE}, ptr null)
  %none = icmp eq ptr %array, null
  br i1 %none, label %dropped, label %made
made:
  %base = getelementptr i8, ptr %array, i64 {c_objects.BASE}
  store ptr %owner, ptr %base
  ret ptr %array
dropped:
  call void @Py_DecRef(ptr %owner)
  br label %lost
lost:
  ret ptr null
}}"""


def array_type(type: ArrayType) -> str:
    """An array as Numba has it: owner of its memory, owner as an object, elements, bytes of one, data, shape, strides."""
    n = len(type.dims)
    return f"{{ptr, ptr, i64, i64, ptr, [{n} x i64], [{n} x i64]}}"


def arrays_of(k: int, type: ArrayType, result: str, names: Sequence[str], along: int) -> Iterator[str]:
    """The array of a result; or its rows, as many as there are names, where the axes are those `along` the first one."""
    yield f"  %owner{k} = call ptr @owner(ptr %memory{k})"
    yield f"  %data{k} = extractvalue {array_type(type)} %r{k}, 4"
    for what, place in (("shape", 5), ("strides", 6)):
        yield f"  %{what}{k} = getelementptr {result}, ptr %result, i32 0, i32 {k}, i32 {place}, i32 {along}"
    if along:
        yield f"  %step{k} = extractvalue {array_type(type)} %r{k}, 6, 0"
    for n, name in enumerate(names):
        data = f"%data{k}"
        if along:
            yield f"  %from{k}.{n} = mul i64 %step{k}, {n}"
            yield f"  %data{k}.{n} = getelementptr i8, ptr %data{k}, i64 %from{k}.{n}"
            data = f"%data{k}.{n}"
        if n < len(names) - 1:
            yield f"  call void @Py_IncRef(ptr %owner{k})"
        given = f"ptr %owner{k}, ptr {data}, i32 {len(type.dims) - along}, ptr %shape{k}, ptr %strides{k}"
        yield f"  {name} = call ptr @array({given}, ptr @{symbol(f'dtype_{type.dtype}')})"
    if not names:
        yield f"  call void @Py_DecRef(ptr %owner{k})"
