"""Generated expressions that move elements: indexing, gathering, masks, reshaping, joining, sorting. Each takes what it moves."""

from __future__ import annotations

from collections.abc import Callable

from checkers.generators.terms import Term, WholeWriter, like, literal, total, wide
from semantics.arrays import Shape, size_of

Move = Callable[[WholeWriter, Term], Term]


def moved(t: Term, text: str, shape: Shape) -> Term:
    """The elements of t elsewhere."""
    return t._replace(text=text, shape=shape)


def element(w: WholeWriter, t: Term) -> Term:
    """x[i], x[i, j], x[-1]: constant integers within the shape."""
    if not t.rank or not t.size:
        return t
    w.mark("indexing")
    count = w.number(1, t.rank)
    index = [w.number(-n, n - 1) for n in t.shape[:count]]
    return moved(t, f"{t.text}[{', '.join(map(str, index))}]", t.shape[count:])


def _slice(w: WholeWriter, n: int) -> tuple[str, int]:
    """A slice of an axis of n elements, and how many it keeps."""
    text = w.pick((":", "::-1", "1:", ":-1", "::2", ":1", "-2:"))
    parts = [int(p) if p else None for p in text.split(":")]
    return text, len(range(n)[slice(*parts)])


def sliced(w: WholeWriter, t: Term) -> Term:
    """x[a:b:c, …, None, i]: slices, new axes, an ellipsis, integers."""
    if not t.rank or not t.size:
        return t
    w.mark("indexing")
    parts: list[str] = []
    shape: list[int] = []
    for axis, n in enumerate(t.shape):
        choice = w.number(0, 4)
        if choice == 4 and len(shape) < 3:
            parts.append("None")
            shape.append(1)
        if choice == 3:
            parts.append(str(w.number(-n, n - 1)))
        elif choice == 0 and axis:
            parts.append("...")
            shape += t.shape[axis:]
            break
        else:
            text, kept = _slice(w, n)
            parts.append(text)
            shape.append(kept)
    found = moved(t, f"{t.text}[{', '.join(parts)}]", tuple(shape))
    return found if found.size or w.may("empty") else t


def gathered(w: WholeWriter, t: Term) -> Term:
    """x[np.array(…)] with duplicates and negative indices, np.take along an axis, pairs of index arrays."""
    if not t.rank or not t.size:
        return t
    w.mark("gather")
    n = t.shape[0]
    count = w.number(1, 3)
    index = [w.number(-n, n - 1) for _ in range(count)]
    if t.rank >= 2 and w.flip():
        other = [w.number(-t.shape[1], t.shape[1] - 1) for _ in range(count)]
        return moved(t, f"{t.text}[np.array({index}), np.array({other})]", (count, *t.shape[2:]))
    if w.flip():
        axis = w.number(0, t.rank - 1)
        index = [k % t.shape[axis] for k in index]
        return moved(t, f"np.take({t.text}, np.array({index}), axis={axis})", (*t.shape[:axis], count, *t.shape[axis + 1 :]))
    return moved(t, f"{t.text}[np.array({index})]", (count, *t.shape[1:]))


def masked(w: WholeWriter, t: Term) -> Term:
    """The sum of the elements that a mask keeps: how many is known when it runs."""
    if not t.rank:
        return t
    w.mark("mask")
    test = f"{t.text}[{t.text} {w.pick(('>', '<='))} {literal(w, ()).text}]"
    form = w.pick(("np.sum({0} * 2.0)", "(np.sum({0}) + len({0}))", "np.sum({0}[::-1])"))
    return Term(form.format(test), (), "f64", 2 * t.bound * max(t.size, 1) + t.size, t.grain)


def reshaped(w: WholeWriter, t: Term) -> Term:
    """reshape to a factorisation, with -1 or without; ravel; a transposition."""
    w.mark("movement")
    if not t.rank:
        return moved(t, f"np.reshape({t.text}, (1, 1))", (1, 1))
    shapes: list[Shape] = [(t.size,), (1, t.size), (t.size, 1)]
    shapes += [(k, t.size // k) for k in (2, 3) if t.size and t.size % k == 0]
    shape = w.pick(shapes)
    match w.number(0, 4):
        case 0:
            return moved(t, f"np.ravel({t.text})", (t.size,))
        case 1 if t.size:
            written = (-1, *shape[1:])
            return moved(t, f"{t.text}.reshape({', '.join(map(str, written))})", shape)
        case 2:
            return moved(t, f"{t.text}.T", t.shape[::-1])
        case 3:
            axes = list(range(t.rank))
            order = [axes.pop(w.number(0, len(axes) - 1)) for _ in range(t.rank)]
            return moved(t, f"np.transpose({t.text}, {tuple(order)})", tuple(t.shape[k] for k in order))
        case _:
            return moved(t, f"np.reshape({t.text}, {shape})", shape)


def turned(w: WholeWriter, t: Term) -> Term:
    """flip, roll, expand_dims, squeeze, broadcast_to, tril, triu, diag."""
    w.mark("movement")
    if not t.rank:
        return moved(t, f"np.broadcast_to({t.text}, (2,))", (2,))
    axis = w.number(-t.rank, t.rank - 1)
    forms: list[tuple[str, Shape]] = [
        (f"np.flip({t.text}, axis={axis})", t.shape),
        (f"np.flip({t.text})", t.shape),
        (f"np.roll({t.text}, {w.number(-2, 3)}, axis={axis})", t.shape),
        (f"np.roll({t.text}, 1)", t.shape),
    ]
    if t.rank < 3:
        forms += [(f"np.expand_dims({t.text}, 0)", (1, *t.shape)), (f"np.expand_dims({t.text}, -1)", (*t.shape, 1))]
        forms.append((f"np.broadcast_to({t.text}, {(2, *t.shape)})", (2, *t.shape)))
        forms.append((f"np.squeeze({t.text})", tuple(n for n in t.shape if n != 1)))
    if t.rank == 2:
        forms += [(f"np.tril({t.text})", t.shape), (f"np.triu({t.text}, 1)", t.shape)]
        forms.append((f"np.diag({t.text})", (min(t.shape),)))
    return moved(t, *w.pick(forms))


def joined(w: WholeWriter, t: Term) -> Term:
    """concatenate along an axis, or stack along a new one, with another array or itself."""
    w.mark("joining")
    if not t.rank:
        return t
    if t.rank < 3 and w.flip():
        other, axis = like(w, t.shape), w.number(-1, t.rank)
        place = axis % (t.rank + 1)
        return Term(
            f"np.stack(({t.text}, {other.text}), axis={axis})",
            (*t.shape[:place], 2, *t.shape[place:]),
            "f64",
            max(t.bound, other.bound),
            max(t.grain, other.grain),
        )
    axis = w.number(0, t.rank - 1)
    lengths = [wide(k) for k in w.of(t.rank) if k.shape[:axis] == t.shape[:axis] and k.shape[axis + 1 :] == t.shape[axis + 1 :]]
    other = w.pick(lengths) if lengths and w.flip() else like(w, t.shape)
    shape = (*t.shape[:axis], t.shape[axis] + other.shape[axis], *t.shape[axis + 1 :])
    text = f"np.concatenate(({t.text}, {other.text}), axis={axis})"
    return Term(text, shape, "f64", max(t.bound, other.bound), max(t.grain, other.grain))


def ordered(w: WholeWriter, t: Term) -> Term:
    """sort along an axis, or the elements in the order of another sort."""
    if not t.rank or not size_of(t.shape):
        return t
    w.mark("sorting")
    if t.rank == 1 and w.flip():
        return moved(t, f"{t.text}[np.argsort({like(w, t.shape).text})]", t.shape)
    return moved(t, f"np.sort({t.text}, axis={w.number(-t.rank, t.rank - 1)})", t.shape)


def summed(w: WholeWriter, t: Term) -> Term:
    """All of it, as a number."""
    return total(w, t)


INDEXING: tuple[tuple[Move, str], ...] = ((element, "indexing"), (sliced, "indexing"), (gathered, "gather"), (masked, "mask"))
MOVES: tuple[tuple[Move, str], ...] = (
    (summed, ""),
    (reshaped, "movement"),
    (turned, "movement"),
    (joined, "joining"),
    (ordered, "sorting"),
)
