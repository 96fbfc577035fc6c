"""
The ways into compiled code from Python: builtin functions, each of which takes some 30 ns more than the code that it calls.

    entrance(code, memory)    the ways into generated code on the CPU, which is compiled when it is first called

        status(*row) -> (*results, status)    a call with scalars and arrays, whatever comes of it
        value(otherwise) -> function          the value, if all is well; else what `otherwise` gives for the same arguments

    of_kernel(kernel)         the way into a kernel of batches
    of_batch(kernel, …)       the way into a short batch: from columns to columns

Numba's dispatcher finds out which types the arguments have, and looks for code for them; here there is one signature, and what is
not of it goes the long way. `backend.ways_in.text` is the machine code of a way, the same for all code of the same types, which is
kept as an object file.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from struct import pack_into, unpack_from
from typing import Any

from backend.arrays.one_block import spread
from backend.batches.way_text import NAME as BATCH
from backend.batches.way_text import batch_way, kernel_types
from backend.boundary import PYTHON
from backend.cpu import kept, native, object_code
from backend.lowering.first_order import Lowered
from backend.stacks.memory import CELL, MEMORY_WORD, Memory, is_addressed
from backend.ways_in import c_objects
from backend.ways_in.c_objects import symbol
from backend.ways_in.text import CODE_WORD, NAMES, ways

FASTCALL, KEYWORDS = 0x80, 0x2


class Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (("name", ctypes.c_char_p), ("function", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


@cache
def _methods(text: str, arrays: bool, names: tuple[str, ...] = NAMES) -> dict[str, Method]:
    """The ways of a text. They live as long as the process, since what is made of them may."""
    found = native.of_text(text, [*map(symbol, names)], c_objects.addresses(arrays))
    return {name: Method(name.encode(), found[symbol(name)], FASTCALL | KEYWORDS, None) for name in names}


@cache
def _builtin() -> Any:
    """A function of CPython: of a method, what it is given as `self`, and no module."""
    make: Any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(("PyCFunction_NewEx", ctypes.pythonapi))


def entrance(code: Lowered, memory: Memory) -> Entrance | Dispatched:
    """The ways into code; Numba's, where objects are not in memory what is read of them."""
    return Entrance(code, memory.cell) if c_objects.is_known(code.arrays) else Dispatched(code, memory)


class Dispatched:
    """The entry by way of Numba, which is slower: there is no way to the value alone. What code raises is raised by a call."""

    def __init__(self, code: Lowered, memory: Memory) -> None:
        self.aim(code, memory)

    def aim(self, code: Lowered, memory: Memory) -> None:
        entry = dispatched(code)
        self.status = lambda *row: entry(*row, *memory.passed)

    def value(self, otherwise: Callable[..., Any]) -> None:
        return None


def dispatched(code: Lowered) -> Callable[..., tuple[Any, ...]]:
    """The entry as a function of Numba's, which takes what machine code takes."""
    from numba import njit

    from backend.cpu.compiler import Usual  # which links what the code calls

    entry = njit(error_model="numpy", pipeline_class=Usual)(kept.dispatcher(code).py_func)
    _, rows = code.blocked
    return lambda *given: spread(entry(*given), rows)


def of_kernel(kernel: Any) -> Callable[..., tuple[int]]:
    """
    A kernel of one signature that gives a number, as a function that gives it in a tuple. It keeps other threads of Python waiting,
    so it is for short calls. What is not of the signature goes by way of Numba, which says what it does not take.
    """

    def otherwise(*given: Any) -> tuple[int]:
        return (kernel(*given),)

    if not c_objects.is_known(arrays=True):
        return otherwise
    (signature,) = kernel.overloads
    takes, cell = tuple(map(object_code.language_type, signature)), bytearray(CELL)
    pack_into("q", cell, CODE_WORD, object_code.address(kernel, takes, (), False))
    return _made(_methods(ways(takes, (), False, names=("status",)), True, ("status",))["status"], otherwise, cell)


def of_batch(
    kernel: Any,
    takes: Sequence[Any],
    shared: Sequence[bool],
    gives: Sequence[Any],
    alone: bool,
    fuel: int,
    otherwise: Callable[..., Any],
) -> Callable[..., Any] | None:
    """
    The way into a short batch of arguments of these types, with results of those, each a column, in a tuple, or one `alone`; what
    it does not take, and a batch in which a sample fails, goes otherwise. None where the kernel takes something else.
    """
    (signature,) = kernel.overloads
    expected = kernel_types(takes, gives)
    if not c_objects.is_known(arrays=True) or [*map(object_code.language_type, signature)] != expected:
        return None
    cell = bytearray(CELL)
    pack_into("q", cell, CODE_WORD, object_code.address(kernel, expected, (), False))
    return _made(_methods(batch_way(takes, shared, gives, alone, fuel), True, (BATCH,))[BATCH], otherwise, cell)


def _made(method: Method, otherwise: Callable[..., Any], cell: bytearray) -> Callable[..., Any]:
    """The builtin function of a method."""
    way: Callable[..., Any] = _builtin()(ctypes.addressof(method), (otherwise, cell), None)
    return way


class Entrance:
    """The ways into one program, which `aim` has lead to other code of the same types."""

    def __init__(self, code: Lowered, cell: bytearray) -> None:
        self.code, self.cell = code, cell
        self.methods = _methods(ways(code.arguments, code.given, is_addressed(code), code.blocked[1]), code.arrays)
        self.status = self._way("status", self._status_of_another)

    def aim(self, code: Lowered, memory: Memory) -> None:
        """From the next call on, this code. Its memory has the cell of these ways."""
        assert memory.cell is self.cell
        self.code = code
        pack_into("q", self.cell, CODE_WORD, 0)

    @property
    def leads_in(self) -> bool:
        """Whether there is code that the ways lead to."""
        return bool(unpack_from("q", self.cell, CODE_WORD) != (0,))

    def lead_in(self) -> None:
        pack_into("q", self.cell, CODE_WORD, kept.address(self.code))

    def value(self, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        def another(*arguments: Any, **named: Any) -> Any:
            """Arguments that the code has not taken: it was not there yet, arrays were not orderly, or all else."""
            if not self.leads_in:
                self.lead_in()
                return way(*arguments, **named)
            if self.code.arrays and (changed := _orderly(arguments)) is not None:
                return way(*changed, **named)
            return otherwise(*arguments, **named)

        way = self._way("value", another)
        return way

    def _status_of_another(self, *row: Any) -> Any:
        """
        The same for `status`. Its row has the types of the code, so what does not go in of itself is made to; where it did go in,
        the code raised something, which Numba knows to raise here, such as MemoryError.
        """
        if not self.leads_in:
            self.lead_in()
            return self.status(*row)
        exact = tuple(PYTHON[t](v) if t in PYTHON else v for v, t in zip(row, self.code.arguments, strict=True))
        exact = _orderly(exact) or exact
        if all(a is b for a, b in zip(exact, row, strict=True)):
            address = unpack_from("q", self.cell, MEMORY_WORD) if is_addressed(self.code) else ()
            return dispatched(self.code)(*row, *address)
        return self.status(*exact)

    def _way(self, name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        return _made(self.methods[name], otherwise, self.cell)


def _orderly(arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments with orderly copies of arrays that are not; None if all are."""
    from numpy import array, ndarray

    changed = tuple(array(a, order="C") if type(a) is ndarray and not a.flags.carray else a for a in arguments)
    return None if all(a is b for a, b in zip(changed, arguments, strict=True)) else changed
