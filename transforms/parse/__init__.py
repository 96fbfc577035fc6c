"""
From Python to programs, one small step at a time (2018, section 4.1; 2017, section 2.1).

    parse(f)                      a live function: names are looked up in its module and in the cells it closes over
    parse_text(source, name)      a function in a text, of which nothing is run
    parse_file(path, name)        likewise in a file
    functions_in(path)            the functions that a file defines at its top level
    source_of(path)               its text
    initial(f), initial_text(…)   the state to step from with SYSTEM

CPython is the oracle: on every input where CPython returns a value, the program has the same one. What has no meaning here is
refused with its place and with what to write instead; nothing is guessed.
"""

from transforms.parse.system import (
    SYSTEM,
    defaults_of,
    functions_in,
    initial,
    initial_file,
    initial_text,
    parse,
    parse_file,
    parse_text,
    source_of,
)

__all__ = [
    "SYSTEM",
    "defaults_of",
    "functions_in",
    "initial",
    "initial_file",
    "initial_text",
    "parse",
    "parse_file",
    "parse_text",
    "source_of",
]
