"""
Rows that are running sums and products: what must hold for their rules to be right, for all lengths.

    recurrence  y = b + c S y                 <w, dy> = <s, db + dc S y> where s = w + S* (c s)
                backwards y = b + S* (c y)    <w, dy> = <s, db + S* (dc y)> where s = w + c S s
    cumprod     y = x T y                     <w, dy> = <s, dx T y> where s = w + S* (x s)
    prod        the last y, y = x T y     w dy[last] = <w h, dx T y> where h = T* (x h), the product of what is behind

S shifts by one place and puts 0 in front, T puts 1; S* and T* shift back, with 0 and 1 at the end. The value is a symbol of which
nothing is known but its equation, which determines it place by place; and so is what a rule is answered that asks for a
`recurrence` or a `cumprod`. Each way from <w, dy> to the rule is one step, the adjoint of the shift.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checkers.smt import index_form as forms
from checkers.smt.index_factors import NotReachedError
from checkers.smt.index_values import Indexed, number
from proofs.arrays.bilinear import CELLS, Answers, Question, Shape, alike, inner, named, same, times
from semantics.ir import Program
from semantics.structured import ELLIPSIS


def shifted(a: Indexed, by: int, axis: Any, fill: int = 0) -> Indexed:
    found: Indexed = CELLS["shift"](a, by, axis, fill)
    return found


def of_first(*arguments: Any) -> Shape:
    """A recurrence has the shape of what is added, a running product that of its factors."""
    shape: Shape = arguments[0].shape
    return shape


def of_recurrence(shape: Shape, axis: int, back: bool, rule: Program) -> Iterator[Question]:
    """b and c of this shape, along this axis, forwards or backwards."""
    b, c, y, w, dy, v, s = (named(name, shape) for name in ("b", "c", "y", "w", "dy", "v", "s0"))
    answers = Answers({"recurrence": of_first})
    db, dc, *_ = answers.read(rule, [b, c, axis, back, y, w])
    _the_transpose(answers, w, c, axis, not back)
    step = -1 if back else 1
    # <S* (c s), dy> = <s, c S dy>, and backwards <c S s, dy> = <s, S* (c dy)>
    if back:
        left, right = inner(times(c, shifted(s, 1, axis)), dy), inner(s, shifted(times(c, dy), step, axis))
        flows = shifted(times(v, y), step, axis)
    else:
        left, right = inner(shifted(times(c, s), -1, axis), dy), inner(s, times(c, shifted(dy, step, axis)))
        flows = times(v, shifted(y, step, axis))
    yield from same(left, right, ("s0", shape), ("dy", shape))
    yield from same(inner(s, v), inner(db, v), ("s0", shape), ("v", shape))
    yield from same(inner(s, flows), inner(dc, v), ("s0", shape), ("v", shape))


def _the_transpose(answers: Answers, w: Indexed, c: Indexed, axis: Any, back: bool) -> None:
    """NotReachedError unless the rule has asked for the transposed recurrence of the sensitivity."""
    ((added, factors, along, backwards),) = answers.once(1)
    alike(added, w)
    alike(factors, c)
    if (along, backwards) != (axis, back):
        raise NotReachedError("the rule is not seen to use the transposed recurrence")


def of_cumprod(shape: Shape, axis: int | None, rule: Program) -> Iterator[Question]:
    """x of this shape, along this axis or in row-major order."""
    x, v = named("x", shape), named("v", shape)
    along = 0 if axis is None else axis
    factors, moved = (CELLS["reshape"](a, (-1,)) if axis is None else a for a in (x, v))
    y, w, s, dy = (named(name, factors.shape) for name in ("y", "w", "s0", "dy"))
    answers = Answers({"recurrence": of_first})
    back, _ = answers.read(rule, [x, axis, y, w])
    _the_transpose(answers, w, factors, axis, True)
    left, right = inner(shifted(times(factors, s), -1, along), dy), inner(s, times(factors, shifted(dy, 1, along)))
    yield from same(left, right, ("s0", y.shape), ("dy", y.shape))
    flows = inner(s, times(moved, shifted(y, 1, along, 1)))
    yield from same(flows, inner(back, v), ("s0", y.shape), ("v", shape))


def of_products(shape: Shape) -> Iterator[Question]:
    """
    Lines of this shape with a number w for each: <w h, dy> - <w h, x S dy> = w dy[last] where h = T* (x h).

    The shift back puts w at the last place, and is else the adjoint of the shift.
    """
    x, h, dy = (named(name, shape) for name in ("x", "h", "dy"))
    w = named("w", shape[:-1]) if shape[:-1] else number("w")
    arriving = CELLS["spread"](w, x, -1, False)
    again = times(x, h)
    passed = inner(times(arriving, shifted(again, -1, -1)), dy)
    last = inner(*(CELLS["getitem"](a, (ELLIPSIS, -1)) for a in (arriving, dy)))
    whole = inner(times(arriving, shifted(again, -1, -1, 1)), dy)
    yield from same(whole, forms.add(passed, last), ("w", shape[:-1]), ("dy", shape))
    yield from same(passed, inner(times(arriving, h), times(x, shifted(dy, 1, -1))), ("w", shape[:-1]), ("dy", shape))


def of_reduce_prod(shape: Shape, axis: Any, keep: bool, rule: Program) -> Iterator[Question]:
    """x of this shape, reduced along these axes: each group of elements that is reduced is a line, and its product the last y."""
    x, v = named("x", shape), named("v", shape)
    groups, moved = (CELLS["grouped"](a, axis) for a in (x, v))
    yield from of_products(tuple(f"l{k}" for k in range(len(groups.shape))))
    out = CELLS["reduce_sum"](x, axis, keep)  # of which only the shape is used
    of_w = out.shape if isinstance(out, Indexed) else ()
    value, w = (named(name, of_w) if of_w else number(name) for name in ("out", "w"))
    answers = Answers({"cumprod": of_first})
    back, *_ = answers.read(rule, [x, axis, keep, value, w])
    (before, _), (behind, _) = answers.once(2)
    alike(before, groups)
    alike(behind, CELLS["flip"](groups, -1))
    y = named("s0", groups.shape)
    h = shifted(CELLS["flip"](named("s1", groups.shape), -1), -1, -1, 1)
    arriving = CELLS["grouped"](CELLS["spread"](w, x, axis, keep), axis)
    flows = inner(times(arriving, h), times(moved, shifted(y, 1, -1, 1)))
    yield from same(flows, inner(back, v), ("w", of_w), ("v", shape))
