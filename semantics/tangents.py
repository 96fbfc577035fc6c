"""
Sensitivities (cotangents) and the commutative monoid they form.

The sensitivity of a real is a real; of a tuple, a tuple of sensitivities; of a closure, the ordered tuple of the
sensitivities of its free variables (2017, section 3; 2018, section 3.2); of an integer, a boolean or a primitive, nothing.
Two representations keep the cost of the adjoint within a constant factor of the primal:

    ZERO          the sensitivity of anything that nothing depends on; it is neutral for addition and absorbs products
    Sparse(n, m)  a tuple of n sensitivities, ZERO but at the indices in m; what `t[i]` sends back to `t`

Both vanish at the boundary, where `instantiate` gives the dense value. ZERO is not the number 0.0: 0.0 * inf is NaN,
ZERO * inf is ZERO, because there is no path along which a derivative could flow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from immutables import Map

from semantics.errors import IllTyped


class Zero:
    """The symbolic zero: `x + ZERO` is x, `x * ZERO` is ZERO. There is one, `ZERO`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ZERO"

    def __reduce__(self) -> str:
        return "ZERO"

    def __neg__(self) -> Zero:
        return self

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return -other

    def __rsub__(self, other: Any) -> Any:
        return other

    def __mul__(self, other: Any) -> Zero:
        return self

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Zero:
        return self


ZERO = Zero()


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """A tuple of `size` sensitivities, all ZERO but those in `entries` (index -> sensitivity)."""

    size: int
    entries: Map[int, Any]

    def __repr__(self) -> str:
        inside = ", ".join(f"{i}: {self.entries[i]!r}" for i in sorted(self.entries))
        return f"Sparse({self.size}, {{{inside}}})"

    def __getitem__(self, index: int) -> Any:
        return self.entries.get(index % self.size, ZERO)


def inject(t: Any, index: int, sensitivity: Any) -> Any:
    """
    The sensitivity of the tuple `t` whose element `index` alone has one: the adjoint of `t[index]`.

    `t` may itself be a sensitivity (at second order); of ZERO, which has no elements, nothing can depend.
    """
    if sensitivity is ZERO or t is ZERO:
        return ZERO
    size = t.size if isinstance(t, Sparse) else len(t)
    return Sparse(size, Map({index % size: sensitivity}))


def dense(sensitivity: Any) -> Any:
    """The same sensitivity as a plain tuple, one level deep."""
    if isinstance(sensitivity, Sparse):
        return tuple(sensitivity[i] for i in range(sensitivity.size))
    return sensitivity


def gadd(a: Any, b: Any) -> Any:
    """
    The sum of two sensitivities of one value (fan-out). ZERO is neutral, tuples add element by element.

    Two sparse sums merge in time of the smaller. An explicit stack: tuples may nest deeper than Python's.
    """
    if a is ZERO:
        return b
    if b is ZERO:
        return a
    if isinstance(a, (tuple, Sparse)) or isinstance(b, (tuple, Sparse)):
        return _add_tuples(a, b)
    return a + b


def _add_tuples(a: Any, b: Any) -> Any:
    """Post-order over the pairs of elements; `built` holds the finished sums."""
    built: list[Any] = []
    todo: list[tuple[str, Any, Any]] = [("add", a, b)]
    while todo:
        task, left, right = todo.pop()
        if task == "tuple":
            items = tuple(built[len(built) - left :])
            del built[len(built) - left :]
            built.append(items)
        elif task == "sparse":
            base, touched = left, right
            sums = built[len(built) - len(touched) :]
            del built[len(built) - len(touched) :]
            built.append(Sparse(base.size, base.entries.update(dict(zip(touched, sums, strict=True)))))
        elif left is ZERO or right is ZERO:
            built.append(right if left is ZERO else left)
        elif isinstance(left, Sparse) and isinstance(right, Sparse):
            _same_size(left, right)
            big, small = (left, right) if len(left.entries) >= len(right.entries) else (right, left)
            touched = tuple(small.entries)
            todo.append(("sparse", big, touched))
            todo.extend(("add", left[i], right[i]) for i in reversed(touched))
        elif isinstance(left, (tuple, Sparse)) and isinstance(right, (tuple, Sparse)):
            _same_size(left, right)
            pairs = list(zip(dense(left), dense(right), strict=True))
            todo.append(("tuple", len(pairs), None))
            todo.extend(("add", x, y) for x, y in reversed(pairs))
        elif isinstance(left, (tuple, Sparse)) or isinstance(right, (tuple, Sparse)):
            raise IllTyped(
                f"gadd wants two sensitivities of one value, found {left!r} and {right!r}",
                rule="gadd",
                remedy="a backpropagator returned a cotangent of the wrong structure",
            )
        else:
            built.append(left + right)
    return built[0]


def _same_size(a: Any, b: Any) -> None:
    size_a, size_b = (x.size if isinstance(x, Sparse) else len(x) for x in (a, b))
    if size_a != size_b:
        raise IllTyped(
            f"gadd wants tuples of one length, found {size_a} and {size_b}",
            rule="gadd",
            remedy="a backpropagator returned a cotangent of the wrong length",
        )
