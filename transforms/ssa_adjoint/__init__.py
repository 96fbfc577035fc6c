"""
The adjoint of SSA code (Zygote, sections 3.1 and 3.2): its listing, with alphas, and the alphas resolved by a policy.
"""

from transforms.ssa_adjoint.alphas import POLICIES, adjoint
from transforms.ssa_adjoint.listing import SYSTEM, begin, listing

__all__ = ["POLICIES", "SYSTEM", "adjoint", "begin", "listing"]
