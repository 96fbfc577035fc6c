"""
Numbers side by side: what generated code computes with when it runs several samples at once on the CPU.

`lanes` are 8 or 32 reals, integers or booleans in one vector of LLVM. An operation is one for all of them, and gives each the bits
that it has alone; a function of the C library is called for one after the other. So the text of a kernel is compiled as it stands,
for arguments of another type: numbers that are the same in every sample, such as the turns of a loop that all go through together,
stay numbers, and what is computed of these is computed once.

A branch asks all lanes. Where they do not agree the call ends in an error, and the samples are run one by one; so no lane ever
computes what its sample would not. Of 32 a processor has more to do while it waits for a result, but 8 agree more often
(`backend.batches.branches`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

from backend.toolchain import BARE

FEW, MANY = 8, 32
NUMBER = ir.IntType(32)  # of a lane
REALS, INTEGERS, BOOLEANS = "reals", "integers", "booleans"
OF = {
    REALS: (types.float64, ir.DoubleType()),
    INTEGERS: (types.int64, ir.IntType(64)),
    BOOLEANS: (types.boolean, ir.IntType(1)),
}
Emit = Callable[..., Any]


class Lanes(types.Type):
    """The type of `width` numbers, `scalar` that of one of them. A number stands for as many that are equal."""

    def __init__(self, of: str, width: int) -> None:
        super().__init__(name=f"{width} lanes of {of}")
        self.of, self.width, (self.scalar, bits) = of, width, OF[of]
        self.vector = ir.VectorType(bits, width)

    def unify(self, context: Any, other: Any) -> Any:
        """What holds values of both types."""
        kinds = {self, other}
        return next((kind for kind in LANES[self.width].values() if kind in kinds and all(_goes(k, kind) for k in kinds)), None)

    def can_convert_from(self, context: Any, other: Any) -> Any:
        return Conversion.safe if _goes(other, self) else None


LANES = {width: {of: Lanes(of, width) for of in OF} for width in (FEW, MANY)}


def _goes(source: Any, target: Lanes) -> bool:
    """Whether a value of one type is one of the other: as numbers go, integers where reals are wanted, and each to its lanes."""
    integer = source is LANES[target.width][INTEGERS] or isinstance(source, types.Integer)
    return source in (target, target.scalar) or (integer and target.of != BOOLEANS)


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, type: Lanes) -> None:
        super().__init__(manager, type, type.vector)


@lower_cast(types.Number, Lanes)
@lower_cast(types.Boolean, Lanes)
def _spread(context: Any, builder: Any, source: Any, target: Lanes, value: Any) -> Any:
    return spread(builder, context.cast(builder, value, source, target.scalar), target.vector)


def spread(builder: Any, one: Any, vector: Any) -> Any:
    """A number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, one, NUMBER(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(NUMBER, vector.count), [0] * vector.count))


@lower_cast(Lanes, Lanes)
def _converted(context: Any, builder: Any, source: Lanes, target: Lanes, value: Any) -> Any:
    return builder.sitofp(value, target.vector)


# operations


def kind_of(arguments: Any) -> Any:
    """The lanes that an operation on arguments is of; None if it is of none."""
    width = next((a.width for a in arguments if isinstance(a, Lanes)), None)
    if width is None:
        return None
    return next((kind for kind in reversed(LANES[width].values()) if all(_goes(a, kind) for a in arguments)), None)


def operation(function: Any, emits: Mapping[str, Emit], count: int = 2, gives: str = "") -> None:
    """A function that has an instruction for each kind of lanes, of so many arguments; its result is `gives`, or of that kind."""

    @infer_global(function)
    class Typed(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            kind = kind_of(args) if len(args) == count else None
            if kind is None or kind.of not in emits:
                return None
            return signature(LANES[kind.width][gives or kind.of], *[kind] * count)

    @lower_builtin(function, *[Lanes] * count)
    def emitted(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return emits[signature.args[0].of](builder, *arguments)


def by_lane(function: Any, of: str, count: int) -> None:
    """A function that is called for one lane after the other."""

    @infer_global(function)
    class Typed(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            found = kind_of(args) if len(args) == count else None
            return signature(*[LANES[found.width][of]] * (count + 1)) if found is not None and of in (found.of, REALS) else None

    @lower_builtin(function, *[Lanes] * count)
    def emitted(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.return_type
        one = context.typing_context.resolve_function_type(function, (kind.scalar,) * count, {})
        call, result = context.get_function(function, one), ir.Constant(kind.vector, ir.Undefined)
        for k in range(kind.width):
            value = call(builder, [builder.extract_element(a, NUMBER(k)) for a in arguments])
            result = builder.insert_element(result, value, NUMBER(k))
        return result


def _compared(op: str) -> dict[str, Emit]:
    """NaN is unlike everything, and in no order."""

    def reals(b: Any, x: Any, y: Any) -> Any:
        return (b.fcmp_unordered if op == "!=" else b.fcmp_ordered)(op, x, y)

    def whole(b: Any, x: Any, y: Any) -> Any:
        return b.icmp_signed(op, x, y)

    return {REALS: reals, INTEGERS: whole} | ({BOOLEANS: whole} if op in ("==", "!=") else {})


def _intrinsic(name: str) -> Emit:
    """An instruction that LLVM has as a function of vectors."""

    def emit(builder: Any, x: Any) -> Any:
        type = ir.FunctionType(x.type, [x.type])
        return builder.call(cgutils.get_or_insert_function(builder.module, type, f"llvm.{name}.v{x.type.count}f64"), [x])

    return emit


def _same(builder: Any, x: Any) -> Any:
    return x


def _real(builder: Any, x: Any) -> Any:
    return builder.sitofp(x, LANES[x.type.count][REALS].vector)


def _whole(builder: Any, x: Any) -> Any:
    return builder.zext(x, LANES[x.type.count][INTEGERS].vector)


operation(operator.add, {REALS: lambda b, x, y: b.fadd(x, y), INTEGERS: lambda b, x, y: b.add(x, y)})
operation(operator.sub, {REALS: lambda b, x, y: b.fsub(x, y), INTEGERS: lambda b, x, y: b.sub(x, y)})
operation(operator.mul, {REALS: lambda b, x, y: b.fmul(x, y), INTEGERS: lambda b, x, y: b.mul(x, y)})
operation(operator.truediv, {REALS: lambda b, x, y: b.fdiv(x, y)})
operation(operator.neg, {REALS: lambda b, x: b.fneg(x), INTEGERS: lambda b, x: b.neg(x)}, 1)
operation(operator.or_, {BOOLEANS: lambda b, x, y: b.or_(x, y)})
operation(operator.and_, {BOOLEANS: lambda b, x, y: b.and_(x, y)})
operation(operator.not_, {BOOLEANS: lambda b, x: b.not_(x)}, 1)
operation(float, {REALS: _same, INTEGERS: _real}, 1, REALS)
operation(int, {INTEGERS: _same, BOOLEANS: _whole}, 1, INTEGERS)
operation(abs, {REALS: _intrinsic("fabs")}, 1)
operation(math.sqrt, {REALS: _intrinsic("sqrt")}, 1)

COMPARISONS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==", operator.ne: "!="}
for _function, _op in COMPARISONS.items():
    operation(_function, _compared(_op), gives=BOOLEANS)
for _function in (operator.floordiv, operator.mod):
    by_lane(_function, INTEGERS, 2)

ONE = (
    "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "erf", "erfc",
)  # fmt: skip
TWO = ("pow", "atan2", "copysign")
for _name in (*ONE, *TWO):
    by_lane(getattr(math, _name), REALS, 1 if _name in ONE else 2)


# branches


def _vote(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """What all lanes say; an error if they say different things."""
    (x,) = arguments
    if signature.args[0].of != BOOLEANS:
        x = builder.icmp_signed("!=", x, ir.Constant(x.type, None))
    votes = builder.bitcast(x, ir.IntType(x.type.count))
    yes, no = (builder.icmp_unsigned("==", votes, ir.Constant(votes.type, of)) for of in (-1, 0))
    part(context, builder, builder.not_(builder.or_(yes, no)))
    return yes


def part(context: Any, builder: Any, condition: Any) -> None:
    """The error, if a condition holds."""
    with builder.if_then(condition, likely=False):
        context.call_conv.return_user_exc(builder, ArithmeticError, ("the samples part",))


@infer_global(bool)
class _Vote(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.boolean, *args) if isinstance(args[0], Lanes) and args[0].of != REALS else None


lower_builtin(bool, Lanes)(_vote)

# choices


def chosen(condition, x, y):  # type: ignore[no-untyped-def]
    """x in the lanes where the condition holds, y in the others."""
    raise NotImplementedError("it is compiled")


@infer_global(chosen)
class _Chosen(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        condition, *values = args
        if isinstance(condition, Lanes):
            kinds = [*LANES[condition.width].values()] if condition.of == BOOLEANS else []
            kind = kind_of(values) or next((k for k in reversed(kinds) if all(_goes(v, k) for v in values)), None)
        else:
            kind = kind_of(values) if condition == types.boolean else None
        if kind is None and condition == types.boolean:
            kind = self.context.unify_types(*values)
        return None if kind is None else signature(kind, condition, kind, kind)


@lower_builtin(chosen, Lanes, types.Any, types.Any)
@lower_builtin(chosen, types.Boolean, types.Any, types.Any)
def _select(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.select(*arguments)


CALLED = frozenset(
    {*(f"_{name}" for name in (*ONE, *TWO)), "_sqrt", "_mul", "_div", "_range_", "_sign", "_order", "_floor", "_chosen"}
)
"""The names that a kernel for lanes may call: with lanes, or, in helpers that integers are for, with numbers."""


@njit(**BARE)
def mul(a, b):  # type: ignore[no-untyped-def]
    """The product, of lanes or of numbers."""
    return a * b


@njit(**BARE)
def div(a, b):  # type: ignore[no-untyped-def]
    """The quotient, of lanes or of numbers."""
    return a / b
