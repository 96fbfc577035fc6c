"""
The one place that asks a solver. The question is SMT-LIB text, the answer a value.

Every query gets a context of its own, a resource limit and a memory cap, so that verdict and cost repeat from run to run. Time
never decides: a guarded query that is killed after `wall` seconds answers unknown and says that it was killed. Guarded queries run
in a forked child under an address-space limit, because a solver can overrun its own limits on floating-point questions.

cvc5 and bitwuzla, where installed, give second opinions on the same text.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import z3

RLIMIT = 5_000_000
MEMORY_MB = 2000
WALL = 120.0
UNSAT, SAT, UNKNOWN = "unsat", "sat", "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What a solver said: "unsat", "sat" or "unknown" with a reason; what it cost; the question.

    model  values of declared constants where satisfiable: Fraction, int, bool or float. A float stands for a value of a format no
           wider than a double. Irrational reals are left out and named in `approximate` with a nearby fraction.
    """

    status: str
    reason: str = ""
    rlimit: int = 0
    seconds: float = 0.0
    model: dict[str, Any] = field(default_factory=dict)
    approximate: dict[str, Fraction] = field(default_factory=dict)
    smt2: str = ""
    solver: str = "z3"


def solve(text: str, *, rlimit: int = RLIMIT, memory_mb: int = MEMORY_MB, guarded: bool = False, wall: float = WALL) -> Answer:
    """z3's answer to the script `text`."""
    started = time.perf_counter()
    if guarded:
        answer = _in_child(_ask_z3, (text, rlimit, memory_mb), memory_mb, wall)
    else:
        answer = _ask_z3(text, rlimit, memory_mb)
    return replace(answer, seconds=time.perf_counter() - started, smt2=text)


def second_opinion(text: str, solver: str, *, memory_mb: int = MEMORY_MB, wall: float = 5.0, rlimit: int = 2_000_000) -> Answer:
    """The answer of "cvc5" or "bitwuzla" to the same text. It may abstain: unknown if not installed, not able, or killed."""
    started = time.perf_counter()
    asked = {"cvc5": _ask_cvc5, "bitwuzla": _ask_bitwuzla}[solver]
    answer = _in_child(asked, (text, rlimit, memory_mb), memory_mb, wall)
    return replace(answer, seconds=time.perf_counter() - started, smt2=text, solver=solver)


# the solvers


def _ask_z3(text: str, rlimit: int, memory_mb: int) -> Answer:
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", rlimit)
    solver.set("max_memory", memory_mb)
    try:
        solver.from_string(text)
        status = str(solver.check())
    except z3.Z3Exception as error:
        return Answer(UNKNOWN, f"z3: {error}")
    used = _rlimit_used(solver)
    if status == UNKNOWN:
        return Answer(UNKNOWN, f"z3: {solver.reason_unknown()}", used)
    if status == UNSAT:
        return Answer(UNSAT, rlimit=used)
    values: dict[str, Any] = {}
    near: dict[str, Fraction] = {}
    model = solver.model()
    for declaration in model.decls():
        if declaration.arity() == 0:
            _record(declaration.name(), model[declaration], values, near)
    return Answer(SAT, rlimit=used, model=values, approximate=near)


def _rlimit_used(solver: z3.Solver) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


def _record(name: str, value: Any, values: dict[str, Any], near: dict[str, Fraction]) -> None:
    """The value of one constant as a Python value."""
    if z3.is_int_value(value):
        values[name] = value.as_long()
    elif z3.is_rational_value(value):
        values[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
    elif z3.is_algebraic_value(value):
        rational = value.approx(20)
        near[name] = Fraction(rational.numerator_as_long(), rational.denominator_as_long())
    elif z3.is_true(value) or z3.is_false(value):
        values[name] = z3.is_true(value)
    elif z3.is_fp(value):
        values[name] = fp_value(value)
    elif z3.is_bv_value(value):
        values[name] = value.as_signed_long()


def fp_value(value: Any) -> float:
    """A floating-point numeral of z3, of a format no wider than a double, as a double."""
    if value.isNaN():
        return float("nan")
    sort = value.sort()
    pattern = z3.simplify(z3.fpToIEEEBV(value, ctx=value.ctx)).as_long()
    return decode(pattern, sort.ebits(), sort.sbits())


def decode(pattern: int, ebits: int, sbits: int) -> float:
    """The double that the bit pattern of a format stands for."""
    if (ebits, sbits) == (11, 53):
        return float(struct.unpack(">d", pattern.to_bytes(8, "big"))[0])
    fraction = pattern & ((1 << (sbits - 1)) - 1)
    exponent = (pattern >> (sbits - 1)) & ((1 << ebits) - 1)
    sign = -1.0 if pattern >> (ebits + sbits - 1) else 1.0
    bias = (1 << (ebits - 1)) - 1
    if exponent == (1 << ebits) - 1:
        return float("nan") if fraction else sign * float("inf")
    if exponent == 0:
        return sign * float(fraction) * 2.0 ** (2 - bias - sbits)
    return sign * float(fraction + (1 << (sbits - 1))) * 2.0 ** (exponent - bias - sbits + 1)


def _ask_cvc5(text: str, rlimit: int, memory_mb: int) -> Answer:
    try:
        import cvc5
    except ImportError:
        return Answer(UNKNOWN, "cvc5 is not installed")
    try:
        solver = cvc5.Solver()
        solver.setOption("fp-exp", "true")
        solver.setOption("rlimit", str(rlimit))
        parser = cvc5.InputParser(solver)
        parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "query")
        symbols = parser.getSymbolManager()
        said = ""
        while not (command := parser.nextCommand()).isNull():
            said += command.invoke(solver, symbols)
    except Exception as error:
        return Answer(UNKNOWN, f"cvc5: {error}")
    last = (said.split() or [UNKNOWN])[-1]
    return Answer(last) if last in (SAT, UNSAT) else Answer(UNKNOWN, f"cvc5: {said.strip()}")


def _ask_bitwuzla(text: str, rlimit: int, memory_mb: int) -> Answer:
    try:
        import bitwuzla
    except ImportError:
        return Answer(UNKNOWN, "bitwuzla is not installed")
    try:
        manager, options = bitwuzla.TermManager(), bitwuzla.Options()
        options.set(bitwuzla.Option.MEMORY_LIMIT, memory_mb + (resident() >> 20))
        parser = bitwuzla.Parser(manager, options)
        parser.parse("\n".join(line for line in text.splitlines() if line != "(check-sat)"), True, False)
        said = str(parser.bitwuzla().check_sat()).rsplit(".", maxsplit=1)[-1].lower()
    except Exception as error:
        return Answer(UNKNOWN, f"bitwuzla: {error}")
    return Answer(said) if said in (SAT, UNSAT) else Answer(UNKNOWN, f"bitwuzla: {said}")


# the guard


def _in_child(asked: Callable[[str, int, int], Answer], arguments: tuple[str, int, int], memory_mb: int, wall: float) -> Answer:
    """`asked(*arguments)` in a forked child with an address-space limit, killed after `wall` seconds."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(target=_child, args=(sender, asked, arguments, memory_mb), daemon=True)
    child.start()
    sender.close()
    try:
        if not receiver.poll(wall):
            return Answer(UNKNOWN, f"killed after {wall:g} s")
        answer: Answer = receiver.recv()
        return answer
    except EOFError:
        return Answer(UNKNOWN, "the solver died, probably of its memory cap")
    finally:
        receiver.close()
        child.kill()
        child.join()


def resident() -> int:
    """The bytes that this process holds now; bitwuzla counts them as its own, also those that a fork inherits."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) << 10


def address_space() -> int:
    """The bytes of address space that this process has now: of a library that reserves much, far more than it holds."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) << 10


def _child(sender: Connection, asked: Callable[[str, int, int], Answer], arguments: tuple[str, int, int], memory_mb: int) -> None:
    with contextlib.suppress(ValueError, OSError):
        limit = address_space() + (4 * memory_mb << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sender.send(asked(*arguments))
    sender.close()
