"""Generated statements over data: records, lists and comprehensions, dictionaries, lists that grow, assertions that hold."""

from __future__ import annotations

from collections.abc import Callable

from checkers.generators.arrays import term
from checkers.generators.terms import ARGUMENT, Term, WholeWriter, damped, number, total

FIELDS = ("first", "second", "third")
RECORD_METHODS = """
    def inner(self, other):
        return np.sum(self.first) * np.sum(other.second) + np.sum(self.second)

    @property
    def weight(self):
        return np.sum(self.first * 0.5)"""


def kept(w: WholeWriter, parts: list[Term], texts: list[str]) -> None:
    """The parts of a structure, usable by how they are read out of it."""
    for part, text in zip(parts, texts, strict=True):
        w.keep(part._replace(text=text))


def declare_record(w: WholeWriter, count: int) -> str:
    """Writes a class of so many fields, a NamedTuple or a frozen dataclass, with methods if it has two fields at least."""
    name = f"R{len(w.classes) + 1}"
    head = f"class {name}(NamedTuple):" if w.flip() else f"@dataclass(frozen=True)\nclass {name}:"
    fields = "".join(f"\n    {f}: object" for f in FIELDS[:count])
    w.classes.append(head + fields + (RECORD_METHODS if count >= 2 else "") + "\n")
    return name


def record(w: WholeWriter) -> None:
    """A record of terms; its fields by name, its methods, and a copy with another field."""
    w.mark("records")
    parts = [term(w, 2) for _ in range(w.number(1, 3))]
    cls = declare_record(w, len(parts))
    name = w.fresh("p")
    by_name = ", ".join(f"{f}={p.text}" for f, p in reversed(list(zip(FIELDS, parts, strict=False))))
    w.line(f"{name} = {cls}({by_name if w.flip() else ', '.join(p.text for p in parts)})")
    use_record(w, name, cls, parts)


def use_record(w: WholeWriter, name: str, cls: str, parts: list[Term]) -> None:
    """What can be read out of a record, and what can be made of it."""
    kept(w, parts, [f"{name}.{f}" for f in FIELDS[: len(parts)]])
    choice = w.number(0, 3)
    if choice == 1 and len(parts) >= 2:
        other = f"{cls}({', '.join(p.text for p in parts)})"
        left, right = parts[0].bound * max(parts[0].size, 1), parts[1].bound * max(parts[1].size, 1)
        bound, grain = left * right + right, parts[0].grain + parts[1].grain
        w.name(damped(w, Term(f"{name}.inner({other})", (), "f64", bound, grain)))
        w.name(damped(w, Term(f"{name}.weight", (), "f64", max(left, 1.0), parts[0].grain + 1)))
    if choice == 2:
        new = term(w, 2)
        copy = w.fresh("p")
        is_tuple = any(c.startswith(f"class {cls}(NamedTuple)") for c in w.classes)
        w.line(f"{copy} = {f'{name}._replace(' if is_tuple else f'replace({name}, '}{FIELDS[0]}={new.text})")
        kept(w, [new, *parts[1:]], [f"{copy}.{f}" for f in FIELDS[: len(parts)]])
    if choice == 3 and len(parts) >= 2:
        function, p = w.fresh("f"), w.fresh("q")
        w.line(f"def {function}({p}):")
        w.line(f"    return np.sum({p}.{FIELDS[1]} * 2.0)")
        w.name(damped(w, parts[1]._replace(text=f"{function}({name})", shape=(), bound=2 * parts[1].bound * max(parts[1].size, 1))))


def numbers(w: WholeWriter) -> list[Term]:
    """Two or three small numbers."""
    return [damped(w, number(w, 2), ARGUMENT) for _ in range(w.number(2, 3))]


def numbers_in_list(w: WholeWriter) -> None:
    """A list of numbers, read by index and by comprehensions."""
    w.mark("lists")
    parts = numbers(w)
    name = w.fresh("xs")
    w.line(f"{name} = {w.pick(('[{}]', '({},)')).format(', '.join(p.text for p in parts))}")
    kept(w, parts, [f"{name}[{k if w.flip() else k - len(parts)}]" for k in range(len(parts))])
    bound, grain, n = max(p.bound for p in parts), max(p.grain for p in parts), len(parts)
    forms: list[tuple[str, float, int]] = [
        ("sum({0})", n * bound, grain),
        ("sum([u * u for u in {0}])", n * bound**2, 2 * grain),
        ("sum([u * v for u, v in zip({0}, {0}[::-1])])", n * bound**2, 2 * grain),
        ("sum([k * u for k, u in enumerate({0})])", n * n * bound, grain),
        ("sum([u - v for u in {0} for v in {0}[1:]])", 2 * n * n * bound, grain),
        ("np.sum(np.array([u * 2.0 for u in {0}]))", 2 * n * bound, grain),
        ("[u * v for v in {0} for u in reversed({0})][1]", bound**2, 2 * grain),
        ("sum(map(lambda u: u * 0.5, {0}))", n * bound, grain + 1),
    ]
    if not w.smooth:
        forms += [("max({0})", bound, grain), ("sum([u for u in {0} if u > 0.5])", n * bound, grain)]
        forms.append(("(1.0 if any(u > 1.0 for u in {0}) else 0.5)", 1.0, 1))
    text, bound, grain = w.pick(forms)
    w.name(damped(w, Term(text.format(name), (), "f64", max(bound, 1.0), grain)))


def arrays_in_list(w: WholeWriter) -> None:
    """A list of arrays of different shapes, gone over by a comprehension or a loop."""
    w.mark("lists")
    parts = [term(w, 2) for _ in range(w.number(1, 3))]
    name = w.fresh("xs")
    w.line(f"{name} = [{', '.join(p.text for p in parts)}]")
    kept(w, parts, [f"{name}[{k}]" for k in range(len(parts))])
    bound = sum(max(p.size, 1) * p.bound**2 for p in parts)
    text = w.pick(("sum([np.sum(u * u) for u in {0}])", "sum(np.sum(u * u) for u in reversed({0}))"))
    w.name(damped(w, Term(text.format(name), (), "f64", max(bound, 1.0), 2 * max(p.grain for p in parts))))


def dictionary(w: WholeWriter) -> None:
    """A dictionary with constant keys, one of which may be given another value."""
    w.mark("dicts")
    parts = [term(w, 2) for _ in range(w.number(1, 2))]
    keys = ["a", "b"][: len(parts)]
    name = w.fresh("d")
    w.line(f"{name} = {{{', '.join(f'{k!r}: {p.text}' for k, p in zip(keys, parts, strict=True))}}}")
    if w.flip():
        parts[-1] = term(w, 1)
        w.line(f'{name}["{keys[-1]}"] = {parts[-1].text}')
        w.moving.add(name)
    kept(w, parts, [f'{name}["{k}"]' for k in keys])
    bound = sum(max(p.size, 1) * p.bound for p in parts)
    text = w.pick(("sum([np.sum(v) for v in {0}.values()])", "sum([np.sum(v) * 2.0 for k, v in {0}.items()])"))
    w.name(damped(w, Term(text.format(name), (), "f64", max(2 * bound, 1.0), max(p.grain for p in parts))))


def grown(w: WholeWriter) -> None:
    """A list that a loop appends to, changed at an index, popped, and read; its cells are memory."""
    w.mark("memory")
    first = damped(w, number(w, 1), 2.0)
    t = damped(w, total(w, term(w, 2)), 2.0)
    name, i = w.fresh("xs"), w.fresh("i")
    w.line(f"{name} = [{first.text}]")
    turns = w.number(1, 3)
    w.line(f"for {i} in range({turns}):")
    w.line(f"    {name}.append({w.pick(('{0}[-1] * 0.5 + {1}', '{0}[{2}] - {1}', '{1} * {2}')).format(name, t.text, i)})")
    bound, grain = 2.0 + 2.0 * turns * 2, max(first.grain, t.grain) + turns
    if w.flip():
        w.line(f"{name}[0] {w.pick(('=', '+=', '*='))} {t.text}")
        bound, grain = 2 * bound, grain + t.grain
    if w.flip():
        w.name(damped(w, Term(f"{name}.pop()", (), "f64", bound, grain)))
    w.moving.add(name)
    w.name(damped(w, Term(f"sum({name})", (), "f64", 4 * bound, grain)))


def assertion(w: WholeWriter) -> None:
    """An assertion that holds, of a shape or of a size."""
    w.mark("assertions")
    t = term(w, 1)
    if t.rank and w.flip():
        w.line(f'assert len({t.text}) == {t.shape[0]}, "the rows"')
    else:
        w.line(f'assert np.sum({t.text} * {t.text}) + 1.0 > 0.0, "a sum of squares"')


DATA_STATEMENTS: tuple[tuple[Callable[[WholeWriter], None], str], ...] = (
    (record, "records"),
    (numbers_in_list, "lists"),
    (arrays_in_list, "lists"),
    (dictionary, "dicts"),
    (grown, "memory"),
    (assertion, "assertions"),
)
