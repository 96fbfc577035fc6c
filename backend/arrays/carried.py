"""
Sizes that loops and stacks carry, told from the sizes of the arguments before anything runs.

    h = a2                                          if a2.shape[0] != a0.shape[1]: return SIZES
    while True:                                     h = a2
        if a0.shape[1] != h.shape[0]: …      →      while True:
        t = _empty((a0.shape[1],), _f64)                t = _empty((a0.shape[1],), _f64)
        h = t                                           h = t

Every array, and every number that is a size, is taken to have the size that it is given first in the text. Under that, tests of
sizes in a turn of a loop are tests of sizes of arguments: they come before everything, and show sizes to be the same. Where a loop
carries an array of two sizes of arguments, they are tested to be one. What is then assigned another size has none to speak of, and
all is done again without it. Where nothing is left to take back, the sizes hold by induction over a run. A loop of no turns makes
its tests too; where they fail, another tier runs the sample.

What slices and ranges select is written out where that makes it known, and all is done again with it (`backend.arrays.spans`).
Cells of stacks are assigned to as names are. Names that stand for one argument wherever they are assigned become that argument.
What nothing needs is left out before memory has its places, so cells have none for what was kept for that alone.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import pairwise, takewhile

from backend.arrays.again import computed_again
from backend.arrays.alike import alike, compared
from backend.arrays.assumed import Assignments, Sizes, assignments, computed_once, plus, shift
from backend.arrays.cells import lean
from backend.arrays.constants import constants
from backend.arrays.counted import counted, counts
from backend.arrays.effects import Reader, assigned, roots
from backend.arrays.heights import with_heights
from backend.arrays.in_place import blocks
from backend.arrays.needed import needed
from backend.arrays.nested import hoisted_out, strips
from backend.arrays.not_negative import not_negative
from backend.arrays.one_turn import turns
from backend.arrays.spans import spans
from backend.arrays.takes import SIZE
from backend.arrays.walking import walk
from backend.status import SIZES

PLACE = re.compile(r"⟦(\d+):([^:⟧]+):(\w+)⟧")
WRITTEN = re.compile(r"_cell\((\d+), ([^,()]+), '(\w+)'\)")
OTHERS = {"⟦": "_left_", "!⟧": "_all_right_", "?⟧": "_full_right_", "⟧": "_right_"}


def with_carried_sizes(text: str, shared: str = "") -> str:
    """The kernel with its sizes in terms of the arguments'. `shared` is the text of the other functions, which have their own."""
    if ".shape[" not in text or "while " not in text:
        return text
    module = ast.parse(_spelled(text))
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef), "one function"
    others = {site for site, _, _ in PLACE.findall(shared)}
    alike(function, copies="begun", but=compared(function))
    sizes = _sizes(function, others)
    _Spoken(sizes).visit(function)
    while spans(function):
        constants(function, marks=True)
        ast.fix_missing_locations(function)
        function.body = [*sizes.tests.values(), *function.body]
        sizes = _sizes(function, others)
        _Spoken(sizes).visit(function)
    arrays = sizes.arguments - sizes.computed
    lean(function, arrays, others)
    alike(function)
    while True:
        followed = turns(function, arrays)
        known, inner = counts(function, followed, others), [*strips(function, followed, others)]
        computed_again(function, followed, known, {(s.inner, place) for s in inner for place in s.same}, others)
        if not hoisted_out(function, followed, inner):
            break
    counted(function, known)
    not_negative(function)
    with_heights(function, followed, others)
    alike(function, copies="begun")
    needed(function, Reader(roots(function)))
    function.body = [*sizes.tests.values(), *function.body]
    return _marked(ast.unparse(ast.fix_missing_locations(module)))


def told(function: ast.FunctionDef) -> Callable[[str, int], str]:
    """
    The size of an array along an axis, in terms of the arguments, where the tests that a function begins with say it: those of
    whether two sizes are one, as others tell none.
    """
    sizes = _sizes(function, set())
    made = {ast.unparse(s.test) for s in takewhile(is_guard, function.body) if isinstance(s, ast.If)}
    if not {text for text, guard in sizes.tests.items() if _is_of_one(guard.test)} <= made:
        return lambda name, axis: ""
    return lambda name, axis: sizes.same(sizes.of(ast.Name(name, ast.Load()), str(axis)))


def spoken(function: ast.FunctionDef) -> None:
    """The function with the sizes of names in terms of the arguments, after memory has its places and what sizes carry is known."""
    sizes = _sizes(function, set())
    _Spoken(sizes).visit(function)
    function.body = [*sizes.tests.values(), *function.body]


def _spelled(text: str) -> str:
    """Places in cells as calls, which Python can read."""
    text = PLACE.sub(r"_cell(\1, \2, '\3')", text)
    for mark, word in sorted(OTHERS.items(), key=lambda item: -len(item[0])):
        text = text.replace(mark, word)
    return text


def _marked(text: str) -> str:
    """The places as they were."""
    for mark, word in OTHERS.items():
        text = text.replace(word, mark)
    return WRITTEN.sub(r"⟦\1:\2:\3⟧", text)


def _sizes(function: ast.FunctionDef, shared: set[str]) -> Sizes:
    """The sizes that hold in the whole function."""
    times = assigned(function)
    arguments = frozenset(a.arg for a in function.args.args if not times[a.arg])
    numbers = computed_once(function, arguments, times)
    given = Assignments([*assignments(function, arguments | numbers)])
    seen = Counter(one.key[0] for one in given.all if len(one.key) == 1)
    wrong = {one.key for one in given.all if times[one.key[0]] != seen[one.key[0]] or (len(one.key) == 3 and one.key[1] in shared)}
    guards, kept = [*_guards(function.body)], _carried(function)
    spoken = {ast.unparse(n) for n in walk(function) if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Attribute)}
    while True:
        sizes = Sizes(arguments | numbers, given.assumed(wrong), computed=numbers)
        for guard in guards:
            _learn(sizes, guard)
        known = given.of(sizes.known)
        for one in known if guards else ():
            if one.key[0] in kept:
                first, next = sizes.known[one.key], sizes.value(one.source)
                if spoken & {first, next, f"{one.key[0]}.shape[{one.key[-1]}]"}:
                    _keep(sizes, first, next, guards[0])
        more = {one.key for one in known if not sizes.agree(one)}
        if not more:
            return sizes
        wrong |= more


def _carried(function: ast.FunctionDef) -> set[str]:
    """The names that a turn of a loop assigns for the next."""
    ends = [(a, b) for block in blocks(function) for a, b in pairwise(block) if isinstance(b, ast.Continue)]
    return {n.id for a, _ in ends for n in walk(a) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _keep(sizes: Sizes, first: str, next: str, guard: ast.If) -> None:
    """An array of which a loop carries two sizes of arguments has one: that is tested, too. One that grows has not."""
    first, next = sizes.same(first), sizes.same(next)
    if first != next and not (shift(first)[1] or shift(next)[1]) and ".shape[" in first and ".shape[" in next:
        _learn(sizes, ast.If(ast.Compare(_read(first), [ast.NotEq()], [_read(next)]), guard.body, []))


def _guards(block: list[ast.stmt], turn: bool = False) -> Iterator[ast.If]:
    """The tests of sizes that are made in every run, but for loops of no turns."""
    for statement in block:
        match statement:
            case ast.If() if is_guard(statement):
                yield statement
            case ast.While(_, body):
                yield from _guards(body, True)
            case ast.If(_, body, orelse) if turn and body and orelse:
                if any(isinstance(b[-1], ast.Continue | ast.Break | ast.Return) for b in (body, orelse)):
                    yield from _guards(body)
                    yield from _guards(orelse)


def _learn(sizes: Sizes, guard: ast.If) -> None:
    """
    What a test says, if it is about arguments alone: that becomes a test that comes before everything. A number that an array is
    taken to have as its size, as one that is not there yet has 0, is not tested to be that of an argument: where the array becomes
    another, both would seem to be one.
    """
    test = _Spoken(sizes).visit(deepcopy(guard.test))
    if any(isinstance(n, ast.Name) and (n.id in sizes.computed or n.id not in sizes.arguments) for n in walk(test)):
        return
    match test:
        case ast.Compare(a, [ast.NotEq()], [b]) if ast.dump(a) == ast.dump(b):
            return
        case ast.Compare(ast.Constant(), _, [ast.Constant()]):
            return
        case ast.Compare(a, [ast.NotEq()], [b]) if _constants(test) != _constants(guard.test):
            return
        case ast.Compare(a, [ast.NotEq()], [b]):
            sizes.join(_text(a), _text(b))
    sizes.tests.setdefault(ast.unparse(test), ast.If(test, deepcopy(guard.body), []))


def _constants(test: ast.expr) -> tuple[bool, ...]:
    """Which sides of a test are numbers."""
    match test:
        case ast.Compare(a, _, [b]):
            return isinstance(a, ast.Constant), isinstance(b, ast.Constant)
        case _:
            return ()


class _Spoken(ast.NodeTransformer):
    """Every size and number in terms of the arguments; tests that have been made, left out."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes

    def visit_If(self, node: ast.If) -> ast.If | None:
        node.test = self.visit(node.test)
        if is_guard(node) and (ast.unparse(node.test) in self.sizes.tests or _says_nothing(node.test)):
            return None
        node.body = [s for s in map(self.visit, node.body) if s is not None] or [ast.Pass()]
        node.orelse = [s for s in map(self.visit, node.orelse) if s is not None]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Attribute) and (found := self.sizes.of(node)):
            return _read(found)
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """A size to which numbers are added, one after another, is that size and one number."""
        self.generic_visit(node)
        match node:
            case ast.BinOp(ast.BinOp() as size, ast.Add() | ast.Sub() as way, ast.Constant(int(more))):
                text = _text(size)
                found = plus(text, more if isinstance(way, ast.Add) else -more) if SIZE.fullmatch(shift(text)[0]) else ""
                return _read(found) if found else node
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.sizes.of(node) if isinstance(node.ctx, ast.Load) else ""
        return _read(self.sizes.same(found)) if found else node


def _text(size: ast.expr) -> str:
    """A size as `assumed` has it."""
    return f"({ast.unparse(size)})" if isinstance(size, ast.BinOp) else ast.unparse(size)


def _is_of_one(test: ast.expr) -> bool:
    """Whether a test is passed by two sizes that are the same."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotEq)


def _read(size: str) -> ast.expr:
    return ast.parse(size, mode="eval").body


def _says_nothing(test: ast.expr) -> bool:
    match test:
        case ast.Compare(a, [ast.NotEq()], [b]):
            return ast.dump(a) == ast.dump(b)
        case _:
            return False


def is_guard(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but end the function with the status SIZES."""
    match statement:
        case ast.If(_, [ast.Return(ast.Tuple([*_, ast.Constant(status)]))], []):
            return bool(status == SIZES)
        case _:
            return False
