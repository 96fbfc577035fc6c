# ruff: noqa: PLW0108  torch.fx traces functions written in Python only
"""Passes over torch.fx graphs are judged as ours are: planted bugs, controls, and passes of PyTorch itself."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
fx = torch.fx

from torch.fx import GraphModule, subgraph_rewriter  # noqa: E402
from torch.fx.experimental import const_fold  # noqa: E402
from torch.fx.passes.dialect.common.cse_pass import CSEPass  # noqa: E402
from torch.fx.passes.infra.pass_base import PassResult  # noqa: E402

import adjudge as aj  # noqa: E402
from adjudge.adapters.torch_examples import EXAMPLES, WRITING  # noqa: E402
from checkers.optimizer_audit import audit  # noqa: E402
from checkers.optimizer_audit import passes as passes_module  # noqa: E402
from checkers.optimizer_audit.triggers import triggers  # noqa: E402
from checkers.verdict import Refuted, Report  # noqa: E402
from semantics.errors import Malformed  # noqa: E402
from semantics.text import read  # noqa: E402

V = torch.tensor([2.0, -3.0, 4.0], dtype=torch.float64)


# passes: planted bugs and controls, on our examples and a few of the judge's programs

QUICK = ("translation validation", "gradients optimized")


@pytest.fixture(autouse=True)
def few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    few = triggers()[::150]
    for name, found in (("triggers", few), ("sourced", ()), ("generated", ()), ("generated_wholes", ())):
        monkeypatch.setattr(passes_module, name, lambda *_, found=found: found, raising=False)


def faults(p: Callable[..., Any], **options: Any) -> list[Refuted]:
    return [f for f in report(p, **options).findings if f.kind == "fault"]


def report(p: Callable[..., Any], **options: Any) -> Report:
    return audit(aj.torch_fx_pass(p, **options), skip=QUICK)


def pattern(left: Callable[..., Any], right: Callable[..., Any]) -> Callable[[GraphModule], None]:
    """A pass that replaces one pattern, in place."""

    def replaces(module: GraphModule) -> None:
        subgraph_rewriter.replace_pattern(module, left, right)

    return replaces


def merges_without_attributes(module: GraphModule) -> None:
    """After pytorch#195320: calls of one operation on the same tensors are one, whatever the axis."""
    seen: dict[Any, Any] = {}
    for node in module.graph.nodes:
        if node.op.startswith("call") and len(node.all_input_nodes) == 1:
            first = seen.setdefault((node.target, node.all_input_nodes[0]), node)
            if first is not node and node.target in ("sum", torch.sum):
                node.replace_all_uses_with(first)


def rebinds_instead_of_writing(module: GraphModule) -> None:
    """After pytorch#193061: add_ becomes add, later uses of the name are rebound, and the memory stays as it was."""
    for node in list(module.graph.nodes):
        if node.op == "call_method" and node.target.endswith("_"):
            node.target = node.target[:-1]
            for user in list(node.args[0].users):
                if user > node:
                    user.replace_input_with(node.args[0], node)


def exchanges_operands(module: GraphModule) -> None:
    for node in module.graph.nodes:
        if node.target in (operator.sub, torch.sub):
            node.args = node.args[::-1]


def inverts_permutations(module: GraphModule) -> None:
    for node in module.graph.nodes:
        if node.target is torch.permute:
            node.args = (node.args[0], tuple(node.args[1].index(k) for k in range(len(node.args[1]))))


def folds_products_with_zero(module: GraphModule) -> None:
    for node in module.graph.nodes:
        if node.target is operator.mul and node.args[1] == 0.0:
            with module.graph.inserting_before(node):
                node.replace_all_uses_with(module.graph.call_function(torch.zeros_like, (node.args[0],)))


def mixes_matrices(module: GraphModule) -> None:
    for node in module.graph.nodes:
        if node.target is torch.matmul:
            node.args = node.args[::-1]


BUGS: dict[str, tuple[Callable[..., Any], str]] = {
    "a matcher that ignores attributes": (merges_without_attributes, "values"),
    "rebinding instead of writing": (rebinds_instead_of_writing, "values"),
    "operands exchanged": (exchanges_operands, "values"),
    "permutations inverted": (inverts_permutations, "values"),
    "zero times x": (folds_products_with_zero, "values"),
    "factors exchanged": (mixes_matrices, "values"),
    "root of a square, x": (pattern(lambda x: torch.sqrt(x * x), lambda x: x), "values"),
    "root of a square, |x|": (pattern(lambda x: torch.sqrt(x * x), lambda x: torch.abs(x)), "values"),
    "x over x": (pattern(lambda x: x / x, lambda x: x * 0.0 + 1.0), "values"),
    "x and zero": (pattern(lambda x: x + 0.0, lambda x: x), "values"),
    "signs of zero": (lambda m: CSEPass()(m).graph_module, "values"),  # of PyTorch itself: 0.0 == -0.0, see pytorch#192597
    "a string": (lambda m: "done", "every program"),
    "an exception": (lambda m: m.graph.nodes["x"], "every program"),
}


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_caught(name: str) -> None:
    p, claim = BUGS[name]
    options = {"style": "aten", "functional": True} if name == "signs of zero" else {"style": "operator"}
    assert claim in " ".join(f.claim for f in faults(p, **options))


def eliminates_dead_code(module: GraphModule) -> None:
    module.graph.eliminate_dead_code()


def folds_constants(module: GraphModule) -> GraphModule:
    split = const_fold.split_const_subgraphs(module)
    split.run_folding()
    return split


CONTROLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "identity": (lambda m: m, {}),
    "identity in place": (lambda m: None, {}),
    "identity, a result": (lambda m: PassResult(m, False), {}),
    "identity, a graph": (lambda m: m.graph, {}),
    "dead code": (eliminates_dead_code, {"functional": True}),
    "common subexpressions over the reals": (CSEPass(), {"style": "aten", "functional": True, "domain": "REAL"}),
    "constants": (folds_constants, {"functional": True, "style": "operator"}),
    "double negation": (pattern(lambda x: operator.neg(operator.neg(x)), lambda x: x), {"style": "operator"}),
    "x minus zero": (pattern(lambda x: x - 0.0, lambda x: x), {"style": "operator"}),
    "double": (pattern(lambda x: x * 2.0, lambda x: x + x), {"style": "operator"}),
}


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.filterwarnings("ignore")
def test_sound_passes_have_no_fault(name: str) -> None:
    p, options = CONTROLS[name]
    assert faults(p, **options) == []


def test_dead_code_elimination_of_pytorch_loses_writes_in_place() -> None:
    """Its documentation says that it is sound on functional graphs only; on others the judge says where it is not."""
    assert any(f.claim.startswith("values") for f in faults(eliminates_dead_code))


def test_a_pass_that_changes_one_way_of_calling_is_tried_on_all() -> None:
    program = read("program @f\n@f(%x: f64):\n  %s = mul(%x, %x)\n  %r = sqrt(%s)\n  return %r")
    for left in (lambda x: (x * x).sqrt(), lambda x: torch.sqrt(torch.mul(x, x)), lambda x: torch.sqrt(x * x)):
        once = aj.torch_fx_pass(pattern(left, lambda x: x)).run(program)
        assert str(once).endswith("return %x")
    assert aj.torch_fx_pass(pattern(lambda x: x.cos(), lambda x: x)).run(program) is program


def test_examples_of_the_user_are_judged_first_as_they_are() -> None:
    met: list[str] = []

    def sees(module: GraphModule) -> None:
        met.append(module.graph.find_nodes(op="output")[0].args[0].name)

    found = aj.torch_fx_pass(sees, examples=[(lambda x: torch.tanh(x).mul_(2.0), [V])], name="sees")
    found.run(found.examples[0])
    assert met[0] == "mul_"
    assert found.name == "sees"


def test_bad_arguments_of_a_pass_are_malformed() -> None:
    with pytest.raises(Malformed):
        aj.torch_fx_pass("dce")  # type: ignore[arg-type]
    with pytest.raises(Malformed):
        aj.torch_fx_pass(lambda m: m, style="jit")
    with pytest.raises(Malformed):
        aj.torch_fx_pass(lambda m: m, examples=[(lambda x, y: x + y, [V])])


def test_the_examples_in_place_are_told_from_the_others() -> None:
    for function, inputs in EXAMPLES + WRITING:
        writes = any(str(n.target).endswith("_") for n in fx.symbolic_trace(function).graph.nodes)
        assert writes == ((function, inputs) in WRITING)
