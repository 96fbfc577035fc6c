"""
What becomes of zeros: no ZERO is added, no φ node is trivial, no pullback is called with ZERO, and nothing is computed for nobody.

    gadd(ZERO, a) = a        φ(p → a, q → a) = a        α(ZERO) = (ZERO, …)
    gadd(φ(p → a, q → ZERO), φ(p → ZERO, q → b)) = φ(p → a, q → b)

The zeros are found first, all at once: every φ node, sum and pullback is taken to be ZERO until something else flows into it, so
that the gradient of a variable that lives in one turn of a loop is not carried from turn to turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from semantics.primitives.table import TABLE
from semantics.ssa.form import Alpha, Block, Function, Instruction, Label, Literal, Name, Operand, Phi, operands_of
from semantics.tangents import ZERO
from transforms.ssa.rewriting import key, names_in, put_in_instruction, put_in_jump, resolved, with_arms
from transforms.ssa.single_assignment import NOTHING

GADD = TABLE["gadd"]
Definition = Phi | Instruction


def is_zero(operand: Operand) -> bool:
    return isinstance(operand, Literal) and operand.value is ZERO


def without_zeros(function: Function) -> Function:
    """The same function without zeros, trivial φ nodes and dead code."""
    return _Folding(function).result()


def zeroed(names: Iterable[str]) -> tuple[Instruction, ...]:
    """x ← ZERO, for each name."""
    return tuple(Instruction((name,), GADD, (NOTHING, NOTHING)) for name in names)


def of_turn(blocks: Mapping[Label, Block], header: Label, body: Iterable[Label]) -> Iterator[str]:
    """What a turn of a loop assigns, and so does not carry to the next."""
    inside = [blocks[label] for label in sorted(body)]
    yield from (phi.target for block in inside if block.label != header for phi in block.phis)
    yield from (t for block in inside for i in block.instructions for t in i.targets if t != "_")


def operands(definition: Definition) -> tuple[Operand, ...]:
    """What a φ node or an instruction reads."""
    return tuple(arm for _, arm in definition.arms) if isinstance(definition, Phi) else definition.operands


def targets(definition: Definition) -> tuple[str, ...]:
    """What a φ node or an instruction defines."""
    return (definition.target,) if isinstance(definition, Phi) else tuple(t for t in definition.targets if t != "_")


def _folds(definition: Definition) -> bool:
    """Whether ZERO alone gives ZERO alone."""
    return isinstance(definition, Phi) or definition.callee is GADD or isinstance(definition.callee, Alpha)


class _Folding:
    """
    The function as it is folded.

    definitions  by name, what defines it     home    by name, its block
    users        by name, what reads it       value   by name, the operand that stands in its place
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.definitions: dict[str, Definition] = {}
        self.home: dict[str, Label] = {}
        self.value: dict[str, Operand] = {}
        for block in function.blocks:
            for phi in block.phis:
                self.definitions[phi.target], self.home[phi.target] = phi, block.label
            for instruction in block.instructions:
                for name in instruction.targets:
                    if name != "_":
                        self.definitions[name], self.home[name] = instruction, block.label
        self.users: dict[str, list[str]] = {}
        for name, definition in self.definitions.items():
            for operand in operands(definition):
                if isinstance(operand, Name):
                    self.users.setdefault(operand.text, []).append(name)

    def result(self) -> Function:
        self.find_zeros()
        self.fold()
        needed = self.needed()
        return replace(self.function, blocks=tuple(self.rebuilt(block, needed) for block in self.function.blocks))

    def find_zeros(self) -> None:
        """The greatest set of names that can be ZERO all at once."""
        flows = [n for n, d in self.definitions.items() if not _folds(d) or not all(map(self.perhaps_zero, operands(d)))]
        other = set(flows)
        while flows:
            for user in self.users.get(flows.pop(), ()):
                if user not in other:
                    other.add(user)
                    flows.append(user)
        self.value = {name: NOTHING for name in self.definitions if name not in other}

    def perhaps_zero(self, operand: Operand) -> bool:
        return is_zero(operand) or (isinstance(operand, Name) and operand.text in self.definitions)

    def now(self, operand: Operand) -> Operand:
        """The operand that stands in the place of this one; the way there is made short."""
        return resolved(operand, self.value) if isinstance(operand, Name) and operand.text in self.value else operand

    def fold(self) -> None:
        """Sums and φ nodes that are one of their operands, until there are none."""
        todo = list(reversed(self.definitions))
        while todo:
            name = todo.pop()
            if name in self.value or (found := self.folded(name)) is None:
                continue
            self.value[name] = found
            users = self.users.pop(name, [])
            todo += users
            if isinstance(found, Name):
                self.users.setdefault(found.text, []).extend(users)

    def folded(self, name: str) -> Operand | None:
        """The operand that `name` is, or None. A sum of two φ nodes that exclude each other becomes a φ node on the way."""
        match self.definitions[name]:
            case Phi(target, arms):
                others = {key(a): a for _, arm in arms if (a := self.now(arm)) != Name(target)}
                return next(iter(others.values()), NOTHING) if len(others) < 2 else None
            case Instruction(callee=callee, operands=(a, b)) if callee is GADD:
                a, b = self.now(a), self.now(b)
                if is_zero(a) or is_zero(b):
                    return b if is_zero(a) else a
                if self.exclusive(name, a, b):
                    return self.folded(name)
        return None

    def exclusive(self, name: str, a: Operand, b: Operand) -> bool:
        """gadd(φ(p → a, q → ZERO), φ(p → ZERO, q → b)), all in one block  ⟹  φ(p → a, q → b)"""
        phis = [self.definitions.get(o.text) for o in (a, b) if isinstance(o, Name) and self.home.get(o.text) == self.home[name]]
        match phis:
            case [Phi(_, first), Phi() as second]:
                pairs = [(label, self.now(arm), self.now(second.arm(label))) for label, arm in first]
                if all(is_zero(x) or is_zero(y) for _, x, y in pairs):
                    arms = tuple((label, y if is_zero(x) else x) for label, x, y in pairs)
                    self.definitions[name] = Phi(name, arms)
                    for read in names_in(arm for _, arm in arms):
                        self.users.setdefault(read, []).append(name)
                    return True
        return False

    def needed(self) -> set[str]:
        """The names that a jump needs, and those that these need."""
        todo = [n for b in self.function.blocks for n in names_in(map(self.now, operands_of(b.jump)))]
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in found and name in self.definitions:
                found.add(name)
                todo += names_in(map(self.now, operands(self.definitions[name])))
        return found

    def rebuilt(self, block: Block, needed: set[str]) -> Block:
        """The block with what is needed; a sum that became a φ node stands among the φ nodes."""
        phis, instructions = list(block.phis), []
        for instruction in block.instructions:
            kept = tuple(t if t in needed else "_" for t in instruction.targets)
            found = self.definitions.get(kept[0]) if len(kept) == 1 else None
            if isinstance(found, Phi):
                phis.append(found)
            elif set(kept) - {"_"}:
                instructions.append(put_in_instruction(instruction, self.now, lambda t: t if t in needed else "_"))
        whole = (with_arms(p, [(q, self.now(a)) for q, a in p.arms]) for p in phis if p.target in needed)
        return Block(block.label, tuple(whole), tuple(instructions), put_in_jump(block.jump, self.now))
