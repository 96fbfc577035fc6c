"""
Rules of JAX, right and wrong, for `adjudge check examples/jax_rules.py`. What the judge should say of each stands beside it.

The table ADJUDGE says on which arguments they are tried. Without it, small arrays would be.
"""

import jax
import jax.numpy as jnp
import numpy as np


@jax.custom_vjp
def softplus(x):
    """log(1 + exp(x)). Right."""
    return jnp.logaddexp(0.0, x)


softplus.defvjp(lambda x: (jnp.logaddexp(0.0, x), x), lambda x, d: (d * jax.nn.sigmoid(x),))


@jax.custom_vjp
def softplus_nan(x):
    """A fault: NaN where exp(x) overflows, at x = 1000; there the derivative is 1."""
    return jnp.logaddexp(0.0, x)


softplus_nan.defvjp(lambda x: (jnp.logaddexp(0.0, x), x), lambda x, d: (d * jnp.exp(x) / (1.0 + jnp.exp(x)),))


@jax.custom_vjp
def expm1_digits(x):
    """Accuracy: y + 1 is exp(x) over the reals; in doubles it has no digit left at x = -30."""
    return jnp.expm1(x)


expm1_digits.defvjp(lambda x: (jnp.expm1(x), jnp.expm1(x)), lambda y, d: (d * (y + 1.0),))


@jax.custom_vjp
def normalized(x):
    """A fault: the derivative of the norm is forgotten."""
    return x / jnp.sqrt(jnp.sum(x * x))


normalized.defvjp(
    lambda x: (x / jnp.sqrt(jnp.sum(x * x)), jnp.sqrt(jnp.sum(x * x))),
    lambda norm, d: (d / norm,),
)


@jax.custom_vjp
def clipped(x):
    """A fault: the forward pass of the rule computes another value than the function."""
    return jnp.clip(x, -1.0, 1.0)


clipped.defvjp(lambda x: (x, x), lambda x, d: (jnp.where(jnp.abs(x) < 1.0, d, 0.0),))

VECTOR = np.array([0.5, -2.0, 3.0])
ADJUDGE = {
    "softplus": {"samples": [(VECTOR,)]},
    "softplus_nan": {"samples": [(VECTOR,), (np.array([1000.0, 1.0]),)]},
    "expm1_digits": {"samples": [(np.array([-30.0, 0.5]),)]},
    "normalized": {"samples": [(VECTOR,)], "domain": lambda x: np.sum(x * x) > 1e-6},
    "clipped": {"samples": [(VECTOR,)]},
}
