"""What a generated program may contain: the features of the language, and the restrictions that some oracles need."""

from __future__ import annotations

from dataclasses import dataclass

FEATURES = (
    "math",
    "conditional",
    "branch",
    "elif",
    "early_return",
    "boolean",
    "while",
    "range",
    "over_tuple",
    "break",
    "continue",
    "definition",
    "lambda",
    "captured_call",
    "higher_order",
    "functions_in_tuples",
    "recursion",
    "tuple",
    "integer",
    "augmented",
    "defaults",
    "alias",
    "kinks",
    "power",
    "error_function",
    "numpy",
    "nested_grad",
)

EVERYTHING = frozenset(FEATURES)
FIRST_ORDER = EVERYTHING - {
    "definition", "lambda", "captured_call", "higher_order", "functions_in_tuples", "recursion", "defaults", "nested_grad",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """
    features       those that may occur; each program uses a random subset of them (a swarm mask). error_function, not on by
                   default, is erf, whose rule contains a rounded constant: right up to rounding, not over the reals
    always         those that every program may use, whatever the mask says
    rational_only  only + - * /: programs with exact values and gradients
    smooth         no abs, min, max and no comparison of reals: differentiable everywhere
    size           the number of statements, nested ones included
    parameters     how many real parameters the entry has
    """

    features: frozenset[str] = EVERYTHING - {"nested_grad", "error_function"}
    always: frozenset[str] = frozenset()
    rational_only: bool = False
    smooth: bool = False
    size: int = 6
    parameters: int = 2

    def allowed(self) -> tuple[str, ...]:
        """The features in a fixed order, those that the restrictions forbid left out."""
        forbidden = {"math", "power", "error_function"} if self.rational_only else set()
        forbidden |= {"kinks"} if self.smooth else set()
        forbidden |= {"numpy"} if self.smooth and self.rational_only else set()
        return tuple(f for f in FEATURES if f in self.features | self.always and f not in forbidden)
