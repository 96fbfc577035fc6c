"""
What an object file for x86-64 says, as far as code compiled for memory of any size (LLVM's large code model) says it.

    read(content) -> ObjectFile      Unknown if the file is of another kind, or asks for more

The names are those of the System V ABI, chapter 4 (Object Files), and of its supplement for AMD64. Tables for unwinding are
left out.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

HEADER, SECTION = struct.Struct("<16sHHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
SYMBOL, RELA = struct.Struct("<IBBHQQ"), struct.Struct("<QQq")
IDENTITY, ET_REL, EM_X86_64 = b"\x7fELF\x02\x01\x01", 1, 62
SHT_SYMTAB, SHT_RELA, SHT_NOBITS, SHT_REL, SHT_X86_64_UNWIND = 2, 4, 8, 9, 0x70000001
SHF_WRITE, SHF_ALLOC, SHF_TLS = 1, 2, 0x400
SHN_COMMON, R_X86_64_64 = 0xFFF2, 1


class Unknown(Exception):
    """A file asks for what is not known here; caught, and left to LLVM."""


class Section(NamedTuple):
    """What comes into memory: its bytes, and zeros up to its size."""

    content: bytes
    size: int
    align: int
    is_written: bool


class Symbol(NamedTuple):
    """A name for the place so many bytes behind the beginning of a section."""

    name: str
    section: int
    offset: int


class ObjectFile(NamedTuple):
    """
    sections      those that come into memory, by number
    symbols       all; the section of what the file does not have is none of these
    relocations   (section, place in it, number of a symbol, addend): there its address goes, plus the addend, in 64 bits
    """

    sections: dict[int, Section]
    symbols: list[Symbol]
    relocations: list[tuple[int, int, int, int]]


def read(content: bytes) -> ObjectFile:
    """What an object file says. What is COMMON, which no section has, gets one of its own for each symbol."""
    if len(content) < HEADER.size:
        raise Unknown("no object file")
    identity, kind, machine, _, _, _, start, _, _, _, _, size, count, _ = HEADER.unpack_from(content)
    if not identity.startswith(IDENTITY) or (kind, machine, size) != (ET_REL, EM_X86_64, SECTION.size):
        raise Unknown("another kind of file")
    headers = list(SECTION.iter_unpack(content[start : start + count * size]))
    parts = [b"" if kind == SHT_NOBITS else content[at : at + size] for _, kind, _, _, at, size, *_ in headers]
    found = ObjectFile({}, [], [])
    for k, (_, kind, flags, _, _, size, link, _, align, _) in enumerate(headers):
        if kind == SHT_REL or flags & SHF_TLS:
            raise Unknown("a section of another kind")
        if kind == SHT_SYMTAB:
            for symbol, common in _symbols(parts[k], parts[link], len(headers)):
                found.symbols.append(symbol)
                found.sections.update({symbol.section: common} if common else {})
        elif flags & SHF_ALLOC and kind != SHT_X86_64_UNWIND:
            found.sections[k] = Section(parts[k], size, max(align, 1), bool(flags & SHF_WRITE))
    for part, (_, kind, _, _, _, _, _, section, _, _) in zip(parts, headers, strict=True):
        if kind == SHT_RELA and section in found.sections:
            found.relocations.extend(_relocations(section, part))
    return found


def _symbols(table: bytes, names: bytes, count: int) -> Iterator[tuple[Symbol, Section | None]]:
    """The symbols, with the sections of those that are COMMON, numbered from `count` on."""
    for k, (name, _, _, section, value, size) in enumerate(SYMBOL.iter_unpack(table)):
        said = names[name : names.index(0, name)].decode()
        if section == SHN_COMMON:
            yield Symbol(said, count + k, 0), Section(b"", size, value, True)
        else:
            yield Symbol(said, section, value), None


def _relocations(section: int, table: bytes) -> Iterator[tuple[int, int, int, int]]:
    for place, info, addend in RELA.iter_unpack(table):
        if info & 0xFFFFFFFF != R_X86_64_64:
            raise Unknown("an address that is not whole")
        yield section, place, info >> 32, addend
