"""
What machine code that is called from Python reads of the objects of CPython and NumPy, and calls of them.

    FUNCTIONS    of CPython, all of them of the stable interface; of NumPy's and of Numba's runtime, as LLVM declares them
    OBJECTS      whose addresses are compared: exact types, True, None, NumPy's dtypes, of which there is one each
    is_known()   whether the objects of this process lie in memory as their headers say

Of an object the type is read, and of an array what `PyArrayObject_fields` has in NumPy's header, all else by a call. Written is
what is new: what an object of Numba's for memory owns, what owns the memory of an array, and what is in a tuple. Where the type is,
a build may decide: it is the last word of the smallest object. An object of each kind is tried once, before there is any code; in a
process where a number is not where it should be, nothing is read, and calls go the long way.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from backend.cpu import runtime

TYPE = object.__basicsize__ - 8
"""Where an object says which type it has."""

DATA, AXES, SHAPE, STRIDES, BASE, DTYPE, FLAGS = (object.__basicsize__ + place for place in (0, 8, 16, 24, 32, 40, 48))
"""Where an array has these: addresses, but for the number of axes and the flags, which are ints of C."""

PARTS = tuple.__basicsize__
"""Where a tuple has the first of what is in it."""

OWNED = object.__basicsize__
"""Where an object of Numba's that owns memory says which."""

WRITABLE = 0x400
ORDERLY = 0x1 | 0x100 | WRITABLE
"""The flags of an array whose elements follow one another, are aligned, and may be written."""

PLAIN = {
    "PyTuple_GetItem": "ptr (ptr, i64)",
    "PyByteArray_AsString": "ptr (ptr)",
    "PyFloat_AsDouble": "double (ptr)",
    "PyFloat_FromDouble": "ptr (double)",
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyBool_FromLong": "ptr (i64)",
    "PyTuple_New": "ptr (i64)",
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "Py_IncRef": "void (ptr)",
    "Py_DecRef": "void (ptr)",
    "_PyObject_New": "ptr (ptr)",
}
OF_NUMPY = {
    "PyArray_NewFromDescr": "ptr (ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
}
NUMBERS = {"PyArray_NewFromDescr": 94}
"""Where these are in NumPy's table of functions for C, which is the same in all its versions."""

FUNCTIONS = PLAIN | OF_NUMPY | {"NRT_MemInfo_release": "void (ptr)"}
DTYPES = {"f64": "float64", "f32": "float32", "i64": "int64", "bool": "bool", "i8": "int8"}
OBJECTS = ("float", "int", "bool", "True", "None", "ndarray", "memory", *(f"dtype_{name}" for name in DTYPES))


def declarations() -> str:
    """Of everything, in the language of LLVM. Each is called by a name of its own, which no library has."""
    functions = [f"declare {type.replace('(', f'@{name}(', 1)}" for name, type in FUNCTIONS.items()]
    return "\n".join([*functions, *(f"@{symbol(name)} = external global i8" for name in OBJECTS)])


def symbol(name: str) -> str:
    """What an object is called in machine code."""
    return f"adjudge_{name}"


def addresses(arrays: bool) -> dict[str, int]:
    """Where all of it is; with `arrays`, what is NumPy's and that of Numba's runtime, too."""
    found: dict[str, Any] = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in PLAIN}
    found |= {symbol(kind.__name__): id(kind) for kind in (float, int, bool)} | {symbol("True"): id(True), symbol("None"): id(None)}
    if arrays:
        import numpy

        found |= {symbol("ndarray"): id(numpy.ndarray), symbol("memory"): id(_memory())} | _of_numpy()
        found |= {name: address for name, address in runtime.functions().items() if name in FUNCTIONS}
        found |= {symbol(f"dtype_{of}"): id(numpy.dtype(name)) for of, name in DTYPES.items()}
    return found


def _memory() -> Any:
    """The type of the objects that own memory of Numba's runtime."""
    return runtime.module()._MemInfo


def _of_numpy() -> dict[str, int]:
    """Where NumPy's functions are."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    pointer: Any = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    table = pointer(("PyCapsule_GetPointer", ctypes.pythonapi))(_multiarray_umath._ARRAY_API, None)
    return {name: ctypes.c_int64.from_address(table + 8 * number).value for name, number in NUMBERS.items()}


@cache
def is_known(arrays: bool) -> bool:
    """Whether objects are in memory what is read of them here; `arrays` too, if there will be some."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    plain = all(_word(value, TYPE) == id(type(value)) for value in (1.5, 10**30, True))
    pair = (1.5, None)
    plain = plain and [_word(pair, PARTS + 8 * k) for k in range(2)] == [*map(id, pair)]
    return plain and (not arrays or _arrays_are_known())


def _arrays_are_known() -> bool:
    import numpy

    for name in DTYPES.values():
        some: Any = numpy.zeros((3, 5), name)[1:, ::2]
        if not all(map(_is_an_array, (some, some.copy(), numpy.zeros((), name)))):
            return False
    return _memory_is_known()


def _memory_is_known() -> bool:
    """Whether an object that owns memory is its type, and then the address of that."""
    address = runtime.module().meminfo_alloc(8)
    owner = _memory()(address)
    return bool(_memory().__basicsize__ == OWNED + 8 and _word(owner, OWNED) == address)


def _is_an_array(array: Any) -> bool:
    """Whether an array of NumPy lies in memory as it says itself."""
    places = [(place, 8 * k) for place in (SHAPE, STRIDES) for k in range(array.ndim)]
    return (
        (_word(array, TYPE), _word(array, DTYPE)) == (id(type(array)), id(array.dtype))
        and _word(array, BASE) == (0 if array.base is None else id(array.base))
        and (_word(array, DATA), _int(array, AXES)) == (array.ctypes.data, array.ndim)
        and [ctypes.c_int64.from_address(_word(array, place) + k).value for place, k in places] == [*array.shape, *array.strides]
        and (_int(array, FLAGS) & ORDERLY == ORDERLY) == array.flags.carray
    )


def _word(value: Any, place: int) -> int:
    return ctypes.c_int64.from_address(id(value) + place).value


def _int(value: Any, place: int) -> int:
    return ctypes.c_int32.from_address(id(value) + place).value
