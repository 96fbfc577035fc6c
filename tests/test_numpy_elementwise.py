"""
NumPy's functions of elements have NumPy's dtype and value on numbers and arrays of every dtype, or end in an error of the language.

Values are within two units in the last place: elementary functions are those of `math`. Integers and booleans are exact.
"""

from __future__ import annotations

import itertools
import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from vm_runs import agrees

import adjudge as aj
import backend
from adjudge.values import to_python, to_value
from semantics.errors import AdjudgeError, IllTyped, Trap
from semantics.ir import Program
from semantics.machine import run
from semantics.type_language import BOOLEAN, INTEGER, REAL, ArrayType
from semantics.values import same
from transforms.gradient_programs import gradient_program
from transforms.known_dtypes import with_known_dtypes
from transforms.parse import parse_text
from transforms.parse.numpy_names import NUMPY

ULPS = 2
NAMES = [name for name in NUMPY.members if isinstance(getattr(np, name, None), np.ufunc) and name != "matmul"]
UNARY = [name for name in NAMES if getattr(np, name).nin == 1]
BINARY = [name for name in NAMES if getattr(np, name).nin == 2]
HALVES = {"f2": "f8"}  # what NumPy makes float16 of booleans is float64 here

OPERANDS: list[Any] = [
    *(3, -2, 0, 1, True, False, 2.5, -0.75, 0.0, np.nan, np.inf, np.float32(1.5)),
    np.array([3, -2, 0, 1]),
    np.array([True, False, True, True]),
    np.array([0.3, -2.5, 1.0, np.nan], dtype=np.float32),
    np.array([0.7, -2.5, 1.0, -np.inf]),
]


@cache
def program(name: str, count: int) -> Program:
    names = ", ".join("xyz"[:count])
    return program_of(f"def f({names}): return np.{name}({names})")


def program_of(text: str) -> Program:
    return parse_text(f"import numpy as np\n{text}", "f", names={})


def of_numpy(name: str, operands: tuple[Any, ...]) -> Any:
    """What NumPy makes of them, and None where it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = np.asarray(getattr(np, name)(*operands))
            if found.dtype.str[1:] in HALVES:
                found = np.asarray(getattr(np, name)(*(np.asarray(x, dtype=np.float64) for x in operands)))
        except (TypeError, ValueError):
            return None
    return found if found.dtype.name in ("float64", "float32", "int64", "bool") else None


def alike(found: Any, wanted: Any) -> bool:
    """One dtype, one shape, and one value but for the last places."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if wanted.dtype.kind != "f":
        return bool(np.array_equal(found, wanted))
    with np.errstate(all="ignore"):
        near = np.abs(found - wanted) <= ULPS * np.spacing(np.abs(wanted))
    return bool(np.all(near | (found == wanted) | (np.isnan(found) & np.isnan(wanted))))


def may_fail(name: str, operands: tuple[Any, ...], error: AdjudgeError) -> bool:
    """Booleans are no numbers, numbers no booleans; division of integers by zero and their negative powers trap."""
    kinds = {np.asarray(x).dtype.kind for x in operands}
    if isinstance(error, IllTyped):
        return kinds != {"b"} if name.startswith("logical") else "b" in kinds
    return isinstance(error, Trap) and kinds <= {"i", "b"} and error.rule in ("floordiv", "mod", "div", "pow")


def outcome(applied: Program, operands: tuple[Any, ...]) -> Any:
    """The value as an array of NumPy, or the error."""
    try:
        return np.asarray(to_python(run(applied, *(to_value(x) for x in operands)), None))
    except AdjudgeError as error:
        return error


def check(name: str, operands: tuple[Any, ...]) -> None:
    """A property of one application; what NumPy refuses may be anything here."""
    wanted, found = of_numpy(name, operands), outcome(program(name, len(operands)), operands)
    if isinstance(found, AdjudgeError):
        assert wanted is None or may_fail(name, operands, found), (operands, found)
    else:
        assert wanted is None or alike(found, wanted), (operands, found, wanted)


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_array_is_numpys(name: str) -> None:
    for x in OPERANDS:
        check(name, (x,))


@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_arrays_is_numpys(name: str) -> None:
    for operands in itertools.product(OPERANDS, repeat=2):
        check(name, operands)


@pytest.mark.parametrize("condition", [True, False, np.array([True, False, True, False])])
def test_a_choice_is_numpys(condition: Any) -> None:
    for operands in itertools.product(OPERANDS, repeat=2):
        check("where", (condition, *operands))


def test_clipping_is_numpys() -> None:
    """But for a number between bounds of float32: it is weak here, as in `np.minimum`, and not in `np.clip`."""
    for x, low, high in itertools.product(OPERANDS, (-1, 0.5, np.float32(0.5)), (1, 1.5, np.array([1, 2, 3, 4]))):
        if isinstance(x, (np.ndarray, np.float32)) or not isinstance(low, np.float32):
            check("clip", (x, low, high))


SEVERAL = """
def f(n, x, m, a, b, s, c):
    numbers = (np.minimum(x, n), np.maximum(n, x), np.clip(n, 0.5, 9), np.where(c, n, x), np.where(c, x, n), np.where(c, c, n))
    ones = (np.sign(n), np.fabs(n), np.reciprocal(n), np.float_power(n, 2), np.sign(x), np.fabs(x), np.reciprocal(x))
    arrays = (np.sign(m), np.fabs(m), np.reciprocal(m), np.float_power(m, -2), np.minimum(m, x), np.where(m > 0, n, x))
    reals = (np.sign(a), np.fabs(a), np.reciprocal(a), np.float_power(a, n), np.maximum(a, n))
    singles = (np.sign(s), np.fabs(s), np.reciprocal(s), np.float_power(s, 2), np.maximum(s, n), np.minimum(s, x))
    return numbers, ones, arrays, reals, singles, np.minimum(m, b)
"""
M, A, B = np.array([3, -2, 1, -1]), np.array([0.7, -2.5, 0.0, np.nan]), np.array([0.3, -2.5, 1.0, 7.0])


@pytest.mark.parametrize("target", ["machine", "python", "cpu"])
def test_compiled_code_has_the_references_value_in_its_dtype(target: str) -> None:
    several = program_of(SEVERAL)
    for n, x, c in ((3, 2.5, True), (-1, np.nan, False), (10**17 + 1, 1e30, True)):
        arguments = [to_value(v) for v in (n, x, M, A, B, A.astype(np.float32), c)]
        if target == "machine":
            agrees(several, arguments, ("python",))
        else:
            assert same(compiled(target)(*arguments), run(several, *arguments)), (n, x, c)


@cache
def compiled(target: str) -> Any:
    types = (INTEGER, REAL, ArrayType("i64", (4,)), ArrayType("f64", (4,)), ArrayType("f64", (4,)), ArrayType("f32", (4,)), BOOLEAN)
    return backend.compile(program_of(SEVERAL), types, target)


def test_a_mixture_of_numbers_is_a_real_for_numpy_and_pythons_min_the_argument_itself() -> None:
    """In arithmetic an integer beyond 2^53 tells: the double is another number."""
    many = 10**17 + 1
    scaled = program_of("def f(x, n): return np.minimum(x, n) * 10")
    assert same(run(scaled, 1e30, many), 1e18)
    assert same(run(program_of("def f(x, n): return min(x, n) * 10"), 1e30, many), many * 10)
    assert same(run(program_of("def f(x, n): return np.minimum(x, n) * 10"), 10**18, many), many * 10)
    assert same(run(program_of("def f(c, x, n): return np.where(c, n, x) * 10"), True, 0.5, many), 1e18)
    assert same(run(program_of("def f(c, x, n): return (n if c else x) * 10"), True, 0.5, many), many * 10)
    assert "-> f64" in str(aj.infer(scaled, 1.5, 2))


REALS = (
    "np.fabs(x) * x",
    "np.reciprocal(x) * x * x",
    "np.float_power(x, 3)",
    "np.sign(x) * x",
    "np.minimum(x, 2) * x",
    "np.clip(x, -3, 3) * x",
)


@pytest.mark.parametrize("text", REALS)
def test_the_gradient_of_a_real_is_that_of_the_formula_in_python(text: str) -> None:
    plain = {"np.fabs": "abs", "np.reciprocal": "1.0 / ", "np.float_power(x, 3)": "x ** 3.0", "np.sign(x)": "(x / abs(x))"}
    plain |= {"np.minimum": "min", "np.clip(x, -3, 3)": "min(max(x, -3.0), 3.0)"}
    other = text
    for name, formula in plain.items():
        other = other.replace(name, formula)
    for x in (1.5, -0.5, 4.0):
        found, wanted = (gradient_program(program_of(f"def f(x): return {t}")) for t in (text, other))
        assert same(run(found, x), run(wanted, x)), x
        single = run(gradient_program(program_of(f"def f(x): return np.sum({text})")), to_value(np.array([x], dtype=np.float32)))
        assert single.dtype == "f32"
        assert same(single.items[0], float(np.float32(run(wanted, x)))), x


def test_a_dtype_that_the_types_settle_leaves_no_choice() -> None:
    text = "def f(x: %s): return np.reciprocal(x)"
    assert [str(with_known_dtypes(program_of(text % "float"))).count(row) for row in ("dtype", "switch", "div")] == [0, 0, 1]
    assert [str(with_known_dtypes(program_of(text % "int"))).count(row) for row in ("dtype", "switch", "div")] == [0, 0, 0]
    for x, kind in ((-0.25, "float"), (-1, "int"), (7, "int")):
        assert same(run(with_known_dtypes(program_of(text % kind)), x), run(program("reciprocal", 1), x))
    unknown = program("reciprocal", 1)
    assert with_known_dtypes(unknown) is unknown


def test_zero_has_no_reciprocal_among_the_integers() -> None:
    for x in (0, np.array([1, 0])):
        with pytest.raises(Trap, match="by zero") as raised:
            run(program("reciprocal", 1), to_value(x))
        assert raised.value.location is not None
        assert raised.value.location.line == 2
