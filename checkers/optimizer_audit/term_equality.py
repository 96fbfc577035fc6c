"""
Two terms as a question for the solver. What the solver has no theory of becomes a variable, the same wherever the term is the same.

A question is asked once: its key is the canonical text of both programs. A pass over the reals asks about the reals; one that keeps
bits asks in a tiny format first, which is a screen and no theorem, and then in the widest that is decided within the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from checkers.optimizer_audit.obligations import Local
from checkers.optimizer_audit.unfolding import Term
from checkers.verdict import Counterexample, Proved, Refuted
from semantics.edit import Edit, empty
from semantics.ir import NodeId, Program
from semantics.primitives.row import Column, Hole, Primitive
from semantics.type_language import BOOLEAN, INTEGER, REAL

RLIMIT, MOST_QUESTIONS, LARGEST = 300_000, 150, 24
EXECUTED, SCREENED, PROVED, REFUTED, OPEN = "executed", "screened", "proved", "refuted", "open"
TypeOf = Callable[[str, NodeId], Any]


@dataclass(frozen=True)
class Decision:
    """What the solver made of a question: a status, in which arithmetic, and where the sides differ."""

    status: str
    where: str = ""
    counterexample: Counterexample | None = None


NOT_ASKED = Decision(OPEN, "the solver has no theory of it")
SPENT = Decision(OPEN, "the budget of questions is spent")


@dataclass
class Solver:
    """Asks about pairs of terms in one domain, and remembers the answers by their text."""

    domain: str
    answers: dict[str, Decision] = field(default_factory=dict)

    def decide(self, local: Local, type_of: TypeOf) -> Decision:
        """Whether the terms are equal at all values of what they are cut at, if the solver can read them."""
        from checkers.smt.ieee import TINY, Ieee
        from checkers.smt.real import Z3_REAL

        question = Question(local, type_of, Z3_REAL)
        if self.domain != "REAL" and not question.of_integers:
            question = Question(local, type_of, Ieee(TINY).column)
        programs = question.programs()
        if programs is None:
            return NOT_ASKED
        key = "\n".join(p.canonical for p in programs)
        if key not in self.answers:
            if len(self.answers) >= MOST_QUESTIONS:
                return SPENT
            self.answers[key] = self._ask(*programs, question.of_integers)
        found = self.answers[key]
        return NOT_ASKED if found.status == REFUTED and question.abstract else found

    def _ask(self, before: Program, after: Program, of_integers: bool) -> Decision:
        from checkers.smt.equality import equal_in_ieee, equal_over_reals
        from checkers.smt.ieee import DOUBLE, SINGLE, TINY

        if self.domain == "REAL" or of_integers:
            return _decision(equal_over_reals(before, after, rlimit=RLIMIT), "over the reals and the integers")
        screened = _decision(equal_in_ieee(before, after, TINY, rlimit=RLIMIT), TINY.name)
        if screened.status != PROVED:
            return screened
        for format in (DOUBLE, SINGLE):
            found = _decision(equal_in_ieee(before, after, format, rlimit=RLIMIT), format.name)
            if found.status != OPEN:
                return found
        return Decision(SCREENED, TINY.name)


def _decision(verdict: Any, where: str) -> Decision:
    match verdict:
        case Proved():
            return Decision(PROVED, where)
        case Refuted(counterexample):
            return Decision(REFUTED, where, counterexample)
    return Decision(OPEN, getattr(verdict, "reason", "") or getattr(verdict, "why", "") or type(verdict).__name__)


class Question:
    """
    Both terms as programs in the same parameters.

    variables    the terms that stand for themselves, with their types: cut nodes, calls, and what the column has no cell for
    abstract     whether there is one of the last kind: then a difference says nothing
    of_integers  whether all are integers and booleans, and no real is written
    """

    def __init__(self, local: Local, type_of: TypeOf, column: Column) -> None:
        self.local, self.column, self.abstract = local, column, False
        self.variables: dict[Term, Any] = {}
        self.roots = (local.before, local.after)
        self.small = all(len(local.terms.below(root)) <= LARGEST for root in self.roots)
        constants: set[type] = set()
        for term in (t for root in self.roots for t in self._ordered(root)) if self.small else ():
            if self._is_variable(term):
                self.variables.setdefault(term, self._type(term, type_of))
                self.abstract |= local.terms.keys[term][0] == "apply"
            elif term in local.terms.value:
                constants.add(type(local.terms.value[term]))
        self.of_integers = bool(self.variables) and {*self.variables.values()} <= {INTEGER, BOOLEAN} and float not in constants

    def programs(self) -> tuple[Program, Program] | None:
        """None if a term is large, or cut at what is no scalar."""
        if not self.small or any(type not in (REAL, INTEGER, BOOLEAN) for type in self.variables.values()):
            return None
        return self._built(self.local.before), self._built(self.local.after)

    def _is_variable(self, term: Term) -> bool:
        match self.local.terms.keys[term]:
            case ("constant", _):
                return isinstance(self.local.terms.value[term], Primitive)
            case ("apply", primitive, *_):
                return isinstance(self.column.find(primitive), Hole)
        return True

    def _type(self, term: Term, type_of: TypeOf) -> Any:
        """The type of a term: that of the node it was made for, on either side."""
        for side in (self.local.left, self.local.right):
            if term in side.origin:
                return type_of(side.name, side.origin[term])
        return None

    def _ordered(self, root: Term) -> Iterator[Term]:
        """The terms below, parts first, not looking into variables."""
        todo, done = [(root, False)], set[Term]()
        while todo:
            term, ready = todo.pop()
            if ready:
                yield term
            elif term not in done:
                done.add(term)
                todo.append((term, True))
                if not self._is_variable(term):
                    todo.extend((t, False) for t in reversed(self.local.terms.parts(term)))

    def _built(self, root: Term) -> Program:
        edit = Edit(empty())
        graph = edit.graph("f")
        made = {term: edit.parameter(graph, f"v{i}", type) for i, (term, type) in enumerate(self.variables.items())}
        for term in self._ordered(root):
            match self.local.terms.keys[term]:
                case ("constant", _) if term not in made:
                    made[term] = edit.constant(self.local.terms.value[term])
                case ("apply", primitive, *arguments) if term not in made:
                    made[term] = edit.call(graph, primitive, *(made[a] for a in arguments))
        edit.output(graph, made[root])
        return edit.program
