"""Functions of generated code over vectors and matrices, drawn: loops that write, sum, scatter and go backwards, in any order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from backend import toolchain

N = "a0.shape[0]"
VECTORS = ("a0", "a1")


def _filled(shape: Any, dtype: Any) -> Any:
    """New memory, full of what nobody wants."""
    return np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -99, dtype)


def executed(text: str, *arguments: Any) -> tuple[Any, ...]:
    """What the function gives when CPython runs it, and memory that nothing has been written to is full of NaN."""
    names: dict[str, Any] = {**toolchain.bindings("python", ""), "_empty": _filled}
    exec(text, names)  # a text of the tests
    with np.errstate(all="ignore"):
        found: tuple[Any, ...] = names["kernel"](*arguments, 100, 1.0)
    return found


def through(change: Callable[[ast.FunctionDef], object], text: str) -> str:
    """The text of a function that a pass has changed in place."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    change(function)
    return ast.unparse(ast.fix_missing_locations(function))


def stays(change: Callable[[ast.FunctionDef], object], text: str, numbers: list[float]) -> bool:
    """Whether a function of two vectors, these numbers and those in reverse, gives the same bits when a pass has changed it."""
    x = np.array(numbers)
    return bits(executed(through(change, text), x, x[::-1].copy())) == bits(executed(text, x, x[::-1].copy()))


def bits(values: tuple[Any, ...]) -> list[bytes]:
    """The bits of every array and number; there is one NaN, as in the language, and the sign of it is that of the processor."""
    return [np.where(np.isnan(a), np.nan, a).tobytes() if a.dtype.kind == "f" else a.tobytes() for a in map(np.asarray, values)]


@st.composite
def functions(draw: st.DrawFn) -> str:
    """A function of two vectors of one size, which gives back vectors, matrices and numbers."""
    vectors, matrices, numbers, lines = [*VECTORS], [], ["1.5"], []  # type: ignore[var-annotated]
    for at in range(draw(st.integers(1, 9))):
        u, v = draw(st.sampled_from(vectors)), draw(st.sampled_from(vectors))
        s = draw(st.sampled_from(numbers))
        k, i, j, new = f"k{3 * at}", f"k{3 * at + 1}", f"k{3 * at + 2}", f"a{at + 2}_"
        place = draw(st.sampled_from((k, k, k, f"{N} - 1 - {k}", "0")))
        own = [n for n in vectors if n not in VECTORS]
        kinds = [
            "row",
            "row",
            "row",
            "sum",
            "outer",
            *(("fill", "bump", "add", "view", "copy", "copy") if own else ()),
            *(("lines",) if matrices else ()),
        ]
        match draw(st.sampled_from(kinds)):
            case "row":
                lines += [f"{new} = _empty(({N},), _f64)", f"for {k} in range({N}):"]
                lines += [f"    x{at} = {u}[{k}] * {s}", f"    {new}[{k}] = x{at} + {v}[{place}]"]
                vectors.append(new)
            case "sum":
                lines += [f"x{at} = -0.0", f"for {k} in range({N}):", f"    x{at} = x{at} + {u}[{place}]"]
                numbers.append(f"x{at}")
            case "outer":
                lines += [f"{new} = _empty(({N}, {N}), _f64)", f"for {i} in range({N}):", f"    for {j} in range({N}):"]
                lines += [f"        {new}[{i}, {j}] = {u}[{i}] - {v}[{j}]"]
                matrices.append(new)
            case "lines":
                m, order = draw(st.sampled_from(matrices)), draw(st.sampled_from((f"{i}, {j}", f"{j}, {i}")))
                lines += [f"{new} = _full(({N},), -0.0, _f64)", f"for {i} in range({N}):", f"    for {j} in range({N}):"]
                lines += [f"        {new}[{draw(st.sampled_from((i, j)))}] = {new}[{i}] + {m}[{order}]"]
                vectors.append(new)
            case "fill":
                lines += [f"for {k} in range({N}):", f"    {draw(st.sampled_from(own))}[{place}] = {u}[{k}]"]
            case "bump":
                t = draw(st.sampled_from(own))
                lines += [f"{t}[0] = {t}[0] + {s}"]
            case "add":
                t = draw(st.sampled_from(own))
                lines += [f"for {k} in range({N}):", f"    {t}[{k}] = {t}[{k}] + {u}[{place}]"]
            case "copy":
                lines += [
                    f"{new} = _empty(({N},), _f64)",
                    f"for {k} in range({N}):",
                    f"    {new}[{k}] = float({draw(st.sampled_from(own))}[{k}])",
                ]
                lines += [f"{new}[1] = {s}"]
                vectors.append(new)
            case "view":
                lines += [f"{new} = _reshape({draw(st.sampled_from(own))}, ({N},))"]
                vectors.append(new)
    given = draw(st.lists(st.sampled_from([*vectors, *matrices, *numbers]), min_size=1, max_size=4, unique=True))
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {x}" for x in lines), f"    return ({', '.join(given)}, fuel, 0)"])


@st.composite
def updates(draw: st.DrawFn) -> str:
    """
    A loop of four turns that carries a vector, and a number that it reads from there. A turn copies the vector, sets an element of
    the copy, reads both before and after, and goes on with the copy, sometimes, or with another vector.
    """
    copy = ["c = _empty((b.shape[0],), _f64)", "for k in range(b.shape[0]):", "    c[k] = float(b[k])"]
    reads = st.sampled_from(
        [[], [], ["x = x + b[1]"], ["x = x + c[0]"], ["d = c", "x = x - d[2]"], ["e = _reshape(b, (b.shape[0],))"]]
    )
    before = draw(st.sampled_from([[], ["x = x + b[0]"], ["e = b"]]))
    own = draw(
        st.sampled_from([["f = a0"], ["f = _full((a0.shape[0],), 2.0, _f64)"], ["f = _full((a0.shape[0],), 2.0, _f64)", "g = f"]])
    )
    goes = draw(
        st.sampled_from([["b, x = (c, x * 0.5)"], ["b = c"], ["if x > 0.0:", "    b = c"], ["b = a1"], ["b = c", "x = x + b[3]"]])
    )
    after = draw(st.sampled_from(["(b, x", "(c, x", "(b, f", "(x, a0"]))
    turn = [*before, *copy, f"c[{draw(st.sampled_from(('i', '0')))}] = x + 1.0", *draw(reads), *goes, "i = i + 1"]
    lines = [*own, "c = a1", "i = 0", "x = 0.25", "b = f"] if draw(st.booleans()) else [*own, "i = 0", "x = 0.25", "b = f"]
    loop = ["while True:", "    if i == 4:", f"        return {after}, fuel, 0)", *(f"    {x}" for x in turn), "    continue"]
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {x}" for x in (*lines, *loop))])


@st.composite
def carried(draw: st.DrawFn) -> str:
    """
    A loop of four turns, and loops in it, that carry three vectors from branch to branch and turn to turn: a vector is copied and
    an element of the copy set, names are given to others, and elements are read in between. Some loops leave a note of where they
    are left, which is read after them. Some vectors are parts of the memory of stacks, which stays as it is.
    """
    count = 0
    name = st.sampled_from(("b", "c", "d"))
    first = st.sampled_from(("a0", "_full((a0.shape[0],), 2.0, _f64)", "_full((a0.shape[0],), 1.0, _f64)", "b"))

    def block(depth: int) -> list[str]:
        nonlocal count
        lines: list[str] = []
        for _ in range(draw(st.integers(1, 4))):
            t, s, u = draw(name), draw(name), draw(name)
            kind = draw(
                st.sampled_from(
                    (
                        "copy",
                        "copy",
                        "copy",
                        "own",
                        "own",
                        "kept",
                        "read",
                        "move",
                        "swap",
                        "choice",
                        *("if", "loop", "noted")[: 3 * depth],
                    )
                )
            )
            count += 1
            match kind:
                case "own":
                    lines += [f"e = _empty(({s}.shape[0],), _f64)", f"for k{count} in range({s}.shape[0]):"]
                    lines += [f"    e[k{count}] = float({s}[k{count}])", f"e[i % 4] = x + {count}.0", f"{s} = e"]
                case "kept":
                    lines += [f"v{count} = reals[2:6]", f"{t} = v{count}"]
                    lines += [f"x = 0.5 * x + v{count}[1]"] if draw(st.booleans()) else []
                case "copy" if t != s:
                    lines += [f"{t} = _empty(({s}.shape[0],), _f64)", f"for k{count} in range({s}.shape[0]):"]
                    lines += [f"    {t}[k{count}] = float({s}[k{count}])", f"{t}[i % 4] = x + {count}.0"]
                case "read":
                    lines += [f"x = 0.5 * x + {s}[{draw(st.sampled_from(('i % 4', '0')))}]"]
                case "move":
                    lines += [f"{t} = {s}"]
                case "swap" if t != s:
                    lines += [f"({t}, {s}) = ({s}, {u})"]
                case "choice":
                    lines += [f"{t} = {s} if x > 1.5 else {u}"]
                case "if":
                    end = draw(st.sampled_from(([], [], [], ["i = i + 1", "continue"], ["break"])))
                    lines += [f"if x > {count}.0 or i == 2:", *(f"    {x}" for x in (*block(depth - 1), *end))]
                    lines += ["else:", *(f"    {x}" for x in block(depth - 1))] if draw(st.booleans()) else []
                case "loop":
                    body = [*block(depth - 1), "x = x + 1.0", "i = min(i + 1, 3)"]
                    lines += [
                        f"m{count} = 0",
                        "while True:",
                        f"    if m{count} == 2:",
                        "        break",
                        f"    m{count} = m{count} + 1",
                    ]
                    lines += [f"    {x}" for x in body]
                case "noted":
                    lines += [f"m{count} = 0", "while True:", f"    if m{count} == 2:", *(f"        {x}" for x in block(0))]
                    lines += ["        _go = 1", "        break", f"    m{count} = m{count} + 1", f"    if x > {count}.0:"]
                    lines += [*(f"        {x}" for x in block(0)), "        _go = 2", "        break"]
                    lines += [*(f"    {x}" for x in (*block(depth - 1), "x = x + 1.0", "i = min(i + 1, 3)"))]
                    lines += [f"if _go {draw(st.sampled_from(('==', '!=')))} {draw(st.sampled_from((1, 2, 3)))}:"]
                    lines += [f"    {x}" for x in (*block(depth - 1), *draw(st.sampled_from(([], ["break"]))))]
        return lines or ["pass"]

    start = [f"b = {draw(st.sampled_from(('a0', '_full((a0.shape[0],), 3.0, _f64)')))}", f"c = {draw(first)}", f"d = {draw(first)}"]
    loop = ["while True:", "    if i > 3:", "        break", *(f"    {x}" for x in block(2)), "    i = i + 1", "    x = x - 1.0"]
    ends = draw(st.sampled_from(("b, c, d, x", "b, x, x", "d, c, x"))) + ", reals[2], reals[3], reals[4], reals[5]"
    lines = ["reals = _full((8,), 7.0, _f64)", *start, "_go = 0", "i = 0", "x = 0.25", *loop, f"return ({ends}, fuel, 0)"]
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {x}" for x in lines)])


@st.composite
def sums(draw: st.DrawFn) -> str:
    """
    A loop of three turns that carries three vectors: a turn makes new ones, each a sum of two that are there, a copy in which
    an element is set, or neither, reads elements, and passes some on, by a branch that may go on at once or leave the loop.
    """
    count = 1
    start = ["b = a0", f"c = _full(({N},), 2.0, _f64)", "d = c"]

    def block(there: list[str], depth: int) -> tuple[list[str], list[str]]:
        nonlocal count
        lines: list[str] = []
        for _ in range(draw(st.integers(1, 4))):
            count += 1
            new, k, s, u = f"a{count}_", f"k{count}", draw(st.sampled_from(there)), draw(st.sampled_from(there))
            kind = draw(st.sampled_from(("sum", "sum", "sum", "set", "other", "read", *("if",) * depth)))
            if kind in ("sum", "set", "other"):
                element = {"sum": f"{s}[{k}] + {u}[{draw(st.sampled_from((k, '0')))}]", "set": f"float({s}[{k}])"}
                lines += [f"{new} = _empty(({N},), _f64)", f"for {k} in range({N}):"]
                lines += [f"    {new}[{k}] = {element.get(kind, f'{s}[{N} - 1 - {k}] * x')}"]
                lines += [f"{new}[i] = x"] * (kind == "set")
                there = [*there, new]
            elif kind == "read":
                lines += [f"x = 0.5 * x + {s}[{draw(st.sampled_from(('0', 'i')))}]"]
            else:
                (one, its), (other, others) = block(there, depth - 1), block(there, depth - 1)
                end = draw(st.sampled_from(([f"{new} = {its[-1]}"], ["break"], ["i = i + 1", "continue"])))
                lines += [f"if x > {s}[0]:", *(f"    {x}" for x in (*one, *(passed(its) if len(end) > 1 else []), *end))]
                lines += ["else:", *(f"    {x}" for x in (*other, f"{new} = {others[-1]}"))]
                there = [*there, new]
        return lines, there

    def passed(there: list[str]) -> list[str]:
        last = st.sampled_from((there * 3)[-6:])
        return [draw(st.sampled_from((f"(b, c, d) = ({draw(last)}, {draw(last)}, {draw(last)})", f"(b, d) = ({draw(last)}, c)")))]

    body, there = block(["b", "c", "d"], 2)
    lines = [*start, "i = 0", "x = 0.25", "while i < 3:", *(f"    {x}" for x in (*body, *passed(there), "i = i + 1"))]
    return "\n".join(["def kernel(a0, a1, fuel, one):", *(f"    {x}" for x in (*lines, "return (b, c, d, x, fuel, 0)"))])
