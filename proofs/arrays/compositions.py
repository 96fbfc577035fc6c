"""
Functions of arrays that are programs of rows, and the pullbacks that textbooks give them: each is proved for every length.

The shift by the maximum, which keeps the softmax from overflowing, is read as it stands: it falls out of the forms, and so does its
derivative. So the value and the pullback are those without it (`proofs.arrays.lemmas`, logsumexp and a shift by the maximum).
"""

from __future__ import annotations

from functools import partial

from checkers.smt.inquiry import Judgment
from proofs.arrays import adjoints
from proofs.arrays.instances import A, Example
from proofs.arrays.kinds import SHAPES
from proofs.obligation import Obligation
from semantics.ir import Program
from semantics.primitives.row import Primitive, row
from transforms.backpropagators import NAMES
from transforms.parse import parse_text

SOURCES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "softmax": (
        ("e = exp(x - reduce_max(x, axis, True))", "return e / reduce_sum(e, axis, True)"),
        ("return out * (dout - reduce_sum(dout * out, axis, True)), ZERO",),
    ),
    "log_softmax": (
        ("m = reduce_max(x, axis, True)", "return x - m - log(reduce_sum(exp(x - m), axis, True))"),
        ("return dout - exp(out) * reduce_sum(dout, axis, True), ZERO",),
    ),
    "shifted_logsumexp": (
        ("m = reduce_max(x, axis, True)", "return m + log(reduce_sum(exp(x - m), axis, True))"),
        ("return dout * exp(x - out), ZERO",),
    ),
    "centred": (
        ("return x - mean(x, axis, True)",),
        ("return dout - mean(dout, axis, True), ZERO",),
    ),
    "variance": (
        ("d = x - mean(x, axis, True)", "return mean(d * d, axis, True)"),
        ("d = x - mean(x, axis, True)", "return 2.0 * (d * dout) / (array_size(x) // array_size(out)), ZERO"),
    ),
}
KINDS: list[Example] = [(A(s), axis) for s in SHAPES for axis in range(len(s))]


def program(name: str, parameters: str, lines: tuple[str, ...]) -> Program:
    """A program written as Python on the names of the rows."""
    body = "\n".join(f"    {line}" for line in lines)
    return parse_text(f"def {name}({parameters}):\n{body}\n", name, f"<{name}>", NAMES)


def composed(name: str) -> tuple[Primitive, Program]:
    """The function as a primitive that has a program, and its pullback."""
    forward, back = SOURCES[name]
    bare = row(name, "x axis", "array any -> array")
    columns = {"program": program(name, "x, axis", forward)}
    return Primitive(bare.name, bare.parameters, bare.signature, bare.result, columns=columns), program(
        f"{name}_pullback", "x, axis, out, dout", back
    )


def judge(name: str) -> Judgment:
    """The adjoint identity of the textbook's pullback."""
    function, back = composed(name)
    return adjoints.judge(function, KINDS, back)


OBLIGATIONS: tuple[Obligation, ...] = tuple(
    Obligation(
        f"{name} on arrays: adjoint, all shapes",
        name,
        partial(judge, name),
        ("slope",) if name in ("centred", "variance") else ("slope", "exp_sum", "exp_slope", "log_inverse", "inverse"),
    )
    for name in SOURCES
)
