"""
Passes over torch.fx graphs, judged: `adjudge audit examples/torch_pass.py:double_negation` and `…:root_of_square`.

The first is sound. The second forgets the sign of x, and that x * x may overflow; |x| would forget the overflow only.
PyTorch is needed: `pip install 'adjudge[torch]'`.
"""

from torch.fx import GraphModule, subgraph_rewriter

import adjudge as aj


def without_double_negation(module: GraphModule) -> None:
    """-(-x) becomes x."""
    subgraph_rewriter.replace_pattern(module, lambda x: -(-x), lambda x: x)


def without_root_of_square(module: GraphModule) -> None:
    """The root of x * x becomes x."""
    subgraph_rewriter.replace_pattern(module, lambda x: (x * x).sqrt(), lambda x: x)


double_negation = aj.torch_fx_pass(without_double_negation)

root_of_square = aj.torch_fx_pass(without_root_of_square)
