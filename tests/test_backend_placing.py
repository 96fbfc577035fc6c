"""Code that is put where it runs without LLVM does what LLVM's own linking of it does; what is not known is left to LLVM."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.cpu import elf, native, placing
from semantics.values import bits

TEXT = """
@count = common global i64 0, align 8
@kept = internal global i64 7, align 8
@table = internal constant [4 x double] [double 0.5, double 0.25, double 2.0, double 1.0e300], align 64

declare double @sin(double)

define double @f(double %x, i64 %n) {
  %s = call double @sin(double %x)
  %k = and i64 %n, 3
  %p = getelementptr [4 x double], [4 x double]* @table, i64 0, i64 %k
  %t = load double, double* %p
  %y = fmul double %s, %t
  ret double %y
}

define i64 @next() {
  %c = load i64, i64* @count
  %d = add i64 %c, 1
  store i64 %d, i64* @count
  %k = load i64, i64* @kept
  %e = add i64 %k, %d
  store i64 %e, i64* @kept
  ret i64 %e
}
"""
TABLE = (0.5, 0.25, 2.0, 1e300)


def emitted(addresses: str) -> bytes:
    """
    The object file of TEXT, for memory of any size: with whole addresses ("static"), as Numba wants it, or with distances ("pic").

    Code for 2 GiB (LLVM's small model) is not linked here: where memory is not to be had side by side, LLVM ends the process.
    """
    llvm = native.llvm()
    machine = llvm.Target.from_default_triple().create_target_machine(codemodel="large", reloc=addresses)
    content: bytes = machine.emit_object(llvm.parse_assembly(TEXT))
    return content


def address(name: str) -> int:
    return native._address(name)


@cache
def function() -> Callable[[float, int], float]:
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)
    return kind(placing.placed(emitted("static"), ["f"], address)["f"])


@given(st.floats(), st.integers(0, 3))
def test_the_code_calls_the_c_library_and_reads_its_constants(x: float, n: int) -> None:
    expected = math.sin(x) * TABLE[n] if math.isfinite(x) else math.nan
    assert bits(function()(x, n)) == bits(expected)


def test_what_is_written_is_kept_and_what_is_run_is_not_written() -> None:
    at = placing.placed(emitted("static"), ["next"], address)["next"]
    following = ctypes.CFUNCTYPE(ctypes.c_int64)(at)
    assert [following() for _ in range(3)] == [7 + 1, 7 + 1 + 2, 7 + 1 + 2 + 3]
    ways = [line.split()[:2] for line in Path("/proc/self/maps").read_text().splitlines()]
    assert [way for places, way in ways if int(places.split("-")[0], 16) <= at < int(places.split("-")[1], 16)] == ["r-xp"]


def other_machine(content: bytes) -> bytes:
    """The same said to be for another processor (183, AArch64)."""
    return content[:18] + (183).to_bytes(2, "little") + content[20:]


@pytest.mark.parametrize("spoilt", [lambda _: emitted("pic"), other_machine, lambda content: content[:40], lambda _: b"\x00" * 100])
def test_other_files_are_unknown(spoilt: Callable[[bytes], bytes]) -> None:
    with pytest.raises(elf.Unknown):
        placing.placed(spoilt(emitted("static")), ["f"], address)


def test_a_name_that_is_not_there_is_unknown_and_one_that_is_called_and_not_there_is_told() -> None:
    with pytest.raises(elf.Unknown, match=r"^g$"):
        placing.placed(emitted("static"), ["f", "g"], address)
    with pytest.raises(native.Unlinkable, match="no_such_function"):
        placing.placed(emitted("static"), ["f"], lambda _: address("no_such_function"))


def test_what_is_unknown_llvm_links() -> None:
    for addresses in ("static", "pic"):
        found = native._linked({"it": ("f", emitted(addresses), ("sin",))})["it"]
        kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)
        assert bits(kind(found)(0.3, 2)) == bits(math.sin(0.3) * TABLE[2])


@pytest.mark.parametrize("known", [True, False], ids=["put there", "linked by LLVM"])
def test_code_of_a_text_calls_what_it_is_told(own_store: Path, monkeypatch: pytest.MonkeyPatch, known: bool) -> None:
    body = "  %y = call i64 @adjudge_called(i64 %x)\n  ret i64 %y"
    text = f"declare i64 @adjudge_called(i64)\ndefine i64 @f(i64 %x) {{\n{body}\n}}\n"
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
    called = kind(lambda x: 2 * x + 1)
    if not known:
        monkeypatch.setattr(native, "placed", lambda *_: (_ for _ in ()).throw(elf.Unknown("all of it")))
    for _ in range(2):
        found = native.of_text(text, ["f"], {"adjudge_called": ctypes.cast(called, ctypes.c_void_p).value or 0})
        assert kind(found["f"])(20) == 41


def test_sections_lie_apart_and_as_they_want_to() -> None:
    sections = {
        k: elf.Section(b"", size, align, k % 2 == 0)
        for k, (size, align) in enumerate([(5, 1), (9, 64), (0, 8), (4097, 16), (3, 32)])
    }
    offsets, code, end = placing.layout(sections)
    places = sorted((offsets[k], offsets[k] + s.size) for k, s in sections.items())
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    assert all(
        offsets[k] % s.align == 0 and (offsets[k] >= code) is s.is_written and offsets[k] + s.size <= end
        for k, s in sections.items()
    )


def test_the_processor_is_what_llvm_says() -> None:
    assert native.processor() == native._named()
