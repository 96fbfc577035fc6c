"""η-conversion: where each rule fires and where it must not, what it keeps, and unsound variants that the audit catches."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from optimizer_programs import POINTS, programs

from checkers.optimizer_audit import audit
from checkers.verdict import Refuted
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Apply, Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms import eta
from transforms.failures import keeping
from transforms.origins import BUDGET, origins
from transforms.places import places
from transforms.surgery import application, arguments_of, become
from transforms.system import RewriteSystem, rewrite

QUICK = ("translation validation", "order", "recorded and unrecorded", "gradients", "gradients optimized")

PASSED_ON = """
program @f
@f(%x: f64, %c: bool):
  %h = {function}
  %r = @apply({passed}, %x)
  return %r
@apply(%k, %y):
  %z = %k(%y)
  return %z
@g(%u):
  %v = {body}
  return %v
"""

TUPLES = """
program @f
@f(%x: f64, %c: bool):
  %t = {made}
  %p = getitem(%t, 0)
  %q = getitem(%t, {second})
  %s = make_tuple(%p, %q)
  return %s
@two(%a):
  %b = make_tuple(%a, 1.0)
  return %b
@either(%a2):
  %b2 = make_tuple(%a2, 1.0)
  %d = make_tuple(%a2, %a2, 2.0)
  %e = switch(%c, %b2, %d)
  return %e
@loop(%n, %acc):
  %m = gt(%n, 0)
  %w = switch(%m, @more, @done)
  %z = %w()
  return %z
@more():
  %i = sub(%n, 1)
  %j = getitem(%acc, 0)
  %k = sin(%j)
  %l = make_tuple(%k, %x)
  %o = @loop(%i, %l)
  return %o
@done():
  return %acc
"""


def fires(rule: str, program: Program) -> bool:
    """Whether the rule applies somewhere; what it makes is well-formed and has the same value."""
    found = next(r for r in eta.RULES if r.name == rule)
    made = [after for place in places(program) if (after := found.function(program, place)) is not None]
    for after in made:
        check(after)
        for condition in (True, False):
            try:
                wanted = run(program, 0.5, condition)
            except AdjudgeError:
                continue
            assert same(run(after, 0.5, condition), wanted)
    return bool(made)


@pytest.mark.parametrize(
    ("function", "passed", "body", "fired"),
    [
        ("switch(%c, sin, cos)", "@g", "%h(%u)", True),
        ("switch(%c, sin, %x)", "@g", "%h(%u)", False),  # no function for one of the conditions
        ("switch(%c, sin, cos)", "@g", "%h(%x)", False),  # another argument
        ("switch(%c, mul, pow)", "@g", "%h(%u, %u)", False),  # another number of arguments
        ("sin(%x)", "@g", "add(%h, %u)", False),
        ("switch(%c, sin, cos)", "sin", "%h(%u)", False),  # not used
    ],
)
def test_a_function_that_only_passes_on_to_a_known_function_is_that_function(
    function: str, passed: str, body: str, fired: bool
) -> None:
    assert fires("eta_captured", read(PASSED_ON.format(function=function, passed=passed, body=body))) == fired


def test_a_function_that_depends_on_the_argument_or_is_wanted_as_known_stays() -> None:
    of_argument = "program @f\n@f(%x: f64, %c: bool):\n  %r = switch(%c, @g, sin)\n  %s = %r(%x)\n  return %s\n" + (
        "@g(%u):\n  %b = lt(%u, 1.0)\n  %h = switch(%b, sin, cos)\n  %v = %h(%u)\n  return %v"
    )
    known = "program @f\n@f(%x: f64, %c: bool):\n  %h = switch(%c, sin, cos)\n  %r = {}(@g{})\n  return %r\n" + (
        "@g(%u):\n  %v = %h(%u)\n  return %v"
    )
    assert not fires("eta_captured", read(of_argument))
    assert not fires("eta_captured", read(known.format("J", "")))
    assert not fires("eta_captured", read(known.format("grad", ", 0")))
    assert "make_tuple(%h)" in str(eta.SYSTEM.run(read(known.format("make_tuple", ""))))
    assert eta.SYSTEM.final(read(known.format("@g", "").replace("@g(@g)", "@g(%x)")))  # only called: for β


def test_a_known_function_passed_on_to_is_used_in_its_place() -> None:
    program = read(PASSED_ON.format(function="sin(%x)", passed="@g", body="cos(%u)"))
    assert "@apply(cos, %x)" in str(eta.SYSTEM.run(program))


@pytest.mark.parametrize(
    ("made", "second", "fired"),
    [
        ("@two(%x)", "1", True),
        ("@two(%x)", "0", False),  # the same element twice
        ("@either(%x)", "1", False),  # of two or of three elements
        ("inject(2, 1, %x)", "1", False),  # sparse
        ("of_length(2.0, 2)", "1", True),
        ("of_length(2.0, 3)", "1", False),
    ],
)
def test_a_tuple_of_the_elements_of_a_tuple_is_that_tuple(made: str, second: str, fired: bool) -> None:
    assert fires("tuple_of_elements", read(TUPLES.format(made=made, second=second))) == fired


def test_the_accumulator_of_a_loop_is_a_tuple_if_it_starts_as_one() -> None:
    text = TUPLES.replace("%t = {made}", "%o1 = make_tuple(%x, %x{more})\n  %t = @loop(3, %o1)")
    assert fires("tuple_of_elements", read(text.format(more="", second="1")))
    assert not fires("tuple_of_elements", read(text.format(more=", %x", second="1")))


def test_a_declared_tuple_is_one() -> None:
    text = (
        "program @f\n@f(%t: tuple[f64, {}]):\n  %p = getitem(%t, 0)\n  %q = getitem(%t, 1)\n  %s = make_tuple(%p, %q)\n  return %s"
    )
    assert str(eta.SYSTEM.run(read(text.format("f64")))).endswith("return %t")
    assert eta.SYSTEM.final(read(text.format("f64, f64")))


def test_origins_are_searched_within_a_budget() -> None:
    deep = BUDGET + 10
    lines = [f"  %v{i + 1} = switch(%c, %v{i}, cos)" for i in range(deep)]
    program = read("program @f\n@f(%c: bool):\n  %v0 = switch(%c, sin, cos)\n" + "\n".join(lines) + f"\n  return %v{deep}")
    assert origins(program, program.graphs[program.entry].output) is None


@given(programs())
def test_eta_refines_and_is_idempotent(p: Program) -> None:
    result = keeping(eta.SYSTEM).run(p)
    event("changed" if result is not p else "unchanged")
    check(result)
    assert eta.SYSTEM.run(result) is result
    for point in POINTS:
        try:
            wanted = run(p, *point)
        except AdjudgeError:
            continue
        assert same(run(result, *point), wanted)


def test_a_chain_of_functions_that_pass_on_ends_at_the_last() -> None:
    graphs = "\n".join(f"@g{i}(%u{i}):\n  %v{i} = @g{i + 1}(%u{i})\n  return %v{i}" for i in range(30))
    last = "@g30(%u30):\n  %w = mul(%u30, 2.0)\n  return %w"
    program = read(f"program @f\n@f(%x: f64):\n  %t = make_tuple(@g0, %x)\n  return %t\n{graphs}\n{last}")
    assert "make_tuple(@g30, %x)" in str(eta.SYSTEM.run(program))


# the audit

EXAMPLES = tuple(
    read(text)
    for text in (
        PASSED_ON.format(function="switch(%c, sin, cos)", passed="@g", body="%h(%u)"),
        TUPLES.format(made="@two(%x)", second="1"),
        TUPLES.format(made="@either(%x)", second="1"),
    )
)
DELAYED = read("""
program @f
@f(%x: f64, %y: f64):
  %c = gt(%y, 0.0)
  %k = switch(%c, @g, sin)
  %r = %k(%x)
  return %r
@g(%u):
  %t = make_tuple(cos)
  %i = to_integer(%y)
  %j = sub(%i, %i)
  %l = switch(%c, %j, 7)
  %q = getitem(%t, %l)
  %v = %q(%u)
  return %v
""")


def test_the_audit_finds_no_fault_in_eta() -> None:
    report = audit(keeping(eta.SYSTEM), examples=EXAMPLES, skip=("order", "gradients optimized"))
    assert report.findings == ()
    assert report.details["rules that never fired"] == []


@rewrite
def not_strict(program: Program, place: int) -> Program | None:
    """@g(x…) = f(x…), where f is computed in g  ⟹  f, computed wherever @g is used: also where g is not called"""
    graph = program.graphs.get(place)
    output = application(program, graph.output) if graph is not None else None
    reference = program.reference(place) if graph is not None else None
    if graph is None or output is None or reference is None or not graph.parameters or output.arguments != graph.parameters:
        return None
    if output.graph != place or program.owner(output.function) != place:
        return None
    edit = Edit(program)
    user = program.owner(next(iter(program.users(reference))).user)
    assert user is not None
    for node in list(program.owned[place]):
        if node != graph.output:
            edit.move(node, user)
    edit.replace(reference, output.function)
    return edit.program


@rewrite
def of_any_length(program: Program, place: int) -> Program | None:
    """(t[0], t[1])  ⟹  t, however many elements t has"""
    found = arguments_of(program, place, eta.tuples.MAKE_TUPLE) if isinstance(program.nodes.get(place), Apply) else None
    parts = [arguments_of(program, item, eta.GETITEM) for item in found or ()]
    if len(parts) != 2 or any(part is None for part in parts):
        return None
    (t, i), (u, j) = parts[0] or (0, 0), parts[1] or (0, 0)
    if t != u or (program.constant(i), program.constant(j)) != (0, 1):
        return None
    return become(Edit(program), place, t)


@pytest.mark.parametrize(("rule", "example"), [(not_strict, DELAYED), (of_any_length, EXAMPLES[2])], ids=["strict", "length"])
def test_an_unsound_variant_is_caught(rule: object, example: Program) -> None:
    system = RewriteSystem("planted", (rule,), argument="it removes what it matches")  # type: ignore[arg-type]
    findings = audit(system, examples=(example,), skip=QUICK).findings
    assert any(isinstance(f, Refuted) and f.kind == "fault" for f in findings)
