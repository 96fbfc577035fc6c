# --- class without fields
class C:
    pass
def f(x):
    return C(x).x  # <-
# --- inheritance
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
@dataclass(frozen=True)
class B(A):
    w: float
def f(x):
    return B(x, x).w  # <-
# --- own initialisation
from dataclasses import dataclass
@dataclass
class A:
    v: float
    def __init__(self, v):
        self.v = 2.0 * v
def f(x):
    return A(x).v  # <-
# --- work after initialisation
from dataclasses import dataclass
@dataclass
class A:
    v: float
    def __post_init__(self):
        self.v *= 2.0
def f(x):
    return A(x).v  # <-
# --- indexing of its own
from typing import NamedTuple
class A(NamedTuple):
    v: float
    def __getitem__(self, i):
        return 2.0 * self.v
def f(x):
    return A(x)[0]  # <-
# --- length of its own
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
    def __len__(self):
        return 3
def f(x):
    return len(A(x)) * x  # <-
# --- decorated method
from functools import cache
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
    @cache
    def twice(self):
        return 2.0 * self.v
def f(x):
    return A(x).twice()  # <-
# --- decorated class
@register
class A:
    v: float
def f(x):
    return A(x).v  # <-
# --- private field
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    __v: float
def f(x):
    return A(x)  # <-
# --- field of a frozen dataclass
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
def f(x):
    a = A(x)
    a.v = 2.0  # <-
    return a.v
# --- field of a NamedTuple
from typing import NamedTuple
class A(NamedTuple):
    v: float
def f(x):
    a = A(x)
    a.v += 2.0  # <-
    return a.v
# --- field of an argument
from dataclasses import dataclass
@dataclass
class A:
    v: float
def f(a):
    a.v = 2.0  # <-
    return a.v
# --- field under two names
from dataclasses import dataclass
@dataclass
class A:
    v: float
def f(x):
    a = A(x)
    b = a
    a.v = 2.0  # <-
    return b.v
# --- field of an element
from dataclasses import dataclass
@dataclass
class A:
    v: float
def f(x):
    t = (A(x), A(x))
    t[0].v = 2.0  # <-
    return t[0].v
# --- field that no class has
from typing import NamedTuple
class A(NamedTuple):
    value: float
def f(x):
    return A(x).valeu  # <-
# --- attribute that no class has
from typing import NamedTuple
class A(NamedTuple):
    value: float
def g(a):
    return a.valeu  # <-
def f(x):
    return g(A(x))
# --- member of a class
from typing import NamedTuple
class A(NamedTuple):
    value: float
    def twice(self):
        return 2.0 * self.value
def f(x):
    return A.twise(A(x))  # <-
# --- _asdict
from typing import NamedTuple
class A(NamedTuple):
    v: float
def f(x):
    return A(x)._asdict()  # <-
# --- too many fields
from typing import NamedTuple
class A(NamedTuple):
    v: float
def f(x):
    return A(x, x)  # <-
# --- field by a name it has not
from typing import NamedTuple
class A(NamedTuple):
    value: float
def f(x):
    return A(valu=x)  # <-
# --- replaced field by a name it has not
from typing import NamedTuple
class A(NamedTuple):
    value: float
def f(x):
    return A(x)._replace(valu=x)  # <-
# --- replace by position
from dataclasses import dataclass, replace
@dataclass(frozen=True)
class A:
    v: float
def f(x):
    return replace(A(x), x)  # <-
# --- method without a parameter for the record
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
    def twice():
        return 2.0
def f(x):
    return A(x).twice()  # <-
# --- method called with too much
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
    def times(self, k):
        return k * self.v
def f(x):
    return A(x).times(2.0, 3.0)  # <-
# --- isinstance of a class that is no record
class A:
    pass
def f(x):
    return 1.0 if isinstance(x, A) else x  # <-
# --- match on a class
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
def f(x):
    match A(x):  # <-
        case A(v):
            return v
# --- class attribute assigned
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    v: float
def f(x):
    A.v = x  # <-
    return x
