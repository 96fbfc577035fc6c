"""
Passes over jaxprs, one sound and one not, and a function for `jax.jit`; needs JAX (`pip install 'adjudge[jax]'`).

    adjudge audit examples/jax_pass.py:drop_dead            keeps all that is needed
    adjudge audit examples/jax_pass.py:drop_zero_products   x * 0.0 is not 0.0 where x is NaN, infinite or negative
    adjudge audit --jax-jit examples/jax_pass.py:softplus
    adjudge audit --jax-jit --grad examples/jax_pass.py:energy 'np.array([1.0, 2.0, 3.0])'
"""

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Literal
from jax.interpreters import partial_eval

import adjudge as aj


@aj.jaxpr_pass
def drop_dead(closed):
    """JAX's own elimination of dead code."""
    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return ClosedJaxpr(jaxpr, closed.consts)


@aj.jaxpr_pass
def drop_zero_products(closed):
    """x * 0.0 -> 0.0"""
    zeros, equations = {}, []
    for equation in closed.jaxpr.eqns:
        inputs = [zeros.get(v, v) if not isinstance(v, Literal) else v for v in equation.invars]
        zero = next((v for v in inputs if isinstance(v, Literal) and v.aval.shape == () and v.val == 0.0), None)
        if equation.primitive.name == "mul" and zero is not None and equation.outvars[0].aval.shape == ():
            zeros[equation.outvars[0]] = zero
        else:
            equations.append(equation.replace(invars=inputs))
    outputs = [zeros.get(v, v) if not isinstance(v, Literal) else v for v in closed.jaxpr.outvars]
    return ClosedJaxpr(closed.jaxpr.replace(eqns=equations, outvars=outputs), closed.consts)


def softplus(x: float):
    return jnp.logaddexp(x, 0.0)


def energy(v):
    return jnp.sum(jnp.tanh(v) * v) + 0.5 * jax.nn.logsumexp(v)
