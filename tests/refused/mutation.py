# --- append to a parameter
def f(xs):
    xs.append(1.0)  # <-
    return xs[0]
# --- element of a parameter
def f(x):
    x[0] = 1.0  # <-
    return x[0]
# --- element of a parameter under another name
def f(x):
    y = x
    y[0] += 1.0  # <-
    return y[0]
# --- array seen under another name
import numpy as np
def f(x):
    a = np.zeros(3)
    b = a
    a[0] = x  # <-
    return b[0]
# --- array seen through a slice
import numpy as np
def f(x):
    a = np.array([x, x, x])
    b = a[1:]
    a[1] = 2.0  # <-
    return b[0]
# --- array seen in a tuple
import numpy as np
def f(x):
    a = np.array([x, x])
    t = (a, x)
    a[0] = 2.0  # <-
    return t[0][0]
# --- array seen by a loop that goes over it
import numpy as np
def f(x):
    a = np.array([x, x])
    s = 0.0
    for v in a:
        a[1] = v + 1.0  # <-
        s += v
    return s
# --- array augmented in place under two names
import numpy as np
def f(x):
    a = np.array([x, x])
    b = a
    a += 1.0  # <-
    return b[0]
# --- array that a call may have returned as it is
import numpy as np
def same(a):
    return a
def f(x):
    a = np.array([x, x])
    b = same(a)
    b[0] = 2.0  # <-
    return a[0]
# --- array of an enclosing function
import numpy as np
def f(x):
    a = np.array([x, x])
    def g(v):
        a[0] = v  # <-
        return v
    return g(x) + a[0]
# --- list kept in a tuple and then changed
def f(x):
    xs = [x]
    t = (xs, x)
    xs.append(2.0)  # <-
    return len(t[0])
# --- list kept in a list and then changed
def f(x):
    rows = []
    row = []
    for i in range(3):
        row.append(x)  # <-
        rows.append(row)
    return len(rows[0])
# --- list given to a function and then changed
def keep(xs):
    return (xs, 1.0)
def f(x):
    xs = [x]
    t = keep(xs)
    xs[0] = 2.0  # <-
    return t[0][0]
# --- list changed by a nested function after it was kept
def f(x):
    xs = [x]
    def g(v):
        xs.append(v)
    t = (xs, x)
    g(x)  # <-
    return len(t[0])
# --- list changed while enumerate goes over it
def f(x):
    xs = [x, x]
    for i, v in enumerate(xs):
        xs[0] = v + 1.0  # <-
    return xs[0]
# --- element of a list that may be a list of its own
def f(x):
    rows = [[x], [x]]
    for row in rows:
        row.append(x)  # <-
    return len(rows[0])
# --- element of an element
def f(x):
    rows = [[x], [x]]
    rows[0][0] = 2.0  # <-
    return rows[0][0]
# --- function that changes a list, as a value
def f(x):
    xs = []
    def g(v):
        xs.append(v)
        return v
    h = (g, x)  # <-
    return h[0](x) + len(xs)
# --- function that changes a list, under a name of two meanings
def f(x):
    xs = [x]
    if x > 0.0:
        def g(v):  # <-
            xs[0] = v
    else:
        def g(v):
            xs[0] = -v
    g(x)
    return xs[0]
# --- lambda that changes a list
def f(x):
    xs = []
    g = lambda v: xs.pop()  # <-
    xs.append(x)
    return g(x)
# --- lambda that reads a list that is changed later
def f(x):
    xs = [x]
    g = lambda v: xs[0] * v  # <-
    xs[0] = 2.0
    return g(x)
# --- comprehension that changes a list
def f(x):
    xs = [x, x]
    ys = [xs.pop() for i in range(2)]  # <-
    return ys[0]
# --- value of append
def f(x):
    xs = []
    y = xs.append(x)  # <-
    return len(xs)
# --- slice of a list assigned
def f(x):
    xs = [x, x, x]
    xs[0:2] = [1.0]  # <-
    return xs[0]
# --- sort
def f(x):
    xs = [x, 1.0]
    xs.sort()  # <-
    return xs[0]
# --- pop at an index that is computed
def f(x, i: int):
    xs = [x, 1.0]
    return xs.pop(i)  # <-
# --- list repeated in place
def f(x):
    xs = [x]
    xs.append(x)
    xs *= 2  # <-
    return xs[0]
# --- changed list assigned by a walrus
def f(x):
    if (xs := [x]):  # <-
        xs.append(1.0)
    return xs[0]
# --- element of a list of the module
XS = [1.0]
def f(x):
    XS[0] = x  # <-
    return XS[0]
# --- append to a list of the module
XS = [1.0]
def f(x):
    XS.append(x)  # <-
    return XS[0]
