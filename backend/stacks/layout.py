"""
Where the cells of stacks lie in memory, decided when all code is there: a scalar that nothing reads has none, and is not written.

    ⟦site:cell:scalar⟧    where a scalar of a cell is          ⟦site⟧     of how many cells there is room
    ⟦site?⟧               the status that says it is full      ⟦site!⟧    the end of the memory, if its cells have arrays there
    ⟦heap⟧                where arrays begin                   ⟦rooms⟧    before this line a function mentions none of these

Stacks lie one after the other. `capacity` has, for each, of how many cells there is room and where that ends, and a function reads
what it mentions when it begins. The scalars of a cell lie side by side; where they are few and no arrays, each lies beside that of
the next cell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from backend.lowering.emit import without
from backend.stacks.arrays import VIEW
from backend.stacks.sizes import sizes_alone
from backend.status import FULL, full_of

ROOMS = "⟦rooms⟧"
APART = 4
"""
So many numbers of a cell at most lie apart, each beside that of the next cell: turns that push may so be vectorised. More would be
in each other's way in the lines of a cache.
"""

_PLACE = re.compile(r"⟦(\d+):([^:⟧]+):(\w+)⟧")
_SAID = re.compile(r"⟦(\w+[!?]?)⟧")
_ROOM = re.compile(r"\b(room|end)(\d+)\b")
_LOAD = re.compile(r"\s*(\w+) = .*⟦")


@dataclass(frozen=True)
class Layout:
    """
    The places in memory.

    order    for each site whose cells have scalars, in the order in which the sites lie: which scalar is where in a cell
    spread   the sites of which each scalar lies beside that of the next cell
    none     the sites whose cells have no scalar                          arrays   those whose cells have arrays that are read
    """

    order: dict[str, dict[str, int]]
    spread: frozenset[str]
    none: frozenset[str]
    arrays: frozenset[str]

    def decided(self, text: str) -> str:
        """A function with every place in it decided, and without lines that write what has none."""
        number = {site: k for k, site in enumerate(self.order)}
        said = {"heap": f"end{len(number) - 1}" if number else "0"}
        for site in self.none:
            said |= {site: "_MAX", f"{site}!": "_MAX", f"{site}?": str(FULL)}
        for site, k in number.items():
            said |= {site: f"room{k}", f"{site}!": "reals.size" if site in self.arrays else "_MAX", f"{site}?": str(full_of(k))}

        def place(found: re.Match[str]) -> str:
            site, cell, scalar = found.groups()
            k, count, at = number[site], len(self.order[site]), self.order[site][scalar]
            if site in self.spread:
                inside = f"{at} * room{k} + {cell}" if at else cell
            else:
                inside = (f"{count} * ({cell})" if count > 1 else cell) + (f" + {at}" if at else "")
            return f"end{k - 1} + {inside}" if k else inside

        def line(text: str) -> str:
            return text if text.strip() == ROOMS else _SAID.sub(lambda found: said[found[1]], _PLACE.sub(place, text))

        return _with_rooms([line(text) for text in without(text, self._has_no_place).split("\n")])

    def _has_no_place(self, line: str) -> bool:
        found = _PLACE.search(line)
        return found is not None and found[3] not in self.order.get(found[1], {})


def _with_rooms(lines: list[str]) -> str:
    """A function that reads what it mentions of `capacity` when it begins."""
    asked = sorted({(int(k), which == "end", which) for text in lines for which, k in _ROOM.findall(text)})
    given = [f"    {which}{k} = capacity[{2 * k + is_end}]" for k, is_end, which in asked]
    return "\n".join(new for text in lines for new in (given if text.strip() == ROOMS else [text]))


def laid_out(functions: list[str], sites: Iterable[Any]) -> tuple[list[str], tuple[int, ...]]:
    """The functions with every place in memory decided, and how many scalars a cell takes, of each site whose cells have some."""
    functions = [_without_views(sizes_alone(text)) for text in functions]
    live: dict[str, list[str]] = {str(site): [] for site in sites}
    for site, scalar in sorted(_live(functions)):
        live[site].append(scalar)
    arrays = {found[1] for text in functions for line in text.split("\n") if VIEW.match(line) for found in _PLACE.finditer(line)}
    order = {site: {scalar: k for k, scalar in enumerate(scalars)} for site, scalars in live.items() if scalars}
    spread = frozenset(site for site, scalars in order.items() if len(scalars) <= APART and site not in arrays)
    layout = Layout(order, spread, frozenset(live) - frozenset(order), frozenset(arrays))
    return [layout.decided(text) for text in functions], tuple(map(len, order.values()))


def _live(functions: list[str]) -> set[tuple[str, str]]:
    """The scalars of cells that something reads: those loaded into a variable that occurs again."""
    live = set()
    for text in functions:
        words = _occurrences(text)
        for line in text.split("\n"):
            if (load := _LOAD.match(line)) and words[load[1]] > 1:
                live |= {(found[1], found[3]) for found in _PLACE.finditer(line)}
    return live


def _without_views(text: str) -> str:
    """The text without views of arrays that it does not read."""
    words = _occurrences(text)
    return without(text, lambda line: (view := VIEW.match(line)) is not None and words[view[1]] == 1)


def _occurrences(text: str) -> Counter[str]:
    """How often each word is in a text."""
    return Counter(re.findall(r"\w+", text))
