"""Generated functions: definitions, lambdas, closures that capture through a call, higher-order functions, recursion, grad."""

from __future__ import annotations

from checkers.generators.expressions import atom, damped, real
from checkers.generators.writer import FUNCTION_BOUND, LIMIT, Variable, Writer


def _real_parameters(w: Writer, count: int) -> list[Variable]:
    return [Variable(w.fresh("y"), "real", FUNCTION_BOUND) for _ in range(count)]


def define(w: Writer) -> None:
    """A nested def of one or two reals, with statements of its own; its last parameter may have a default."""
    from checkers.generators.statements import give_back, statements

    w.mark("definition")
    name, parameters = w.fresh("f"), _real_parameters(w, w.number(1, 2))
    defaults = int(w.may("defaults") and w.flip())
    shown = [p.name for p in parameters]
    if defaults:
        w.mark("defaults")
        shown[-1] += f"={w.pick(('1.5', '-0.5'))}"
    w.line(f"def {name}({', '.join(shown)}):")
    with w.function(parameters):
        statements(w, 2)
        give_back(w)
    w.declare(Variable(name, "function", size=len(parameters), defaults=defaults, keyword=parameters[-1].name if defaults else ""))


def short(w: Writer) -> None:
    """A lambda of one or two reals, bound to a name."""
    w.mark("lambda")
    name, count = w.fresh("f"), w.number(1, 2)
    w.line(f"{name} = {lambda_text(w, count)}")
    w.declare(Variable(name, "function", size=count))


def lambda_text(w: Writer, count: int, bound: float = FUNCTION_BOUND) -> str:
    """A lambda as text."""
    parameters = _real_parameters(w, count)
    with w.function(parameters):
        body = damped(w, real(w, 2), bound)
    return f"(lambda {', '.join(p.name for p in parameters)}: {body.text})"


def captured_call(w: Writer) -> None:
    """f captures a variable; g calls f and mentions no variable of the outside, so that it captures through the call alone."""
    w.mark("captured_call")
    inner, outer, held = w.fresh("f"), w.fresh("f"), w.fresh("a")
    y, z = _real_parameters(w, 2)
    e = damped(w, real(w, 2), FUNCTION_BOUND)
    w.line(f"{held} = {e.text}")
    w.line(f"{inner} = lambda {y.name}: ({y.name} * {held}) * 0.25")
    w.line(f"def {outer}({z.name}):")
    with w.function([z]):
        w.line(f"return {w.pick(('{0}({1})', '({0}({1}) - {1}) * 0.5', '{0}({0}({1}))')).format(inner, z.name)}")
    w.declare(Variable(held, "real", e.bound))
    w.declare(Variable(inner, "function", size=1))
    w.declare(Variable(outer, "function", size=1))


def unary(w: Writer) -> list[str]:
    """The functions in scope that take one argument as values: a function that is passed has lost its parameters with defaults."""
    return [v.name for v in w.known("function") if v.size - v.defaults == 1]


def higher_order(w: Writer) -> None:
    """A function that takes or returns functions, applied to functions in scope or to lambdas."""
    w.mark("higher_order")
    name, result = w.fresh("h"), w.fresh("f")
    p, q, y = w.fresh("p"), w.fresh("q"), w.fresh("y")
    one = unary(w)

    def function() -> str:
        return w.pick(one) if one and w.flip() else lambda_text(w, 1)

    match w.pick(("twice", "compose", "adder", "sum")):
        case "twice":
            w.line(f"{name} = lambda {p}: lambda {y}: {p}({p}({y}))")
            w.line(f"{result} = {name}({function()})")
        case "compose":
            w.line(f"def {name}({p}, {q}):")
            with w.function([]):
                w.line(f"return lambda {y}: {p}({q}({y}))")
            w.line(f"{result} = {name}({function()}, {function()})")
        case "adder":
            w.line(f"{name} = lambda {p}: lambda {y}: ({p} - {y}) * 0.5")
            w.line(f"{result} = {name}({damped(w, atom(w), FUNCTION_BOUND).text})")
        case _:
            w.line(f"{name} = lambda {p}, {y}: ({p}({y}) + {p}({y} * 0.5)) * 0.5")
            w.line(f"{result} = lambda {q}: {name}({function()}, {q})")
    w.declare(Variable(result, "function", size=1))


def in_tuple(w: Writer) -> None:
    """Functions stored in a tuple."""
    w.mark("functions_in_tuples")
    name, size = w.fresh("fs"), w.number(1, 2)
    one = unary(w)
    parts = [w.pick(one) if one and w.flip() else lambda_text(w, 1) for _ in range(size)]
    w.line(f"{name} = ({', '.join(parts)},)")
    w.declare(Variable(name, "functions", size=size))


def recursive(w: Writer) -> None:
    """A function that calls itself with a smaller integer, in tail position or not, and a call of it through a lambda."""
    w.mark("recursion")
    name, n, call = w.fresh("r"), w.fresh("n"), w.fresh("f")
    y = Variable(w.fresh("y"), "real", FUNCTION_BOUND)
    w.line(f"def {name}({n}, {y.name}):")
    with w.function([Variable(n, "integer", 3.0), y]):
        w.line(f"if {n} <= 0:")
        with w.block():
            w.line(f"return {damped(w, real(w, 1), FUNCTION_BOUND).text}")
        smaller = f"{name}({n} - 1, {damped(w, real(w, 2), FUNCTION_BOUND).text})"
        other = damped(w, real(w, 1), FUNCTION_BOUND).text
        w.line(f"return {w.pick((smaller, f'({smaller} + {other}) * 0.5', f'({smaller} * {other}) * 0.25'))}")
    z = w.fresh("y")
    w.line(f"{call} = lambda {z}: {name}({w.number(0, 3)}, {z})")
    w.declare(Variable(call, "function", size=1))


def grad_of(w: Writer) -> None:
    """The derivative of a lambda at a point, brought to size by d / (1 + d*d)."""
    w.mark("nested_grad")
    d, name = w.fresh("d"), w.fresh("a")
    w.line(f"{d} = grad({lambda_text(w, 1, LIMIT)})({damped(w, real(w, 1), FUNCTION_BOUND).text})")
    w.line(f"{name} = {d} / (1.0 + {d} * {d})")
    w.declare(Variable(name, "real", 0.5))
