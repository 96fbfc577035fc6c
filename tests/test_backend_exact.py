"""Elementary functions without a call: they have the bits of `math`, or are not used; and sums in loops that are vectorised."""

import math
import struct
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import adjudge as aj
from backend import toolchain
from backend.exact import trial
from backend.exact.alone import SCALED
from backend.exact.exponential import STEPS, table
from backend.exact.hyperbolic import HALF, LARGE, MOST, ONE_FROM
from semantics.columns.elementary import ELEMENTARY
from semantics.values import same

SPECIAL = (
    0.0,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    710.0,
    709.782712893384,
    -745.1332191019412,
    -708.4,
    -512.0,
    22.0,
    -1.0,
)
NAMES = tuple(trial.RANGES)
FUNCTIONS = tuple((name, alone) for name in NAMES for alone in (False, True) if not alone or name in toolchain.ALONE)


def bits(x):
    return struct.pack("<d", x)


def of_word(word):
    return struct.unpack("<d", struct.pack("<q", word))[0]


@pytest.mark.parametrize(("name", "alone"), FUNCTIONS)
@given(st.one_of(st.floats(), st.floats(-746.0, 711.0), st.floats(-746.0, -512.0), st.floats(-3.0, 3.0), st.sampled_from(SPECIAL)))
def test_the_bits_are_those_of_the_c_library(name, alone, x):
    variant = trial.variant(name, alone)
    event(f"{name}: {variant or 'none'}")
    assert not variant or same(trial.candidates(name, alone)[variant](x), ELEMENTARY[name](x))


def beside(x):
    return (math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf))


@pytest.mark.parametrize("fused", ["fused", "plain"])
@pytest.mark.parametrize("name", toolchain.ALONE)
def test_a_number_by_itself_has_the_bits_of_one_in_a_lane_where_its_way_changes(name, fused):
    """At every k of twice a number, where the ways for small, middle and large numbers meet, and at what is special."""
    if fused not in trial.candidates(name):
        pytest.skip("the processor has no such instruction")
    alone, lane = trial.candidates(name, True)[fused], trial.candidates(name)[fused]
    limits = (HALF, HALF / 2.0, 1.0, SCALED, ONE_FROM, LARGE, MOST, *((k + 0.5) * math.log(2.0) / 2.0 for k in range(65)), *SPECIAL)
    for x in (s * y for limit in limits for y in beside(limit) for s in (1.0, -1.0)):
        assert bits(alone(x)) == bits(lane(x)) or (x != x and alone(x) != alone(x))  # noqa: PLR0124  a NaN is not itself


@pytest.mark.parametrize(("name", "alone"), FUNCTIONS)
def test_a_candidate_with_other_roundings_is_refused(name, alone):
    variant, candidates = trial.variant(name, alone), trial.candidates(name, alone)
    others = {other: f for other, f in candidates.items() if other != variant}
    assert others
    assert trial.chosen(name, others) == ""
    assert trial.chosen(name, candidates | {"library": ELEMENTARY[name]}) == (variant or "library")


def off_at_few(function):
    """In the last bit, at one point of 500."""
    return lambda x: math.nextafter(function(x), 0.0) if abs(x) * 2**20 % 1.0 < 2.0**-9 else function(x)


EXP, TANH, COSH = (ELEMENTARY[name] for name in ("exp", "tanh", "cosh"))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("exp", lambda x: 0.0 if x < -708.4 else EXP(x)),  # no subnormal results
        ("exp", lambda x: math.inf if x > 709.78 else EXP(x)),  # overflow too early
        ("exp", lambda x: EXP(-700.0) if x < -700.0 else EXP(x)),
        ("exp", lambda x: math.nan if abs(x) == math.inf else EXP(x)),
        ("tanh", lambda x: TANH(abs(x)) if x == 0.0 else TANH(x)),  # no negative zero
        ("tanh", lambda x: math.copysign(1.0, x) if abs(x) > 18.0 else TANH(x)),
        ("cosh", lambda x: EXP(abs(x)) / 2.0 if abs(x) > 22.0 else COSH(x)),  # overflow too early
        ("cosh", lambda x: 1.0 if abs(x) < 2.0**-24 else COSH(x)),
        *((name, off_at_few(ELEMENTARY[name])) for name in NAMES),
    ],
)
def test_a_wrong_candidate_is_refused(name, wrong):
    assert trial.chosen(name, {"wrong": wrong}) == ""
    assert trial.chosen(name, {"wrong": wrong, "right": ELEMENTARY[name]}) == "right"


@pytest.mark.parametrize("name", NAMES)
def test_the_variants_differ_where_it_is_asked_which_the_library_has(name):
    candidates = trial.candidates(name).values()
    for x in trial.TELLING[name]:
        assert len({f(x) for f in candidates}) == len(candidates)


@pytest.mark.parametrize(("name", "alone"), FUNCTIONS)
def test_the_variants_differ_at_many_of_the_points_that_are_tried(name, alone):
    """At n of them, so that a variant which differs as often, at random, is missed with probability e^-n."""
    fused, plain = trial.candidates(name, alone).values()
    assert sum(fused(x) != plain(x) for x in trial.points(name) if x == x) >= 18  # noqa: PLR0124  a NaN is not itself


def test_a_source_without_these_functions_looks_for_none(monkeypatch):
    monkeypatch.setattr(trial, "variant", lambda name, alone=False: pytest.fail("nothing is called"))
    assert toolchain.variants("y = _log(x)") == {}
    assert toolchain.bindings("cpu", "y = _log(x)")["_log"] is math.log


@pytest.mark.parametrize("name", NAMES)
def test_without_a_candidate_the_c_library_is_called(name, monkeypatch):
    source, variant = f"y = _{name}(x)", trial.variant(name)
    assert (toolchain.bindings("cpu", source)[f"_{name}"] is getattr(math, name)) == (not variant)
    monkeypatch.setattr(trial, "variant", lambda name, alone=False: "")
    for vectors in (toolchain.IN_VECTORS, ()):
        assert toolchain.bindings("cpu", source, vectors=vectors)[f"_{name}"] is getattr(math, name)


def test_a_number_by_itself_takes_one_way_where_that_is_sooner():
    source = "y = _exp(_tanh(_cosh(x)))"
    alone, lanes = toolchain.bindings("cpu", source, vectors=()), toolchain.bindings("cpu", source)
    for name in toolchain.ALONE:
        assert alone[f"_{name}"] is lanes[f"_lone_{name}"]
        assert (alone[f"_{name}"] is getattr(math, name)) == (not trial.variant(name, True))
        assert (alone[f"_{name}"] is lanes[f"_{name}"]) == (not trial.variant(name))
    assert alone["_exp"] is lanes["_exp"]


def test_a_number_by_itself_calls_the_library_where_there_are_frames():
    source = "integers[s1] = 1\ny = _tanh(x)"
    assert toolchain.bindings("cpu", source, vectors=())["_tanh"] is math.tanh
    other = source.replace("integers[s1]", "memory = _cells(integers[5:])\nreals[s1]")
    assert (toolchain.bindings("cpu", other, vectors=())["_tanh"] is math.tanh) == (not trial.variant("tanh", True))


def test_a_number_by_itself_calls_the_library_where_its_own_way_has_other_bits(monkeypatch):
    """What is known of lanes does not say it."""
    chosen = trial.variant
    monkeypatch.setattr(trial, "variant", lambda name, alone=False: "" if alone else chosen(name))
    found = toolchain.bindings("cpu", "y = _tanh(x)", vectors=())
    assert found["_tanh"] is found["_lone_tanh"] is math.tanh
    assert toolchain.elementary("y = _tanh(x)").endswith(" {}")


def test_only_what_a_loop_over_elements_calls_may_be_in_vectors():
    source = """
def kernel(a, x):
    while True:
        for k in range(a.size):
            if a[k] > 0.0:
                a[k] = _tanh(a[k])

            b = _f32(a[k])
        x = _cosh(x)
        for k in range(a.size): a[k] = _exp(a[k])
    return _exp(x)
"""
    assert toolchain.in_loops(source) == {"tanh", "exp"}
    found, all_of_it = toolchain.bindings("cpu", source, vectors={"tanh"}), toolchain.bindings("cpu", source)
    assert found["_cosh"] is all_of_it["_lone_cosh"]
    assert found["_tanh"] is all_of_it["_tanh"]


def test_the_table_has_the_roots_of_two():
    """s is nearest, so |t| is at most 2^-53; t is rounded, so s (1 + t) is within 2^-106 of the root, and 2 at most."""
    words = table()
    with localcontext() as context:
        context.prec = 60
        for i in range(STEPS):
            t = of_word(words[2 * i])
            s = 2.0 * of_word(words[2 * i + 1] + (i << 52) // STEPS)
            assert abs(t) <= 2.0**-53
            assert abs(Decimal(s) * (1 + Decimal(t)) - Decimal(2) ** (Decimal(i) / STEPS)) <= 2 * Decimal(2) ** -106


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


GRADIENT = aj.compile(aj.grad(log_sum_exp))


@pytest.mark.parametrize("size", [1, 7, 8, 9, 31, 1000])
def test_a_vectorised_sum_keeps_its_order(size):
    """Terms of very different sizes, so that another order would show."""
    random = np.random.default_rng(size)
    x = random.normal(size=size) * 10.0 ** random.integers(-3, 3, size=size)
    assert GRADIENT(x).tobytes() == aj.run(aj.grad(log_sum_exp), x).tobytes()


def extremes(x):
    return np.max(x), np.min(x)


COMPILED_EXTREMES = aj.compile(extremes)


@given(st.lists(st.one_of(st.sampled_from((0.0, -0.0, math.nan, math.inf, -math.inf, 1.0)), st.floats()), min_size=1, max_size=12))
def test_an_extreme_is_the_first_of_equals_and_nan_where_there_is_one(items):
    event("with NaN" if any(map(math.isnan, items)) else "without")
    assert same(COMPILED_EXTREMES(np.array(items)), aj.run(extremes, np.array(items)))


def recurrent(x, n):
    h = 0.0
    for _ in range(n):
        h = math.tanh(x * h + x)
    return h + math.cosh(h)


COMPILED_RECURRENT = aj.compile(recurrent)


@given(st.one_of(st.floats(-12.0, 12.0), st.floats()), st.integers(0, 4))
def test_numbers_of_a_loop_that_wait_for_each_other_have_the_bits_of_the_reference(x, n):
    assert same(COMPILED_RECURRENT(x, n), aj.run(recurrent, x, n))


def elementary(x):
    return np.exp(x), np.tanh(x), np.cosh(x)


def test_special_values_in_lanes():
    compiled, x = aj.compile(elementary), np.array(SPECIAL * 3)
    for _ in range(2):
        for name, found in zip(NAMES, compiled(x), strict=True):
            assert found.tobytes() == b"".join(bits(ELEMENTARY[name](v)) for v in x.tolist())
