"""The primitive that makes a frame: `make_tuple`, by another identity, so that frames are told from the tuples of a program."""

from __future__ import annotations

from dataclasses import replace

from semantics.primitives.table import TABLE

FRAME = replace(TABLE["make_tuple"])
