# --- raise alone
def f(x):
    raise  # <-
# --- raise from
def f(x):
    raise ValueError("no") from x  # <-
# --- raise of a number
def f(x):
    raise x + 1  # <-
# --- raise of a variable
def f(x):
    raise x  # <-
# --- raise of a function
def f(x):
    raise print  # <-
# --- raise of an unknown name
def f(x):
    raise ValeuError("no")  # <-
# --- raise with a formatted string
def f(x):
    raise ValueError(f"{x} is too large")  # <-
# --- raise with a value
def f(x):
    raise ValueError(x)  # <-
# --- raise with two arguments
def f(x):
    raise ValueError("no", 1)  # <-
# --- raise with a keyword
def f(x):
    raise ImportError(name="os")  # <-
# --- assert with a value
def f(x):
    assert x > 0, x  # <-
    return x
# --- assert with a formatted string
def f(x):
    assert x > 0, f"{x}"  # <-
    return x
# --- raise in a try
def f(x):
    try:  # <-
        raise ValueError
    except ValueError:
        return x
# --- star parameter of the entry, with others
def f(a, *t):  # <-
    return a
# --- function with a star parameter as a value
def g(*t):  # <-
    return t
def h(k):
    return k(1)
def f(x):
    return h(g)
# --- spread to a value
def f(g, t):
    return g(*t)  # <-
# --- spread to a function with defaults
def g(a, b=1):
    return a * b
def f(t):
    return g(*t)  # <-
# --- spread after a keyword of the same name
def g(a, b):
    return a * b
def f(t):
    return g(*t, a=1)  # <-
# --- spread of too many
def g(a, b):
    return a * b
def f(x):
    return g(*(x, x, x))  # <-
# --- double star of computed keys
def g(a):
    return a
def f(k, x):
    return g(**{k: x})  # <-
# --- double star of an unknown key
def g(a):
    return a
def f(x):
    return g(**{"b": x})  # <-
# --- rest parameter by keyword
def g(*r):
    return r
def f(x):
    return g(r=x)  # <-
# --- keyword-only after a rest, missing
def g(*r, k):
    return k
def f(x):
    return g(x, x)  # <-
# --- default of a function that is a lambda with a rest
def f(x):
    g = lambda *r, k: k
    return g(x)  # <-
# --- walrus of what a closure captured
def f(x):
    g = lambda y: y * x  # <-
    return g(1.0) + (x := 2.0) + x
# --- walrus in a default, of what a closure captured
def f(x):
    def g(y):  # <-
        return y * x
    def h(y, k=(x := 3.0)):
        return y * k
    return g(x) + h(x)
# --- captured in a comprehension's function, assigned later
def f(x):
    t = [lambda y, k=k: y * k * x for k in range(3)]  # <-
    x = 2.0
    return t[0](x)
# --- doubly starred parameter of a nested function
def f(x):
    def g(**k):  # <-
        return x
    return g()
