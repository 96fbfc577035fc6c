"""What the functions of this package are written with: instructions of LLVM for a double, or for each of a vector of doubles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir

DOUBLE, WORD = ir.DoubleType(), ir.IntType(64)
WHOLE = 1.5 * 2.0**52  # in doubles of this size the last bits are an integer, to which a sum with it is rounded
EXPONENT = 52  # bits below that of the exponent


@dataclass(frozen=True, slots=True)
class Instructions:
    """Where they are written, for values of which type, and whether a product that goes into a sum is rounded."""

    builder: Any
    real: Any
    fused: bool

    @property
    def words(self) -> Any:
        """The type of as many words."""
        return ir.VectorType(WORD, self.real.count) if isinstance(self.real, ir.VectorType) else WORD

    def number(self, value: float) -> Any:
        return _constant(self.real, value)

    def word(self, value: int) -> Any:
        return _constant(self.words, value)

    def plus_product(self, a: Any, b: Any, c: Any) -> Any:
        """a + b c, the product rounded or not."""
        return self.call("fma", b, c, a) if self.fused else self.builder.fadd(self.builder.fmul(b, c), a)

    def call(self, name: str, *arguments: Any) -> Any:
        """What LLVM has an instruction for, and no operator."""
        suffix = "f64" if self.real == DOUBLE else f"v{self.real.count}f64"
        name, type = f"llvm.{name}.{suffix}", ir.FunctionType(self.real, [self.real] * len(arguments))
        module = self.builder.module
        return self.builder.call(module.globals.get(name) or ir.Function(module, type, name), arguments)

    def power_of_two(self, k: Any) -> Any:
        """2^k, of whole numbers within the exponents of doubles."""
        bits = self.builder.bitcast(self.builder.fadd(k, self.number(WHOLE + 1023.0)), self.words)
        return self.builder.bitcast(self.builder.shl(bits, self.word(EXPONENT)), self.real)

    def anywhere(self, condition: Any) -> Any:
        """Whether a condition holds in any lane."""
        if self.real == DOUBLE:
            return condition
        bits = self.builder.bitcast(condition, ir.IntType(self.real.count))
        return self.builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


def _constant(type: Any, value: Any) -> Any:
    return ir.Constant(type, [value] * type.count if isinstance(type, ir.VectorType) else value)
