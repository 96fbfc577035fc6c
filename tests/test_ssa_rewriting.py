"""Replacing what SSA code mentions: what stays as it is, is the same object."""

from __future__ import annotations

from semantics.errors import Location
from semantics.primitives.table import TABLE
from semantics.ssa.form import Alpha, Instruction, Literal, Name, Operand, Phi
from transforms.ssa.rewriting import put_in_instruction, resolved, with_arms

SUM = Instruction(("s", "_"), TABLE["add"], (Name("x"), Literal(1.0)), Location("f.py", 3))


def test_an_instruction_of_which_nothing_is_replaced_is_the_same_object() -> None:
    assert put_in_instruction(SUM, lambda o: o) is SUM


def test_an_instruction_with_one_thing_replaced_is_another_at_the_same_place() -> None:
    def put(operand: Operand) -> Operand:
        return Name("y") if operand == Name("x") else operand

    found = put_in_instruction(SUM, put)
    assert found == Instruction(("s", "_"), TABLE["add"], (Name("y"), Literal(1.0)))
    assert found.location == SUM.location
    assert put_in_instruction(SUM, lambda o: o, str.upper).targets == ("S", "_")
    called = Instruction(("a",), Alpha("b"), ())
    assert put_in_instruction(called, lambda o: Alpha("c") if o == Alpha("b") else o).callee == Alpha("c")


def test_a_phi_node_keeps_its_target_unless_it_gets_another() -> None:
    phi = Phi("x", ((1, Name("a")), (2, Name("b"))), Location("f.py", 4))
    assert with_arms(phi, [(1, Name("c"))]) == Phi("x", ((1, Name("c")),))
    assert with_arms(phi, phi.arms, "y") == Phi("y", phi.arms)
    assert with_arms(phi, ()).location == phi.location


def test_the_way_to_what_stands_for_a_name_is_made_short() -> None:
    value: dict[str, Operand] = {"a": Name("b"), "b": Name("c"), "c": Literal(2.0)}
    assert resolved(Name("a"), value) == Literal(2.0)
    assert value == dict.fromkeys("abc", Literal(2.0))
    assert resolved(Name("z"), value) == Name("z")
