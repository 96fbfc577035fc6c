"""
Numba's lowering with more variables in registers, and elements of arrays read and written in few instructions.

Numba gives a variable memory unless one block alone mentions it, and LLVM then spends most of its time on taking these places away.
Here a variable is a value of LLVM's too if it is assigned once, and the assignment comes before everything that mentions it
(`assigned_first`). Of an array nothing but the address by which it is counted has a place: where a variable is deleted, it may have
been deleted before, or not yet assigned.

An element whose numbers are integers is found from the fields of the array as a value; Numba would write them to memory each time.
A number that counts the turns of a loop is not asked whether it is negative.
Numbers hold no reference, so nothing is done where one is assigned again or deleted: Numba reads the old one, or writes a zero.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core import ir as statements
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.lowering import Lower

from backend.cpu.memory import Cells
from backend.cpu.turns import given, in_tuples, turns

Place = tuple[int, int]  # a block, and the number of a statement in it


NUMBERS = (types.float64, types.int64)
RECORD = types.MemInfoPointer(types.voidptr)  # type: ignore[attr-defined]
"""The type of the address by which an array is counted."""
OPERATORS = frozenset(
    {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod}
    | {operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
)


class Registers(Lower):
    """
    `held` are the variables without memory of their own, `values` their values, `counted` the places of what counts arrays; `turns`
    are those that count turns, `parts` has those of which tuples are made.
    """

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        self.of_types: dict[Any, bool] = {}
        found = assigned_first(self.blocks) - self._singly_assigned_vars
        self.held = {name for name in found if self._is_array(name) or not self._model(name).contains_nrt_meminfo()}
        self.values: dict[str, Any] = {}
        self.counted: dict[str, Any] = {}
        assigned = given(self.blocks)
        self.turns, self.parts = turns(assigned), in_tuples(assigned)

    def _model(self, name: str) -> Any:
        return self.context.data_model_manager[self.typeof(name)]

    def _is_array(self, name: str) -> bool:
        return isinstance(self.typeof(name), types.Array)

    # variables

    def _alloca_var(self, name: str, type: Any) -> None:
        if name not in self.held:
            super()._alloca_var(name, type)

    def loadvar(self, name: str) -> Any:
        return self.values[name] if name in self.values else super().loadvar(name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name not in self.held:
            if self._is_counted(self.typeof(name)) or argidx is not None or name in self._singly_assigned_vars:
                super().storevar(value, name, argidx=argidx)
            else:
                self.builder.store(value, self.getvar(name))
            return
        if self._is_array(name):
            self.builder.store(self._model(name).get(self.builder, value, "meminfo"), self._released(name))
        self.values[name] = value

    def delvar(self, name: str) -> None:
        if not self._is_counted(self.typeof(name)):
            if name not in self._blk_local_varmap:
                self._singly_assigned_vars.discard(name)
        elif name not in self.held:
            super().delvar(name)
        elif self._is_array(name):
            place = self._released(name)
            self.builder.store(ir.Constant(cgutils.voidptr_t, None), place)

    def incref(self, type: Any, value: Any) -> None:
        if self._is_counted(type):
            super().incref(*self._record(type, value))

    def decref(self, type: Any, value: Any) -> None:
        if self._is_counted(type):
            super().decref(*self._record(type, value))

    def _record(self, type: Any, value: Any) -> tuple[Any, Any]:
        """What is counted of a value: of an array its record alone, for which Numba would look through all fields."""
        if isinstance(type, types.Array):
            return RECORD, self.context.data_model_manager[type].get(self.builder, value, "meminfo")
        return type, value

    def _is_counted(self, type: Any) -> bool:
        """Whether there are references in a value of the type, so that whoever has it is counted."""
        if type not in self.of_types:
            self.of_types[type] = bool(self.context.data_model_manager[type].contains_nrt_meminfo())
        return self.of_types[type]

    def _released(self, name: str) -> Any:
        """The place of the address by which an array is counted, once what was there is no longer counted."""
        if name not in self.counted:
            self.counted[name] = cgutils.alloca_once(self.builder, cgutils.voidptr_t, name=name, zfill=True)
        place = self.counted[name]
        self.decref(RECORD, self.builder.load(place))
        return place

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """A place; Numba would ask LLVM for its size besides, for a debugger."""
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)

    # operators

    def lower_binop(self, type: Any, expression: Any, operation: Any) -> Any:
        """
        An operation on two numbers of one type, of which typing has found the implementation. Numba looks for one with known
        operands first, which powers alone have.
        """
        left, right = expression.lhs, expression.rhs
        signature = self.fndesc.calltypes[expression]
        taken = tuple(types.unliteral(self.typeof(operand.name)) for operand in (left, right))  # type: ignore[attr-defined]
        if operation not in OPERATORS or taken != signature.args or taken[0] != taken[1] or taken[0] not in NUMBERS:
            return super().lower_binop(type, expression, operation)
        given = [
            self.context.cast(self.builder, self.loadvar(operand.name), self.typeof(operand.name), number)
            for operand, number in zip((left, right), taken, strict=True)
        ]
        found = self._implementation(operation, signature)(self.builder, given)
        return self.context.cast(self.builder, found, signature.return_type, type)

    def _implementation(self, operation: Any, signature: Any) -> Any:
        """What Numba does for an operator. It notes that with the operator's type, and has another such type once it knows more."""
        function = self.context.typing_context.resolve_value_type(operation)
        try:
            return self.context.get_function(function, signature)
        except KeyError:
            function.get_call_type(self.context.typing_context, signature.args, {})
            return self.context.get_function(function, signature)

    # elements

    def lower_getitem(self, type: Any, expression: Any, array: Any, index: Any, signature: Any) -> Any:
        of = self.typeof(array.name)
        if not is_element(of, self.typeof(index.name)) or type != of.dtype:
            return super().lower_getitem(type, expression, array, index, signature)
        return self.context.unpack_value(self.builder, of.dtype, self._element(array, index), align=_alignment(of))

    def lower_setitem(self, array: Any, index: Any, value: Any, signature: Any) -> Any:
        of = self.typeof(array.name)
        if not is_element(of, self.typeof(index.name)):
            return super().lower_setitem(array, index, value, signature)
        place = self._element(array, index)
        found = self.context.cast(self.builder, self.loadvar(value.name), self.typeof(value.name), of.dtype)
        return self.context.pack_value(self.builder, of.dtype, found, place, align=_alignment(of))

    def _element(self, array: Any, index: Any) -> Any:
        """
        The address of an element. Numbers below zero count from the end, except in the memory of stacks, which has none, and where
        they count the turns of a loop.
        """
        of, builder, value = self.typeof(array.name), self.builder, self.loadvar(array.name)
        data, shape, strides = (self._model(array.name).get(builder, value, field) for field in ("data", "shape", "strides"))
        at, names = self.loadvar(index.name), self.parts.get(index.name, (index.name,))
        numbers = cgutils.unpack_tuple(builder, at) if isinstance(self.typeof(index.name), types.BaseTuple) else [at]  # type: ignore[attr-defined]
        sizes, steps = (cgutils.unpack_tuple(builder, given) for given in (shape, strides))
        if not isinstance(of, Cells):
            known = names if len(names) == len(numbers) else ("",) * len(numbers)
            numbers = [
                n if name in self.turns else _from_the_end(builder, n, size)
                for name, n, size in zip(known, numbers, sizes, strict=True)
            ]
        return cgutils.get_item_pointer2(self.context, builder, data, sizes, steps, of.layout, numbers)


def _from_the_end(builder: Any, number: Any, size: Any) -> Any:
    """An index from the beginning."""
    negative = builder.icmp_signed("<", number, ir.Constant(number.type, 0))
    return builder.select(negative, builder.add(number, size), number)


def is_element(of: Any, index: Any) -> bool:
    """Whether an array of numbers has an element at an index of this type: a 64-bit integer for each axis."""
    if not isinstance(of, types.Array) or not isinstance(of.dtype, types.Number | types.Boolean):
        return False
    numbers = tuple(index) if isinstance(index, types.BaseTuple) else (index,)  # type: ignore[attr-defined]
    return len(numbers) == of.ndim and all(isinstance(n, types.Integer) and n.signed and n.bitwidth == 64 for n in numbers)  # type: ignore[attr-defined]


def _alignment(of: Any) -> int | None:
    return None if of.aligned else 1


def assigned_first(blocks: dict[int, Any]) -> set[str]:
    """
    The variables that are assigned once, in a block that every way to what else mentions them goes through, and before it. Where
    they are deleted does not matter: that needs no value.
    """
    assigned: dict[str, list[Place]] = {}
    mentioned: dict[str, list[Place]] = {}
    for at, block in blocks.items():
        for number, statement in enumerate(block.body):
            target, names = _names(statement)
            for name in names:
                mentioned.setdefault(name, []).append((at, number))
            if target is not None:
                assigned.setdefault(target, []).append((at, number))
    around = compute_cfg_from_blocks(blocks).dominators()
    found = set()
    for name, places in assigned.items():
        (at, number), *others = places
        if not others and all(n > number if b == at else b > at and at in around.get(b, ()) for b, n in mentioned.get(name, ())):
            found.add(name)
    return found


def _names(statement: Any) -> tuple[str | None, list[str]]:
    """What a statement assigns to, if that is a variable, and what else it mentions."""
    if isinstance(statement, statements.Del):
        return None, []
    names = [v.name for v in statement.list_vars()]
    if not isinstance(statement, statements.Assign):
        return None, names
    names.remove(statement.target.name)
    return statement.target.name, names
