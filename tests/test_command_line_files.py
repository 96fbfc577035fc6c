"""Wrong files and options: every command ends with exit code 2, one of our errors, its place where it has one, and a remedy."""

from __future__ import annotations

import pytest

from semantics.errors import WIDEST, Location

FILES = {
    "good.py": b"def f(x):\n    return x * 2.0\n",
    "empty.py": b"",
    "open.py": b"x = 1\ndef f(x:\n    return x\n",
    "encoded.py": b"# coding: no-such-code\ndef f(x):\n    return x\n",
    "binary.py": bytes(range(256)),
    "raises.py": b"def half(x):\n    return x / 0\n\nhalf(1)\n",
    "two.py": b"def f(x):\n    return x\n\ndef g(x):\n    return x\n",
}
READ = (("run", "{}", "2.0"), ("step", "{}", "2.0"), ("step", "{}", "-t", "parse"), ("show", "{}"), ("infer", "{}", "f64"))
READ += (("crosscheck", "{}"), ("agree", "{}", "2.0"), ("prove", "--same", "{}", "{}"))
IMPORTED = (("check", "{}"), ("audit", "{}"), ("prove", "{}"), ("audit", "--jax-jit", "{}", "2.0"))
LONG = "long" * 100 + ".py"

FOR_ALL = {
    "a missing file": ("none.py:f", "there is no file none.py"),
    "a folder": ("folder:f", "folder is a folder"),
    "a name longer than any file's": (f"{LONG}:f", "there is no file long"),
    "no name": (":f", "no file is named"),
}
FOR_READERS = {
    "no function": ("empty.py", "empty.py:1"),
    "no such function": ("good.py:g", "it has f"),
    "several functions": ("two.py", "two.py:f, two.py:g"),
    "half a definition": ("open.py:f", "open.py:2\n    def f(x:\n         ^"),
    "an encoding that is none": ("encoded.py:f", "in UTF-8"),
    "bytes": ("binary.py:f", "in UTF-8"),
}
FOR_IMPORTERS = {
    "nothing in it": ("empty.py:f", "f"),
    "half a definition": ("open.py:f", "open.py:2\n    def f(x:\n         ^"),
    "an encoding that is none": ("encoded.py:f", "no-such-code"),
    "bytes": ("binary.py:f", "binary.py:1"),
    "an exception": ("raises.py:f", "raises.py:2\n    return x / 0"),
    "nothing to judge": ("good.py:nope", "nope"),
}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(command, arguments, says):
    code, _, err = command(*arguments)
    assert code == 2
    assert says in err
    assert "Malformed: " in err
    assert "\n  try: " in err


@pytest.mark.parametrize("what", FOR_ALL)
@pytest.mark.parametrize("words", READ + IMPORTED, ids=" ".join)
def test_what_is_no_file_is_refused_by_every_command(adjudge, words, what):
    target, says = FOR_ALL[what]
    refused(adjudge, [w.format(target) for w in words], says)


@pytest.mark.parametrize("what", FOR_READERS)
@pytest.mark.parametrize("words", READ, ids=" ".join)
def test_a_file_that_is_no_program_is_refused_with_its_place(adjudge, words, what):
    target, says = FOR_READERS[what]
    refused(adjudge, [w.format(target) for w in words], says)


@pytest.mark.parametrize("what", FOR_IMPORTERS)
@pytest.mark.parametrize("words", IMPORTED, ids=" ".join)
def test_a_file_that_cannot_be_imported_is_refused_with_its_place(adjudge, words, what):
    target, says = FOR_IMPORTERS[what]
    refused(adjudge, [w.format(target) for w in words], says)


OPTIONS = {
    "a record that is not there": (("step", "good.py:f", "2.0", "--replay", "none.json"), "cannot be read"),
    "a folder for a record": (("step", "good.py:f", "2.0", "--replay", "folder"), "cannot be read"),
    "bytes for a record": (("step", "good.py:f", "2.0", "--replay", "binary.py"), "no text in UTF-8"),
    "a folder to save in": (("step", "good.py:f", "2.0", "--save", "folder"), "folder is a folder"),
    "a page in no folder": (("check", "exp", "--html", "none/page.html"), "there is no folder none"),
    "a page that is a folder": (("check", "exp", "--html", "folder"), "folder is a folder"),
    "a table that is a folder": (("prove", "--page", "folder"), "folder is a folder"),
    "a mode of no gradient": (("run", "good.py:f", "2.0", "--mode", "ssa"), "--grad 0 --mode ssa"),
    "a mode that is none": (("run", "good.py:f", "2.0", "--mode", "nope", "-g", "x"), "nope"),
    "by what, of no gradient": (("show", "good.py:f", "--wrt", "x"), "--after grad --wrt x"),
    "one function of none": (("audit", "--jax-jit", "good.py"), "good.py:FUNCTION"),
    "whom to ask, of nobody": (("prove", "tanh", "--solver", "z3"), "--recheck --solver z3"),
    "a folder for no certificates": (("prove", "tanh", "--folder", "folder"), "--write --folder folder"),
    "a file for certificates": (("prove", "--write", "--folder", "good.py"), "good.py is a file"),
    "a function to prove": (("prove", "good.py:f"), "f is neither a primitive nor a rewrite rule"),
}


ARGUMENTS = {
    "nothing": (("run", "good.py:f", ""), "nothing is in it"),
    "a comment": (("run", "good.py:f", " # 2.0"), "nothing is in it"),
    "bytes that are no text": (("run", "good.py:f", "\udcff"), "no text in UTF-8"),
    "half a type": (("infer", "good.py:f", "f64["), "f64[2, 3] or f64[?]"),
    "a size that is none": (("infer", "good.py:f", "f64[-1]"), "'f64[-1]' is not a type"),
    "neither type nor value": (("infer", "good.py:f", "nope"), "'nope' is not a value"),
    "a name, in a file that is no Python": (("step", "open.py:f", "nope"), "open.py:2"),
    "one too few": (("run", "good.py:f"), "takes 1 arguments (x), 0 given"),
    "one too many": (("run", "good.py:f", "1.0", "2.0"), "takes 1 arguments (x), 2 given"),
    "fewer samples than none": (("crosscheck", "good.py:f", "--samples", "-1"), "--samples"),
}


@pytest.mark.parametrize("what", ARGUMENTS)
def test_an_argument_that_means_nothing_is_refused(adjudge, what):
    words, says = ARGUMENTS[what]
    code, _, err = adjudge(*words)
    assert code == 2
    assert says in err
    assert "try" in err.lower()


def test_an_argument_is_read_in_the_encoding_of_the_file(adjudge, here):
    (here / "latin.py").write_bytes("# coding: latin-1\nHALF = 0.5  # ½\ndef f(x):\n    return x\n".encode("latin-1"))
    assert adjudge("run", "latin.py:f", "HALF")[1] == "0.5\n"


@pytest.mark.parametrize("what", OPTIONS)
def test_an_option_that_cannot_be_followed_is_refused(adjudge, what):
    refused(adjudge, *OPTIONS[what])


def test_options_that_can_be_followed_are(adjudge, here):
    assert adjudge("run", "good.py:f", "2.0", "--mode", "ssa", "-g", "x")[1] == "value    4.0\ngradient 2.0\n"
    assert adjudge("show", "good.py:f", "--after", "grad", "--wrt", "x")[0] == 0
    assert adjudge("step", "good.py", "-t", "parse", "--save", "new.json")[0] == 0
    assert (here / "new.json").is_file()


def test_a_library_that_is_none_leaves_no_store(adjudge, here):
    assert adjudge("sweep", "no_such_library")[0] == 2
    assert not list(here.glob("*.sqlite"))


def test_a_long_line_is_shown_around_its_column():
    long = Location("f.py", 1, 3 * WIDEST, "  " + "a" * 3 * WIDEST + "b" + "c" * 3 * WIDEST)
    line, caret = long.excerpt().split("\n")
    assert len(line) <= WIDEST + 6
    assert line.strip().startswith("…a")
    assert line.endswith("c…")
    assert line[caret.index("^") + 2] == "b"


@pytest.mark.parametrize("column", [4, WIDEST + 3])
def test_a_line_that_fits_is_shown_whole(column):
    line, caret = Location("f.py", 1, column, "    " + "a" * WIDEST).excerpt().split("\n")
    assert line == "    " + "a" * WIDEST
    assert caret.index("^") == column
