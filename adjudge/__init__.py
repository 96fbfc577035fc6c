"""
adjudge: a reference semantics for closure-based reverse-mode automatic differentiation, and a judge built on it.

    import adjudge as aj

    aj.grad(f)(x)          the gradient of a Python function, on the reference machine
    aj.check(primitive)    is this backpropagator right?
    aj.audit(rule)         is this rewrite sound?
    aj.equal(f, g)         are these two functions one?

The README says how to begin; `adjudge --help` lists the commands.
"""

from adjudge._layout import same_distribution

same_distribution()

from adjudge.adapters.jaxprs import jaxpr_pass  # noqa: E402
from adjudge.adapters.torch_fx import torch_fx_pass  # noqa: E402
from adjudge.agreement import agree  # noqa: E402
from adjudge.batching import vmap  # noqa: E402
from adjudge.compiling import compile  # noqa: E402
from adjudge.functions import grad, hessian, hvp, jacobian, jvp, parse, run, value_and_grad, vjp  # noqa: E402
from adjudge.inferring import infer  # noqa: E402
from adjudge.judging import audit, check, check_vjp, prove  # noqa: E402
from adjudge.primitives import primitive  # noqa: E402
from adjudge.proving import equal  # noqa: E402
from adjudge.rules import rule  # noqa: E402
from adjudge.tracing import trace  # noqa: E402
from adjudge.transforming import transform  # noqa: E402
from semantics.errors import AdjudgeError, Crash, IllTyped, Malformed, OutOfFuel, Trap  # noqa: E402
from semantics.text import read  # noqa: E402
from transforms.higher_order import array_map, array_reduce, logsumexp, scan  # noqa: E402

__all__ = [
    "AdjudgeError",
    "Crash",
    "IllTyped",
    "Malformed",
    "OutOfFuel",
    "Trap",
    "agree",
    "array_map",
    "array_reduce",
    "audit",
    "check",
    "check_vjp",
    "compile",
    "equal",
    "grad",
    "hessian",
    "hvp",
    "infer",
    "jacobian",
    "jaxpr_pass",
    "jvp",
    "logsumexp",
    "parse",
    "primitive",
    "prove",
    "read",
    "rule",
    "run",
    "scan",
    "torch_fx_pass",
    "trace",
    "transform",
    "value_and_grad",
    "vjp",
    "vmap",
]
