"""
The reverse modes: three ways to build an adjoint program, behind one entrance.

    J                          closures (2017, section 3; 2018, section 3.2): `transforms.grad`
    ssa                        the adjoint of SSA code, alphas on stacks (Zygote, section 3.1): `transforms.ssa_adjoint`
    ssa-recompute, ssa-mixed   the same, with other policies for alphas
    pullback                   local pullbacks, composed and then shared (MimIrADe, section 3.2): `transforms.pullback`
    pullback-shadow            the same, with all of memory's gradients in a shadow memory (section 3.3.1)
    cached                     J, but affine loops by two loops and a cache (section 3.3.3): `transforms.affine`

A mode says what becomes of an application J(@f): a reference to a graph ▶f of the convention of `grad`, where ▶f(x…) = (f(x…), ◀f)
and ◀f(∇) = ((∇v…), ∇x…), v… the free variables of f. All that calls J, that is every macro, thereby works in every mode.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches

from semantics.errors import Malformed
from semantics.ir import NodeId, Program
from transforms import grad


@dataclass(frozen=True, slots=True)
class Mode:
    """`expand_j(program, place)` puts a reference to ▶f where J(@f) stands; Malformed where the mode does not reach."""

    name: str
    title: str
    source: str
    expand_j: Callable[[Program, NodeId], Program]


def _by_j(program: Program, place: NodeId) -> Program:
    return grad.SYSTEM.run(grad.begin(program, place))


def _by_ssa(policy: str) -> Callable[[Program, NodeId], Program]:
    """
    Where f is not of first order, what the rest of the program knows of the functions that f captures is used first: the step is
    then to that program, in which J(@f) is still to be expanded.
    """

    def expand_j(program: Program, place: NodeId) -> Program:
        from transforms.ssa.exact_passes import EXACT
        from transforms.ssa_adjoint.in_graph import expand_j

        try:
            return expand_j(program, place, policy=policy)
        except Malformed:
            reduced = EXACT.run(program)
            if reduced is program:
                raise
            return reduced

    return expand_j


def _by_pullbacks(pointers: str) -> Callable[[Program, NodeId], Program]:
    def expand_j(program: Program, place: NodeId) -> Program:
        from transforms.pullback import expand_j

        return expand_j(program, place, pointers=pointers)

    return expand_j


def _by_caches(program: Program, place: NodeId) -> Program:
    from transforms.affine import expand_j

    return expand_j(program, place)


_ALL = (
    Mode("J", "J, closures", "Myia 2018 §3.2", _by_j),
    Mode("ssa", "SSA adjoint, alphas on stacks", "Zygote §3.1", _by_ssa("stack")),
    Mode("ssa-recompute", "SSA adjoint, alphas recomputed", "Zygote §3.1", _by_ssa("recompute")),
    Mode("ssa-mixed", "SSA adjoint, carried alphas on stacks", "Zygote §3.1", _by_ssa("mixed")),
    Mode("pullback", "local pullbacks", "MimIrADe §3.2", _by_pullbacks("structured")),
    Mode("pullback-shadow", "local pullbacks, a shadow memory", "MimIrADe §3.3.1", _by_pullbacks("accumulated")),
    Mode("cached", "J, affine loops cached", "MimIrADe §3.3.3", _by_caches),
)
MODES: dict[str, Mode] = {mode.name: mode for mode in _ALL}


def mode_called(name: str) -> Mode:
    """The mode of this name; Malformed with the known names if there is none."""
    if name not in MODES:
        close = get_close_matches(str(name), MODES, 3) or list(MODES)
        raise Malformed(f"no reverse mode is called {name!r}", rule="grad", remedy=f"one of {', '.join(close)}")
    return MODES[name]
