"""
Forward mode on graphs: every value is carried along with its tangent (Pearlmutter and Siskind, "Reverse-mode AD in a functional
framework", 2008, section 2; Siskind and Pearlmutter, "Nesting forward-mode AD", 2008).

jvp(@f) is the graph ▷f with ▷f(x…, δx…) = (f(x…), δf), where δf is the derivative of f at x… in the direction δx…. A loop stays a
loop, and every turn carries the tangents of its state; the result is as large as the program, but for a constant factor.

    state          what is mirrored already, and what comes next
    rules          the rules, one for every construct, and the system
    pushforwards   what a primitive does to tangents
"""

from transforms.forward.rules import RULES, SYSTEM
from transforms.forward.state import ForwardState, begin

__all__ = ["RULES", "SYSTEM", "ForwardState", "begin"]
