"""The page of a run: well-formed, self-contained, readable by everybody, and deaf to markup in what users write; its plots tell."""

from __future__ import annotations

import itertools
import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.html import judged, page, write
from adjudge.html.axes import linear, logarithmic, shown, symmetric
from adjudge.html.elements import VOID, Markup, element
from adjudge.html.plots import figure
from adjudge.html.style import SCRIPT, STYLE
from checkers.plots import Plot
from checkers.smt.inquiry import Judgment
from checkers.verdict import Counterexample, LedgerEntry, OutOfScope, Passed, Proved, Refuted, Report, Unknown, Vacuous
from semantics.errors import Malformed

EVIL = "<script>alert('x')</script><img src=x onerror=\"alert(1)\"> & </style></title>"
XS = tuple(k / 8 for k in range(-8, 9))


def line(found, wanted, at=0.5, **more):
    return Plot("line", "f: derivative by x", "x", "derivative by x", XS, tuple(found), tuple(wanted), tuple(wanted), at, **more)


def errors_plot(errors, allowed):
    return Plot("errors", "f: errors", "x", "error in ulp", XS, tuple(errors), (0.0,) * len(XS), (allowed,) * len(XS))


def report(word="f", plots=(), kind="fault"):
    """A report with a verdict of every kind, a word of the user's in every place."""
    c = Counterexample({word: 1.5, "source": f"{word}\n{word}"}, -0.5, (word, 0.5), word, f"# {word}\n", word, tuple(plots))
    verdicts = (
        Refuted(c, kind, word),
        Proved(word, "proof"),
        Passed(3, word, "jacobian"),
        Unknown(word, "tangent"),
        Vacuous(word, "vacuity"),
        OutOfScope(word, "kinks"),
    )
    ledger = (LedgerEntry("jacobian", 0.25), LedgerEntry(word, 0.0, word), LedgerEntry("inputs", 0.001))
    return Report(word, verdicts, ledger, 7, {word: word, "references": word}, tuple(plots))


class Read(HTMLParser):
    """What a page holds: elements with their attributes, and text; every tag must be closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        assert len(attributes) == len(dict(attributes)), f"an attribute twice: <{tag} {attributes}>"
        self.elements.append((tag, dict(attributes), list(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)

    def tags(self, name):
        return [attributes for tag, attributes, _ in self.elements if tag == name]


def read(*reports, **about):
    return Read(page(reports, title="adjudge check f.py", about=about))


PLOTS = (line([-x for x in XS], XS), errors_plot([1.0] * 16 + [1e6], 128.0))


@pytest.mark.parametrize("reports", [(), (report(),), (report(plots=PLOTS), report(EVIL, PLOTS)), (report(),) * 9])
def test_a_page_is_well_formed_needs_nothing_else_and_can_be_read_aloud(reports):
    found = read(*reports)
    ids = [a["id"] for _, a, _ in found.elements if "id" in a]
    assert len(ids) == len(set(ids))
    for _, attributes, _ in found.elements:
        assert not {"src", "srcset", "action", "data"} & attributes.keys()
        assert attributes.get("href", "#").startswith("#")
        targets = attributes.get("aria-labelledby", "").split() + ([attributes["href"][1:]] if "href" in attributes else [])
        assert set(targets) <= set(ids)
    assert "http" not in STYLE + SCRIPT
    assert "url(" not in STYLE + SCRIPT
    assert "@import" not in STYLE
    assert all(a.get("scope") in ("col", "row") for a in found.tags("th"))
    assert len(found.tags("caption")) == len(found.tags("table"))
    assert all(a.get("role") == "img" or a.get("aria-hidden") == "true" for a in found.tags("svg"))
    assert [a["lang"] for a in found.tags("html")] == ["en"]
    assert len(found.tags("h1")) == 1
    assert len(found.tags("h2")) == len(reports)


def test_a_primitive_named_to_inject_is_only_shown():
    clean, dirty = read(report("f", PLOTS), command="f"), read(report(EVIL, PLOTS), command=EVIL)
    assert [tag for tag, _, _ in clean.elements] == [tag for tag, _, _ in dirty.elements]
    assert dirty.text.count(EVIL) >= 12
    assert not any(name.startswith("on") for _, attributes, _ in dirty.elements for name in attributes)
    assert dirty.tags("script") == [{}]


@given(st.text())
def test_no_text_becomes_markup(word):
    plot = Plot("line", word, word, word, XS, XS, XS, XS, 0.5, word)
    clean = [tag for tag, _, _ in read(report("f", [Plot("line", "f", "f", "f", XS, XS, XS, XS, 0.5, "f")])).elements]
    assert [tag for tag, _, _ in read(report("x" + word, [plot])).elements if tag != "pre"] == [t for t in clean if t != "pre"]


def test_an_element_escapes_all_but_elements():
    assert element("p", "<b>", Markup("<i></i>"), None, ["&"], title='"') == '<p title="&quot;">&lt;b&gt;<i></i>&amp;</p>'
    assert (
        element("circle", stroke_width=2, open=True, hidden=False, class_="a")
        == '<circle stroke-width="2" open class="a"></circle>'
    )


def test_the_page_says_what_was_judged_and_what_was_not():
    text = read(report("suspect"), command="adjudge check f.py", Python="3.11").text
    for words in ("1 fault", "suspect", "adjudge check f.py", "3.11", "Not judged: 1", "on 3: suspect", "0x1.8p", "250", "seed: 7"):
        assert words in text, words
    for sign in ("✗ fault", "⊢ proved", "✓ passed", "? unknown", "∅ vacuous", "– out of scope"):
        assert sign in text, sign
    assert "◇ convention" in read(report(kind="convention")).text
    assert "≈ accuracy" in read(report(kind="accuracy")).text
    assert "no fault found" in read(Report("f", (Passed(3, "points", "jacobian"),))).text
    assert "1 not decided" in read(Report("f", (Unknown("too hard", "jacobian"),))).text


def test_faults_come_first_and_findings_that_are_alike_are_one():
    at_one, at_two = (Counterexample({"x": x}, 1.0, 2.0, f"at {x}") for x in (1.0, 2.0))
    found = Report(
        "f", (Refuted(at_one, "convention", "kinks"), Refuted(at_two, "fault", "edges"), Refuted(at_two, "fault", "zero"))
    )
    text = read(found).text
    assert text.index("edges, zero") < text.index("kinks")
    assert len(read(found).tags("article")) == 2


def test_proofs_have_a_page(tmp_path):
    proofs = [Judgment("add is right", "z3", Proved("z3", "add is right"), 0.5), Judgment("mul", "none", Unknown("timeout", "mul"))]
    write([judged(proofs)], tmp_path / "proofs.html", title="adjudge prove", command="adjudge prove add")
    text = Read((tmp_path / "proofs.html").read_text(encoding="utf-8")).text
    for words in ("add is right", "⊢ proved", "timeout", "500", "adjudge prove add", "Python"):
        assert words in text


def test_the_command_writes_the_page(adjudge, tmp_path):
    code, _, _ = adjudge("check", "exp", "--skip", "composition", "--skip", "proof", "--html", str(tmp_path / "exp.html"))
    assert code == 0
    found = Read((tmp_path / "exp.html").read_text(encoding="utf-8"))
    assert "adjudge check exp" in found.text
    assert "no point exceeds what rounding may cost" in found.text
    assert not found.tags("article")


def test_a_place_to_write_that_is_none_is_refused(tmp_path):
    with pytest.raises(Malformed, match="no folder"):
        write([], tmp_path / "none" / "a.html")
    with pytest.raises(Malformed, match="is a folder"):
        write([], tmp_path)


# colours


def luminance(colour):
    parts = [int(c, 16) / 255 for c in re.findall("..", colour if len(colour) == 6 else "".join(2 * c for c in colour))]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast(scheme):
    """WCAG 2 AA: 4.5 to 1 for text, 3 to 1 for the lines of a drawing."""
    colours = dict(re.findall(r"--([\w-]+): #(\w+);", re.findall(r":root \{[^}]*--paper[^}]*\}", STYLE)[scheme]))
    for text, ground in itertools.product(("ink", "soft", "found", "wanted", "bad", "warn", "note", "good"), ("paper", "sheet")):
        assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for name in ("good", "bad", "warn", "note"):
        assert contrast(colours[name], colours[f"{name}-tint"]) >= 4.5, name
    assert contrast(colours["soft"], colours["dull-tint"]) >= 4.5
    assert contrast(colours["found"], colours["band"]) >= 1.5, "found is drawn on the band"


# plots


def drawn(plot):
    found = Read(figure(plot, "p"))
    return found, [a.get("class", "") for _, a, inside in found.elements if "figcaption" not in inside]


def test_a_wrong_sign_is_seen_and_said():
    found, classes = drawn(line([-x for x in XS], XS))
    assert "At x = 0.5 the backpropagator answers −0.5; the reference says 0.5." in found.text
    assert "agree at 1 of 17 points" in found.text
    marks = {
        a["class"]: a for _, a, inside in found.elements if a.get("class", "").startswith("mark") and "figcaption" not in inside
    }
    assert float(marks["mark-found"]["cy"]) > float(marks["mark-wanted"]["y"]) + 100, "far below what was wanted"
    assert "gap" not in classes


def test_a_gap_is_seen_and_said():
    found, classes = drawn(line([math.nan if x == 0.5 else x for x in XS], XS))
    assert classes.count("gap") == 1
    assert "gives no number" in found.text
    assert classes.count("found") == 2, "the line is broken in two"
    _, classes = drawn(line(XS, XS))
    assert "gap" not in classes


def test_what_is_out_of_sight_has_an_arrow():
    _, classes = drawn(line([math.inf if x == 0.5 else x for x in XS], XS))
    assert classes.count("arrow") == 1
    _, classes = drawn(line([1e9 if x == 0.25 else x for x in XS], XS))
    assert classes.count("arrow") == 1
    assert "arrow" not in drawn(line(XS, XS))[1]


def test_errors_that_are_too_large_are_crossed():
    found, classes = drawn(errors_plot([2.0] * 16 + [1e6], 128.0))
    assert classes.count("cross") == 1
    assert "1 of the points exceed" in found.text
    found, classes = drawn(errors_plot([2.0] * 17, 128.0))
    assert "cross" not in classes
    assert "no point exceeds" in found.text


def test_errors_that_are_all_zero_are_nowhere_the_largest():
    found, _ = drawn(errors_plot([0.0] * 17, 128.0))
    assert "The largest error is 0 ulp; no point" in found.text


def test_a_plot_without_points_says_why():
    assert figure(Plot("line", "f", "x", "y", note="not drawn: too large"), "p") == '<p class="aside">not drawn: too large</p>'


ANY = st.floats()
ROWS = st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), ANY, ANY, ANY), min_size=1, max_size=20)


@given(ROWS, st.sampled_from(("line", "errors")), st.integers(0, 19))
def test_whatever_there_is_can_be_drawn_inside_its_frame(rows, kind, k):
    rows = sorted(rows)
    if kind == "errors":
        rows = [(x, math.inf if math.isnan(f) else abs(f), 0.0, abs(hi)) for x, f, _, hi in rows]
    else:
        rows = [(x, f, min(lo, hi), max(lo, hi)) if lo <= hi or hi < lo else (x, f, math.nan, math.nan) for x, f, lo, hi in rows]
    xs, found, lo, hi = zip(*rows, strict=True)
    text = figure(Plot(kind, "f", "x", "y", xs, found, lo, hi, xs[k % len(xs)]), "p")
    assert not re.search(r'="[^"]*\b(nan|inf)\b[^"]*"', text)
    for _, attributes, _ in Read(text).elements:
        for name, most in (("cx", 640), ("cy", 300), ("x1", 640), ("y1", 300), ("x", 640), ("y", 300)):
            assert -10 <= float(attributes.get(name, 0)) <= most + 10, attributes


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_axes_are_monotone_and_have_few_ticks_in_order(values):
    for axis in (linear(values), symmetric(values), logarithmic(0.25, 1e6)):
        numbers = [x for x, _ in axis.ticks]
        assert numbers == sorted(numbers)
        assert len(numbers) <= 13
        places = [axis.place(x) for x in sorted(values)]
        assert places == sorted(places)
    assert all(-1e-9 <= linear(values).place(x) <= 1 + 1e-9 for x in values)


@pytest.mark.parametrize(
    ("x", "text"), [(1e-9, "10⁻⁹"), (-2e20, "−2·10²⁰"), (0.25, "0.25"), (-1.0, "−1"), (math.nan, "not a number"), (-math.inf, "−∞")]
)
def test_numbers_are_written_for_people(x, text):
    assert shown(x) == text


def test_close_values_are_shown_from_one_of_them():
    axis = linear([-16.0 - 1e-9, -16.0, -16.0 + 1e-9], -16.0)
    assert axis.origin == "−16"
    assert "0" in [label for _, label in axis.ticks]
    assert not linear([-16.0, -15.0]).origin
