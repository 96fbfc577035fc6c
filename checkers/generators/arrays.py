"""
Generated expressions on arrays: elementwise, reductions, products. Moves are in `moves`.

Directed by shapes from the operands up: an operation is only written where its operands fit, so every program is valid by
construction; what has grown too large, in bound or in digits, is damped or replaced by a literal of its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from checkers.generators.moves import INDEXING, MOVES
from checkers.generators.terms import LARGEST, Term, WholeWriter, atom, damped, like, literal, number, total, wide
from semantics.arrays import Shape, broadcast_shapes, size_of

Maker = Callable[[WholeWriter, int], Term]


def term(w: WholeWriter, depth: int) -> Term:
    """A real term of at most this depth and of any shape."""
    if depth <= 0 or w.number(0, 4) == 0:
        return atom(w)
    makers = [m for m, feature in MAKERS if feature == "" or w.may(feature)]
    found = w.pick(makers)(w, depth - 1)
    return damped(w, found) if found.size <= LARGEST and found.rank <= 3 else total(w, found)


def with_axes(w: WholeWriter, depth: int) -> Term:
    """A real term with at least one axis, and at least one element."""
    t = term(w, depth)
    if t.rank and t.size:
        return t
    known = [t for t in w.of() if t.rank and t.size]
    return wide(w.pick(known)) if known and w.flip() else literal(w, (w.number(1, 3),))


def partner(w: WholeWriter, t: Term, depth: int) -> Term:
    """A term that broadcasts with t: of its shape, a number, or with axes of t missing or of size 1; t itself with luck."""
    choice = w.number(0, 4)
    if choice == 0:
        return number(w, depth)
    if choice == 1:
        return t
    if choice >= 3 and w.may("broadcasting"):
        known = [wide(k) for k in w.of() if k.shape != t.shape and k.rank and _meets(k.shape, t.shape)]
        if known and w.flip():
            w.mark("broadcasting")
            return w.pick(known)
        if t.rank:
            w.mark("broadcasting")
            drop = w.number(0, t.rank - 1)
            ones = tuple(1 if w.flip() else n for n in t.shape[drop:])
            return like(w, ones, depth)
    return like(w, t.shape, depth)


def _meets(a: Shape, b: Shape) -> bool:
    wide_enough = [(x, y) for x, y in zip(reversed(a), reversed(b), strict=False) if x != y and 1 not in (x, y)]
    return not wide_enough and size_of(broadcast_shapes((a, b), "")) <= LARGEST


def _joined(a: Term, b: Term) -> Shape:
    return broadcast_shapes((a.shape, b.shape), "")


def add(w: WholeWriter, depth: int) -> Term:
    a = term(w, depth)
    b = partner(w, a, depth)
    return Term(f"({a.text} {w.pick('+-')} {b.text})", _joined(a, b), "f64", a.bound + b.bound, max(a.grain, b.grain))


def multiply(w: WholeWriter, depth: int) -> Term:
    a = term(w, depth)
    b = partner(w, a, depth)
    a, b = (b, a) if w.flip() else (a, b)
    return Term(f"({a.text} * {b.text})", _joined(a, b), "f64", a.bound * b.bound, a.grain + b.grain)


def negate(w: WholeWriter, depth: int) -> Term:
    a = term(w, depth)
    return a._replace(text=f"(-{a.text})")


def halve(w: WholeWriter, depth: int) -> Term:
    a = term(w, depth)
    return a._replace(text=f"({a.text} / {w.pick(('2.0', '2', '4.0'))})", grain=a.grain + 2)


def divide(w: WholeWriter, depth: int) -> Term:
    """The divisor is at least 2."""
    w.mark("division")
    a = term(w, depth)
    b = partner(w, a, depth)
    return Term(f"({a.text} / (2.0 + {b.text} * {b.text}))", _joined(a, b), "f64", a.bound)


ELEMENTARY = (
    ("np.sin({})", 1.0),
    ("np.tanh({})", 1.0),
    ("np.exp(np.cos({}))", 2.72),
    ("np.log(3.0 + np.sin({}))", 1.39),
    ("np.sqrt(2.0 + np.cos({}))", 1.74),
    ("np.arctan({})", 1.58),
    ("np.expm1(-np.cos({}))", 1.72),
    ("np.logaddexp(0.0, {})", 9.0),
    ("np.hypot({}, 1.5)", 10.0),
    ("np.arctan2({}, 2.5)", 1.6),
)


def elementary(w: WholeWriter, depth: int) -> Term:
    w.mark("elementary")
    form, bound = w.pick(ELEMENTARY)
    a = term(w, depth)
    return a._replace(text=form.format(a.text), bound=bound)


def power(w: WholeWriter, depth: int) -> Term:
    """To a known whole number, or element by element to several: whose gradient takes logarithms, and is not rational."""
    w.mark("powers")
    a = damped(w, term(w, depth), 2.0)
    if a.rank and a.size and not (w.exact and w.smooth) and w.flip():
        n = a.shape[-1]
        exponents = ", ".join(str(k % 3 + 1) for k in range(n))
        return a._replace(text=f"({a.text} ** np.array([{exponents}]))", bound=8.0, grain=3 * a.grain)
    n = w.pick((2, 3, 1, 0))
    return a._replace(text=f"({a.text} ** {n})", bound=max(1.0, a.bound) ** n, grain=max(1, n) * a.grain)


def kinked(w: WholeWriter, depth: int) -> Term:
    w.mark("kinks")
    a = term(w, depth)
    form = w.pick(("np.abs({0})", "np.maximum({0}, {1})", "np.minimum({0}, {1})", "np.clip({0}, -1.0, 1.5)", "abs({0})"))
    b = partner(w, a, depth) if "{1}" in form else a
    return Term(form.format(a.text, b.text), _joined(a, b), "f64", max(a.bound, b.bound, 1.5), max(a.grain, b.grain))


def condition(w: WholeWriter, shape: Shape, depth: int) -> Term:
    """A boolean array, or condition for no axes, that broadcasts to a shape. In smooth programs only integers are compared."""
    if w.smooth or w.number(0, 3) == 0:
        whole = literal(w, shape, integers=True)
        return Term(f"({whole.text} {w.pick(('>', '<=', '=='))} 1)", shape, "bool", 1.0, 0)
    a = like(w, shape, depth)
    text = f"({a.text} {w.pick(('>', '<=', '<', '>='))} {literal(w, ()).text})"
    if shape and w.number(0, 3) == 0:
        other = like(w, shape, 0)
        text = w.pick(("({0} & ({1} > 0.0))", "({0} | ({1} < 0.5))", "(~{0})")).format(text, other.text)
    return Term(text, shape, "bool", 1.0, 0)


def where(w: WholeWriter, depth: int) -> Term:
    """A choice element by element, or a mask that multiplies."""
    w.mark("where")
    a = term(w, depth)
    c = condition(w, a.shape, depth)
    if w.smooth or not a.rank or w.number(0, 2) > 0:
        b = partner(w, a, depth)
        if c.shape == ():
            return Term(
                f"np.where({c.text}, {a.text}, {b.text})", _joined(a, b), "f64", max(a.bound, b.bound), max(a.grain, b.grain)
            )
        return Term(
            f"np.where({c.text}, {a.text}, {b.text})",
            broadcast_shapes((c.shape, a.shape, b.shape), ""),
            "f64",
            max(a.bound, b.bound),
            max(a.grain, b.grain),
        )
    form = w.pick(("({1} * {0})", "(({0} * 1) * {1})", "((({0} * 1) + ({0} * 1)) * {1})", "np.where({0}, 1, 0) * {1}"))
    return a._replace(text=f"({form.format(c.text, a.text)})", bound=2 * a.bound)


def axes_of(w: WholeWriter, t: Term) -> tuple[str, Shape, Shape]:
    """How an axis is written, what is left without it, and with it kept."""
    pool: list[tuple[str, tuple[int, ...]]] = [("", tuple(range(t.rank)))]
    pool += [(f"axis={k - t.rank if w.flip() else k}", (k,)) for k in range(t.rank)]
    pool += [("axis=(0, 1)", (0, 1)), ("axis=(-1, 0)", (0, t.rank - 1))] if t.rank >= 2 else []
    text, axes = w.pick(pool)
    return (
        text,
        tuple(n for k, n in enumerate(t.shape) if k not in axes),
        tuple(1 if k in axes else n for k, n in enumerate(t.shape)),
    )


def reduce(w: WholeWriter, depth: int) -> Term:
    """sum, prod, mean, max, min over one axis, several or all; as a function or as a method; with or without keepdims."""
    w.mark("reductions")
    t = with_axes(w, depth)
    text, left, kept = axes_of(w, t)
    shape = left
    arguments = [text] if text else []
    if w.flip():
        arguments.append("keepdims=True")
        shape = kept
    count = t.size // max(size_of(shape), 1)
    names = ["sum", "prod", "mean", *(() if w.smooth or not w.may("kinks") else ("max", "min")), *(() if w.exact else ("var",))]
    name = w.pick([n for n in names if n != "mean" or not w.exact or count in (1, 2, 4, 8)])
    if name == "prod":
        t = damped(w, t, 2.0)
        count = min(count, 4) if w.exact else count
    bound = {"sum": t.bound * count, "prod": max(1.0, t.bound) ** count, "var": 4 * t.bound * t.bound}.get(name, t.bound)
    grain = {"prod": t.grain * (t.size // max(size_of(shape), 1)), "mean": t.grain + 3}.get(name, t.grain)
    if name in ("sum", "mean", "max", "min", "prod") and w.flip():
        return Term(f"{t.text}.{name}({', '.join(arguments)})", shape, "f64", bound, grain)
    return Term(f"np.{name}({', '.join([t.text, *arguments])})", shape, "f64", bound, grain)


def accumulate(w: WholeWriter, depth: int) -> Term:
    """cumsum or cumprod along an axis."""
    w.mark("reductions")
    t = with_axes(w, depth)
    name, axis = w.pick(("cumsum", "cumprod")), w.number(-t.rank, t.rank - 1)
    count = t.shape[axis]
    if name == "cumprod":
        t = damped(w, t, 2.0)
        return t._replace(text=f"np.cumprod({t.text}, axis={axis})", bound=max(1.0, t.bound) ** count, grain=t.grain * count)
    return t._replace(text=f"np.cumsum({t.text}, axis={axis})", bound=t.bound * count)


def smooth_norm(w: WholeWriter, depth: int) -> Term:
    """The Euclidean norm of something that is not zero, or a softmax."""
    w.mark("elementary")
    w.mark("reductions")
    t = with_axes(w, depth)
    if w.flip():
        return Term(f"np.linalg.norm({t.text} * {t.text} + 1.0)", (), "f64", 9 * 8.0 * t.size)
    return t._replace(text=f"(np.exp({t.text}) / np.sum(np.exp({t.text}), axis=-1, keepdims=True))", bound=1.0)


def product(w: WholeWriter, depth: int) -> Term:
    """matmul in all its ranks, dot, outer, tensordot and einsum."""
    w.mark("products")
    a = with_axes(w, depth)
    n = a.shape[-1]
    known = [wide(b) for b in w.of() if (b.rank == 1 and b.shape == (n,)) or (b.rank >= 2 and b.shape[-2] == n)]
    fitting = [b for b in known if b.rank <= 2 or a.rank <= 2]
    if fitting and w.flip():
        b = w.pick(fitting)
    else:
        b = like(w, (n,) if w.flip() else (n, w.number(1, 3)), depth)
    bound, grain = a.bound * b.bound * n, a.grain + b.grain
    if a.rank >= 2 and b.rank >= 2:
        shape: Shape = (*(a.shape[:-2] if a.rank > 2 else b.shape[:-2]), a.shape[-2], b.shape[-1])
    else:
        shape = (*a.shape[:-1], *b.shape[:-2], *b.shape[-1:]) if b.rank > 1 else a.shape[:-1]
    forms = ["({0} @ {1})", "np.matmul({0}, {1})"]
    if a.rank <= 2 and b.rank <= 2:
        forms.append("np.dot({0}, {1})")
        forms.append("np.tensordot({0}, {1}, axes=1)")
    if (a.rank, b.rank) == (2, 2):
        forms.append('np.einsum("ij,jk->ik", {0}, {1})')
    if (a.rank, b.rank) == (2, 1):
        forms.append('np.einsum("ij,j->i", {0}, {1})')
    if (a.rank, b.rank) == (1, 1) and w.flip():
        return Term(f"np.outer({a.text}, {b.text})", (n, n), "f64", a.bound * b.bound, grain)
    return Term(w.pick(forms).format(a.text, b.text), shape, "f64", bound, grain)


def created(w: WholeWriter, depth: int) -> Term:
    """An array made of numbers, some of them computed."""
    w.mark("creation")
    t = atom(w)
    form = w.pick(("array", "full", "zeros_like", "ones_like", "arange", "eye", "linspace", "rows"))
    if form in ("zeros_like", "ones_like") and t.rank:
        return t._replace(text=f"np.{form}({t.text})", bound=1.0, grain=0)
    n = w.number(1, 3)
    if form == "arange":
        return Term(f"(np.arange({n}) * 0.5)", (n,), "f64", 1.0, 1)
    if form == "eye":
        return Term(f"np.eye({n})", (n, n), "f64", 1.0, 0)
    if form == "linspace" and not w.exact:
        return Term(f"np.linspace(0.0, 1.0, {n})", (n,), "f64", 1.0)
    if form == "full":
        a = number(w, depth)
        return Term(f"np.full(({n}, 2), {a.text})", (n, 2), "f64", a.bound, a.grain)
    rows = [number(w, depth) for _ in range(n)]
    bound, grain = max(r.bound for r in rows), max(r.grain for r in rows)
    if form == "rows":
        return Term(f"np.array([{', '.join(f'[{r.text}, 1.0]' for r in rows)}])", (n, 2), "f64", max(bound, 1.0), grain)
    return Term(f"np.array([{', '.join(r.text for r in rows)}])", (n,), "f64", bound, grain)


def whole(w: WholeWriter, depth: int) -> Term:
    """An array of integers, computed as integers and then met by reals."""
    w.mark("integers")
    a = atom(w)
    shape = a.shape if a.rank else (w.number(1, 3),)
    k = literal(w, shape, integers=True)
    form = w.pick(("{0} * 1", "{0} // 2", "{0} % 3", "-{0}", "{0} + {0}", "{0} * {0}", "np.abs(-{0})", "{0} * -1", "{0} * 1.0"))
    return Term(f"(({form.format(k.text)}) * {a.text})", shape, "f64", 9 * a.bound, a.grain)


def single(w: WholeWriter, depth: int) -> Term:
    """Arithmetic in f32, on values that it has exactly."""
    w.mark("single")
    t = with_axes(w, 0)
    if t.grain > 6 or t.bound > LIMIT_OF_SINGLE:
        return t
    form = w.pick(("({0} * 0.5 + {0})", "({0} * {0})", "np.sum({0}, axis=-1, keepdims=True) * {0}", "(-{0})"))
    text = form.format(f"{t.text}.astype(np.float32)")
    return t._replace(text=f"({text}).astype(np.float64)", bound=t.bound * t.bound * t.size + 2 * t.bound, grain=2 * t.grain)


LIMIT_OF_SINGLE = 8.0

MAKERS: Sequence[tuple[Maker, str]] = (
    (add, ""),
    (multiply, ""),
    (multiply, ""),
    (negate, ""),
    (halve, ""),
    (divide, "division"),
    (elementary, "elementary"),
    (smooth_norm, "elementary"),
    (power, "powers"),
    (kinked, "kinks"),
    (where, "where"),
    (reduce, "reductions"),
    (reduce, "reductions"),
    (accumulate, "reductions"),
    (product, "products"),
    (created, "creation"),
    (whole, "integers"),
    (single, "single"),
    *((lambda w, depth, move=move: move(w, term(w, depth)), feature) for move, feature in (*MOVES, *INDEXING)),
)
