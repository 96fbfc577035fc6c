"""
The backpropagators of the whole table, made once with the compiled machine, and kept.

Each is read from its text in a millisecond when a program is first differentiated that has the row; a program may have forty. The
machine takes half a minute to compile, so what all programs share is made there, in one second more, and no first gradient waits
for it.
"""

from __future__ import annotations

from backend import store
from semantics.errors import AdjudgeError
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from transforms.adjoint_primitives import pullback_of
from transforms.remembering import remembering
from transforms.ssa_adjoint.pullbacks import pullback_function


def keep() -> None:
    """Keeps the backpropagator of every row of the table, as a graph and as SSA code, for numbers and where there may be arrays."""
    with remembering(store.remembered):
        for row in TABLE.values():
            for arrays in (False, True):
                if "*" not in row.parameters:  # else there is one for each number of arguments
                    _keep(row, arrays)


def _keep(row: Primitive, arrays: bool) -> None:
    try:
        pullback_of(row, len(row.parameters), arrays)
        pullback_function(row, len(row.parameters), None, arrays)
    except AdjudgeError:
        return  # it has none, or none of first order: whoever wants it is told so
