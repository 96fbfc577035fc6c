# --- undefined
def f(x):
    return x + y  # <-
# --- misspelt parameter
def f(weight):
    return wieght * 2  # <-
# --- misspelt global
def helper(x):
    return x
def f(x):
    return helpr(x)  # <-
# --- math without import
def f(x):
    return math.sin(x)  # <-
# --- unknown member of math
import math
def f(x):
    return math.sine(x)  # <-
# --- unsupported member of math
import math
def f(x):
    return math.gamma(x)  # <-
# --- exp2
import math
def f(x):
    return math.exp2(x)  # <-
# --- from math, unsupported
from math import gcd
def f(n):
    return gcd(n, 2)  # <-
# --- from another module
from os import getpid
def f(x):
    return x + getpid()  # <-
# --- star import of another module
from numpy import *
def f(x):
    return sinc(x)  # <-
# --- module as a value
import math
def f(x):
    y = math  # <-
    return x
# --- module called
import math
def f(x):
    return math(x)  # <-
# --- builtin round
def f(x):
    return round(x)  # <-
# --- builtin sorted
def f(t):
    return sorted(t)  # <-
# --- builtin open
def f(x):
    return open(x)  # <-
# --- builtin eval
def f(x):
    return eval("x")  # <-
# --- class
class C:
    pass
def f(x):
    return C()  # <-
# --- decorated function
import functools
@functools.cache
def g(x):
    return x
def f(x):
    return g(x)  # <-
# --- bound in a branch at the top
if True:
    N = 3
def f(x):
    return x * N  # <-
# --- augmented at the top
N = 1
N += 1
def f(x):
    return x * N  # <-
# --- global string
S = "a"  # <-
def f(x):
    return S
# --- global below its use
A = B + 1  # <-
B = 2
def f(x):
    return A * x
# --- global of an unpacked assignment
A, B = 1, 2
def f(x):
    return A * x  # <-
# --- adjudge, not for programs
import adjudge as aj
def f(x):
    return aj.check(x)  # <-
# --- in a helper
def g(x):
    return missing(x)  # <-
def f(x):
    return g(x) + 1
# --- in a helper of a helper
def h(x):
    del x  # <-
    return 1
def g(x):
    return h(x)
def f(x):
    return g(x) + 1
# --- name of a loop variable elsewhere
def g(x):
    for i in range(3):
        x += i
    return x
def f(x):
    return g(x) + i  # <-
# --- a function's own nested name from outside
def g(x):
    def inner(y):
        return y
    return inner(x)
def f(x):
    return inner(x)  # <-
