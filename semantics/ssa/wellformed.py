"""
Well-formedness of SSA form: what every module must satisfy before it has a meaning (Zygote, section 3.1).

    functions   their names are distinct, and one of them is the entry
    blocks      a function has one at least; labels are distinct and positive, and every jump leads to a block of the function
    single      every name is defined once
    defined     every name that is used is defined
    dominance   a definition dominates its uses; a use in a φ node is a use at the end of the block that its arm names
    φ           a φ node has one arm for each predecessor of its block, #0 among those of the entry, and no other arm
    constants   no function is a constant: what is called is known
    arity       a callee gets as many operands as it takes, and what is taken apart has as many parts as there are targets
    callee      the functions that are called are there; alphas and J stand only in listings (`alphas=True`)

`check` raises Malformed with the judgment as its rule; `problems` lists every violation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from semantics.errors import Location, Malformed
from semantics.ir import GraphRef
from semantics.primitives.row import Primitive
from semantics.ssa.dominance import Dominators, dominators
from semantics.ssa.form import (
    OUTSIDE,
    Adjoined,
    Alpha,
    Function,
    FunctionRef,
    Instruction,
    Label,
    Literal,
    Module,
    Name,
    Operand,
    Phi,
    Return,
    operands_of,
)
from semantics.ssa.text import describe
from semantics.values import Closure


class Problem(NamedTuple):
    """A violation: of which judgment, what is wrong, where, and in which line of source."""

    judgment: str
    what: str
    place: str
    location: Location | None


def check(module: Module, alphas: bool = False) -> None:
    """Malformed with the first violation, if there is one."""
    for judgment, what, place, location in problems(module, alphas):
        raise Malformed(what, rule=judgment, node=place, location=location)


def problems(module: Module, alphas: bool = False) -> Iterator[Problem]:
    """Every violation. In a function whose blocks are wrong nothing else is judged."""
    yield from _functions(module)
    for function in module.functions:
        wrong = list(_blocks(function))
        yield from wrong
        if not wrong:
            yield from _single(function)
            yield from _phis(function)
            yield from _uses(function)
            for label, instruction in _instructions(function):
                yield from _callee(module, function, label, instruction, alphas)
            if not alphas:
                yield from _alphas(function)


def _at(judgment: str, what: str, function: Function, label: Label, found: Phi | Instruction | None = None) -> Problem:
    """A violation in a block, or at one of its φ nodes and instructions."""
    place = f"block #{label} of {function.name}" if label else f"function {function.name}"
    location = function.location if found is None or found.location is None else found.location
    return Problem(judgment, what, f"{describe(found)} in {place}" if found is not None else place, location)


def _functions(module: Module) -> Iterator[Problem]:
    for name, count in Counter(function.name for function in module.functions).items():
        if count > 1:
            yield _at("functions", f"{count} functions are called {name}", module[name], OUTSIDE)
    if module.entry not in module.by_name:
        yield Problem("functions", f"the entry @{module.entry} is not there", "", None)


def _blocks(function: Function) -> Iterator[Problem]:
    if not function.blocks:
        yield _at("blocks", f"{function.name} has no block", function, OUTSIDE)
    if not 0 <= function.hidden <= len(function.parameters):
        yield _at("blocks", f"{function.hidden} of {len(function.parameters)} parameters are hidden", function, OUTSIDE)
    for label, count in Counter(block.label for block in function.blocks).items():
        if count > 1:
            yield _at("blocks", f"{count} blocks are called #{label}", function, label)
        if label <= OUTSIDE:
            yield _at("blocks", f"a block is called #{label}", function, label)
    for block in function.blocks:
        for target in block.successors:
            if target not in function.by_label:
                yield _at("blocks", f"a jump to #{target}, which is not there", function, block.label)


def _single(function: Function) -> Iterator[Problem]:
    seen: set[str] = set()
    for name, label in function.definitions():
        if name in seen:
            yield _at("single", f"{name} is defined twice", function, label)
        seen.add(name)
    for label, instruction in _instructions(function):
        if not instruction.targets:
            yield _at("single", "an instruction has no target", function, label, instruction)


def _phis(function: Function) -> Iterator[Problem]:
    for block in function.blocks:
        wanted = sorted(function.predecessors[block.label])
        for phi in block.phis:
            if sorted(label for label, _ in phi.arms) != wanted:
                predecessors = ", ".join(f"#{label}" for label in wanted) or "none"
                what = f"the arms of {phi.target} are not the predecessors: {predecessors}"
                yield _at("φ", what, function, block.label, phi)


class Definition(NamedTuple):
    """Where a name is defined: the block, and how many instructions of it come before; φ nodes come at -1."""

    label: Label
    position: int


def _uses(function: Function) -> Iterator[Problem]:
    """Judges every use: its definition is there, and dominates it."""
    tree = dominators(function)
    defined = {p.name: Definition(OUTSIDE, -1) for p in function.parameters}
    for block in function.blocks:
        defined.update({phi.target: Definition(block.label, -1) for phi in block.phis})
        for position, instruction in enumerate(block.instructions):
            defined.update({target: Definition(block.label, position) for target in instruction.targets if target != "_"})
    for block in function.blocks:
        end = len(block.instructions)
        for phi in block.phis:
            for label, operand in phi.arms:
                source = function.by_label.get(label)
                at = Definition(label, len(source.instructions) if source is not None else 0)
                yield from _used(function, (operand,), block.label, at, phi, defined, tree)
        for position, instruction in enumerate(block.instructions):
            at = Definition(block.label, position)
            yield from _used(function, instruction.operands, block.label, at, instruction, defined, tree)
        yield from _used(function, operands_of(block.jump), block.label, Definition(block.label, end), None, defined, tree)


def _used(
    function: Function,
    operands: Iterable[Operand],
    label: Label,
    at: Definition,
    found: Phi | Instruction | None,
    defined: dict[str, Definition],
    tree: Dominators,
) -> Iterator[Problem]:
    for operand in operands:
        match operand:
            case Literal(Primitive() | GraphRef() | Closure() | FunctionRef()):
                yield _at("constants", f"a function is used as a value: {operand.value!r}", function, label, found)
            case Name(text) if text not in defined:
                yield _at("defined", f"{text} is not defined", function, label, found)
            case Name(text) if not _dominates(tree, defined[text], at):
                yield _at("dominance", f"the definition of {text} does not dominate this use of it", function, label, found)


def _dominates(tree: Dominators, definition: Definition, use: Definition) -> bool:
    if definition.label == use.label:
        return definition.position < use.position or definition.label == OUTSIDE
    return tree.dominates(definition.label, use.label)


def _instructions(function: Function) -> Iterator[tuple[Label, Instruction]]:
    for block in function.blocks:
        for instruction in block.instructions:
            yield block.label, instruction


def _callee(module: Module, function: Function, label: Label, instruction: Instruction, alphas: bool) -> Iterator[Problem]:
    callee, given = instruction.callee, len(instruction.operands)
    adjoined = isinstance(callee, Adjoined)
    if isinstance(callee, Adjoined):
        callee = callee.callee
    if adjoined and not alphas:
        yield _at("callee", "J of a callee is notation of listings, which does not run", function, label, instruction)
    match callee:
        case FunctionRef(name) if name not in module.by_name:
            yield _at("callee", f"no function is called @{name}", function, label, instruction)
        case FunctionRef(name):
            wanted = len(module[name].parameters)
            if given != wanted:
                yield _at("arity", f"@{name} takes {_arguments(wanted)}, {given} given", function, label, instruction)
            if not adjoined:
                yield from _parts(module[name], function, label, instruction)
        case Primitive() if not callee.takes(given):
            wanted = len(callee.parameters) - ("*" in callee.parameters)
            yield _at("arity", f"{callee.name} takes {_arguments(wanted)}, {given} given", function, label, instruction)


def _arguments(count: int) -> str:
    return f"{count} argument{'s' * (count != 1)}"


def _parts(callee: Function, function: Function, label: Label, instruction: Instruction) -> Iterator[Problem]:
    """What a function returns is taken apart into what it has parts; one value may be a tuple, of any number."""
    wanted = len(instruction.targets)
    for block in callee.blocks:
        match block.jump:
            case Return(operands) if wanted > 1 and len(operands) not in (1, wanted):
                what = f"@{callee.name} returns {len(operands)} values, {wanted} wanted"
                yield _at("arity", what, function, label, instruction)


def _alphas(function: Function) -> Iterator[Problem]:
    what = "an alpha is notation of listings, which does not run"
    for block in function.blocks:
        for phi in block.phis:
            if any(isinstance(operand, Alpha) for _, operand in phi.arms):
                yield _at("callee", what, function, block.label, phi)
        for instruction in block.instructions:
            if any(isinstance(operand, Alpha) for operand in (instruction.callee, *instruction.operands)):
                yield _at("callee", what, function, block.label, instruction)
        if any(isinstance(operand, Alpha) for operand in operands_of(block.jump)):
            yield _at("callee", what, function, block.label)
