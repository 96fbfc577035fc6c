"""
The errors of a batch, by the number of the sample: a mapping that explains an error when somebody asks for it.

Of a sample that failed, generated code knows a status alone. Where it failed, and in which words, a run of that sample on the
machine tells; so many runs would take longer than the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from semantics.errors import AdjudgeError

SHOWN = 8  # errors that the text of a mapping has


class Failures(Mapping[int, AdjudgeError]):
    """
    The errors of the samples, in their order. `explain(k, error)` gives that of sample k in full, and is asked once.

    A copy by pickle has all errors in full, and is a dictionary, as `dict(failures)` is.
    """

    def __init__(self, found: Mapping[int, AdjudgeError], explain: Callable[[int, AdjudgeError], AdjudgeError]) -> None:
        self._found, self._explain = found, explain
        self._told: dict[int, AdjudgeError] = {}

    def __getitem__(self, number: int) -> AdjudgeError:
        if number not in self._told:
            self._told[number] = self._explain(number, self._found[number])
        return self._told[number]

    def __contains__(self, number: object) -> bool:
        return number in self._found

    def __iter__(self) -> Iterator[int]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}: {self[k]!r}" for k in islice(self, SHOWN))
        return f"{{{shown}}}" if len(self) <= SHOWN else f"{{{shown}, … of {len(self)}}}"

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
