"""The graph IR to SSA form and back: what each rule makes, and that nothing that a program does is changed by either."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from corpus import CASES as CORPUS
from corpus import FOLDER
from hypothesis import assume, event, given
from language import CASES as LANGUAGE
from ssa_programs import modules

from checkers.generators import Options, Source, edge_points, graphs, sources
from checkers.generators.options import FIRST_ORDER
from semantics import machine, wellformed
from semantics.derivation import replay
from semantics.edit import Edit
from semantics.errors import AdjudgeError, IllTyped, Malformed, OutOfFuel
from semantics.ir import Program
from semantics.ssa import machine as ssa_machine
from semantics.ssa import wellformed as ssa_wellformed
from semantics.ssa.form import Block, Function, Module, Name, Return
from semantics.ssa.reader import read as read_ssa
from semantics.text import read
from semantics.values import same
from transforms.nested_grad import expand
from transforms.parse import parse_file, parse_text
from transforms.ssa import from_graph, to_graph
from transforms.ssa.from_graph import first_order, to_ssa
from transforms.ssa.need import in_order_of_need
from transforms.ssa.regions import regions
from transforms.ssa.tidy import chains, equal_arms, forwarding, numbered, pairs, tidy
from transforms.ssa.to_graph import graft

FUEL = 20_000
MORE = 50 * FUEL  # a graph takes a bounded number of steps for each step of the code, far fewer than this


def parsed(text: str) -> Program:
    return parse_text(text, "f")


def outcome(run: Any, program: Any, arguments: tuple[Any, ...], fuel: int) -> Any:
    """The value, or the error as its class and its text."""
    try:
        found = run(program, arguments, fuel)
    except AdjudgeError as error:
        return type(error), error.what
    return found


def of_graph(program: Program, arguments: tuple[Any, ...], fuel: int = MORE) -> Any:
    return outcome(lambda p, a, f: machine.Machine(p).run(a, f).value, program, arguments, fuel)


def of_ssa(module: Module, arguments: tuple[Any, ...], fuel: int = MORE) -> Any:
    return outcome(lambda m, a, f: ssa_machine.Machine(m).run(a, f).value, module, arguments, fuel)


def failed(found: Any) -> bool:
    """Whether an outcome is an error."""
    return isinstance(found, tuple) and bool(found) and isinstance(found[0], type)


def agree(found: Any, wanted: Any) -> bool:
    """The same error, or the same value in BITS."""
    return found == wanted if failed(found) or failed(wanted) else same(found, wanted)


def without_hidden(module: Module) -> Module:
    """The module with captured values as ordinary parameters: what is left of it in a graph."""
    return Module(tuple(replace(function, hidden=0) for function in module.functions), module.entry)


def translated(program: Program) -> Module:
    """The module, judged; that it comes back from the graph IR as it is, is judged as well."""
    module = to_ssa(program)
    ssa_wellformed.check(module)
    assert all(len(sources) <= 2 for f in module.functions for sources in f.predecessors.values())
    graph = to_graph.to_graph(module)
    wellformed.check(graph)
    assert to_ssa(graph) == without_hidden(module)
    return module


def holds_everywhere(program: Program, arguments: tuple[Any, ...]) -> str:
    """Both machines and both translations agree: on a value, or on the error whose name is the answer."""
    module = translated(program)
    wanted = of_graph(program, arguments)
    assert agree(of_ssa(module, arguments), wanted)
    assert agree(of_graph(to_graph.to_graph(module), arguments), wanted)
    return wanted[0].__name__ if failed(wanted) else "a value"


# the theorem


@given(sources(Options(features=FIRST_ORDER, size=12)), edge_points(2))
def test_both_machines_agree_on_first_order_sources(source: Source, x: tuple[float, ...]) -> None:
    event(holds_everywhere(source.program(), x))


@given(sources(), edge_points(2))
def test_both_machines_agree_on_all_sources_that_become_first_order(source: Source, x: tuple[float, ...]) -> None:
    program = first_order(source.program())
    try:
        regions(program)
    except (Malformed, IllTyped) as refusal:
        event(refusal.what)
        return
    event(holds_everywhere(program, x))


@given(graphs(), edge_points(2))
def test_both_machines_agree_on_graphs(program: Program, x: tuple[float, ...]) -> None:
    program = first_order(program)
    try:
        regions(program)
    except Malformed as refusal:
        event(refusal.what.split(":")[0])
        return
    event(holds_everywhere(program, x))


@given(modules())
def test_a_graph_of_any_module_computes_what_the_module_does(module: Module) -> None:
    """Irreducible loops, dead code, code that nothing needs, calls: in whatever order, the graph does it in this one."""
    arguments = (3, -2)[: len(module.main.parameters)]
    wanted = of_ssa(module, arguments, FUEL)
    assume(not failed(wanted) or wanted[0] is not OutOfFuel)
    graph = to_graph.to_graph(module)
    wellformed.check(graph)
    assert agree(of_graph(graph, arguments), wanted)
    again = to_ssa(graph)
    ssa_wellformed.check(again)
    assert agree(of_ssa(again, arguments), wanted)
    assert to_ssa(to_graph.to_graph(again)) == again


@pytest.mark.parametrize("case", CORPUS, ids=lambda c: c.name)
def test_the_corpus(case: Any) -> None:
    program = first_order(expand(parse_file(FOLDER / f"{case.file}.py", case.name)))
    if case.name in REFUSED:
        with pytest.raises(Malformed) as refusal:
            to_ssa(program)
        assert refusal.value.what.startswith(REFUSED[case.name])
        assert refusal.value.node
        assert refusal.value.remedy
        return
    for x in case.points[:2]:
        holds_everywhere(program, (float(x),))


@pytest.mark.parametrize("case", LANGUAGE, ids=str)
def test_the_language(case: Any) -> None:
    program = first_order(expand(case.program()))
    if str(case).split(":")[1].split("(")[0] in REFUSED:
        with pytest.raises(Malformed):
            to_ssa(program)
        return
    holds_everywhere(program, case.values())


UNKNOWN, PASSED = "what is called is not known", "a function is passed as a value"
REFUSED = {
    "knot_by_self_application": PASSED,
    "continuation_passing": PASSED,
    "loop_over_functions": PASSED,
    "grad_of_a_loop": UNKNOWN,
    "grad_of_a_recursion": UNKNOWN,
    "third_derivative_of_sine": PASSED,
    "method_calls_method": UNKNOWN,
    "replaced_named": UNKNOWN,
    "record_of_arrays": UNKNOWN,
    "network_of_records": UNKNOWN,
    "record_of_functions": PASSED,
    "record_in_a_loop": UNKNOWN,
    "functions_in_a_list": PASSED,
    "repeated": PASSED,
    "closures_in_a_loop": PASSED,
}

# programs with one difficulty each

NESTED_LOOPS = """
def f(n, x):
    y = x
    i = 0
    while i < n:
        j = 0
        while j < 5:
            j = j + 1
            if y > 100.0:
                return y
            if y < 0.0:
                continue
            if j > i + 2:
                break
            y = y * x
        else:
            y = y + 1.0
        for k in range(3):
            if k == i:
                continue
            y = y - 0.5
        i = i + 1
    else:
        y = y * 2.0
    return y
"""
EXCHANGE = "def f(n, a, b):\n    for i in range(n):\n        a, b = b, a\n    return a - b\n"
TWO_LEVELS = """
def f(x):
    y = 2.0 * x
    def g(z):
        def h(w):
            return w * y + z if w > 1.0 else h(w + 1.0)
        return h(z) + 1.0
    return g(x) + g(y)
"""
PARITY = """
def even(n):
    return True if n == 0 else odd(n - 1)
def odd(n):
    return False if n == 0 else even(n - 1)
def f(n):
    if n > 5:
        return even(n)
    return odd(n)
"""
EARLY = """
def f(n, x):
    for i in range(n):
        for j in range(n):
            if i * j > x:
                return i
    return -1
"""
FIBONACCI = "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\n"


@pytest.mark.parametrize("x", [-1.0, 0.5, 1.5, 3.0])
@pytest.mark.parametrize("n", [0, 1, 2, 6])
def test_nested_loops_with_break_continue_else_and_return(n: int, x: float) -> None:
    holds_everywhere(parsed(NESTED_LOOPS), (n, x))


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_phi_nodes_exchange_their_values(n: int) -> None:
    program = first_order(parsed(EXCHANGE))
    holds_everywhere(program, (n, 1.0, 3.0))
    assert of_ssa(to_ssa(program), (n, 1.0, 3.0)) == (-2.0 if n % 2 == 0 else 2.0)


@pytest.mark.parametrize("x", [-1.0, 0.5, 1.5])
def test_what_is_captured_two_levels_up_is_passed(x: float) -> None:
    program = parsed(TWO_LEVELS)
    holds_everywhere(program, (x,))
    assert [f.hidden for f in to_ssa(program).functions if f.hidden]


@pytest.mark.parametrize("n", [0, 1, 4, 6, 9])
def test_mutual_tail_calls_are_an_irreducible_loop(n: int) -> None:
    program = parsed(PARITY)
    holds_everywhere(program, (n,))
    assert len(to_ssa(program).functions) == 1


def test_an_early_return_from_nested_loops() -> None:
    for n, x in ((0, 1), (3, 3), (4, 100)):
        holds_everywhere(parsed(EARLY), (n, x))


def test_recursion_that_is_no_tail_call_stays_a_call() -> None:
    holds_everywhere(parsed(FIBONACCI), (10,))
    (function,) = to_ssa(parsed(FIBONACCI)).functions
    assert sum(str(i.callee) != "" and "FunctionRef" in repr(i.callee) for b in function.blocks for i in b.instructions) == 2


def test_code_that_the_output_does_not_need_traps_nevertheless() -> None:
    """The argument of a call is evaluated, used or not; in a graph of the block nothing would need it."""
    program = read("program @f\n@f(%x):\n  %d = floordiv(%x, 0)\n  %r = @g(%d)\n  return %r\n@g(%y):\n  return 1")
    holds_everywhere(program, (1,))
    assert of_ssa(to_ssa(program), (1,))[0].__name__ == "Trap"


def test_the_first_trap_is_the_first() -> None:
    """Both divisions trap; merged into one block they stand in the order of evaluation, which is not the order of need."""
    text = (
        "program @f\n@f(%x):\n  %a = floordiv(%x, 0)\n  %r = @g(%a)\n  return %r\n"
        "@g(%y):\n  %b = getitem(%x, 7)\n  %c = add(%b, %y)\n  return %c"
    )
    module = to_ssa(read(text))
    assert in_order_of_need(module.main) == frozenset()
    for x in (1, (1, 2)):
        holds_everywhere(read(text), (x,))


# the listings

POW = """function pow(x, n: i64):
block #1:
    %1 ← φ(#0 → 1.0, #2 → %3)
    %2 ← φ(#0 → n, #2 → %4)
    %5 ← gt(%2, 0)
    goto #3 if not %5
block #2:
    %3 ← mul(%1, x)
    %4 ← sub(%2, 1)
    goto #1
block #3:
    return %1"""
LEAKY = """function f(x):
block #1:
    %1 ← gt(x, 0)
    goto #3 if %1
block #2:
    %2 ← mul(0.01, x)
block #3:
    %3 ← φ(#1 → x, #2 → %2)
    return %3"""


def test_pow_is_the_listing_of_the_paper() -> None:
    assert to_ssa(parse_file("examples/pow.py", "pow")) == read_ssa(POW)


def test_the_branch_is_the_listing_of_the_paper() -> None:
    assert to_ssa(parsed("def f(x):\n    return x if x > 0 else 0.01 * x\n")) == read_ssa(LEAKY)


# the rules: where each fires, and a near miss


def fired(program: Program) -> Counter[str]:
    return Counter(step.rule for step in from_graph.SYSTEM.derive(from_graph.begin(program)).steps)


def of_text(*graphs: str) -> Program:
    return read("\n".join(("program @f", *graphs)))


G = "@g(%y):\n  %z = mul(%y, %y)\n  return %z"
TWICE = of_text("@f(%x):\n  %a = @g(%x)\n  %b = add(%a, 1.0)\n  return %b", G)
LAST = of_text("@f(%x):\n  %a = add(%x, 1.0)\n  %b = @g(%a)\n  return %b", G)
SIDES = ("@t():\n  return %x", "@e():\n  return 2.0")
CHOSEN = of_text("@f(%x):\n  %c = lt(%x, 0.0)\n  %s = switch(%c, @t, @e)\n  %r = %s()\n  return %r", *SIDES)
INSIDE = of_text("@f(%x):\n  %c = lt(%x, 0.0)\n  %s = switch(%c, @t, @e)\n  %r = %s()\n  %q = add(%r, 1.0)\n  return %q", *SIDES)


def test_a_call_opens_a_function_and_a_tail_call_a_block() -> None:
    assert fired(TWICE)["open_function"] == 2
    assert fired(TWICE)["call"] == 1
    assert fired(TWICE)["tail_call"] == 0
    assert fired(LAST)["open_function"] == 1
    assert fired(LAST)["tail_call"] == 1
    assert fired(LAST)["call"] == 0


def test_a_choice_at_the_output_is_a_branch_and_elsewhere_a_diamond() -> None:
    assert fired(CHOSEN)["branch"] == 1
    assert fired(CHOSEN)["diamond"] == 0
    assert fired(INSIDE)["branch"] == 0
    assert fired(INSIDE)["diamond"] == 1


def test_a_choice_between_data_is_an_instruction() -> None:
    program = of_text("@f(%x):\n  %c = lt(%x, 0.0)\n  %s = switch(%c, %x, 2.0)\n  return %s")
    assert fired(program) == Counter(open_function=1, instruction=2, give_back=1, close_function=1)


def test_a_side_that_is_used_elsewhere_stays_a_call() -> None:
    program = of_text(
        "@f(%x):\n  %c = lt(%x, 0.0)\n  %s = switch(%c, @t, @e)\n  %r = %s()\n  %u = @t()\n  %q = add(%r, %u)\n  return %q", *SIDES
    )
    module = translated(program)
    assert [(f.name, f.hidden) for f in module.functions] == [("f", 0), ("t", 1)]
    assert of_ssa(module, (-1.0,)) == -2.0


def test_what_two_functions_reach_by_tail_calls_is_a_function_and_what_one_does_a_block() -> None:
    h, k = "@h(%u):\n  %r = @g(%u)\n  return %r", "@k(%w):\n  %q = @g(%w)\n  return %q"
    two = of_text("@f(%x):\n  %a = @h(%x)\n  %b = @k(%a)\n  %c = add(%b, 1.0)\n  return %c", h, k, G)
    assert {name for key, name in _graphs(two) if key in regions(two).functions} == {"f", "g", "h", "k"}
    one = of_text("@f(%x):\n  %a = @h(%x)\n  %c = add(%a, 1.0)\n  return %c", h, G)
    assert {name for key, name in _graphs(one) if key in regions(one).functions} == {"f", "h"}


def _graphs(program: Program) -> list[tuple[int, str]]:
    return [(key, graph.name) for key, graph in program.graphs.items()]


def test_a_derivation_replays() -> None:
    for program in (TWICE, CHOSEN, INSIDE):
        recorded = from_graph.SYSTEM.derive(from_graph.begin(program))
        again = replay(from_graph.SYSTEM, from_graph.begin(program), recorded.to_json())
        assert from_graph.SYSTEM.result(again.result) == to_ssa(program)
        back = to_graph.SYSTEM.derive(to_graph.begin(to_ssa(program)))
        assert back.steps[-1].after.program == to_graph.to_graph(to_ssa(program))


# tidying


def body(text: str) -> Function:
    return read_ssa("function f(x, y):\n" + text).main


DIAMOND = "block #1:\n goto #3 if x\nblock #2:\n goto #4\nblock #3:\n goto #4\nblock #4:\n %1 ← φ(#2 → {}, #3 → {})\n return %1"


def test_a_phi_node_with_equal_arms_is_its_arm() -> None:
    assert equal_arms(body(DIAMOND.format("y", "y"))).by_label[4] == Block(4, (), (), Return((Name("y"),)))
    for arms in (("x", "y"), ("1", "1.0"), ("1", "True"), ("0.0", "-0.0")):
        assert equal_arms(body(DIAMOND.format(*arms))) == body(DIAMOND.format(*arms))


def test_a_phi_node_that_gets_itself_from_a_loop_is_what_enters() -> None:
    loop = (
        "block #1:\n %1 ← φ(#0 → x, #2 → %1)\n %2 ← φ(#0 → y, #2 → %3)\n goto #3 if %2\n"
        "block #2:\n %3 ← add(%2, %1)\n goto #1\nblock #3:\n return %1"
    )
    (left,) = equal_arms(body(loop)).blocks[0].phis
    assert left.target == "%2"
    assert equal_arms(body(loop.replace("#2 → %1", "#2 → %2"))) == body(loop.replace("#2 → %1", "#2 → %2"))


def test_an_empty_block_is_passed_by_unless_a_phi_node_needs_it() -> None:
    assert len(forwarding(body(DIAMOND.format("x", "y"))).blocks) == 3
    assert len(forwarding(equal_arms(body(DIAMOND.format("y", "y")))).blocks) == 2
    forever = body("block #1:\n goto #2\nblock #2:\n goto #2")
    assert [b.label for b in forwarding(forever).blocks] == [2]
    shared = body("block #1:\n goto #3 if x\nblock #2:\n goto #3 if y else #4\nblock #3:\n goto #4\nblock #4:\n return x")
    assert forwarding(shared) == shared


def test_blocks_in_a_row_become_one_unless_another_leads_there() -> None:
    row = body("block #1:\n %1 ← add(x, y)\nblock #2:\n %2 ← add(%1, y)\n return %2")
    assert len(chains(row).blocks) == 1
    shared = body("block #1:\n %1 ← lt(x, y)\nblock #2:\n goto #2 if %1\nblock #3:\n return x")
    assert chains(shared) == shared


def test_a_join_of_many_is_a_tree_of_joins_and_a_loop_keeps_its_entry() -> None:
    text = (
        "block #1:\n %1 ← φ(#0 → x, #2 → %2, #3 → %3, #4 → %4)\n goto #3 if %1\nblock #2:\n %2 ← neg(x)\n goto #1\n"
        "block #3:\n %3 ← sin(x)\n goto #1 if %3\nblock #4:\n %4 ← cos(x)\n goto #1"
    )
    paired = pairs(body(text))
    ssa_wellformed.check(Module((paired,), "f"))
    assert all(len(sources) <= 2 for sources in paired.predecessors.values())
    assert paired.predecessors[1][0] == 0
    assert len(paired.blocks) == 6
    assert pairs(paired) == paired
    assert tidy(body(text), pairwise=False) == numbered(body(text))


@given(modules())
def test_nothing_is_left_to_tidy(module: Module) -> None:
    for function in map(tidy, module.functions):
        assert equal_arms(function) == function
        assert len(forwarding(function).blocks) == len(function.blocks)


# what enters the loop from two places is %1 in all its turns
ENTERED_TWICE = (
    "block #1:\n %4 ← lt(x, y)\n goto #3 if %4\nblock #2:\n %1 ← neg(x)\n goto #3\n"
    "block #3:\n %2 ← φ(#1 → x, #2 → %1, #3 → %2)\n %3 ← lt(%2, y)\n goto #3 if %3\nblock #4:\n return %2"
)
# #4 tells the ways from #3 to #5 apart, until #2 and #3 are joined before #5
TOLD_APART = (
    "block #1:\n goto #2 if x else #3\nblock #2:\n %1 ← neg(y)\n goto #5\nblock #3:\n %2 ← lt(y, x)\n goto #5 if %2\n"
    "block #4:\n goto #5\nblock #5:\n %3 ← φ(#2 → %1, #3 → x, #4 → y)\n return %3"
)


def test_a_phi_node_that_is_needless_once_joins_are_split_is_dropped() -> None:
    """The φ node of the loop was left as φ(what enters, itself)."""
    split = pairs(body(ENTERED_TWICE))
    assert equal_arms(split) != split
    assert [len(block.phis) for block in tidy(body(ENTERED_TWICE)).blocks] == [0, 0, 1, 0, 0]


def test_a_block_that_is_empty_and_needless_once_joins_are_split_is_passed_by() -> None:
    """Block #4 was left, though after the split no φ node needs it."""
    assert forwarding(body(TOLD_APART)) == body(TOLD_APART)
    assert len(pairs(body(TOLD_APART)).blocks) == 6
    assert len(tidy(body(TOLD_APART)).blocks) == 5


def test_two_empty_ways_with_equal_arms_become_one() -> None:
    """The φ node was left with two arms for #1, or one for a block that was gone."""
    two = "block #1:\n goto #2 if x else #5\nblock #2:\n goto #3 if y else #4\nblock #3:\n goto #6\nblock #4:\n goto #6\n"
    rest = "block #5:\n %1 ← neg(y)\n goto #6\nblock #6:\n %2 ← φ(#3 → {}, #4 → {}, #5 → %1)\n return %2"
    same_arms, others = (forwarding(body(two + rest.format(*arms))) for arms in (("x", "x"), ("x", "y")))
    for function in (same_arms, others):
        ssa_wellformed.check(Module((function,), "f"))
    assert [arm for arm in same_arms.by_label[6].phis[0].arms if arm[1] == Name("x")] in ([(1, Name("x"))], [(2, Name("x"))])
    assert len(others.by_label[6].phis[0].arms) == 3


# refusals


@pytest.mark.parametrize(
    ("graphs", "what"),
    [
        (("@f(%x):\n  %r = make_tuple(@g, %x)\n  return %r", G), "a function is passed"),
        (("@f(%x):\n  %r = make_tuple(sin, %x)\n  return %r",), "a function is passed"),
        (("@f(%x):\n  return @g", G), "@f returns a function"),
        (("@f(%x):\n  %r = %x(1.0)\n  return %r",), "what is called is not known"),
        (("@f(%x):\n  %s = switch(%x, @g, sin)\n  %r = %s(1.0)\n  return %r", G), "a switch chooses"),
        (("@f(%x):\n  %s = switch(%x, @g, @g)\n  return %s", G), "@f returns a function"),
        (
            ("@f(%x):\n  %s = switch(%x, @g, @g)\n  %r = @h()\n  return %r", "@h():\n  %q = %s(1.0)\n  return %q", G),
            "@f captures|@h captures",
        ),
    ],
)
def test_what_is_not_of_first_order_is_refused(graphs: tuple[str, ...], what: str) -> None:
    with pytest.raises(Malformed, match=what) as refusal:
        to_ssa(of_text(*graphs))
    assert refusal.value.rule == "first_order"
    assert refusal.value.node
    assert "inline" in refusal.value.remedy


def test_a_call_with_too_few_arguments_is_ill_typed() -> None:
    with pytest.raises(IllTyped, match="@g takes 1 argument, 0 given"):
        to_ssa(of_text("@f(%x):\n  %r = @g()\n  return %r", G))


def test_a_listing_with_alphas_or_j_has_no_graph() -> None:
    with pytest.raises(Malformed):
        to_graph.to_graph(read_ssa("function f(x):\nblock #1:\n return α%1"))
    with pytest.raises(Malformed, match="notation"):
        to_graph.to_graph(read_ssa("function f(x):\nblock #1:\n %1, %2 ← J(sin, x)\n return %1"))


# parts


def test_several_targets_take_a_tuple_apart() -> None:
    module = read_ssa("function f(x, y):\nblock #1:\n %1, _, %2 ← make_tuple(x, y, 3)\n return %2, %1")
    assert of_graph(to_graph.to_graph(module), (1, 2)) == of_ssa(module, (1, 2)) == (3, 1)


def test_a_module_is_grafted_into_a_program() -> None:
    edit = Edit(LAST)
    found = graft(edit, to_ssa(TWICE))
    assert set(found) == {"f", "g"}
    edit.set_entry(found["f"])
    wellformed.check(edit.program)
    assert of_graph(edit.program, (3.0,)) == 10.0


def test_any_graph_can_be_the_root() -> None:
    inner = next(key for key, name in _graphs(TWICE) if name == "g")
    assert to_ssa(TWICE, inner).entry == "g"
    assert of_ssa(to_ssa(TWICE, inner), (3.0,)) == 9.0


# size

SHAPES = {
    "line": "    x = x * {0}.0 + x\n",
    "branches": "    if x > {0}.0:\n        x = x * 2.0\n",
    "returns": "    if x > {0}.0:\n        return x * {0}.0\n",
    "loops": "    for i in range(3):\n        x = x * 2.0\n",
    "choices": "    x = x + (x if x > {0}.0 else 1.0)\n",
}


def size(module: Module) -> int:
    blocks = [block for function in module.functions for block in function.blocks]
    return sum(1 + len(block.instructions) + sum(len(phi.arms) for phi in block.phis) for block in blocks)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_size_is_linear_in_that_of_the_program(shape: str) -> None:
    def sizes(count: int) -> tuple[int, int]:
        program = parsed("def f(x):\n" + "".join(SHAPES[shape].format(i) for i in range(count)) + "    return x\n")
        module = to_ssa(program)
        return size(module), len(to_graph.to_graph(module).nodes)

    once, ten, hundred = sizes(3), sizes(30), sizes(300)
    assert all(c - b == 10 * (b - a) for a, b, c in zip(once, ten, hundred, strict=True))
