"""Generated statements: assignments, branches, loops. Functions are in `functions`."""

from __future__ import annotations

from collections.abc import Callable

from checkers.generators.expressions import atom, condition, damped, integer, real
from checkers.generators.functions import captured_call, define, grad_of, higher_order, in_tuple, recursive, short
from checkers.generators.writer import CARRIED_BOUND, Expression, Variable, Writer


def statements(w: Writer, most: int) -> None:
    """Up to `most` statements, as long as the budget lasts."""
    for _ in range(w.number(0, most)):
        if w.budget <= 0:
            return
        statement(w)


def statement(w: Writer) -> None:
    """One statement of a kind that the mask allows here."""
    w.budget -= 1
    inside = w.nesting + w.indent
    makers = [
        m
        for m, feature, deepest in MAKERS
        if (feature == "" or w.may(feature)) and inside <= deepest and not (w.loops and m in BESIDE_LOOPS)
    ]
    w.pick(makers)(w)


def give_back(w: Writer) -> None:
    """`return` of a real no larger than the function may return, made of the newest variables as well."""
    e = real(w, 2)
    for v in w.known("real")[:-3:-1]:
        e = Expression(f"({e.text} {w.pick('+-*')} {v.name})", max(e.bound + v.bound, e.bound * v.bound))
    w.line(f"return {damped(w, e, w.result_bound).text}")


def assign(w: Writer) -> None:
    """A new variable, never assigned again."""
    e = real(w, 3)
    name = w.fresh("a")
    w.line(f"{name} = {e.text}")
    w.declare(Variable(name, "real", e.bound))


def carried(w: Writer) -> Variable:
    """A variable that is assigned more than once, declared just before its first use in a branch or loop."""
    found = [v for v in w.known("real") if v.assigned]
    if found and w.flip():
        return w.pick(found)
    name = w.fresh("c")
    w.line(f"{name} = {damped(w, real(w, 1), CARRIED_BOUND).text}")
    return w.declare(Variable(name, "real", CARRIED_BOUND, assigned=True))


def assign_again(w: Writer, v: Variable) -> None:
    """A new value for a carried variable, by `=` or an augmented assignment, within its bound."""
    if v.kind == "tuple":
        first = damped(w, real(w, 2), v.bound).text
        rest = [f"{v.name}[{i}]" for i in range(v.size - 1)]
        w.line(f"{v.name} = ({', '.join((*rest, first))},)" if v.size == 1 else f"{v.name} = ({', '.join((first, *rest))})")
    elif w.may("augmented") and w.flip():
        w.mark("augmented")
        match w.pick(("+=", "-=", "*=", "/=")):
            case "*=":
                w.line(f"{v.name} *= {damped(w, real(w, 1), 1.0).text}")
            case "/=":
                a = atom(w)
                w.line(f"{v.name} /= 2.0 + {a.text} * {a.text}")
            case sign:
                w.line(f"{v.name} {sign} {damped(w, real(w, 2), CARRIED_BOUND).text}")
                w.line(f"{v.name} *= 0.5")
    else:
        w.line(f"{v.name} = {damped(w, real(w, 2), CARRIED_BOUND).text}")


def make_tuple(w: Writer) -> None:
    """A tuple of reals, and perhaps its parts by unpacking."""
    w.mark("tuple")
    parts = [real(w, 1) for _ in range(w.number(1, 3))]
    name = w.fresh("t")
    w.line(f"{name} = ({', '.join(p.text for p in parts)},)")
    bound = max(p.bound for p in parts)
    w.declare(Variable(name, "tuple", bound, size=len(parts)))
    if w.flip():
        names = [w.fresh("u") for _ in parts]
        w.line(f"{', '.join(names)}{',' * (len(names) == 1)} = {name}")
        for n in names:
            w.declare(Variable(n, "real", bound))


def swap(w: Writer) -> None:
    """Two variables exchanged by a parallel assignment."""
    a, b = carried(w), carried(w)
    if a.name == b.name:
        return
    w.mark("tuple")
    w.line(f"{a.name}, {b.name} = {b.name}, {a.name}")


def integer_variable(w: Writer) -> None:
    w.mark("integer")
    text, bound = integer(w, 2)
    name = w.fresh("k")
    w.line(f"{name} = {text}")
    w.declare(Variable(name, "integer", bound))


def branch(w: Writer) -> None:
    """if, perhaps elif and else. A carried variable is assigned on some paths; with the feature, one path returns."""
    w.mark("branch")
    v = carried(w)
    words = ["if"] + ["elif"] * (w.may("elif") and w.flip()) + ["else"] * w.flip()
    if "elif" in words:
        w.mark("elif")
    for word in words:
        w.line(f"{word}:" if word == "else" else f"{word} {condition(w, 2)}:")
        with w.block():
            statements(w, 1)
            if w.may("early_return") and word != "else" and w.flip():
                w.mark("early_return")
                give_back(w)
            else:
                assign_again(w, v)


def _leave_or_skip(w: Writer, skip: str = "continue") -> None:
    """A guarded break, continue or return inside a loop."""
    for word, feature in (("break", "break"), (skip, "continue"), ("return", "early_return")):
        if w.may(feature) and w.flip():
            w.mark(feature)
            w.line(f"if {condition(w, 1)}:")
            with w.block():
                if word == "return":
                    give_back(w)
                else:
                    w.line(word)
            return


def _turn(w: Writer, carried_variables: list[Variable]) -> None:
    """The body of a loop."""
    w.loops += 1
    statements(w, 1)
    assign_again(w, carried_variables[0])
    _leave_or_skip(w)
    for v in carried_variables[1:]:
        assign_again(w, v)
    w.loops -= 1


def _loop_variables(w: Writer) -> list[Variable]:
    """One or two variables that the loop carries; with tuples, one of them may be a tuple."""
    variables = [carried(w)]
    if w.may("tuple") and w.flip():
        name, size = w.fresh("t"), w.number(1, 2)
        w.line(f"{name} = ({', '.join(damped(w, real(w, 1), CARRIED_BOUND).text for _ in range(size))},)")
        variables.append(w.declare(Variable(name, "tuple", CARRIED_BOUND, size=size, assigned=True)))
    elif w.flip() and (other := carried(w)).name != variables[0].name:
        variables.append(other)
    return variables


def while_loop(w: Writer) -> None:
    """A counted `while` of 0 to 3 turns; the counter moves first, so that `continue` cannot stop it."""
    w.mark("while")
    variables = _loop_variables(w)
    counter = w.fresh("i")
    w.line(f"{counter} = 0")
    test = f"{counter} < {w.number(0, 3)}"
    if not w.options.smooth and w.flip():
        test += f" and {variables[0].name} < {damped(w, atom(w), CARRIED_BOUND).text}"
    w.line(f"while {test}:")
    with w.block():
        w.line(f"{counter} = {counter} + 1")
        w.loops += 1
        w.declare(Variable(counter, "integer", 3.0, assigned=True))
        w.loops -= 1
        _turn(w, variables)


def range_loop(w: Writer) -> None:
    """`for i in range(…)` of 0 to 3 turns, with one, two or three arguments."""
    w.mark("range")
    variables = _loop_variables(w)
    counter = w.fresh("i")
    arguments = w.pick((f"{w.number(0, 3)}", f"1, {w.number(0, 4)}", f"{w.number(0, 4)}, 0, -1", "0, 5, 2"))
    w.line(f"for {counter} in range({arguments}):")
    with w.block():
        w.loops += 1
        w.declare(Variable(counter, "integer", 5.0, assigned=True))
        w.loops -= 1
        _turn(w, variables)


def tuple_loop(w: Writer) -> None:
    """`for s in (…)` over a tuple of reals."""
    w.mark("over_tuple")
    variables = _loop_variables(w)
    name = w.fresh("s")
    parts = [real(w, 1) for _ in range(w.number(1, 3))]
    w.line(f"for {name} in ({', '.join(p.text for p in parts)},):")
    with w.block():
        w.loops += 1
        w.declare(Variable(name, "real", max(p.bound for p in parts), assigned=True))
        w.loops -= 1
        _turn(w, variables)


ANYWHERE, NESTED, SHALLOW = 6, 3, 2
BESIDE_LOOPS = (captured_call, higher_order, recursive)  # each turn would assign again what they capture
MAKERS: tuple[tuple[Callable[[Writer], None], str, int], ...] = (
    (assign, "", ANYWHERE),
    (branch, "branch", NESTED),
    (while_loop, "while", SHALLOW),
    (range_loop, "range", SHALLOW),
    (tuple_loop, "over_tuple", SHALLOW),
    (make_tuple, "tuple", ANYWHERE),
    (swap, "tuple", ANYWHERE),
    (integer_variable, "integer", ANYWHERE),
    (define, "definition", NESTED),
    (short, "lambda", NESTED),
    (captured_call, "captured_call", SHALLOW),
    (higher_order, "higher_order", SHALLOW),
    (in_tuple, "functions_in_tuples", SHALLOW),
    (recursive, "recursion", SHALLOW),
    (grad_of, "nested_grad", NESTED),
)
