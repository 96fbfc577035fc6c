"""
HTML and SVG by construction: an element escapes every child that is not an element itself, so that no name, source or message of
a user's can become markup.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TypeAlias

VOID = frozenset({"br", "meta", "link", "hr", "col"})


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"


def element(name: str, /, *children: Child, **attributes: object) -> Markup:
    """
    <name attribute="…">children</name>

    `class_` is class, `stroke_width` is stroke-width; an attribute that is None or False is left out, True stands alone.
    """
    written = "".join(_attribute(k, v) for k, v in attributes.items() if v is not None and v is not False)
    if name in VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{markup(children)}</{name}>")


def markup(child: Child) -> Markup:
    """Children as markup: text is escaped, None is nothing."""
    if child is None:
        return Markup("")
    if isinstance(child, Markup):
        return child
    if isinstance(child, str):
        return Markup(html.escape(child))
    return Markup("".join(map(markup, child)))


def _attribute(name: str, value: object) -> str:
    name = name.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'
