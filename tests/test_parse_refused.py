"""
The negative corpus: Python outside the language is refused with its line and a remedy, and never with another error.

The files of `tests/refused` are data: small texts that each define `f`, under a title, with `# <-` on the line to be blamed.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semantics.errors import AdjudgeError, Malformed
from transforms.parse import functions_in, parse, parse_file, parse_text
from transforms.parse.subset import REFUSED

FOLDER = Path(__file__).parent / "refused"
MARK = "# <-"


def programs() -> list[tuple[str, str]]:
    """Every text of the corpus with its title."""
    found = []
    for file in sorted(FOLDER.glob("*.py")):
        for chunk in file.read_text().split("# --- ")[1:]:
            title, _, text = chunk.partition("\n")
            found.append((f"{file.stem}: {title}", text))
    return found


CORPUS = programs()


@pytest.mark.parametrize(("title", "text"), CORPUS, ids=[title for title, _ in CORPUS])
def test_a_program_outside_the_language_is_refused_at_its_line_with_a_remedy(title: str, text: str) -> None:
    with pytest.raises(Malformed) as raised:
        parse_text(text, "f", names={})
    error = raised.value
    wanted = next(i for i, line in enumerate(text.splitlines(), 1) if line.endswith(MARK))
    assert error.location is not None, error
    assert error.location.line == wanted, error
    assert len(error.what) > 5
    assert len(error.remedy) > 3
    assert error.location.text == text.split("\n")[wanted - 1]


def test_the_corpus_has_at_least_eighty_programs() -> None:
    assert len({text for _, text in CORPUS}) >= 80


def test_every_refused_form_has_a_program_in_the_corpus() -> None:
    met: set[type] = set()
    for _, text in CORPUS:
        try:
            met |= {type(node) for node in ast.walk(ast.parse(text))}
        except SyntaxError:
            continue
    # ast.walk meets these only inside functions that are async, which are refused as a whole
    assert set(REFUSED) - met <= {ast.AsyncWith}


def test_the_error_reads_well() -> None:
    with pytest.raises(Malformed) as raised:
        parse_text("def f(x):\n    y = x * 2\n    return y ^ x\n", "f", "model.py")
    assert str(raised.value) == (
        "Malformed: the operator ^ is not in the language\n"
        "  rule subset\n"
        "  model.py:3\n"
        "    return y ^ x\n"
        "           ^\n"
        "  try: write `!=` for booleans, `**` for powers"
    )


def test_unknown_names_suggest_the_nearest_known() -> None:
    with pytest.raises(Malformed, match="wieght") as raised:
        parse_text("def f(weight):\n    return wieght\n", "f")
    assert "weight" in raised.value.remedy
    with pytest.raises(Malformed) as raised:
        parse_text("def square(x):\n    return x * x\n", "sqare")
    assert "square" in raised.value.remedy


def test_the_caret_counts_characters_not_bytes() -> None:
    with pytest.raises(Malformed) as raised:
        parse_text("def f(λ):\n    return λ + missing\n", "f")
    assert raised.value.location is not None
    assert raised.value.location.column == len("    return λ + ")


# live objects that are no functions in the language


class Model:
    def method(self, x: float) -> float:
        return x


def generator(x):  # type: ignore[no-untyped-def]
    yield x


async def coroutine(x):  # type: ignore[no-untyped-def]
    return x


@functools.wraps(math.sin)
def wrapper(x):  # type: ignore[no-untyped-def]
    return x


SET_OF_WEIGHTS = {1.0, 2.0}


def uses_a_set(x):  # type: ignore[no-untyped-def]
    return sum(SET_OF_WEIGHTS) * x


def uses_a_class(x):  # type: ignore[no-untyped-def]
    return Model().method(x)


namespace: dict[str, object] = {}
exec("def without_source(x):\n    return x\n", namespace)
PAIR = (lambda x: x, lambda x: x)
ODD = [
    *(None, 3, "text", [], {}, math, math.sin, abs, int, print, Model, Model(), Model().method, object(), len.__call__),
    *(functools.partial(math.pow, 2.0), functools.lru_cache(lambda x: x), generator, coroutine, wrapper, uses_a_set, uses_a_class),
    *(namespace["without_source"], eval("lambda x: x")),
]


@pytest.mark.parametrize("odd", ODD, ids=[str(i) for i in range(len(ODD))])
def test_a_live_object_that_is_no_function_of_the_language_is_malformed(odd: object) -> None:
    with pytest.raises(Malformed) as raised:
        parse(odd)  # type: ignore[arg-type]
    assert raised.value.remedy


def uses_partial(x):  # type: ignore[no-untyped-def]
    return functools.partial(pow, x)(2.0)


def uses_dict(d):  # type: ignore[no-untyped-def]
    return dict(d)["w"]


@pytest.mark.parametrize(
    ("function", "what", "remedy"),
    [
        (uses_partial, "the class partial is not in the language", "write a def or a lambda"),
        (uses_a_class, "the class Model is not in the language", "derive it from NamedTuple"),
        (uses_dict, "the builtin dict is not in the language", r"d\.copy\(\)"),
    ],
)
def test_what_is_called_and_cannot_be_is_named_with_what_can(function: Callable[..., object], what: str, remedy: str) -> None:
    with pytest.raises(Malformed, match=f"(?s){what}.*{remedy}"):
        parse(function)


def test_lambdas_on_one_line_are_told_apart_or_refused() -> None:
    first, second = PAIR
    assert parse(first) == parse(second)
    two = (lambda x: x + 1.0, lambda x: x * 2.0)
    assert [str(parse(g)).count("mul(") for g in two] == [0, 1]


def test_files_that_cannot_be_read_are_malformed(tmp_path: Path) -> None:
    binary = tmp_path / "binary.py"
    binary.write_bytes(b"\xff\xfe\x00")
    empty = tmp_path / "empty.py"
    empty.write_text("")
    for path in (binary, tmp_path, tmp_path / "missing.py", "a\0b"):
        with pytest.raises(Malformed):
            functions_in(path)
    assert functions_in(empty) == []
    with pytest.raises(Malformed, match="no function called f"):
        parse_file(empty, "f")


def test_nesting_beyond_the_parser_of_python_is_malformed() -> None:
    for text in ("(" * 300 + "x" + ")" * 300, "+".join(["x"] * 50_000), "-" * 20_000 + "x"):
        with pytest.raises(Malformed):
            parse_text(f"def f(x):\n    return {text}\n", "f")


WORDS = st.one_of(
    st.sampled_from("():\n1+,[]xf.*@\t\0é'\"#;~="),
    st.sampled_from(
        ["def f(x):\n", "    ", "return ", "if ", "else", "while ", "lambda y: ", "for ", "in ", "range", "break", "and ", "not "]
    ),
)


@given(st.lists(WORDS, max_size=25).map("".join))
def test_no_text_whatever_raises_another_error(text: str) -> None:
    for source in (text, "def f(x):\n    return " + text.replace("\n", " "), "def f(x):\n    " + text):
        with contextlib.suppress(AdjudgeError):
            parse_text(source, "f")
