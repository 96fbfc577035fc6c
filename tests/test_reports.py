"""Reports as data and as text: JSON that reads back bit for bit, lines that fit, plots that show the error, and JUnit XML."""

# ruff: noqa: PLW0108  (a lambda around a library function is a subject of its own: it can be parsed)
from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adjudge.cli.reports import print_overview, print_report
from adjudge.primitives import primitive
from checkers.plots import Plot, errors, errors_of, line, scalar_line
from checkers.primitive_audit import check
from checkers.primitive_audit.build import of_row, row_in
from checkers.report_json import MANY, Printed, decode, encode
from checkers.showing import COLUMNS, exactly
from checkers.verdict import (
    KINDS,
    Counterexample,
    LedgerEntry,
    OutOfScope,
    Passed,
    Proved,
    Refuted,
    Report,
    Unknown,
    Vacuous,
    alike,
    telling,
)
from semantics.errors import Malformed

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "primitives.py"
QUICK = ("composition", "optimizer", "second order", "proof", "vacuity")

# any value and any report

DTYPES = st.sampled_from(["f2", "f4", "f8", ">f8", "i4", "i8", "u1", "bool", "c16"]).map(np.dtype)


@st.composite
def arrays(draw):
    array = draw(hnp.arrays(draw(DTYPES), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
    layout = draw(st.sampled_from("CFS"))
    if layout == "S":
        return np.repeat(array, 2, axis=0)[::2] if array.ndim else array
    return np.array(array, order=layout)


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.fractions()
    | st.complex_numbers()
    | arrays()
    | st.floats(width=32).map(np.float32)
    | st.floats().map(np.float64)
    | st.booleans().map(np.bool_)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.just("$float"), inner, max_size=2)
        | st.dictionaries(st.integers(), inner, max_size=2)
    ),
    max_leaves=5,
)
SERIES = st.lists(st.floats(), max_size=4).map(tuple)
PLOTS = st.lists(st.builds(Plot, st.sampled_from(("line", "errors")), *[st.text()] * 3, *[SERIES] * 4, st.floats()), max_size=2)
SAID = st.text(max_size=8)
REFUTED = st.builds(
    Refuted,
    st.builds(Counterexample, st.dictionaries(SAID, VALUES, max_size=3), VALUES, VALUES, SAID, SAID, SAID, PLOTS.map(tuple)),
    st.sampled_from(KINDS),
    SAID,
)
VERDICTS = (
    REFUTED
    | st.builds(Passed, st.integers(0), SAID, SAID)
    | st.sampled_from((Proved, Unknown, Vacuous, OutOfScope)).flatmap(lambda kind: st.builds(kind, SAID, SAID))
)
REPORTS = st.builds(
    Report,
    SAID,
    st.lists(VERDICTS, max_size=4).map(tuple),
    st.lists(st.builds(LedgerEntry, SAID, st.floats(0, 1e6), SAID), max_size=3).map(tuple),
    st.none() | st.integers(0, 2**40),
    st.dictionaries(SAID, VALUES, max_size=3),
    PLOTS.map(tuple),
)


def strict(text):
    """JSON as a strict reader reads it: no NaN, no Infinity."""

    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


def same(a, b):
    """Same type, same structure, and the same bits in every number; one NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        kept = a.shape == b.shape and a.dtype.newbyteorder("=") == b.dtype
        fortran = [v.flags.f_contiguous and not v.flags.c_contiguous for v in (a, b)]
        return kept and fortran[0] == fortran[1] and all(map(same, a.ravel().tolist(), b.ravel().tolist()))
    if isinstance(a, np.generic):
        return a.dtype == b.dtype and same(a.item(), b.item())
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or a.hex() == b.hex()
    return a == b


@given(VALUES)
def test_a_value_reads_back_bit_for_bit(value):
    event(type(value).__name__)
    assert same(value, decode(strict(json.dumps(encode(value), allow_nan=False))))


@given(st.integers(MANY + 1, MANY + 50), DTYPES, st.booleans())
def test_a_long_array_reads_back_too(size, dtype, fortran):
    array = np.random.default_rng(size).integers(0, 100, size).astype(dtype)
    array = np.asfortranarray(np.stack([array, array])) if fortran else array
    written = encode(array)
    assert "bytes" in written
    assert same(array, decode(strict(json.dumps(written))))
    assert "bytes" not in encode(array.ravel()[:MANY])


def test_what_json_has_no_form_for_reads_back_as_text():
    for value in (np.arange(2, dtype=np.longdouble), np.longdouble(1) / 3, math.sin, {1, 2}, np.zeros(2, dtype="datetime64[s]")):
        read = decode(strict(json.dumps(encode(value))))
        assert read == Printed(str(value), type(value).__name__)
        assert decode(encode(read)) == read
        assert str(read) == str(value)


@given(REPORTS)
def test_a_report_reads_back(report):
    text = report.to_json()
    read = Report.from_json(text)
    assert strict(text)["schema"] == 1
    assert read.to_json() == text
    assert str(read) == str(report)
    assert read.exit_code == report.exit_code


def test_exact_values_stand_beside_readable_ones():
    c = Counterexample({"x": 0.1, "y": np.array([1.5, math.inf])}, math.nan, Fraction(1, 3))
    (entry,) = strict(Report("f", (Refuted(c, "fault", "jacobian"),)).to_json())["verdicts"]
    assert entry["inputs"]["x"] == "0.1 (0x1.999999999999ap-4)"
    assert entry["exact"]["inputs"][0] == ["x", {"$float": "0x1.999999999999ap-4", "decimal": 0.1}]
    assert entry["exact"]["inputs"][1][1]["decimal"] == [1.5, "Infinity"]
    assert entry["exact"]["found"] == {"$float": "nan", "decimal": "NaN"}
    assert entry["exact"]["wanted"] == {"$fraction": "1/3"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', '{"schema": 1}', '{"schema": 1, "verdicts": [3]}'])
def test_what_is_no_report_is_refused(text):
    with pytest.raises(Malformed) as caught:
        Report.from_json(text)
    assert "to_json" in caught.value.remedy


# text


@given(st.dictionaries(st.sampled_from("xyz"), arrays() | st.floats() | st.lists(st.floats(), max_size=2).map(tuple)), arrays())
def test_the_lines_of_a_counterexample_fit(inputs, found):
    shown = str(Counterexample(inputs, found, 0.0, "a cause of some length " * 9, note="d out[0] / d x[0, 2]; " * 9))
    for text in shown.splitlines():
        assert len(text) <= COLUMNS or " " not in text.strip(), text


def test_short_arrays_are_exact_and_long_ones_are_cut():
    third = np.array([[1 / 3, -0.0]])
    assert exactly(third) == "[[0.3333333333333333, -0.0]]"
    assert exactly(np.float32([0.1])) == "[0.1] in float32"
    assert exactly(np.float64([0.5])) == "[0.5]"
    assert exactly(np.array(-0.0)) == "array(-0.0)"
    assert exactly((np.array(3, dtype=np.int64), np.float64(0.5))) == "(array(3) in int64, 0.5 (0x1.0000000000000p-1))"
    assert exactly(np.zeros((0, 3))) == "an array of shape (0, 3)"
    assert exactly(np.zeros((9, 9))) == "an array of shape (9, 9)"
    c = Counterexample({"x": np.arange(600.0).reshape(20, 30), "y": 2.0}, 1.0, 2.0, note="d out[1] / d x[0, 2]")
    lines = str(c).splitlines()
    assert lines[0] == "at x of shape (20, 30), y = 2.0 (0x1.0000000000000p+1)"
    assert lines[1] == "    x = [[0, 1, ..., 28, 29],"
    assert lines[3] == "         ...,"
    assert "d out[1] / d x[0, 2]" in lines[-1]
    assert "in Fortran order" in str(Counterexample({"x": np.ones((9, 9), order="F")}, 1.0, 2.0))


def test_findings_that_are_alike_are_shown_once_long_arrays_are_told_apart():
    a, b = np.zeros(50), np.zeros(50)
    b[25] = 1e-300
    found = [
        Refuted(Counterexample({"x": x}, 1.0, 2.0, note=note), "fault", "edges") for x, note in ((a, ""), (b, ""), (a, "longer"))
    ]
    assert [len(group) for group in alike(found)] == [2, 1]
    assert telling(alike(found)[0]).note == "longer"


def test_a_report_is_printed_and_several_have_a_table(capsys):
    c = Counterexample({"x": np.arange(40.0)}, 1.0, 2.0, "wrong sign", "exit(1)", "d out / d x[3]")
    bad = Report("bad", (Refuted(c, "fault", "jacobian"), Passed(3, "points", "edges")), (LedgerEntry("tangent", 0.0, "no " * 90),))
    good = Report("good", (Passed(3, "points", "jacobian"),), (LedgerEntry("jacobian", 0.5),))
    print_report(bad)
    print_overview([bad, good])
    lines = [text.rstrip() for text in capsys.readouterr().out.splitlines()]
    assert all(len(text) <= COLUMNS for text in lines)
    assert lines[0] == "bad: refuted (fault): at x of shape (40,)"
    for text in ("fault: jacobian", "  cause  wrong sign", "  a script that shows it alone", "    exit(1)"):
        assert text in lines
    assert lines[-3].split() == ["subject", "verdict", "fault", "accuracy", "convention", "undecided", "seconds"]
    assert lines[-2].split() == ["bad", "fault:", "jacobian", "1", "0", "0", "0", "0.00"]
    assert lines[-1].split()[-5:] == ["0", "0", "0", "0", "0.50"]


# plots


def subject(forward, rule):
    p = primitive(forward, name="suspect")
    p.backpropagator(rule)
    return of_row(row_in(p), seed=0, examples=60)


def at(plot):
    k = plot.xs.index(plot.at)
    return plot.found[k], plot.lo[k], plot.hi[k]


SINE = (lambda x: math.sin(x), lambda x, out, d: (d * math.cos(x),))
TURNED = (lambda x: math.sin(x), lambda x, out, d: (-d * math.cos(x),))
HOLED = (lambda x: math.sin(x), lambda x, out, d: (d * math.cos(x) * (x / x),))
CANCELLED = (lambda x: math.expm1(x), lambda x, out, d: (d * (out + 1.0),))


def test_a_line_shows_a_right_rule_inside_its_bounds_and_a_turned_one_outside():
    for rule, wrong in ((SINE, False), (TURNED, True)):
        plot = scalar_line(subject(*rule), (1.0,), 0)
        assert len(plot.xs) > 100
        assert (plot.xs[0], plot.xs[-1], plot.at) == (0.0, 2.0, 1.0)
        outside = [not lo <= f <= hi for f, lo, hi in zip(plot.found, plot.lo, plot.hi, strict=True)]
        assert sum(outside) == (len(plot.xs) if wrong else 0)


def test_a_line_goes_through_a_hole():
    plot = scalar_line(subject(*HOLED), (0.0,), 0)
    found, lo, hi = at(plot)
    assert math.isnan(found)
    assert lo <= 1.0 <= hi
    assert sum(map(math.isnan, plot.found)) == 1


def test_a_line_is_so_narrow_that_an_error_of_rounding_is_seen():
    plot = scalar_line(subject(*CANCELLED), (-20.0,), 0)
    found, lo, hi = at(plot)
    error = max(lo - found, found - hi)
    assert error > 0
    assert max(plot.hi) - min(plot.lo) <= 12 * error, "the reference moves by twelve times the error at most"
    assert 0 < plot.xs[-1] - plot.xs[0] < 1e-3


def test_there_is_no_line_through_infinity():
    plot = scalar_line(subject(*SINE), (math.inf,), 0)
    assert not plot.xs
    assert "inf" in plot.note


def test_errors_over_the_domain_tell_right_from_wrong_and_from_rough():
    right, turned, rough = (errors(subject(*rule)) for rule in (SINE, TURNED, CANCELLED))
    assert len(right.xs) > 200
    assert right.xs[0] < -(2.0**30)
    assert right.xs[-1] > 2.0**30
    over = [sum(f > hi or f == math.inf for f, hi in zip(p.found, p.hi, strict=True)) / len(p.xs) for p in (right, turned, rough)]
    assert over[0] == 0
    assert over[1] > 0.9
    assert 0 < over[2] < 0.6
    assert all(x < 0 for x, f, hi in zip(rough.xs, rough.found, rough.hi, strict=True) if f > hi)


def test_lines_and_errors_of_functions_on_arrays():
    from checkers.array_audit.build import of_functions as on_arrays

    samples = [(np.array([0.5, -1.0, 2.0]),)]
    turned = on_arrays(lambda x: x * x, lambda x, y, d: (-2 * x * d,), samples, seed=0, examples=4)
    case = turned.cases[0]
    plot = line(turned, case, 1, 1)
    found, lo, hi = at(plot)
    assert (found, plot.at) == (-2 * plot.at, case.coordinates[1])
    assert lo <= 2 * plot.at <= hi
    assert plot.across == "x[1]"
    worst = errors_of(turned)
    assert max(worst.found) > 1e15
    right = on_arrays(lambda x: x * x, lambda x, y, d: (2 * x * d,), samples, seed=0, examples=4)
    assert all(f <= hi or math.isnan(hi) for f, hi in zip(errors_of(right).found, errors_of(right).hi, strict=True))


def test_cases_without_outputs_have_no_errors_to_draw():
    from checkers.array_audit.build import of_functions as on_arrays

    trial = on_arrays(lambda x: x[1:] * 2, lambda x, y, d: (np.append(0 * x[:1], 2 * d),), [(np.ones(2),)], seed=0, examples=2)
    full, empty = trial.case((np.ones(2),)), trial.case((np.ones(1),))
    assert empty.outputs == 0
    trial.cases = (full, empty)
    plot = errors_of(trial)
    assert plot.xs == (1.0, 1.0)
    assert plot.found == (0.0, 0.0)
    trial.cases = (empty,)
    assert "no reference" in errors_of(trial).note


def test_a_case_that_is_too_large_is_not_drawn():
    from checkers.array_audit.build import of_functions as on_arrays

    trial = on_arrays(lambda x: x.sum(), lambda x, y, d: (np.full(x.shape, d),), [(np.zeros(2),)], seed=0, examples=1)
    plot = line(trial, trial.case((np.zeros(5000),)), 0, 0)
    assert not plot.xs
    assert "not drawn" in plot.note


def test_findings_carry_their_line_and_reports_their_errors_verdicts_nothing_of_them():
    p = primitive(lambda x: math.sin(x), name="turned")
    p.backpropagator(lambda x, out, d: (-d * math.cos(x),))
    report = check(p, examples=60, skip=QUICK)
    plots = [f.counterexample.plots for f in report.findings if f.claim in ("jacobian", "edges")]
    assert plots
    assert all(len(some) == 1 and some[0].kind == "line" and some[0].xs for some in plots)
    assert [plot.kind for plot in report.plots] == ["errors"]
    assert "Plot(" not in repr(report)
    assert Report.from_json(report.to_json()).plots[0].xs == report.plots[0].xs


# JUnit


def test_junit_xml_holds_findings_and_properties(tmp_path):
    file = tmp_path / "some.py"
    text = EXAMPLES.read_text()
    start, end = text.index("@aj.primitive\ndef gauss"), text.index("@aj.primitive\ndef expm1_bad")
    file.write_text(text[: text.index("@aj.primitive\ndef softplus")] + text[start:end])
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--adjudge", str(file), "--junitxml=out.xml"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    cases = {case.get("name"): case for case in ET.parse(tmp_path / "out.xml").getroot().iter("testcase")}
    assert cases.keys() == {"gauss", "softplus_wrong"}
    said = {name: {p.get("name"): p.get("value") for p in case.iter("property")} for name, case in cases.items()}
    assert said["gauss"]["adjudge.seed"] == "0"
    assert "ball arithmetic" in said["gauss"]["adjudge.references"]
    assert said["gauss"]["adjudge.fault"] == "0"
    assert int(said["softplus_wrong"]["adjudge.fault"]) > 0
    (failure,) = cases["softplus_wrong"].iter("failure")
    for words in ("wrong sign", "jacobian: refuted (fault)", "edges: refuted (fault)", "found", "wanted", "0x"):
        assert words in (failure.text or "")
    assert not list(cases["gauss"].iter("failure"))
