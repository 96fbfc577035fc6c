"""Options of LLVM are those of generated code while that is compiled, and no others' before and after."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from backend import toolchain
from backend.cpu import compiler


def total(x):  # type: ignore[no-untyped-def]
    """A sum of quotients: what may be vectorised, if sums may stand in loops that are."""
    found = 0.0
    for k in range(x.size):
        found += (x[k] + 1.5) / (x[k] * x[k] + 2.5)
    return found


def instructions(decorate: Callable[..., Any]) -> list[str]:
    """What a function is compiled to: the names of the instructions."""
    function = decorate(total)
    function(np.ones(3))
    (text,) = function.inspect_asm().values()
    return re.findall(r"^\s+([a-z]\w*)\b", text, re.MULTILINE)


def test_what_others_compile_is_as_if_there_were_no_generated_code() -> None:
    from numba import njit

    usual = njit(error_model="numpy")
    before = instructions(usual)
    generated = instructions(njit(error_model="numpy", pipeline_class=compiler.Usual))
    assert generated != before
    assert instructions(usual) == before
    with compiler.vectorised():
        assert instructions(usual) == generated


def test_one_compilation_inside_of_another_sets_nothing_back(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(compiler.binding, "set_option", lambda name, option: told.append(option))
    with compiler.vectorised():
        first = [*told]
        with pytest.raises(ValueError, match="inside"), compiler.vectorised():
            raise ValueError("inside")
        assert told == first
    assert told == [*first, "--force-ordered-reductions=false", "--hoist-runtime-checks=true"]


@pytest.mark.parametrize("name", ["_device", "_entry", "_part", "_bare", "_called", "_batch"])
def test_whatever_decorates_generated_code_has_these_options(name: str) -> None:
    decorated = toolchain.bindings("cpu", "")[name](total)
    assert issubclass(decorated._compiler.pipeline_class, compiler.Usual)


def test_code_that_compiled_code_calls_goes_through_the_passes_that_it_needs_alone() -> None:
    decorated = toolchain.bindings("cpu", "")["_bare"](total)
    assert toolchain.compiles(decorated, (np.ones(3),))
    (found,) = decorated.overloads.values()
    ran = {pass_.partition("_")[2] for pass_ in found.metadata["pipeline_times"]["nopython"]}
    assert "nopython_type_inference" in ran
    assert ran.isdisjoint(pass_._name for pass_ in compiler.NOT_NEEDED)
