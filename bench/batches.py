"""
Batches of compiled gradients: samples in a second, in wall time, since there are several threads; the best of several runs.

Against one thread, against a call for each sample from Python, and against `jax.vmap` of the compiled gradient, if JAX is there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from bench.by_hand import FAMILIES, Family
from bench.measure import Row, named
from transforms.parse import parse_text

PROGRAMS = {"sincos": (), "pow": (16,), "logistic regression": (16,), "RNN": (16,), "Brusselator": (4,)}
SAMPLES = (100, 10_000, 1_000_000)
CALLS = 10_000  # of a loop in Python, at most
REPEATS = 5


def rows(only: str = "") -> Iterator[Row]:
    """Every row of this table, or those of the programs whose name has a text in it."""
    for name, turns in named(PROGRAMS, only).items():
        for count in SAMPLES:
            yield from program_rows(name, FAMILIES[name], turns, count)


def program_rows(name: str, family: Family, turns: tuple[int, ...], count: int) -> Iterator[Row]:
    """One gradient at so many samples."""
    import adjudge as aj
    from backend.toolchain import workers

    gradient = aj.grad(parse_text(family.text, "f"))
    columns = [x + np.linspace(0.0, 0.1, count) for x in family.arguments]
    batch = aj.vmap(gradient, (0,) * len(columns) + (None,) * len(turns))
    mine = count / least(lambda: batch(*columns, *turns))
    alone = aj.vmap(gradient, (0,) * len(columns) + (None,) * len(turns), threads=1)
    single, threads = count / least(lambda: alone(*columns, *turns)), workers("cpu")
    one = aj.compile(gradient)
    samples = list(zip(*(c[:CALLS].tolist() for c in columns), strict=True))
    called = len(samples) / least(lambda: [one(*x, *turns) for x in samples])
    others = {"one thread": single, "calls from Python": called, **with_jax(family, columns, turns)}
    for other, its in others.items():
        yield Row(f"{name}, {count} samples, {threads} threads", f"{mine:.3g}/s", f"{other} {its:.3g}/s", f"{mine / its:.3g}")


def with_jax(family: Family, columns: list[Any], turns: tuple[int, ...]) -> dict[str, float]:
    """The samples in a second of `jax.vmap`."""
    if not find_spec("jax"):
        return {}
    import jax

    jax.config.update("jax_enable_x64", True)
    batch = jax.jit(jax.vmap(jax.grad(lambda *x: family.jax(jax, *x, *turns))))
    placed = [jax.numpy.asarray(c) for c in columns]
    return {"jax.vmap": len(columns[0]) / least(lambda: batch(*placed).block_until_ready())}


def least(action: Callable[[], Any]) -> float:
    """The least wall time of several runs, after one that compiles."""
    action()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)
