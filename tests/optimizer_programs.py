"""Programs for the tests of the optimizer: hand-written ones by name, and random straight-line and branching ones."""

from __future__ import annotations

from hypothesis import strategies as st

from semantics.ir import Program
from semantics.text import read

TEXTS = {
    "straight": """
program @f
@f(%x: f64, %y: f64):
  %a = mul(%x, 1)
  %b = sin(%a)
  %c = sin(%x)
  %d = add(%b, %c)
  %e = mul(2.0, 3.5)
  %g = neg(%d)
  %h = neg(%g)
  %k = mul(%h, %e)
  %l = sub(%k, %y)
  return %l
""",
    "calls": """
program @f
@f(%x: f64, %y: f64):
  %a = @sq(%x)
  %b = @sq(%y)
  %c = @both(%a, %b)
  %p = getitem(%c, 0)
  %q = getitem(%c, 1)
  %r = add(%p, %q)
  return %r
@sq(%u):
  %v = mul(%u, %u)
  return %v
@both(%m, %n):
  %s = @sq(%m)
  %t = add(%s, %n)
  %w = make_tuple(%t, %s)
  return %w
""",
    "branch": """
program @f
@f(%x: f64, %y: f64):
  %c = lt(%x, %y)
  %n = not_(%c)
  %s = switch(%n, @a, @b)
  %t = %s()
  %r = mul(%t, %x)
  return %r
@a():
  %p = sub(%x, %y)
  %q = @help(%p)
  return %q
@b():
  %u = switch(%c, %x, %y)
  return %u
@help(%z):
  %w = mul(%z, %y)
  return %w
""",
    "functions in branches": """
program @f
@f(%x: f64, %y: f64):
  %c = lt(%x, 1.0)
  %s = switch(%c, @a, @b)
  %t = %s()
  %v = getitem(%t, 0)
  %h = getitem(%t, 1)
  %r = %h(%v)
  return %r
@a():
  %p = mul(%x, %y)
  %q = make_tuple(%p, @back)
  return %q
@back(%d):
  %e = mul(%d, %x)
  return %e
@b():
  %k = make_tuple(%y, cos)
  return %k
""",
    "loop": """
program @f
@f(%x: f64, %y: f64):
  %r = @loop(3, %x, 0)
  return %r
@loop(%n, %acc, %unused):
  %c = gt(%n, 0)
  %s = switch(%c, @more, @done)
  %t = %s()
  return %t
@more():
  %a = add(%acc, -0.0)
  %b = @step(%a)
  %m = sub(%n, 1)
  %u = @loop(%m, %b, %unused)
  return %u
@done():
  return %acc
@step(%z):
  %w = mul(%z, %y)
  return %w
""",
    "sensitivities": """
program @f
@f(%x: f64, %y: f64):
  %t = make_tuple(%x, %y)
  %i = inject(%t, 1, %y)
  %j = make_tuple(%x, ZERO)
  %s = gadd(%i, %j)
  %p = getitem(%s, 0)
  %q = getitem(%s, 1)
  %d = instantiate(%s, %t)
  %a = getitem(%d, 1)
  %g = gadd(%p, %q)
  %b = gadd(%g, %a)
  %r = instantiate(%b, %x)
  return %r
""",
    "twice over": """
program @f
@f(%x: f64, %y: f64):
  %a = @g3(%x)
  return %a
@g3(%p):
  %p1 = @g2(%p)
  %p2 = @g2(%p1)
  return %p2
@g2(%q):
  %q1 = @g1(%q)
  %q2 = @g1(%q1)
  return %q2
@g1(%r):
  %r1 = mul(%r, %y)
  %r2 = sin(%r1)
  return %r2
""",
    "recursion": """
program @f
@f(%x: f64, %y: f64):
  %r = @down(4)
  return %r
@down(%n):
  %c = le(%n, 0)
  %s = switch(%c, @base, @rec)
  %t = %s()
  return %t
@base():
  return %x
@rec():
  %m = sub(%n, 1)
  %a = @down(%m)
  %b = @down(%m)
  %e = add(%a, %b)
  return %e
""",
    "self application": """
program @f
@f(%x: f64, %y: f64):
  %r = @h(@h, 3)
  return %r
@h(%self, %n):
  %c = gt(%n, 0)
  %s = switch(%c, @more, @done)
  %t = %s()
  return %t
@more():
  %m = sub(%n, 1)
  %u = %self(%self, %m)
  %v = mul(%u, %x)
  return %v
@done():
  return %y
""",
    "self application in a tuple": """
program @f
@f(%x: f64, %y: f64):
  %p = make_tuple(@h, %x)
  %r = @h(%p, 3)
  return %r
@h(%self, %n):
  %c = gt(%n, 0)
  %s = switch(%c, @more, @done)
  %t = %s()
  return %t
@more():
  %m = sub(%n, 1)
  %g = getitem(%self, 0)
  %u = %g(%self, %m)
  %v = mul(%u, %x)
  return %v
@done():
  return %y
""",
}

POINTS = ((0.5, 2.0), (-1.25, 3.0), (0.0, -0.0), (-0.0, 0.0), (1.5, 1.5), (float("inf"), -2.0), (float("nan"), 1.0))


def program(name: str) -> Program:
    """The hand-written program of that name."""
    return read(TEXTS[name])


UNARY = ("neg", "sin", "exp", "abs", "J", "to_real")
BINARY = ("add", "sub", "mul", "div", "min", "max", "gadd", "pow")
COMPARE = ("lt", "le", "eq")
LITERALS = ("0.0", "-0.0", "1.0", "-1.0", "2.0", "0.5", "1", "-1", "2", "0")


@st.composite
def programs(draw: st.DrawFn, sensitivities: bool = True) -> Program:
    """A program of two reals: arithmetic with much redundancy, tuples, calls of shared graphs, nested conditionals."""
    unary = UNARY if sensitivities else tuple(p for p in UNARY if p != "J")
    binary = BINARY if sensitivities else tuple(p for p in BINARY if p != "gadd")
    counter = iter(range(1, 10_000))
    graphs: list[str] = []

    def block(header: str, known: list[str], depth: int, size: int) -> str:
        """Adds a graph whose equations use the reals in `known`; answers with its name."""
        name = header[: header.index("(")]
        lines: list[str] = []
        reals = list(known)

        def operand() -> str:
            return draw(st.sampled_from([*reals, *reals, *LITERALS]))

        def define(right: str) -> str:
            left = f"%v{next(counter)}"
            lines.append(f"  {left} = {right}")
            return left

        for _ in range(draw(st.integers(1, size))):
            kind = draw(st.sampled_from(["unary", "binary", "binary", "again", "tuple", "branch", "call", "choice"]))
            if kind == "again" and lines:
                reals.append(define(draw(st.sampled_from(lines)).split(" = ")[1]))
                if not reals[-1] or "make_tuple" in lines[-1] or "switch" in lines[-1] or "lt(" in lines[-1]:
                    reals.pop()
            elif kind == "binary":
                reals.append(define(f"{draw(st.sampled_from(binary))}({draw(st.sampled_from(reals))}, {operand()})"))
            elif kind == "tuple":
                items = [operand() for _ in range(draw(st.integers(1, 3)))]
                made = define(f"make_tuple({', '.join(items)})")
                reals.append(define(f"getitem({made}, {draw(st.integers(-len(items), len(items) - 1))})"))
            elif kind == "choice":
                condition = define(f"{draw(st.sampled_from(COMPARE))}({operand()}, {operand()})")
                reals.append(define(f"switch({condition}, {operand()}, {operand()})"))
            elif kind == "branch" and depth:
                condition = define(f"{draw(st.sampled_from(COMPARE))}({operand()}, {operand()})")
                if draw(st.booleans()):
                    condition = define(f"not_({condition})")
                arms = [block(f"@g{next(counter)}():", reals, depth - 1, 3) for _ in range(2)]
                chosen = define(f"switch({condition}, {arms[0]}, {arms[1]})")
                reals.append(define(f"{chosen}()"))
            elif kind == "call" and depth:
                parameter = f"%v{next(counter)}"
                callee = block(f"@g{next(counter)}({parameter}):", [parameter, *draw(st.sampled_from([[], known]))], depth - 1, 3)
                reals.append(define(f"{callee}({operand()})"))
                if draw(st.booleans()):
                    reals.append(define(f"{callee}({operand()})"))
            else:
                reals.append(define(f"{draw(st.sampled_from(unary))}({draw(st.sampled_from(reals))})"))
        graphs.append("\n".join([header, *lines, f"  return {reals[-1]}"]))
        return name

    block("@f(%x: f64, %y: f64):", ["%x", "%y"], 2, 7)
    return read("program @f\n\n" + "\n\n".join(reversed(graphs)))
