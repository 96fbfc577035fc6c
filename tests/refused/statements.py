# --- try
def f(x):
    try:  # <-
        return 1 / x
    except ZeroDivisionError:
        return 0.0
# --- with
def f(x):
    with x:  # <-
        return 1
# --- delete
def f(x):
    del x  # <-
    return 1
# --- global
def f(x):
    global y  # <-
    y = x
    return y
# --- nonlocal
def f(x):
    def g():
        nonlocal x  # <-
        x = 2
    g()
    return x
# --- import inside
def f(x):
    import math  # <-
    return math.sin(x)
# --- from import inside
def f(x):
    from math import sin  # <-
    return sin(x)
# --- class inside
def f(x):
    class C:  # <-
        pass
    return x
# --- async def inside
def f(x):
    async def g():  # <-
        return x
    return x
# --- async for
async def g(x):
    return x
async def f(x):  # <-
    async for i in x:
        pass
# --- match
def f(x):
    match x:  # <-
        case 0:
            return 1
    return 2
# --- element assignment
def f(t):
    t[0] = 1.0  # <-
    return t
# --- attribute assignment
def f(x):
    x.real = 1.0  # <-
    return x
# --- element augmented
def f(t):
    t[0] += 1.0  # <-
    return t
# --- attribute as loop target
def f(x):
    for x.i in range(3):  # <-
        pass
    return x
# --- shift assignment
def f(x):
    x <<= 1  # <-
    return x
# --- yield
def f(x):
    yield x  # <-
# --- yield from
def f(x):
    yield from x  # <-
# --- await
async def f(x):  # <-
    return await x
# --- in dead code
def f(x):
    return x
    del x  # <-
# --- in dead branch
def f(x):
    if False:
        return {x}  # <-
    return x
# --- in an unused nested function
def f(x):
    def g(y):
        return {y: x}  # <-
    return x
# --- decorated nested function
def f(x):
    @f
    def g(y):  # <-
        return y
    return g(x)
# --- print
def f(x):
    print(x)  # <-
    return x
# --- try star
def f(x):
    try:  # <-
        return x
    except* ValueError:
        pass
