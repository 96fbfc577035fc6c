"""Figure 1 of the 2017 paper: a loop is a recursive graph, whose condition and body are graphs of their own."""


def pow(x, n: int):
    r = 1.0
    while n > 0:
        r *= x
        n -= 1
    return r
