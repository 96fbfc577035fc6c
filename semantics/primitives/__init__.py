"""Rows (what a primitive is) and the table of them; columns (what it means to somebody) live with those who read them."""

from semantics.primitives.row import Column, Hole, Primitive, row
from semantics.primitives.table import TABLE

__all__ = ["TABLE", "Column", "Hole", "Primitive", "row"]
