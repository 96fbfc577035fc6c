"""
Rows that are linear in some of their arguments, and so push tangents forward by themselves.

    LINEAR        the row, with the tangents of some arguments in their place; or the sum of several such applications
    WRITTEN_OUT   a few more applications, (x…, out, δx…) -> δout as text

The tangent of a record or of a dictionary is a tuple: it has places and no names. That of a memory has that of every cell. A
tangent may be ZERO; these rows read it as what it is.
"""

from __future__ import annotations

FIRST = (
    "like sum_to spread keep gathered returned reshape transpose broadcast_to expand_dims squeeze flip roll diag tril triu "
    "swap_last grouped take_along take trace reduce_sum mean cumsum cleared cell cell_cleared"
)

LINEAR: dict[str, tuple[tuple[int, ...], ...]] = {
    "switch": ((1, 2),),
    "inject": ((2,),),
    "cell_alone": ((2,),),
    "unsum": ((1,),),
    **dict.fromkeys(FIRST.split(), ((0,),)),
    **dict.fromkeys(("matmul", "dot", "outer", "inner", "scale", "tensordot"), ((0,), (1,))),
}
"""The arguments that a row is linear in: groups of positions, in each of which together."""


def _written(parameters: str, *body: str) -> str:
    """The text of a pushforward: its parameters, its equations, and last what it returns."""
    *equations, result = body
    names = parameters.split()
    arguments = ", ".join(f"%{p}" for p in [*names, "out", *(f"δ{p}" for p in names)])
    return "\n".join([f"program @δ\n\n@δ({arguments}):", *(f"  {e}" for e in equations), f"  return {result}"])


WRITTEN_OUT: dict[str, str] = {
    "getitem": _written("t i", "%k = place_in(%t, %i)", "%d = getitem(%δt, %k)", "%d"),
    "field": _written("r name", "%k = field_index(%r, %name)", "%d = getitem(%δr, %k)", "%d"),
    "load": _written("m p", "%d = cell(%δm, %p)", "%d"),
    "store": _written("m p v", "%rest = cell_cleared(%δm, %p)", "%new = cell_alone(%m, %p, %δv)", "%d = gadd(%rest, %new)", "%d"),
    "alloc": _written(
        "m v",
        *("%after = getitem(%out, 0)", "%p = getitem(%out, 1)"),
        *("%rest = cell_cleared(%δm, %p)", "%new = cell_alone(%after, %p, %δv)", "%cells = gadd(%rest, %new)"),
        *("%d = make_tuple(%cells, ZERO)", "%d"),
    ),
}
