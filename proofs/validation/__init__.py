"""
Translation validation of any two programs: are they the same function?

    same(left, right)               the judgment (`same`)
    validated(steps)                a run of the optimizer, by its own map of nodes (`runs`)
    optimized_gradient_is_right(f)  J's gradient, optimized, against forward mode (`gradients`)
    Sweep                           two terms of any size, from the leaves up (`sweep`)
"""

from proofs.validation.gradients import optimized_gradient_is_right
from proofs.validation.runs import validated
from proofs.validation.same import same
from proofs.validation.sweep import Sweep

__all__ = ["Sweep", "optimized_gradient_is_right", "same", "validated"]
