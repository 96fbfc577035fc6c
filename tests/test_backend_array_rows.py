"""Every row of arrays in generated code has the bits of the reference: on ordinary values by itself, on any others at last."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from vm_runs import outcome, same_outcome

import backend
from adjudge.values import to_value
from backend import store, toolchain
from backend.arrays import attributes, contractions
from backend.arrays.table import CELLS, OF_FIRST
from backend.arrays.values import Formula, Held
from backend.boundary import flatten_arguments
from backend.lowering.emit import Emitter
from backend.lowering.shape import Items, Reg, literal
from backend.status import STUCK
from backend.tiers import Tiered
from semantics.errors import AdjudgeError, IllTyped
from semantics.ir import Program
from semantics.machine import Machine
from semantics.primitives.table import TABLE
from semantics.text import read
from semantics.type_language import INTEGER, REAL
from semantics.values import same

PARAMETERS = "%x: f64[?, ?], %y: f64[?], %i: i64[?, ?], %b: bool[?, ?], %s: f64[?, ?], %h: f32[?, ?], %k: i64"

GROUPS: dict[str, list[str]] = {
    "made": [
        "%r = as_array(%y, None)",
        "%t = make_tuple(1, %k, True); %r = as_array(%t, None)",
        "%t = make_tuple(%y, %y); %u = make_tuple(%t, %t); %r = as_array(%u, None)",
        '%r = astype(%x, "bool")',
        '%r = astype(%i, "f32")',
        '%r = astype(%b, "i64")',
        "%t = make_tuple(2, %k); %r = full(%t, 1.5, None)",
        '%r = full(3, %k, "f64")',
        "%r = arange(0, %k, 1)",
        "%r = arange(%k, -5, -2)",
        "%r = linspace(%k, 2.5, 5)",
        "%r = eye(%k, 4, -1)",
        "%r = shape(%x)",
        "%r = array_size(%i)",
    ],
    "read at an index": [
        "%t = make_tuple(%k, -1); %r = getitem(%x, %t)",
        "%r = getitem(%x, %k)",
        "%c = make_slice(None, None, -1); %t = make_tuple(%c, %k); %r = getitem(%x, %t)",
        "%c = make_slice(%k, None, None); %d = make_slice(-3, 9, 2); %t = make_tuple(%c, %d); %r = getitem(%x, %t)",
        "%t = make_tuple(..., None, 0); %r = getitem(%x, %t)",
        "%r = getitem(%x, %b)",
        "%a = make_record(label(list), 1, -1, 1); %r = getitem(%x, %a)",
        "%a = make_record(label(list), 1, 0); %c = make_slice(1, None, None); %t = make_tuple(%c, %a); %r = getitem(%i, %t)",
        "%a = make_record(label(list), 0, 2); %t = make_tuple(%a, ..., %a); %r = getitem(%x, %t)",
        "%a = make_record(label(list), 0, 1); %c = make_slice(None, None, None); %t = make_tuple(%a, %c, None, 0);"
        " %e = expand_dims(%x, 1); %r = getitem(%e, %t)",
        "%r = take(%x, %k, None)",
        "%a = make_record(label(list), 1, -2); %r = take(%x, %a, 1)",
        "%a = argsort(%x, 1); %r = take_along(%x, %a, 1)",
        "%r = length(%x)",
    ],
    "written at an index": [
        "%t = make_tuple(%k, -1); %r = put(%x, %t, 7.5)",
        "%r = put(%x, %k, %y)",
        "%r = put(%i, %b, 3)",
        "%a = make_record(label(list), 1, 1); %c = make_slice(None, None, None); %t = make_tuple(%c, %a); %r = put(%x, %t, %k)",
        "%a = make_record(label(list), 1, 0, 1); %r = scatter_add(%x, %a, %y)",
        "%a = make_record(label(list), 1, 0, 1); %r = final(%x, %a)",
        "%a = make_record(label(list), 1, 0, 1); %d = inject(%x, %a, 2.5); %r = instantiate(%d, %x)",
    ],
    "moved": [
        "%t = make_tuple(%x, %i); %r = concatenate(%t, 0)",
        "%t = make_tuple(%x, %y); %r = concatenate(%t, None)",
        "%t = make_tuple(%x, %b); %r = stack(%t, -1)",
        "%r = flip(%x, 1)",
        "%r = flip(%i, None)",
        "%r = roll(%x, %k, 1)",
        "%r = roll(%x, -3, None)",
        "%t = make_tuple(0, 1); %u = make_tuple(1, %k); %r = roll(%x, %u, %t)",
        "%r = shift(%x, %k, 1, 1)",
        "%r = diag(%y, %k)",
        "%r = diag(%x, -1)",
        "%r = tril(%x, %k)",
        "%r = triu(%i, 0)",
        "%r = transpose(%i, None)",
        "%e = expand_dims(%x, 0); %r = squeeze(%e, 0)",
        "%e = expand_dims(%x, 0); %t = make_tuple(2, 0, 1); %r = transpose(%e, %t)",
        "%t = make_tuple(0, 1); %r = grouped(%i, %t)",
    ],
    "reduced": [
        "%r = reduce_sum(%i, 0, False)",
        "%r = reduce_sum(%b, None, False)",
        "%r = reduce_prod(%i, 1, True)",
        "%r = reduce_max(%i, 0, False)",
        "%r = reduce_min(%i, None, True)",
        "%r = mean(%b, 0, False)",
        "%r = reduce_min(%b, 1, False)",
        "%r = reduce_all(%x, 1, False)",
        "%r = reduce_any(%b, None, False)",
        "%r = mean(%i, 0, True)",
        "%r = logsumexp(%x, 1, False)",
        "%r = logsumexp(%i, None, True)",
        "%r = norm(%x, 0, False)",
        "%r = norm(%i, None, False)",
        "%r = trace(%x)",
    ],
    "along a line": [
        "%r = cumsum(%x, 1)",
        "%r = cumsum(%b, None)",
        "%r = cumprod(%i, 0)",
        "%r = sort(%x, 1)",
        "%r = sort(%b, None)",
        "%r = argsort(%x, 0)",
        "%r = argmax(%x, 0)",
        "%r = argmin(%i, None)",
        "%r = argmax(%b, 1)",
        "%r = argmin(%i, None)",
        "%r = recurrence(%x, %i, 1, False)",
        "%r = recurrence(%x, %x, 0, True)",
    ],
    "multiplied": [
        '%r = einsum("ij,j->i", %x, %y)',
        '%r = einsum("ij->ji", %i)',
        '%r = einsum("ii->i", %s)',
        '%r = einsum("ij,kj,ij->ik", %x, %i, %x)',
        '%r = einsum("...j,j->...", %x, %y)',
        "%t = transpose(%i, None); %r = matmul(%x, %t)",
        "%e = expand_dims(%x, 0); %t = transpose(%x, None); %r = matmul(%e, %t)",
        "%e = expand_dims(%x, 0); %r = dot(%e, %y)",
        "%r = dot(%x, 2.0)",
        "%r = tensordot(%x, %x, 2)",
        "%p = make_tuple(1); %q = make_tuple(0); %t = make_tuple(%p, %q); %r = tensordot(%x, %y, %t)",
        "%r = outer(%y, %y)",
        "%r = outer(%x, %y)",
        "%r = outer(%i, %h)",
        "%r = inner(%x, %x)",
        "%t = make_tuple(%x, 1.5, %k); %r = scale(3.0, %t)",
    ],
    "of matrices": [
        "%r = det(%s)",
        "%r = slogdet(%s)",
        "%r = inv(%s)",
        "%r = solve(%s, %y)",
        "%t = transpose(%x, None); %r = solve(%s, %t)",
        "%t = transpose(%s, None); %p = matmul(%s, %t); %r = cholesky(%p)",
        "%e = expand_dims(%s, 0); %r = det(%e)",
    ],
    "of numbers": [
        "%r = mul(%b, %i)",
        "%r = add(%x, %i)",
        "%r = lt(%i, %x)",
        "%r = eq(%b, True)",
        "%a = gt(%x, 0.0); %n = not_(%a); %r = and_(%n, %b)",
        "%r = where(%b, %x, %k)",
        "%r = where(%b, %i, %k)",
        "%r = maximum(%x, %i)",
        "%r = pow(%i, 3)",
        "%a = abs(%i); %r = pow(%i, %a)",
        "%r = pow(%x, %i)",
        "%r = div(%i, 3)",
        "%r = floordiv(%i, %k)",
        "%r = mod(%x, %i)",
        "%r = floor(%x)",
        "%r = exp(%h)",
        "%r = to_real(%h)",
        "%a = reduce_sum(%h, None, False); %r = to_real(%a)",
        "%a = mul(%h, %h); %r = add(%a, 1)",
        "%r = reduce_sum(%h, 0, False)",
        "%r = mean(%h, None, False)",
        "%r = sort(%h, 0)",
    ],
    "the way back": [
        "%p = places(%x); %q = flip(%p, 1); %d = returned(%x, %q, %x); %r = instantiate(%d, %x)",
        "%p = places(%x); %q = take(%p, 1, 0); %d = returned(%y, %q, %x); %e = sum_to(%d, %y); %r = instantiate(%e, %y)",
        "%t = make_tuple(%y, 2.0, %y); %p = places(%t); %q = getitem(%p, 0); %d = returned(%y, %q, %t);"
        " %a = getitem(%d, 0); %e = getitem(%d, 2); %g = gadd(%a, %e); %r = instantiate(%g, %y)",
        "%d = keep(%x, %b); %e = add(%d, %x); %m = mul(%d, %e); %c = cumsum(%m, 1); %r = instantiate(%c, %x)",
        "%d = keep(%x, %b); %s2 = reduce_sum(%d, 0, False); %r = instantiate(%s2, %y)",
        "%d = keep(%x, %b); %m = matmul(%d, %y); %a = getitem(%x, 0); %c = matmul(%x, %y); %r = instantiate(%m, %c)",
        "%d = keep(%x, %b); %p = places(%x); %g = gathered(%d, %p, %x); %r = instantiate(%g, %x)",
        "%p = places(%x); %q = transpose(%p, None); %g = gathered(%x, %q, %x); %e = transpose(%x, None); %r = instantiate(%g, %e)",
        "%p = places(%x); %q = flip(%p, 1); %g = gathered(%x, %q, %x); %r = instantiate(%g, %x)",
        "%t = make_tuple(%y, %y, %y); %p = places(%t); %q = stack(%p, 1); %z = keep(%y, False); %m = neg(%y);"
        " %v = make_tuple(%y, %z, %m); %g = gathered(%v, %q, %t); %u = stack(%t, 1); %r = instantiate(%g, %u)",
        "%t = make_tuple(%y, %s); %p = places(%t); %q = getitem(%p, 1); %z = keep(%y, False); %v = make_tuple(%z, %s);"
        " %g = gathered(%v, %q, %t); %r = instantiate(%g, %s)",
        "%t = make_tuple(%h, %h); %p = places(%t); %q = concatenate(%p, 0); %g = gathered(%t, %q, %t);"
        " %u = concatenate(%t, 0); %r = instantiate(%g, %u)",
        "%t = make_tuple(%x, %h); %p = places(%t); %q = concatenate(%p, 1); %g = gathered(%t, %q, %t);"
        " %u = concatenate(%t, 1); %r = instantiate(%g, %u)",
        "%t = make_tuple(1.0, 2.0, 3.0, 4.0); %p = places(%t); %q = as_array(%p, None); %z = keep(1.0, False);"
        " %v = make_tuple(5.0, %z, 7.0, 8.0); %g = gathered(%v, %q, %t); %u = as_array(%t, None); %r = instantiate(%g, %u)",
        "%t = make_tuple(2.0, %k, %y); %p = places(%t); %q = getitem(%p, 2); %f = getitem(%q, 0); %n = getitem(%p, 1);"
        " %m = make_tuple(%f, %n, 1, %f); %a = as_array(%m, None); %z = keep(2.0, False); %v = make_tuple(0.5, %z, %y);"
        " %g = gathered(%v, %a, %t); %b2 = mul(%a, 1.0); %r = instantiate(%g, %b2)",
        '%d = keep(%y, True); %u = unsum("ii->i", %d, %s); %r = instantiate(%u, %s)',
    ],
}
ROWS = [(group, row) for group, rows in GROUPS.items() for row in rows]


def program(row: str) -> Program:
    lines = "\n".join(f"  {line.strip()}" for line in row.split(";"))
    return read(f"program @f\n@f({PARAMETERS}):\n{lines}\n  return %r")


def arguments(x: Any, y: Any, i: Any, b: Any, s: Any, h: Any, k: int) -> tuple[Any, ...]:
    return (*map(to_value, (x, y, np.asarray(i, np.int64), np.asarray(b, bool), s, np.asarray(h, np.float32))), k)


def ordinary() -> tuple[Any, ...]:
    draw = np.random.default_rng(7)
    x, s = draw.normal(size=(3, 4)), draw.normal(size=(4, 4))
    return arguments(x, x[1] - 0.5, np.arange(12).reshape(3, 4) % 5 - 2, x > 0.1, s, x, 2)


def kernels(code: backend.Compiled, values: tuple[Any, ...]) -> list[Any]:
    """What the code as it was made gives on CPython, and what that of one processor does."""
    given_ = flatten_arguments(values, code.code.argument_types)
    modules = [store.load(text, "python", toolchain.bindings("python", text)) for text in (code.code.source, code.code.alone)]
    return [code.outcome(module.kernel(*given_, *code.memory.given)) for module in modules]


@pytest.mark.parametrize(("group", "row"), ROWS)
def test_a_row_on_ordinary_values(group: str, row: str) -> None:
    values = ordinary()
    wanted = Machine(program(row)).run(values).value
    for found in kernels(backend.compile(program(row), None, "python"), values):
        assert not isinstance(found, AdjudgeError), found
        assert same(found, wanted)


def apart(k: int, row: str) -> str:
    """The row with names of its own for what it assigns."""
    return re.sub(r"%(\w+)", lambda m: m[0] if f"{m[0]}:" in PARAMETERS else f"%{m[1]}_{k}", row)


@pytest.mark.parametrize("group", GROUPS)
def test_the_rows_of_a_group_compiled_for_the_cpu(group: str) -> None:
    """Numba had no type for a variable that begins with the least integer, and its float took no boolean."""
    rows = [apart(k, row) for k, row in enumerate(GROUPS[group])]
    found = ", ".join(f"%r_{k}" for k in range(len(rows)))
    whole = program(";".join([*rows, f"%r = make_tuple({found})"]))
    values = ordinary()
    wanted = Machine(whole).run(values).value
    compiled = backend.compile(whole, None, "cpu")(*values)
    for row, a, b in zip(rows, compiled, wanted, strict=True):
        assert same(a, b), row


def test_every_row_is_among_them() -> None:
    others = {"dtype", "ndim", "like", "spread", "broadcast_to", "swap_last", "reshape", "einsum_adjoint"}
    others |= {
        "tensordot_subscripts",
        "of_length",
        "iterated",
        "to_boolean",
    }  # read by programs of the corpora, below and elsewhere
    text = " ".join(row for _, row in ROWS)
    assert {name for name in (*CELLS, *OF_FIRST) if f"{name}(" not in text} == others


SPECIAL = st.sampled_from((0.0, -0.0, 1.0, -2.5, float("inf"), float("-inf"), float("nan"), 1e308, 5e-324))
SINGLE = st.sampled_from((0.0, -0.0, 1.0, -2.5, float("inf"), float("nan"), 2.0**127, 2.0**-149))
SMALL = st.sampled_from((0, 1, 2, -1, -3, 7, (1 << 63) - 1, -(1 << 63)))


@pytest.mark.parametrize("group", GROUPS)
@given(st.data())
def test_of_any_sizes_and_values_the_two_tiers_have_the_bits_and_the_words_of_the_reference(group: str, data: Any) -> None:
    row = data.draw(st.sampled_from(GROUPS[group]))
    m, n = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 5))

    def drawn(of: Any, *shape: int) -> Any:
        count = int(np.prod(shape))
        return np.array(data.draw(st.lists(of, min_size=count, max_size=count))).reshape(shape)

    values = arguments(
        drawn(SPECIAL, m, n),
        drawn(SPECIAL, n),
        drawn(SMALL, m, n),
        drawn(st.booleans(), m, n),
        drawn(SPECIAL, n, n),
        drawn(SINGLE, m, n),
        data.draw(st.integers(-4, 4)),
    )
    wanted = outcome(lambda: Machine(program(row)).run(values).value)
    tiered = Tiered(program(row), None, "python", {})
    tiered.calls = 1
    assert tiered.best is not tiered.machined
    event("an error" if isinstance(wanted, AdjudgeError) else "a value")
    same_outcome(outcome(tiered, *values), wanted)


NUMBER = Reg("x", REAL)
VECTOR = Formula("f64", ("n",), lambda emit, at: NUMBER)


@pytest.mark.parametrize("operands", [(NUMBER, NUMBER), (VECTOR, NUMBER), (NUMBER, VECTOR)])
def test_a_product_of_matrices_with_a_number_is_refused(operands: tuple[Any, Any]) -> None:
    with pytest.raises(IllTyped, match="matmul of a scalar") as raised:
        contractions.matmul(None, *operands)
    assert raised.value.remedy


def test_an_axis_that_an_array_lacks_is_refused_by_number() -> None:
    one = Reg("1", INTEGER, 1)
    assert attributes.axes_of(one, 2) == (1,)
    for rank in (0, 1):
        with pytest.raises(IllTyped, match=f"axis 1 of an array of {rank} axes") as raised:
            attributes.axes_of(one, rank)
        assert raised.value.remedy == ("name an axis from -1 to 0" if rank else "axis=None, for an array without axes")


@pytest.mark.parametrize("columns", ["3", "4"])
def test_sizes_that_show_that_a_row_traps_make_a_trap_in_the_code(columns: str) -> None:
    """
    The emitter may know more of sizes than types do, of code that no run need come to; it is no trap of the compiler. Sizes that go
    together are the near miss.
    """
    emit = Emitter()
    parts = Items((Held("f64", "a", ("2", "3")), Held("f64", "b", ("2", columns))))
    found = emit.primitive(TABLE["concatenate"], [parts, literal(0)])
    returned = [line for line in emit.code if isinstance(line, str) and line.startswith("return")]
    assert (found is None, returned) == ((True, [f"return (fuel, {STUCK},)"]) if columns == "4" else (False, []))
