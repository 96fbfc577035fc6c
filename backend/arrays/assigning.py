"""Numbers in variables and elements in arrays: assignments, and what is ZERO."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from backend.arrays.neutral import NEUTRAL, as_number
from backend.arrays.sizes import Comparing
from backend.arrays.values import READ, Held, Sizes, place
from backend.lowering.shape import Reg, Sum, literal, options
from semantics.primitives.table import TABLE
from semantics.type_language import BOOLEAN, INTEGER


class Assigning(Comparing):
    """What the emitter knows of assignments. `line`, `new`, `over`, `variable`, `primitive` and `element` are the emitter's."""

    @contextmanager
    def under(self, test: str) -> Iterator[None]:
        """What is written meanwhile stands under this line; if it is empty, where it would stand anyway."""
        if not test:
            yield
            return
        outer, self.code = self.code, []
        yield
        body, self.code = self.code, outer
        self.code += [test, body]

    def integer(self, text: str) -> Reg:
        """An integer in a variable, if its text is more than a name or a number."""
        if text.isdigit():
            return literal(int(text))
        if not any(c in text for c in " (["):
            return Reg(text, INTEGER)
        name = self.variable(INTEGER)  # type: ignore[attr-defined]
        self.line(f"{name} = {text}")  # type: ignore[attr-defined]
        return Reg(name, INTEGER)

    def noted(self, found: Any) -> Any:
        """An element, in a variable: what array it came from matters no longer."""
        match found:
            case Reg(text, type, None):
                name = self.variable(type)  # type: ignore[attr-defined]
                self.line(f"{name} = {text}")  # type: ignore[attr-defined]
                return Reg(name, type)
            case Sum(_, tests, parts):
                found_tests = tuple(self.noted(Reg(t, BOOLEAN)).text for t in tests)
                return replace(found, tests=found_tests, options=tuple(map(self.noted, parts)))
            case _:
                return found

    def add_into(self, array: Held, indices: Sizes, found: Any) -> None:
        """Adds a sensitivity to an element, in place."""
        total = self.primitive(TABLE["gadd"], [self.element(array, indices), found])  # type: ignore[attr-defined]
        if array.dtype == "f32":
            total = self.primitive(TABLE["single"], [total])  # type: ignore[attr-defined]
        self.write(array, indices, total)

    def write(self, array: Held, indices: Sizes, found: Any) -> None:
        """The assignment of an element; in an array with a mask, ZERO is one too, with the number -0.0."""
        at = place(indices)
        if array.mask and isinstance(found, Sum) and found.neutral:
            test, number = as_number(found)
            self.line(f"{array.name}[{at}] = {number.text}")  # type: ignore[attr-defined]
            self.line(f"{array.mask}[{at}] = {test}")  # type: ignore[attr-defined]
            return
        for test, option in options(found):
            with self.under(test):
                if isinstance(option, Reg):
                    self.line(f"{array.name}[{at}] = {option.text}")  # type: ignore[attr-defined]
                elif array.mask:
                    self.line(f"{array.name}[{at}] = {NEUTRAL}")  # type: ignore[attr-defined]
                if array.mask:
                    self.line(f"{array.mask}[{at}] = {isinstance(option, Reg)}")  # type: ignore[attr-defined]

    def write_sum(self, array: Held, indices: Sizes, total: Any) -> None:
        """
        The assignment of a sum to one element, whose mask is written before it, and only where it is not True. So what is added to
        the element next finds the sum in a register: for all that LLVM knows, a mask that is written is written over numbers.
        """
        if not array.mask or not isinstance(total, Reg):
            return self.write(array, indices, total)
        at = place(indices)
        self.code += [f"if not {array.mask}[{at}]:", [f"{array.mask}[{at}] = True"]]
        self.line(f"{array.name}[{at}] = {total.text}")  # type: ignore[attr-defined]

    def copied(self, value: Held, holes: bool) -> Held:
        """A copy, the numbers and the mask each for itself, of its own size; what has no mask is there."""

        def copy(name: str, dtype: str) -> str:
            sizes = tuple(f"{name}.shape[{k}]" for k in range(len(value.sizes)))
            new: str = self.new(dtype, sizes).name  # type: ignore[attr-defined]
            with self.over(sizes, range(len(sizes))) as at:  # type: ignore[attr-defined]
                self.line(f"{new}[{place(at)}] = {READ[dtype]}({name}[{place(at)}])")  # type: ignore[attr-defined]
            return new

        name, mask = copy(value.name, value.dtype), ""
        if holes:
            mask = copy(value.mask, "bool") if value.mask else self.new("bool", value.sizes, "True").name  # type: ignore[attr-defined]
        return Held(value.dtype, name, value.sizes, mask)
