# --- captured and assigned later
def f(x):
    g = lambda y: y * x  # <-
    x = 2.0
    return g(1.0)
# --- captured and assigned in a later branch
def f(x):
    def g(y):  # <-
        return y * x
    if x > 0:
        x = 2.0
    return g(1.0)
# --- captured loop variable, kept for the next turn
def f(x):
    s = 0.0
    g = lambda y: y
    for i in range(3):
        s += g(x)
        g = lambda y: y * i  # <-
    return s
# --- captured loop variable, kept in a tuple
def f(x):
    t = (abs,)
    for i in range(3):
        t = (t[0], lambda y: y * i)  # <-
    return t[1](x)
# --- captured loop variable, kept through a function that holds it
def f(x):
    keep = abs
    for i in range(3):
        def g(y):  # <-
            return y * i
        def h(y):
            return g(y) + 1
        keep = h
    return keep(x)
# --- captured loop variable, kept as the result of a call
def same(g):
    return g
def f(x):
    keep = abs
    for i in range(3):
        g = lambda y: y * i  # <-
        keep = same(g)
    return keep(x)
# --- captured loop variable, kept by a function it returns
def f(x):
    keep = abs
    for i in range(3):
        def g():  # <-
            return lambda y: y * i
        keep = g()
    return keep(x)
# --- captured loop variable, assigned again in the same turn
def f(x):
    s = 0.0
    for i in range(3):
        g = lambda y: y * i  # <-
        i = i + 1
        s += g(x)
    return s
# --- captured in a loop in a loop
def f(x):
    keep = abs
    for i in range(3):
        for j in range(3):
            x = keep(x)
        keep = lambda y: y + i  # <-
    return x
# --- captured accumulator
def f(x):
    s = x
    while s < 10:
        def g(y):  # <-
            return y + s
        s = g(s)
    return s
# --- captured, and augmented after the loop
def f(x):
    a = 1.0
    for i in range(3):
        g = lambda y: y * a  # <-
        x = g(x)
        if x > 10:
            break
    a += x
    return a
# --- defined twice, and recursive
def f(n):
    def g(k):  # <-
        return 0 if k == 0 else g(k - 1)
    def g(k):
        return 1 if k == 0 else g(k - 1)
    return g(n)
# --- lambda captures itself, rebound
def f(n):
    g = lambda k: k
    g = lambda k: g(k)  # <-
    return g(n)
# --- used before the function it needs
def f(x):
    def a(n):
        return b(n)
    y = a(x)  # <-
    def b(n):
        return n * x
    return y
# --- passed on before the function it needs
def g(h):
    return h(1)
def f(x):
    def a(n):
        return b(n)
    y = g(a)  # <-
    def b(n):
        return n * x
    return y
# --- a default known only below
def f(x):
    def a(n):
        return b()  # <-
    def b(n=x):
        return n
    return a(x)
# --- captured through two levels
def f(x):
    def g():  # <-
        def h():
            return x
        return h()
    x = 3.0
    return g()
# --- keyword-only parameter of a function used as a value
def g(x, *, y):  # <-
    return x * y
def h(k):
    return k(1)
def f(x):
    return h(g)
# --- loop function with its turn's default, called recursively
def f(x):
    s = 0.0
    for i in range(3):
        def g(n, k=i):  # <-
            return k if n == 0 else g(n - 1)
        s += g(2)
    return s
