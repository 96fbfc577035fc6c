"""
The algebra of sensitivities: ZERO is neutral for sums and absorbs products, J is the identity on data, and what is known to be a
real needs neither `gadd` nor `instantiate`.

ZERO is not 0.0 (`semantics.tangents`), so a rule about reals fires only where no ZERO can arrive; the rules about the literal ZERO
hold for every sensitivity.
"""

from __future__ import annotations

from semantics.edit import Edit
from semantics.ir import Program
from semantics.primitives.array_rows import EVIDENCE
from semantics.primitives.table import ARITHMETIC, COMPARISONS, CONVERSIONS, ELEMENTARY, TABLE
from semantics.tangents import ZERO
from transforms.patterns.rule import PatternRule, pattern_rule
from transforms.realness import A_ZERO, kinds
from transforms.surgery import application, arguments_of, become, index_of
from transforms.system import Rewrite, rewrite_of

GETITEM, INJECT, MAKE_TUPLE, J = TABLE["getitem"], TABLE["inject"], TABLE["make_tuple"], TABLE["J"]
NUMERIC = tuple(p.name for p in (*ARITHMETIC, *ELEMENTARY, *CONVERSIONS, *COMPARISONS) if p.name not in ("to_boolean", "not_"))
ON_DATA = (*NUMERIC, *sorted(EVIDENCE), "sum_to", "like")  # of functions they have no value, or one that leaves them as they are
ON_DATA_SET = frozenset(TABLE[name] for name in ON_DATA)

ZERO_RULES: tuple[PatternRule, ...] = tuple(
    pattern_rule(text)
    for text in (
        "d: any | gadd(d, ZERO) -> d",
        "d: any | gadd(ZERO, d) -> d",
        "x: any | x * ZERO -> ZERO",
        "x: any | ZERO * x -> ZERO",
        "x: any | ZERO / x -> ZERO",
        "x: any | x + ZERO -> x",
        "x: any | ZERO + x -> x",
        "x: any | x - ZERO -> x",
        "x: any | ZERO - x -> -x",
        "i: any | getitem(ZERO, i) -> ZERO",
        "t: any, i: any | inject(t, i, ZERO) -> ZERO",
        "d: any, i: any | inject(ZERO, i, d) -> ZERO",
        "x: f64, y: f64 | gadd(x, y) -> x + y",
        "x: f64 | instantiate(ZERO, x) -> 0.0",
        "d: f64, x: f64 | instantiate(d, x) -> d",
        "d: any, x: i64 | instantiate(d, x) -> None",
        "d: any, x: bool | instantiate(d, x) -> None",
        "x: f64 | seed(x) -> 1.0",
        "x: number | J(x) -> x",
        "x: bool | J(x) -> x",
    )
)


@rewrite_of(*ON_DATA)
def j_of_operand(program: Program, place: int) -> Program | None:
    """p(…, J(x), …)  ⟹  p(…, x, …), p a primitive on numbers or arrays: what it takes is data, and J of data is the data"""
    found = application(program, place)
    if found is None or program.constant(found.function) not in ON_DATA_SET:
        return None
    inputs = tuple(a[0] if (a := arguments_of(program, n, J)) is not None else n for n in found.inputs)
    if inputs == found.inputs:
        return None
    edit = Edit(program)
    edit.set_inputs(place, inputs)
    return edit.program


@rewrite_of("getitem")
def element_of_injected(program: Program, place: int) -> Program | None:
    """inject(t, i, d)[j]  ⟹  d if i = j and t is not ZERO, ZERO if i ≠ j; indices from the end need a t made in place"""
    outer = arguments_of(program, place, GETITEM)
    inner = arguments_of(program, outer[0], INJECT) if outer is not None else None
    if outer is None or inner is None:
        return None
    t, i, d = inner
    at, injected = index_of(program, outer[1]), index_of(program, i)
    if at is None or injected is None:
        return None
    if at < 0 or injected < 0:
        if (items := application(program, t, MAKE_TUPLE)) is None:
            return None
        size = len(items.arguments)
        at, injected = at % max(size, 1), injected % max(size, 1)
    if at == injected and kinds(program, t) & A_ZERO:
        return None
    edit = Edit(program)
    return become(edit, place, d if at == injected else edit.constant(ZERO))


RULES: tuple[Rewrite, ...] = (*(r.rewrite for r in ZERO_RULES), j_of_operand, element_of_injected)
