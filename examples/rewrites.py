"""
Two rewrites, one sound and one not: `adjudge audit examples/rewrites.py:double` and `…:drop_zero`.

Doubling is exact in binary arithmetic. Dropping a zero is not: -0.0 + 0.0 is 0.0, and 1.0 / -0.0 is not 1.0 / 0.0.
"""

import adjudge as aj

double = aj.rule("x * 2.0 -> x + x", domain="BITS")

drop_zero = aj.rule("x + 0.0 -> x", domain="IEEE")
