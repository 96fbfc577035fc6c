"""
The first gradient in a fresh process: each program in a process of its own, the clock from after `import adjudge` to the result.

    new       the first gradient where nothing is kept, as on a new computer: on CPython, or by code of the program's own
    machine   the virtual machine compiled, which happens once for all programs on a computer, and kept
    first     the first gradient ever of this program: parsed, differentiated, loaded and run, the machine being kept
    code      the second call: code of the program's own is made
    again     the first gradient in another process, when all of this is kept

Processor seconds, and wall seconds behind them; Python's bytecode is kept too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.measure import Row, named

TREE = """
import math
def f(x, n: int):
    if n == 0:
        return math.sin(x)
    return f(x * 0.9, n - 1) * f(x + 0.1, n - 1)
"""
REPEATS = 3


def rows(only: str = "") -> Iterator[Row]:
    """Every row of this table, measured with empty caches, or those of the programs whose name has a text in it."""
    if not (chosen := named(programs(), only)):
        return
    with TemporaryDirectory() as cache, TemporaryDirectory() as bytecode:
        with TemporaryDirectory() as other:
            for name in ("pow", "MLP 784-32-10, batch 1"):
                differentiated(other, bytecode, name)
        yield Row("the machine and its loops, compiled", shown(measured(cache, bytecode, "machine()")["first"]), "once", "")
        for name in chosen:
            with TemporaryDirectory() as new:
                yield Row(f"{name}, new", shown(differentiated(new, bytecode, name)["first"]), "", "")
            runs = [differentiated(cache, bytecode, name) for _ in range(REPEATS)]
            first, again = runs[0], min(runs[1:], key=lambda run: run["first"])
            yield Row(f"{name}, first", shown(first["first"]), f"import adjudge {shown(again['import'])}", "")
            yield Row(f"{name}, code", shown(first["second"]), "", "")
            yield Row(
                f"{name}, again", shown(again["first"]), f"first {shown(first['first'])}", ratio(again["first"], first["first"])
            )


def programs() -> dict[str, tuple[str, int | tuple[int, ...] | str, tuple[Any, ...]]]:
    """For each name the text, the arguments by which to differentiate f, or the text's own derivative, and the arguments."""
    from bench import array_gradients
    from bench.by_hand import FAMILIES

    found: dict[str, Any] = {n: (f.text, 0, (*f.arguments, *f.turns[-1:])) for n, f in FAMILIES.items()}
    found["recursive function"] = TREE, 0, (0.3, 8)
    for name, family in array_gradients.FAMILIES.items():
        for label, sizes in family.sizes.items():
            if not family.sample:
                found[f"{name}, {label}"] = family.text, family.derivative or family.wrt, family.given(*sizes)
    return found


def shown(times: tuple[float, float]) -> str:
    """Processor and wall seconds."""
    return f"{times[0]:.3f} s ({times[1]:.3f} s)"


def ratio(mine: tuple[float, float], other: tuple[float, float]) -> str:
    """Of processor seconds."""
    return f"{mine[0] / other[0]:.2f}"


def measured(cache: str, bytecode: str, what: str) -> dict[str, tuple[float, float]]:
    """What a function below finds, called in a fresh process with its own caches."""
    given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    given |= {"XDG_CACHE_HOME": cache, "PYTHONPYCACHEPREFIX": bytecode}
    code = f"from bench import first; first.{what}"
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True)
    found: dict[str, tuple[float, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def differentiated(cache: str, bytecode: str, name: str) -> dict[str, tuple[float, float]]:
    """The times of one program."""
    return measured(cache, bytecode, f"program({name!r}, {str(Path(cache) / 'f.py')!r})")


# in the fresh process


def machine() -> None:
    """Compiles the machine and its loops."""
    with Clock() as clock:
        from backend.machine import interpreter, kernels

        interpreter.compiled()
        kernels.compiled()
    _tell({"first": clock.times})


def program(name: str, file: str) -> None:
    """Differentiates one program, whose text is in a file of its own, twice."""
    from importlib import util

    with Clock() as imported:
        import adjudge as aj
    text, wrt, arguments = programs()[name]
    Path(file).write_text(text)
    spec = util.spec_from_file_location("program", file)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with Clock() as first:
        derivative = getattr(module, wrt) if isinstance(wrt, str) else aj.grad(module.f, wrt)
        gradient = aj.compile(derivative, target="cpu")
        gradient(*arguments)
    with Clock() as second:
        gradient(*arguments)
    _tell({"import": imported.times, "first": first.times, "second": second.times})


class Clock:
    """The processor and the wall seconds of what is done inside."""

    def __enter__(self) -> Clock:
        self.began = _now()
        return self

    def __exit__(self, *_: object) -> None:
        ended = _now()
        self.times = ended[0] - self.began[0], ended[1] - self.began[1]


def _now() -> tuple[float, float]:
    import time

    return time.process_time(), time.perf_counter()


def _tell(found: dict[str, tuple[float, float]]) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
