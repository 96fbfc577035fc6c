"""`adjudge infer`: the type and shape of every node, before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from adjudge.cli.arguments import argument
from adjudge.cli.common import Json, Target, load, positions, say, say_json, split
from adjudge.functions import value_and_grad
from adjudge.inferring import infer as infer_types
from semantics.arrays import DTYPES
from semantics.errors import Malformed
from semantics.type_language import SCALARS, parse_type

LIKE_A_TYPE = {*SCALARS, *DTYPES, "tuple"}  # how the text of a type begins
Types = Annotated[list[str] | None, typer.Argument(metavar="[ARGS]...", help="Types or values: 'f64[2, 3]', 'f64[?]', i64, 2.0.")]


def infer(
    target: Target,
    arguments: Types = None,
    by: Annotated[
        list[str] | None,
        typer.Option("--grad", "-g", help="Of the value and the gradient by this position or name; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """
    Print the type and shape of every node of a function.

    Called with arguments of these types, or with the types of these values; nothing runs.
    """
    program, given = load(target), [_type_or_value(a, split(target)[0]) for a in arguments or []]
    found = infer_types(value_and_grad(program, positions(by)) if by else program, *given)
    say_json({"result": str(found.result), "nodes": found.rows()}) if as_json else say(f"{found}\n\n; the result is {found.result}")


def _type_or_value(text: str, path: Path) -> Any:
    """The text itself if it spells a type, else the value that it is; Malformed as a type if it is neither, but begins like one."""
    try:
        parse_type(text)
    except Malformed as no_type:
        try:
            return argument(text, path)
        except Malformed as no_value:
            raise no_type if text.partition("[")[0].strip() in LIKE_A_TYPE else no_value from None
    return text
