"""Three reverse modes, one meaning: on generated first-order programs, 10,000 of them in the deep profile."""

from __future__ import annotations

import pytest
from claims import costly, examples, holds, judged, note, refuted
from hypothesis import given, settings
from test_agree import exchanged_arms, forgotten_sum, planted, program_of, wrong_cosine

from checkers.generators import FEATURES, Options, Source, Whole, WholeOptions, points, sources, wholes
from checkers.generators.options import FIRST_ORDER
from checkers.generators.terms import EVERYTHING as WHOLE
from checkers.properties.three_modes import three_modes_agree
from checkers.verdict import OutOfScope, Passed
from transforms.parse import parse_text

MANY = settings(max_examples=10_000 if examples() > 1000 else examples())
LOOPS = frozenset({"while", "range", "over_tuple"})
BRANCHES = frozenset({"branch", "elif", "conditional", "early_return", "break", "continue"})
RECURSION = "def f(x, z):\n    def r(n, y):\n        return y if n <= 0 else r(n - 1, y * x) * z\n    return r(3, x)"


def labelled(source: Source | Whole) -> None:
    """The kinds of construct that a program uses, for the statistics."""
    kinds = {"loops": LOOPS | {"loops"}, "branches": BRANCHES | {"branches"}, "tuples": {"tuple"}, "recursion": {"recursion"}}
    for kind, features in kinds.items():
        if source.used & features:
            note(kind)
    note("arrays" if isinstance(source, Whole) else "scalars")


@MANY
@given(sources(Options(features=FIRST_ORDER - {"error_function"}, size=4)), points(2))
def test_three_modes_agree_on_first_order_programs(source: Source, x: tuple[float, ...]) -> None:
    labelled(source)
    holds(three_modes_agree(source.program(), x))


@costly(2)
@given(sources(Options(features=FIRST_ORDER | {"definition", "recursion"}, always=frozenset({"recursion"}), size=3)), points(2))
def test_three_modes_agree_on_recursion(source: Source, x: tuple[float, ...]) -> None:
    labelled(source)
    holds(three_modes_agree(source.program(), x))


@costly(4)
@given(wholes(WholeOptions(WHOLE - {"memory", "single", "sorting"}, size=2)))
def test_three_modes_agree_on_arrays(source: Whole) -> None:
    labelled(source)
    program, arguments = source.differentiable()
    holds(three_modes_agree(program, arguments))


@pytest.mark.parametrize("policy", ["ssa-recompute", "ssa-mixed"])
@costly(4)
@given(source=sources(Options(features=FIRST_ORDER - {"error_function"}, size=3)), x=points(2))
def test_the_policies_of_the_ssa_adjoint_agree(policy: str, source: Source, x: tuple[float, ...]) -> None:
    labelled(source)
    holds(three_modes_agree(source.program(), x, (policy,)))


def test_the_claim_is_judged_and_not_vacuous() -> None:
    verdict = three_modes_agree(program_of("waves"), (1.5, 3))
    judged(verdict)
    assert isinstance(verdict, Passed)
    assert verdict.n == 3
    judged(three_modes_agree(parse_text(RECURSION, "f"), (1.5, 0.5)))


def test_a_program_that_is_not_first_order_is_out_of_scope() -> None:
    text = (
        "def f(x, z):\n    def chain(n, k):\n        return k(z) if n <= 0 else chain(n - 1, lambda y: k(y * x))\n"
        "    return chain(3, lambda y: y)"
    )
    assert isinstance(three_modes_agree(parse_text(text, "f"), (1.5, 0.5)), OutOfScope)


@pytest.mark.parametrize(
    ("spoil", "name"), [(wrong_cosine, "waves"), (forgotten_sum, "waves"), (exchanged_arms, "uneven"), (forgotten_sum, "chosen")]
)
def test_a_planted_bug_is_found(monkeypatch, spoil, name) -> None:
    mode = planted(monkeypatch, f"three_{spoil.__name__}", spoil)
    arguments = (1.5, 3) if name == "waves" else (0.5,)
    judged(three_modes_agree(program_of(name), arguments, ("J",)))
    assert "the first differing step" in refuted(three_modes_agree(program_of(name), arguments, ("J", mode))).counterexample.cause


def test_every_feature_is_drawn_on() -> None:
    assert set(FEATURES) >= FIRST_ORDER
