"""
Calls in a queue, as cells of a family: what is passed to a call is written when it is made, and its result where that was.

    CALL(last, ABSENT, ABSENT, arguments…)       the call after the last     AFTER(last, q)         the call after q, up to the last
    ANSWER(answers, q, result)                   the result of the call q    ANSWERED(answers, q)   the answer to q
    IS(q, r)                                     whether two are one

As FRAME is (`backend.recursion.frames`), CALL and ANSWER are `make_tuple` by other identities. What the others mean is found by
following links; in generated code a call is the number of its cell, and so is its answer, so each is one operation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semantics.primitives.row import Primitive
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN

CALL, ANSWER = replace(TABLE["make_tuple"]), replace(TABLE["make_tuple"])
LINK, PLACE, RESULT_OF, ARGUMENTS = 0, 1, 2, 3  # fields: of an answer the call and its result, of a call the first argument


def after(last: Any, q: Any) -> Any:
    """The call of which the link is q."""
    while last[LINK] is not q:
        last = last[LINK]
    return last


def answered(answers: Any, q: Any) -> Any:
    """The answer of which the call is q."""
    while answers[PLACE] is not q:
        answers = answers[LINK]
    return answers


def _primitive(name: str, parameters: tuple[str, str], meaning: Any, type: Any) -> Primitive:
    return Primitive(name, parameters, ("any", "any"), "any", columns={"meaning": meaning, "type": type})


AFTER = _primitive("after", ("last", "q"), after, lambda last, q: last)
ANSWERED = _primitive("answered", ("answers", "q"), answered, lambda answers, q: answers)
IS = _primitive("same_call", ("q", "r"), lambda q, r: q is r, lambda q, r: BOOLEAN)
