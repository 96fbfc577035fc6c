"""The interpretations of primitives that a meaning needs: doubles, fractions, and the structural part that all share."""

from semantics.columns.exact import EXACT
from semantics.columns.meaning import MEANING

__all__ = ["EXACT", "MEANING"]
