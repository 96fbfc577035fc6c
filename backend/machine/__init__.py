"""
Tier B: one virtual machine for the whole language, compiled once; programs are data.

    load(program) -> Code    Execution(code, target).run(arguments) -> value    Threads(code, target).map(samples) -> values

`layout` says how everything lies in memory; `structural`, `sensitivities`, `control` and `opcodes` are the source of the
machine, which `interpreter` puts together. `loader` makes code of programs, `heap` words of values, `objects` values of words.
`service` does what is left to the host, `array_services` with the loops in `kernels`, `deferred` for what need not be written
out. `execution` runs a program once, with `patience`, and `young` objects apart, `threads` many times at once.
"""

from backend.machine.execution import Execution
from backend.machine.loader import Code, load
from backend.machine.threads import Threads, ptx

__all__ = ["Code", "Execution", "Threads", "load", "ptx"]
