"""
Machine code put where it runs without LLVM, which takes 20 ms to be there; this takes one for the whole machine.

    placed(content, names, address) -> where each function is      Unknown if the object file asks for more than is done here

Numba compiles for memory of any size, so its code mentions each place by all the 64 bits of its address. An object file is then its
sections side by side, with an address written wherever it says so (`backend.cpu.elf`). What else there is, other processors and
systems among it, LLVM links. Nothing is thrown through this code, so no unwinder is told of it.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable, Collection, Mapping

from backend.cpu.elf import Section, Unknown, read

ADDRESS = struct.Struct("<Q")
_PLACED: list[mmap.mmap] = []
"""The memory of all code, for as long as the process lives."""


def placed(content: bytes, names: Collection[str], address: Callable[[str], int]) -> dict[str, int]:
    """Where functions of an object file are now; `address` knows what the file calls and does not have."""
    file = read(content)
    offsets, code, end = layout(file.sections)
    memory = mmap.mmap(-1, max(end, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for k, section in file.sections.items():
        memory[offsets[k] : offsets[k] + len(section.content)] = section.content
    for k, place, number, addend in file.relocations:
        symbol = file.symbols[number]
        if symbol.section in offsets:
            at = base + offsets[symbol.section] + symbol.offset
        elif symbol.name:
            at = address(symbol.name)
        else:
            raise Unknown("a place that is not in memory")
        ADDRESS.pack_into(memory, offsets[k] + place, at + addend)
    _make_executable(base, code)
    _PLACED.append(memory)
    found = {s.name: base + offsets[s.section] + s.offset for s in file.symbols if s.name in names and s.section in offsets}
    if len(found) < len(names):
        raise Unknown(", ".join(sorted({*names} - {*found})))
    return found


def layout(sections: Mapping[int, Section]) -> tuple[dict[int, int], int, int]:
    """Where each section goes, where the page ends with what is run and read, and the one behind it with what is written."""
    offsets: dict[int, int] = {}
    end, ends = 0, []
    for is_written in (False, True):
        for k, section in sections.items():
            if section.is_written is is_written:
                offsets[k] = _up(end, section.align)
                end = offsets[k] + section.size
        end = _up(end, mmap.PAGESIZE)
        ends.append(end)
    code, data = ends
    return offsets, code, data


def _up(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple


def _make_executable(address: int, size: int) -> None:
    """From now on this is run and read, and no longer written. Unknown where the system does not let it be."""
    protect = getattr(ctypes.CDLL(None), "mprotect", None)
    if protect is None or protect(ctypes.c_void_p(address), ctypes.c_size_t(size), mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise Unknown("memory for code")
