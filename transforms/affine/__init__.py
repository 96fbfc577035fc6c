"""
Affine loops (MimIrADe, section 3.3.3): what they are, their normal form, and their cached gradient.

    loop      what an affine `for` is: `recognise`, `why_not`
    normal    loops in normal form, functions of first order: a rewriting system; `obstacle` says why a loop has none
    cached    the gradient by a forward loop that writes a cache and a backward loop that reads it; `expand_j` is the reverse mode

What has no normal form keeps the gradient that recursion has in general: a closure for every turn.
"""

from __future__ import annotations

from transforms.affine.cached import SYSTEM, begin, expand_j
from transforms.affine.loop import For, recognise, why_not
from transforms.affine.normal import SYSTEM as NORMAL
from transforms.affine.normal import obstacle

__all__ = ["NORMAL", "SYSTEM", "For", "begin", "expand_j", "obstacle", "recognise", "why_not"]
