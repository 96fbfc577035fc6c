"""The backend: every target gives what the reference gives, and says why where it gives nothing."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from backend_programs import PROGRAMS, samples
from hypothesis import event, given, settings
from hypothesis import strategies as st

import backend
from backend import columns, store, toolchain
from backend.cuda import numba_cuda
from backend.lowering.lower import lower
from semantics.edit import Edit, empty
from semantics.errors import IllTyped, Malformed, OutOfFuel, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.primitives.row import Hole, row
from semantics.primitives.table import ELEMENTARY as ELEMENTARY_ROWS
from semantics.primitives.table import ROWS, TABLE
from semantics.text import read
from semantics.type_language import INTEGER, REAL
from semantics.values import same
from transforms.nested_grad import expand
from transforms.parse import parse_text

ARITHMETIC = [n for n in PROGRAMS if n not in ("elementary", "remainders", "integers", "conversions")]


def reference(program: Program) -> Any:
    return lambda *arguments: run(program, *arguments)


@pytest.mark.parametrize("name", PROGRAMS)
def test_python_cpu_and_simulator_agree_with_the_machine_bit_for_bit(name: str) -> None:
    program = read(PROGRAMS[name])
    for found in backend.crosscheck(program, None, samples(name), reference(program), ["python", "cpu"]):
        assert not found.skipped
        assert found.mismatches == ()
        assert found.bitwise + found.overflowed == found.samples
    few = samples(name)[::5]
    (found,) = backend.crosscheck(program, None, few, reference(program), ["cuda-simulator"])
    assert found.skipped or (found.mismatches == () and found.bitwise > 0)


def integer_operation(name: str) -> Program:
    edit = Edit(empty())
    graph = edit.graph("f")
    m, n = edit.parameter(graph, "m", INTEGER), edit.parameter(graph, "n", INTEGER)
    edit.output(graph, edit.call(graph, TABLE[name], *([m] if name in ("neg", "abs") else [m, n])))
    return edit.program


SIXTY_FOUR = st.integers(-(1 << 63), (1 << 63) - 1)
EDGES = st.sampled_from([0, 1, -1, 2, -3, 1 << 32, 3037000499, 3037000500, 1 << 62, -(1 << 62), -(1 << 63), (1 << 63) - 1])
OPERATIONS = {n: integer_operation(n) for n in ("add", "sub", "mul", "floordiv", "mod", "neg", "abs", "div")}


@given(st.sampled_from(sorted(OPERATIONS)), SIXTY_FOUR | EDGES, SIXTY_FOUR | EDGES)
@settings(max_examples=400)
def test_an_integer_result_is_exact_or_traps_exactly_when_64_bits_do_not_hold_it(name: str, m: int, n: int) -> None:
    for target in ("python", "cpu"):
        compiled = compiled_operation(name, target)
        try:
            wanted = run(OPERATIONS[name], m, n)
        except Trap:
            with pytest.raises(Trap):
                compiled(m, n)
            continue
        if isinstance(wanted, float) or -(1 << 63) <= wanted < 1 << 63:
            assert same(compiled(m, n), wanted)
        else:
            with pytest.raises(Trap, match="overflow"):
                compiled(m, n)


COMPILED: dict[tuple[str, str], Any] = {}


def compiled_operation(name: str, target: str) -> Any:
    if (name, target) not in COMPILED:
        COMPILED[name, target] = backend.compile(OPERATIONS[name], None, target)
    return COMPILED[name, target]


def elementary() -> Program:
    """All elementary functions that every target has, of one number and as functions of two."""
    edit = Edit(empty())
    graph = edit.graph("f")
    x, y = edit.parameter(graph, "x", REAL), edit.parameter(graph, "y", REAL)
    calls = []
    for p in ELEMENTARY_ROWS:
        if p.name != "hypot":
            calls.append(edit.call(graph, p, *([x] if len(p.signature) == 1 else [x, y])))
    calls += [edit.call(graph, TABLE["pow"], x, edit.constant(c)) for c in (2.0, 0.5, -1.0)]
    calls += [edit.call(graph, TABLE["pow"], edit.constant(2.0), x)]
    edit.output(graph, edit.call(graph, TABLE["make_tuple"], *calls))
    return edit.program


ELEMENTARY = elementary()


@given(st.lists(st.tuples(st.floats(), st.floats(-10, 10)), min_size=20, max_size=40))
def test_elementary_functions_are_the_references_bit_for_bit(points: list[tuple[float, float]]) -> None:
    compiled = COMPILED.setdefault(("elementary", "cpu"), backend.compile(ELEMENTARY))
    for x, y in points:
        assert same(compiled(x, y), run(ELEMENTARY, x, y))
        assert same(compiled(y, x), run(ELEMENTARY, y, x))


@st.composite
def flows(draw: st.DrawFn) -> str:
    """A program of blocks that jump to each other at random, counting down; some have loops that are entered at several places."""
    count = draw(st.integers(2, 7))
    lines = ["program @f", "@f(%x: f64, %n: i64):", "  %r = @b0(%n, %x, 1.0)", "  return %r"]
    for i in range(count):
        a, b = draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))
        moves = draw(st.permutations(["%a", "%b"]))
        lines += [
            f"@b{i}(%i{i}, %a{i}, %b{i}):",
            f"  %s{i} = sub(%i{i}, 1)",
            f"  %v{i} = mul(%a{i}, {i + 1}.5)",
            f"  %c{i} = gt(%i{i}, 0)",
            f"  %t{i} = switch(%c{i}, @go{i}, @end{i})",
            f"  %q{i} = %t{i}()",
            f"  return %q{i}",
            f"@go{i}():",
            f"  %m{i} = mod(%i{i}, {draw(st.integers(2, 3))})",
            f"  %e{i} = eq(%m{i}, 0)",
            f"  %g{i} = switch(%e{i}, @left{i}, @right{i})",
            f"  %z{i} = %g{i}()",
            f"  return %z{i}",
            f"@left{i}():",
            f"  %l{i} = @b{a}(%s{i}, {moves[0]}{i}, {moves[1]}{i})",
            f"  return %l{i}",
            f"@right{i}():",
            f"  %k{i} = @b{b}(%s{i}, %v{i}, %a{i})",
            f"  return %k{i}",
            f"@end{i}():",
            f"  %o{i} = add(%a{i}, %b{i})",
            f"  %p{i} = add(%o{i}, {i})",
            f"  return %p{i}",
        ]
    return "\n".join(lines)


@given(flows(), st.integers(0, 12))
def test_any_flow_of_jumps_runs_as_the_machine_runs_it(text: str, n: int) -> None:
    program = read(text)
    compiled = backend.compile(program, None, "python", optimize=False)
    event(f"loops: {compiled.code.source.count('while True')}")
    for x in (1.25, -0.5):
        assert same(compiled(x, n), run(program, x, n))


def gradient(name: str) -> Program:
    text = PROGRAMS[name].split("\n", 1)[1]
    second = "f64" if "%y: f64)" in text else "i64"
    return expand(read(f"program @d\n@d(%X: f64, %N: {second}):\n  %G = grad(@f, 0)\n  %R = %G(%X, %N)\n  return %R\n{text}"))


@pytest.mark.parametrize("name", ["straight", "elementary", "nested_ifs", "merge", "called_twice", "closures"])
def test_gradients_compile_with_their_closures_and_agree_bit_for_bit(name: str) -> None:
    program = gradient(name)
    compiled = backend.compile(program, None, "python", optimize=False)
    for arguments in samples(name)[::3]:
        assert same(compiled(*arguments), run(program, *arguments))


REFUSED = {
    "general recursion: @more calls itself": """program @f
@f(%n: i64):
  %k = @g(%n)
  %h = getitem(%k, 1)
  %r = %h()
  return %r
@g(%n2: i64):
  %c = le(%n2, 1)
  %t = switch(%c, @one, @more)
  %r2 = %t()
  return %r2
@one():
  %a = make_tuple(%n2, @then)
  return %a
@more():
  %m = sub(%n2, 1)
  %k2 = @g(%m)
  %b = getitem(%k2, 0)
  %d = mul(%n2, %b)
  %e = make_tuple(%d, @then)
  return %e
@then():
  return %n2
""",
    "a function, function": "program @f\n@f(%x: f64):\n  return @g\n@g():\n  return %x\n",
    "zero at the boundary": "program @f\n@f(%x: f64):\n  return ZERO\n",
    "no run of the program returns": "program @f\n@f(%x: f64):\n  %r = @f(%x)\n  return %r\n",
    "min and max of an integer and a real": "program @f\n@f(%m: i64, %x: f64):\n  %r = min(%m, %x)\n  return %r\n",
    "does not fit 64 bits": "program @f\n@f(%m: i64):\n  %r = add(%m, 99999999999999999999)\n  return %r\n",
    "hypot cannot run on the target cpu": "program @f\n@f(%x: f64):\n  %r = hypot(%x, 2.0)\n  return %r\n",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_has_no_first_order_form_is_refused_with_the_reason(reason: str) -> None:
    with pytest.raises((Malformed, IllTyped)) as caught:
        backend.compile(read(REFUSED[reason]))
    assert reason in caught.value.what


def test_the_gradient_of_a_loop_is_refused_because_its_closures_do_not_end() -> None:
    with pytest.raises(Malformed) as caught:
        lower(gradient("loop"))
    assert "not closure-free after optimization" in caught.value.what


def test_a_loop_that_outlasts_its_budget_is_out_of_fuel() -> None:
    program = read(PROGRAMS["loop"])
    for target in ("python", "cpu"):
        compiled = backend.compile(program, None, target, budget=50)
        assert same(compiled(1.0, 40), run(program, 1.0, 40))
        with pytest.raises(OutOfFuel):
            compiled(1.0, 60)


def test_arguments_are_checked_at_the_boundary() -> None:
    compiled = backend.compile(read(PROGRAMS["loop"]), None, "python")
    with pytest.raises(IllTyped):
        compiled(1, 2)
    with pytest.raises(IllTyped):
        compiled(1.0, True)
    with pytest.raises(IllTyped):
        compiled(1.0)
    with pytest.raises(Trap):
        compiled(1.0, 1 << 63)
    with pytest.raises(Malformed):
        backend.compile(read(PROGRAMS["loop"]), None, "tpu")


def test_a_loop_moves_its_variables_in_parallel() -> None:
    assert backend.compile(read(PROGRAMS["swap"]), None, "python")(9.0, 4) == (1.0, 2.0, 9.0)


@pytest.mark.parametrize("cc", [(7, 5), (9, 0)])
def test_ptx_has_the_kernel_and_no_contracted_product(cc: tuple[int, int]) -> None:
    if reason := numba_cuda.ptx_available():
        with pytest.raises(IllTyped) as caught:
            backend.ptx(read(PROGRAMS["nested_loops"]), None, cc)
        assert reason in caught.value.what
        return
    text = backend.ptx(read(PROGRAMS["nested_loops"]), None, cc)
    assert f".target sm_{cc[0]}{cc[1]}" in text
    assert len(re.findall(r"\.visible \.entry", text)) == 1
    assert "mul.rn.f64" in text
    assert not re.findall(r"fma\.rn\.f64|mad\.", text)
    assert not re.findall(r"\bmul\.f64", text), "a product without rounding mode may be fused by the assembler"


@pytest.mark.skipif(bool(numba_cuda.ptx_available()), reason="needs libnvvm")
def test_the_sum_of_a_number_has_ptx() -> None:
    """It is a loop of one turn, and no array. Once no thread knew how to go over it."""
    text = backend.run.ptx(parse_text("import numpy as np\ndef f(x):\n    return np.sum(x * x)\n", "f"), (REAL,))
    assert len(re.findall(r"\.visible \.entry", text)) == 1


def test_a_missing_target_is_reported_and_skipped_visibly() -> None:
    program = read(PROGRAMS["straight"])
    there = backend.targets()
    assert tuple(there) == ("python", "cpu", "cuda-sequential", "cuda-simulator", "cuda")
    for found in backend.crosscheck(program, None, [(1.0, 2.0)], reference(program)):
        assert found.skipped == there[found.target]
        assert found.samples == (0 if found.skipped else 1)


def test_code_is_stored_once_per_source() -> None:
    code = lower(read(PROGRAMS["straight"]))
    first = store.load(code.source, "python", toolchain.bindings("python", code.source))
    again = store.load(code.source, "python", toolchain.bindings("python", code.source))
    assert first.__file__ == again.__file__
    other = store.load(code.source + "\n", "python", toolchain.bindings("python", code.source))
    assert other.__file__ != first.__file__


def test_columns_are_full() -> None:
    for column in (columns.NUMBA, columns.ULP):
        assert all(p.name in column.cells for p in ROWS), column.name
        assert all(cell.reason for cell in column.cells.values() if isinstance(cell, Hole))


def test_a_users_primitive_brings_its_own_source() -> None:
    meaning = {"meaning": lambda x: 3.0 * x + 1.0, "numba": "(_mul(3.0, {0}) + 1.0)"}
    triple = row("triple", "x", "real -> real")
    own = type(triple)(triple.name, triple.parameters, triple.signature, triple.result, columns=meaning)
    edit = Edit(empty())
    graph = edit.graph("f")
    x = edit.parameter(graph, "x", REAL)
    edit.output(graph, edit.call(graph, own, x))
    assert backend.compile(edit.program, None, "python")(2.0) == run(edit.program, 2.0) == 7.0
    without = type(triple)(triple.name, triple.parameters, triple.signature, triple.result, columns={"meaning": meaning["meaning"]})
    edit = Edit(empty())
    graph = edit.graph("f")
    edit.output(graph, edit.call(graph, without, edit.parameter(graph, "x", REAL)))
    with pytest.raises(IllTyped) as caught:
        backend.compile(edit.program, None, "python")
    assert "triple" in caught.value.what


def test_special_values_follow_the_reference_where_targets_usually_differ() -> None:
    """The pitfalls: NaN and signed zeros in min and max, poles, overflow, negative bases, infinite angles, huge floors."""
    text = """program @f
@f(%x: f64, %y: f64):
  %a = min(%x, %y)
  %b = max(%x, %y)
  %c = exp(%x)
  %d = log(%x)
  %e = sin(%x)
  %g = pow(%x, %y)
  %h = sqrt(%x)
  %i = div(%x, %y)
  %j = mod(%x, %y)
  %k = floordiv(%x, %y)
  %l = make_tuple(%a, %b, %c, %d, %e, %g, %h, %i, %j, %k)
  return %l
"""
    program = read(text)
    pool = [0.0, -0.0, 1.0, -8.0, 0.5, 1000.0, -1000.0, math.inf, -math.inf, math.nan, 5e-324, 1e308]
    points = [(x, y) for x in pool for y in pool]
    for found in backend.crosscheck(program, None, points, reference(program), ["python", "cpu"]):
        assert found.bitwise == len(points)


def test_code_grows_with_the_program_and_not_with_the_paths_through_it() -> None:
    lines = ["program @f", "@f(%x: f64):", "  %c0 = lt(%x, 0.0)", "  %v0 = switch(%c0, %x, 1.0)"]
    for i in range(1, 60):
        lines += [f"  %w{i} = switch(%c0, %v{i - 1}, 2.0)", f"  %v{i} = switch(%c0, %w{i}, %v{i - 1})"]
    program = read("\n".join([*lines, "  return %v59"]))
    compiled = backend.compile(program, None, "python", optimize=False)
    assert len(compiled.code.source) < 20_000
    assert (compiled(-3.0), compiled(3.0)) == (run(program, -3.0), run(program, 3.0))


def test_calls_nest_deeper_than_pythons_stack() -> None:
    lines = ["program @f", "@f(%x: f64):", "  %r = @g0(%x)", "  return %r"]
    for i in range(1500):
        inner = f"@g{i + 1}(%x{i})" if i < 1499 else f"add(%x{i}, 1.0)"
        lines += [f"@g{i}(%x{i}):", f"  %a{i} = {inner}", f"  %b{i} = mul(%a{i}, 0.5)", f"  return %b{i}"]
    program = read("\n".join(lines))
    assert backend.compile(program, None, "python", optimize=False)(1.0) == run(program, 1.0)


def test_code_that_nests_too_deep_for_python_is_refused() -> None:
    lines = ["program @f", "@f(%x: f64):", "  %r = @g0(%x)", "  return %r"]
    for i in range(100):
        deeper = [f"  %z{i} = @g{i + 1}(%x{i})", f"  return %z{i}"] if i < 99 else ["  return 0.0"]
        lines += [f"@g{i}(%x{i}):", f"  %c{i} = lt(%x{i}, {i}.5)", f"  %t{i} = switch(%c{i}, @h{i}, @k{i})"]
        lines += [f"  %r{i} = %t{i}()", f"  return %r{i}", f"@h{i}():", f"  return %x{i}", f"@k{i}():", *deeper]
    with pytest.raises(Malformed, match="nests more than"):
        backend.compile(read("\n".join(lines)), None, "python", optimize=False)
