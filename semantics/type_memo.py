"""
Types with parts, and what has been found out of them once.

    Composite      a type that has parts: its hash is computed when it is made, and equality asks that first
    remembering()  inside, a type of the same parts is the same object, and functions of types that are made with `once` and
                   `joining` remember what they gave
    ordinal(t)     by what the members of a union are ordered: their text; of a long text the beginning, and a digest

Types of closures over tuples over closures share most of their parts, and written out they are exponentially long. Whoever goes
through one must go through each part once. What is remembered is found by identity, not by equality: of equal records the Python
classes may differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any
from zlib import crc32

LONG = 400  # characters of the text of a type
Spelling = Callable[[Any], str]
_FOUND: ContextVar[dict[Any, Any] | None] = ContextVar("what is remembered of types", default=None)


class Shared(type):
    """The class of classes whose instances are made once while types are remembered."""

    __match_args__: tuple[str, ...]

    def __call__(cls, *given: Any, **named: Any) -> Any:
        made = super().__call__(*given, **named)
        if (known := _FOUND.get()) is None:
            return made
        parts = (getattr(made, name) for name in cls.__match_args__)
        key = cls, *(tuple(map(_identity, part)) if type(part) is tuple else _identity(part) for part in parts)
        return known.setdefault(key, made)  # whose parts live on in it, so that no others have their identities


def _identity(part: Any) -> Any:
    """What stands for a part: a type without parts for itself, as numbers and texts do."""
    if isinstance(part, Plain):
        return part.standing()
    return part if part is None or isinstance(part, int | str) else id(part)


class Plain:
    """A type without parts."""

    __slots__ = ()

    def standing(self) -> Any:
        """What stands for it among the parts of another: all equal ones are one."""
        return self


class Composite(metaclass=Shared):
    """A type of which each part is a type. Subclasses are frozen dataclasses that leave `==` and the hash to this."""

    __slots__ = ("hashed",)
    __match_args__: tuple[str, ...]
    hashed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "hashed", hash((type(self), *(getattr(self, name) for name in self.__match_args__))))

    def __hash__(self) -> int:
        return self.hashed

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or self.hashed != other.hashed:
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    def spelled(self, part: Spelling) -> str:
        """The text, with what `part` says of each part."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.spelled(str)

    def __reduce__(self) -> tuple[Any, ...]:
        """Made anew elsewhere, where texts have other hashes."""
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)


@contextmanager
def remembering() -> Iterator[None]:
    """What is remembered, for each thread by itself, is forgotten at the end, where one such is not in another."""
    if _FOUND.get() is not None:
        yield
        return
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def once(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of a type that is asked once of each while that is remembered."""

    @wraps(function)
    def asked(t: Any) -> Any:
        known = _FOUND.get()
        if known is None or not isinstance(t, Composite):
            return function(t)
        if (found := known.get(key := (function, id(t)))) is None:
            found = known[key] = t, function(t)  # the type lives on, so that no other has its identity
        return found[1]

    return asked


def joining(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same of two types and a number."""

    @wraps(function)
    def asked(a: Any, b: Any, *more: Any) -> Any:
        known = _FOUND.get()
        if known is None or a is b or not (isinstance(a, Composite) and isinstance(b, Composite)):
            return function(a, b, *more)
        if (found := known.get(key := (function, id(a), id(b), more))) is None:
            found = known[key] = a, b, function(a, b, *more)
        return found[2]

    return asked


@once
def ordinal(t: Any) -> str:
    """By what types are ordered."""
    text = t.spelled(ordinal) if isinstance(t, Composite) else str(t)
    return text if len(text) <= LONG else f"{text[:LONG]}…{crc32(text.encode()):08x}"
