"""
Two tiers: generated code (A) where a program can be lowered, the virtual machine (B) for everything else, and for the first call.

`runnable` refuses nothing but a target that is not there. What only tier B can run is what `backend.lowering.lower` refuses:
memory, sequences of unknown length, functions that a recursion returns, closures whose types have no end, integers beyond 64 bits.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from backend import store, toolchain
from backend.awaited import LARGE, Awaited
from backend.lowering import first_order as lowering
from backend.lowering.expansion import first_that_fits
from backend.machine import Execution, Threads, ahead, load
from backend.status import AHEAD, ORDER, OVERFLOW, SIZES, STUCK, error
from semantics.arrays import Array
from semantics.collector import at_rest, at_work, settle
from semantics.errors import AdjudgeError, Crash, Malformed, Trap
from semantics.ir import Program
from transforms.remembering import remembering

if TYPE_CHECKING:
    from backend import run


MANY = 1 << 18
"""Elements of arrays, of which the rows that the machine's host computes take as long as a compiler."""
SOON = 1_000_000
"""Steps of a first run in which nothing is collected: objects of cycles, which the collector is for, are not among values."""
EACH = 8
"""Steps for each node of a program: CPython goes through all of it once in fewer, in a hundredth of the time that code takes."""
KEPT = 1 << 25
"""Words of a buffer that is kept for the next call; a larger one, of more than 256 MiB, is given back."""


def runnable(program: Program, argument_types: Sequence[Any] | None = None, target: str = "cpu", **options: Any) -> Tiered:
    """
    The program as a callable on a target, with `map` for many samples. The options are those of `compile`.

    Malformed if the target is not there, or a macro of the program cannot be expanded.
    """
    if reason := toolchain.missing(target):
        raise Malformed(
            f"the target {target} is not there: {reason}", rule="backend", remedy="cpu, python, cuda-sequential or cuda-simulator"
        )
    return Tiered(program, argument_types, target, options)


def ptx(program: Program, argument_types: Sequence[Any] | None = None, cc: tuple[int, int] = (9, 0)) -> str:
    """The PTX of the kernel that runs the program: of its generated code, or of the machine. IllTyped if none can be made here."""
    from backend import run
    from backend.cuda import numba_cuda
    from backend.machine import ptx as machine_ptx

    try:
        return run.ptx(program, argument_types, cc)
    except AdjudgeError:
        if numba_cuda.ptx_available():
            raise
        return machine_ptx(cc)


LONG = 50_000_000
"""Steps of a first run on the compiled machine before generated code is made: about the time that making it takes."""


class Tiered:
    """
    A program on the better of the two tiers. The first call begins on the machine, uncompiled, so that a short one waits for
    nothing, and goes on there if the compiled machine is kept; a very long one, and the calls after it, have generated code made,
    and go on with the machine if there can be none.

    With `fast` every call is one of generated code, if there is some, so that all have the same bits.

    Where generated code traps since 64 bits do not hold an integer, or where its types say that no run comes, the machine, which
    has larger ones and needs no types, runs the sample again; `again` says how many it ran of those of the last call.
    """

    def __init__(self, program: Program, types: Sequence[Any] | None, target: str, options: dict[str, Any]) -> None:
        self.program, self.types, self.target, self.options = program, types, target, options
        self.refusal: AdjudgeError | None = None
        self.awaited: Awaited | None = None
        self.calls, self.again = 0, 0

    @cached_property
    def machined(self) -> Machined:
        """
        The program on the machine, its derivatives expanded as for generated code, so that every call gives the same bits: all but
        those of a gradient whose generated code has loops unrolled (`expansion`), or a first turn before a loop that makes a list
        (`gathering`), where sums may have another order.
        """
        with at_rest(), remembering(store.remembered):
            return first_that_fits(self.program, self.options.get("mode", "J"), lambda program: Machined(program, self.target))

    @cached_property
    def best(self) -> run.Compiled | Machined:
        """
        The program in generated code, if it has a first-order form, else on the machine; `refusal` says why. So it is, with a
        warning, where a compiler raises what is no error of ours.
        """
        if self.awaited is not None and (refusal := self.awaited.refusal) is not None:
            self.refusal = refusal
            return self.machined
        try:
            from backend import run  # which no first call waits for

            with at_work():
                return run.compile(self.program, self.types, self.target, **self.options)
        except AdjudgeError as refusal:
            self.refusal = refusal
        except Exception as fault:
            self.refusal = unmade(fault)
            tell_of_faults([self.refusal])
        return self.machined

    @cached_property
    def called(self) -> run.Compiled | Machined:
        """What a call is of: the better tier, its machine code made. So what a compiler raises is told, and the machine goes on."""
        if not isinstance(self.best, Machined):
            try:
                with at_work():
                    self.best.lead_in()
            except AdjudgeError:
                raise
            except Exception as fault:
                self.refusal, self.best = unmade(fault), self.machined
                tell_of_faults([self.refusal])
        return self.best

    def way_in(self, otherwise: Callable[..., Any]) -> Callable[..., Any] | None:
        """The quick way into generated code, once there is some."""
        return self.best.way_in(otherwise) if "best" in vars(self) and not isinstance(self.best, Machined) else None

    @property
    def closures(self) -> Program:
        """The program whose graphs the closures in a result are of: generated code gives back none."""
        return self.machined.code.program

    def __call__(self, *arguments: Any) -> Any:
        self.calls += 1
        begins = self.calls == 1 and not self.options.get("fast") and not self.is_kept and self.machined.threads is None
        if begins and not self.is_long(arguments):
            with self.machined.lent() as execution:
                with at_rest():
                    settle()
                    if self.ends_soon(execution, arguments) or self.goes_on(execution):
                        return execution.result()
                if self.best is self.machined:
                    with at_work():
                        return execution.resume()
        if self.is_waiting(arguments):
            with self.machined.lent() as execution, at_work():
                if self.ends_before(execution, arguments):
                    return execution.result()
        if not isinstance(self.called, Machined) and self.called.quick is not None:
            try:
                return self.called(*arguments)
            except (Trap, Crash) as failure:
                if not is_beyond(failure):
                    return value_of(self.explained(failure, arguments))
        (outcome,) = self.map([arguments])
        return value_of(self.explained(outcome, arguments) if isinstance(outcome, AdjudgeError) else outcome)

    def explained(self, failure: AdjudgeError, arguments: Sequence[Any]) -> Any:
        """
        The error with the place and the words of the reference, which the machine has, and generated code has a status alone. A
        budget that is spent is not spent again. What a GPU found is explained on the CPU.
        """
        if not is_vague(failure):
            return failure
        machined = self.machined if self.machined.threads is None else Machined(self.closures)
        (found,) = machined.map([arguments])
        return found if isinstance(found, Trap) else failure

    def ends_soon(self, execution: Execution, arguments: Sequence[Any]) -> bool:
        """
        Whether a first run ends on CPython, where the compiled machine is not kept, in less time than a compiler takes. Another
        process begins to compile the machine then.
        """
        execution.begin(arguments)
        if not execution.compiled and self.target == "cpu":
            ahead.begin()
        return not execution.compiled and execution.advance(max(execution.patience, EACH * len(self.machined.code.program.nodes)))

    def is_long(self, arguments: Sequence[Any]) -> bool:
        """Whether arrays are so large that a compiler is sooner done than the machine, and there is code to compile."""
        if self.target == "python" or sum(prod(a.shape) for a in arguments if isinstance(a, Array)) <= MANY:
            return False
        return self.best is not self.machined

    @property
    def is_kept(self) -> bool:
        """Whether another process has compiled the program, so that its machine code is there at once."""
        if self.target != "cpu" or not lowering.is_lowered(self.program, self.types, self.options.get("mode", "J")):
            return False
        from backend.cpu import kept

        return kept.is_there(lowering.lowered(self.program, self.types, mode=self.options.get("mode", "J")))

    def goes_on(self, execution: Execution) -> bool:
        """Whether a first run ends on the compiled machine, which is there at once, before generated code would be worth making."""
        if not execution.is_ready or self.target == "python":
            return False
        execution.take_over()
        if execution.advance(SOON):
            return True
        with at_work():
            return execution.advance(LONG)

    def is_waiting(self, arguments: Sequence[Any]) -> bool:
        """Whether another process makes the code, which for a large program takes long."""
        if "best" in vars(self) or self.target != "cpu" or self.options.get("fast"):
            return False
        if self.awaited is None and len(self.machined.code.program.nodes) > LARGE:
            self.awaited = Awaited(self.program, self.types, self.options, arguments)
        return self.awaited is not None and not self.awaited.is_over()

    def ends_before(self, execution: Execution, arguments: Sequence[Any]) -> bool:
        """Whether a run on the machine ends before the code is there."""
        execution.begin(arguments)
        pause = SOON
        while not execution.advance(pause):
            if self.awaited is None or self.awaited.is_over():
                return False
            pause += SOON
        return True

    def map(self, samples: Iterable[Sequence[Any]]) -> list[Any]:
        """The value of every sample, or the error that it ends in."""
        given = [tuple(sample) for sample in samples]
        with at_work():
            outcomes = self.best.map(given)
        again = [k for k, found in enumerate(outcomes) if self.best is not self.machined and is_beyond(found)]
        tell_of_faults(outcomes[k] for k in again)
        self.again = len(again)
        if again:
            for k, outcome in zip(again, self.machined.map([given[k] for k in again]), strict=True):
                outcomes[k] = outcome
        return outcomes


def value_of(outcome: Any) -> Any:
    """The outcome, which is raised if it is an error."""
    if isinstance(outcome, AdjudgeError):
        raise outcome
    return outcome


def is_beyond(outcome: Any) -> bool:
    """Whether generated code was not made for the sample, or is at fault, and the machine is to run it."""
    told = tuple(error(s, 0).what for s in (OVERFLOW, SIZES, STUCK, ORDER, AHEAD))
    return isinstance(outcome, Crash) or (isinstance(outcome, Trap) and outcome.what in told)


def is_vague(failure: AdjudgeError) -> bool:
    """Whether all that is known of a failure is the status of generated code."""
    return isinstance(failure, Trap) and failure.rule == "backend"


def unmade(fault: Exception) -> Crash:
    """What a compiler raises where it should have made code of ours; Numba's errors have many lines."""
    first = next((line for line in str(fault).splitlines() if line.strip()), "")
    return Crash(f"no code could be made, {type(fault).__name__}: {first[:120]}", rule="backend")


def tell_of_faults(outcomes: Iterable[Any]) -> None:
    """Warns of generated code that is at fault, once for each fault: the value comes from the machine, and is right."""
    for what in dict.fromkeys(outcome.what for outcome in outcomes if isinstance(outcome, Crash)):
        warnings.warn(f"{what}; the virtual machine runs the program. Please report it.", RuntimeWarning, stacklevel=2)


class Machined:
    """A program on the virtual machine of a target."""

    def __init__(self, program: Program, target: str = "cpu") -> None:
        self.code, self.target = load(program), target
        self.threads = Threads(self.code, target) if target.startswith("cuda") else None
        self.idle: list[Execution] = []

    @contextmanager
    def lent(self) -> Iterator[Execution]:
        """An execution that nobody else uses: threads may call a program, and a program itself, while it runs."""
        try:
            execution = self.idle.pop()
        except IndexError:
            execution = Execution(self.code, self.target)
        try:
            yield execution
        finally:
            execution.rest()
            if execution.words.count <= KEPT:
                self.idle.append(execution)

    def __call__(self, *arguments: Any) -> Any:
        if self.threads is None:
            with self.lent() as execution:
                return execution.run(arguments)
        (outcome,) = self.map([arguments])
        if isinstance(outcome, AdjudgeError):
            raise outcome
        return outcome

    def map(self, samples: Iterable[Sequence[Any]]) -> list[Any]:
        """The value of every sample, or the error that it ends in."""
        if self.threads is not None:
            return self.threads.map(samples)
        outcomes: list[Any] = []
        for sample in samples:
            try:
                outcomes.append(self(*sample))
            except AdjudgeError as error:
                outcomes.append(error)
        return outcomes
