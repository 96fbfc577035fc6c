"""
Numbers that have one value wherever they are assigned, written as that; and branches that are never taken, left out.

    i = 0 if True else 1                          if b:
    if b:                                             x = f(y)
        if i == 0: x = f(y)          →
        else: x = g(y)

A name has a value if each assignment that may be reached gives it that value, where it is assumed of what was not reached yet that
it never is: so a number that a loop carries, and that is given only its own value in each turn, is known as well.

A branch that is left out may have been the first in the text to assign what another reads, as where a loop with a head is no longer
entered at its first entry. Numba demands an assignment above each reading; so what a run comes to first is written first.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from backend.arrays.walking import walk

Block = list[ast.stmt]
BLOCKS = ("body", "orelse")
UNKNOWN, UNREACHED = object(), object()
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def constants(function: ast.FunctionDef, assumed: dict[str, Any] | None = None, *, marks: bool = False) -> None:
    """
    The function with its constant integers and booleans written out; `assumed` says what some names are, however assigned. `marks`
    stay, which say that a number is that of a choice: `backend.arrays.begun` looks for them.
    """
    given = {a.arg for a in function.args.args}
    values = _Values(assumed or {}, _assigned(function) - given)
    values.settle(function.body)
    folded = _Folded(values, marks)
    function.body = folded.block(function.body)
    local = _assigned(function)
    if _unassigned(function.body, local, given):
        _order(function.body, local, given)


class _Values:
    """What names are, by the assignments that may be reached; UNKNOWN are arguments, and those of the module, such as `_MAX`."""

    def __init__(self, assumed: dict[str, Any], assigned: set[str]) -> None:
        self.assumed = assumed
        self.known: dict[str, Any] = dict.fromkeys(assigned, UNREACHED)
        self.changed = False

    def settle(self, block: Block) -> None:
        """Until nothing changes: a name changes twice at most."""
        self.changed = True
        while self.changed:
            self.changed = False
            self._run(block)

    def of(self, node: ast.expr) -> Any:
        """A constant, UNKNOWN, or UNREACHED where that is not reached yet which it needs."""
        match node:
            case ast.Constant(bool() | int() as value):
                return value
            case ast.Name(name):
                return self.assumed.get(name, self.known.get(name, UNKNOWN))
            case ast.IfExp(test, a, b):
                return self._chosen(self.of(test), a, b)
            case ast.Compare(a, [op], [b]) if type(op) in COMPARED:
                return _strict(COMPARED[type(op)], self.of(a), self.of(b))
            case ast.UnaryOp(ast.Not(), a):
                return _strict(operator.not_, self.of(a))
            case _:
                return UNKNOWN

    def _chosen(self, test: Any, a: ast.expr, b: ast.expr) -> Any:
        if test is UNREACHED:
            return UNREACHED
        if test is not UNKNOWN:
            return self.of(a if test else b)
        return _joined(self.of(a), self.of(b))

    def _run(self, block: Block) -> None:
        for statement in block:
            match statement:
                case ast.If(test, body, orelse):
                    found = self.of(test)
                    if found is UNKNOWN or (found is not UNREACHED and found):
                        self._run(body)
                    if found is UNKNOWN or (found is not UNREACHED and not found):
                        self._run(orelse)
                case ast.While(_, body, orelse) | ast.For(_, _, body, orelse):
                    if isinstance(statement, ast.For):
                        self._forget(statement.target)
                    self._run(body)
                    self._run(orelse)
                case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
                    for target, value in zip(targets, [self.of(v) for v in values], strict=True):
                        self._give(target, value)
                case ast.Assign([ast.Name() as target], value):
                    self._give(target, self.of(value))
                case _:
                    self._forget(statement)

    def _give(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Name):
            before = self.known.get(target.id, UNKNOWN)
            after = _joined(before, value)
            if after is not before:
                self.known[target.id] = after
                self.changed = True

    def _forget(self, node: ast.AST) -> None:
        for name in walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                self._give(name, UNKNOWN)


def _strict(op: Callable[..., Any], *operands: Any) -> Any:
    if any(o is UNREACHED for o in operands):
        return UNREACHED
    return UNKNOWN if any(o is UNKNOWN for o in operands) else op(*operands)


def _joined(a: Any, b: Any) -> Any:
    """What is one of two: numbers are the same if their types are, too."""
    if a is UNREACHED or b is UNREACHED:
        return b if a is UNREACHED else a
    return a if a is b or (a is not UNKNOWN and b is not UNKNOWN and type(a) is type(b) and a == b) else UNKNOWN


class _Folded(ast.NodeTransformer):
    """Expressions and blocks under what is known."""

    def __init__(self, values: _Values, marks: bool) -> None:
        self.values, self.marks = values, marks

    def block(self, block: Block) -> Block:
        """What is left of it, up to a jump."""
        found: Block = []
        for statement in block:
            if isinstance(statement, ast.If) and isinstance(taken := self.values.of(statement.test), (bool, int)):
                found += self.block(statement.body if taken else statement.orelse)
            else:
                found.append(self._statement(statement))
            if found and isinstance(found[-1], (ast.Break, ast.Continue, ast.Return)):
                break
        return found

    def _statement(self, statement: ast.stmt) -> ast.stmt:
        match statement:
            case ast.If(test, body, orelse):
                return ast.If(self.visit(test), self.block(body) or [ast.Pass()], self.block(orelse))
            case ast.While(test, body, orelse):
                return ast.While(self.visit(test), self.block(body) or [ast.Pass()], self.block(orelse))
            case ast.For(target, iter, body, orelse):
                return ast.For(target, self.visit(iter), self.block(body) or [ast.Pass()], self.block(orelse))
            case _:
                return self.visit(statement)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.values.of(node) if isinstance(node.ctx, ast.Load) else UNKNOWN
        return ast.Constant(found) if isinstance(found, (bool, int)) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if self.marks and all(isinstance(n, ast.Constant) for n in (node.test, node.body, node.orelse)):
            return node
        if isinstance(taken := self.values.of(node.test), (bool, int)):
            return self.visit(node.body if taken else node.orelse)
        self.generic_visit(node)
        return node


def _assigned(node: ast.AST) -> set[str]:
    return {name.id for name in walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


def _unassigned(block: Block, local: set[str], given: set[str]) -> bool:
    """Whether one of the function's names is read before the text assigns it, where some are given."""
    return any(True for _ in _readings(block, local, set(given)))


def _readings(block: Block, local: set[str], given: set[str]) -> Iterator[str]:
    """The names that are read above all that assigns them; what the block assigns is given from then on."""
    for statement in block:
        fields = dict(ast.iter_fields(statement))
        inner = [part for name in BLOCKS for part in fields.pop(name, ())]
        own = [part for field in fields.values() for part in (field if isinstance(field, list) else [field])]
        found = [name for part in own if isinstance(part, ast.AST) for name in walk(part) if isinstance(name, ast.Name)]
        names = [name for name in found if name.id in local]
        yield from (name.id for name in names if isinstance(name.ctx, ast.Load) and name.id not in given)
        given.update(name.id for name in names if isinstance(name.ctx, ast.Store))
        yield from _readings(inner, local, given)


def _order(block: Block, local: set[str], given: set[str]) -> None:
    """Changes branches about where the first reads what only the second, or what stands behind both, assigns."""
    for statement in block:
        if isinstance(statement, ast.If) and statement.orelse and _is_late(statement, local, given):
            statement.test = _negated(statement.test)
            statement.body, statement.orelse = statement.orelse, statement.body
        for name in BLOCKS:
            _order(getattr(statement, name, []), local, given)
        given |= _assigned(statement)


def _is_late(choice: ast.If, local: set[str], given: set[str]) -> bool:
    """Whether only the first branch reads what the text has not assigned yet."""
    return _unassigned(choice.body, local, given) and not _unassigned(choice.orelse, local, given)


def _negated(test: ast.expr) -> ast.expr:
    match test:
        case ast.Compare(_, [ast.Eq()], _):
            return ast.Compare(test.left, [ast.NotEq()], test.comparators)
        case _:
            return ast.UnaryOp(ast.Not(), test)
