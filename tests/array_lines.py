"""
The lines of drawn programs (`array_programs`). A letter in braces is a name of a kind:

    F  t u v    numbers                 A  h g c    vectors of the size of x       B  a b    vectors of the size of y
    W  w z      vectors of any size     K  k d      vectors changed by index       M  m o    square matrices
    P  p q      lists that are changed  L  l s      lists that are values          R  r      a list of vectors of the size of x

and I an integer, E a number of a loop, C a test. Each name keeps its kind, and has a value from the start.
"""

from __future__ import annotations


def _each(text: str) -> tuple[str, ...]:
    """Lines, of which several stand in one."""
    return tuple(part.strip() for line in text.strip().splitlines() for part in line.split(" ; "))


NAMES = {"F": "tuv", "A": "hgc", "B": "ab", "W": "wz", "K": "kd", "M": "mo", "P": "pq", "L": "ls", "R": "r"}
KIND = {name: kind for kind, names in NAMES.items() for name in names}
BEGINS = dict(
    line.split(" = ")
    for line in _each("""
    t = 0.5 ; u = e ; v = -0.25 ; h = x ; g = x * e ; c = np.zeros_like(x) ; a = y ; b = y * 0.5 ; w = x ; z = y
    k = x.copy() ; d = np.zeros(3) ; m = n2 ; o = np.outer(x, x) ; p = [] ; q = [] ; l = [e] ; s = [v * e for v in x] ; r = []
""")
)
HELPERS = {
    "put": """
def put(v, i, e):
    v = v.copy()
    v[i] = e
    return v
""",
    "both": """
def both(v, w):
    return v + w, v * 0.5 - w
""",
    "pick": """
def pick(v, w, e):
    if e > 0.5:
        return v
    return w
""",
    "run": """
def run(v, e):
    v = v.copy()
    for i in range(1, len(v)):
        v[i] = v[i - 1] * e + v[i]
    return v
""",
    "some": """
def some(v, e):
    out = []
    for i in range(len(v)):
        if v[i] > e:
            out.append(v[i])
    return out
""",
    "summed": """
def summed(v, w):
    s = v
    for i in range(len(v)):
        s = s + w * v[i]
    return s, v
""",
}
NUMBERS = _each("""
    {F} ; {F} * 0.5 ; {F} + {E} ; {F} - {F} * {E} ; 0.25 ; np.sum({A}) ; np.sum({A} * {A}) ; {A} @ {A} * 0.25 ; float({I})
    {A}[{I} % len({A})] ; {B}[{I} % len({B})] * {F} ; {K}[{I} % len({K})] ; {A}[0] ; {B}[-1] ; {F} + np.sum({K}) ; np.max({B})
    np.sum({W}) * 0.5 ; sum({P}, {F}) ; sum({L}, 0.0) ; {L}[-1] if len({L}) > 0 else {F} ; {P}[-1] if len({P}) > 0 else {F}
    {P}[{I} % len({P})] if {P} else 0.5 ; np.tanh({F}) ; max({F}, {E}) ; {F} if {C} else {F} ; np.sum({R}[-1]) if {R} else 1.0
    float(len({P})) ; np.sum(np.array({L}) * 0.5) ; {M}[0, -1] ; np.sum({M}) * 0.125 ; sum([e * {F} for e in {A}], 0.0)
    {A}[np.argmax(np.argsort({A}))] ; {B}[np.argmin({B} > {F})] ; {A}[np.argmax({A} < {F})] ; float(np.argmin(np.argsort({W})[:3]))
""")
VECTORS = _each("""
    {A} ; {A} ; {A} + {A} ; {A} - {A} * {F} ; {A} * {E} ; {A} * {A} * 0.5 ; np.tanh({A}) ; {A} + {F} ; np.sin({A}) * 0.5
    put({A}, {I} % len(x), {F}) ; run({A}, 0.5) ; pick({A}, {A}, {F}) ; np.zeros_like({A}) ; x ; x ; {M} @ {A} * 0.25
    {R}[-1] if {R} else {A} ; np.where({A} > {A}, {A}, {F}) ; {A}[::-1] ; np.maximum({A}, {A}) ; {M}[{I} % len(x)] ; {A}.copy()
    {A} + np.sum({B}) ; np.cumsum({A}) ; np.array([e * {F} for e in {A}]) ; {A} if {C} else {A} ; np.sum({M}, axis=0)
    {A}[np.argsort({A})] ; np.argmax({M} > {F}, axis=0) * {F} ; np.cumsum({A} > {F}) * {F}
""")
OTHERS = _each("""
    {B} ; {B} ; {B} * {E} ; {B} + {B} ; y ; y ; put({B}, 0, {F}) ; {B} * np.sum({A}) ; np.tanh({B}) ; pick({B}, {B}, {F})
""")
ANY = _each("""
    {A} ; {B} ; {W} ; {W}[1:] ; {W}[:2] ; {A}[{I}:] ; np.concatenate(({W}, {B})) ; {W} * {F} ; np.array({P}) * 1.0
    np.concatenate(({A}, {B})) ; {W}[::-1] ; {K} * 0.5 ; np.array({L}) * 1.0 ; {W} + {W}[:1] ; np.zeros({I}) ; {A}[:{I}]
""")
LISTS = _each("""
    {L} ; {L} + [{F}] ; [e * {F} for e in {A}] ; [e for e in {L} if e > {F}] ; {L}[1:] ; some({A}, {F}) ; [{F}, {F}]
    [e + {F} for e in {L}] ; [{F}] * 3 ; [] ; list({P}) ; [e * i for i, e in enumerate({B})]
""")
MATRICES = _each("""
    {M} ; {M} * {E} ; {M} + np.outer({A}, {A}) ; {M}.T ; {M} @ {M} * 0.25 ; np.outer({A}, {A}) ; {M} + {A}
""")
OTHERWISE = _each("""
    {A}, {A} = {A}, {A} ; {A}, {A} = {A}, {A} ; {F}, {F} = {F}, {F} ; {B}, {B} = {B}, {B} ; {A}, {F} = {A} * {F}, np.sum({A})
    {A}, {A} = both({A}, {A}) ; {A}, {A} = summed({A}, {A}) ; {L}, {L} = {L}, {L} ; {W}, {W} = {W}, {W} ; {F} += {F} ; {F} *= 0.5
    {K} = {A}.copy() ; {K} = {A} * {F} ; {K} = np.zeros(len({B})) ; {K}[{I} % len({K})] = {F} ; {K}[0] += {F}
    {K}[-1] = {K}[0] + {F} ; {K} += {F} ; {K}[{I} % len({K})] += {K}[0] ; {K} = {K} + np.sum({A}) ; {P}.append({F})
    {P}.append({F} * 0.5) ; {P}.append({A}[0]) ; {P} = [] ; {P}.extend([{F}, {F}]) ; {P} += [{F}] ; {P} = [{F}, {F}]
    {R}.append({A}) ; {R}.append({A} * {F}) ; {R} = [{A}] ; {P} = list({L}) ; {P} = [e * {F} for e in {A}]
""")
VALUES = {"F": NUMBERS, "A": VECTORS * 2, "B": OTHERS, "W": ANY, "L": LISTS, "M": MATRICES}
LINES = (*(f"{{{kind}}} = {value}" for kind, values in VALUES.items() for value in values), *OTHERWISE)
ALWAYS = _each("""
    {A} = {A} + {A} ; {P}.append({F}) ; {P}.append({F}) ; {R}.append({A}) ; {K}[{I} % len({K})] = {F} ; {L} = {L} + [{F}]
""")
"""What a program with such names may always do; of all else, a few lines."""
GUARDED = _each("""
    if {P}: {F} = {P}.pop() ; if len({P}) > 1: {F} += {P}.pop() ; if {P}: {P}[-1] += {F} ; if {P}: {P}[0] = {F}
    if {P}: {P}[{I} % len({P})] *= {F}
""")
"""What needs an element."""
TESTS = _each("""
    {F} > 0.5 ; {F} < {F} ; {I} % 2 == 0 ; {I} == 1 ; np.sum({A}) > {F} ; {A}[0] > 0.0 ; {B}[-1] < {F} ; n > 2 ; len({P}) > 1
    len({L}) < 3 ; len(x) == len(y) ; {I} > 0 ; len({W}) > 1 ; {F} > 0.5 and {I} < 2
""")
LOOPS = _each("""
    for i{k} in range(n): ; for i{k} in range(n): ; for i{k} in range(len({A})): ; for i{k} in range(1, n + 1):
    for i{k} in range(3): ; for e{k} in {A}: ; for e{k} in {B}: ; for e{k} in {L}: ; for i{k}, e{k} in enumerate({B}):
    for e{k}, f{k} in zip({A}, {B}): ; for e{k} in list({P}): ; for i{k} in range(len({P})): ; for r{k} in list({R}):
    for i{k} in reversed(range(n)): ; for r{k} in {M}:
""")
SUMS = dict(
    line.split(": ")
    for line in _each("""
    F: {} ; A: np.sum({0} * {0}) ; B: np.sum({}) * 0.5 ; W: np.sum({0} * {0}) * 0.25 ; K: np.sum({}) * 0.75
    M: np.sum({}) * 0.5 ; L: sum({}, 0.0) ; P: sum({}, 0.0) * 0.5 ; R: float(len({}))
""")
)
"""How a number is made of what a name has."""
GIVEN = {"L": "sum({}, 0.0)", "P": "(sum({0}, 0.0), len({0}))", "R": "len({})"}
"""What is given out for what is not given out itself."""
