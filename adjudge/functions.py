"""
Derivatives as functions (DESIGN, section 9).

`grad(f)` and its kin answer with a `Derivative`: a function that is parsed, differentiated and run when it is called, each
signature once. It can be differentiated again, transformed, compiled, stepped and printed like any other function.
The default target is the reference machine, the default `mode` J; `transforms.modes` has the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.elsewhere import Made, Ways
from adjudge.values import as_held, demand, differentiable, is_function, to_python, to_value
from semantics.collector import at_work
from semantics.edit import applying
from semantics.errors import IllTyped, Malformed
from semantics.ir import Parameter, Program
from semantics.machine import FUEL, Machine
from semantics.text import cut
from semantics.type_language import ArrayType, Scalar, type_of
from semantics.type_lattice import labels
from transforms import parse as parser
from transforms.gradient_programs import Wrt, calling
from transforms.modes import mode_called
from transforms.nested_grad import expand

TARGETS = ("reference", "python", "cpu", "cuda", "cuda-simulator", "cuda-sequential")


class Derivative:
    """
    macro(f, wrt) as a Python function. Made by `grad`, `value_and_grad`, `jacobian`, `hessian`, `hvp`.

    Called with Python values; arguments that are functions are parsed and linked in. `program(types)` is the program
    that runs, with the macro expanded.
    """

    def __init__(self, f: Any, macro: str, wrt: Wrt = 0, target: str = "reference", fuel: int = FUEL, *, mode: str = "J") -> None:
        if not (is_function(f) or isinstance(f, Program)):
            raise IllTyped(f"{macro} wants a function, found {f!r}", rule=macro, remedy="pass the function itself, not its result")
        if target not in TARGETS:
            raise Malformed(f"{target!r} is not a target", remedy=f"one of {', '.join(TARGETS)}")
        self.f, self.macro, self.wrt, self.target, self.fuel = f, macro, _checked_wrt(wrt), target, fuel
        self.mode = mode_called(mode).name
        self.__name__ = f"{macro}_{getattr(f, '__name__', 'f')}"
        self._begin()

    def _begin(self) -> None:
        self._runners: dict[Any, Runner] = {}
        self._ways = Ways(self._at_length)
        self._call: Callable[..., Any] = self._at_length

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of; of code that it has run there may be none in another process."""
        return {name: value for name, value in vars(self).items() if name not in ("_runners", "_ways", "_call")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def __repr__(self) -> str:
        return f"<{self.macro} of {getattr(self.f, '__name__', 'program')} with respect to {self.wrt!r}>"

    def unexpanded(self) -> Program:
        """The program that calls the macro on f, as `nested_grad` finds it; any mode may expand it."""
        return calling(parse(self.f), self.macro, self.wrt, None)

    def program(self, types: Sequence[Any] | None = None) -> Program:
        """The derivative as a program, its macros expanded. `types` of the parameters; f64 where none is given or declared."""
        return expand(calling(parse(self.f), self.macro, self.wrt, types), self.mode)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._call(*arguments, **named)

    def _at_length(self, *arguments: Any, **named: Any) -> Any:
        """A call; the next with such types goes to compiled code at once, as a call of what `compile` gives does."""
        positional = self.arguments(arguments, named)
        primal_count = len(positional) // 2 if self.macro == "hvp" else None
        found, data = runner_of(
            self.macro, self.wrt, self.f, positional, self._runners, self.target, primal_count, self.fuel, self.mode
        )
        value = found.run(*data)
        if is_plain(positional, arguments, named):
            self._call = self._ways.of(found)
        return value

    def arguments(self, arguments: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        """The arguments by position, of `hvp` the directions too; IllTyped where f is not to be differentiated by one."""
        if self.macro == "hvp":
            return _directed(bind(self, arguments, named))
        positional = bind(self.f, arguments, named)
        for index in positions(self.f, self.wrt, len(positional)):
            if not is_function(positional[index]):
                differentiable(positional[index], _name(self.f, index))
                if self.macro == "hessian":
                    _one_block(positional[index], _name(self.f, index))
        return positional


def is_plain(positional: Sequence[Any], arguments: Sequence[Any], named: dict[str, Any]) -> bool:
    """Whether a call gives all arguments, by position, and none is a function."""
    return len(positional) == len(arguments) and not named and not any(map(is_function, arguments))


def _directed(positional: list[Any]) -> list[Any]:
    """Arguments and then directions, as they are; IllTyped unless each direction has the structure of its argument."""
    half = len(positional) // 2
    if any(map(is_function, positional)):
        raise IllTyped("hvp(f) has no direction for a function", rule="hvp", remedy="wrap it: hvp(lambda x: f(g, x))(x, v)")
    for x, v in zip(positional[:half], positional[half:], strict=True):
        demand(to_value(v, "the direction"), to_value(x), "the direction", "hvp")
    return positional


def _one_block(value: Any, name: str) -> None:
    """IllTyped unless second derivatives by `value` are one array: a record or a tuple has a block for each pair of its parts."""
    if type_of(to_value(value, name)).__class__ not in (Scalar, ArrayType):
        raise IllTyped(
            f"the hessian with respect to {name} was asked for, which is {cut(str(type_of(to_value(value))))}",
            rule="hessian",
            remedy="make its parts arguments of their own (wrt=(0, 1)), or ask for products: hvp(f)",
        )


def _checked_wrt(wrt: Any) -> Wrt:
    parts = wrt if isinstance(wrt, tuple) else (wrt,)
    if not parts or not all(isinstance(p, (int, str)) and not isinstance(p, bool) for p in parts):
        raise IllTyped(f"wrt is {wrt!r}", rule="grad", remedy="a position, a parameter name, or a tuple of them")
    return wrt


def parse(f: Any) -> Program:
    """The program of a function, a derivative, or a program (itself). Macros are kept, unless their mode is not J."""
    if isinstance(f, Program):
        return f
    if isinstance(f, Derivative):
        return f.unexpanded() if f.mode == "J" else f.program()
    row = getattr(f, "row", None)
    if row is not None and not inspect.isfunction(f):
        return applying(row)
    if not is_function(f):
        raise Malformed(f"{f!r} is not a function", remedy="pass a function, a derivative or a Program")
    return parser.parse(f)


def bind(f: Any, arguments: Sequence[Any], named: dict[str, Any]) -> list[Any]:
    """
    The arguments by position, keywords and defaults filled in as Python would; IllTyped where Python would refuse.

    What is made of `hvp` takes the directions after the arguments, all by position.
    """
    while isinstance(f, Derivative):
        if f.macro == "hvp":
            half = len(arguments) // 2
            if named or len(arguments) != 2 * half or len(bind(f.f, arguments[:half], {})) != half:
                raise IllTyped("hvp(f) wants the arguments of f and then as many directions", rule="hvp", remedy="hvp(f)(x, v)")
            return list(arguments)
        f = f.f
    if isinstance(f, Program):
        wanted = [getattr(f.nodes[n], "name", "") for n in f.graphs[f.entry].parameters]
        if named or len(arguments) != len(wanted):
            given = f"{len(arguments) + len(named)} given"
            remedy = "give one value for each, by position"
            raise IllTyped(f"the program takes {len(wanted)} arguments ({', '.join(wanted)}), {given}", rule="enter", remedy=remedy)
        return list(arguments)
    if isinstance(f, Made):
        parse(f)  # which refuses it
    try:
        bound = inspect.signature(f).bind(*arguments, **named)
    except TypeError as error:
        raise IllTyped(
            f"{getattr(f, '__name__', 'f')}: {error}", rule="enter", remedy=f"its signature is {inspect.signature(f)}"
        ) from None
    except ValueError:
        return list(arguments)
    bound.apply_defaults()
    return list(bound.arguments.values())


def positions(f: Any, wrt: Wrt, count: int) -> list[int]:
    """The positions that `wrt` means, for a call with `count` arguments."""
    names = _names(f, count)
    found = []
    for part in wrt if isinstance(wrt, tuple) else (wrt,):
        if isinstance(part, str) and part in names:
            found.append(names.index(part))
        elif isinstance(part, int) and -count <= part < count:
            found.append(part % count)
        else:
            raise Malformed(
                f"wrt is {part!r}, but the arguments are {', '.join(names) or 'none'}", rule="grad", remedy="a position or a name"
            )
    return found


def _name(f: Any, index: int) -> str:
    return _names(f, index + 1)[index]


def _names(f: Any, count: int) -> list[str]:
    """What so many arguments of a function are called."""
    while isinstance(f, Derivative):
        f = f.f
    if isinstance(f, Program):
        nodes = [f.nodes[x] for x in f.graphs[f.entry].parameters[:count]]  # a direction of `hvp` stands behind them
        known = [node.name if isinstance(node, Parameter) else "" for node in nodes]
    else:
        try:
            known = list(inspect.signature(f).parameters)[:count]
        except (ValueError, TypeError):
            known = []
    return [name or f"argument {k}" for k, name in enumerate(known)] + [f"argument {k}" for k in range(len(known), count)]


def runner_of(
    macro: str | None,
    wrt: Wrt,
    f: Any,
    arguments: Sequence[Any],
    runners: dict[Any, Runner],
    target: str,
    primal_count: int | None = None,
    fuel: int = FUEL,
    mode: str = "J",
    fast: bool = False,
) -> tuple[Runner, list[Any]]:
    """What runs macro(f, wrt) on arguments of these types, made once, and the data that it takes."""
    functions = {i: a for i, a in enumerate(arguments) if is_function(a)}
    atom = None if target == "reference" else as_held
    names = _names(f, len(arguments))
    data = [to_value(a, names[i], atom) for i, a in enumerate(arguments) if i not in functions]
    given = iter(data)
    types: list[Any] = [None if i in functions else type_of(next(given)) for i in range(len(arguments))]
    if target != "reference":
        from backend import general

        types = [None if t is None else general(t) for t in types]
    records = tuple(label.python for t in types for label in labels(t))
    signature = (tuple(types), records, tuple((i, id(g)) for i, g in functions.items()))
    if signature not in runners:
        program = calling(parse(f), macro, wrt, types[:primal_count], {i: parse(g) for i, g in functions.items()})
        runners[signature] = runner(program, [t for t in types if t is not None], target, fuel, mode, fast)
    return runners[signature], data


@dataclass(frozen=True)
class Runner:
    """A program on a target: `run` is a function of machine values, `way_in(otherwise)` a quicker one of numbers, if any."""

    run: Callable[..., Any]
    way_in: Callable[[Callable[..., Any]], Callable[..., Any] | None] = lambda _: None


def runner(program: Program, types: Sequence[Any], target: str, fuel: int = FUEL, mode: str = "J", fast: bool = False) -> Runner:
    """The program on a target, its macros expanded."""
    if target == "reference":
        machine = Machine(expand(program, mode))
        return Runner(at_work()(lambda *data: to_python(machine.run(data, fuel).value, machine)))
    from backend import runnable

    compiled = runnable(program, tuple(types), target, mode=mode, fast=fast)
    return Runner(lambda *data: to_python(compiled(*data), lambda: Machine(compiled.closures)), compiled.way_in)


def run(f: Any, *arguments: Any, fuel: int = FUEL, **named: Any) -> Any:
    """The value of f at the arguments, on the reference machine. OutOfFuel after `fuel` steps."""
    found, data = runner_of(None, 0, f, bind(f, arguments, named), {}, "reference", None, fuel)
    return found.run(*data)


def grad(f: Any, wrt: Wrt = 0, *, target: str = "reference", mode: str = "J") -> Derivative:
    """The gradient of f, whose result is a real, with respect to one argument or a tuple of them (2018, section 3.2)."""
    return Derivative(f, "grad", wrt, target, mode=mode)


def value_and_grad(f: Any, wrt: Wrt = 0, *, target: str = "reference", mode: str = "J") -> Derivative:
    """The value and the gradient of f, as a pair, from one forward pass."""
    return Derivative(f, "value_and_grad", wrt, target, mode=mode)


def jacobian(f: Any, wrt: Wrt = 0, *, target: str = "reference", mode: str = "J") -> Derivative:
    """The gradient of each element of f's result, a tuple written out in its return; of the result itself if it is a real."""
    return Derivative(f, "jacobian", wrt, target, mode=mode)


def hessian(f: Any, wrt: Wrt = 0, *, target: str = "reference", mode: str = "J") -> Derivative:
    """The second derivatives of f by real arguments: one number for one position, a tuple of rows for a tuple of them."""
    return Derivative(f, "hessian", wrt, target, mode=mode)


def hvp(f: Any, *, target: str = "reference", mode: str = "J") -> Derivative:
    """hvp(f)(x…, v…): the product of the Hessian of f at x… with the direction v…, reverse over reverse."""
    return Derivative(f, "hvp", 0, target, mode=mode)


def vjp(f: Any, *primals: Any, mode: str = "J") -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """
    The value of f, and its pullback: from a sensitivity of the value to the sensitivities of all arguments.

    The pullback may be called any number of times. IllTyped if what it is given has not the structure of the value.
    """
    functions = {i: parse(a) for i, a in enumerate(primals) if is_function(a)}
    data = [to_value(a, _name(f, i)) for i, a in enumerate(primals) if i not in functions]
    types = [None if i in functions else type_of(to_value(a)) for i, a in enumerate(primals)]
    machine = Machine(expand(calling(parse(f), "vjp", 0, types, functions), mode))
    out, closure = machine.run(data).value

    def pullback(sensitivity: Any) -> tuple[Any, ...]:
        d = to_value(sensitivity, "the sensitivity")
        demand(d, out, "the sensitivity", "vjp")
        return to_python(machine.call(closure, [d]), machine)

    return to_python(out, machine), pullback


def jvp(f: Any, primals: Sequence[Any], tangents: Sequence[Any], *, mode: str = "J") -> tuple[Any, Any]:
    """The value of f at `primals` and its derivative in the direction `tangents`, by forward mode."""
    if len(primals) != len(tangents):
        raise IllTyped(f"{len(primals)} primals but {len(tangents)} tangents", rule="jvp", remedy="one tangent for each primal")
    for i, (x, t) in enumerate(zip(primals, tangents, strict=True)):
        differentiable(x, _name(f, i))
        demand(to_value(t, "the tangent"), to_value(x), "the tangent", "jvp")
    types = [type_of(to_value(a)) for a in primals]
    machine = Machine(expand(calling(parse(f), "jvp", 0, types), mode))
    return to_python(machine.run([to_value(a) for a in (*primals, *tangents)]).value, machine)
