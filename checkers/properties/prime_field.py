"""Exact properties modulo 2^61 - 1 (see `checkers.slopes`): what J does with structure, and identity of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from checkers.properties.adjoint import all_arguments
from checkers.slopes import identical_mod_p, slope_identity, with_slopes
from checkers.verdict import Verdict
from semantics.ir import Program
from transforms.gradient_programs import gradient_program

Gradient = Callable[..., Program]


def slopes_add_up(program: Program, arguments: Sequence[Any], gradient: Gradient = gradient_program) -> Verdict:
    """T26: J with slopes for derivatives gives f(x') - f(x) = Σ sᵢ (x'ᵢ - xᵢ) exactly. Of `arguments` only the structure counts."""
    sloped = with_slopes(program)
    verdict = slope_identity(sloped, gradient(sloped, all_arguments(program)), template=tuple(arguments))
    return replace(verdict, claim="T26 slopes")


def identical(a: Program, b: Program, arguments: Sequence[Any] | None = None) -> Verdict:
    """T27: two programs are one expression: equal at random residues, with arbitrary functions for exp and its kind."""
    return replace(identical_mod_p(a, b, template=arguments), claim="T27 identity")
