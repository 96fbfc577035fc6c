"""
Records, lists and dictionaries: tuples with a label. And the values that index arrays and sequences.

    Record(label, items)         a NamedTuple or frozen dataclass, a list, or a dictionary with constant keys
    Slice(start, stop, step)     what stands between the brackets of `t[a:b:c]`; None where nothing stands
    ELLIPSIS                     the `...` of an index

The label of a class holds the names of its fields; a list has no fields and any number of items. The sensitivity of a record is
that of the tuple of its items, and gets the label back at the boundary (`instantiate`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Label:
    """
    What a record is.

    kind    "namedtuple", "dataclass", "list" or "dict"
    name    the name of the class, for messages and for telling classes apart; "" for lists and dictionaries
    fields  the names of the fields, or the keys; () for a list
    python  the Python class, to give back at the boundary; None where only its text was read
    """

    kind: str
    name: str = ""
    fields: tuple[str, ...] = ()
    python: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.name or self.kind

    def index(self, name: str) -> int | None:
        """The place of a field, None if there is none of that name."""
        return self.fields.index(name) if name in self.fields else None


LIST = Label("list")


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A labelled tuple. Compared by `semantics.values.same`."""

    label: Label
    items: tuple[Any, ...]

    def __repr__(self) -> str:
        match self.label.kind:
            case "list":
                return f"[{', '.join(map(repr, self.items))}]"
            case "dict":
                return "{" + ", ".join(f"{k!r}: {v!r}" for k, v in zip(self.label.fields, self.items, strict=True)) + "}"
            case _:
                inside = ", ".join(f"{k}={v!r}" for k, v in zip(self.label.fields, self.items, strict=True))
                return f"{self.label.name}({inside})"


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice; each part an integer or None."""

    start: Any = None
    stop: Any = None
    step: Any = None

    def indices(self, size: int) -> range:
        """The places that it selects from `size` of them."""
        return range(*slice(self.start, self.stop, self.step).indices(size))


class Ellipsis_:
    """The `...` of an index. There is one, `ELLIPSIS`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "..."

    def __reduce__(self) -> str:
        return "ELLIPSIS"


ELLIPSIS = Ellipsis_()
