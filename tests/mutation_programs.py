"""
Programs that change lists, arrays and dictionaries in place. Every `f` is rational in x and runs in CPython as it stands.

Under each name the text, as it is parsed. Together they fire every rule that mutation needs.
"""

from __future__ import annotations

MUTATIONS: dict[str, str] = {
    "append in a loop": """
def f(x):
    xs = []
    for i in range(4):
        xs.append(x * i)
    return sum(xs) * len(xs)
""",
    "accumulator cell": """
def f(x):
    acc = [0.0]
    for i in range(3):
        acc[0] += x * x
    return acc[0] * x
""",
    "cell changed by a nested function": """
def f(x):
    acc = [0.0]
    def add(v):
        acc[0] += v
    add(x)
    add(x * x)
    return acc[0]
""",
    "second name": """
def f(x):
    xs = [x, 2.0 * x]
    ys = xs
    ys.append(x * x)
    xs[0] = 3.0
    return xs[2] * len(xs) + ys[0]
""",
    "one of two lists": """
def f(x):
    xs, ys = [x], [2.0]
    zs = xs if x > 1.0 else ys
    zs.append(x * x)
    zs[0] *= x
    return xs[-1] * len(ys) + ys[0] * xs[0]
""",
    "two names at once": """
def f(x):
    a = b = [x]
    a.append(b[0] * x)
    return b[1] * len(a)
""",
    "stack": """
def f(x):
    stack = [x]
    s = 0.0
    n = 0
    while stack:
        v = stack.pop()
        s += v * v
        if n < 3:
            stack.append(v + 1.0)
            stack.append(v * 2.0)
        n += 1
    return s
""",
    "queue": """
def f(x):
    q = [x]
    total = 0.0
    n = 0
    while q and n < 5:
        total += (q.pop() if len(q) > 2 else q.pop(0)) * 1.5
        q.extend([total, total * x])
        n += 1
    return total + len(q)
""",
    "list of lists, made anew": """
def f(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(2):
            row.append(x * i + j)
        rows.append(row)
    return rows[2][1] * rows[1][0]
""",
    "swap": """
def f(x):
    xs = [3.0 * x, x, 2.0 * x]
    for i in range(2):
        for j in range(2 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs[0] + 10.0 * xs[1] + 100.0 * xs[2] * x
""",
    "recursion that appends": """
def f(x):
    out = []
    def visit(n):
        if n == 0:
            return 0
        out.append(x * n)
        return 1 + visit(n - 1)
    k = visit(4)
    return sum(out) * k
""",
    "loop over a list that grows": """
def f(x):
    xs = [x, x * 2]
    for v in xs:
        if len(xs) >= 6:
            continue
        xs.append(v * x)
    else:
        xs.append(1.0)
    return sum(xs)
""",
    "loop over a list that shrinks": """
def f(x):
    xs = [x, 2.0 * x, 3.0, x * x]
    s = 0.0
    for v in xs:
        s += v
        xs.pop()
        if s > 100.0:
            break
    return s * len(xs)
""",
    "methods": """
def f(x):
    xs = [x, 1.0, x, x]
    xs[1] = 2.0
    xs[-1] *= x
    xs.insert(1, x + 1.0)
    xs.insert(100, 7.0)
    xs.reverse()
    xs += [x, 5.0]
    ys = xs.copy()
    xs.clear()
    xs.extend((x, x))
    return ys.pop() * ys.pop(0) + ys.pop(-2) + ys[1:3][0] + len(xs) * xs[0]
""",
    "order of evaluation": """
def f(x):
    xs = [x, 2.0, 3.0]
    y = xs[0] + xs.pop() * xs[-1] - xs.pop()
    xs.append(xs.pop() + y)
    xs += [x, xs[0] * x]
    xs[1 if xs.pop() > 1000.0 else 0] = 2.0 * xs[0]
    return y + xs[0] * len(xs)
""",
    "effects in arguments": """
def f(x):
    xs = [x, 2.0, 3.0]
    def take(a, b=1.0):
        xs[0] += a * b
        return xs[0]
    xs.append(take(xs.pop(), b=x))
    xs[1] = take(xs[0])
    xs[1] += take(take(2.0), b=xs.pop())
    return xs[0] * xs[1] + take(take(1.0)) * len(xs)
""",
    "effects in conditions": """
def f(x):
    xs = [x, 2.0, -1.0, 4.0]
    n = 0
    while len(xs) > 1 and xs.pop() > 0.0 or n < 1:
        n += 1
    if (v := xs.pop()) > 1.0 and xs:
        return v * x
    return (xs.pop() if xs else v) * v + n
""",
    "functions in functions": """
def f(x):
    cell = [x]
    def outer(k):
        def inner(v):
            cell[0] *= v
            return cell[0]
        tmp = []
        for i in range(k):
            tmp.append(inner(x + i))
        return tmp[-1]
    a = outer(2)
    return a * outer(1)
""",
    "reader": """
def f(x):
    xs = [x * i for i in range(4)]
    ys = [v * xs[1] for v in xs]
    xs.append(1.0)
    def mean():
        return sum(xs) / 4
    m = mean()
    xs[0] = m
    return mean() * ys[2]
""",
    "memory of its own": """
def f(x):
    def twice(v):
        out = []
        out.append(v)
        out.append(v * x)
        return out
    xs = [1.0]
    xs.extend(twice(x))
    xs.extend(twice(2.0))
    return xs[2] * xs[4]
""",
    "early return": """
def f(x):
    xs = []
    def fill(v):
        if v > 1.0:
            xs.append(v)
            return v
        xs.append(2.0 * v)
    fill(x)
    fill(0.5)
    return xs[0] * xs[1]
""",
    "parameter copied": """
def g(xs):
    xs = list(xs)
    xs.append(xs[0] * 2.0)
    return xs
def f(x):
    t = [x, x * x]
    u = g(t)
    return u[2] * len(t) + u[1]
""",
    "array of numbers": """
import numpy as np
def f(x):
    a = np.zeros(3)
    for i in range(3):
        a[i] = x * i
        a[i] += a[i] * x
    return a[2] + a[1]
""",
    "array, elements kept": """
import numpy as np
def f(x):
    a = np.array([x, 2.0, 3.0])
    t = a[0]
    a[0] = a[1] * x
    a[1] = t * t
    a[0], a[2] = a[2], a[0]
    return a[0] * a[1] + a[2]
""",
    "array, copied": """
import numpy as np
def f(x):
    a = np.array([x, 2.0, 3.0])
    b = a.copy()
    b[1:] = x * x
    b[:2] *= x
    return a[1] * b[2] + b[0] + b[1]
""",
    "array of two axes": """
import numpy as np
def f(x):
    a = np.array([[x, 2.0], [3.0, x]])
    a[0, 1] = x * x
    a[1, :] *= x
    a[:, 0] += 1.0
    return a[0, 1] * a[1, 1] + a[1, 0]
""",
    "array, augmented under one name": """
import numpy as np
def f(x):
    a = np.array([x, 2.0])
    b = a
    a = a * 2.0
    a += x
    return a[0] * b[1] + a[1]
""",
    "number under two names": """
def f(x):
    r = x
    for i in range(3):
        r *= x
    return r + x
""",
    "dictionary": """
def f(x):
    d = {"a": x, "b": 2.0}
    d["a"] *= x
    d["c"] = x
    return d["a"] * d["c"] + d["b"]
""",
}
