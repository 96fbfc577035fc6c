# ruff: noqa: PLW0108  torch.fx traces functions written in Python only
"""The adapter to torch.fx: graphs and programs compute the same, passes are judged as ours are, what is not mapped is named."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
fx = torch.fx

from flint import arb  # noqa: E402
from hypothesis import assume, given  # noqa: E402
from torch.fx import GraphModule  # noqa: E402

import adjudge as aj  # noqa: E402
from adjudge.adapters.torch_examples import EXAMPLES  # noqa: E402
from adjudge.adapters.torch_fx import STYLES, from_graph_module, to_graph_module  # noqa: E402
from adjudge.adapters.torch_rows import ELEMENTARY, READINGS, TRIGONOMETRY  # noqa: E402
from adjudge.adapters.torch_tensors import tensor_of_value, value_of_tensor  # noqa: E402
from checkers.generators import graphs  # noqa: E402
from checkers.optimizer_audit.outcomes import Value, over_the_reals  # noqa: E402
from checkers.optimizer_audit.pass_values import compare, points_for  # noqa: E402
from checkers.optimizer_audit.triggers import triggers  # noqa: E402
from semantics.errors import AdjudgeError, IllTyped, Malformed  # noqa: E402
from semantics.infer import infer  # noqa: E402
from semantics.ir import Program  # noqa: E402
from semantics.machine import run  # noqa: E402
from semantics.text import read  # noqa: E402
from semantics.type_language import ArrayType  # noqa: E402
from semantics.values import same  # noqa: E402

F64, F32, I64 = torch.float64, torch.float32, torch.int64
A = torch.tensor([[3.0, -1.0, 4.0], [-2.0, 5.0, 2.0]], dtype=F64)
B = torch.tensor([[2.0, 1.0, -2.0], [4.0, 1.0, 3.0]], dtype=F64)
S = torch.tensor([[4.0, 1.0], [2.0, 2.0]], dtype=F64)
V = torch.tensor([2.0, -3.0, 4.0], dtype=F64)
X = torch.tensor(2.0, dtype=F64)
N = torch.tensor([3, -7, 4], dtype=I64)
P = torch.tensor([True, False, True])
F = A.to(F32)
ONCE, TWICE = torch.tensor([2, 0]), torch.tensor([2, 2])


def traced(function: Callable[..., Any], *inputs: Any) -> GraphModule:
    module = fx.symbolic_trace(function)
    for node, tensor in zip((n for n in module.graph.nodes if n.op == "placeholder"), inputs, strict=True):
        node.meta["val"] = torch.empty_like(tensor, device="meta")
    return module


def value(found: Any) -> Any:
    """What PyTorch computed, as a value of the language."""
    return tuple(value(v) for v in found) if isinstance(found, (tuple, list)) else value_of_tensor(found)


def on_the_machine(program: Program, *inputs: Any) -> Any:
    return run(program, *(value_of_tensor(t) for t in inputs))


def is_same(a: Any, b: Any) -> bool:
    """Equal bits; an array without axes is as good as a scalar."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(is_same(x, y) for x, y in zip(a, b, strict=True))
    return same((getattr(a, "shape", None) == () and a.dtype != "f32" and a.items[0]) or a, b)


# reading: every rule gives what PyTorch computes, on numbers of which it rounds none

READ: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "add": (lambda x, y: torch.add(x, y, alpha=2), (A, B)),
    "sub": (lambda x, y: torch.sub(x, y, alpha=2), (A, B)),
    "rsub": (lambda x: torch.rsub(x, 5.0), (A,)),
    "mul": (lambda x, y: x * y, (A, B)),
    "div": (lambda x: torch.div(x, 2.0, rounding_mode="floor"), (A,)),
    "truediv": (lambda x: (x / 2.0, 3.0 / x), (B,)),
    "floordiv": (lambda x: (x // 2, x % 3), (N,)),
    "pow": (lambda x: (x**2, 2.0**x), (A,)),
    "comparisons": (lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y), (A, B)),
    "booleans": (lambda p: (p & ~p, p | p, torch.logical_not(p)), (P,)),
    "maximum": (lambda x, y: (torch.maximum(x, y), torch.max(x), torch.min(x, y), x.amax(0), x.amin((0, 1))), (A, B)),
    "square": (lambda x: (x.square(), torch.abs(x), -x, torch.sign(x), torch.sqrt(x * x)), (A,)),
    "reciprocal": (lambda x: (x.reciprocal(), torch.rsqrt(x)), (torch.tensor([4.0, 16.0], dtype=F64),)),
    "relu": (lambda x: (torch.relu(x), torch.clamp(x, -1.0, 3.0), torch.nn.functional.relu(x)), (A,)),
    "where": (lambda x, y: torch.where(x < y, x, 7.0), (A, B)),
    "to": (lambda x: (x.to(F32), x.to(F64), x.double(), x.float(), (x > 0).to(I64)), (A,)),
    "sum": (lambda x: (x.sum(), x.sum(1), x.sum(dim=(0, 1)), x.sum(0, keepdim=True), torch.sum(x, [1])), (A,)),
    "mean": (lambda x: (x.mean(1), torch.prod(x, 0)), (A,)),
    "argmax": (lambda x: (x.argmax(), x.argmin(1)), (A,)),
    "cumsum": (lambda x: (x.cumsum(0), torch.cumprod(x, dim=1)), (A,)),
    "all": (lambda x: (torch.all(x > 0), torch.any(x > 0, 1)), (A,)),
    "norm": (lambda x: torch.linalg.vector_norm(x), (torch.tensor([3.0, 4.0], dtype=F64),)),
    "reshape": (lambda x: (x.reshape(3, 2), x.view((6,)), x.flatten(), torch.ravel(x), x.reshape(-1, 2)), (A,)),
    "flatten": (lambda x: x.unsqueeze(0).flatten(1, 2), (A,)),
    "permute": (lambda x: (x.permute(1, 0), x.transpose(-1, 0), x.t(), x.T, x.mT), (A,)),
    "expand": (lambda x: (x.expand(2, 3), torch.broadcast_to(x, (2, 3)), x.unsqueeze(0).expand(4, -1)), (V,)),
    "squeeze": (lambda x: (x.unsqueeze(1).squeeze(1), x.unsqueeze(0).squeeze(), x.squeeze(0)), (A,)),
    "getitem": (lambda x: (x[0], x[:, 1:], x[-1, ::2], x[None], x[..., 0], x[0, 1]), (A,)),
    "select": (lambda x: (x.select(1, 2), x.narrow(1, 1, 2), x.index_select(1, torch.ones_like(x[0, :1]).long())), (A,)),
    "cat": (lambda x, y: (torch.cat((x, y)), torch.cat([x, y], 1), torch.stack((x, y), dim=1)), (A, B)),
    "flip": (lambda x: (x.flip(0), torch.flip(x, (0, 1)), torch.roll(x, 1, 1)), (A,)),
    "tril": (lambda x: (x.tril(), x.triu(1), x.diag(), torch.trace(x)), (S,)),
    "matmul": (lambda x, y: (x @ y.t(), torch.mm(x, y.T), torch.mv(x, y[0]), torch.outer(x[0], y[1])), (A, B)),
    "linear": (lambda x, w, b: torch.nn.functional.linear(x, w, b), (A, B, V[:2])),
    "addmm": (lambda x, y: torch.addmm(x, x, y, beta=2, alpha=3), (S, S)),
    "einsum": (lambda x, y: torch.einsum("ij, kj -> ik", x, y), (A, B)),
    "det": (lambda x: torch.linalg.det(x), (torch.eye(2, dtype=F64),)),
    "full": (lambda x: (torch.full((2,), 3.0, dtype=F64), torch.zeros_like(x), torch.ones(2, 1), torch.zeros(2, dtype=I64)), (A,)),
    "size": (lambda x: (x * x.size(0), x + x.shape[1], x * x.dim(), x + x.ndim), (A,)),
    "f32": (lambda x: (x * 0.1, x + 1, x / 3.0, x.sum(), x.double() * 0.1), (F,)),
    "numbers": (lambda x: (x * 2.0, x + 1, x.reshape(1), x.reshape(1).reshape(())), (X,)),
    "index_put": (lambda x: (torch.index_put(x, (ONCE,), x[:2] * 2.0), torch.index_put(x, (TWICE,), x[:2], True)), (V,)),
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_computes_what_pytorch_computes(name: str) -> None:
    function, inputs = READ[name]
    program = from_graph_module(traced(function, *inputs))
    assert is_same(on_the_machine(program, *inputs), value(function(*inputs)))


DECOMPOSED = ("det",)  # aten computes it with operations that have no rows


@pytest.mark.parametrize(("style", "name"), [(s, n) for s in STYLES for n in READ if s != "aten" or n not in DECOMPOSED])
def test_what_is_written_of_it_computes_the_same_in_pytorch(style: str, name: str) -> None:
    function, inputs = READ[name]
    program = from_graph_module(traced(function, *inputs))
    module = to_graph_module(program, style)
    assert is_same(value(module(*inputs)), value(function(*inputs)))
    assert is_same(on_the_machine(from_graph_module(module), *inputs), value(function(*inputs)))


@pytest.mark.parametrize("name", [*ELEMENTARY, *TRIGONOMETRY])
def test_elementary_functions_are_those_of_pytorch(name: str) -> None:
    """PyTorch's vector library claims results within 1 ulp: the exact value lies between the neighbours of what it gives."""
    function = getattr(torch, name)
    program = from_graph_module(traced(lambda x: function(x), X))
    for x in (0.5, 0.875, 1.25, 3.5):
        found = float(function(torch.tensor(x, dtype=F64)))
        exact = over_the_reals(program, (x,))
        if isinstance(exact, Value) and not math.isnan(found):
            near = arb(math.nextafter(found, -math.inf)).union(arb(math.nextafter(found, math.inf)))
            assert near.contains(arb(exact.value)), (name, x, found, exact)


# writing


@pytest.mark.parametrize("style", STYLES[:3])
@pytest.mark.parametrize("k", range(len(EXAMPLES)))
def test_what_is_written_reads_as_it_was(k: int, style: str) -> None:
    program = from_graph_module(traced(EXAMPLES[k][0], *EXAMPLES[k][1]))
    assert from_graph_module(to_graph_module(program, style)) == program


@given(graphs(size=6))
def test_a_program_and_the_graph_written_of_it_compute_the_same(program: Program) -> None:
    try:
        module = to_graph_module(program)
    except AdjudgeError:
        assume(False)
    assert compare(program, from_graph_module(module), points_for(program, "BITS", 0), "BITS")[0] is None


def test_styles_differ_in_how_an_operation_is_called() -> None:
    program = read("program @f\n@f(%x: f64):\n  %a = exp(%x)\n  %r = add(%a, 1.0)\n  return %r")
    calls = {s: [n.target for n in to_graph_module(program, s).graph.nodes if n.op.startswith("call")] for s in STYLES}
    assert calls["operator"] == [torch.exp, operator.add]
    assert calls["method"] == ["exp", operator.add]
    assert calls["torch"] == [torch.exp, torch.add]
    assert calls["aten"] == [torch.ops.aten.exp.default, torch.ops.aten.add.Tensor]


def test_calls_are_inlined_and_loops_are_refused() -> None:
    by_name = {t.name: t.program for t in triggers()}
    assert "sub" in str(from_graph_module(to_graph_module(by_name["order of arguments"])))
    with pytest.raises(Malformed) as caught:
        to_graph_module(by_name["loop"])
    assert caught.value.node


# memory


def through_two_views(x: Any) -> Any:
    y = x.clone()
    y.t()[1].mul_(3.0)
    return y


def rebound_after(x: Any) -> Any:
    y = x.clone()
    view = y.view(-1)
    y.add_(1.0)
    return view, y


def copied(x: Any) -> Any:
    y = x.clone()
    y[0].copy_(x[1])
    y[1].zero_()
    y.narrow(1, 0, 1).fill_(9.0)
    return y


def two_inputs_written(x: Any) -> Any:
    x.unsqueeze(0).add_(1.0)
    return x * 2.0


@pytest.mark.parametrize("function", [through_two_views, rebound_after, copied])
def test_writing_in_place_is_seen_through_every_name(function: Callable[..., Any]) -> None:
    program = from_graph_module(traced(function, A))
    assert is_same(on_the_machine(program, A), value(function(A)))


def test_an_augmented_assignment_writes_in_place() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    copy = graph.call_method("clone", (x,))
    graph.call_function(operator.iadd, (copy, 1.0))
    graph.call_function(operator.setitem, (copy, 0, 7.0))
    graph.output(copy)
    module = GraphModule(torch.nn.Module(), graph)
    assert is_same(on_the_machine(from_graph_module(module, [A]), A), value(fx.Interpreter(module).run(A)))


def test_a_graph_that_writes_to_its_input_computes_the_input_too() -> None:
    found = on_the_machine(from_graph_module(traced(two_inputs_written, A)), A)
    assert is_same(found, value(((A + 1.0) * 2.0, A + 1.0)))


# refusals


def refusal(function: Callable[..., Any], *inputs: Any) -> Malformed:
    with pytest.raises(Malformed) as caught:
        from_graph_module(traced(function, *inputs))
    assert caught.value.remedy
    return caught.value


def test_what_is_no_row_is_refused_by_name_with_its_node() -> None:
    error = refusal(lambda x: torch.special.bessel_j0(x), A)
    assert "bessel_j0" in error.what
    assert "special_bessel_j0" in error.node
    assert "a way that is not known" in refusal(lambda x: torch.cumsum(x, 0, dtype=F32), F).what
    assert "trunc" in refusal(lambda x: torch.div(x, 2.0, rounding_mode="trunc"), A).what
    assert "float16" in refusal(lambda x: x.to(torch.float16), A).what


def test_promotion_unlike_ours_is_refused_at_its_node() -> None:
    error = refusal(lambda x: x / 2, N)
    assert "f32[3]" in error.what
    assert "truediv" in error.node


def test_inputs_of_unknown_shape_and_graphs_that_do_not_run_are_refused() -> None:
    with pytest.raises(Malformed, match="shape of the input"):
        from_graph_module(fx.symbolic_trace(lambda x: x))
    with pytest.raises(Malformed, match="1 inputs, 2"):
        from_graph_module(fx.symbolic_trace(lambda x: x), [A, A])
    with pytest.raises(IllTyped, match="same reduction dim"):
        from_graph_module(traced(lambda x, y: torch.mm(x, y), A, B))
    with pytest.raises(Malformed, match="style"):
        to_graph_module(read("program @f\n@f(%x: f64):\n  return %x"), "jit")


def test_writing_to_a_constant_is_refused() -> None:
    module = torch.nn.Module()
    module.register_buffer("total", torch.zeros(3, dtype=F64))
    graph = fx.Graph()
    x, total = graph.placeholder("x"), graph.get_attr("total")
    graph.output(graph.call_method("add_", (total, x)))
    with pytest.raises(Malformed, match="constant of the module"):
        from_graph_module(GraphModule(module, graph), [V])


def test_without_pytorch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(Malformed) as caught:
        aj.torch_fx_pass(lambda m: m)
    assert caught.value.remedy == "pip install 'adjudge[torch]'"


def test_modules_of_layers_are_read_down_to_functions() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.act = torch.nn.Linear(3, 2, dtype=F64), torch.nn.ReLU()

        def forward(self, x: Any) -> Any:
            return self.act(self.layer(x))

    program = from_graph_module(fx.symbolic_trace(Net()), [A])
    assert infer(program).result == ArrayType("f64", (2, 2))


def test_every_reading_has_a_law() -> None:
    for name, rule in READINGS.items():
        assert rule.__name__ in ("<lambda>", "one", "two", "rule") or rule.__doc__, name


def test_tensors_and_values_are_one_another() -> None:
    for tensor in (A, F, N, P, X, torch.tensor(3), torch.tensor(True), torch.tensor(0.1)):
        back = tensor_of_value(value_of_tensor(tensor))
        assert back.dtype == tensor.dtype
        assert torch.equal(back, tensor)
    with pytest.raises(Malformed):
        tensor_of_value(2**70)
