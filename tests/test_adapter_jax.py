"""jaxprs read and written: what JAX computes is what its program says, and a round trip keeps every bit."""

from __future__ import annotations

from pathlib import Path

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from hypothesis import event, given  # noqa: E402
from jax import lax  # noqa: E402
from jax_programs import CASES, M, N, Q, V, X, primitives_in, with_gaps  # noqa: E402

from adjudge.adapters import jax_reader  # noqa: E402
from adjudge.adapters.jax_jit import Compared, cast  # noqa: E402
from adjudge.adapters.jax_writer import write_jaxpr  # noqa: E402
from adjudge.adapters.jaxprs import from_jaxpr, restored, to_jaxpr  # noqa: E402
from adjudge.adapters.rounding import F32, F64, format_of  # noqa: E402
from adjudge.values import to_numpy, to_value  # noqa: E402
from checkers.generators import graphs  # noqa: E402
from checkers.optimizer_audit.outcomes import Runner, Value, same_bits  # noqa: E402
from checkers.optimizer_audit.pass_values import points_for  # noqa: E402
from semantics.arrays import Array  # noqa: E402
from semantics.errors import IllTyped, Malformed  # noqa: E402
from semantics.machine import run  # noqa: E402
from semantics.text import read  # noqa: E402
from semantics.values import same  # noqa: E402
from semantics.wellformed import check  # noqa: E402
from transforms.parse import parse_text  # noqa: E402


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def traced(f, arguments):
    return jax.make_jaxpr(f)(*arguments)


def values(arguments):
    return tuple(to_value(np.asarray(x)[()] if np.ndim(x) == 0 else np.asarray(x)) for x in arguments)


def test_every_rule_has_a_case():
    assert set().union(*(primitives_in(traced(f, a)) for f, a in CASES)) == set(jax_reader.RULES)


@pytest.mark.parametrize("format", [F64, F32], ids=lambda f: f.name)
@pytest.mark.parametrize(("f", "arguments"), CASES)
def test_a_program_read_from_a_jaxpr_computes_what_jax_computes(f, arguments, format):
    """Inside the enclosure of what its operations may compute; so does the machine."""
    point = tuple(cast(x, format) for x in values(arguments))
    given = [to_numpy(x) if isinstance(x, Array) else np.asarray(x) for x in point]
    try:
        closed = traced(f, given)
    except TypeError:  # a case that mixes its arguments with constants of f64
        assert format is F32
        return
    program = from_jaxpr(closed)
    check(program)
    assert read(str(program)) == program
    assert Compared(program, jax.jit(f), format_of(program)).miss(point) is None
    machine = Compared(program, f, format_of(program))
    machine.found = lambda p: run(program, *p)
    assert machine.miss(point) is None


def again(program):
    """The program, written as a jaxpr and read."""
    written = write_jaxpr(program)
    return restored(from_jaxpr(written.closed), program, written.structure)


@pytest.mark.parametrize(("f", "arguments"), CASES)
def test_a_round_trip_keeps_every_bit(f, arguments):
    program = from_jaxpr(traced(f, arguments))
    if f is with_gaps:  # gaps between elements are read, and not written
        with pytest.raises(Malformed, match="put at this index"):
            again(program)
        return
    other = again(program)
    check(other)
    assert same(run(program, *values(arguments)), run(other, *values(arguments)))


@given(graphs(size=6))
def test_a_round_trip_of_a_generated_program_keeps_every_bit(program):
    try:
        other = again(program)
    except Malformed as refusal:
        event(f"refused: {refusal.node}")
        return
    left, right = Runner(program), Runner(other)
    for point in points_for(program, "BITS", 0):
        if isinstance(a := left(point), Value):
            assert same_bits(a, right(point))


def refusal(f, *arguments):
    with pytest.raises(Malformed) as caught:
        from_jaxpr(traced(f, arguments))
    return caught.value


def test_a_primitive_that_is_not_read_is_refused_by_name_with_its_line():
    found = refusal(lambda x: lax.lgamma(x) * 2.0, X)
    assert found.node == "lgamma"
    assert found.location.file == __file__
    assert "lax.lgamma" in Path(__file__).read_text().splitlines()[found.location.line - 1]
    assert found.remedy


@pytest.mark.parametrize(
    ("f", "arguments", "name"),
    [
        (lambda n: n & 2, (N,), "and"),
        (lambda n: ~n, (N,), "not"),
        (lambda v: lax.reduce_precision(v, 5, 10), (V,), "reduce_precision"),
        (lambda m: m[np.array([0, 1]), np.array([1, 2])], (M,), "gather"),
        (lambda m: m.at[:, np.array([1])].add(1.0), (M,), "scatter-add"),
        (lambda v: lax.sort((v, -v)), (V,), "sort"),
        (lambda x: lax.complex(x, x), (X,), "complex"),
        (lambda v: lax.pad(v, 0.0, ((-1, 0, 1),)), (V,), "pad"),
        (lambda q: lax.reshape(q, (4,), (1, 0)), (Q,), "reshape"),
        (lambda x: lax.convert_element_type(x, np.float16), (X,), "convert_element_type"),
        (lambda x: jax.debug.print("{}", x) or x, (X,), "debug_print"),
    ],
)
def test_what_a_rule_cannot_say_is_refused_by_name(f, arguments, name):
    found = refusal(f, *arguments)
    assert name.split("_")[0] in found.node
    assert found.remedy


def test_what_is_no_jaxpr_is_refused():
    with pytest.raises(Malformed):
        from_jaxpr(lambda x: x)


def program(text, name="f"):
    return parse_text(text, name)


WRITTEN = [
    """
def f(x: float):
    s = 0.0
    for i in range(3):
        s = s * x + i
    return s
""",
    """
def f(x: float):
    while x < 10.0:
        if x < 3.0:
            x = x + 1.5
        else:
            x = x + 4.0
    return x
""",
    """
def f(x: float):
    s = x
    for i in range(3):
        for j in range(2):
            s = s * 0.5 + j
        s = s - i
    return s, (x, 1)
""",
    """
def f(x: float, n: int):
    g = lambda y: y * x if n > 2 else y - x
    return g(3.0), n // 2, -n % 3, x % 2.0, abs(x), max(x, 1.0)
""",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_loops_branches_and_functions_are_written(text):
    f = program(text)
    other = again(f)
    for x in (-1.25, 0.0, 2.5):
        point = (x, 3)[: len(f.graphs[f.entry].parameters)]
        assert same(run(f, *point), run(other, *point))


def test_jax_runs_what_is_written():
    f = program(WRITTEN[1])
    assert jax.core.eval_jaxpr(to_jaxpr(f).jaxpr, [], 0.5)[0] == run(f, 0.5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(x: float, n: int):\n    return x if n <= 0 else x * f(x, n - 1)", "is no loop"),
        ("def f(x: float):\n    return lambda y: x + y", "cannot hold"),
        ("def f(x: float):\n    return x // 2.0", "of reals"),
        ("def f(x: float):\n    y = 1\n    while x < 3.0:\n        x, y = x + 1.0, y * 0.5\n    return y", "type of its state"),
        ("def f(n: int):\n    return n + 1180591620717411303424", "beyond 64 bits"),
        ("def f(x: float):\n    return 1 if x < 0.0 else x", "two types"),
    ],
)
def test_what_a_jaxpr_cannot_say_is_refused(text, said):
    with pytest.raises(Malformed) as caught:
        to_jaxpr(program(text))
    assert said in str(caught.value)


def test_types_of_parameters_follow_from_examples():
    f = program("import numpy as np\ndef f(v, x):\n    return np.sum(v) * x")
    assert [str(a) for a in to_jaxpr(f, [np.ones(3), 2.0]).in_avals] == ["float64[3]", "float64[]"]
    with pytest.raises(Malformed):
        to_jaxpr(f, [2.0])
    with pytest.raises((Malformed, IllTyped)):
        to_jaxpr(f, [None, 2.0])


def test_without_jax_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    with pytest.raises(Malformed) as caught:
        from_jaxpr(None)
    assert "adjudge[jax]" in caught.value.remedy


def test_a_jaxpr_larger_than_the_stack_of_python_is_read_and_written():
    """Chains of 3,000 equations, and of 300 calls inside calls."""

    def chain(x):
        for _ in range(3_000):
            x = x * 0.5 + 1.0
        return x

    found = from_jaxpr(traced(chain, (X,)))
    assert same(run(found, 0.75), run(again(found), 0.75))


def test_gradients_of_a_program_read_from_a_jaxpr_are_those_of_jax():
    from adjudge.adapters.jax_jit import judge_jit

    def f(x, v):
        return jnp.sum(jnp.where(v > x, v * x, jnp.sin(v))) + lax.fori_loop(0, 3, lambda i, c: c * x, x)

    assert judge_jit(f, [0.75, V], grad=True, samples=12).findings == ()
