"""Construction with normalizers: each rule, the fixpoint, one round where rules look down, linear time, and planted unsoundness."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import event, given
from optimizer_programs import POINTS, TEXTS, program, programs
from test_failures import FAILING, outcome

from checkers.optimizer_audit import audit
from checkers.verdict import Refuted
from semantics.edit import Edit
from semantics.errors import AdjudgeError
from semantics.ir import Apply, GraphRef, NodeId, Program
from semantics.machine import run
from semantics.text import read
from semantics.values import same
from semantics.wellformed import check
from transforms import cse, dce, fold, simplify, tuples
from transforms.failures import keeping
from transforms.gradient_programs import gradient_program
from transforms.normalize import PASS, RULES, SYSTEM, begin
from transforms.parse import parse_text
from transforms.pipeline import Rounds
from transforms.surgery import become
from transforms.system import RewriteSystem

QUICK = ("translation validation", "order", "recorded and unrecorded", "gradients", "gradients optimized")
DEAD = RewriteSystem("dead", (dce.dead_node, dce.dead_graphs), measure=dce.measure)
BY_ROUNDS = Rounds("by rounds", (*(keeping(s) for s in (tuples.SYSTEM, simplify.SYSTEM, fold.SYSTEM, cse.SYSTEM)), DEAD))


def body(*equations: str) -> str:
    """A program of one graph; its result is what the last equation defines."""
    lines = "\n".join(f"  {e}" for e in equations)
    return f"program @f\n\n@f(%x: f64, %y: f64, %i: i64, %b: bool):\n{lines}\n  return {equations[-1].split(' ')[0]}"


# Around @h stands a node that @f needs, or one that only stands in the other branch.
OUTWARDS = """
program @f
@f(%x: f64, %y: f64):
  %a = mul(%x, %y)
  %c = lt({condition}, 1.0)
  %s = switch(%c, @g, @h)
  %t = %s()
  return %t
@g():
  %p = {first}
  %q = sin(%p)
  return %q
@h():
  %r = mul(%x, %y)
  %u = cos(%r)
  return %u
"""

FIRING = [
    ("folded", body("%p = mul(2.0, 3.5)", "%r = mul(%p, %x)"), body("%r = mul(2.0, %x)")),
    ("simplified", body("%r = mul(%x, 1.0)"), body("%r = mul(%x, 2.0)")),
    ("taken_apart", body("%p = make_tuple(%x, %y)", "%r = getitem(%p, 1)"), body("%p = make_tuple(%x, %y)", "%r = getitem(%p, 2)")),
    (
        "shared",
        body("%p = mul(%x, %y)", "%q = mul(%x, %y)", "%r = add(%p, %q)"),
        body("%p = mul(%x, %y)", "%q = mul(%y, %x)", "%r = add(%p, %q)"),
    ),
    (
        "shared",
        body("%p = mul(%x, 0.0)", "%q = mul(%x, 0.0)", "%r = add(%p, %q)"),
        body("%p = mul(%x, 0.0)", "%q = mul(%x, -0.0)", "%r = add(%p, %q)"),
    ),
    (
        "shared",
        OUTWARDS.format(condition="%a", first="mul(%x, %x)"),
        OUTWARDS.format(condition="%x", first="mul(%x, %y)"),  # in the other branch only
    ),
    (
        "shared",
        body("%p = make_tuple(%x)", "%q = make_tuple(%x)", "%r = make_tuple(%p, %q)"),
        body("%p = make_tuple()", "%q = make_tuple()", "%r = make_tuple(%p, %q)"),
    ),
]


def rules_of(p: Program) -> set[str]:
    """The rules that fire on the way."""
    return set(SYSTEM.derive(begin(p)).coverage())


@pytest.mark.parametrize(("rule", "fires", "near_miss"), FIRING)
def test_each_rule_fires_and_has_a_near_miss(rule: str, fires: str, near_miss: str) -> None:
    assert rule in rules_of(read(fires))
    assert rule not in rules_of(read(near_miss))
    assert {"swept", "made", "finished", "settled"} <= rules_of(read(near_miss))


def test_dead_code_is_not_made_and_live_code_is() -> None:
    dead = read("program @f\n@f(%x: f64):\n  %p = sin(%x)\n  %r = cos(%x)\n  return %r\n@g(%u):\n  %v = sin(%u)\n  return %v")
    result = PASS.run(dead)
    assert len(result.graphs) == 1
    assert "sin" not in str(result)
    assert "cos" in str(result)
    used = read("program @f\n@f(%x: f64):\n  %p = sin(%x)\n  %r = cos(%p)\n  return %r")
    assert PASS.run(used) == used


def test_every_rule_of_the_construction_has_been_fired_here() -> None:
    fired = {rule for _, text, _ in FIRING for rule in rules_of(read(text))}
    assert fired == {rule.name for rule in RULES}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("gradient", [False, True])
def test_every_state_is_a_whole_program_and_two_rules_are_never_enabled(name: str, gradient: bool) -> None:
    p = gradient_program(program(name)) if gradient else program(name)
    derivation = SYSTEM.derive(begin(p))
    for step in derivation.steps:
        if step.after.program is not step.before.program:
            check(step.after.program)
    assert derivation.result.program == PASS.run(p) == PASS.derive(p).result


def refines(before: Program, after: Program) -> None:
    for point in POINTS:
        try:
            wanted = run(before, *point)
        except AdjudgeError:
            continue
        assert same(run(after, *point), wanted), (point, str(before), str(after))


@given(programs())
def test_normalizing_keeps_every_bit_and_ends_in_a_fixpoint_of_its_rules(p: Program) -> None:
    result = PASS.run(p)
    check(result)
    refines(p, result)
    assert PASS.run(result) is result
    assert PASS.joint.final(result)
    event(f"rounds: {SYSTEM.derive(begin(p)).coverage()['swept']}")
    event("as by rounds" if result == BY_ROUNDS.run(p) else "not as by rounds")


@given(programs(sensitivities=False))
def test_normalizing_keeps_the_gradient(p: Program) -> None:
    gradient = gradient_program(p)
    refines(gradient, PASS.run(gradient))


@given(programs())
def test_straight_line_code_is_normal_after_one_round_as_after_many_of_the_passes(p: Program) -> None:
    """Rules that look only at what an application takes: the second round, if there is one, finds nothing."""
    if len(p.graphs) == 1:
        assert SYSTEM.derive(begin(p)).coverage()["swept"] <= 2
        assert PASS.run(p) == BY_ROUNDS.run(p)


@pytest.mark.parametrize("name", FAILING)
def test_assertions_are_kept(name: str) -> None:
    p = parse_text(FAILING[name], "f")
    normal = PASS.run(p)
    for x in (-1.0, 2.0):
        assert outcome(lambda x: run(normal, x), x) == outcome(lambda x: run(p, x), x)


def long(turns: int) -> Program:
    """Straight-line code with something for every rule in each of its parts."""
    lines = ["program @f", "@f(%x: f64):", "  %a0 = mul(%x, 1.0)"]
    for i in range(turns):
        lines += [f"  %b{i} = sin(%a{i})", f"  %c{i} = sin(%a{i})", f"  %t{i} = make_tuple(%c{i}, 2.0)"]
        lines += [f"  %d{i} = getitem(%t{i}, 1)", f"  %e{i} = mul(%d{i}, 3.0)", f"  %g{i} = add(%b{i}, %c{i})"]
        lines.append(f"  %a{i + 1} = mul(%g{i}, %e{i})")
    return read("\n".join([*lines, f"  return %a{turns}"]))


def wide(turns: int) -> Program:
    """Many small graphs, each with something to share with the graph around."""
    lines = ["program @f", "@f(%x: f64):", "  %a = sin(%x)", "  %b0 = cos(%a)"]
    graphs = []
    for i in range(turns):
        lines += [f"  %r{i} = @g{i}(%b{i})", f"  %b{i + 1} = add(%r{i}, 1.0)"]
        graphs.append(f"@g{i}(%u{i}):\n  %v{i} = sin(%x)\n  %w{i} = mul(%v{i}, %u{i})\n  return %w{i}")
    return read("\n".join([*lines, f"  return %b{turns}", *graphs]))


@pytest.mark.parametrize("family", [long, wide])
def test_the_number_of_steps_is_linear(family: Callable[[int], Program]) -> None:
    counts = [sum(SYSTEM.derive(begin(family(n))).coverage().values()) for n in (1, 2, 10, 100)]
    each = counts[1] - counts[0]
    assert counts[2] == counts[0] + 9 * each
    assert counts[3] == counts[0] + 99 * each


def test_the_pass_and_its_rules_as_a_system_are_without_fault() -> None:
    skip = ("translation validation", "order", "gradients optimized")
    for subject in (PASS, PASS.joint):
        assert audit(subject, skip=skip).findings == ()


# unsound constructors


def by_equality(p: Program) -> Program:
    """Hash-consing by == of constants: 1 and 1.0 and True, 0.0 and -0.0 are confused."""
    return _consing(p, lambda state, n: (state.nodes[n].graph, tuple(_key(state, i) for i in state.inputs(n))))  # type: ignore[union-attr]


def in_any_graph(p: Program) -> Program:
    """Hash-consing without a look at the graph: a node of one branch is used in the other."""
    return _consing(p, lambda state, n: state.inputs(n))


def _key(state: Program, node: NodeId) -> object:
    value = state.constant(node)
    return value if type(value) in (int, float, bool) else ("node", node)


def _consing(p: Program, key: Callable[[Program, NodeId], object]) -> Program:
    made: dict[object, NodeId] = {}
    state = p
    for node in sorted(p.nodes):
        found = state.nodes[node]
        if isinstance(found, Apply) and not any(isinstance(state.constant(i), GraphRef) for i in found.inputs):
            twin = made.setdefault(key(state, node), node)
            state = state if twin == node else become(Edit(state), node, twin)
    return state


CONFUSED = read(body("%p = div(%x, 0.0)", "%q = div(%x, -0.0)", "%r = sub(%p, %q)"))
BRANCHES = read(OUTWARDS.format(condition="%x", first="mul(%x, %y)").replace("  %a = mul(%x, %y)\n", ""))


@pytest.mark.parametrize(("planted", "example"), [(by_equality, CONFUSED), (in_any_graph, BRANCHES)])
def test_an_unsound_constructor_is_caught(planted: Callable[[Program], Program], example: Program) -> None:
    findings = audit(planted, examples=(example,), skip=QUICK).findings
    assert any(isinstance(f, Refuted) and f.kind == "fault" for f in findings)
    refines(example, PASS.run(example))
