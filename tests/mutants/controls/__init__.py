"""
Right backpropagators that are hard to judge: saturation, masks, overflow, ties, cancellation, ill-conditioned matrices.

Each is as a careful author writes it in NumPy, with ordinary samples and stressful ones. A fault reported on any of them is a false
alarm. `ACCURACY` names those that lose digits somewhere, and why a user would agree; `SINGLES` those that are judged in single
precision. A file has the functions and rules of one subject, and its table.
"""

from __future__ import annotations

from mutants.controls.exponentials import EXPONENTIALS
from mutants.controls.linear import LINEAR
from mutants.controls.means import MEANS
from mutants.controls.order import ORDER
from mutants.controls.powers import POWERS
from mutants.controls.scans import SCANS

CONTROLS = (*EXPONENTIALS, *POWERS, *MEANS, *ORDER, *SCANS, *LINEAR)

ACCURACY = {
    "softmax": "d - sum(d * y) cancels on the diagonal where one y is near 1",
    "log_softmax": "d - exp(y) * sum(d) cancels where one exp(y) is near 1",
    "attention": "its softmax does",
    "layer norm": "d - mean(d) - n * mean(d * n) cancels in rows of two elements: only the constant 1e-3 keeps it from 0",
    "batch norm": "the same, in columns",
    "cosine similarity": "v - (u . v) u cancels where the vectors are nearly parallel",
    "inverse": "the condition of the matrix multiplies the rounding of its elements",
    "solve": "the same",
    "triangular solve": "the same",
    "determinant": "the cofactors are differences of products",
    "log determinant": "it takes the inverse",
}
"""The controls that lose digits, and where a user would agree that they do."""
SINGLES = (
    "logsumexp, masks",
    "cross entropy",
    "expm1",
    "celu",
    "real power",
    "hypot",
    "huber",
    "variance, ddof 1",
    "sort rows",
    "cumulative product",
    "convolution",
    "outer",
)
"""Those that are judged at float32 as well."""
