# --- unclosed
def f(x:  # <-
    return x
# --- no body
def f(x):
return x  # <-
# --- two expressions
def f(x):
    return x x  # <-
# --- wrong indent
def f(x):
    y = x
      return y  # <-
# --- assignment to a literal
def f(x):
    1 = x  # <-
    return x
# --- missing colon
def f(x)  # <-
    return x
# --- keyword as a name
def f(lambda):  # <-
    return 1
# --- not a function
f = 3  # <-
# --- a class
class f:  # <-
    pass
# --- imported
from os import path as f  # <-
# --- decorated
@staticmethod
def f(x):  # <-
    return x
# --- defined in a branch
if True:  # <-
    def f(x):
        return x
# --- nothing called f
def g(x):  # <-
    return x
# --- empty
# <-
# --- break outside a loop
def f(x):
    break  # <-
# --- continue in a nested function
def f(x):
    for i in range(3):
        def g(y):
            continue  # <-
    return x
# --- parameter twice
def f(x, x):  # <-
    return x
# --- elsewhere in the file
def f(x):
    return x
return f  # <-
