"""Recorded runs of the reference machine."""

from __future__ import annotations

from typing import Any

from adjudge.functions import bind, parse
from adjudge.values import is_function, to_value
from semantics.derivation import Derivation, derive
from semantics.machine import Machine, State
from semantics.type_language import type_of
from transforms.gradient_programs import calling
from transforms.nested_grad import expand


def trace(f: Any, *arguments: Any, fuel: int = 100_000, **named: Any) -> Derivation[State]:
    """
    The run of f at the arguments, every step recorded: print it, replay it, save it with `to_json`, ask `coverage`.

    OutOfFuel after `fuel` steps; a recorded step costs memory, so the default is far lower than that of `run`.
    """
    program, data = entered(f, bind(f, arguments, named))
    machine = Machine(program)
    return derive(machine, machine.initial(data), fuel=fuel)


def entered(f: Any, arguments: list[Any]) -> tuple[Any, list[Any]]:
    """The program that runs f, and its data: functions among the arguments are linked into it."""
    functions = {i: parse(a) for i, a in enumerate(arguments) if is_function(a)}
    if not functions:
        return expand(parse(f)), [to_value(a) for a in arguments]
    types = [None if i in functions else type_of(to_value(a)) for i, a in enumerate(arguments)]
    program = expand(calling(parse(f), None, 0, types, functions))
    return program, [to_value(a) for i, a in enumerate(arguments) if i not in functions]
