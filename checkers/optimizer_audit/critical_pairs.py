"""
Critical pairs (Knuth and Bendix): where two rules meet on one term, do both ways lead to one program?

    l -> r and l' -> r' overlap at a position p of l' that is no metavariable if l and l'|p unify. The unified term is the peak. One
    step of each rule leads to the two reducts, and the set of rules, with the folding of constants, leads each to a normal form.

A peak is a program, and both rules are run on it by the engine: an overlap of terms whose types or conditions keep one of the rules
from firing is none. The metavariables of a peak have their declared types; what may be of several types is tried as each.
Two normal forms are two results of one program, by the order in which the rules are tried: a convention, not a fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkers.optimizer_audit.outcomes import Runner, Value
from checkers.optimizer_audit.samples import types_of
from checkers.optimizer_audit.unification import Path, Substitution, occurrences, positions, renamed, substituted, unify
from checkers.verdict import Counterexample, Passed, Refuted, Unknown, Vacuous, Verdict
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import NodeId, Program
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType
from semantics.values import atom
from transforms import dce, fold
from transforms.patterns.metavariables import parameter_type
from transforms.patterns.rule import PatternRule
from transforms.patterns.text import Call, Literal, Term, Variable
from transforms.system import Rewrite, RewriteSystem

FUEL = 300
SEVERAL = {"number": ("f64", "i64"), "any": ("f64", "i64", "bool")}
NUMBERS: dict[Any, tuple[Any, ...]] = {REAL: (3.0, 2.0, 5.0), INTEGER: (3, 2, 5), BOOLEAN: (True, False, True)}
ATTRIBUTES: dict[str, Any] = {"axis": 0, "permutation": (1, 0), "index": 0, "shape": (2, 2)}


@dataclass(frozen=True)
class Overlap:
    """Two rules on one term: `outer` at the top, `inner` at `path`. `types` has the declared type of every metavariable."""

    outer: PatternRule
    inner: PatternRule
    path: Path
    term: Term
    types: dict[str, str]


@dataclass(frozen=True)
class Peak:
    """The program on which both rules fire, and what each makes of it."""

    overlap: Overlap
    program: Program
    by_outer: Program
    by_inner: Program


def overlaps(rule: PatternRule, other: PatternRule) -> Iterator[Overlap]:
    """Every overlap of two rules, or of a rule with itself."""
    yield from _below(rule, other, at_top=rule is not other)
    if rule is not other:
        yield from _below(other, rule, at_top=False)


def _below(outer: PatternRule, inner: PatternRule, *, at_top: bool) -> Iterator[Overlap]:
    """The positions of `outer` that unify with the left side of `inner`; the top one only if it is asked for."""
    left, small = renamed(outer.left_term, "1"), renamed(inner.left_term, "2")
    for path, part in positions(left):
        if not path and not at_top:
            continue
        found = unify(part, small)
        types = found if found is None else _types(outer, inner, found)
        if found is not None and types is not None:
            yield Overlap(outer, inner, path, substituted(left, found), types)


def _types(outer: PatternRule, inner: PatternRule, found: Substitution) -> dict[str, str] | None:
    """The types of the metavariables that are left; None where a metavariable would have to be of two."""
    declared = {f"{x}1": t for x, t in outer.variables.items()} | {f"{x}2": t for x, t in inner.variables.items()}
    types = dict(declared)
    for name, term in found.items():
        while isinstance(term, Variable) and term.name in found:
            term = found[term.name]
        if isinstance(term, Variable):
            met = _meet(types[term.name], declared[name])
            if met is None:
                return None
            types[term.name] = met
    return types


def _meet(a: str, b: str) -> str | None:
    """The type that is of both; None if none is."""
    for one, other in ((a, b), (b, a)):
        if one in (other, "any") or (one == "number" and other in SEVERAL["number"]):
            return other
    return None


def peaks(overlap: Overlap) -> Iterator[Peak]:
    """The programs of the overlap on which the engine fires both rules, for the types that its metavariables may have."""
    choices = {kind for name in occurrences(overlap.term) for kind in SEVERAL.get(overlap.types[name], ())} or {""}
    for choice in sorted(choices):
        try:
            program, places = _program(overlap, choice)
            by_outer = overlap.outer.rewrite.function(program, places[()])
            by_inner = overlap.inner.rewrite.function(program, places[overlap.path])
        except (AdjudgeError, KeyError):
            continue
        if by_outer is not None and by_inner is not None and _means_something(program):
            yield Peak(overlap, program, by_outer, by_inner)


def _means_something(program: Program) -> bool:
    """Whether the peak is well typed, as far as a run tells: its parameters are numbers, or not known to be."""
    numbers = [NUMBERS.get(type, NUMBERS[REAL])[0] for type in types_of(program) if not isinstance(type, ArrayType)]
    arrays = any(isinstance(type, ArrayType) for type in types_of(program))
    return arrays or isinstance(Runner(program)(numbers), Value)


def _program(overlap: Overlap, choice: str) -> tuple[Program, dict[Path, NodeId]]:
    """The peak as a program, in which equal parts are one node, and where its parts are."""
    edit = Edit(empty())
    graph = edit.graph("peak")
    nodes: dict[Any, NodeId] = {}
    literals = _literals(overlap.term)
    for name in dict.fromkeys(occurrences(overlap.term)):
        declared = overlap.types[name]
        kind = choice if choice in SEVERAL.get(declared, ()) else declared
        type = parameter_type(kind)
        if name in literals:
            nodes[name] = edit.constant(ATTRIBUTES[kind] if kind in ATTRIBUTES else NUMBERS[type][literals.index(name) % 3])
        else:
            nodes[name] = edit.parameter(graph, name, type)
    places: dict[Path, NodeId] = {}

    def built(term: Term, path: Path) -> NodeId:
        """The node of a term; terms are as deep as two rules are long."""
        match term:
            case Variable(name):
                return nodes[name]
            case Literal(value):
                return edit.constant(value)
            case Call(primitive, arguments):
                inputs = tuple(built(a, (*path, i)) for i, a in enumerate(arguments))
                key = primitive.name, inputs
                if key not in nodes:
                    nodes[key] = edit.call(graph, primitive, *inputs)
                places[path] = nodes[key]
                return nodes[key]
            case _:
                raise KeyError(term)

    edit.output(graph, built(overlap.term, ()))
    return edit.program, places


def _literals(term: Term) -> list[str]:
    """The metavariables that stand for literals."""
    found: list[str] = []
    todo = [term]
    while todo:
        part = todo.pop()
        if isinstance(part, Variable) and part.literal and part.name not in found:
            found.append(part.name)
        elif isinstance(part, Call):
            todo.extend(reversed(part.arguments))
    return found


@dataclass
class Pairs:
    """The critical pairs that were judged: how many join, those that do not with both normal forms, and those not decided."""

    joined: int = 0
    apart: list[tuple[Peak, Program, Program]] = field(default_factory=list)
    undecided: list[Peak] = field(default_factory=list)


def pairs(rule: PatternRule, others: Sequence[PatternRule], rewrites: Sequence[Rewrite]) -> Pairs:
    """The critical pairs of a rule with itself and with the others, under `rewrites`, all of these rules and folding."""
    known = {r.name: r for r in (*rewrites, *(o.rewrite for o in others), rule.rewrite)}
    real = any(r.domain == "REAL" for r in known.values())
    system = RewriteSystem("the set", (*fold.SYSTEM.rules, *known.values()))
    found = Pairs()
    for other in (rule, *(o for o in others if o.name != rule.name)):
        for peak in (p for overlap in overlaps(rule, other) for p in peaks(overlap)):
            one, two = (normal_form(system, p, real) for p in (peak.by_outer, peak.by_inner))
            if one is None or two is None:
                found.undecided.append(peak)
            elif one == two:
                found.joined += 1
            else:
                found.apart.append((peak, one, two))
    return found


def normal_form(system: RewriteSystem, program: Program, real: bool) -> Program | None:
    """What the rules lead to, without dead parts and over the reals with one zero; None if they do not end."""
    try:
        ended = dce.SYSTEM.run(system.run(program, fuel=FUEL))
    except AdjudgeError:
        return None
    minus = ended.interned.get(atom(-0.0)) if real else None
    if minus is None:
        return ended
    edit = Edit(ended)
    edit.replace(minus, edit.constant(0.0))
    return edit.program


def confluent(rule: PatternRule, others: Sequence[PatternRule], rewrites: Sequence[Rewrite]) -> Verdict:
    """Whether the critical pairs of a rule with itself and with the others join."""
    claim = "critical pairs with the other rules join"
    found = pairs(rule, others, rewrites)
    total = found.joined + len(found.apart) + len(found.undecided)
    if found.apart:
        return Refuted(_two_results(rule, found, total), "convention", claim)
    if found.undecided:
        overlap = found.undecided[0].overlap
        why = f"the set does not end on a reduct of {overlap.outer.name} with {overlap.inner.name}"
        return Unknown(f"{why}; {len(found.undecided)} of {total} pairs are not decided", claim)
    if not total:
        return Vacuous("no rule of the set overlaps with it", claim)
    return Passed(total, f"critical pairs with the other {len(others)} rules", claim)


def _two_results(rule: PatternRule, found: Pairs, total: int) -> Counterexample:
    """The smallest peak whose reducts stay apart, with the two normal forms."""
    peak, by_outer, by_inner = min(found.apart, key=lambda a: len(a[0].program.nodes))
    outer, inner = peak.overlap.outer.name, peak.overlap.inner.name
    where = "at the top" if not peak.overlap.path else "inside"
    partners = {o.name for p, _, _ in found.apart for o in (p.overlap.outer, p.overlap.inner) if o.name != rule.name}
    note = f"found is what comes of {inner}, {where}; wanted what comes of {outer}"
    note += f"\n{len(found.apart)} of {total} pairs stay apart: with {', '.join(sorted(partners)) or 'itself'}"
    cause = "the result depends on which rule is tried first"
    return Counterexample({"program": str(peak.program)}, str(by_inner), str(by_outer), cause, note=note)
