# --- set
def f(x):
    return {x}  # <-
# --- set comprehension
def f(x):
    return {i for i in range(3)}  # <-
# --- dictionary comprehension
def f(x):
    return {i: x for i in range(3)}  # <-
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
# --- left shift
def f(n):
    return n << 2  # <-
# --- right shift
def f(n):
    return n >> 2  # <-
# --- bitwise xor
def f(n):
    return n ^ 1  # <-
# --- is in a chain
def f(x):
    return 0 < x is x  # <-
# --- attribute of a value
def f(x):
    return x.real  # <-
# --- method of a value
def f(x):
    return x.bit_length()  # <-
# --- set in a test
def f(x):
    if {x}:  # <-
        return 1
    return 2
# --- string in a default
def f(x):
    def g(y, mode="fast"):  # <-
        return y
    return g(x)
# --- string compared by order
def f(d):
    return sum(1.0 for k in d if k < "b")  # <-
