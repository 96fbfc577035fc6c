"""Machine code is made once, kept in a file, and there without LLVM in another process; a file that is no good is made again."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from backend.cpu import native

pytestmark = pytest.mark.usefixtures("own_store")

SOURCE = """
@_device
def turns(n, x):
    r = 1.0
    for i in range(n):
        r = _mul(r, _sin(x))
    return r

@_device
def both(address, size, flag):
    words = _integers(address, size)
    words[0] = words[1] + int(flag)
    return words[0], _reals(address, size)[2]
"""
EXPORTS = {"turns": "id:d", "both": "iib:id"}


def expected() -> float:
    import math

    return math.sin(0.5) * math.sin(0.5)


def test_a_function_is_compiled_once_and_is_there_in_another_process_without_its_compilers(own_store: Path) -> None:
    native.processor.cache_clear()
    assert not native.is_kept(SOURCE, EXPORTS)
    assert native.functions(SOURCE, EXPORTS)["turns"](2, 0.5) == expected()
    assert native.is_kept(SOURCE, EXPORTS)
    assert not native.is_kept(SOURCE, {**EXPORTS, "turns": "dd:d"})
    assert not native.is_kept(SOURCE + "\n", EXPORTS)
    text = f"""
import sys
from pathlib import Path
from backend import store
from backend.cpu import native
store.folder = lambda: Path({str(own_store)!r})
found = native.functions({SOURCE!r}, {EXPORTS!r})["turns"](2, 0.5)
print(found == {expected()!r}, "numba" in sys.modules, "llvmlite" in sys.modules)
"""
    found = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["True", "False", "False"]


def test_a_file_that_is_no_machine_code_or_needs_what_is_not_there_is_made_again(own_store: Path) -> None:
    native.functions(SOURCE, EXPORTS)
    (file,) = own_store.glob("n_*.pickle")
    whole = file.read_bytes()
    wanted = {name: needed for name, (_, _, needed) in pickle.loads(whole).items()}
    objects = {name: (symbol, code, (*needed, "no_such_function")) for name, (symbol, code, needed) in pickle.loads(whole).items()}
    for content in (whole[:100], pickle.dumps(objects)):
        file.write_bytes(content)
        assert native.functions(SOURCE, EXPORTS)["turns"](2, 0.5) == expected()
        again = pickle.loads(file.read_bytes())
        assert {name: needed for name, (_, _, needed) in again.items()} == wanted


def test_buffers_go_in_as_addresses_and_several_results_come_out() -> None:
    from backend.machine.buffers import Words

    words = Words(3)
    words.integers[1], words.doubles[2] = 41, 0.25
    assert native.functions(SOURCE, EXPORTS)["both"](*words.place, True) == (42, 0.25)
    assert words.integers[0] == 42


def test_the_loops_are_compiled_first_of_all_on_a_fresh_computer(tmp_path: Path) -> None:
    """Numba's type of an operator was another than the one that it had been asked about: a raw KeyError."""
    given = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    code = "from backend.machine import kernels; print(kernels.compiled() is not None)"
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False)
    assert done.stdout == "True\n", done.stderr[-2000:]
