"""What is done before code runs grows as the program does: counted, so that no clock is asked."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from backend import general
from backend.arrays import fusion, tightening, walking
from backend.arrays.effects import Effects, Reader
from backend.lowering import emit
from backend.lowering import lower as lower_module
from backend.lowering.expansion import LONG
from backend.lowering.first_order import declared, lowered
from backend.lowering.lower import lower
from semantics.errors import AdjudgeError
from semantics.ir import Program
from semantics.text import read
from semantics.type_language import INTEGER, REAL, ArrayType
from transforms import places
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse, parse_text, source
from transforms.pipeline import optimize
from transforms.system import RewriteSystem


def looks(program: Program, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a pass looks at a place while the program is optimized."""
    count = 0
    looked = RewriteSystem._step_at

    def counted(self: RewriteSystem, state: Program, place: int) -> Any:
        nonlocal count
        count += 1
        return looked(self, state, place)

    with monkeypatch.context() as patched:
        patched.setattr(RewriteSystem, "_step_at", counted)
        optimize(program)
    return count


def long_tuple(n: int) -> Program:
    """A tuple of n numbers, whose elements are multiplied one after the other."""
    made = [f"  %p{k} = add(%x, {k}.5)" for k in range(n)]
    taken = [f"  %e{k} = getitem(%t, {k})\n  %m{k + 1} = mul(%m{k}, %e{k})" for k in range(n)]
    whole = f"  %t = make_tuple({', '.join(f'%p{k}' for k in range(n))})"
    return read("\n".join(["program @f", "@f(%x: f64, %m0: f64):", *made, whole, *taken, f"  return %m{n}"]))


def loses_elements(n: int) -> Program:
    """The same, but each element goes through a function that is called once: the whole tuple is handed to each."""
    made = [f"  %p{k} = add(%x, {k}.5)" for k in range(n)]
    taken = [f"  %m{k + 1} = @g{k}(%m{k}, %t)" for k in range(n)]
    whole = f"  %t = make_tuple({', '.join(f'%p{k}' for k in range(n))})"
    lines = ["program @f", "@f(%x: f64, %m0: f64):", *made, whole, *taken, f"  return %m{n}"]
    for k in range(n):
        lines += [f"@g{k}(%a{k}, %u{k}):", f"  %e{k} = getitem(%u{k}, {k})", f"  %r{k} = mul(%a{k}, %e{k})", f"  return %r{k}"]
    return read("\n".join(lines))


pytestmark = pytest.mark.usefixtures("own_store")


@pytest.mark.parametrize("made", [long_tuple, loses_elements])
def test_the_optimizer_looks_four_times_as_often_at_four_times_the_program(
    made: Callable[[int], Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = looks(made(100), monkeypatch), looks(made(400), monkeypatch)
    assert many <= 4 * few


def test_an_optimizer_that_looks_at_all_elements_beside_each_step_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MANY", 10**6)
    few, many = looks(long_tuple(100), monkeypatch), looks(long_tuple(400), monkeypatch)
    assert many > 8 * few


def test_what_neighbourhoods_leave_out_changes_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    program = loses_elements(70)
    near = optimize(program)
    monkeypatch.setattr(places, "MANY", 10**6)
    assert near.canonical == optimize(program).canonical


def test_functions_of_one_file_are_found_by_one_walk_over_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 12
    calls = "\n".join(f"def f{k}(x):\n    return f{k + 1}(x * 2.0) + x\n" for k in range(count))
    path = tmp_path / "many.py"
    path.write_text(f"{calls}\ndef f{count}(x):\n    return x\n")
    found: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), found)
    walked = []
    walk = source.walk

    def counted(tree: ast.AST) -> Any:
        walked.append(type(tree))
        return walk(tree)

    monkeypatch.setattr(source, "walk", counted)
    assert len(parse(found["f0"]).graphs) == count + 1
    assert walked.count(ast.Module) == 1


def leaves_early(x, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        d = x * x - 2.0
        x = x - 0.1 * d
        if np.max(np.abs(d)) < 1e-3:
            break
    return np.sum(x)


def choices(text: str) -> int:
    """The choices in a text of which it is known what is chosen: of these Numba makes blocks, and passes that grow with them."""
    return sum(isinstance(n, ast.IfExp) and isinstance(n.test, ast.Constant) for n in ast.walk(ast.parse(text)))


def test_code_over_arrays_has_no_choice_that_is_made_already(monkeypatch: pytest.MonkeyPatch) -> None:
    types = (general(ArrayType("f64", (3,))), INTEGER)
    program = optimize(expand(calling(parse(leaves_early), "grad", 0, types), "ssa"))
    code = lower(program, types)
    assert choices(code.alone) == 0 < choices(code.source)
    assert " else " in code.alone, "what a run chooses stays"
    monkeypatch.setattr(tightening, "constants", lambda function: None)
    assert choices(lower(program, types).alone) > 0


def straight(count: int, over: str) -> str:
    """A straight line of so many statements, of numbers or arrays."""
    forms = "{x} * x + 0.5", "np.cos({x}) - x", "{x} / (x * x + 2.0)", "np.tanh({x}) * {x}"
    lines = [f"    x{k + 1} = {forms[k % 4].format(x=f'x{k}')}" for k in range(count)]
    return "\n".join(["def f(x):", "    x0 = x", *lines, f"    return {over}(x{count})", ""])


def lines_of(text: str, type: Any) -> list[str]:
    """The generated code of the gradient, line by line."""
    program = expand(calling(parse_text(text, "f", names={"np": np}), "grad", 0, (type,)), "ssa")
    return lower(optimize(declared(program, (type,))), (type,)).alone.splitlines()


def test_generated_code_grows_as_a_straight_line_does() -> None:
    few, many = (len(lines_of(straight(count, "np.sin"), REAL)) for count in (12, 120))
    assert many <= 10 * few


def longest_loop(lines: list[str]) -> int:
    return max(
        sum(isinstance(n, ast.stmt) for n in ast.walk(s)) for s in ast.walk(ast.parse("\n".join(lines))) if isinstance(s, ast.For)
    )


def test_no_loop_grows_longer_than_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM takes the square of the length of a loop: a straight line over arrays is one where that is short, and else several."""
    vector = general(ArrayType("f64", (4,)))
    text = straight(12, "np.sum")
    whole = lines_of(text, vector)
    assert longest_loop(whole) > 50
    monkeypatch.setattr(fusion, "LONGEST", 50)
    assert longest_loop(lines_of(text, vector)) <= 50
    monkeypatch.setattr(fusion, "LONGEST", 2 * longest_loop(whole))
    assert lines_of(text, vector) == whole


def refused(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, AdjudgeError]:
    """How many ways of writing a program are tried before generated code is refused; and why it is."""
    tried: list[Any] = []
    inferred = lower_module._lowered
    with monkeypatch.context() as patched:
        patched.setattr(lower_module, "_lowered", lambda *given, **named: tried.append(given) or inferred(*given, **named))
        with pytest.raises(AdjudgeError) as caught:
            lowered(calling(parse_text(text, "f", names={"np": np}), "grad", 0, (REAL,)), (REAL,))
    return len(tried), caught.value


def test_what_is_too_long_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, "LINES", 40)
    assert (found := refused(straight(30, "np.sin"), monkeypatch))[1].rule == LONG
    assert found[0] == 1


def test_what_nests_too_deep_may_be_written_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emit, "NESTING", 1)
    deep = "def f(x):\n    while x > 1.0:\n        x = x * 0.5\n    return x\n"
    count, error = refused(deep, monkeypatch)
    assert error.rule != LONG
    assert count > 1


def test_what_is_known_of_a_joined_loop_is_what_is_found_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    joined: list[bool] = []
    of_loops, of_effects = fusion.Loops.join, Reader.join

    def looked(self: fusion.Loops, loop: ast.For, first: ast.For, second: ast.For) -> None:
        of_loops(self, loop, first, second)
        joined.append(self.found[id(loop)] == fusion.Loops()._of(loop))

    def read(self: Reader, loop: ast.For, its: Effects, added: list[ast.stmt]) -> None:
        of_effects(self, loop, its, added)
        joined.append(self.found[id(loop)][1] == self._effects(loop))

    monkeypatch.setattr(fusion.Loops, "join", looked)
    monkeypatch.setattr(Reader, "join", read)
    lines_of(straight(12, "np.sum"), general(ArrayType("f64", (4,))))
    assert len(joined) >= 10  # of five joins
    assert all(joined)


def test_the_joining_of_loops_looks_at_each_statement_as_often_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A regression: a loop was walked over again whenever another joined it."""
    vector = general(ArrayType("f64", (4,)))
    walked, seen = fusion.walk, 0

    def counted(node: ast.AST) -> Iterator[ast.AST]:
        nonlocal seen
        for found in walked(node):
            seen += 1
            yield found

    monkeypatch.setattr(fusion, "walk", counted)
    counts = []
    for n in (6, 24):
        seen = 0
        lines_of(straight(n, "np.sum"), vector)
        counts.append(seen)
    assert 0 < counts[1] <= 6 * counts[0]


def sums(count: int) -> str:
    """Statements over arrays, each of which needs sums or elements of what is before it."""
    forms = "np.sin({x}) * x", "{x} + np.sum({x} * x)", "np.tanh({x}) - x[0]", "np.exp(-{x} * {x})"
    lines = [f"    x{k + 1} = {forms[k % 4].format(x=f'x{k}')}" for k in range(count)]
    return "\n".join(["def f(x):", "    x0 = x", *lines, f"    return np.sum(x{count})", ""])


def slices(count: int) -> str:
    """Statements over parts of arrays, some of which are changed."""
    forms = "x[1:-1] = 0.5 * (x[:-2] + x[2:])", "y = np.sin(x[1:]) * x[:-1]", "x = x * np.sum(y)"
    return "\n".join(["def f(x):", "    x = x.copy()", *(f"    {forms[k % 3]}" for k in range(count)), "    return np.sum(x)", ""])


@pytest.mark.parametrize(("program", "few"), [(sums, 12), (slices, 8)])
def test_passes_over_the_text_look_at_each_node_as_often_however_many_there_are(
    program: Callable[[int], str], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """
    Regressions: of each loop it was asked of the whole function which arrays it makes, and what is read after the loop; of each
    copy that is left out, which others there are.
    """
    vector = general(ArrayType("f64", (4,)))
    fields, seen = walking._fields, 0

    def counted(kind: type[ast.AST]) -> tuple[str, ...]:
        nonlocal seen
        seen += 1
        return fields(kind)

    monkeypatch.setattr(walking, "_fields", counted)
    counts = []
    for n in (few, 4 * few):
        seen = 0
        count = len(lines_of(program(n), vector))
        counts.append(seen / count)
    assert 0 < counts[1] <= 1.25 * counts[0]
