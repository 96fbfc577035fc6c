"""
Rules of PyTorch as functions of NumPy: a subclass of `torch.autograd.Function`, or any function of tensors.

Tensors are of the dtype and the strides that the arrays have. What is written to a tensor is written to the array that it stands
for, so that a function that changes its arguments is seen to, and is refused by NumPy where they are frozen. Numbers of Python are
attributes to PyTorch: no derivative is asked by them. The reference reads what PyTorch traces of the forward function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjudge.adapters.foreign import Foreign, answers, name_of, parameters_of, reals, seeds
from adjudge.adapters.torch_fx import from_graph_module
from checkers.array_audit.case import Arguments, Case, Path, leaves, replaced
from semantics.errors import Malformed
from semantics.ir import Program


def with_torch() -> Any:
    """PyTorch, if it is installed."""
    try:
        import torch
    except ImportError:
        raise Malformed("PyTorch is not installed", rule="torch", remedy="pip install 'adjudge[torch]'") from None
    return torch


def foreign(x: Any, fixed: frozenset[int] = frozenset()) -> Foreign:
    """The rule of PyTorch that an object is: a subclass of Function, its `apply`, or a function."""
    torch = with_torch()
    x = getattr(x, "__self__", x) if getattr(x, "__name__", "") == "apply" else x
    of_class: Any = x if isinstance(x, type) and issubclass(x, torch.autograd.Function) else None
    function, parameters = x, tuple[str, ...]()
    if of_class is not None:
        function = of_class.apply
        separate = of_class.setup_context is not torch.autograd.Function.setup_context
        parameters = parameters_of(of_class.forward, 0 if separate else 1)
    else:
        parameters = parameters_of(x)
    return Foreign(
        name_of(x, "function"),
        "torch",
        lambda *xs: valued(function, xs),
        lambda xs, y, dy: pulled(function, xs, dy, fixed, 1)[0],
        parameters,
        fixed,
        rule_value=lambda xs: rule_value(function, xs, fixed),
        twice=lambda xs, dy: pulled(function, xs, dy, fixed, 2),
        alone=lambda xs, dy, k: alone(function, xs, dy, k, fixed),
        second_pull=lambda xs, dy, k: second(function, xs, dy, k, fixed),
        traced=lambda case: traced(function, case),
        rule_traced=lambda case: rule_traced(function, case),
    )


# tensors and arrays


def tensor(array: Any) -> Any:
    """A tensor of its own memory that holds the array, with its dtype and, where PyTorch has them, its strides."""
    torch = with_torch()
    array = np.asarray(array)
    if array.flags.c_contiguous:
        return torch.from_numpy(array.copy())
    strides = [s // array.itemsize for s in array.strides]
    if min(strides, default=0) < 0 or any(s % array.itemsize for s in array.strides):
        return torch.from_numpy(array.copy())
    memory = torch.zeros(1 + sum((d - 1) * s for d, s in zip(array.shape, strides, strict=True)), dtype=dtype(array))
    once = tuple(slice(0, 1) if s == 0 else slice(None) for s in strides)
    found = memory.as_strided(array.shape, strides)
    found[once].copy_(torch.from_numpy(array[once].copy()))
    return found


def dtype(array: np.ndarray[Any, Any]) -> Any:
    """The dtype of PyTorch. TypeError if it has none, as for objects."""
    return with_torch().from_numpy(np.empty(0, array.dtype)).dtype


def array_of(found: Any) -> Any:
    """A tensor as an array of its own memory; what is none, as it is."""
    return np.array(found.detach().resolve_conj().resolve_neg().cpu().numpy()) if isinstance(found, with_torch().Tensor) else found


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Tuples and lists with everything in them changed."""
    return tuple(mapped(v, change) for v in value) if isinstance(value, (tuple, list)) else change(value)


def results(value: Any) -> list[Any]:
    """The results of a function, one after the other."""
    return [r for v in value for r in results(v)] if isinstance(value, (tuple, list)) else [value]


@contextmanager
def lent(arrays: Sequence[Any]) -> Iterator[list[Any]]:
    """Tensors for arrays; what was written to them is written to the arrays in the end. ValueError where those are frozen."""
    tensors = [tensor(a) for a in arrays]
    yield tensors
    for a, t in zip(arrays, tensors, strict=True):
        now = t.detach().numpy()
        if isinstance(a, np.ndarray) and not np.array_equal(bits(now), bits(a)):
            a[...] = now


def bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Floats as integers, which tell signed zeros apart and NaN alike; what is no float, as it is."""
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "f" else array


@contextmanager
def inside(arguments: Arguments) -> Iterator[Arguments]:
    """The arguments with tensors in the place of arrays."""
    arrays = [v for v in results(arguments) if isinstance(v, np.ndarray)]
    with lent(arrays) as tensors:
        rest = iter(tensors)
        yield mapped(arguments, lambda v: next(rest) if isinstance(v, np.ndarray) else v)


# what is asked


def valued(function: Callable[..., Any], arguments: Arguments) -> Any:
    """The value of a function, in NumPy."""
    with with_torch().no_grad(), inside(arguments) as given:
        return value_of(function(*given))


def value_of(found: Any) -> Any:
    """A result of PyTorch as NumPy has it: an array, or a flat tuple of arrays."""
    parts = [array_of(p) for p in results(found)]
    return parts[0] if len(parts) == 1 else tuple(parts)


@contextmanager
def recorded(function: Callable[..., Any], arguments: Arguments, fixed: frozenset[int]) -> Iterator[tuple[list[Any], list[Any]]]:
    """The leaves as tensors that PyTorch differentiates by, and the results."""
    paths = [path for path, leaf in leaves(arguments, fixed) if isinstance(leaf, np.ndarray)]
    with with_torch().enable_grad(), inside(arguments) as given:
        chosen = [at(given, path).requires_grad_() for path in paths]
        yield chosen, results(function(*given))


def at(value: Any, path: Sequence[int]) -> Any:
    """What is at a path."""
    for i in path:
        value = value[i]
    return value


def rule_value(function: Callable[..., Any], arguments: Arguments, fixed: frozenset[int]) -> Any:
    """The value that is computed while PyTorch records."""
    with recorded(function, arguments, fixed) as (_, found):
        return value_of(found)


def gradients(found: Sequence[Any], chosen: Sequence[Any], given: Sequence[Any], **how: Any) -> Any:
    """The cotangents of the chosen tensors; zeros where nothing depends on them."""
    torch = with_torch()
    paired = [(r, c) for r, c in zip(found, given, strict=True) if isinstance(r, torch.Tensor) and r.requires_grad]
    if not paired or not chosen:
        return tuple(torch.zeros_like(x) for x in chosen)
    outputs, cotangents = zip(*paired, strict=True)
    return torch.autograd.grad(outputs, chosen, cotangents, allow_unused=True, materialize_grads=True, **how)


def pulled(function: Callable[..., Any], arguments: Arguments, cotangent: Any, fixed: frozenset[int], times: int) -> Any:
    """What the backward pass answers, asked so many times of one forward pass."""
    with recorded(function, arguments, fixed) as (chosen, found), lent(seeds(cotangent, len(found))) as given:
        again = range(times, 0, -1)
        return tuple(answered(arguments, fixed, gradients(found, chosen, given, retain_graph=k > 1)) for k in again)


def alone(function: Callable[..., Any], arguments: Arguments, cotangent: Any, k: int, fixed: frozenset[int]) -> Any:
    """
    What the backward pass answers where only result k is used. A Function that has `ctx.set_materialize_grads(False)` is given None
    for the others, and zeros else.
    """
    with recorded(function, arguments, fixed) as (chosen, found), lent(seeds(cotangent, len(found))) as given:
        return answered(arguments, fixed, gradients(found[k : k + 1], chosen, given[k : k + 1]))


def second(function: Callable[..., Any], arguments: Arguments, cotangent: Any, k: int, fixed: frozenset[int]) -> Any:
    """The derivatives of coordinate k of the pullback, by each argument."""
    torch = with_torch()
    with recorded(function, arguments, fixed) as (chosen, found), lent(seeds(cotangent, len(found))) as given:
        first = torch.cat([g.reshape(-1) for g in gradients(found, chosen, given, create_graph=True)])[k]
        return answered(arguments, fixed, gradients([first], chosen, [torch.ones_like(first)]))


def answered(arguments: Arguments, fixed: frozenset[int], found: Sequence[Any]) -> Any:
    """The cotangents of the tensors in the structure of the arguments, zero for numbers."""
    rest = iter(found)
    every = [array_of(next(rest)) if isinstance(leaf, np.ndarray) else 0.0 for _, leaf in leaves(arguments, fixed)]
    return answers(arguments, fixed, every)


def traced(function: Callable[..., Any], case: Case) -> Program:
    """What PyTorch traces of the function of the leaves, read as a program of ours; its results are the reals of the function."""
    given, paths, values = of_leaves(case)

    def floats(*at: Any) -> Any:
        found = [v for v in results(function(*replaced(given, dict(zip(paths, at, strict=True))))) if v.is_floating_point()]
        return found[0] if len(found) == 1 else tuple(found)

    with with_torch().no_grad():
        return read(floats, values)


def rule_traced(function: Callable[..., Any], case: Case) -> Program:
    """What PyTorch traces of the backward pass, of the leaves and the cotangents of the real results."""
    given, paths, values = of_leaves(case)

    def rule(*both: Any) -> Any:
        chosen = [v.detach().requires_grad_() for v in both[: len(values)]]
        found = results(function(*replaced(given, dict(zip(paths, chosen, strict=True)))))
        rest = iter(both[len(values) :])
        cotangents = [next(rest) if r.is_floating_point() else None for r in found]
        answer = gradients(found, chosen, cotangents)
        return answer[0] if len(answer) == 1 else tuple(answer)

    with with_torch().enable_grad():
        return read(rule, [*values, *map(tensor, reals((case.value,)))])


def of_leaves(case: Case) -> tuple[Arguments, list[Path], list[Any]]:
    """The arguments with tensors in the place of arrays, the paths of the leaves, and the leaves as tensors."""
    found = leaves(case.arguments, case.fixed)
    given = mapped(case.arguments, lambda v: tensor(v) if isinstance(v, np.ndarray) else v)
    return given, [path for path, _ in found], [tensor(leaf) for _, leaf in found]


def read(function: Callable[..., Any], values: Sequence[Any]) -> Program:
    """What PyTorch traces of a function of tensors; where an operation is not in our table, in those that it is reduced to."""
    from torch._decomp import core_aten_decompositions
    from torch.fx.experimental.proxy_tensor import make_fx

    try:
        return from_graph_module(make_fx(function)(*values))
    except Malformed:
        return from_graph_module(make_fx(function, decomposition_table=core_aten_decompositions())(*values))
