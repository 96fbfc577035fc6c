"""
Whose a finding of a sweep is, and why: what somebody looked into, kept apart from the stores, so that no sweep overwrites it.

    theirs  the library answers something wrong, or loses digits, at the input that is told
    limits  the library does not differentiate this, and does not say so: it answers zero, or raises what is no refusal
    ours    the judge or its tables are mistaken; the reason says how, and what is to be done

A finding that no line here is about is NEW.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

THEIRS, LIMITS, OURS, NEW = "theirs", "limits", "ours", "NEW"


@dataclass(frozen=True, slots=True)
class Known:
    """
    A judgment on the findings of some functions.

    functions  patterns of the names without that of the library, separated by spaces        why  the evidence in a line or two
    kinds      the kinds of findings that it is about        claims  the checks; all if empty
    """

    library: str
    functions: str
    whose: str
    why: str
    kinds: tuple[str, ...] = ("fault", "accuracy")
    claims: tuple[str, ...] = ()

    def about(self, library: str, function: str, finding: Mapping[str, Any]) -> bool:
        """Whether it is about a finding."""
        short = function.removeprefix(f"{library}.")
        named = self.library == library and any(fnmatchcase(short, pattern) for pattern in self.functions.split())
        return named and finding["kind"] in self.kinds and (not self.claims or finding["claim"] in self.claims)


def known(library: str, function: str, finding: Mapping[str, Any]) -> Known | None:
    """The judgment on a finding; None if nobody looked into it."""
    return next((judgment for judgment in JUDGMENTS if judgment.about(library, function, finding)), None)


JUDGMENTS: tuple[Known, ...] = (
    Known(
        "autograd",
        "numpy.prod",
        THEIRS,
        "the rule is g * ans / x: grad(prod)([0, 2, 3]) is [nan, 0, 0]; the product of the others makes it [6, 0, 0]",
    ),
    Known(
        "autograd",
        "numpy.tile",
        THEIRS,
        "a number of repetitions is taken for the first axis, where NumPy takes it for the last: the rows of the Jacobian of"
        " tile(x, 2) at shape (2, 1) are permuted, and at shape (1, 1) the rule raises",
    ),
    Known(
        "autograd",
        "numpy.diag",
        THEIRS,
        "the cotangent of a (3, 4) matrix has shape (3, 3): the rule is diag of the cotangent, whatever the shape was",
    ),
    Known("autograd", "numpy.broadcast_to", THEIRS, "a new leading axis raises AssertionError: Can't handle extra leading dims"),
    Known(
        "autograd",
        "numpy.full_like",
        THEIRS,
        "the derivative by the fill value is silently 0: grad(lambda y: sum(full_like(x, y)))(3.0) is 0, the size of x is right",
    ),
    Known(
        "autograd",
        "numpy.std numpy.linalg.norm",
        THEIRS,
        "one row in which the root is of 0 makes every row NaN (0 / 0 times the zero cotangent): jacobian(norm(axis=1)) at"
        " [[0, 0], [3, 4]] has [nan, nan] in the row of the second output",
    ),
    Known(
        "autograd",
        "numpy.sinc",
        THEIRS,
        "(cos(t) t - sin(t)) / (pi x^2) is 0 / 0 at 0: grad(sinc)(0.0) is nan; it cancels near 0: at 1e-6 five digits are right, at"
        " 9e-13 it is 0 where -pi^2 x / 3 is right",
    ),
    Known(
        "autograd",
        "numpy.expm1",
        THEIRS,
        "the rule is (ans + 1) g: it cancels below 0, and from -37 on answers 0; exp(x) g keeps every digit",
    ),
    Known("autograd", "numpy.einsum", THEIRS, "a repeated index, as in 'ii->i' and 'ii': the rule raises, the function does not"),
    Known(
        "autograd",
        "numpy.cross",
        THEIRS,
        "vectors of length 2, which the function takes: the rule raises ValueError: At least one array has zero dimension",
    ),
    Known("autograd", "numpy.gradient", THEIRS, "an axis of length 2 or 3, which the function takes: the rule raises"),
    Known(
        "autograd",
        "numpy.arctan2 numpy.arccosh numpy.hypot",
        THEIRS,
        "x^2 overflows from 1e154 on: the answer is 0 where 1 / x is right",
        kinds=("accuracy",),
    ),
    Known("autograd", "scipy.special.expit", THEIRS, "ans (1 - ans) cancels: at 40 it is 0", kinds=("accuracy",)),
    Known(
        "autograd",
        "scipy.special.logsumexp",
        LIMITS,
        "with weights b of a shape that widens x the rule raises ValueError; by b itself a TypeError of a ufunc, and no refusal",
        claims=("structure",),
    ),
    Known(
        "autograd",
        "numpy.concat numpy.dstack numpy.block numpy.choose numpy.require numpy.as* numpy.copy numpy.linalg.multi_dot"
        " numpy.broadcast_arrays scipy.linalg.companion scipy.linalg.fiedler* numpy.meshgrid",
        LIMITS,
        "given a list of arrays it answers an array of objects that hold the trace: make_vjp answers 0 without complaint, though"
        " grad of a sum of it is right; concatenate and array are differentiated",
    ),
    Known(
        "autograd",
        "numpy.angle",
        THEIRS,
        "0 / 0 at 0, where the function jumps: the zero cotangent of an element that is 0 becomes NaN",
    ),
    Known(
        "jax",
        "numpy.divide numpy.true_divide",
        THEIRS,
        "the cotangent of the divisor is -g x / y**2, and y**2 underflows: at x = 0, y = 1e-196 it is 0 / 0, where 0 is right",
        kinds=("accuracy",),
    ),
    Known(
        "jax",
        "numpy.arctan2 numpy.atan2",
        THEIRS,
        "y / (x**2 + y**2) as it stands: at x = 0, y = 1.5e194 the squares overflow and 0 is answered for 6.8e-195",
        kinds=("accuracy",),
    ),
    Known(
        "jax",
        "numpy.mod numpy.fmod numpy.remainder",
        OURS,
        "rem is read by no ball, and Richardson steps over the jumps of a divisor of 1e-196: 1 is right by x",
        kinds=("accuracy",),
    ),
    Known(
        "autograd",
        "numpy.linalg.cholesky",
        THEIRS,
        "the rule solves with the factor twice, and forms products that cancel: at a condition of 1e4 four digits are lost",
        kinds=("accuracy",),
    ),
    Known(
        "autograd",
        "scipy.integrate.odeint",
        OURS,
        "judged by a call that hid a parameter in the function that is integrated; the call with it in args takes over a minute",
    ),
    Known(
        "jax",
        "nn.log_softmax",
        THEIRS,
        "dy - softmax * sum(dy) cancels where one element has nearly all: at [8, 0] three digits are lost",
        kinds=("accuracy",),
    ),
    Known(
        "jax",
        "scipy.special.expit",
        THEIRS,
        "the rule is g y (1 - y), and 1 - y cancels for y near 1: at 8 three digits are lost",
        kinds=("accuracy",),
    ),
    Known("jax", "*expm1", THEIRS, "the rule is g (ans + 1): at -16 it loses six digits, from -37 on it is 0"),
    Known(
        "jax",
        "numpy.sinc",
        THEIRS,
        "the quotient is differentiated as it stands and cancels near 0: grad(jnp.sinc)(9e-13) is 1.9e-4, not -3e-12",
    ),
    Known(
        "jax",
        "numpy.std numpy.nanstd numpy.linalg.norm numpy.linalg.vector_norm",
        THEIRS,
        "one row in which the root is of 0 makes its row NaN for every output (0 times infinity): jacrev(norm(axis=1)) at"
        " [[0, 0], [3, 4]] has [nan, nan] in the row of the second output",
    ),
    Known(
        "jax",
        "numpy.arctan2 numpy.hypot lax.atan2",
        THEIRS,
        "x^2 overflows from 1e154 on: the answer is 0 where 1 / x is right",
        kinds=("accuracy",),
    ),
    Known(
        "torch",
        "arctan2 atan2",
        THEIRS,
        "x^2 overflows from 1e154 on: the answer is 0 where 1 / x is right",
        kinds=("accuracy",),
    ),
    Known("torch", "expm1 special.expm1", THEIRS, "the rule is g (ans + 1): at -16 it loses six digits, from -37 on it is 0"),
    Known(
        "torch",
        "sinc special.sinc",
        THEIRS,
        "(cos(t) t - sin(t)) / (pi x^2) cancels near 0: at 9e-13 it is 0 where -pi^2 x / 3 is right, at 1e-6 five digits are right",
    ),
    Known("torch", "hypot", THEIRS, "x / hypot(x, y) is 0 / 0 at (0, 0): NaN, where (0, 0) is among the subgradients"),
    Known(
        "torch",
        "digamma special.digamma special.psi polygamma special.polygamma",
        THEIRS,
        "the trigamma function keeps nine digits in doubles: at 1 it is 1.64493406764 where pi^2 / 6 = 1.64493406685 is right",
    ),
    Known(
        "autograd",
        "numpy.linalg.pinv",
        LIMITS,
        "an entry that is small beside others is a difference of them: at [[2, 1], [1, 1/128]] five digits of -1 / 126^2 are lost;"
        " by the norm of the row none is",
        kinds=("accuracy",),
    ),
    Known(
        "jax",
        "numpy.tanh lax.tanh",
        THEIRS,
        "1 - tanh^2 cancels: at 4 three digits are lost, from 20 on it is 0 where 1 / cosh^2 keeps them all",
        kinds=("accuracy",),
    ),
    Known(
        "torch",
        "tanh nn.functional.tanh",
        THEIRS,
        "1 - tanh^2 cancels: at 4 three digits are lost, from 20 on it is 0 where 1 / cosh^2 keeps them all",
        kinds=("accuracy",),
    ),
    Known(
        "torch",
        "sigmoid special.expit nn.functional.sigmoid",
        THEIRS,
        "y (1 - y) cancels: at 8 three digits are lost, at 40 it is 0 where 4.2e-18 is right; at -8 every digit is there",
        kinds=("accuracy",),
    ),
    Known(
        "torch",
        "softmax special.softmax nn.functional.softmax",
        THEIRS,
        "y (dy - sum(y dy)) cancels where one element has nearly all: 0 at 400 x in the place of 7.7e-172",
        kinds=("accuracy",),
    ),
    Known(
        "jax",
        "nn.softmax scipy.special.softmax",
        THEIRS,
        "y (dy - sum(y dy)) cancels where one element has nearly all: at [0, 8] three digits are lost",
        kinds=("accuracy",),
    ),
    Known(
        "autograd",
        "scipy.signal.as_strided",
        LIMITS,
        "NumPy's own function, which the module imports and does not wrap: make_vjp answers 0",
    ),
    Known(
        "autograd",
        "scipy.stats.norm.logcdf scipy.stats.norm.logsf",
        THEIRS,
        "exp(logpdf - logcdf): at 64 deviations both are about -2000, whose rounding becomes a relative error: four digits",
        kinds=("accuracy",),
    ),
)
