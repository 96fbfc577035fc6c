# --- generator as a value
def f(x):
    g = (x * k for k in range(3))  # <-
    return x
# --- generator returned
def f(x):
    return (x * k for k in range(3))  # <-
# --- generator passed to a function
def g(t):
    return 1.0
def f(x):
    return g(k * x for k in range(3))  # <-
# --- for over a generator
def f(x):
    for y in (x * k for k in range(3)):  # <-
        x += y
    return x
# --- zip of a generator
def f(x):
    for a, b in zip((x, x), (k for k in range(3))):  # <-
        x += a * b
    return x
# --- zip as a value
def f(x):
    z = zip((x, x), (1, 2))  # <-
    return x
# --- map as a value
def f(x):
    m = map(abs, (x, x))  # <-
    return x
# --- enumerate returned
def f(t):
    return enumerate(t)  # <-
# --- range passed to a function
def g(r):
    return 1
def f(n):
    return g(range(n))  # <-
# --- reversed as a value
def f(t):
    r = reversed(t)  # <-
    return t
# --- reversed of zip
def f(t):
    for a, b in reversed(zip(t, t)):  # <-
        pass
    return t
# --- reversed of two
def f(t):
    for a in reversed(t, t):  # <-
        pass
    return t
# --- zip of nothing
def f(t):
    for a in zip():  # <-
        pass
    return t
# --- zip of what a star takes apart, in a comprehension
def f(t):
    rows = [t for k in range(3)]
    return sum([a * b for a, b in zip(*rows)])  # <-
# --- the list of a zip of what a star takes apart
def f(t):
    rows = [t for k in range(3)]
    return list(zip(t, *rows))  # <-
# --- zip, strict
def f(t):
    return sum(a * b for a, b in zip(t, t, strict=True))  # <-
# --- zip of a starred list
def f(t):
    for a in zip(*t):  # <-
        pass
    return t
# --- enumerate of nothing
def f(t):
    for a in enumerate():  # <-
        pass
    return t
# --- enumerate with another keyword
def f(t):
    for i, a in enumerate(t, first=1):  # <-
        pass
    return t
# --- enumerate with two starts
def f(t):
    for i, a in enumerate(t, 1, 2):  # <-
        pass
    return t
# --- map without an iterable
def f(t):
    for a in map(abs):  # <-
        pass
    return t
# --- filter inside zip
def f(t):
    for a, b in zip(filter(None, t), t):  # <-
        pass
    return t
# --- filter with one argument
def f(t):
    return sum(filter(t))  # <-
# --- sum of three
def f(t):
    return sum(t, 0, 1)  # <-
# --- sum of numbers
def f(x):
    return sum(*x)  # <-
# --- any of two
def f(x):
    return any(x > 1, x < 0)  # <-
# --- sum by another name
from builtins import sum as total
def f(t):
    return total(t)  # <-
# --- min with a default
def f(t):
    return min(t, default=0.0)  # <-
# --- max of a spread
def f(t):
    return max(*t)  # <-
# --- tuple of two
def f(x):
    return tuple(x, x)  # <-
# --- sum as a value
def g(h):
    return 1
def f(t):
    return g(sum)  # <-
# --- set comprehension in a sum
def f(x):
    return sum({x * k for k in range(3)})  # <-
# --- walrus in a comprehension
def f(x):
    return sum([(y := x * k) for k in range(3)]) + y  # <-
# --- walrus in the condition of a generator
def f(x):
    return sum(k for k in range(3) if (y := k) > x)  # <-
# --- comprehension that assigns an element
def f(t):
    return [1 for t[0] in (1, 2)]  # <-
# --- asynchronous comprehension
async def f(t):  # <-
    return [x async for x in t]
# --- lambda of a comprehension variable
def f(x):
    t = [lambda y: y * k for k in range(3)]  # <-
    return t[0](x)
# --- comprehension variable outside
def f(x):
    t = [x * k for k in range(3)]
    return t[0] * k  # <-
# --- is between values
def f(x, y):
    return x is y  # <-
# --- is a number
def f(x):
    return 1 if x is 1 else 2  # <-
# --- is None in a chain
def f(x, y):
    return x is None is y  # <-
# --- in, chained
def f(x, t):
    return 0 < x in t  # <-
# --- key in a dictionary, in a chain
def f(d):
    return 0 < "a" in d  # <-
# --- values of a dictionary as a value
def f(d):
    v = d.values()  # <-
    return v
# --- strings in a tuple that is no key
def f(x):
    t = ("a", "b")  # <-
    return x
# --- dictionary with keys that are numbers
def f(x):
    return {1: x}  # <-
# --- dictionary with a computed key
def f(x, k):
    return {k: x}  # <-
# --- dictionary that takes in another
def f(d):
    return {"a": 1, **d}  # <-
# --- key twice
def f(x):
    return {"a": x, "a": 2}  # <-
# --- method get
def f(x):
    return {"a": x}.get("a")  # <-
# --- isinstance of an unknown type
def f(x):
    return isinstance(x, complex)  # <-
# --- isinstance of a computed type
def f(x, t):
    return isinstance(x, t)  # <-
# --- sorted list
def f(x):
    return sorted([x, 1.0])  # <-
# --- string in a list
def f(x):
    return [x, "a"]  # <-
# --- ellipsis outside an index
def f(x):
    return (x, ...)  # <-
