"""
The families of programs over arrays, records, lists, dictionaries and memory whose gradients are measured (`checkers.costs`).

To measure another one, add one entry to ARRAY_FAMILIES or DATA_FAMILIES.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkers.cost_families import Family
from semantics.arrays import Array


def ramp(*shape: int) -> Array:
    """An f64 array of this shape, of numbers between 1/2 and 3/2."""
    count = 1
    for n in shape:
        count *= n
    return Array("f64", shape, tuple(0.5 + (7 * i % 16) / 16 for i in range(count)))


def whole(expression: str) -> str:
    """A function of one array whose value is an expression in it."""
    return f"import numpy as np\n\ndef f(x):\n    return {expression}\n"


def vector(n: int) -> tuple[Any, ...]:
    """One array of n elements."""
    return (ramp(n),)


def table(n: int) -> tuple[Any, ...]:
    """One array of n rows of four."""
    return (ramp(n, 4),)


def counted(make: Callable[[int], tuple[Any, ...]]) -> Callable[[int], tuple[Any, ...]]:
    """These arguments, and n."""
    return lambda n: (*make(n), n)


ELEMENTS = """
def f(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[i] * x[i]
    return s
"""

ELEMENTS_AND_WHOLE = """
import numpy as np

def f(x, n):
    s = np.sum(x * x)
    for i in range(n):
        s = s + x[i] * s
    return s + np.sum(x)
"""

UPDATES = """
import numpy as np

def f(x, n):
    y = np.zeros(n)
    for i in range(n):
        y[i] = x[i] * x[0]
    return np.sum(y * x)
"""

IN_PLACE = """
import numpy as np

def f(x, n):
    x = x.copy()
    for i in range(n - 1):
        x[i + 1] += x[i] * 0.5
    return x[n - 1]
"""

ROWS = """
import numpy as np

def f(x):
    s = 0.0
    for row in x:
        s = s + np.sum(row * row)
    return s
"""

ROWS_BY_INDEX = """
import numpy as np

def f(x, n):
    s = 0.0
    for i in range(n):
        s = s + np.dot(x[i], x[0])
    return s
"""

CONCATENATED = """
import numpy as np

def f(x, n):
    y = np.zeros(0)
    for i in range(4):
        y = np.concatenate([y, x * x])
    return np.sum(y * y)
"""

MAPPED = """
import math
import numpy as np
from adjudge import array_map

def f(x):
    return np.sum(array_map(lambda a: a * math.sin(a), x))
"""

SCANNED = """
import numpy as np
from adjudge import scan

def f(x):
    carry, ys = scan(lambda s, a: (s * 0.5 + a, s * a), 1.0, x)
    return carry + np.sum(ys)
"""

ARRAY_FAMILIES = (
    Family("elements_by_index", ELEMENTS, counted(vector)),
    Family("elements_and_whole", ELEMENTS_AND_WHOLE, counted(vector)),
    Family("functional_updates", UPDATES, counted(vector)),
    Family("updates_in_place", IN_PLACE, counted(vector)),
    Family("rows", ROWS, table),
    Family("rows_by_index", ROWS_BY_INDEX, counted(table)),
    Family("elementwise", whole("np.sum(np.exp(x) * x)"), vector),
    Family("broadcast", whole("np.sum(x * x[:, :1] + x[0])"), table),
    Family("matmul", whole("np.sum(x @ x)"), lambda n: (ramp(n // 4, n // 4),)),
    Family("matrix_vector", whole("np.sum(x @ x[0])"), table),
    Family("cumsum", whole("np.sum(np.cumsum(x) * x)"), vector),
    Family("cumprod", whole("np.sum(np.cumprod(x))"), vector),
    Family("concatenate", CONCATENATED, counted(vector)),
    Family("sort", whole("np.sum(np.sort(x) * x)"), vector),
    Family("maximum", whole("np.max(x) * np.max(x)"), vector),
    Family("softmax", whole("np.sum(np.exp(x - np.max(x)) / np.sum(np.exp(x - np.max(x))) * x)"), vector),
    Family("reversed_slices", whole("np.sum(x[::-1] * x) + np.sum(x[1:] * x[:-1])"), vector),
    Family("gathered", whole("np.sum(x[np.arange(len(x)) // 2] * x)"), vector),
    Family("transposed", whole("np.sum(x.T * x.reshape(4, -1))"), table),
    Family("array_map", MAPPED, vector),
    Family("scan", SCANNED, vector),
)

RECORDS = """
class State(NamedTuple):
    position: float
    speed: float

def f(x, n):
    s = State(x, 1.0)
    for i in range(n):
        s = State(s.position + 0.1 * s.speed, s.speed - s.position * x)
    return s.position
"""

COMPREHENSION = """
def f(x, n):
    return sum([x * i for i in range(n) if i % 3 != 0])
"""

ZIPPED = """
def f(x, n):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, x[1:])):
        s = s + a * b * i
    return s
"""

DICTIONARY = """
def f(x, n):
    d = {"a": x, "b": 1.0}
    for i in range(n):
        d["a"] = d["b"] * x
        d["b"] = d["a"] + 0.5
    return d["a"] * d["b"]
"""

TREE = """
class Node(NamedTuple):
    value: float
    left: object
    right: object

def tree(x, n):
    if n <= 0:
        return None
    half = (n - 1) // 2
    return Node(x * n, tree(x, half), tree(x, n - 1 - half))

def fold(t):
    if t is None:
        return 0.0
    return t.value * t.value + fold(t.left) + fold(t.right)

def f(x, n):
    return fold(tree(x, n))
"""

MEMORY = """
from adjudge.memory import memory, alloc, load, store

def f(x, n):
    m, p = alloc(memory(0), x)
    for i in range(n):
        m = store(m, p, load(m, p) * x + 0.5)
    return load(m, p)
"""

STACK = """
from adjudge.memory import memory, stack, push, pop

def f(x, n):
    m, s = stack(memory(0))
    for i in range(n):
        m = push(m, s, x * i)
    y = 0.0
    for i in range(n):
        m, a = pop(m, s)
        y = y + a * x
    return y
"""

DATA_FAMILIES = (
    Family("records_in_a_loop", RECORDS),
    Family("comprehension", COMPREHENSION),
    Family("zip_and_enumerate", ZIPPED, lambda n: (tuple(0.5 + i for i in range(n)), n)),
    Family("dictionary_in_a_loop", DICTIONARY),
    Family("tree_fold", TREE),
    Family("memory_cell", MEMORY),
    Family("memory_stack", STACK),
)
