"""Families of programs that grow with n, the number of their lines or less, for the measurements of the transforms."""

from __future__ import annotations

import math
from collections.abc import Callable


def straight_line(n: int) -> str:
    """n statements in a row."""
    body = "\n".join(f"    y = math.sin(y) * x + {i % 7}.0" for i in range(n))
    return f"import math\n\ndef f(x):\n    y = x\n{body}\n    return y\n"


def fan_out(n: int) -> str:
    """One variable that is used n times."""
    body = "\n".join(f"    y = y + x * {i % 7}.0" for i in range(n))
    return f"def f(x):\n    y = 0.0\n{body}\n    return y\n"


def wide_tuple(n: int) -> str:
    """A tuple of n elements, of which three are read."""
    items = ", ".join(f"x * {i}.0" for i in range(n))
    return f"def f(x):\n    t = ({items})\n    return t[0] + t[{n // 2}] + t[{n - 1}]\n"


def functions(n: int) -> str:
    """n / 2 functions, each calling the one before."""
    made = ["def f0(x):\n    return x * 2.0\n"]
    made += [f"def f{i}(x):\n    return f{i - 1}(x * {i % 7}.5) + 1.0\n" for i in range(1, n // 2)]
    return "\n".join(made) + f"\ndef f(x):\n    return f{n // 2 - 1}(x)\n"


def calls(n: int) -> str:
    """n calls of one function."""
    body = "\n".join(f"    y = g(y, {i % 7}.0)" for i in range(n))
    return f"def g(a, b):\n    return a * b + 1.0\n\ndef f(x):\n    y = x\n{body}\n    return y\n"


def closures(n: int) -> str:
    """n closures, each capturing the one before."""
    made = ["    c0 = lambda y: y * x", *(f"    c{i} = lambda y: c{i - 1}(y) * {i % 7}.5" for i in range(1, n))]
    return "def f(x):\n" + "\n".join(made) + f"\n    return c{n - 1}(x)\n"


def ifs(n: int) -> str:
    """n / 4 conditionals, one after another."""
    body = "\n".join(f"    if y > {i % 7}.0:\n        y = y * x\n    else:\n        y = y + {i % 5}.0" for i in range(n // 4))
    return f"def f(x):\n    y = x\n{body}\n    return y\n"


def nested_ifs(n: int) -> str:
    """A binary tree of conditionals with about n / 4 leaves."""
    lines: list[str] = []

    def grow(depth: int, pad: str, number: int) -> None:
        if depth == 0:
            lines.append(f"{pad}y = y * x + {number % 7}.0")
            return
        lines.append(f"{pad}if y > {number % 11}.0:")
        grow(depth - 1, pad + "    ", 2 * number)
        lines.append(f"{pad}else:")
        grow(depth - 1, pad + "    ", 2 * number + 1)

    grow(max(1, int(math.log2(n / 4))), "    ", 1)
    return "def f(x):\n    y = x\n" + "\n".join(lines) + "\n    return y\n"


def loops(n: int) -> str:
    """n / 4 loops, one after another."""
    body = "\n".join(f"    for i in range(3):\n        y = y * x + {i % 7}.0" for i in range(n // 4))
    return f"def f(x):\n    y = x\n{body}\n    return y\n"


FAMILIES: tuple[Callable[[int], str], ...] = (
    straight_line,
    fan_out,
    wide_tuple,
    functions,
    calls,
    closures,
    ifs,
    nested_ifs,
    loops,
)
