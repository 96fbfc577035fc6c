"""Whether two functions are one: `equal`, the judgment of `proofs.validation` on Python functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semantics.errors import Malformed
from semantics.ir import Program

if TYPE_CHECKING:
    from checkers.smt.inquiry import Judgment
    from checkers.verdict import Verdict

OVER = {"reals": "REAL", "bits": "BITS"}
UNROLL = 4


def equal(
    f: Any,
    g: Any,
    *,
    over: str = "reals",
    where: str | None = None,
    types: Sequence[Any] | None = None,
    unroll: int = UNROLL,
    invariant: Callable[..., Any] | Program | None = None,
    seed: int = 0,
) -> Verdict:
    """
    Whether g has the value of f wherever f has one: for all arguments, by proof.

        equal(lambda x: x * (x + 1.0), lambda x: x * x + x)             Proved
        equal(lambda x: x / x, lambda x: 1.0)                           Proved: a domain may grow; the other way round Refuted
        equal(f, g, where="x > 0.0")                                    of arguments that satisfy a condition
        equal(f, g, types=("f64[3]", Point(1.0, 2.0)))                  of arrays of known size, of tuples and records
        equal(aj.grad(f), aj.grad(f, mode="ssa"))                       derivatives are functions

    over       "reals": as functions of real numbers, a float constant being the rational that it is; "bits": bit for bit
    where      a condition on the arguments
    types      of the arguments, in order: texts, or values of the type; else those declared in f, and f64
    unroll     loops that a whole-number argument counts are compared for 0 to so many turns, if they are not proved for all
    invariant  of two loops: a function of two dictionaries, the variables of f's loop and of g's, and of arguments by name, such as
               `lambda a, b, n: a["i"] + b["left"] == n and a["total"] == b["total"]`; it is proved by induction, in lockstep
    seed       of the random points that refute

    Proved for all arguments; Passed for the numbers of turns that it says; Refuted at a small point at which both were run;
    Unknown, or OutOfScope with the reason. Malformed if the two do not take the same arguments.
    """
    return judged(f, g, over=over, where=where, types=types, unroll=unroll, invariant=invariant, seed=seed).verdict


def judged(
    f: Any,
    g: Any,
    *,
    over: str = "reals",
    where: str | None = None,
    types: Sequence[Any] | None = None,
    unroll: int = UNROLL,
    invariant: Any = None,
    seed: int = 0,
) -> Judgment:
    """`equal` with its evidence: the method, the seconds and every question that a solver was asked."""
    from adjudge.functions import parse
    from adjudge.values import to_value
    from checkers.verdict import OutOfScope, Proved
    from proofs.validation import same
    from semantics.type_language import parse_type, type_of
    from transforms.nested_grad import expand

    if over not in OVER:
        raise Malformed(f"over is {over!r}", rule="equal", remedy=f"one of {', '.join(OVER)}")
    if isinstance(unroll, bool) or not isinstance(unroll, int) or unroll < 0:
        raise Malformed(f"unroll is {unroll!r}", rule="equal", remedy="how many turns to go through: 4")
    programs = [expand(parse(p)) for p in (f, g)]
    found = None if types is None else [parse_type(t) if isinstance(t, str) else type_of(to_value(t)) for t in types]
    wanted = len(programs[0].graphs[programs[0].entry].parameters)
    if found is not None and len(found) != wanted:
        raise Malformed(
            f"there are {len(found)} types for {wanted} arguments", rule="equal", remedy="one for each argument, in order"
        )
    relation = None if invariant is None else parse(invariant)
    judgment = same(*programs, domain=OVER[over], condition=where, turns=unroll, invariant=relation, types=found, seed=seed)
    if types is None and isinstance(judgment.verdict, OutOfScope):
        hint = "if an argument is an array, a tuple or a record, say which: types=('f64[3]', …), --type 'f64[3]'"
        return replace(judgment, verdict=replace(judgment.verdict, why=f"{judgment.verdict.why}; {hint}"))
    if isinstance(judgment.verdict, Proved):
        scope = _scope(programs[0], found, OVER[over], where)
        return replace(judgment, verdict=replace(judgment.verdict, by=judgment.verdict.by + scope))
    return judgment


def _scope(program: Program, types: Sequence[Any] | None, domain: str, where: str | None) -> str:
    """The arguments that a proof is about, each with its set: over the reals f64 is a real, i64 an integer."""
    from checkers.smt.sides import parameter_names
    from proofs.validation.arguments import declared

    written = ["f64" if t is None else str(t) for t in (types or declared(program))]
    sets = {"f64": "real", "i64": "integer"} if domain == "REAL" else {}
    named = ", ".join(f"{n}: {sets.get(t, t)}" for n, t in zip(parameter_names(program), written, strict=True))
    return f"; for all {named}{f' with {where}' if where else ''}" if named else ""
