"""Every row that reads arrays has a backpropagator that is right at every shape and attribute, to first and second order."""

from __future__ import annotations

import pytest
from array_rules import has_rule, judge, pullback_of

from checkers.array_audit.row_samples import array_examples
from checkers.array_audit.row_samples_arguments import Example, array
from semantics.arrays import Array
from semantics.ir import Program
from semantics.primitives.row import Primitive
from semantics.primitives.table import ARRAYS, ELEMENTWISE, TABLE
from semantics.text import read
from transforms import adjoint_primitives

# rows whose arguments are whole numbers only, and rows on another kind of data
WITHOUT_REALS = frozenset({"arange", "eye", "final", "and_", "or_", "not_"})


def test_every_array_row_is_judged() -> None:
    """Each has a rule, and each rule examples; no example is of a row that is not there."""
    rows = {p.name for p in ARRAYS} | ELEMENTWISE | {"getitem", "where"}
    assert {name for name in rows if not has_rule(name)} == set()
    assert {name for name in rows - WITHOUT_REALS if not array_examples(name)} == set()


@pytest.mark.parametrize("name", [name for name in TABLE if array_examples(name) and has_rule(name)])
def test_a_row_has_the_right_derivatives_on_arrays(name: str) -> None:
    judged = {str(example): judge(name, example) for example in array_examples(name)}
    assert {example: found.wrong for example, found in judged.items() if found.wrong} == {}
    assert sum(found.compared for found in judged.values()) > 0


# the judge itself


PLANTED: dict[str, tuple[str, str, str]] = {
    "the shape is not restored": ("reshape", "x shape", "%dx = reshape(%dout, -1)\n  %r = make_tuple(%dx, ZERO)"),
    "a factor forgotten": ("matmul", "a b", "%t = transpose(%b, None)\n  %da = matmul(%dout, %t)\n  %r = make_tuple(%da, ZERO)"),
    "not transposed": ("transpose", "x axes", "%dx = reshape(%dout, (2, 3))\n  %r = make_tuple(%dx, ZERO)"),
    "right at first order at 2.0 only": (
        "roll",
        "x shift axis",
        "%s = neg(%shift)\n  %b = roll(%dout, %s, %axis)\n  %z = sub(%x, 2.0)\n  %e = mul(%z, %dout)\n  %dx = add(%b, %e)\n"
        "  %r = make_tuple(%dx, ZERO, ZERO)",
    ),
    "twice as much": ("flip", "x axis", "%f = flip(%dout, %axis)\n  %dx = mul(2.0, %f)\n  %r = make_tuple(%dx, ZERO)"),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, parameters, body = PLANTED[bug]
    names = ", ".join(f"%{p}" for p in [*parameters.split(), "out", "dout"])
    wrong = read(f"program @p\n@p({names}):\n  {body}\n  return %r")
    examples = {
        "reshape": (array((2, 3)), (3, 2)),
        "matmul": (array((2, 3)), array((3, 2), 1)),
        "transpose": (array((2, 3)), None),
        "roll": (Array("f64", (1,), (2.0,)), 1, 0),
        "flip": (array((3,)), 0),
    }
    example = Example(examples[name])
    assert judge(name, example).wrong == ()
    pullback_of.cache_clear()
    rule = adjoint_primitives.backpropagator

    def planted(primitive: Primitive) -> Program:
        return wrong if primitive is TABLE[name] else rule(primitive)

    monkeypatch.setattr(adjoint_primitives, "backpropagator", planted)
    try:
        assert judge(name, example).wrong
    finally:
        pullback_of.cache_clear()
