"""
jaxprs: programs of JAX as programs of ours and back, and passes over jaxprs as passes that can be judged.

    from_jaxpr(closed)            the program that a ClosedJaxpr is
    to_jaxpr(program)             the ClosedJaxpr of a program
    jaxpr_pass(function)          a pass over ClosedJaxprs, for `adjudge.audit`

The reference judges; JAX traces and runs nothing but the pass. 64-bit types are enabled while it does. JAX is imported when one of
these is called; without it, Malformed names the extra to install.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from semantics.edit import Edit
from semantics.errors import AdjudgeError, Malformed
from semantics.ir import NodeId, Parameter, Program
from semantics.primitives.table import TABLE
from semantics.scope import scopes
from semantics.type_language import TupleType, type_of


def with_jax() -> Any:
    """JAX, if it is installed."""
    try:
        import jax
    except ImportError:
        raise Malformed("JAX is not installed", rule="jaxpr", remedy="pip install 'adjudge[jax]'") from None
    return jax


def from_jaxpr(closed: Any) -> Program:
    """
    The program that a ClosedJaxpr is: f64 and f32, integers, booleans, calls, branches and loops.

    Its result is a tuple if the jaxpr has not exactly one. Malformed, with the name and the line of source, at a primitive or a
    dtype that is not read.
    """
    with_jax()
    from adjudge.adapters.jax_reader import read_jaxpr

    return read_jaxpr(closed)


def to_jaxpr(program: Program, arguments: Sequence[Any] | None = None) -> Any:
    """
    The ClosedJaxpr of a program; tuples among its parameters and results become several of the jaxpr.

    arguments  examples that say the types of the parameters, if they are not declared; f64 where nothing says more

    Malformed at what jaxprs cannot say: recursion that is no loop, functions as results, shapes not known when it is traced.
    """
    jax = with_jax()
    from adjudge.adapters.jax_writer import write_jaxpr
    from adjudge.values import to_value

    if arguments is not None:
        parameters = program.graphs[program.entry].parameters
        if len(arguments) != len(parameters):
            raise Malformed(f"{len(parameters)} parameters but {len(arguments)} arguments", rule="jaxpr", remedy="one for each")
        types = [type_of(to_value(a)) for a in arguments]
        program = declared(program, [replace(_parameter(program, n), type=t) for n, t in zip(parameters, types, strict=True)])
    with jax.enable_x64(True):
        return write_jaxpr(program).closed


def _parameter(program: Program, node: NodeId) -> Parameter:
    found = program.nodes[node]
    assert isinstance(found, Parameter)
    return found


def declared(program: Program, parameters: Iterable[Parameter]) -> Program:
    """The program with the names and types of other parameters."""
    edit = Edit(program)
    for node, wanted in zip(program.graphs[program.entry].parameters, parameters, strict=True):
        edit.nodes = edit.nodes.set(node, replace(_parameter(program, node), name=wanted.name, type=wanted.type))
    return edit.program


@dataclass(frozen=True)
class JaxprPass:
    """
    A pass over jaxprs as one over programs: a program becomes a jaxpr, the pass runs, the result is read.

    A program that was read from a jaxpr is known by it. Of others, those are refused that a jaxpr says at greater length: the pass
    would be charged for the translation.

    given   functions of JAX, each with example arguments, to judge it on before ours
    """

    name: str
    function: Callable[[Any], Any]
    domain: str
    given: tuple[tuple[Callable[..., Any], Sequence[Any]], ...] = ()
    known: dict[int, tuple[Program, Any, Any]] = field(default_factory=dict)

    @property
    def examples(self) -> tuple[Program, ...]:
        """The programs that it is judged on before generated ones, each known by its jaxpr."""
        jax = with_jax()
        with jax.enable_x64(True):
            own = [self.remember(jax.make_jaxpr(f)(*arguments), None) for f, arguments in self.given]
        self.known.update((id(view[0]), view) for view in views())
        return (*own, *(view[0] for view in views()))

    def run(self, program: Program) -> Any:
        """
        What the pass makes of the program; the program itself if it leaves the jaxpr alone. What is no ClosedJaxpr is handed on,
        and what JAX finds wrong with the result is raised: both are faults of the pass.
        """
        jax = with_jax()
        from jax.extend.core import check_jaxpr

        with jax.enable_x64(True):
            closed, structure = self.written(program)
            found = self.function(closed)
            if not (hasattr(found, "jaxpr") and hasattr(found, "consts")):
                return found
            if same_text(found, closed):
                return program
            check_jaxpr(found.jaxpr)
            for what, before, after in (
                ("parameters", closed.in_avals, found.in_avals),
                ("results", closed.out_avals, found.out_avals),
            ):
                if [(a.shape, a.dtype) for a in before] != [(a.shape, a.dtype) for a in after]:
                    raise ValueError(f"the pass changed the {what} from {before} to {after}")
            return self.remember(found, structure, program)

    def written(self, program: Program) -> tuple[Any, Any]:
        """The jaxpr that a program is known by, or is written as, and the structure of its result."""
        from adjudge.adapters.jax_writer import write_jaxpr

        found = self.known.get(id(program))
        if found is not None:
            return found[1], found[2]
        written = write_jaxpr(program)
        if applications(restored(from_jaxpr(written.closed), program, written.structure)) > applications(program):
            raise Malformed("its jaxpr is longer, and is judged in its place", rule="jaxpr", remedy="judge it as a jaxpr")
        return written.closed, written.structure

    def remember(self, closed: Any, structure: Any, like: Program | None = None) -> Program:
        """The program read from a jaxpr, known by it from now on."""
        program = from_jaxpr(closed)
        program = program if like is None else restored(program, like, structure)
        self.known[id(program)] = program, closed, structure
        return program


@cache
def views() -> tuple[tuple[Program, Any, Any], ...]:
    """Our functions of JAX, and those of our triggers that are longer as jaxprs: each as a program, with its jaxpr."""
    from adjudge.adapters.jax_examples import EXAMPLES
    from adjudge.adapters.jax_writer import write_jaxpr
    from checkers.optimizer_audit.trigger_sources import sourced
    from checkers.optimizer_audit.triggers import triggers

    jax = with_jax()
    found: list[tuple[Program, Any, Any]] = []
    with jax.enable_x64(True):
        for f, arguments in EXAMPLES:
            closed = jax.make_jaxpr(f)(*arguments)
            found.append((from_jaxpr(closed), closed, None))
        for trigger in (*triggers(), *sourced()):
            try:
                written = write_jaxpr(trigger.program)
                seen = restored(from_jaxpr(written.closed), trigger.program, written.structure)
            except AdjudgeError:
                continue
            if applications(seen) > applications(trigger.program):
                found.append((seen, written.closed, written.structure))
    return tuple(found)


def jaxpr_pass(
    function: Callable[[Any], Any],
    *,
    domain: str = "BITS",
    name: str = "",
    examples: Sequence[tuple[Callable[..., Any], Sequence[Any]]] = (),
) -> JaxprPass:
    """
    A pass over jaxprs, to be judged: `aj.audit(aj.jaxpr_pass(p))`.

    function  takes a ClosedJaxpr and returns one with the same parameters and results
    domain    the equality it claims: "BITS" bit for bit, "REAL" over the reals
    name      what reports call it
    examples  functions of JAX, each with its example arguments, to judge it on before ours
    """
    with_jax()
    if not callable(function):
        raise Malformed(f"{function!r} is no pass", rule="jaxpr", remedy="a function from ClosedJaxpr to ClosedJaxpr")
    return JaxprPass(name or getattr(function, "__name__", type(function).__name__), function, domain, tuple(examples))


def same_text(a: Any, b: Any) -> bool:
    """Whether two jaxprs read alike and hold the same constants."""
    if a is b:
        return True
    constants = len(a.consts) == len(b.consts) and all(x is y for x, y in zip(a.consts, b.consts, strict=True))
    return constants and str(a.jaxpr) == str(b.jaxpr)


def applications(program: Program) -> int:
    """How many applications the entry needs, in all graphs."""
    return sum(program.owner(n) == g and bool(program.inputs(n)) for g, nodes in scopes(program).needed.items() for n in nodes)


def restored(flat: Program, like: Program, structure: Any) -> Program:
    """The program of a jaxpr with the parameters of `like`, and its results as a tuple of this structure."""
    wanted = [_parameter(like, n) for n in like.graphs[like.entry].parameters]
    tuples = any(isinstance(p.type, TupleType) for p in wanted)
    if not tuples and (structure is None or (len(structure) != 1 and all(s is None for s in structure))):
        edit = Edit(declared(flat, wanted))
        edit.rename(flat.entry, like.graphs[like.entry].name)
        return edit.program
    edit = Edit(flat)
    entry = edit.graph(like.graphs[like.entry].name)
    leaves: list[NodeId] = []
    for parameter in wanted:
        todo = [(edit.parameter(entry, parameter.name, parameter.type), parameter.type)]
        while todo:
            node, type = todo.pop()
            if isinstance(type, TupleType):
                parts = [(edit.call(entry, TABLE["getitem"], node, edit.constant(k)), t) for k, t in enumerate(type.items)]
                todo.extend(reversed(parts))
            else:
                leaves.append(node)
    result = edit.apply(entry, edit.reference(flat.entry), *leaves)
    edit.output(entry, _built(edit, entry, result, structure))
    edit.set_entry(entry)
    return edit.program


def _built(edit: Edit, entry: int, result: NodeId, structure: Any) -> NodeId:
    """The tuple of this structure, of the results of a flat program. Structures nest as types do."""
    count = _leaves(structure)
    rest = iter(range(count))

    def build(s: Any) -> NodeId:
        if s is None:
            k = next(rest)
            return result if count == 1 else edit.call(entry, TABLE["getitem"], result, edit.constant(k))
        return edit.call(entry, TABLE["make_tuple"], *map(build, s))

    return build(structure)


def _leaves(structure: Any) -> int:
    return 1 if structure is None else sum(map(_leaves, structure))
