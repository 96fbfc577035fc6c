"""
The bugs of transforms and optimizers that public systems have shipped, and the mutant that re-creates each; and the wrong gradients
that show on arrays or on a primitive of the user, each refuted where its correct twin is not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import test_check_array_zoo
from mutants import gradients, rewrites, transform, zoo_rules
from mutants.gradients import (
    COUNTED_ONCE,
    ELEMENT_TWICE,
    STOPPED,
    STRUCTURED_GRADIENTS,
    Transform,
    by_all,
    merged,
    stops_once,
)
from mutants.rewrites import Rule

from adjudge.primitives import primitive
from checkers import forward_mode
from checkers.optimizer_audit import audit
from checkers.primitive_audit import check
from semantics.machine import run
from transforms import cse

# a reference, and the names of its mutants: of functions, of variants of J, or the texts of rules
TRANSFORMS: dict[str, tuple[str, ...]] = {
    "ForwardDiff#83, autograd#4": ("perturbation confusion",),
    "Zygote#937": ("first_order_only",),
    "Zygote#1113": ("cached_by_name",),
    "myia#159": ("captured through a called closure only, forgotten",),
    "myia#255": ("aliased arguments overwrite",),
    "pytensor 893a4c7, tf#1093": ("zero-trip loop", "unrolls_zero_trips"),
    "tangent#65, tangent#83": ("changes_a_shared_node", "swaps_without_negating"),
    "jax#20267": ("prunes_residuals",),
    "pytorch#136662": ("a repeated increment is counted once",),
    "Enzyme.jl#1595": ("constant_for_unused",),
    "jax#34229": ("the pullback uses the index unclipped", "the pullback of an element does not count from the end"),
    "jax#17496": ("an input that is computed is not needed",),
    "functorch#353": ("stops_once",),
}
OPTIMIZERS: dict[str, tuple[str, ...]] = {
    "pytensor#1952": ("sqrt(x * x) -> x if x < 0.0 else -x",),
    "pytensor#2297": ("increments_where_the_first_index_agrees",),
    "pytensor fdbf3aa": ("b: bool | where(b, 0.0, x) / y -> where(b, x / y, 0.0)",),
    "pytensor 9e10421": ("log(x / y) -> log(x) - log(y)", "x: f32[n], y: f32[n] | log(x / y) -> log(x) - log(y)"),
    "tinygrad#5847": ("x: i64, #c: i64, #d: i64 | x * #c % #d % #c -> 0",),
    "tinygrad#16054": ("x: i64, y: i64, z: i64 | x // y // z -> x // (y * z)",),
    "tinygrad#11760": ("b: bool | where(b, x, y) -> x * where(b, 1.0, 0.0) + y * where(b, 0.0, 1.0)",),
    "tvm#5749": ("min(#c * x, 0.0) -> #c * min(x, 0.0)",),
    "tvm#2308": ("x: i64, y: i64 | x // y -> int(x / y)",),
    "tf#57744": ("x != x -> False", "misreads_not_a_number"),
    "pytorch#195320": ("merges_reductions", "x: f64[m, n] | sum(sum(x, axis=0), axis=0) -> sum(x, axis=1)"),
    "pytorch#193061": ("rebinds_instead_of_writing",),
    "jax 8bfa5ee": ("drops_what_reads_no_parameter",),
    "myia#302": ("x * y / y -> y",),
    "xDSL 0.69": ("folds_division",),
    "myia, zeros and ones": ("x * 0.0 -> 0", "0 * x -> 0", "0.0 + x -> x"),
}


def name_of(mutant: Any) -> str:
    """The text of a rule, the name of a variant, of a system or of a function."""
    return next(str(getattr(mutant, a)) for a in ("text", "name", "__name__") if hasattr(mutant, a))


# bit for bit at float32 the logarithm of a quotient is not the difference of logarithms; over the reals it is
SPLIT = Rule("x: f32[n], y: f32[n] | log(x / y) -> log(x) - log(y)", "BITS", "rounds otherwise", "x > 0 and y > 0")

ORDERS_AND_TANGENTS = {
    "first order right, second order wrong": "test_a_first_order_that_is_right_and_a_second_that_is_not",
    "the predicate looks at the tangent": "test_a_predicate_that_looks_at_the_tangent",
}
PRIMITIVES = {reference: tuple(bug.name for bug in bugs) for reference, bugs in zoo_rules.ZOO.items()} | {
    "pytorch#95180, pytorch#1712": ("first order right, second order wrong",),
    "Zygote#1597": ("the predicate looks at the tangent",),
}
"""The first section and the cotangents: judged in test_check_array_zoo.py, in scalar form in test_check_zoo.py."""

# every mutant that a test judges
JUDGED = {
    *(bug.name for bugs in zoo_rules.ZOO.values() for bug in bugs),
    *(name for name, test in ORDERS_AND_TANGENTS.items() if hasattr(test_check_array_zoo, test)),
    *map(name_of, (*transform.MUTANTS, *gradients.INNER, *rewrites.RULE_MUTANTS, SPLIT)),
    *(name_of(m) for m, _ in (*gradients.WRONG_GRADIENTS, *gradients.WRONG_PASSES, *rewrites.PASS_MUTANTS)),
    *(name_of(m) for m, *_ in (*STRUCTURED_GRADIENTS, *rewrites.STRUCTURED_MUTANTS)),
}


@pytest.mark.parametrize("reference", [*PRIMITIVES, *TRANSFORMS, *OPTIMIZERS])
def test_every_shipped_bug_has_a_mutant_that_is_judged(reference: str) -> None:
    names = (PRIMITIVES | TRANSFORMS | OPTIMIZERS)[reference]
    assert names
    assert set(names) <= JUDGED


BY_RUNNING = ("hits", "subsumption", "weakest side condition", "critical pairs")


def test_a_logarithm_split_at_float32_is_a_fault_in_bits_and_none_over_the_reals() -> None:
    assert audit(SPLIT.made(), skip=BY_RUNNING).exit_code == 1
    assert audit(replace(SPLIT, domain="REAL").made(), skip=BY_RUNNING).exit_code == 0


# wrong gradients on arrays, and of a primitive of the user

LEFT_OUT = {"the gradient of": ("trace reversal", "second order", "repeatable"), "second order": ("trace reversal", "repeatable")}
IDS = [m.__name__ for m, *_ in STRUCTURED_GRADIENTS]
MISSED = """
import numpy as np
def f(x, z):
    y = np.array([[x, 1.0], [z, x]])
    y[:, 0] += x * z
    y[:, 1] += x * z
    return np.sum(y * np.array([[1.0, 2.0], [3.0, 5.0]]))
"""


@pytest.mark.parametrize(("mutant", "twin", "source", "other", "claim", "row"), STRUCTURED_GRADIENTS, ids=IDS)
def test_a_wrong_gradient_is_refuted_and_its_correct_twin_is_not(
    mutant: Transform, twin: Transform, source: str, other: str, claim: str, row: str
) -> None:
    finding = audit(mutant, claims="gradient", examples=[gradients.read(source)], skip=LEFT_OUT[claim]).findings[0]
    assert (finding.kind, finding.claim.startswith(claim)) == ("fault", True)
    assert row in finding.counterexample.cause
    assert audit(twin, claims="gradient", examples=[gradients.read(other)], skip=LEFT_OUT[claim]).findings == ()


def test_the_correct_twins_of_j_do_something() -> None:
    for _, twin, _, source, _, _ in STRUCTURED_GRADIENTS[:2]:
        program = gradients.read(source)
        assert twin(program) not in (by_all(program), by_all(cse.SYSTEM.run(program)))


def test_a_repeated_increment_is_shrunk_to_the_two_increments() -> None:
    program = gradients.read(ELEMENT_TWICE)
    finding = audit(merged(COUNTED_ONCE), claims="gradient", examples=[program], skip=LEFT_OUT["the gradient of"]).findings[0]
    assert (finding.counterexample.found, finding.counterexample.wanted) == ((1, 1), (2, 1))
    assert finding.counterexample.cause.endswith("make_record, getitem, add, put, a variable used twice")


def test_increments_of_two_columns_are_no_repetition() -> None:
    program = gradients.read(MISSED)
    assert run(merged(COUNTED_ONCE)(program), 2.0, 3.0) == forward_mode.gradient(program, (2.0, 3.0))


def test_a_stop_that_stops_once_is_right_at_first_order() -> None:
    skip = ("trace reversal", "second order", "repeatable")
    assert audit(stops_once, claims="gradient", examples=[gradients.read(STOPPED)], skip=skip).findings == ()


def test_a_stop_without_a_tangent_is_judged_as_the_identity_that_it_computes() -> None:
    """That nothing shall flow is an intention: it is known where the primitive states it in a second column, and nowhere else."""
    silent = primitive(lambda x: x, name="silent")
    silent.backpropagator(lambda x, out, dout: (0.0 * dout,))
    report = check(silent, examples=20, skip=("composition", "vacuity", "optimizer"))
    assert "jacobian" in {f.claim for f in report.findings if f.kind == "fault"}
