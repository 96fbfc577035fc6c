"""
Emitting code: lines and their nesting, parallel moves, traps, and the code of one primitive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from backend.arrays.attributes import as_operand
from backend.arrays.elementwise import elementwise
from backend.arrays.holding import Holding
from backend.arrays.injected import perhaps
from backend.arrays.neutral import scaled, untested
from backend.arrays.table import CELLS, OF_ANYTHING, OF_FIRST, OVER
from backend.arrays.values import ARRAYS, Held, uncompiled
from backend.columns import NUMBA, Template
from backend.lowering.conversion import convert
from backend.lowering.expansion import LONG
from backend.lowering.shape import (
    ZERO_VALUE,
    Cut,
    Fn,
    Items,
    Nothing,
    Reg,
    Stack,
    Sum,
    is_several,
    make,
    options,
    scalars,
    typed,
)
from backend.lowering.structure import STRUCTURAL, WHOLE, decided, to_boolean, with_zero
from backend.status import SIZES, STUCK, UNBOUND
from semantics.columns.types import apply_type
from semantics.errors import IllTyped, Malformed, Trap
from semantics.primitives.row import Hole, Primitive
from semantics.primitives.table import ELEMENTWISE, TABLE
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType, Scalar
from semantics.type_lattice import NEVER, ZERO_TYPE, erase
from semantics.type_lattice import UNBOUND as UNBOUND_TYPE

LINES = 40_000
NESTING = 80
LOOPS = 18

Code = list[Any]  # lines, and lists of lines one level deeper


class Emitter(Holding):
    """
    A cursor that writes into `code`. `returns` are the results that a function gives when it traps; `state` are the variables that
    functions take and give back, beside arguments and results, and `left` those that this one gives back.
    """

    def __init__(self) -> None:
        super().__init__()
        self.code: Code = []
        self.count, self.lines = 0, 0
        self.helpers: set[str] = set()
        self.constants: dict[str, str] = {}
        self.above: dict[str, str] = {}  # for an integer that was made one more than another, that one, as it was then
        self.anywhere: dict[str, Reg] = {}  # for a neutral real that is -0.0 where it is not there, what it is where it is
        self.returns: tuple[str, ...] = ()
        self.state: tuple[str, ...] = ("fuel",)
        self.left: tuple[str, ...] = ("fuel",)

    # primitives

    def primitive(self, primitive: Primitive, arguments: list[Any]) -> Any:
        """The value of a primitive; over a choice, each of its options in a branch."""
        if primitive.name == "gadd" and (total := untested(self, arguments)) is not None:
            return total
        if (product := scaled(self, primitive.name, arguments)) is not None:
            return product
        at = next((i for i, a in enumerate(arguments) if is_several(a)), None)
        if at is not None and primitive.name == "inject" and (found := perhaps(self, *arguments)) is not None:
            return found
        if at == 0 and primitive.name == "sum_to" and _is_real(arguments[1]) and not _has_arrays(arguments[0]):
            return arguments[0]
        if at is not None and primitive.name not in WHOLE and not (primitive.name == "switch" and at > 0):
            return self.by_cases(primitive, arguments, at)
        if any(isinstance(a, Nothing) and a.type == UNBOUND_TYPE for a in arguments) and primitive.name not in (*WHOLE, "switch"):
            self.trap("True", UNBOUND)
            return None
        if primitive.name == "to_boolean" and isinstance(arguments[0], Items):
            return to_boolean(self, *arguments)
        if TABLE.get(primitive.name) is primitive and (primitive.name in CELLS or any(isinstance(a, ARRAYS) for a in arguments)):
            try:
                found = self.of_arrays(primitive, arguments)
            except Malformed as refusal:
                if refusal.rule != "lower" or not any(isinstance(a, Nothing) and a.type == ZERO_TYPE for a in arguments):
                    raise
                self.trap("True", SIZES)  # ZERO in place of a value, on a path that is not taken; if it is, the machine takes it
                return None
            except Trap:
                self.trap("True", STUCK)  # every run that comes here traps: none need come, as into a loop without turns
                return None
            if found is not None:
                return found
        if TABLE.get(primitive.name) is primitive and primitive.name in STRUCTURAL:
            return self.settled(STRUCTURAL[primitive.name](self, *arguments))
        return self.scalar(primitive, arguments)

    def of_arrays(self, primitive: Primitive, arguments: list[Any]) -> Any:
        """The value of a row of arrays, or of a row of numbers where there are arrays; None for a row that moves whole values."""
        name, first = primitive.name, arguments[0]
        if (cell := OVER.get(name)) is not None or (isinstance(first, ARRAYS) and (cell := OF_FIRST.get(name)) is not None):
            return cell(self, *arguments)
        if (cell := CELLS.get(name)) is not None:
            if name not in OF_ANYTHING:
                if any(isinstance(a, Nothing) and a.type == ZERO_TYPE for a in arguments):
                    return ZERO_VALUE
                arguments = [as_operand(self, first), *arguments[1:]]
            return cell(self, *arguments)
        if name in ELEMENTWISE:
            return elementwise(self, primitive, arguments)
        if name in STRUCTURAL and (not isinstance(first, ARRAYS) or name in ("is_instance", "place_in", "unlabelled")):
            return None
        if name in WHOLE:
            return None
        if name == "seed":
            return Reg("1.0", REAL)
        raise uncompiled(f"{name} of arrays")

    def natural_power(self, a: Any, b: Any) -> Any:
        """The power of integers that are to stay integers."""
        self.trap(f"{b.text} < 0", SIZES)
        return self.filled(Template("_pow_ii_({0}, {1})", INTEGER, helpers=("_pow_ii_",), fallible=True), [a.text, b.text])

    def settled(self, value: Any) -> Any:
        """The value with every choice between scalars computed once, here, so that expressions do not grow by being used twice."""
        match value:
            case Reg(text, type, None) if " if " in text:
                name = self.variable(type)
                self.line(f"{name} = {text}")
                return Reg(name, type)
            case Items(parts) | Cut(parts):
                return replace(value, items=tuple(self.settled(p) for p in parts))
            case Fn(function, parts):
                return Fn(function, tuple(self.settled(p) for p in parts))
            case Stack(type, top, base) if " if " in top:
                found = make(type, self.variable)
                self.move((found,), (Stack(type, top, base),))
                return found
            case Sum(type, tests, found):
                return Sum(type, tuple(self.settled_test(t) for t in tests), tuple(self.settled(o) for o in found))
            case Held(_, name, _, _) if " if " in name:
                return self.named(value)
            case _:
                return value

    def named(self, array: Held) -> Held:
        """An array that is a choice, in variables."""
        found = make(replace(array.type, dims=(None,) * len(array.sizes)), self.variable)
        for a, b in ((found.name, array.name), (found.mask, array.mask)):
            if a:
                self.line(f"{a} = {b}")
        return found

    def settled_test(self, test: str) -> str:
        if not any(word in test for word in (" if ", " and ", " or ")):
            return test
        name = self.variable(BOOLEAN)
        self.line(f"{name} = {test}")
        return name

    def by_cases(self, primitive: Primitive, arguments: list[Any], at: int) -> Any:
        """One branch for every option of an argument."""
        cases = options(arguments[at])
        if len(cases) == 1:
            return self.one_case(primitive, [*arguments[:at], cases[0][1], *arguments[at + 1 :]])
        type = self.result_type(primitive, [typed(a) for a in arguments])
        result = None if type == NEVER else make(type, self.variable)
        for test, option in cases:
            with self.under(test):
                value = self.one_case(primitive, [*arguments[:at], option, *arguments[at + 1 :]])
                if value is not None and result is not None:
                    self.move((result,), (convert(value, type),))
        return result

    def result_type(self, primitive: Primitive, types: list[Any]) -> Any:
        """The type of the value of a primitive, whatever is known of it."""
        return erase(apply_type(primitive, types))

    def one_case(self, primitive: Primitive, arguments: list[Any]) -> Any:
        """
        The value; none, and a trap, for a value and a sensitivity of other structure, or other types that no run puts together, and
        for arrays of shapes with which every run traps. If one does, the machine takes it, and has the error.
        """
        try:
            self.result_type(primitive, [typed(a) for a in arguments])
        except (IllTyped, Trap):
            self.trap("True", STUCK)
            return None
        return self.primitive(primitive, arguments)

    def scalar(self, primitive: Primitive, arguments: list[Any]) -> Any:
        """A template filled in and assigned, if the result is not known."""
        if (known := decided(primitive, arguments)) is not None:
            return known
        if any(isinstance(a, Nothing) and a.type == ZERO_TYPE for a in arguments):
            known = with_zero(primitive.name, arguments)
            if known is not None:
                return known
            if primitive.name == "sub":
                return self.primitive(TABLE["neg"], [arguments[1]])
            arguments = [Reg("0.0", REAL) if isinstance(a, Nothing) else a for a in arguments]
        if not all(isinstance(a, Reg) for a in arguments):
            raise IllTyped(f"{primitive.name} wants scalars, found {', '.join(str(typed(a)) for a in arguments)}", rule="lower")
        types = [typed(a) for a in arguments]
        cell = NUMBA.find(primitive)
        if isinstance(cell, Hole):
            raise IllTyped(
                f"{primitive.name} has no generated source: {cell.reason}", rule="lower", remedy='give it a "numba" column'
            )
        template = Template(cell, REAL, real=True) if isinstance(cell, str) else cell(*types)
        if isinstance(template, str):
            template = Template(template, erase(apply_type(primitive, types)))
        found = self.filled(template, [f"float({a.text})" if template.real and a.type == INTEGER else a.text for a in arguments])
        if types[0] == INTEGER and arguments[-1].value == 1 and primitive.name in ("add", "sub"):
            more, less = (found, arguments[0]) if primitive.name == "add" else (arguments[0], found)
            self.above[more.text] = less.text
        return found

    def filled(self, template: Template, texts: list[str]) -> Reg:
        """The tests and the expression of a template."""
        self.helpers.update(template.helpers)
        for condition, status in template.checks:
            self.trap(condition.format(*texts), status)
        result = self.variable(template.type)
        if template.fallible:
            status_name = self.variable(INTEGER)
            self.line(f"({result}, {status_name}) = {template.text.format(*texts)}")
            self.fail(f"{status_name} != 0", status_name)
        elif template.text == "{0}":
            return Reg(texts[0], template.type)
        else:
            self.line(f"{result} = {template.text.format(*texts)}")
        return Reg(result, template.type)

    # lines

    def move(self, targets: tuple[Any, ...], values: tuple[Any, ...]) -> None:
        """The parallel move: every source is read before any target is written."""
        values = tuple(self.contiguous(v) for v in values)
        to = [r.text for t in targets for r in scalars(t)]
        source = [r.text for v, t in zip(values, targets, strict=True) for r in stored(v, t)]
        pairs = [(t, s) for t, s in zip(to, source, strict=True) if t != s]
        if len(pairs) == 1:
            self.line(f"{pairs[0][0]} = {pairs[0][1]}")
        elif pairs:
            self.line(f"({', '.join(t for t, _ in pairs)}) = ({', '.join(s for _, s in pairs)})")

    def trap(self, condition: str, status: int) -> None:
        """Ends the function with a status if the condition holds."""
        self.fail(condition, str(status))

    def fail(self, condition: str, status: str) -> None:
        returned = f"return ({', '.join([*self.returns, *self.left, status])},)"
        if condition == "True":
            self.line(returned)
        else:
            self.line(f"if {condition}:")
            self.code.append([returned])

    def line(self, text: str) -> None:
        self.lines += 1
        if self.lines > LINES:
            what = f"the program needs more than {LINES} lines of code"
            raise Malformed(what, rule=LONG, remedy="run it on the reference machine")
        self.code.append(text)

    def fresh_number(self) -> int:
        self.count += 1
        return self.count

    def module_name(self, text: str) -> str:
        """The name of what is computed once, beside the functions."""
        return self.constants.setdefault(text, f"c{len(self.constants)}_")

    def variable(self, type: Scalar | ArrayType) -> str:
        if isinstance(type, ArrayType):
            return f"a{self.fresh_number()}_"
        return f"{ {REAL: 'x', INTEGER: 'i', BOOLEAN: 'b'}[type] }{self.fresh_number()}"


def _is_real(value: Any) -> bool:
    return isinstance(value, Reg) and value.type == REAL


def _has_arrays(value: Sum) -> bool:
    return any(isinstance(option, ARRAYS) for option in value.options)


def stored(value: Any, target: Any) -> list[Reg]:
    """The scalars of a value in the layout of its target; known ones are written out."""
    match value, target:
        case Reg(text, type, _), Reg(_, _, None):
            return [Reg(text, type)]
        case Items(parts) | Fn(_, parts) | Cut(parts), Items(into) | Fn(_, into) | Cut(into):
            return [r for p, t in zip(parts, into, strict=True) for r in stored(p, t)]
        case (Stack(), Stack()) | (Held(), Held()):
            return list(scalars(value))
        case Sum(), Sum():
            number = next(iter(scalars(value)))
            return [number, *(r for p, t in zip(value.options, target.options, strict=True) for r in stored(p, t))]
        case _:
            return []


def text_of(code: Code) -> str:
    """The lines with their indentation; Malformed where CPython could not read them: nested too deep, or too many loops."""
    lines: list[str] = []
    todo: list[tuple[Any, int, int]] = [(code, 1, 0)]
    while todo:
        item, depth, loops = todo.pop()
        if isinstance(item, str):
            lines.append("    " * depth + item)
            continue
        if depth > NESTING or loops > LOOPS:
            raise Malformed(
                f"the code nests more than {NESTING} deep, or {LOOPS} loops", rule="lower", remedy="use the reference machine"
            )
        parts: list[Any] = item or ["pass"]
        for at in reversed(range(len(parts))):
            inner = isinstance(parts[at], list)
            loop = inner and at > 0 and isinstance(parts[at - 1], str) and parts[at - 1].startswith(("while ", "for "))
            todo.append((parts[at], depth + inner, loops + loop))
    return "\n".join(lines)


def without(text: str, unwanted: Callable[[str], bool]) -> str:
    """The text without some of its lines; a block that had no others does nothing."""
    kept: list[str] = []
    for line in (*(line for line in text.split("\n") if not unwanted(line)), ""):
        if kept and kept[-1].endswith(":") and _depth(line) <= _depth(kept[-1]):
            kept.append(" " * (_depth(kept[-1]) + 4) + "pass")
        kept.append(line)
    return "\n".join(kept[:-1])


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
