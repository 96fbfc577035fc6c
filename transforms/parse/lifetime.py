"""
Whether a function can outlive the turn of the loop in which it is created.

A function that captures v by value agrees with Python, which captures the variable, as long as v is not assigned while the
function can still be called. Where only the next turn of a loop assigns v, that holds if nothing that may contain the function
is live when a turn begins. What may contain it is over-approximated, without regard to order: the variables assigned from it,
from tuples and calls that it enters, and from functions that capture such variables. Arithmetic yields numbers, which contain
nothing; so does a call of a function that returns arithmetic on its own arguments (`plain`).
"""

from __future__ import annotations

import ast

from transforms.parse.flow import Scope
from transforms.parse.nodes import held_by
from transforms.parse.shape import heads, own_statements, targets_of, walruses_of
from transforms.parse.source import Function, parameters_of

NUMBERS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant)


def outlives_turn(scope: Scope, function: Function, name: str) -> bool:
    """Whether `function`, created in `scope`, may be called after a later turn of a loop around it has assigned `name`."""
    loops = [loop for loop in scope.loops.get(function, ()) if name in scope.flows[loop].assigned]
    held = holders(scope, function)
    return any(held & scope.live_header[loop] for loop in loops)


def holders(scope: Scope, function: Function) -> set[str]:
    """The variables of `scope` that may contain `function`."""
    held: set[str] = set()
    grew = True
    while grew:
        grew = False
        for statement in own_statements(scope.node):
            for names, value in _assignments(statement):
                if not held.issuperset(names) and _contains(scope, value, function, held):
                    held.update(names)
                    grew = True
    return held


def _assignments(statement: ast.stmt) -> list[tuple[list[str], ast.expr | ast.FunctionDef]]:
    """What a statement itself assigns to which names; for a loop, what it goes over to its target."""
    found: list[tuple[list[str], ast.expr | ast.FunctionDef]] = [
        ([name], value) for head in heads(statement) for name, value in walruses_of(head)
    ]
    match statement:
        case ast.Assign(targets=targets, value=value):
            found.append(([n for t in targets for n in targets_of(t)], value))
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.For(target=target, iter=value):
            found.append((targets_of(target), value))
        case ast.FunctionDef(name=bound):
            found.append(([bound], statement))
    return found


def _contains(scope: Scope, value: ast.expr | ast.FunctionDef, function: Function, held: set[str]) -> bool:
    """Whether the value of an expression may contain `function`, given the variables that may."""
    todo: list[ast.AST] = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            if node is function or scope.children[node].free & held:
                return True
        elif isinstance(node, ast.Name):
            if node.id in held:
                return True
        elif isinstance(node, ast.Call):
            todo += [*node.args, *(k.value for k in node.keywords)]
            if not (isinstance(node.func, ast.Name) and _is_plain(scope, node.func.id)):
                todo.append(node.func)
        elif not isinstance(node, NUMBERS):
            todo.extend(held_by(node))
    return False


def _is_plain(scope: Scope, name: str) -> bool:
    """Whether `name` is a function defined once in `scope` that returns only numbers, its arguments, and tuples of them."""
    pending, seen = [name], set()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        node = scope.single.get(name)
        if node is None:
            return False
        inner = scope.children[node]
        arguments = {a.arg for a in parameters_of(node)}
        returned: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else []
        assigned: dict[str, list[ast.AST]] = {}
        for statement in own_statements(node):
            for head in heads(statement):
                for target, value in walruses_of(head):
                    assigned.setdefault(target, []).append(value)
            match statement:
                case ast.Return(value=ast.expr() as value):
                    returned.append(value)
                case ast.Assign(targets=[ast.Name(id=target)], value=value):
                    assigned.setdefault(target, []).append(value)
                case ast.AugAssign():
                    pass
                case ast.Assign() | ast.AnnAssign() | ast.For() | ast.FunctionDef():
                    for target in _bound(statement):
                        assigned.setdefault(target, []).append(statement)
        visited: set[str] = set()
        while returned:
            part = returned.pop()
            match part:
                case ast.Name(id=local) if local in inner.local:
                    if local not in visited:
                        visited.add(local)
                        returned += assigned.get(local, [])
                        if local not in arguments and local not in assigned:
                            return False
                case ast.Call(func=ast.Name(id=called), args=args, keywords=keywords) if (
                    called in scope.single and called in inner.free
                ):
                    pending.append(called)
                    returned += [*args, *(k.value for k in keywords)]
                case ast.Tuple() | ast.IfExp() | ast.BoolOp():
                    returned += [n for n in ast.iter_child_nodes(part) if isinstance(n, ast.expr)]
                case _:
                    if not isinstance(part, NUMBERS):
                        return False
    return True


def _bound(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.Assign(targets=targets):
            return [n for t in targets for n in targets_of(t)]
        case ast.AnnAssign(target=target) | ast.For(target=target):
            return targets_of(target)
        case ast.FunctionDef(name=name):
            return [name]
    return []
