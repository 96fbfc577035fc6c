"""
Whose an object is: recognised by the modules of its type and its own, so that no framework is imported for what is not its own.

    recognised(x)                   "jax", "torch", "autograd", or "" for what is none of theirs
    is_rule(x), home(x)             whether it is a backpropagator that somebody wrote, and in which module
    of_framework(f, "torch")        a plain function, marked as one of a framework
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from semantics.errors import IllTyped, Malformed

FRAMEWORKS = ("jax", "torch", "autograd")
PACKAGES = {"jax": "jax", "jaxlib": "jax", "torch": "torch", "autograd": "autograd"}
RULES = frozenset({"custom_vjp", "custom_jvp"})


@dataclass(frozen=True, slots=True)
class Marked:
    """A function that is to be taken for one of a framework."""

    function: Callable[..., Any]
    framework: str

    @property
    def __name__(self) -> str:
        return getattr(self.function, "__name__", "function")


def of_framework(function: Callable[..., Any], framework: str) -> Marked:
    """A plain function that a framework is to differentiate, for `check`. Malformed for a framework that we do not know."""
    if framework not in FRAMEWORKS:
        raise Malformed(f"{framework!r} is no framework with an adapter", rule="check", remedy=f"one of {', '.join(FRAMEWORKS)}")
    if not callable(function):
        raise IllTyped(f"{function!r} is no function", rule="check", remedy="a function of arrays")
    return Marked(function, framework)


def recognised(x: Any) -> str:
    """The framework that an object belongs to, by the modules of its type and its own; "" if to none. Imports nothing."""
    if isinstance(x, Marked):
        return x.framework
    while isinstance(x, functools.partial):
        x = x.func
    if not callable(x):
        return ""
    classes = (*type(x).__mro__, *(x.__mro__ if isinstance(x, type) else ()))
    modules = [getattr(c, "__module__", "") for c in classes] + [getattr(x, "__module__", "")]
    for module in modules:
        package = PACKAGES.get(module.partition(".")[0]) if isinstance(module, str) else None
        if package:
            return package
    return ""


def is_rule(x: Any) -> bool:
    """Whether an object is a backpropagator that somebody wrote: a custom function of JAX, a Function, a primitive of autograd."""
    framework = recognised(x)
    if framework == "jax":
        return type(x).__name__ in RULES
    if framework == "torch":
        return isinstance(x, type) and any((c.__module__, c.__name__) == ("torch.autograd.function", "Function") for c in x.__mro__)
    return framework == "autograd" and getattr(x, "_is_autograd_primitive", False) is True


def home(x: Any) -> str:
    """The module that wrote a rule: of a primitive of autograd, that of the function under it."""
    return str(getattr(getattr(x, "fun", x), "__module__", ""))
