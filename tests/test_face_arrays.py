"""The public API on arrays and records: shapes, dtypes and closed forms of every derivative; what is said of wrong arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjudge as aj
from semantics.errors import AdjudgeError, IllTyped, Trap

X = np.array([1.0, -2.0, 0.5])
A = np.array([[1.0, 2.0, -0.5], [0.25, -1.0, 4.0]])
B = np.array([[2.0, 0.5], [-1.0, 1.0], [4.0, -0.25]])
TABLE = np.linspace(0.0, 1.0, 1000)


class Line(NamedTuple):
    slope: np.ndarray
    shift: float


@dataclass(frozen=True)
class Affine:
    matrix: np.ndarray
    shift: np.ndarray


class Other(np.ndarray):
    pass


def cubes(x):
    return np.sum(x**3)


def squares(x):
    return x * x


def product(a, b):
    return a @ b


def form(x, m):
    return x @ m @ x


def inner(x, y):
    return np.sum(x * y)


def of_line(line, x):
    return np.sum(line.slope * x) + line.shift


def of_affine(f, x):
    return np.sum((f.matrix @ x + f.shift) ** 2)


def of_dict(p):
    return np.sum(p["w"] ** 2) * p["b"]


def equal(found: Any, wanted: Any) -> bool:
    """The same value, shape and dtype. The inputs are dyadic, so every operation is exact; a zero may have another sign."""
    wanted = np.asarray(wanted)
    return isinstance(found, np.ndarray) and found.dtype == wanted.dtype and np.array_equal(found, wanted)


def test_the_jacobian_has_the_shape_of_the_result_and_then_of_the_argument():
    assert equal(aj.jacobian(squares)(X), np.diag(2 * X))
    by_a = np.einsum("im,kj->ijmk", np.eye(2), B)
    by_b = np.einsum("ik,jm->ijkm", A, np.eye(2))
    assert equal(aj.jacobian(product)(A, B), by_a)
    both = aj.jacobian(product, wrt=(0, 1))(A, B)
    assert equal(both[0], by_a)
    assert equal(both[1], by_b)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0), (2, 1, 3)])
def test_the_jacobian_of_every_shape_is_diagonal_for_an_elementwise_function(shape):
    x = np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)
    wanted = np.diag(2 * x.ravel()).reshape(shape + shape)
    assert equal(np.asarray(aj.jacobian(squares)(x)), wanted)


def test_the_jacobian_of_a_number_is_the_gradient():
    assert equal(aj.jacobian(cubes)(X), 3 * X**2)


def test_the_hessian_has_the_shape_of_the_argument_twice():
    assert equal(aj.hessian(cubes)(X), np.diag(6 * X))
    m = np.arange(9.0).reshape(3, 3)
    assert equal(aj.hessian(form)(X, m), m + m.T)
    assert equal(aj.hessian(cubes)(A).reshape(6, 6), np.diag(6 * A.ravel()))


def test_the_hessian_by_two_arguments_has_a_block_for_each_pair():
    (xx, xy), (yx, yy) = aj.hessian(inner, wrt=("x", "y"))(X, 2 * X)
    for block, wanted in ((xx, np.zeros((3, 3))), (xy, np.eye(3)), (yx, np.eye(3)), (yy, np.zeros((3, 3)))):
        assert equal(block, wanted)


def test_the_product_with_the_hessian_needs_no_hessian():
    v = np.array([1.0, 0.5, -4.0])
    assert equal(aj.hvp(cubes)(X, v), 6 * X * v)
    m, w = np.arange(9.0).reshape(3, 3), np.eye(3)
    by_x, by_m = aj.hvp(form)(X, m, v, w)
    assert equal(by_x, (m + m.T) @ v + (w + w.T) @ X)
    assert equal(by_m, np.outer(v, X) + np.outer(X, v))


def test_vjp_and_jvp_of_arrays_are_adjoint():
    d, t = np.array([[1.0, -1.0], [0.5, 2.0]]), (np.ones_like(A), -B)
    out, pullback = aj.vjp(product, A, B)
    da, db = pullback(d)
    assert equal(out, A @ B)
    assert equal(da, d @ B.T)
    assert equal(db, A.T @ d)
    value, moved = aj.jvp(product, (A, B), t)
    assert equal(value, out)
    assert np.sum(moved * d) == np.sum(da * t[0]) + np.sum(db * t[1])


@pytest.mark.parametrize("x", [X.astype(np.float32), np.array(2.0), np.zeros((0, 3)), X[::-1], np.asfortranarray(A)])
def test_a_gradient_has_the_dtype_and_the_shape_of_its_argument(x):
    assert equal(aj.grad(cubes)(x), 3 * x**2)


def test_the_gradient_of_a_record_or_a_dictionary_is_one():
    found = aj.grad(of_line)(Line(X, 2.0), X)
    assert isinstance(found, Line)
    assert equal(found.slope, X)
    assert found.shift == 1.0
    found = aj.grad(of_affine)(Affine(A, np.zeros(2)), X)
    assert isinstance(found, Affine)
    assert equal(found.matrix, 2 * np.outer(A @ X, X))
    found = aj.grad(of_dict)({"w": X, "b": 2.0})
    assert equal(found["w"], 4 * X)
    assert found["b"] == np.sum(X**2)
    assert aj.grad(of_dict)({"w": X, "b": 2})["b"] is None


def test_products_with_the_hessian_take_records_as_directions():
    by_line, by_x = aj.hvp(of_line)(Line(X, 2.0), X, Line(2 * X, 1.0), 3 * X)
    assert equal(by_line.slope, 3 * X)
    assert by_line.shift == 0.0
    assert equal(by_x, 2 * X)


REFUSED: dict[str, tuple[Any, str, str]] = {
    "integers have no derivative": (
        lambda: aj.grad(cubes)(np.array([1, 2])),
        "is an array of int64",
        "astype",
    ),
    "nor booleans": (lambda: aj.jacobian(squares)(np.array([True])), "an array of bool", "astype"),
    "nor by name": (lambda: aj.grad(inner, wrt="y")(X, np.array([1, 2, 3])), "respect to y", "astype"),
    "a narrow dtype": (lambda: aj.run(cubes, X.astype(np.float16)), "an array of float16", "np.float64"),
    "a narrow integer": (lambda: aj.run(cubes, np.array([1], np.int32)), "an array of int32", "np.int64"),
    "ragged rows": (lambda: aj.run(cubes, np.array([[1.0], [1.0, 2.0]], object)), "an array of object", "one length"),
    "a subclass, whose * may be another": (lambda: aj.run(squares, X.view(Other)), "type Other", "np.asarray"),
    "a masked array": (lambda: aj.run(cubes, np.ma.array([1.0, 2.0], mask=[0, 1])), "MaskedArray", "np.asarray"),
    "a list of numbers": (lambda: aj.grad(lambda x: np.sum(x * x))([1.0]), "mul wants numbers, found the list", "np.array"),
    "a result of many numbers": (lambda: aj.grad(squares)(X), "a function whose result is a real", "jacobian"),
    "a sensitivity of another shape": (lambda: aj.vjp(squares, X)[1](np.ones(4)), "f64[3] cannot be f64[4]", "structure"),
    "a tangent of another dtype": (lambda: aj.jvp(squares, (X,), (X.astype("f4"),)), "f64[3] cannot be f32[3]", "structure"),
    "a direction of another shape": (lambda: aj.hvp(cubes)(X, A), "f64[3] cannot be f64[2, 3]", "structure"),
    "the hessian of a record": (
        lambda: aj.hessian(of_line)(Line(X, 2.0), X),
        "which is namedtuple Line",
        "hvp",
    ),
    "the truth of a comparison": (lambda: aj.run(lambda x: 1.0 if x > 0 else 0.0, X), "switch wants a boolean", "np.all"),
    "an index of a real": (lambda: aj.run(lambda x: x[1.0], X), "1.0 is no index", "integers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_argument_is_ill_typed_with_what_to_do(what):
    call, says, remedy = REFUSED[what]
    with pytest.raises(IllTyped) as caught:
        call()
    assert says in caught.value.what
    assert remedy in caught.value.remedy


def test_shapes_that_do_not_match_trap_at_the_line_of_the_program_also_in_a_derivative():
    for call in (lambda: aj.run(inner, X, A[0, :2]), lambda: aj.grad(inner)(X, A[0, :2]), lambda: aj.hvp(inner)(X, B[0], X, B[0])):
        with pytest.raises(Trap, match="do not broadcast") as caught:
            call()
        assert caught.value.location is not None
        assert caught.value.location.text.strip() == "return np.sum(x * y)"


def test_what_traps_in_a_program_of_ours_traps_at_the_line_of_the_users():
    def volume(a):
        return np.linalg.slogdet(a)[1]

    def folded(x):
        return 2.0 * aj.array_reduce(lambda a, b: a + b, x, 1.0)

    for call, line in ((lambda: aj.grad(volume)(np.ones((2, 2))), "slogdet"), (lambda: aj.run(folded, X), "array_reduce")):
        with pytest.raises(AdjudgeError) as caught:
            call()
        assert line in caught.value.location.text


def test_shapes_that_do_not_match_are_ill_typed_before_running():
    with pytest.raises(IllTyped, match="do not broadcast"):
        aj.infer(inner, X, "f64[2]")
    assert str(aj.infer(aj.jacobian(product), "f64[2, 3]", "f64[3, 4]").result) == "f64[2, 4, 2, 3]"


def test_an_integer_array_to_a_negative_power_traps_as_numpy_raises():
    def power(x, n):
        return x**n

    assert aj.run(power, np.array([2, 3]), 2).tolist() == [4, 9]
    assert aj.run(power, np.array([2.0, 4.0]), -1).tolist() == [0.5, 0.25]
    with pytest.raises(Trap, match="negative power"):
        aj.run(power, np.array([2, 3]), -1)


def test_messages_cut_long_values():
    for call in (lambda: aj.run(lambda x: TABLE @ x, X), lambda: aj.run(lambda x: x + 1.0, [1.0] * 1000)):
        with pytest.raises(AdjudgeError) as caught:
            call()
        assert len(str(caught.value)) < 800
        assert "…" in str(caught.value)


def of_constants(x):
    y = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=np.float32)[::-1, :1]
    return np.sum((x[..., None] @ y.T) ** 2) + np.sum(TABLE[:2]), [x, {"a": Line(x, 1.0)}]


def test_the_text_of_a_program_with_arrays_reads_back():
    program = aj.parse(of_constants)
    assert aj.read(str(program)) == program
    gradient = aj.transform(lambda x: of_constants(x)[0], "grad", "optimize").result
    assert aj.read(str(gradient)) == gradient
    assert equal(aj.run(gradient, X), aj.grad(lambda x: of_constants(x)[0])(X))


@pytest.mark.parametrize("names", [("grad",), ("grad", "optimize")])
def test_a_transformed_program_takes_what_the_function_takes(names):
    def of_list(xs):
        total = 0.0
        for x in xs:
            total += x * x
        return total

    found = aj.run(aj.transform(of_line, *names).result, Line(X, 2.0), X)
    assert equal(found.slope, X)
    assert aj.run(aj.transform(of_list, *names).result, [1.0, 2.0]) == [2.0, 4.0]
    assert aj.run(aj.transform(lambda t: t[0] * t[1], *names).result, (2.0, 3.0)) == (3.0, 2.0)
