"""Generated statements over arrays: names, functional updates, loops over rows and by index, branches, functions that capture."""

from __future__ import annotations

from collections.abc import Callable

from checkers.generators.arrays import condition, term, with_axes
from checkers.generators.data import DATA_STATEMENTS
from checkers.generators.terms import ARGUMENT, LIMIT, Term, WholeWriter, damped, like, literal, number, total

DEEPEST = 3


def statement(w: WholeWriter) -> None:
    """One statement of a kind that the mask allows here."""
    w.budget -= 1
    makers = [m for m, feature in MAKERS if feature == "" or (w.may(feature) and w.indent < DEEPEST)]
    w.pick(makers)(w)


def assign(w: WholeWriter) -> None:
    """A new name, never assigned again."""
    w.name(term(w, 3))


def update(w: WholeWriter) -> None:
    """An array of its own, some of whose elements are then assigned or added to."""
    w.mark("updates")
    t = with_axes(w, 2)
    t = w.name(t._replace(text=f"({t.text}).copy()"), "y")
    w.moving.add(t.text)
    for _ in range(w.number(1, 2)):
        t = _written(w, t)


def _written(w: WholeWriter, t: Term) -> Term:
    """One assignment to a part of t, and t as it is afterwards."""
    w.terms.remove(t)
    index, shape = w.pick(_places(w, t))
    e = damped(w, like(w, shape, 1) if w.flip() else number(w, 1), ARGUMENT)
    sign = w.pick(("=", "+=", "-=", "*="))
    w.line(f"{t.text}[{index}] {sign} {e.text}")
    bound = {"=": max(t.bound, e.bound), "*=": t.bound * max(e.bound, 1.0)}.get(sign, t.bound + e.bound)
    t = t._replace(bound=bound, grain=t.grain + e.grain if sign == "*=" else max(t.grain, e.grain))
    if w.fits(t):
        return w.keep(t)
    name = w.fresh("y")
    w.line(f"{name} = {damped(w, t).text}.copy()")
    w.moving.add(name)
    return w.keep(t._replace(text=name, bound=LIMIT, grain=6))


def _places(w: WholeWriter, t: Term) -> list[tuple[str, tuple[int, ...]]]:
    """Indices that can be assigned to, and the shape of what they name; index arrays have no duplicates."""
    n, rest = t.shape[0], t.shape[1:]
    found = [(str(w.number(-n, n - 1)), rest), ("1:", (n - 1, *rest)), ("::-1", t.shape), ("np.array([0])", (1, *rest))]
    if t.rank >= 2:
        found += [(f"{n - 1}, 0", t.shape[2:]), (":, -1", (n, *t.shape[2:]))]
    return [(i, s) for i, s in found if 0 not in s]


def over_rows(w: WholeWriter) -> None:
    """`for r in x`, with or without enumerate or zip: a sum of what is made of every row."""
    w.mark("loops")
    t, c = with_axes(w, 2), w.name(damped(w, number(w), ARGUMENT), "c")
    w.moving.add(c.text)
    w.terms.remove(c)
    r = w.fresh("r")
    head = w.pick(
        (f"for {r} in {t.text}:", f"for k_{r}, {r} in enumerate({t.text}):", f"for {r}, s_{r} in zip({t.text}, {t.text}[::-1]):")
    )
    w.line(head)
    row = t._replace(text=r, shape=t.shape[1:])
    _accumulate(w, c, t.shape[0], [row, *([row._replace(text=f"s_{r}")] if "zip" in head else [])])


def by_index(w: WholeWriter) -> None:
    """`for i in range(…)` or a `while`, with x[i] and elements from the other end; perhaps another array is filled on the way."""
    w.mark("loops")
    t = with_axes(w, 2)
    t = t if t.text.isidentifier() else w.name(t)
    c = w.name(damped(w, number(w), ARGUMENT), "c")
    w.moving.add(c.text)
    w.terms.remove(c)
    i, n = w.fresh("i"), t.shape[0]
    counted = w.flip()
    if counted:
        w.line(f"{i} = 0")
    w.line(f"while {i} < {n}:" if counted else f"for {i} in range({w.pick((f'len({t.text})', str(n), f'{t.text}.shape[0]'))}):")
    rows = [t._replace(text=f"{t.text}[{i}]", shape=t.shape[1:]), t._replace(text=f"{t.text}[-1 - {i}]", shape=t.shape[1:])]
    _accumulate(w, c, n, rows, after=f"{i} = {i} + 1" if counted else "")


def _accumulate(w: WholeWriter, c: Term, turns: int, rows: list[Term], after: str = "") -> None:
    """The body of a loop: c takes up a number made of the rows; in a program that may round, of c as well."""
    with w.block():
        w.terms += rows if w.exact else [*rows, c]
        e = damped(w, total(w, term(w, 2)), ARGUMENT)
        if w.exact or w.flip():
            w.line(f"{c.text} = {c.text} {w.pick(('+', '-'))} {e.text}" if w.flip() else f"{c.text} += {e.text}")
            c = c._replace(bound=c.bound + turns * ARGUMENT, grain=max(c.grain, e.grain))
            c = c if w.exact else c._replace(text=c.text)
        else:
            w.line(f"{c.text} = {damped(w, Term(f'({c.text} * 0.5 + {e.text})', (), 'f64', LIMIT), ARGUMENT).text}")
        if after:
            w.line(after)
    w.keep(c)


def branch(w: WholeWriter) -> None:
    """if and else that name the same array, or a conditional expression; decided by numbers, or by shapes in a smooth program."""
    w.mark("branches")
    a = term(w, 2)
    b = like(w, a.shape, 1)
    test = condition(w, (), 1).text
    both = a._replace(bound=max(a.bound, b.bound), grain=max(a.grain, b.grain))
    if w.flip():
        w.name(both._replace(text=f"({a.text} if {test} else {b.text})"))
        return
    name = w.fresh("b")
    w.line(f"if {test}:")
    with w.block():
        w.line(f"{name} = {a.text}")
    w.line("else:")
    with w.block():
        w.line(f"{name} = {b.text}")
    w.moving.add(name)
    w.keep(both._replace(text=name))


def define(w: WholeWriter) -> None:
    """A function of an array of known shape that captures what is in scope; called, perhaps on what it returned."""
    w.mark("functions")
    t = term(w, 1)
    u = Term(w.fresh("u"), t.shape, "f64", ARGUMENT, 6)
    outside, name = w.terms, w.fresh("f")
    w.terms = [k for k in outside if _root(k) not in w.moving] + [u]
    if w.flip():
        body = damped(w, term(w, 2), ARGUMENT)
        w.line(f"{name} = lambda {u.text}: {body.text}")
    else:
        w.line(f"def {name}({u.text}):")
        w.indent += 1
        if w.flip():
            w.name(term(w, 2))
        body = damped(w, term(w, 2), ARGUMENT)
        w.line(f"return {body.text}")
        w.indent -= 1
    w.terms = outside
    called = w.name(body._replace(text=f"{name}({argument(w, t, u).text})"))
    if called.shape == u.shape and w.flip():
        w.name(body._replace(text=f"{name}({argument(w, called, u).text})"))


def argument(w: WholeWriter, t: Term, u: Term) -> Term:
    """t, or a literal in its place if it is not what the function was made for."""
    t = damped(w, t, u.bound)
    return t if t.grain <= u.grain or not w.exact else literal(w, u.shape)


def _root(t: Term) -> str:
    """The name at the beginning of the text."""
    return t.text.split("[")[0].split(".")[0]


MAKERS: tuple[tuple[Callable[[WholeWriter], None], str], ...] = (
    (assign, ""),
    (assign, ""),
    (update, "updates"),
    (over_rows, "loops"),
    (by_index, "loops"),
    (branch, "branches"),
    (define, "functions"),
    *DATA_STATEMENTS,
)
