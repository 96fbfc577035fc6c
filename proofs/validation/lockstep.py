"""
Two loops in lockstep: an induction over their turns, by an invariant that relates their states.

    base   where both programs enter their loops, the invariant holds of the two first states
    step   from any two states of which it holds, one turn of each: both go on, and it holds of the next two states; or both leave
    use    where both leave, the values are equal, and whatever the right turn needs in order to be defined, the left one needs too

So the right loop ends wherever the left one does, and with the same value: by induction over the turns of the left one. The
invariant is a program of two dictionaries, the variables of either loop by name, and of arguments of the functions, by name.
Without one it is that variables of one name are equal. What a loop captures does not change from turn to turn, which is checked,
so it needs no invariant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from checkers.smt.inquiry import Inquiry, Judgment
from checkers.smt.paths import Path, explore
from checkers.smt.real import reading
from checkers.smt.sides import Mismatch, as_condition, differ, inputs_of, kinds_of, leaves, parameter_names
from checkers.smt.solver import UNSAT
from checkers.smt.terms import is_condition, is_integer, is_number, real
from checkers.verdict import Proved, Unknown
from proofs.induction import Call, Opened, Turn, named
from proofs.validation.straight import same_leaf
from proofs.validation.sweep import Sweep
from semantics.conditions import Condition
from semantics.edit import Edit
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import GraphId, Program
from semantics.primitives.row import Primitive
from semantics.scope import scopes
from semantics.structured import Label, Record
from semantics.values import Closure

METHOD = "induction in lockstep"
RESULT = z3.Real("loop!value")


class NotShown(Exception):
    """A part of the induction that does not go through, in words."""


def header(program: Program) -> GraphId | None:
    """The graph at which the one loop of a program is entered; None if there is no loop, or not one with one entrance."""
    found = scopes(program).references
    cyclic = {g for g in found if g in _reached(found, found[g])}
    if not cyclic:
        return None
    outside = {t for g, targets in found.items() if g not in cyclic for t in targets if t in cyclic}
    together = next(iter(cyclic))
    one = all(together in _reached(found, found[g]) and g in _reached(found, found[together]) for g in cyclic)
    return outside.pop() if one and len(outside) == 1 else None


def looping(program: Program) -> bool:
    """Whether some graph can reach itself."""
    found = scopes(program).references
    return any(g in _reached(found, found[g]) for g in found)


def _reached(references: Mapping[GraphId, Sequence[GraphId]], roots: Sequence[GraphId]) -> set[GraphId]:
    seen: set[GraphId] = set()
    todo = list(roots)
    while todo:
        if (graph := todo.pop()) not in seen:
            seen.add(graph)
            todo.extend(references.get(graph, ()))
    return seen


@dataclass
class Loop:
    """
    A program with one loop: what is before it and after it, and one turn of it. Calls of the loop are noted, and answered with one
    value, the same for both programs.
    """

    program: Program
    graph: GraphId = field(init=False)
    names: tuple[str, ...] = field(init=False)
    calls: list[list[Call]] = field(default_factory=list)

    def __post_init__(self) -> None:
        wrapped = Edit(self.program)
        entry = wrapped.graph("around")
        parameters = self.program.graphs[self.program.entry].parameters
        arguments = [wrapped.parameter(entry, getattr(self.program.nodes[n], "name", "")) for n in parameters]
        wrapped.output(entry, wrapped.apply(entry, wrapped.reference(self.program.entry), *arguments))
        wrapped.set_entry(entry)
        self.program = named(wrapped.program)
        found = header(self.program)
        if found is None:
            raise NotShown("a program is not of one loop with one entrance")
        self.graph = found
        self.names = tuple(getattr(self.program.nodes[n], "name", "") for n in self.program.graphs[found].parameters)
        if len(set(self.names)) < len(self.names):
            raise NotShown(f"the loop has two variables of one name among {', '.join(self.names)}")
        unique = Edit(self.program)
        unique.rename(found, f"loop!{found}")
        self.opened = Opened(unique.program, f"loop!{found}")

    def around(self, values: Sequence[Any], assumed: Sequence[z3.BoolRef]) -> list[Turn]:
        """Every path of the program up to its loop, and from there to the end."""
        edit, runs = Edit(self.program), list[list[Call]]()
        free = [str(getattr(self.program.nodes[n], "name", "")) for n in scopes(self.program).free[self.graph]]

        def answer(function: Closure, *arguments: Any) -> Any:
            runs[-1].append(Call(dict(zip(free, function.captured, strict=True)), arguments))
            return RESULT

        rule = Primitive("loop", ("function", "*"), ("any", "any"), "any", columns={"z3_real": answer})
        reference = edit.reference(self.graph)
        inside = _reached(scopes(self.program).references, [self.graph])
        for use in sorted(self.program.users(reference)):
            if self.program.owner(use.user) not in inside:
                edit.set_inputs(use.user, (edit.constant(rule), reference, *self.program.inputs(use.user)[1:]))

        def noting(course: Any) -> Any:
            runs.append([])
            return reading(course)

        paths = explore(edit.program, values, noting, assumed)
        return [Turn(path, tuple(calls)) for path, calls in zip(paths, runs, strict=True)]

    def turns(self, captured: Mapping[str, Any], state: Sequence[Any], assumed: Sequence[z3.BoolRef]) -> list[Turn]:
        """Every path of one turn from a state."""
        return self.opened.turns(lambda *_: (RESULT, lambda _: ({}, ())), captured, state, None, assumed)


def by_induction(
    left: Program, right: Program, condition: Condition | str | None, invariant: Program | None, rlimit: int, claim: str
) -> Judgment:
    """Proved if the induction goes through; else Unknown, with the part that does not."""
    inquiry = Inquiry(rlimit)
    try:
        proof = _Lockstep(Loop(left), Loop(right), invariant, inquiry)
        proof.check(left, condition)
        given = "an invariant that was given" if invariant is not None else "equal variables of one name"
        return inquiry.judged(claim, METHOD, Proved(f"induction over the turns of both loops, by {given}"))
    except NotShown as why:
        return inquiry.judged(claim, METHOD, Unknown(str(why)))
    except Malformed:
        raise
    except AdjudgeError as error:
        return inquiry.judged(claim, METHOD, Unknown(f"the induction cannot be read: {error.what}"))


@dataclass
class _Lockstep:
    left: Loop
    right: Loop
    invariant: Program | None
    inquiry: Inquiry
    sweep: Sweep = field(default_factory=Sweep)
    steps: int = 0
    exits: int = 0
    used: bool = False
    real: bool = True
    inputs: dict[str, Any] = field(default_factory=dict)

    def check(self, named_as: Program, condition: Condition | str | None) -> None:
        """All parts of the induction; NotShown at the first that fails."""
        makers = {"integer": z3.Int, "boolean": z3.Bool}
        inputs = inputs_of(named_as, kinds_of(named_as), lambda kind, name: makers.get(kind, z3.Real)(name))
        self.inputs = dict(zip(parameter_names(named_as), inputs.values, strict=True))
        known: list[z3.BoolRef] = []
        if (hypotheses := as_condition(condition)) is not None:
            known = [c if z3.is_bool(c) else z3.BoolVal(c) for c in hypotheses.conjuncts(self.inputs, real)]
        entered = False
        for one in self.left.around(inputs.values, known):
            if one.path.trap is not None:
                continue
            assumed = [*known, *one.path.all]
            for other in self.right.around(inputs.values, assumed):
                if self.impossible([*assumed, *other.path.conditions]):
                    continue
                at = self.defined(assumed, other.path, "before the loops")
                if len(one.calls) != len(other.calls) or len(one.calls) > 1:
                    raise NotShown("one program enters its loop where the other does not")
                self.equal(at, one.path.value, other.path.value, "around the loops")
                if one.calls:
                    entered = True
                    self.noted(one.path.value, other.path.value)
                    self.loops(at, one.calls[0], other.calls[0])
        if not entered or not self.exits or not self.steps:
            raise NotShown("the induction met no first state, no step or no end: it says nothing")
        if self.used and not self.real:
            raise NotShown("something is computed from what a loop gives, which is no real")

    def noted(self, *values: Any) -> None:
        """Whether what the loop gives is handed on as it is; else it is taken for a real, which it then has to be."""
        self.used = self.used or any(v is not RESULT for v in values)

    def loops(self, assumed: list[z3.BoolRef], one: Call, other: Call) -> None:
        """Base, step and use, for two loops that are entered so. What is assumed is of the inputs, which do not change."""
        first = self.holds(one.arguments, other.arguments)
        self.must(assumed, first, "base: it does not hold of the first states")
        states = [_any_state(call.arguments, f"{side}!") for call, side in ((one, "left"), (other, "right"))]
        known = [*assumed, self.holds(*states)]
        for turn in self.left.turns(one.captured, states[0], known):
            if turn.path.trap is not None:
                continue
            here = [*known, *turn.path.all]
            for answer in self.right.turns(other.captured, states[1], here):
                if self.impossible([*here, *answer.path.conditions]):
                    continue
                at = self.defined(here, answer.path, "use: a turn of the right loop")
                if len(turn.calls) != len(answer.calls) or len(turn.calls) > 1:
                    raise NotShown("use: one loop goes on where the other ends")
                self.equal(at, turn.path.value, answer.path.value, "use: the values that the loops give differ")
                if not turn.calls:
                    self.exits += 1
                    self.real = self.real and z3.is_real(turn.path.value) and z3.is_real(answer.path.value)
                    continue
                self.steps += 1
                self.noted(turn.path.value, answer.path.value)
                _unchanged(one, turn.calls[0])
                _unchanged(other, answer.calls[0])
                following = self.holds(turn.calls[0].arguments, answer.calls[0].arguments)
                self.must(at, following, "step: it holds before a turn and is not shown after it")

    def holds(self, one: Sequence[Any], other: Sequence[Any]) -> z3.BoolRef:
        """The invariant of two states, as one condition."""
        if self.invariant is None:
            pairs = [
                (x, other[self.right.names.index(n)]) for n, x in zip(self.left.names, one, strict=True) if n in self.right.names
            ]
            return z3.And(*(_is_same(x, y) for x, y in pairs))
        states = [Record(Label("dict", "", loop.names), tuple(state)) for loop, state in ((self.left, one), (self.right, other))]
        ways = explore(self.invariant, [*states, *self.others()], reading)
        return z3.Or(*(z3.And(*path.all, _truth(path.value)) for path in ways if path.trap is None))

    def others(self) -> list[Any]:
        """The arguments of the functions that the invariant takes besides the two states."""
        assert self.invariant is not None
        names = parameter_names(self.invariant)[2:]
        if unknown := [n for n in names if n not in self.inputs]:
            raise Malformed(
                f"the invariant takes {unknown[0]}", rule="same", remedy=f"two states, then any of {', '.join(self.inputs)}"
            )
        return [self.inputs[n] for n in names]

    def defined(self, known: Sequence[z3.BoolRef], path: Path, where: str) -> list[z3.BoolRef]:
        """What is known on the path of the right side, all that it needs being shown."""
        if path.trap is not None:
            raise NotShown(f"{where} may trap: {path.trap.what}")
        found = list(known)
        for event in path.events:
            if event.kind == "need":
                self.must(found, event.condition, f"{where} may be undefined")
            found.append(event.condition)
        return found

    def equal(self, known: Sequence[z3.BoolRef], one: Any, other: Any, what: str) -> None:
        for leaf in leaves(one, other):
            if isinstance(leaf, Mismatch):
                raise NotShown(f"{what}: {leaf.why}")
            if same_leaf(self.sweep, *leaf) if all(z3.is_arith(x) for x in leaf) else False:
                continue
            difference = differ(*leaf)
            if difference is False:
                continue
            self.must(known, z3.BoolVal(False) if difference is True else z3.Not(difference), what)

    def must(self, known: Sequence[z3.BoolRef], goal: z3.BoolRef, what: str) -> None:
        """NotShown unless the goal follows."""
        if self.inquiry.ask([*known, z3.Not(goal)]).status != UNSAT:
            raise NotShown(what)

    def impossible(self, conditions: Sequence[z3.BoolRef]) -> bool:
        return self.inquiry.ask(conditions).status == UNSAT


def _any_state(like: Sequence[Any], prefix: str) -> list[Any]:
    """A state of the same sorts, of which nothing is known."""
    made: list[Any] = []
    for i, x in enumerate(like):
        if is_condition(x):
            made.append(z3.Bool(f"{prefix}{i}"))
        elif is_number(x):
            made.append(z3.Int(f"{prefix}{i}") if is_integer(x) else z3.Real(f"{prefix}{i}"))
        else:
            raise NotShown("a variable of a loop is no number")
    return made


def _is_same(x: Any, y: Any) -> Any:
    if is_condition(x) != is_condition(y):
        raise NotShown("two variables of one name are of two types")
    return z3.Not(differ(x, y)) if z3.is_expr(x) or z3.is_expr(y) else z3.BoolVal(x == y)


def _truth(value: Any) -> z3.BoolRef:
    if not is_condition(value):
        raise NotShown("the invariant has no boolean value")
    return value if z3.is_bool(value) else z3.BoolVal(value)


def _unchanged(before: Call, after: Call) -> None:
    """NotShown unless a turn hands on what the loop captured as it was, and keeps the sorts of its variables."""
    for name, value in before.captured.items():
        now = after.captured.get(name)
        same = now is not None and z3.is_expr(value) and now.eq(value) if z3.is_expr(now) else now == value
        if not (now is value or same):
            raise NotShown(f"{name}, which a loop captures, changes from turn to turn")
    sorts = [[(is_condition(x), is_number(x) and is_integer(x)) for x in call.arguments] for call in (before, after)]
    if sorts[0] != sorts[1]:
        raise NotShown("a variable of a loop changes its type")


__all__ = ["METHOD", "Loop", "by_induction", "header", "looping"]
