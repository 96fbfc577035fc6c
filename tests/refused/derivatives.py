# --- position not known
from adjudge import grad
def f(x, i):
    return grad(lambda y: y * y, i)(x)  # <-
# --- position a real
from adjudge import grad
def f(x):
    return grad(lambda y: y * y, 0.0)(x)  # <-
# --- tuple of positions with a variable
from adjudge import value_and_grad
def f(x, i):
    return value_and_grad(lambda y: y * y, (0, i))(x)  # <-
# --- grad of nothing
from adjudge import grad
def f(x):
    return grad()(x)  # <-
# --- unknown keyword of grad
from adjudge import grad
def f(x):
    return grad(lambda y: y, argnums=0)(x)  # <-
# --- hvp with a position
from adjudge import hvp
def f(x):
    return hvp(lambda y: y, 0)(x, x)  # <-
# --- vjp by keyword
from adjudge import vjp
def f(x):
    return vjp(f=lambda y: y)  # <-
# --- keyword to a gradient
import adjudge as aj
def g(x, y):
    return x * y
def f(x):
    return aj.grad(g)(x=x, y=x)  # <-
# --- jvp with too few
from adjudge import jvp
def f(x):
    return jvp(lambda y: y, (x,))  # <-
# --- unknown derivative
import adjudge as aj
def f(x):
    return aj.gradient(lambda y: y)(x)  # <-
# --- name in a jacobian's list
from adjudge import jacobian
def f(x):
    return jacobian(lambda y: y, ["y"])(x)  # <-
