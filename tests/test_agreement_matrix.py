"""`docs/agreement.md` is true: every program of the corpora is in it, and its rows are what the modes say; in `deep`, all rows."""

from __future__ import annotations

import re

import pytest
from agreement_page import EXAMPLES, PAGE, subjects
from claims import examples

from checkers.agreement import ALL
from checkers.agreement.matrix import AGREES, DISAGREES, UNLISTED, Row, Subject, page, row
from checkers.agreement.reasons import REASONS, Reason, reason_of
from semantics.errors import IllTyped, Malformed
from semantics.text import read
from transforms.modes import MODES, Mode

TEXT = PAGE.read_text()
SUBJECTS = subjects()
EVERY = 24  # in the profiles that are not deep, one row in so many is made anew
SLOW = ("third_derivative_of_sine", "nested_three_deep", "second_derivative", "curvature", "mapped_over_two")


def written() -> dict[str, str]:
    """The rows of the page, by file and name of the program."""
    found: dict[str, str] = {}
    group = ""
    for line in TEXT.splitlines():
        if line.startswith("## "):
            group = line[3:]
        elif group and (name := re.match(r"\| (\w+) \|", line)) and name[1] != "program":
            found[f"{group}:{name[1]}"] = line
    return found


WRITTEN = written()
AGAIN = SUBJECTS if examples() > 1000 else [s for s in SUBJECTS if s.name not in SLOW][5::EVERY]


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


def test_every_program_of_the_corpora_is_in_the_page_once() -> None:
    assert list(WRITTEN) == [str(s) for s in SUBJECTS]
    assert len(SUBJECTS) > 280
    assert f"{len(SUBJECTS)} programs" in TEXT


@pytest.mark.parametrize("subject", AGAIN, ids=str)
def test_a_row_is_what_the_modes_say(subject: Subject) -> None:
    found = row(subject)
    assert not found.notes, found.notes
    assert str(found) == WRITTEN[str(subject)]


def test_no_mode_disagrees_and_every_reason_is_listed_and_used() -> None:
    signs = [sign for line in WRITTEN.values() for cell in line.split("|")[2:-1] for sign in cell.split()]
    assert DISAGREES not in signs
    assert UNLISTED not in signs
    assert {s for s in signs if s != AGREES} == {str(r.number) for r in REASONS}
    assert [r.number for r in REASONS] == list(range(1, len(REASONS) + 1))
    for reason in REASONS:
        assert f"{reason.number}. {reason.text}" in TEXT


def test_j_and_its_oracles_answer_everywhere() -> None:
    """What J does not reach the language does not hold; the reference is never missing."""
    for name, line in WRITTEN.items():
        cells = [c.strip() for c in line.split("|")[2:-1]]
        assert len(cells) == len(ALL)
        assert cells[0] == f"{AGREES} {AGREES}", name


# the page and its reasons are themselves judged

SQUARE = Subject("a.py", "square", lambda: read("program @f\n@f(%x: f64):\n  %a = mul(%x, %x)\n  return %a"), lambda: (3.0,))


def refusing(monkeypatch, error: Exception) -> str:
    def expand_j(program, place):
        raise error

    monkeypatch.setitem(MODES, "refusing", Mode("refusing", "refuses", "", expand_j))
    return "refusing"


def test_a_refusal_for_a_reason_that_is_not_listed_is_noted(monkeypatch) -> None:
    mode = refusing(monkeypatch, Malformed("for no known reason", rule="planted"))
    found = row(SQUARE, ("J", mode, "forward"))
    assert found.cells == ("✓ ✓", UNLISTED, "✓ ✓")
    assert len(found.notes) == 2
    assert "for no known reason" in found.notes[0]


def test_a_wrong_mode_is_noted(monkeypatch) -> None:
    def wrong(program, place):
        from semantics.edit import Edit
        from semantics.ir import Apply
        from semantics.primitives.table import TABLE
        from transforms import grad

        made = grad.SYSTEM.run(grad.begin(program, place))
        edit = Edit(made)
        for node in [n for n in made.nodes if isinstance(made.nodes[n], Apply) and made.callee(n) is TABLE["gadd"]]:
            edit.set_inputs(node, (edit.constant(TABLE["gadd"]), made.inputs(node)[1], made.inputs(node)[1]))
            edit.replace(node, made.inputs(node)[1])
        return edit.program

    monkeypatch.setitem(MODES, "wrong_sum", Mode("wrong_sum", "wrong", "", wrong))
    assert row(SQUARE, ("J", "wrong_sum", "forward")).cells[1].startswith(DISAGREES)


def test_a_reason_fits_by_kind_rule_and_words() -> None:
    reason = Reason(1, "too many", "Malformed", ("ssa",), ("irreducible",))
    assert reason.fits(Malformed("an irreducible loop", rule="ssa"))
    assert not reason.fits(Malformed("an irreducible loop", rule="J"))
    assert not reason.fits(Malformed("a loop", rule="ssa"))
    assert not reason.fits(IllTyped("an irreducible loop", rule="ssa"))
    assert reason_of(Malformed("for no known reason", rule="planted")) is None


def test_the_page_counts_its_rows() -> None:
    rows = [Row("a.py:f", ("✓ ✓", "✓ 1")), Row("a.py:g", ("✓ ✓", "2")), Row("b.py:h", ("✗", "✓ ✓"))]
    text = page(rows, ("J", "ssa"))
    assert "| J | 2 | 0 | 0 | 1 |" in text
    assert "| ssa | 1 | 1 | 1 | 0 |" in text
    assert "3 programs in 2 files" in text
    assert text.index("## a.py") < text.index("| g | ✓ ✓ | 2 |") < text.index("## b.py")
