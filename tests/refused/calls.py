# --- too many arguments
def g(x):
    return x
def f(x):
    return g(x, x)  # <-
# --- too few arguments
def g(x, y):
    return x
def f(x):
    return g(x)  # <-
# --- unknown keyword
def g(x, scale=1):
    return x * scale
def f(x):
    return g(x, scal=2)  # <-
# --- argument twice
def g(x, y=1):
    return x * y
def f(x):
    return g(x, x=2)  # <-
# --- positional-only by keyword
def g(x, /):
    return x
def f(x):
    return g(x=x)  # <-
# --- keyword-only by position
def g(x, *, y):
    return x
def f(x):
    return g(x, 1)  # <-
# --- keyword-only missing
def g(x, *, y):
    return x
def f(x):
    return g(x)  # <-
# --- double starred argument
def g(x, y):
    return x
def f(t):
    return g(**t)  # <-
# --- star parameter
def f(*t):  # <-
    return t
# --- double star parameter
def f(x, **k):  # <-
    return x
# --- keyword to an unknown function
def f(g, x):
    return g(x, y=1)  # <-
# --- sin of two
from math import sin
def f(x):
    return sin(x, x)  # <-
# --- sin by keyword
from math import sin
def f(x):
    return sin(x=x)  # <-
# --- abs of none
def f(x):
    return abs()  # <-
# --- max by key
def f(x):
    return max(x, 1, key=abs)  # <-
# --- pow of three
def f(n):
    return pow(n, 2, 7)  # <-
# --- log of three
import math
def f(x):
    return math.log(x, 2, 3)  # <-
# --- range as a value
def f(n):
    r = range(n)  # <-
    return n
# --- range of four
def f(n):
    for i in range(0, n, 1, 1):  # <-
        pass
    return n
# --- range of none
def f(n):
    for i in range():  # <-
        pass
    return n
# --- range by keyword
def f(n):
    for i in range(0, stop=n):  # <-
        pass
    return n
# --- float of a text
def f(x):
    return x + float("three")  # <-
# --- string argument
def g(x, mode):
    return x
def f(x):
    return g(x, "fast")  # <-
# --- string inside a tuple argument
def g(t):
    return t
def f(x):
    return g((x, "fast"))  # <-
# --- integer of a text
def f(x):
    return int("3")  # <-
# --- variadic as a value
def g(h):
    return h(1)
def f(x):
    return g(divmod) + g(range)  # <-
# --- recursion with too few
def f(x, y):
    return f(x)  # <-
# --- lambda with too many
def f(x):
    g = lambda y: y
    return g(x, x)  # <-
# --- default that is no constant
def h(x):
    return x
def g(x, y=h(1)):
    return x * y
def f(x):
    return g(x)  # <-
