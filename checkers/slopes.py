"""
Exact tests of programs without calculus and without tolerance, in a prime field (T26, T27).

T27, identity: two programs that agree at random residues are the same expression, with a chance of error that is computed.

T26, slopes: for any function the slope s = (f(v') - f(v)) / (v' - v) satisfies f(v') - f(v) = s (v' - v) exactly, and slopes
compose as derivatives do. So J, run with slopes where it wants partial derivatives, must give f(x') - f(x) = Σ sᵢ (x'ᵢ - xᵢ),
whatever the primitives mean. It tests what J does with fan-out, closures, captured variables, branches and loops; nothing else.
`with_slopes` makes of a program one whose primitives carry slopes for backpropagators; its J-program is judged by
`slope_identity`. This module does not know J: the caller applies it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from checkers.columns.leaves import at_path, coordinates, map_leaves
from checkers.columns.modular import Oracle, P, Residue, lift, modular
from checkers.columns.partials import SMOOTH
from checkers.verdict import Counterexample, Passed, Refuted, Unknown, Vacuous, Verdict
from semantics.denotation import FRACTIONS, Reading, denote
from semantics.edit import Edit
from semantics.errors import AdjudgeError, OutOfFuel, Trap
from semantics.ir import Program
from semantics.primitives.row import Column, Hole, Primitive
from semantics.primitives.table import COMPARISONS, TABLE
from semantics.tangents import ZERO
from semantics.text import read
from semantics.values import same

TRIALS = 8
FUEL = 5_000  # calls: a loop that waits for a residue to become small waits for ever


def _template(program: Program, template: Sequence[Any] | None) -> tuple[Any, ...]:
    """Arguments whose reals are to be drawn; by default every parameter is a real."""
    return tuple(template) if template is not None else (0.0,) * len(program.graphs[program.entry].parameters)


def _drawn(template: tuple[Any, ...], source: random.Random) -> Any:
    known = set(coordinates(template))
    return map_leaves(lambda path, leaf: source.randrange(1, P) if path in known else leaf, template)


def _residues(template: tuple[Any, ...], drawn: Any) -> Any:
    known = set(coordinates(template))
    return map_leaves(lambda path, leaf: Residue(leaf, 1) if path in known else leaf, drawn)


def _values(value: Any) -> Any:
    return map_leaves(lambda _, leaf: f"{leaf.value} mod p" if isinstance(leaf, Residue) else leaf, value)


def _degree(value: Any) -> int:
    found = 0

    def note(_: Any, leaf: Any) -> None:
        nonlocal found
        found = max(found, leaf.degree if isinstance(leaf, Residue) else 0)

    map_leaves(note, value)
    return found


def identical_mod_p(a: Program, b: Program, trials: int = TRIALS, seed: int = 0, template: Sequence[Any] | None = None) -> Verdict:
    """
    Whether two programs are the same function, by their values at random residues.

    Passed    equal wherever both are defined, with the bound on the chance that they are not
    Refuted   different rational functions: replayed with fractions, so the two values are exact
    Unknown   they differ when exp, sin, max and their kind are arbitrary functions; over the reals they need not
    Vacuous   no point was in the domain of both
    """
    claim = "identity modulo 2^61 - 1"
    source, judged, degree = random.Random(seed), 0, 0
    shape = _template(a, template)
    for trial in range(trials):
        oracle = Oracle(seed * trials + trial)
        point = _drawn(shape, source)
        try:
            values = [denote(p, _residues(shape, point), modular(oracle), FUEL) for p in (a, b)]
        except OutOfFuel:
            break
        except Trap:
            continue
        judged += 1
        degree = max(degree, sum(map(_degree, values)))
        if not same(*map(_values, values)):
            return _different(a, b, shape, point, oracle, claim)
    if not judged:
        return Vacuous("at no random point did both programs end inside their domain", claim)
    return Passed(judged, f"points modulo 2^61 - 1; different functions pass one with a chance of at most {degree / P:.1e}", claim)


def _different(a: Program, b: Program, shape: tuple[Any, ...], point: Any, oracle: Oracle, claim: str) -> Verdict:
    if oracle.asked:
        return Unknown("they differ if irrational primitives and order are arbitrary functions", claim)
    known = set(coordinates(shape))
    exact = map_leaves(lambda path, leaf: Fraction(leaf) if path in known else leaf, point)
    try:
        values = [denote(p, exact, FRACTIONS) for p in (a, b)]
    except AdjudgeError as error:
        return Unknown(f"they differ modulo p, but the point is outside the domain over the rationals: {error.what}", claim)
    if same(*values):
        return Unknown("they differ modulo p and agree over the rationals: a bug in the modular column", claim)
    inputs = {f"argument {i}": x for i, x in enumerate(exact)}
    return Refuted(Counterexample(inputs, values[1], values[0]), claim=claim)


# slopes


@dataclass(frozen=True, slots=True)
class Pair:
    """A real at the two points of the slope."""

    at: Residue
    to: Residue


@cache
def _sloped(name: str) -> Primitive:
    """The primitive whose backpropagator multiplies by slopes, which are primitives themselves."""
    row = TABLE[name]
    slopes = [
        Primitive(f"slope_{name}_{i}", row.parameters, row.signature, "real", columns={"sloped": name, "slope": i})
        for i in range(_arity(name))
    ]
    names = ", ".join(f"%{x}_" for x in row.parameters)
    lines = [f"program @{name}_slopes", "", f"@{name}_slopes({names}, %out, %dout):"]
    for i, p in enumerate(slopes):
        lines += [f"  %s{i} = {p.name}({names})", f"  %d{i} = mul(%s{i}, %dout)"]
    lines += [f"  %r = make_tuple({', '.join(f'%d{i}' for i in range(len(slopes)))})", "  return %r"]
    program = read("\n".join(lines), {**TABLE, **{p.name: p for p in slopes}})
    return Primitive(name, row.parameters, row.signature, row.result, columns={"backpropagator": program, "sloped": name})


def _arity(name: str) -> int:
    return len(TABLE[name].parameters)


SLOPED = tuple(n for n in SMOOTH if n not in {p.name for p in COMPARISONS} | {"to_boolean", "to_integer", "floor", "ceil"})


def with_slopes(program: Program) -> Program:
    """The same program over primitives whose backpropagators are slopes. Apply J to it, then ask `slope_identity`."""
    edit = Edit(program)
    for name in SLOPED:
        node = program.interned.get(TABLE[name])
        if node is not None:
            edit.replace(node, edit.constant(_sloped(name)))
    return edit.program


@dataclass(frozen=True, slots=True)
class _PairedColumn(Column):
    """Primals are pairs, sensitivities single residues. Branches go as the first point says, for both."""

    inner: Column = field(default_factory=lambda: modular(Oracle()).column)

    def find(self, primitive: Primitive) -> Callable[..., Any] | Hole:
        """Slopes and sloped primitives read pairs; comparisons the first point; the rest is the algebra of sensitivities."""
        index, name = primitive.columns.get("slope"), primitive.columns.get("sloped")
        if name is not None and index is not None:
            cell = self.inner[TABLE[name]]
            return lambda *arguments: _slope(cell, index, arguments)
        if name is not None:
            cell = self.inner[TABLE[name]]
            return lambda *arguments: _pairwise(cell, arguments)
        found = self.inner.find(primitive)
        if isinstance(found, Hole) or primitive.name not in _FIRST:
            return found
        return lambda *arguments: found(*(a.at if isinstance(a, Pair) else a for a in arguments))


_FIRST = frozenset({p.name for p in COMPARISONS} | {"to_boolean", "to_integer", "floor", "ceil"})


def _ends(arguments: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    return [a.at if isinstance(a, Pair) else a for a in arguments], [a.to if isinstance(a, Pair) else a for a in arguments]


def _pairwise(cell: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    here, there = _ends(arguments)
    at, to = cell(*here), cell(*there)
    return Pair(at, to) if isinstance(at, Residue) and isinstance(to, Residue) else at


def _slope(cell: Callable[..., Any], i: int, arguments: Sequence[Any]) -> Any:
    """
    The slope in argument i, those before it moved already: the slopes of all arguments telescope to the whole difference.

    Any slope is right for an argument that does not move.
    """
    here, there = _ends(arguments)
    if not isinstance(arguments[i], Pair) or here[i] == there[i]:
        return Residue(0, 0)
    before, after = cell(*there[:i], *here[i:]), cell(*there[: i + 1], *here[i + 1 :])
    if not (isinstance(before, Residue) and isinstance(after, Residue)):
        raise Trap("the slope of an integer", rule="slopes", remedy="this check is for programs over reals")
    return (after + -before) * (there[i] + -here[i]).inverse()


def paired(oracle: Oracle) -> Reading:
    """The reading in which sloped programs and their J run."""
    inner = modular(oracle).column

    def lifted(value: Any) -> Any:
        constant = lift(value)
        return Pair(constant, constant) if isinstance(constant, Residue) else constant

    return Reading(_PairedColumn("paired", inner.cells, inner), lifted)


def slope_identity(
    program: Program,
    gradient_program: Program,
    trials: int = TRIALS,
    seed: int = 0,
    template: Sequence[Any] | None = None,
    select: Callable[[Any], Any] = lambda value: value,
) -> Verdict:
    """
    T26: f(x') - f(x) = Σ sᵢ (x'ᵢ - xᵢ), where f is `with_slopes(p)` and the sᵢ are `select` of the value of its gradient program.

    The sensitivities must have the structure of the arguments; ZERO and None stand for nothing.
    """
    claim, source, judged = "slopes", random.Random(seed), 0
    shape = _template(program, template)
    paths = coordinates(shape)
    for trial in range(trials):
        ends = [_drawn(shape, source) for _ in range(2)]
        arguments = map_leaves(
            lambda path, leaf: Pair(Residue(at_path(ends[0], path)), Residue(at_path(ends[1], path))) if path in paths else leaf,  # noqa: B023
            shape,
        )
        try:
            reading = paired(Oracle(seed * trials + trial))
            out = denote(program, arguments, reading, FUEL)
            slopes = select(denote(gradient_program, arguments, reading, FUEL))
        except OutOfFuel:
            break
        except Trap:
            continue
        judged += 1
        total = Residue(0, 0)
        for path in paths:
            slope, argument = at_path(slopes, path), at_path(arguments, path)
            if slope is not ZERO and slope is not None:
                total = total + slope * (argument.to + -argument.at)
        wanted = out.to + -out.at if isinstance(out, Pair) else Residue(0, 0)
        if total != wanted:
            inputs = {"x": ends[0], "x'": ends[1]}
            return Refuted(
                Counterexample(inputs, total.value, wanted.value, note="modulo 2^61 - 1, with random oracles"), claim=claim
            )
    if not judged:
        return Vacuous("at no random point did the program end inside its domain", claim)
    return Passed(judged, "exact identities modulo 2^61 - 1, with random oracles", claim)
