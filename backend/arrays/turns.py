"""
Loops whose turns may go side by side, 64 of them, each step for all before the next step for any.

    private   an array of which a turn has its own part, so that every turn writes before it reads: it was contracted to one part
    own       an array whose every access has the number of the turn as the same index
    added     an array in which a turn touches each element at one place of the text at most: all its indices are there, and those
              are the numbers of all the loops around it. What turns do to an element then keeps their order.
    carried   a number that a turn finds as the one before left it: one group of statements outside inner loops has all of it, but
              if it is a sum in any order, which may be anywhere
    numbers   all others; a turn sets each before it reads it

There is no other dependence between turns, and none may end the function or the loop; so no order but that of the last two matters.
It is worth it where an inner loop adds up: a sum waits for itself, and the sums of several turns do not wait for each other.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backend.arrays.contraction import indices
from backend.arrays.effects import Roots
from backend.arrays.walking import names_in, walk
from semantics.primitives.table import ELEMENTARY

Block = list[ast.stmt]
DTYPES = {"x": "_f64", "i": "_i64", "b": "_bool"}  # of numbers, by the first letter of their names
PLAIN = frozenset(
    {"float", "int", "bool", "abs", "min", "max", "_mul", "_div", "_floor", "_fmod", "_sign", "_single", "_copysign", "_any_term"}
)
FUNCTIONS = PLAIN | {f"_{p.name}" for p in ELEMENTARY} | {"_pow", "_mod_ff", "_floordiv_ff"}
"""Total functions of numbers: those of arrays may write to them."""
EXPRESSIONS = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp, ast.Tuple, ast.Subscript)
EXPRESSIONS += (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)  # type: ignore[assignment]


@dataclass(frozen=True)
class Turns:
    """A loop whose turns may go side by side; the module says what the sets are. `written` are all arrays that it writes to."""

    loop: ast.For
    numbers: frozenset[str]
    carried: frozenset[str]
    private: frozenset[str]
    added: frozenset[str]
    written: frozenset[str]

    @property
    def turn(self) -> str:
        """The name of the number of the turn."""
        assert isinstance(self.loop.target, ast.Name), "loops count"
        return self.loop.target.id


def turns(loop: ast.For, parts: frozenset[str], function: Mentions) -> Turns | None:
    """The loop of a function, if its turns may go side by side and that is worth it; of `parts` its turns have a part each."""
    if not (isinstance(loop.target, ast.Name) and _is_range(loop.iter) and all(map(_is_simple, loop.body))):
        return None
    turn = loop.target.id
    inside = [n for s in loop.body for n in walk(s)]
    counters = [n.target.id for n in inside if isinstance(n, ast.For) and isinstance(n.target, ast.Name)]
    set_here = set_in(loop.body)
    stops = {name for n in (loop, *inside) if isinstance(n, ast.For) for name in names_in(n.iter)}
    written = frozenset(a for a, _, node in elements(inside) if isinstance(node.ctx, ast.Store))
    private, carried = parts & written, reads_first(loop.body, set_here)
    own = {a for a in written - private if _has_own(inside, a, turn)}
    found = Turns(loop, set_here - carried, frozenset(carried), private, written - private - own, written)
    certain = (
        not stops & {*set_here, *written, turn}
        and not set_here & {*counters, turn}
        and all(name[0] in DTYPES for name in set_here)
        and all(map(function.made_alone, written))
        and not function.loaded_outside(walk(loop), {*found.numbers, *counters, turn})
        and _in_one_place(found)
    )
    inner = [s for s in loop.body if isinstance(s, ast.For)]
    worth = any(_sums(n) for n in inside if isinstance(n, ast.For)) and not any(a in own for s in inner for a in names_in(s))
    return found if certain and worth else None


class Mentions:
    """
    What the statements of a function mention, counted, so that what stands outside of one is known without looking at the others.

    names   the names          sharing   the names of one memory, by its root
    loads   those read         made      the arrays made that have types of numbers
    """

    def __init__(self, function: ast.FunctionDef, known: Roots) -> None:
        self.known = known
        self.names, self.sharing, self.loads, self.made = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
        for statement in function.body:
            self.count(statement, 1)

    def count(self, statement: ast.stmt, by: int) -> None:
        """Adds what a statement mentions, or takes it away."""
        for node in walk(statement):
            match node:
                case ast.Name(name, context):
                    before = self.names[name] > 0
                    self.names[name] += by
                    self.sharing[self.known.of(name)] += (self.names[name] > 0) - before
                    self.loads[name] += by * isinstance(context, ast.Load)
                case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_empty" | "_full"), [*_, ast.Name(dtype)])):
                    self.made[name] += by * (dtype in DTYPES.values())

    def made_alone(self, name: str) -> bool:
        """Whether the function makes an array, and has it under one name alone, of a type that numbers have."""
        return self.made[name] > 0 and self.sharing[self.known.of(name)] == 1

    def loaded_outside(self, inside: Iterable[ast.AST], names: set[str]) -> bool:
        """Whether a name is read outside a statement, of which these are the nodes, too."""
        own = Counter(n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
        return any(self.loads[name] > own[name] for name in names)


def _is_range(iter: ast.expr) -> bool:
    match iter:
        case ast.Call(ast.Name("range"), [stop], []):
            return _is_number(stop)
        case _:
            return False


def _is_simple(statement: ast.stmt) -> bool:
    """Whether a statement only assigns, in loops and tests, and calls functions of numbers alone."""
    match statement:
        case ast.For(ast.Name(), iter, body, []):
            return _is_range(iter) and all(map(_is_simple, body))
        case ast.If(test, body, orelse):
            inner = [*body, *orelse]
            return _is_number(test) and all(isinstance(s, (ast.Assign, ast.If)) and _is_simple(s) for s in inner)
        case ast.Assign([ast.Name() | ast.Subscript(ast.Name()) as target], value):
            return _is_number(target) and _is_number(value)
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            return all(isinstance(t, ast.Name) for t in targets) and all(map(_is_number, values))
        case _:
            return False


def _is_number(expression: ast.AST) -> bool:
    """Whether an expression computes from numbers, elements and sizes."""
    match expression:
        case ast.Subscript(ast.Attribute(ast.Name(), "shape"), ast.Constant()):
            return True
        case ast.Subscript(value) if not isinstance(value, ast.Name):
            return False
        case ast.Call(ast.Name(name), arguments, []):
            return name in FUNCTIONS and all(map(_is_number, arguments))
        case _:
            return isinstance(expression, EXPRESSIONS) and all(map(_is_number, ast.iter_child_nodes(expression)))


def _reads_first(block: Block, numbers: frozenset[str], done: set[str], found: set[str]) -> None:
    """Adds to `found` the numbers that the block may read before it sets them, and to `done` those that it sets for sure."""
    for statement in block:
        match statement:
            case ast.For(_, _, body):
                _reads_first(body, numbers, {*done}, found)
            case ast.If(test, body, orelse):
                found |= (names_in(test) & numbers) - done
                one, other = {*done}, {*done}
                _reads_first(body, numbers, one, found)
                _reads_first(orelse, numbers, other, found)
                done |= one & other
            case ast.Assign([target], value):
                read = names_in(value) | (names_in(target) if isinstance(target, ast.Subscript) else set())
                found |= (read & numbers) - done
                done |= {n.id for n in walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def reads_first(block: Block, numbers: frozenset[str]) -> set[str]:
    """The numbers that a block may read before it sets them."""
    found: set[str] = set()
    _reads_first(block, numbers, set(), found)
    return found


def definitely(block: Block, numbers: frozenset[str]) -> set[str]:
    """The numbers that a block sets whatever is tested."""
    done: set[str] = set()
    _reads_first(block, numbers, done, set())
    return done


def _sums(loop: ast.For) -> bool:
    """Whether a turn of a loop reads a number that the turn before has set."""
    return bool(reads_first(loop.body, set_in(loop.body)))


def set_in(block: Block) -> frozenset[str]:
    """The numbers that the assignments in a block set."""
    targets = [s.targets[0] for statement in block for s in walk(statement) if isinstance(s, ast.Assign)]
    return frozenset(n.id for t in targets for n in walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def elements(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str, ast.Subscript]]:
    """The accesses to elements among nodes: of what array, at what index."""
    for node in nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            yield node.value.id, ast.unparse(node.slice), node


def _has_own(inside: list[ast.AST], array: str, turn: str) -> bool:
    """Whether an axis has the number of the turn as its index in every access."""
    found = [[ast.unparse(i) for i in indices(node)] for name, _, node in elements(inside) if name == array]
    return any(all(i[axis] == turn for i in found) for axis in range(min(map(len, found))))


def _in_one_place(turns: Turns) -> bool:
    """Whether arrays that are added to, and numbers that are carried, are so in one place each: a group of statements."""
    places: dict[str, set[tuple[int, str]]] = {}
    for at, (group, around) in enumerate(groups(turns.loop.body, ())):
        nodes = [n for s in group for n in walk(s)]
        if len({*around}) < len(around):
            return False
        for array, index, node in elements(nodes):
            if array in turns.added:
                if not {*around} <= {i.id for i in indices(node) if isinstance(i, ast.Name)}:
                    return False
                places.setdefault(array, set()).add((at, index))
        for number in turns.carried & {n.id for n in nodes if isinstance(n, ast.Name)}:
            if all(_goes_on(statement, number) for statement in group if number in names_in(statement)):
                continue
            if around:
                return False
            places.setdefault(number, set()).add((at, ""))
    return all(len(found) == 1 for found in places.values())


def _goes_on(statement: ast.stmt, number: str) -> bool:
    """Whether all that a statement does with a number is to add a term, in a sum whose terms may come in any order."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Name("_any_term"), [ast.Name(total), term])):
            return name == total == number and number not in names_in(term)
        case _:
            return False


def groups(block: Block, around: tuple[str, ...]) -> Iterator[tuple[Block, tuple[str, ...]]]:
    """The longest runs of statements that are no loops, each with the numbers of the loops around it."""
    run: Block = []
    for statement in block:
        if isinstance(statement, ast.For):
            if run:
                yield run, around
            run = []
            assert isinstance(statement.target, ast.Name)
            yield from groups(statement.body, (*around, statement.target.id))
        else:
            run.append(statement)
    if run:
        yield run, around
