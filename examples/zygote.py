"""
The examples of Zygote's paper. `adjudge show examples/zygote.py:branch --after ssa_adjoint` prints the listings of section 3.1; the
other one there is `examples/pow.py:pow`. `adjudge agree examples/zygote.py:line 1.0`: the derivative of 5x + 3 is the constant 5.
"""


def branch(x):
    return x if x > 0 else 0.01 * x


def line(x):
    return 5.0 * x + 3.0
