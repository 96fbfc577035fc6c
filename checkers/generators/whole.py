"""
Python source over arrays, records, lists, dictionaries and memory as a Hypothesis strategy, with arguments.

The shapes of the arguments are drawn first, and every term is written for them, so a program runs on arguments of these shapes
only. As in `sources`, every program has its swarm mask of features.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from hypothesis import strategies as st

from checkers.columns.leaves import coordinates, is_discrete, map_leaves
from checkers.generators.array_statements import statement
from checkers.generators.arrays import term
from checkers.generators.data import FIELDS, declare_record
from checkers.generators.terms import ARGUMENT, Term, WholeOptions, WholeWriter, damped, total, wide
from semantics.arrays import Array, Shape, size_of
from semantics.ir import Program
from semantics.structured import LIST, Label, Record
from semantics.type_language import type_of

HEADER = "from dataclasses import dataclass, replace\nfrom typing import NamedTuple\n\nimport numpy as np\n"
NAMES = ("x", "z", "p", "q")
SHAPES: tuple[Shape, ...] = ((2,), (3,), (2, 2), (1,), (2, 3), (3, 1), (2, 1, 2), (3, 2))
EMPTY: tuple[Shape, ...] = ((0,), (2, 0), ())
DTYPES = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "bool": np.bool_}


@dataclass(frozen=True, slots=True)
class Whole:
    """A generated program with entry `f`: its text, arguments to run it on, as values of the language, and the features it uses."""

    text: str
    arguments: tuple[Any, ...]
    used: frozenset[str]

    def __repr__(self) -> str:
        return f"f{self.arguments} of:\n{self.text}"

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of the arguments."""
        return tuple(type_of(a) for a in self.arguments)

    @property
    def real(self) -> tuple[int, ...]:
        """The positions of the arguments that hold reals."""
        return tuple(k for k, a in enumerate(self.arguments) if not (isinstance(a, Array) and a.dtype == "i64"))

    def python(self) -> float:
        """What CPython and NumPy make of the call."""
        module = ModuleType("generated")
        sys.modules[module.__name__] = module  # where dataclasses look for annotations
        namespace = module.__dict__
        exec(compile(self.text, "<generated>", "exec"), namespace)  # text of our own making
        return float(namespace["f"](*(to_python(a, namespace) for a in self.arguments)))

    def program(self) -> Program:
        """The program that our parser makes of the text."""
        from transforms.parse import parse_text

        return parse_text(self.text, "f")

    def differentiable(self) -> tuple[Program, tuple[Any, ...]]:
        """The program as a function of its real arguments alone, their types declared; and these arguments."""
        from checkers.properties.structured import with_constants

        fixed = {k: a for k, a in enumerate(self.arguments) if k not in self.real}
        return with_constants(self.program(), self.types, fixed), tuple(self.arguments[k] for k in self.real)


def to_python(value: Any, namespace: dict[str, Any]) -> Any:
    """A value of the language as Python and NumPy have it; records are of the classes in a namespace."""
    match value:
        case Array(dtype, shape, items):
            return np.array(items, DTYPES[dtype]).reshape(shape)
        case Record(label, items):
            parts = [to_python(i, namespace) for i in items]
            if label.kind == "dict":
                return dict(zip(label.fields, parts, strict=True))
            return parts if label == LIST else namespace[label.name](*parts)
        case tuple():
            return tuple(to_python(i, namespace) for i in value)
    return value


def _array(w: WholeWriter, shape: Shape, dtype: str) -> Array:
    """Multiples of 1/8 no larger than 4, or integers no larger than 3."""
    draw = (lambda: w.number(-3, 3)) if dtype == "i64" else (lambda: w.number(-32, 32) / 8.0)
    return Array(dtype, shape, tuple(draw() for _ in range(size_of(shape))))


def _parameter(w: WholeWriter, name: str, first: bool) -> Any:
    """One argument, and the terms that it gives to the program."""
    kinds = ["array", "array", *(() if first else ("real",))]
    kinds += [
        k for k, feature in (("integers", "integers"), ("single", "single"), ("record", "records")) if w.may(feature) and not first
    ]
    kinds += [k for k, feature in (("list", "lists"), ("dict", "dicts"), ("tuple", "lists")) if w.may(feature) and not first]
    kind = w.pick(kinds)
    if kind == "real":
        w.keep(Term(name, (), "f64", ARGUMENT, 3))
        return w.number(-32, 32) / 8.0
    if kind in ("array", "integers", "single"):
        shape = w.pick((*SHAPES, *EMPTY) if w.may("empty") and not first else SHAPES)
        if shape in EMPTY:
            w.mark("empty")
        dtype = {"array": "f64", "integers": "i64", "single": "f32"}[kind]
        if dtype != "f64" and shape == ():
            shape = (2,)
        if kind == "integers":
            w.mark("integers")
            w.keep(Term(f"({name} * 1.0)", shape, "f64", ARGUMENT, 0))
        else:
            w.keep(wide(Term(name, shape, dtype, ARGUMENT, 3)))
        return _array(w, shape, dtype)
    return _structure(w, name, kind)


def _structure(w: WholeWriter, name: str, kind: str) -> Any:
    """A record, list, dictionary or tuple of an array and a number."""
    shape = w.pick(SHAPES)
    items: tuple[Any, ...] = (_array(w, shape, "f64"), w.number(-32, 32) / 8.0)
    parts = (Term("", shape), Term("", ()))
    w.mark({"record": "records", "list": "lists", "tuple": "lists", "dict": "dicts"}[kind])
    if kind == "record":
        cls = declare_record(w, 2)
        named = "NamedTuple" in w.classes[-1]
        label: Label | None = Label("namedtuple" if named else "dataclass", cls, FIELDS[:2])
        reads = [f"{name}.{f}" for f in FIELDS[:2]]
    elif kind == "dict":
        label, reads = Label("dict", "", ("a", "b")), [f'{name}["a"]', f'{name}["b"]']
    else:
        label, reads = (LIST if kind == "list" else None), [f"{name}[0]", f"{name}[-1]"]
    for part, text in zip(parts, reads, strict=True):
        w.keep(part._replace(text=text))
    return items if label is None else Record(label, items)


@st.composite
def wholes(draw: Callable[[Any], Any], options: WholeOptions = WholeOptions()) -> Whole:  # noqa: B008 (frozen)
    """Programs over the whole language with arguments; the value is a real of moderate size."""
    allowed = options.allowed()
    mask = draw(st.integers(0, 2 ** len(allowed) - 1))
    features = frozenset(f for i, f in enumerate(allowed) if mask >> i & 1) | (options.always & frozenset(allowed))
    w = WholeWriter(draw, options, features)
    names = NAMES[: w.number(1, 3)]
    w.line(f"def f({', '.join(names)}):")
    w.indent = 1
    arguments = tuple(_parameter(w, name, k == 0) for k, name in enumerate(names))
    while w.budget > 0:
        statement(w)
    w.line(f"return {_result(w).text}")
    return Whole("\n".join([HEADER, *w.classes, *w.lines]) + "\n", arguments, frozenset(w.used))


def _result(w: WholeWriter) -> Term:
    """A number made of a new term and of what was named last."""
    e = total(w, term(w, 2))
    for t in w.of()[:-3:-1]:
        n = total(w, wide(t))
        sign = w.pick("+-*")
        bound = e.bound * n.bound if sign == "*" else e.bound + n.bound
        e = damped(
            w, Term(f"({e.text} {sign} {n.text})", (), "f64", bound, e.grain + n.grain if sign == "*" else max(e.grain, n.grain))
        )
    return e


def directions(like: tuple[Any, ...]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Directions of the structure of some arguments: multiples of 1/4 no larger than 2; integers stay what they are."""
    leaf = st.integers(-8, 8).map(lambda n: n / 4.0)
    return st.lists(leaf, min_size=count_of(like), max_size=count_of(like)).map(lambda flat: filled(like, iter(flat)))


def count_of(values: tuple[Any, ...]) -> int:
    """How many reals there are."""
    return len(coordinates(values))


def filled(like: tuple[Any, ...], flat: Iterator[float]) -> tuple[Any, ...]:
    """The structure with other reals, in order."""
    found: tuple[Any, ...] = map_leaves(lambda _, leaf: leaf if is_discrete(leaf) else next(flat), like)
    return found
