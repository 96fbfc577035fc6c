"""What Python and its library note on a class, beside what its author has written, changes nothing of it."""

from __future__ import annotations

import abc
import copy
import inspect
import pickle
import typing
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest

import adjudge as aj
from transforms.parse.classes import live_class
from transforms.parse.names import Refused


@dataclass(frozen=True)
class Plain:
    w: float

    def doubled(self) -> float:
        return 2.0 * self.w


@dataclass(frozen=True, slots=True)
class Slotted:
    w: float

    def doubled(self) -> float:
        return 2.0 * self.w


class Named(NamedTuple):
    w: float

    def doubled(self) -> float:
        return 2.0 * self.w


@typing.final
@dataclass
class Last:
    w: float

    def doubled(self) -> float:
        return 2.0 * self.w


@dataclass
class Registered(metaclass=abc.ABCMeta):
    w: float

    def doubled(self) -> float:
        return 2.0 * self.w


@dataclass
class Abstract(metaclass=abc.ABCMeta):
    w: float

    @abc.abstractmethod
    def doubled(self) -> float: ...


@dataclass(frozen=True)
class Printed:
    w: float

    def __format__(self, how: str) -> str:
        return "a record"


def square_of_double(p: Any) -> Any:
    return p.doubled() ** 2


@pytest.mark.parametrize("cls", [Plain, Slotted, Named, Last, Registered])
def test_a_class_is_what_it_was_after_its_records_are_copied_stored_and_looked_at(cls: Any) -> None:
    p = cls(3.0)
    assert pickle.loads(pickle.dumps(copy.copy(copy.deepcopy(p)))) == p
    assert typing.get_type_hints(cls) == {"w": float}
    inspect.getmembers(cls)
    assert cls is Slotted or "__slotnames__" in vars(cls)
    assert aj.grad(square_of_double)(p) == cls(24.0)


@pytest.mark.parametrize(("cls", "name"), [(Abstract, "__abstractmethods__"), (Printed, "__format__")])
def test_near_miss_what_the_author_has_written_is_refused_as_ever(cls: Any, name: str) -> None:
    found = live_class(cls)
    assert isinstance(found, Refused)
    assert f"defines {name}" in found.what
