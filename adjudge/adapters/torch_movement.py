"""
Operations of PyTorch that move elements and leave them as they are: shapes, axes, parts of arrays, arrays joined. See `torch_rows`.

In PyTorch the result of many of these is a *view*: it shares the memory of its operand. VIEWS says how what is written through a
view gets into the tensor that it looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from semantics.errors import Malformed

Rule = Callable[..., Any]


def sizes(given: Sequence[Any]) -> tuple[Any, ...]:
    """Sizes or axes, whether handed over one by one or in one list."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else tuple(given)


def reshape(b: Any, x: Any, *shape: Any) -> Any:
    """The same elements in another shape"""
    return b("reshape", x, sizes(shape))


def flatten(b: Any, x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Axes from start_dim to end_dim as one"""
    rank = len(x.shape)
    first, last = start_dim % max(rank, 1), end_dim % max(rank, 1)
    return b("reshape", x, (*x.shape[:first], -1, *x.shape[last + 1 :]))


def permute(b: Any, x: Any, *dims: Any) -> Any:
    """Axis k of the result is axis dims[k] of x"""
    return b("transpose", x, tuple(d % len(x.shape) for d in sizes(dims)))


def transpose(b: Any, x: Any, dim0: int, dim1: int) -> Any:
    """Two axes exchanged"""
    order = list(range(len(x.shape)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return b("transpose", x, tuple(order))


def t(b: Any, x: Any) -> Any:
    """The transpose of a matrix; a vector as it is"""
    return transpose(b, x, 0, 1) if len(x.shape) == 2 else b.copied(x)


def expand(b: Any, x: Any, *size: Any) -> Any:
    """x repeated to a shape; -1 keeps a size"""
    wanted = sizes(size)
    own = (1,) * (len(wanted) - len(x.shape)) + tuple(x.shape)
    return b("broadcast_to", x, tuple(n if w == -1 else w for w, n in zip(wanted, own, strict=True)))


def unsqueeze(b: Any, x: Any, dim: int) -> Any:
    """A new axis of size 1"""
    return b("expand_dims", x, dim)


def squeeze(b: Any, x: Any, dim: Any = None) -> Any:
    """Without axes of size 1; an axis of another size stays"""
    named = range(len(x.shape)) if dim is None else (dim if isinstance(dim, (tuple, list)) else (dim,))
    gone = tuple(d for d in named if x.shape[d] == 1)
    return b("squeeze", x, gone) if gone else b.copied(x)


def index(b: Any, x: Any, i: Any) -> Any:
    """x[i]"""
    if isinstance(x, (tuple, list)):
        return x[i]
    if isinstance(i, tuple) and not i:
        return b.copied(x)
    if isinstance(i, list):
        raise Malformed("a list is an index of its own kind", rule="torch", remedy="index with a tensor of integers")
    return b("getitem", x, i)


def select(b: Any, x: Any, dim: int, index: int) -> Any:
    """The elements at one place of an axis"""
    return b("getitem", x, before(x, dim, index))


def slice_(b: Any, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """A slice along an axis"""
    return b("getitem", x, before(x, dim, slice(start, end, step)))


def before(x: Any, dim: int, part: Any) -> tuple[Any, ...]:
    """The index that has `part` at axis `dim` and everything at the axes in front."""
    return (*(slice(None),) * (dim % len(x.shape)), part)


def diagonal(b: Any, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of a matrix"""
    if len(x.shape) != 2 or (dim1 % 2, dim2 % 2) != (0, 1):
        raise Malformed("a diagonal of more than a matrix is no row", rule="torch", remedy="torch.diag, of a matrix")
    return b("diag", x, offset)


def narrow(b: Any, x: Any, dim: int, start: int, length: int) -> Any:
    """`length` elements along an axis, from `start`"""
    return slice_(b, x, dim, start, start + length)


def index_select(b: Any, x: Any, dim: int, index: Any) -> Any:
    """The elements at several places of an axis"""
    return b("take", x, index, dim)


def index_put(b: Any, x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """x with values put, or added, at places"""
    places = tuple(indices)
    return b("scatter_add" if accumulate else "put", x, places[0] if len(places) == 1 else places, values)


def cat(b: Any, tensors: Any, dim: int = 0) -> Any:
    """One after the other along an axis"""
    return b("concatenate", tuple(tensors), dim)


def stack(b: Any, tensors: Any, dim: int = 0) -> Any:
    """Along a new axis"""
    return b("stack", tuple(tensors), dim)


def flip(b: Any, x: Any, *dims: Any) -> Any:
    """Axes backwards"""
    return b("flip", x, sizes(dims))


def roll(b: Any, x: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved round along an axis"""
    return b("roll", x, shifts, dims)


def triangle(row: str) -> Rule:
    """The rule of a triangle of a matrix."""

    def rule(b: Any, x: Any, diagonal: int = 0) -> Any:
        return b(row, x, diagonal)

    return rule


MOVEMENT: Mapping[str, Rule] = MappingProxyType(
    {
        **{"reshape": reshape, "view": reshape, "_unsafe_view": reshape, "flatten": flatten, "ravel": flatten, "permute": permute},
        **{"transpose": transpose, "swapaxes": transpose, "t": t, "expand": expand, "broadcast_to": expand, "unsqueeze": unsqueeze},
        **{"squeeze": squeeze, "getitem": index, "select": select, "slice": slice_, "index_select": index_select},
        **{"narrow": narrow, "index_put": index_put, "cat": cat, "concat": cat, "concatenate": cat, "stack": stack, "flip": flip},
        **{"roll": roll, "tril": triangle("tril"), "triu": triangle("triu"), "diag": triangle("diag")},
        **{"diagonal": diagonal, "diagonal_copy": diagonal},
    }
)


# how what is written through one gets into the tensor that it looks at


def reshaped_back(b: Any, base: Any, seen: Any, *_: Any, **__: Any) -> Any:
    """The same elements in the shape of the base"""
    return b("reshape", seen, tuple(base.shape))


def permuted_back(b: Any, base: Any, seen: Any, *dims: Any) -> Any:
    """The inverse permutation"""
    order = [d % len(base.shape) for d in sizes(dims)]
    return b("transpose", seen, tuple(order.index(k) for k in range(len(order))))


def transposed_back(b: Any, base: Any, seen: Any, dim0: int, dim1: int) -> Any:
    """The same two axes exchanged again"""
    return transpose(b, seen, dim0, dim1)


def t_back(b: Any, base: Any, seen: Any) -> Any:
    """The transpose of the transpose"""
    return t(b, seen)


def put_back(b: Any, base: Any, seen: Any, i: Any) -> Any:
    """The base with the elements at an index replaced"""
    return b("put", base, i, seen)


def selected_back(b: Any, base: Any, seen: Any, dim: int, index: int) -> Any:
    """The base with one place of an axis replaced"""
    return b("put", base, before(base, dim, index), seen)


def narrowed_back(b: Any, base: Any, seen: Any, dim: int, start: int, length: int) -> Any:
    """The base with elements along an axis replaced"""
    return sliced_back(b, base, seen, dim, start, start + length)


def sliced_back(b: Any, base: Any, seen: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """The base with a slice replaced"""
    return b("put", base, before(base, dim, slice(start, end, step)), seen)


VIEWS: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(("alias", "view", "reshape", "flatten", "ravel", "unsqueeze", "squeeze"), reshaped_back),
        **{"permute": permuted_back, "transpose": transposed_back, "swapaxes": transposed_back, "t": t_back},
        **{"getitem": put_back, "select": selected_back, "slice": sliced_back, "narrow": narrowed_back},
    }
)
