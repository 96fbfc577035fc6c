"""
Rewrite rules as data: `x * 1 -> x`.

    rule      [declarations |] left -> right
    declares  x: i64, b: bool                     f64 (when nothing is said), i64, bool, number (f64 or i64), any
    terms     x, 2, -0.5, True, ZERO, inf         metavariables and literals; 1 and 1.0 are different literals
              a + b, -a, a ** b, a // b, a < b    operators, as in Python; `not b`; `a if c else b` is where(c, a, b)
              exp(a), math.exp(a), gadd(d, e)     primitives by name, user's primitives among them
              #c                                  a metavariable that matches only a literal

A metavariable that occurs twice stands for one node, or for one constant. A rule matches only nodes whose kind is known to
be the declared one (`transforms.realness`): a rule about reals never fires on an integer, nor on a sensitivity that may be
ZERO. In domain REAL the side condition is taken on trust unless constants refute it; in BITS and IEEE it must be known to
hold, which constants alone can show.

Both sides are also programs, `left` and `right`, whose parameters are the metavariables in order: any column can judge the
rule by evaluating them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from semantics.conditions import Condition
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Apply, Constant, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import ELEMENTWISE
from semantics.type_language import SCALARS
from semantics.values import atom
from transforms.pattern_text import Call, Literal, Term, Variable, parse_rule, refuse
from transforms.realness import A_BOOLEAN, OTHER, fits, kinds
from transforms.surgery import become
from transforms.system import Rewrite

DOMAINS = ("BITS", "IEEE", "REAL")


@dataclass(frozen=True)
class PatternRule:
    """
    A rule `left_term -> right_term`.

    condition  the side condition, or None
    domain     the equality it claims to keep: "BITS", "IEEE" or "REAL"
    variables  metavariable to type, in the order of the parameters of `left` and `right`
    """

    name: str
    text: str
    condition: Condition | None
    domain: str
    variables: Mapping[str, str]
    left_term: Call
    right_term: Term

    def __str__(self) -> str:
        return self.law

    @property
    def law(self) -> str:
        """The rule with its side condition."""
        return self.text + (f"   when {self.condition}" if self.condition else "")

    @cached_property
    def left(self) -> Program:
        """The left side as a program of the metavariables."""
        return self._program("left", self.left_term)

    @cached_property
    def right(self) -> Program:
        """The right side as a program of the metavariables."""
        return self._program("right", self.right_term)

    @cached_property
    def rewrite(self) -> Rewrite:
        """The rule as the engine runs it."""
        condition = str(self.condition) if self.condition else ""
        return Rewrite(self.name, self.law, self._rewrite, self.domain, condition, (self.left_term.primitive,))

    def bind(self, program: Program, place: int) -> dict[str, NodeId] | None:
        """What each metavariable stands for if the left side matches at `place`, types and condition included; else None."""
        if place not in program.nodes:
            return None
        bound = _match(program, place, self.left_term)
        if bound is None or not all(self._admits(program, bound[name], type) for name, type in self.variables.items()):
            return None
        return bound if self.condition is None or self._holds(program, bound) else None

    def _admits(self, program: Program, node: NodeId, type: str) -> bool:
        """
        Whether every value of `node` is of the declared type.

        Where arrays are about, arithmetic makes i64 of booleans and numbers of arrays without axes: there a result that is what a
        metavariable is must not be an array, so `any` is a number or ZERO.
        """
        if type != "any":
            return fits(program, node, type)
        elementwise = self.left_term.primitive.name in ELEMENTWISE and not isinstance(self.right_term, Literal)
        return not (program.arrays and elementwise) or not kinds(program, node) & (OTHER | A_BOOLEAN)

    def _rewrite(self, program: Program, place: int) -> Program | None:
        bound = self.bind(program, place)
        if bound is None:
            return None
        matched = program.nodes[place]
        assert isinstance(matched, Apply)
        edit = Edit(program)
        name, location = matched.name, matched.location
        built = _build(edit, self.right_term, bound, lambda f, *a: edit.apply(matched.graph, f, *a, name=name, location=location))
        return become(edit, place, built)

    def _holds(self, program: Program, bound: Mapping[str, NodeId]) -> bool:
        """Whether the condition is known to hold; in domain REAL, whether it is not known to fail."""
        assert self.condition is not None
        values = {name: program.constant(node) for name, node in bound.items()}
        known = {name: value for name, value in values.items() if type(value) in (int, float, bool)}
        try:
            return self.condition.holds(known)
        except (AdjudgeError, ArithmeticError):
            return self.domain == "REAL"

    def _program(self, name: str, term: Term) -> Program:
        edit = Edit(empty())
        graph = edit.graph(name)
        bound = {x: edit.parameter(graph, x, SCALARS.get(type)) for x, type in self.variables.items()}
        edit.output(graph, _build(edit, term, bound, lambda f, *a: edit.apply(graph, f, *a)))
        return edit.program


def pattern_rule(
    text: str,
    *,
    when: str | None = None,
    domain: str = "BITS",
    name: str = "",
    primitives: Mapping[str, Primitive] | None = None,
) -> PatternRule:
    """
    The rule that `text` states (see the module). `name` is the text if it is not given; `primitives` are further ones by name.

    Malformed, with a caret, if the text is no rule: a side that cannot be read, an unknown name, a metavariable on the right
    that the left does not bind, a left side that would match everything or nothing but constants.
    """
    if domain not in DOMAINS:
        raise refuse(text, 0, f"{domain!r} is no equality domain", f"one of {', '.join(DOMAINS)}")
    variables, left, right = parse_rule(text, primitives or {})
    condition = Condition(when) if when else None
    if condition is not None:
        _check_names(condition, variables)
    return PatternRule(name or text, text, condition, domain, MappingProxyType(variables), left, right)


def _check_names(condition: Condition, variables: Mapping[str, str]) -> None:
    """Malformed if the condition speaks of anything but the metavariables."""
    with suppress(ArithmeticError):
        condition.conjuncts(dict.fromkeys(variables, 1.5))


def _match(program: Program, place: NodeId, term: Term) -> dict[str, NodeId] | None:
    """The metavariables by the nodes they stand for, or None. Kinds are not looked at here."""
    bound: dict[str, NodeId] = {}
    todo: list[tuple[Term, NodeId]] = [(term, place)]
    while todo:
        pattern, node = todo.pop()
        match pattern:
            case Literal(value):
                if program.interned.get(atom(value)) != node:
                    return None
            case Variable(name, literal):
                if bound.setdefault(name, node) != node:
                    return None
                found = program.nodes[node]
                if literal and not (isinstance(found, Constant) and type(found.value) in (int, float, bool)):
                    return None
            case Call(primitive, arguments):
                inputs = program.inputs(node)
                if len(inputs) != len(arguments) + 1 or program.constant(inputs[0]) is not primitive:
                    return None
                todo.extend(zip(reversed(arguments), reversed(inputs), strict=False))
    return bound


def _build(edit: Edit, term: Term, bound: Mapping[str, NodeId], apply: Callable[..., NodeId]) -> NodeId:
    """The node of a term; new applications are made by `apply`. Terms are as deep as a rule is long."""
    match term:
        case Literal(value):
            return edit.constant(value)
        case Variable(name):
            return bound[name]
        case Call(primitive, arguments):
            return apply(edit.constant(primitive), *(_build(edit, a, bound, apply) for a in arguments))
