"""Programs of loops in loops by index, with choices, drawn: what users write who come from other languages."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

HEADS = {"i": "range(len(x))", "j": "range(len(h))", "k": "range(2)"}
NUMBERS = ("0.5", "-1.0", "h[0]", "h[1]", "s", "t", "c")
BY_INDEX = {"i": ("x[i]", "y[i]", "x[i - 1]", "x[0]"), "j": ("h[j]", "z[j]"), "k": ("h[k]", "x[k - 1]")}
BY_BOTH = ("A[i, j]", "A[i, j - 1]", "x[i - j]", "B[i, j]", "B[i, j - 1]", "B[0, j]")
BY_SUM = ("x[i + k - 1]", "y[i + k - 1]", "x[k + i - 1]")
MATRICES = ("A * 0.5", "numpy.zeros((len(x), len(h)))")
TESTS = ("{0} > 0.0", "{0} < {1}", "i != {2}", "{0} > 0.0 and {1} < 1.0")


@dataclass
class Writer:
    draw: st.DrawFn
    scope: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def term(self) -> str:
        terms = [*NUMBERS, *(term for index in self.scope for term in BY_INDEX[index])]
        terms += [*(BY_BOTH if {"i", "j"} <= {*self.scope} else ()), *(BY_SUM if {"i", "k"} <= {*self.scope} else ())]
        return self.draw(st.sampled_from(terms))

    def value(self) -> str:
        one, other = self.term(), self.term()
        form = self.draw(st.sampled_from(("{0}", "{0} * {1}", "{0} + {1}", "{0} - {1}", "-{0} * {1}", "{0} * {1} * 0.5")))
        return form.format(one, other)

    def target(self) -> str:
        to = ["s", "t", "t", "c", *(["y[i]"] if "i" in self.scope else []), *(["z[j]"] if "j" in self.scope else [])]
        to += ["B[i, j]", "B[i, j]", "B[i, 0]"] if {"i", "j"} <= {*self.scope} else []
        return self.draw(st.sampled_from(to))

    def put(self, line: str, deep: int) -> None:
        self.lines.append("    " * (deep + 1) + line)

    def block(self, deep: int, room: int) -> None:
        for _ in range(self.draw(st.integers(1, room))):
            left = [index for index in HEADS if index not in self.scope]
            kinds = ["set", "add", "add", *(["loop"] * 2 if left and deep < 3 else []), *(["if"] if self.scope else [])]
            match self.draw(st.sampled_from(kinds)):
                case "set":
                    self.put(f"{self.target()} = {self.value()}", deep)
                case "add":
                    to = self.target()
                    self.put(f"{to} = {to} + {self.value()}", deep)
                case "loop":
                    index = self.draw(st.sampled_from(left))
                    self.put(f"for {index} in {HEADS[index]}:", deep)
                    self.scope.append(index)
                    self.block(deep + 1, 3)
                    self.scope.pop()
                case _:
                    index = self.scope[0]
                    test = self.draw(st.sampled_from(TESTS)).replace("i", index, 1).format(self.term(), self.term(), 1)
                    self.put(f"if {test}:", deep)
                    self.block(deep + 1, 2)
                    if self.draw(st.booleans()):
                        self.put("else:", deep)
                        self.block(deep + 1, 2)


@st.composite
def nested_loops(draw: st.DrawFn) -> str:
    """A program of a vector h of two numbers or more, a vector x, and a matrix A of as many rows as x and columns as h."""
    writer = Writer(draw)
    for index in draw(st.lists(st.sampled_from(("i", "j")), min_size=1, max_size=2)):
        writer.put(f"for {index} in {HEADS[index]}:", 0)
        writer.scope.append(index)
        writer.block(1, 3)
        writer.scope.pop()
    start = "    s = 0.0\n    t = 0.0\n    c = 1.0\n    y = x * 0.5\n    z = h * 1.0\n"
    start += f"    B = {draw(st.sampled_from(MATRICES))}\n"
    end = "    for i in range(len(x)):\n        s = s + y[i] * x[i]\n    for j in range(len(h)):\n        s = s + z[j]\n"
    if draw(st.booleans()):
        end += "    for i in range(len(x)):\n        for j in range(len(h)):\n            s = s + B[i, j] * B[i, j]\n"
    return f"import numpy\n\n\ndef f(h, x, A):\n{start}" + "\n".join(writer.lines) + f"\n{end}    return s + t * c\n"
