"""
The subjects of `docs/agreement.md`: the corpora and the examples. Run as a script, this writes the page.

    python tests/agreement_page.py            write docs/agreement.md
    python tests/agreement_page.py loops      print the rows whose name contains "loops", and what was unexpected in them
"""

from __future__ import annotations

import sys
from pathlib import Path

import corpus
import language

from adjudge.functions import parse
from adjudge.values import to_value
from checkers.agreement.matrix import Row, Subject, page, row
from transforms.parse import parse_file

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "agreement.md"
EXAMPLES = ROOT / "examples"


def subjects() -> list[Subject]:
    """Every program, once: at the first point of its case."""
    found = [*_corpus(), *_language(), *_examples()]
    return list({str(s): s for s in reversed(found)}.values())[::-1]


def _corpus() -> list[Subject]:
    return [
        Subject(
            f"tests/corpus/{c.file}.py",
            c.name,
            lambda c=c: parse_file(corpus.FOLDER / f"{c.file}.py", c.name),
            lambda c=c: (float(c.points[0]),),
        )
        for c in corpus.CASES
    ]


def _language() -> list[Subject]:
    return [Subject(f"tests/language/{c.file}.py", c.name, c.program, c.values) for c in language.CASES]


def _examples() -> list[Subject]:
    from test_examples import NAMES, found

    def subject(case: str) -> Subject:
        file, name = case.split(":")
        return Subject(f"examples/{file}.py", name, lambda: parse(found(case)[0]), lambda: tuple(map(to_value, found(case)[1])))

    return [subject(case) for case in NAMES]


def rows(wanted: str = "") -> list[Row]:
    """The rows of the subjects whose name contains a text."""
    return [row(s) for s in subjects() if wanted in str(s)]


def main() -> None:
    sys.path.insert(0, str(EXAMPLES))
    found = rows(sys.argv[1] if len(sys.argv) > 1 else "")
    for each in found:
        for note in each.notes:
            sys.stderr.write(f"{each.subject}: {note}\n")
    text = page(found)
    if len(sys.argv) > 1:
        sys.stdout.write("\n".join(map(str, found)) + "\n")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
