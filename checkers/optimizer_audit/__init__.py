"""
Judging optimizers (DESIGN, section 6): `audit` takes one rewrite rule, or a pass, and answers with a Report.

A rule is judged over the reals and in IEEE-754, by proof and by points; on its types, its gradients, its side condition, and as a
rewrite. A pass is judged on programs that contain its triggers: well-formed after every step, values and gradients kept, cost not
raised, fixpoint and order; a bad result is blamed on the first bad step.
"""

from checkers.optimizer_audit.entry import audit

__all__ = ["audit"]
