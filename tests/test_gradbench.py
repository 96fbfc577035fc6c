"""
The functions of GradBench against implementations of their own, in NumPy; and the protocol, by a session with the tool as a
process.

Derivatives are compared with complex steps: Im f(x + ih) / h, h = 1e-150, is f' without a difference, up to h² and rounding.
Values and derivatives agree in the first half of their 53 digits, in the largest entry: samples are of size 1, a path has at
most 2^10 operations and so loses ten digits, and no condition number reaches 2^16. A wrong rule shows in the first digits.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjudge as aj
from bench import gradbench, gradbench_jax
from bench.gradbench import session
from bench.gradbench_programs import MODULES, ba, descent, functions, ht, particle, saddle
from semantics.errors import Malformed

HALF = 2.0**-26
STEP = 1e-150


def agree(ours: Any, theirs: Any) -> None:
    a, b = np.asarray(ours, float), np.asarray(theirs, float)
    assert a.shape == b.shape
    assert np.max(np.abs(a - b)) <= HALF * np.max(np.abs(b))


def by_steps(f: Callable[..., Any], arguments: list[Any], wrt: int) -> Any:
    """The derivative of f by one argument, entry by entry: of the shape of the result, and then of the argument."""
    x = np.asarray(arguments[wrt], complex)
    columns = []
    for i in range(x.size):
        moved = x.copy()
        moved.flat[i] += 1j * STEP
        columns.append(np.imag(f(*arguments[:wrt], moved, *arguments[wrt + 1 :])) / STEP)
    found = np.stack(columns, axis=-1)
    return found.reshape(*found.shape[:-1], *x.shape)


def outputs(module: str, size: int, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The sample of a module, and the output of every function on it, from the reference machine."""
    given = import_module(f"bench.gradbench_programs.{module}").sample(size, **options)
    found = {}
    for name, f in functions(module).items():
        program = f.program if isinstance(f.program, type(aj.grad(math.sin))) else lambda *a, f=f: aj.run(f.program, *a)
        found[name] = f.write(f.call(program, *f.read(given)))
    return given, found


def logsumexp(x: Any) -> Any:
    return np.log(np.sum(np.exp(x)))


def test_lse() -> None:
    given, found = outputs("lse", 5)
    agree(found["primal"], logsumexp(np.array(given["x"])))
    agree(found["gradient"], by_steps(logsumexp, [given["x"]], 0))


def test_llsq() -> None:
    given, found = outputs("llsq", 3)

    def value(x: Any) -> Any:
        t = [-1 + 2 * i / (given["n"] - 1) for i in range(given["n"])]
        return sum((np.sign(a) - sum(c * a**j for j, c in enumerate(x))) ** 2 for a in t) / 2

    agree(found["primal"], value(given["x"]))
    agree(found["gradient"], by_steps(value, [given["x"]], 0))


def test_kmeans() -> None:
    given, found = outputs("kmeans", 7)
    points, centroids = np.array(given["points"]), np.array(given["centroids"])
    nearest = [int(np.argmin([np.sum((p - c) ** 2) for c in centroids])) for p in points]
    agree(found["cost"], sum(np.sum((p - centroids[k]) ** 2) for p, k in zip(points, nearest, strict=True)))
    means = [points[[k == j for k in nearest]].mean(axis=0) for j in range(len(centroids))]
    agree(found["dir"], centroids - means)  # J = 2 Σ (c - p), H = 2 Σ 1


def test_ode() -> None:
    given, found = outputs("ode", 3)

    def value(x: Any) -> Any:
        y, h = np.zeros(3, complex), 2.0 / given["s"]
        matrix, start = np.diag(x[1:], -1), np.array([x[0], 0.0, 0.0])
        for _ in range(given["s"]):  # four terms of the exponential series are the method, where the equation is linear
            term, slope = h * (start + matrix @ y), np.zeros(3, complex)
            for n in range(1, 5):
                slope, term = slope + term, h / (n + 1) * (matrix @ term)
            y = y + slope
        return y

    x = np.array(given["x"])
    agree(found["primal"], np.real(value(x)))
    agree(found["gradient"], by_steps(lambda x: value(x)[-1], [x], 0))


def test_det() -> None:
    given, found = outputs("det", 3)
    a = np.array(given["A"]).reshape(3, 3)
    agree(found["primal"], np.linalg.det(a))
    agree(found["gradient"], (np.linalg.det(a) * np.linalg.inv(a).T).ravel())


def test_gmm() -> None:
    given, found = outputs("gmm", 3)
    d, k = given["d"], given["k"]

    def value(alpha: Any, mu: Any, q: Any, l: Any) -> Any:  # noqa: E741
        densities, prior = [], 0.0
        for j in range(k):
            factor = np.diag(np.exp(q[j]))
            places = [(r, c) for c in range(d) for r in range(c + 1, d)]
            for (r, c), entry in zip(places, l[j], strict=True):
                factor[r, c] = entry
            scale = np.sum(q[j])
            densities.append(
                [
                    np.exp(alpha[j] - logsumexp(alpha) + scale - 0.5 * np.sum((factor @ (x - mu[j])) ** 2)) / (2 * np.pi) ** (d / 2)
                    for x in given["x"]
                ]
            )
            trace = np.sum(factor * factor)
            gammas = sum(math.lgamma((d + 1 - i) / 2) for i in range(d)) + d * (d - 1) / 4 * math.log(math.pi)
            prior += -0.5 * trace - d * (d + 1) / 2 * math.log(2.0) - gammas
        return np.sum(np.log(np.sum(np.array(densities), axis=0))) + prior

    names = ("alpha", "mu", "q", "l")
    arguments = [np.array(given[n], complex) for n in names]
    agree(found["objective"], np.real(value(*arguments)))
    for i, name in enumerate(names):
        agree(found["jacobian"][name], by_steps(value, arguments, i))


def test_lstm() -> None:
    given, found = outputs("lstm", 3)
    sequence = np.array(given["sequence"])

    def value(main: Any, extra: Any) -> Any:
        state = [[np.array(row, complex) for row in given["state"][2 * i : 2 * i + 2]] for i in range(2)]
        total = 0.0
        for x, following in pairwise(sequence):
            flow = x * extra[0]
            for (hidden, cell), w, b, own in zip(state, main[::2], main[1::2], state, strict=True):
                forget, ingate, outgate, change = w.reshape(4, -1) * np.array([flow, hidden, flow, hidden]) + b.reshape(4, -1)
                gates = [1 / (1 + np.exp(-g)) for g in (forget, ingate, outgate)]
                cell = cell * gates[0] + gates[1] * np.tanh(change)
                flow = gates[2] * np.tanh(cell)
                own[:] = [flow, cell]
            guess = flow * extra[1] + extra[2]
            total += np.sum(following * (guess - np.log(2 + np.sum(np.exp(guess)))))
        return -total / sequence[1:].size

    arguments = [np.array(given[n], complex) for n in ("main_params", "extra_params")]
    agree(found["objective"], np.real(value(*arguments)))
    agree(found["jacobian"], np.concatenate([by_steps(value, arguments, i).ravel() for i in range(2)]))


def reprojected(o: Any) -> Any:
    """The errors of one observation, the rotation as the series of the exponential of a matrix."""
    cross = np.array([[0, -o[2], o[1]], [o[2], 0, -o[0]], [-o[1], o[0], 0]])
    turned = term = np.asarray(o[11:14] - o[3:6], complex)
    for n in range(1, 40):
        term = cross @ term / n
        turned = turned + term
    image = turned[:2] / turned[2]
    rho = image @ image
    return np.array([*(o[14] * (image * (1 + o[9] * rho + o[10] * rho**2) * o[6] + o[7:9] - o[15:17])), 1 - o[14] ** 2])


@pytest.mark.parametrize("turned", [1.0, 0.0])
def test_ba(turned: float) -> None:
    given = ba.sample(3)
    given["cam"][:3] = [turned * r for r in given["cam"][:3]]
    found = {n: f.write(f.call(f.compile(f.program, target="python"), *f.read(given))) for n, f in functions("ba").items()}
    one = np.array([*given["cam"], *given["x"], given["w"], *given["feat"]])
    agree(found["objective"]["reproj_error"]["elements"], np.real(reprojected(one))[:2])
    agree(found["objective"]["w_err"]["element"], 1 - given["w"] ** 2)
    rows = by_steps(reprojected, [one], 0)[:, : ba.PARAMETERS]
    agree(found["jacobian"]["vals"], [*rows[0], *rows[1], rows[2, -1]])


def test_the_places_of_the_sparse_jacobian_of_ba() -> None:
    """Against the matrix written out: two observations, of cameras 0 and 1, and of points 0 and 0."""
    n, m, p = 2, 1, 2
    first = [*range(11), 22, 23, 24, 25]
    found = ba._write_jacobian(((([[0.0] * p] * 15),) * 3, (n, m, p)))
    assert found["cols"] == [*first, *first, 26]
    assert found["rows"][:7] == [0, 15, 30, 45, 60, 61, 62]
    assert (len(found["rows"]), found["rows"][-1]) == (31, 62)


@pytest.mark.parametrize("complicated", [False, True])
def test_ht(complicated: bool) -> None:
    given, found = outputs("ht", 2, complicated=complicated)
    model = given["data"]["model"]

    def turn(axis: int, angle: Any) -> Any:
        matrix, (i, j) = np.eye(4, dtype=complex), [k for k in range(3) if k != axis]
        matrix[i, i] = matrix[j, j] = np.cos(angle)
        matrix[i, j], matrix[j, i] = -np.sin(angle) * (-1) ** axis, np.sin(angle) * (-1) ** axis
        return matrix

    def value(theta: Any, us: Any) -> Any:
        angles = {}
        for finger in range(5):
            a, b, c, d = theta[6 + 4 * finger : 10 + 4 * finger]
            angles |= {2 + 4 * finger: (a, b), 3 + 4 * finger: (c, 0.0), 4 + 4 * finger: (d, 0.0)}
        absolute: list[Any] = []
        for i, parent in enumerate(model["parents"]):
            x, z = angles.get(i, (0.0, 0.0))
            own = np.array(model["base_relatives"][i]) @ turn(2, z) @ turn(0, x)
            absolute.append(own if parent < 0 else absolute[parent] @ own)
        mesh = []
        for base, weights in zip(model["base_positions"], model["weights"], strict=True):
            moves = zip(weights, absolute, model["inverse_base_absolutes"], strict=True)
            mesh.append(sum(w * (a @ np.array(b) @ np.array(base))[:3] for w, a, b in moves))
        cross = np.array([[0, -theta[2], theta[1]], [theta[2], 0, -theta[0]], [-theta[1], theta[0], 0]])
        rotation = term = np.eye(3, dtype=complex)
        for n in range(1, 40):
            term = term @ cross / n
            rotation = rotation + term
        mesh = [rotation @ v + theta[3:6] for v in mesh]
        seen = []
        for k, place in enumerate(given["data"]["correspondences"]):
            if complicated:
                (u, v), (a, b, c) = us[k], (mesh[corner] for corner in model["triangles"][place])
                seen.append(u * a + v * b + (1 - u - v) * c)
            else:
                seen.append(mesh[place])
        return (np.array(given["data"]["points"]) - np.array(seen)).ravel()

    arguments = [np.array(given["theta"], complex), np.array(given["us"], complex)]
    agree(found["objective"], np.real(value(*arguments)))
    by_theta = by_steps(value, arguments, 0)
    local = by_steps(value, arguments, 1)[np.arange(6), np.arange(6) // 3] if complicated else np.zeros((6, 0))
    agree(found["jacobian"], np.hstack((local, by_theta)))


def test_a_hand_has_its_bones_in_order() -> None:
    given = ht.sample(2)
    given["data"]["model"]["parents"][1] = 5
    with pytest.raises(Malformed, match="before its parent"):
        functions("ht")["objective"].read(given)


def test_the_slopes_of_saddle_and_particle_forward_and_in_reverse() -> None:
    at = (0.5, -1.25, 2.0, 0.75)
    for found in (aj.run(saddle.slope_f, *at), aj.run(saddle.slope_r, *at)):
        assert found == (1.0, -2.5)  # exact: 2x and 2y
    place = (1.0, 7.0, 0.25)
    forward, reverse = aj.run(particle.slope_f, *place), aj.run(particle.slope_r, *place)
    agree(forward, reverse)
    agree(forward, by_steps(lambda p: particle.potential(p[0], p[1], 0.25, 10.0), [place[:2]], 0))


def test_the_slope_of_the_particle_moves_along() -> None:
    """Forward over each: the Hessian of the potential times a direction."""

    def along_r(x, y, w):  # type: ignore[no-untyped-def]
        return aj.jvp(particle.slope_r, (x, y, w), (0.5, -0.25, 1.0))

    def closed(x: Any, y: Any, w: Any) -> Any:
        over, up = x - 10.0, y - 10.0 + w
        near, far = (over * over + up * up) ** -1.5, (over * over + y * y) ** -1.5
        return np.array([-over * (near + far), -up * near - y * far])

    _, tangent = aj.run(along_r, 1.0, 7.0, 0.25)
    agree(tangent, by_steps(lambda e: closed(1.0 + 0.5 * e, 7.0 - 0.25 * e, 0.25 + e), [np.array(0.0)], 0))


def parabola(x: Any, c: Any) -> Any:
    """Least at x = c."""
    return (x - c) * (x - c)


def test_the_descent_ends_at_the_least_and_its_tangent_follows() -> None:
    def lowest(c):  # type: ignore[no-untyped-def]
        return descent.argmin(lambda p: parabola(p[0], c), lambda p: (2.0 * (p[0] - c),), (0.0,))[0]

    def along(c):  # type: ignore[no-untyped-def]
        return aj.jvp(lowest, (c,), (1.0,))

    x, dx = aj.run(along, 2.0)
    assert x == lowest(2.0)
    slack = 2.0 - x  # it started 2 away, and what is left of the distance, x's and dx's alike, is one product of factors
    agree(1.0 - dx, slack / 2.0)


SESSION = """
{"id": 0, "kind": "start", "eval": "lse"}
{"id": 1, "kind": "define", "module": "lse"}
{"id": 2, "kind": "evaluate", "module": "lse", "function": "gradient", "input": {"x": [1, 2.0], "min_runs": 3, "min_seconds": 0.0}}
{"id": 3, "kind": "analysis", "of": 2, "valid": true}
nonsense
[1]
{"id": 4, "kind": "evaluate", "module": "lse", "function": "hessian", "input": {"x": [1.0]}}
{"id": 5, "kind": "evaluate", "module": "ode", "function": "primal", "input": {}}
{"id": 6, "kind": "define", "module": "os"}
{"id": 7, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": []}}
{"id": 8, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [[1.0], [1.0, 2.0]]}}
{"id": 9, "kind": "evaluate", "module": "lse", "function": "primal"}
{"id": 10, "kind": "dance"}
{"id": 11, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [1.0], "min_runs": 0}}
{"id": 12, "kind": "evaluate", "module": "lse", "function": "primal", "input": {"x": [1.0], "min_runs": 1000000000000}}
{"id": 13, "kind": "evaluate", "module": "lse", "function": ["primal"], "input": {"x": [1.0]}}
"""


# JAX


@pytest.mark.parametrize("module", ["lse", "llsq", "kmeans"])
def test_jax_runs_the_same_text(module: str) -> None:
    pytest.importorskip("jax")
    given, found = outputs(module, 6)
    for name, function in functions(module).items():
        call = gradbench_jax.by_jax(function, function.read(given))
        assert not isinstance(call, str), call
        agree(function.write(np.asarray(call())), found[name])


@pytest.mark.parametrize(("module", "reason"), [("lstm", "immutable"), ("ba", "a way of its own")])
def test_what_jax_does_not_run_it_says(module: str, reason: str) -> None:
    pytest.importorskip("jax")
    given = import_module(f"bench.gradbench_programs.{module}").sample(3)
    for function in functions(module).values():
        found = gradbench_jax.by_jax(function, function.read(given))
        assert isinstance(found, str)
        assert reason in found


# the protocol by a process


def test_a_session_with_the_process() -> None:
    command = [sys.executable, "-m", "bench.gradbench"]
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(command, cwd=root, input=SESSION, capture_output=True, text=True, check=True)
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["id"] for r in replies] == [0, 1, 2, 3, None, None, *range(4, 14)]
    assert replies[0]["tool"] == "adjudge"
    assert [r.get("success") for r in replies[:4]] == [None, True, True, None]
    agree(replies[2]["output"], [1 / (1 + math.e), math.e / (1 + math.e)])
    assert [t["name"] for t in replies[2]["timings"]] == ["prepare", *["evaluate"] * 3]
    assert all(t["nanoseconds"] > 0 for t in replies[2]["timings"])
    reasons = ["Expecting value", "object", "no function 'hessian'", "not been defined", "no module 'os'", "no elements"]
    reasons += ["rows differ", "no field 'input'", "no kind of message", "integer from 1", "integer from 1", "not a name"]
    for reply, reason in zip(replies[4:], reasons, strict=True):
        assert reply["success"] is False
        assert reason in reply["error"]


WRONG = (None, True, "x", [], {}, -1, 10**30, 0.5, math.inf, [1], [["a"]], [[1.0], [1.0, 2.0]], [10**400])


@pytest.mark.parametrize("module", MODULES)
def test_what_is_wrong_with_an_input_is_told(module: str) -> None:
    """Each field left out, or something else: then what is read is malformed, if it is not read."""
    given, told = import_module(f"bench.gradbench_programs.{module}").sample(2), 0
    for name, function in functions(module).items():
        for field in given if isinstance(given, dict) else ():
            with pytest.raises(Malformed, match=f"no field '{field}'"):
                function.read({k: v for k, v in given.items() if k != field})
        for field, wrong in product(given if isinstance(given, dict) else (name,), WRONG):
            try:
                function.read(given | {field: wrong} if isinstance(given, dict) else wrong)
            except Malformed:
                told += 1
    assert told >= len(WRONG)


def test_an_integer_that_is_too_large_is_told_as_that() -> None:
    """It was said that rows differ in length."""
    with pytest.raises(Malformed, match="field 'x' has an integer that is too large for float64"):
        functions("lse")["primal"].read({"x": [10**400, 1]})


def test_it_ends_when_nobody_reads() -> None:
    command = f"{sys.executable} -m bench.gradbench | true"
    lines = '{"id": 0, "kind": "start"}\n' * 2
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(["bash", "-c", command], cwd=root, input=lines, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_what_json_cannot_say_is_no_output() -> None:
    lines = ['{"id": 1, "kind": "define", "module": "hello"}']
    lines.append('{"id": 2, "kind": "evaluate", "module": "hello", "function": "square", "input": 1e300}')
    *_, reply = session(lines)
    assert json.loads(reply)["success"] is False


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_primal_and_a_derivative(module: str) -> None:
    assert len(functions(module)) == (4 if module in ("saddle", "particle") else 2)


@pytest.mark.parametrize("number", ["1e999", "NaN", "[-Infinity]"])
def test_an_id_that_json_cannot_say_is_none(number: str) -> None:
    (reply,) = session([f'{{"id": {number}, "kind": "start"}}'])
    assert json.loads(reply, parse_constant=pytest.fail) == {"id": None, "tool": "adjudge"}


def test_a_time_is_not_negative() -> None:
    given = {"x": [1.0], "min_seconds": -1}
    lines = [{"kind": "define", "module": "lse"}, {"kind": "evaluate", "module": "lse", "function": "primal", "input": given}]
    *_, reply = session(map(json.dumps, lines))
    assert "negative" in json.loads(reply)["error"]


@pytest.mark.parametrize(("slow", "calls"), [(1, 3), (2, 2), (3, 3)])
def test_the_call_that_has_code_made_is_no_timed_one(monkeypatch: pytest.MonkeyPatch, slow: int, calls: int) -> None:
    """However long the first call takes, a second is made ahead; after a second one that takes long, no third."""
    clock = [0]
    monkeypatch.setattr(gradbench.time, "perf_counter_ns", lambda: clock[0])
    made: list[int] = []

    def program(x: float) -> float:
        made.append(1)
        clock[0] += 2 * gradbench.PATIENCE if len(made) == slow else 1
        return x

    gradbench.prepared(functions("hello")["square"], (1.0,), program)
    assert len(made) == calls
