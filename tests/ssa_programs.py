"""
Modules in SSA form: written by hand, each with the Python function that it is, and a strategy that makes others at random.

A random function has up to six blocks with jumps anywhere, so that its loops may be irreducible. It is written with variables that
are assigned; a block with several predecessors has a φ node for each variable, which makes it well formed whatever the jumps. It
need not end: run it with little fuel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hypothesis import strategies as st

from semantics.primitives.table import TABLE
from semantics.ssa.dominance import reverse_postorder
from semantics.ssa.form import (
    OUTSIDE,
    Block,
    Branch,
    Callee,
    Function,
    FunctionRef,
    Goto,
    Instruction,
    Jump,
    Label,
    Literal,
    Module,
    Name,
    Operand,
    Parameter,
    Phi,
    Return,
)

POW = """function pow(x, n):
block #1:
    %1 ← φ(#0 → 1, #2 → %4)
    %2 ← φ(#0 → n, #2 → %3)
    %5 ← gt(%2, 0)
    goto #3 if not %5
block #2:
    %3 ← sub(%2, 1)
    %4 ← mul(%1, x)
    goto #1
block #3:
    return %1"""

BRANCH = """function f(x):
block #1:
    %1 ← gt(x, 0)
    goto #3 if %1
block #2:
    %2 ← mul(0.01, x)
block #3:
    %3 ← φ(#1 → x, #2 → %2)
    return %3"""

SWAP = """function fibonacci(n):
block #1:
    b ← φ(#0 → 1, #2 → c)
    a ← φ(#0 → 0, #2 → b)
    k ← φ(#0 → n, #2 → j)
    more ← gt(k, 0)
    goto #3 if not more
block #2:
    c ← add(a, b)
    j ← sub(k, 1)
    goto #1
block #3:
    return a"""

EXCHANGE = """function turns(x, y, n):
block #1:
    a ← φ(#0 → x, #2 → b)
    b ← φ(#0 → y, #2 → a)
    k ← φ(#0 → n, #2 → j)
    more ← gt(k, 0)
    goto #2 if more else #3
block #2:
    j ← sub(k, 1)
    goto #1
block #3:
    %1 ← make_tuple(a, b)
    return %1"""

DIVISION = """function main(x, y):
block #1:
    q, r ← @divmod(x, y)
    s ← mul(q, 100)
    t ← add(s, r)
    return t

function divmod(x, y):
block #1:
    %1 ← floordiv(x, y)
    %2 ← mod(x, y)
    return %1, %2"""

PARITY = """function even(n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if not %1
block #2:
    %2 ← sub(n, 1)
    %3 ← @odd(%2)
block #3:
    %4 ← φ(#1 → True, #2 → %3)
    return %4

function odd(n):
block #1:
    %1 ← gt(n, 0)
    goto #3 if not %1
block #2:
    %2 ← sub(n, 1)
    %3 ← @even(%2)
    return %3
block #3:
    return False"""

FACTORIAL = """function factorial(n):
block #1:
    %1 ← le(n, 1)
    goto #3 if %1
block #2:
    %2 ← sub(n, 1)
    %3 ← @factorial(%2)
    %4 ← mul(n, %3)
    return %4
block #3:
    return 1"""

NESTED = """function pairs(n):
block #1:
    i ← φ(#0 → 0, #5 → i')
    s ← φ(#0 → 0, #5 → t)
    %1 ← lt(i, n)
    goto #6 if not %1
block #2:
    %2 ← mul(i, i)
block #3:
    j ← φ(#2 → 0, #4 → j')
    t ← φ(#2 → s, #4 → t')
    %3 ← lt(j, i)
    goto #5 if not %3
block #4:
    t' ← add(t, %2)
    j' ← add(j, 1)
    goto #3
block #5:
    i' ← add(i, 1)
    goto #1
block #6:
    return s"""

# a loop of the blocks 2 and 3 that is entered at both
IRREDUCIBLE = """function entered_twice(n, first):
block #1:
    goto #3 if not first
block #2:
    a ← φ(#1 → n, #3 → d)
    c ← sub(a, 2)
    more ← gt(c, 0)
    goto #4 if not more
block #3:
    b ← φ(#1 → n, #2 → c)
    d ← sub(b, 1)
    goto #2
block #4:
    return c"""

STACK = """function push(n):
block #1:
    stack ← φ(#0 → (), #2 → pushed)
    i ← φ(#0 → n, #2 → j)
    more ← gt(i, 0)
    goto #3 if not more
block #2:
    j ← sub(i, 1)
    pushed ← make_tuple(i, stack)
    goto #1
block #3:
    return stack"""

MEMORY = """function counted(x: f64, n: i64):
block #1:
    %1 ← memory(0)
    %2, p ← alloc(%1, x)
block #2:
    m ← φ(#1 → %2, #3 → m')
    i ← φ(#1 → n, #3 → i')
    %3 ← gt(i, 0)
    goto #4 if not %3
block #3:
    %4 ← load(m, p)
    %5 ← mul(%4, x)
    m' ← store(m, p, %5)
    i' ← sub(i, 1)
    goto #2
block #4:
    %6 ← load(m, p)
    return %6"""

HIDDEN = """function main(x, y):
block #1:
    %1 ← @scaled(x, y)
    %2 ← @scaled(x, %1)
    return %2

function scaled(factor; v):
block #1:
    %1 ← mul(factor, v)
    return %1"""


class Written(NamedTuple):
    """A module as text, the Python function that it computes, and arguments."""

    text: str
    meaning: Callable[..., Any]
    arguments: tuple[tuple[Any, ...], ...]


def _fibonacci(n: int) -> int:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def _entered_twice(n: int, first: bool) -> int:
    a = n if first else n - 1
    while (c := a - 2) > 0:
        a = c - 1
    return c


def _pushed(n: int) -> tuple[Any, ...]:
    stack: tuple[Any, ...] = ()
    for i in range(n, 0, -1):
        stack = (i, stack)
    return stack


WRITTEN: Mapping[str, Written] = {
    "pow": Written(POW, lambda x, n: x**n if n else 1, ((2.0, 0), (2.0, 1), (3, 7))),
    "branch": Written(BRANCH, lambda x: x if x > 0 else 0.01 * x, ((2.0,), (-3.0,), (0.0,))),
    "swap": Written(SWAP, _fibonacci, ((0,), (1,), (30,))),
    "exchange": Written(EXCHANGE, lambda x, y, n: (x, y) if n % 2 == 0 else (y, x), ((1, 2, 0), (1, 2, 1), (1, 2, 6))),
    "division": Written(DIVISION, lambda x, y: x // y * 100 + x % y, ((17, 5), (-3, 2))),
    "parity": Written(PARITY, lambda n: n % 2 == 0, ((0,), (7,), (12,))),
    "factorial": Written(FACTORIAL, math.factorial, ((1,), (6,))),
    "nested": Written(NESTED, lambda n: sum(i * i for i in range(n) for _ in range(i)), ((0,), (1,), (6,))),
    "irreducible": Written(IRREDUCIBLE, _entered_twice, ((9, True), (9, False), (1, True))),
    "stack": Written(STACK, _pushed, ((0,), (5,))),
    "memory": Written(MEMORY, lambda x, n: x ** (n + 1), ((2.0, 0), (2.0, 5))),
    "hidden": Written(HIDDEN, lambda x, y: x * x * y, ((3, 4),)),
}

VARIABLES = ("a", "b", "c")
OPERATIONS = tuple(TABLE[name] for name in ("add", "sub", "min", "max", "floordiv"))
COMPARISONS = tuple(TABLE[name] for name in ("lt", "eq", "ge"))


@st.composite
def jumps(draw: st.DrawFn, labels: list[Label]) -> Jump:
    """A jump without its operands: a branch on the name `?`, a return of the name `?`."""
    kind = draw(st.sampled_from(("goto", "branch", "branch", "return")))
    if kind == "return":
        return Return((Name("?"),))
    if kind == "goto":
        return Goto(draw(st.sampled_from(labels)))
    return Branch(Name("?"), draw(st.sampled_from(labels)), draw(st.sampled_from(labels)))


@st.composite
def shapes(draw: st.DrawFn) -> Function:
    """A function of empty blocks, all of which can be reached."""
    labels = list(range(1, draw(st.integers(1, 6)) + 1))
    blocks = tuple(Block(label, (), (), draw(jumps(labels))) for label in labels)
    reached = set(reverse_postorder(Function("f", (), blocks)))
    return Function("f", (), tuple(block for block in blocks if block.label in reached))


class _Filling:
    """Fills the blocks of a shape, in reverse postorder: a block with one predecessor goes on with the variables of that."""

    def __init__(self, draw: st.DrawFn, shape: Function, functions: tuple[str, ...]) -> None:
        self.draw, self.shape, self.functions, self.count = draw, shape, functions, 0
        self.at_end: dict[Label, dict[str, Operand]] = {OUTSIDE: {v: Name(v) for v in VARIABLES}}
        self.blocks: dict[Label, Block] = {}

    def fresh(self) -> str:
        self.count += 1
        return f"%{self.count}"

    def operand(self, now: dict[str, Operand]) -> Operand:
        return self.draw(st.one_of(st.sampled_from(VARIABLES).map(now.__getitem__), st.integers(-3, 3).map(Literal)))

    def instruction(self, now: dict[str, Operand]) -> Instruction:
        variables = self.draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=2, unique=True))
        several = len(variables) > 1
        callees: tuple[Callee, ...] = (TABLE["make_tuple"],) if several else (*OPERATIONS, *map(FunctionRef, self.functions))
        callee = self.draw(st.sampled_from(callees))
        count = len(VARIABLES) if isinstance(callee, FunctionRef) else 2
        operands = tuple(self.operand(now) for _ in range(count))
        targets = tuple(self.fresh() for _ in variables)
        now.update({v: Name(t) for v, t in zip(variables, targets, strict=True)})
        return Instruction(targets, callee, operands)

    def block(self, block: Block) -> None:
        sources = self.shape.predecessors[block.label]
        joins = len(sources) > 1
        now: dict[str, Operand] = {v: Name(self.fresh()) for v in VARIABLES} if joins else dict(self.at_end[sources[0]])
        heads = [now[v] for v in VARIABLES] if joins else []
        instructions = [self.instruction(now) for _ in range(self.draw(st.integers(0, 3)))]
        jump = block.jump
        if isinstance(jump, Branch):
            condition = self.fresh()
            operands = (self.operand(now), self.operand(now))
            instructions.append(Instruction((condition,), self.draw(st.sampled_from(COMPARISONS)), operands))
            jump = Branch(Name(condition), jump.then, jump.otherwise)
        elif isinstance(jump, Return):
            jump = Return((self.operand(now),))
        self.at_end[block.label] = now
        phis = tuple(Phi(head.text, ()) for head in heads if isinstance(head, Name))
        self.blocks[block.label] = Block(block.label, phis, tuple(instructions), jump)

    def function(self, name: str) -> Function:
        for label in reverse_postorder(self.shape):
            self.block(self.shape.by_label[label])
        blocks = tuple(self.joined(self.blocks[block.label]) for block in self.shape.blocks)
        return Function(name, tuple(map(Parameter, VARIABLES)), blocks)

    def joined(self, block: Block) -> Block:
        """The block with the arms of its φ nodes."""
        sources = self.shape.predecessors[block.label]
        phis = (
            Phi(phi.target, tuple((source, self.at_end[source][v]) for source in sources))
            for phi, v in zip(block.phis, VARIABLES, strict=False)
        )
        return Block(block.label, tuple(phis), block.instructions, block.jump)


@st.composite
def modules(draw: st.DrawFn, largest: int = 2) -> Module:
    """A well-formed module of up to `largest` functions of three integers, which may call each other."""
    names = tuple(f"f{i}" for i in range(draw(st.integers(1, largest))))
    return Module(tuple(_Filling(draw, draw(shapes()), names).function(name) for name in names), names[0])
