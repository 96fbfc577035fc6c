# --- list
def f(x):
    t = [x, x]  # <-
    return t[0]
# --- dictionary
def f(x):
    return {"a": x}  # <-
# --- set
def f(x):
    return {x}  # <-
# --- list comprehension
def f(x):
    return [x for i in range(3)]  # <-
# --- generator
def f(x):
    return sum(x for i in range(3))  # <-
# --- set comprehension
def f(x):
    return {i for i in range(3)}  # <-
# --- dictionary comprehension
def f(x):
    return {i: x for i in range(3)}  # <-
# --- walrus
def f(x):
    return (y := x) + y  # <-
# --- formatted string
def f(x):
    return f"{x}"  # <-
# --- string
def f(x):
    y = "text"  # <-
    return x
# --- bytes
def f(x):
    return b"text"  # <-
# --- complex
def f(x):
    return x + 1j  # <-
# --- ellipsis
def f(x):
    y = ...  # <-
    return x
# --- slice
def f(t):
    return t[1:]  # <-
# --- index with comma
def f(t):
    return t[0, 1]  # <-
# --- matrix product
def f(x):
    return x @ x  # <-
# --- left shift
def f(n):
    return n << 2  # <-
# --- right shift
def f(n):
    return n >> 2  # <-
# --- bitwise or
def f(n):
    return n | 1  # <-
# --- bitwise and
def f(n):
    return n & 1  # <-
# --- bitwise xor
def f(n):
    return n ^ 1  # <-
# --- bitwise not
def f(n):
    return ~n  # <-
# --- is
def f(x):
    return x is None  # <-
# --- is not
def f(x):
    if x is not None:  # <-
        return 1
    return 2
# --- in
def f(x):
    return x in (1, 2)  # <-
# --- not in
def f(x):
    return x not in (1, 2)  # <-
# --- is in a chain
def f(x):
    return 0 < x is x  # <-
# --- starred element
def f(t):
    return (*t, 1)  # <-
# --- attribute of a value
def f(x):
    return x.real  # <-
# --- method of a value
def f(x):
    return x.bit_length()  # <-
# --- list in a test
def f(x):
    if [x]:  # <-
        return 1
    return 2
# --- string in a default
def f(x):
    def g(y, mode="fast"):  # <-
        return y
    return g(x)
# --- string compared
def f(x):
    return x == "a"  # <-
