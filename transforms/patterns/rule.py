"""
Rewrite rules as data: `x * 1 -> x`.

    rule      [declarations |] left -> right [when condition]
    declares  x: i64, a: f64[m, n], #k: i64       f64 (when nothing is said), i64, bool, number (f64 or i64), any;
                                                  arrays and attributes as `transforms.patterns.metavariables` has them
    terms     x, 2, -0.5, True, ZERO, inf         metavariables and literals; 1 and 1.0 are different literals
              a + b, -a, a ** b, a // b, a < b    operators, as in Python; `not b`; `a if c else b` is where(c, a, b)
              exp(a), math.exp(a), gadd(d, e)     primitives by name, user's primitives among them
              np.sum(a, axis=#k), a @ b, a.T      NumPy as the front end reads it, `np.` left out where arrays are declared
              (a, b), a[#i], m                    tuples, elements, sizes of declared arrays
              #c                                  a metavariable that matches only a literal; its kind is declared, or follows
                                                  from the parameter of the row where it stands: axis, axes, shape, i, k, …

A metavariable that occurs twice stands for one node, or for one constant. A rule matches only nodes whose kind is known to
be the declared one: a rule about reals never fires on an integer, nor on a sensitivity that may be ZERO
(`transforms.realness`). An array must be of known type: one made by primitives alone, from constants and declared parameters of
the entry, inlined (`transforms.known_types`); a size with a name must be known, equal names for equal sizes. In domain REAL the
side condition is taken on trust unless constants refute it; in BITS and IEEE it must be known to hold, which constants, sizes
and attributes alone can show.

Both sides are also programs, `left` and `right`, whose parameters are the metavariables in order: any column can judge the
rule by evaluating them. `instance` has them with attributes and shapes filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from semantics.conditions import Condition
from semantics.edit import Edit, empty
from semantics.errors import AdjudgeError
from semantics.ir import Apply, NodeId, Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.values import atom
from transforms.known_types import known_type, known_value
from transforms.patterns.metavariables import ATTRIBUTES, admissible, array_type, parameter_type, sizes_in, unify
from transforms.patterns.terms import Call, Literal, Size, Term, Variable, calls
from transforms.patterns.text import parse_rule, refuse
from transforms.places import CONSTANT, Shape
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
        return self._program("left", self.left_term, {}, {}, {})

    @cached_property
    def right(self) -> Program:
        """The right side as a program of the metavariables."""
        return self._program("right", self.right_term, {}, {}, {})

    @cached_property
    def sizes(self) -> Mapping[str, tuple[str, int]]:
        """The sizes with names: for each, the metavariable and the axis that have it first."""
        return MappingProxyType(sizes_in(self.variables))

    @cached_property
    def literals(self) -> tuple[str, ...]:
        """The metavariables that stand for literals only."""
        found = {a.name for c in calls(self.left_term) for a in c.arguments if isinstance(a, Variable) and a.literal}
        return tuple(name for name in self.variables if name in found)

    @property
    def is_scalar(self) -> bool:
        """Whether no metavariable is an array or an attribute of one: the sides are programs as they stand."""
        return not any(type in ATTRIBUTES or array_type(type) for type in self.variables.values())

    def instance(
        self, types: Mapping[str, Any], attributes: Mapping[str, Any], sizes: Mapping[str, int] = MappingProxyType({})
    ) -> tuple[Program, Program]:
        """Both sides for parameters of these types, with literals for the sizes and for metavariables, parameters no longer."""
        sides = ("left", self.left_term), ("right", self.right_term)
        left, right = (self._program(name, term, types, attributes, sizes) for name, term in sides)
        return left, right

    @cached_property
    def rewrite(self) -> Rewrite:
        """The rule as the engine runs it."""
        condition = str(self.condition) if self.condition else ""
        operands = tuple(map(_wanted, self.left_term.arguments))
        return Rewrite(self.name, self.law, self._rewrite, self.domain, condition, (self.left_term.primitive,), operands)

    def bind(self, program: Program, place: int) -> dict[str, NodeId] | None:
        """What each metavariable stands for if the left side matches at `place`, types and condition included; else None."""
        found = self._bound(program, place)
        return None if found is None else found[0]

    def _bound(self, program: Program, place: int) -> tuple[dict[str, NodeId], dict[str, int]] | None:
        """The metavariables, and the sizes by name."""
        if place not in program.nodes:
            return None
        measured: list[tuple[str, Any]] = []
        sizes: dict[str, int] = {}
        bound = _match(program, place, self.left_term, self.variables, measured)
        if bound is None or not all(self._admits(program, bound[name], type, sizes) for name, type in self.variables.items()):
            return None
        if any(atom(value) != atom(sizes[name]) for name, value in measured):
            return None
        return (bound, sizes) if self.condition is None or self._holds(program, bound, sizes) else None

    def _admits(self, program: Program, node: NodeId, type: str, sizes: dict[str, int]) -> bool:
        """
        Whether every value of `node` is of the declared type; the sizes of arrays are noted.

        Where arrays are about, arithmetic makes i64 of booleans and numbers of arrays without axes: there a result that is what a
        metavariable is must not be an array, so `any` is a number or ZERO.
        """
        if type in ATTRIBUTES:
            return True
        if (arrays := array_type(type)) is not None:
            return unify(arrays, known_type(program, node), sizes)
        if type != "any":
            return fits(program, node, type)
        elementwise = self.left_term.primitive.name in ELEMENTWISE and not isinstance(self.right_term, Literal)
        return not (program.arrays and elementwise) or not kinds(program, node) & (OTHER | A_BOOLEAN)

    def _rewrite(self, program: Program, place: int) -> Program | None:
        found = self._bound(program, place)
        if found is None:
            return None
        bound, sizes = found
        matched = program.nodes[place]
        assert isinstance(matched, Apply)
        edit = Edit(program)
        known = {name: edit.constant(size) for name, size in sizes.items()}
        name, location = matched.name, matched.location
        built = _build(
            edit, self.right_term, bound, known, lambda f, *a: edit.apply(matched.graph, f, *a, name=name, location=location)
        )
        return become(edit, place, built)

    def _holds(self, program: Program, bound: Mapping[str, NodeId], sizes: Mapping[str, int]) -> bool:
        """Whether the condition is known to hold; in domain REAL, whether it is not known to fail."""
        assert self.condition is not None
        values = {name: program.constant(node) for name, node in bound.items()}
        known = {name: value for name, value in values.items() if type(value) in (int, float, bool)}
        try:
            return self.condition.holds({**sizes, **known})
        except (AdjudgeError, ArithmeticError):
            return self.domain == "REAL"

    def _program(
        self, name: str, term: Term, types: Mapping[str, Any], attributes: Mapping[str, Any], sizes: Mapping[str, int]
    ) -> Program:
        edit = Edit(empty())
        graph = edit.graph(name)
        bound: dict[str, NodeId] = {}
        for x, type in self.variables.items():
            if x in attributes:
                bound[x] = edit.constant(attributes[x])
            else:
                bound[x] = edit.parameter(graph, x, types[x] if x in types else parameter_type(type))

        def apply(function: NodeId, *arguments: NodeId) -> NodeId:
            return edit.apply(graph, function, *arguments)

        known = {size: edit.constant(n) for size, n in sizes.items()}
        for size, (x, axis) in self.sizes.items():
            if size not in known and Size(size) in _parts(term):
                shape = apply(edit.constant(TABLE["shape"]), bound[x])
                known[size] = apply(edit.constant(TABLE["getitem"]), shape, edit.constant(axis))
        edit.output(graph, _build(edit, term, bound, known, apply))
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
    found = parse_rule(text, primitives or {})
    if found.when and when and found.when != when.strip():
        remedy = "give one of them"
        raise refuse(text, text.index("when"), f"the text says when {found.when}, the argument when {when}", remedy)
    condition = Condition(found.when or when or "") if found.when or when else None
    if condition is not None:
        _check_names(condition, (*found.variables, *sizes_in(found.variables)))
    return PatternRule(
        name or found.text, found.text, condition, domain, MappingProxyType(found.variables), found.left, found.right
    )


def _wanted(term: Term) -> Shape:
    """What an operand that matches a term looks like. Of a tuple nothing is said: it may be a constant, or made."""
    match term:
        case Literal(value):
            return None if isinstance(value, tuple) else CONSTANT
        case Call(primitive):
            return None if primitive.name == "make_tuple" else primitive
        case _:
            return None


def _check_names(condition: Condition, names: Sequence[str]) -> None:
    """Malformed if the condition speaks of anything but the metavariables and sizes."""
    with suppress(ArithmeticError):
        condition.conjuncts(dict.fromkeys(names, 1.5))


def _match(
    program: Program, place: NodeId, term: Term, kinds: Mapping[str, str], measured: list[tuple[str, Any]]
) -> dict[str, NodeId] | None:
    """
    The metavariables by the nodes they stand for, or None. Of kinds only those of literals are looked at here; what stands where
    a size is wanted is left in `measured`.
    """
    bound: dict[str, NodeId] = {}
    todo: list[tuple[Term, NodeId]] = [(term, place)]
    while todo:
        pattern, node = todo.pop()
        match pattern:
            case Literal(value):
                made = isinstance(value, tuple) and atom(known_value(program, node)) == atom(value)
                if not made and program.interned.get(atom(value)) != node:
                    return None
            case Size(name):
                measured.append((name, program.constant(node)))
            case Variable(name, literal):
                if bound.setdefault(name, node) != node:
                    return None
                if literal and not admissible(kinds[name], known_value(program, node)):
                    return None
            case Call(primitive, arguments) if primitive.name == "make_tuple" and isinstance(program.constant(node), tuple):
                items = program.constant(node)
                if len(items) != len(arguments):
                    return None
                for item, argument in zip(items, arguments, strict=True):
                    if isinstance(argument, Size):
                        measured.append((argument.name, item))
                    elif not isinstance(argument, Literal) or atom(argument.value) != atom(item):
                        return None
            case Call(primitive, arguments):
                inputs = program.inputs(node)
                if len(inputs) != len(arguments) + 1 or program.constant(inputs[0]) is not primitive:
                    return None
                todo.extend(zip(reversed(arguments), reversed(inputs), strict=False))
    return bound


def _build(
    edit: Edit, term: Term, bound: Mapping[str, NodeId], sizes: Mapping[str, NodeId], apply: Callable[..., NodeId]
) -> NodeId:
    """The node of a term; new applications are made by `apply`. Terms are as deep as a rule is long."""
    match term:
        case Literal(value):
            return edit.constant(value)
        case Variable(name):
            return bound[name]
        case Size(name):
            return sizes[name]
        case Call(primitive, arguments):
            return apply(edit.constant(primitive), *(_build(edit, a, bound, sizes, apply) for a in arguments))


def _parts(term: Term) -> set[Term]:
    """The arguments of all applications in a term."""
    return {a for c in calls(term) for a in c.arguments}
