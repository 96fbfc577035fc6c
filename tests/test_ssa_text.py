"""The text of SSA form: what is printed reads back as the same module, and what is no module is refused at its place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ssa_programs import BRANCH, EXCHANGE, HIDDEN, PARITY, POW, WRITTEN, modules

from semantics.errors import Malformed
from semantics.primitives.table import TABLE
from semantics.ssa.form import (
    Adjoined,
    Alpha,
    Block,
    Branch,
    Function,
    FunctionRef,
    Goto,
    Instruction,
    Literal,
    Module,
    Name,
    Parameter,
    Phi,
    Return,
)
from semantics.ssa.text import canonical, read, show_function
from semantics.tangents import ZERO
from semantics.type_language import parse_type
from semantics.values import Unbound, bits

# section 3.1: the adjoint of the branch, and the primal of pow
LISTING = """function adjoint(ȳ):
block #1:
    goto #3 if not α%4
block #2:
    _, %1 ← α%3(ȳ)
    goto #3
block #3:
    %2 ← φ(#1 → ȳ, #2 → %1)
    return %2, 0

function primal(x, n):
block #1:
    %1 ← φ(#0 → False, #2 → True)
    %2 ← φ(#0 → 1, #2 → %6)
    %3 ← φ(#0 → n, #2 → %5)
    %4 ← gt(%3, 0)
    goto #3 if not %4
block #2:
    %5 ← sub(%3, 1)
    %6, %7 ← J(mul, x, %2)
    %8, %9 ← J(@adjoint, %6)
    goto #1
block #3:
    return %2"""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_module_written_by_hand_is_printed_as_it_was_written(name: str) -> None:
    text = WRITTEN[name].text
    assert read(str(read(text))) == read(text)
    if name != "exchange":
        assert str(read(text)) == text


def test_the_listings_of_the_paper_are_printed_as_they_were_written() -> None:
    """But for a jump to the next block, which the paper leaves out in one listing and not in the other."""
    assert str(read(LISTING)) == LISTING.replace("    goto #3\nblock #3", "block #3")


@given(modules())
def test_what_is_printed_reads_back(module: Module) -> None:
    again = read(str(module))
    assert again == module
    assert hash(again) == hash(module)
    assert str(again) == str(module)
    assert read(str(again)).functions == again.functions


def test_ascii_is_read_for_arrows_and_phi() -> None:
    assert read(POW.replace("←", "<-").replace("→", "->").replace("φ", "phi")) == read(POW)


def test_a_branch_names_both_sides_unless_one_of_them_follows() -> None:
    def text(then: int, otherwise: int) -> str:
        branch = Block(1, (), (), Branch(Name("c"), then, otherwise))
        rest = tuple(Block(label, (), (), Return(())) for label in (2, 3))
        return show_function(Function("f", (Parameter("c"),), (branch, *rest))).splitlines()[2].strip()

    assert text(3, 2) == "goto #3 if c"
    assert text(2, 3) == "goto #3 if not c"
    assert text(2, 2) == "goto #2 if c"
    assert text(3, 3) == "goto #3 if c else #3"
    for then, otherwise in ((3, 2), (2, 3), (2, 2), (3, 3), (1, 3)):
        found = read(f"function f(c):\nblock #1:\n  {text(then, otherwise)}\nblock #2:\n  return\nblock #3:\n  return c, 1")
        assert found.main.by_label[1].jump == Branch(Name("c"), then, otherwise)


def test_modules_that_differ_in_names_only_are_equal() -> None:
    renamed = POW.replace("%1", "r").replace("%2", "m").replace("#3", "#9").replace("pow", "power").replace("x", "base")
    assert read(renamed) == read(POW)
    assert read(PARITY.replace("even", "a").replace("odd", "b")) == read(PARITY)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (POW, POW.replace("sub(%2, 1)", "sub(%2, 2)")),
        (POW, POW.replace("#0 → 1", "#0 → 1.0")),
        (POW, POW.replace("mul(%1, x)", "mul(x, %1)")),
        (POW, POW.replace("if not", "if")),
        (POW, POW.replace("x, n", "n, x")),
        (POW, POW.replace("x, n", "x: f64, n")),
        (HIDDEN, HIDDEN.replace("factor; v", "factor, v")),
        (EXCHANGE, EXCHANGE.replace("#2 → b", "#2 → a", 1)),
        (PARITY, PARITY.replace("@odd", "@even")),
        (BRANCH, BRANCH.replace("return %3", "return α%3")),
    ],
)
def test_modules_that_differ_in_more_are_not(text: str, other: str) -> None:
    assert read(text) != read(other)


def test_the_order_of_the_functions_is_no_difference_but_the_entry_is() -> None:
    module = read(PARITY)
    assert replace(module, functions=module.functions[::-1]) == module
    assert replace(module, entry="odd") != module
    assert str(replace(module, entry="odd")).startswith("function odd(")
    assert read(str(replace(module, entry="odd"))) == replace(module, entry="odd")


def test_arms_are_printed_in_the_order_of_their_labels_and_may_be_read_in_any() -> None:
    assert read(POW.replace("#0 → 1, #2 → %4", "#2 → %4, #0 → 1")) == read(POW)


LITERALS = st.one_of(
    st.floats(allow_nan=True),
    st.integers(),
    st.booleans(),
    st.none(),
    st.text(),
    st.just(ZERO),
    st.from_regex(r"[a-z_]\w{0,5}", fullmatch=True).map(Unbound),
)


@given(st.lists(st.one_of(LITERALS, st.lists(LITERALS, max_size=3).map(tuple)), min_size=1, max_size=5))
def test_every_constant_reads_back_as_the_same_value(values: list[object]) -> None:
    block = Block(1, (), (), Return(tuple(map(Literal, values))))
    jump = read(str(Module((Function("f", (), (block,)),), "f"))).main.blocks[0].jump
    assert isinstance(jump, Return)
    for wanted, operand in zip(values, jump.operands, strict=True):
        assert isinstance(operand, Literal)
        assert type(operand.value) is type(wanted)
        if isinstance(wanted, float):
            assert bits(operand.value) == bits(wanted)
        else:
            assert repr(operand.value) == repr(wanted)


ANY_NAME = st.one_of(
    st.text(max_size=4), st.sampled_from(["True", "φ", "J", "mul", "α", "αx", "%1", "1", "%", "_ ", "goto", "f64", "%α"])
)


@given(st.lists(ANY_NAME.filter(lambda n: n != "_"), min_size=3, max_size=6, unique=True), ANY_NAME, st.booleans())
def test_whatever_the_names_are_the_text_reads_back(names: list[str], called: str, primitive: bool) -> None:
    a, b, c, *rest = names
    callee = TABLE["J"] if primitive else Adjoined(TABLE["mul"])
    instructions = (
        Instruction((b,), FunctionRef(called), tuple(map(Name, (a, *rest)))),
        Instruction((c, "_"), callee, (Name(a), Name(b), Alpha(c))),
    )
    parameters = tuple(Parameter(name) for name in (a, *rest))
    block = Block(1, (), instructions, Return((Name(c), Name(a))))
    module = Module((Function(called, parameters, (block,), hidden=1),), called)
    assert read(str(module)) == module


def test_types_and_hidden_parameters_read_back() -> None:
    module = read("function f(a: tuple[f64, i64], b: f64[2, ?]; c: list[f64, ...]):\nblock #1:\n  return")
    assert [p.type for p in module.main.parameters] == [parse_type(t) for t in ("tuple[f64, i64]", "f64[2, ?]", "list[f64, ...]")]
    assert module.main.hidden == 2
    assert read(str(module)) == module
    everything = read("function f(a;):\nblock #1:\n  return")
    assert (everything.main.hidden, str(everything).splitlines()[0]) == (1, "function f(a;):")


def test_what_is_adjoined_is_told_from_an_argument_of_the_primitive_j() -> None:
    module = read("function f(scale):\nblock #1:\n  %1 ← J(scale, 1)\n  %2 ← J(%1)\n  return %2")
    first, second = module.main.blocks[0].instructions
    assert first.callee == Adjoined(TABLE["scale"])
    assert second.callee is TABLE["J"]


@pytest.mark.parametrize(
    ("old", "new", "what", "line", "column"),
    [
        ("function pow(x, n):\n", "", "outside a function", 1, 0),
        ("block #1:\n", "", "outside a block", 2, 0),
        ("return %1", "%8 ← sin(x)", "ends without a jump", 11, 0),
        ("goto #1", "goto #1\n    goto #1", "goes on after its jump", 11, 0),
        ("%4 ← mul", "%9 ← φ(#2 → x)\n    %4 ← mul", "after an instruction", 9, 0),
        ("%1 ← φ", "%1, %9 ← φ", "one target", 3, 0),
        ("mul(", "times(", "times cannot be called", 9, 9),
        ("mul(%1, x)", "mul(%1 x)", "expected .*, found x", 9, 16),
        ("return %1", "return %1 %2", "unexpected %2", 12, 14),
        ("return %1", "return goto", "expected a name", 12, 11),
        ("%4 ← mul", "4 ← mul", "expected a name", 9, 4),
        ("goto #1", "goto 1", "expected a label", 10, 9),
        ("x, n", "x, !", "cannot read", 1, 15),
    ],
)
def test_what_is_no_module_is_refused_at_its_place(old: str, new: str, what: str, line: int, column: int) -> None:
    with pytest.raises(Malformed, match=what) as refused:
        read(POW.replace(old, new), file="pow.ssa")
    location = refused.value.location
    assert location is not None
    assert (location.file, location.line, location.column) == ("pow.ssa", line, column)


def test_a_function_has_a_block() -> None:
    with pytest.raises(Malformed, match="has no block"):
        read("function f(x):")


def test_the_empty_text_is_no_module() -> None:
    with pytest.raises(Malformed, match="empty"):
        read("\n\n")


def test_a_function_or_an_arm_that_is_not_there_is_named() -> None:
    with pytest.raises(Malformed, match="no function is called @g"):
        read(POW)["g"]
    phi = read(POW).main.blocks[0].phis[0]
    assert isinstance(phi, Phi)
    with pytest.raises(Malformed, match="no arm for block #7"):
        phi.arm(7)


def test_names_that_nothing_defines_are_not_taken_for_those_of_positions() -> None:
    """Of an alpha, which names a value of another function, the canonical text keeps the name."""
    assert "?%9" in canonical(read("function f(x):\nblock #1:\n  return α%9"))
    assert read("function f(x):\nblock #1:\n  return α%0") != read("function f(x):\nblock #1:\n  return αx")


def test_the_text_of_a_block_says_where_it_goes() -> None:
    blocks = (Block(1, (), (), Goto(2)), Block(2, (), (), Goto(1)))
    assert show_function(Function("f", (), blocks)) == "function f():\nblock #1:\nblock #2:\n    goto #1"
