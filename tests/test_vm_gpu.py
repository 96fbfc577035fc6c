"""The virtual machine compiles for GPUs that are not here: two instruction sets, one source."""

from __future__ import annotations

import pytest

from backend.cuda import numba_cuda
from backend.machine import threads


@pytest.mark.parametrize("capability", [(7, 5), (9, 0)])
def test_the_machine_compiles_for_gpus_that_are_not_here(capability: tuple[int, int]) -> None:
    if reason := numba_cuda.ptx_available():
        pytest.skip(reason)
    text = threads.ptx(capability)
    assert f".target sm_{capability[0]}{capability[1]}" in text
    assert ".entry" in text
