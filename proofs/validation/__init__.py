"""
Translation validation of any two programs: are they the same function?

    same(left, right)     the judgment (`same`)
    Sweep                 two terms of any size, from the leaves up (`sweep`)
"""

from proofs.validation.same import same
from proofs.validation.sweep import Sweep

__all__ = ["Sweep", "same"]
