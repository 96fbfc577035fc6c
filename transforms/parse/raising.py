"""
The rule of `raise`. The graph ends with a trap that says the class of the exception and its message; an assertion is a `raise` in
a branch. Nothing catches, so which exception it is matters only to the reader.
"""

from __future__ import annotations

import ast
import builtins
import difflib

from transforms.agenda_system import agenda_rule
from transforms.parse.cursor import Cursor
from transforms.parse.items import Do, top
from transforms.parse.state import ParseState

EXCEPTIONS = tuple(n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException))


@agenda_rule
def raise_statement(state: ParseState) -> ParseState | None:
    """⟨raise E("why")⟩ κ  →  κ        g ends with fail("E: why")"""
    match top(state):
        case Do(ast.Raise(exc=ast.expr() as raised) as at):
            c = Cursor(state)
            message = ""
            if isinstance(raised, ast.Call):
                message = "".join(f": {a.value}" for a in raised.args if isinstance(a, ast.Constant) and isinstance(a.value, str))
                raised = raised.func
            _check_exception(c, raised)
            c.output(c.apply("fail", c.constant(ast.unparse(raised) + message), at=at))
            return c.state
    return None


def _check_exception(c: Cursor, raised: ast.expr) -> None:
    """A name that is no variable, and if it is a builtin, one of an exception."""
    if not isinstance(raised, ast.Name):
        return
    name = raised.id
    known = name in EXCEPTIONS or (not hasattr(builtins, name) and c.frame.names.find(name) is not None)
    if c.frame.scope.owner(name) is not None or not known:
        near = difflib.get_close_matches(name, EXCEPTIONS, 1)
        raise c.refuse(raised, f"{name} is no exception", f'raise {(near or ["ValueError"])[0]}("what is wrong")', rule="name")


RULES = (raise_statement,)
