"""
Figure 3 of MimIrADe. `adjudge show examples/figure_3.py:f` is 3a; with `--after pullback` it is 3b, f^a by local rules alone; with
`--after sharing --after optimize` it is 3c. The gradient of (a + b) b is (b, a + 2b), at s = 1.
"""


def f(a, b):
    x = a + b
    y = x * b
    return y
