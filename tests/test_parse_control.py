"""
Control flow at random, against CPython: loops in loops with break, continue and else, early returns, variables that some path
leaves unbound, closures created on the way. Where CPython finds an unbound variable, the program traps or never needs it.
"""

from __future__ import annotations

import contextlib
import random
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from semantics.errors import IllTyped, Malformed, Trap
from semantics.machine import run
from semantics.values import Unbound, same
from semantics.wellformed import check
from transforms.parse import SYSTEM, initial_text, parse_text

VARIABLES = ("a", "b", "c", "d")


class Writer:
    """Writes a random function `f(a, b)` on integers. Every loop ends: while loops count down a variable of their own."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(a, b):"]
        self.fresh = 0
        self.budget = 20

    def text(self) -> str:
        if self.random.random() < 0.85:
            self.line(1, "c, d = a - 1, 2")
        self.line(1, "p = q = r = abs")
        for _ in range(3):
            self.block(1, loop=False)
        self.line(1, f"return ({', '.join(self.random.sample(VARIABLES, 2))}, {self.expression()})")
        self.line(1, "c = d = 0")  # not reached; makes both names local
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def expression(self) -> str:
        pick = self.random.choice
        x, y = pick(VARIABLES), pick((*VARIABLES, "1", "2", "-3"))
        forms = (
            "{x} + {y}",
            "{x} * 2 - {y}",
            "{y}",
            "{x} % 7",
            "({x} if {x} < {y} else {y})",
            "({x} and {y})",
            "(-{x} if 0 < {x} < {y} else 1)",
            "{x} or 5",
            *("({z} := {x} + 1) - {y}", "({x} and ({z} := {y}))", "({x} if {x} < ({z} := {y}) else ({z} := 1))"),
            *("sum([k * {x} for k in range(3) if k != {y}])", "max((i - {x} for i in (1, {y}, 4)))", "sum((*({x}, {y}), 3)[1:])"),
            *(
                "sum(a * {x} for a, b in zip(({y}, 2), (1, 2)) if b > a)",
                "[*({x}, 1), {y}][::-1][0]",
                "max(map(lambda k: k - {x}, (1, {y})))",
            ),
        )
        return pick(forms).format(x=x, y=y, z=pick(VARIABLES))

    def test(self) -> str:
        pick = self.random.choice
        x, y = pick(VARIABLES), pick((*VARIABLES, "0", "3"))
        plain = ("{x} < {y}", "{x} % 2 == 0", "{x}", "not {x} > {y}", "{x} > 1 and {y} < 5", "0 <= {x} < 9")
        more = (
            *(
                "({z} := {x} - 1) < {y}",
                "{x} > 1 and ({z} := {y}) < 5",
                "{x} < 0 or ({z} := {x} % 3) > 1",
                "0 <= {x} < ({z} := {y} + 1) < 9",
            ),
            *(
                "{x} in (1, {y}, 3)",
                "any(k > {x} for k in (0, {y}))",
                "all([{x} < k for k in range({y} % 4)])",
                "{x} not in range(3)",
            ),
        )
        return pick((*plain, *more)).format(x=x, y=y, z=pick(VARIABLES))

    def block(self, depth: int, loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.budget -= 1
            if depth > 5 or self.budget < 0:
                self.line(depth, f"{self.random.choice(VARIABLES)} = {self.expression()}")
                return
            self.statement(depth, loop)

    def statement(self, depth: int, loop: bool) -> None:
        kinds = [
            "assign",
            "assign",
            "augment",
            "swap",
            "if",
            "if",
            "for",
            "for",
            "while",
            "while",
            "return",
            "def",
        ] + ["break", "continue"] * (2 * loop)
        name = self.random.choice(VARIABLES)
        match self.random.choice(kinds):
            case "assign":
                self.line(depth, f"{name} = {self.expression()}")
            case "augment":
                self.line(depth, f"{name} += {self.expression()}")
            case "swap":
                self.line(depth, f"{name}, {self.random.choice(VARIABLES)} = {self.expression()}, {self.expression()}")
            case "if":
                self.line(depth, f"if {self.test()}:")
                self.block(depth + 1, loop)
                if self.random.random() < 0.3:
                    self.line(depth, f"elif {self.test()}:")
                    self.block(depth + 1, loop)
                if self.random.random() < 0.5:
                    self.line(depth, "else:")
                    self.block(depth + 1, loop)
            case "for":
                bounds = self.random.choice(("3", "1, 4", "4, 0, -2", "abs({0}) % 4", "(1, 5)")).format(name)
                over = bounds if bounds.startswith("(") else f"range({bounds})"
                self.line(depth, f"for {self.random.choice(VARIABLES)} in {over}:")
                self.block(depth + 1, True)
                self.otherwise(depth, loop)
            case "while":
                self.fresh += 1
                counter = f"n{self.fresh}"
                self.line(depth, f"{counter} = {self.random.randint(0, 4)}")
                endless = self.random.random() < 0.3
                self.line(depth, "while True:" if endless else f"while {counter} > 0 and ({self.test()}):")
                self.line(depth + 1, f"{counter} -= 1")
                if endless:
                    self.line(depth + 1, f"if {counter} < 0: break")
                self.block(depth + 1, True)
                self.otherwise(depth, loop)
            case "def":
                self.closure(depth, name, self.random.choice(VARIABLES))
            case "return":
                self.line(depth, f"if {self.test()}: return {self.expression()}")
            case jump:
                if self.random.random() < 0.5:
                    self.line(depth, f"if {self.test()}: {jump}")
                else:
                    self.line(depth, jump)

    def closure(self, depth: int, name: str, other: str) -> None:
        """Creates, moves or calls a function; p, q and r hold functions, all that is captured is a number or one of these."""
        p, q = self.random.choice("pqr"), self.random.choice("pqr")
        self.fresh += 1
        g = f"g{self.fresh}"
        forms = (
            *(f"def {g}(x): return x + {name}; {other} = {g}({name})", f"def {g}(x): return x - {name}; {p} = {g}"),
            *(f"{p} = lambda x: x + {name}", f"{p} = lambda x, {name}={name}: x * {name}", f"{p} = {q}", f"{p} = ({q}, abs)[0]"),
            *(f"{p} = (lambda k: k)({q})", f"def {g}(): return lambda x: x + {name}; {p} = {g}()", f"{name} = {p}({other}) % 9"),
            *(f"{name} = {p}({q}(1)) % 9", f"def {g}(x): return {p}(x) + 1; {name} = {g}({other}) % 9", f"{other} = {p}({name})"),
            *(f"def {g}(x): return {q}(x); {p} = {g}", f"for {p} in ({q}, abs): {name} = {p}({name}) % 9"),
        )
        for line in self.random.choice(forms).split("; "):
            self.line(depth, line)

    def otherwise(self, depth: int, loop: bool) -> None:
        if self.random.random() < 0.3:
            self.line(depth, "else:")
            self.block(depth + 1, loop)


def holds_unbound(value: Any) -> bool:
    return isinstance(value, Unbound) or (isinstance(value, tuple) and any(isinstance(v, Unbound) for v in value))


@settings(max_examples=100)
@given(st.integers(0, 2**40))
def test_simulation_random_control_flow_agrees_with_cpython(seed: int) -> None:
    source = Writer(seed).text()
    try:
        program = parse_text(source, "f")
    except Malformed as error:
        event(f"refused: {error.rule}")
        if error.rule == "capture":
            return
        raise
    check(program)
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    for point in ((0, 0), (1, -2), (5, 3), (-4, 7)):
        try:
            wanted = namespace["f"](*point)
        except NameError:
            event("CPython finds an unbound variable")
            with contextlib.suppress(Trap, IllTyped):
                run(program, *point)
            continue
        found = run(program, *point)
        assert same(found, wanted), f"{found} is not {wanted} at {point}\n{source}\n{program}"
        assert not holds_unbound(found)
        event("same value")


@settings(max_examples=10)
@given(st.integers(0, 2**40))
def test_random_control_flow_steps_by_one_rule_at_a_time(seed: int) -> None:
    source = Writer(seed).text()
    try:
        program = parse_text(source, "f")
    except Malformed:
        return
    assert str(SYSTEM.derive(initial_text(source, "f")).result.program) == str(program)
