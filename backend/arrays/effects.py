"""
What statements of generated code read and write: the ground on which they are moved and joined, and their memory is used again.

A name and what an array holds are two things: `a.shape` reads the name alone. An access to what an array holds is noted with its
indices, "" for one that is neither a name nor a name and a number. Names that may stand for the same memory, as an array and a view
of it, share one root, found for a whole function; their indices are noted as far as their sizes are the same. What is called with
an array may write to it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from backend.arrays.walking import walk
from backend.status import ORDER, SIZES

Access = tuple[str, tuple[str, ...]]
WHOLE: tuple[str, ...] = ()


@dataclass(frozen=True)
class Effects:
    """
    reads    names                                  loads    roots of arrays, with the indices
    writes   the same, written                      stores   the same, written
    returns  whether it may return                  jumps    whether it may leave the block otherwise
    guard    whether it does nothing but return a status after which other code runs everything again
    late     whether it is a guard of totals: no access to memory relies on it, so what cannot return may go before it
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    loads: frozenset[Access] = frozenset()
    stores: frozenset[Access] = frozenset()
    returns: bool = False
    jumps: bool = False
    guard: bool = False
    late: bool = False

    def __or__(self, other: Effects) -> Effects:
        return Effects(
            self.reads | other.reads,
            self.writes | other.writes,
            self.loads | other.loads,
            self.stores | other.stores,
            self.returns or other.returns,
            self.jumps or other.jumps,
            self.guard and other.guard,
            self.late and other.late,
        )


def conflict(a: Effects, b: Effects) -> bool:
    """Whether the order of the two matters."""
    if a.jumps or b.jumps or (a.returns and b.returns and not (a.guard or b.guard)):
        return True
    if a.writes & (b.reads | b.writes) or b.writes & a.reads:
        return True
    stored, others = _roots(a.stores), _roots(b.stores)
    return bool(stored & (others | _roots(b.loads)) or others & _roots(a.loads))


def _roots(accesses: frozenset[Access]) -> set[str]:
    return {root for root, _ in accesses}


def shared(a: Effects, b: Effects) -> set[str]:
    """The roots of the arrays that both access, and one writes to."""
    mine, others = _roots(a.stores), _roots(b.stores)
    return (mine & (others | _roots(b.loads))) | (others & _roots(a.loads))


@dataclass
class Roots:
    """
    For every name, the one that stands for all names of the same memory; and for that, how many axes they have in common: so many
    indices, from the first, mean the same whichever name they follow.
    """

    arrays: set[str] = field(default_factory=set)
    parents: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, set[tuple[str, ...]]] = field(default_factory=dict)

    def of(self, name: str) -> str:
        parents = self.parents
        while (above := parents.get(name)) is not None:
            if (top := parents.get(above)) is not None:
                parents[name] = top  # the way is made shorter: each step of a long chain of sums joins another name
            name = above
        return name

    def join(self, names: Iterable[str]) -> None:
        first, *others = {self.of(name): None for name in names}
        for other in others:
            self.parents[other] = first

    def shaped(self, name: str, shape: tuple[str, ...]) -> None:
        self.shapes.setdefault(name, set()).add(shape)

    def settled(self) -> Roots:
        """With the shapes of all names at the roots."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for name, shapes in self.shapes.items():
            found.setdefault(self.of(name), set()).update(shapes)
        return Roots(self.arrays, self.parents, found)

    def common(self, root: str) -> int:
        """How many axes all names of a root have in common."""
        shapes = [*self.shapes.get(root, ())]
        if len(shapes) < 2:
            return 99
        same = 0
        for sizes in zip(*shapes, strict=False):
            if len({*sizes}) > 1 or not sizes[0]:
                break
            same += 1
        return same


def assigned(node: ast.AST) -> Counter[str]:
    """How often each name is assigned."""
    return Counter(n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def unassigned(function: ast.FunctionDef) -> frozenset[str]:
    """The arguments that are never assigned."""
    return frozenset(argument.arg for argument in function.args.args) - assigned(function).keys()


def roots(function: ast.AST) -> Roots:
    """The roots of a function: an assignment joins what it names, but for elements, sizes and new arrays."""
    found = Roots({*_named(function)})
    found.join(("reals", "integers"))  # the memory of stacks, seen as either
    times = assigned(function)
    for node in walk(function):
        if not isinstance(node, ast.Assign) or isinstance(node.targets[0], ast.Subscript):
            continue
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else [node.targets[0]]
        if len(values) != len(targets):
            values, targets = [node.value], [node.targets[0]]
        for value, target in zip(values, targets, strict=True):
            names = [*arrays_in(target)]
            if (shape := shape_of(value)) is not None and not any(map(_is_nothing, shape)):
                found.shaped(names[0], tuple("" if _changes(n, times) else ast.unparse(n) for n in shape))
            if arrays := [*arrays_in(value)]:
                found.join([*names, *arrays])
                if shape is None and not isinstance(value, ast.Name):
                    found.shaped(names[0], (f"of {names[0]}",))
    return found.settled()


def _named(function: ast.AST) -> Iterator[str]:
    """The names that are used as arrays are: with an index, for their sizes, or turned."""
    for node in walk(function):
        match node:
            case (
                ast.Subscript(ast.Name(name)) | ast.Attribute(ast.Name(name)) | ast.Call(ast.Name("_reshape"), [ast.Name(name), *_])
            ):
                yield name
            case ast.Assign([ast.Name(name)], value) if shape_of(value) is not None:
                yield name


def shape_of(value: ast.expr) -> list[ast.expr] | None:
    """The sizes of a new array, or of a view with other sizes."""
    match value:
        case ast.Call(ast.Name("_empty" | "_full"), [ast.Tuple(sizes), *_]):
            return sizes
        case ast.Call(ast.Name("_reshape"), [_, ast.Tuple(sizes)]):
            return sizes
        case _:
            return None


def _is_nothing(size: ast.expr) -> bool:
    """Whether an array of this size has no elements, so that no index means any."""
    return isinstance(size, ast.Constant) and size.value == 0


def _changes(size: ast.expr, times: Counter[str]) -> bool:
    return any(isinstance(n, ast.Name) and times[n.id] > 1 for n in walk(size))


KEEPING = ("_keep", "_keep_flags")
PRODUCTS = frozenset(f"{fast}_{a}_{b}" for fast in ("", "_fast") for a in ("matrix", "vector") for b in ("matrix", "vector"))
PRODUCTS |= {"_add_row", "_add_outer"}
NEW = frozenset({"float", "int", "bool", "range", "_empty", "_full", *KEEPING})
"""
Functions whose result shares no memory with what they are given; among them those that write an array into the memory of stacks.
Products of matrices write to the last of what they are given.
"""


def arrays_in(node: ast.expr) -> Iterator[str]:
    """The names in an expression that may stand for arrays: those that no arithmetic, index or test is around."""
    match node:
        case ast.Name(name):
            yield name
        case ast.Attribute(value, "T"):
            yield from arrays_in(value)
        case ast.Tuple(parts):
            for part in parts:
                yield from arrays_in(part)
        case ast.IfExp(_, a, b):
            yield from arrays_in(a)
            yield from arrays_in(b)
        case ast.Call(ast.Attribute(value, _)) | ast.Subscript(value, ast.Slice()):
            yield from arrays_in(value)
        case ast.Call(ast.Name(name), arguments) if name not in NEW:
            for argument in arguments:
                yield from arrays_in(argument)


class Reader:
    """The effects of statements, each found once."""

    def __init__(self, roots: Roots) -> None:
        self.roots = roots
        self.found: dict[int, tuple[ast.stmt, Effects]] = {}

    def __call__(self, statement: ast.stmt) -> Effects:
        if id(statement) not in self.found:
            self.found[id(statement)] = statement, self._effects(statement)
        return self.found[id(statement)][1]

    def join(self, joined: ast.stmt, its: Effects, added: Iterable[ast.stmt]) -> None:
        """The effects of a loop that has more statements than one that has these."""
        self.found[id(joined)] = joined, _union([its, *map(self, added)])

    def _effects(self, statement: ast.stmt) -> Effects:
        match statement:
            case ast.If(test, body, orelse):
                inside = [*map(self, body), *map(self, orelse)]
                status = _status(body[0]) if len(body) == 1 and not orelse else None
                found = _union([self.expression(test), *inside])
                return replace(found, guard=status in (SIZES, ORDER), late=status == ORDER)
            case ast.For(target, iter, body):
                return _union([self.expression(target), self.expression(iter), *map(self, body)])
            case ast.While(test, body):
                found = _union([self.expression(test), *map(self, body)])
                return replace(found, jumps=False)
            case ast.Return():
                return replace(self.expression(statement), returns=True)
            case ast.Break() | ast.Continue():
                return Effects(jumps=True)
            case _:
                return self.expression(statement)

    def expression(self, node: ast.AST) -> Effects:
        """The effects of what has no statement inside."""
        reads, writes, loads, stores = set[str](), set[str](), set[Any](), set[Any]()
        todo: list[ast.AST] = [node]
        while todo:
            match node := todo.pop():
                case ast.Subscript(ast.Name(name), index, context):
                    (stores if isinstance(context, ast.Store) else loads).add(self.access(name, index))
                    reads.add(name)
                    todo.append(index)
                case ast.Attribute(ast.Name(name), "shape"):
                    reads.add(name)
                case ast.Subscript(part, _, ast.Store()) | ast.Call(ast.Attribute(part)):
                    stores |= {(self.roots.of(name), WHOLE) for name in arrays_in(part)}
                    todo += ast.iter_child_nodes(node)
                case ast.Call(ast.Name(called), [_, memory, _] as arguments) if called in KEEPING:
                    stores |= {(self.roots.of(name), WHOLE) for name in arrays_in(memory)}
                    todo += arguments
                case ast.Call(ast.Name(called), arguments) if called not in NEW and called != "_reshape":
                    written = arguments[-1:] if called in PRODUCTS else arguments
                    given = (name for a in written for name in arrays_in(a) if name in self.roots.arrays)
                    stores |= {(self.roots.of(name), WHOLE) for name in given}
                    todo += arguments
                case ast.Name(name, ast.Store()):
                    writes.add(name)
                case ast.Name(name):
                    reads.add(name)
                    loads.add((self.roots.of(name), WHOLE))
                case _:
                    todo += ast.iter_child_nodes(node)
        return Effects(frozenset(reads), frozenset(writes), frozenset(loads), frozenset(stores))

    def access(self, name: str, index: ast.expr) -> Access:
        """The access to an element."""
        root = self.roots.of(name)
        indices = index.elts if isinstance(index, ast.Tuple) else [index]
        return root, tuple(map(_told, indices[: self.roots.common(root)]))


def _told(index: ast.expr) -> str:
    """An index that is a name, or a name and a number."""
    match index:
        case ast.Name(name):
            return name
        case ast.BinOp(ast.Constant(), ast.Add(), ast.Name()) | ast.BinOp(ast.Name(), ast.Add(), ast.Constant()):
            return ast.unparse(index)
        case _:
            return ""


def _status(statement: ast.stmt) -> Any:
    """What status a statement returns, if that is all it does."""
    match statement:
        case ast.Return(ast.Tuple([*_, ast.Constant(status)])):
            return status
        case _:
            return None


def _union(parts: list[Effects]) -> Effects:
    return Effects(
        frozenset().union(*(p.reads for p in parts)),
        frozenset().union(*(p.writes for p in parts)),
        frozenset().union(*(p.loads for p in parts)),
        frozenset().union(*(p.stores for p in parts)),
        any(p.returns for p in parts),
        any(p.jumps for p in parts),
    )
