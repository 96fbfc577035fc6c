"""Memory used again, and updates in place: no bit changes, no argument is written to, and what is still alive keeps its memory."""

from __future__ import annotations

import ast
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from loop_texts import bits, carried, executed, functions, updates
from test_backend_arrays import types_of
from test_backend_stack_arrays import agrees as agrees_with
from test_backend_stack_arrays import compiled

from adjudge.functions import parse
from backend.arrays import effects, in_place, mentioned, reuse, walking
from backend.arrays.in_place import updated
from backend.arrays.ownership import Ownership
from backend.arrays.reuse import reused
from bench.gradbench_programs.det import determinant
from semantics.type_language import INTEGER
from transforms.gradient_programs import calling

X, Y = np.array([1.5, -0.0, 2.0, -7.25]), np.array([0.1, 3.0, -2.0, 5.0])


def kernel(*lines: str) -> str:
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {line}" for line in lines)])


def thrifty(text: str) -> str:
    """The text after the two passes of this file alone."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    function = updated(function)
    reused(function)
    return ast.unparse(ast.fix_missing_locations(function))


def agrees(text: str) -> bool:
    """Whether the same bits come out, all results are still apart from the arguments, and the arguments are as they were."""
    x, y = X.copy(), Y.copy()
    found, wanted = (outcome(t, *given) for t, given in ((thrifty(text), (x, y)), (text, (X.copy(), Y.copy()))))
    return found == wanted and (x.tobytes(), y.tobytes()) == (X.tobytes(), Y.tobytes())


def outcome(text: str, *arguments: Any) -> list[bytes]:
    try:
        return bits(executed(text, *arguments))
    except UnboundLocalError:  # a name that no turn has assigned yet
        return []


@given(functions())
def test_memory_is_used_again_without_a_change(text: str) -> None:
    assert agrees(text), thrifty(text)
    event(f"{text.count('_empty(') - thrifty(text).count('_empty(')} arrays fewer")


@given(updates())
def test_updates_in_place_change_no_bit(text: str) -> None:
    assert agrees(text), thrifty(text)
    event("in place" if "c = b" in thrifty(text) else "copied")


@given(carried())
def test_so_do_those_through_branches_and_loops_in_loops(text: str) -> None:
    assert agrees(text), thrifty(text)
    event("in place" if thrifty(text).count("_empty(") < text.count("_empty(") else "copied")


ARRAY = ("b = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", "    b[k] = a0[k] * 2.0")
NEXT = ("c = _empty((a0.shape[0],), _f64)", "for i in range(a0.shape[0]):", "    c[i] = a1[i] - 1.0")
SUM = ("s = 0.0", "for j in range(a0.shape[0]):", "    s = s + b[j]")


def test_an_array_that_is_dead_gives_its_memory() -> None:
    text = kernel(*ARRAY, *SUM, *NEXT, "return (c, s, fuel, 0)")
    assert "c = b" in thrifty(text)
    assert agrees(text)
    step = kernel(*ARRAY, *NEXT[:2], "    c[i] = b[i] - 1.0", "return (c, fuel, 0)")
    assert "c = b" in thrifty(step)
    assert agrees(step)


RENAMED = ("s = s + c[0]", "b = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", "    b[k] = {} * 2.0", "{}")
COPIED = ("c = _empty((a0.shape[0],), _f64)", "for k in range(a0.shape[0]):", "    c[k] = b[k]", "c[i] = 1.0", "i = i + 1")
BETWEEN = {"it is read": ("c[3 - k]", "pass", 0), "the next turn does": ("a1[k]", "if i == 1: i = 2; continue", 0)}


@pytest.mark.parametrize(("read", "gone", "less"), [*BETWEEN.values(), ("a1[k]", "pass", 1)], ids=[*BETWEEN, "a near miss"])
def test_an_array_has_not_the_name_of_its_copy_where_that_stands_for_another(read: str, gone: str, less: int) -> None:
    """A regression: the older array was read by a name that was the newer one's by then."""
    turn = "\n    ".join([*RENAMED, *COPIED]).format(read, gone).split("\n")
    first = "c, s, i = (_full((a0.shape[0],), 2.0, _f64), 0.0, 0)"
    text = kernel(first, "while i < 4:", f"    {turn[0]}", *turn[1:], "return (c, s)")
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    found = ast.unparse(ast.fix_missing_locations(updated(function)))
    assert bits(executed(found, X, Y)) == bits(executed(text, X, Y))
    assert text.count("b = ") - found.count("b = ") == less


@pytest.mark.parametrize(("written", "arrays"), [("integers[0] = 2", 2), ("reals[0] = x", 2), ("pass", 1)])
def test_a_size_that_was_tested_is_another_where_the_memory_it_is_read_from_was_written_to(written: str, arrays: int) -> None:
    test, made = "if b.shape[0] != integers[0]: return (fuel, 16)", "c = _empty((integers[0],), _f64)"
    copy = ["for j in range(integers[0]):", "    c[j] = b[j]", "c[0] = 1.0", "return (c, fuel, 0)"]
    assert thrifty(kernel(*ARRAY, "x = b[0]", test, written, made, *copy)).count("_empty(") == arrays


ALIVE = {
    "read after": (*ARRAY, *NEXT, *SUM, "return (c, s, fuel, 0)"),
    "given out": (*ARRAY, *NEXT, "return (c, b, fuel, 0)"),
    "through a view": (*ARRAY, "v = _reshape(b, (2, 2))", *NEXT, "return (c, v, fuel, 0)"),
    "of another turn": (*ARRAY, *NEXT[:2], "    c[i] = b[a0.shape[0] - 1 - i]", "return (c, fuel, 0)"),
    "of another turn, through a view": (*ARRAY, "v = _reshape(b, (4,))", *NEXT[:2], "    c[i] = v[3 - i]", "return (c, fuel, 0)"),
    "read after it is written": (*ARRAY, *NEXT, "    c[i] = c[i] + b[i]", "return (c, fuel, 0)"),
    "of the caller": ("b = a0", *NEXT, "return (c, fuel, 0)"),
    "of another size": (*ARRAY, "c = _empty((2 * a0.shape[0],), _f64)", *NEXT[1:], "return (c[:4], fuel, 0)"),
}


@pytest.mark.parametrize("case", ALIVE)
def test_an_array_that_is_alive_keeps_its_memory(case: str) -> None:
    text = kernel(*ALIVE[case])
    assert "c = b" not in thrifty(text)
    assert agrees(text)


@pytest.mark.parametrize("case", ["read after", "through a view", "given out"])
def test_a_reuse_while_something_is_alive_is_caught(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reuse, "_is_free", lambda *_: True)
    assert not agrees(kernel(*ALIVE[case]))


BRANCH = (
    "if s > 0.0:",
    "    d = {}",
    "    for k in range(a0.shape[0]):",
    "        d[k] = d[k] + s",
    "    c = d",
    "else:",
    "    c = a1",
)
DEEP = ("if s > -1.0:", *(f"    {line}" for line in BRANCH), "else:", "    c = a1")
BRANCHES = {
    "a branch": (*ARRAY, *SUM, *BRANCH),
    "a branch in a branch": (*ARRAY, *SUM, *DEEP),
    "one of two": (*ARRAY, *SUM, *BRANCH[:-1], "    e = {}", "    e[0] = s", "    c = e"),
    "two arrays": (*ARRAY, *SUM, *BRANCH[:2], "    e = {}", "    e[0] = d[1]", *BRANCH[2:4], "    c = e", *BRANCH[5:]),
}
KEPT = {
    "read after the branch": (*ARRAY, *SUM, *BRANCH, "s = s + b[0]"),
    "read in the branch": (*ARRAY, *SUM, *BRANCH[:4], "    d[0] = b[1]", *BRANCH[4:]),
    "asked in the test": (*ARRAY, *SUM, "if b[0] > 0.0:", *BRANCH[1:]),
    "of every turn": ("i = 0", "while i < 2:", *(f"    {line}" for line in (*ARRAY, *SUM, *BRANCH)), "    i = i + 1"),
}
FULL = "_full((a0.shape[0],), -1.5, _f64)"


@pytest.mark.parametrize("case", BRANCHES)
def test_a_branch_has_the_memory_of_what_is_dead_before_it(case: str) -> None:
    text = kernel(*(line.format(FULL) for line in BRANCHES[case]), "return (c, s, fuel, 0)")
    assert thrifty(text).count(" = b\n") == 1
    assert agrees(text)


@pytest.mark.parametrize("case", KEPT)
def test_it_has_not_that_of_what_is_alive_or_made_in_every_turn(case: str) -> None:
    text = kernel(*(line.format(FULL) for line in KEPT[case]), "return (c, s, fuel, 0)")
    assert " = b\n" not in thrifty(text)
    assert agrees(text)


LOOP = (
    "b = _full((a0.shape[0],), 2.0, _f64)",
    "i = 0",
    "while True:",
    "    if i == a0.shape[0]:",
    "        return (b, fuel, 0)",
    "    c = _empty((b.shape[0],), _f64)",
    "    for k in range(b.shape[0]):",
    "        c[k] = float(b[k])",
    "    c[i] = a0[i]",
)


def test_an_update_in_a_loop_is_made_in_place_and_an_argument_is_copied_first() -> None:
    text = kernel(*("f = a0" if n == 0 else line for n, line in enumerate(LOOP)), "    i, b = (i + 1, c)", "    continue")
    text = text.replace("i = 0", "i = 0\n    b = f", 1)
    assert agrees(text)
    assert "c = b" in thrifty(text)
    read = text.replace("    c[i] = a0[i]", "    c[i] = b[0]")  # the old array, after the copy
    assert "c = b" not in thrifty(read)
    dropped = text.replace(
        "    i, b = (i + 1, c)", "    i = i + 1\n        if i > 2:\n            b = c"
    )  # goes on with the old one
    assert "c = b" not in thrifty(dropped)
    assert agrees(dropped)


def test_an_update_in_a_loop_that_may_end_with_a_status_is_made_in_place() -> None:
    text = kernel("b = a0", *LOOP[1:], "    i, b = (i + 1, c)", "    continue").replace("a0[i]", "a1[i]")
    store = "    c[i] = a1[i]\n"
    assert store in text
    ended = text.replace(store, f"    if i >= b.shape[0]:\n            return (a0, 0.0, fuel, 16)\n    {store}")
    assert "c = b" in thrifty(ended)
    assert agrees(ended)
    given = ended.replace("return (a0, 0.0, fuel, 16)", "return (c, 0.0, fuel, 16)")
    assert "c = b" in thrifty(given)
    assert agrees(given)
    for kept in ("return (b, 0.0, fuel, 16)", "continue"):  # the old array lives on
        assert "c = b" not in thrifty(ended.replace("return (a0, 0.0, fuel, 16)", kept))


def test_two_updates_of_one_array_in_a_turn_are_made_in_place() -> None:
    second = (
        "    d = _empty((b.shape[0],), _f64)",
        "    for k in range(b.shape[0]):",
        "        d[k] = float(c[k])",
        "    d[i] = d[i] + 1.0",
        "    i, b = (i + 1, d)",
        "    continue",
    )
    text = kernel("b = a0", *LOOP[1:], *second).replace("c[i] = a0[i]", "c[i] = a1[i]")
    assert "d = b" in thrifty(text)
    assert "c = " not in thrifty(text)
    assert agrees(text)


def test_a_pass_that_does_not_know_of_other_names_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    head = (
        "f = _full((a0.shape[0],), 2.0, _f64)",
        "b = f",
        "i = 0",
        "s = 0.0",
        *LOOP[2:4],
        "        return (b, s, fuel, 0)",
        "    d = b",
    )
    text = kernel(*head, *LOOP[5:], "    s = s + d[i]", "    i, b = (i + 1, c)", "    continue")
    assert agrees(text)
    monkeypatch.setattr(Ownership, "_live", lambda *_: 0)
    assert not agrees(text)


def test_what_a_loop_does_not_own_it_does_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    text = kernel("b = a0", *LOOP[1:], "    i, b = (i + 1, c)", "    continue").replace("a0[i]", "a1[i]")
    assert agrees(text)
    assert "c = b" in thrifty(text)
    monkeypatch.setattr(in_place, "_copied_first", lambda *_: [])
    assert not agrees(text)


def framed(move: str = "b = v", after: str = "pass", size: str = "b.shape[0]", guard: str = "pass") -> str:
    """A loop that goes on with a vector of a frame in some turns, and sets an element of a copy of what it has in all."""
    memory = ("reals = _full((8,), 7.0, _f64)", "b = _full((a0.shape[0],), 2.0, _f64)", "i, x = (0, 0.0)", "while i < 4:")
    lines = ["if i == 2:", "    v = reals[2:6]", f"    {move}", guard, f"c = _empty(({size},), _f64)"]
    lines += [f"for k in range({size}):", "    c[k] = float(b[k])", "c[i] = a0[i] + c[0]", after, "i, b = (i + 1, c)"]
    return kernel("v = a0", *memory, *(f"    {line}" for line in lines), "return (b, x, reals[2], reals[3], reals[4], reals[5])")


def test_what_a_frame_keeps_is_copied_where_it_is_gone_on_with() -> None:
    found = thrifty(framed())
    assert "c = b\n" in found
    assert found.index("v = vown") < found.index("b = v\n")
    assert agrees(framed())


@pytest.mark.parametrize(
    "text",
    [framed(after="x = x + v[0]"), framed(after="x = x + b[0]"), framed("x = v[1]"), framed("b = a1; v[0] = 3.0")],
    ids=["the frame is read again", "so is the old vector", "its elements alone are read", "another is gone on with"],
)
def test_else_nothing_of_a_frame_is_copied(text: str) -> None:
    assert "vown" not in thrifty(text)
    assert agrees(text)


def test_a_frame_that_is_written_to_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place, "_copied_first", lambda *_: [])
    assert not agrees(framed())


def test_the_sensitivities_of_a_recursion_are_added_in_place() -> None:
    """
    Frames keep them; the sum of a turn takes the memory of what a frame kept, numbers and mask, which nobody has once the frame is
    taken off, and so nothing is copied. The second sum adds one element, for which no array is made but where there is no other.
    """
    program = calling(parse(determinant), "value_and_grad", 0, (*types_of((X,)), INTEGER))
    code, reference = compiled(program, (*types_of((X,)), INTEGER))
    sums = re.findall(r"( +)(a\d+_) = (a\d+_)\n(?:\1.*\n)*?\1    x\d+ = .*float\(\2\[", code.code.alone)
    assert len(sums) == 2
    assert not re.findall(r"a\d+_own = |= _empty\(\(a\d+_\.shape\[0\],\), _bool\)", code.code.alone)
    (at,) = re.findall(r"= float\(a\d+_\[(i\d+)\]\) \+ x\d+\n +if not a\d+_\[\1\]:", code.code.alone)
    (begun,) = re.findall(r"(a\d+_)\[\1k\] = -0\.0", code.code.alone)
    assert code.code.alone.count(f"{begun}[") - 1 == code.code.alone.count(f"{begun}[{at}] = ") == 1
    assert agrees_with(code, reference, X, 2)


def test_sizes_that_a_test_shows_to_be_one_are() -> None:
    wanted, tested = "a1.shape[0]", "if a1.shape[0] != b.shape[0]: return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)"
    assert "c = b\n" in thrifty(framed(size=wanted, guard=tested))
    assert agrees(framed(size=wanted, guard=tested))
    for near in ("pass", tested.replace("!=", "=="), f"{tested}; b = _full((9,), 1.0, _f64)", tested.replace("b.", "c.")):
        assert "c = b\n" not in thrifty(framed(size=wanted, guard=near.replace("; ", "\n        ")))


def walks(copies: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the whole of a function is walked that makes so many copies, none of which may be left out."""
    lines = [
        line
        for i in range(copies)
        for line in (
            f"c{i} = _empty((a0.shape[0],), _f64)",
            "for k in range(a0.shape[0]):",
            f"    c{i}[k] = a0[k]",
            f"c{i}[0] = 1.0",
        )
    ]
    function = ast.parse(kernel(*lines, "return (0, 0, fuel)")).body[0]
    assert isinstance(function, ast.FunctionDef)
    walk, whole = walking.walk, []

    def counted(node: ast.AST) -> Any:
        whole.extend([node] * isinstance(node, ast.FunctionDef))
        return walk(node)

    with monkeypatch.context() as patch:
        for module in (effects, mentioned):
            patch.setattr(module, "walk", counted)
        updated(function)
    return len(whole)


def test_the_whole_function_is_not_walked_for_every_copy_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = walks(in_place.RENAMED, monkeypatch), walks(4 * in_place.RENAMED, monkeypatch)
    assert 0 < few <= many <= few + 5, "a walk more for the last look, but none for each copy that is not looked at"
