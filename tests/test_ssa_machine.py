"""The machine of SSA form: each rule where it fires and where it must not, φ nodes in parallel, errors, and what stays alive."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from ssa_programs import BRANCH, DIVISION, EXCHANGE, FACTORIAL, PARITY, POW, STACK, SWAP, VARIABLES, WRITTEN, modules

from semantics.columns import exact
from semantics.derivation import replay, why_not
from semantics.errors import AdjudgeError, Crash, IllTyped, Malformed, OutOfFuel, Trap
from semantics.primitives.row import Column, Hole
from semantics.ssa import meter
from semantics.ssa.code import BranchTask, CallTask, Edge, GotoTask, PrimitiveTask, ReturnTask
from semantics.ssa.form import Module
from semantics.ssa.machine import Machine, depth, evaluate, run
from semantics.ssa.meter import STRUCTURES, Peak, parts, peak_live
from semantics.ssa.rules import RULES, State
from semantics.ssa.text import read
from semantics.tangents import ZERO, Sparse
from semantics.values import same

ARGUMENTS = st.tuples(*[st.integers(-5, 5)] * len(VARIABLES))
LITTLE = 200


@pytest.mark.parametrize("name", WRITTEN)
def test_a_module_written_by_hand_computes_its_python_function(name: str) -> None:
    text, meaning, points = WRITTEN[name]
    for arguments in points:
        assert same(run(read(text), arguments), meaning(*arguments))


def states(module: Module, arguments: tuple[Any, ...], fuel: int = LITTLE) -> Iterator[State]:
    """The states of a run, up to its end, a trap, or the end of the fuel."""
    machine = Machine(module)
    state: State | None = machine.initial(arguments)
    for _ in range(fuel):
        assert state is not None
        yield state
        try:
            state = machine.step(state)
        except Trap:
            return
        if state is None:
            return


# the rules


def rules_of(text: str, *arguments: object) -> list[str]:
    """The rules that a run uses, in order."""
    return [step.rule for step in evaluate(read(text), arguments).steps]


def test_apply_primitive_fires_on_a_primitive() -> None:
    assert rules_of("function f(x):\nblock #1:\n  y ← mul(x, x)\n  return y", 3) == ["apply_primitive"]


def test_apply_primitive_does_not_fire_on_a_function() -> None:
    text = "function f(x):\nblock #1:\n  y ← @g(x)\n  z ← neg(y)\n  return z\nfunction g(x):\nblock #1:\n  return x"
    assert rules_of(text, 3) == ["call_function", "return_to_caller", "apply_primitive"]


def test_jump_fires_at_a_goto_and_not_at_a_branch() -> None:
    assert rules_of(BRANCH, -1.0) == ["apply_primitive", "branch_otherwise", "apply_primitive", "jump"]


def test_branch_then_fires_where_the_condition_holds() -> None:
    assert rules_of(BRANCH, 1.0) == ["apply_primitive", "branch_then"]


def test_call_function_keeps_the_caller_and_return_to_caller_gives_it_the_parts() -> None:
    found = rules_of(DIVISION, 17, 5)
    assert found[0] == "call_function"
    assert found.count("return_to_caller") == 1


def test_return_to_caller_does_not_fire_where_nobody_waits() -> None:
    assert "return_to_caller" not in rules_of(POW, 2.0, 3)


def test_tail_call_gives_up_the_frame_even_if_the_result_goes_through_a_join() -> None:
    """In `even` the call is followed by a jump to a φ node, which hands its result on to the return."""
    found = rules_of(PARITY, 6)
    assert found.count("tail_call") == 6
    assert "call_function" not in found


@pytest.mark.parametrize(
    "change",
    [
        ("    return %4\n\n", "    %5 ← not_(%4)\n    return %5\n\n"),  # something is left to do with the result
        ("    return %4\n\n", "    return %1\n\n"),  # another value is returned
        ("    return %4\n\n", "    return %4, %4\n\n"),  # it is returned as a part
        ("#2 → %3", "#2 → %1"),  # the join hands on another value
        ("@odd(%2)\n", "@odd(%2)\n    %7 ← not_(%3)\n"),  # something follows in the block
    ],
)
def test_tail_call_does_not_fire_where_the_result_is_not_what_is_returned(change: tuple[str, str]) -> None:
    assert rules_of(PARITY.replace(*change), 1)[3] == "call_function"


def test_a_call_whose_parts_are_taken_is_no_tail_call() -> None:
    text = "function f(x):\nblock #1:\n  y, z ← @g(x)\n  return y\nfunction g(x):\nblock #1:\n  return x, 2"
    assert rules_of(text, 1) == ["call_function", "return_to_caller"]


def test_every_rule_is_seen_to_fire() -> None:
    seen = {rule for text in (FACTORIAL, PARITY, SWAP, BRANCH) for rule in rules_of(text, 2)}
    assert seen == {rule.name for rule in RULES}
    assert all(rule.law for rule in RULES)


# determinism, progress, replay


@given(modules(), ARGUMENTS)
def test_exactly_one_rule_is_enabled_until_the_run_ends(module: Module, arguments: tuple[int, ...]) -> None:
    machine = Machine(module)
    for state in states(module, arguments):
        try:
            steps = machine.enabled(state)
        except Trap:
            event("trap")
            return
        assert len(steps) == (0 if machine.final(state) else 1)
        assert [step.after for step in steps] == [after for after in [machine.step(state)] if after is not None]


@given(modules(), ARGUMENTS)
def test_a_well_formed_module_steps_ends_or_traps(module: Module, arguments: tuple[int, ...]) -> None:
    try:
        Machine(module).run(arguments, LITTLE)
    except (Trap, OutOfFuel) as end:
        event(type(end).__name__)


@given(modules(), ARGUMENTS)
def test_a_module_that_is_printed_and_read_runs_alike(module: Module, arguments: tuple[int, ...]) -> None:
    assert ended(module, arguments) == ended(read(str(module)), arguments)


def ended(module: Module, arguments: tuple[int, ...]) -> object:
    """The value and the steps of a run, or the kind of error that ends it."""
    try:
        return Machine(module).run(arguments, LITTLE)
    except AdjudgeError as error:
        return type(error).__name__, error.what


def test_a_recorded_run_is_replayed_and_a_changed_record_refused() -> None:
    machine = Machine(read(POW))
    found = evaluate(read(POW), (2.0, 3))
    assert machine.value(found.result) == 8.0
    record = found.to_json()
    assert len(replay(machine, machine.initial((2.0, 3)), record)) == len(found)
    with pytest.raises(Malformed, match="not enabled"):
        replay(machine, machine.initial((2.0, 3)), record.replace("branch_then", "branch_otherwise"))
    assert "does not fire" in why_not(machine, machine.initial((2.0, 3)), "jump")


def test_a_second_rule_for_the_same_state_is_a_crash() -> None:
    class Twice(Machine):
        rules = (*RULES, RULES[0])

    machine = Twice(read(POW))
    with pytest.raises(Crash, match="apply_primitive, apply_primitive"):
        machine.enabled(machine.initial((2.0, 3)))


# φ nodes


class Sequential(Machine):
    """A machine with the planted bug that φ nodes are copied one after the other."""

    def along(self, edge: Edge, state: State) -> State:
        environment = state.environment
        for target, key in zip(edge.targets, edge.operands, strict=True):
            environment = environment.set(target, environment[key])
        return state._replace(position=edge.position, environment=environment)


@pytest.mark.parametrize("text", [EXCHANGE, SWAP])
def test_phi_nodes_that_are_copied_one_after_the_other_give_another_value(text: str) -> None:
    arguments = (1, 2, 3) if text == EXCHANGE else (6,)
    assert not same(run(read(text), arguments), Sequential(read(text)).run(arguments).value)


def test_phi_nodes_that_do_not_read_each_other_may_be_copied_in_any_order() -> None:
    assert same(run(read(POW), (2.0, 5)), Sequential(read(POW)).run((2.0, 5)).value)


# errors


def failure(kind: type[AdjudgeError], text: str, *arguments: object) -> AdjudgeError:
    with pytest.raises(kind) as raised:
        run(read(text, file="f.ssa"), arguments)
    return raised.value


def test_a_trap_says_where_it_happened() -> None:
    error = failure(Trap, DIVISION, 1, 0)
    assert error.node == "%1 ← floordiv(x, y) in block #1 of divmod"
    assert error.location is not None
    assert error.location.line == 10


def test_a_condition_that_is_no_boolean_is_ill_typed() -> None:
    error = failure(IllTyped, BRANCH.replace("gt(x, 0)", "add(x, 0)"), 1.0)
    assert error.node == "goto #3 if %1 else #2 in block #1 of f"
    assert error.rule == "switch"


@pytest.mark.parametrize(("returned", "found"), [("return x", "the integer"), ("y ← make_tuple(x)\n  return y", "the tuple of 1")])
def test_a_value_without_the_parts_that_are_wanted_is_ill_typed(returned: str, found: str) -> None:
    text = f"function f(x):\nblock #1:\n  y, z ← @g(x)\n  return y\nfunction g(x):\nblock #1:\n  {returned}"
    error = failure(IllTyped, text, 1)
    assert (error.rule, error.what) == ("targets", f"a tuple of 2 wanted, found {found}")
    assert error.node == "y, z ← @g(x) in block #1 of f"


def test_arguments_must_fit_the_parameters() -> None:
    assert failure(IllTyped, POW, 1).what == "@pow takes 2 arguments, 1 given"
    assert failure(IllTyped, POW.replace("x, n", "x: f64, n"), True, 1).rule == "enter"


@pytest.mark.parametrize(("raised", "wanted"), [(MemoryError(), OutOfFuel), (TypeError("x"), Crash)])
def test_what_python_raises_in_a_cell_is_an_error_at_the_instruction(raised: Exception, wanted: type[AdjudgeError]) -> None:
    def cell(*_: object) -> object:
        raise raised

    with pytest.raises(wanted) as found:
        run(read(POW), (Fraction(1), 1), Column("exact", {**exact.EXACT.cells, "mul": cell}))
    assert "mul(" in found.value.node


def test_a_hole_of_the_column_is_ill_typed_at_the_instruction() -> None:
    column = Column("exact", {**exact.EXACT.cells, "mul": Hole("it is not to be")})
    with pytest.raises(IllTyped, match="not to be") as raised:
        run(read(POW), (Fraction(1), 1), column)
    assert raised.value.node


def test_a_run_without_end_is_out_of_fuel_and_an_ill_formed_module_is_refused() -> None:
    with pytest.raises(OutOfFuel):
        run(read("function f(x):\nblock #1:\n  goto #1"), (1,), fuel=1000)
    with pytest.raises(Malformed):
        Machine(read(POW.replace("%5 ←", "%6 ←")))


def test_fail_traps_with_its_message() -> None:
    assert "no luck" in failure(Trap, 'function f(x):\nblock #1:\n  y ← fail("no luck")\n  return y', 1).what


# columns


def test_the_machine_runs_on_fractions() -> None:
    found = run(read(BRANCH.replace("0.01", "0.25")), (Fraction(-1, 3),), exact.EXACT, lift=exact.lift)
    assert found == Fraction(-1, 12)


# space and time


def test_a_loop_of_calls_runs_in_constant_continuation_space() -> None:
    assert max(depth(state) for state in states(read(PARITY), (1000,), 10_000)) == 0
    assert max(depth(state) for state in states(read(FACTORIAL), (50,), 10_000)) == 49


def test_a_recursion_deeper_than_pythons_stack_runs() -> None:
    text = FACTORIAL.replace("mul(n, %3)", "add(1, %3)")
    assert run(read(text), (100_000,)) == 100_000


def test_a_stack_deeper_than_pythons_is_printed_down_to_a_depth() -> None:
    machine, module = Machine(read(STACK)), read(STACK)
    *_, last = states(module, (5000,), 100_000)
    assert "(1, (2, (3, " in machine.render(last)
    assert "..." in machine.render(last)


def test_steps_grow_as_the_turns_do() -> None:
    steps = [Machine(read(POW)).run((1.0, n)).steps for n in (0, 10, 20)]
    assert steps[2] - steps[1] == steps[1] - steps[0] == 10 * 5


# what stays alive


def uses_and_definitions(task: object) -> tuple[set[object], set[str]]:
    match task:
        case PrimitiveTask(_, targets, operands) | CallTask(_, targets, operands):
            return set(operands), set(targets)
        case BranchTask(condition):
            return {condition}, set()
        case ReturnTask(operands):
            return set(operands), set()
        case _:
            return set(), set()


def live_by_equations(machine: Machine, state: State) -> dict[int, set[str]]:
    """The names live before each task of a function: the least solution of the equations, found by trying again and again."""
    tasks = state.code.tasks
    live: dict[int, set[str]] = {position: set() for position in range(len(tasks))}
    while True:
        found = {}
        for position, task in enumerate(tasks):
            uses, defined = uses_and_definitions(task)
            edges = (
                [task.edge] if isinstance(task, GotoTask) else [task.then, task.otherwise] if isinstance(task, BranchTask) else []
            )
            after = set(live[position + 1]) if isinstance(task, PrimitiveTask | CallTask) else set()
            for edge in edges:
                after |= (live[edge.position] - set(edge.targets)) | set(edge.operands)  # type: ignore[arg-type]
            found[position] = {name for name in uses | (after - defined) if isinstance(name, str)}
        if found == live:
            return live
        live = found


def held(machine: Machine, state: State) -> int:
    """The scalars that the live names of all frames lead to, each structure once."""
    roots: list[Any] = []
    waiting: State | None = state
    while waiting is not None:
        live = live_by_equations(machine, waiting)
        names = live[waiting.position]
        if waiting is not state:
            assert isinstance(waiting.task, CallTask)
            names = live[waiting.position + 1] - set(waiting.task.targets)
        roots += [waiting.environment[name] for name in names]
        waiting = waiting.continuation
    count, seen = 0, set()
    while roots:
        root = roots.pop()
        if not isinstance(root, STRUCTURES):
            count += root is not None and root is not ZERO
        elif id(root) not in seen:
            seen.add(id(root))
            scalars, structures = parts(root)
            count += scalars
            roots += structures
    return count


@given(modules(), ARGUMENTS)
def test_the_meter_counts_what_the_live_names_lead_to(module: Module, arguments: tuple[int, ...]) -> None:
    machine, passed = Machine(module), list(states(module, arguments, 60))
    if machine.final(passed[-1]):
        event("ended")
        assert peak_live(module, arguments).live == max(held(machine, state) for state in passed)


@pytest.mark.parametrize("name", WRITTEN)
def test_the_meter_counts_right_on_the_modules_written_by_hand(name: str) -> None:
    text, meaning, points = WRITTEN[name]
    module = read(text)
    for arguments in points:
        found = peak_live(module, arguments)
        passed = list(states(module, arguments, 10_000))
        assert found == Peak(found.value, len(passed) - 1, max(held(Machine(module), state) for state in passed))
        assert same(found.value, meaning(*arguments))


def test_a_loop_of_scalars_needs_the_same_memory_whatever_its_turns_and_a_stack_one_more_for_each() -> None:
    assert len({peak_live(read(SWAP), (n,)).live for n in (2, 10, 100)}) == 1
    peaks = [peak_live(read(STACK), (n,)).live for n in (10, 100, 1000)]
    assert [b - a for a, b in pairwise(peaks)] == [90, 900]


TWO_STACKS = """function f(n):
block #1:
    s ← φ(#0 → (), #2 → t)
    t ← φ(#0 → (), #2 → pushed)
    i ← φ(#0 → n, #2 → j)
    more ← gt(i, 0)
    goto #3 if not more
block #2:
    j ← sub(i, 1)
    pushed ← make_tuple(i, s)
    goto #1
block #3:
    return s, t"""


@pytest.mark.parametrize("text", [STACK, TWO_STACKS])
def test_to_measure_a_step_of_a_stack_costs_no_more_than_its_top(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A structure is looked into when it is first held and when it is last let go: never more than twice for each step."""
    looks = 0

    def counted(value: Any) -> Any:
        nonlocal looks
        looks += 1
        return parts(value)

    monkeypatch.setattr(meter, "parts", counted)
    for turns in (100, 1000):
        looks = 0
        found = peak_live(read(text), (turns,))
        assert looks <= 2 * found.steps


def test_a_shared_structure_counts_once_and_a_zero_not_at_all() -> None:
    text = (
        "function f(x):\nblock #1:\n  a ← make_tuple(x, x)\n  b ← make_tuple(a, a)\n  c ← make_tuple(a, b, ZERO, None)\n  return c"
    )
    assert peak_live(read(text), (1.0,)).live == 2  # the two of a, in whatever
    assert parts(Sparse(3, {}))[0] == 0  # type: ignore[arg-type]
