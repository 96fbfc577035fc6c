"""Generated code of numbers in another process: linked without Numba, the same bits, and Numba where it is needed after all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backend import run
from backend.cpu import kept, native
from backend.stacks.memory import is_addressed
from backend.ways_in import entry
from semantics.errors import Trap
from semantics.machine import run as on_reference
from semantics.text import read
from semantics.type_language import INTEGER, REAL
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

pytestmark = pytest.mark.usefixtures("own_store")

POWER = """
def f(x, n: int):
    r = 1.0
    for i in range(n):
        r = r * x
    return r, n * n
"""
TYPES = (REAL, INTEGER)


def linked(monkeypatch: Any) -> run.Compiled:
    """The program as another process would have it, though Numba is here."""
    made = run.compile(parse_text(POWER, "f"), TYPES, "cpu")
    assert made(1.0, 1) == (1.0, 1)
    assert native.is_kept(entry.entry_source(made.code), kept.exports(made.code)), "the first call has compiled it"
    monkeypatch.setattr(kept, "is_there", lambda code: True)
    monkeypatch.setattr(kept, "dispatcher", lambda code: pytest.fail("what is kept needs no Numba"))
    return run.compile(parse_text(POWER, "f"), TYPES, "cpu")


def test_linked_code_gives_the_same_bits_and_fails_alike(monkeypatch: Any) -> None:
    program, found = parse_text(POWER, "f"), linked(monkeypatch)
    for x, n in ((1.1, 0), (-0.3, 7), (1e200, 2), (float("nan"), 3)):
        assert same(found(x, n), on_reference(program, x, n))
    with pytest.raises(Trap, match="64 bits"):
        found(1.0, -(2**33))
    assert found(2.0, 3) == (8.0, 9)


def test_where_numba_is_already_nothing_is_linked() -> None:
    assert not kept.is_there(run.lowered(parse_text(POWER, "f"), TYPES))


@pytest.mark.parametrize(("given", "is_plain"), [({}, True), ({"fast": True}, False)])
def test_code_that_adds_in_any_order_is_not_kept(given: dict[str, bool], is_plain: bool) -> None:
    made = run.lowered(read("program @f\n@f(%x: f64[2]):\n  %r = add(%x, %x)\n  return %r"), None, **given)
    assert kept.is_plain(made) == is_plain


def test_code_of_arrays_is_kept_by_their_dtypes_and_axes() -> None:
    texts = ("f64[2]", "f64[3]", "f64[?, ?]", "f32[2]")
    made = [run.lowered(read(f"program @f\n@f(%x: {of}):\n  return %x"), None) for of in texts]
    assert [kept.exports(code)["entry"] for code in made] == ["(f64 1):(f64 1)i"] * 2 + ["(f64 2):(f64 2)i", "(f32 1):(f32 1)i"]


TWICE = """
import sys
import adjudge as aj
from pathlib import Path
from backend import store
store.folder = lambda: Path({folder!r})
sys.path.insert(0, {folder!r})
from powers import power
f = aj.compile(aj.grad(power), target="cpu")
print(f(1.25, 3), f(1.25, 3), f(1.0001, {n}), "numba" in sys.modules, "scipy.linalg" in sys.modules)
"""


def test_another_process_needs_no_numba_even_where_a_stack_is_full(own_store: Path) -> None:
    (own_store / "powers.py").write_text(
        "def power(x, n: int):\n    r = 1.0\n    for i in range(n):\n        r = r * x\n    return r\n"
    )

    def told(n: int) -> list[str]:
        text = TWICE.format(folder=str(own_store), n=n)
        return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()

    first, again, long = told(10), told(10), told(5000)
    assert first == [*again[:3], "True", "False"], "there is no product of matrices that would want it"
    assert again[3] == "False"
    gradient = expand(calling(parse_text((own_store / "powers.py").read_text(), "power"), "grad", 0, TYPES), "ssa")
    assert float(long[2]) == on_reference(gradient, 1.0001, 5000)
    assert long[3] == "False", "the same code is called again, with more memory"


ARRAYS = """
import sys
import numpy as np
import adjudge as aj
from pathlib import Path
from backend import store
store.folder = lambda: Path({folder!r})
sys.path.insert(0, {folder!r})
from rolled import rolled
f = aj.compile(aj.grad(rolled, wrt=(0, 1)))
x, m = np.linspace(-1.0, 1.0, 7), np.arange(3.0)
for n in (3, 3, 2000):
    a, b = f(x, m, n)
    print(a.tobytes().hex(), b.tobytes().hex())
print("numba" in sys.modules, "llvmlite" in sys.modules)
from backend.cpu import runtime
module = runtime.module()
module.memsys_enable_stats()
def held():
    return module.memsys_get_stats_mi_alloc() - module.memsys_get_stats_mi_free()
before = held()
many = [f(x, m, 5) for _ in range(100)]
print(held() > before + 99)
part = many[7][0][2:]
same = part.copy()
del many, a, b
print(held() <= before + 1, (part == same).all())
try:
    f(x, m[:2], 3)
except aj.AdjudgeError as error:
    print(type(error).__name__)
import numba  # from here on two compilers' code shares one runtime
print(sys.modules["numba.core.runtime._nrt_python"] is module)
made = numba.njit(lambda n: np.ones(n))(4)
del part, same
again = f(x, m, 3)
print(made.sum(), held())
"""
ROLLED = """
import numpy as np
def rolled(x, m, n: int):
    y = x
    t = 0.0
    for i in range(n):
        y = np.concatenate((y[1:], y[:1])) * 0.99 + m[i % 3] * 0.01
        t += np.sum(np.tanh(y))
    return t
"""


def test_another_process_has_code_of_arrays_without_numba_and_gives_their_memory_back(own_store: Path) -> None:
    (own_store / "rolled.py").write_text(ROLLED)

    def told() -> list[str]:
        command = [sys.executable, "-c", ARRAYS.format(folder=str(own_store))]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    first, again = told(), told()
    assert first[:3] == again[:3]
    assert [first[3], again[3]] == ["True True", "False False"]
    assert first[4:] == again[4:]
    assert again[4:7] == ["True", "True True", "Trap"]


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("i = int(integers[3 * capacity + 2 * (i5)])", "i = integers[3 * capacity + 2 * (i5)]"),
        ("i = int(x)", "i = int(x)"),
        ("i = _print(integers[0])", "i = _print(integers[0])"),
    ],
)
def test_what_is_read_from_integers_is_an_integer(line: str, known: str) -> None:
    assert entry.known(line) == known


@pytest.mark.parametrize(
    ("body", "needs"),
    [
        ("return x * x + 2.0", False),
        ("return x ** 2.0", True),
        ("while x < 10.0:\n        x = x + 1.0\n    return x", True),
    ],
    ids=["a straight line", "an exponent that is hidden", "a loop that spends fuel"],
)
def test_an_entry_takes_memory_if_its_code_needs_some(body: str, needs: bool) -> None:
    program = parse_text(f"def f(x):\n    {body}\n", "f")
    made = run.compile(program, (REAL,), "cpu")
    assert (len(made.memory.passed) == 1) == needs == is_addressed(made.code)
    quick = made.way_in(lambda x: pytest.fail("a real goes in as it is"))
    assert quick is not None
    assert same(quick(1.5), on_reference(program, 1.5))
