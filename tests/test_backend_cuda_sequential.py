"""Threads as generators: who is rewritten, where they meet, in which order they go on."""

from __future__ import annotations

from typing import Any

from backend.cuda.sequential import Cuda, Kernel, rewritten

MEETING = """
def wait():
    cuda.syncthreads()

def twice(x):
    wait()
    return 2 * x

def once(x):
    return x

def batch(log, n):
    for k in range(once(n)):
        log.append((cuda.blockIdx.x, cuda.threadIdx.x, k))
        if cuda.threadIdx.x == 1 and k == 0:
            return
        log.append(twice(k))
"""


def launched(source: str, shape: tuple[int, int], *arguments: Any, reverse: bool = False) -> list[Any]:
    cuda, log = Cuda(), []  # type: ignore[var-annotated]
    names: dict[str, Any] = {"cuda": cuda}
    exec(rewritten(source), names)
    Kernel(names["batch"], cuda, reverse)[shape](log, *arguments)
    return log


def test_functions_that_meet_are_generators_and_others_are_not() -> None:
    text = rewritten(MEETING)
    assert text.count("yield from wait()") == 1
    assert text.count("yield from twice(k)") == 1
    assert "yield from once" not in text
    assert "    yield\n" in text


def test_threads_go_on_together_and_one_that_has_ended_is_not_waited_for() -> None:
    turn = [(0, 0, 0), (0, 1, 0), (0, 2, 0), 0, (0, 0, 1), 0, (0, 2, 1), 2, 2]
    assert launched(MEETING, (1, 3), 2) == turn
    assert launched(MEETING, (2, 3), 1)[:5] == [(0, 0, 0), (0, 1, 0), (0, 2, 0), 0, 0]


def test_the_order_of_threads_may_be_reversed() -> None:
    assert launched(MEETING, (1, 3), 1, reverse=True) == [(0, 2, 0), (0, 1, 0), (0, 0, 0), 0, 0]


def test_blocks_go_one_after_another_each_with_memory_of_its_own() -> None:
    source = """
def batch(log):
    state = cuda.shared.array(0, None)
    log.append(state[0])
    cuda.syncthreads()
    state[0] = cuda.grid(1) + 1
"""
    assert launched(source, (2, 2)) == [0, 0, 0, 0]


def test_a_kernel_in_which_nobody_meets_is_called_for_each_thread() -> None:
    assert launched("def batch(log):\n    log.append(cuda.grid(1))\n", (2, 2)) == [0, 1, 2, 3]


def test_a_thread_that_leaves_has_ended() -> None:
    source = """
def batch(log):
    if cuda.threadIdx.x == 0:
        raise SystemExit
    cuda.syncthreads()
    log.append(cuda.threadIdx.x)
"""
    assert launched(source, (1, 3)) == [1, 2]
