"""
Threads of a block in plain Python: each is a generator, and where the threads of a block meet, it yields.

The text of a kernel is read; a function that meets, itself or in one that it calls, is made a generator, and a call of it is
`yield from`. So a launch needs no threads of the operating system, and takes a fraction of the time of Numba's simulator. The
threads of a block go on one after another, each to the next meeting. What a race gives depends on their order: it may be reversed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from inspect import isgeneratorfunction
from types import SimpleNamespace
from typing import Any


class Cuda:
    """What kernels use of the module numba.cuda. Of one block there is memory at a time."""

    def __init__(self) -> None:
        self.threadIdx, self.blockIdx = SimpleNamespace(x=0), SimpleNamespace(x=0)
        self.blockDim, self.gridDim = SimpleNamespace(x=1), SimpleNamespace(x=1)
        self.shared = SimpleNamespace(array=lambda size, dtype: self.memory)
        self.memory: list[int] = []

    def grid(self, axes: int) -> int:
        """The number of a thread in the launch."""
        found: int = self.blockIdx.x * self.blockDim.x + self.threadIdx.x
        return found

    def syncthreads(self) -> None:
        raise AssertionError("a function that meets is a generator")


class Kernel:
    """A kernel, to be launched as Numba's are: kernel[blocks, threads, stream, bytes of shared memory](*arguments)."""

    def __init__(self, function: Callable[..., Any], cuda: Cuda, reverse: bool = False) -> None:
        self.function, self.cuda, self.reverse = function, cuda, reverse

    def __getitem__(self, shape: tuple[int, ...]) -> Callable[..., None]:
        blocks, threads, *_ = shape

        def launch(*arguments: Any) -> None:
            self.cuda.blockDim.x, self.cuda.gridDim.x = threads, blocks
            for block in range(blocks):
                self.cuda.blockIdx.x, self.cuda.memory = block, [0] * 8
                self.block(threads, arguments)

        return launch

    def block(self, threads: int, arguments: tuple[Any, ...]) -> None:
        """Every thread of a block, to the next meeting, and again until all have ended."""
        order = range(threads)[::-1] if self.reverse else range(threads)
        if not isgeneratorfunction(self.function):
            for number in order:
                self.cuda.threadIdx.x = number
                self.function(*arguments)
            return
        running = [(number, self.function(*arguments)) for number in order]
        while running:
            running = [(number, thread) for number, thread in running if self.goes_on(number, thread)]

    def goes_on(self, number: int, thread: Any) -> bool:
        """Whether a thread came to a meeting; False if it has ended, or left."""
        self.cuda.threadIdx.x = number
        try:
            next(thread)
        except (StopIteration, SystemExit):
            return False
        return True


def rewritten(source: str) -> str:
    """The source of a kernel with generators for the functions that meet."""
    tree = ast.parse(source)
    functions = {f.name: f for f in tree.body if isinstance(f, ast.FunctionDef)}
    calls = {name: {_called(n) for n in ast.walk(f)} for name, f in functions.items()}
    meeting = {"cuda.syncthreads"}
    while more := {name for name, called in calls.items() if called & meeting} - meeting:
        meeting |= more
    return ast.unparse(ast.fix_missing_locations(_Meeting(meeting).visit(tree)))


def _called(node: ast.AST) -> str:
    """The name of what is called, if the node is a call."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ""


class _Meeting(ast.NodeTransformer):
    """Calls of functions that meet, as what a generator does."""

    def __init__(self, meeting: set[str]) -> None:
        self.meeting = meeting

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = _called(node)
        if name not in self.meeting:
            return node
        return ast.Yield() if name == "cuda.syncthreads" else ast.YieldFrom(node)
