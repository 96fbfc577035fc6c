"""Functions that compiled code alone calls are linked into what is called from outside, each once; and Numba asks once."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest
from numba import float64, int64, types
from numba.core.codegen import CPUCodeLibrary
from numba.core.registry import cpu_target
from numba.core.typing.context import BaseContext

from backend import store, toolchain
from backend.cpu import resolving
from backend.cpu.libraries import Part, Whole, needed
from backend.lowering import nothing
from semantics.columns.elementary import ELEMENTARY

pytestmark = pytest.mark.usefixtures("own_store")


def loaded(text: str, target: str = "cpu") -> Any:
    """A source of generated code on a target."""
    return store.load(text, target, toolchain.bindings(target, text))


def chain(count: int, mark: str) -> str:
    """Functions each of which calls the next, twice, and is too long to be compiled into another."""
    long = "    x = _log1p(x * x) - 0.5\n" * 16
    inner = [f"{mark}\ndef f{k}(x):\n{long}    return f{k + 1}(x) * 0.5 + f{k + 1}(-x)\n" for k in reversed(range(count))]
    return "\n".join([f"{mark}\ndef f{count}(x):\n    return x + 1.0\n", *inner, "@_entry\ndef entry(x):\n    return f0(x)\n"])


def chained(count: int, x: float) -> float:
    if count == 0:
        return x + 1.0
    for _ in range(16):
        x = ELEMENTARY["log1p"](x * x) - 0.5
    return chained(count - 1, x) * 0.5 + chained(count - 1, -x)


def optimized(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, Any]:
    """How many functions the passes over whole modules have before them, counted as often as they have; and the compiled entry."""
    count = 0
    optimize = CPUCodeLibrary._optimize_final_module

    def counted(self: Any) -> None:
        nonlocal count
        count += sum(not function.is_declaration and "f" in function.name for function in self._final_module.functions)
        optimize(self)

    with monkeypatch.context() as patched:
        patched.setattr(CPUCodeLibrary, "_optimize_final_module", counted)
        entry = loaded(text).entry
        entry.compile((float64,))
        entry.overloads[float64,].library._ensure_finalized()
    return count, entry


def test_functions_in_a_row_are_optimized_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    (few, _), (many, entry) = (optimized(chain(count, "@_bare"), monkeypatch) for count in (4, 12))
    assert many <= 3 * few
    found = entry.overloads[float64,].library
    assert isinstance(found, Whole)
    assert {type(part) for part in needed(found) if part.name.startswith("f")} == {Part}


def test_what_is_called_from_outside_is_optimized_with_what_it_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    (few, _), (many, entry) = (optimized(chain(count, "@_entry"), monkeypatch) for count in (4, 12))
    assert many > 3 * few
    assert any(isinstance(library, Whole) for library in needed(entry.overloads[float64,].library))


def test_linked_parts_compute_what_they_say() -> None:
    found = loaded(chain(6, "@_bare").replace("@_entry", "@_device")).entry
    for x in (0.1, -3.5, 1e300, math.inf, math.nan):
        assert np.float64(found(x)).tobytes() == np.float64(chained(6, x)).tobytes()


def test_a_function_is_linked_after_all_that_call_it() -> None:
    class Stub(Part):
        def __init__(self, *linked: Any) -> None:
            self._linking_libraries = [*linked]

    last = Stub()
    middle = Stub(last)
    first = Stub(last, middle)
    whole = Stub(last, first)
    assert [[first, middle, last].index(library) for library in needed(whole)] == [0, 1, 2]


# what Numba finds out


def asked(text: str, monkeypatch: pytest.MonkeyPatch, *given: Any) -> list[Any]:
    """What Numba resolves of operators while a function is compiled, and its arguments."""
    found: list[Any] = []
    resolve = BaseContext.resolve_function_type

    def noted(self: Any, function: Any, types: Any, named: Any) -> Any:
        found.append((getattr(function, "typing_key", function), tuple(types)))
        return resolve(self, function, types, named)

    monkeypatch.setattr(BaseContext, "resolve_function_type", noted)
    monkeypatch.setattr(resolving, "_found", type(resolving._found)())
    loaded(text).f.compile(given)
    return found


def test_an_operator_is_resolved_once_for_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    many = "@_bare\ndef f(x):\n" + "".join(f"    x = x + {k}.5\n" for k in range(20)) + "    return x\n"
    found = asked(many, monkeypatch, float64)
    assert found.count((operator.add, (float64, float64))) == 1


def test_an_element_is_resolved_once_for_arrays_of_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is read, as it is an operator; one that is written, by what is asked of the context for it."""
    reals, integers = types.Array(types.float64, 1, "C"), types.Array(types.int64, 1, "C")
    text = (
        "@_bare\ndef f(a, b, i):\n"
        + "".join(f"    a[i + {k}] = a[{k} * i]\n    b[i + {k}] = b[i]\n" for k in range(20))
        + "    return a[0]\n"
    )
    stored: list[Any] = []
    store_element = BaseContext.resolve_setitem

    def noted(self: Any, *given: Any) -> Any:
        stored.append(given)
        return store_element(self, *given)

    monkeypatch.setattr(BaseContext, "resolve_setitem", noted)
    found = asked(text, monkeypatch, reals, integers, int64)
    assert found.count((operator.getitem, (reals, int64))) == found.count((operator.getitem, (integers, int64))) == 1
    assert stored.count((reals, int64, float64)) == stored.count((integers, int64, int64)) == 1


def test_of_arrays_it_is_resolved_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = types.Array(types.float64, 1, "C")
    text = "@_bare\ndef f(a):\n    b = a + a\n    c = a + a\n    return b[0] + c[0]\n"
    assert asked(text, monkeypatch, arrays).count((operator.add, (arrays, arrays))) > 1


def test_what_is_remembered_is_forgotten_by_numba_itself_afterwards() -> None:
    context = cpu_target.typing_context
    with resolving.remembered(context):
        assert "resolve_function_type" in vars(context)
        with resolving.remembered(context):
            pass
        assert "resolve_function_type" in vars(context)
    assert "resolve_function_type" not in vars(context)


@pytest.mark.parametrize("types", [(float64, float64), (int64, int64), (float64, int64), (int64, float64)])
def test_operators_on_numbers_have_the_bits_of_cpython(types: tuple[Any, ...]) -> None:
    """Two numbers of one type go a shorter way than Numba's; of two types, Numba's."""
    operators = ["x + y", "x - y", "x * y", "x < y", "x <= y", "x > y", "x >= y", "x == y", "x != y", "x % 7", "7 - x"]
    results = "\n".join(f"    r{k} = {text}" for k, text in enumerate(operators))
    gives = ", ".join(f"r{k}" for k in range(len(operators)))
    text = f"@_device\ndef f(x, y):\n    return g(x, y)\n\n@_bare\ndef g(x, y):\n{results}\n    return ({gives})\n"
    found = loaded(text).f
    plain: dict[str, Any] = {}
    exec(text.replace("@_device\n", "").replace("@_bare\n", ""), plain)
    made = {float64: (0.5, -0.0, 0.0, 7.25, -3.0, 1e300), int64: (0, 1, -1, 7, 3, -12)}
    for x in made[types[0]]:
        for y in made[types[1]]:
            for got, wanted in zip(found(x, y), plain["f"](x, y), strict=True):
                assert (type(got), str(got)) == (type(wanted), str(wanted))


# arrays without elements

LEAVES = """
@_bare
def f(x):
    if x < 0.0:
        return (_empty((0,), _f64), _empty((0, 0), _bool), 1)
    if x > 1.0:
        return (_empty((0,), _f64), _empty((0, 0), _bool), 2)
    a = _empty((1,), _f64)
    a[0] = x
    return (a, _empty((1, 0), _bool), 0)
"""


def test_an_array_without_elements_is_made_once_in_a_function() -> None:
    text = nothing.made_once(LEAVES)
    assert text.count("_empty((0,), _f64)") == text.count("_empty((0, 0), _bool)") == 1
    for other in ("_empty((1,), _f64)", "_empty((1, 0), _bool)"):
        assert other in text, "it has a size of its own"
    for source in (LEAVES, text):
        for target in ("cpu", "python"):
            entry = loaded(source + "\n@_device\ndef entry(x):\n    return f(x)\n", target).entry
            for x, shapes in ((-1.0, ((0,), (0, 0), 1)), (2.0, ((0,), (0, 0), 2)), (0.5, ((1,), (1, 0), 0))):
                a, b, status = entry(x)
                assert (a.shape, b.shape, status) == shapes


def test_what_has_the_memory_of_stacks_takes_a_part_of_that() -> None:
    text = LEAVES.replace("f(x)", "f(x, reals, integers, one)").replace("(0, 0)", "(0,)").replace("(1, 0)", "(2,)")
    found = nothing.made_once(text)
    assert "no_f64_1 = reals[0:0]\n" in found
    assert "no_bool_1 = _flags(integers, 0, 0)\n" in found
    entry = (
        "\n@_device\ndef entry(x):\n    reals, integers = _empty((4,), _f64), _empty((4,), _i64)\n"
        "    return f(x, _cells(reals), _cells(integers), 1.0)\n"
    )
    for x, status in ((-1.0, 1), (2.0, 2)):
        a, b, said = loaded(found + entry).entry(x)
        assert (a.shape, a.dtype, b.shape, b.dtype, said) == ((0,), "float64", (0,), "bool", status)
    for near in (text.replace("def f(", "def kernel("), text.replace("reals, ", ""), LEAVES.replace("(0,)", "(0, 0)")):
        assert "reals[0:0]" not in nothing.made_once(near), "arrays go out, there is no memory, or it has two axes"


def test_each_function_has_its_own() -> None:
    assert nothing.made_once(LEAVES + LEAVES.replace("def f", "def g")).count("no_f64_1 = ") == 2
    assert nothing.made_once("c0_ = 3.0\n\n" + chain(1, "@_bare")) == "c0_ = 3.0\n\n" + chain(1, "@_bare")
