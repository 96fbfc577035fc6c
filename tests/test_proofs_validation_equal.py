"""`aj.equal` and `adjudge prove --same`: two functions as a user has them, in every kind of program; and loops by induction."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from typer.testing import CliRunner

import adjudge as aj
from adjudge.cli import app
from checkers.smt.solver import RLIMIT
from checkers.verdict import OutOfScope, Passed, Proved, Refuted, Unknown
from proofs.validation.lockstep import by_induction
from semantics.errors import Malformed
from semantics.ir import Program
from transforms.parse import parse_text

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "same.py"


class Point(NamedTuple):
    x: float
    y: float


def both(n: int, m: int):  # type: ignore[no-untyped-def]
    return (n + m) * (n - m)


def apart(n: int, m: int):  # type: ignore[no-untyped-def]
    return n * n - m * m


def chosen(b: bool, x, y):  # type: ignore[no-untyped-def]
    return x if b else y


def otherwise(b: bool, x, y):  # type: ignore[no-untyped-def]
    return y if not b else x


def in_place(x):  # type: ignore[no-untyped-def]
    def scaled(y):  # type: ignore[no-untyped-def]
        return y * x

    return scaled(2.0) + scaled(x)


PAIR = ("tuple[f64, f64]",)
PROVED: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "whole numbers": (both, apart, {}),
    "booleans": (chosen, otherwise, {}),
    "a comparison": (lambda x: x < 1.0, lambda x: not (x >= 1.0), {}),
    "tuples": (lambda t: t[0] * t[1] + t[0], lambda t: t[0] * (t[1] + 1.0), {"types": PAIR}),
    "a tuple as value": (lambda x, y: (x * y, x + y), lambda x, y: (y * x, y + x), {}),
    "records": (lambda p: p.x * p.y + p.x, lambda p: p.x * (p.y + 1.0), {"types": (Point(1.0, 2.0),)}),
    "closures": (in_place, lambda x: 2.0 * x + x * x, {}),
    "arrays": (lambda x: np.mean((x - np.mean(x)) ** 2), lambda x: np.mean(x**2) - np.mean(x) ** 2, {"types": ("f64[3]",)}),
    "a domain that grows": (lambda x: math.sqrt(x) * math.sqrt(x), lambda x: x, {}),
    "a condition": (lambda x: math.log(x * x), lambda x: 2.0 * math.log(x), {"where": "x > 0"}),
    "division": (lambda x, y: x, lambda x, y: x * y / y, {"where": "y != 0"}),
    "derivatives": (aj.grad(lambda x: math.sin(x) * x), aj.grad(lambda x: math.sin(x) * x, mode="ssa"), {}),
    "bits": (lambda x: x + x, lambda x: 2.0 * x, {"over": "bits"}),
}


@pytest.mark.parametrize("name", PROVED)
def test_one_function_in_two_forms_is_proved(name: str) -> None:
    f, g, options = PROVED[name]
    found = aj.equal(f, g, **options)
    assert isinstance(found, Proved), found


def test_a_proof_says_of_which_arguments_it_is() -> None:
    def f(x, n: int):
        return x * n + x

    def g(x, n: int):
        return x * (n + 1)

    assert aj.equal(f, g).by.endswith("; for all x: real, n: integer")
    assert aj.equal(lambda x: x + x, lambda x: 2.0 * x, over="bits").by.endswith("; for all x: f64")
    assert aj.equal(lambda x: x, lambda x: x * x / x, where="x > 0").by.endswith("; for all x: real with x > 0")


REFUTED: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "whole numbers": (both, lambda n, m: n * n + m * m, {}),
    "booleans": (chosen, lambda b, x, y: y if b else x, {}),
    "tuples": (lambda t: t[0], lambda t: t[1], {"types": PAIR}),
    "records": (lambda p: p.x, lambda p: p.y, {"types": (Point(1.0, 2.0),)}),
    "closures": (in_place, lambda x: 2.0 * x + x, {}),
    "arrays": (lambda x: np.sum(x * 1.0), lambda x: x[0] + x[1], {"types": ("f64[3]",)}),
    "a root's domain": (lambda x: x, lambda x: math.sqrt(x) * math.sqrt(x), {}),
    "a logarithm's domain": (lambda x: math.log(x * x), lambda x: 2.0 * math.log(x), {}),
    "a pole": (lambda x, y: x, lambda x, y: x * y / y, {}),
    "bits": (lambda x: x, lambda x: x + 0.0, {"over": "bits"}),
}


@pytest.mark.parametrize("name", REFUTED)
def test_two_functions_are_refuted_by_running_both(name: str) -> None:
    f, g, options = REFUTED[name]
    found = aj.equal(f, g, **options)
    assert isinstance(found, Refuted), found
    assert repr(found.counterexample.found) != repr(found.counterexample.wanted)


def test_the_counterexample_is_small_though_the_refuter_draws_large_residues() -> None:
    found = aj.equal(lambda x, y: x**3 + y, lambda x, y: x * (x * x + 2.0) + y)
    assert isinstance(found, Refuted)
    assert {k: float(v) for k, v in found.counterexample.inputs.items()} == {"x": 1.0, "y": 1.0}
    assert (found.counterexample.wanted, found.counterexample.found) == (2, 4)
    assert "in doubles 4.0 against 2.0" in found.counterexample.note


def test_a_difference_at_whole_numbers_says_at_which() -> None:
    def power(x, n: int):  # type: ignore[no-untyped-def]
        return x**n

    found = aj.equal(power, lambda x, n: x**n if n < 3 else x)
    assert isinstance(found, Refuted)
    assert found.counterexample.inputs["n"] >= 3


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((lambda x: x, lambda x, y: x), {}, "takes 1 arguments, the other 2"),
        ((lambda x: x, lambda x: x), {"over": "everything"}, "over is"),
        ((lambda x: x, lambda x: x), {"unroll": -1}, "unroll is"),
        ((lambda x: x, lambda x: x), {"types": ("f64[?]",)}, "no known number of parts"),
        ((lambda x: x, lambda x: x), {"types": ("f64", "f64")}, "2 types for 1 arguments"),
        ((lambda x: x, lambda x: x), {"invariant": lambda a, b: True}, "invariant is of two loops"),
        ((lambda x: x, 3), {}, "not a function"),
    ],
)
def test_bad_requests_are_refused(arguments: Any, options: dict[str, Any], match: str) -> None:
    with pytest.raises(Malformed, match=match):
        aj.equal(*arguments, **options)


def test_an_argument_of_no_known_type_is_out_of_scope_with_what_to_say() -> None:
    found = aj.equal(lambda x: x[0], lambda x: x[1])
    assert isinstance(found, OutOfScope)
    assert "types=" in found.why


# loops


def power(x, n: int):  # type: ignore[no-untyped-def]
    r = 1.0
    while n > 0:
        r = r * x
        n = n - 1
    return r + x


def otherwise_power(x, n: int):  # type: ignore[no-untyped-def]
    r = 2.0
    i = 0
    while i < n:
        r = x * r
        i = i + 1
    return x + r * 0.5


def halved(x):  # type: ignore[no-untyped-def]
    while x > 1.0:
        x = x / 2.0
    return x


def halved_so(x):  # type: ignore[no-untyped-def]
    while x > 1.0:
        x = x * 0.5
    return x


def quartered(x):  # type: ignore[no-untyped-def]
    while x > 1.0:
        x = x * 0.25
    return x


def invariant(text: str) -> Program:
    return parse_text(f"def invariant(a, b, n):\n    return {text}\n", "invariant")


COUNTS = "a['n'] == n - b['i']"


def test_loops_of_one_skeleton_are_proved_for_all_turns() -> None:
    found = aj.equal(halved, halved_so)
    assert isinstance(found, Proved)
    assert "induction" in found.by
    assert isinstance(aj.equal(halved, quartered), Refuted)


def test_loops_that_count_otherwise_are_proved_by_an_invariant() -> None:
    unrolled = aj.equal(power, otherwise_power)
    assert isinstance(unrolled, Passed)
    assert "0 to 4" in unrolled.what
    found = aj.equal(power, otherwise_power, invariant=invariant(f"b['r'] == 2.0 * a['r'] and {COUNTS}"))
    assert isinstance(found, Proved)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (f"b['r'] == a['r'] and {COUNTS}", "base"),
        (f"b['r'] >= a['r'] and {COUNTS}", "step"),
        (COUNTS, "use"),
        ("b['r'] == 2.0 * a['r']", "use"),
        ("n > n", "base"),
    ],
)
def test_a_wrong_invariant_is_refused_with_the_part_that_fails(text: str, part: str) -> None:
    found = aj.equal(power, otherwise_power, invariant=invariant(text))
    assert isinstance(found, Unknown)
    assert found.reason.startswith(part)


def test_no_invariant_proves_two_different_loops() -> None:
    def slower(x, n: int):  # type: ignore[no-untyped-def]
        r = 2.0
        i = 0
        while i < n:
            r = x * r
            i = i + 1
        return x + r * 0.25

    found = aj.equal(power, slower, invariant=invariant(f"b['r'] == 2.0 * a['r'] and {COUNTS}"))
    assert isinstance(found, Unknown)
    assert isinstance(aj.equal(power, slower), Refuted)


def test_a_loop_whose_turn_may_be_undefined_is_not_proved() -> None:
    def risky(x):  # type: ignore[no-untyped-def]
        while x > 1.0:
            x = x * 0.5 / (x - 4.0) * (x - 4.0)
        return x

    one, other = aj.parse(halved), aj.parse(risky)
    found = by_induction(one, other, None, None, RLIMIT, "one loop").verdict
    assert isinstance(found, Unknown)
    assert "undefined" in found.reason
    assert isinstance(by_induction(other, one, None, None, RLIMIT, "one loop").verdict, Proved)


# the command


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["prove", "--same", *arguments])


@pytest.mark.parametrize(
    ("f", "g", "more", "code", "said"),
    [
        ("horner", "powers", (), 0, "proved"),
        ("horner", "slip", (), 1, "at x = 1"),
        ("first", "ratio", (), 1, "the right side is undefined"),
        ("first", "ratio", ("--where", "y > 0"), 0, "proved"),
        ("mean_square", "two_means", ("--type", "f64[3]"), 0, "proved"),
        ("power", "doubled_power", ("--unroll", "2"), 0, "0 to 2"),
        ("power", "doubled_power", ("--invariant", f"{EXAMPLES}:counts_up"), 0, "induction"),
    ],
)
def test_the_command_compares_two_functions(f: str, g: str, more: tuple[str, ...], code: int, said: str) -> None:
    found = run(f"{EXAMPLES}:{f}", f"{EXAMPLES}:{g}", *more)
    assert (found.exit_code, said in found.output) == (code, True), found.output


def test_the_command_says_the_same_as_json() -> None:
    found = json.loads(run(f"{EXAMPLES}:horner", f"{EXAMPLES}:slip", "--json").output)
    assert (found["verdict"], found["inputs"], found["method"]) == ("Refuted", {"x": "1"}, "identity mod p")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        (("--same", f"{EXAMPLES}:horner"), "two functions, and 1 are named"),
        (("--same", f"{EXAMPLES}:horner", f"{EXAMPLES}:ratio"), "takes 1 arguments"),
        (("--same", f"{EXAMPLES}:horner", f"{EXAMPLES}:nothing"), "nothing"),
        (("--over", "bits"), "goes with --same"),
    ],
)
def test_the_command_refuses_what_it_cannot_compare(arguments: tuple[str, ...], match: str) -> None:
    found = CliRunner().invoke(app, ["prove", *arguments])
    assert isinstance(found.exception, Malformed)
    assert match in str(found.exception)
