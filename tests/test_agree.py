"""`adjudge agree`: what it compares, what it counts, what it says of planted bugs, of kinks, of refusals and of bad input."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claims import costly
from hypothesis import given
from hypothesis import strategies as st

import adjudge as aj
from adjudge.agreement import judged_program
from checkers.agreement import ALL, applications, judge, metered, question
from checkers.agreement.disagreement import probed
from checkers.agreement.meters import LiveMachine
from checkers.verdict import OutOfScope, Passed, Refuted, Report, Unknown
from semantics.edit import Edit
from semantics.errors import IllTyped, Malformed, OutOfFuel
from semantics.ir import Apply, NodeId, Program
from semantics.machine import run
from semantics.primitives.table import TABLE
from semantics.tangents import ZERO
from semantics.text import read
from transforms import grad
from transforms.gradient_programs import value_and_grad_program
from transforms.modes import MODES, Mode
from transforms.parse import parse_text

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
FIGURE_1 = f"{EXAMPLES / 'figure_1.py'}:f"
POW = f"{EXAMPLES / 'pow.py'}:pow"
LIGHT = ("J", "forward", "trace")

TEXT = """
import math

def waves(x, n: int):
    a = x * x
    b = math.sin(a)
    s = 1.0
    while n > 0:
        s = s * b + x
        n = n - 1
    return s * a

def wave(x):
    return math.sin(x)

def kink(x):
    return abs(x) * 3.0

def guarded(x):
    if x == 0.0:
        return 0.0
    return x * x

def chosen(x):
    y = math.exp(x)
    if x > 0.0:
        z = x * y
    else:
        z = y * y
    return z + x

def uneven(x):
    y = math.exp(x)
    if x > 0.0:
        z = x * y
    else:
        z = x * x
    return z + x

def error_function(x):
    return math.erf(x) * x

def two(x):
    return x, x

def product(x, y, n: int):
    return x * y * n

def endless(x):
    while x > 0.0:
        x = x + 1.0
    return x
"""


def program_of(name: str) -> Program:
    return parse_text(TEXT, name, "planted.py")


def ask(name: str, *arguments: Any, modes: tuple[str, ...] = LIGHT, **more: Any) -> Report:
    return judged_program(program_of(name), arguments, modes=modes, **more)


def kinds(report: Report) -> dict[str, str]:
    return {v.claim: type(v).__name__ for v in report.verdicts}


# what is compared


def test_figure_1_has_one_gradient_and_one_hessian(adjudge) -> None:
    code, out, err = adjudge("agree", FIGURE_1, "2.0", "3.0", "--json", *(w for m in LIGHT for w in ("--mode", m)))
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["orders"]["1"]["asks_for"] == "gradient"
    assert found["orders"]["2"]["asks_for"] == "Hessian"
    rows = {row["mode"]: row for row in found["orders"]["2"]["modes"]}
    assert {row["derivative"] for row in rows.values()} == {rows["J"]["derivative"]}
    assert [row["says"] for row in rows.values()] == ["agrees", "reference", "agrees"]
    assert rows["J"]["nodes"] > rows["J"]["optimized"] > 0
    assert rows["forward"]["nodes"] is rows["trace"]["steps"] is None


def test_every_mode_is_asked_by_default(adjudge) -> None:
    code, out, _ = adjudge("agree", POW, "2.0", "3", "--order", "1", "--json")
    assert code == 0
    rows = json.loads(out)["orders"]["1"]["modes"]
    assert [row["mode"] for row in rows] == list(ALL)
    answers = {row["mode"]: row["derivative"] for row in rows}
    assert answers.pop("pullback-shadow") is None  # reason 2 of docs/agreement.md: a loop calls itself
    assert set(answers.values()) == {answers["J"]}


def test_the_table_states_its_equality_domain(adjudge) -> None:
    _, out, _ = adjudge("agree", POW, "2.0", "3", "--order", "1", "--mode", "J", "--mode", "forward")
    assert "first order, EXACT: derivatives are fractions" in out
    assert "values are equal in bits" in out
    assert ask("waves", 1.5, 2, orders=(1,)).details["orders"][1].found.domain.startswith("EXACT: derivatives are enclosures")


def test_wrt_chooses_and_several_give_a_hessian() -> None:
    one = ask("product", 2.0, 5.0, 3, wrt="y").details["orders"]
    assert [a.derivative for a in one[1].found.answers] == [6.0] * 3
    assert [a.derivative for a in one[2].found.answers] == [0.0] * 3
    both = ask("product", 2.0, 5.0, 3).details["orders"]
    assert both[2].found.by("J").derivative == ((0.0, 3.0), (3.0, 0.0))


def test_arrays_and_records_are_asked_for_the_product_with_a_direction() -> None:
    text = "import numpy as np\ndef f(x, c):\n    return np.sum(x * x * x) * c"
    report = judged_program(parse_text(text, "f", "arrays.py"), [np.array([1.0, 2.0]), 3.0], modes=LIGHT)
    assert report.details["orders"][2].found.question.asks_for == "Hessian × direction"
    assert report.exit_code == 0
    assert report.counts()["Passed"] == 4


def test_the_face_gives_a_report() -> None:
    def cube(x):
        return x * x * x

    report = aj.agree(cube, 2.0)
    assert report.exit_code == 0
    assert report.findings == ()
    assert {a.derivative for a in report.details["orders"][2].found.answers if a.answered} == {12.0}
    assert len(report.ledger) == 2 * len(ALL)
    with pytest.raises(Malformed):
        aj.agree(cube, cube)


@costly(2)
@given(st.floats(-2, 2), st.integers(0, 4))
def test_agreement_does_not_whistle(x: float, n: int) -> None:
    """Where modes round differently they agree all the same: nothing is refuted at any point."""
    assert ask("waves", x, n, orders=(1,)).findings == ()


# what is counted


def chain(size: int) -> Program:
    return parse_text("def f(x):\n" + "    x = x * x\n" * size + "    return x", "f")


def test_the_live_values_of_a_chain_are_few_and_of_its_gradient_grow_with_it() -> None:
    assert metered(chain(10), (1.0,)).live == metered(chain(100), (1.0,)).live == 1
    ten, hundred = (metered(value_and_grad_program(chain(n)), (1.0,)).live for n in (10, 100))
    assert 5 * ten < hundred < 20 * ten


def test_live_values_count_a_shared_structure_once_and_dead_ones_not() -> None:
    shared = "program @f\n@f(%x: f64):\n  %t = make_tuple(%x, %x, %x)\n  %p = make_tuple(%t, %t)\n  return %p"
    copied = shared.replace("%p = make_tuple(%t, %t)", "%u = make_tuple(%x, %x, %x)\n  %p = make_tuple(%t, %u)")
    assert metered(read(shared), (1.0,)).live == 3
    assert metered(read(copied), (1.0,)).live == 6
    dropped = "program @f\n@f(%x: f64):\n  %t = make_tuple(%x, %x, %x)\n  %a = getitem(%t, 0)\n  %b = mul(%a, %a)\n  return %b"
    assert metered(read(dropped), (1.0,)).live == 3


def test_a_run_ends_with_nothing_but_its_result() -> None:
    machine = LiveMachine(value_and_grad_program(program_of("waves")))
    found = machine.run((1.5, 3))
    assert machine.store.scalars == 2
    assert found.value == run(value_and_grad_program(program_of("waves")), 1.5, 3)


def test_metering_costs_no_more_than_the_run() -> None:
    """The peak of a loop is constant; that of its gradient is proportional to its turns."""
    loop = parse_text("def f(x, n: int):\n    r = 1.0\n    for _ in range(n):\n        r = r * x\n    return r", "f")
    assert metered(loop, (1.0, 10)).live == metered(loop, (1.0, 200)).live
    small, large = (metered(value_and_grad_program(loop), (1.0, n)) for n in (20, 200))
    assert (large.live - small.live) % 180 == 0


def test_out_of_fuel_is_said() -> None:
    with pytest.raises(OutOfFuel):
        metered(program_of("endless"), (1.0,), 1000)
    found = judge(question(program_of("waves"), (1.5, 4), fuel=400), LIGHT)
    assert isinstance(found.found.by("J").error, OutOfFuel)
    assert isinstance(found.verdicts["J"], Unknown)


def test_only_what_the_entry_reaches_is_counted() -> None:
    text = "program @f\n@f(%x: f64):\n  %a = mul(%x, %x)\n  return %a\n@g(%y):\n  %b = mul(%y, %y)\n  return %b"
    assert applications(read(text)) == 1


# planted bugs: a mode that is J with something wrong in it


def planted(monkeypatch: pytest.MonkeyPatch, name: str, spoil: Callable[[Edit, Program, NodeId], None]) -> str:
    """A mode that makes what J makes, in which every new application is spoilt."""

    def expand_j(program: Program, place: NodeId) -> Program:
        made = grad.SYSTEM.run(grad.begin(program, place))
        edit = Edit(made)
        for node in sorted(n for n in made.nodes if n >= program.next_id and isinstance(made.nodes[n], Apply)):
            spoil(edit, made, node)
        return edit.program

    monkeypatch.setitem(MODES, name, Mode(name, f"planted: {name}", "", expand_j))
    return name


def wrong_cosine(edit: Edit, made: Program, node: NodeId) -> None:
    """A rule of one mode: the derivative of the sine is the sine."""
    if made.callee(node) is TABLE["cos"]:
        edit.set_inputs(node, (edit.constant(TABLE["sin"]), *made.inputs(node)[1:]))


def exchanged_arms(edit: Edit, made: Program, node: NodeId) -> None:
    """The cotangent goes to the arm that was not taken, as with the arms of a φ exchanged."""
    inputs = made.inputs(node)
    if made.callee(node) is TABLE["switch"] and any(made.constant(i) is ZERO for i in inputs[2:]):
        edit.set_inputs(node, (inputs[0], inputs[1], inputs[3], inputs[2]))


def forgotten_sum(edit: Edit, made: Program, node: NodeId) -> None:
    """Of two contributions one is kept."""
    inputs = made.inputs(node)
    if made.callee(node) is TABLE["gadd"]:
        edit.set_inputs(node, (edit.constant(TABLE["gadd"]), inputs[1], edit.constant(ZERO)))


def test_a_wrong_rule_in_one_mode_is_a_fault_at_the_step_that_it_sends_back_to(monkeypatch) -> None:
    mode = planted(monkeypatch, "wrong_cosine", wrong_cosine)
    report = ask("waves", 1.5, 3, modes=("J", mode, "forward", "trace"))
    assert kinds(report)[f"{mode} at first order"] == kinds(report)[f"{mode} at second order"] == "Refuted"
    assert [f.claim.split()[0] for f in report.findings] == [mode, mode]
    first, second = report.findings
    assert first.kind == "fault"
    assert "the first differing step is %a = mul(%x, %x) at planted.py:5" in first.counterexample.cause
    assert "sent back by sin (planted.py:6)" in first.counterexample.cause
    assert second.counterexample.cause == "this mode disagrees at first order already"
    assert report.exit_code == 1


def test_exchanged_arms_are_a_fault_in_the_branch(monkeypatch) -> None:
    mode = planted(monkeypatch, "exchanged_arms", exchanged_arms)
    report = ask("uneven", 0.5, modes=("J", mode, "forward", "trace"), orders=(1,))
    assert kinds(report) == {"J at first order": "Passed", f"{mode} at first order": "Refuted", "trace at first order": "Passed"}
    cause = report.findings[0].counterexample.cause
    assert "%z = mul(%x, %y) at planted.py" in cause
    assert "the cotangent 0.0 arrives, where 1.0 should" in cause


def test_a_forgotten_contribution_is_a_fault_where_it_should_have_been_added(monkeypatch) -> None:
    mode = planted(monkeypatch, "forgotten_sum", forgotten_sum)
    report = ask("chosen", -0.5, modes=("J", mode, "forward", "trace"), orders=(1,))
    assert "%y = exp(%x) at planted.py" in report.findings[0].counterexample.cause


def test_a_mode_that_is_wrong_at_second_order_only_is_found(monkeypatch) -> None:
    """The derivative of the cosine is spoilt: only a derivative of a derivative needs it."""

    def wrong_sine(edit: Edit, made: Program, node: NodeId) -> None:
        if made.callee(node) is TABLE["neg"]:
            edit.replace(node, made.inputs(node)[1])

    mode = planted(monkeypatch, "wrong_sine", wrong_sine)
    report = ask("wave", 1.5, modes=("J", mode, "forward"))
    assert [f.claim for f in report.findings] == [f"{mode} at second order"]
    assert "the first differing step" in report.findings[0].counterexample.cause


def test_a_value_that_differs_in_bits_is_a_fault(monkeypatch) -> None:
    def doubled(program: Program, place: NodeId) -> Program:
        made = grad.SYSTEM.run(grad.begin(program, place))
        edit = Edit(made)
        for node in sorted(n for n in made.nodes if n >= program.next_id and made.callee(n) is TABLE["exp"]):
            edit.set_inputs(node, (edit.constant(TABLE["expm1"]), *made.inputs(node)[1:]))
        return edit.program

    monkeypatch.setitem(MODES, "doubled", Mode("doubled", "planted", "", doubled))
    report = ask("chosen", 0.5, modes=("doubled", "forward"), orders=(1,))
    assert report.findings[0].counterexample.cause == "the value differs in bits"


def test_a_mode_that_fails_where_there_is_a_derivative_is_a_fault(monkeypatch) -> None:
    def stuck(edit: Edit, made: Program, node: NodeId) -> None:
        if made.callee(node) is TABLE["gadd"]:
            edit.set_inputs(node, (edit.constant(TABLE["getitem"]), *made.inputs(node)[1:]))

    mode = planted(monkeypatch, "stuck", stuck)
    report = ask("chosen", 0.5, modes=(mode, "forward"), orders=(1,))
    assert isinstance(report.details["orders"][1].found.by(mode).error, IllTyped)
    assert report.exit_code == 1


def test_a_probe_changes_no_value_and_its_derivative_is_the_cotangent() -> None:
    program = program_of("chosen")
    (node,) = [n for n in program.nodes if program.callee(n) is TABLE["exp"]]
    watched = probed(program, [node])
    assert run(watched, 0.5, 0.0) == run(program, 0.5)
    assert aj.grad(watched, 1)(0.5, 0.0) == 0.5  # z = x * y, so the cotangent of y is x


# what is no disagreement


def test_at_a_kink_a_convention_is_not_a_fault(monkeypatch) -> None:
    def other_convention(edit: Edit, made: Program, node: NodeId) -> None:
        """1 at 0: the case of 0 in the rule of `abs` is never taken."""
        if made.callee(node) is TABLE["eq"]:
            edit.replace(node, edit.constant(False))

    mode = planted(monkeypatch, "other_convention", other_convention)
    report = ask("kink", 0.0, modes=(mode, "forward"), orders=(1,))
    (verdict,) = report.verdicts
    assert isinstance(verdict, Unknown)
    assert "a declared kink" in verdict.reason
    assert report.exit_code == 3
    assert ask("kink", -1.0, modes=(mode, "forward"), orders=(1,)).exit_code == 0


def test_on_a_guard_all_modes_take_the_same_branch() -> None:
    assert ask("guarded", 0.0).exit_code == 0


def test_a_rounded_constant_is_not_a_fault() -> None:
    report = ask("error_function", 0.5, orders=(1,))
    assert report.findings == ()


def test_a_mode_that_refuses_is_in_the_ledger_and_the_others_are_judged(monkeypatch) -> None:
    def refuses(program: Program, place: NodeId) -> Program:
        raise Malformed("a loop is too much for me", rule="planted", remedy="unroll it")

    monkeypatch.setitem(MODES, "refuses", Mode("refuses", "planted", "", refuses))
    report = ask("waves", 1.5, 2, modes=("J", "refuses", "forward"), orders=(1,))
    verdicts = {v.claim: v for v in report.verdicts}
    assert isinstance(verdicts["refuses at first order"], OutOfScope)
    assert isinstance(verdicts["J at first order"], Passed)
    assert [e.skipped for e in report.ledger] == ["", "Malformed: a loop is too much for me", ""]
    assert report.exit_code == 0
    alone = ask("waves", 1.5, 2, modes=("refuses",), orders=(1,))
    assert alone.exit_code == 3
    assert not any(isinstance(v, Refuted) for v in alone.verdicts)


# bad input


@pytest.mark.parametrize(
    "words",
    [
        (POW, "2.0"),
        (POW, "2.0", "3", "--wrt", "z"),
        (POW, "2.0", "3", "--wrt", "n"),
        (POW, "2", "3"),
        (POW, "2.0", "3", "--order", "3"),
        (POW, "2.0", "3", "--mode", "K"),
        (f"{EXAMPLES / 'pow.py'}:nothing", "2.0", "3"),
    ],
)
def test_bad_input_is_said_and_ends_in_two(adjudge, words) -> None:
    code, out, err = adjudge("agree", *words)
    assert code == 2
    assert err.startswith("Malformed")
    assert "Traceback" not in out + err


def test_a_program_that_does_not_end_or_gives_no_real_is_bad_input(adjudge, tmp_path) -> None:
    path = tmp_path / "planted.py"
    path.write_text(TEXT)
    code, _, err = adjudge("agree", f"{path}:endless", "1.0", "--fuel", "1000")
    assert (code, err.split(":")[0]) == (2, "OutOfFuel")
    code, _, err = adjudge("agree", f"{path}:two", "1.0", "--mode", "J", "--mode", "forward")
    assert (code, err.split(":")[0]) == (2, "IllTyped")
