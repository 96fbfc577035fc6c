"""
Rules of autograd as functions of NumPy: an `autograd.extend.primitive` with its `defvjp`, or any function of `autograd.numpy`.

The forward function of a primitive is the function of NumPy that was decorated, so its derivative can be known in balls, on arrays
of objects. The rule is asked for one argument at a time, since autograd adds cotangents without a look at their shapes.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from adjudge.adapters.foreign import Foreign, answers, name_of, parameters_of
from checkers.array_audit.case import Arguments, Path, leaves, replaced
from semantics.errors import Malformed


def with_autograd() -> Any:
    """autograd, if it is installed."""
    try:
        import autograd
    except ImportError:
        raise Malformed("autograd is not installed", rule="autograd", remedy="pip install 'adjudge[autograd]'") from None
    return autograd


def foreign(x: Any, fixed: frozenset[int] = frozenset()) -> Foreign:
    """The rule of autograd that a function is."""
    with_autograd()
    plain = x.fun if getattr(x, "_is_autograd_primitive", False) else x
    return Foreign(
        name_of(plain, "function"),
        "autograd",
        lambda *xs: plainly(plain(*xs)),
        lambda xs, y, dy: pulled(x, xs, dy, fixed, 1)[0],
        parameters_of(plain),
        fixed,
        rule_value=lambda xs: rule_value(x, xs, fixed),
        twice=lambda xs, dy: pulled(x, xs, dy, fixed, 2),
        second_pull=lambda xs, dy, k: second(x, xs, dy, k, fixed),
        plain=plain,
    )


def plainly(value: Any) -> Any:
    """A result with plain tuples in the place of lists and named tuples."""
    return tuple(map(plainly, value)) if isinstance(value, (tuple, list)) else value


def of_leaf(function: Callable[..., Any], arguments: Arguments, path: Path) -> Callable[[Any], Any]:
    """The function of one leaf, with results that autograd follows."""
    from autograd.builtins import tuple as follow

    def plain(value: Any) -> Any:
        found = function(*replaced(arguments, {path: value}))
        return follow(tuple(found)) if isinstance(found, (tuple, list)) else found

    return plain


def recorded(function: Callable[..., Any], arguments: Arguments, path: Path, leaf: Any) -> tuple[Callable[[Any], Any], Any]:
    """The pullback by one leaf, and the value; quiet where the value does not depend on the leaf, whose cotangent is zero."""
    from autograd.core import make_vjp

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Output seems independent of input")
        back, value = make_vjp(of_leaf(function, arguments, path), leaf)
    return back, plainly(value)


def pulled(function: Callable[..., Any], arguments: Arguments, cotangent: Any, fixed: frozenset[int], times: int) -> Any:
    """What the pullback of one forward pass answers, asked so many times."""
    if not leaves(arguments, fixed):
        return (on_objects(function, arguments, cotangent, fixed),) * times
    backs = [recorded(function, arguments, path, leaf)[0] for path, leaf in leaves(arguments, fixed)]
    if times == 1:
        return (answers(arguments, fixed, [back(cotangent) for back in backs]),)
    return tuple(copy.deepcopy(answers(arguments, fixed, [back(cotangent) for back in backs])) for _ in range(times))


def on_objects(primitive: Callable[..., Any], arguments: Arguments, cotangent: Any, fixed: frozenset[int]) -> Any:
    """
    What the rule of a primitive answers on arrays of objects, such as balls: the rule alone is called, since autograd follows
    arrays of floats only. KeyError for a function that is no primitive.
    """
    from autograd.core import primitive_vjps

    chosen = tuple(i for i in range(len(arguments)) if i not in fixed)
    found = primitive_vjps[primitive](chosen, primitive(*arguments), arguments, {})(cotangent)
    given = dict(zip(chosen, found, strict=True))
    return tuple(given.get(i) for i in range(len(arguments)))


def rule_value(function: Callable[..., Any], arguments: Arguments, fixed: frozenset[int]) -> Any:
    """The value that is computed while autograd records."""
    for path, leaf in leaves(arguments, fixed):
        return recorded(function, arguments, path, leaf)[1]
    return plainly(function(*arguments))


def second(function: Callable[..., Any], arguments: Arguments, cotangent: Any, k: int, fixed: frozenset[int]) -> Any:
    """The derivatives of coordinate k of the pullback, by each argument."""
    from autograd import numpy as anp

    found = leaves(arguments, fixed)
    sizes = np.cumsum([np.size(leaf) for _, leaf in found])
    which = int(np.searchsorted(sizes, k, side="right"))
    inner, index = found[which][0], k - (int(sizes[which - 1]) if which else 0)

    def coordinate(given: Arguments) -> Any:
        leaf = given
        for i in inner:
            leaf = leaf[i]
        return anp.ravel(recorded(function, given, inner, leaf)[0](cotangent))[index]

    backs = [recorded(lambda *xs: coordinate(xs), arguments, path, leaf)[0] for path, leaf in found]
    return answers(arguments, fixed, [back(1.0) for back in backs])
