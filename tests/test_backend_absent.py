"""
A class with operators costs nothing where a program has no record of it: the code is that of a module without the class. Where
there may be a record, in an argument, a constant or what is reached, the question stays, unless the types of a call decide it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.values import to_value
from backend import run, runnable
from backend.lowering import absent
from backend.lowering.absent import without_absent
from backend.lowering.dispatched import dispatched
from backend.lowering.first_order import lowered
from semantics.errors import Trap
from semantics.ir import Program
from semantics.machine import Machine
from semantics.primitives.table import TABLE
from semantics.structured import Label, Record
from semantics.type_language import INTEGER, REAL, ArrayType, TupleType, type_of
from semantics.values import same
from transforms.gradient_programs import calling
from transforms.nested_grad import expand
from transforms.parse import parse_text

CLASS = """
from dataclasses import dataclass
from typing import NamedTuple
@dataclass(frozen=True)
class Dual:
    re: float
    im: float
    def __add__(self, o): return Dual(self.re + o.re, self.im + o.im)
    def __mul__(self, o): return Dual(self.re * o.re, self.re * o.im + self.im * o.re)
    def __rmul__(self, o): return Dual(self.re * o, self.im * o)
    def norm(self): return self.re * self.re + self.im
class Other(NamedTuple):
    re: float
    im: float
    def __sub__(self, o): return Other(self.re - o.re, self.im)
@dataclass(frozen=True)
class Mixed:
    re: float
    im: float
    def __mul__(self, o): return Mixed(self.re * o.re, self.im) if isinstance(o, Mixed) else Mixed(self.re * o, self.im * o)
    def __rmul__(self, o): return self * o
    def __add__(self, o): return Mixed(self.re + o.re, self.im + o.im) if isinstance(o, Mixed) else Mixed(self.re + o, self.im)
ORIGIN = Dual(0.5, 0.25)
"""
LOOP = """
def f(x, n: int):
    s = 0.0
    for i in range(n):
        s = s * x + x * x
    return s
"""
QUEUE = """
import math
def f(x):
    work, k, s = [x[0]], 1, 0.0
    while len(work) > 0:
        y = work.pop()
        s += math.sin(y) * y
        if k < len(x):
            work.append(x[k] * y + x[0])
            k += 1
    return s
"""
VECTOR = (ArrayType("f64", (None,)),)
DUAL = type_of(Record(Label("dataclass", "Dual", ("re", "im")), (0.5, 2.0)))


def asks(program: Program) -> int:
    """How many questions there are."""
    row = TABLE["is_instance"]
    return len(program.users(program.interned[row])) if row in program.interned else 0


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types decide nothing."""
    monkeypatch.setattr(absent, "dispatched", lambda program, _: program)


@pytest.mark.parametrize(("text", "types"), [(LOOP, (REAL, INTEGER)), (QUEUE, VECTOR)], ids=["loop", "queue"])
@pytest.mark.parametrize("derived", [False, True], ids=["value", "gradient"])
def test_the_code_is_that_of_a_module_without_the_class(text: str, types: tuple[Any, ...], derived: bool) -> None:
    def code(text: str) -> str:
        program = parse_text(text, "f")
        return lowered(calling(program, "grad", 0, types) if derived else program, types).alone

    assert asks(without_absent(parse_text(CLASS + text, "f"), types)) == 0
    assert code(CLASS + text).count("\n") == code(text).count("\n")


def test_what_has_no_class_stays_the_same_program() -> None:
    program = parse_text(LOOP, "f")
    assert without_absent(program, (REAL, INTEGER)) is program
    optional = parse_text("def f(x, y):\n    return x if y is None else x * 2.0\n", "f")
    assert without_absent(optional, (REAL, REAL)) is optional


@pytest.mark.parametrize(
    ("body", "types"),
    [
        ("return (x * y).norm()", (DUAL, DUAL)),
        ("return (x[1] * x[1]).norm() + y", (TupleType((REAL, DUAL)), REAL)),
        ("return (Dual(x, y) * 2.0).re", (REAL, REAL)),
        ("return ORIGIN.norm() * x + (ORIGIN * y).re", (REAL, REAL)),
        ("make = lambda a: Dual(a, a)\n    return (make(x) + make(y)).im", (REAL, REAL)),
    ],
    ids=["an argument", "a part of one", "made", "a constant", "made by a function that is passed on"],
)
@pytest.mark.usefixtures("undecided")
def test_where_there_is_a_record_it_is_asked_for(body: str, types: tuple[Any, ...]) -> None:
    assert asks(without_absent(parse_text(f"{CLASS}def f(x, y):\n    {body}\n", "f"), types)) > 0


@pytest.mark.usefixtures("undecided")
def test_a_record_that_only_methods_of_its_own_make_is_none() -> None:
    program = parse_text(f"{CLASS}def f(x, y):\n    return x * y + y\n", "f")
    assert asks(without_absent(program, (REAL, REAL))) == 0
    assert asks(without_absent(program, (DUAL, DUAL))) > 0


@pytest.mark.usefixtures("undecided")
def test_of_two_classes_the_one_that_is_there_is_asked_for() -> None:
    text = f"{CLASS}def f(x, y):\n    return Other(x, y) - Other(y * y, x)\n"
    program = without_absent(parse_text(text, "f"), (REAL, REAL))
    asked = {str(v) for n in program.nodes if isinstance(v := program.constant(n), Label)}
    assert asked == {"Other"}


def test_types_that_are_not_known_may_be_of_any_class() -> None:
    program = parse_text(f"{CLASS}def f(x, y):\n    return x * y\n", "f")
    assert without_absent(program, None) is program
    assert without_absent(program, (REAL, None)) is program


def test_a_question_of_the_program_itself_is_answered() -> None:
    text = (
        f"{CLASS}def f(x, y):\n    return x * y if isinstance(x, Dual) else x * y + 1.0 if isinstance(y, (Dual, float)) else 0.0\n"
    )
    program = parse_text(text, "f")
    after = without_absent(program, (REAL, REAL))
    assert len(after.nodes) < len(program.nodes)
    assert Machine(after).run((2.0, 3.0)).value == Machine(program).run((2.0, 3.0)).value == 7.0


# choices that types decide

POLYNOMIAL = """
def f(x, y, n: int):
    z, s = Dual(x, y), 0.0
    for i in range(n):
        z = z * z + ORIGIN
        s = s * 0.5 + y * y
    return z.norm() * s
"""


MIXED = """
def f(x, y, n: int):
    z, s = Mixed(x, y), Mixed(0.0, 1.0)
    for i in range(n):
        s = 0.5 * s + z * z * 0.3 + 1.0
        z = z * y + s * 0.01
    return s.re + s.im * x
"""
BOTH = pytest.mark.parametrize("loop", [POLYNOMIAL, MIXED], ids=["records of one kind", "records and numbers"])


@BOTH
def test_each_product_is_one_of_records_or_one_of_numbers(loop: str) -> None:
    program = parse_text(CLASS + loop, "f")
    after = dispatched(program, (REAL, REAL, INTEGER))
    assert asks(program) > 0 == asks(after)
    assert Machine(after).run((0.3, 0.2, 3)).value == Machine(program).run((0.3, 0.2, 3)).value


@BOTH
def test_the_gradient_of_a_loop_over_records_is_code_and_calls_nothing(loop: str) -> None:
    """Each product left a tape, and sums over tapes have sizes that no code is for: so every call was the machine's."""
    types, point = (REAL, REAL, INTEGER), (0.3, 0.2, 30)
    program = calling(parse_text(CLASS + loop, "f"), "grad", (0, 1), types)
    tiered = runnable(program, types, "python")
    assert [same(tiered(*point), Machine(expand(program)).run(point).value) for _ in range(2)] == [True, True]
    assert tiered.refusal is None
    assert tiered.again == 0
    assert "def f" not in lowered(program, types).alone


def test_a_choice_that_many_calls_make_is_decided_in_each() -> None:
    """More than 64 calls of an operator were left as they were, and the gradient of a loop over records was the machine's again."""
    lines = "".join(f"        z = z * z + ORIGIN\n        s = s * 0.5 + y * {k}.5\n" for k in range(40))
    text = f"{CLASS}def f(x, y, n: int):\n    z, s = Dual(x, y), 0.0\n    for i in range(n):\n{lines}    return z.norm() + s\n"
    assert asks(without_absent(parse_text(text, "f"), (REAL, REAL, INTEGER))) == 0


def test_what_types_leave_open_is_asked() -> None:
    body = "z = Dual(x, y) if n > 0 else Other(x, y)\n    return (z - Other(y, x)).re if n < 1 else z.norm()\n"
    text = f"{CLASS}def f(x, y, n: int):\n    {body}"
    program = parse_text(text, "f")
    after = dispatched(program, (REAL, REAL, INTEGER))
    assert asks(after) > 0
    for n in (0, 1):
        assert Machine(after).run((0.3, 0.2, n)).value == Machine(program).run((0.3, 0.2, n)).value


def test_an_error_of_the_program_stays_where_a_choice_is_decided() -> None:
    text = f'{CLASS}def f(x, y):\n    if not isinstance(x, Dual):\n        raise ValueError("a number")\n    return x.norm() + y\n'
    program = without_absent(parse_text(text, "f"), (REAL, REAL))
    with pytest.raises(Trap, match="a number"):
        Machine(program).run((0.5, 0.5))


TERMS = (
    "x * y",
    "x + y * y",
    "Dual(x, y).norm()",
    "(Dual(x, y) * ORIGIN).re",
    "(2.0 * Dual(y, x)).im",
    "x - y",
    "(Other(x, y) - Other(y, x)).re",
)


@given(st.lists(st.sampled_from(TERMS), min_size=1, max_size=4), st.integers(0, 3))
def test_value_and_gradient_are_those_of_the_reference(terms: list[str], turns: int) -> None:
    lines = "".join(f"        s = s + {term}\n" for term in terms)
    text = f"{CLASS}def f(x, y, n: int):\n    s = 0.0\n    for i in range(n):\n{lines}        x = 0.5 * x\n    return s\n"
    types, point = (REAL, REAL, INTEGER), tuple(map(to_value, (0.75, -1.5, turns)))
    for program in (parse_text(text, "f"), calling(parse_text(text, "f"), "value_and_grad", (0, 1), types)):
        wanted = Machine(expand(program, "ssa")).run(point).value
        assert same(Machine(expand(without_absent(program, types), "ssa")).run(point).value, wanted)
        assert same(run.compile(program, types, "python")(*point), wanted)
