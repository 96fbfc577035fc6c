"""
Unsound rules and passes, and sound ones beside them, after bugs that optimizers have shipped: each in a few lines.

A rule is `(text, when, domain)`; a pass is a function from programs to programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from checkers.optimizer_audit.validation import loop_free
from semantics.edit import Edit
from semantics.ir import Apply, Constant, GraphRef, NodeId, Program
from semantics.machine import Machine
from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from transforms import cse, dce, fold, inline
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.system import RewriteSystem


@dataclass(frozen=True)
class Rule:
    """A rule by its text; `wrong` says what is wrong with it, and is empty for a control."""

    text: str
    domain: str
    wrong: str = ""
    when: str | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.domain})"

    def made(self) -> PatternRule:
        return pattern_rule(self.text, when=self.when, domain=self.domain)


RULE_MUTANTS: tuple[Rule, ...] = (
    Rule("x + 0.0 -> x", "IEEE", "-0.0 + 0.0 is 0.0"),
    Rule("x * 0.0 -> 0.0", "IEEE", "NaN, infinity, and the sign of the zero"),
    Rule("x * 0.0 -> 0", "REAL", "an integer"),
    Rule("x - x -> 0.0", "IEEE", "infinity"),
    Rule("x / x -> 1.0", "BITS", "zero and infinity"),
    Rule("x != x -> False", "IEEE", "hides NaN"),
    Rule("x < y -> not (x >= y)", "BITS", "NaN"),
    Rule("-(x - y) -> y - x", "BITS", "the sign of an exact difference"),
    Rule("x / y -> x * (1.0 / y)", "BITS", "rounds twice"),
    Rule("min(x, y) -> min(y, x)", "BITS", "NaN and ties of zeros"),
    Rule("sqrt(x * x) -> x if x < 0.0 else -x", "REAL", "branches exchanged"),
    Rule("min(#c * x, 0.0) -> #c * min(x, 0.0)", "REAL", "c < 0"),
    Rule("x: i64, y: i64, z: i64 | x // y // z -> x // (y * z)", "BITS", "z < 0"),
    Rule("x: i64, y: i64 | x // y -> int(x / y)", "BITS", "truncates"),
    Rule("x: i64, #c: i64, #d: i64 | x * #c % #d % #c -> 0", "BITS", "only if c divides d"),
    Rule("x * y / y -> y", "REAL", "the wrong variable", "y != 0"),
    Rule("log(x / y) -> log(x) - log(y)", "REAL", "both negative"),
    Rule("x * 1.0 -> max(x, 0.0) - max(-x, 0.0)", "REAL", "slope 2 at 0"),
    Rule("x + y -> y * (x / y) + y", "REAL", "a pole at y = 0"),
    Rule("exp(x) * exp(y) -> exp(x * y)", "REAL", "a product for a sum"),
    Rule("b: bool | where(b, 0.0, x) / y -> where(b, x / y, 0.0)", "REAL", "the zero branch exchanged when sunk"),
    Rule("b: bool | where(b, x, y) -> x * where(b, 1.0, 0.0) + y * where(b, 0.0, 1.0)", "IEEE", "infinity times 0"),
    Rule("0.0 + x -> x", "BITS", "-0.0"),
    Rule("0 * x -> 0", "REAL", "an integer"),
    Rule("x: f64[m, n] | sum(sum(x, axis=0), axis=0) -> sum(x, axis=1)", "REAL", "attributes not compared"),
)

RULE_CONTROLS: tuple[Rule, ...] = (
    Rule("x * 2.0 -> x + x", "BITS"),
    Rule("x + y -> y + x", "BITS"),
    Rule("x * y -> y * x", "BITS"),
    Rule("x - 0.0 -> x", "BITS"),
    Rule("x + 0.0 -> x", "REAL"),
    Rule("x * 0.0 -> 0.0", "REAL"),
    Rule("x / x -> 1.0", "REAL", "", "x != 0"),
    Rule("x / 2.0 -> x * 0.5", "BITS"),
    Rule("-(-x) -> x", "BITS"),
    Rule("abs(-x) -> abs(x)", "IEEE"),
    Rule("max(x, y) -> (x + y + abs(x - y)) / 2.0", "REAL"),
    Rule("x: i64, y: i64, z: i64 | x // y // z -> x // (y * z)", "BITS", "", "z > 0"),
    Rule("min(#c * x, 0.0) -> #c * min(x, 0.0)", "REAL", "", "c > 0"),
    Rule("log(x / y) -> log(x) - log(y)", "REAL", "", "x > 0 and y > 0"),
    Rule("sqrt(x * x) -> abs(x)", "REAL"),
    Rule("x: i64 | x - x -> 0", "BITS"),
    Rule("x: i64, y: i64 | not (x < y) -> x >= y", "BITS"),
)


# passes


def applications(program: Program) -> list[tuple[NodeId, Apply]]:
    """The needed applications of a program, by identifier."""
    found = scopes(program)
    owned = {n for g, nodes in found.needed.items() for n in nodes if program.owner(n) == g}
    return [(n, a) for n in sorted(owned) if isinstance(a := program.nodes[n], Apply)]


def constants(program: Program, node: Apply) -> tuple[Any, ...] | None:
    """The numbers that an application is applied to, if all are numbers written in the program."""
    values = tuple(program.constant(n) for n in node.arguments)
    return values if values and all(type(v) in (int, float) for v in values) else None


def folds_division(program: Program) -> Program:
    """x / 0 is folded to +inf, whatever x and whatever zero."""
    edit = Edit(program)
    for node, found in applications(program):
        values = constants(program, found)
        if values and program.callee(node) is TABLE["div"] and values[1] == 0 and type(values[1]) is float:
            edit.replace(node, edit.constant(float("inf")))
    return edit.program


def folds_with_python(program: Program) -> Program:
    """Comparisons of constants by Python's `min`, whose ties and NaN depend on the order of its arguments."""
    edit = Edit(program)
    for node, found in applications(program):
        values = constants(program, found)
        if values and program.callee(node) in (TABLE["min"], TABLE["max"]) and all(type(v) is float for v in values):
            edit.replace(node, edit.constant(sorted(values)[0 if program.callee(node) is TABLE["min"] else 1]))
            if values[0] == values[1]:
                edit.replace(node, edit.constant(values[1]))
    return edit.program


def merges_equal_numbers(program: Program) -> Program:
    """Common subexpressions by Python's equality: 0.0 == -0.0 and 1 == 1.0 == True."""
    edit, known = Edit(program), dict[Any, NodeId]()
    for node, found in applications(program):
        key = (
            found.graph,
            *(v if type(v := program.constant(n)) in (int, float) else ("node", n) for n in edit.nodes[node].inputs),
        )
        if key in known:
            edit.replace(node, known[key])
        else:
            known[key] = node
    return edit.program


def merges_across_graphs(program: Program) -> Program:
    """Common subexpressions regardless of the primitive that is applied."""
    edit, known = Edit(program), dict[Any, NodeId]()
    for node, found in applications(program):
        if not isinstance(program.callee(node), Primitive) or len(found.inputs) != 3:
            continue
        key = (found.graph, *edit.nodes[node].inputs[1:])
        if (
            key in known
            and program.callee(node) is not program.callee(known[key])
            and program.callee(node) in (TABLE["sub"], TABLE["add"])
        ):
            edit.replace(node, known[key])
        known.setdefault(key, node)
    return edit.program


def exchanges_branches(program: Program) -> Program:
    """switch(not c, a, b) becomes switch(c, a, b)."""
    edit = Edit(program)
    for node, found in applications(program):
        if program.callee(node) is TABLE["switch"] and program.callee(found.inputs[1]) is TABLE["not_"]:
            edit.set_inputs(node, (found.inputs[0], program.inputs(found.inputs[1])[1], *found.inputs[2:]))
    return edit.program


def flips_comparisons(program: Program) -> Program:
    """not (a < b) becomes a >= b on reals: NaN takes the other branch. Here at switches: branches are exchanged with the test."""
    edit = Edit(program)
    for node, found in applications(program):
        test = found.inputs[1] if program.callee(node) is TABLE["switch"] else None
        if test is not None and program.callee(test) is TABLE["lt"]:
            _, a, b = program.inputs(test)
            other = edit.call(found.graph, TABLE["ge"], a, b)
            edit.set_inputs(node, (found.inputs[0], other, found.inputs[3], found.inputs[2]))
    return edit.program


def runs_both_branches(program: Program) -> Program:
    """switch(c, @a, @b)() becomes switch(c, @a(), @b()): traps of the branch not taken are met."""
    edit = Edit(program)
    for node, found in applications(program):
        chosen = found.inputs[0]
        if len(found.inputs) == 1 and program.callee(chosen) is TABLE["switch"]:
            function, test, a, b = program.inputs(chosen)
            called = [edit.apply(found.graph, branch) for branch in (a, b)]
            edit.set_inputs(node, (function, test, *called))
    return edit.program


def picks_from_the_front(program: Program) -> Program:
    """(a, b)[-i] is taken for (a, b)[i - 1], right for -1 of pairs only when nobody looks."""
    edit = Edit(program)
    for node, found in applications(program):
        index = program.constant(found.inputs[2]) if program.callee(node) is TABLE["getitem"] else None
        if type(index) is int and program.callee(found.inputs[1]) is TABLE["make_tuple"]:
            items = program.inputs(found.inputs[1])[1:]
            edit.replace(node, items[index if index >= 0 else -index - 1])
    return edit.program


def drops_a_parameter(program: Program) -> Program:
    """A parameter that a function does not read is dropped, and at the calls the first argument instead of that one."""
    edit = Edit(program)
    for graph in scopes(program).free:
        reference = program.reference(graph)
        if (
            graph == program.entry
            or reference is None
            or program.returns.get(reference)
            or any(u.index for u in program.users(reference))
        ):
            continue
        unread = [p for p in program.graphs[graph].parameters if not program.users(p) and not program.returns.get(p)]
        for parameter in unread[:1]:
            kept = tuple(p for p in program.graphs[graph].parameters if p != parameter)
            edit.set_parameters(graph, kept)
            for use in sorted(program.users(reference)):
                inputs = edit.nodes[use.user].inputs
                edit.set_inputs(use.user, (*inputs[:-1],))
    return edit.program


def inlines_backwards(program: Program) -> Program:
    """A call of a one-line function is replaced by the line, with the arguments in reverse."""
    edit = Edit(program)
    for node, found in applications(program):
        callee = program.callee(node)
        if not isinstance(callee, GraphRef) or len(found.arguments) < 2:
            continue
        graph = program.graphs[callee.graph]
        line = program.nodes[graph.output]
        if (
            isinstance(line, Apply)
            and isinstance(program.callee(graph.output), Primitive)
            and len(found.arguments) == len(graph.parameters)
        ):
            known = dict(zip(graph.parameters, reversed(found.arguments), strict=True))
            if all(n in known for n in line.arguments):
                edit.set_inputs(node, (line.inputs[0], *(known[n] for n in line.arguments)))
    return edit.program


def removes_a_used_node(program: Program) -> Program:
    """An application of a primitive to nothing but constants is dropped as dead, though something uses it."""
    edit = Edit(program)
    for node, found in applications(program):
        if constants(program, found) is not None:
            edit.nodes = edit.nodes.delete(node)
    return edit.program


def forgets_the_entry(program: Program) -> Program:
    """Parameters of the entry that nothing reads are dropped too."""
    edit = Edit(program)
    parameters = program.graphs[program.entry].parameters
    edit.set_parameters(program.entry, tuple(p for p in parameters if program.users(p) or program.returns.get(p)))
    return edit.program


def recurses(program: Program) -> Program:
    """A pass that raises on programs with a loop."""
    if not loop_free(program):
        raise KeyError("loop")
    return dce.SYSTEM.run(program)


def drops_what_reads_no_parameter(program: Program) -> Program:
    """Dead code by inputs: an application that reads constants only is taken for dead, though something uses it."""
    edit = Edit(program)
    for node, found in applications(program):
        if found.arguments and all(isinstance(program.nodes[n], Constant) for n in found.inputs):
            edit.replace(node, edit.constant(0.0))
    return edit.program


def increments_where_the_first_index_agrees(program: Program) -> Program:
    """a[i, j] = a[i, k] + v becomes a[i, j] += v: only the first index is compared."""
    return _increments(program, 1)


def increments_where_all_indices_agree(program: Program) -> Program:
    """a[i, j] = a[i, j] + v becomes a[i, j] += v."""
    return _increments(program, None)


def _increments(program: Program, compared: int | None) -> Program:
    edit = Edit(program)
    for node, found in applications(program):
        if program.callee(node) is not TABLE["put"] or program.callee(found.inputs[3]) is not TABLE["add"]:
            continue
        _, array, written, value = found.inputs
        _, old, more = program.inputs(value)
        if program.callee(old) is TABLE["getitem"] and program.inputs(old)[1] == array:
            one, other = (program.inputs(i)[1:] or (i,) for i in (written, program.inputs(old)[2]))
            if one[:compared] == other[:compared]:
                edit.replace(node, edit.call(found.graph, TABLE["scatter_add"], array, written, more))
                return edit.program  # one at a time: the others read what has just been replaced
    return program


def merges_reductions(program: Program) -> Program:
    """Common subexpressions by callee and operand: sums over two axes are taken for one."""
    return _merged(program, 2)


def merges_equal_reductions(program: Program) -> Program:
    """Common subexpressions of reductions, attributes compared."""
    return _merged(program, None)


def _merged(program: Program, compared: int | None) -> Program:
    edit, known = Edit(program), dict[Any, NodeId]()
    for node, found in applications(program):
        if program.callee(node) is TABLE["reduce_sum"]:
            first = known.setdefault((found.graph, *found.inputs[:compared]), node)
            if first != node:
                edit.replace(node, first)
    return edit.program


def rebinds_instead_of_writing(program: Program) -> Program:
    """A store is seen by what loads through the same name only: the memory that other names read is left as it was."""
    edit = Edit(program)
    for node, found in applications(program):
        if program.callee(node) is TABLE["store"]:
            _, memory, pointer, value = found.inputs
            for use in sorted(program.users(node)):
                if program.callee(use.user) is TABLE["load"] and program.inputs(use.user)[2] == pointer:
                    edit.replace(use.user, value)
            edit.replace(node, memory)
    return edit.program


def unrolls_zero_trips(program: Program) -> Program:
    """A loop that counts from 0 is taken to turn at least once: its test is dropped the first time."""
    edit = Edit(program)
    for node, found in applications(program):
        callee = program.callee(node)
        if isinstance(callee, GraphRef) and len(found.arguments) == 2 and program.constant(found.arguments[0]) == 0:
            test = next((n for n, a in applications(program) if a.graph == callee.graph and program.callee(n) is TABLE["lt"]), None)
            if test is not None and program.constant(program.inputs(test)[2]) != 3:
                edit.set_inputs(test, (edit.constant(TABLE["le"]), *program.inputs(test)[1:]))
    return edit.program


LOOPING = RewriteSystem("commute", (pattern_rule("x + y -> y + x").rewrite,))
UNSOUND = RewriteSystem(
    "simplify_badly",
    (pattern_rule("x * 1.0 -> x").rewrite, pattern_rule("x + 0.0 -> x").rewrite, pattern_rule("x - 0.0 -> x").rewrite),
)
GROWS = RewriteSystem(
    "expand", (pattern_rule("x * 2.0 -> x + x").rewrite,), measure=lambda p: (-len(applications(p)) if p is not None else 0, 1)
)

PASS_MUTANTS: tuple[tuple[Any, str], ...] = (
    (folds_division, "values"),
    (folds_with_python, "values"),
    (merges_equal_numbers, "values"),
    (merges_across_graphs, "values"),
    (exchanges_branches, "values"),
    (flips_comparisons, "values"),
    (runs_both_branches, "values"),
    (picks_from_the_front, "values"),
    (drops_a_parameter, "values"),
    (inlines_backwards, "values"),
    (removes_a_used_node, "well-formed"),
    (forgets_the_entry, "the entry keeps"),
    (recurses, "every program is given"),
    (unrolls_zero_trips, "values"),
    (LOOPING, "every program is given"),
    (UNSOUND, "values"),
    (drops_what_reads_no_parameter, "values"),
)

MATRIX = """
import numpy as np
def f(x, y):
    a = np.array([[x, y], [y, x]])
    a[0, 1] = a[0, 0] + y
    a[1, 0] = a[1, 0] + x
    return a[0, 1] - a[0, 0] * x + a[1, 0]
"""
AXES = """
import numpy as np
def f(x, y):
    a = np.array([[x, y], [1.0, x]])
    b = np.sum(a, axis=0) - 2.0 * np.sum(a, axis=1)
    return b[0] * x + b[1] + np.sum(a, axis=0)[0]
"""
TWO_NAMES = """
def f(x, y):
    a = [x, y]
    b = a
    b[0] = y
    return a[0] * x
"""

# passes over arrays and memory: the mutant, a correct pass of the kind if there is one, and a program on which they part
STRUCTURED_MUTANTS: tuple[tuple[Any, Any, str], ...] = (
    (increments_where_the_first_index_agrees, increments_where_all_indices_agree, MATRIX),
    (merges_reductions, merges_equal_reductions, AXES),
    (rebinds_instead_of_writing, None, TWO_NAMES),
)


def identity(program: Program) -> Program:
    """The pass that does nothing."""
    return program


def folded_by_the_machine(program: Program) -> Program:
    """Constants folded by running the program that they make: right, since nobody restates a meaning."""
    edit = Edit(program)
    for node, found in applications(program):
        values = constants(program, found)
        if values and program.callee(node) in (TABLE["add"], TABLE["sub"], TABLE["mul"], TABLE["min"], TABLE["max"]):
            edit.replace(node, edit.constant(Machine(program).cell(program.callee(node))(*values)))
    return edit.program


def dropped_and_folded(program: Program) -> Program:
    """Two shipped passes one after the other."""
    return dce.SYSTEM.run(fold.SYSTEM.run(program))


PASS_CONTROLS: tuple[Any, ...] = (
    identity,
    folded_by_the_machine,
    dropped_and_folded,
    cse.SYSTEM,
    dce.SYSTEM,
    fold.SYSTEM,
    inline.SYSTEM,
)

Pass = Callable[[Program], Program]
