"""
adjudge as a tool of GradBench: `python -m bench.gradbench` reads messages from standard input, one JSON object a line, and
answers each with a line, to the end of the input.

    start                              the name of the tool
    define module                      whether there is such a module
    evaluate module, function, input   the output, and how long each run took
    analysis                           received

    $ printf '%s\\n' '{"id": 0, "kind": "start"}' '{"id": 1, "kind": "define", "module": "lse"}' \\
        '{"id": 2, "kind": "evaluate", "module": "lse", "function": "gradient", "input": {"x": [1, 2], "min_runs": 2}}' \\
        | python -m bench.gradbench
    {"id": 0, "tool": "adjudge"}
    {"id": 1, "success": true}
    {"id": 2, "success": true, "output": [0.2689…, 0.7310…], "timings": [{"name": "prepare", "nanoseconds": …}, …]}

So the suite takes it as a tool, in the folder of this repository: `gradbench run --eval "gradbench eval lse" --tool "python -m
bench.gradbench"`. The first call of a function has the machine and code made, which takes seconds and is kept in the user's cache
folder; give it a timeout of some minutes.

Timings are in nanoseconds of wall-clock time. "prepare" is reading the input, making machine code and the first calls;
"evaluate" is one call of the compiled function, and there is one for each of at least `min_runs` calls that take at least
`min_seconds` together. What is no message, or asks for what is not there, or fails, is answered with success false and the
reason; the next message is read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bench.gradbench_programs import functions
from bench.gradbench_programs.function import Function, Input, field, real, whole
from semantics.errors import AdjudgeError, Malformed

TOOL = "adjudge"
PATIENCE = 20_000_000_000
"""Nanoseconds of a call, after which none is made ahead; the one that may have code made is waited for."""

Reply = dict[str, Any]


def session(lines: Iterable[str]) -> Iterator[str]:
    """The replies to a session, in order; an empty line is no message."""
    tool = Tool()
    for line in lines:
        if line.strip():
            yield tool.answer(line)


class Tool:
    """What was defined, and what was compiled, once for each function."""

    def __init__(self) -> None:
        self.defined: dict[str, Any] = {}
        self.compiled: dict[Any, Callable[..., Any]] = {}

    def answer(self, line: str) -> str:
        """The reply to a message as a line of JSON."""
        number = None
        try:
            message = json.loads(line)
            if not isinstance(message, dict):
                raise Malformed("a message is an object", remedy='{"id": 0, "kind": "start"}')
            number = _id(message)
            reply = self.reply(message)
            return json.dumps({"id": number, **reply}, allow_nan=False)
        except (AdjudgeError, ValueError, OverflowError, RecursionError) as error:  # JSON has no NaN, and nesting has a limit
            return json.dumps({"id": number, "success": False, "error": str(error)})
        except MemoryError:
            return json.dumps({"id": number, "success": False, "error": "there is no memory for an input of this size"})

    def reply(self, message: Input) -> Reply:
        """The fields of the reply, but for the id."""
        match message.get("kind"):
            case "start":
                return {"tool": TOOL}
            case "define":
                name = _name(message, "module")
                self.defined[name] = functions(name)
                return {"success": True}
            case "evaluate":
                return {"success": True, **self.evaluate(message)}
            case "analysis":
                return {}
            case kind:
                raise Malformed(f"{kind!r} is no kind of message", remedy="start, define, evaluate or analysis")

    def evaluate(self, message: Input) -> Reply:
        """The output of a function, and the timings."""
        module, name = _name(message, "module"), _name(message, "function")
        if module not in self.defined:
            raise Malformed(f"the module {module!r} has not been defined", remedy="send a message of kind define before")
        if name not in self.defined[module]:
            raise Malformed(f"{module} has no function {name!r}", remedy=f"one of {', '.join(self.defined[module])}")
        function, given = self.defined[module][name], field(message, "input")
        runs, seconds = _times(given)
        began = time.perf_counter_ns()
        run = prepared(function, function.read(given), self.program(function))
        timings = [("prepare", time.perf_counter_ns() - began)]
        spent = 0
        while len(timings) <= runs or spent < 1e9 * seconds:
            began = time.perf_counter_ns()
            found = run()
            timings.append(("evaluate", time.perf_counter_ns() - began))
            spent += timings[-1][1]
        return {
            "output": function.write(found),
            "timings": [{"name": what, "nanoseconds": took} for what, took in timings],
        }

    def program(self, function: Function) -> Callable[..., Any]:
        """The compiled program, the same one for the whole session."""
        if function not in self.compiled:
            self.compiled[function] = function.compile(function.program)
        return self.compiled[function]


def prepared(function: Function, arguments: tuple[Any, ...], compiled: Callable[..., Any]) -> Callable[[], Any]:
    """
    The call, ready to be timed. A short first one ends on the virtual machine, the second has code made, and the third goes the
    quick way into it; where a call takes long after that, it is of no use to wait for what is saved.
    """

    def call() -> Any:
        return function.call(compiled, *arguments)

    for number in range(3):
        began = time.perf_counter_ns()
        call()
        if number > 0 and time.perf_counter_ns() - began > PATIENCE:
            break
    return call


def _id(message: Input) -> Any:
    """The id of a message, as it was sent; None where JSON has no word for it, as for 1e999."""
    try:
        return json.loads(json.dumps(message.get("id"), allow_nan=False))
    except ValueError:
        return None


def _name(message: Input, key: str) -> str:
    found = field(message, key)
    if not isinstance(found, str):
        raise Malformed(f"the field {key!r} is not a name", remedy="see `python -m bench.gradbench --help`")
    return found


def _times(given: Any) -> tuple[int, float]:
    """The least number of runs, and of seconds: one and none where the input, which need be no object, does not say."""
    asked = given if isinstance(given, dict) else {}
    runs = whole(asked, "min_runs", 1) if "min_runs" in asked else 1
    seconds = real(asked, "min_seconds") if "min_seconds" in asked else 0.0
    if seconds < 0.0:
        raise Malformed("the field 'min_seconds' is negative")
    return runs, seconds


def main() -> None:
    """Serves standard input; standard output is for replies alone. It ends, too, when nobody reads them any more."""
    argparse.ArgumentParser("python -m bench.gradbench", None, __doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    try:
        for reply in session(sys.stdin):
            sys.stdout.write(f"{reply}\n")
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python writes when it ends


if __name__ == "__main__":
    main()
